package kernels

// This file defines the row `rounds`: a loop over scalars and matrices of a few thousand elements whose
// rounds are all one task. If there are many rounds, compiled nests run many of them in a call, or run
// the stages of a round.

import (
	"sync"

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

// interpretersOf returns the idle interpreters of b. The first call plans the loops and branches in b.
// All calls share both: a call in a round of an outer loop takes the memory of the call before it.
func interpretersOf(b *op.Body) *sync.Pool {
	return b.Compiled(func(b *op.Body) any { nest.PlanStages(b); return &sync.Pool{} }).(*sync.Pool)
}

// roundsNests returns the nests of a call, and the reason why some rounds are made one by one.
func roundsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	interpretersOf(c.Bodies[0]) // plans the body
	return nest.LoopsIn(c.Bodies[0])
}

// roundsKernel runs a loop and sets its results. It fails as the body fails, or with op.ErrStopped.
func roundsKernel(c *op.Call) error {
	idle := interpretersOf(c.Bodies[0])
	old, _ := idle.Get().(*nest.Interpreter)
	p := nest.NewStaged(old, c.Bodies[0], c, loopsFrom.Load())
	out, err := p.On(c.In)
	if err != nil {
		p.Free()
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
	p.Free()
	idle.Put(p)
	return nil
}
