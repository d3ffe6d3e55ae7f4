package pass

import (
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads reductions over ranks: each reduces its own rows, and their states are joined.

// reduced makes a reduction the pipe of no chain, of the rows of one rank.
func (x *spreadGraph) reduced(id ir.ID) {
	n, from := &x.old.Nodes[id], x.old.In(id)[0]
	space := x.old.Type(from)
	r := &ir.Region{Graph: ir.New()}
	r.Args = []ir.ID{r.Graph.Add(x.table.Must("arg"), nil, types.ScalarOf(space.Elem), ir.Origin{Span: n.Span})}
	r.Yields = r.Args
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(int(op.Full))}, op.Attr{Name: "fold", Val: op.Str(n.Op.Name)},
		op.Attr{Name: "rows", Val: op.Int(space.Rows)}, op.Attr{Name: "cols", Val: op.Int(space.Cols)},
		op.Attr{Name: plan.Shared, Val: op.Int(x.ranks)}, op.Attr{Name: plan.SharedRows, Val: op.Int(space.Rows)})
	made := x.g.Add(x.table.Must("pipe"), attrs, x.old.Type(id), x.old.Origin(id).NoDest(), x.to[from])
	x.g.Nodes[made].Region = r
	x.to[id] = made
	x.shares++
	x.saved += x.spared(float64(space.Count()))
	x.ends(id, made, []*op.Def{n.Op}, space)
}

// reduction reports a reduction of rows, or of all elements, that no chain precedes. That of a block
// to a state is none.
func (s *spreader) reduction(g *ir.Graph, id ir.ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	return (n.Op.Fold == op.FoldAll || n.Op.Fold == op.FoldRows) && !toState(n.Op) && len(in) == 1 && dividable(g.Type(in[0]))
}

// toState reports a reduction of all elements of a block to a state.
func toState(d *op.Def) bool { return d != nil && d.Fold == op.FoldAll && d.Shard.Partial == "" }

// reduces gives a pipe, which is made already, the results of one rank: its rows of those that have
// rows, and of a reduction of all elements a state, to be merged.
func (x *spreadGraph) reduces(id, made ir.ID) {
	n := &x.old.Nodes[id]
	x.ends(id, made, pipeFolds(x.table, n), pipeSpace(n))
}

// ends is reduces with the reductions and what they are of.
func (x *spreadGraph) ends(id, made ir.ID, folds []*op.Def, space types.Type) {
	t := x.old.Type(id)
	names, partial, of := make([]string, len(folds)), make([]bool, len(folds)), make([]types.Type, len(folds))
	for k, d := range folds {
		switch {
		case d == nil:
			names[k], of[k], partial[k] = stores, space, true
		case d.Fold == op.FoldAll:
			state := x.table.Must(d.Shard.Partial)
			names[k], of[k] = state.Name, typeOf(state, nil, space)
		default:
			names[k], of[k], partial[k] = d.Name, typeOf(d, nil, space), true
			folds[k] = nil // no state
		}
	}
	at := &x.g.Nodes[made]
	at.Attrs = at.Attrs.With("fold", op.Str(strings.Join(names, " ")))
	if t.Kind == types.Tuple {
		x.g.SetType(made, types.TupleOf(of...))
		x.parts[id], x.states[id] = partial, folds
		return
	}
	x.g.SetType(made, of[0])
	if x.partial[id] = partial[0]; !partial[0] {
		x.to[id] = x.merged(id, folds[0], space, made)
	}
}

// merged returns the result of the reduction d of a space: each rank has reduced its rows to a
// state.
func (x *spreadGraph) merged(id ir.ID, d *op.Def, space types.Type, state ir.ID) ir.ID {
	out := x.typed(id, x.table.Must(d.Shard.Combine), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), state)
	if d.Shard.Finish == "" {
		return out
	}
	attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(space.Count())}, op.Attr{Name: "elem", Val: op.Str(space.Elem.String())})
	return x.typed(id, x.table.Must(d.Shard.Finish), attrs, out)
}

// typed makes a node for node id of the old graph whose type comes from its row.
func (x *spreadGraph) typed(id ir.ID, d *op.Def, attrs *op.Attrs, in ...ir.ID) ir.ID {
	ts := make([]types.Type, len(in))
	for i, y := range in {
		ts[i] = x.g.Type(y)
	}
	return x.g.Add(d, attrs, typeOf(d, attrs, ts...), x.old.Origin(id).NoDest(), in...)
}

// typeOf is the type that a row gives inputs for which it was made.
func typeOf(d *op.Def, attrs *op.Attrs, in ...types.Type) types.Type {
	t, err := d.Type(&op.Sig{Def: d, In: in, Attrs: attrs})
	if err != nil {
		panic(fmt.Sprintf("BUG: %s of %v: %v", d.Name, in, err))
	}
	return t
}
