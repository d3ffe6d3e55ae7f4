package launch

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

// partialNest stores the elements of a vector and reduces them in three ways.
func partialNest(e types.Elem) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, e)}
	cols := loop.Of(loop.ColsSym, x.N)
	zero, one := loop.Num(0), loop.Num(1)
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: one, By: 1}))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := b.Load(x, i, j)
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(e, one, cols)}, i, j, v)
	for _, c := range []loop.Class{loop.Sum, loop.Norm, loop.Greatest} {
		b.Reduce(loop.Mem{Kind: loop.ResultMem, N: b.Reduced(c, e, one, one)}, zero, zero, v)
	}
	return b.Nest
}

// The windows of a Partial loop sum exactly what they do not doubt, whatever the caller expects: with
// more levels if they may run again, else with those that the last windows needed.
func TestPartialSums(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for k, e := range []types.Elem{types.F64, types.F32, types.F64, types.F32} {
		overwrites := k > 1
		l := Partial(partialNest(e))
		sure, doubts, missed := 0, 0, 0
		for round := range 60 {
			n := 1 + r.IntN(2000)
			x, y := value.New(e, 1, n), value.New(e, 1, n)
			from := r.IntN(40) - 20
			spread := []int{1, 1, 10, 90, 1, 700}[round%6]
			if e == types.F32 {
				spread = min(spread, 90)
			}
			for j := range n {
				x.Set(0, j, value.F64(math.Ldexp(r.NormFloat64(), from+r.IntN(spread))).Convert(e))
			}
			if round%7 == 6 {
				x.Set(0, r.IntN(n), value.F64([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]).Convert(e))
			}
			reduced := []*value.Dense{y, value.New(e, 1, 1), value.New(e, 1, 1), value.New(e, 1, 1)}
			run, err := l.Begin([]value.Value{x}, reduced)
			if err != nil {
				t.Fatal(err)
			}
			if !run.Partials() {
				t.Skip("no machine code")
			}
			var want, squares, got, gotSquares, unused exact.Sum
			run.Overwrites = overwrites
			w := run.Worker()
			for at := 0; at < n; at += 700 {
				end := min(at+700, n)
				w.Expect(from + spread - 1 + r.IntN(9) - 2)
				if flagged, err := w.Window(0, 1, at, end, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
				if w.Missed() {
					missed++
				}
				if w.Doubt(2) {
					t.Fatal("a maximum is in doubt")
				}
				for k, to := range []*exact.Sum{&want, &squares} {
					if w.Doubt(k) {
						doubts++
						continue
					}
					sure++
					for j := at; j < end; j++ {
						if v := x.At(0, j).F; k == 0 {
							to.Add(v)
						} else {
							to.AddSquares([]float64{v})
						}
					}
				}
			}
			greatest := value.F64(math.Inf(-1)).F
			for j := range n {
				v := x.At(0, j)
				if !y.At(0, j).Same(v) {
					t.Fatalf("element %d is %v, want %v", j, y.At(0, j), v)
				}
				greatest = math.Max(greatest, v.F)
			}
			w.TakeSums(0, &got, &unused)
			w.TakeSums(1, &unused, &gotSquares)
			if a, b := value.F64(got.Round()), value.F64(want.Round()); !a.Same(b) {
				t.Errorf("round %d of %v: the sum is %v, want %v", round, e, a, b)
			}
			if a, b := value.F64(gotSquares.Round()), value.F64(squares.Round()); !a.Same(b) {
				t.Errorf("round %d of %v: the squares are %v, want %v", round, e, a, b)
			}
			if a := w.Take(2).F; a != greatest && !(math.IsNaN(a) && math.IsNaN(greatest)) {
				t.Errorf("round %d of %v: the maximum is %v, want %v", round, e, a, greatest)
			}
			var again exact.Sum
			if w.TakeSums(0, &again, &unused); again.Round() != 0 {
				t.Errorf("what has been taken is %v", again.Round())
			}
			w.Free()
		}
		if sure < 50 || missed == 0 || overwrites && doubts == 0 || !overwrites && e == types.F32 && doubts > 0 {
			t.Errorf("%v, overwrites is %v: %d sums, %d doubts and %d windows missed", e, overwrites, sure, doubts, missed)
		}
	}
}
