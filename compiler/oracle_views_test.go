package compiler_test

import "testing"

// A slice that is a view of its matrix is the loop's own once a loop carries it: the matrix may be
// gone before the first round.
func TestCarriedSlices(t *testing.T) {
	const text = `A = i64(10 * rand(1, 1, seed = 99))
n = rownunique(A[0, :])
iterate x = A[0, :], k = n times 2 with (unroll = 0) {
  y = upper(x)
  next x = y
  next k = y
}
emit x
`
	var rs runs
	for _, without := range [][]string{nil, {"simplify", "partition"}} {
		for ranks := 1; ranks <= 2; ranks++ {
			rs = append(rs, runs{{ranks, 2, without, false, ""}}...)
		}
	}
	for range 20 {
		if _, err := rs.differ(tinyTable(t), text); err != nil {
			t.Fatal(err)
		}
	}
}
