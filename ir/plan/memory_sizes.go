package plan

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
)

// This file finds the sizes of values on the ranks that make them, and what a loop or branch holds
// inside.

type sizes struct {
	p      *Plan
	l      *layouts
	least  bool            // what only the run knows counts as the least
	small  bool            // a branch counts as the smaller one
	differ bool            // set if a branch takes more than the other one
	bare   bool            // memory is as large as what is in it
	cuts   map[int][]int64 // by number of rows: see WindowOf
	of     estimators
}

func newSizes(p *Plan, least, small bool) *sizes {
	s := &sizes{p: p, l: &layouts{p: p}, least: least, small: small, cuts: map[int][]int64{}, of: estimators{}}
	s.cut(p.Graph)
	return s
}

// cut notes the cuts of a graph and its regions.
func (s *sizes) cut(g *ir.Graph) {
	for id, n := range g.All() {
		if by := n.Attrs.Val(Unit); len(by.L) > 0 && n.Attrs.Int(Owner) == 0 {
			s.cuts[g.Type(id).Rows] = by.L
		}
		for r := n.Region; r != nil; r = r.Next {
			s.cut(r.Graph)
		}
	}
}

// WholeUpTo is the size in bytes of the largest dense matrix whose memory the runtime counts as a
// whole, though a rank touches its own rows only. Larger matrices have mappings of their own.
const WholeUpTo = 7 << 18

// graph sets size and root of every node of a graph: the bytes of its value on one rank, and the node
// whose memory the value is in. Of a large matrix whose rows ranks share, a rank touches its own rows
// only: the others take no memory.
func (s *sizes) graph(g *ir.Graph, owner ownerOf, where []string, size []float64, root []ir.ID) {
	bytes := s.bytes(g)
	for id, n := range g.All() {
		t := s.typeOf(g, id)
		root[id] = id
		switch {
		case n.Op.Role == op.Exchange:
			root[id] = root[g.In(id)[0]]
			continue
		case n.Op.Role == op.Gathers && t.Sized(): // in place of its input
			from := root[g.In(id)[0]]
			root[id] = from
			if where[id] != byRows { // other rows arrive there
				size[from] = max(size[from], s.lentFor(bytes(id)))
			}
			continue
		case MayView(g, id) && len(g.In(id)) > 0:
			root[id] = root[g.In(id)[0]]
			continue
		case !t.IsMatrix() || !t.Known() || n.Op.Look != nil && len(g.In(id)) == 0:
			continue
		}
		size[id] = bytes(id)
		switch {
		case t.IsDense() && (owner(id) != Everywhere || where[id] != byRows || size[id] <= WholeUpTo):
			size[id] = s.lentFor(size[id])
		case owner(id) != Everywhere:
		case where[id] == byRows && (t.IsSparse() || size[id] > WholeUpTo):
			size[id] *= share(t, s.p.Ranks, s.cuts[t.Rows])
		case where[id] == states && t.IsSparse(): // a rank has entries in all rows
			begins := 8 * float64(t.Rows+1)
			size[id] = begins + (size[id]-begins)/float64(s.p.Ranks)
		}
	}
}

// lentFor returns the memory that the runtime lends for a value of so many bytes. Less than a page
// counts as it is, because it makes no difference to what fits.
func (s *sizes) lentFor(bytes float64) float64 {
	if s.bare || bytes < 4096 {
		return bytes
	}
	_, size := SizeClass(int(bytes))
	return float64(size)
}

// typeOf returns the type of a node. Where the run chooses the rows, it is that with the most rows,
// unless the least is wanted.
func (s *sizes) typeOf(g *ir.Graph, id ir.ID) types.Type {
	if s.least {
		return g.Type(id)
	}
	return s.of.of(g).Most(id)
}

// bytes returns the sizes of the values of a graph. The least of a sparse matrix without a true
// estimate is one without entries.
func (s *sizes) bytes(g *ir.Graph) func(id ir.ID) float64 {
	all, e := s.of.bytes(g), s.of.of(g)
	if !s.least {
		return all
	}
	return func(id ir.ID) float64 {
		if t := g.Type(id); t.IsSparse() && e.Of(id).Basis >= sparsity.Bounded {
			return 8 * float64(t.Rows+1)
		}
		return all(id)
	}
}

// share returns the largest part of a matrix that a rank has. It ignores the cuts of a sparse matrix,
// because they give all ranks about the same entries.
func share(t types.Type, ranks int, cuts []int64) float64 {
	if t.Rows == 0 {
		return 1
	}
	most := int64((t.Rows + ranks - 1) / ranks)
	for r := 1; r < len(cuts) && t.IsDense(); r++ {
		most = max(most, cuts[r]-cuts[r-1])
	}
	return float64(most) / float64(t.Rows)
}

// beside returns the bytes that a task holds on one rank while it runs, beside its operands and result.
func (s *sizes) beside(g *ir.Graph, id ir.ID, owner int) float64 {
	n := &g.Nodes[id]
	if controls(n) {
		return s.inside(g, id, owner)
	}
	if n.Op.Beside == nil {
		return 0
	}
	sig := op.Sig{Def: n.Op, Attrs: n.Attrs, Stored: s.of.of(g).Inputs(id)}
	for _, x := range g.In(id) {
		t := s.typeOf(g, x)
		if t.IsMatrix() && !t.Known() {
			return 0
		}
		sig.In = append(sig.In, t)
	}
	return n.Op.Beside(&sig, s.typeOf(g, id)) / float64(max(1, n.Attrs.Int(Shared)))
}

// inside returns the most bytes that a loop or branch holds at a time, beside its operands: those of
// the carried values and of the tasks of one round in program order.
func (s *sizes) inside(g *ir.Graph, id ir.ID, owner int) (most float64) {
	n := &g.Nodes[id]
	rank := ownerOf(func(ir.ID) int { return owner })
	var carried []string
	if n.Op.Control == op.Iterate && owner == Everywhere {
		carried = s.l.carried(n)
	}
	for r := n.Region; r != nil; r = r.Next {
		s.of.enter(g, id, r)
		where := s.l.locate(r.Graph, rank, argsOf(r, carried))
		x := s.region(n, r, rank, where)
		if other := n.Op.Control == op.Select && r != n.Region; other && s.small {
			most = min(most, x)
		} else {
			s.differ = s.differ || other && x != most
			most = max(most, x)
		}
	}
	return most
}

// region is inside for one region.
func (s *sizes) region(n *ir.Node, r *ir.Region, owner ownerOf, where []string) (most float64) {
	g := r.Graph
	size, root := make([]float64, g.Len()), make([]ir.ID, g.Len())
	s.graph(g, owner, where, size, root)
	for k, a := range r.Args {
		if k >= n.Carried() { // the outer value
			size[a] = 0
		}
	}
	uses := readersOf(g, root)
	for _, y := range r.Yields {
		uses[root[y]]++
	}
	now := 0.0
	parts := map[ir.ID][]ir.ID{} // of nodes with several results, which have memory when the node runs
	for i := range g.Nodes {
		id := ir.ID(i)
		if now += s.lastRows(g, id); g.Nodes[i].Op.Control == op.Part && !controls(&g.Nodes[g.In(id)[0]]) {
			parts[g.In(id)[0]] = append(parts[g.In(id)[0]], id)
		}
	}
	for id, n := range g.All() {
		inner := s.beside(g, id, owner(id))
		results := parts[id]
		if n.Op.Control != op.Part || controls(&g.Nodes[g.In(id)[0]]) {
			results = append(results, id)
		}
		for _, y := range results {
			if root[y] != y || size[y] == 0 {
				continue
			}
			if x, ok := taken(g, id, y, root, uses, size); ok {
				size[x] = 0
			} else {
				now += size[y]
			}
		}
		most = max(most, now+inner)
		for _, x := range g.In(id) {
			if x = root[x]; uses[x] > 0 {
				if uses[x]--; uses[x] == 0 {
					now -= size[x]
				}
			}
		}
		if root[id] == id && uses[id] == 0 {
			now -= size[id]
			size[id] = 0
		}
	}
	return most
}

// lastRows returns the bytes of the rows that a rank has sent and received last by a gather with lists.
// It keeps them to find the rows that change until the next round.
func (s *sizes) lastRows(g *ir.Graph, id ir.ID) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role != op.Gathers || n.Attrs.Int(Fetch) == 0 || len(g.In(id)) < 3 || t.Rows == 0 {
		return 0
	}
	return 2 * float64(n.Attrs.Int(Fetch)-1) * float64(t.Bytes()) / float64(t.Rows) / float64(s.p.Ranks)
}

// keptEntries returns the bytes of the entries that a rank has parsed of a sparse file before the run.
// It keeps the row, column and value of each until it makes the matrix.
func (s *sizes) keptEntries(g *ir.Graph, id ir.ID) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Strewn == nil || !t.IsSparse() || !t.Known() || n.Attrs.Int(Shared) < 2 || !n.Op.Strewn(n.Attrs) {
		return 0
	}
	value := 0.0
	if t.Elem != types.Bool {
		value = float64(t.Elem.Size())
	}
	entries := (s.bytes(g)(id) - 8*float64(t.Rows+1)) / (4 + value)
	return entries * (8 + value) / float64(s.p.Ranks)
}

// readersOf counts, for each root of memory, the inputs that read it, itself or a view of it.
func readersOf(g *ir.Graph, root []ir.ID) []int32 {
	uses := make([]int32, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			uses[root[x]]++
		}
	}
	return uses
}

// taken returns the input whose memory node id makes its result y in.
func taken(g *ir.Graph, id, y ir.ID, root []ir.ID, uses []int32, size []float64) (ir.ID, bool) {
	for j, x := range g.In(id) {
		from := root[x]
		if TakesOver(g, id, j) && uses[from] == 1 && size[from] == size[y] && g.Type(x).Equal(g.Type(y)) {
			return from, true
		}
	}
	return 0, false
}
