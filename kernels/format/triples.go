package format

// This file makes sparse matrices of their entries in any order.

import (
	"fmt"
	"math"
	"slices"

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

// build returns the matrix. Entries that occur twice are added in the order of the list, and what comes
// to zero is left out.
func (t *triples) build(in *input) (*value.CSR, error) {
	n := len(t.row)
	if n > math.MaxInt32 {
		return nil, failf(TooLarge, in.file, "%d entries are more than Flow reads from a file (%d)", n, math.MaxInt32)
	}
	// The matrix, where the next entry of each row lies, and the list itself.
	entries := 12 + 2*float64(t.header.Elem.Size())
	need := 16*float64(t.header.Rows) + float64(n)*entries
	what := fmt.Sprintf("reading a sparse %d x %d matrix of %d entries", t.header.Rows, t.header.Cols, n)
	line := 0
	if float64(n)*entries < need/2 {
		line = t.widest
	}
	if err := in.holds(line, what, need, float64(n)*float64(8+t.header.Elem.Size())); err != nil {
		return nil, err
	}
	m := t.byRow()
	if more := float64(m.AddEqualBytes()); more > 0 {
		if err := in.holds(line, what, need+more, need); err != nil {
			return nil, err
		}
	}
	m.AddEqual()
	return m, nil
}

// byRow returns the entries in their rows, in the order of the list. So a column may come twice, and
// columns need not ascend.
func (t *triples) byRow() *value.CSR {
	m := value.NewCSR(t.header.Elem, t.header.Rows, t.header.Cols, len(t.row))
	for _, i := range t.row {
		m.Ptr[i+1]++
	}
	m.SumLengths()
	next := slices.Clone(m.Ptr)
	for k, i := range t.row {
		at := next[i]
		next[i]++
		switch m.Col[at] = t.col[k]; m.Elem {
		case types.F64:
			m.F64[at] = math.Float64frombits(t.val[k])
		case types.I64:
			m.I64[at] = int64(t.val[k])
		}
	}
	return m
}
