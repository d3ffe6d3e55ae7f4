package kernels

// This file makes rows of functions that a Go program brings along.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/elementwise"
)

// Function is the row of an elementwise operator on floats, from its definition on float64. Of f32
// it is rounded to f32, integers and truth values become f64. f may be called by several workers at
// once and must not keep x.
func Function(name, doc string, args []string, f func(x []float64) float64) *op.Def {
	r := elementwise.Row{Name: name, Args: args, Doc: doc, Rule: define.AsFloat, Flops: 20, Native: f, Elt: func(x []value.Scalar) value.Scalar {
		at := make([]float64, len(x))
		for i := range x {
			at[i] = x[i].F
		}
		return define.Number(x[0].Elem, f(at))
	}}
	return (&engine{}).executes([]*op.Def{r.Def()})[0]
}

// Whole is the row of an operator on whole dense matrices. shape gives the type of the result for
// those of the arguments, which are numeric scalars and dense matrices of known sizes; apply fills
// out, which begins as zeros, of a scalar 1 x 1. It is definition and kernel in one, so that
// nothing compares it with anything.
func Whole(name, doc string, args []string, shape func([]types.Type) (types.Type, error), apply func(out *value.Dense, in []value.Value) error) *op.Def {
	d := &op.Def{Name: name, Doc: doc, Laws: op.Pure,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 10) }}
	for _, a := range args {
		d.Args = append(d.Args, op.Arg{Name: a})
	}
	d.Type = func(s *op.Sig) (types.Type, error) {
		for i, t := range s.In {
			if !t.Elem.IsNumeric() || !t.IsScalar() && !t.IsDense() {
				return types.Type{}, op.Faultf(i, define.CodeKind, "%s takes numbers and dense matrices of them; this is %s", name, t)
			}
			if t.IsDense() && !t.Known() {
				return types.Type{}, op.Faultf(i, define.CodeKind, "%s takes matrices whose size is known before the run; this is %s", name, t)
			}
		}
		t, err := shape(s.In)
		if err != nil {
			return types.Type{}, op.Faultf(-1, define.CodeShape, "%v", err)
		}
		return t, nil
	}
	run := func(c *op.Call, out *value.Dense) (err error) {
		defer func() {
			if v := recover(); v != nil && op.Panicked(v) == nil {
				err = op.Failf(define.CodeData, "it panicked: %v", v)
			} else if v != nil {
				err = op.Panicked(v)
			}
		}()
		if err := apply(out, c.In); err != nil {
			return op.Failf(define.CodeData, "%v", err)
		}
		return nil
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		out := value.New(types.F64, c.Type.Rows, c.Type.Cols)
		if c.Type.IsScalar() {
			out = value.New(types.F64, 1, 1)
		}
		if err := run(c, out); err != nil {
			return nil, err
		}
		if c.Type.IsScalar() {
			return out.At(0, 0), nil
		}
		return out, nil
	}
	d.Kernel = func(c *op.Call) error {
		if c.Type.IsScalar() {
			v, err := d.Ref(c)
			c.Out = v
			return err
		}
		out := c.Result()
		clear(out.F64)
		return run(c, out)
	}
	return d
}
