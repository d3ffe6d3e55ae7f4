package ir

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// uncertain is the most rounds that Counted follows once a value of the run may have ended the loop. A
// larger bound would not change a prediction.
const uncertain = 64

// Counted returns the least and the most rounds that iterate id may have. It evaluates the counters
// that decide its end. A counter starts as a constant, and a round computes it from constants and
// counters. Other values are unknown. steps is the most evaluations, some 0.1 us each: most is
// math.MaxInt64 if they find no end. Counted is for predictions: no result of a program depends on it.
//
//	iterate v = x, k = 0 until k == 60 or max(v) < 1 { next v = f(v); next k = k + 1 }   # 0 to 60
func (g *Graph) Counted(id ID, steps int) (least, most int64) {
	n := &g.Nodes[id]
	if times, ok := n.Times(); ok {
		return max(times, 0), max(times, 0)
	}
	if n.Op.Control != op.Iterate || n.Region == nil || n.Region.Next == nil {
		return 0, math.MaxInt64
	}
	args, known := make([]value.Value, len(g.In(id))), false
	for k, x := range g.In(id) {
		if m := &g.Nodes[x]; m.Op.Role == op.Constant && g.Type(x).IsScalar() {
			args[k] = called(&op.Call{Def: m.Op, Attrs: m.Attrs, Type: g.Type(x)})
			known = known || k < n.Carried()
		}
	}
	if !known {
		return 0, math.MaxInt64
	}
	wanted := make([]bool, n.Carried())
	stop := follow(n.Region.Next, []bool{true}, wanted)
	body := follow(n.Region, wanted, wanted)
	for before := -1; before != len(body.nodes); body = follow(n.Region, wanted, wanted) {
		before = len(body.nodes)
	}
	for exact := true; known && steps > 0 && (exact || most < uncertain); most++ {
		switch over := stop.values(args)[0]; {
		case over == nil:
			exact = false
		case over.(value.Scalar).True() && exact:
			return most, most
		case over.(value.Scalar).True():
			return least, most
		case exact:
			least++
		}
		copy(args, body.values(args))
		known = slices.ContainsFunc(args[:n.Carried()], func(v value.Value) bool { return v != nil })
		steps -= 1 + len(stop.nodes) + len(body.nodes)
	}
	return least, math.MaxInt64
}

// followed evaluates some yields of a region. nodes are the nodes that they need, in order.
type followed struct {
	r     *Region
	nodes []ID
	calls []op.Call     // of these nodes
	of    []value.Value // the values of all nodes in the latest round; nil: unknown
	out   []value.Value // the result of values
}

// follow prepares the evaluation of the wanted yields. It sets carried[k] if they need argument k.
func follow(r *Region, wanted, carried []bool) (f followed) {
	g := r.Graph
	need := make([]bool, g.Len())
	for k, y := range r.Yields {
		need[y] = need[y] || wanted[k]
	}
	for i := g.Len() - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		if !need[i] || n.Op.Role == op.Argument || n.Region != nil || !g.Type(ID(i)).IsScalar() || !n.Op.Laws.Has(op.Pure) && n.Op.Role != op.Constant {
			continue
		}
		f.nodes = append(f.nodes, ID(i))
		for _, x := range g.In(ID(i)) {
			need[x] = true
		}
	}
	slices.Reverse(f.nodes)
	for _, id := range f.nodes {
		n := &g.Nodes[id]
		f.calls = append(f.calls, op.Call{Def: n.Op, Attrs: n.Attrs, In: make([]value.Value, len(g.In(id))), Type: g.Type(id)})
	}
	for k := range carried {
		carried[k] = carried[k] || need[r.Args[k]]
	}
	f.r, f.of, f.out = r, make([]value.Value, g.Len()), make([]value.Value, len(r.Yields))
	return f
}

// values returns the yields of the region for these arguments. A value that is unknown, or not
// followed, is nil. The next call overwrites the result.
func (f *followed) values(args []value.Value) []value.Value {
	g, of := f.r.Graph, f.of
	for k, a := range f.r.Args {
		of[a] = args[k]
	}
	for i, id := range f.nodes {
		c, open, missing := &f.calls[i], 0, 0
		for k, x := range g.In(id) {
			if c.In[k] = of[x]; of[x] == nil {
				open = k
				missing++
			}
		}
		switch of[id] = nil; {
		case missing == 0:
			of[id] = called(c)
		case missing == 1 && g.Type(g.In(id)[open]) == types.ScalarOf(types.Bool): // known if it is the same for true and false
			c.In[open] = value.Bool(false)
			no := called(c)
			c.In[open] = value.Bool(true)
			if yes := called(c); yes != nil && yes == no {
				of[id] = yes
			}
		}
	}
	for k, y := range f.r.Yields {
		f.out[k] = of[y]
	}
	return f.out
}

// called returns the scalar that a call makes by the definition of its operator, or nil.
func called(c *op.Call) value.Value {
	if c.Def.Ref == nil {
		return nil
	}
	v, err := c.Def.Ref(c)
	if s, ok := v.(value.Scalar); ok && err == nil {
		return s
	}
	return nil
}
