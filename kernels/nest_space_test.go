package kernels

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
	"flow/kernels/rowtest"
)

// TestPieces: where a row says that elements come from, its definition takes them.
func TestPieces(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	m := func(rows, cols int) types.Type { return types.DenseOf(types.F64, rows, cols) }
	for _, c := range []struct {
		row    string
		attrs  *op.Attrs
		in     []types.Type
		pieces int // 0: it does not only move, or not along its own axes
	}{
		{"slice", op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(1, 2, 3, 4)}), []types.Type{m(5, 7)}, 1},
		{"rbind", nil, []types.Type{m(1, 4), m(3, 4), m(2, 4)}, 3},
		{"cbind", nil, []types.Type{m(3, 1), m(3, 1), m(3, 5), m(3, 2)}, 4},
		{"cbind", nil, []types.Type{m(3, 2)}, 1},
		{"reverse", nil, []types.Type{m(3, 2)}, 1},
		{"reverse", op.MakeAttrs(rowtest.Attr("by", op.Str("both"))), []types.Type{m(3, 2)}, 1},
		{"stride", op.MakeAttrs(rowtest.Attr("rows", op.Int(2)), rowtest.Attr("cols", op.Int(-3))), []types.Type{m(7, 11)}, 1},
		{"t", nil, []types.Type{m(3, 2)}, 0},
		{"matmul", nil, []types.Type{m(3, 2), m(2, 4)}, 0},
		{"rbind", nil, []types.Type{m(1, 2), types.DenseOf(types.I64, 3, 2)}, 2},
	} {
		d := table.Must(c.row)
		var in []value.Value
		for k, t := range c.in {
			x := value.New(t.Elem, t.Rows, t.Cols)
			for i := range x.Rows {
				for j := range x.Cols {
					x.Set(i, j, value.F64(float64(100*k+10*i+j)).Convert(t.Elem))
				}
			}
			in = append(in, x)
		}
		out, err := d.Type(&op.Sig{Def: d, In: c.in, Attrs: c.attrs})
		if err != nil {
			t.Fatal(err)
		}
		list, ok := d.Pieces(c.attrs, c.in, out)
		if ok != (c.pieces > 0) || len(list) != c.pieces {
			t.Errorf("%s has %d pieces, want %d", c.row, len(list), c.pieces)
			continue
		}
		want, err := d.Ref(&op.Call{Def: d, Attrs: c.attrs, In: in, Type: out})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, p := range list {
			seen += p.Rows * p.Cols
			for i := p.Row; i < p.Row+p.Rows; i++ {
				for j := p.Col; j < p.Col+p.Cols; j++ {
					there := in[p.In].(*value.Dense).At(p.By*i+p.Down, p.Over*j+p.Right).Convert(out.Elem)
					if !there.Same(want.(*value.Dense).At(i, j)) {
						t.Errorf("%s: element (%d, %d) is %v", c.row, i, j, there)
					}
				}
			}
		}
		if ok && seen != out.Count() {
			t.Errorf("%s: pieces of %d elements, want %d", c.row, seen, out.Count())
		}
	}
}

// TestProgramsPayTogether: programs of one text count the work before machine code together and run one
// loop, of whole sums too. Others count alone.
func TestProgramsPayTogether(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	program := func(name string, e types.Elem) *op.Program {
		return &op.Program{In: []op.Operand{{Elem: e, Mode: op.Full}}, Steps: []op.Step{{Def: table.Must(name), Args: []int{0}, Elem: e}}}
	}
	plain, sum := nestShape{}, nestShape{fold: "sum"}
	made := func(p *op.Program, s nestShape) *programNest { return nestsOf(p).of(p, s) }
	first := made(program("exp", types.F64), plain)
	if made(program("exp", types.F64), plain).seen != first.seen {
		t.Error("programs of one text count apart")
	}
	for k, x := range []*programNest{made(program("log", types.F64), plain), made(program("exp", types.F32), plain), made(program("exp", types.F64), sum)} {
		if x.seen == first.seen {
			t.Errorf("program %d counts with another", k)
		}
	}
	for _, s := range []nestShape{plain, sum} {
		p, q := program("exp", types.F64), program("exp", types.F64)
		enough := int(launch.PaysFrom)
		if a, b := nestsOf(p).nest(p, s, enough), nestsOf(q).nest(q, s, 1); a == nil || a != b {
			t.Errorf("%+v: loops %p and %p", s, a, b)
		}
	}
}

// TestLoopsByText: the same loop written twice is one, and loops that differ in a bit are two.
func TestLoopsByText(t *testing.T) {
	loopNest := func(e types.Elem, c loop.Word, from int64) *loop.Nest {
		b := loop.New()
		x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, e)}
		n := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
		i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: n, By: 1}))
		r := loop.Mem{Kind: loop.ResultMem, N: b.Result(e, n, loop.Num(1))}
		b.Store(r, i, loop.Num(0), b.Op(loop.Mul, b.Load(x, i.Plus(loop.Num(from)), loop.Num(0)), b.Const(e, c)))
		if err := b.Nest.Verify(); err != nil {
			t.Fatal(err)
		}
		return b.Nest
	}
	zero, minus := math.Float64bits(0), math.Float64bits(math.Copysign(0, -1))
	third := math.Float64bits(1.0 / 3)
	different := []*loop.Nest{loopNest(types.F64, zero, 0), loopNest(types.F64, minus, 0), loopNest(types.F64, third, 0), loopNest(types.F64, third+1, 0),
		loopNest(types.F64, third, 1), loopNest(types.F32, 0, 0), loopNest(types.I64, 0, 0)}
	again := []*loop.Nest{loopNest(types.F64, zero, 0), loopNest(types.F64, minus, 0), loopNest(types.F64, third, 0), loopNest(types.F64, third+1, 0),
		loopNest(types.F64, third, 1), loopNest(types.F32, 0, 0), loopNest(types.I64, 0, 0)}
	for i := range different {
		for j := range again {
			if same := nest.LoopOf(different[i]) == nest.LoopOf(again[j]); same != (i == j) {
				t.Errorf("loops %d and %d: the same is %v\n%s%s", i, j, same, different[i], again[j])
			}
		}
	}
}
