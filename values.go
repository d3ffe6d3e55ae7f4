package flow

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"flow/ir/types"
	"flow/ir/value"
)

// This file defines the values of Go programs, and how Flow programs get them.

// Matrix is a dense matrix: element (i, j) is Data[i*Cols+j]. With gonum, mat.NewDense(m.Rows,
// m.Cols, m.Data) is the same matrix in the same memory.
type Matrix[E Element] struct {
	Rows, Cols int // at least 0
	Data       []E // Rows*Cols elements
}

// Element is the constraint of matrix elements.
type Element interface {
	float64 | float32 | int64 | bool
}

// At returns element (i, j), counted from 0. It panics outside the matrix.
func (m Matrix[E]) At(i, j int) E {
	if i < 0 || i >= m.Rows || j < 0 || j >= m.Cols {
		panic(fmt.Sprintf("flow: element (%d, %d) of a matrix of %d x %d", i, j, m.Rows, m.Cols))
	}
	return m.Data[i*m.Cols+j]
}

// Row returns row i, in the matrix's memory.
func (m Matrix[E]) Row(i int) []E { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Sparse is a sparse matrix of f64 by its nonzeros: entry k, Value[k], is in row Row[k] and column
// Col[k]. As a result its entries are ordered by row, then by column. As an input they may have any
// order, but no place twice; zeros are dropped.
type Sparse struct {
	Rows, Cols int       // at least 0
	Row, Col   []int     // of the entries, counted from 0
	Value      []float64 // of the entries
}

// textOf returns a scalar as on the command line.
func textOf(v any) (text string, ok bool) {
	switch v := v.(type) {
	case float64:
		return value.FormatFloat(v, 64), true
	case float32:
		return value.FormatFloat(float64(v), 32), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return v, true
	}
	return "", false
}

// valueOf converts a matrix for the engine, in the same memory if possible.
func valueOf(v any) (value.Value, error) {
	switch v := v.(type) {
	case []float64:
		return denseOf(Matrix[float64]{len(v), 1, v})
	case []float32:
		return denseOf(Matrix[float32]{len(v), 1, v})
	case []int64:
		return denseOf(Matrix[int64]{len(v), 1, v})
	case []bool:
		return denseOf(Matrix[bool]{len(v), 1, v})
	case []int:
		return denseOf(Matrix[int64]{len(v), 1, words(v)})
	case [][]float64:
		return rowsOf(v)
	case [][]float32:
		return rowsOf(v)
	case [][]int64:
		return rowsOf(v)
	case [][]bool:
		return rowsOf(v)
	case [][]int:
		rows := make([][]int64, len(v))
		for i := range v {
			rows[i] = words(v[i])
		}
		return rowsOf(rows)
	case Matrix[float64]:
		return denseOf(v)
	case Matrix[float32]:
		return denseOf(v)
	case Matrix[int64]:
		return denseOf(v)
	case Matrix[bool]:
		return denseOf(v)
	case Sparse:
		return sparseOf(v)
	case interface {
		Dims() (rows, cols int)
		At(i, j int) float64
	}:
		rows, cols := v.Dims()
		d := value.New(types.F64, rows, cols)
		for i := range rows {
			for j := range cols {
				d.F64[i*cols+j] = v.At(i, j)
			}
		}
		return d, nil
	}
	return nil, fmt.Errorf("a %T is neither a scalar nor a matrix that Flow knows; CompileOptions.Values lists what is", v)
}

func words(x []int) []int64 {
	w := make([]int64, len(x))
	for i := range x {
		w[i] = int64(x[i])
	}
	return w
}

// denseOf returns a matrix in the memory of m, except for bool.
func denseOf[E Element](m Matrix[E]) (value.Value, error) {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		return nil, fmt.Errorf("a matrix of %d x %d with %d elements", m.Rows, m.Cols, len(m.Data))
	}
	d := &value.Dense{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols}
	switch data := any(m.Data).(type) {
	case []float64:
		d.Elem, d.F64 = types.F64, data
	case []float32:
		d.Elem, d.F32 = types.F32, data
	case []int64:
		d.Elem, d.I64 = types.I64, data
	case []bool:
		d.Elem, d.Bool = types.Bool, make([]uint8, len(data))
		for i, b := range data {
			if b {
				d.Bool[i] = 1
			}
		}
	}
	return d, nil
}

// rowsOf copies rows of one length.
func rowsOf[E Element](rows [][]E) (value.Value, error) {
	m := Matrix[E]{Rows: len(rows)}
	for i, r := range rows {
		if i == 0 {
			m.Cols = len(r)
		}
		if len(r) != m.Cols {
			return nil, fmt.Errorf("row 0 has %d elements and row %d has %d", m.Cols, i, len(r))
		}
		m.Data = append(m.Data, r...)
	}
	return denseOf(m)
}

func sparseOf(s Sparse) (value.Value, error) {
	if len(s.Row) != len(s.Value) || len(s.Col) != len(s.Value) {
		return nil, fmt.Errorf("a sparse matrix with %d rows, %d columns and %d values of entries", len(s.Row), len(s.Col), len(s.Value))
	}
	if s.Rows < 0 || s.Cols < 0 || s.Cols > value.MaxSparseCols {
		return nil, fmt.Errorf("a sparse matrix of %d x %d", s.Rows, s.Cols)
	}
	order := make([]int, 0, len(s.Value))
	for k, x := range s.Value {
		if s.Row[k] < 0 || s.Row[k] >= s.Rows || s.Col[k] < 0 || s.Col[k] >= s.Cols {
			return nil, fmt.Errorf("entry %d is at (%d, %d) of %d x %d", k, s.Row[k], s.Col[k], s.Rows, s.Cols)
		}
		if x != 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if s.Row[a] != s.Row[b] {
			return s.Row[a] - s.Row[b]
		}
		return s.Col[a] - s.Col[b]
	})
	m := value.NewCSR(types.F64, s.Rows, s.Cols, len(order))
	for i, k := range order {
		if i > 0 && s.Row[k] == s.Row[order[i-1]] && s.Col[k] == s.Col[order[i-1]] {
			return nil, fmt.Errorf("two entries are at (%d, %d)", s.Row[k], s.Col[k])
		}
		m.Ptr[s.Row[k]+1]++
		m.Col[i], m.F64[i] = int32(s.Col[k]), s.Value[k]
	}
	for i := range s.Rows {
		m.Ptr[i+1] += m.Ptr[i]
	}
	return m, nil
}

// goValue converts a value of the engine to a copy for a Go program.
func goValue(v value.Value) any {
	switch v := v.(type) {
	case value.Scalar:
		switch v.Elem {
		case types.F64:
			return v.F
		case types.F32:
			return float32(v.F)
		case types.Bool:
			return v.I != 0
		case types.Str:
			return v.S
		}
		return v.I
	case *value.Dense:
		c := v.Clone()
		switch c.Elem {
		case types.F64:
			return Matrix[float64]{c.Rows, c.Cols, c.F64}
		case types.F32:
			return Matrix[float32]{c.Rows, c.Cols, c.F32}
		case types.Bool:
			m := Matrix[bool]{c.Rows, c.Cols, make([]bool, len(c.Bool))}
			for i, b := range c.Bool {
				m.Data[i] = b != 0
			}
			return m
		}
		return Matrix[int64]{c.Rows, c.Cols, c.I64}
	case *value.CSR:
		s := Sparse{Rows: v.Rows, Cols: v.Cols}
		for i := range v.Rows {
			cols, _ := v.Row(i)
			for _, j := range cols {
				s.Row, s.Col = append(s.Row, i), append(s.Col, int(j))
				s.Value = append(s.Value, v.At(i, int(j)).Float())
			}
		}
		return s
	}
	panic(fmt.Sprintf("BUG: a %v is emitted", v.Type()))
}

// hashValue adds a matrix to h, since ranks compare their inputs.
func hashValue(h io.Writer, v value.Value) {
	fmt.Fprintln(h, v.Type())
	switch v := v.(type) {
	case *value.Dense:
		_, _ = h.Write(v.Bytes()) // a hash takes everything
	case *value.CSR:
		for _, part := range []any{v.Ptr, v.Col, v.F64} {
			_ = binary.Write(h, binary.LittleEndian, part)
		}
	}
}
