package loop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/loop"
)

// TestBorderOutcomes: an outcome holds in all rounds of the loops around, and changes nowhere else than
// at the places that are listed.
func TestBorderOutcomes(t *testing.T) {
	r, sure, few, listed := rand.New(rand.NewPCG(1, 2)), 0, 0, 0
	for seed := range 900 {
		a, b, c := r.Int64N(7)-3, r.Int64N(5)-2, r.Int64N(5)-2
		k, size, end := r.Int64N(40)-20, 1+r.Int64N(30), r.Int64N(4)
		code := []string{"lt", "le", "eq", "ne", "mod", "idiv", "load", "local", "min", "max"}[seed%10]
		use := map[string]string{
			"mod":   "v20 = mod v18, v19\n v21 = to_f64 v20\n next v21",
			"idiv":  "v20 = idiv v18, v19\n v21 = to_f64 v20\n next v21",
			"min":   "v20 = min v19, v18\n v21 = to_f64 v20\n next v21",
			"max":   "v20 = max v19, v18\n v21 = to_f64 v20\n next v21",
			"load":  "v20 = load %0[v18, 0]\n next v20",
			"local": "v20 = load w0[v18, 0]\n next v20",
		}[code]
		if use == "" {
			use = fmt.Sprintf("v20 = %s v19, v18\n v21 = select v20, v0, v1\n next v21", code)
		}
		n, err := loop.Parse(fmt.Sprintf(`nest(%%0: f64[]) (i: 0..50, j: 0..50) {
 local w0 f64[9, 1]
 v0 = f64 0
 v1 = f64 1
 v2 = for p: -1..2 (v3 = v0) {
  v4 = for q: 0..%d (v5 = v3) {
   v6 = index i
   v7 = i64 %d
   v8 = mul v6, v7
   v9 = index p
   v10 = i64 %d
   v11 = mul v9, v10
   v12 = index q
   v13 = i64 %d
   v14 = mul v12, v13
   v15 = add v8, v11
   v16 = add v15, v14
   v17 = i64 %d
   v18 = add v16, v17
   v19 = i64 %d
   %s
  }
  next v4
 }
 store out0[i, j] v2
} : (f64[50, 50])`, end, a, b, c, k, size, use), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		list := loop.Borders(n)
		if a == 0 || len(list) != 1 || code == "local" {
			if code == "local" && len(list) > 0 {
				t.Fatalf("%d borders of a nest that reads only a local", len(list))
			}
			continue
		}
		by := &list[0]
		side := func(x int64) int64 { // x is the form of v18
			holds := map[string]bool{"lt": size < x, "le": size <= x, "min": size <= x, "max": size <= x, "eq": size == x, "ne": size != x}
			if is, ok := holds[code]; !ok {
				return loop.FloorDiv(x, size)
			} else if is {
				return 1
			}
			return 0
		}
		// value evaluates a form at i. Its only other symbol is the number of rows.
		value := func(f loop.Lin, i int64) int64 {
			x := f.Const
			for _, s := range f.Terms {
				if s.Sym.Kind == loop.IndexSym {
					x += s.Coef * i
				} else {
					x += s.Coef * size
				}
			}
			return x
		}
		one := value(by.Size, 0)
		var at []int64
		all := true
		for _, f := range []loop.Lin{by.Low, by.High} {
			x, ok := by.Changes(value(f, 1)-value(f, 0), value(f, 0), one, 0, 50)
			at, all = append(at, x...), all && ok
		}
		was, wasSure := int64(0), false
		for i := range int64(50) {
			now, is := by.Outcome(value(by.Low, i), value(by.High, i), one)
			for p := int64(-1); p < 2 && is; p++ {
				for q := range end {
					if want := side(a*i + b*p + c*q + k); want != now {
						t.Fatalf("at i = %d, p = %d, q = %d the outcome is %d, not %d, of\n%s", i, p, q, want, now, n)
					}
				}
			}
			if changed := now != was || is != wasSure; i > 0 && all && changed && (is || wasSure) {
				if listed++; !slices.Contains(at, i) {
					t.Fatalf("the outcome changes at %d, not at %d, of\n%s", i, at, n)
				}
			}
			if was, wasSure = now, is; is {
				sure++
			}
		}
		if all {
			few++
		}
	}
	if sure < 9000 || few < 350 || listed < 300 {
		t.Errorf("%d outcomes, %d nests with few changes, %d changes", sure, few, listed)
	}
}
