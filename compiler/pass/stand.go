package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file turns what is shared out by rows: matrices of one row that loops carry, and left factors of
// products that are read by columns. The bits stay, because the elements are the same.

// Stands reports whether rows of g or its regions should be columns. Where ranks share rows, each is worth
// it. In one process only the product of a row and a large matrix is: its loop makes a column.
func Stands(g *ir.Graph, shared bool, sizes Sizes) bool {
	for id, n := range g.All() {
		if lies(g.Type(id)) {
			f, ok := factors(g, id)
			if shared || ok && dividable(g.Type(f[1])) && g.Type(f[1]).Count() >= largeFactor*sizes.filled().Block {
				return true
			}
		}
		for r := n.Region; r != nil && isControl(n); r = r.Next {
			if Stands(r.Graph, shared, sizes) {
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
	s := &standing{copying: copyOf(g), t: table.Must("t"), stood: map[ir.ID][]bool{}}
	for id, n := range g.All() {
		if n.Op.Control == op.Iterate {
			if stand := s.stands(n); slices.Contains(stand, true) {
				s.loop(id, stand)
				continue
			}
		}
		s.node(id)
		if n.Op.Control != op.Part {
			continue
		}
		if stand, at := s.stood[g.In(id)[0]], n.Attrs.Int("at"); at < len(stand) && stand[at] {
			s.g.SetType(s.to[id], transposed(g.Type(id)))
			s.to[id] = s.turned(s.g, s.to[id])
		}
	}
	if len(s.stood) == 0 {
		return g
	}
	return s.g
}

type standing struct {
	*copying
	t     *op.Def
	stood map[ir.ID][]bool // of an old loop: which carried values are columns now
}

// stands says which of the values that a loop carries can be columns.
func (s *standing) stands(n *ir.Node) []bool {
	stand, body := make([]bool, n.Carried()), n.Region
	for k, y := range body.Yields[:len(stand)] {
		stand[k] = lies(body.Graph.Type(y)) && body.Graph.Nodes[y].Op == s.t
	}
	return stand
}

// loop copies a loop. Of the values that it carries, those of stand become columns.
func (s *standing) loop(id ir.ID, stand []bool) {
	n, in, results := &s.old.Nodes[id], s.in(id), s.old.Results(id)
	ts := make([]types.Type, len(results))
	for k, f := range results {
		if ts[k] = f.Type; k < len(stand) && stand[k] {
			ts[k], in[k] = transposed(f.Type), s.turned(s.g, in[k])
		}
	}
	s.to[id] = s.g.Add(n.Op, n.Attrs, types.TupleOf(ts...), s.old.Origin(id), in...)
	s.g.Nodes[s.to[id]].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region { return s.region(r, stand, r == n.Region) })
	s.stood[id] = stand
}

// region copies the body of a loop, or its condition, for arguments that are columns now.
func (s *standing) region(r *ir.Region, stand []bool, body bool) *ir.Region {
	b := copyOf(r.Graph)
	args := make([]ir.ID, len(r.Args))
	for id := range r.Graph.All() {
		b.node(id)
		k := slices.Index(r.Args, id)
		if k < 0 {
			continue
		}
		if args[k] = b.to[id]; k < len(stand) && stand[k] {
			b.g.SetType(b.to[id], transposed(r.Graph.Type(id)))
			b.to[id] = s.turned(b.g, b.to[id])
		}
	}
	yields := through(b.to, r.Yields)
	for k := range yields {
		if body && k < len(stand) && stand[k] {
			yields[k] = b.g.In(yields[k])[0]
		}
	}
	return &ir.Region{Graph: b.g, Args: args, Yields: yields}
}

// TurnCaptured transposes left factors that a product reads by columns, if they are the same in all rounds
// of a loop:
//
//	iterate(.., %1) (.., %a) { %3 = matmul(%a, %x) {ta} .. }   ->   { %2 = t(%a);  %3 = matmul(%2, %x) .. }
//
// Hoist moves the transpose in front of the loop. Ranks share the rows of the new product. Of the old one
// they would add the terms one rank after the other. A product in panels is shared as it is. Nothing is
// gained if the loop has only a few rounds, since ranks send each other the elements of the transpose
// once. It returns g if there is no such product.
func TurnCaptured(g *ir.Graph, table *op.Table, ranks int, sizes Sizes) *ir.Graph {
	s, out := &standing{t: table.Must("t")}, g
	gains := func(a, b, product types.Type) bool { // others' work over the messages of the right factor
		work := float64(a.Count()) * float64(product.Cols) * float64(ranks-1) / float64(ranks)
		return dividable(a) && dividable(b) && a.Cols >= ranks && work >= float64(sizes.filled().Spread)*(gatherSpreads+float64(b.Bytes())/bytesSpread)
	}
	for id, n := range g.All() {
		if n.Op.Control != op.Iterate {
			continue
		}
		body := s.byRows(n.Region, n.Region.Args[n.Carried():], gains)
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

// byRows copies r with products that read rows of transposes of captured arguments, where gains says that
// it pays for factors and a product of these types. It returns nil if there are none.
func (s *standing) byRows(r *ir.Region, captured []ir.ID, gains func(a, b, product types.Type) bool) *ir.Region {
	b, flags, turned := copyOf(r.Graph), newFlagSets(), map[ir.ID]ir.ID{}
	for id, n := range r.Graph.All() {
		f, ok := factors(r.Graph, id)
		if !ok || !n.Attrs.Bool("ta") || !slices.Contains(captured, f[0]) || slices.Contains(captured, f[1]) ||
			!gains(r.Graph.Type(f[0]), r.Graph.Type(f[1]), r.Graph.Type(id)) {
			b.node(id)
			continue
		}
		if _, ok := turned[f[0]]; !ok {
			turned[f[0]] = s.turned(b.g, b.to[f[0]])
		}
		in := b.in(id)
		in[len(in)-2] = turned[f[0]]
		b.to[id] = b.g.CopyNode(r.Graph, id, in...)
		b.g.Nodes[b.to[id]].Attrs = flags.flip(n.Attrs, 1)
	}
	if len(turned) == 0 {
		return nil
	}
	return b.region(r)
}

// turned adds the transpose of a node to its graph.
func (s *standing) turned(g *ir.Graph, id ir.ID) ir.ID {
	return g.Add(s.t, nil, transposed(g.Type(id)), g.Origin(id).NoDest(), id)
}

// transposed returns the type of the transpose.
func transposed(t types.Type) types.Type {
	t.Rows, t.Cols = t.Cols, t.Rows
	return t
}
