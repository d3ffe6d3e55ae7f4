package ir

import (
	"fmt"

	"flow/ir/op"
)

// Enter adds to a call of the node what its regions mean: the chain of a map, the bodies of a loop
// or branch. They are made once and shared. It is safe for concurrent use.
func (n *Node) Enter(c *op.Call) error {
	if n.Region == nil {
		return nil
	}
	if n.IsChain() {
		p, err := n.Program()
		c.Body = p
		return err
	}
	for r := n.Region; r != nil; r = r.Next {
		b, err := r.Body()
		if err != nil {
			return err
		}
		c.Bodies = append(c.Bodies, b)
	}
	return nil
}

// IsChain reports a fused chain of elementwise operators. Its attribute modes says how it reads its
// arguments.
func (n *Node) IsChain() bool {
	_, is := n.Attrs.Get("modes")
	return is
}

// Body returns the region as definitions and kernels see it. It is made once.
func (r *Region) Body() (*op.Body, error) {
	r.once.Do(func() { r.body, r.err = r.actions() })
	return r.body, r.err
}

func (r *Region) actions() (*op.Body, error) {
	g := r.Graph
	reg := make(map[ID]int, g.Len())
	b := &op.Body{}
	for i, a := range r.Args {
		reg[a] = i
		b.Args = append(b.Args, g.Type(a))
	}
	for i := range g.Nodes {
		id := ID(i)
		if _, isArg := reg[id]; isArg {
			continue
		}
		n := &g.Nodes[i]
		a := op.Action{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id), At: op.Place{From: int32(n.Span.From), To: int32(n.Span.To)}, Asks: g.Asks(id)}
		for _, in := range g.In(id) {
			k, ok := reg[in]
			if !ok {
				return nil, fmt.Errorf("%%%d of a region is read by %%%d and comes after it", in, id)
			}
			a.Args = append(a.Args, k)
		}
		var c op.Call
		if err := n.Enter(&c); err != nil {
			return nil, err
		}
		a.Chain, a.Bodies = c.Body, c.Bodies
		reg[id] = len(r.Args) + len(b.Acts)
		b.Acts = append(b.Acts, a)
	}
	for _, y := range r.Yields {
		b.Yields = append(b.Yields, reg[y])
	}
	return b, nil
}
