package lower

import (
	"context"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels"
	"flow/lang/source"
)

// The type of a call is asked once for operands of the same types, and again for all else that a type
// rule may read: another graph, whose types have other numbers, other attributes, more operands,
// another row. Rules of calls without operands and of effects are always asked, because their answers
// may depend on more.
func TestTypesAreAskedOnce(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	counted := func(name string) *op.Def {
		d := *table.Must(name)
		rule := d.Type
		d.Type = func(s *op.Sig) (types.Type, error) { asked++; return rule(s) }
		return &d
	}
	neg, abs, join, ones, emit, shape := counted("neg"), counted("abs"), counted("rbind"), counted("ones"), counted("emit"), counted("reshape")
	made := func(n, m int) *op.Attrs {
		return op.MakeAttrs(op.Attr{Name: "m", Val: op.Int(m)}, op.Attr{Name: "n", Val: op.Int(n)})
	}
	l := newLowerer(context.Background(), Input{Files: source.NewFileSet(), Table: table, MaxTasks: 1000})
	outer, inner := ir.New(), ir.New()
	two := types.DenseOf(types.F64, 2, 3)
	constant := func(g *ir.Graph, t types.Type) ir.ID { return g.Add(table.Must("ones"), nil, t, ir.Origin{}) }
	a, b, s := constant(outer, two), constant(outer, two), constant(outer, types.DenseOf(types.F64, 4, 3))
	i := constant(inner, types.ScalarOf(types.I64)) // its type has the number of a's
	tall, wide, none := made(3, 2), made(6, 1), (*op.Attrs)(nil)
	for k, c := range []struct {
		g     *ir.Graph
		d     *op.Def
		attrs *op.Attrs
		in    []ir.ID
		asks  int
		want  types.Type
	}{
		{outer, neg, none, []ir.ID{a}, 1, two},
		{outer, neg, none, []ir.ID{b}, 0, two},
		{outer, neg, none, []ir.ID{s}, 1, types.DenseOf(types.F64, 4, 3)},
		{inner, neg, none, []ir.ID{i}, 1, types.ScalarOf(types.I64)},
		{outer, abs, none, []ir.ID{a}, 1, two},
		{outer, join, none, []ir.ID{a, b}, 1, types.DenseOf(types.F64, 4, 3)},
		{outer, join, none, []ir.ID{a, b, a}, 1, types.DenseOf(types.F64, 6, 3)},
		{outer, join, none, []ir.ID{a, s}, 1, types.DenseOf(types.F64, 6, 3)},
		{outer, join, none, []ir.ID{b, a}, 0, types.DenseOf(types.F64, 4, 3)},
		{outer, join, none, []ir.ID{a, b, a, b}, 1, types.DenseOf(types.F64, 8, 3)},
		{outer, join, none, []ir.ID{a, b, a, b}, 1, types.DenseOf(types.F64, 8, 3)}, // more than are noted
		{outer, shape, tall, []ir.ID{a}, 1, types.DenseOf(types.F64, 3, 2)},
		{outer, shape, wide, []ir.ID{a}, 1, types.DenseOf(types.F64, 6, 1)},
		{outer, shape, tall, []ir.ID{b}, 0, types.DenseOf(types.F64, 3, 2)},
		{outer, ones, tall, nil, 1, types.DenseOf(types.F64, 3, 2)},
		{outer, ones, tall, nil, 1, types.DenseOf(types.F64, 3, 2)},
		{outer, emit, none, []ir.ID{a}, 1, types.Type{Kind: types.Effect}},
		{outer, emit, none, []ir.ID{b}, 1, types.Type{Kind: types.Effect}},
	} {
		l.g, asked = c.g, 0
		x := l.add(c.d, c.attrs, source.Span{}, nil, c.in...)
		if got := c.g.Type(x); asked != c.asks || !got.Equal(c.want) {
			t.Errorf("call %d, of %s: the rule was asked %d times, not %d, and the type is %v, not %v", k, c.d.Name, asked, c.asks, got, c.want)
		}
	}
}
