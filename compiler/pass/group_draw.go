package pass

import (
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
	if l, is := f.loop[f.head[id]]; is {
		return f.drawsRows(x, id, l)
	}
	return !f.isNumber(x) && f.readsAligned(x, id)
}

// readsAligned reports whether the chain of reader id reads x at its own places.
func (f *fusion) readsAligned(x, id ir.ID) bool {
	g := f.g
	return (f.fusable(id) && sameShape(g.Type(x), g.Type(id)) || f.folds(id)) && sameSend(g, x, id)
}

// drawnAgain reports whether several passes should each compute the constructor x.
func (f *fusion) drawnAgain(x ir.ID, passes map[ir.ID]bool) bool {
	g := f.g
	for p := range passes {
		if _, is := f.loop[p]; is || g.Nodes[p].Op.Fold == op.FoldRows {
			return false
		}
	}
	t := g.Type(x)
	work := g.Nodes[x].Op.Cost(&op.Sig{Def: g.Nodes[x].Op, Attrs: g.Nodes[x].Attrs}, t)
	return float64(len(passes)-1)*work.Flops <= againFlops/4*float64(t.Count())
}

// isNumber reports a constructor of one number.
func (f *fusion) isNumber(x ir.ID) bool { return drawable(f.g.Type(x)) && f.g.Nodes[x].Op.Alike != nil }

// number returns x as a scalar of the copy, if it is a matrix of one number that a chain of type t
// reads at its own places.
func (f *fusion) number(x ir.ID, t types.Type) (id ir.ID, ok bool) {
	n := &f.g.Nodes[x]
	if !f.isNumber(x) || !sameShape(f.g.Type(x), t) {
		return 0, false
	}
	if id, ok = f.numbers[x]; !ok {
		id = f.out.g.Add(f.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: n.Op.Alike(n.Attrs)}), types.ScalarOf(f.g.Type(x).Elem), ir.Origin{Span: n.Span})
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
