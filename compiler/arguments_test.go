package compiler_test

import "testing"

// TestArgumentsOfRegionsFail: rules leave a branch or a round its reader of a value of the program
// around it. So it fails where that value fails, as the definition does.
func TestArgumentsOfRegionsFail(t *testing.T) {
	table := tinyTable(t)
	const data = "x = rand(24, 4, seed = 1)\nv = f64(i64(x * 1e19 + 1e19))\n"
	for _, text := range []string{
		"y = if sum(x) > 0 { x } else { rbind(x, v)[0..24, :] }\nemit sum(y)",
		"y = if sum(x) > 0 { cbind(x, v)[:, 0..4] } else { x }\nemit sum(y)",
		"iterate y = x times 5 { next y = rbind(y * 0.5, v)[0..24, :] }\nemit sum(y)",
		"iterate y = x times 5 { w = rbind(y, v); next y = w[0..24, :] + w[0, :] }\nemit sum(y)",
		"if sum(x) > 0 { emit sum(roll(rbind(x, x + v), 24)[24..48, :]) }",
		"iterate y = v, z = x times 5 { next z = rbind(z, y)[0..24, :]; next y = z }\nemit sum(z)",
	} {
		m := meaningsOf(table, data+text)
		r, err := compiledOnce(table, data+text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.of("definition", r.Program); !want.failed {
			t.Errorf("the definition does not fail: %s", text)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"simplify"}, false, ""}, {3, 1, nil, false, ""}}).differ(table, data+text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
