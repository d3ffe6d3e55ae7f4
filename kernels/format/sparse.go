package format

// This file defines the sparse form of Matrix Market.

import (
	"bufio"
	"strconv"

	"flow/ir/types"
	"flow/ir/value"
)

// readMarketSparse reads a Matrix Market file of coordinates.
func readMarketSparse(in *input, o Options, headOnly bool) (Header, *value.CSR, error) {
	r := &marketReader{lineReader: lineReader{in: in}, sparse: &triples{}}
	if err := r.sparseHead(); err != nil || headOnly {
		return r.Header, nil, err
	}
	r.sparse.header = r.Header
	if err := r.read(o); err != nil {
		return r.Header, nil, err
	}
	m, err := r.sparse.build(in)
	return r.Header, m, err
}

// sparseHead reads the head of a file of coordinates. There is no matrix yet.
func (r *marketReader) sparseHead() error {
	if err := r.head(); err != nil {
		return err
	}
	r.Sparse, r.Entries = true, r.entries
	if r.sym != general {
		r.Entries *= 2
	}
	switch {
	case !r.coordinate:
		return r.fail(0, "an array file holds a dense matrix").help("sparse(read(..)) makes it sparse")
	case r.Cols > value.MaxSparseCols || r.Rows > value.MaxSparseCols:
		return r.fail(0, "%d x %d: a sparse matrix in a file has at most %d rows and columns", r.Rows, r.Cols, value.MaxSparseCols)
	}
	return nil
}

func writeMarketSparse(w *bufio.Writer, m *value.CSR) error {
	field := "integer"
	switch {
	case m.Elem == types.Bool:
		field = "pattern"
	case m.Elem.IsFloat():
		field = "real"
	}
	text := []byte("%%MatrixMarket matrix coordinate " + field + " general\n")
	for k, n := range []int{m.Rows, m.Cols, m.NNZ()} {
		text = append(strconv.AppendInt(text, int64(n), 10), " \n"[k/2])
	}
	for i := range m.Rows {
		cols, at := m.Row(i)
		for k := range cols {
			text = AppendEntry(text, m, i, at+k, 1)
			if len(text) > 1<<15 {
				if _, err := w.Write(text); err != nil {
					return err
				}
				text = text[:0]
			}
		}
	}
	_, err := w.Write(text)
	return err
}

// AppendEntry appends a line with the entry of m at a place, which is in row i: row, column and, but
// for bool, value. Rows and columns count from first.
func AppendEntry(text []byte, m *value.CSR, i, at, first int) []byte {
	text = append(strconv.AppendInt(text, int64(i+first), 10), ' ')
	text = strconv.AppendInt(text, int64(m.Col[at])+int64(first), 10)
	if m.Elem != types.Bool {
		text = append(text, ' ')
	}
	switch m.Elem {
	case types.F64:
		text = AppendFloat(text, m.F64[at], 64)
	case types.F32:
		text = AppendFloat(text, float64(m.F32[at]), 32)
	case types.I64:
		text = strconv.AppendInt(text, m.I64[at], 10)
	}
	return append(text, '\n')
}
