package kernels

// This file defines the row `rounds`: a loop over scalars and matrices of a few thousand elements whose
// rounds are all one task. If there are many rounds, compiled nests run many of them in a call, or run the
// stages of a round.

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

// planned returns b after it has planned the loops and branches in it, once for all calls.
func planned(b *op.Body) *op.Body {
	b.Compiled(func(b *op.Body) any { nest.PlanStages(b); return nil })
	return b
}

// roundsNests returns the nests of a call, and the reason why some rounds are made one by one.
func roundsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	return nest.LoopsIn(planned(c.Bodies[0]))
}

// roundsKernel runs a loop and sets its results. It fails as the body fails, or with op.ErrStopped.
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
