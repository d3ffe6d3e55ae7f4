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

// partialNest stores the elements of a vector and reduces them in some ways.
func partialNest(e types.Elem, ways ...loop.Class) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, e)}
	cols := loop.Of(loop.ColsSym, x.N)
	zero, one := loop.Num(0), loop.Num(1)
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: one, By: 1}))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := b.Load(x, i, j)
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(e, one, cols)}, i, j, v)
	for _, c := range ways {
		b.Reduce(loop.Mem{Kind: loop.ResultMem, N: b.Reduced(c, e, one, one)}, zero, zero, v)
	}
	return b.Nest
}

// Workers sum windows exactly, and say which they doubt: with more levels if windows may run again, else with
// those that the last windows needed.
func TestPartialSums(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for k, e := range []types.Elem{types.F64, types.F32, types.F64, types.F32} {
		overwrites := k > 1
		l := New(partialNest(e, loop.Sum, loop.Norm, loop.Greatest))
		doubts := 0
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
			skipInterpreted(t, run)
			var sums, got [2]exact.Sum
			add := func(to *[2]exact.Sum, k, l0, l1 int) {
				for j := l0; j < l1; j++ {
					if v := x.At(0, j).F; k == 0 {
						to[k].Add(v)
					} else {
						to[k].AddSquares([]float64{v})
					}
				}
			}
			run.Overwrites = overwrites
			w := run.Worker()
			w.Doubted = func(k, r0, r1, l0, l1 int) error {
				doubts++
				if k == 2 || r0 != 0 || r1 != 1 {
					t.Fatalf("result %d is in doubt in rows %d to %d", k, r0, r1)
				}
				add(&got, k, l0, l1)
				return nil
			}
			for at := 0; at < n; at += 700 {
				end := min(at+700, n)
				if flagged, err := w.Window(0, 1, at, end, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
			}
			greatest := math.Inf(-1)
			for j := range n {
				v := x.At(0, j)
				if !y.At(0, j).Same(v) {
					t.Fatalf("element %d is %v, want %v", j, y.At(0, j), v)
				}
				greatest = math.Max(greatest, v.F)
			}
			var again exact.Sum
			w.TakeSums(0, &got[0])
			w.TakeSums(1, &got[1])
			for k, name := range []string{"the sum", "the squares"} {
				add(&sums, k, 0, n)
				if a, b := value.F64(got[k].Round()), value.F64(sums[k].Round()); !a.Same(b) {
					t.Errorf("round %d of %v: %s is %v, want %v", round, e, name, a, b)
				}
			}
			if a := w.Take(2).F; a != greatest && !(math.IsNaN(a) && math.IsNaN(greatest)) {
				t.Errorf("round %d of %v: the maximum is %v, want %v", round, e, a, greatest)
			}
			if w.TakeSums(0, &again); again.Round() != 0 {
				t.Errorf("what has been taken is %v", again.Round())
			}
			w.Free()
		}
		if overwrites && doubts == 0 || !overwrites && e == types.F32 && doubts > 0 {
			t.Errorf("%v, overwrites is %v: %d doubts", e, overwrites, doubts)
		}
	}
}

// The first points tell the size of what the next ones add.
func TestNearSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, scale := range []float64{1e-9, 1, 1e12} {
		for k, draw := range []func() float64{r.Float64, r.NormFloat64, func() float64 { return math.Exp(-10 * r.Float64()) }} {
			l := New(partialNest(types.F64, loop.Sum))
			x, y := value.New(types.F64, 1, 100_000), value.New(types.F64, 1, 100_000)
			for j := range x.F64 {
				x.F64[j] = scale * draw()
			}
			run, err := l.Begin([]value.Value{x}, []*value.Dense{y, value.New(types.F64, 1, 1)})
			if err != nil {
				t.Fatal(err)
			}
			skipInterpreted(t, run)
			w := run.Worker()
			for round := range 3 {
				for _, n := range []int{300, x.Cols} {
					if flagged, err := w.Window(0, 1, 0, n, nil); flagged || err != nil {
						t.Fatal(flagged, err)
					}
					if at := l.depth.at.Load(); !l.sizes.known.Load() || at != 0 {
						t.Errorf("numbers of kind %d, times %v, %d in round %d: levels at %d, the size is known: %v", k, scale, n, round, at, l.sizes.known.Load())
					}
				}
			}
			w.Free()
		}
	}
}

// skipInterpreted skips a test of machine code where loops are interpreted. Elsewhere the run must have partial
// states.
func skipInterpreted(t *testing.T, run *Run) {
	t.Helper()
	if target, err := Target(); err != nil || target == Interp {
		t.Skip("no machine code")
	}
	if !run.Partials() {
		t.Fatal("machine code without partial states")
	}
}
