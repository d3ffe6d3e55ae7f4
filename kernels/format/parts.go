package format

// This file reads parts of files: by the name of a file it says which parts can be read, and by whom.

import (
	"bufio"
	"encoding/binary"
	"math"
	"os"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// CutRows finds the shape of a CSV and its cuts. ok is false if the file cannot be cut or has a
// mistake. StatOrRead then reports the mistake.
func CutRows(path string, o Options) (h Header, cuts *Cuts, ok bool) {
	return cutRows(path, o, leastBlock)
}

// CountsLines reports whether the shape of a file with this name takes all of it.
func CountsLines(path string, o Options) bool {
	f, _, err := choose(path, o)
	return err == nil && f.cause == CSV
}

func cutRows(path string, o Options, block int64) (h Header, cuts *Cuts, ok bool) {
	f, compressed, err := choose(path, o)
	if err != nil || f.cause != CSV || compressed {
		return h, nil, false
	}
	err = open(path, CSV, o, func(in *input) error {
		if o.Sep == 0 {
			o.Sep = f.sep
		}
		r, names, _, _, err := headCSV(in, o)
		if err != nil || in.compressed || in.feeds || in.plain == nil {
			return err
		}
		c := Task{Path: path, Size: in.size, Block: max(block, in.size/mostBlocks)}
		cuts = &Cuts{Cols: r.taken, Fields: r.cols, Place: r.place, Heads: r.heads, First: r.first}
		above := 0
		if names {
			c.Begin, above = in.begun+r.size, r.no
		} else {
			c.Begin = in.begun
		}
		a, err := o.share(c)
		if err != nil || !cuts.join(a.Spans, above) {
			return errUncut
		}
		h = Header{Elem: types.F64, Rows: cuts.Rows, Cols: cuts.Cols}
		if err := r.someRows(h, o.Header); err != nil {
			return err
		}
		ok = in.fits(h) == nil
		return nil
	})
	return h, cuts, ok && err == nil
}

// Open opens a CSV for reading by its cuts, with the options that it was cut with.
func (c *Cuts) Open(path string, o Options) (*RowReader, error) {
	f, _, err := choose(path, o)
	if err != nil {
		return nil, err
	}
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	file, err := openCounted(path, o.Read)
	if err != nil {
		return nil, err
	}
	in := newInput(path)
	in.Reader = bufio.NewReaderSize(file, bufferSize)
	x := &RowReader{cuts: c, file: file, row: -1, r: newCSV(in, o)}
	x.r.cols, x.r.first, x.r.heads, x.r.choice = c.Fields, c.First, c.Heads, choice{c.Place, c.Cols}
	return x, nil
}

// HasParts reports whether ReadPart can read a part of a file with this name, if the file is what the
// name says.
func HasParts(path string, o Options) bool {
	f, compressed, err := choose(path, o)
	return err == nil && f.placed && !compressed
}

// ReadPart sets out to the elements from (row, col) on of the matrix in an .npy file, without reading
// all of it. It returns false if the caller must read the whole file: it has no places in which parts
// begin, the part does not lie in the matrix, or the file has a mistake. Read reports the mistake.
func ReadPart(path string, o Options, out *value.Dense, row, col int) bool {
	if !HasParts(path, o) {
		return false
	}
	file, err := openCounted(path, o.Read)
	if err != nil {
		return false
	}
	defer file.file.Close()
	st, err := file.file.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	// out is there, so nothing asks how much memory the machine has, which takes as long as a small part
	in := &input{file: path, size: st.Size(), memory: memory.Limit{Bytes: math.MaxInt64}, longest: mostLine, Reader: bufio.NewReaderSize(file, 1<<9)}
	h, err := npyHead(in)
	size := int64(h.size)
	if err != nil || h.fortran && out.Rows < h.Rows && out.Rows*h.size < leastRun || h.Elem != out.Elem || st.Size() != h.at+int64(h.Rows)*int64(h.Cols)*size ||
		row < 0 || col < 0 || row+out.Rows > h.Rows || col+out.Cols > h.Cols {
		return false
	}
	if out.Rows == 0 || out.Cols == 0 {
		return true
	}
	place := func(i int) int64 { return h.at + (int64(row+i)*int64(h.Cols)+int64(col))*size }
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	same := !h.fortran && h.size == h.Elem.Size() && h.kind != 'b' && h.Elem != types.Bool && (h.order == binary.LittleEndian) == little
	if same && out.Cols == h.Cols && out.Stride == out.Cols {
		_, err := file.ReadAt(out.Bytes(), place(0))
		return err == nil
	}
	if h.fortran {
		return h.columns(file, out, row, col)
	}
	return h.spans(file, out, place, same)
}

// Keep reads the entries of a plain Matrix Market file of coordinates, or (graph) of a list of edges or
// of a square pattern, together with other processes (Options.Share). Each process keeps the entries
// that it reads. ok is false if they have not done so, or if the file has a mistake: the caller then
// reads the file alone, which reports the mistake.
func Keep(path string, o Options, graph bool) (k Kept, ok bool) {
	ext := extension(path, o)
	market, cause := !graph || ext == "mtx", Edges
	if o.Share == nil || ext == "csr" || market && !Shared(path, o) {
		return k, false
	}
	if market {
		cause = MatrixMarket
	}
	_ = open(path, cause, o, func(in *input) error {
		entries := -1
		t, some := edgesTask(in, o, ext, partBlock)
		if market {
			r := &marketReader{lineReader: lineReader{in: in}, sparse: &triples{}}
			if err := r.sparseHead(); err != nil {
				return err
			}
			k.Header, entries = r.Header, r.entries
			t, some = r.task(partBlock)
			some = some && (!graph || r.Elem == types.Bool && r.Rows == r.Cols) // zeros are no edges
		}
		if !some {
			return nil
		}
		t.Keep, t.Graph = true, market && graph
		a, err := o.share(t)
		if err != nil {
			return err
		}
		n, most := 0, int32(-1)
		for _, e := range a.Parts {
			n, most = n+e.Count, max(most, e.Most)
		}
		if graph {
			if vertices := int(most) + 1; !market {
				k.Header = Header{Elem: types.Bool, Rows: vertices, Cols: vertices, Sparse: true, Entries: n}
			}
			k.ByRow, k.ByCol = make([]float64, k.Rows), make([]float64, k.Cols)
			for _, e := range a.Parts {
				for i, n := range of[int32](e.From) {
					k.ByRow[i] += float64(n)
					k.ByCol[i] += float64(of[int32](e.To)[i])
				}
			}
		}
		ok = n > 0 && (!market || n == entries) && in.holds(0, "the rows", 12*float64(k.Rows), 0) == nil
		return nil
	})
	return k, ok
}

// Shared reports whether ranks can read a matrix together (Options.Share): it is a plain Matrix Market
// file that is large enough.
func Shared(path string, o Options) bool {
	f, _, err := choose(path, o)
	return err == nil && f.cause == MatrixMarket && Plain(path)
}

// Plain reports whether a file is large enough for ranks to read it together and not compressed, by its
// name.
func Plain(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() > partBlock &&
		!strings.HasSuffix(strings.ToLower(path), ".gz")
}

// HasSparseParts reports whether ReadRows can read rows of a file with this name, provided that HasRows
// finds no mistake.
func HasSparseParts(path string, o Options) bool {
	f, compressed, err := choose(path, o)
	return err == nil && !compressed && f.cause == CSR
}

// HasRows reports whether ReadRows can read rows of the sparse matrix in a file: nothing is wrong with
// its head, its length and its checksum. All of the file is read for that, in blocks (Options.Share).
func HasRows(path string, o Options) bool {
	return csrParts(path, o, func(in *input, h csrLayout) error {
		_, err := in.summed(o, h, 0)
		return err
	})
}

// GraphRows is HasRows of the square matrix of a graph, with a checksum and without values. It also
// counts the edges of each vertex, and finds all mistakes of the file.
func GraphRows(path string, o Options) (k Kept, ok bool) {
	return k, csrParts(path, o, func(in *input, h csrLayout) error {
		if h.Rows != h.Cols || !h.summed || h.Elem != types.Bool || in.holds(0, "the rows", 28*float64(h.Rows), 0) != nil {
			return errUncut
		}
		parts, err := in.summed(o, h, h.Cols)
		if err != nil {
			return err
		}
		k = Kept{Header: h.Header}
		k.ByRow, k.ByCol = memory.Huge(make([]float64, h.Rows)), memory.Huge(make([]float64, h.Cols))
		if err := in.lengths(h, k.ByRow); err != nil {
			return err
		}
		for _, e := range parts {
			for j, n := range of[int32](e.To) {
				k.ByCol[j] += float64(n)
			}
		}
		return nil
	})
}

// csrParts calls f with the open file and the head of a .csr. ok is false if its rows cannot be read
// alone, or f fails.
func csrParts(path string, o Options, f func(in *input, h csrLayout) error) (ok bool) {
	if !HasSparseParts(path, o) {
		return false
	}
	err := open(path, CSR, o, func(in *input) error {
		h, err := readCSRHead(in)
		if err == nil && (in.plain == nil || in.compressed) {
			err = errUncut
		}
		if err == nil {
			err = f(in, h)
		}
		return err
	})
	return err == nil
}

// ReadRows reads the rows lo..hi-1 of the sparse matrix in a file for which HasRows holds. The other
// rows of the result are empty. The error says that reading failed, not where: reading the whole file
// does.
func ReadRows(path string, o Options, lo, hi int) (m *value.CSR, err error) {
	if !csrParts(path, o, func(in *input, h csrLayout) error {
		if hi > h.Rows {
			return errUncut
		}
		ptr := make([]int64, hi-lo+1)
		if _, err := in.plain.ReadAt(bytesOf(ptr), h.at+8*int64(lo)); err != nil {
			return err
		}
		from, to := ptr[0], ptr[hi-lo]
		if from < 0 || to < from || to > int64(h.Entries) || lo == 0 && from != 0 || hi == h.Rows && to != int64(h.Entries) {
			return errUncut
		}
		if err := in.holds(0, "the rows", 8*float64(h.Rows)+float64(to-from)*float64(4+h.per()), 0); err != nil {
			return err
		}
		part := value.NewCSR(h.Elem, hi-lo, h.Cols, int(to-from))
		for i, p := range ptr {
			part.Ptr[i] = p - from
		}
		if _, err := in.plain.ReadAt(bytesOf(part.Col), h.cols()+4*from); err != nil {
			return err
		}
		for _, p := range [][]byte{bytesOf(part.F64), bytesOf(part.F32), bytesOf(part.I64)} {
			if len(p) == 0 {
				continue
			}
			if _, err := in.plain.ReadAt(p, h.values()+h.per()*from); err != nil {
				return err
			}
		}
		m = part.Padded(lo, h.Rows)
		return part.Check()
	}) {
		return nil, errUncut
	}
	return m, nil
}
