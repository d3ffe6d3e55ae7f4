package loop_test

import (
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/value"
)

// TestMerge: merged nests give what they gave before.
func TestMerge(t *testing.T) {
	shorter := 0
	for seed := range 1000 {
		x := looptest.Draw(uint64(seed))
		m := loop.Merge(x.Nest)
		if len(m.Types) < len(x.Nest.Types) {
			shorter++
		}
		want, err := x.Nest.Eval(x.In, loop.Env{})
		got, failed := m.Eval(x.In, loop.Env{})
		if (err != nil) != (failed != nil) {
			t.Fatalf("seed %d: %v, merged %v\n%s\nmerged\n%s", seed, err, failed, x.Nest, m)
		}
		if err != nil {
			continue
		}
		for k := range want {
			a, b := want[k].(*value.Dense), got[k].(*value.Dense)
			for i := range a.Rows {
				for j := range a.Cols {
					if !a.At(i, j).Same(b.At(i, j)) {
						t.Fatalf("seed %d, result %d: element (%d, %d) is %v, want %v\n%s\nmerged\n%s", seed, k, i, j, b.At(i, j), a.At(i, j), x.Nest, m)
					}
				}
			}
		}
	}
	if shorter < 100 {
		t.Errorf("%d of 1000 nests have fewer values", shorter)
	}
}

// TestMergeLoops: two reductions over one range become one loop that computes what they share once;
// one that needs a result of theirs, of the first or of one that joined it, does not.
func TestMergeLoops(t *testing.T) {
	for _, needed := range []string{"v1", "v7"} {
		n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = f64 0
  v1 = for j: 0..%0.rows (v2 = v0) {
    v3 = load %0[j, 0]
    v4 = sqrt v3
    v5 = add v2, v4
    next v5
  }
  v6 = f64 1
  v7 = for k: 0..%0.rows (v8 = v6) {
    v9 = load %0[k, 0]
    v10 = sqrt v9
    v11 = mul v8, v10
    next v11
  }
  v12 = for l: 0..%0.rows (v13 = v0) {
    v14 = load %0[l, 0]
    v15 = mul v14, `+needed+`
    v16 = max v13, v15
    next v16
  }
  v17 = add v7, v12
  store out0[i, 0] v17
} : (f64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		text := loop.Merge(n).String()
		if strings.Count(text, "for ") != 2 || strings.Count(text, "sqrt") != 1 {
			t.Errorf("merged:\n%s", text)
		}
	}
}

// TestMergeLifts: what gives the same value in all rounds is done before the loop, if some round
// surely does it: not behind a check, and not where there may be no round. A check that has passed
// is not made again.
func TestMergeLifts(t *testing.T) {
	for _, c := range []struct {
		name, rounds, check string
		lifted              []string // found before the loop
		checks              int
	}{
		{"certain", "0..3", "", []string{"load %0[i, 0]", "load %0[i, 1]", "sqrt"}, 0},
		{"perhaps no round", "0..%0.rows", "", nil, 0},
		{"behind a check", "0..3", "check 1 v7, v5\n check 1 v7, v5", []string{"load %0[i, 0]"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = f64 0
  v1 = for j: 0..2 (v2 = v0) {
    v3 = for k: `+c.rounds+` (v4 = v2) {
      v5 = load %0[i, 0]
      v6 = load %0[j, 0]
      v7 = lt v6, v5
      `+c.check+`
      v8 = load %0[i, 1]
      v9 = sqrt v8
      v10 = add v9, v5
      v11 = mul v10, v6
      v12 = add v4, v11
      next v12
    }
    next v3
  }
  store out0[i, 0] v1
} : (f64[%0.rows, 1])`, loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			text := loop.Merge(n).String()
			before, _, _ := strings.Cut(text, "for j")
			for _, part := range []string{"load %0[i, 0]", "load %0[i, 1]", "sqrt"} {
				want := strings.Contains(strings.Join(c.lifted, "\n"), part)
				if strings.Contains(before, part) != want || strings.Count(text, part) != 1 {
					t.Errorf("%s before the loops: want %v:\n%s", part, want, text)
				}
			}
			if n := strings.Count(text, "check"); n != c.checks {
				t.Errorf("%d checks, want %d:\n%s", n, c.checks, text)
			}
		})
	}
}

// TestMergeLeavesDivisions: in a nest of one point a division of integers stays in a loop that may have
// no round, and behind its check, but a load leaves the loop.
func TestMergeLeavesDivisions(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: i64, %1: i64[]) () {
  v0 = i64 0
  v1 = for k: 0..%0 (v2 = v0) {
    v3 = load %1[0, 0]
    v4 = ne v3, v0
    check 0 v4
    v5 = mod v3, v3
    v6 = add v2, v5
    next v6
  }
  store out0[0, 0] v1
} : (i64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	text := loop.Merge(n).String()
	if before, _, _ := strings.Cut(text, "for k"); !strings.Contains(before, "load %1[0, 0]") || strings.Contains(before, "mod") {
		t.Error(text)
	}
}
