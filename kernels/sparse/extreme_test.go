package sparse

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// unevenGraph is a square pattern. Of a closed one vertices without neighbours are named by none;
// of others some are.
func unevenGraph(r *rand.Rand, n int, closed bool) *value.CSR {
	lone := make([]bool, n)
	for i := range lone {
		lone[i] = r.IntN(3) == 0
	}
	m := value.NewCSR(types.Bool, n, n, 0)
	for i := range n {
		share := 0.02
		if r.IntN(30) == 0 {
			share = 0.9
		}
		for j := range n {
			if !lone[i] && (!lone[j] || !closed) && (j == i || r.Float64() < share || i%50 == 0 && !closed) {
				m.Col = append(m.Col, int32(j))
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}

// extremesOf is the extreme of each row of g * t(x) in plain Go, beyond base.
func extremesOf(least bool, g *value.CSR, x, base []int64) []int64 {
	out := make([]int64, g.Rows)
	for i := range out {
		cols, _ := g.Row(i)
		if len(cols) == g.Cols {
			out[i] = x[0]
		}
		for _, j := range cols {
			out[i] = pickI64(least, out[i], x[j])
		}
		if base != nil {
			out[i] = pickI64(least, out[i], base[i])
		}
	}
	return out
}

// Folds with one matrix again and again give what plain loops give, whether it is closed or not and
// is known to be, and whatever the vector holds: elements that are marks, that do not fit, that
// only rows without entries have.
func TestFoldsOfPatterns(t *testing.T) {
	d := rowtest.RowNamed(t, define.Resolved(ringRows()), "sp.rowfold")
	r := rand.New(rand.NewPCG(71, 72))
	for trial := range 24 {
		closed := trial%2 == 0
		n := 300 + r.IntN(200)
		g := unevenGraph(r, n, closed)
		for round := range 5 {
			x, base := value.New(types.I64, n, 1), value.New(types.I64, n, 1)
			for i := range x.I64 {
				x.I64[i], base.I64[i] = r.Int64N(2000)-1000, r.Int64N(2000)-1000
				switch {
				case trial%5 == 1 && r.IntN(50) == 0:
					x.I64[i] = []int64{math.MaxInt32, math.MinInt32}[r.IntN(2)]
				case trial%5 == 2 && r.IntN(50) == 0:
					x.I64[i] = r.Int64() - r.Int64()
				case trial%5 == 3:
					x.I64[i] = 7 // rows end at once
				case g.Ptr[i] == g.Ptr[i+1] && round > 1:
					x.I64[i] *= 1000
				}
				if r.IntN(50) == 0 {
					base.I64[i] = []int64{math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}[r.IntN(4)]
				}
			}
			for _, of := range []string{"max", "min"} {
				in := []value.Value{g, x}
				var from []int64
				if round%2 == 1 {
					in, from = append(in, base), base.I64
				}
				want := value.New(types.I64, n, 1)
				want.I64 = extremesOf(of == "min", g, x.I64, from)
				c := &op.Call{Def: d, Attrs: op.MakeAttrs(rowtest.Attr("of", op.Str(of))), In: in, Type: want.Type()}
				if round%2 == 0 { // else the loop is the first
					rowtest.Lend(c)
					if err := d.Kernel(c); err != nil {
						t.Fatal(err)
					}
					if msg := rowtest.Differ(c.Out, want); msg != "" {
						t.Fatalf("trial %d, round %d, %s: %s", trial, round, of, msg)
					}
				}
				rowtest.CheckLoop(t, c, want)
			}
		}
		if known, ok := closedPatterns.Load(weak.Make(g)); trial%5 != 1 && trial%5 != 2 && (!ok || (known.(bitset) != nil) != closed) {
			t.Errorf("trial %d: closed %v, known to be %v", trial, closed, known)
		}
	}
}

// What is known of a matrix is forgotten with it.
func TestClosedPatternsAreForgotten(t *testing.T) {
	g := unevenGraph(rand.New(rand.NewPCG(73, 74)), 10, true)
	key := weak.Make(g)
	rememberOf(g, &closedPatterns, nil)
	if _, ok := closedPatterns.Load(key); !ok {
		t.Fatal("nothing is remembered")
	}
	runtime.KeepAlive(g)
	g = nil
	for range 100 {
		runtime.GC()
		if _, ok := closedPatterns.Load(key); !ok {
			return
		}
		runtime.Gosched()
	}
	t.Error("a matrix that is gone is remembered")
}

// A rank folds its own rows of a matrix whose columns it has listed. Elements that these do not name
// change nothing, and elements that do not fit in 32 bits are found among the others.
func TestFoldsOfRowsOfARank(t *testing.T) {
	fold := rowtest.RowNamed(t, define.Resolved(ringRows()), "sp.rowfold")
	r := rand.New(rand.NewPCG(75, 76))
	for trial := range 40 {
		n, ranks := 300+r.IntN(900), 1+r.IntN(4)
		rank := r.IntN(ranks)
		lo, hi := op.Window(rank, ranks, n)
		g := unevenGraph(r, n, trial%2 == 0)
		if trial%4 == 3 { // the rows name few columns, so fewer entries than columns of the matrix suffice
			narrow := value.NewCSR(types.Bool, n, n, 0)
			for i := range n {
				cols, _ := g.Row(i)
				few, _ := slices.BinarySearch(cols, int32(n/6))
				narrow.Col = append(narrow.Col, cols[:few]...)
				narrow.Ptr[i+1] = int64(len(narrow.Col))
			}
			g = narrow
		}
		g = g.View(lo, hi-lo).Padded(lo, n)
		lists := &op.Call{In: []value.Value{g}, Type: types.SparseOf(types.Bool, ranks, n), Lo: lo, Hi: hi}
		if err := touched(lists); err != nil {
			t.Fatal(err)
		}
		named := columnsOf(g)
		for round := range 4 {
			x := value.New(types.I64, n, 1)
			for i := range x.I64 {
				x.I64[i] = r.Int64N(1000) - 500
				if named[i/64]>>(i%64)&1 == 0 || round == 3 && r.IntN(20) == 0 {
					x.I64[i] = r.Int64() - r.Int64()
				}
			}
			for _, of := range []string{"max", "min"} {
				c := &op.Call{Def: fold, Attrs: op.MakeAttrs(rowtest.Attr("of", op.Str(of))), In: []value.Value{g, x}, Type: x.Type(), Part: true}
				rowtest.Lend(c)
				body, err := fold.Loop.Begin(c, 1)
				if err != nil {
					t.Fatal(err)
				}
				if l, ok := body.(*extremeLoop); ok && ranks > 1 && g.NNZ() >= extremeEntries*named.count() && (l.named == nil || (l.narrow == nil) != (round == 3)) {
					t.Errorf("trial %d, round %d: columns %v, in 32 bits %v", trial, round, l.named != nil, l.narrow != nil)
				}
				if err := op.RunAll(body, n); err != nil {
					t.Fatal(err)
				}
				if got, want := c.Out.(*value.Dense).I64, extremesOf(of == "min", g, x.I64, nil); !slices.Equal(got, want) {
					t.Fatalf("trial %d, round %d, %s of the rows of rank %d of %d: %v, not %v", trial, round, of, rank, ranks, got, want)
				}
			}
		}
	}
}
