package format

// This file defines reading and writing sparse matrices: which formats have a sparse form, and
// Matrix Market's.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"flow/ir/types"
	"flow/ir/value"
)

// StatSparse is the head of a file for a matrix that is to be read sparse: nothing of its size need fit memory
// but its entries.
func StatSparse(path string, o Options) (Header, error) {
	h, _, err := readSparse(path, o, true)
	return h, err
}

// ReadSparse is the matrix in a file as a sparse one: a Matrix Market file of coordinates, or .csr.
func ReadSparse(path string, o Options) (*value.CSR, error) {
	_, m, err := readSparse(path, o, false)
	return m, err
}

func readSparse(path string, o Options, headOnly bool) (h Header, m *value.CSR, err error) {
	f, _, err := choose(path, o)
	if err != nil {
		return h, nil, err
	}
	if f.readSparse == nil {
		return h, nil, holdsDense(path, f)
	}
	err = open(path, f.cause, o, func(in *input) error {
		h, m, err = f.readSparse(in, o, headOnly)
		return err
	})
	return h, m, err
}

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

// AppendEntry appends a line with the entry of m at a place, which is in row i: row, column and, but for bool,
// value. Rows and columns count from first.
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

// open runs f on a file, decompressed if it is compressed.
func open(path string, cause Cause, o Options, f func(in *input) error) error {
	file, err := openCounted(path, o.Read)
	if err != nil {
		return err
	}
	defer file.file.Close()
	in := newInput(path)
	if st, err := file.file.Stat(); err == nil && st.Mode().IsRegular() {
		in.size, in.plain = st.Size(), file
	}
	if err := in.unpack(file, cause); err != nil {
		return err
	}
	return f(in)
}

// blocks gives pieces of whole lines of about a MiB; the last may lack its line end. Decompression
// goes on in another goroutine while a piece is worked on.
func (in *input) blocks(f func(block []byte) error) error {
	const size = 1 << 20
	type piece struct {
		text []byte
		err  error
	}
	full, empty, stop := make(chan piece, 2), make(chan []byte, 4), make(chan struct{})
	defer func() {
		close(stop)
		for range full { // the reader ends before the file is closed
		}
	}()
	go func() {
		defer close(full)
		send := func(p piece) bool {
			select {
			case full <- p:
				return true
			case <-stop:
				return false
			}
		}
		var rest []byte
		for {
			var buf []byte
			select {
			case buf = <-empty:
			default:
			}
			if len(rest) > in.longest {
				send(piece{err: in.tooLong(0)})
				return
			}
			if cap(buf) < size+len(rest) { // twice as much for a long line, or each piece of it would be copied again and again
				var err error
				if buf, err = grow[byte](in, 0, nil, max(size, len(rest))+len(rest)); err != nil {
					send(piece{err: err})
					return
				}
			}
			buf = buf[:cap(buf)]
			n := copy(buf, rest)
			got, err := io.ReadFull(in.Reader, buf[n:])
			n += got
			if err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
				if n > 0 {
					send(piece{text: buf[:n]})
				}
				return
			}
			end := bytes.LastIndexByte(buf[:n], '\n') + 1
			rest = append(rest[:0], buf[end:n]...)
			if !send(piece{buf[:end], err}) || err != nil {
				return
			}
		}
	}()
	for p := range full {
		if err := f(p.text); err != nil {
			return err
		}
		if p.err != nil {
			return p.err
		}
		select {
		case empty <- p.text:
		default:
		}
	}
	return nil
}
