package kernels

// This file runs single elementwise operators as pipelines of one step, and reductions without a chain as
// pipelines without a step. An engine keeps one program for each combination of types and modes of
// operands, so compiled code serves later calls.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// mostArgs is the most operands of an elementwise row.
const mostArgs = 3

// singleKey identifies the program of a single operator.
type singleKey struct {
	def  *op.Def
	out  types.Elem
	n    int
	in   [mostArgs]types.Elem
	mode [mostArgs]op.Mode
}

// singleOf returns the key of operator d with n operands in and a result of type out.
func singleOf(d *op.Def, out types.Type, n int, in func(k int) types.Type) singleKey {
	x := singleKey{def: d, out: out.Elem, n: n}
	for k := range n {
		t := in(k)
		x.in[k], x.mode[k] = t.Elem, op.Full
		switch {
		case t.IsScalar() || t.Rows == 1 && t.Cols == 1:
			x.mode[k] = op.Single
		case t.Rows == 1 && out.Rows != 1:
			x.mode[k] = op.RowVec
		case t.Cols == 1 && out.Cols != 1:
			x.mode[k] = op.ColVec
		}
	}
	return x
}

// program returns the operator as a program of one step.
func (k *singleKey) program() *op.Program {
	p := &op.Program{Steps: []op.Step{{Def: k.def, Elem: k.out}}}
	for a := range k.n {
		p.In = append(p.In, op.Operand{Elem: k.in[a], Mode: k.mode[a]})
		p.Steps[0].Args = append(p.Steps[0].Args, a)
	}
	return p
}

// single returns the program of c's operator.
func (e *engine) single(c *op.Call) (*op.Program, error) {
	out := c.Result().Type()
	for _, v := range c.In {
		if t := v.Type(); t.IsDense() && (t.Rows != 1 && t.Rows != out.Rows || t.Cols != 1 && t.Cols != out.Cols) {
			return nil, op.Failf(define.CodeShape, "shapes of `%s` do not agree: %v and %v", define.SourceName(c.Def), t, out)
		}
	}
	k := singleOf(c.Def, out, len(c.In), func(k int) types.Type { return c.In[k].Type() })
	return e.singles.Of(k, func() *op.Program { return k.program() }), nil
}

// executes gives elementwise rows the kernel and the loop of their one-step programs. Rows that
// have a kernel keep it.
func (e *engine) executes(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Kernel == nil {
			e.runsMaps(d)
		}
	}
	return rows
}

// runsMaps gives a row of maps, or one elementwise row, its kernel and its loop.
func (e *engine) runsMaps(d *op.Def) {
	e.runs(d, mapSpace, e.mapJob)
	d.Loop.Light, d.Loop.Rows = true, op.RowsOfResult // unless an operand is read transposed
	matrices := d.Kernel
	d.Kernel = func(c *op.Call) (err error) {
		switch {
		case c.Type.Kind != types.Scalar:
			return matrices(c)
		case c.Body != nil:
			c.Out, err = mapRef(c)
			return err
		}
		x := make([]value.Scalar, len(c.In))
		for i := range c.In {
			x[i] = c.Scalar(i)
		}
		c.Out, err = define.ApplyElt(c.Def, c.Type.Elem, x)
		return err
	}
}

// folded makes the reductions among rows run as pipelines. Exceptions are reductions of each row, those of
// a rank's block, and calls with few elements.
func (e *engine) folded(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		f := reduce.Named(d.Name)
		if f == nil || f.Axis == reduce.OverRows || f.Axis == reduce.OverAll && f.Part {
			continue
		}
		small, read := d.Kernel, func(c *op.Call) (job, error) { return foldJob(c, f), nil }
		e.runs(d, read, read)
		d.Loop.Light = true
		large := d.Kernel
		d.Kernel = func(c *op.Call) error {
			if n := c.In[0].Type().Count(); n == 0 || f.Axis == reduce.OverAll && n <= blockElems {
				return small(c)
			}
			return large(c)
		}
	}
	return rows
}

// plain holds the program without a step for each type of elements.
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
