package ir

import (
	"fmt"

	"flow/ir/op"
	"flow/ir/types"
)

// This file checks the invariants of regions.

func (r *Region) verify() error {
	arg := make(map[ID]bool, len(r.Args))
	for _, a := range r.Args {
		if a < 0 || int(a) >= r.Graph.Len() || r.Graph.Nodes[a].Op.Role != op.Argument {
			return fmt.Errorf("argument %%%d is no arg node", a)
		}
		arg[a] = true
	}
	for i := range r.Graph.Nodes {
		if r.Graph.Nodes[i].Op.Role == op.Argument && !arg[ID(i)] {
			return fmt.Errorf("arg node %%%d is not listed", i)
		}
	}
	for _, y := range r.Yields {
		if y < 0 || int(y) >= r.Graph.Len() {
			return fmt.Errorf("yields %%%d, which does not exist", y)
		}
	}
	return r.Graph.Verify()
}

// verifyControl checks an iterate, a select or a part.
func (g *Graph) verifyControl(id ID) error {
	n := &g.Nodes[id]
	switch n.Op.Control {
	case op.Iterate:
		return g.verifyIterate(id)
	case op.Select:
		return g.verifySelect(id)
	case op.Part:
		from := g.In(id)[0]
		if g.Type(from).Kind != types.Tuple {
			return fmt.Errorf("part of %%%d, which has no parts", from)
		}
	}
	return nil
}

func (g *Graph) verifyIterate(id ID) error {
	n := &g.Nodes[id]
	in, k := g.In(id), n.Carried()
	if k < 1 || k > len(in) {
		return fmt.Errorf("carries %d of %d inputs", k, len(in))
	}
	body := n.Region
	if body == nil {
		return fmt.Errorf("has no body")
	}
	if err := body.takes(g, in); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := body.gives(g.Type(id), k); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	for i, f := range g.Results(id)[:k] {
		if !compatible(f.Type, g.Type(in[i])) {
			return fmt.Errorf("carries %v and starts with %v", f.Type, g.Type(in[i]))
		}
	}
	_, counted := n.Times()
	cond := body.Next
	switch {
	case counted && cond == nil:
		return nil
	case counted || cond == nil || cond.Next != nil:
		return fmt.Errorf("has either a count or a condition")
	}
	if err := cond.takes(g, in); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	if len(cond.Yields) != 1 || cond.Graph.Type(cond.Yields[0]) != types.ScalarOf(types.Bool) {
		return fmt.Errorf("the condition is no bool")
	}
	return nil
}

func (g *Graph) verifySelect(id ID) error {
	in := g.In(id)
	if len(in) == 0 || g.Type(in[0]) != types.ScalarOf(types.Bool) {
		return fmt.Errorf("the condition is no bool")
	}
	then := g.Nodes[id].Region
	if then == nil || then.Next == nil || then.Next.Next != nil {
		return fmt.Errorf("has not two branches")
	}
	for r := then; r != nil; r = r.Next {
		if err := r.takes(g, in[1:]); err != nil {
			return err
		}
		if err := r.gives(g.Type(id), len(r.Yields)); err != nil {
			return err
		}
	}
	return nil
}

// takes checks a region's arguments against inputs of g.
func (r *Region) takes(g *Graph, in []ID) error {
	if len(r.Args) != len(in) {
		return fmt.Errorf("%d arguments for %d inputs", len(r.Args), len(in))
	}
	for i, a := range r.Args {
		if !compatible(r.Graph.Type(a), g.Type(in[i])) {
			return fmt.Errorf("argument %d is %v, the input %v", i, r.Graph.Type(a), g.Type(in[i]))
		}
	}
	return nil
}

// gives checks a region's yields against the node's type: n values, then possibly an effect.
func (r *Region) gives(t types.Type, n int) error {
	if t.Kind != types.Tuple || t.Ext == nil {
		return fmt.Errorf("its type is %v, not a tuple", t)
	}
	f := t.Ext.Fields
	if len(f) > 0 && f[len(f)-1].Type.Kind == types.Effect {
		f = f[:len(f)-1]
	}
	if len(r.Yields) != n || len(f) != n {
		return fmt.Errorf("yields %d values, the node has %d", len(r.Yields), len(f))
	}
	for i, y := range r.Yields {
		if !compatible(r.Graph.Type(y), f[i].Type) {
			return fmt.Errorf("yields %v for a %v", r.Graph.Type(y), f[i].Type)
		}
	}
	return nil
}
