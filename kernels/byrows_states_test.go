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

// TestNestStatesReadOwnRows: where the operators of a nest run one after the other on a rank, its
// reductions read only the rows of that rank. The rows of others may arrive meanwhile. The pipe stores
// what it reduces, or it does not.
func TestNestStatesReadOwnRows(t *testing.T) {
	before := loopsFrom.Load()
	defer LoopsFrom(before)
	LoopsFrom(1 << 40) // no loops
	const rows, lo, hi = 12, 3, 7
	x := value.New(types.F64, rows, 1)
	for i := range rows {
		x.F64[i] = float64(i) + 0.5
	}
	full, counted := x.Type(), *row(t, "pipe")
	acc, err := row(t, "sum.part").Type(&op.Sig{Def: row(t, "sum.part"), In: []types.Type{full}})
	if err != nil {
		t.Fatal(err)
	}
	var read []int
	counted.Kernel = func(c *op.Call) error {
		read = append(read, c.Dense(0).Rows)
		return row(t, "pipe").Kernel(c)
	}
	both := types.TupleOf(full, acc)
	double := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}}, Steps: []op.Step{{Def: row(t, "add"), Args: []int{0, 0}, Elem: types.F64}}}
	attrs := func(fold string) *op.Attrs {
		return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(1)}, op.Attr{Name: "fold", Val: op.Str(fold)},
			op.Attr{Name: "modes", Val: op.Ints(int(op.Full))})
	}
	at := func(k int, t types.Type, def *op.Def) op.Action {
		return op.Action{Def: def, Attrs: op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), Type: t, Args: []int{1}}
	}
	stores := &op.Body{Args: []types.Type{full}, Yields: []int{2, 3}, Acts: []op.Action{
		{Def: &counted, Attrs: attrs("store sum.part"), Type: both, Args: []int{0}, Chain: double},
		at(0, full, row(t, "part")), at(1, acc, row(t, "part"))}}
	reduces := &op.Body{Args: []types.Type{full}, Yields: []int{1, 2}, Acts: []op.Action{
		{Def: row(t, "map"), Attrs: op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(int(op.Full))}), Type: full, Args: []int{0}, Chain: double},
		{Def: &counted, Attrs: attrs("sum.part"), Type: acc, Args: []int{0}, Chain: double}}}
	twice := made(t, "add", nil, x, x).(*value.Dense).View(lo, 0, hi-lo, 1)
	for name, body := range map[string]*op.Body{"store": stores, "reduce": reduces} {
		read = nil
		c := &op.Call{Def: row(t, "nest"), Type: both, In: []value.Value{x}, Bodies: []*op.Body{body}, Part: true, From: lo,
			Out: value.Tuple{value.New(types.F64, rows, 1), value.New(dense.Storage(acc.Elem), acc.Rows, acc.Cols)}}
		l, err := c.Def.Loop.Begin(c, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Chunk(0, lo, hi); err != nil {
			t.Fatal(err)
		}
		if err := l.End(); err != nil {
			t.Fatal(err)
		}
		if len(read) != 1 || read[0] != hi-lo {
			t.Errorf("%s: reductions read %v rows, want those of the rank alone, %d", name, read, hi-lo)
		}
		out := c.Out.(value.Tuple)
		if msg := rowtest.Differ(out[0].(*value.Dense).View(lo, 0, hi-lo, 1), twice); msg != "" {
			t.Errorf("%s: elements: %s", name, msg)
		}
		if msg := rowtest.Differ(out[1], made(t, "sum.part", nil, twice)); msg != "" {
			t.Errorf("%s: state: %s", name, msg)
		}
	}
}
