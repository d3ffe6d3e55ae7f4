package inout

// This file defines the loop of read. Workers and ranks read rows of a file, if the format lets them
// find a row without reading the rows above.

import (
	"fmt"
	"io"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/format"
	"flow/kernels/sparse"
	"flow/kernels/window"
)

// leafElements is the number of elements of a leaf, and leafRows the least number of rows. A text of so
// many elements takes about a millisecond. A file that is stored by columns is read by runs of so many
// rows.
const leafElements, leafRows = 1 << 15, 64

// parts reports whether a node with these attributes reads no more of its file than it returns.
func (f *fileCache) parts(a *op.Attrs) bool {
	path := a.Str("path")
	o, err := readOptions(a)
	if err != nil {
		return false
	}
	k, s := f.keyOf(path, o, denseFile)
	if s != nil {
		return false
	}
	if a.Bool("sparse") {
		return format.HasSparseParts(path, o) || f.strewn(a, sparseFile)
	}
	if format.HasParts(path, o) {
		return true
	}
	cuts := f.cutsOf(f.checked(k))
	w, part := window.RectOf(a, "at")
	return cuts != nil && (!part || w.Cols == cuts.Cols)
}

// strewn reports whether each rank gets a part of the entries of the file that a node with these
// attributes reads. A rank gets the entries that its process keeps. Ranks of one process get the
// entries of their rows.
func (f *fileCache) strewn(a *op.Attrs, kind fileKind) bool {
	o, err := readOptions(a)
	if err != nil || kind == sparseFile && !a.Bool("sparse") {
		return false
	}
	k, _ := f.keyOf(a.Str("path"), o, kind)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heads[k].kept || f.heads[k].whole
}

// wholeFile is a sparse matrix that is read once. Ranks of one process take their rows of it.
type wholeFile struct {
	once sync.Once
	m    *value.CSR
	err  error
	left int // rows not taken yet; guarded by the cache
}

// strewnRows returns a matrix of all rows with the entries that the rank gets of a strewn file. It
// fails if the file cannot be read or has changed.
func (f *fileCache) strewnRows(c *op.Call, path string, o format.Options, k fileKey) (value.Value, error) {
	f.mu.Lock()
	if f.heads[k].kept {
		f.mu.Unlock()
		return f.in.relocated(c.Attrs.Str("path"), k.kind == graphFile, c.Type)
	}
	w := f.wholes[k]
	if w == nil {
		w = &wholeFile{left: c.Type.Rows, err: fmt.Errorf("%s: reading was broken off", path)}
		f.wholes[k] = w
	}
	if w.left -= c.Hi - c.Lo; w.left <= 0 {
		delete(f.wholes, k)
	}
	f.mu.Unlock()
	w.once.Do(func() {
		m, err := f.taken(k), error(nil)
		switch {
		case m != nil:
		case k.kind == graphFile:
			m, err = format.ReadGraph(path, o)
		default:
			m, err = format.ReadSparse(path, o)
		}
		w.m, w.err = m, err
	})
	switch {
	case w.err != nil:
		return nil, fileFailure(w.err)
	case w.m.Type() != c.Type:
		return nil, changed(path)
	}
	return w.m.View(c.Lo, c.Hi-c.Lo).Padded(c.Lo, w.m.Rows), nil
}

// check keeps k as the version of its file that the program was checked with.
func (f *fileCache) check(k fileKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.when[version(k)] = k
}

// checked returns the key of the version of a file that the program was checked with, or k if there is
// none.
func (f *fileCache) checked(k fileKey) fileKey {
	f.mu.Lock()
	defer f.mu.Unlock()
	if was, ok := f.when[version(k)]; ok {
		return was
	}
	return k
}

// version returns the key of a file without its size and time: it is the same for all its versions.
func version(k fileKey) fileKey {
	k.size, k.mtime = 0, 0
	return k
}

// sparseRows reads this rank's rows of a sparse matrix. It returns nil if all of it must be read. It
// fails if the file is not, or no more, the one that the program was checked with: ranks would have
// rows of different ones.
func (f *fileCache) sparseRows(c *op.Call, path string, o format.Options, k fileKey) (*value.CSR, error) {
	m := f.sparseRows1(c, path, o, k)
	if now, _ := f.keyOf(path, o, k.kind); f.checked(k) != now {
		return nil, changed(path)
	}
	return m, nil
}

func (f *fileCache) sparseRows1(c *op.Call, path string, o format.Options, k fileKey) *value.CSR {
	f.mu.Lock()
	r, known := f.heads[k]
	if known && !r.summed && !r.uncut { // ranks of one process
		r.summed = format.HasRows(path, o)
		r.uncut = !r.summed
		f.heads[k] = r
	}
	f.mu.Unlock()
	if !known || !r.summed {
		return nil
	}
	if k.kind == graphFile {
		if m, named := f.in.graphOf(c.Attrs.Str("path"), o, k, c.Lo, c.Hi); m != nil {
			if named != nil {
				sparse.NameColumns(m, named)
			}
			return m
		}
	}
	m, err := format.ReadRows(path, o, c.Lo, c.Hi)
	if err != nil {
		return nil
	}
	return m
}

// cutsOf returns the cuts of a file as it was when the program was checked, nil if it has none.
func (f *fileCache) cutsOf(k fileKey) *format.Cuts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heads[k].cuts
}

func (f *fileCache) loop() *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) {
			if !c.Type.IsDense() || c.Type.Rows == 0 || c.Type.Cols == 0 || !f.parts(c.Attrs) {
				return 0, 0
			}
			return c.Type.Rows, max(leafRows, leafElements/c.Type.Cols)
		},
		Rows: func(s *op.Sig, out types.Type) int {
			if !out.IsDense() || !f.parts(s.Attrs) {
				return 0
			}
			return out.Rows
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			r, err := f.rowsOf(c, workers)
			if err == nil && !r.cut() {
				err = changed(r.path)
			}
			return r, err
		},
	}
}

// rowsOf prepares a call of read.
func (f *fileCache) rowsOf(c *op.Call, workers int) (*rowsRead, error) {
	o, err := callOptions(c)
	if err != nil {
		return nil, err
	}
	r := &rowsRead{f: f, path: pathOf(c), o: o, out: c.Result(), readers: make([]*format.RowReader, workers)}
	r.at, r.part = window.RectOf(c.Attrs, "at")
	if !r.part {
		r.at = window.Rect{Rows: r.out.Rows, Cols: r.out.Cols}
	}
	k, s := f.keyOf(r.path, o, denseFile)
	if r.stream = s != nil; !r.stream && f.checked(k) != k {
		return nil, changed(r.path)
	}
	r.cuts = f.cutsOf(k)
	return r, nil
}

// rowsRead is one execution of the loop.
type rowsRead struct {
	f       *fileCache
	path    string
	o       format.Options
	out     *value.Dense
	at      window.Rect // what is read of the matrix in the file
	part    bool        // that is a block
	stream  bool
	cuts    *format.Cuts
	readers []*format.RowReader // by worker
}

// cut reports whether rows can be read without the rows above.
func (r *rowsRead) cut() bool { return !r.stream && (r.cuts != nil || format.HasParts(r.path, r.o)) }

func (r *rowsRead) Chunk(worker, lo, hi int) error {
	out := r.out.View(lo, 0, hi-lo, r.out.Cols)
	if r.cuts == nil {
		if format.ReadPart(r.path, r.o, out, r.at.Row+lo, r.at.Col) {
			return nil
		}
		return r.whole(lo, out)
	}
	x := r.readers[worker]
	if x == nil {
		var err error
		if x, err = r.cuts.Open(r.path, r.o); err != nil {
			return fileFailure(err)
		}
		r.readers[worker] = x
	}
	err := x.Read(out, r.at.Row+lo, r.at.Col)
	if err == nil {
		return nil
	}
	if k, _ := r.f.keyOf(r.path, r.o, denseFile); err == io.EOF || r.f.checked(k) != k {
		return changed(r.path)
	}
	return fileFailure(err)
}

// whole reads all of the file and copies the rows from lo on to out. It reports any mistake in the
// file.
func (r *rowsRead) whole(lo int, out *value.Dense) error {
	d, err := r.f.read(r.path, r.o, int64(out.Rows)*int64(out.Cols))
	switch {
	case err != nil:
		return fileFailure(err)
	case d.Elem != out.Elem || !r.at.Within(d.Rows, d.Cols) || !r.part && (d.Rows != r.at.Rows || d.Cols != r.at.Cols):
		return changed(r.path)
	}
	out.CopyFrom(d.View(r.at.Row+lo, r.at.Col, out.Rows, out.Cols))
	return nil
}

func (r *rowsRead) End() error {
	r.Quit()
	return nil
}

// Quit closes the files.
func (r *rowsRead) Quit() {
	for _, x := range r.readers {
		if x != nil {
			x.Close()
		}
	}
	r.readers = nil
}
