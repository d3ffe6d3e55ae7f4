package loop

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestExpandFolds: reductions as loops give what they gave, or say that they are uncertain.
func TestExpandFolds(t *testing.T) {
	lib := testLibrary(t)
	folds := 0
	for _, class := range []Class{Sum, Mean, Norm, Least, Greatest, Any, All, Count, ArgLeast, ArgGreatest, Chain, Panels, Product} {
		for _, e := range class.Info().On {
			load := map[types.Elem]string{types.F64: "%0", types.F32: "%1", types.I64: "%2", types.Bool: "%3"}[e]
			yield := "v0"
			if class.Info().Args == 2 {
				if yield = "v0, v0"; class == ArgLeast || class == ArgGreatest {
					yield = "v0, v1"
				}
			}
			text := fmt.Sprintf(`
nest(%%0: f64[], %%1: f32[], %%2: i64[], %%3: bool[]) (i: 0..%%0.rows) {
  v0 = fold %s q: 0..i {
    v1 = load %s[i, q]
    v2 = index q
    yield %s
  }
  store out0[i, 0] v0
} : (%v[%%0.rows, 1])`, class.Info().Name, load, strings.NewReplacer("v0", "v1", "v1", "v2").Replace(yield), class.Gives(e))
			n, err := Parse(text, lib)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(ExpandFolds(n).String(), "fold") {
				continue
			}
			folds++
			var in []value.Value
			for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
				d := value.New(e, 9, 9)
				for k := range 81 {
					x := value.F64(float64((k*37)%19)*1.1 - 9)
					if e == types.I64 || e == types.Bool {
						x = value.I64(int64(x.F) % 3)
					} else if k%17 == 5 && (class == Least || class == ArgGreatest) {
						x.F = math.NaN()
					}
					d.Set(k/9, k%9, x)
				}
				in = append(in, d)
			}
			want, err := n.Eval(in, Env{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ExpandFolds(n).Eval(in, Env{})
			if err != nil || !value.Same(got[0], want[0]) {
				t.Errorf("%s of %v: %v, %v, want %v", class.Info().Name, e, got, err, show(want[0]))
			}
		}
	}
	if folds < 26 {
		t.Errorf("%d reductions become loops", folds)
	}
}

// TestUnroll: loops that are written out give what they gave, and only those of few statements are.
func TestUnroll(t *testing.T) {
	for _, c := range []struct {
		rng      string
		most     int
		unrolled bool
	}{{"0..5", 100, true}, {"5..0 by -2", 100, true}, {"3..3", 100, true}, {"-2..9 by 3", 100, true}, {"0..50", 100, false}, {"0..%0.rows", 100, false}} {
		n, err := Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  local w0 i64[60, 1]
  v0 = f64 0
  v1 = i64 1
  v2, v3 = for q: `+c.rng+` (v4 = v0, v5 = v1) {
    v6 = index q
    v7 = for p: 0..2 (v8 = v5) {
      store w0[q+p+5, 0] v6
      v9 = add v8, v6
      next v9
    }
    v10 = load w0[q+6, 0]
    v11 = to_f64 v10
    v12 = add v4, v11
    next v12, v7
  }
  v13 = to_f64 v3
  v14 = add v13, v2
  store out0[i, 0] v14
} : (f64[%0.rows, 1])`, nil)
		if err != nil {
			t.Fatal(err)
		}
		u := Unroll(n, c.most)
		if got := !strings.Contains(u.String(), "for q"); got != c.unrolled {
			t.Errorf("%s is written out: %v", c.rng, got)
		}
		in := []value.Value{value.New(types.F64, 3, 1)}
		want, err := n.Eval(in, Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Eval(in, Env{})
		if err != nil || !value.Same(got[0], want[0]) {
			t.Errorf("%s: %v, %v, want %v", c.rng, got, err, want)
		}
	}
}
