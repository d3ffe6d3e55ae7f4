package eval

import (
	"errors"
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
)

// Error is a failure of one node. Within leads to the failing node in its regions.
type Error struct {
	Node   ir.ID
	Within []ir.Step
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the operator's own error.
func (e *Error) Unwrap() error { return e.Err }

// Run evaluates every node of g in order and returns all values, by ID. Effects go to env. It stops
// at the first failure, an *Error.
func Run(g *ir.Graph, env op.Env) ([]value.Value, error) {
	vals := make([]value.Value, g.Len())
	return vals, run(g, vals, env)
}

// run evaluates the nodes that have no value yet.
func run(g *ir.Graph, vals []value.Value, env op.Env) error {
	for id, n := range g.All() {
		// an argument of a region; an effect's has no value
		if vals[id] != nil || n.Op.Role == op.Argument {
			continue
		}
		c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id), Env: env}
		for _, in := range g.In(id) {
			c.In = append(c.In, vals[in])
		}
		var v value.Value
		var err error
		switch n.Op.Control {
		case op.Iterate:
			v, err = iterate(g, id, c.In, env)
		case op.Select:
			v, err = choose(g, id, c.In, env)
		case op.Part:
			v = c.In[0].(value.Tuple)[n.Attrs.Int("at")]
		default:
			if g.Asks(id) {
				err = c.Settle()
			}
			if err == nil {
				v, err = call(n, c)
			}
		}
		if err != nil {
			var in *Error
			if errors.As(err, &in) {
				return &Error{id, in.Within, in.Err}
			}
			return &Error{id, g.Into(id, nil, err), err}
		}
		vals[id] = v
	}
	return nil
}

// region evaluates a region of a node on its arguments. step locates failures in it.
func region(r *ir.Region, args []value.Value, env op.Env, step ir.Step) (yields []value.Value, err error) {
	vals := make([]value.Value, r.Graph.Len())
	for i, a := range r.Args {
		vals[a] = args[i]
	}
	if err := run(r.Graph, vals, env); err != nil {
		var in *Error
		if errors.As(err, &in) {
			step.Node = in.Node
			err = &Error{Within: append([]ir.Step{step}, in.Within...), Err: in.Err}
		}
		return nil, err
	}
	for _, y := range r.Yields {
		yields = append(yields, vals[y])
	}
	return yields, nil
}

// iterate evaluates a loop: the body replaces the carried values until the condition holds, or for
// the given number of rounds.
func iterate(g *ir.Graph, id ir.ID, in []value.Value, env op.Env) (value.Value, error) {
	n := &g.Nodes[id]
	k := n.Carried()
	args := append([]value.Value(nil), in...)
	times, counted := n.Times()
	for round := int64(0); ; round++ {
		if counted && round >= times {
			break
		}
		if !counted {
			stop, err := region(n.Region.Next, args, env, ir.Step{Region: 1, Round: round})
			if err != nil {
				return nil, err
			}
			if stop[0].(value.Scalar).True() {
				break
			}
		}
		next, err := region(n.Region, args, env, ir.Step{Round: round})
		if err != nil {
			return nil, err
		}
		for i, v := range next {
			if err := ir.KeepsShape(args[i].Type(), v.Type()); err != nil {
				return nil, err
			}
		}
		copy(args[:k], next)
	}
	return results(g, id, args[:k]), nil
}

// choose evaluates one of two branches.
func choose(g *ir.Graph, id ir.ID, in []value.Value, env op.Env) (value.Value, error) {
	r, step := g.Nodes[id].Region, ir.Step{}
	if !in[0].(value.Scalar).True() {
		r, step.Region = r.Next, 1
	}
	out, err := region(r, in[1:], env, step)
	if err != nil {
		return nil, err
	}
	return results(g, id, out), nil
}

// results returns the tuple of a loop or branch. An effect at its end has no value.
func results(g *ir.Graph, id ir.ID, v []value.Value) value.Tuple {
	out := make(value.Tuple, len(g.Results(id)))
	copy(out, v)
	return out
}

func call(n *ir.Node, c *op.Call) (v value.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			f := op.Panicked(r)
			if f == nil {
				panic(r)
			}
			v, err = nil, f
		}
	}()
	if err := n.Enter(c); err != nil {
		return nil, err
	}
	if n.Op.Ref == nil {
		return nil, fmt.Errorf("BUG: %s has no definition", n.Op.Name)
	}
	return n.Op.Ref(c)
}
