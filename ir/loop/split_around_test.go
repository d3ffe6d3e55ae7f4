package loop_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// around is a nest of an inner loop whose body has a condition of its index and that of the loop around
// it, and one of its index alone.
func around(t *testing.T, rounds, from, to, condition string, first int64) *loop.Nest {
	t.Helper()
	n, err := loop.Parse(fmt.Sprintf(`nest(%%0: f64[]) (i: 0..%%0.rows) {
  local w0 f64[20, 1]
  v0 = i64 %d
  v1 = load %%0[i, 0]
  v2 = f64 0
  v3 = for k: 0..%s (v4 = v2) {
    v5 = index k
    v6 = for r: %s..%s (v7 = v4) {
      v8 = index r
      %s
      v11 = if v10 {
        v12 = add v7, v1
        store w0[r, 0] v12
        yield v12
      } else {
        v13 = lt v0, v8
        v14 = if v13 {
          v15 = mul v7, v1
          yield v15
        } else {
          v16 = load w0[r, 0]
          v17 = sub v16, v1
          yield v17
        }
        yield v14
      }
      next v11
    }
    next v6
  }
  store out0[i, 0] v3
} : (f64[%%0.rows, 1])`, first, rounds, from, to, condition), loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSplitAround: loops are cut where a condition on their index and on that of a loop around them
// changes. The loop around them is cut where such a place meets an end, or another place.
func TestSplitAround(t *testing.T) {
	x := value.New(types.F64, 3, 1)
	for i := range 3 {
		x.Set(i, 0, value.F64(1.25+float64(i)/3))
	}
	for _, c := range []struct {
		rounds, from, to, condition string
		first                       int64
		left                        int // conditions
	}{
		{"20", "0", "20", "v9 = sub v8, v5\nv10 = le v9, v0", 0, 0},
		{"20", "0", "20", "v9 = sub v5, v8\nv10 = lt v9, v0", 0, 0},
		{"39", "0", "20", "v9 = sub v5, v8\nv10 = lt v9, v0", 0, 0},
		{"39", "0", "20", "v9 = sub v5, v8\nv10 = lt v9, v0", 19, 0},
		{"39", "0", "20", "v9 = sub v5, v8\nv10 = eq v9, v0", 4, 0},
		{"20", "0", "k", "v9 = add v8, v8\nv10 = lt v9, v0", 7, -1},
		{"20", "0", "k+1", "v9 = sub v5, v8\nv10 = lt v9, v0", 0, 0},
		{"20", "k", "20", "v9 = sub v8, v5\nv10 = eq v9, v0", 0, 0},
		{"10", "k", "-k+20", "v9 = sub v8, v5\nv10 = lt v0, v9", 3, -1},
		{"19", "0", "20", "v9 = add v8, v5\nv10 = lt v9, v0", 12, 0},
	} {
		n := around(t, c.rounds, c.from, c.to, c.condition, c.first)
		m := loop.Split(n)
		sameResults(t, n, m, []value.Value{x})
		if left := strings.Count(m.String(), " = if "); c.left >= 0 && left != c.left {
			t.Errorf("%d conditions left of\n%s\nin\n%s", left, n, m)
		}
	}
	rng := rand.New(rand.NewPCG(7, 1))
	of := func(list ...string) string { return list[rng.IntN(len(list))] }
	for range 300 {
		form := fmt.Sprintf("v9 = %s %s, %s\nv10 = %s %s", of("add", "sub"), of("v5", "v8"), of("v5", "v8", "v0"),
			of("lt", "le", "eq", "ne"), of("v9, v0", "v0, v9", "v8, v9", "v5, v9"))
		n := around(t, of("1", "5", "20"), of("0", "3", "k"), of("9", "20", "k", "k+1", "-k+20"), form, int64(rng.IntN(23)-2))
		sameResults(t, n, loop.Split(n), []value.Value{x})
	}
}
