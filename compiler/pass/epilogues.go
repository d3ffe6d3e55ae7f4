package pass

import (
	"fmt"
	"slices"
	"sync"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// FuseEpilogues runs a chain of elementwise operators on each part of a product while it is in a
// cache:
//
//	%2 = matmul(%0, %1);  %4 = map(%2, %3) { max(a + b, 0) }   ->   %4 = map.product(%0, %3, %1) {place=0} { the same }
//	%3 = gemm(%2, %0, %1);  %4 = exp(%3)                       ->   %4 = map.product(%2, %0, %1) {place=0, acc} { exp(a) }
//
// The product is not stored. Bits stay, since each element remains its chain of multiply-adds. It
// would be wrong for a product with another reader, and across a send: one `<-` is one task. It
// skips products that the chain reads transposed, products of integers and of sparse matrices, and
// those behind `materialize`.
//
// It runs after Partition, so it handles blocks and whole matrices alike, and after RowBlocks,
// which stores a product but makes one pass over the operators on it. On several ranks product and
// chain must have one place (block): the factors can be many times the product's size and would
// have to be sent.
func FuseEpilogues(g *ir.Graph, table *op.Table, sizes nodes.Sizes, ranks int, block []nodes.Block) *ir.Graph {
	f := &epilogues{g: g, table: table, row: table.Must("map.product"), shareable: 2 * sizes.Filled().Block, ranks: ranks, block: block, apart: sizes.Loops, rows: sizes.Rows,
		made: map[epilogueKey]epilogue{}}
	for id := range g.All() {
		if !f.chain(id) {
			continue
		}
		if place := f.product(id); place >= 0 {
			f.fuse(id, place)
		}
	}
	if f.out == nil {
		return g
	}
	return f.out
}

type epilogues struct {
	g, out *ir.Graph
	uses   []int32
	// of each node, and the earliest time of its result, by a guess that is equal everywhere
	cost  []float64
	ready []float64
	ranks int
	apart bool // leaves products alone whose left factor is read transposed: ranks share these
	rows  bool // leaves products alone that ranks share by rows, unless they are made in strips
	block []nodes.Block
	table *op.Table
	row   *op.Def
	// elements of a chain's result from which on several workers might share it
	shareable int
	// of new nodes; a tiled program has a million of a few kinds
	made map[epilogueKey]epilogue
}

// epilogueKey identifies a chain, a product and how they meet.
type epilogueKey struct {
	chain          *ir.Region // nil: one operator
	attrs, product *op.Attrs
	how            string
}

// epilogue is what nodes of one key share.
type epilogue struct {
	attrs  *op.Attrs
	region *ir.Region
}

// chain reports a map or a single elementwise operator with a dense result of known shape.
func (f *epilogues) chain(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	return t.IsDense() && t.Known() && t.Elem != types.Str && (n.Op.Role == op.Maps || nodes.ElementwiseOperator(n) && !f.g.Asks(id))
}

// product returns the place of an operand that is a product read only by the chain, once, element
// by element, or -1. Of several it returns the last, since the others have been computed before.
func (f *epilogues) product(id ir.ID) int {
	g, t := f.g, f.g.Type(id)
	in := g.In(id)
	for k := len(in) - 1; k >= 0; k-- {
		x := in[k]
		p := &g.Nodes[x]
		if p.Op.Role != op.Multiplies && p.Op.Role != op.MultipliesOnto || f.apart && p.Attrs.Bool("ta") || f.rows && rowProduct(g, x) && !f.strips(x) || !nodes.SameShape(g.Type(x), t) {
			continue
		}
		if f.uses == nil {
			f.uses = g.Uses()
		}
		if f.uses[x] == 1 && absorbable(g, x, id) && nodes.ModesOf(g, id, t)[k] == op.Full && f.together(id, x) && f.worthwhile(id, x) && !f.waits(id, x) {
			return k
		}
	}
	return -1
}

// absorbable reports whether a map of product x and its reader id is possible: x multiplies dense
// matrices of known shape and one type of floats, and both nodes belong to one send.
func absorbable(g *ir.Graph, x, id ir.ID) bool {
	for _, y := range g.In(x) {
		if t := g.Type(y); !t.IsDense() || !t.Known() || t.Elem != g.Type(x).Elem {
			return false
		}
	}
	return g.Type(x).Elem.IsFloat() && nodes.SameSend(g, x, id)
}

// together reports whether product x and chain id run on one rank.
func (f *epilogues) together(id, x ir.ID) bool {
	if f.ranks == 1 || nodes.Sent(f.g, id) {
		return true
	}
	return f.block != nil && f.block[id].Rows > 0 && f.block[id] == f.block[x]
}

// lateness is the part of a product's time that a chain may delay it. soon is a delay in seconds
// that does not matter.
const (
	lateness = 1.0 / 16
	soon     = 5e-6
)

// waits reports whether product x would begin later as a part of chain id, because the chain reads
// a value computed at the same time, such as another panel of a long product. Then both should run
// at once.
func (f *epilogues) waits(id, x ir.ID) bool {
	if f.ready == nil {
		f.cost = plan.Costs(f.g, plan.Guess{})
		f.ready = make([]float64, f.g.Len())
		for i := range f.g.Nodes {
			for _, y := range f.g.In(ir.ID(i)) {
				f.ready[i] = max(f.ready[i], f.ready[y])
			}
			f.ready[i] += f.cost[i]
		}
	}
	begins := f.ready[x] - f.cost[x]
	return slices.ContainsFunc(f.g.In(id), func(y ir.ID) bool { return y != x && f.ready[y] > begins+max(soon, lateness*f.cost[x]) })
}

// chainShare is the least number of product operations for one operation of a chain that several
// workers could have shared.
const chainShare = 16

// worthwhile weighs a chain on product x. In strips the chain costs as before, less the memory
// traffic of the product. A product computed as a whole is a task of one worker, and so becomes the
// chain. That does not matter if the chain would not have been shared, or is little beside the
// product.
func (f *epilogues) worthwhile(id, x ir.ID) bool {
	g := f.g
	if g.Type(id).Count() <= f.shareable {
		return true
	}
	if f.strips(x) {
		return true
	}
	in := g.In(x)
	a := in[len(in)-2]
	k := g.Type(a).Cols
	if g.Nodes[x].Attrs.Bool("ta") {
		k = g.Type(a).Rows
	}
	return 2*float64(k) >= chainShare*plan.ChainFlops(g, id)
}

// strips reports a product that is made in strips of rows, with a chain or without.
func (f *epilogues) strips(x ir.ID) bool {
	sig := nodes.SigOf(f.g, x)
	sig.Attrs = sig.Attrs.With("acc", op.Bool(len(sig.In) == 3)).With("place", op.Int(0))
	return f.row.Loop.Takes(sig, f.g.Type(x))
}

// fuse makes node id the chain on the product that it reads at place.
func (f *epilogues) fuse(id ir.ID, place int) {
	g := f.g
	if f.out == nil {
		f.out = g.Clone() // the program's definition must not change
	}
	x := g.In(id)[place]
	factors := g.In(x)
	in := append(slices.Clone(g.In(id)), factors[1:]...)
	in[place] = factors[0]
	n, p := &g.Nodes[id], &g.Nodes[x]
	modes, strips := nodes.ModesOf(g, id, g.Type(id)), f.strips(x)
	key := epilogueKey{n.Region, n.Attrs, p.Attrs, fmt.Sprint(place, len(factors), p.Span, modes, strips)}
	if n.Region == nil {
		key.how += fmt.Sprint(n.Op.Name, n.Span, g.Type(id).Elem)
		for _, y := range g.In(id) {
			key.how += " " + g.Type(y).Elem.String()
		}
	}
	made, known := f.made[key]
	if !known {
		acc, list := len(factors) == 3, make([]int, len(modes))
		for k, m := range modes {
			list[k] = int(m)
		}
		made.attrs = n.Attrs.With("modes", op.Ints(list...)).With("place", op.Int(place)).With("acc", op.Bool(acc)).
			With("held", op.Ints(held(place, acc, strips, modes, len(in))...))
		for _, name := range []string{"ta", "tb", "sub"} {
			made.attrs = made.attrs.With(name, op.Bool(p.Attrs.Bool(name)))
		}
		if n.Region == nil {
			made.region = f.single(id)
		} else {
			made.region = &ir.Region{Graph: n.Region.Graph.Clone(), Args: n.Region.Args, Yields: n.Region.Yields}
		}
		made.region.Graph.Nodes[made.region.Args[place]].Span = p.Span // where the product was
		f.made[key] = made
	}
	f.out.Replace(id, f.row, made.attrs, in...)
	f.out.Nodes[id].Region = made.region
}

// single returns an operator as a chain.
func (f *epilogues) single(id ir.ID) *ir.Region {
	g := f.g
	body := ir.New()
	r := &ir.Region{Graph: body}
	for _, x := range g.In(id) {
		r.Args = append(r.Args, body.Add(f.table.Must("arg"), nil, types.ScalarOf(g.Type(x).Elem), ir.Origin{}))
	}
	r.Yields = []ir.ID{body.Add(g.Nodes[id].Op, nil, types.ScalarOf(g.Type(id).Elem), ir.Origin{Span: g.Nodes[id].Span}, r.Args...)}
	return r
}

// held is 0 for each of n inputs whose memory the result may use. In strips, operands along the
// rows, and the left factor, have been read when their rows are written. A product computed as a
// whole is in the result, so only its accumulator may give its memory.
func held(place int, acc, strips bool, modes []op.Mode, n int) []int {
	out := make([]int, n)
	for k := range out {
		switch {
		case k == place && acc:
		case !strips || k == n-1 || k < len(modes) && modes[k] != op.Full:
			out[k] = 1
		}
	}
	return out
}

// leastAlong is the least number of panels of a product that makes the rows of a factor: a panel is the
// work of one worker.
const leastAlong = 16

// AlongPanels makes one loop of a product over many rows and the operator that makes the rows of a
// factor, if only the product reads them:
//
//	%2 = map.product(%0, %1) { sigmoid(a) };  %3 = matmul.panels(%0, %2) {ta}
//	->  %3 = panels.along(%0, %1) { the same };  %4 = part(%3) {at=1}
//
// Block of rows by block of rows, the operator makes rows of the factor and the product adds them to
// its chains. So a matrix that both read, as in a gradient or t(X) @ (X @ v), comes from memory once.
// Bits stay, since each chain goes on from block to block. The operator may not fail: it would fail
// after what is between it and the product.
func AlongPanels(g *ir.Graph, table *op.Table) *ir.Graph {
	row := table.Must("matmul.panels")
	along := func(n *ir.Node) bool { return n.Op == row && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") }
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return along(&n) }) {
		return g
	}
	return pairs(g, func(h, x ir.ID) bool { return rowsAlong(g, x, h) }, func(r ir.ID, _ int) bool { return along(&g.Nodes[r]) && g.Type(r).Elem.IsFloat() }, func(c *nodes.Copying, m []ir.ID) {
		id := m[1]
		r, reads := nodes.RegionOf(g, table, m, m)
		of := op.MakeAttrs(op.Attr{Name: "panel", Val: op.Int(g.Nodes[id].Attrs.Int("panel"))})
		c.Made(table, "panels.along", of, r, nodes.Through(c.To, reads), g.Origin(id), m...)
	})
}

// pairs joins nodes in pairs: a reader h and an operand x of it that nothing else reads. enters(h, x)
// says whether they may be one node, and links(h, k) whether operand k of h may be the one. A reader
// joins one operand. write makes the node of x and h.
func pairs(g *ir.Graph, enters func(h, x ir.ID) bool, links func(r ir.ID, k int) bool, write func(c *nodes.Copying, m []ir.ID)) *ir.Graph {
	s, found := groups{g: g}, map[ir.ID][]ir.ID{}
	s.join(func(h, x ir.ID) bool {
		if h == x || found[h] != nil || !enters(h, x) {
			return false
		}
		found[h] = []ir.ID{x, h}
		return true
	}, func(r ir.ID, k int) bool { return s.head[r] == r && links(r, k) })
	if len(found) == 0 {
		return g
	}
	return s.build(found, write)
}

// rowsAlong reports whether product id may make the rows of its factor x.
func rowsAlong(g *ir.Graph, x, id ir.ID) bool {
	t, l := g.Type(x), g.Nodes[x].Op.Loop
	if l == nil || !l.Early || !t.IsDense() || !t.Known() || !nodes.SameSend(g, x, id) || ir.MayFail(g, x) || t.Rows < leastAlong*g.Nodes[id].Attrs.Int("panel") {
		return false
	}
	sig := nodes.SigOf(g, x)
	return (l.Takes == nil || l.Takes(sig, t)) && l.Rows(sig, t) == t.Rows
}

// FuseProducts computes a product inside the map-reduce over rows that reads it, block by block:
//
//	%2 = matmul(%0, %1) {tb};  %4 = pipe(%3, %2) {fold="rowargmin", ..}
//	->  %4 = pipe.product(%3, %0, %1) {fold="rowargmin", .., place=1, tb}
//
// It would be wrong for a product that has another reader or is sent. It skips a product that is no
// loop over the rows of its left factor. It also skips a product whose left factor is cut, because
// the blocks would have to be assembled.
func FuseProducts(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	sizes = sizes.Filled()
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Role == op.Reduces }) {
		return g
	}
	whole := sync.OnceValue(func() []bool { return wholes(g, sizes.Block, preferredCuts(g), false, sizes.Rows) })
	tall := func(h, x ir.ID) bool {
		n := &g.Nodes[x]
		return n.Op.Role == op.Multiplies && absorbable(g, x, h) && n.Op.Loop.Takes(nodes.SigOf(g, x), g.Type(x)) && !fewTerms(g, x, sizes.Block) &&
			(whole() == nil || whole()[g.In(x)[0]])
	}
	return pairs(g, tall, func(r ir.ID, k int) bool { return reducesOwnRows(g, table, r, k) }, func(c *nodes.Copying, m []ir.ID) {
		p, n := m[0], &g.Nodes[m[1]]
		place, in := slices.Index(g.In(m[1]), p), append(c.In(m[1]), c.To[g.In(p)[1]])
		in[place] = c.To[g.In(p)[0]]
		attrs := n.Attrs.With("place", op.Int(place)).With("tb", op.Bool(g.Nodes[p].Attrs.Bool("tb")))
		c.Made(table, "pipe.product", attrs, n.Region, in, g.Origin(m[1]), m[1])
	})
}

// reducesOwnRows reports whether pipe id reduces rows, in one way, and reads operand k at its own
// places alone: with a transposed operand it would read all rows.
func reducesOwnRows(g *ir.Graph, table *op.Table, id ir.ID, k int) bool {
	n := &g.Nodes[id]
	if n.Op.Role != op.Reduces || n.Draws() || slices.Index(g.In(id), g.In(id)[k]) != k {
		return false
	}
	modes, fold := n.Attrs.Ints("modes"), table.Named(n.Attrs.Str("fold")) // nil: of several results
	return fold != nil && fold.Fold == op.FoldRows && op.Mode(modes[k]) == op.Full && !slices.Contains(modes, int64(op.Trans))
}
