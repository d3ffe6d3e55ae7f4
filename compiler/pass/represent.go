package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
)

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
