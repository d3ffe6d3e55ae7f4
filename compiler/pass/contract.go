package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Contraction makes products accumulate. It runs on one expression at a time (a statement's right
// side), on the nodes from `from` on that elaboration has just made:
//
//	t(b) read by @                 ->  matmul{tb}           (and ta)
//	c - a @ b,  c + a @ b          ->  gemm(c, a, b){sub}   if nothing else reads a @ b
//	c - (a0@b0 + a1@b1 + ..)       ->  gemm(gemm(c, a0, b0){sub}, a1, b1){sub} ..
//	a @ b over k > Sizes.Panel     ->  matmul.panels(a, b), which is (a0@b0 + a1@b1) + (a2@b2 + a3@b3) ..
//
// This form is the meaning of those expressions (each element one chain of fused multiply-adds from
// c in ascending k), so the pass is canonical, and the reference evaluator evaluates its result. It
// may read only the expression. It would be wrong to contract a product that is read twice (its
// other reader would see other bits than if the product had been written twice), one that another
// statement named, and where c broadcasts.
type Contraction struct {
	gemm, mm, panelsRow *op.Def
	panel               int

	flagSets
	g    *ir.Graph
	from ir.ID
	uses []int32
	to   []ir.ID

	terms []term // scratch of chain

	paneled bool // the expression has a product of panels

	// settled marks the nodes whose statements are done. A call is elaborated inside its expression,
	// so an expression may contain nodes that statements of the called function named.
	settled []bool
	// away holds the settled nodes of the graphs around the current region.
	away map[*ir.Graph][]bool
}

// The bits of flags.
const (
	ta = 1 << iota
	tb
	sub
)

// flagSets holds the attributes of products that have flags alone, by the bits of the flags. Nodes
// share them, because a tiled program has a million such nodes.
type flagSets [8]*op.Attrs

func newFlagSets() (f flagSets) {
	for bits := range f {
		var list []op.Attr
		for i, name := range flagNames {
			if bits&(1<<i) != 0 {
				list = append(list, op.Attr{Name: name, Val: op.Bool(true)})
			}
		}
		f[bits] = op.MakeAttrs(list...)
	}
	return f
}

var flagNames = [...]string{"ta", "tb", "sub"}

// flip returns the flags of attrs with the given ones inverted.
func (f *flagSets) flip(attrs *op.Attrs, bits int) *op.Attrs {
	for i, name := range flagNames {
		if attrs.Bool(name) {
			bits ^= 1 << i
		}
	}
	return f[bits]
}

// NewContraction returns a contraction for the operators of a table. It reuses scratch memory
// between expressions.
func NewContraction(table *op.Table, sizes nodes.Sizes) *Contraction {
	mm := table.Infix("@")
	return &Contraction{mm: mm, gemm: table.Must(mm.Shard.Accum), panelsRow: table.Must("matmul.panels"), panel: sizes.Filled().Panel, flagSets: newFlagSets()}
}

// Run contracts the expression with value root. With compact it drops the nodes that the expression
// no longer needs and moves later ones up, so the caller may hold no ID of the range but root. The
// result is root's new ID.
func (c *Contraction) Run(g *ir.Graph, from, root ir.ID, compact bool) ir.ID {
	root = c.Argument(g, from, root, compact)
	c.settle(from)
	return root
}

// Argument is Run for an argument of a call, which the surrounding expression may still absorb: in
// f(a @ b) with fn f(p) = c - p the product accumulates. It comes before the body is elaborated,
// whose sends fix the nodes that they read.
func (c *Contraction) Argument(g *ir.Graph, from, root ir.ID, compact bool) ir.ID {
	if c.g != g {
		if c.away == nil {
			c.away = map[*ir.Graph][]bool{}
		}
		c.away[c.g] = c.settled
		c.g, c.settled = g, c.away[g]
	}
	c.paneled = false
	if root >= from {
		root = c.contract(g, from, root, compact)
	}
	if c.paneled { // sums of panels are not sums of products that the program wrote
		c.settle(from)
	}
	return root
}

// settle marks the statement of the nodes from `from` on as done.
func (c *Contraction) settle(from ir.ID) {
	c.settled = c.settled[:min(len(c.settled), int(from))]
	for len(c.settled) < c.g.Len() {
		c.settled = append(c.settled, len(c.settled) >= int(from))
	}
}

func (c *Contraction) contract(g *ir.Graph, from, root ir.ID, compact bool) ir.ID {
	product := false
	for i := from; int(i) < g.Len() && !product; i++ {
		product = g.Nodes[i].Op == c.mm
	}
	if !product {
		return root
	}
	c.from = from
	n := g.Len() - int(from)
	c.uses, c.to = c.uses[:0], c.to[:0]
	for range n {
		c.uses = append(c.uses, 0)
	}
	for i := range n {
		for _, in := range g.In(from + ir.ID(i)) {
			if in >= from {
				c.uses[in-from]++
			}
		}
	}
	c.uses[root-from]++
	for i := int(from); i < len(c.settled); i++ {
		if c.settled[i] {
			c.uses[i-int(from)]++ // a name reads it
		}
	}
	for i := range n {
		c.to = append(c.to, c.rewrite(from+ir.ID(i)))
	}
	root = c.to[root-from]
	if compact {
		root = c.sweep(root)
	}
	return root
}

// rewrite returns a node's final form: itself, possibly changed in place, or nodes added at the end
// of the graph.
func (c *Contraction) rewrite(id ir.ID) ir.ID {
	g := c.g
	in := g.In(id)
	moved := false
	for k, x := range in {
		if x >= c.from && c.to[x-c.from] != x {
			if !moved { // a copy: the old node may stay, and must not read later nodes
				in = append([]ir.ID(nil), in...)
			}
			moved = true
			in[k] = c.to[x-c.from]
		}
	}
	d, attrs := g.Nodes[id].Op, g.Nodes[id].Attrs
	if d == c.mm {
		a, b := in[0], in[1]
		if x, ok := c.transposed(a); ok {
			a, attrs = x, c.flip(attrs, ta)
		}
		if x, ok := c.transposed(b); ok {
			b, attrs = x, c.flip(attrs, tb)
		}
		if to, ok := c.panels(id, attrs, a, b); ok {
			return to
		}
		if !moved {
			g.Replace(id, d, attrs, a, b)
			return id
		}
		return c.again(id, d, attrs, a, b)
	}
	if (d.Infix == "+" || d.Infix == "-") && len(in) == 2 {
		if to, ok := c.accumulate(id, in, d.Infix == "-", moved); ok {
			return to
		}
	}
	if !moved {
		return id
	}
	return c.again(id, d, attrs, append([]ir.ID(nil), in...)...)
}

// again adds a node in place of id, with as many readers.
func (c *Contraction) again(id ir.ID, d *op.Def, attrs *op.Attrs, in ...ir.ID) ir.ID {
	to := c.g.Add(d, attrs, c.g.Type(id), c.g.Origin(id), in...)
	c.g.Nodes[to].Region = c.g.Nodes[id].Region
	c.uses = append(c.uses, c.uses[id-c.from])
	return to
}

// panels rewrites a product over a long k (Sizes.Panel), if k is known before the run.
func (c *Contraction) panels(id ir.ID, attrs *op.Attrs, a, b ir.ID) (ir.ID, bool) {
	g := c.g
	at, bt := g.Type(a), g.Type(b)
	k := at.Cols
	if attrs.Bool("ta") {
		k = at.Rows
	}
	if k <= c.panel || !at.IsDense() || !bt.IsDense() {
		return 0, false
	}
	c.paneled = true
	return c.again(id, c.panelsRow, attrs.With("panel", op.Int(c.panel)), a, b), true
}

// transposed returns x for a view t(x).
func (c *Contraction) transposed(id ir.ID) (ir.ID, bool) {
	if c.g.Nodes[id].Op.Shard.Kind == op.ShardTranspose {
		return c.g.In(id)[0], true
	}
	return 0, false
}

// accumulate rewrites acc +/- chain, where chain is a product or a sum of products. For + the chain
// may be on either side; if both qualify, the left one is the accumulator.
func (c *Contraction) accumulate(id ir.ID, in []ir.ID, minus, moved bool) (ir.ID, bool) {
	g, typ := c.g, c.g.Type(id)
	acc, ch := in[0], in[1]
	terms, ok := c.chain(ch, typ)
	if !ok && !minus {
		acc, ch = ch, acc
		terms, ok = c.chain(ch, typ)
	}
	if !ok || g.Type(acc) != typ {
		return 0, false
	}
	for _, t := range terms {
		attrs := c.flip(t.attrs, 0)
		if minus {
			attrs = c.flip(t.attrs, sub)
		}
		if len(terms) == 1 && !moved { // what a million sends are: in place
			g.Replace(id, c.gemm, attrs, acc, t.a, t.b)
			return id, true
		}
		o := t.origin
		if len(terms) == 1 {
			// the whole expression; each of several terms is a task of its own
			o = g.Origin(id)
		}
		acc = g.Add(c.gemm, attrs, typ, o, acc, t.a, t.b)
		c.uses = append(c.uses, 1)
	}
	c.uses[acc-c.from] = c.uses[id-c.from]
	return acc, true
}

type term struct {
	attrs  *op.Attrs
	a, b   ir.ID
	origin ir.Origin
}

// chain returns the terms of a product, or of a sum of products that starts with one, in order, if
// each is read once and made for this expression. They are valid until the next call.
func (c *Contraction) chain(id ir.ID, want types.Type) (terms []term, ok bool) {
	g := c.g
	terms = c.terms[:0]
	for id >= c.from && c.uses[id-c.from] == 1 && g.Type(id) == want {
		if nodes.Sent(g, id) {
			return nil, false
		}
		n := &g.Nodes[id]
		in := g.In(id)
		t := term{n.Attrs, 0, 0, g.Origin(id)}
		last := n.Op == c.mm
		switch {
		case last:
			t.a, t.b = in[0], in[1]
		case n.Op == c.gemm && !n.Attrs.Bool("sub"):
			t.a, t.b = in[1], in[2]
		default:
			return nil, false
		}
		if g.Type(t.a).Elem != want.Elem || g.Type(t.b).Elem != want.Elem {
			return nil, false
		}
		terms = append(terms, t)
		c.terms = terms
		if last {
			slices.Reverse(terms)
			return terms, true
		}
		id = in[0]
	}
	return nil, false
}

// sweep keeps what root and effects need of the range.
func (c *Contraction) sweep(root ir.ID) ir.ID {
	g, n := c.g, c.g.Len()-int(c.from)
	live := append(c.uses[:0], make([]int32, n)...)
	live[root-c.from] = 1
	for i := n - 1; i >= 0; i-- {
		id := c.from + ir.ID(i)
		if g.Nodes[id].Op.Laws.Has(op.Effectful) {
			live[i] = 1
		}
		if live[i] == 0 {
			continue
		}
		for _, in := range g.In(id) {
			if in >= c.from {
				live[in-c.from] = 1
			}
		}
	}
	to := c.to[:0]
	for range n {
		to = append(to, ir.None)
	}
	c.to, c.uses = to, live
	g.Sweep(c.from, live, to)
	c.resettle()
	return to[root-c.from]
}

// resettle moves the marks of settled statements to the new places of their nodes (c.to). Nodes keep
// their order.
func (c *Contraction) resettle() {
	for i := int(c.from); i < len(c.settled); i++ {
		done := c.settled[i]
		c.settled[i] = false
		if x := c.to[i-int(c.from)]; x != ir.None {
			c.settled[x] = done
		}
	}
	c.settled = c.settled[:min(len(c.settled), c.g.Len())]
}

// points reports a loop of known bounds over numbers without a hint of a technique.
func (s *groups) points(id ir.ID) bool {
	n := &s.g.Nodes[id]
	if n.Region == nil || n.Op.Control != op.NoControl || n.Attrs.Ints("lo") == nil || asked(n) {
		return false
	}
	return onNumbers(n.Region, op.Select)
}

// Panels writes some products over a long inner size as trees of sums of panels:
//
//	matmul.panels(%0, %1) {ta, panel=32768}
//	->  add(matmul(slice %0, slice %1) {ta}, matmul(slice %0, slice %1) {ta})
//
// The row matmul.panels means the same tree, bit for bit. Its loop shares the panels among the workers;
// the operands stay whole and nothing is copied. A product becomes a tree
//
//   - if its result has more than mostPanelSum elements: a panel is enough work to be cut into tiles;
//   - if an operand is cut, for another reader or because it is large: the row would have to assemble
//     it. A matrix of codes is not built, so its size does not count;
//   - if all is set.
//
// A product whose size only the run knows stays as it is.
func Panels(g *ir.Graph, table *op.Table, sizes nodes.Sizes, all bool) *ir.Graph {
	sizes = sizes.Filled()
	row := table.Must("matmul.panels")
	var loops []ir.ID
	tree := map[ir.ID]bool{}
	for id, n := range g.All() {
		if n.Op != row || !g.Type(g.In(id)[0]).Known() || !g.Type(g.In(id)[1]).Known() {
			continue
		}
		if tree[id] = all || g.Type(id).Count() > mostPanelSum; !tree[id] {
			loops = append(loops, id)
		}
	}
	for len(tree) > 0 {
		out, to := panelTrees(g, table, tree)
		left := loops[:0:0]
		if len(loops) > 0 {
			whole := wholes(out, sizes.Block, preferredCuts(out), false, sizes.Rows)
			codes := unbuilt(out, table)
			// A new tree may cut the operands of a product that was no tree before it.
			for _, id := range loops {
				in := out.In(to[id])
				if tree[id] = whole != nil && (!whole[in[0]] && !codes[in[0]] || !whole[in[1]] && !codes[in[1]]); !tree[id] {
					left = append(left, id)
				}
			}
		}
		if len(left) == len(loops) {
			return out
		}
		loops = left
	}
	return g
}

// mostPanelSum is the most elements of the result of a product that is a loop. Memory holds a result
// for each panel.
const mostPanelSum = 1 << 16

// panelTrees copies g with some products as trees, and returns the new nodes.
func panelTrees(g *ir.Graph, table *op.Table, tree map[ir.ID]bool) (*ir.Graph, []ir.ID) {
	c := nodes.CopyOf(g)
	for i := range g.Nodes {
		if id := ir.ID(i); tree[id] {
			c.To[i] = panelTree(c.G, table, g.Nodes[i].Attrs, g.Type(id), g.Origin(id), c.To[g.In(id)[0]], c.To[g.In(id)[1]])
		} else {
			c.Node(id)
		}
	}
	return c.G, c.To
}

// panelTree adds the tree of a product of a and b of type t, and returns its root. The tree depends
// on the inner size alone: pairs, pairs of pairs, and so on.
func panelTree(g *ir.Graph, table *op.Table, attrs *op.Attrs, t types.Type, o ir.Origin, a, b ir.ID) ir.ID {
	at, bt := g.Type(a), g.Type(b)
	ta, tb, panel := attrs.Bool("ta"), attrs.Bool("tb"), attrs.Int("panel")
	k := at.Cols
	if ta {
		k = at.Rows
	}
	window := func(x ir.ID, t types.Type, rows bool, lo, hi int) ir.ID {
		w := nodes.Box{SR: 0, SC: lo, Rows: t.Rows, Cols: hi - lo}
		if rows {
			w = nodes.Box{SR: lo, SC: 0, Rows: hi - lo, Cols: t.Cols}
		}
		return g.Add(table.Must("slice"), w.Attrs(), types.DenseOf(t.Elem, w.Rows, w.Cols), o, x)
	}
	flags := newFlagSets()
	mm := flags.flip(attrs, 0)
	var sums []ir.ID
	for lo := 0; lo < k; lo += panel {
		hi := min(lo+panel, k)
		x := window(a, at, ta, lo, hi)
		y := x
		if a != b || ta == tb {
			y = window(b, bt, !tb, lo, hi)
		}
		sums = append(sums, g.Add(table.Infix("@"), mm, t, o, x, y))
	}
	for len(sums) > 1 {
		next := sums[:0:0]
		for i := 0; i+1 < len(sums); i += 2 {
			next = append(next, g.Add(table.Infix("+"), nil, t, o, sums[i], sums[i+1]))
		}
		if len(sums)%2 == 1 {
			next = append(next, sums[len(sums)-1])
		}
		sums = next
	}
	return sums[0]
}
