package pass

import (
	"fmt"

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
func FuseEpilogues(g *ir.Graph, table *op.Table, sizes Sizes, ranks int, block []Block) *ir.Graph {
	f := &epilogues{g: g, table: table, row: table.Must("map.product"), shareable: 2 * sizes.filled().Block, ranks: ranks, block: block, apart: sizes.Loops, rows: sizes.Rows,
		attrs: map[epilogueKey]*op.Attrs{}, regions: map[regionKey]*ir.Region{}}
	for i := range g.Nodes {
		id := ir.ID(i)
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
	block []Block
	table *op.Table
	row   *op.Def
	// elements of a chain's result from which on several workers might share it
	shareable int
	// of new nodes; a tiled program has a million of a few kinds
	attrs   map[epilogueKey]*op.Attrs
	regions map[regionKey]*ir.Region
}

type epilogueKey struct {
	chain, product *op.Attrs
	place          int
	acc            bool
	held           string
}

// regionKey identifies a chain and its variant.
type regionKey struct {
	of  *ir.Region // nil: one operator
	how string
}

// chain reports a map or a single elementwise operator with a dense result of known shape.
func (f *epilogues) chain(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	if !t.IsDense() || !t.Known() || t.Elem == types.Str {
		return false
	}
	return n.Op.Role == op.Maps || n.Op.Elt != nil && n.Op.Laws.Has(op.Elementwise) && n.Region == nil && n.Attrs == nil && !f.g.Asks(id)
}

// modes returns how a chain reads its operands.
func (f *epilogues) modes(id ir.ID) []int {
	var out []int
	if n := &f.g.Nodes[id]; n.Region != nil {
		for _, m := range n.Attrs.Ints("modes") {
			out = append(out, int(m))
		}
		return out
	}
	for _, x := range f.g.In(id) {
		out = append(out, int(modeOf(f.g.Type(x), f.g.Type(id))))
	}
	return out
}

// product returns the place of an operand that is a product read only by the chain, once, element
// by element, or -1. Of several it returns the last, since the others have been computed before.
func (f *epilogues) product(id ir.ID) int {
	g, t := f.g, f.g.Type(id)
	in := g.In(id)
	for k := len(in) - 1; k >= 0; k-- {
		x := in[k]
		p := &g.Nodes[x]
		if f.apart && p.Attrs.Bool("ta") || f.rows && rowProduct(g, x) && !f.strips(x) {
			continue
		}
		if p.Op.Role != op.Multiplies && p.Op.Role != op.MultipliesOnto || !sameShape(g.Type(x), t) || !g.Type(x).Elem.IsFloat() || !sameSend(g, x, id) {
			continue
		}
		if f.uses == nil {
			f.uses = g.Uses()
		}
		if f.uses[x] != 1 || op.Mode(f.modes(id)[k]) != op.Full || !f.uniform(x) || !f.together(id, x) || !f.worthwhile(id, x) || f.waits(id, x) {
			continue
		}
		return k
	}
	return -1
}

// uniform reports a product of dense matrices of known shape and one element type.
func (f *epilogues) uniform(x ir.ID) bool {
	for _, y := range f.g.In(x) {
		if t := f.g.Type(y); !t.IsDense() || !t.Known() || t.Elem != f.g.Type(x).Elem {
			return false
		}
	}
	return true
}

// together reports whether product x and chain id run on one rank.
func (f *epilogues) together(id, x ir.ID) bool {
	if f.ranks == 1 {
		return true
	}
	if _, _, _, sent := f.g.Dest(id); sent {
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
	for _, y := range f.g.In(id) {
		if y != x && f.ready[y] > begins+max(soon, lateness*f.cost[x]) {
			return true
		}
	}
	return false
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
	return 2*float64(k) >= chainShare*f.flops(id)
}

// strips reports a product that is made in strips of rows, with a chain or without.
func (f *epilogues) strips(x ir.ID) bool {
	sig := sigOf(f.g, x)
	sig.Attrs = sig.Attrs.With("acc", op.Bool(len(sig.In) == 3)).With("place", op.Int(0))
	return f.row.Loop.Takes(sig, f.g.Type(x))
}

// flops returns the operations of a chain for one element.
func (f *epilogues) flops(id ir.ID) float64 {
	body, nodes := f.g, []ir.ID{id}
	if r := f.g.Nodes[id].Region; r != nil {
		body, nodes = r.Graph, nil
		for i := range body.Nodes {
			nodes = append(nodes, ir.ID(i))
		}
	}
	sum := 0.0
	for _, y := range nodes {
		if d := body.Nodes[y].Op; d.Cost != nil {
			t := body.Type(y)
			sum += d.Cost(sigOf(body, y), t).Flops / float64(max(1, t.Count()))
		}
	}
	return sum
}

// fuse makes node id the chain on the product that it reads at place.
func (f *epilogues) fuse(id ir.ID, place int) {
	g := f.g
	if f.out == nil {
		f.out = g.Clone() // the program's definition must not change
	}
	in := append([]ir.ID(nil), g.In(id)...)
	x := in[place]
	factors := g.In(x)
	acc := len(factors) == 3
	in[place] = factors[0]
	in = append(in, factors[1:]...)
	f.out.Replace(id, f.row, f.attributes(id, place, acc, f.modes(id), in), in...)
	f.out.Nodes[id].Region = f.region(id, place, f.modes(id))
}

// region returns the chain. Its argument at place has the origin of the product. Blocks of one
// matrix that read their operands by other modes have other regions.
func (f *epilogues) region(id ir.ID, place int, modes []int) *ir.Region {
	g := f.g
	n := &g.Nodes[id]
	span := g.Nodes[g.In(id)[place]].Span
	key := fmt.Sprint(place, span, modes)
	if n.Region == nil {
		key += fmt.Sprint(n.Op.Name, n.Span, g.Type(id).Elem)
		for _, x := range g.In(id) {
			key += " " + g.Type(x).Elem.String()
		}
	}
	known := regionKey{n.Region, key}
	r := f.regions[known]
	if r != nil {
		return r
	}
	if r = n.Region; r == nil {
		r = f.single(id)
	} else {
		r = &ir.Region{Graph: r.Graph.Clone(), Args: r.Args, Yields: r.Yields}
	}
	r.Graph.Nodes[r.Args[place]].Span = span
	f.regions[known] = r
	return r
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

// attributes returns those of the chain and of the product, and which inputs are held.
func (f *epilogues) attributes(id ir.ID, place int, acc bool, modes []int, in []ir.ID) *op.Attrs {
	g := f.g
	n, p := &g.Nodes[id], &g.Nodes[g.In(id)[place]]
	key := epilogueKey{n.Attrs, p.Attrs, place, acc, fmt.Sprint(modes, n.Op.Name)}
	a := n.Attrs.With("modes", op.Ints(modes...)).With("place", op.Int(place)).With("acc", op.Bool(acc))
	for _, name := range []string{"ta", "tb", "sub"} {
		a = a.With(name, op.Bool(p.Attrs.Bool(name)))
	}
	sig := &op.Sig{Def: f.row, Attrs: a}
	for _, x := range in {
		sig.In = append(sig.In, g.Type(x))
	}
	held := f.held(place, acc, f.row.Loop.Takes(sig, g.Type(id)), modes, len(in))
	key.held = fmt.Sprint(key.held, held)
	if known := f.attrs[key]; known != nil {
		return known
	}
	f.attrs[key] = a.With("held", op.Ints(held...))
	return f.attrs[key]
}

// held is 0 for each of n inputs whose memory the result may use. In strips, operands along the
// rows, and the left factor, have been read when their rows are written. A product computed as a
// whole is in the result, so only its accumulator may give its memory.
func (f *epilogues) held(place int, acc, strips bool, modes []int, n int) []int {
	out := make([]int, n)
	for k := range out {
		switch {
		case k == place && acc:
		case !strips || k == n-1 || k < len(modes) && op.Mode(modes[k]) != op.Full:
			out[k] = 1
		}
	}
	return out
}
