package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads what reads neighbours: slices, borders, stencils. Which rows of an operand a row
// of a result needs follows from how operators move elements (op.Def.Pieces) and from subscripts
// (spread_index.go). A gather with the attribute plan.Reach then brings a rank only those that it
// has not made itself:
//
//	%0 = arg()                                  %0 = arg()
//	                                      ->    %1 = gather(%0) {reach=[998,0,998,1,0,3,1]}
//	%3 = slice(%0) {at=[0,1,998,998]}           %3 = slice(%1) {at=[0,1,998,998]}
//	%4 = slice(%0) {at=[2,1,998,998]}           %4 = slice(%1) {at=[2,1,998,998]}
//	%5 = map(%3, %4) ..                         %5 = map(%3, %4) {ranks=3} ..
//
// A row whose number the run computes comes from the rank that has it, to all (plan.Pick):
//
//	%3 = window(%0, %1, %2) {size=[1,500]}      %3 = gather(%0, %1) {pick=1}
//	                                      ->    %4 = window(%3, %1, %2) {size=[1,500]}
//
// A slice of a partial matrix is made on all ranks, and has the rows that its input has. One gather
// serves all readers of a value in a region.

// mostNeeds bounds the parts of an attribute plan.Reach. What needs more needs everything.
const mostNeeds = 24

// rowReads is what a node reads of an operand to make its own rows: all of it if whole, or the rows of
// needs, and those of at, whose place the run computes. turned: it reads the same rows of the transpose.
//
// If by is not 0, it reads at most those rows that the old node by-1 names: in whose columns this rank's rows
// of a sparse matrix have entries, or whose numbers are in this rank's rows of a column; in all of its rows
// if all.
type rowReads struct {
	whole  bool
	needs  []plan.Need
	at     []rowsAt
	turned bool
	by     ir.ID
	all    bool
}

// rowsAt is `rows` rows of an operand. The first has the number times*s + plus, where s is a scalar node of
// the old graph.
type rowsAt struct {
	s                 ir.ID
	times, plus, rows int
}

// ownRows is what a reader needs that reads of each row the same one.
func ownRows(rows int) plan.Need { return plan.Need{Rows: rows, To: rows, By: 1, Hi: 1} }

// everyRank is a number of rows that gives each of any number of ranks some.
const everyRank = 1 << 24

// fixedRows is what a reader of so many rows needs that reads the same rows lo..hi-1 for each.
func fixedRows(rows, lo, hi int) plan.Need { return plan.Need{Rows: rows, To: rows, Lo: lo, Hi: hi} }

// readsOf returns what node id reads of each operand, for each row of its space, which has so many.
func readsOf(g *ir.Graph, id ir.ID, rows int) []rowReads {
	n, in := &g.Nodes[id], g.In(id)
	out := make([]rowReads, len(in))
	for k := range out {
		if out[k].whole = true; k > 0 && k == n.Op.ByColumn {
			out[k].by = 1 + in[k-1]
		} else if k == 0 && n.Op.Numbers > 0 {
			out[k].by = 1 + in[n.Op.Numbers]
		}
	}
	t := g.Type(id)
	switch {
	case aligned(g, id) || n.Op.Shard.Kind == op.ShardTriangle && dividable(t):
		out[0] = rowReads{needs: []plan.Need{ownRows(t.Rows)}}
		return out
	case !picks(n) || !dividable(g.Type(in[0])):
	case n.Op.Role == op.Picks:
		out[0] = rowReads{at: []rowsAt{{in[1], 1, 0, 1}}}
		return out
	default:
		out[0] = rowReads{at: []rowsAt{{in[1], 1, 0, t.Rows}}}
		return out
	}
	switch {
	case n.Op.Role == op.Points:
		p := readsOfPoints(g, id)
		for k := range out {
			if !p.whole[k] {
				out[k] = rowReads{needs: p.need[k]}
				for _, a := range p.at[k] {
					a.s = in[a.s]
					out[k].at = append(out[k].at, a)
				}
			}
		}
	case n.Op.Role == op.Grouped:
		return readsOfGroup(g, id)
	case elementwise(n):
		if n.Op.Role == op.Reduces {
			t = pipeSpace(n)
		}
		for k, a := range accesses(g, id, t) {
			switch x := g.Type(in[k]); {
			case a[0] == byRow:
				out[k] = rowReads{needs: []plan.Need{ownRows(rows)}}
			case a[0] == apart && dividable(x):
				out[k] = rowReads{needs: []plan.Need{fixedRows(rows, 0, x.Rows)}}
			}
		}
	case n.Op.Fold == op.FoldAll && len(in) == 1:
		out[0] = rowReads{needs: []plan.Need{ownRows(rows)}}
	case n.Op.Along != nil || n.Op.Fold == op.FoldRows:
		for k, aligned := range alongRows(g, id, rows) {
			if aligned {
				out[k] = rowReads{needs: []plan.Need{ownRows(rows)}}
			}
		}
	case n.Op.RowSpan != nil && dividable(t) && dividable(g.Type(in[0])):
		r := n.Op.RowSpan(sigOf(g, id), t)
		need := plan.Need{Rows: rows, To: rows, By: r.By, Lo: r.Lo, Hi: r.Hi, Per: r.Per}
		if r.Per > 1 && r.By%r.Per+r.Lo%r.Per+r.Hi%r.Per == 0 { // whole rows
			need.By, need.Lo, need.Hi, need.Per = r.By/r.Per, r.Lo/r.Per, r.Hi/r.Per, 1
		}
		out[0] = rowReads{needs: []plan.Need{need}}
	case n.Region == nil:
		readsOfPieces(g, id, out)
	}
	return out
}

// picks reports an operator that takes a rectangle or an element of its first input. Its other inputs or
// its attributes say where.
func picks(n *ir.Node) bool {
	return n.Op.Role == op.Picks || n.Op.Role == op.PicksAt || n.Op.Role == op.Windows
}

// readsOfPieces is readsOf of an operator that only moves elements.
func readsOfPieces(g *ir.Graph, id ir.ID, out []rowReads) {
	n, t := &g.Nodes[id], g.Type(id)
	if !movesRows(g, id) {
		return
	}
	need := func(k, row, rows, by, down int) {
		out[k].needs = joinNeed(out[k].needs, plan.Need{Rows: t.Rows, From: row, To: row + rows, By: by, Lo: down, Hi: down + 1})
		out[k].whole = len(out[k].needs) > mostNeeds
	}
	if boxes, in, ok := boxesOf(g, id); ok && len(in) == len(out) {
		for k, b := range boxes {
			out[k] = rowReads{}
			need(k, b.dr, b.rows, 1, b.sr-b.dr)
		}
		return
	}
	pieces, ok := n.Op.Pieces(n.Attrs, sigOf(g, id).In, t)
	if !ok {
		return
	}
	for k := range out {
		out[k] = rowReads{}
	}
	for _, p := range pieces {
		need(p.In, p.Row, p.Rows, p.By, p.Down)
	}
}

// movesRows reports an operator of known shape that may have pieces.
func movesRows(g *ir.Graph, id ir.ID) bool {
	d := g.Nodes[id].Op
	if d.Elements == nil || !d.Laws.Has(op.Pure) || ir.MayFail(g, id) || d.Shard.Kind == op.ShardContract || d.Class != 0 || g.Nodes[id].Region != nil || !dividable(g.Type(id)) {
		return false
	}
	return !slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return !dividable(g.Type(x)) })
}

// readsOfGroup returns the reads of a loop of operators on whole matrices. It follows the rows that the
// results need back to the operands.
func readsOfGroup(g *ir.Graph, id ir.ID) []rowReads {
	r := g.Nodes[id].Region
	of := make([]rowReads, r.Graph.Len())
	for _, y := range r.Yields {
		of[y].needs = []plan.Need{ownRows(spaceIn(r.Graph, y).Rows)}
	}
	for i := r.Graph.Len() - 1; i >= 0; i-- {
		x := ir.ID(i)
		if r.Graph.Nodes[i].Op.Role == op.Argument || !of[i].whole && len(of[i].needs) == 0 {
			continue
		}
		if r.Graph.Nodes[i].Op.Control == op.Part {
			from := r.Graph.In(x)[0]
			of[from] = of[from].and(of[i])
			continue
		}
		rows := spaceIn(r.Graph, x).Rows
		for k, reads := range readsOf(r.Graph, x, rows) {
			from := r.Graph.In(x)[k]
			of[from] = of[from].and(of[i].through(reads, rows))
		}
	}
	return through(of, r.Args)
}

// sameNeed reports whether two readers with the same unit need the same.
func sameNeed(a, b plan.Need) bool {
	return a.Rows == b.Rows && a.From == b.From && a.To == b.To && a.By == b.By && a.Lo == b.Lo && a.Hi == b.Hi && max(1, a.Per) == max(1, b.Per)
}

// through returns what is needed of an operand. r is needed of the node, which has so many rows and
// reads reads of the operand: all of it, if numbers within the group say which rows.
func (r rowReads) through(reads rowReads, rows int) rowReads {
	if reads.whole || len(reads.at) > 0 || len(r.at) > 0 && !slices.EqualFunc(reads.needs, []plan.Need{ownRows(rows)}, sameNeed) {
		return rowReads{whole: true}
	}
	var out []plan.Need
	for _, b := range reads.needs { // row j of the node, in From..To-1, needs By j + Lo ..
		plain := !slices.ContainsFunc(r.needs, func(a plan.Need) bool { return !a.Plain() })
		switch {
		case b.Plain() && plain:
		case !r.whole && len(r.needs) == 1 && sameNeed(r.needs[0], ownRows(rows)):
			out = joinNeed(out, b)
			continue
		case !r.whole && sameNeed(b, ownRows(rows)):
			out = slices.Concat(out, r.needs)
			continue
		default:
			return rowReads{whole: true}
		}
		if r.whole {
			out = joinNeed(out, fixedRows(everyRank, b.By*b.From+b.Lo, b.By*(b.To-1)+b.Hi))
			continue
		}
		for _, a := range r.needs {
			if n, some := composed(a, b, rows); some {
				out = joinNeed(out, n)
			}
		}
	}
	return rowReads{whole: r.whole || len(out) > mostNeeds, needs: out, at: r.at}
}

// composed returns what a reader needs of a matrix that needs a of another one, whose rows need b of
// the matrix. some is false if that is nothing.
func composed(a, b plan.Need, rows int) (n plan.Need, some bool) {
	if a.By == 0 {
		lo, hi := max(a.Lo, b.From, 0), min(a.Hi, b.To, rows)
		a.Lo, a.Hi = b.By*lo+b.Lo, b.By*(hi-1)+b.Hi
		return a, lo < hi && a.From < a.To
	}
	// rows i with By i + Hi > From and By i + Lo < To
	r := ramp{from: a.From, to: a.To, by: a.By, c: a.Hi}
	_, r = r.below(b.From + 1)
	r.c = a.Lo
	r, _ = r.below(b.To)
	a.From, a.To = r.from, r.to
	if a.Hi-a.Lo == 1 { // exactly one row for each
		a.By, a.Lo, a.Hi = b.By*a.By, b.By*a.Lo+b.Lo, b.By*a.Lo+b.Hi
	} else {
		a.By, a.Lo, a.Hi = b.By*a.By, b.By*a.Lo+b.Lo, b.By*(a.Hi-1)+b.Hi
	}
	return a, a.From < a.To
}

// and is what two readers need together.
func (r rowReads) and(x rowReads) rowReads {
	r.whole = r.whole || x.whole
	for _, n := range x.needs {
		r.needs = joinNeed(r.needs, n)
	}
	for _, p := range x.at {
		if !slices.Contains(r.at, p) {
			r.at = append(slices.Clip(r.at), p)
		}
	}
	r.whole = r.whole || len(r.needs) > mostNeeds
	return r
}

// joinNeed adds n to a list. Neighbouring rows for the same range are one need.
func joinNeed(list []plan.Need, n plan.Need) []plan.Need {
	for {
		k := slices.IndexFunc(list, func(x plan.Need) bool {
			return x.Rows == n.Rows && x.From == n.From && x.To == n.To && x.By == n.By && max(1, x.Per) == max(1, n.Per) && x.Lo <= n.Hi && n.Lo <= x.Hi
		})
		if k < 0 {
			return append(slices.Clip(list), n)
		}
		n.Lo, n.Hi = min(n.Lo, list[k].Lo), max(n.Hi, list[k].Hi)
		list = slices.Concat(list[:k], list[k+1:])
	}
}

// view makes an old node a view of a partial matrix, if it is one: its new nodes are made where it
// is read.
func (x *spreadGraph) view(id ir.ID) bool {
	n := &x.old.Nodes[id]
	t := x.old.Type(id)
	if n.Op.Role != op.Slices && !aligned(x.old, id) || !x.partial[x.old.In(id)[0]] || !dividable(t) || n.Attrs.Int("keep") > 0 || x.fewRows(x.old, id) || sent(x.old, id) {
		return false
	}
	x.partial[id] = true
	x.views[id] = map[ir.ID]ir.ID{}
	if ir.MayFail(x.old, id) {
		x.own(id) // it fails before what follows it in the program
	}
	return true
}

// fewRows reports an element of a matrix, or a slice of some rows that is so small that each rank has
// all of it.
func (s *spreader) fewRows(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role == op.PicksAt {
		return dividable(g.Type(g.In(id)[0]))
	}
	return n.Op.Role == op.Slices && dividable(t) && t.Rows < g.Type(g.In(id)[0]).Rows && t.Count()*moveSteps < s.from
}

// reach returns the new node of an old one with the rows that reads says. rows is the number of rows
// of the reader's space.
func (x *spreadGraph) reach(id ir.ID, reads rowReads) ir.ID {
	rows := x.old.Type(id).Rows
	switch {
	case reads.turned:
		return x.turnedRows(id)
	case reads.by > 0:
		return x.named(id, reads.by-1, reads.all)
	case !x.partial[id]:
		return x.full(id)
	case x.views[id] != nil && !(reads.whole && x.settled(id)):
		if reads.whole {
			reads = rowReads{needs: []plan.Need{fixedRows(everyRank, 0, rows)}}
		}
		from, pieces := x.old.In(id)[0], make([]rowReads, 1)
		if readsOfPieces(x.old, id, pieces); aligned(x.old, id) {
			pieces = readsOf(x.old, id, rows)
		}
		own := !reads.whole && len(reads.at) == 0 && slices.EqualFunc(reads.needs, []plan.Need{ownRows(rows)}, sameNeed)
		return x.viewOf(id, x.reach(from, reads.through(pieces[0], rows)), own)
	case reads.whole || slices.ContainsFunc(reads.needs, func(n plan.Need) bool { return n.By == 0 && n.From == 0 && n.To == n.Rows && n.Lo <= 0 && n.Hi >= rows }):
		return x.full(id)
	case plan.Within(x.inUnits(reads.needs), x.ranks, rows, x.unit[rows]):
		return x.pick(id, reads.at)
	case len(reads.at) > 0 || x.picked[id] != nil:
		return x.full(id)
	}
	if g, ok := x.whole[id]; ok {
		if x.g.Nodes[g].Attrs.Int(plan.Fetch) > 0 {
			return x.full(id)
		}
		if old, some := plan.Needs(x.g.Nodes[g].Attrs); some {
			if all := (rowReads{needs: old}).and(reads); !all.whole {
				x.g.Nodes[g].Attrs = x.g.Nodes[g].Attrs.With(plan.Reach, plan.ReachOf(x.inUnits(all.needs)))
				return g
			}
			return x.full(id)
		}
		return g
	}
	g := x.gather(id, x.inUnits(reads.needs))
	x.whole[id] = g
	return g
}

// reachAll returns the new nodes of the inputs of old node id with the rows that reads says, by input. Inputs
// behind these have all rows.
func (x *spreadGraph) reachAll(id ir.ID, reads []rowReads) []ir.ID {
	in := make([]ir.ID, len(x.old.In(id)))
	for k, from := range x.old.In(id) {
		if k < len(reads) {
			in[k] = x.reach(from, reads[k])
		} else {
			in[k] = x.full(from)
		}
	}
	return in
}

// onRank returns the new node of an old one with all its rows, on one rank. The others send theirs.
func (x *spreadGraph) onRank(id ir.ID, rank int) ir.ID {
	t := x.old.Type(id)
	if _, ok := x.loose[id]; ok {
		return x.allLoose(id, int32(rank))
	}
	if t.IsSparse() {
		g, ok := x.whole[id]
		if ok && x.g.Nodes[g].Attrs.Int(plan.Only) == 1+rank {
			return g
		}
		g = x.full(id)
		if at := &x.g.Nodes[g]; x.partial[id] && !ok {
			at.Attrs = at.Attrs.With(plan.Only, op.Int(1+rank))
		}
		return g
	}
	return x.reach(id, rowReads{needs: []plan.Need{{Rows: x.ranks, From: rank, To: rank + 1, Hi: t.Rows}}})
}

// pick returns the new node of an old one with a rank's own rows and those that at says. Each gather reads
// the one before it and brings only rows that none has brought: no row arrives while a node may read it.
func (x *spreadGraph) pick(id ir.ID, at []rowsAt) ir.ID {
	if g, ok := x.whole[id]; ok && x.picked[id] == nil && len(at) > 0 {
		if _, some := plan.Needs(x.g.Nodes[g].Attrs); !some && x.g.Nodes[g].Attrs.Int(plan.Fetch) == 0 {
			return g
		}
		return x.full(id)
	}
	from := x.to[id]
	for _, a := range at {
		if list := x.picked[id]; !slices.Contains(list, a) {
			if len(list) > 0 && list[0].rows != a.rows {
				return x.full(id)
			}
			in := []ir.ID{from, x.first(a)}
			if len(list) > 0 {
				in[0] = x.whole[id]
				in = append(in, x.g.In(in[0])[1:]...)
			}
			x.whole[id] = x.gatherOf(id, x.inUnitsOf(x.old.Type(id).Rows).With(plan.Pick, op.Int(a.rows)), in...)
			x.picked[id] = append(list, a)
		}
		from = x.whole[id]
	}
	return from
}

// first returns the new node with the number of the first row of a.
func (x *spreadGraph) first(a rowsAt) ir.ID {
	out, o := x.to[a.s], x.old.Origin(a.s).NoDest()
	for _, step := range []struct {
		infix   string
		by, not int
	}{{"*", a.times, 1}, {"+", a.plus, 0}} {
		if step.by != step.not {
			t := types.ScalarOf(types.I64)
			by := x.g.Add(x.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(step.by)}), t, o)
			out = x.g.Add(x.table.Infix(step.infix), nil, t, o, out, by)
		}
	}
	return out
}

// inUnits returns needs with the units in which ranks share the rows of their readers.
func (s *spreader) inUnits(list []plan.Need) []plan.Need {
	out := slices.Clone(list)
	for k := range out {
		out[k].Unit = s.unit[out[k].Rows]
	}
	return out
}

// viewOf is the new node of the view id of the new node from. own: a reader needs a rank's own rows alone. If
// all readers do, an aligned one makes no others; from may have rows for another reader.
func (x *spreadGraph) viewOf(id, from ir.ID, own bool) ir.ID {
	v, ok := x.views[id][from]
	if !ok {
		in := []ir.ID{from}
		for _, at := range x.old.In(id)[1:] {
			in = append(in, x.full(at))
		}
		v = x.g.CopyNode(x.old, id, in...)
		x.views[id][from] = v
		if rows := x.old.Type(id).Rows; own && aligned(x.old, id) && from == x.own(x.old.In(id)[0]) {
			x.g.Nodes[v].Attrs = x.sharing(x.g.Nodes[v].Attrs, rows, x.unit[rows])
		}
	} else if !own {
		x.g.Nodes[v].Attrs = x.old.Nodes[id].Attrs
	}
	return v
}

// own returns the new node of an old one with a rank's own rows.
func (x *spreadGraph) own(id ir.ID) ir.ID {
	return x.reach(id, rowReads{needs: []plan.Need{ownRows(x.old.Type(id).Rows)}})
}
