package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads what reads rows that only the run knows: those in whose columns the rows of a sparse
// matrix have entries. A gather with the attribute plan.Fetch brings a rank those that its rows touch.
//
//	iterate(%x, %S) (%v, %A) {                %1 = sp.touched(%S) {ranks=3, shared=900}
//	  ..                                      %2 = sp.collect(%1) {apart=1, shared=3, stack=3}
//	  %3 = sp.matmul(%A, %v)          ->      iterate(%x, %S, %1, %2) (%v, %A, %t, %g) {
//	  ..                                        %q = gather(%v, %t, %g) {fetch=400}
//	}                                           %3 = sp.matmul(%A, %q) {ranks=3, shared=900}
//
// The lists are values of the graph that makes the matrix, so they are made once for each of its values.
// Ranks exchange them where the matrix does not change from round to round: elsewhere a list would take
// part of what it saves.

// rowLists are the lists of a sparse matrix, on each rank: row r of take has the rows that this rank needs
// of rank r, and row r of give those that rank r needs of this one.
type rowLists struct{ take, give ir.ID }

// unchanged returns which input of the loop an old node is that is an argument with the same value in all
// rounds.
func (x *spreadGraph) unchanged(id ir.ID) (k int, ok bool) {
	k = slices.Index(x.args, id)
	return k, k >= 0 && k >= x.around.old.Nodes[x.loop].Carried()
}

// fetched returns the new node of an old one with the rows that the entries of s touch, an old sparse
// matrix with a column for each row.
func (x *spreadGraph) fetched(id, s ir.ID) ir.ID {
	t, st := x.old.Type(id), x.old.Type(s)
	if t.IsSparse() {
		return x.fetchedSparse(id, s)
	}
	if _, ok := x.unchanged(s); !ok || !x.partial[id] || x.views[id] != nil || !dividable(t) || !st.IsSparse() || !st.Known() || st.Cols != t.Rows {
		return x.full(id)
	}
	if g, ok := x.whole[id]; ok {
		if in := x.g.In(g); x.g.Nodes[g].Attrs.Int(plan.Fetch) > 0 && in[1] == x.listsOf(s).take {
			return g
		}
		return x.full(id)
	}
	l := x.listsOf(s)
	attrs := x.inUnitsOf(t.Rows).With(plan.Fetch, op.Int(1+int(x.touched(s))))
	g := x.g.Add(x.table.Must("gather"), attrs, t, x.old.Origin(id).NoDest(), x.to[id], l.take, l.give)
	x.whole[id] = g
	return g
}

// fetchedSparse returns the new node of the old sparse matrix id with the rows that the entries of s touch.
// s is an old sparse matrix with a column for each row of id. If its entries touch more than half of the
// rows, by estimate, the node has all rows.
func (x *spreadGraph) fetchedSparse(id, s ir.ID) ir.ID {
	t, st := x.old.Type(id), x.old.Type(s)
	_, same := x.unchanged(s)
	if x.inside && !same || !x.partial[id] || !x.partial[s] || !st.Known() || st.Cols != t.Rows {
		return x.full(id)
	}
	rows := x.touched(s)
	if 2*rows > float64((x.ranks-1)*t.Rows) {
		return x.full(id)
	}
	attrs := x.inUnitsOf(t.Rows).With(plan.Stacked, op.Int(x.ranks)).With(plan.Fetch, op.Int(1+int(rows)))
	return x.g.Add(x.table.Must("sp.collect"), attrs, t, x.old.Origin(id).NoDest(), x.to[id], x.listsOf(s).give)
}

// listsOf returns the lists of an old sparse matrix: arguments, if it is one that does not change.
func (x *spreadGraph) listsOf(s ir.ID) rowLists {
	if l, ok := x.lists[s]; ok {
		return l
	}
	st, at := x.old.Type(s), x.old.Origin(s).NoDest()
	t := types.SparseOf(types.Bool, x.ranks, st.Cols)
	var l rowLists
	if _, ok := x.unchanged(s); ok {
		arg := x.table.Must("arg")
		l = rowLists{x.g.Add(arg, nil, t, at), x.g.Add(arg, nil, t, at)}
	} else {
		attrs := x.sharing(nil, st.Rows, x.unit[st.Rows])
		if cuts := x.unit[st.Cols]; len(cuts.L) > 0 {
			attrs = attrs.With("of", cuts)
		}
		l.take = x.g.Add(x.table.Must("sp.touched"), attrs, t, at, x.to[s])
		l.give = x.collected(s, l.take)
	}
	x.lists[s] = l
	return l
}

// collected exchanges lists among ranks: row r of the result is the row that rank r has in lists for this
// rank. id is the node of the old graph that needs them.
func (x *spreadGraph) collected(id, lists ir.ID) ir.ID {
	return x.g.Add(x.table.Must("sp.collect"), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)},
		op.Attr{Name: plan.SharedRows, Val: op.Int(x.ranks)}, op.Attr{Name: "apart", Val: op.Int(1)}), x.g.Type(lists), x.old.Origin(id).NoDest(), lists)
}

// touched estimates how many rows all ranks get that need those that the entries of an old sparse matrix
// touch.
func (x *spreadGraph) touched(s ir.ID) float64 {
	of := edge{x.old, s}
	rows, ok := x.touches[of]
	if !ok {
		e := x.estimates(x.old).Of(s)
		rows = e.Touched(x.ranks)
		x.touches[of] = rows
	}
	return rows
}

// takeLists adds the lists that any region of a loop needs to the arguments of all its regions. r is the
// first region. It returns the inputs of the loop that have lists.
func takeLists(r *ir.Region, inside []*spreadGraph) (listed []int) {
	for k := range inside[0].args {
		if !slices.ContainsFunc(inside, func(x *spreadGraph) bool { _, ok := x.lists[x.args[k]]; return ok }) {
			continue
		}
		listed = append(listed, k)
		for i, at := 0, r; at != nil; i, at = i+1, at.Next {
			l := inside[i].listsOf(inside[i].args[k])
			at.Args = append(at.Args, l.take, l.give)
		}
	}
	return listed
}
