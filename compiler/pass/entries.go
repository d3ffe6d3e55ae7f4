package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
)

// AtEntries computes elementwise operators, of whose results sparse matrices take some, at their
// entries alone:
//
//	%3 = sub(%1, %2);  %4 = abs(%3);  %5 = sp.mul(%0, %4)   ->   %5 = sp.map(%0, %1, %2) { a * abs(b - c) }
//
// The dense matrix is not stored. The operators may read sparse matrices, and products of dense ones:
//
//	%3 = matmul(%1, %2);  %4 = sp.div(%0, %3)
//	->
//	%3 = sp.times(%0, %1, %2) {alone=1};  %4 = sp.map(%0, %3) { a / b }
//
// Several sparse matrices compute what they share again, if they have fewer entries together. Bits
// stay, since an element is computed as in the whole. Operators that may fail stay: at the entries
// alone they would fail later or not at all.
//
// A reduction of a chain on a sparse matrix and numbers reduces it at the entries, if it is zero at
// zero. Another chain is reduced with what it is at zero, which is computed once. alone says that no
// other rank has rows of a matrix; ranks share such a reduction of rows only.
//
//	%1 = sp.gt(%0, 0.1);  %2 = count(%1)   ->   %1 = sp.map(%0, 0.1) { a > b };  %2 = sp.count(%1)
//	%1 = sp.sub(%0, 1);  %2 = sum(%1)   ->   %1 = sp.map(%0, 1) { a - b };  %3 = sub(0, 1)
//	                                         %2 = sp.sum.beside(%1, %0, %3)
//
// For the least and the greatest float the entries of a chain are kept with their zeros: -0 is less
// than 0.
func AtEntries(g *ir.Graph, table *op.Table, alone bool) *ir.Graph {
	f := &entryChains{g: g, table: table, estimates: ir.NewEstimator(g), reduced: map[ir.ID]*zeroChain{}}
	for id := range g.All() {
		if z := f.reduction(id, alone); z != nil {
			f.reduced[id] = z
		}
	}
	taken, takers := f.takers()
	if len(f.reduced) == 0 && !slices.Contains(taken, true) {
		return g
	}
	f.c = nodes.CopyOf(g)
	within := func(x ir.ID) bool { return taken[x] }
	for id := range g.All() {
		switch k := slices.IndexFunc(g.In(id), within); {
		case taken[id]:
		case f.reduced[id] != nil:
			f.reduce(id, f.reduced[id])
		case takers[id] && k >= 0:
			k = slices.IndexFunc(g.In(id), func(x ir.ID) bool { return g.Type(x).IsSparse() })
			f.c.To[id] = f.write(id, g.In(id)[k], false, within)
		default:
			f.c.Node(id)
		}
	}
	return f.c.G
}

// entryChains finds and writes the chains of a graph that are computed at entries.
type entryChains struct {
	g         *ir.Graph
	table     *op.Table
	estimates *ir.Estimator
	c         *nodes.Copying
	reduced   map[ir.ID]*zeroChain // by reduction
}

const (
	// fewEntries is how many elements of a matrix there are at least for each entry at which a chain is
	// reduced.
	fewEntries = 4
	// slowerApart is how many times as long as in the whole product one of its elements takes alone.
	slowerApart = 16
	// mostOfChain is how deep a chain on numbers is at most.
	mostOfChain = 32
)

// elementwise returns the row for dense matrices of an elementwise operator, nil for other nodes.
func (f *entryChains) elementwise(id ir.ID) *op.Def {
	n, d := &f.g.Nodes[id], f.g.Nodes[id].Op
	if d.For != "" {
		d = f.table.Must(d.For)
	}
	if !d.Laws.Has(op.Elementwise|op.Pure) || d.Elt == nil || n.Region != nil || n.Attrs != nil {
		return nil
	}
	return d
}

// product reports a product of matrices, or one that is added to a matrix of its type.
func (f *entryChains) product(id ir.ID) bool {
	op, in := f.g.Nodes[id].Op, f.g.In(id)
	return op == f.table.Must("matmul") || op == f.table.Must("gemm") && f.g.Type(in[0]).IsDense() && f.g.Type(in[0]) == f.g.Type(id)
}

// takers returns which nodes sparse matrices take at their entries alone, and which nodes take some.
func (f *entryChains) takers() (taken, takers []bool) {
	g := f.g
	taken, takers = make([]bool, g.Len()), make([]bool, g.Len())
	apart, entries := make([]bool, g.Len()), make([]float64, g.Len()) // entries: at which readers compute a node
	for i := g.Len() - 1; i >= 0; i-- {
		id, t := ir.ID(i), g.Type(ir.ID(i))
		of, chain := f.product(id), f.elementwise(id) != nil
		if !apart[i] && entries[i] > 0 && t.IsDense() && t.Known() && (of || chain && !g.Asks(id)) {
			most := float64(t.Count())
			if of {
				most /= slowerApart
			}
			taken[i] = entries[i] <= most && !ir.MayFail(g, id)
		}
		if takers[i] = chain && f.takesEntries(id); takers[i] {
			entries[i] = max(1, f.estimates.Of(id).NNZ)
		}
		for _, x := range g.In(id) {
			switch {
			case f.reduced[id] != nil: // it has a chain of its own
			case (takers[i] || taken[i] && !of) && nodes.SameShape(g.Type(x), t) && nodes.SameSend(g, x, id):
				entries[x] += entries[i]
			default:
				apart[x] = true
			}
		}
	}
	return taken, takers
}

// takesEntries reports an elementwise operator whose result is zero where its one sparse operand is.
func (f *entryChains) takesEntries(id ir.ID) bool {
	t, sparse := f.g.Type(id), 0
	if !t.IsSparse() || !t.Known() {
		return false
	}
	for _, x := range f.g.In(id) {
		if f.g.Type(x).IsSparse() { // it has the shape of t: with a stretched one alone the result is dense
			sparse++
		}
	}
	return sparse == 1
}

// write adds the chain that makes node id at the entries of s, with the operators within it. zeros says
// whether zeros stay.
func (f *entryChains) write(id, s ir.ID, zeros bool, within func(ir.ID) bool) ir.ID {
	e := entryChain{entryChains: f, within: within, body: ir.New(), inner: map[ir.ID]ir.ID{}}
	e.operand(s, op.Full)
	r := &ir.Region{Yields: []ir.ID{e.operator(id)}, Graph: e.body, Args: e.args}
	t := f.g.Type(id)
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(e.modes...)})
	if zeros {
		attrs = attrs.With("zeros", op.Bool(true))
	}
	made := f.c.G.Add(f.table.Must("sp.map"), attrs, types.SparseOf(t.Elem, t.Rows, t.Cols), f.g.Origin(id), e.in...)
	f.c.G.Nodes[made].Region = r
	return made
}

// entryChain is a chain at the entries of a sparse matrix under construction.
type entryChain struct {
	*entryChains
	within func(ir.ID) bool // a node is computed at entries
	body   *ir.Graph
	inner  map[ir.ID]ir.ID // the inner nodes of outer ones
	args   []ir.ID
	modes  []int
	in     []ir.ID // what the arguments are outside: the sparse matrix, and others
}

// operator adds elementwise operator y to the body.
func (e *entryChain) operator(y ir.ID) ir.ID {
	var in []ir.ID
	for k, m := range nodes.ModesOf(e.g, y, e.g.Type(y)) {
		in = append(in, e.operand(e.g.In(y)[k], m))
	}
	n := &e.g.Nodes[y]
	e.inner[y] = e.body.Add(e.elementwise(y), nil, types.ScalarOf(e.g.Type(y).Elem), ir.Origin{Span: n.Span}, in...)
	return e.inner[y]
}

// operand returns the inner node of y. What differs from element to element is a list.
func (e *entryChain) operand(y ir.ID, mode op.Mode) ir.ID {
	if x, is := e.inner[y]; is {
		return x
	}
	if e.within(y) && !e.product(y) {
		return e.operator(y)
	}
	if mode != op.Single {
		mode = op.Full
	}
	outer, t := e.c.To[y], e.g.Type(y)
	if e.within(y) {
		outer = e.c.G.Add(e.table.Must("sp.times"), e.g.Nodes[y].Attrs.With("alone", op.Int(1)), types.SparseOf(t.Elem, t.Rows, t.Cols), e.g.Origin(y),
			append([]ir.ID{e.in[0]}, factorsFirst(e.c.In(y))...)...)
	}
	e.inner[y] = e.body.Add(e.table.Must("arg"), nil, types.ScalarOf(t.Elem), ir.Origin{})
	e.args, e.modes, e.in = append(e.args, e.inner[y]), append(e.modes, int(mode)), append(e.in, outer)
	return e.inner[y]
}

// factorsFirst returns the operands of a product with what it is added to behind its factors.
func factorsFirst(in []ir.ID) []ir.ID {
	n := len(in) - 2
	return append(slices.Clone(in[n:]), in[:n]...)
}

// zeroChain is a chain of elementwise operators on a sparse matrix and numbers.
type zeroChain struct {
	*entryChains
	s    ir.ID                  // the sparse matrix; ir.None: none yet
	at   map[ir.ID]value.Scalar // the value of a node where the matrix is zero
	open bool                   // it depends on a number of the run: at says nothing
	to   *op.Def                // the row that reduces the chain at entries
	zero map[ir.ID]ir.ID        // the new nodes of values where the matrix is zero

	zeros bool // those of the chain stay
}

// reduction returns the chain that node id reduces and that is reduced at entries, nil for other nodes.
func (f *entryChains) reduction(id ir.ID, alone bool) *zeroChain {
	g, n, in := f.g, &f.g.Nodes[id], f.g.In(id)
	if n.Op.Fold == op.NoFold || n.Op.Class == loop.NoClass || len(in) != 1 || n.Region != nil {
		return nil
	}
	x, t := in[0], g.Type(in[0])
	z := &zeroChain{entryChains: f, s: ir.None, at: map[ir.ID]value.Scalar{}, zero: map[ir.ID]ir.ID{}}
	if !t.IsDense() || !t.Known() || t.Count() == 0 || !z.node(x, t, 0) || z.s == ir.None || float64(t.Count()) < fewEntries*f.estimates.Of(z.s).NNZ {
		return nil
	}
	z.zeros = t.Elem.IsFloat() && (n.Op.Class == loop.Least || n.Op.Class == loop.Greatest)
	if v := z.at[x]; !z.open && !v.True() && !z.zeros {
		z.to = f.table.Named("sp." + n.Op.Name)
	} else if alone || n.Op.Fold == op.FoldRows {
		z.to = f.table.Named("sp." + n.Op.Name + ".beside")
	}
	if z.to == nil {
		return nil
	}
	return z
}

// node adds node x to a chain of that shape, or reports that it cannot be part of it.
func (z *zeroChain) node(x ir.ID, shape types.Type, depth int) bool {
	g, n, t := z.g, &z.g.Nodes[x], z.g.Type(x)
	if _, is := z.at[x]; is {
		return true
	}
	switch {
	case t.IsSparse():
		if z.s != ir.None || !nodes.SameShape(t, shape) || depth == 0 {
			return false
		}
		z.s, z.at[x] = x, value.Scalar{Elem: t.Elem}
		return true
	case nodes.IsNumber(t):
		z.at[x] = value.Scalar{Elem: t.Elem}
		if z.open = z.open || n.Op.Role != op.Constant; n.Op.Role == op.Constant {
			return z.define(x, n.Op, &op.Call{Def: n.Op, Attrs: n.Attrs, Type: t})
		}
		return true
	}
	d := z.elementwise(x)
	if d == nil || d.Body == nil || !t.IsDense() || !nodes.SameShape(t, shape) || nodes.Sent(g, x) || ir.MayFail(g, x) || depth == mostOfChain {
		return false
	}
	call := &op.Call{Def: d, Type: types.ScalarOf(t.Elem)}
	for _, y := range g.In(x) {
		if !z.node(y, shape, depth+1) {
			return false
		}
		call.In = append(call.In, z.at[y])
	}
	return z.define(x, d, call)
}

// define sets the value of node x where the matrix is zero.
func (z *zeroChain) define(x ir.ID, d *op.Def, c *op.Call) bool {
	v, err := d.Ref(c)
	number, is := v.(value.Scalar)
	z.at[x] = number
	return err == nil && is
}

// reduce adds reduction id of a chain at entries.
func (f *entryChains) reduce(id ir.ID, z *zeroChain) {
	g, x := f.g, f.g.In(id)[0]
	args := []ir.ID{f.write(x, z.s, z.zeros, func(y ir.ID) bool { _, is := z.at[y]; return is && g.Type(y).IsDense() })}
	if len(z.to.Args) > 1 {
		args = append(args, f.c.To[z.s], z.atZero(x, g.Origin(x).NoDest()))
	}
	f.c.To[id] = f.c.G.Add(z.to, g.Nodes[id].Attrs, g.Type(id), g.Origin(id), args...)
}

// atZero adds what node x is where the matrix is zero.
func (z *zeroChain) atZero(x ir.ID, o ir.Origin) ir.ID {
	t := z.g.Type(x)
	made, known := z.zero[x]
	switch {
	case known:
		return made
	case nodes.IsNumber(t):
		return z.c.To[x]
	case x == z.s:
		zero := op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(0)})
		switch t.Elem {
		case types.F32:
			zero = zero.With("elem", op.Str("f32"))
		case types.I64:
			zero = zero.With("value", op.Int(0))
		case types.Bool:
			zero = zero.With("value", op.Bool(false))
		}
		made = z.c.G.Add(z.table.Must("const"), zero, types.ScalarOf(t.Elem), o)
	default:
		var in []ir.ID
		for _, y := range z.g.In(x) {
			in = append(in, z.atZero(y, o))
		}
		made = z.c.G.Add(z.elementwise(x), nil, types.ScalarOf(t.Elem), o, in...)
	}
	z.zero[x] = made
	return made
}

// Represent makes a product of sparse matrices dense if it is estimated to be nearly full and only
// reductions and conversions read it:
//
//	%2 = sp.matmul(%0, %1) : sparse f64[n,m];  %3 = sp.rowmax(%2)   ->   %2 = sp.product(%0, %1) : f64[n,m];  %3 = rowmax(%2)
//
// No program can tell: what it names as sparse stays sparse, and both forms of a reduction mean the
// same, bit for bit. A dense product stores elements in place, without columns and without a
// counting pass. It would be wrong for readers that want a sparse argument, and on a mere guess.
func Represent(g *ir.Graph, table *op.Table) *ir.Graph {
	var out *ir.Graph
	var readers [][]ir.ID
	estimates := ir.NewEstimator(g)
	product := table.Must("sp.matmul")
	for i := range g.Nodes {
		p := ir.ID(i)
		if t := g.Type(p); g.Nodes[p].Op != product || !t.IsSparse() || !t.Known() || float64(t.Rows)*float64(t.Cols) > mostDense {
			continue
		}
		if readers == nil {
			readers = readersOf(g)
		}
		if !allOf(readers[p], func(r ir.ID) bool { return nodes.SameSend(g, p, r) && readsEither(g, table, r) }) || !worthDense(estimates.Of(p), g.Type(p)) {
			continue
		}
		if out == nil {
			out = g.Clone() // the program's definition must not change
		}
		out.Replace(p, table.Must("sp.product"), nil, g.In(p)...)
		t := g.Type(p)
		out.SetType(p, types.DenseOf(t.Elem, t.Rows, t.Cols))
		for _, r := range readers[p] {
			if d := onDense(g.Nodes[r].Op, table); d != nil {
				out.Replace(r, d, g.Nodes[r].Attrs, p)
			}
		}
	}
	if out == nil {
		return g
	}
	return out
}

// mostDense is the most elements of a product that is made dense. Estimating costs time too, and
// graphs of millions of vertices are never that full.
const mostDense = 1 << 30

// worthDense reports whether a matrix takes no more memory dense than sparse, by an estimate that
// is more than a guess or a bound.
func worthDense(e sparsity.Estimate, t types.Type) bool {
	sparse, dense := e, e
	sparse.Full, dense.Full = false, true
	stored := t.Elem.Size()
	if t.Elem == types.Bool {
		stored = 0
	}
	return e.Basis < sparsity.Bounded && dense.Bytes(t.Elem.Size(), stored) <= sparse.Bytes(t.Elem.Size(), stored)
}

// readsEither reports whether reader r has a row of the same meaning for dense matrices whose
// result has the same type. Reductions, dense(x), single elements and counts have one.
func readsEither(g *ir.Graph, table *op.Table, r ir.ID) bool {
	n, in := &g.Nodes[r], g.In(r)
	d := n.Op
	if d.For != "" {
		d = onDense(d, table)
	}
	if d == nil || len(in) != 1 || !d.Laws.Has(op.Pure) || d.Control != op.NoControl || g.Type(r).IsSparse() {
		return false
	}
	x := g.Type(in[0])
	t, err := d.Type(&op.Sig{Def: d, Attrs: n.Attrs, In: []types.Type{types.DenseOf(x.Elem, x.Rows, x.Cols)}})
	return err == nil && t == g.Type(r)
}

// onDense returns the row for dense matrices that means the same as row d for sparse ones; nil if there
// is none.
func onDense(d *op.Def, table *op.Table) *op.Def {
	if d.For == "" {
		return nil
	}
	return table.Named(d.For)
}

// readersOf lists the readers of every node.
func readersOf(g *ir.Graph) [][]ir.ID {
	out := make([][]ir.ID, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			out[x] = append(out[x], ir.ID(i))
		}
	}
	return out
}

func allOf(ids []ir.ID, f func(ir.ID) bool) bool {
	for _, id := range ids {
		if !f(id) {
			return false
		}
	}
	return len(ids) > 0
}
