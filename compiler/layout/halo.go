package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads what reads neighbours: slices, borders, stencils. Which rows of an operand a row
// of a result needs follows from how operators move elements (op.Def.Pieces) and from subscripts
// (index.go). A gather with the attribute plan.Reach then brings a rank only those that it
// has not made itself:
//
//	%0 = arg()                                  %0 = arg()
//	                                      ->    %1 = gather(%0) {reach=[1,0,334,1,332,667,1,665,1000]}
//	%3 = slice(%0) {at=[0,1,998,998]}           %3 = slice(%1) {at=[0,1,998,998]}
//	%4 = slice(%0) {at=[2,1,998,998]}           %4 = slice(%1) {at=[2,1,998,998]}
//	%5 = map(%3, %4) ..                         %5 = map(%3, %4) {ranks=3} ..
//
// A row whose number the run computes comes from the rank that has it, to all (plan.Pick):
//
//	%3 = window(%0, %1, %2) {size=[1,500]}      %3 = gather(%0, %1) {pick=1}
//	                                      ->    %4 = window(%3, %1, %2) {size=[1,500]}
//
// If a number of the run moves the rows of each rank (`x[i - k]`), the gather has their range, too.
//
// A slice of a partial matrix is made on all ranks, and has the rows that its input has. One gather
// serves all readers of a value in a region.

// rowReads is what each rank reads of an operand to make its own rows of a node: all of it if whole,
// else the rows in rows, and those of at, whose place the run computes. If turned is set, it reads the
// same rows of the transpose.
//
// If by is not 0, old node by-1 names the rows, and a rank may get fewer. A sparse matrix names the
// columns in which this rank's rows have entries. A column names the numbers in this rank's rows, or in
// all rows if all is set.
type rowReads struct {
	whole  bool
	rows   [][]plan.Range // by rank: ascending ranges that do not touch
	at     []rowsAt
	turned bool
	by     ir.ID
	all    bool
}

// rowsAt is `rows` rows of an operand. The first has the number times*s + plus, where s is a scalar
// node of the old graph. If space is above 0, the number depends on row i of a result with space rows:
// by*i is added for i in from..to-1, and the sum is brought into within. Other rows i need none.
type rowsAt struct {
	s                   ir.ID
	times, plus, rows   int
	from, to, by, space int
	within              plan.Range
}

// rowMap says which rows of an operand a node reads to make some of its own, for any rows of its own.
// The fields are as in rowReads.
type rowMap struct {
	whole bool
	needs []need
	at    []rowsAt
	by    ir.ID
}

// need is rows of an operand: for each row i in from..to-1 of a result the rows by*i + lo .. by*i +
// hi - 1, as far as the operand has them. If by is 0, the rows are the same for all i. For consecutive
// rows of a result there are no gaps, even if by is above hi - lo. A negative by reverses the rows. If
// per is above 1, by, lo and hi count elements, and a row of the operand has per of them (reshape).
//
// A stencil of three rows is one need, and a periodic border another one.
type need struct{ from, to, by, lo, hi, per int }

// sameRow is the need of a node with so many rows whose row i reads row i.
func sameRow(rows int) need { return need{to: rows, by: 1, hi: 1} }

// windows returns, by rank, the rows that it makes of so many.
func (s *spreader) windows(rows int) [][]plan.Range { return s.windowsIn(rows, s.unit[rows]) }

// windowsIn is windows for ranks that share the rows by unit, an attribute plan.Unit.
func (s *spreader) windowsIn(rows int, unit op.Val) [][]plan.Range {
	out := make([][]plan.Range, s.ranks)
	for r := range out {
		if lo, hi := plan.WindowOf(r, s.ranks, rows, unit); lo < hi {
			out[r] = []plan.Range{{From: lo, To: hi}}
		}
	}
	return out
}

// ownRows is the reads of a node for which each rank reads its own rows of so many.
func (s *spreader) ownRows(rows int) rowReads { return rowReads{rows: s.windows(rows)} }

// fixedRows is the reads of a node for which all ranks read the rows lo..hi-1.
func (s *spreader) fixedRows(lo, hi int) rowReads {
	return rowReads{rows: slices.Repeat([][]plan.Range{{{From: lo, To: hi}}}, s.ranks)}
}

// rowsFor returns, by rank, which of so many rows of an operand are needed for these rows of a node.
func rowsFor(needs []need, of [][]plan.Range, rows int) [][]plan.Range {
	out := make([][]plan.Range, len(of))
	for rank, list := range of {
		for _, n := range needs {
			for _, r := range list {
				a, b := max(r.From, n.from), min(r.To, n.to)
				if a >= b {
					continue
				}
				first, last, per := n.by*a+n.lo, n.by*(b-1)+n.hi, max(1, n.per)
				if n.by < 0 {
					first, last = n.by*(b-1)+n.lo, n.by*a+n.hi
				}
				out[rank] = append(out[rank], plan.Range{From: max(0, first) / per, To: min(rows, (max(0, last)+per-1)/per)})
			}
		}
		out[rank] = joined(out[rank])
	}
	return out
}

// joined returns the rows of a list as ascending ranges that do not touch. It sorts the list.
func joined(list []plan.Range) (out []plan.Range) {
	slices.SortFunc(list, func(a, b plan.Range) int { return a.From - b.From })
	for _, r := range list {
		switch k := len(out) - 1; {
		case r.From >= r.To:
		case k >= 0 && r.From <= out[k].To:
			out[k].To = max(out[k].To, r.To)
		default:
			out = append(out, r)
		}
	}
	return out
}

// together returns, by rank, the rows of two lists.
func together(a, b [][]plan.Range) [][]plan.Range {
	if len(a) == 0 {
		return b
	}
	out := slices.Clone(a)
	for rank := range b {
		out[rank] = joined(slices.Concat(a[rank], b[rank]))
	}
	return out
}

// readsOf returns what node id reads of each operand, for each row of its space, which has so many.
func (s *spreader) readsOf(g *ir.Graph, id ir.ID, rows int) []rowReads {
	if g.Nodes[id].Op.Role == op.Grouped {
		return s.readsOfGroup(g, id)
	}
	in, own := g.In(id), s.windows(rows)
	out := make([]rowReads, len(in))
	for k, m := range s.mapsOf(g, id, rows) {
		if out[k] = (rowReads{whole: m.whole, at: m.at, by: m.by}); !m.whole {
			out[k].rows = rowsFor(m.needs, own, g.Type(in[k]).Rows)
		}
	}
	return out
}

// mapsOf returns which rows of each operand node id reads, for each row of its space, which has so
// many.
func (s *spreader) mapsOf(g *ir.Graph, id ir.ID, rows int) []rowMap {
	n, in := &g.Nodes[id], g.In(id)
	out := make([]rowMap, len(in))
	for k := range out {
		if out[k].whole = true; k > 0 && k == n.Op.ByColumn && g.Type(in[k-1]).IsSparse() {
			out[k].by = 1 + in[k-1]
		} else if k == 0 && n.Op.Numbers > 0 {
			if at := s.numbersOf(g, in[n.Op.Numbers], rows); len(at) > 0 && nodes.Dividable(g.Type(in[0])) {
				out[k].whole = false
				out[k].add(at, 1, rows, g.Type(in[0]).Rows, func(of int) ir.ID { return ir.ID(of - 1) })
			} else {
				out[k].by = 1 + in[n.Op.Numbers]
			}
		}
	}
	t, same := g.Type(id), rowMap{needs: []need{sameRow(rows)}}
	switch {
	case nodes.Aligned(g, id) || n.Op.Shard.Kind == op.ShardTriangle && nodes.Dividable(t):
		out[0] = rowMap{needs: []need{sameRow(t.Rows)}}
	case picks(n) && nodes.Dividable(g.Type(in[0])):
		at := rowsAt{s: in[1], times: 1, rows: t.Rows}
		if n.Op.Role == op.Picks {
			at.rows = 1
		}
		out[0] = rowMap{at: []rowsAt{at}}
	case n.Op.Role == op.Points:
		return readsOfPoints(g, id)
	case nodes.Elementwise(n):
		if n.Op.Role == op.Reduces {
			t = nodes.PipeSpace(n)
		}
		for k, a := range nodes.Accesses(g, id, t) {
			switch x := g.Type(in[k]); {
			case a[0] == nodes.ByRow:
				out[k] = same
			case a[0] == nodes.Apart && nodes.Dividable(x):
				out[k] = rowMap{needs: []need{{to: rows, hi: x.Rows}}}
			}
		}
	case n.Op.Fold == op.FoldAll && len(in) == 1:
		out[0] = same
	case n.Op.Along != nil || n.Op.Fold == op.FoldRows:
		for k, aligned := range alongRows(g, id, rows) {
			if aligned {
				out[k] = same
			}
		}
	case n.Op.RowSpan != nil && nodes.Dividable(t) && nodes.Dividable(g.Type(in[0])):
		out[0] = rowMap{needs: spanNeeds(n.Op, nodes.SigOf(g, id), t)}
	case n.Region == nil:
		mapsOfPieces(g, id, out)
	}
	return out
}

// spanNeeds returns the rows of input 0 that an operator with a RowSpan reads for each row of its
// result, which has type t.
func spanNeeds(d *op.Def, sig *op.Sig, t types.Type) []need {
	r := d.RowSpan(sig, t)
	needs := []need{{to: t.Rows, by: r.By, lo: r.Lo, hi: r.Hi, per: r.Per}}
	if r.Rest {
		needs = append(needs, need{from: t.Rows - 1, to: t.Rows, by: r.By, lo: r.Lo, hi: sig.In[0].Rows, per: r.Per})
	}
	return needs
}

// picks reports an operator that takes a rectangle or an element of its first input. Its other inputs
// or its attributes say where.
func picks(n *ir.Node) bool {
	return n.Op.Role == op.Picks || n.Op.Role == op.PicksAt || n.Op.Role == op.Windows
}

// mapsOfPieces sets out as mapsOf does, of an operator that only moves elements.
func mapsOfPieces(g *ir.Graph, id ir.ID, out []rowMap) {
	n, t := &g.Nodes[id], g.Type(id)
	if !movesRows(g, id) {
		return
	}
	add := func(k, row, rows, by, down int) {
		out[k].needs = append(out[k].needs, need{from: row, to: row + rows, by: by, lo: down, hi: down + 1})
	}
	if boxes, in, ok := nodes.BoxesOf(g, id); ok && len(in) == len(out) {
		clear(out)
		for k, b := range boxes {
			add(k, b.DR, b.Rows, 1, b.SR-b.DR)
		}
	} else if pieces, ok := n.Op.Pieces(n.Attrs, nodes.SigOf(g, id).In, t); ok {
		clear(out)
		for _, p := range pieces {
			add(p.In, p.Row, p.Rows, p.By, p.Down)
		}
	}
}

// movesRows reports an operator of known shape that may have pieces.
func movesRows(g *ir.Graph, id ir.ID) bool {
	d := g.Nodes[id].Op
	if d.Elements == nil || !d.Laws.Has(op.Pure) || ir.MayFail(g, id) || d.Shard.Kind == op.ShardContract || d.Class != 0 || g.Nodes[id].Region != nil || !nodes.Dividable(g.Type(id)) {
		return false
	}
	return !slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return !nodes.Dividable(g.Type(x)) })
}

// readsOfGroup returns the reads of a loop of operators on whole matrices. It follows the rows that the
// results need back to the operands.
func (s *spreader) readsOfGroup(g *ir.Graph, id ir.ID) []rowReads {
	r := g.Nodes[id].Region
	of := make([]rowReads, r.Graph.Len())
	for k, a := range r.Args {
		s.capture(r.Graph, a, g, g.In(id)[k], true)
	}
	for _, y := range r.Yields {
		of[y] = s.ownRows(nodes.SpaceIn(r.Graph, y).Rows)
	}
	for i := r.Graph.Len() - 1; i >= 0; i-- {
		x, in := ir.ID(i), r.Graph.In(ir.ID(i))
		switch n := &r.Graph.Nodes[i]; {
		case n.Op.Role == op.Argument || !of[i].whole && of[i].rows == nil:
		case n.Op.Control == op.Part:
			of[in[0]] = of[in[0]].and(of[i])
		default:
			rows := nodes.SpaceIn(r.Graph, x).Rows
			own := !of[i].whole && len(of[i].at) == 0 && slices.EqualFunc(of[i].rows, s.windows(rows), slices.Equal)
			for k, m := range s.mapsOf(r.Graph, x, rows) {
				of[in[k]] = of[in[k]].and(m.of(of[i], rows, r.Graph.Type(in[k]).Rows, own))
			}
		}
	}
	return nodes.Through(of, r.Args)
}

// of returns which rows of an operand a node reads to make the rows r of its own. The node has so many
// rows, and the operand has `below`. If numbers within the node say which rows, these are all rows,
// unless r is each rank's own rows.
func (m rowMap) of(r rowReads, rows, below int, own bool) rowReads {
	if own && !m.whole {
		return rowReads{rows: rowsFor(m.needs, r.rows, below), at: m.at}
	}
	if m.whole || r.whole || len(m.at) > 0 || len(r.at) > 0 && !slices.Equal(m.needs, []need{sameRow(rows)}) {
		return rowReads{whole: true}
	}
	return rowReads{rows: rowsFor(m.needs, r.rows, below), at: r.at}
}

// and is what two readers need together.
func (r rowReads) and(x rowReads) rowReads {
	r.whole, r.rows = r.whole || x.whole, together(r.rows, x.rows)
	for _, p := range x.at {
		if !slices.Contains(r.at, p) {
			r.at = append(slices.Clip(r.at), p)
		}
	}
	return r
}

// view makes an old node a view of a partial matrix, if it is one: its new nodes are made where it
// is read.
func (x *spreadGraph) view(id ir.ID) bool {
	n := &x.old.Nodes[id]
	t := x.old.Type(id)
	if n.Op.Role != op.Slices && !nodes.Aligned(x.old, id) && !nodes.Stepped(x.old, id) || !x.partial[x.old.In(id)[0]] || !nodes.Dividable(t) || n.Attrs.Int("keep") > 0 || x.fewRows(x.old, id) || nodes.Sent(x.old, id) {
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
		return nodes.Dividable(g.Type(g.In(id)[0]))
	}
	return n.Op.Role == op.Slices && nodes.Dividable(t) && t.Rows < g.Type(g.In(id)[0]).Rows && t.Count()*moveSteps < s.from
}

// reach returns the new node of an old one with the rows that reads says. rows is the number of rows
// of the reader's space.
func (x *spreadGraph) reach(id ir.ID, reads rowReads) ir.ID {
	rows := x.old.Type(id).Rows
	own := x.windows(rows)
	switch {
	case reads.turned:
		return x.turnedRows(id)
	case reads.by > 0:
		return x.named(id, reads.by-1, reads.all)
	case !x.partial[id] && x.ownedApart(id) && !reads.whole && len(reads.at) == 0 && !bringsAll(reads.rows, rows):
		return x.rowsApart(id, reads.rows)
	case !x.partial[id]:
		return x.full(id)
	case x.views[id] != nil && !(reads.whole && x.settled(id)):
		if reads.whole {
			reads = x.fixedRows(0, rows)
		}
		from := x.old.In(id)[0]
		below := x.mapsOf(x.old, id, rows)[0].of(reads, rows, x.old.Type(from).Rows, false)
		return x.viewOf(id, x.reach(from, below), len(reads.at) == 0 && slices.EqualFunc(reads.rows, own, slices.Equal))
	case reads.whole:
		return x.full(id)
	}
	g, ok := x.whole[id]
	all, some := reads.rows, false
	if ok {
		var brought [][]plan.Range
		brought, some = plan.Needs(x.g.Nodes[g].Attrs)
		all = together(brought, all)
	}
	switch {
	case slices.EqualFunc(together(own, reads.rows), own, slices.Equal):
		return x.pick(id, reads.at)
	case len(reads.at) > 0 || x.picked[id] != nil || ok && x.g.Nodes[g].Attrs.Int(plan.Fetch) > 0 || bringsAll(all, rows):
		return x.full(id)
	case !ok:
		g = x.gather(id, all)
		x.whole[id] = g
	case some:
		x.g.Nodes[g].Attrs = x.g.Nodes[g].Attrs.With(plan.Reach, plan.ReachOf(all))
	}
	return g
}

// mostRanges is the most ranges of rows that a rank gets, since each is a message. A rank that needs
// more gets all rows.
const mostRanges = 24

// bringsAll reports whether a gather brings all of so many rows: all ranks need all, or one needs many
// ranges.
func bringsAll(list [][]plan.Range, rows int) bool {
	some := func(l []plan.Range) bool { return !slices.Equal(l, []plan.Range{{To: rows}}) }
	many := func(l []plan.Range) bool { return len(l) > mostRanges }
	return !slices.ContainsFunc(list, some) || slices.ContainsFunc(list, many)
}

// reachAll returns the new nodes of the inputs of old node id with the rows that reads says, by input.
// Inputs beyond the end of reads have all rows.
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
	rows := make([][]plan.Range, x.ranks)
	rows[rank] = []plan.Range{{To: t.Rows}}
	return x.reach(id, rowReads{rows: rows})
}

// pick returns the new node of an old one with a rank's own rows and those that at says. Each gather
// reads the one before it and brings only rows that none has brought: no row arrives while a node may
// read it.
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
			if len(list) > 0 && (list[0].rows != a.rows || list[0].space+a.space > 0) {
				return x.full(id)
			}
			in := []ir.ID{from, x.first(a)}
			if len(list) > 0 {
				in[0] = x.whole[id]
				in = append(in, x.g.In(in[0])[1:]...)
			}
			x.whole[id] = x.gatherOf(id, x.moves(a, x.inUnitsOf(x.old.Type(id).Rows).With(plan.Pick, op.Int(a.rows))), in...)
			x.picked[id] = append(list, a)
		}
		from = x.whole[id]
	}
	return from
}

// viewOf is the new node of the view id of the new node from. own: a reader needs a rank's own rows
// alone. If all readers do, an aligned one makes no others; from may have rows for another reader.
func (x *spreadGraph) viewOf(id, from ir.ID, own bool) ir.ID {
	v, ok := x.views[id][from]
	if !ok {
		in := []ir.ID{from}
		for _, at := range x.old.In(id)[1:] {
			in = append(in, x.full(at))
		}
		v = x.g.CopyNode(x.old, id, in...)
		x.views[id][from] = v
		if rows := x.old.Type(id).Rows; own && nodes.Aligned(x.old, id) && from == x.own(x.old.In(id)[0]) {
			x.g.Nodes[v].Attrs = x.sharing(x.g.Nodes[v].Attrs, rows, x.unit[rows])
		}
	} else if !own {
		x.g.Nodes[v].Attrs = x.old.Nodes[id].Attrs
	}
	return v
}

// own returns the new node of an old one with a rank's own rows.
func (x *spreadGraph) own(id ir.ID) ir.ID {
	return x.reach(id, x.ownRows(x.old.Type(id).Rows))
}
