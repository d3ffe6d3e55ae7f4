package format

// This file finds places at which rows of a CSV begin, so that each of several readers reads only its
// rows.
//
// A quoted field may hold line ends, so where a row begins depends on the quotes above it. The file is
// therefore counted first, by blocks of bytes. A line belongs to the block in which it begins. Each
// block counts its lines, and its records twice: for an even and for an odd number of quotes above the
// block. Several threads or ranks count blocks in any order, and one joins the counts in the order of
// the file.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"sort"
	"sync"

	"flow/ir/value"
	"flow/memory"
)

// Cuts are places of a CSV at which records begin.
type Cuts struct {
	Rows, Cols int
	Fields     int      // of a record
	Place      []int    // the column of each field, where columns are chosen
	Heads      []string // the names of the fields, for messages
	First      int      // line of the first record
	At         []Cut
}

// Cut is the beginning of a record.
type Cut struct {
	Byte      int64
	Line, Row int // lines and rows above
}

// share does a task: by Options.Share if it is set, otherwise in this process.
func (o Options) share(t Task) (Answer, error) {
	t = t.Counting(o.Read)
	if o.Share == nil {
		return t.All()
	}
	return o.Share(t)
}

// errUncut is the error of a file whose blocks cannot be joined.
var errUncut = failf(CSV, "", "the file cannot be cut")

// join makes cuts from the counts of all blocks. above is the number of lines before the first block.
// It returns false if a quoted field is not closed.
func (c *Cuts) join(spans []Span, above int) bool {
	odd := 0
	for _, s := range spans {
		if s.Rows[odd] > 0 {
			c.At = append(c.At, Cut{s.First[odd], above + s.Above[odd], c.Rows})
			c.Rows += s.Rows[odd]
		}
		above += s.Lines
		if s.Odd {
			odd = 1 - odd
		}
	}
	return odd == 0
}

// All reads all blocks, with a thread for each processor.
func (c Task) All() (Answer, error) { return c.Range(0, c.Blocks()) }

// Range reads the blocks lo..hi-1, with a thread for each processor.
func (c Task) Range(lo, hi int) (a Answer, err error) {
	workers := max(1, min(runtime.GOMAXPROCS(0), (hi-lo)/4))
	counts := !c.Edges && !c.Sum && c.Market == nil
	if !counts {
		a.Parts = make([]Entries, workers)
	} else {
		a.Spans = make([]Span, hi-lo)
	}
	if c.Sum && c.Keep && memory.Reserve(c.To-c.From) == nil {
		c.cols = bytesOf(memory.Fresh[int32](int(c.To-c.From) / 4)) // pages without blocks of this process take no memory
	}
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		from, to := w*(hi-lo)/workers, (w+1)*(hi-lo)/workers
		all.Go(func() {
			if !counts {
				a.Parts[w], errs[w] = c.entries(lo+from, lo+to)
			} else {
				errs[w] = c.count(a.Spans[from:to], lo+from)
			}
		})
	}
	all.Wait()
	return a, errors.Join(errs...)
}

// count fills spans with the counts of the blocks from number lo on.
func (c Task) count(spans []Span, lo int) error {
	file, err := openCounted(c.Path, c.read)
	if err != nil {
		return err
	}
	defer file.file.Close()
	in := newInput(c.Path)
	begin := c.Begin + int64(lo)*c.Block
	end := min(begin+int64(len(spans))*c.Block, c.Size)
	r := lineReader{in: in}
	at := begin
	if lo > 0 { // the line that begins above is not of these blocks
		at--
	}
	in.Reader = bufio.NewReaderSize(io.NewSectionReader(file, at, c.Size-at), bufferSize)
	if lo > 0 {
		n, err := in.skipLine(end - at)
		if err != nil {
			return err
		}
		at += n
	}
	base := at
	for at < end {
		line, err := r.next()
		if err == io.EOF {
			return errUncut // the file has become shorter
		} else if err != nil {
			return err
		}
		s := &spans[(at-begin)/c.Block]
		odd := 0
		if s.Odd {
			odd = 1
		}
		if skipBlank(line, 0) < len(line) {
			if s.Rows[odd] == 0 {
				s.First[odd], s.Above[odd] = at, s.Lines
			}
			s.Rows[odd]++
		}
		s.Lines++
		s.Odd = s.Odd != (bytes.Count(line, []byte{'"'})%2 != 0)
		at = base + r.size
	}
	return nil
}

// RowReader reads rows of a CSV. It is not safe for concurrent use.
type RowReader struct {
	cuts *Cuts
	file countedFile
	r    csvReader
	row  int // that comes next; -1: none has been read
	line []float64
}

func (x *RowReader) Close() error { return x.file.file.Close() }

// Read fills out with the elements from (row, col) on. If these rows have a mistake, the error is the
// first mistake of the file. It is io.EOF if the file has fewer rows now.
func (x *RowReader) Read(out *value.Dense, row, col int) error {
	if out.Rows == 0 {
		return nil
	}
	err := x.seek(row)
	for i := 0; i < out.Rows && err == nil; i++ {
		to := out.F64[i*out.Stride:][:out.Cols:out.Cols]
		whole := out.Cols == x.cuts.Cols
		line := to[:0]
		if !whole {
			line = x.line[:0]
		}
		if line, err = x.next(line); err == nil && (!whole || &line[0] != &to[0]) {
			x.line = line
			copy(to, line[col:])
		}
	}
	if err == nil || err == io.EOF {
		return err
	}
	end := x.row
	if first := x.seek(0); first != nil {
		return first
	}
	for x.row < end {
		var first error
		if x.line, first = x.next(x.line[:0]); first != nil {
			return first
		}
	}
	return err
}

// next appends the numbers of the next row to line.
func (x *RowReader) next(line []float64) ([]float64, error) {
	text, quoted, err := x.r.record()
	if err != nil {
		return line, err
	}
	x.row++
	return x.r.numbers(line, text, quoted)
}

// seek moves to the beginning of a row: next reads it.
func (x *RowReader) seek(row int) error {
	k := sort.Search(len(x.cuts.At), func(k int) bool { return x.cuts.At[k].Row > row }) - 1
	if k < 0 {
		return io.EOF
	}
	if at := x.cuts.At[k]; x.row < at.Row || x.row > row {
		if _, err := x.file.file.Seek(at.Byte, io.SeekStart); err != nil {
			return readError(x.r.in.file, 0, err)
		}
		x.r.in.Reset(x.file)
		x.r.no, x.row = at.Line, at.Row
	}
	for ; x.row < row; x.row++ {
		if _, _, err := x.r.record(); err != nil {
			return err
		}
	}
	return nil
}
