package kernels

// This file runs reductions that no chain precedes, as pipelines without a step.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
)

// folded makes the reductions among rows run as pipelines. Exceptions are reductions of each row, those of a
// rank's block, and calls with few elements.
func (e *engine) folded(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		f := reduce.Named(d.Name)
		if f == nil || f.Axis == reduce.OverRows || f.Axis == reduce.OverAll && f.Part {
			continue
		}
		small := d.Kernel
		d.Kernel = func(c *op.Call) error {
			if n := c.In[0].Type().Count(); n == 0 || f.Axis == reduce.OverAll && n <= blockElems {
				return small(c)
			}
			return e.whole(c, foldJob(c, f))
		}
		d.Loop = &op.Loop{
			Light: true,
			Space: func(c *op.Call) (n, leaf int) {
				if t := c.In[0].Type(); !t.IsDense() || !t.Known() {
					return 0, 1
				}
				j := foldJob(c, f)
				return j.space()
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return e.begin(c, foldJob(c, f), workers), nil },
		}
	}
	return rows
}

// plain has the program without a step for each type of elements.
var plain = map[types.Elem]*op.Program{
	types.F64:  {In: []op.Operand{{Elem: types.F64}}},
	types.F32:  {In: []op.Operand{{Elem: types.F32}}},
	types.I64:  {In: []op.Operand{{Elem: types.I64}}},
	types.Bool: {In: []op.Operand{{Elem: types.Bool}}},
}

// foldJob returns a reduction as a job.
func foldJob(c *op.Call, f *reduce.Fold) job {
	t := c.In[0].Type()
	out, _ := c.Out.(*value.Dense)
	return job{p: plain[t.Elem], in: c.In, rows: t.Rows, cols: t.Cols, elem: t.Elem, fold: f.Def.Name,
		ends: []ending{{Fold: f, result: c.Type, out: out}}}
}
