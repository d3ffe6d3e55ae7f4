package format

// This file defines reading graphs: lists of edges as SNAP and others publish them, a line an edge,
// `from to`, separated by blanks, a tab or a comma; lines that begin with # or % are comments.
// Vertices are integers from 0 on. The matrix is square, of one vertex more than the greatest that
// occurs, and says who is joined to whom: an edge that occurs twice is one.

import (
	"bytes"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
)

// readEdges reads a list of edges; header says that the first line may be names.
func readEdges(in *input, o Options, header bool) (*value.CSR, error) {
	r := newEdges(in, o, header)
	if err := in.blocks(r.block); err != nil {
		e, ours := err.(*Error)
		switch {
		case !ours:
			return nil, readError(in.file, r.line+1, err)
		case e.Line == 0: // who cuts the blocks counts no lines
			e.Line = r.line + 1
		}
		return nil, e
	}
	if r.most < 0 {
		return nil, failf(Edges, in.file, "the file has no edge")
	}
	return r.build()
}

// newEdges is a reader of edges.
func newEdges(in *input, o Options, header bool) edgeReader {
	r := edgeReader{in: in, file: in.file, most: -1, header: header, sep: ','}
	if o.Sep != 0 {
		r.sep = o.Sep
	}
	return r
}

// build is the graph of the edges that have been read.
func (r *edgeReader) build() (*value.CSR, error) {
	r.list.header = Header{Elem: types.Bool, Rows: int(r.most) + 1, Cols: int(r.most) + 1}
	return r.list.build(r.in)
}

// cutEdges reads a list of edges by blocks. ok is false if the file cannot be read by blocks, or has a
// mistake. The caller then reads it from the beginning, and reports the mistake.
func cutEdges(path string, o Options, block int64) (m *value.CSR, ok bool) {
	ext := extension(path, o)
	_ = open(path, Edges, o, func(in *input) error {
		t, some := edgesTask(in, o, ext, block)
		if !some {
			return nil
		}
		a, err := o.share(t)
		if err != nil || len(a.Parts) == 0 || a.Parts[0].Most < 0 {
			return err
		}
		r := newEdges(in, o, false)
		n := 0
		for _, e := range a.Parts {
			n += len(e.Row) / 4
		}
		if err := r.list.room(in, 0, n); err != nil {
			return err
		}
		for _, e := range a.Parts {
			if e.Most > r.most {
				r.most, r.list.widest = e.Most, r.line+e.Widest
			}
			r.line += e.Lines
			r.list.row, r.list.col = append(r.list.row, of[int32](e.Row)...), append(r.list.col, of[int32](e.Col)...)
		}
		m, err = r.build()
		ok = err == nil
		return err
	})
	return m, ok
}

// edgesTask returns the task that reads a list of edges by blocks. some is false if that is impossible
// or does not pay.
func edgesTask(in *input, o Options, ext string, block int64) (t Task, some bool) {
	return Task{Path: in.file, Size: in.size, Block: block, Edges: true, Sep: o.Sep, Names: ext == "csv" || ext == "tsv"},
		!in.compressed && in.plain != nil && in.size > block
}

// edgeReader reads the lines of a list of edges.
type edgeReader struct {
	in     *input
	file   string
	list   triples
	most   int32 // greatest vertex, -1: none yet
	line   int   // lines read
	header bool  // the first line may be names
	sep    byte
}

func (r *edgeReader) block(b []byte) error {
	if err := r.list.room(r.in, r.line+1, len(b)/4+1); err != nil { // "0 1\n" is the shortest
		return err
	}
	for len(b) > 0 {
		if n := r.fast(b); n > 0 {
			b = b[n:]
			continue
		}
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if err := r.slow(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// fast reads lines as they nearly all are, digits, one separator, digits, and says how many bytes
// they took.
func (r *edgeReader) fast(b []byte) int {
	done, i := 0, 0
	for {
		from, start := uint64(0), i
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			from = from*10 + uint64(b[i]-'0')
		}
		if i == start || i-start > 10 || i == len(b) || b[i] != '\t' && b[i] != ' ' && b[i] != r.sep {
			return done
		}
		i++
		to, second := uint64(0), i
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			to = to*10 + uint64(b[i]-'0')
		}
		if i < len(b) && b[i] == '\r' {
			i++
		}
		if i == second || i-second > 11 || i == len(b) || b[i] != '\n' || from >= value.MaxSparseCols || to >= value.MaxSparseCols {
			return done
		}
		i++
		r.line++
		r.edge(int32(from), int32(to))
		done = i
	}
}

func (r *edgeReader) edge(from, to int32) {
	if from > r.most || to > r.most {
		r.most, r.list.widest = max(from, to), r.line
	}
	r.list.row, r.list.col = append(r.list.row, from), append(r.list.col, to)
}

// slow reads any line, and says what is wrong with it.
func (r *edgeReader) slow(line []byte) error {
	r.line++
	at := skipSpace(line, 0)
	if at == len(line) || line[at] == '#' || line[at] == '%' {
		return nil
	}
	if r.header && len(r.list.row) == 0 {
		r.header = false
		if (*choice)(nil).numeric(strings.Split(string(line), string(rune(r.sep)))) < 0 {
			return nil
		}
	}
	from, at, err := r.vertex(line, at)
	if err != nil {
		return err
	}
	if at < len(line) && line[at] == r.sep {
		at++
	}
	to, at, err := r.vertex(line, skipSpace(line, at))
	if err != nil {
		return err
	}
	if at = skipSpace(line, at); at < len(line) {
		return failf(Edges, r.file, "%s follows the edge %d %d", quoted(line[at:]), from, to).at(r.line, at+1).
			help("a line is two vertices; weighted graphs are read from .mtx files")
	}
	r.edge(from, to)
	return nil
}

func (r *edgeReader) vertex(line []byte, at int) (v int32, next int, err error) {
	x, next, ok := scanInt(line, at)
	fail := func(format string, args ...any) (int32, int, error) {
		return 0, 0, failf(Edges, r.file, format, args...).at(r.line, at+1).help("a line is two vertices, integers from 0 on: 17 4")
	}
	switch {
	case at == len(line):
		return fail("the line ends where a vertex is wanted")
	case !ok || next < len(line) && !isSpace(line[next]) && line[next] != r.sep:
		end := at
		for end < len(line) && !isSpace(line[end]) && line[end] != r.sep {
			end++
		}
		return fail("a vertex is wanted, found %s", quoted(line[at:end]))
	case x < 0:
		return fail("vertex %d is negative", x)
	case x >= value.MaxSparseCols:
		return fail("vertex %d is beyond %d, the greatest there can be", x, value.MaxSparseCols-1)
	}
	return int32(x), next, nil
}
