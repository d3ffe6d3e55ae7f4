package define

// This file defines elementwise operators on scalars, and elements of values as definitions read
// them.

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// OperandElem is the element type in which d takes operand k of type in, the operands meeting in wide
// and the result being out.
func OperandElem(d *op.Def, k int, in, wide, out types.Elem) types.Elem {
	switch {
	case d.Operands == op.AsChosen && k == 0:
		return types.Bool
	case d.Operands == op.AsCommon:
		return wide
	case d.Operands == op.AsGiven:
		return in
	}
	return out
}

// Widest is the common element type of in by the implicit conversions, or the first when they do
// not meet.
func Widest(in []types.Elem) types.Elem {
	e := in[0]
	for _, f := range in[1:] {
		if w, ok := types.Widen(e, f); ok {
			e = w
		}
	}
	return e
}

// NoValue is the failure of d of operands x, or nil. x has the types in which d computes a result
// of type out.
func NoValue(d *op.Def, out types.Elem, x []value.Scalar) error {
	switch {
	case !d.Fails(x[0].Elem, out):
	case d.Partial == op.NotByZero && x[1].I == 0:
		return op.Failf(CodeData, "%s: integer division by zero", SourceName(d)).
			WithHelp("replace(b, 0, 1) has 1 in its place, and by f64(b) the result is inf or nan; ifelse computes both of its values")
	case d.Partial == op.InWords && x[0].F != x[0].F:
		return op.Failf(CodeData, "%s: nan is no integer", SourceName(d)).WithHelp("replace(x, nan, 0) has another number in its place")
	case d.Partial == op.InWords && !vec.IsWord(x[0].F):
		return op.Failf(CodeData, "%s: %v is outside of the integers of i64, which go from -2^63 to 2^63 - 1", SourceName(d), x[0]).
			WithHelp("clamp(x, -9e18, 9e18) brings it inside")
	}
	return nil
}

// Elt is an elementwise row on scalars of known types.
type Elt struct {
	def   *op.Def
	out   types.Elem
	takes []types.Elem // the types in which def computes
	fails bool         // there may be no value
}

// EltOf is d on scalars of the types of x, with a result of type out.
func EltOf(d *op.Def, out types.Elem, x []value.Scalar) Elt {
	return eltOf(d, out, x, make([]types.Elem, 0, len(x)))
}

// eltOf is EltOf that appends the types in which d computes to takes.
func eltOf(d *op.Def, out types.Elem, x []value.Scalar, takes []types.Elem) Elt {
	wide := x[0].Elem
	for k := range x[1:] {
		if w, ok := types.Widen(wide, x[k+1].Elem); ok {
			wide = w
		}
	}
	for k := range x {
		takes = append(takes, OperandElem(d, k, x[k].Elem, wide, out))
	}
	return Elt{d, out, takes, d.Fails(takes[0], out)}
}

// Of converts x to the types in which the row computes, then applies its Elt. The conversions stay
// in x, which belongs to the caller alone.
func (e *Elt) Of(x []value.Scalar) (value.Scalar, error) {
	for k, elem := range e.takes {
		if x[k].Elem != elem {
			x[k] = x[k].Convert(elem)
		}
	}
	if e.fails {
		if err := NoValue(e.def, e.out, x); err != nil {
			return value.Scalar{}, err
		}
	}
	z := e.def.Elt(x)
	return z, op.TextTooLong(len(z.S)) // no more than twice as much has been allocated
}

// ApplyElt is the Elt of d on x.
func ApplyElt(d *op.Def, out types.Elem, x []value.Scalar) (value.Scalar, error) {
	var takes [4]types.Elem // more operands cost an allocation
	e := eltOf(d, out, x, takes[:0])
	return e.Of(x)
}

// ElementAt is element (i, j) of v stretched to any shape.
func ElementAt(v value.Value, i, j int) value.Scalar {
	switch v := v.(type) {
	case *value.Dense:
		if v.Rows == 1 {
			i = 0
		}
		if v.Cols == 1 {
			j = 0
		}
		return v.At(i, j)
	case value.Scalar:
		return v
	}
	panic("BUG: elementwise operand is neither scalar nor dense")
}

// Elements is the list of all elements of v in row-major order, for definitions.
func Elements(v value.Value) []value.Scalar {
	switch v := v.(type) {
	case value.Scalar:
		return []value.Scalar{v}
	case *value.Dense:
		out := make([]value.Scalar, 0, v.Rows*v.Cols)
		for i := range v.Rows {
			for j := range v.Cols {
				out = append(out, v.At(i, j))
			}
		}
		return out
	}
	panic("BUG: reduction of neither scalar nor dense")
}

// Placed is the matrix of type t whose element (i, j) is at(i, j), converted to its type, for
// definitions.
func Placed(t types.Type, at func(i, j int) value.Scalar) *value.Dense {
	out := value.New(t.Elem, t.Rows, t.Cols)
	for i := range t.Rows {
		for j := range t.Cols {
			out.Set(i, j, at(i, j))
		}
	}
	return out
}

// AsDense is v as a matrix; a scalar is one of 1 x 1.
func AsDense(v value.Value) *value.Dense {
	if s, ok := v.(value.Scalar); ok {
		d := value.New(s.Elem, 1, 1)
		d.Set(0, 0, s)
		return d
	}
	return v.(*value.Dense)
}

// Canonical makes every NaN the same one, so that which of several NaNs came first cannot show.
func Canonical(s value.Scalar) value.Scalar {
	if s.Elem.IsFloat() && math.IsNaN(s.F) {
		s.F = math.NaN()
	}
	return s
}

// Contains reports an element that equals v, nan counting as equal to itself.
func Contains(x []value.Scalar, v value.Scalar) bool {
	for _, u := range x {
		if u.F == v.F && u.I == v.I || math.IsNaN(u.F) && math.IsNaN(v.F) {
			return true
		}
	}
	return false
}

// KeptRef is the sparse form of d, for definitions: the elements that are not zero, one after the
// other.
func KeptRef(d *value.Dense) *value.CSR {
	m := value.NewCSR(d.Elem, d.Rows, d.Cols, 0)
	for i := range d.Rows {
		for j := range d.Cols {
			x := d.At(i, j)
			if !x.True() {
				continue
			}
			m.Col = append(m.Col, int32(j))
			switch d.Elem {
			case types.F64:
				m.F64 = append(m.F64, x.F)
			case types.F32:
				m.F32 = append(m.F32, float32(x.F))
			case types.I64:
				m.I64 = append(m.I64, x.I)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}

// EveryElement is v as a dense matrix on the heap, element by element: for definitions.
func EveryElement(v value.Value) *value.Dense {
	m, ok := v.(*value.CSR)
	if !ok {
		return AsDense(v)
	}
	return Placed(types.DenseOf(m.Elem, m.Rows, m.Cols), m.At)
}

// InForm is the definition ref of a row on dense matrices, for operands in either form and a result in
// the form that the call asks for.
func InForm(ref func(c *op.Call) (value.Value, error)) func(c *op.Call) (value.Value, error) {
	return func(c *op.Call) (value.Value, error) {
		wide := *c
		if c.Type.IsSparse() {
			wide.Type.Repr = types.Dense
		}
		wide.In = slices.Clone(c.In)
		for k, v := range c.In {
			if m, ok := v.(*value.CSR); ok {
				wide.In[k] = EveryElement(m)
			}
		}
		v, err := ref(&wide)
		if err != nil || !c.Type.IsSparse() {
			return v, err
		}
		return KeptRef(v.(*value.Dense)), nil
	}
}
