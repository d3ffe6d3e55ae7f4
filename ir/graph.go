package ir

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// ID names a node and the edge that it defines.
type ID int32

// None is no node.
const None ID = -1

// Node is one operator applied to edges. A tiled program has a million nodes, so it is small;
// everything of variable length is in the graph.
type Node struct {
	Op     *op.Def
	Attrs  *op.Attrs
	Region *Region // of loops and fused pipelines, else nil
	Span   source.Span
	in     uint32 // offset of the inputs in Graph.ins
	nin    int32
	loop   uint32 // the loop context in Graph.ctx; 0: none
	dest   uint32 // the channel element that the node sends to, in Graph.ctx; 0: none
	Call   int32  // index into Graph.Calls; 0: the program itself
}

// Edge is the type of a node's output, as an index into the graph's types. Even a program of a
// million tasks has few types.
type Edge struct{ typ uint32 }

// Graph is a list of nodes in topological order: inputs have smaller IDs.
type Graph struct {
	Nodes []Node
	Edges []Edge // Edges[i] is the output of Nodes[i]

	Scopes []Scope // loop nests that nodes lie in
	Grids  []Grid  // channel arrays that nodes send to
	Calls  []Call  // function calls that nodes come from; entry 0 is the program

	types   []types.Type
	typeOf  map[types.Type]uint32
	ins     []ID
	scratch []ID // of Sweep
	notes   map[ID]string
	texts   *texts // values of loop indices that are no small integers; nil: none
	// loop contexts (scope, indices) and destinations (grid, version, subscripts)
	ctx contexts
}

// Scope is a loop nest: the names of its indices, outermost first.
type Scope struct{ Names []string }

// Grid is a channel array of the program.
type Grid struct {
	Name  string
	Span  source.Span
	Dims  []int
	Place Placement
}

// Call is a call of a user's or library's function.
type Call struct {
	Name   string
	Span   source.Span
	Parent int32
}

// New returns an empty graph.
func New() *Graph {
	return &Graph{Calls: []Call{{Name: "program"}}, typeOf: map[types.Type]uint32{}}
}

// Note keeps a remark on a node, for people: why ranks do not share it. CopyNode forgets it.
func (g *Graph) Note(id ID, text string) {
	if g.notes == nil {
		g.notes = map[ID]string{}
	}
	g.notes[id] = text
}

// NoteOf returns what Note was given, or "".
func (g *Graph) NoteOf(id ID) string { return g.notes[id] }

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.Nodes) }

// All yields the nodes that the graph has at the call, in order. A node that the body of the loop adds
// may move the others: what was yielded is then an old copy.
func (g *Graph) All() iter.Seq2[ID, *Node] {
	return func(yield func(ID, *Node) bool) {
		for id := range ID(len(g.Nodes)) {
			if !yield(id, &g.Nodes[id]) {
				return
			}
		}
	}
}

// NumEdges returns the number of (producer, consumer) pairs.
func (g *Graph) NumEdges() int {
	n := 0
	for i := range g.Nodes {
		n += int(g.Nodes[i].nin)
	}
	return n
}

// In returns the inputs of a node. The caller may overwrite entries, not append.
func (g *Graph) In(id ID) []ID {
	n := &g.Nodes[id]
	return g.ins[n.in : n.in+uint32(n.nin) : n.in+uint32(n.nin)]
}

// Type returns the type of an edge.
func (g *Graph) Type(id ID) types.Type { return g.types[g.Edges[id].typ] }

// Types appends the types of edges to a list and returns it.
func (g *Graph) Types(to []types.Type, ids ...ID) []types.Type {
	for _, id := range ids {
		to = append(to, g.Type(id))
	}
	return to
}

// SetType sets the type of an edge.
func (g *Graph) SetType(id ID, t types.Type) { g.Edges[id] = g.edge(t) }

// Asks reports a node whose argument shapes must be checked in the run: sizes of arguments are
// open, and that of the result is not. Call.Settle does it before the kernel runs. (Rows whose
// result is open too check for themselves; an effect takes any size.)
func (g *Graph) Asks(id ID) bool {
	n := &g.Nodes[id]
	if t := g.Type(id); n.Region != nil || n.Op.Control != op.NoControl || t.Kind == types.Effect || t.IsMatrix() && !t.Known() {
		return false
	}
	for _, in := range g.In(id) {
		if t := g.Type(in); t.IsMatrix() && !t.Known() {
			return true
		}
	}
	return false
}

// TypeIndex returns a number that edges of the same type share. Two equal types with an Ext may
// have two numbers.
func (g *Graph) TypeIndex(id ID) uint32 { return g.Edges[id].typ }

// edge returns an edge of type t. Types with an Ext share an entry only if they share the Ext.
func (g *Graph) edge(t types.Type) Edge {
	if n := len(g.Edges); n > 0 && t.Ext == nil && g.types[g.Edges[n-1].typ] == t {
		return g.Edges[n-1]
	}
	i, ok := g.typeOf[t]
	if !ok {
		i = uint32(len(g.types))
		g.types = append(g.types, t)
		g.typeOf[t] = i
	}
	return Edge{i}
}

// Add appends a node. Its inputs must exist. at holds span, call, loop and destination, copied from
// another node or made by the setters.
func (g *Graph) Add(d *op.Def, attrs *op.Attrs, t types.Type, at Origin, in ...ID) ID {
	id := ID(len(g.Nodes))
	off := uint32(len(g.ins))
	if len(g.Nodes) == cap(g.Nodes) {
		// append would grow a large slice by a quarter, and so copy it more often
		g.Grow(max(64, len(g.Nodes)/2))
	}
	g.ins = append(g.ins, in...)
	g.Nodes = append(g.Nodes, Node{Op: d, Attrs: attrs, in: off, nin: int32(len(in)),
		Span: at.Span, loop: at.loop, dest: at.dest, Call: at.Call})
	g.Edges = append(g.Edges, g.edge(t))
	return id
}

// Grow makes room for n more nodes.
func (g *Graph) Grow(n int) {
	g.Nodes = slices.Grow(g.Nodes, n)
	g.Edges = slices.Grow(g.Edges, n)
	g.ins = slices.Grow(g.ins, 2*n)
}

// Clip frees spare room for nodes if there is much of it, as after node-by-node growth.
func (g *Graph) Clip() {
	if cap(g.Nodes)-len(g.Nodes) > len(g.Nodes)/8 {
		g.Nodes, g.Edges, g.ins = slices.Clone(g.Nodes), slices.Clone(g.Edges), slices.Clone(g.ins)
	}
}

// Origin says where a node came from.
type Origin struct {
	Span source.Span
	Call int32
	loop uint32
	dest uint32
}

// Origin returns the origin of a node, for the nodes that replace it.
func (g *Graph) Origin(id ID) Origin {
	n := &g.Nodes[id]
	return Origin{n.Span, n.Call, n.loop, n.dest}
}

// SetOrigin overwrites a node's origin.
func (g *Graph) SetOrigin(id ID, o Origin) {
	n := &g.Nodes[id]
	n.Span, n.Call, n.loop, n.dest = o.Span, o.Call, o.loop, o.dest
}

// Replace changes the operator and inputs of a node in place.
func (g *Graph) Replace(id ID, d *op.Def, attrs *op.Attrs, in ...ID) {
	n := &g.Nodes[id]
	n.Op, n.Attrs = d, attrs
	if int(n.nin) >= len(in) {
		copy(g.ins[n.in:], in)
	} else {
		n.in = uint32(len(g.ins))
		g.ins = append(g.ins, in...)
	}
	n.nin = int32(len(in))
}

// Loop returns a loop context: indices of a scope. Many origins can share it.
func (g *Graph) Loop(scope int, at []int) uint32 { return g.ctx.add([]int32{int32(scope)}, at) }

// DropLoop removes the last result of Loop. No node may have been made since.
func (g *Graph) DropLoop(loop uint32) { g.ctx.drop(loop) }

// InLoop returns o in a loop context made by Loop.
func (o Origin) InLoop(loop uint32) Origin { o.loop = loop; return o }

// Sends returns o as a send to element at of a grid, which becomes the given version.
func (g *Graph) Sends(o Origin, grid, version int, at []int) Origin {
	o.dest = g.ctx.add([]int32{int32(grid), int32(version)}, at)
	return o
}

// NoDest returns o without a destination.
func (o Origin) NoDest() Origin { o.dest = 0; return o }

// Indices returns the names and values of the loop indices around a node, outermost first, or nil.
func (g *Graph) Indices(id ID) (names []string, at []int32) {
	off := g.Nodes[id].loop
	if off == 0 {
		return nil, nil
	}
	l := g.ctx.from(off)
	names = g.Scopes[l[0]].Names
	return names, l[1 : 1+len(names)]
}

// Dest returns the channel element that a node sends to. ok is false if it sends to none.
func (g *Graph) Dest(id ID) (grid int, version int, at []int32, ok bool) {
	return g.OriginDest(Origin{dest: g.Nodes[id].dest})
}

// OriginDest returns the channel element that a node of this origin sends to.
func (g *Graph) OriginDest(o Origin) (grid int, version int, at []int32, ok bool) {
	off := o.dest
	if off == 0 {
		return 0, 0, nil, false
	}
	l := g.ctx.from(off)
	grid, version = int(l[0]), int(l[1])
	return grid, version, l[2 : 2+len(g.Grids[grid].Dims)], true
}

// Uses counts the readers of every edge.
func (g *Graph) Uses() []int32 {
	uses := make([]int32, len(g.Nodes))
	for i := range g.Nodes {
		for _, in := range g.In(ID(i)) {
			uses[in]++
		}
	}
	return uses
}

// Sweep drops the nodes from `from` on for which live is 0 and moves the others up. to receives the
// new ID of each node of the range, None for dropped ones. Live nodes must not read dropped ones,
// and the caller must hold no other IDs of the range. The freed memory is reused.
func (g *Graph) Sweep(from ID, live []int32, to []ID) {
	n := len(g.Nodes) - int(from)
	if n == 0 {
		return
	}
	base, inOrder := g.inputsFrom(from)
	// If the nodes' inputs are in the order of the nodes they move up in place, else through a
	// copy.
	ins := g.ins[base:base]
	if !inOrder {
		ins = slices.Grow(g.scratch[:0], len(g.ins)-int(base))
	}
	at := from
	for i := range n {
		if live[i] == 0 {
			to[i] = None
			continue
		}
		node := g.Nodes[int(from)+i]
		off := uint32(len(ins))
		for _, x := range g.ins[node.in : node.in+uint32(node.nin)] {
			if x >= from {
				x = to[x-from]
			}
			ins = append(ins, x)
		}
		node.in = base + off
		g.Nodes[at], g.Edges[at] = node, g.Edges[int(from)+i]
		to[i] = at
		at++
	}
	if inOrder {
		g.ins = g.ins[:int(base)+len(ins)]
	} else {
		g.ins = append(g.ins[:base], ins...)
		if g.scratch = ins; cap(ins) > 1<<16 {
			g.scratch = nil // of a whole graph, once
		}
	}
	g.Nodes, g.Edges = g.Nodes[:at], g.Edges[:at]
}

// inputsFrom returns where the inputs of the nodes from `from` on begin, and whether they are in
// the order of the nodes.
func (g *Graph) inputsFrom(from ID) (base uint32, inOrder bool) {
	base, inOrder = g.Nodes[from].in, true
	end := base
	for i := int(from); i < len(g.Nodes); i++ {
		n := &g.Nodes[i]
		base = min(base, n.in)
		inOrder = inOrder && n.in >= end
		end = n.in + uint32(n.nin)
	}
	return base, inOrder
}

// CopyTables shares the tables that nodes refer to, so that nodes of old can be added to g with
// their origins.
func (g *Graph) CopyTables(old *Graph) {
	g.Scopes, g.Grids, g.Calls = old.Scopes, old.Grids, old.Calls
	g.ctx, g.texts = old.ctx.shared(), old.texts
}

// CopyNode appends node id of old with inputs in. The tables must have been copied.
func (g *Graph) CopyNode(old *Graph, id ID, in ...ID) ID {
	n := &old.Nodes[id]
	out := g.Add(n.Op, n.Attrs, old.Type(id), old.Origin(id), in...)
	g.Nodes[out].Region = n.Region
	return out
}

// Clone returns a copy whose nodes may be changed.
func (g *Graph) Clone() *Graph {
	out := New()
	out.CopyTables(g)
	out.Nodes = append([]Node(nil), g.Nodes...)
	out.Edges = append([]Edge(nil), g.Edges...)
	out.ins = append([]ID(nil), g.ins...)
	out.types = append([]types.Type(nil), g.types...)
	for i, t := range out.types {
		out.typeOf[t] = uint32(i)
	}
	out.notes = maps.Clone(g.notes)
	return out
}

// Needed reports, by node, whether it is required or a required node depends on it. It does not call
// required for nodes that another one needs.
func (g *Graph) Needed(required func(id ID) bool) []bool {
	out := make([]bool, len(g.Nodes))
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if out[i] = out[i] || required(ID(i)); out[i] {
			for _, x := range g.In(ID(i)) {
				out[x] = true
			}
		}
	}
	return out
}

// Compact keeps the nodes for which keep is true, in order. They must not read dropped ones.
func (g *Graph) Compact(keep []bool) *Graph {
	out := New()
	out.CopyTables(g)
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	out.Nodes = make([]Node, 0, n)
	out.Edges = make([]Edge, 0, n)
	to := make([]ID, len(g.Nodes))
	var in []ID
	for i := range g.Nodes {
		if !keep[i] {
			to[i] = None
			continue
		}
		in = in[:0]
		for _, x := range g.In(ID(i)) {
			if to[x] == None {
				panic(fmt.Sprintf("BUG: node %%%d (%s) is kept but reads %%%d, which is not", i, g.Nodes[i].Op.Name, x))
			}
			in = append(in, to[x])
		}
		to[i] = out.CopyNode(g, ID(i), in...)
	}
	return out
}
