package kernels

import (
	"fmt"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/nest"
)

// What is kept in the bodies of a parfor is what is marked for all loops around and made of nothing
// but what is the same in every iteration: not what an index or a carried value reaches, and not
// what is unmarked and cheap.
func TestKeptIn(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	scalar := types.ScalarOf(types.F64)
	act := func(keep int, args ...int) op.Action {
		return op.Action{Def: table.Must("sqrt"), Attrs: op.MakeAttrs(op.Attr{Name: "keep", Val: op.Int(keep)}), Type: scalar, Args: args}
	}
	side := &op.Body{Args: []types.Type{scalar, scalar}, Yields: []int{2}, Acts: []op.Action{ // of what is the same, and of an index
		act(1, 0), act(0, 0), act(1, 1), act(1, 2), act(1, 4), act(1, 3)}}
	round := &op.Body{Args: []types.Type{scalar, scalar, scalar}, Yields: []int{3}, Acts: []op.Action{ // carried, the same, an index
		act(2, 1), act(1, 1), act(2, 0), act(2, 3), act(2, 2), act(2, 5)}}
	deep := &op.Body{Args: []types.Type{scalar}, Yields: []int{1}, Acts: []op.Action{act(2, 0), act(1, 0)}}
	round.Acts = append(round.Acts, op.Action{Def: table.Must("select"), Type: scalar, Args: []int{2, 1}, Bodies: []*op.Body{deep, deep}})
	b := &op.Body{Args: []types.Type{scalar, scalar}, Yields: []int{2}, Acts: []op.Action{ // an index, and what is the same
		{Def: table.Must("select"), Type: scalar, Args: []int{0, 1, 0}, Bodies: []*op.Body{side, side}},
		{Def: table.Must("iterate"), Attrs: op.MakeAttrs(op.Attr{Name: "carry", Val: op.Int(1)}), Type: scalar, Args: []int{1, 1, 0}, Bodies: []*op.Body{round}},
	}}
	cells, m := nest.FindMemos(b, []bool{true, false, true, true})
	kept := func(m *nest.MemoMap) (s string) {
		for _, c := range m.Cell {
			s += fmt.Sprint(min(c, 1))
		}
		return s
	}
	for _, c := range []struct{ what, got, want string }{
		{"a side of the branch", kept(m.In[0][0]), "100101"},
		{"the other side", kept(m.In[0][1]), "100101"},
		{"the rounds of the loop", kept(m.In[1][0]), "1001000"},
		{"the branch in the loop", kept(m.In[1][0].In[6][0]), "10"},
	} {
		if c.got != c.want {
			t.Errorf("%s: kept %s, want %s", c.what, c.got, c.want)
		}
	}
	if first := cells[m.In[0][0].Cell[0]-1]; first.Args[0] != (nest.MemoSource{Reg: 1 + 1}) {
		t.Errorf("the first cell reads %+v, not register 1", first.Args)
	}
	if last := cells[m.In[0][0].Cell[3]-1]; last.Args[0] != (nest.MemoSource{Cell: m.In[0][0].Cell[0]}) {
		t.Errorf("what is made of a kept value reads %+v", last.Args)
	}
}

// A failure is kept like a value; that the loop was stopped meanwhile is not.
func TestKeptFailure(t *testing.T) {
	calls := 0
	d := &op.Def{Name: "fails", Kernel: func(*op.Call) error {
		if calls++; calls == 1 {
			return op.ErrStopped
		}
		return op.Failf(define.CodeData, "call %d", calls)
	}}
	scalar := types.ScalarOf(types.F64)
	b := &op.Body{Args: []types.Type{scalar}, Acts: []op.Action{{Def: d, Type: scalar, Args: []int{0}}}, Yields: []int{1}}
	k := &nest.Memo{Call: &op.Call{}, Values: []value.Value{value.F64(1)}, Cells: []nest.MemoCell{{Body: b, Act: 0, Args: []nest.MemoSource{{Reg: 1}}}}, State: make([]nest.MemoValue, 1)}
	for i, want := range []string{op.ErrStopped.Error(), "call 2", "call 2"} {
		if _, err := k.Get(0); err == nil || err.Error() != want {
			t.Errorf("get %d: %v, want %s", i, err, want)
		}
	}
}

// A cell is computed before it is needed if that takes little work and cannot fail, and what it reads
// is ready.
func TestReadyCells(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	small, large := types.DenseOf(types.F64, 30, 30), types.DenseOf(types.F64, 200, 100)
	word := types.ScalarOf(types.I64)
	type test struct {
		what  string
		name  string
		typ   types.Type
		args  []types.Type
		in    []value.Value
		ready bool
	}
	ones := func(t types.Type) value.Value {
		d := value.New(t.Elem, t.Rows, t.Cols)
		for i := range d.F64 {
			d.F64[i] = 4
		}
		return d
	}
	for _, c := range []test{
		{"a few elements", "sqrt", small, []types.Type{small}, []value.Value{ones(small)}, true},
		{"a scalar of few elements", "sum", types.ScalarOf(types.F64), []types.Type{small}, []value.Value{ones(small)}, true},
		{"many elements", "sqrt", large, []types.Type{large}, []value.Value{ones(large)}, false},
		{"a scalar of much work", "sum", types.ScalarOf(types.F64), []types.Type{large}, []value.Value{ones(large)}, false},
		{"much work for few elements", "matmul", small, []types.Type{small, small}, []value.Value{ones(small), ones(small)}, false},
		{"what may fail", "idiv", word, []types.Type{word, word}, []value.Value{value.I64(7), value.I64(2)}, false},
		{"what reads a value that is not there", "sqrt", small, []types.Type{small}, []value.Value{nil}, false},
	} {
		args := make([]int, len(c.args))
		sources := make([]nest.MemoSource, len(c.args))
		for i := range args {
			args[i], sources[i].Reg = i, 1+i
		}
		// A second cell reads the first.
		first := &op.Body{Args: c.args, Acts: []op.Action{{Def: table.Must(c.name), Type: c.typ, Args: args}}, Yields: []int{len(c.args)}}
		then := &op.Body{Args: []types.Type{c.typ}, Acts: []op.Action{{Def: table.Must("abs"), Type: c.typ, Args: []int{0}}}, Yields: []int{1}}
		for cell := range 2 {
			k := &nest.Memo{Call: &op.Call{}, Values: c.in, State: make([]nest.MemoValue, 2),
				Cells: []nest.MemoCell{{Body: first, Args: sources}, {Body: then, Args: []nest.MemoSource{{Cell: 1}}}}}
			if got := k.Ready(cell); (got != nil) != c.ready || k.State[cell].Done.Load() != c.ready {
				t.Errorf("%s: cell %d is %v, want it ready: %v", c.what, cell, got != nil, c.ready)
			}
			if c.in[0] == nil || c.ready {
				continue
			}
			if _, err := k.Get(0); err != nil {
				t.Fatal(err)
			}
			if got := k.Ready(0); got == nil {
				t.Errorf("%s: a value that is there is not ready", c.what)
			}
		}
	}
}

// TestConstantsOfBodies: the constants of a body are made when it is compiled. A loop in an iterate
// begins in every round, and would make them each time.
func TestConstantsOfBodies(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	number := types.ScalarOf(types.F64)
	value25 := op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(2.5)})
	b := &op.Body{Args: []types.Type{types.ScalarOf(types.I64), number}, Yields: []int{4}, Acts: []op.Action{
		{Def: table.Must("const"), Attrs: value25, Type: number},
		{Def: table.Must("mul"), Type: number, Args: []int{1, 2}},
		{Def: table.Must("add"), Type: number, Args: []int{0, 3}},
	}}
	c := compileBody(b, 1)
	if !slices.Equal(c.uniform, []int{1}) {
		t.Errorf("actions %v are run whenever the loop begins, not 1 alone", c.uniform)
	}
	r := &parforRun{c: &op.Call{Bodies: []*op.Body{b}, In: []value.Value{value.F64(3)}}, space: indexSpace{dims: 1}}
	if err := r.uniform(c); err != nil {
		t.Fatal(err)
	}
	if x, is := r.values[3].(value.Scalar); !is || x.F != 7.5 {
		t.Errorf("2.5 * 3 is %v", r.values[3])
	}
}
