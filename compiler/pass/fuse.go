package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Fuse makes one map of a chain of elementwise operators on matrices of one shape, and
// one pipe of a chain and the reduction that reads it:
//
//	%3 = add(%1, %2);  %4 = sqrt(%3);  %5 = mul(%4, %0)
//	->  %5 = map(%1, %2, %0) { sqrt(a + b) * c }
//	%6 = sum(%5)
//	->  %6 = pipe(%1, %2, %0) {fold="sum"} { sqrt(a + b) * c }
//
// It goes over memory once instead of once an operator, and keeps every bit: the map
// computes the same operations on each element, and a reduction that may end a pipe has
// the same bits in any order. A transpose read by the chain becomes a way of reading
// (mode Trans). It would be wrong to fuse across a send: one `<-` is one task.
//
// An operator joins its reader if that is its one reader. A chain that several reductions
// read, and nobody else, is computed once for each of them where that moves fewer bytes
// than storing it and costs little arithmetic (recomputed). Everything else is stored,
// which is never wrong; `materialize` asks for it.
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
		if (f.fusable(r) && sameShape(g.Type(id), g.Type(r)) || f.folds(r) && g.Type(id).Count() != 1) && sameSend(g, id, r) {
			f.head[i] = f.head[r]
			groups = true
		}
	}
	f.again = f.recomputed()
	groups = groups || len(f.again) > 0
	trans := false
	for i := range g.Nodes {
		if f.fusable(ir.ID(i)) {
			for _, in := range g.In(ir.ID(i)) {
				trans = trans || g.Nodes[in].Op.Shard.Kind == op.ShardTranspose
			}
		}
	}
	for i := range g.Nodes {
		groups = groups || f.stored(ir.ID(i))
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
	// again holds the reductions of chains that are computed for each of them.
	again map[ir.ID]bool
}

// fusable is an elementwise operator with a dense result of known shape.
func (f *fusion) fusable(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	if !n.Op.Laws.Has(op.Elementwise) || !t.IsDense() || !t.Known() || n.Region != nil || n.Attrs != nil || t.Elem == types.Str {
		return false
	}
	return n.Op.Elt != nil && !f.g.Asks(id) // how a chain reads an argument follows from its shape
}

// folds is a reduction that a pipe may end with. Its own head it stays: nothing joins a
// reader through it.
func (f *fusion) folds(id ir.ID) bool {
	n := &f.g.Nodes[id]
	return n.Op.Fold != op.NoFold && len(f.g.In(id)) == 1 && n.Attrs == nil && n.Region == nil
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
		if f.fusable(ir.ID(i)) || f.folds(ir.ID(i)) {
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
			if f.again[id] { // its own computation of the chain that it reads
				m = append(append([]ir.ID(nil), members[g.In(id)[0]]...), id)
			}
			if len(m) > 1 || f.fusable(id) && f.readsTransposed(id) {
				to[i] = f.emit(out, table, to, m)
				continue
			}
		}
		if f.stored(id) {
			to[i] = to[g.In(id)[0]]
			continue
		}
		in = in[:0]
		for _, x := range g.In(id) {
			in = append(in, to[x])
		}
		to[i] = out.CopyNode(g, id, in...)
	}
	return out
}

// stored is a `materialize`, which has done its work once nothing was fused across it: left in, it would copy what has
// other readers. The token of a send keeps it.
func (f *fusion) stored(id ir.ID) bool {
	_, _, _, sent := f.g.Dest(id)
	return f.g.Nodes[id].Op.Name == "materialize" && !sent
}

func (f *fusion) readsTransposed(id ir.ID) bool {
	for _, in := range f.g.In(id) {
		if f.g.Nodes[in].Op.Shard.Kind == op.ShardTranspose && sameShape(f.g.Type(in), f.g.Type(id)) {
			return true
		}
	}
	return false
}

// emit adds the map of a group, whose last member is its result, or the pipe of one
// whose last member reduces the one before.
func (f *fusion) emit(out *ir.Graph, table *op.Table, to []ir.ID, m []ir.ID) ir.ID {
	g := f.g
	last := m[len(m)-1]
	name, value := "map", last
	if f.folds(last) {
		name, m = "pipe", m[:len(m)-1]
		value = g.In(last)[0]
	}
	t := g.Type(value)
	b := making{g: ir.New(), inner: map[ir.ID]ir.ID{}}
	r := &ir.Region{Graph: b.g}
	var in []ir.ID
	var modes []int
	inGroup := map[ir.ID]bool{}
	for _, x := range m {
		inGroup[x] = true
	}
	arg := table.Must("arg")
	for _, x := range m { // arguments first, so that they are the first nodes of the body
		for _, y := range f.reads(x) {
			if _, ok := b.inner[y]; ok || inGroup[y] {
				continue
			}
			b.inner[y] = b.g.Add(arg, nil, types.ScalarOf(g.Type(y).Elem), ir.Origin{})
			r.Args = append(r.Args, b.inner[y])
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
		for _, y := range f.reads(x) {
			args = append(args, b.inner[y])
		}
		d := g.Nodes[x].Op
		if f.square(x) {
			d, args = table.Must("mul"), []ir.ID{args[0], args[0]}
		}
		b.inner[x] = b.g.Add(d, nil, types.ScalarOf(g.Type(x).Elem), ir.Origin{Span: g.Nodes[x].Span}, args...)
	}
	r.Yields = []ir.ID{b.inner[value]}
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(modes...)})
	if name == "pipe" {
		attrs = attrs.With("fold", op.Str(g.Nodes[last].Op.Name)).With("rows", op.Int(t.Rows)).With("cols", op.Int(t.Cols))
	}
	id := out.Add(table.Must(name), attrs, g.Type(last), g.Origin(last), in...)
	out.Nodes[id].Region = r
	return id
}

// making is the region of a group in the making.
type making struct {
	g     *ir.Graph
	inner map[ir.ID]ir.ID // of every member and every value from outside
}
