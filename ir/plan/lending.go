package plan

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Lender lends memory for the values of a rank. M is what it calls a piece of memory; the zero M is
// none.
type Lender[M comparable] struct {
	// Lend returns memory for a matrix of type t. The rank touches rows lo to hi-1 of it.
	Lend func(t types.Type, lo, hi int) M
	// Back takes memory back that no value is in any more.
	Back func(M)
	// Stop is asked before each task. Nothing is lent after it has returned true.
	Stop func() bool
}

// Lend asks l for the memory of a rank's dense values in the order of the graph, and gives it back as a
// run with one worker does: after the last reader of a value, unless the reader makes its result there.
// The rounds of a loop are followed twice: from the second one on each finds the memory of the one
// before. Lend is a guess. It ignores values of sizes that only the run tells, the memory of kernels,
// and what several tasks at a time need more.
func Lend[M comparable](p *Plan, rank int, l Lender[M]) {
	w := lending[M]{p, rank, l}
	w.graph(p.Graph, nil, nil)
}

type lending[M comparable] struct {
	p    *Plan
	rank int
	Lender[M]
}

// held is the memory of the values of one graph.
type held[M comparable] struct {
	root  []ir.ID // the node whose memory a value is in
	whole []bool  // by root: other ranks' rows arrive there
	uses  []int32 // by root: readers of this rank that are still to come
	in    []M     // by root
}

// graph follows the nodes of a graph. args is the memory of arguments of a region. The memory of yields
// is the caller's.
func (w *lending[M]) graph(g *ir.Graph, args map[ir.ID]M, yields []ir.ID) []M {
	runs := func(id ir.ID) bool { return g != w.p.Graph || w.p.Runs(w.rank, id) }
	h := w.roots(g)
	for id := range g.All() {
		if _, sent := w.exchange(g, id); sent && h.root[id] == id || !runs(id) {
			continue
		}
		for _, x := range g.In(id) {
			h.uses[h.root[x]]++
		}
	}
	for _, y := range yields {
		h.uses[h.root[y]]++
	}
	for id, m := range args {
		h.in[id] = m
	}
	results := map[ir.ID][]M{} // of loops
	for id, n := range g.All() {
		if w.Stop() {
			break
		}
		if to, sent := w.exchange(g, id); sent {
			if h.root[id] == id && slices.Contains(to, int64(w.rank)) {
				h.in[id] = w.lend(g, id, n.Attrs, false)
			} else if w.p.Rank(id) == w.rank {
				w.read(h, g, id)
			}
			continue
		}
		if !runs(id) {
			continue
		}
		switch {
		case n.Op.Control == op.Iterate:
			results[id] = w.rounds(h, g, id)
		case n.Op.Control == op.Select:
			for r := n.Region; r != nil; r = r.Next {
				w.backAll(w.graph(r.Graph, nil, r.Yields))
			}
		case n.Op.Control == op.Part && len(results[g.In(id)[0]]) > n.Attrs.Int("at"):
			made := results[g.In(id)[0]]
			at := n.Attrs.Int("at")
			h.in[id], made[at] = made[at], *new(M)
		case h.root[id] == id && n.Op.Role != op.Constant && n.Op.Role != op.Argument && !(n.Op.Look != nil && len(g.In(id)) == 0):
			from := n.Attrs
			if n.Op.Control == op.Part {
				from = g.Nodes[g.In(id)[0]].Attrs
			}
			if x, ok := w.taken(h, g, id); ok {
				h.in[id], h.in[x] = h.in[x], *new(M)
			} else {
				h.in[id] = w.lend(g, id, from, h.whole[id])
			}
		}
		w.read(h, g, id)
		if h.root[id] == id && h.uses[id] == 0 {
			w.back(&h.in[id])
		}
	}
	out := make([]M, len(yields))
	for k, y := range yields {
		x := h.root[y]
		out[k], h.in[x] = h.in[x], *new(M)
	}
	for _, made := range results {
		w.backAll(made)
	}
	w.backAll(h.in)
	return out
}

// exchange returns the ranks that a value is sent to, if it is sent. Values of regions are not.
func (w *lending[M]) exchange(g *ir.Graph, id ir.ID) (to []int64, sent bool) {
	if g != w.p.Graph {
		return nil, false
	}
	return w.p.exchange(id)
}

// roots finds which values of a graph share memory on this rank.
func (w *lending[M]) roots(g *ir.Graph) *held[M] {
	n := g.Len()
	h := &held[M]{make([]ir.ID, n), make([]bool, n), make([]int32, n), make([]M, n)}
	for id, n := range g.All() {
		h.root[id] = id
		_, sent := w.exchange(g, id)
		switch in := g.In(id); {
		case sent:
			if w.p.Rank(id) == w.rank || w.p.Rank(id) == Everywhere {
				h.root[id] = h.root[in[0]]
			}
		case n.Op.Role == op.Gathers && g.Type(id).Sized():
			h.root[id] = h.root[in[0]]
			h.whole[h.root[id]] = h.whole[h.root[id]] || !Reaches(n)
		case len(in) > 0 && MayView(g, id):
			h.root[id] = h.root[in[0]]
		}
	}
	return h
}

// rounds follows two rounds of loop id and returns the memory of its results. The first round takes
// over initial values that nothing else reads.
func (w *lending[M]) rounds(h *held[M], g *ir.Graph, id ir.ID) []M {
	n := &g.Nodes[id]
	r := n.Region
	args := map[ir.ID]M{}
	for k, x := range g.In(id)[:n.Carried()] {
		if root := h.root[x]; h.uses[root] == 1 {
			args[r.Args[k]], h.in[root] = h.in[root], *new(M)
		}
	}
	out := w.graph(r.Graph, args, r.Yields)
	clear(args)
	for k := range n.Carried() {
		args[r.Args[k]] = out[k]
	}
	w.backAll(out[n.Carried():])
	return w.graph(r.Graph, args, r.Yields)
}

// lend lends memory for the result of a node with these attributes: of one whose rows ranks share,
// unless other ranks' rows arrive there, the rank touches its own rows.
func (w *lending[M]) lend(g *ir.Graph, id ir.ID, a *op.Attrs, whole bool) (m M) {
	t := g.Type(id)
	if t.Kind == types.Tuple || !t.IsDense() || !t.Sized() || t.IsScalar() || w.Stop() {
		return m
	}
	lo, hi := 0, t.Rows
	if !whole && a.Int(SharedRows) == t.Rows {
		lo, hi = WindowOf(w.rank, w.p.Ranks, t.Rows, a.Val(Unit))
	}
	return w.Lend(t, lo, hi)
}

// taken returns the value in whose memory node id makes its result.
func (w *lending[M]) taken(h *held[M], g *ir.Graph, id ir.ID) (ir.ID, bool) {
	for j, x := range g.In(id) {
		if root := h.root[x]; TakesOver(g, id, j) && h.uses[root] == 1 && h.in[root] != *new(M) && g.Type(root).Equal(g.Type(id)) {
			return root, true
		}
	}
	return 0, false
}

// read ends the reads of node id.
func (w *lending[M]) read(h *held[M], g *ir.Graph, id ir.ID) {
	for _, x := range g.In(id) {
		if root := h.root[x]; h.uses[root] > 0 {
			if h.uses[root]--; h.uses[root] == 0 {
				w.back(&h.in[root])
			}
		}
	}
}

func (w *lending[M]) back(m *M) {
	if *m != *new(M) {
		w.Back(*m)
		*m = *new(M)
	}
}

func (w *lending[M]) backAll(list []M) {
	for k := range list {
		w.back(&list[k])
	}
}
