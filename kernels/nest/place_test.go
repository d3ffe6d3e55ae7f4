package nest

import (
	"testing"

	"flow/ir/op"
	"flow/ir/types"
)

// TestSharing: the value of an if may lie in the memory of an argument only if a branch gives a part of
// it.
func TestSharing(t *testing.T) {
	column, number := types.DenseOf(types.F64, 9, 1), types.ScalarOf(types.Bool)
	makes := &op.Def{Name: "makes", Kernel: func(*op.Call) error { return nil }}
	views, chooses := &op.Def{Name: "views"}, &op.Def{Name: "chooses", Control: op.Select}
	branch := func(d *op.Def, of int) *op.Body {
		return &op.Body{Args: []types.Type{column, column}, Acts: []op.Action{{Def: d, Type: column, Args: []int{of}}}, Yields: []int{2}}
	}
	for _, c := range []struct {
		name      string
		yes, no   *op.Body
		may, made bool // made: the if is part of a stage
	}{
		{"both make it", branch(makes, 0), branch(makes, 1), false, false},
		{"one gives a part", branch(makes, 0), branch(views, 0), true, false},
		{"one gives a part of another", branch(views, 1), branch(makes, 0), false, false},
		{"a stage", branch(views, 0), branch(views, 0), false, true},
	} {
		b := &op.Body{Args: []types.Type{number, column, column}, Acts: []op.Action{
			{Def: chooses, Type: types.TupleOf(column), Args: []int{0, 1, 2}, Bodies: []*op.Body{c.yes, c.no}},
			{Def: &op.Def{Name: "part", Control: op.Part}, Type: column, Args: []int{3}},
		}}
		if got := sharing(b, []bool{false, true, false}, func(k int) bool { return c.made && k == 0 }); got[4] != c.may {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
