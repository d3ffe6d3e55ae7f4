package eval

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
)

// Error is a failure of one node.
type Error struct {
	Node ir.ID
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the operator's own error.
func (e *Error) Unwrap() error { return e.Err }

// Run evaluates every node of g in order and returns all values, by ID. Effects go
// to env. It stops at the first failure, an *Error.
func Run(g *ir.Graph, env op.Env) ([]value.Value, error) {
	vals := make([]value.Value, g.Len())
	return vals, run(g, vals, env)
}

func run(g *ir.Graph, vals []value.Value, env op.Env) error {
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id), Env: env}
		for _, in := range g.In(id) {
			c.In = append(c.In, vals[in])
		}
		v, err := call(n, c)
		if err != nil {
			return &Error{id, err}
		}
		vals[i] = v
	}
	return nil
}

func call(n *ir.Node, c *op.Call) (value.Value, error) {
	if n.Region != nil {
		p, err := n.Program()
		if err != nil {
			return nil, err
		}
		c.Body = p
	}
	if n.Op.Ref == nil {
		return nil, fmt.Errorf("BUG: %s has no definition", n.Op.Name)
	}
	return n.Op.Ref(c)
}
