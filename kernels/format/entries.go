package format

// This file reads the entries of graphs and matrices by blocks of their text. Several threads or ranks parse
// blocks, and one joins the entries in the order of the file.

import (
	"bufio"
	"io"
	"os"
	"unsafe"

	"flow/ir/types"
	"flow/memory"
)

// Entries is what some blocks hold, in the order of the file. The numbers are bytes in the machine's order,
// because ranks send them.
type Entries struct {
	Row, Col []byte // int32, from 0 on; empty for arrays, whose entries have no places
	F64, I64 []byte // the values: one is empty, and both are for edges and patterns
	Most     int32  // the greatest vertex of the edges; -1: no edge
	Lines    int    // number of lines of edges
	Widest   int    // the line of the greatest vertex, counted from the first of these lines
	Sum      uint32 // CRC-32C of Bytes bytes
	Bytes    int64
}

// Market is what a Matrix Market file says of its entries.
type Market struct {
	Elem       types.Elem
	Rows, Cols int
	Entries    int // announced
	Array      bool
	Symmetry   uint8
}

// partBlock is the size of a block of entries.
const partBlock = 256 << 10

// entries reads the blocks lo..hi-1 of a task.
func (c Task) entries(lo, hi int) (e Entries, err error) {
	file, err := openCounted(c.Path, c.read)
	if err != nil {
		return e, err
	}
	defer file.file.Close()
	if c.Sum {
		return c.sum(file, lo, hi)
	}
	in := newInput(c.Path)
	begin, err := c.lineAt(file, lo)
	if err != nil {
		return e, err
	}
	end, err := c.lineAt(file, hi)
	if err != nil {
		return e, err
	}
	in.Reader = bufio.NewReaderSize(io.NewSectionReader(file, begin, end-begin), bufferSize)
	if c.Edges {
		return c.edges(in, lo == 0)
	}
	return c.Market.entries(in, int(float64(c.Market.Entries)*float64(end-begin)/float64(c.Size-c.Begin)))
}

// lineAt returns the byte at which the first line of block k begins, or that of a later block if none
// begins in block k.
func (c Task) lineAt(file io.ReaderAt, k int) (int64, error) {
	at := min(c.Begin+int64(k)*c.Block, c.Size)
	if k == 0 || at == c.Size {
		return at, nil
	}
	in := newInput(c.Path)
	in.Reader = bufio.NewReaderSize(io.NewSectionReader(file, at-1, c.Size-at+1), 1<<12)
	n, err := in.skipLine(c.Size - at + 1)
	return at - 1 + n, err
}

// Shared reports whether ranks can read a matrix together (Options.Share): it is a plain Matrix Market file
// that is large enough.
func Shared(path string, o Options) bool {
	f, compressed, err := choose(path, o)
	if err != nil || compressed || f.cause != MatrixMarket {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() > partBlock
}

// entries reads the entries up to the end of in, as they are stored. about is their expected number.
func (m *Market) entries(in *input, about int) (Entries, error) {
	r := &marketReader{lineReader: lineReader{in: in}, stored: true, sparse: &triples{header: Header{Elem: m.Elem}}}
	r.Elem, r.Rows, r.Cols, r.sym, r.coordinate, r.entries = m.Elem, m.Rows, m.Cols, symmetry(m.Symmetry), !m.Array, -1
	t := r.sparse
	if !m.Array {
		if err := t.room(in, 0, about+about/16+linesAtOnce); err != nil { // lines of a part may be shorter than others
			return Entries{}, err
		}
	}
	err := r.body()
	return Entries{Row: bytesOf(t.row), Col: bytesOf(t.col), F64: bytesOf(t.f64), I64: bytesOf(t.i64)}, err
}

// cut reads the entries by blocks. It returns false if that does not pay, or if an entry has a mistake. The
// caller then reads line by line, and reports the mistake.
func (r *marketReader) cut(o Options, block int64) (ok bool, err error) {
	in := r.in
	if o.Share == nil { // two threads alone take no less time than one that stores entries where they belong
		return false, nil
	}
	if in.compressed || in.plain == nil || in.size-r.lineReader.size <= block || max(r.Rows, r.Cols) > 1<<31-1 {
		return false, nil
	}
	if memory.ReserveProduct(int64(r.entries), int64(8+r.Elem.Size())) != nil { // one entry after the other takes less
		return false, nil
	}
	a, err := o.share(Task{Path: in.file, Size: in.size, Begin: r.lineReader.size, Block: block,
		Market: &Market{r.Elem, r.Rows, r.Cols, r.entries, !r.coordinate, uint8(r.sym)}})
	if err != nil {
		return false, nil
	}
	n := 0
	for _, e := range a.Parts {
		n += max(len(e.F64)/8, len(e.I64)/8, len(e.Row)/4)
	}
	if n != r.entries {
		return false, nil
	}
	if r.sparse != nil {
		if r.sym != general {
			n *= 2
		}
		if err := r.sparse.room(in, r.no, n); err != nil {
			return false, err
		}
	}
	put := r.filler()
	for _, e := range a.Parts {
		row, col, x, n := of[int32](e.Row), of[int32](e.Col), of[float64](e.F64), of[int64](e.I64)
		for k := range max(len(row), len(x), len(n)) {
			v, w := 0.0, int64(1)
			if len(x) > 0 {
				v = x[k]
			} else if len(n) > 0 {
				w = n[k]
			}
			if r.coordinate {
				r.add(int(row[k]), int(col[k]), v, w)
			} else {
				put(v, w)
			}
		}
	}
	return true, nil
}

// of returns b as numbers. They share its memory.
func of[T int32 | int64 | float64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}
