package ir

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
)

// Region is a body: a graph that reads only Args, which are nodes of the row `arg`. Yields are its
// results. It is read-only once a node has it; passes make new ones.
//
// A node's row defines its regions (op.Def.Control):
//
//	none      a fused map: one region, run for every element
//	iterate   the body of a loop, then, unless an attribute counts the rounds, its condition
//	select    the branch for true, then the branch for false
//
// The regions of an iterate have an argument of the same type for each input of the node; those of
// a select for each but the first, the condition.
type Region struct {
	Graph  *Graph
	Args   []ID
	Yields []ID
	// Next is the node's next region, nil after the last.
	Next *Region

	once sync.Once
	prog *op.Program
	body *op.Body
	err  error
}

// Compact returns r with the nodes for which keep is true, which include its arguments and yields.
func (r *Region) Compact(keep []bool) *Region {
	to := make([]ID, len(keep))
	at := ID(0)
	for i, k := range keep {
		if to[i] = at; k {
			at++
		}
	}
	out := &Region{Graph: r.Graph.Compact(keep), Args: slices.Clone(r.Args), Yields: slices.Clone(r.Yields)}
	for _, list := range [][]ID{out.Args, out.Yields} {
		for k, x := range list {
			list[k] = to[x]
		}
	}
	return out
}

// Carried returns how many of an iterate's inputs, the first ones, change from round to round. The
// others are captured.
func (n *Node) Carried() int { return n.Attrs.Int("carry") }

// Times returns the number of rounds of an iterate, if known before the run.
func (n *Node) Times() (rounds int64, known bool) {
	v, ok := n.Attrs.Get("times")
	return v.I, ok
}

// FirstArg returns the input of an iterate or select that is the first argument of its regions.
// Branches do not see the condition.
func (n *Node) FirstArg() int {
	if n.Op.Control == op.Select {
		return 1
	}
	return 0
}

// Results returns the types of the parts of an iterate or select: carried values or yields, and, if
// the region has an effect, an effect at the end, which is ready when the whole region is done.
func (g *Graph) Results(id ID) []types.Field { return g.Type(id).Ext.Fields }

// Effects reports whether node id is an effect, or a loop or branch with one among its results.
func (g *Graph) Effects(id ID) bool {
	n := &g.Nodes[id]
	if n.Op.Laws.Has(op.Effectful) {
		return true
	}
	if n.Op.Control != op.Iterate && n.Op.Control != op.Select && n.Op.Role != op.Rounds {
		return false
	}
	f := g.Results(id)
	return len(f) > 0 && f[len(f)-1].Type.Kind == types.Effect
}

// Required reports whether node id must be kept though nothing reads it: it is an effect or
// contains one. A parfor whose iterations assert is Required and not in Effects: it orders nothing
// after it.
func (g *Graph) Required(id ID) bool {
	n := &g.Nodes[id]
	if n.Op.Laws.Has(op.Effectful) {
		return true
	}
	if n.Region == nil || n.IsChain() {
		return false
	}
	for r := n.Region; r != nil; r = r.Next {
		for i := range r.Graph.Nodes {
			if r.Graph.Required(ID(i)) {
				return true
			}
		}
	}
	return false
}

// Controls reports whether a node of g is an iterate or a select.
func (g *Graph) Controls() bool {
	for i := range g.Nodes {
		if c := g.Nodes[i].Op.Control; c == op.Iterate || c == op.Select {
			return true
		}
	}
	return false
}

// Splice appends the nodes of a region to g, with args in place of its arguments, and returns their
// new IDs. Loop indices, channel arrays and calls are copied; nodes of the program itself get the
// given call.
func (g *Graph) Splice(r *Region, args []ID, call int32) []ID {
	old := r.Graph
	to := make([]ID, old.Len())
	for i := range to {
		to[i] = None
	}
	for i, a := range r.Args {
		to[a] = args[i]
	}
	scopes, grids, calls := len(g.Scopes), len(g.Grids), int32(len(g.Calls))
	g.Scopes = append(g.Scopes[:scopes:scopes], old.Scopes...)
	g.Grids = append(g.Grids[:grids:grids], old.Grids...)
	g.Calls = g.Calls[:calls:calls]
	callOf := func(c int32) int32 {
		if c == 0 {
			return call
		}
		return calls + c - 1
	}
	for _, c := range old.Calls[1:] {
		c.Parent = callOf(c.Parent)
		g.Calls = append(g.Calls, c)
	}
	var in []ID
	var at []int
	widen := func(l []int32) []int {
		at = at[:0]
		for _, x := range l {
			at = append(at, int(x))
		}
		return at
	}
	for i := range old.Nodes {
		if to[i] != None {
			continue
		}
		id := ID(i)
		n := &old.Nodes[i]
		o := Origin{Span: n.Span, Call: callOf(n.Call)}
		if _, idx := old.Indices(id); idx != nil {
			if g.texts == nil {
				g.texts = old.texts
			}
			loop := widen(idx)
			for k, x := range loop {
				if x <= firstText && g.texts != old.texts {
					loop[k] = g.TextIndex(old.IndexText(x))
				}
			}
			o = o.InLoop(g.Loop(scopes+int(old.ctx.from(n.loop)[0]), loop))
		}
		if grid, version, idx, ok := old.Dest(id); ok {
			o = g.Sends(o, grids+grid, version, widen(idx))
		}
		in = in[:0]
		for _, x := range old.In(id) {
			in = append(in, to[x])
		}
		to[i] = g.Add(n.Op, n.Attrs, old.Type(id), o, in...)
		g.Nodes[to[i]].Region = n.Region
	}
	return to
}

// Step leads from a node to one in its regions.
type Step struct {
	Region int   // 0 is the first
	Node   ID    // of the region's graph
	Round  int64 // of an iterate: rounds that were complete
}

// Follow returns the graph and node that steps lead to from node id of g. ok is false if they lead
// nowhere.
func (g *Graph) Follow(id ID, steps []Step) (in *Graph, at ID, ok bool) {
	for _, s := range steps {
		if id < 0 || int(id) >= g.Len() {
			return nil, None, false
		}
		r := g.Nodes[id].Region
		for range s.Region {
			if r != nil {
				r = r.Next
			}
		}
		if r == nil {
			return nil, None, false
		}
		g, id = r.Graph, s.Node
	}
	return g, id, id >= 0 && int(id) < g.Len()
}

// Into appends to steps those to the action whose failure is err, if err has any.
func (g *Graph) Into(id ID, steps []Step, err error) []Step {
	var f *op.BodyFailure
	if !errors.As(err, &f) {
		return steps
	}
	out := slices.Clip(steps)
	for _, s := range f.Path {
		in, at, ok := g.Follow(id, out)
		if !ok {
			return steps
		}
		r := in.Nodes[at].Region
		for k := 0; k < s.Body && r != nil; k++ {
			r = r.Next
		}
		node := None
		if r != nil {
			node = r.acting(s.Act)
		}
		if node == None {
			return steps
		}
		out = append(out, Step{Region: s.Body, Node: node, Round: s.Round})
	}
	return out
}

// acting returns the node of action k of the region's body.
func (r *Region) acting(k int) ID {
	for i := range r.Graph.Nodes {
		if slices.Contains(r.Args, ID(i)) {
			continue
		}
		if k == 0 {
			return ID(i)
		}
		k--
	}
	return None
}

// KeepsShape checks a round's end for values whose sizes only the run knows: a carried value keeps
// its shape. The error is an *op.Failure.
func KeepsShape(was, now types.Type) error {
	if now != was && was.Kind == types.Matrix {
		return op.Failf("E415", "a carried value was %v and would become %v", was, now).
			WithHelp("a carried value has the same shape in every round")
	}
	return nil
}

// Program returns the body of a fused node as a program. All nodes of its region must be
// elementwise, or constructors that are drawn, read as the attribute modes says. It is made once
// for a region, by the first node that asks, and is safe for concurrent use.
func (n *Node) Program() (*op.Program, error) {
	r := n.Region
	r.once.Do(func() {
		modes := n.Attrs.Ints("modes")
		if len(modes) != len(r.Args) {
			r.err = fmt.Errorf("%d modes for %d arguments", len(modes), len(r.Args))
			return
		}
		reg := make(map[ID]int, r.Graph.Len())
		p := &op.Program{In: make([]op.Operand, len(modes))}
		for i, a := range r.Args {
			reg[a] = i
			p.In[i] = op.Operand{Elem: r.Graph.Type(a).Elem, Mode: op.Mode(modes[i])}
		}
		for i := range r.Graph.Nodes {
			if n := &r.Graph.Nodes[i]; n.Op.Draw != nil {
				reg[ID(i)] = len(p.In)
				p.In = append(p.In, op.Operand{Elem: r.Graph.Type(ID(i)).Elem, Mode: op.Drawn, Gen: n.Op, Attrs: n.Attrs})
			}
		}
		for i := range r.Graph.Nodes {
			id := ID(i)
			if _, isArg := reg[id]; isArg {
				continue
			}
			n := &r.Graph.Nodes[i]
			if !n.Op.Laws.Has(op.Elementwise) {
				r.err = fmt.Errorf("%s in a fused region is not elementwise", n.Op.Name)
				return
			}
			step := op.Step{Def: n.Op, Elem: r.Graph.Type(id).Elem}
			for _, in := range r.Graph.In(id) {
				step.Args = append(step.Args, reg[in])
			}
			reg[id] = len(p.In) + len(p.Steps)
			p.Steps = append(p.Steps, step)
		}
		copies := len(p.Steps) == 0 && len(p.In) == 1 // of what several reductions read
		if len(r.Yields) != 1 || len(p.Steps) == 0 && !copies || reg[r.Yields[0]] != len(p.In)+len(p.Steps)-1 {
			r.err = fmt.Errorf("a fused region must yield its last step")
			return
		}
		r.prog = p
	})
	return r.prog, r.err
}

// Draws reports a fused chain that computes elements of constructors. Its attribute origin is the
// place of its index space in that of the constructors, row and column.
func (n *Node) Draws() bool {
	if n.Region == nil || !n.IsChain() {
		return false
	}
	for i := range n.Region.Graph.Nodes {
		if n.Region.Graph.Nodes[i].Op.Draw != nil {
			return true
		}
	}
	return false
}
