package encode

// This file defines the states of sums and counts by code, which ranks merge.

import (
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
)

// onehotStates is the rows of this file.
func onehotStates() []*op.Def {
	return []*op.Def{
		define.ByKernel(&op.Def{
			Name: "onehot.stack", Hidden: true,
			Doc:  "onehot.stack is the panels of onehot.sums, one below the other.",
			Args: sumsArgs, Cost: sumsCost,
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := sumsType(s)
				if err != nil {
					return t, err
				}
				return linalg.StackOf(s, t)
			},
			Laws: op.Pure, Keyed: &op.Keyed{Panel: panelOfSums, Stacked: true, Write: sumsOfRow},
			Loop: &op.Loop{
				Rows:  op.RowsOfResult,
				Space: func(c *op.Call) (n, leaf int) { return beginCut(c).Panels, 1 },
				Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return beginStack(c), nil },
			},
		}),
		define.ByKernel(&op.Def{
			Name: "counts.join", Hidden: true,
			Doc:  "counts.join adds counts, which are whole numbers, in any order.",
			Args: []op.Arg{{Name: "x", Rest: true}},
			Type: func(s *op.Sig) (types.Type, error) {
				for i, t := range s.In {
					if !t.IsDense() || !t.Equal(s.In[0]) {
						return t, op.Faultf(i, define.CodeKind, "counts.join of %v", t)
					}
				}
				return s.In[0], nil
			},
			Laws: op.Pure | op.Total,
			Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
			Kernel: func(c *op.Call) error {
				if c.Type.Elem == types.I64 {
					joinCounts[int64](c, c.Result())
				} else {
					joinCounts[float64](c, c.Result())
				}
				return nil
			},
		}),
	}
}

func joinCounts[T int64 | float64](c *op.Call, out *value.Dense) {
	sum := dense.GridOf[T](out)
	for k := range c.In {
		x := dense.GridOf[T](c.Dense(k))
		for i := range sum.Rows {
			for j, v := range x.Row(i) {
				if k == 0 {
					sum.Row(i)[j] = v
				} else {
					sum.Row(i)[j] += v
				}
			}
		}
	}
}

// beginStack begins the loop of the panels of sums.
func beginStack(c *op.Call) op.LoopBody {
	sums := *c
	sums.Type.Rows = c.Attrs.Int("k")
	b := beginSums(&sums)
	return linalg.StackBody(b.PanelGrid, b, func(made []atomic.Bool) {
		out := dense.GridOf[float64](c.Result())
		for p, sum := range b.sums {
			for i := range sum.Rows {
				if made[p].Load() {
					copy(out.Row(p*sum.Rows+i), sum.Row(i))
				}
			}
		}
	})
}
