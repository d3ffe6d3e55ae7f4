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
func (x *spreadGraph) reduced(id ir.ID, reads []rowReads) {
	n, from := &x.old.Nodes[id], x.old.In(id)[0]
	space := x.old.Type(from)
	r := &ir.Region{Graph: ir.New()}
	r.Args = []ir.ID{r.Graph.Add(x.table.Must("arg"), nil, types.ScalarOf(space.Elem), ir.Origin{Span: n.Span})}
	r.Yields = r.Args
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(int(op.Full))}, op.Attr{Name: "fold", Val: op.Str(n.Op.Name)},
		op.Attr{Name: "rows", Val: op.Int(space.Rows)}, op.Attr{Name: "cols", Val: op.Int(space.Cols)})
	attrs = x.sharing(attrs, space.Rows, x.unit[space.Rows])
	made := x.g.Add(x.table.Must("pipe"), attrs, x.old.Type(id), x.old.Origin(id).NoDest(), x.reach(from, reads[0]))
	x.g.Nodes[made].Region = r
	x.to[id] = made
	x.shares++
	x.saved += x.spared(float64(space.Count()))
	x.ends(id, made, []*op.Def{n.Op}, space)
}

// reduction reports a reduction of rows, of columns or of all elements, that no chain precedes.
func (s *spreader) reduction(g *ir.Graph, id ir.ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	return n.Op.Fold != op.NoFold && len(in) == 1 && dividable(g.Type(in[0]))
}

// joins reports reductions of a space whose states ranks can merge, in less time than other ranks
// spare. Those of rows have no state. A reduction to a state has none itself.
func (s *spreader) joins(folds []*op.Def, space types.Type) bool {
	bytes := 0
	for _, d := range folds {
		switch {
		case d == nil || d.Fold == op.FoldRows:
		case d.Shard.Partial == "":
			return false
		default:
			bytes += typeOf(s.table.Must(d.Shard.Partial), nil, space).Bytes()
		}
	}
	return float64(s.from)*float64((s.ranks-1)*bytes)/bytesSpread <= s.spared(float64(space.Count())*moveSteps) || bytes <= mostState
}

// mostState is the size of states that messages carry in no more time than an empty one takes.
const mostState = 4096

// stated reports an operator on whole matrices that reduces rows, and whose row says how states of
// some rows are made and merged.
func stated(d *op.Def) bool { return d.Shard.Kind == op.ShardWhole && d.Shard.Partial != "" }

// statedRows returns how many rows a stated operator reduces, if ranks can share them; else 0.
// Panels, whose results lie one below the other, are shared in units of a panel.
func (s *spreader) statedRows(g *ir.Graph, id ir.ID) int {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	partial := s.table.Must(n.Op.Shard.Partial)
	for _, x := range in {
		if !dividable(g.Type(x)) || g.Type(x).Rows != g.Type(in[0]).Rows {
			return 0
		}
	}
	sig := sigOf(g, id)
	sig.Def = partial
	of := typeOf(partial, n.Attrs, sig.In...)
	rows := g.Type(in[0]).Rows
	if !t.Elem.IsFloat() || partial.Loop.Rows(sig, of) == 0 || n.Op.Shard.Combine == "" && s.unit[rows] != n.Attrs.Int("panel") {
		return 0
	}
	return rows
}

// stated makes the new nodes of a stated operator: the states of a rank's rows, and the merge.
func (x *spreadGraph) stated(id ir.ID, reads []rowReads) {
	n := &x.old.Nodes[id]
	in := make([]ir.ID, len(reads))
	for k, from := range x.old.In(id) {
		in[k] = x.reach(from, reads[k])
	}
	x.shares++
	x.saved += x.spared(workOf(x.old, id))
	state := x.typed(id, x.table.Must(n.Op.Shard.Partial), n.Attrs, in...)
	rows := x.old.Type(x.old.In(id)[0]).Rows
	at := &x.g.Nodes[state]
	if n.Op.Shard.Combine != "" {
		at.Attrs = x.sharing(at.Attrs, rows, x.unit[rows])
		x.to[id] = x.typed(id, x.table.Must(n.Op.Shard.Combine), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), state)
		return
	}
	stack, of := x.g.Type(state), x.old.Type(id).Rows
	at.Attrs = x.sharing(at.Attrs, stack.Rows, of)
	all := x.g.Add(x.table.Must("gather"), op.MakeAttrs(op.Attr{Name: plan.Unit, Val: op.Int(of)}), stack, x.old.Origin(id).NoDest(), state)
	x.to[id] = x.typed(id, x.table.Must(n.Op.Shard.Finish), op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(of)}), all)
}

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
		case d.Fold != op.FoldRows:
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
	count := space.Count()
	if d.Fold == op.FoldCols {
		count = space.Rows
	}
	attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(count)}, op.Attr{Name: "elem", Val: op.Str(space.Elem.String())})
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

// units chooses the units in which ranks share rows that are summed by panels, in g and its regions: a
// panel, where that leaves no rank with much more than the others.
func (s *spreader) units(g *ir.Graph) {
	sparse := map[int]bool{}
	var within func(g *ir.Graph)
	within = func(g *ir.Graph) {
		for i := range g.Nodes {
			id, n := ir.ID(i), &g.Nodes[i]
			if t := g.Type(id); t.IsSparse() {
				sparse[t.Rows] = true
			}
			if stated(n.Op) && n.Op.Shard.Combine == "" {
				if rows, panel := g.Type(g.In(id)[0]).Rows, n.Attrs.Int("panel"); s.balanced(rows, panel) {
					s.unit[rows] = panel
				}
			}
			for r := n.Region; r != nil; r = r.Next {
				within(r.Graph)
			}
		}
	}
	within(g)
	for rows := range sparse { // which are shared by single rows
		delete(s.unit, rows)
	}
}

// balanced reports whether ranks can share rows in units of so many: each has some, and none more than
// half as much again as an equal share.
func (s *spreader) balanced(rows, unit int) bool {
	if unit < 1 || (rows+unit-1)/unit < s.ranks {
		return false
	}
	most := 0
	for r := range s.ranks {
		lo, hi := plan.WindowOf(r, s.ranks, rows, unit)
		most = max(most, hi-lo)
	}
	return 2*most*s.ranks <= 3*rows
}
