package flow

import (
	"errors"
	"fmt"
	"regexp"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels"
)

// This file defines operators of a Go program.

// Operator is a row that a Go program adds to the operator table. It has Each, or Shape and Apply.
// Its result must depend only on its arguments: Flow calls it any number of times, from several
// workers, on any rank, and skips calls whose result is unused. Ranks in processes of their own
// must have the same operators; comparing builds compares their code.
type Operator struct {
	Name string   // the name in programs, different from all of Flow's
	Doc  string   // for whoever lists the table
	Args []string // the names of the arguments, at least one

	// Each makes an elementwise operator from a function of one number an argument: shapes
	// broadcast, integers and bools become f64, and a result of f32 arguments is rounded to
	// f32. It takes part in fusion and in loop bodies. It must not keep x.
	Each func(x []float64) float64

	// Shape returns the result's shape for the arguments' shapes, which are known before the
	// run: numbers and dense matrices, whose elements Apply gets as float64. An error refuses
	// the program, with this text.
	Shape func(in []Shape) (Shape, error)
	// Apply fills out, zeros of the promised shape, from the arguments; scalars are 1 x 1. It
	// must neither write to the arguments, which may be values of the program, nor keep them.
	// An error fails the run, with this text.
	Apply func(out Matrix[float64], in []Matrix[float64]) error
}

// Shape is the shape of an argument or a result: a scalar, or a dense matrix.
type Shape struct {
	Scalar     bool // a number, not a matrix
	Rows, Cols int  // 0 of a scalar
}

var nameOfOperator = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// ownRows returns operators as rows of the table.
func ownRows(list []Operator) (rows []*op.Def, err error) {
	for _, o := range list {
		d, err := o.row()
		if err != nil {
			return nil, fmt.Errorf("the operator %q: %w", o.Name, err)
		}
		rows = append(rows, d)
	}
	return rows, nil
}

func (o Operator) row() (*op.Def, error) {
	switch {
	case !nameOfOperator.MatchString(o.Name):
		return nil, errors.New("a name is a letter, and then letters, digits and _")
	case len(o.Args) == 0:
		return nil, errors.New("it has no arguments")
	case o.Each != nil && (o.Shape != nil || o.Apply != nil):
		return nil, errors.New("it has Each and also Shape or Apply")
	case o.Each != nil:
		return kernels.Function(o.Name, o.Doc, o.Args, o.Each), nil
	case o.Shape == nil || o.Apply == nil:
		return nil, errors.New("it needs Each, or both Shape and Apply")
	}
	return kernels.Whole(o.Name, o.Doc, o.Args, o.shapeRule, o.apply), nil
}

func (o Operator) shapeRule(in []types.Type) (types.Type, error) {
	shapes := make([]Shape, len(in))
	for i, t := range in {
		shapes[i] = Shape{Scalar: t.IsScalar(), Rows: t.Rows, Cols: t.Cols}
	}
	s, err := o.Shape(shapes)
	if err != nil || s.Scalar {
		return types.ScalarOf(types.F64), err
	}
	if s.Rows < 0 || s.Cols < 0 {
		return types.Type{}, fmt.Errorf("its result would be %d x %d", s.Rows, s.Cols)
	}
	return types.DenseOf(types.F64, s.Rows, s.Cols), nil
}

func (o Operator) apply(out *value.Dense, in []value.Value) error {
	args := make([]Matrix[float64], len(in))
	for i, v := range in {
		args[i] = floats(v)
	}
	return o.Apply(Matrix[float64]{out.Rows, out.Cols, out.F64}, args)
}

// floats returns a scalar or dense matrix as float64, in its own memory if possible.
func floats(v value.Value) Matrix[float64] {
	d, ok := v.(*value.Dense)
	switch {
	case !ok:
		return Matrix[float64]{1, 1, []float64{v.(value.Scalar).Float()}}
	case d.Elem == types.F64 && (d.Stride == d.Cols || d.Rows < 2):
		return Matrix[float64]{d.Rows, d.Cols, d.F64[:d.Rows*d.Cols]}
	}
	m := Matrix[float64]{d.Rows, d.Cols, make([]float64, d.Rows*d.Cols)}
	for i := range d.Rows {
		for j := range d.Cols {
			m.Data[i*d.Cols+j] = d.At(i, j).Float()
		}
	}
	return m
}
