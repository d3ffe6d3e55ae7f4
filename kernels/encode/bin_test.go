package encode

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/rowtest"
)

// TestBins: the loops of bin give what the definition gives, for edges at equal distances and
// others, at the edges themselves and beside them.
func TestBins(t *testing.T) {
	rows := define.Resolved(Rows())
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	rng := rand.New(rand.NewPCG(3, 4))
	inf := math.Inf(1)
	lists := [][]float64{{0}, {1, 1}, {-inf, 0, inf}, {0, 0, 0, 1, 1, 2}, {math.Copysign(0, -1), 0, 1, 2, 3}}
	for _, k := range []int{2, 4, 7, 33, 257} {
		even, uneven := make([]float64, k), make([]float64, k)
		lo, width := rng.NormFloat64(), math.Exp(20*rng.NormFloat64())
		for i := range k {
			even[i] = lo + width*float64(i)/float64(k-1)
			uneven[i] = rng.NormFloat64()
		}
		slices.Sort(uneven)
		lists = append(lists, even, uneven)
	}
	guesses := 0
	for _, edges := range lists {
		if guessOf(edges, false)[tableStep] < 2 {
			guesses++
		}
		x := []float64{0, math.Copysign(0, -1), inf, -inf, math.NaN(), 1e300}
		for _, e := range edges {
			x = append(x, e, math.Nextafter(e, inf), math.Nextafter(e, -inf))
		}
		for range 60 {
			x = append(x, edges[0]+(edges[len(edges)-1]-edges[0])*(2*rng.Float64()-0.5))
		}
		list := value.New(types.F64, len(edges), 1)
		copy(list.F64, edges)
		for _, e := range []types.Elem{types.F64, types.F32, types.I64} {
			for _, cols := range []int{1, 3} {
				in := value.New(e, len(x)/cols, cols+1).View(0, 1, len(x)/cols, cols)
				for i := range in.Rows * in.Cols {
					v := value.F64(x[i])
					if e == types.I64 {
						v = value.F64(math.Trunc(max(-1e6, min(1e6, x[i]))))
						if math.IsNaN(v.F) {
							v = value.F64(7)
						}
					}
					in.Set(i/cols, i%cols, v.Convert(e))
				}
				for _, closed := range []string{"left", "right"} {
					for name, call := range map[string]*op.Call{
						"bin": {In: []value.Value{in, list}, Attrs: op.MakeAttrs(op.Attr{Name: "closed", Val: op.Str(closed)})},
						"bin.even": {In: []value.Value{in, value.F64(-1.5), value.F64(2.25)},
							Attrs: op.MakeAttrs(op.Attr{Name: "closed", Val: op.Str(closed)}, op.Attr{Name: "k", Val: op.Int(len(edges) + 2)})},
					} {
						call.Def, call.Type = rowtest.RowNamed(t, rows, name), types.DenseOf(types.I64, in.Rows, in.Cols)
						want, err := call.Def.Ref(call)
						if err != nil {
							t.Fatal(err)
						}
						for _, launch.PaysFrom = range []int64{0, math.MaxInt64} {
							begun := launch.Begun.Load()
							call.Out = value.New(types.I64, in.Rows, in.Cols)
							if err := call.Def.Kernel(call); err != nil {
								t.Fatal(err)
							}
							if s := rowtest.Differ(call.Out, want); s != "" {
								t.Errorf("%s of %v, %s, by %v: %s", name, in.Type(), closed, edges, s)
							}
							if ran := launch.Begun.Load() > begun; ran != (launch.PaysFrom == 0) {
								t.Errorf("%s by %v: a loop ran: %v", name, edges, ran)
							}
						}
					}
				}
			}
		}
	}
	if guesses < 4 || guesses == len(lists) {
		t.Errorf("%d of %d lists are guessed", guesses, len(lists))
	}
}

// TestBinsOfAscending: numbers that ascend have the intervals of the definition, at, beside and far
// beyond the edges. Lists that ascend up to their last number, which is less or NaN, have them too.
func TestBinsOfAscending(t *testing.T) {
	row, r := rowtest.RowNamed(t, define.Resolved(Rows()), "bin"), rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		list, x := value.New(types.F64, 40+r.IntN(200), 1), value.New(types.F64, 1+r.IntN(120), 3)
		for k := range list.F64 {
			list.F64[k] = math.Floor(30 * r.NormFloat64())
		}
		slices.Sort(list.F64)
		some := []float64{math.Inf(-1), math.Copysign(0, -1), 0, math.Inf(1)}
		for range x.Rows - 4 {
			e := list.F64[r.IntN(list.Rows)]
			some = append(some, []float64{e, math.Nextafter(e, 1e9), math.Nextafter(e, -1e9), 1e3 * r.NormFloat64()}[r.IntN(4)])
		}
		some = some[:x.Rows]
		slices.Sort(some)
		if n%3 == 1 {
			some[x.Rows-1] = []float64{math.NaN(), math.Inf(-1)}[r.IntN(2)]
		}
		in := x.View(0, r.IntN(3), x.Rows, 1)
		for i, v := range some {
			in.Set(i, 0, value.F64(v))
		}
		closed := []string{"left", "right"}[r.IntN(2)]
		call := &op.Call{In: []value.Value{in, list}, Attrs: op.MakeAttrs(op.Attr{Name: "closed", Val: op.Str(closed)}), Type: types.DenseOf(types.I64, in.Rows, 1), Def: row}
		want, err := row.Ref(call)
		if err != nil {
			t.Fatal(err)
		}
		call.Out = value.New(types.I64, in.Rows, 1)
		if err := row.Kernel(call); err != nil {
			t.Fatal(err)
		}
		if s := rowtest.Differ(call.Out, want); s != "" {
			t.Errorf("%v by %v, %s: %s", some, list.F64, closed, s)
		}
		edges := &intervals{edges: list.F64, right: closed == "right"}
		if did, is := edges.ascending(in, call.Out.(*value.Dense)), list.Rows >= manyEdges && slices.IsSorted(some) && some[x.Rows-1] == some[x.Rows-1]; did != is {
			t.Errorf("%d numbers by %d edges: in ascending order %v, not %v", x.Rows, list.Rows, did, is)
		}
	}
}

// TestGuesses: the guess of a table is right, or too low by no more than it says, for numbers on both
// sides of every edge and between them. Even edges are guessed without a doubt or by one, others by
// halving.
func TestGuesses(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	kinds := map[float64]int{}
	for range 400 {
		n := 1 + r.IntN(60)
		edges := make([]float64, n)
		lo, step := (r.Float64()-0.5)*math.Ldexp(1, r.IntN(20)), math.Ldexp(1+float64(r.IntN(2))*r.Float64(), r.IntN(30)-15)
		if r.IntN(3) == 0 {
			lo = 0
		}
		for i := range edges {
			edges[i] = lo + float64(i)*step
			if kind := r.IntN(40); kind == 0 {
				edges[i] += step * r.Float64()
			} else if kind == 1 && i > 0 {
				edges[i] = edges[i-1]
			}
		}
		slices.Sort(edges)
		if r.IntN(20) == 0 {
			edges[n-1] = math.Inf(1)
		}
		for _, right := range []bool{false, true} {
			g := guessOf(edges, right)
			kinds[min(g[tableStep], 2)]++
			if g[tableStep] > 1 {
				if want := math.Ldexp(1, bits.Len(uint(n))-1); g[tableStep] != want || g[tableLimit] != 0 {
					t.Fatalf("halving %d edges begins with %v", n, g)
				}
				continue
			}
			for _, e := range edges {
				for _, v := range []float64{e, math.Nextafter(e, -1e300), math.Nextafter(e, 1e300), e + step*r.Float64(), e - 1e9, e + 1e9, math.Inf(1), math.Inf(-1)} {
					if n == 1 && math.IsInf(v, 0) {
						continue
					}
					at := 0
					for _, e := range edges {
						if e < v || e == v && !right {
							at++
						}
					}
					if low := float64(at - guess(g, v)); low < 0 || low > g[tableStep] {
						t.Fatalf("edges %v, right %v: %v lies in %d, the guess %v is %d", edges, right, v, at, g, guess(g, v))
					}
				}
			}
		}
	}
	if kinds[0] < 20 || kinds[1] < 50 || kinds[2] < 50 {
		t.Errorf("guesses that are right, off by one, and none: %v", kinds)
	}
}

// TestEdgesOnce runs bin in many windows. An execution must read its edges once, so it allocates
// little.
func TestEdgesOnce(t *testing.T) {
	row := rowtest.RowNamed(t, define.Resolved(Rows()), "bin")
	x, edges := value.New(types.F64, 400_000, 1), value.New(types.F64, 30_000, 1)
	for i := range x.F64 {
		x.F64[i] = float64(i * 7919 % 400_000)
	}
	for i := range edges.F64 {
		edges.F64[i] = math.Sqrt(float64(i)) * 2000
	}
	c := &op.Call{Def: row, In: []value.Value{x, edges}, Type: types.DenseOf(types.I64, x.Rows, 1), Attrs: op.MakeAttrs(rowtest.Attr("closed", op.Str("left")))}
	out := value.New(types.I64, x.Rows, 1)
	c.Out = out
	n, leaf := row.Loop.Space(c)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := row.Loop.Begin(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	for lo := 0; lo < n; lo += leaf {
		if err := body.Chunk(0, lo, min(lo+leaf, n)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if made, most := after.TotalAlloc-before.TotalAlloc, uint64(8*6*edges.Rows); n/leaf < 10 || made > most {
		t.Errorf("%d windows allocate %d bytes, more than %d", n/leaf, made, most)
	}
	for i, v := range x.F64 {
		if want := int64(counted(edges.F64, v, false)); out.I64[i] != want {
			t.Fatalf("element %d: %d, not %d", i, out.I64[i], want)
		}
	}
}
