package launch

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/amd64"
)

// TestWindows: windows of random nests on several workers give what the definition gives, one run
// after the other on the same workers.
func TestWindows(t *testing.T) {
	ran, inexact := 0, 0
	for seed := range 400 {
		x := looptest.Draw(uint64(seed))
		l := New(x.Nest)
		for again := range 2 {
			out := x.Results()
			r, err := l.Begin(x.In, out)
			if u := (*amd64.Unsupported)(nil); errors.As(err, &u) || errors.Is(err, ErrOutside) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			ran++
			want, failure := x.Nest.Eval(x.In, loop.Env{})
			a, b := r.Worker(), r.Worker()
			second := b
			if inOrder(r) {
				second = a
			}
			half := x.Rows / 2
			f1, err1 := a.Window(0, half, 0, x.Lanes, nil)
			f2, err2 := second.Window(half, x.Rows, 0, x.Lanes, nil)
			if errors.Is(err1, ErrInexact) || errors.Is(err2, ErrInexact) {
				inexact++
				a.Free()
				b.Free()
				break
			}
			if err1 == nil && err2 == nil && !f1 && !f2 {
				a.Merge(b)
				a.Finish()
			}
			a.Free()
			b.Free()
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if (failure != nil) != (f1 || f2) {
				t.Fatalf("seed %d, run %d: failed is %v, and by definition: %v\n%s", seed, again, f1 || f2, failure, x.Nest)
			}
			if failure != nil {
				break
			}
			for k, d := range out {
				if !same(d, want[k].(*value.Dense)) {
					t.Fatalf("seed %d, run %d: result %d differs\n%s", seed, again, k, x.Nest)
				}
			}
		}
	}
	if ran < 400 || inexact > 10 {
		t.Errorf("%d runs of 400 nests, %d of which give a sum up", ran, inexact)
	}
}

func same(a, b *value.Dense) bool {
	for i := range b.Rows {
		for j := range b.Cols {
			if !a.At(i, j).Same(b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

// TestSchedules runs a nest on spaces for which the lanes are either index, and on whole rows that
// are one row of memory. A number that all points are reduced to does not count.
func TestSchedules(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = add v0, v1
  store out0[i, j] v2
  reduce out1[0, 0] v0
} : (f64[%0.rows, %0.cols], sum f64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l := New(n)
	for _, c := range []struct {
		rows, cols, around int
		first              bool
		wide               int
	}{{200, 1, 0, false, 1}, {200, 1, 2, true, 0}, {200, 3, 0, false, 3}, {200, 3, 1, true, 0}, {40, 200, 0, false, 200}, {40, 200, 1, false, 0}} {
		whole := value.New(types.F64, c.rows, c.cols+c.around)
		for k := range whole.F64 {
			whole.F64[k] = float64(k)
		}
		x, out := whole.View(0, 0, c.rows, c.cols), value.New(types.F64, c.rows, c.cols)
		sum := value.New(types.F64, 1, 1)
		r, err := l.Begin([]value.Value{x, value.F64(0.5)}, []*value.Dense{out, sum})
		if err != nil {
			t.Fatal(err)
		}
		if first := r.made.layout&lanesFirst != 0; first != c.first || r.wide != c.wide {
			t.Errorf("%d x %d: the lanes are first is %v, rows are %d wide; want %v, %d", c.rows, c.cols, first, r.wide, c.first, c.wide)
		}
		w := r.Worker()
		for _, rows := range [][2]int{{0, 7}, {7, c.rows}} {
			if _, err := w.Window(rows[0], rows[1], 0, c.cols, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.Finish()
		w.Free()
		all := 0.0
		for i := range c.rows {
			for j := range c.cols {
				all += x.At(i, j).F
				if got, want := out.At(i, j).F, x.At(i, j).F+0.5; got != want {
					t.Fatalf("%d x %d: (%d, %d) is %v, want %v", c.rows, c.cols, i, j, got, want)
				}
			}
		}
		if got := sum.At(0, 0).F; got != all {
			t.Errorf("%d x %d: the sum is %v, want %v", c.rows, c.cols, got, all)
		}
	}
}

// TestStopped: a loop without end is given up soon after its run was stopped.
func TestStopped(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = for k: forever (v2 = v0) {
    v3 = f64 -1
    v4 = lt v2, v3
    break v4
    v5 = mul v2, v2
    next v5
  }
  store out0[i, 0] v1
} : (f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(n).Begin([]value.Value{value.New(types.F64, 100, 1)}, []*value.Dense{value.New(types.F64, 100, 1)})
	if err != nil {
		t.Fatal(err)
	}
	w := r.Worker()
	asked := 0
	if _, err := w.Window(0, 1, 0, 100, func() bool { asked++; return asked == 3 }); !errors.Is(err, ErrStopped) || asked != 3 {
		t.Errorf("asked %d times, then %v", asked, err)
	}
}

// TestOutside: what cannot be proved to stay inside a matrix is refused, at every end.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		subscript string
		fine      bool
	}{
		{"i, j", true}, {"i-1, j", false}, {"i+1, j", false}, {"i, j+1", false}, {"%0.rows-1-i, j", true}, {"%0.rows-i, j", false},
		{"j, i", false}, {"0, 2*j", false}, {"i, 2", true}, {"i, 3", false}, {"-1, 0", false}, {"4611686018427387904*i, 0", false},
	} {
		n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[`+c.subscript+`]
  store out0[i, j] v0
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x, out := value.New(types.F64, 5, 3), value.New(types.F64, 5, 3)
		if got := (&hull{facts: branchesOf(n)}).inside(n, []value.Value{x}, []*value.Dense{out}); got != c.fine {
			t.Errorf("[%s] of 5 x 3 is inside: %v", c.subscript, got)
		}
	}
}

// TestOutsideSlices: a slice whose begin and length vary together stays inside where its end does.
func TestOutsideSlices(t *testing.T) {
	for _, c := range []struct {
		rounds, subscript string
		fine              bool
	}{
		{"0..%0.rows-i", "i+r", true}, {"0..%0.rows-i", "r", true}, {"0..%0.rows-i", "i+r+1", false}, {"0..%0.rows-i+1", "i+r", false},
		{"0..i", "r", true}, {"0..i", "i-r", true}, {"0..i", "i-1-r", true}, {"0..i", "i-2-r", false}, {"i..%0.rows", "r", true}, {"i..%0.rows", "r-i", true},
		{"i..%0.rows", "r-i-1", false}, {"i..%0.rows", "i+r", false}, {"0..2*i", "2*i-r", false},
	} {
		n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = f64 0
  v1 = for r: `+c.rounds+` (v2 = v0) {
    v3 = load %0[`+c.subscript+`, 0]
    next v3
  }
  store out0[i, 0] v1
} : (f64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&hull{}).inside(n, []value.Value{value.New(types.F64, 5, 1)}, []*value.Dense{value.New(types.F64, 5, 1)}); got != c.fine {
			t.Errorf("[%s] of 5 for r in %s is inside: %v", c.subscript, c.rounds, got)
		}
	}
}

// TestOutsideBranches: a branch is proved for the points that take it, and touches nothing for the
// others.
func TestOutsideBranches(t *testing.T) {
	for _, c := range []struct {
		condition string // of index i, v0, and the numbers v1, which is 5, and v2, an operand that is 2
		then      string
		other     string
		fine      bool
	}{
		{"lt v1, v0", "i-6", "i", true}, {"lt v1, v0", "i-7", "i", false}, {"lt v1, v0", "i", "i+34", true}, {"lt v1, v0", "i", "i+35", false},
		{"le v0, v1", "i+34", "i-6", true}, {"le v0, v1", "i+34", "i-7", false}, {"eq v0, v1", "8*i-1", "i", true}, {"eq v0, v1", "8*i", "i", false},
		{"lt v0, v2", "20*i+19", "i-2", true}, {"lt v0, v2", "i", "i-3", false}, {"lt v1, v2", "1000000000*i", "i", true}, {"lt v2, v1", "i", "1000000000*i", true},
		{"lt v2, v1", "i+1", "i", false},
	} {
		n, err := loop.Parse(`
nest(%0: f64[], %1: i64) (i: 0..%0.rows) {
  v0 = index i
  v1 = i64 5
  v2 = load %1
  v3 = `+c.condition+`
  v4 = if v3 {
    v5 = load %0[`+c.then+`, 0]
    yield v5
  } else {
    v6 = load %0[`+c.other+`, 0]
    yield v6
  }
  store out0[i, 0] v4
} : (f64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x, out := value.New(types.F64, 40, 1), value.New(types.F64, 40, 1)
		for k := range x.F64 {
			x.F64[k] = float64(k) + 0.5
		}
		in := []value.Value{x, value.I64(2)}
		r, err := New(n).Begin(in, []*value.Dense{out})
		if (err == nil) != c.fine {
			t.Errorf("%s, then %s, else %s: %v", c.condition, c.then, c.other, err)
		}
		if err != nil {
			continue
		}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		w := r.Worker()
		if _, err := w.Window(0, 1, 0, x.Rows, nil); err != nil || !same(want[0].(*value.Dense), out) {
			t.Errorf("%s, then %s, else %s gives %v, want %v", c.condition, c.then, c.other, out, want[0])
		}
		w.Free()
	}
}

// TestLocalBranches: an element of a local far outside is not touched where no lane takes its
// branch.
func TestLocalBranches(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: i64) (i: 0..%0.rows) {
  local w0 f64[3, 1]
  v0 = load %0[i, 0]
  store w0[1, 0] v0
  v1 = load %1
  v2 = f64 0
  v3 = for j: 0..%0.rows (v4 = v2) {
    v5 = index j
    v6 = lt v5, v1
    v7 = if v6 {
      v8 = load w0[j, 0]
      yield v8
    } else {
      v9 = load w0[100000000*j, 0]
      yield v9
    }
    v10 = add v4, v7
    next v10
  }
  store out0[i, 0] v3
} : (f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	for rows := 1; rows < 4; rows++ {
		x, out := value.New(types.F64, rows, 1), value.New(types.F64, rows, 1)
		for k := range x.F64 {
			x.F64[k] = float64(k) + 0.5
		}
		in := []value.Value{x, value.I64(int64(rows))}
		r, err := New(n).Begin(in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		w := r.Worker()
		if _, err := w.Window(0, 1, 0, rows, nil); err != nil || !same(want[0].(*value.Dense), out) {
			t.Errorf("%d rows give %v, want %v", rows, out, want[0])
		}
		w.Free()
	}
}

// TestAgain: what windows store, one row after the other, is that of the definition, also beside a
// sum that is summed again.
func TestAgain(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = add v0, v0
  store out0[i, j] v1
  reduce out1[0, 0] v0
} : (f64[%0.rows, %0.cols], sum f64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	x := value.New(types.F64, 9, 13)
	for k := range x.F64 {
		x.F64[k] = math.Ldexp(float64(k*7%11-5), k*29%300)
	}
	want, err := n.Eval([]value.Value{x}, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	all, sum := value.New(types.F64, x.Rows, x.Cols), value.New(types.F64, 1, 1)
	r, err := New(n).Begin([]value.Value{x}, []*value.Dense{all, sum})
	if err != nil {
		t.Fatal(err)
	}
	w := r.Worker()
	for i := range x.Rows {
		if flagged, err := w.Window(i, i+1, 0, x.Cols, nil); flagged || err != nil {
			t.Fatal(flagged, err)
		}
	}
	if w.Finish(); !same(all, want[0].(*value.Dense)) || !same(sum, want[1].(*value.Dense)) || w.beside == nil && len(w.deeper) == 0 {
		t.Errorf("%v, sum %v, want %v, summed again: %v", all, sum, want, len(w.deeper) > 0)
	}
	w.Free()
}

// TestExtremesOfRows compares the least and the greatest float of each row with their meaning, in rows
// of all numbers of vectors, with nans and zeros of both signs anywhere, and on operands that are bound
// again.
func TestExtremesOfRows(t *testing.T) {
	special := []float64{math.NaN(), math.Copysign(math.NaN(), -1), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}
	random := rand.New(rand.NewPCG(5, 6))
	for _, e := range []types.Elem{types.F64, types.F32} {
		for _, cols := range []int{1, 3, 15, 16, 17, 63, 64, 65, 200} {
			nest, err := loop.Parse(fmt.Sprintf(`
nest(%%0: %[1]v[]) (i: 0..%%0.rows, j: 0..%%0.cols) {
  v0 = load %%0[i, j]
  reduce out0[i, 0] v0
  reduce out1[i, 0] v0
} : (min %[1]v[%%0.rows, 1], max %[1]v[%%0.rows, 1])`, e), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			var r *Run
			for range 4 {
				const rows = 9
				x := value.New(e, rows, cols)
				for i := range rows {
					for j := range cols {
						v := float64(random.IntN(5) - 2)
						if random.IntN(2*cols) == 0 {
							v = special[random.IntN(len(special))]
						} else if i%3 == 0 {
							v = special[2+random.IntN(2)]
						}
						x.Set(i, j, value.F64(v).Convert(e))
					}
				}
				in, out := []value.Value{x}, []*value.Dense{value.New(e, rows, 1), value.New(e, rows, 1)}
				if r == nil {
					if r, err = New(nest).Begin(in, out); err != nil {
						t.Fatal(err)
					}
				} else if !r.Again(in, out) {
					t.Fatal("operands of the same sizes were not bound again")
				}
				w := r.Worker()
				if flagged, err := w.Window(0, rows, 0, cols, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
				w.Free()
				want, err := nest.Eval(in, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				for k := range out {
					if !value.Same(out[k], want[k]) {
						t.Fatalf("result %d of %v in rows of %d: %v, want %v", k, e, cols, out[k], want[k])
					}
				}
			}
		}
	}
}

// inOrder reports a reduced result whose order counts: all contributions to an element come from
// one worker, window after window in the order of the rows.
func inOrder(r *Run) bool {
	if _, ok := r.v.code.(*interpreted); ok {
		return ordered(r.loop.nest)
	}
	return slices.ContainsFunc(r.reduced, func(x reducing) bool { return x.fast.Ordered })
}

// ordered reports a reduced result whose order counts.
func ordered(n *loop.Nest) bool {
	for k, r := range n.Results {
		found := false
		loop.EachStmt(&n.Body, func(s *loop.Stmt) {
			found = found || s.Code == loop.Reduce && s.Mem.N == k && !r.Class.Free(n.Types[s.Args[0]])
		})
		if r.Class != loop.NoClass && found {
			return true
		}
	}
	return false
}
