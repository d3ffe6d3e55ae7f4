package format

// This file defines the list of formats: choosing by name or by the first bytes, reading, writing, and
// streams that can be read once only.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"flow/ir/value"
	"flow/lang/source"
)

// form is one format. read returns after the header when headOnly is set, with a nil matrix.
type form struct {
	name  string // the extension without its point
	cause Cause
	sep   byte
	read  func(in *input, o Options, headOnly bool) (Header, *value.Dense, error)
	write func(w *bufio.Writer, d *value.Dense, o Options) error
	// The sparse forms; nil where the format has none. A format without read has only these.
	readSparse  func(in *input, o Options, headOnly bool) (Header, *value.CSR, error)
	writeSparse func(w *bufio.Writer, m *value.CSR) error
	// head writes the part of the file before the rows, and write may then be called for one block of rows
	// after the other. nil: one call of write writes the whole file.
	head   func(w *bufio.Writer, d *value.Dense) error
	placed bool // an element's place in the file follows from its row and column: see ReadPart
}

// forms is the list of formats. It is a function because package variables that hold functions can
// be changed.
func forms() []form {
	return []form{
		{"mtx", MatrixMarket, 0, readMatrixMarket, writeMatrixMarket, readMarketSparse, writeMarketSparse, nil, false},
		{"npy", NPY, 0, readNPY, writeNPY, nil, nil, headNPY, true},
		{"csv", CSV, ',', readCSV, writeCSV, nil, nil, noHead, false},
		{"tsv", CSV, '\t', readCSV, writeCSV, nil, nil, noHead, false},
		{"csr", CSR, 0, nil, nil, readCSR, writeCSR, nil, false},
		{"pgm", Unwritable, 0, readPGM, writePGM, nil, nil, nil, false},
	}
}

// Extensions are the endings of file names that Read and Write know; each may be followed by .gz.
func Extensions() []string {
	var list []string
	for _, f := range forms() {
		list = append(list, "."+f.name)
	}
	return list
}

// Check reports, without touching the file system, whether the name and the options name a format for a
// dense or a sparse matrix.
func Check(path string, o Options, sparse bool) error {
	f, _, err := choose(path, o)
	switch {
	case err != nil:
	case sparse && f.writeSparse == nil:
		err = failf(UnknownFormat, path, "a sparse matrix cannot be written to .%s", f.name).help("write .mtx or .csr, or dense(x)")
	case !sparse && f.write == nil:
		err = failf(UnknownFormat, path, "a dense matrix cannot be written to .%s", f.name).help("write .mtx, .npy, .csv or .tsv, or sparse(x)")
	}
	return err
}

// choose is the format of a file name, and whether the name asks for compression.
func choose(path string, o Options) (f form, compressed bool, err error) {
	base := strings.ToLower(filepath.Base(path))
	base, compressed = strings.CutSuffix(base, ".gz")
	ext := strings.TrimPrefix(filepath.Ext(base), ".")
	word := ext
	if o.Form != "" {
		word = o.Form
	}
	for _, f := range forms() {
		if f.name == word {
			return f, compressed, nil
		}
	}
	known := strings.Join(Extensions(), " ")
	e := failf(UnknownFormat, path, "unknown format %q", "."+word)
	if word == "" {
		e = failf(UnknownFormat, path, "the name has no extension that tells the format")
	}
	e.help("known are %s, each also with .gz", known)
	if best, ok := source.Suggest("."+word, Extensions()); ok && word != "" {
		e.help("did you mean %s? known are %s, each also with .gz", best, known)
	}
	return form{}, compressed, e
}

// Read is the matrix in a file, on the heap.
func Read(path string, o Options) (*value.Dense, error) {
	_, d, err := readFile(path, o, func(form, *input) bool { return false })
	return d, err
}

// StatOrRead is the element type and shape of the matrix in a file. For Matrix Market and .npy it reads
// the header; a CSV has none, so its lines are counted, not understood. A compressed CSV takes longer
// to decompress than its numbers to understand: then it returns the matrix, too.
func StatOrRead(path string, o Options) (Header, *value.Dense, error) {
	return readFile(path, o, func(f form, in *input) bool { return f.cause != CSV || !in.compressed })
}

// readFile reads the matrix in a file, or only its head. headOnly is asked when the file is open.
func readFile(path string, o Options, headOnly func(f form, in *input) bool) (h Header, d *value.Dense, err error) {
	f, _, err := choose(path, o)
	if err != nil {
		return h, nil, err
	}
	if f.read == nil {
		return h, nil, holdsSparse(path, f)
	}
	err = open(path, f.cause, o, func(in *input) error {
		h, d, err = in.decode(f, o, headOnly(f, in))
		return err
	})
	return h, d, err
}

// StatSparse is the head of a file for a matrix that is to be read sparse: nothing of its size need fit
// memory but its entries.
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

// decode reads the file as f.
func (in *input) decode(f form, o Options, headOnly bool) (Header, *value.Dense, error) {
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	if o.Columns != "" && f.cause != CSV {
		return Header{}, nil, failf(UnknownFormat, in.file, "columns are chosen in a CSV; this is .%s", f.name).help("X[:, [0, 2]] takes columns of a matrix")
	}
	return f.read(in, o, headOnly)
}

// Write writes v, a matrix or a scalar (as a 1 x 1 matrix), in the format that the name and the
// options say, compressed if the name says so.
func Write(w io.Writer, path string, v value.Value, o Options) error {
	f, compressed, err := choose(path, o)
	if err != nil {
		return err
	}
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	m, isSparse := v.(*value.CSR)
	d, ok := v.(*value.Dense)
	if s, isScalar := v.(value.Scalar); isScalar && s.Elem.IsNumeric() {
		d, ok = value.New(s.Elem, 1, 1), true
		d.Set(0, 0, s)
	}
	if ok && f.write == nil || isSparse && f.writeSparse == nil || !ok && !isSparse {
		return failf(Unwritable, path, "a %s cannot be written to .%s", v.Type(), f.name)
	}
	r := rowsTo(w, path, f, compressed, o)
	switch {
	case isSparse:
		err = f.writeSparse(r.b, m)
	case f.head != nil:
		if err = f.head(r.b, d); err == nil {
			err = f.write(r.b, d, o)
		}
	default:
		err = f.write(r.b, d, o)
	}
	if err != nil {
		return r.failed(err)
	}
	return r.End()
}

// RowWriter writes a dense matrix some rows at a time.
type RowWriter struct {
	path string
	f    form
	o    Options
	b    *bufio.Writer
	z    *gzip.Writer // nil: the file is not compressed
}

// rowsTo returns a writer of rows in format f. It writes nothing yet.
func rowsTo(w io.Writer, path string, f form, compressed bool, o Options) *RowWriter {
	r := &RowWriter{path: path, f: f, o: o}
	if compressed {
		r.z = gzip.NewWriter(w)
		w = r.z
	}
	r.b = bufio.NewWriterSize(w, bufferSize)
	return r
}

// WritesRows reports whether a file of this name can be written some rows at a time.
func WritesRows(path string, o Options) bool {
	f, _, err := choose(path, o)
	return err == nil && f.head != nil
}

// WriteRows begins to write matrix d as Write would, and returns the writer of its rows. It reads the
// shape and type of d, not its elements. The file must be one for which WritesRows is true.
func WriteRows(w io.Writer, path string, d *value.Dense, o Options) (*RowWriter, error) {
	f, compressed, err := choose(path, o)
	if err != nil {
		return nil, err
	}
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	r := rowsTo(w, path, f, compressed, o)
	if err := f.head(r.b, d); err != nil {
		return nil, r.failed(err)
	}
	return r, nil
}

// Write writes the rows of d after those that were written before.
func (r *RowWriter) Write(d *value.Dense) error { return r.failed(r.f.write(r.b, d, r.o)) }

// End writes the rest of the file. It does not close it.
func (r *RowWriter) End() error {
	err := r.b.Flush()
	if err == nil && r.z != nil {
		err = r.z.Close()
	}
	return r.failed(err)
}

// failed returns err with the file's name.
func (r *RowWriter) failed(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		e.File = r.path
	} else if err != nil {
		err = failf(Unwritable, r.path, "cannot be written: %v", reason(err))
	}
	return err
}

// Parse returns the matrix in a stream, which it reads to the end. The extension of name tells the
// format, as for Read; where name has none and o.Form is empty, the first bytes do, and a stream
// that begins like no other format is a CSV. Errors call the stream name.
func Parse(r io.Reader, name string, o Options) (*value.Dense, error) {
	in := newInput(name)
	f, err := in.stream(r, o)
	if err != nil {
		return nil, err
	}
	if f.read == nil {
		return nil, holdsSparse(name, f)
	}
	_, d, err := in.decode(f, o, false)
	return d, err
}

// ParseSparse is Parse for a sparse matrix.
func ParseSparse(r io.Reader, name string, o Options) (*value.CSR, error) {
	in := newInput(name)
	f, err := in.stream(r, o)
	if err != nil {
		return nil, err
	}
	if f.readSparse == nil {
		return nil, holdsDense(name, f)
	}
	_, m, err := f.readSparse(in, o, false)
	return m, err
}

// stream makes r what is read, and returns its format.
func (in *input) stream(r io.Reader, o Options) (form, error) {
	if extension(in.file, o) != "" {
		f, _, err := choose(in.file, o)
		if err == nil {
			err = in.unpack(r, f.cause)
		}
		return f, err
	}
	if err := in.unpack(r, CSV); err != nil {
		return form{}, err
	}
	o.Form = in.guess()
	f, _, err := choose(in.file, o)
	return f, err
}

// guess is the format of a stream by its first bytes: csv where they are those of no other format.
func (in *input) guess() string {
	const market = "%%matrixmarket"
	first, _ := in.Peek(len(market))
	begins := func(magic string) bool { return bytes.HasPrefix(first, []byte(magic)) }
	switch {
	case string(bytes.ToLower(first)) == market:
		return "mtx"
	case begins(npyMagic):
		return "npy"
	case begins(csrMagic), begins(csrUnsummed):
		return "csr"
	}
	return "csv"
}

func holdsSparse(name string, f form) error {
	return failf(UnknownFormat, name, "a .%s file holds a sparse matrix", f.name).help("read it with sparse = true")
}

func holdsDense(name string, f form) error {
	return failf(UnknownFormat, name, "a .%s file holds no sparse matrix", f.name).
		help("read a .mtx file of coordinates, or a .csr; sparse(read(..)) makes a dense matrix sparse")
}
