package launch

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestStreams: results that no cache holds are stored past the caches, unless their memory is that
// of an operand, or many of their lines would be written in parts.
func TestStreams(t *testing.T) {
	n := &loop.Nest{Results: []loop.Result{{Elem: types.F64, Over: -1}}}
	size := func(rows, cols int) []*value.Dense {
		return []*value.Dense{{Elem: types.F64, Rows: rows, Cols: cols, Stride: cols}}
	}
	l := New(n)
	for _, c := range []struct {
		rows, cols int
		wide       bool
		want       layout
	}{
		{4095, 1024, false, 0}, {4096, 1024, false, streamed}, {200000, 24, false, streamed}, {300000, 20, false, 0},
		{300000, 20, true, streamed}, {10000, 1001, false, 0}, {3000, 2049, false, streamed}, {1, 5000001, false, streamed},
	} {
		if got := l.streams(&Run{}, size(c.rows, c.cols), c.wide); got != c.want {
			t.Errorf("%d x %d, in one row %v: %d, want %d", c.rows, c.cols, c.wide, got, c.want)
		}
	}
	gap := size(200000, 24)
	if gap[0].Stride = 25; l.streams(&Run{}, gap, false) != 0 {
		t.Error("a result whose rows begin between lines is stored past the caches")
	}
	if New(n).streams(&Run{Past: true}, size(1, 1024), false) != streamed {
		t.Error("a part of a large result is not stored past the caches")
	}
	if l.streams(&Run{Overwrites: true}, size(4096, 1024), false) != 0 {
		t.Error("a result that may lie in the memory of an operand is stored past the caches")
	}
	n.Results[0].Over = 0
	if l.streams(&Run{}, size(4096, 1024), false) != 0 {
		t.Error("a result in the memory of an operand is stored past the caches")
	}
}

// TestFetching: loads prefetch if an operand is large, on processors that need it.
func TestFetching(t *testing.T) {
	defer func(was bool) { fetches = was }(fetches)
	small, large := value.New(types.F64, 1023, 512), value.New(types.F64, 1024, 512)
	for _, c := range []struct {
		fetches bool
		in      []value.Value
		want    layout
	}{
		{true, []value.Value{value.F64(1), small}, 0}, {true, []value.Value{small, large}, fetched}, {false, []value.Value{large}, 0},
	} {
		if fetches = c.fetches; fetching(c.in) != c.want {
			t.Errorf("%v: %d, want %d", c, fetching(c.in), c.want)
		}
	}
}

// drawTies fills d with few different numbers: NaN, zeros of both signs and infinity are among floats.
func drawTies(r *rand.Rand, d *value.Dense) {
	odd := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), 1, 2}
	for i := range d.Rows {
		for j := range d.Cols {
			d.Set(i, j, value.F64(odd[r.IntN(len(odd))]).Convert(d.Elem))
			if d.Elem == types.I64 {
				d.Set(i, j, value.I64(int64(r.IntN(4))))
			}
		}
	}
}

// TestKeeping: results that may equal an operand are stored where they differ if they lie in its
// memory, and everywhere if they do not.
func TestKeeping(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for _, text := range []string{
		"v2 = min v0, v1\n store out0[i, j] v2", "v2 = max v1, v0\n store out0[i, j] v2",
		"v2 = lt v1, v0\n v3 = select v2, v0, v1\n v4 = max v3, v0\n store out0[i, j] v4",
	} {
		for _, e := range []types.Elem{types.F64, types.I64, types.F32} {
			n, err := loop.Parse(strings.ReplaceAll("nest(%0: E[], %1: E[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n v1 = load %1[i, j]\n "+text+"\n} : (E[%0.rows, %0.cols])",
				"E", e.String()), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			l := New(n)
			rows, cols := 1+r.IntN(5), 1+r.IntN(90)
			for _, stride := range []int{cols, 2 * cols} {
				for _, same := range []bool{true, false} {
					room, y, want, out := value.New(e, 2*rows, cols), value.New(e, rows, cols), value.New(e, rows, cols), value.New(e, rows, stride)
					x := room.View(0, 0, rows, cols)
					for _, d := range []*value.Dense{x, y, out} {
						drawTies(r, d)
					}
					run := func(in []value.Value, out *value.Dense, overwrites bool) {
						var b Run
						b.Overwrites = overwrites
						if err := l.Bind(&b, in, []*value.Dense{out}); err != nil {
							t.Fatal(err)
						}
						if (b.made.layout&keeping != 0) != overwrites {
							t.Fatalf("in the memory of an operand %v: the layout is %x", overwrites, b.made.layout)
						}
						w := b.Worker()
						defer w.Free()
						for i := rows - 1; i >= 0; i-- { // what is stored further on has been read
							if flagged, err := w.Window(i, i+1, 0, cols, nil); flagged || err != nil {
								t.Fatal(flagged, err)
							}
						}
					}
					run([]value.Value{x, y}, want, false)
					if same { // with longer rows only the first one lies where that of the operand does
						out = room.View(0, 0, 2*rows, cols)
						out.Rows, out.Stride = rows, stride
					}
					to := out.View(0, 0, rows, cols)
					run([]value.Value{x, y}, to, true)
					for i := range rows {
						for j := range cols {
							if !to.At(i, j).Same(want.At(i, j)) {
								t.Fatalf("%s of %v, %d x %d, stride %d, same memory %v: element %d, %d is %v, want %v", text, e, rows, cols, stride, same, i, j, to.At(i, j), want.At(i, j))
							}
						}
					}
				}
			}
		}
	}
}

// TestBlocks runs a nest that reads an operand across, over more rows and lanes than a block has, on
// windows that begin anywhere. Every kind of reduced result gets each point once.
func TestBlocks(t *testing.T) {
	const size = 3*blockRows + 5
	body := func(results string) *Loop {
		n, err := loop.Parse(`
nest(%0: f64[], %1: bool[]) (i: 0..%0.cols, j: 0..%0.rows) {
  v0 = load %0[j, i]
  v1 = index j
  v2 = to_f64 v1
  v3 = sub v0, v2
  v4 = load %1[j, i]
  `+results, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		return New(n)
	}
	x, b := value.New(types.F64, size, size), value.New(types.Bool, size, size)
	for k := range x.F64 {
		x.F64[k], b.Bool[k] = float64(k*k%1009)/8, byte(k%3/2)
	}
	in := []value.Value{x, b}
	for _, l := range []*Loop{
		body("reduce out0[0, 0] v3\n} : (sum f64[1, 1])"),
		body("reduce out0[0, 0] v3\nreduce out1[0, 0] v4\nreduce out2[0, 0] v4\n} : (min f64[1, 1], count i64[1, 1], all bool[1, 1])"),
		body("reduce out0[i, 0] v3\nreduce out1[i, 0] v4\n} : (max f64[%0.cols, 1], count i64[%0.cols, 1])"),
		body("reduce out0[0, j] v3\nreduce out1[0, j] v4\n} : (sum f64[1, %0.rows], any bool[1, %0.rows])"),
		body("reduce out0[i, 0] v3\n} : (sum f64[%0.cols, 1])"),
		body("store out0[i, j] v3\nreduce out1[0, 0] v3\n} : (f64[%0.cols, %0.rows], max f64[1, 1])"),
	} {
		want, err := l.nest.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		var out []*value.Dense
		for _, v := range want {
			d := v.(*value.Dense)
			out = append(out, value.New(d.Elem, d.Rows, d.Cols))
		}
		r, err := l.Begin(in, out)
		if err != nil {
			t.Fatal(err)
		}
		w := r.Worker()
		for _, rows := range [][2]int{{0, 3}, {3, size - 1}, {size - 1, size}} {
			if flagged, err := w.Window(rows[0], rows[1], 0, size, nil); flagged || err != nil {
				t.Fatal(flagged, err)
			}
		}
		w.Finish()
		w.Free()
		for k, d := range out {
			if !same(d, want[k].(*value.Dense)) {
				t.Errorf("result %d differs\n%s", k, l.nest)
			}
		}
	}
}
