package kernels

// This file defines the rows that make sparse matrices of dense ones and back: sparse, dense, nnz; and what the rows of
// the family share. A row of the family takes the calls of a dense row (op.Def.For) that have a sparse argument, and
// has one representation of its result, which follows from the operator and from which arguments are sparse, never
// from the data. The representations are in the table of lang/spec.md, section "Sparse matrices".
//
// A sparse matrix stores exactly the elements that are not zero (value.CSR): results are written with the zeros that
// come up left out, and a negative zero is a zero.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/format"
	"flow/kernels/vec"
)

// codeColumns is the limit of column indices.
const codeColumns = "L003"

// sparseRows is the rows of the family; maps are the elementwise rows, reductions those of matrices.
func sparseRows(maps []*op.Def) []*op.Def {
	rows := sparseForms()
	rows = append(rows, sparseMaps(maps)...)
	rows = append(rows, sparseReductions()...)
	rows = append(rows, sparseMoves()...)
	rows = append(rows, sparseProducts()...)
	return append(rows, sparseGenerators()...)
}

func sparseForms() []*op.Def {
	return []*op.Def{
		{
			Name: "sparse",
			Doc: "sparse is a matrix stored by its elements that are not zero; a sparse one is returned as it is. A negative zero becomes zero. " +
				"Every operator has one representation of its result: see the table in the language reference.",
			Args: []op.Arg{{Name: "x", Doc: "matrix of at most 2147483647 columns"}},
			Eg:   eg("sparse(eye(2) * 3)", "sparse f64[2,2], 2 stored\n0 0 3\n1 1 3\n"),
			Type: func(s *op.Sig) (types.Type, error) {
				t := s.In[0]
				if !t.IsMatrix() || !t.Elem.IsNumeric() {
					return t, op.Faultf(0, codeKind, "`sparse` needs a matrix of numbers, not %v", t)
				}
				return sparseOf(-1, t)
			},
			Ref:  func(c *op.Call) (value.Value, error) { return keptRef(everyElement(c.In[0])), nil },
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: sparseCost(1),
			Kernel: func(c *op.Call) error {
				c.Out = c.In[0]
				if d, ok := c.In[0].(*value.Dense); ok {
					c.Out = compressed(d)
				}
				return nil
			},
		},
		{
			Name: "sp.dense", For: "dense", Word: "dense", Hidden: true,
			Doc:  "sp.dense is a sparse matrix in dense representation.",
			Args: []op.Arg{{Name: "x"}},
			Type: func(s *op.Sig) (types.Type, error) {
				return denseResult(s, types.DenseOf(s.In[0].Elem, s.In[0].Rows, s.In[0].Cols))
			},
			Ref:  func(c *op.Call) (value.Value, error) { return everyElement(c.In[0]), nil },
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: sparseCost(1),
			Kernel: func(c *op.Call) error { spread(c.Result(), c.In[0].(*value.CSR)); return nil },
		},
		{
			Name: "nnz",
			Doc:  "nnz is the number of elements that are not zero, stored or not; nan counts. Of a sparse matrix it is known without looking at the elements.",
			Args: []op.Arg{{Name: "x", Doc: "matrix"}},
			Eg:   append(eg("nnz(sparse(eye(5)))", "5"), eg("nnz(eye(5))", "5")...),
			Type: func(s *op.Sig) (types.Type, error) {
				if !s.In[0].IsMatrix() {
					return s.In[0], op.Faultf(0, codeKind, "`nnz` needs a matrix, not %v", s.In[0])
				}
				return types.ScalarOf(types.I64), nil
			},
			Ref: func(c *op.Call) (value.Value, error) {
				n := int64(0)
				for _, x := range elements(everyElement(c.In[0])) {
					if x.True() {
						n++
					}
				}
				return value.I64(n), nil
			},
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
			Cost: func(s *op.Sig, _ types.Type) op.Work {
				if s.In[0].IsSparse() {
					return op.Work{Bytes: 16}
				}
				return op.Work{Bytes: float64(s.In[0].Rows) * float64(s.In[0].Cols) * float64(s.In[0].Elem.Size())}
			},
			Kernel: func(c *op.Call) error {
				if m, ok := c.In[0].(*value.CSR); ok {
					c.Out = value.I64(int64(m.NNZ()))
				} else {
					c.Out = value.I64(nonZeros(c.Dense(0)))
				}
				return nil
			},
		},
	}
}

// sparseOf is the sparse type of a matrix of type t, or the limit that it meets; arg is whom to blame.
func sparseOf(arg int, t types.Type) (types.Type, error) {
	if t.Cols > value.MaxSparseCols {
		return t, op.Faultf(arg, codeColumns, "a sparse matrix has at most %d columns, not %d", value.MaxSparseCols, t.Cols)
	}
	return types.SparseOf(t.Elem, t.Rows, t.Cols), nil
}

// denseResult is t, unless an operator on sparse matrices would fill the memory of this machine with it. A program that
// stays sparse is meant to be larger than memory as a dense one, so this is asked before the run.
func denseResult(s *op.Sig, t types.Type) (types.Type, error) {
	if !t.Known() {
		return t, nil
	}
	need, have := float64(t.Rows)*float64(t.Cols)*float64(t.Elem.Size()), float64(format.Memory())
	if need > have {
		return t, op.Faultf(-1, codeMemory, "the result of `%s` is dense: a %v takes %s, more than there is (%s)", sourceName(s.Def), t,
			format.InBytes(need), format.InBytes(have)).
			WithHelp("`*`, `and` and functions that keep zero give sparse results; see the table of representations in the language reference")
	}
	return t, nil
}

// guess is the number of entries that costs reckon with, where only the run will tell: eight a row.
func guess(t types.Type) float64 {
	if t.Rows < 0 || t.Cols < 0 {
		return 0
	}
	if t.IsSparse() {
		return min(8, float64(t.Cols)) * float64(t.Rows)
	}
	return elementCount(t)
}

// sparseCost is the work of going over every entry once.
func sparseCost(flops float64) func(*op.Sig, types.Type) op.Work {
	return func(s *op.Sig, out types.Type) op.Work {
		w := op.Work{Bytes: guess(out) * float64(out.Elem.Size())}
		for _, t := range s.In {
			w.Flops += flops * guess(t)
			w.Bytes += guess(t) * float64(t.Elem.Size()+4)
		}
		return w
	}
}

// everyElement is v as a dense matrix on the heap, element by element: for definitions.
func everyElement(v value.Value) *value.Dense {
	m, ok := v.(*value.CSR)
	if !ok {
		return asDense(v)
	}
	d := value.New(m.Elem, m.Rows, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			d.Set(i, j, m.At(i, j))
		}
	}
	return d
}

// keptRef is the sparse form of d, for definitions: the elements that are not zero, one after the other.
func keptRef(d *value.Dense) *value.CSR {
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

// compressed is the sparse form of d.
func compressed(d *value.Dense) *value.CSR {
	switch d.Elem {
	case types.F64:
		return compressDense(d, d.F64, func(m *value.CSR) []float64 { return m.F64 })
	case types.F32:
		return compressDense(d, d.F32, func(m *value.CSR) []float32 { return m.F32 })
	case types.Bool:
		return compressDense(d, d.Bool, func(*value.CSR) []uint8 { return nil })
	}
	return compressDense(d, d.I64, func(m *value.CSR) []int64 { return m.I64 })
}

func compressDense[T vec.Element](d *value.Dense, x []T, values func(*value.CSR) []T) *value.CSR {
	n := 0
	for i := range d.Rows {
		for _, v := range x[i*d.Stride:][:d.Cols] {
			if v != 0 {
				n++
			}
		}
	}
	m := value.NewCSR(d.Elem, d.Rows, d.Cols, n)
	val, k := values(m), 0
	for i := range d.Rows {
		for j, v := range x[i*d.Stride:][:d.Cols] {
			if v == 0 {
				continue
			}
			m.Col[k] = int32(j)
			if val != nil {
				val[k] = v
			}
			k++
		}
		m.Ptr[i+1] = int64(k)
	}
	return m
}

// spread fills out, of m's shape and element type, with the elements of m.
func spread(out *value.Dense, m *value.CSR) {
	clearDense(out)
	for i := range m.Rows {
		cols, at := m.Row(i)
		to := i * out.Stride
		switch m.Elem {
		case types.F64:
			for k, j := range cols {
				out.F64[to+int(j)] = m.F64[at+k]
			}
		case types.F32:
			for k, j := range cols {
				out.F32[to+int(j)] = m.F32[at+k]
			}
		case types.Bool:
			for _, j := range cols {
				out.Bool[to+int(j)] = 1
			}
		default:
			for k, j := range cols {
				out.I64[to+int(j)] = m.I64[at+k]
			}
		}
	}
}

// pruned is the sparse matrix of m's shape whose entries are those of the pattern (ptr, col) with the values of vals
// (1 x len(col)) that are not zero. It may take over the arrays, which must begin at 0.
func pruned(rows, cols int, ptr []int64, col []int32, vals *value.Dense) *value.CSR {
	m := &value.CSR{Elem: vals.Elem, Rows: rows, Cols: cols, Ptr: ptr, Col: col}
	switch vals.Elem {
	case types.F64:
		m.F64 = vals.F64
		m.Col, m.F64 = prune(m, m.F64)
	case types.F32:
		m.F32 = vals.F32
		m.Col, m.F32 = prune(m, m.F32)
	case types.Bool:
		m.Col, _ = prune(m, vals.Bool)
	default:
		m.I64 = vals.I64
		m.Col, m.I64 = prune(m, m.I64)
	}
	return m
}

// prune drops the entries of m whose value in x is zero, in place.
func prune[T vec.Element](m *value.CSR, x []T) ([]int32, []T) {
	first := 0
	for first < len(x) && x[first] != 0 {
		first++
	}
	if first == len(x) {
		return m.Col, x
	}
	to, from := 0, int64(0)
	for i := range m.Rows {
		end := m.Ptr[i+1]
		for k := from; k < end; k++ {
			if x[k] != 0 {
				m.Col[to], x[to] = m.Col[k], x[k]
				to++
			}
		}
		from, m.Ptr[i+1] = end, int64(to)
	}
	return m.Col[:to], x[:to]
}
