package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Fuse makes one map of a chain of elementwise operators on matrices of one shape:
//
//	%3 = add(%1, %2);  %4 = sqrt(%3);  %5 = mul(%4, %0)
//	->  %5 = map(%1, %2, %0) { sqrt(a + b) * c }
//
// It goes over memory once instead of once an operator, and keeps every bit: the map
// computes the same operations on each element. A transpose read by the chain becomes
// a way of reading (mode Trans). An operator joins its reader only if that is its one
// reader: computing it twice could be cheaper, but storing it is never wrong. It would
// be wrong to fuse across a send: one `<-` is one task.
func Fuse(g *ir.Graph, table *op.Table) *ir.Graph {
	f := &fusion{g: g, uses: g.Uses(), head: make([]ir.ID, g.Len())}
	reader := make([]ir.ID, g.Len())
	for i := range g.Nodes {
		for _, in := range g.In(ir.ID(i)) {
			reader[in] = ir.ID(i)
		}
	}
	groups := false
	for i := g.Len() - 1; i >= 0; i-- {
		id := ir.ID(i)
		f.head[i] = id
		if !f.fusable(id) || f.uses[i] != 1 {
			continue
		}
		r := reader[i]
		if f.fusable(r) && sameShape(g.Type(id), g.Type(r)) && sameSend(g, id, r) {
			f.head[i] = f.head[r]
			groups = true
		}
	}
	trans := false
	for i := range g.Nodes {
		if f.fusable(ir.ID(i)) {
			for _, in := range g.In(ir.ID(i)) {
				trans = trans || g.Nodes[in].Op.Shard.Kind == op.ShardTranspose
			}
		}
	}
	if !groups && !trans {
		return g
	}
	return f.build(table)
}

type fusion struct {
	g    *ir.Graph
	uses []int32
	head []ir.ID // the last node of the group that a node is in
}

// fusable is an elementwise operator with a dense result of known shape.
func (f *fusion) fusable(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	if !n.Op.Laws.Has(op.Elementwise) || !t.IsDense() || !t.Known() || n.Region != nil || n.Attrs != nil || t.Elem == types.Str {
		return false
	}
	return n.Op.Elt != nil
}

func sameShape(a, b types.Type) bool { return a.Rows == b.Rows && a.Cols == b.Cols }

// sameSend reports that two nodes belong to one send, or to none.
func sameSend(g *ir.Graph, a, b ir.ID) bool {
	ga, va, ia, oka := g.Dest(a)
	gb, vb, ib, okb := g.Dest(b)
	if oka != okb {
		return false
	}
	if !oka {
		return true
	}
	for k := range ia {
		if len(ib) != len(ia) || ia[k] != ib[k] {
			return false
		}
	}
	return ga == gb && va == vb
}

// build copies the graph with every group of two or more, or with a transposed
// operand, as a map at the place of its last node.
func (f *fusion) build(table *op.Table) *ir.Graph {
	g := f.g
	out := ir.New()
	out.CopyTables(g)
	to := make([]ir.ID, g.Len())
	members := map[ir.ID][]ir.ID{}
	for i := range g.Nodes {
		if f.fusable(ir.ID(i)) {
			h := f.head[i]
			members[h] = append(members[h], ir.ID(i))
		}
	}
	var in []ir.ID
	for i := range g.Nodes {
		id := ir.ID(i)
		if m := members[f.head[i]]; len(m) > 0 {
			if f.head[i] != id {
				to[i] = ir.None
				continue
			}
			if len(m) > 1 || f.readsTransposed(id) {
				to[i] = f.emit(out, table, to, m)
				continue
			}
		}
		in = in[:0]
		for _, x := range g.In(id) {
			in = append(in, to[x])
		}
		to[i] = out.CopyNode(g, id, in...)
	}
	return out
}

func (f *fusion) readsTransposed(id ir.ID) bool {
	for _, in := range f.g.In(id) {
		if f.g.Nodes[in].Op.Shard.Kind == op.ShardTranspose && sameShape(f.g.Type(in), f.g.Type(id)) {
			return true
		}
	}
	return false
}

// emit adds the map of a group, whose last member is its result.
func (f *fusion) emit(out *ir.Graph, table *op.Table, to []ir.ID, m []ir.ID) ir.ID {
	g := f.g
	last := m[len(m)-1]
	t := g.Type(last)
	body := ir.New()
	r := &ir.Region{Graph: body}
	inner := map[ir.ID]ir.ID{}
	var in []ir.ID
	var modes []int
	inGroup := map[ir.ID]bool{}
	for _, x := range m {
		inGroup[x] = true
	}
	arg := table.Must("arg")
	for _, x := range m { // arguments first, so that they are the first nodes of the body
		for _, y := range g.In(x) {
			if _, ok := inner[y]; ok || inGroup[y] {
				continue
			}
			inner[y] = body.Add(arg, nil, types.ScalarOf(g.Type(y).Elem), ir.Origin{})
			r.Args = append(r.Args, inner[y])
			mode, src := modeOf(g.Type(y), t), y
			if g.Nodes[y].Op.Shard.Kind == op.ShardTranspose && mode == op.Full {
				mode, src = op.Trans, g.In(y)[0]
			}
			modes = append(modes, int(mode))
			in = append(in, to[src])
		}
	}
	for _, x := range m {
		var args []ir.ID
		for _, y := range g.In(x) {
			args = append(args, inner[y])
		}
		inner[x] = body.Add(g.Nodes[x].Op, nil, types.ScalarOf(g.Type(x).Elem), ir.Origin{Span: g.Nodes[x].Span}, args...)
	}
	r.Yields = []ir.ID{inner[last]}
	id := out.Add(table.Must("map"), op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(modes...)}), t, g.Origin(last), in...)
	out.Nodes[id].Region = r
	return id
}
