package compiler_test

import "testing"

// A binding that nothing needs fails nowhere, however many loops and branches it goes through. Some
// were dropped only by passes after the one that the definition runs, so that it failed and a run did
// not.
func TestUnneededBindingsDoNotFail(t *testing.T) {
	table := tinyTable(t)
	for name, body := range map[string]string{
		"a loop's value in a branch": "iterate a = 2.0, k = 0 until k >= 3 { next a = Y[i - k, 0]; next k = k + 1 }\n" +
			"b = a\nX[0, if k % 2 == 0 { i + 2 } else { c = b; k } % 3]",
		"a value of loop after loop": "iterate a = 1.0, k = 0 until k >= 2 { next a = Y[i, 0]; next k = k + 1 }\n" +
			"iterate b = a, m = 0 until m >= 2 { next b = b + Y[i, m]; next m = m + 1 }\nX[0, (k + m) % 3]",
		"a loop in a loop": "iterate a = 1.0, k = 0 until k >= 2 {\n" +
			"iterate b = 1.0, m = 0 until m >= 1 { next b = Y[i, 0]; next m = m + 1 }\nnext a = b\nnext k = k + m }\nX[0, k]",
	} {
		text := "X = randn(5, 3, seed = 1)\nY = rand(1, 4, seed = 2)\nemit parfor i in -2..-1 {\n" + body + "\n}\n"
		var rs runs
		for ranks := 1; ranks <= 3; ranks++ {
			rs = append(rs, runs{{ranks, 1, nil, false, ""}, {ranks, 1, []string{"fuse"}, true, ""}}...)
		}
		if o, err := rs.differ(table, text); err != nil || o.failed {
			t.Errorf("%s: %v, %v in\n%s", name, err, o.err, text)
		}
	}
}
