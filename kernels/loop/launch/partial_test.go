package launch

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
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

// TestBeyondAllLevels: after a window whose numbers are too far apart for all levels, the next one is
// tried with few levels alone.
func TestBeyondAllLevels(t *testing.T) {
	const n = 3000
	l := New(partialNest(types.F64, loop.Sum, loop.Norm, loop.Greatest))
	x := value.New(types.F64, 1, n)
	for j := range n {
		x.F64[j] = math.Ldexp(1+float64(j)/n, j%2000-1000)
	}
	reduced := []*value.Dense{value.New(types.F64, 1, n), value.New(types.F64, 1, 1), value.New(types.F64, 1, 1), value.New(types.F64, 1, 1)}
	for round := range 3 {
		run, err := l.Begin([]value.Value{x}, reduced)
		if err != nil {
			t.Fatal(err)
		}
		skipInterpreted(t, run)
		w, doubts := run.Worker(), 0
		w.Doubted = func(k, r0, r1, l0, l1 int) error { doubts++; return nil }
		if _, err := w.Window(0, 1, 0, n, nil); err != nil {
			t.Fatal(err)
		}
		if doubts == 0 {
			t.Error("no sum of such a window is doubted")
		}
		deepest := 0 // idle workers of earlier runs stay
		for k, d := range w.deeper {
			if d != nil && d.run == run {
				deepest = k + 1
			}
		}
		// The size of the numbers may be looked for at place unsized.
		if most := len(l.levels) - 1; round == 0 && deepest != most || round > 0 && deepest > unsized {
			t.Errorf("window %d is tried with the levels at place %d at most, of %d", round, deepest, most)
		}
		w.Free()
	}
}

// Workers sum windows exactly, and say which they doubt: with more levels if windows may run again,
// else with those that the last windows needed.
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
			take := func(k int, to *exact.Sum) {
				acc := value.New(types.I64, 1, exact.Words)
				w.Put(k, acc)
				sum := exact.FromWords(acc.I64)
				to.Merge(&sum)
			}
			take(0, &got[0])
			take(1, &got[1])
			for k, name := range []string{"the sum", "the squares"} {
				add(&sums, k, 0, n)
				if a, b := value.F64(got[k].Round()), value.F64(sums[k].Round()); !a.Same(b) {
					t.Errorf("round %d of %v: %s is %v, want %v", round, e, name, a, b)
				}
			}
			most := value.New(e, 1, 1)
			w.Put(2, most)
			if a := most.At(0, 0).F; a != greatest && !(math.IsNaN(a) && math.IsNaN(greatest)) {
				t.Errorf("round %d of %v: the maximum is %v, want %v", round, e, a, greatest)
			}
			var again exact.Sum
			w.Forget()
			if take(0, &again); again.Round() != 0 {
				t.Errorf("what was forgotten is %v", again.Round())
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

// skipInterpreted skips a test of machine code where loops are interpreted. Elsewhere the run must have
// partial states.
func skipInterpreted(t *testing.T, run *Run) {
	t.Helper()
	if target, err := Target(); err != nil || target == Interp {
		t.Skip("no machine code")
	}
	if !run.Partials() {
		t.Fatal("machine code without partial states")
	}
}

// Sums of lanes keep their words from window to window, in as many levels as these need. Of few
// lanes that lose bits the caller is told, and other lanes keep what they have.
func TestSumsOfLanes(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: i64, %2: i64) (j: 0..%0.cols) {
  for i: %1..%2 {
    v0 = load %0[i, j]
    reduce out0[0, j] v0
    v1 = index i
    reduce out1[0, j] v0, v1
  }
} : (sum f64[1, %0.cols], argmax i64[1, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	const rows, cols, first, wide = 300, 100, 20, 77
	for _, spread := range []int{1, 150} { // bits
		for _, together := range []bool{false, true} {
			x := value.New(types.F64, rows, cols)
			r := rand.New(rand.NewPCG(45, uint64(spread)))
			for i := range rows {
				for j := range cols {
					e := r.IntN(spread)
					if j == wide && i%7 == 3 {
						e = 900
					}
					x.Set(i, j, value.F64(math.Ldexp(r.NormFloat64(), e)))
				}
			}
			out := []*value.Dense{{Elem: types.F64, Rows: 1, Cols: cols, Stride: cols + 1}, {Elem: types.I64, Rows: 1, Cols: cols, Stride: cols + 1}}
			l := New(n)
			run, err := l.Begin([]value.Value{x, value.I64(0), value.I64(rows)}, out)
			if err != nil {
				t.Fatal(err)
			}
			skipInterpreted(t, run)
			run.Together = together
			w := run.Worker()
			w.Columns(first, cols-first)
			from := 0
			var doubted [][2]int // first rows and columns
			w.Doubted = func(k, r0, r1, l0, l1 int) error {
				for j := l0; j < l1; j++ {
					doubted = append(doubted, [2]int{from, j})
				}
				return nil
			}
			for ; from < rows; from += 30 {
				w.Scalar(1, value.I64(int64(from)))
				w.Scalar(2, value.I64(int64(from+30)))
				if flagged, err := w.Window(0, 1, first, cols, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
			}
			if at := int(l.depth.at.Load()); (at > 0) != (spread > 1 || together) {
				t.Errorf("numbers within 2^%d, together is %v: levels at %d", spread, together, at)
			}
			if want := rows / 30; spread == 1 && !together && len(doubted) != want {
				t.Errorf("%d sums are doubted, want %d", len(doubted), want)
			}
			sums, words := w.Sums(0), w.Words(1)
			got := value.New(types.F64, 1, cols-first)
			to := dense.SlabOf(got, 0, got.Cols)
			for _, d := range doubted {
				for i := d[0]; i < d[0]+30; i++ {
					sums.Adder(0, d[1]-first).Add(x.At(i, d[1]).F)
				}
			}
			sums.Result(&to, 0, got.Cols)
			for j := first; j < cols; j++ {
				var want exact.Sum
				best := 0
				for i := range rows {
					want.Add(x.At(i, j).F)
					if x.At(i, j).F > x.At(best, j).F {
						best = i
					}
				}
				if g := got.At(0, j-first).F; g != want.Round() {
					t.Errorf("numbers within 2^%d: sum %d is %v, want %v", spread, j, g, want.Round())
				}
				if g := int(words[cols-first+j-first]); g != best {
					t.Errorf("the greatest of column %d is at %d, want %d", j, g, best)
				}
			}
			w.Free()
		}
	}
}
