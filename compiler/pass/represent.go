package pass

import (
	"math"
	"slices"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
)

// Represent makes a product of sparse matrices dense if it is estimated to be nearly full and only
// reductions and conversions read it:
//
//	%2 = sp.matmul(%0, %1) : sparse f64[n,m];  %3 = sp.rowmax(%2)   ->   %2 = sp.product(%0, %1) : f64[n,m];  %3 = rowmax(%2)
//
// No program can tell: what it names as sparse stays sparse, and both forms of a reduction mean the
// same, bit for bit. A dense product stores elements in place, without columns and without a
// counting pass. It would be wrong for readers that want a sparse argument, and on a mere guess.
//
// alone says that no other rank has rows of a matrix.
func Represent(g *ir.Graph, table *op.Table, alone bool) *ir.Graph {
	g = reduceEntries(g, table, alone)
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
		if !allOf(readers[p], func(r ir.ID) bool { return sameSend(g, p, r) && readsEither(g, table, r) }) || !worthDense(estimates.Of(p), g.Type(p)) {
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

// readsEither reports whether reader r has a row of the same meaning for dense matrices whose result has
// the same type. Reductions, dense(x), single elements and counts have one.
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

// reduceEntries reduces a chain of elementwise operators on a sparse matrix and numbers at the entries
// of the matrix, where the chain is zero at zero. If alone is set, all elements of another are reduced
// with what it is at zero, which is computed once:
//
//	%1 = sp.gt(%0, 0.1);  %2 = count(%1)   ->   %1 = sp.map(%0, 0.1) { a > b };  %2 = sp.count(%1)
//	%1 = sp.sub(%0, 1);  %2 = sum(%1)   ->   %1 = sp.map(%0, 1) { a - b };  %3 = sub(0, 1)
//	                                         %2 = sp.sum.beside(%1, %0, %3)
//
// The dense matrix is not made for the reduction. Bits stay: sums are exact, so a number may be added
// often in one step. It would be wrong for the least and the greatest float, and for a chain that is -0
// at zero: a sparse matrix keeps no -0. The chain must not fail: a zero may be what fails.
func reduceEntries(g *ir.Graph, table *op.Table, alone bool) *ir.Graph {
	var c *copying
	estimates := ir.NewEstimator(g)
	for i := range g.Nodes {
		id := ir.ID(i)
		n, in := &g.Nodes[i], g.In(id)
		var r *zeroChain
		if n.Op.Fold != op.NoFold && n.Op.Class != loop.NoClass && len(in) == 1 && n.Region == nil {
			r = chainOnEntries(g, table, in[0])
		}
		var to *op.Def
		if r != nil && float64(g.Type(r.s).Count()) >= fewEntries*estimates.Of(r.s).NNZ &&
			!(g.Type(in[0]).Elem.IsFloat() && (n.Op.Class == loop.Least || n.Op.Class == loop.Greatest)) {
			if v := r.at[in[0]]; !r.open && !v.True() && !math.Signbit(v.Float()) {
				to = table.Named("sp." + n.Op.Name)
			} else if alone {
				to = table.Named("sp." + n.Op.Name + ".beside")
			}
		}
		if to == nil {
			if c != nil {
				c.node(id)
			}
			continue
		}
		if c == nil {
			c = copyBefore(g, i)
		}
		t, o := g.Type(in[0]), g.Origin(in[0])
		entries := c.g.Add(table.Must("sp.map"), op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(r.modes...)}), types.SparseOf(t.Elem, t.Rows, t.Cols), o,
			through(c.to, r.in)...)
		c.g.Nodes[entries].Region = &ir.Region{Graph: r.body, Args: r.args, Yields: []ir.ID{r.inner[in[0]]}}
		args := []ir.ID{entries}
		if len(to.Args) > 1 {
			args = append(args, c.to[r.s], r.atZero(c, r.inner[in[0]], o.NoDest()))
		}
		c.to[i] = c.g.Add(to, n.Attrs, g.Type(id), g.Origin(id), args...)
	}
	if c == nil {
		return g
	}
	return c.g
}

// fewEntries is how many elements of a matrix there are at least for each entry at which a chain is
// computed.
const fewEntries = 4

// zeroChain is a chain of elementwise operators on a sparse matrix and numbers as the body of a loop over
// entries.
type zeroChain struct {
	g     *ir.Graph
	table *op.Table
	shape types.Type
	s     ir.ID // the sparse matrix; ir.None: none yet
	body  *ir.Graph
	args  []ir.ID
	in    []ir.ID // what the arguments are in g
	modes []int
	inner map[ir.ID]ir.ID
	at    map[ir.ID]value.Scalar // the value of a node where the matrix is zero
	open  bool                   // it depends on a number of the run: at says nothing
}

// chainOnEntries returns the chain that makes x, a dense matrix; nil: x is made in another way.
func chainOnEntries(g *ir.Graph, table *op.Table, x ir.ID) *zeroChain {
	t := g.Type(x)
	if !t.IsDense() || !t.Known() || t.Count() == 0 {
		return nil
	}
	r := &zeroChain{g: g, table: table, shape: t, s: ir.None, body: ir.New(), inner: map[ir.ID]ir.ID{}, at: map[ir.ID]value.Scalar{}}
	r.modes, r.args, r.in = []int{int(op.Full)}, []ir.ID{0}, []ir.ID{ir.None}
	r.body.Add(table.Must("arg"), nil, types.ScalarOf(t.Elem), ir.Origin{}) // its type follows
	if !r.node(x, 0) || r.s == ir.None {
		return nil
	}
	r.body.SetType(0, types.ScalarOf(g.Type(r.s).Elem))
	r.in[0] = r.s
	return r
}

// number makes scalar x an argument, with its value or a 0.
func (r *zeroChain) number(x ir.ID, v value.Scalar) {
	r.inner[x], r.at[x] = r.body.Add(r.table.Must("arg"), nil, r.g.Type(x), ir.Origin{}), v
	r.args, r.in, r.modes = append(r.args, r.inner[x]), append(r.in, x), append(r.modes, int(op.Single))
}

// atZero adds node x of the body to c for a matrix that is zero.
func (r *zeroChain) atZero(c *copying, x ir.ID, o ir.Origin) ir.ID {
	n, t := &r.body.Nodes[x], r.body.Type(x)
	switch k := slices.Index(r.args, x); {
	case k > 0:
		return c.to[r.in[k]]
	case k == 0:
		zero := op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(0)})
		switch t.Elem {
		case types.F32:
			zero = zero.With("elem", op.Str("f32"))
		case types.I64:
			zero = zero.With("value", op.Int(0))
		case types.Bool:
			zero = zero.With("value", op.Bool(false))
		}
		return c.g.Add(r.table.Must("const"), zero, t, o)
	}
	var in []ir.ID
	for _, y := range r.body.In(x) {
		in = append(in, r.atZero(c, y, o))
	}
	return c.g.Add(n.Op, n.Attrs, t, o, in...)
}

// mostOfChain is how deep a chain is at most.
const mostOfChain = 32

// node adds node x to the body, or reports that it cannot be part of the chain.
func (r *zeroChain) node(x ir.ID, depth int) bool {
	if _, is := r.inner[x]; is {
		return true
	}
	g, n, t := r.g, &r.g.Nodes[x], r.g.Type(x)
	switch {
	case t.IsSparse():
		if r.s != ir.None || !sameShape(t, r.shape) || depth == 0 {
			return false
		}
		r.s, r.inner[x], r.at[x] = x, 0, value.Scalar{Elem: t.Elem}
		return true
	case n.Op.Role == op.Constant && isNumber(t):
		v, err := n.Op.Ref(&op.Call{Def: n.Op, Attrs: n.Attrs, Type: t})
		number, is := v.(value.Scalar)
		if err != nil || !is {
			return false
		}
		r.number(x, number)
		return true
	case isNumber(t):
		r.open = true
		r.number(x, value.Scalar{Elem: t.Elem})
		return true
	}
	d := n.Op
	if d.For != "" {
		d = r.table.Must(d.For)
	}
	if !d.Laws.Has(op.Elementwise|op.Pure) || d.Elt == nil || d.Body == nil || n.Region != nil || !t.IsDense() || !sameShape(t, r.shape) || sent(g, x) || ir.MayFail(g, x) || depth == mostOfChain {
		return false
	}
	call := &op.Call{Def: d, Attrs: n.Attrs, Type: types.ScalarOf(t.Elem)}
	var in []ir.ID
	for _, y := range g.In(x) {
		if !r.node(y, depth+1) {
			return false
		}
		in, call.In = append(in, r.inner[y]), append(call.In, r.at[y])
	}
	v, err := d.Ref(call)
	number, is := v.(value.Scalar)
	if err != nil || !is {
		return false
	}
	r.at[x] = number
	r.inner[x] = r.body.Add(d, n.Attrs, types.ScalarOf(t.Elem), ir.Origin{Span: n.Span}, in...)
	return true
}
