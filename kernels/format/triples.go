package format

// This file makes sparse matrices of their entries in any order.

import (
	"fmt"
	"math"

	"flow/ir/types"
	"flow/ir/value"
)

// triples is a matrix as the list of its entries in any order.
type triples struct {
	header   Header
	row, col []int32
	val      []uint64 // the values: bits of f64, or i64; none of bool
	widest   int      // the line that says how large the matrix is; 0: unknown
}

// room makes room for n entries more.
func (t *triples) room(in *input, line, n int) (err error) {
	if t.row, err = grow(in, line, t.row, n); err != nil {
		return err
	}
	if t.col, err = grow(in, line, t.col, n); err == nil && t.header.Elem != types.Bool {
		t.val, err = grow(in, line, t.val, n)
	}
	return err
}

// put makes entry k of the list entry at of m.
func (t *triples) put(m *value.CSR, at int, k int32) {
	switch m.Col[at] = t.col[k]; m.Elem {
	case types.F64:
		m.F64[at] = math.Float64frombits(t.val[k])
	case types.I64:
		m.I64[at] = int64(t.val[k])
	}
}

// build sorts the entries by row and column, adds those that occur twice in the order of the list,
// and leaves out what comes to zero. Two passes of counting, each stable: by column, then by row.
func (t *triples) build(in *input) (*value.CSR, error) {
	n := len(t.row)
	if n > math.MaxInt32 {
		return nil, failf(TooLarge, in.file, "%d entries are more than Flow reads from a file (%d)", n, math.MaxInt32)
	}
	// The matrix, the counts of both passes, the order of each, and the list itself.
	need := 8*float64(t.header.Rows) + 4*float64(t.header.Rows) + 4*float64(t.header.Cols) + float64(n)*(16+3*float64(t.header.Elem.Size()))
	what := fmt.Sprintf("reading a sparse %d x %d matrix of %d entries", t.header.Rows, t.header.Cols, n)
	line := 0
	if entries := 16 + 3*float64(t.header.Elem.Size()); float64(n)*entries < need/2 {
		line = t.widest
	}
	if err := in.holds(line, what, need, float64(n)*float64(8+t.header.Elem.Size())); err != nil {
		return nil, err
	}
	byCol := counted(t.col, t.header.Cols, nil)
	order := counted(t.row, t.header.Rows, byCol)
	m := value.NewCSR(t.header.Elem, t.header.Rows, t.header.Cols, n)
	to := -1
	lastRow, lastCol := int32(-1), int32(-1)
	for _, k := range order {
		i, j := t.row[k], t.col[k]
		switch {
		case i != lastRow || j != lastCol:
			to++
			lastRow, lastCol = i, j
			m.Ptr[i+1]++
			t.put(m, to, k)
		case m.Elem == types.F64:
			m.F64[to] = sum(m.F64[to], math.Float64frombits(t.val[k]))
		case m.Elem == types.I64:
			m.I64[to] += int64(t.val[k])
		}
	}
	m.SumLengths()
	switch m.Elem {
	case types.F64:
		dropZeros(m, &m.F64)
	case types.I64:
		dropZeros(m, &m.I64)
	default:
		m.Col = m.Col[:to+1]
	}
	return m, nil
}

// sum is old + x, where an old zero is no entry yet: 0 + -0 would lose the sign.
func sum(old, x float64) float64 {
	if old == 0 {
		return x
	}
	return old + x
}

// counted is the places of keys (below n) in ascending order of key, those of equal keys in the
// order of from (nil: as they lie).
func counted(keys []int32, n int, from []int32) []int32 {
	at := make([]int32, n+1)
	for _, k := range keys {
		at[k+1]++
	}
	for k := range n {
		at[k+1] += at[k]
	}
	out := make([]int32, len(keys))
	if from == nil {
		for p, k := range keys {
			out[at[k]] = int32(p)
			at[k]++
		}
		return out
	}
	for _, p := range from {
		k := keys[p]
		out[at[k]] = p
		at[k]++
	}
	return out
}

// dropZeros leaves the entries of m whose values, x, are not zero.
func dropZeros[T float64 | int64](m *value.CSR, x *[]T) {
	to, from := 0, 0
	for i := range m.Rows {
		for end := int(m.Ptr[i+1]); from < end; from++ {
			if v := (*x)[from]; v != 0 {
				(*x)[to], m.Col[to] = v, m.Col[from]
				to++
			}
		}
		m.Ptr[i+1] = int64(to)
	}
	m.Col, *x = m.Col[:to], (*x)[:to]
}
