package sparse

// This file defines what the rows of the family share.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
	"flow/memory"
)

// bitset is a set of columns.
type bitset []uint64

// sparseOf is Of with what a type rule says of the dense form.
func sparseOf(t types.Type, err error) (types.Type, error) {
	if err != nil {
		return t, err
	}
	return Of(0, t)
}

// denseResult is t, unless an operator on sparse matrices would fill the memory of this machine
// with it. A program that stays sparse is meant to be larger than memory as a dense one, so this is
// asked before the run.
func denseResult(s *op.Sig, t types.Type) (types.Type, error) {
	if !t.Known() {
		return t, nil
	}
	if tell, is := define.Scarce(float64(t.Rows) * float64(t.Cols) * float64(t.Elem.Size())); is {
		return t, op.Faultf(-1, define.CodeMemory, "the result of `%s` is dense: a %v takes %s", define.SourceName(s.Def), t, tell).
			WithHelp("`*`, `and` and functions that keep zero give sparse results; see the table of representations in the language reference")
	}
	return t, nil
}

// spread fills out, of m's shape and element type, with the elements of m.
func spread(out *value.Dense, m *value.CSR) {
	dense.Clear(out)
	dense.ForElem(m.Elem, spreadOf[float64], spreadOf[float32], spreadOf[int64], spreadOf[uint8])(out, m)
}

// spreadOf sets the elements of d at the entries of m.
func spreadOf[T vec.Element](d *value.Dense, m *value.CSR) {
	out, stride, x := dense.GridOf[T](d).X, d.Stride, numbersOf[T](m, m.Elem)
	for i := range m.Rows {
		cols, at := m.Row(i)
		for k, j := range cols {
			v := T(1)
			if x != nil {
				v = x[at+k]
			}
			out[i*stride+int(j)] = v
		}
	}
}

// entries gives m the arrays for n entries, which hold anything, and its values as numbers of its
// element type; nil for bool.
func entries[T vec.Element](m *value.CSR, n int64) ([]T, error) {
	if tell, is := define.Scarce(float64(n) * float64(4+m.Elem.Size())); is {
		return nil, op.Failf(define.CodeMemory, "a %v with %d entries takes %s", m.Type(), n, tell)
	}
	memory.MustProduct(int(n), 4+m.Elem.Size()) // both arrays together: what is not written yet is not in use
	m.Col = memory.Fresh[int32](int(n))
	if m.Elem == types.Bool {
		return nil, nil
	}
	val := memory.Fresh[T](int(n))
	*dense.Values[T](m) = val
	return val, nil
}

// layOut makes the lengths of the rows of m, which are in Ptr, offsets, and makes room for the entries.
func layOut(m *value.CSR) error {
	m.SumLengths()
	return dense.ForElem(m.Elem, roomOf[float64], roomOf[float32], roomOf[int64], roomOf[uint8])(m)
}

func roomOf[T vec.Element](m *value.CSR) error {
	_, err := entries[T](m, m.Ptr[m.Rows])
	return err
}

// Of is the sparse type of a matrix of type t, or the limit that it meets; arg is whom to
// blame.
func Of(arg int, t types.Type) (types.Type, error) {
	if t.Cols > value.MaxSparseCols {
		return t, op.Faultf(arg, codeColumns, "a sparse matrix has at most %d columns, not %d", value.MaxSparseCols, t.Cols)
	}
	return types.SparseOf(t.Elem, t.Rows, t.Cols), nil
}

// codeColumns is the limit of column indices.
const codeColumns = "L003"

// denseSig is s with its arguments taken as dense, for the type rules of dense rows.
func denseSig(s *op.Sig) *op.Sig {
	d := *s
	d.In = make([]types.Type, len(s.In))
	for i, t := range s.In {
		t.Repr = types.Dense
		d.In[i] = t
	}
	return &d
}

// ofRank returns the rank's own rows of the sparse input of a call: rows Call.Lo to Hi-1, or all.
func ofRank(c *op.Call) *value.CSR {
	m := c.In[0].(*value.CSR)
	lo, hi := define.OwnRows(c, m.Rows)
	return m.View(lo, hi-lo)
}

// converted returns the values of m if a result of element type e has them converted; nil if not. A
// loop that reads each value once converts it in the loop, because each round of an iterate would
// copy all values.
func converted(m *value.CSR, e types.Elem) []int64 {
	if m.Elem == types.I64 && e == types.F64 {
		return m.I64
	}
	return nil
}

// numbersOf is the values of m in element type T = e; nil for a pattern.
func numbersOf[T vec.Element](m *value.CSR, e types.Elem) []T {
	if m.Elem == types.Bool {
		return nil
	}
	if integers := converted(m, e); integers != nil {
		x := make([]float64, len(integers))
		vec.Convert(x, integers)
		return any(x).([]T)
	}
	return *dense.Values[T](m)
}
