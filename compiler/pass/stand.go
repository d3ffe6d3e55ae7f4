package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file turns what is shared out by rows: matrices of one row that loops carry, and left factors of
// products that are read by columns. The bits stay, because the elements are the same.

// Stands reports whether rows of g or its regions should be columns. Where ranks share rows, each is
// worth it. In one process only the product of a row and a large matrix is: its loop makes a column.
func Stands(g *ir.Graph, shared bool, sizes Sizes) bool {
	for g, id := range nodesIn(g, isControl) {
		if lies(g.Type(id)) {
			f, ok := factors(g, id)
			if shared || ok && dividable(g.Type(f[1])) && g.Type(f[1]).Count() >= largeFactor*sizes.filled().Block {
				return true
			}
		}
	}
	return false
}

// largeFactor is how many blocks a matrix has whose product by a column several workers share.
const largeFactor = 4

func lies(t types.Type) bool { return t.IsDense() && t.Rows == 1 && t.Cols > 1 }

// StandCarried makes columns of the rows that loops carry, where a round makes them as transposes of
// columns:
//
//	%1 = iterate(%0) (%x) { .. yield t(%y) }   ->   %2 = iterate(t(%0)) (%x) { .. t(%x) .. yield %y };  %1 = t(%2)
//
// It returns g if there is no such loop.
func StandCarried(g *ir.Graph, table *op.Table) *ir.Graph {
	t, stood, c := table.Must("t"), map[ir.ID][]bool{}, copyOf(g)
	for id, n := range g.All() {
		switch n.Op.Control {
		case op.Iterate:
			if rows := rowsCarried(t, n); slices.Contains(rows, true) {
				stood[id] = rows
				c.standing(t, id, rows)
				continue
			}
		case op.Part:
			loop, k := g.In(id)[0], n.Attrs.Int("at")
			if rows := stood[loop]; k < len(rows) && rows[k] {
				c.to[id] = turned(c.g, t, c.g.Add(n.Op, n.Attrs, transposed(g.Type(id)), g.Origin(id), c.to[loop]))
				continue
			}
		}
		c.node(id)
	}
	if len(stood) == 0 {
		return g
	}
	return c.g
}

// rowsCarried reports which values a loop carries as rows that a round makes as transposes of columns.
func rowsCarried(t *op.Def, n *ir.Node) []bool {
	out, body := make([]bool, n.Carried()), n.Region.Graph
	for k, y := range n.Region.Yields[:len(out)] {
		out[k] = lies(body.Type(y)) && body.Nodes[y].Op == t
	}
	return out
}

// standing copies loop id, which carries columns in place of these rows.
func (c *copying) standing(t *op.Def, id ir.ID, rows []bool) {
	n, in, list := &c.old.Nodes[id], c.in(id), []types.Type(nil)
	for k, f := range c.old.Results(id) {
		of := f.Type
		if k < len(rows) && rows[k] {
			in[k], of = column(c.g, t, in[k]), transposed(of)
		}
		list = append(list, of)
	}
	c.to[id] = c.g.Add(n.Op, n.Attrs, types.TupleOf(list...), c.old.Origin(id), in...)
	c.g.Nodes[c.to[id]].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
		b, args := copyOf(r.Graph), make([]ir.ID, len(rows))
		for id, a := range r.Graph.All() {
			k := slices.Index(r.Args[:len(rows)], id)
			if k < 0 || !rows[k] {
				b.node(id)
				continue
			}
			args[k] = b.g.Add(a.Op, nil, transposed(r.Graph.Type(id)), r.Graph.Origin(id))
			b.to[id] = turned(b.g, t, args[k])
		}
		out := b.region(r)
		for k, a := range args {
			if !rows[k] {
				continue
			}
			if out.Args[k] = a; r == n.Region { // others yield a condition
				out.Yields[k] = column(b.g, t, out.Yields[k])
			}
		}
		return out
	})
}

// column returns a row of a graph as a column.
func column(g *ir.Graph, t *op.Def, row ir.ID) ir.ID {
	if g.Nodes[row].Op == t {
		return g.In(row)[0]
	}
	return turned(g, t, row)
}

// TurnCaptured transposes left factors that a product with a column reads by columns, if they are the
// same in all rounds of a loop:
//
//	iterate(.., %1) (.., %a) { %3 = matmul(%a, %x) {ta} .. }   ->   { %2 = t(%a);  %3 = matmul(%2, %x) .. }
//
// Hoist moves the transpose in front of the loop. Ranks share the rows of the new product. Of the old
// one they would add the terms one rank after the other. A product in panels is shared as it is. It
// would be wrong for a right factor of several columns, as layers of a network have: all ranks would
// get all of it in each round, and a fast kernel takes less time to multiply than messages take. For
// 8000 rows and 64 columns three ranks would send 1.3 GiB in 80 rounds instead of 25 MiB, in 2.3 times
// the processor time. Nothing is gained if the loop has only a few rounds, since ranks send each other
// the elements of the transpose once. It returns g if there is no such product.
func TurnCaptured(g *ir.Graph, table *op.Table, ranks int, sizes Sizes) *ir.Graph {
	t, out := table.Must("t"), g
	gains := func(a, b, product types.Type) bool { // others' work over the messages of the right factor
		work := float64(a.Count()) * float64(ranks-1) / float64(ranks)
		return product.Cols == 1 && dividable(a) && dividable(b) && a.Cols >= ranks && work >= float64(sizes.filled().Spread)*(gatherSpreads+float64(b.Bytes())/bytesSpread)
	}
	for id, n := range g.All() {
		if n.Op.Control != op.Iterate {
			continue
		}
		body := productsByRows(t, n.Region, n.Region.Args[n.Carried():], gains)
		if body == nil {
			continue
		}
		if out == g {
			out = g.Clone()
		}
		body.Next = n.Region.Next
		out.Nodes[id].Region = body
	}
	return out
}

// productsByRows copies r with products that read rows of transposes of captured arguments, where
// gains says that it pays for factors and a product of these types. It returns nil if there are
// none.
func productsByRows(t *op.Def, r *ir.Region, captured []ir.ID, gains func(a, b, product types.Type) bool) *ir.Region {
	b, flags, made := copyOf(r.Graph), newFlagSets(), map[ir.ID]ir.ID{}
	for id, n := range r.Graph.All() {
		f, ok := factors(r.Graph, id)
		if !ok || !n.Attrs.Bool("ta") || !slices.Contains(captured, f[0]) || slices.Contains(captured, f[1]) ||
			!gains(r.Graph.Type(f[0]), r.Graph.Type(f[1]), r.Graph.Type(id)) {
			b.node(id)
			continue
		}
		if _, ok := made[f[0]]; !ok {
			made[f[0]] = turned(b.g, t, b.to[f[0]])
		}
		in := b.in(id)
		in[len(in)-2] = made[f[0]]
		b.to[id] = b.g.CopyNode(r.Graph, id, in...)
		b.g.Nodes[b.to[id]].Attrs = flags.flip(n.Attrs, 1)
	}
	if len(made) == 0 {
		return nil
	}
	return b.region(r)
}

// turned adds the transpose of a node to its graph.
func turned(g *ir.Graph, t *op.Def, id ir.ID) ir.ID {
	return g.Add(t, nil, transposed(g.Type(id)), g.Origin(id).NoDest(), id)
}

// transposed returns the type of the transpose.
func transposed(t types.Type) types.Type {
	t.Rows, t.Cols = t.Cols, t.Rows
	return t
}
