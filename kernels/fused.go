package kernels

// This file defines the row `map`: a fused chain of elementwise operators over one index space, and
// its reference. How a chain is executed is in fused_run.go and nest_machine.go.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// mapRow is the row map on an engine.
func mapRow(run *engine) *op.Def {
	return &op.Def{
		Name:   "map",
		Role:   op.Maps,
		Hidden: true,
		Doc:    "map runs a chain of elementwise operators over one index space; fusion makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		// The result's type belongs to the node: it follows from the body, which a type rule does
		// not see.
		Type: func(s *op.Sig) (types.Type, error) {
			return types.Type{}, op.Faultf(-1, define.CodeKind, "`map` has the type that its node says")
		},
		Ref:   mapRef,
		Laws:  op.Pure,
		Flow:  op.Flow{Rate: op.Once},
		Shard: op.Shard{Kind: op.ShardAligned},
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 4) },
		// Only a Full operand may lend its memory: a transposed one is read after the elements at
		// its place are written. The engine looks at the node's modes.
		Alias: true,
		Kernel: func(c *op.Call) error {
			if c.Body == nil {
				return op.Failf(define.CodeData, "map without a body")
			}
			if c.Type.Kind == types.Scalar {
				v, err := mapRef(c)
				c.Out = v
				return err
			}
			return run.execute(c.Body, c.In, c.Result(), placeOf(c))
		},
		Loop:  elementLoop(run, run.programOf),
		Nests: mapNests,
	}
}

// mapRef evaluates the chain element by element.
func mapRef(c *op.Call) (value.Value, error) {
	p := c.Body
	drawn, err := drawnRef(c)
	if err != nil {
		return nil, err
	}
	regs := make([]value.Scalar, len(p.In)+len(p.Steps))
	args := make([]value.Scalar, 0, 8)
	at := func(i, j int) (value.Scalar, error) {
		for k, o := range p.In {
			switch o.Mode {
			case op.Drawn:
				regs[k] = drawn[k-len(c.In)].At(i, j)
			case op.Trans:
				regs[k] = c.Dense(k).At(j, i)
			default:
				regs[k] = define.ElementAt(c.In[k], i, j)
			}
		}
		for k, s := range p.Steps {
			args = args[:0]
			for _, r := range s.Args {
				args = append(args, regs[r])
			}
			y, err := define.ApplyElt(s.Def, s.Elem, args)
			if err != nil {
				return y, err
			}
			regs[len(p.In)+k] = y
		}
		return regs[len(regs)-1], nil
	}
	if c.Type.Kind == types.Scalar {
		return at(0, 0)
	}
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for i := range out.Rows {
		for j := range out.Cols {
			y, err := at(i, j)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	return out, nil
}
