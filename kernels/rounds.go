package kernels

// This file defines the row `rounds`: a loop over scalars and matrices of a few thousand elements, all
// rounds of which are one task. Where there are many, it is one compiled loop over a few numbers, or
// stages.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/nest"
)

func roundsRow() *op.Def {
	return define.OfBody(op.Def{
		Name: "rounds",
		Role: op.Rounds,
		Doc:  "rounds runs a loop over numbers that a cache holds as one task; the pass rounds makes it.",
		Cost: func(*op.Sig, types.Type) op.Work {
			return op.Work{Flops: 1e5} // of a loop with an unknown number of rounds
		},
		Kernel: roundsKernel,
		Nests:  roundsNests,
	})
}

// planned is a body whose loops and branches have plans.
func planned(b *op.Body) *op.Body {
	b.Compiled(func(b *op.Body) any { nest.PlanStages(b); return nil })
	return b
}

// roundsNests is the loops of a call.
func roundsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	return nest.LoopsIn(planned(c.Bodies[0]))
}

// roundsKernel runs a loop over a few numbers, many rounds in a call if the work is worth it, and others by stages.
func roundsKernel(c *op.Call) error {
	p := nest.NewStaged(planned(c.Bodies[0]), c, loopsFrom.Load())
	defer p.Free()
	out, err := p.On(c.In)
	if err != nil {
		return err
	}
	define.LendResults(c)
	for k, v := range out {
		if d, dense := v.(*value.Dense); dense {
			into := c.Lent(k)
			if into == nil {
				into = value.New(d.Elem, d.Rows, d.Cols)
			}
			into.CopyFrom(d)
			v = into
		}
		if v != nil {
			c.Give(k, v)
		}
	}
	return nil
}
