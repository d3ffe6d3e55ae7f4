package compiler_test

import "testing"

// Reductions of rows in the body of a loop make a new graph of the program, and epilogues then drop
// nodes of it: the places of what is left stay in step, so that every emit is on rank 0.
func TestPlacesStayInStep(t *testing.T) {
	const text = `v0 = rand(4, 8, seed = 16) < 0.4
v1 = rand(13, 1, seed = 41) < 0.4
v2 = rand(0, 8, seed = 49) < 0.4
iterate v3 = v2 times i64(sum(ones(5, 1))) { v4 = colmean(v1); v5 = upper(v1); next v3 = v3 }
iterate v6 = v3, v11 = 0 until v11 == 1 { v7 = v6 > v6; v8 = rowmean(v1); v10 = -v0; next v6 = v6; next v11 = v11 + 1 }
v12 = clamp((sinh(v11)), (v1[12..13, 0..1]), v6)
v13 = max(t(v12) @ v12 + 1.5, 0.25)
emit v11 as "v11"
emit v13 as "v13"
`
	without := []string{"panels", "hoist", "fold-rows", "represent", "fold-groups", "narrow", "order"}
	for _, blocks := range []bool{false, true} {
		c, err := compileTiny(tinyTable(t), text, 6, blocks, without)
		if err != nil {
			t.Fatal(err)
		}
		if o, want := ran(c, 2), evaluated("the meaning", c.Program); o.failed || want.failed || o.out != want.out {
			t.Errorf("%v, %v: %s", o.err, want.err, difference(want.out, o.out))
		}
	}
}
