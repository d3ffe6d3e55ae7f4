package format

// This file reads the entries of graphs and matrices by blocks of their text. Several threads or ranks
// parse blocks, and one joins the entries in the order of the file.

import (
	"bufio"
	"io"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// Told returns what other processes need to know of parts that this one keeps: the number of entries
// and lines, the largest vertex and, of edges, how many begin and end at each vertex. Of a sum it
// returns the sum and the entries of each column.
func (c Task) Told(parts []Entries) Entries {
	t := Entries{Most: -1}
	if c.Sum {
		n := of[int32](parts[0].To) // the caller's: each part counts all columns
		if len(parts) > 1 {
			n = append(memory.Fresh[int32](len(n))[:0], n...)
		}
		for k, e := range parts {
			t.Sum, t.Bytes = joinSums(t.Sum, e.Sum, e.Bytes), t.Bytes+e.Bytes
			if k == 0 {
				continue
			}
			for j, more := range of[int32](e.To) {
				n[j] += more
			}
		}
		t.To = bytesOf(n)
		return t
	}
	for _, e := range parts {
		if t.Count += e.count(); e.Most > t.Most {
			t.Most, t.Widest = e.Most, t.Lines+e.Widest
		}
		t.Lines += e.Lines
	}
	if c.Edges || c.Graph {
		vertices := int(t.Most) + 1
		if c.Graph {
			vertices = c.Market.Rows
		}
		from, to := make([]int32, vertices), make([]int32, vertices)
		for _, e := range parts {
			for k, i := range of[int32](e.Row) {
				j := of[int32](e.Col)[k]
				from[i]++
				to[j]++
				if c.Graph && symmetry(c.Market.Symmetry) == symmetric && i != j {
					from[j]++
					to[i]++
				}
			}
		}
		t.From, t.To = bytesOf(from), bytesOf(to)
	}
	return t
}

// Relocated returns a matrix of type t with the entries of parts in their rows. The entries of a row
// are in the order of the file, so a column may come twice and columns need not ascend. It fails if the
// matrix does not fit into memory.
func (c Task) Relocated(t types.Type, parts []Entries) (*value.CSR, error) {
	in := newInput(c.Path)
	in.size = c.Size
	list := triples{header: Header{Elem: t.Elem, Rows: t.Rows, Cols: t.Cols}}
	n := 0
	for _, e := range parts {
		n += e.count()
	}
	if c.Market != nil && symmetry(c.Market.Symmetry) != general {
		n *= 2
	}
	bytes := 12*float64(t.Rows) + float64(n)*(16+2*float64(t.Elem.Size()))
	if err := in.holds(0, "the entries that this rank has read", bytes, 0); err != nil {
		return nil, err
	}
	if c.Edges {
		return edgesByRow(t, parts, n), nil
	}
	if err := list.room(in, 0, n); err != nil {
		return nil, err
	}
	r := &marketReader{sparse: &list}
	r.Elem, r.sym, r.coordinate = t.Elem, symmetry(c.Market.Symmetry), true
	r.fill(parts)
	return list.byRow(), nil
}

// edgesByRow returns a matrix of type t with the n edges of parts. They have no values, so each is read
// where it was kept and written to its place.
func edgesByRow(t types.Type, parts []Entries, n int) *value.CSR {
	m := value.NewCSR(t.Elem, t.Rows, t.Cols, n)
	for _, e := range parts {
		for _, i := range of[int32](e.Row) {
			m.Ptr[i+1]++
		}
	}
	m.SumLengths()
	next := slices.Clone(m.Ptr)
	for _, e := range parts {
		cols := of[int32](e.Col)
		for k, i := range of[int32](e.Row) {
			m.Col[next[i]] = cols[k]
			next[i]++
		}
	}
	return m
}

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
		r := newEdges(in, Options{Sep: c.Sep}, c.Names && lo == 0)
		err := in.blocks(r.block)
		return Entries{Row: bytesOf(r.list.row), Col: bytesOf(r.list.col), Most: r.most, Lines: r.line, Widest: r.list.widest}, err
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
	return Entries{Row: bytesOf(t.row), Col: bytesOf(t.col), Val: bytesOf(t.val)}, err
}

// cut reads the entries by blocks. It returns false if that does not pay, or if an entry has a mistake.
// The caller then reads line by line, and reports the mistake.
func (r *marketReader) cut(o Options, block int64) (ok bool, err error) {
	in := r.in
	if o.Share == nil { // two threads alone take no less time than one that stores entries where they belong
		return false, nil
	}
	t, some := r.task(block)
	if !some {
		return false, nil
	}
	if memory.ReserveProduct(int64(r.entries), int64(8+r.Elem.Size())) != nil { // one entry after the other takes less
		return false, nil
	}
	a, err := o.share(t)
	if err != nil {
		return false, nil
	}
	n := 0
	for _, e := range a.Parts {
		n += e.count()
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
	r.fill(a.Parts)
	return true, nil
}

// task returns the task that reads the entries by blocks, from the reader's place on. some is false if
// that is impossible or does not pay.
func (r *marketReader) task(block int64) (t Task, some bool) {
	in := r.in
	market := &Market{r.Elem, r.Rows, r.Cols, r.entries, !r.coordinate, uint8(r.sym)}
	return Task{Path: in.file, Size: in.size, Begin: r.lineReader.size, Block: block, Market: market},
		!in.compressed && in.plain != nil && in.size-r.lineReader.size > block && max(r.Rows, r.Cols) <= 1<<31-1
}

// fill adds the entries of parts and their mirror images, which a symmetric file leaves out.
func (r *marketReader) fill(parts []Entries) {
	put := r.filler()
	for _, e := range parts {
		row, col, val := of[int32](e.Row), of[int32](e.Col), of[uint64](e.Val)
		for k := range max(len(row), len(val)) {
			var w uint64
			if len(val) > 0 {
				w = val[k]
			}
			if r.coordinate {
				r.add(int(row[k]), int(col[k]), w)
			} else {
				put(w)
			}
		}
	}
}
