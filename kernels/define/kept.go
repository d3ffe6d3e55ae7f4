package define

// This file defines sparse matrices element by element, for definitions.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

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

// InForm is the definition ref of a row on dense matrices, for operands in either form and a result in the
// form that the call asks for.
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
