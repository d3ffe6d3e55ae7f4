package inout

// This file defines read; streams.go has what can be read once only. A file is parsed once however
// many blocks of it are asked for: whoever comes first parses, the others wait, and the matrix is
// let go when as many elements have been handed out as it has.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/format"
	"flow/kernels/window"
)

func readRow(files *fileCache) *op.Def {
	return &op.Def{
		Name: "read",
		Doc: "read is the matrix in a file; the extension tells the format: .mtx (Matrix Market), .npy (NumPy), .csv and .tsv, each also compressed (.gz). " +
			"Matrix Market real is f64, integer i64, pattern bool, and entries that occur twice are added; a CSV is f64, whatever its numbers. " +
			"sparse = true makes a sparse matrix of a Matrix Market file of coordinates, and of a .csr, which is Flow's own form for large graphs. " +
			"Only the head of the file is read before the run. `read(\"-\")` is standard input: it and other streams, such as named pipes, are read whole before " +
			"the run, and where the name has no extension the first bytes tell the format.",
		Args: []op.Arg{
			{Name: "path", Attr: true, Kind: op.StrVal, Doc: "file name, relative to the working directory; - is standard input"},
			{Name: "missing", Attr: true, Kind: op.FloatVal, Optional: true, Doc: "what an empty field or NA of a CSV becomes; nan unless given"},
			{Name: "head", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "whether a CSV begins with names; unless given it does when no field of its first line begins with a digit, a sign, a point or a currency sign"},
			{Name: "sep", Attr: true, Kind: op.StrVal, Optional: true, Doc: "separator of a CSV, one character; a comma unless given"},
			{Name: "form", Attr: true, Kind: op.StrVal, Optional: true, Doc: "\"mtx\", \"npy\", \"csv\", \"tsv\" or \"csr\", where the extension does not tell"},
			{Name: "sparse", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "whether the matrix is sparse"},
			{Name: "columns", Attr: true, Kind: op.StrVal, Optional: true, Doc: "the columns of a CSV that are read, in this order: names with commas between them, or numbers from 0 on (-1 is the last column); other columns may hold texts"},
		},
		Eg:     []op.Example{{Program: "emit eye(2) to \"eye.mtx\"   # in another program: A = read(\"eye.mtx\")"}},
		Type:   files.readType,
		Reads:  pathRead,
		Parts:  files.parts,
		Strewn: func(a *op.Attrs) bool { return files.strewn(a, sparseFile) },
		Looked: files.looked.list,
		Ref:    files.readRef,
		Laws:   op.Pure,
		Shard:  op.Shard{Kind: op.ShardGenerate},
		Stored: files.storedFile,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Bytes: define.Guess(out) * float64(out.Elem.Size())}
		},
		Kernel: files.readKernel,
		Loop:   files.loop(),
	}
}

// readOptions are the attributes of a read or an emit as options of a format.
func readOptions(a *op.Attrs) (o format.Options, err error) {
	if v, ok := a.Get("missing"); ok && v.Kind != op.NoVal {
		x := a.Float("missing")
		o.Missing = &x
	}
	if v, ok := a.Get("head"); ok && v.Kind == op.BoolVal {
		o.Header = format.No
		if a.Bool("head") {
			o.Header = format.Yes
		}
	}
	if v, ok := a.Get("max"); ok && v.Kind != op.NoVal {
		x := a.Float("max")
		if v.Kind != op.IntVal && v.Kind != op.FloatVal || !(x > 0) {
			return o, op.Faultf(3, define.CodeAttr, "max = %v", v).WithHelp("max is the positive number that is white in an image")
		}
		o.Max = &x
	}
	if o.Columns = a.Str("columns"); o.Columns == "" {
		if _, given := a.Get("columns"); given {
			return o, op.Faultf(0, define.CodeAttr, "columns = \"\" names no column").WithHelp("write columns = \"id, amount\", or by number: columns = \"0, 3\"")
		}
	}
	o.Form = a.Str("form")
	if sep := a.Str("sep"); len(sep) == 1 && sep[0] != '"' && sep[0] != '\n' && sep[0] < 0x80 {
		o.Sep = sep[0]
	} else if sep != "" {
		return o, op.Faultf(3, define.CodeAttr, "sep = %q", sep).WithHelp("a separator is one character, such as \";\"")
	}
	return o, nil
}

// callOptions is readOptions of a call that reads.
func callOptions(c *op.Call) (format.Options, error) {
	o, err := readOptions(c.Attrs)
	o.Read = c.Read
	return o, err
}

func (f *fileCache) readType(s *op.Sig) (types.Type, error) {
	o, err := readOptions(s.Attrs)
	if err != nil {
		return types.Type{}, err
	}
	h, err := f.stat(s.Attrs.Str("path"), o, s.Attrs.Bool("sparse"))
	t := h.Type()
	if err == nil {
		k, _ := f.keyOf(s.Attrs.Str("path"), o, kindOf(s.Attrs.Bool("sparse")))
		f.check(k)
	}
	if _, given := f.in.Given[s.Attrs.Str("path")]; !given {
		t, err = f.looked.note(s.Attrs.Str("path"), t, err)
	}
	if err != nil {
		return types.Type{}, fileFault(0, err)
	}
	if t.IsSparse() {
		return t, nil
	}
	if w, ok := window.RectOf(s.Attrs, "at"); ok {
		if !w.Within(t.Rows, t.Cols) {
			return t, op.Faultf(0, define.CodeRange, "block %v of a %s", w, t)
		}
		t.Rows, t.Cols = w.Rows, w.Cols
	}
	return t, nil
}

// pathOf is where the program's path is in the file system.
func pathOf(c *op.Call) string {
	if p := c.Attrs.Str("path"); c.Env == nil || isStdin(p) {
		return p
	} else {
		return c.Env.Path(p)
	}
}

func (f *fileCache) readRef(c *op.Call) (value.Value, error) {
	if c.Type.IsSparse() {
		return f.readSparse(c, sparseFile)
	}
	o, err := callOptions(c)
	if err != nil {
		return nil, err
	}
	w, ok := window.RectOf(c.Attrs, "at")
	if !ok {
		w = window.Rect{Row: 0, Col: 0, Rows: c.Type.Rows, Cols: c.Type.Cols}
	}
	d, err := f.read(pathOf(c), o, int64(w.Rows)*int64(w.Cols))
	if err != nil {
		return nil, fileFailure(err)
	}
	if !w.Within(d.Rows, d.Cols) || !ok && (d.Rows != w.Rows || d.Cols != w.Cols) || d.Elem != c.Type.Elem {
		return nil, changed(pathOf(c))
	}
	return w.Of(d).Clone(), nil
}

// readSparse reads a sparse matrix or a graph, which is never read in blocks. The first call takes what
// was kept when the program was checked, later ones read the file again.
func (f *fileCache) readSparse(c *op.Call, kind fileKind) (value.Value, error) {
	o, err := callOptions(c)
	if err != nil {
		return nil, err
	}
	path := pathOf(c)
	k, s := f.keyOf(path, o, kind)
	if c.Hi > c.Lo && s == nil {
		if f.strewn(c.Attrs, kind) {
			return f.strewnRows(c, path, o, k)
		}
		m, err := f.sparseRows(c, path, o, k)
		if err != nil {
			return nil, err
		}
		if m != nil && kind == graphFile {
			if m, err = format.AsGraph(path, m, nil); err != nil {
				return nil, fileFailure(err)
			}
		}
		if m != nil && m.Type() == c.Type {
			return m, nil
		}
	}
	m := f.taken(k)
	switch {
	case s != nil:
		_, m, err = s.contents(k, o)
	case m != nil:
	case kind == graphFile:
		m, err = format.ReadGraph(path, o)
	default:
		m, err = format.ReadSparse(path, o)
	}
	if err != nil {
		return nil, fileFailure(err)
	}
	if m.Type() != c.Type {
		return nil, changed(path)
	}
	if c.Hi > c.Lo { // the rows of other ranks are empty
		return m.View(c.Lo, c.Hi-c.Lo).Padded(c.Lo, m.Rows), nil
	}
	return m, nil
}

// changed is the failure of a file that is not what it was when the program was checked.
func changed(path string) error {
	return op.Failf(define.CodeData, "%s changed while the program ran", path)
}

func (f *fileCache) readKernel(c *op.Call) (err error) {
	if c.Type.IsSparse() {
		c.Out, err = f.readSparse(c, sparseFile)
		return err
	}
	r, err := f.rowsOf(c, 1)
	if err != nil {
		return err
	}
	defer r.End()
	if r.cut() && (r.cuts == nil || !r.part || r.at.Cols == r.cuts.Cols) {
		return r.Chunk(0, 0, r.out.Rows)
	}
	return r.whole(0, r.out)
}

// fileKey is a version of a file, read in a certain way.
type fileKey struct {
	path, form  string
	size, mtime int64
	sep         byte
	header      format.Choice
	columns     string
	missing     uint64
	kind        fileKind
}

// fileKind is what a file is read as.
type fileKind uint8

const (
	denseFile fileKind = iota
	sparseFile
	graphFile
)

// kindOf is the kind of a file that read reads.
func kindOf(sparse bool) fileKind {
	if sparse {
		return sparseFile
	}
	return denseFile
}

// keyOf is the key of the file as it is now, and its stream if it is one. A file that cannot be
// looked at has the key of its name: the formats say what is wrong with it.
func (f *fileCache) keyOf(path string, o format.Options, kind fileKind) (fileKey, *stream) {
	k := fileKey{kind: kind, path: path, form: o.Form, sep: o.Sep, header: o.Header, columns: o.Columns, missing: math.Float64bits(math.NaN())}
	if full, err := filepath.Abs(path); err == nil {
		k.path = full
	}
	if s := f.in.given(path); s != nil {
		return k, s
	}
	if o.Missing != nil {
		k.missing = math.Float64bits(*o.Missing)
	}
	st, err := os.Stat(path)
	if err != nil {
		return k, f.in.stream(path, nil)
	}
	k.size, k.mtime = st.Size(), st.ModTime().UnixNano()
	return k, f.in.stream(path, st)
}

// fileCache remembers headers, matrices while blocks of them are still wanted, and graphs until
// they are. Safe for concurrent use.
type fileCache struct {
	in     *Input
	looked lookedAt
	mu     sync.Mutex
	heads  map[fileKey]headResult
	parsed map[fileKey]*parsedFile
	// graphs holds sparse matrices that were read before the run, for their sizes or with other ranks,
	// until the run has taken them.
	graphs map[fileKey]*value.CSR
	wholes map[fileKey]*wholeFile // matrices whose rows ranks of one process take
	counts map[fileKey]sparsity.Estimate
	when   map[fileKey]fileKey // what a file was when a program was checked, by version
}

type headResult struct {
	head format.Header
	cuts *format.Cuts // nil: it has none
	err  error
	// summed tells that rows of a sparse matrix can be read alone, and uncut that they cannot. kept tells
	// that each process keeps a part of the entries, and whole that ranks of one process read the matrix
	// once.
	summed, uncut, kept, whole bool
}

// parsedFile is a file that is being read or has been.
type parsedFile struct {
	once sync.Once
	d    *value.Dense
	err  error
	left int64 // elements not handed out yet; guarded by the cache
}

// newFileCache is an empty cache over in.
func newFileCache(in *Input) *fileCache {
	return &fileCache{
		in: in, heads: map[fileKey]headResult{}, parsed: map[fileKey]*parsedFile{}, graphs: map[fileKey]*value.CSR{},
		wholes: map[fileKey]*wholeFile{}, counts: map[fileKey]sparsity.Estimate{}, when: map[fileKey]fileKey{},
	}
}

// stat is the head of a file, remembered: type rules run after every pass and for every block. A
// matrix that had to be read for it is kept for read.
func (f *fileCache) stat(path string, o format.Options, sparse bool) (format.Header, error) {
	k, s := f.keyOf(path, o, kindOf(sparse))
	if s != nil {
		d, m, err := s.contents(k, o)
		return headOf(d, m), err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.heads[k]
	if !ok {
		if r.err = f.needsAll(path, o, sparse); r.err != nil {
		} else if sparse {
			r.head, r.err = format.StatSparse(path, f.in.counting(o))
			if r.err == nil && f.in.Share != nil && format.Shared(path, o) {
				if _, r.kept = format.Keep(path, f.in.sharing(o), false); !r.kept {
					f.graphs[k], _ = format.ReadSparse(path, f.in.sharing(o)) // the run reports mistakes
				}
				f.in.learn(path, k, r.head).Kept = r.kept
			} else if x := f.in.known(path, k); x != nil {
				r.summed, r.uncut, r.kept = x.Summed, !x.Summed, x.Kept
			} else if f.in.Share != nil && r.err == nil && format.HasSparseParts(path, o) {
				r.summed = format.HasRows(path, f.in.sharing(o))
				r.uncut = !r.summed
				f.in.learn(path, k, r.head).Summed = r.summed
			} else {
				r.whole = r.err == nil && f.in.Share == nil && format.Shared(path, o)
			}
		} else if x := f.in.known(path, k); x != nil {
			r.head, r.cuts = x.Head, x.Cuts
		} else if head, cuts, ok := format.CutRows(path, f.in.sharing(o)); ok {
			r.head, r.cuts = head, cuts
			f.in.learn(path, k, head).Cuts = cuts
		} else {
			var d *value.Dense
			if r.head, d, r.err = format.StatOrRead(path, f.in.counting(o)); r.err == nil && f.in.Share != nil && format.Shared(path, o) {
				d, _ = format.Read(path, f.in.sharing(o)) // the run reports mistakes
			}
			if d != nil {
				p := &parsedFile{d: d, left: int64(d.Rows) * int64(d.Cols)}
				p.once.Do(func() {}) // it has been read
				f.parsed[k] = p
			}
			if r.err == nil {
				f.in.learn(path, k, r.head)
			}
		}
		f.heads[k] = r
	}
	return r.head, r.err
}

// needsAll returns an error if only the head of a file may be read (Input.Brief), but its head takes
// all of it, or ranks read the file together before the run. A program that is compiled with the head
// alone would make each rank read the whole file.
func (f *fileCache) needsAll(path string, o format.Options, sparse bool) error {
	if format.CountsLines(path, o) || format.Shared(path, o) || sparse && format.HasSparseParts(path, o) && format.Plain(path) {
		return f.in.brief(path)
	}
	return nil
}

// headOf is the head of a matrix that has been read, dense or sparse; the zero value of none.
func headOf(d *value.Dense, m *value.CSR) format.Header {
	switch {
	case d != nil:
		return format.Header{Elem: d.Elem, Rows: d.Rows, Cols: d.Cols}
	case m != nil:
		return format.Header{Elem: m.Elem, Rows: m.Rows, Cols: m.Cols, Sparse: true, Entries: m.NNZ()}
	}
	return format.Header{}
}

// read is format.Read, shared among the readers of blocks: count is the number of elements that
// this one takes. The matrix must not be changed.
func (f *fileCache) read(path string, o format.Options, count int64) (*value.Dense, error) {
	k, s := f.keyOf(path, o, denseFile)
	if s != nil {
		d, _, err := s.contents(k, o)
		return d, err
	}
	f.mu.Lock()
	p := f.parsed[k]
	if p == nil {
		p = &parsedFile{}
		f.parsed[k] = p
	}
	f.mu.Unlock()
	p.once.Do(func() {
		// A panic here would leave a nil matrix and no error to those who wait.
		p.err = fmt.Errorf("%s: reading was broken off", path)
		p.d, p.err = format.Read(path, o)
		if p.err == nil {
			f.mu.Lock()
			p.left += int64(p.d.Rows) * int64(p.d.Cols)
			f.mu.Unlock()
		}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.left -= count; p.left <= 0 && f.parsed[k] == p {
		delete(f.parsed, k)
	}
	return p.d, p.err
}

// storedFile is what the head of a sparse file says.
func (f *fileCache) storedFile(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	if out.IsDense() {
		return sparsity.Dense(out.Rows, out.Cols)
	}
	o, err := readOptions(s.Attrs)
	if err == nil {
		h, err := f.stat(s.Attrs.Str("path"), o, true)
		if err == nil && h.Rows == out.Rows && h.Cols == out.Cols {
			return sparsity.Uniform(out.Rows, out.Cols, float64(h.Entries), sparsity.Estimated)
		}
	}
	return sparsity.Unknown(out.Rows, out.Cols)
}

// taken is the sparse matrix that has been read before the run, the first time it is asked for.
func (f *fileCache) taken(k fileKey) *value.CSR {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.graphs[k]
	delete(f.graphs, k)
	return m
}
