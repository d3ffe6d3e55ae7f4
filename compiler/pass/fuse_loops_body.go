package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of FuseLoops that makes the new bodies.

// loopBody is a body under construction.
type loopBody struct {
	f         *looping
	l         *absorber
	old       *ir.Region
	body      *ir.Graph
	inputs    []ir.ID         // outside
	args      map[ir.ID]ir.ID // what an input is inside
	indices   []ir.ID
	constants map[int64]ir.ID
	made      map[place]ir.ID
	region    *ir.Region
	taken     []int // the operators of the body that were outside
}

// place is an element of an outside value that the body computes: in a column, or its own.
type place struct {
	x   ir.ID
	col int64
}

func newLoopBody(f *looping, l *absorber) *loopBody {
	n := &f.g.Nodes[l.id]
	b := &loopBody{f: f, l: l, old: n.Region, body: ir.New(), args: map[ir.ID]ir.ID{}, constants: map[int64]ir.ID{}, made: map[place]ir.ID{}}
	b.body.CopyTables(n.Region.Graph)
	dims := len(n.Attrs.Ints("by"))
	for range dims {
		b.indices = append(b.indices, b.arg(types.ScalarOf(types.I64)))
	}
	for _, x := range f.g.In(l.id) { // arguments come first in the body
		if _, ok := l.before[x]; ok {
			b.needs(x)
		} else {
			b.input(x)
		}
	}
	for k, r := range l.after {
		for _, y := range f.g.In(r) {
			if !b.result(k, y) {
				b.needed(y, r)
			}
		}
	}
	scalars := map[ir.ID]ir.ID{} // of the old body: arguments that were matrices
	for k, x := range f.g.In(l.id) {
		if col, ok := l.before[x]; ok {
			scalars[n.Region.Args[dims+k]] = b.value(x, col)
		}
	}
	value := b.copyOld(scalars)
	for k, r := range l.after {
		var in []ir.ID
		for _, y := range f.g.In(r) {
			if b.result(k, y) {
				in = append(in, value)
			} else {
				in = append(in, b.value(y, b.ownColumn()))
			}
		}
		value = b.operator(r, in)
	}
	b.region = &ir.Region{Graph: b.body, Args: b.indices, Yields: []ir.ID{value}}
	for _, x := range b.inputs {
		b.region.Args = append(b.region.Args, b.args[x])
	}
	return b
}

func (b *loopBody) arg(t types.Type) ir.ID {
	return b.body.Add(b.f.table.Must("arg"), nil, t, ir.Origin{})
}

// result reports whether y is what operator k on the loop's result reads of it.
func (b *loopBody) result(k int, y ir.ID) bool {
	return k == 0 && y == b.l.id || k > 0 && y == b.l.after[k-1]
}

// ownColumn returns the loop's own column in a matrix of its result's shape.
func (b *loopBody) ownColumn() int64 {
	if len(b.indices) == 2 {
		return ownColumn
	}
	return 0
}

// input makes an argument of x, once.
func (b *loopBody) input(x ir.ID) {
	if _, ok := b.args[x]; !ok {
		b.args[x] = b.arg(b.f.g.Type(x))
		b.inputs = append(b.inputs, x)
	}
}

// needs makes arguments of the inputs of x, which joins the body.
func (b *loopBody) needs(x ir.ID) {
	for _, y := range b.f.g.In(x) {
		b.needed(y, x)
	}
}

// needed makes an argument of y, which r reads, or of its inputs.
func (b *loopBody) needed(y, r ir.ID) {
	if b.f.within(y, r) {
		b.needs(y)
	} else {
		b.input(y)
	}
}

// value returns the element of x, which joins the body or is an argument, at the iteration's row
// and that column.
func (b *loopBody) value(x ir.ID, col int64) ir.ID {
	if v, ok := b.made[place{x, col}]; ok {
		return v
	}
	g := b.f.g
	var v ir.ID
	if a, ok := b.args[x]; ok && g.Type(x).IsScalar() {
		v = a
	} else if ok {
		t := g.Type(x)
		row, at := b.indices[0], ir.None
		if t.Rows == 1 {
			row = b.constant(0)
		}
		switch {
		case t.Cols == 1:
			at = b.constant(0)
		case col == ownColumn:
			at = b.indices[1]
		default:
			at = b.constant(col)
		}
		v = b.body.Add(b.f.table.Must("element"), nil, types.ScalarOf(t.Elem), ir.Origin{Span: g.Nodes[x].Span}, a, row, at)
	} else {
		var in []ir.ID
		for _, y := range g.In(x) {
			in = append(in, b.value(y, col))
		}
		v = b.operator(x, in)
	}
	b.made[place{x, col}] = v
	return v
}

func (b *loopBody) operator(x ir.ID, in []ir.ID) ir.ID {
	n := &b.f.g.Nodes[x]
	id := b.body.Add(n.Op, nil, types.ScalarOf(b.f.g.Type(x).Elem), ir.Origin{Span: n.Span}, in...)
	b.taken = append(b.taken, int(id))
	return id
}

func (b *loopBody) constant(c int64) ir.ID {
	if _, ok := b.constants[c]; !ok {
		b.constants[c] = b.body.Add(b.f.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(int(c))}), types.ScalarOf(types.I64), ir.Origin{})
	}
	return b.constants[c]
}

// copyOld copies the old body. scalars maps arguments that were matrices to their elements.
func (b *loopBody) copyOld(scalars map[ir.ID]ir.ID) (yield ir.ID) {
	to := slices.Repeat([]ir.ID{ir.None}, b.old.Graph.Len())
	for d, a := range b.indices {
		to[b.old.Args[d]] = a
	}
	gone := map[ir.ID]bool{}
	for k, x := range b.f.g.In(b.l.id) {
		a := b.old.Args[len(b.indices)+k]
		if v, ok := scalars[a]; ok {
			to[a], gone[a] = v, true
		} else {
			to[a] = b.args[x]
		}
	}
	copyReading(b.body, b.old.Graph, to, gone)
	return to[b.old.Yields[0]]
}

// copyReading adds the nodes of g without an entry in to to out. The nodes of gone were matrices
// and are now elements: an element of one is itself.
func copyReading(out, g *ir.Graph, to []ir.ID, gone map[ir.ID]bool) {
	for i := range g.Nodes {
		id := ir.ID(i)
		n, old := &g.Nodes[i], g.In(id)
		if to[i] != ir.None {
			continue
		}
		if n.Op.Role == op.Picks && gone[old[0]] {
			to[i] = to[old[0]]
			continue
		}
		in := make([]ir.ID, len(old))
		inner := map[int]bool{} // arguments of the node's regions that were matrices
		for k, x := range old {
			in[k] = to[x]
			if gone[x] {
				inner[k-n.FirstArg()] = true
			}
		}
		to[i] = out.CopyNode(g, id, in...)
		if len(inner) == 0 {
			continue
		}
		var first *ir.Region
		next := &first
		for r := n.Region; r != nil; r = r.Next {
			*next = withScalars(r, inner)
			next = &(*next).Next
		}
		out.Nodes[to[i]].Region = first
	}
}

// withScalars returns a region some of whose matrix arguments have become elements.
func withScalars(r *ir.Region, scalar map[int]bool) *ir.Region {
	out := ir.New()
	out.CopyTables(r.Graph)
	to := slices.Repeat([]ir.ID{ir.None}, r.Graph.Len())
	gone := map[ir.ID]bool{}
	s := &ir.Region{Graph: out}
	for k, a := range r.Args {
		t := r.Graph.Type(a)
		if gone[a] = scalar[k]; scalar[k] {
			t = types.ScalarOf(t.Elem)
		}
		to[a] = out.Add(r.Graph.Nodes[a].Op, r.Graph.Nodes[a].Attrs, t, r.Graph.Origin(a))
		s.Args = append(s.Args, to[a])
	}
	copyReading(out, r.Graph, to, gone)
	for _, y := range r.Yields {
		s.Yields = append(s.Yields, to[y])
	}
	return s
}
