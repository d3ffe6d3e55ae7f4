package format

// This file reads graphs of any format.

import (
	"io"

	"flow/ir/types"
	"flow/ir/value"
)

// ReadGraph is the graph in a file: a list of edges, or a square sparse matrix (.mtx, .csr) of
// which every entry is an edge.
func ReadGraph(path string, o Options) (*value.CSR, error) {
	ext := extension(path, o)
	if ext == "mtx" || ext == "csr" {
		m, err := ReadSparse(path, o)
		return AsGraph(path, m, err)
	}
	if m, ok := cutEdges(path, o, partBlock); ok {
		return m, nil
	}
	var m *value.CSR
	err := open(path, Edges, o, func(in *input) (err error) {
		m, err = readEdges(in, o, ext == "csv" || ext == "tsv")
		return err
	})
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

// AsGraph is the places of a square sparse matrix, which was read of a file with this name if err is
// nil.
func AsGraph(name string, m *value.CSR, err error) (*value.CSR, error) {
	switch {
	case err != nil:
		return nil, err
	case m.Rows != m.Cols:
		return nil, failf(Edges, name, "%d x %d: the matrix of a graph is square", m.Rows, m.Cols)
	}
	if m.Elem == types.Bool {
		return m, nil
	}
	return &value.CSR{Elem: types.Bool, Rows: m.Rows, Cols: m.Cols, Ptr: m.Ptr, Col: m.Col}, nil
}
