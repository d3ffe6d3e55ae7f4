package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Fuse makes a chain of elementwise operators on matrices of one shape one map, and a chain and the
// reductions that read it one map-reduce (row pipe):
//
//	%3 = add(%1, %2);  %4 = sqrt(%3);  %5 = mul(%4, %0)
//	->  %5 = map(%1, %2, %0) { sqrt(a + b) * c }
//	%6 = sum(%5)
//	->  %6 = pipe(%1, %2, %0) {fold="sum"} { sqrt(a + b) * c }
//
// It reads memory once instead of once an operator and keeps every bit: the map computes the same
// operations on each element, and a reduction that may end a pipe does not depend on order. A
// transpose that the chain reads becomes a mode (Trans). It would be wrong to fuse across a send:
// one `<-` is one task.
//
// An operator joins its readers if all are in one group: y / (1 + y) becomes one map with y's
// operators. A value that several groups read is computed and stored once; the reductions among its
// readers take their elements in the same pass (group_several.go):
//
//	%6 = sum(%5);  %7 = emit(%5)
//	->  %6 = pipe(%1, %2, %0) {fold="store sum"} { .. };  %7 = part(%6) {at=0};  %8 = part(%6) {at=1}
//
// A chain is placed at its last operator. So an operator that may fail, a division of integers,
// joins only if nothing between it and that place may fail or has an effect: a run then fails as
// without this pass, and reports the place of the division. A chain has at most one such operator,
// because with two an element-wise run could fail at the second one first.
//
// A constructor becomes part of a chain where that is cheaper than storing it (group_draw.go).
// `materialize` forces storing.
func Fuse(g *ir.Graph, table *op.Table) *ir.Graph {
	f := fusionOf(g, table)
	changes := f.join(func(h, x ir.ID) bool { return h != x && f.fusable(x) && f.operands.join(h, x) }, f.links)
	if again := f.repeated(); again != g {
		return Fuse(again, table)
	}
	f.several()
	f.draws()
	changes = changes || len(f.shared) > 0
	for id := ir.ID(0); !changes && int(id) < g.Len(); id++ {
		changes = (f.member(id) || f.points(id)) && f.readsDrawn(id) || f.fusable(id) && f.readsTransposed(id)
	}
	if !changes {
		return g
	}
	return f.build()
}

// mostInLoop is the most elements of a matrix that a compiled loop over the points of a parfor stores.
const mostInLoop = 1 << 14

// FuseInPoints is Fuse for the body of a parfor. It fuses only chains that make a matrix of more than
// mostInLoop elements for a sort or for the rounds of a loop: a compiled loop over the points would not
// compute these. Other chains stay operators, because such a loop fuses more of them than of maps.
func FuseInPoints(g *ir.Graph, table *op.Table) *ir.Graph {
	f, stored := fusionOf(g, table), make([]bool, g.Len())
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for k, x := range g.In(ir.ID(i)) {
			large := g.Type(x).IsDense() && g.Type(x).Known() && g.Type(x).Count() > mostInLoop
			stored[x] = stored[x] || large && (n.Op.Order != nil || k < n.Carried())
		}
	}
	if !f.join(func(h, x ir.ID) bool { return h != x && stored[h] && f.fusable(x) && f.operands.join(h, x) }, f.links) {
		return g
	}
	return f.build()
}

// fusionOf returns a fusion of g that has no groups yet.
func fusionOf(g *ir.Graph, table *op.Table) *fusion {
	return &fusion{groups: groups{g: g}, table: table, uses: g.Uses(), operands: operands{g: g, of: map[ir.ID][]ir.ID{}}}
}

// operands has what the groups of several nodes read of other nodes, by their heads.
type operands struct {
	g  *ir.Graph
	of map[ir.ID][]ir.ID
}

// join adds a node to the group of head h, unless the group would then read more than a compiled loop
// has room for. Nodes come in descending order, so an operand may still become a member: a group may
// end earlier than it must.
func (o *operands) join(h, id ir.ID) bool {
	reads, is := o.of[h]
	if !is {
		reads = distinct(nil, o.g.In(h))
	}
	rest := distinct(slices.DeleteFunc(slices.Clone(reads), func(x ir.ID) bool { return x == id }), o.g.In(id))
	if len(rest) > op.MostOperands {
		return false
	}
	o.of[h] = rest
	return true
}

// distinct adds to a list what it does not have.
func distinct(list, more []ir.ID) []ir.ID {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// links reports whether operand k of r may be in its group.
func (f *fusion) links(r ir.ID, k int) bool {
	x := f.g.In(r)[k]
	return (f.fusable(r) && nodes.SameShape(f.g.Type(x), f.g.Type(r)) || f.folds(r) && f.g.Type(x).Count() != 1) && nodes.SameSend(f.g, x, r) &&
		!f.late(x, f.head[r])
}

// late reports an operator x that may fail and that, moved to h, would fail after something that it
// precedes.
func (f *fusion) late(x, h ir.ID) bool {
	if !f.divides(x) {
		return false
	}
	if f.stops == nil {
		f.stops = nodes.StopsOf(f.g)
	}
	return f.stops.Between(x, h)
}

// divides reports an elementwise operator that may fail.
func (f *fusion) divides(x ir.ID) bool {
	return f.fusable(x) && !f.g.Nodes[x].Op.Laws.Has(op.Total) && ir.MayFail(f.g, x)
}

type fusion struct {
	groups
	operands operands
	uses     []int32
	stops    nodes.Stops // made when something may fail
	table    *op.Table
	out      *nodes.Copying
	// shared holds the map-reduces of values with several readers, by the node at whose place
	// they come.
	shared map[ir.ID][]sharing
	tiled  []bool // products or factorisations read it
	// drawn holds the constructors that the chains which read them compute. numbers holds those
	// of one number, as scalars.
	drawn   map[ir.ID]bool
	numbers map[ir.ID]ir.ID
}

// fusable reports an elementwise operator with a dense result of known shape.
func (f *fusion) fusable(id ir.ID) bool {
	t := f.g.Type(id)
	return nodes.ElementwiseOperator(&f.g.Nodes[id]) && t.IsDense() && t.Known() && t.Elem != types.Str && !f.g.Asks(id) // how it reads arguments depends on their shapes
}

// folds reports a reduction that a pipe may end with. It stays its own head: nothing joins a reader
// through it.
func (f *fusion) folds(id ir.ID) bool {
	n := &f.g.Nodes[id]
	return n.Op.Fold != op.NoFold && len(f.g.In(id)) == 1 && n.Attrs == nil && n.Region == nil
}

// member reports a node that may be in a group.
func (f *fusion) member(id ir.ID) bool { return f.fusable(id) || f.folds(id) }

// build copies the graph with every group of two or more, or with a transposed operand, as a map at
// the place of its last node.
func (f *fusion) build() *ir.Graph {
	g, c := f.g, nodes.CopyOf(f.g)
	f.out = c
	members := f.members(f.member)
	given := make([]bool, g.Len()) // by a group with another head
	for id := range g.All() {
		for _, s := range f.shared[id] {
			f.share(given, members[s.of], s)
		}
		if given[id] {
			continue
		}
		h := f.head[id]
		m := members[h]
		switch {
		case h != id && len(m) > 0: // comes with its head
		case f.points(id) && f.readsDrawn(id):
			f.parfor(id)
		case len(m) > 0 && (len(m) > 1 || f.fusable(id) && f.readsTransposed(id) || f.readsDrawn(id)):
			f.emit(m)
		default:
			c.Node(id)
		}
	}
	return c.G
}

// DropStored drops each `materialize` that has prevented fusion and would only copy a value that has
// other readers. It stays for the token of a send. Of a value without other readers it copies nothing,
// and it stays where it keeps a later pass from fusion: of a product, and beside reductions of rows
// unless a constructor makes the value.
func DropStored(g *ir.Graph) *ir.Graph {
	uses, rows := g.Uses(), reducesRows(g)
	return nodes.Changed(g, func(id ir.ID) bool {
		if g.Nodes[id].Op.Role != op.Stores || nodes.Sent(g, id) {
			return false
		}
		x := g.In(id)[0]
		return uses[x] != 1 || g.Nodes[x].Op.Shard.Kind != op.ShardContract && !(rows && len(g.In(x)) > 0)
	}, func(c *nodes.Copying, id ir.ID) { c.To[id] = c.In(id)[0] })
}

func (f *fusion) readsTransposed(id ir.ID) bool {
	return slices.ContainsFunc(f.g.In(id), func(x ir.ID) bool {
		return f.g.Nodes[x].Op.Shard.Kind == op.ShardTranspose && nodes.SameShape(f.g.Type(x), f.g.Type(id))
	})
}

// emit adds the map of a group, whose last member is its result, or the pipe of one whose last
// member reduces the one before.
func (f *fusion) emit(m []ir.ID) {
	last := m[len(m)-1]
	if f.folds(last) {
		f.pipe(m[:len(m)-1], f.g.In(last)[0], f.g.Nodes[last].Op.Name, f.g.Origin(last), last)
		return
	}
	r, modes, in := f.chain(m, last)
	f.out.Made(f.table, "map", op.MakeAttrs(op.Attr{Name: "modes", Val: modes}), r, in, f.told(m, f.g.Origin(last)), last)
}

// pipe adds a pipe of the chain m with the value x, whose reductions are these results.
func (f *fusion) pipe(m []ir.ID, x ir.ID, fold string, o ir.Origin, results ...ir.ID) {
	r, modes, in := f.chain(m, x)
	space := f.g.Type(x)
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: modes}, op.Attr{Name: "fold", Val: op.Str(fold)},
		op.Attr{Name: "rows", Val: op.Int(space.Rows)}, op.Attr{Name: "cols", Val: op.Int(space.Cols)})
	f.out.Made(f.table, "pipe", attrs, r, in, f.told(m, o), results...)
}

// told returns the origin of a node made of the members m: that of the member which may fail, else
// o.
func (f *fusion) told(m []ir.ID, o ir.Origin) ir.Origin {
	for _, x := range m {
		if f.divides(x) {
			return f.g.Origin(x)
		}
	}
	return o
}

// chain returns the members of a group with result value as a region, what it reads and how.
// Without members the region yields its one argument, value.
func (f *fusion) chain(m []ir.ID, value ir.ID) (r *ir.Region, how op.Val, in []ir.ID) {
	b := making{fusion: f, value: value, body: ir.New(), inner: map[ir.ID]ir.ID{}}
	b.arguments(m)
	for _, x := range m {
		b.operator(x)
	}
	return &ir.Region{Graph: b.body, Args: b.args, Yields: []ir.ID{b.inner[value]}}, op.Ints(b.modes...), b.in
}

// making is the region of a group under construction.
type making struct {
	*fusion
	value ir.ID // the result of the group
	body  *ir.Graph
	inner map[ir.ID]ir.ID // the inner node of every member and every outside value that is one number
	args  []ir.ID
	modes []int   // how each argument is read
	in    []ir.ID // what it is outside
}

// arguments makes arguments of what the members m read of others, or of the value if there are none.
// Constructors come behind them.
func (b *making) arguments(m []ir.ID) {
	known := nodes.SetOf(m)
	reads := []ir.ID{b.value}
	if len(m) > 0 {
		reads = nil
	}
	for _, x := range m {
		reads = append(reads, b.g.In(x)...)
	}
	var drawn []ir.ID
	for _, y := range reads {
		if known[y] {
			continue
		}
		if known[y] = true; b.drawn[y] {
			drawn = append(drawn, y)
		} else {
			b.argument(y)
		}
	}
	for _, y := range drawn {
		b.add(y, b.g.Nodes[y].Attrs)
	}
}

// argument makes an argument of y, which a member reads.
func (b *making) argument(y ir.ID) {
	g := b.g
	t, of, mode, src := g.Type(b.value), g.Type(y), op.Single, b.out.To[y]
	if c, constant := b.number(y, t); constant {
		src = c
	} else if mode = nodes.ModeOf(of, t); g.Nodes[y].Op.Shard.Kind == op.ShardTranspose && mode == op.Full && y != b.value {
		mode, src = op.Trans, b.out.To[g.In(y)[0]]
	}
	b.inner[y] = b.body.Add(b.table.Must("arg"), nil, types.ScalarOf(of.Elem), ir.Origin{})
	b.args, b.modes, b.in = append(b.args, b.inner[y]), append(b.modes, int(mode)), append(b.in, src)
}

// operator adds member x to the body.
func (b *making) operator(x ir.ID) {
	g := b.g
	args := make([]ir.ID, len(g.In(x)))
	for k, y := range g.In(x) {
		args[k] = b.inner[y]
	}
	b.add(x, nil, args...)
}

// add adds what is computed of an element of x, once: copies of a chain may be in one group (repeated).
func (b *making) add(x ir.ID, attrs *op.Attrs, args ...ir.ID) {
	n, t := &b.g.Nodes[x], types.ScalarOf(b.g.Type(x).Elem)
	for y := slices.Max(append(args, 0)); int(y) < b.body.Len(); y++ {
		if m := &b.body.Nodes[y]; m.Op == n.Op && m.Attrs.Equal(attrs) && b.body.Type(y).Equal(t) && slices.Equal(b.body.In(y), args) {
			b.inner[x] = y
			return
		}
	}
	b.inner[x] = b.body.Add(n.Op, attrs, t, ir.Origin{Span: n.Span}, args...)
}
