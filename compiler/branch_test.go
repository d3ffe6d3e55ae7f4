package compiler_test

import "testing"

// TestListsInBranches: a list that a branch of the run gives is the matrix that it is elsewhere.
func TestListsInBranches(t *testing.T) {
	rs := runs{{1, 2, nil, false, ""}, {3, 1, nil, false, ""}}
	meant, err := rs.differ(tinyTable(t), `
R = parfor i in 0..3 { if i > 1 { [[1.0, 2.0]] } else { [[0.0, i]] } }
emit R
c = sum(R) > 1
x, y = if c { ([1, 2], 7) } else { ([3, 4], 8) }
emit t(x) * y
`)
	if want := "0 0\n0 1\n1 2\n7 14\n"; err != nil || meant.out != want {
		t.Errorf("%v; %q, want %q", err, meant.out, want)
	}
}
