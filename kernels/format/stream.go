package format

// This file defines reading what can be read once only (pipes, standard input), and files whose
// shape is known when all of them has been read.

import (
	"bytes"
	"io"
	"math"
	"path/filepath"
	"strings"

	"flow/ir/value"
	"flow/memory"
)

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

// ParseGraph is Parse for a graph. A stream that begins neither like .mtx nor like .csr is a list
// of edges.
func ParseGraph(r io.Reader, name string, o Options) (*value.CSR, error) {
	in := newInput(name)
	if err := in.unpack(r, Edges); err != nil {
		return nil, err
	}
	ext := extension(name, o)
	if ext == "" {
		ext = in.guess()
	}
	if ext != "mtx" && ext != "csr" {
		return readEdges(in, o, ext == "csv" || ext == "tsv")
	}
	o.Form = ext
	f, _, err := choose(name, o)
	if err != nil {
		return nil, err
	}
	_, m, err := f.readSparse(in, o, false)
	return AsGraph(name, m, err)
}

// newInput is an input of unknown size.
func newInput(name string) *input {
	return &input{file: name, size: math.MaxInt64, memory: memory.Most(), longest: mostLine}
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

// extension is the word that tells the format of a file: o.Form, or the extension of its name in
// lower case without its point and without .gz.
func extension(name string, o Options) string {
	if o.Form != "" {
		return o.Form
	}
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".gz")
	return strings.TrimPrefix(filepath.Ext(base), ".")
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
