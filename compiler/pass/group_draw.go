package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Fuse that takes constructors into chains:
//
//	%0 = rand {n=1000, m=1000};  %1 = sqrt(%0);  %2 = sum(%1)
//	->  %2 = pipe() {fold="sum"} { sqrt(rand) }
//
// Their elements follow from their places, so a chain computes them on demand and nothing is
// stored. A matrix of one number is read as that number. It would be wrong where a chain reads a
// constructor transposed or as a vector beside a matrix: it computes only the element at its own
// place.

// draws finds the constructors that chains compute: those with one reader that are not sent
// elsewhere. One with several readers is computed by each if that is cheaper than storing and
// reading it, and if none of them reduces rows: those may run by blocks of rows, which want it
// stored (RowBlocks).
func (f *fusion) draws() {
	g := f.g
	f.drawn = map[ir.ID]bool{}
	readers := map[ir.ID]map[ir.ID]bool{} // the groups, by their names
	units := f.units()
	for id, n := range g.All() {
		if t := g.Type(id); n.Op.Draw != nil && drawable(t) && !g.Asks(id) && n.Region == nil {
			f.drawn[id] = true
			readers[id] = map[ir.ID]bool{}
		}
		for _, x := range g.In(id) {
			if f.drawn[x] && !f.mayDraw(x, id) {
				delete(f.drawn, x)
			} else if f.drawn[x] {
				for _, u := range units(id) {
					readers[x][u] = true
				}
			}
		}
	}
	for x := range f.drawn {
		if n := len(readers[x]); n == 0 || n > 1 && !f.drawnAgain(x, readers[x]) {
			delete(f.drawn, x)
		}
	}
}

// mostDrawn is the most elements that a chain computes: an hour of work. A larger matrix is a
// mistake, which the limit of tasks reports if it is cut into blocks.
const mostDrawn = 1 << 42

// drawable reports the type of a constructor that chains may compute.
func drawable(t types.Type) bool {
	return t.IsDense() && t.Known() && t.Count() > 1 && t.Count() <= mostDrawn
}

// units returns the passes over memory that compute a node, once groups and sharings are known: two
// for a chain that is cheaper to compute again than to store.
func (f *fusion) units() func(ir.ID) []ir.ID {
	passes := map[ir.ID][]ir.ID{}
	for _, list := range f.shared {
		for _, s := range list {
			name := s.folds[0]
			for _, r := range s.folds {
				passes[r] = append(passes[r], name)
			}
			if s.chain {
				passes[s.of] = append(passes[s.of], name)
			}
		}
	}
	return func(id ir.ID) []ir.ID {
		h := f.head[id]
		if names, ok := passes[h]; ok {
			return names
		}
		return []ir.ID{h}
	}
}

// mayDraw reports whether the chain of reader id may compute the constructor x.
func (f *fusion) mayDraw(x, id ir.ID) bool {
	if f.points(id) {
		return f.drawsRows(x, id)
	}
	return !f.isNumber(x) && f.readsAligned(x, id)
}

// readsAligned reports whether the chain of reader id reads x at its own places.
func (f *fusion) readsAligned(x, id ir.ID) bool {
	g := f.g
	return (f.fusable(id) && nodes.SameShape(g.Type(x), g.Type(id)) || f.folds(id)) && nodes.SameSend(g, x, id)
}

// drawnAgain reports whether several passes should each compute the constructor x.
func (f *fusion) drawnAgain(x ir.ID, passes map[ir.ID]bool) bool {
	g := f.g
	for p := range passes {
		if f.points(p) || g.Nodes[p].Op.Fold == op.FoldRows {
			return false
		}
	}
	t := g.Type(x)
	work := g.Nodes[x].Op.Cost(&op.Sig{Def: g.Nodes[x].Op, Attrs: g.Nodes[x].Attrs}, t)
	return float64(len(passes)-1)*work.Flops <= nodes.AgainFlops/4*float64(t.Count())
}

// nodes.IsNumber reports a constructor of one number.
func (f *fusion) isNumber(x ir.ID) bool { return drawable(f.g.Type(x)) && f.g.Nodes[x].Op.Alike != nil }

// number returns x as a scalar of the copy, if it is a matrix of one number that a chain of type t
// reads at its own places.
func (f *fusion) number(x ir.ID, t types.Type) (id ir.ID, ok bool) {
	n := &f.g.Nodes[x]
	if !f.isNumber(x) || !nodes.SameShape(f.g.Type(x), t) {
		return 0, false
	}
	if id, ok = f.numbers[x]; !ok {
		id = f.out.G.Add(f.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: n.Op.Alike(n.Attrs)}), types.ScalarOf(f.g.Type(x).Elem), ir.Origin{Span: n.Span})
		if f.numbers == nil {
			f.numbers = map[ir.ID]ir.ID{}
		}
		f.numbers[x] = id
	}
	return id, true
}

// readsDrawn reports an operator or a reduction that computes a constructor that it reads, or reads
// it as a number.
func (f *fusion) readsDrawn(id ir.ID) bool {
	for _, x := range f.g.In(id) {
		if f.drawn[x] {
			return true
		}
		if f.isNumber(x) && f.readsAligned(x, id) {
			return true
		}
	}
	return false
}

// points reports a parfor over numbers, and over one known range with step 1.
func (f *fusion) points(id ir.ID) bool {
	n := &f.g.Nodes[id]
	by := n.Attrs.Ints("by")
	return n.Op.Role == op.Points && n.Attrs.Ints("lo") != nil && len(by) == 1 && by[0] == 1 && onNumbers(n.Region, op.Iterate, op.Select)
}

// onNumbers reports a body in which everything but the arguments is a scalar, and which gives scalars.
// Its loops and branches are of the given kinds.
func onNumbers(b *ir.Region, with ...op.Control) bool {
	g := b.Graph
	if slices.ContainsFunc(b.Yields, func(y ir.ID) bool { return !g.Type(y).IsScalar() }) {
		return false
	}
	for id, n := range g.All() {
		switch {
		case slices.Contains(b.Args, id) || n.Op.Control == op.Part:
		case slices.Contains(with, n.Op.Control):
			for r := n.Region; r != nil; r = r.Next {
				if !onNumbers(r, with...) {
					return false
				}
			}
		case !g.Type(id).IsScalar() || n.Op.Elt == nil && n.Op.Role != op.Constant && n.Op.Role != op.Picks:
			return false
		}
	}
	return true
}

// mostDrawnCols is the most columns of a constructor that a parfor computes, since it computes
// whole rows.
const mostDrawnCols = 16

// drawsRows reports whether the body of loop l may compute constructor x, which the loop reads: there
// is a row for every iteration, and each reads only elements of its own. Only consecutive rows are
// computed.
func (f *fusion) drawsRows(x, l ir.ID) bool {
	g, n, t := f.g, &f.g.Nodes[l], f.g.Type(x)
	if c := &g.Nodes[x]; c.Op.Draw == nil || c.Region != nil || len(g.In(x)) > 0 || nodes.Sent(g, x) || !drawable(t) || t.Cols > mostDrawnCols || t.Elem == types.Str {
		return false
	}
	if _, cut := g.Nodes[x].Attrs.Get("at"); cut {
		return false
	}
	lo, count := n.Attrs.Ints("lo")[0], n.Attrs.Ints("n")[0]
	if lo < 0 || lo+count > int64(t.Rows) {
		return false
	}
	body := n.Region.Graph
	for k, y := range g.In(l) {
		a := n.Region.Args[1+k]
		for i := range body.Nodes {
			in := body.In(ir.ID(i))
			if at := slices.Index(in, a); y == x && at >= 0 && (body.Nodes[i].Op.Role != op.Picks || at > 0 || in[1] != n.Region.Args[0]) {
				return false
			}
		}
	}
	return true
}

// parfor adds loop l with the constructors that its body computes.
func (f *fusion) parfor(l ir.ID) {
	g, n := f.g, &f.g.Nodes[l]
	c, old := nodes.CopyOf(n.Region.Graph), n.Region.Args
	keep := slices.Repeat([]bool{true}, len(old))
	for id := range c.Old.All() {
		k := slices.Index(old, id)
		if k < 1 || !f.drawn[g.In(l)[k-1]] {
			c.Node(id)
			continue
		}
		y := g.In(l)[k-1]
		keep[k] = false
		c.To[id] = c.G.Add(g.Nodes[y].Op, g.Nodes[y].Attrs.With("drawn", op.Bool(true)), g.Type(y), ir.Origin{Span: g.Nodes[y].Span})
	}
	r := c.Region(n.Region)
	r.Args = nodes.Kept(r.Args, keep)
	f.out.Made(f.table, n.Op.Name, n.Attrs, r, nodes.Kept(f.out.In(l), keep[1:]), g.Origin(l), l)
}
