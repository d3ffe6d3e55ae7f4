package define

// This file defines sparse matrices element by element, for definitions.

import (
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
	d := value.New(m.Elem, m.Rows, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			d.Set(i, j, m.At(i, j))
		}
	}
	return d
}
