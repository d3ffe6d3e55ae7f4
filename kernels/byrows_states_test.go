package kernels

import (
	"math"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/rowtest"
)

// TestByRowsStates: loops over the rows of ranks give states of the reductions of all elements and of
// columns. Joined, these are the reductions. A rank without rows gives the state of none. It makes no
// difference whether numbers are too far apart for the sums of the loops, or the operators run one
// after the other.
func TestByRowsStates(t *testing.T) {
	before := loopsFrom.Load()
	defer LoopsFrom(before)
	const rows = 12
	for _, name := range []string{"colsum", "colmax", "colnorm", "colvar", "sum", "min", "var", "norm"} {
		for _, cols := range []int{5, 200} {
			for _, way := range []string{"similar", "far", "apart"} {
				of, loops := row(t, name), way == "similar"
				if LoopsFrom(0); way == "apart" {
					LoopsFrom(math.MaxInt64)
				}
				if cols > 16 && of.Fold == op.FoldCols {
					continue // no loop adds up many columns
				}
				x, number := value.New(types.F64, rows, cols), rowNumbers["similar"]
				if way == "far" {
					number = rowNumbers[way]
				}
				for i := range rows * cols {
					x.F64[i] = number(7*(i/cols) + i%cols)
				}
				column := made(t, "rowmax", nil, x)
				less := made(t, "sub", nil, x, column).(*value.Dense)
				var states []value.Value
				for _, own := range [][2]int{{0, 6}, {6, 6}, {6, 9}, {9, rows}} {
					full, state := statesByRows(t, of.Shard.Partial, x, own[0], own[1], loops)
					if msg := rowtest.Differ(full.View(own[0], 0, own[1]-own[0], cols), less.View(own[0], 0, own[1]-own[0], cols)); msg != "" {
						t.Errorf("%s of %d columns, %s, rows %v: %s", name, cols, way, own, msg)
					}
					states = append(states, state)
				}
				all := states[0]
				if of.Shard.Combine != "" {
					all = made(t, of.Shard.Combine, nil, states...)
				}
				n := rows
				if of.Fold == op.FoldAll {
					n *= cols
				}
				got := all
				if of.Shard.Finish != "" {
					got = made(t, of.Shard.Finish, op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "elem", Val: op.Str("f64")}), all)
				}
				if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, of, nil, less))); msg != "" {
					t.Errorf("%s of %d columns, %s: %s", name, cols, way, msg)
				}
			}
		}
	}
}

// statesByRows runs a loop over the rows lo..hi-1 of x, which are those of a rank, with two workers. It
// returns x less the greatest element of each row, and the state that the row named partial makes of
// that. loops: the loop must run.
func statesByRows(t *testing.T, partial string, x *value.Dense, lo, hi int, loops bool) (*value.Dense, *value.Dense) {
	t.Helper()
	full, column := x.Type(), types.DenseOf(types.F64, x.Rows, 1)
	d := row(t, partial)
	acc, err := d.Type(&op.Sig{Def: d, In: []types.Type{full}})
	if err != nil {
		t.Fatal(err)
	}
	both := types.TupleOf(full, acc)
	chain := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}, {Elem: types.F64, Mode: op.ColVec}},
		Steps: []op.Step{{Def: row(t, "sub"), Args: []int{0, 1}, Elem: types.F64}}}
	size := []op.Attr{{Name: "rows", Val: op.Int(x.Rows)}, {Name: "cols", Val: op.Int(x.Cols)}}
	attrs := op.MakeAttrs(append(size, op.Attr{Name: "fold", Val: op.Str("store " + partial)}, op.Attr{Name: "modes", Val: op.Ints(int(op.Full), int(op.ColVec))})...)
	part := func(k int, t types.Type, def *op.Def) op.Action {
		return op.Action{Def: def, Attrs: op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), Type: t, Args: []int{2}}
	}
	body := &op.Body{Args: []types.Type{full}, Yields: []int{3, 4}, Acts: []op.Action{
		{Def: row(t, "rowmax"), Type: column, Args: []int{0}},
		{Def: row(t, "pipe"), Attrs: attrs, Type: both, Args: []int{0, 1}, Chain: chain},
		part(0, full, row(t, "part")), part(1, acc, row(t, "part"))}}
	by := row(t, "byrows")
	c := &op.Call{Def: by, Type: both, In: []value.Value{x}, Bodies: []*op.Body{body}, Part: true, Lo: lo, Hi: hi,
		Attrs: op.MakeAttrs(append(size, op.Attr{Name: "block", Val: op.Int(2)})...)}
	state := value.New(dense.Storage(acc.Elem), acc.Rows, acc.Cols)
	for i := range acc.Rows * acc.Cols { // the memory of a value is not empty
		state.Set(i/acc.Cols, i%acc.Cols, value.I64(5).Convert(state.Elem))
	}
	c.Out = value.Tuple{value.New(types.F64, x.Rows, x.Cols), state}
	l, err := by.Loop.Begin(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	if l.(*rowsRun).workers == nil && loops {
		t.Errorf("%s of %d columns: no loop runs", partial, x.Cols)
	}
	for k := lo; k < hi; k += 2 {
		if err := l.Chunk(k/2%2, k, min(k+2, hi)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	return c.Out.(value.Tuple)[0].(*value.Dense), state
}
