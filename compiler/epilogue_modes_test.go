package compiler_test

import "testing"

// A block of one row reads the row beside it as a whole, and one of several rows reads it again for
// each: the two are chains of their own.
func TestChainsOnBlocksOfOneRow(t *testing.T) {
	const text = `X = rand(21, 3, seed = 16)
b = rand(1, 3, seed = 2)
c = rand(21, 1, seed = 3)
emit X @ t(rand(3, 3, seed = 17)) * b
emit t(c) * (rand(3, 3, seed = 5) @ t(X))
`
	var rs runs
	for ranks := 1; ranks <= 3; ranks++ {
		for _, without := range [][]string{nil, {"fuse"}, {"fuse", "simplify"}} {
			rs = append(rs, runs{{ranks, 2, without, true, ""}}...)
		}
	}
	if _, err := rs.differ(tinyTable(t), text); err != nil {
		t.Fatal(err)
	}
}
