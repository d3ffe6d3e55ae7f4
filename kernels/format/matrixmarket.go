package format

// This file defines reading Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market
// exchange formats, NIST IR 5935, 1996): array and coordinate; real, integer, pattern; general,
// symmetric, skew-symmetric.
//
// Real is f64, integer is i64, pattern is bool. Entries that occur twice are added in the order of
// the file, as in the assembly of finite elements (the standard leaves it open); in a pattern they
// are one. A symmetric file holds the lower triangle alone; an entry above it is an error, because
// a reader that mirrors it would count it twice.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
)

// symmetry is how the stored entries make up the matrix.
type symmetry uint8

const (
	general symmetry = iota
	symmetric
	skew
)

// banner is what the first line and the size line say.
type banner struct {
	Header
	coordinate bool
	sym        symmetry
	entries    int // lines that follow
}

func readMatrixMarket(in *input, o Options, headOnly bool) (Header, *value.Dense, error) {
	r := &marketReader{lineReader: lineReader{in: in}}
	if err := r.head(); err != nil {
		return Header{}, nil, err
	}
	if headOnly {
		return r.Header, nil, nil
	}
	var err error
	if r.out, err = in.matrix(r.Header); err != nil {
		return Header{}, nil, err
	}
	if err = r.read(o); err != nil {
		return Header{}, nil, err
	}
	return r.Header, r.out, nil
}

// read reads what follows the head.
func (r *marketReader) read(o Options) error {
	if ok, err := r.cut(o, partBlock); ok || err != nil {
		return err
	}
	return r.body()
}

// body reads the lines of entries. The help of a mistake in them says what an entry is, unless the
// mistake has a help of its own.
func (r *marketReader) body() error {
	read, are := r.columns, "the numbers are listed column by column"
	if r.coordinate {
		read, are = r.triples, "an entry is a line: row column value"
		if r.Elem == types.Bool {
			are = "an entry is a line: row column"
		}
	}
	err := read()
	if e, ours := err.(*Error); ours && e.Cause == MatrixMarket && e.Help == "" {
		e.help("%s; the line of sizes says how many there are", are)
	}
	return err
}

// marketReader reads one file.
type marketReader struct {
	lineReader
	banner
	out    *value.Dense
	sparse *triples // when it is read as a sparse matrix
	stored bool     // entries are put in sparse as they are stored, however many there are
}

func (r *marketReader) fail(col int, format string, args ...any) *Error {
	return failf(MatrixMarket, r.in.file, format, args...).at(r.no, col)
}

const firstLine = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric"

// head reads the first line, the comments and the size line.
func (r *marketReader) head() error {
	line, err := r.next()
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(string(line)))
	if len(words) != 5 || words[0] != "%%matrixmarket" {
		return r.fail(0, "not the first line of a Matrix Market file: %s", quoted(line)).help("wanted is %s", firstLine)
	}
	if words[1] != "matrix" {
		return r.fail(0, "a Matrix Market %s is not read, only a matrix", words[1])
	}
	bad := func(what, word, wanted string) error {
		return r.fail(bytes.Index(bytes.ToLower(line), []byte(word))+1, "%s %q", what, word).help("wanted is %s", wanted)
	}
	switch words[2] {
	case "coordinate", "array":
		r.coordinate = words[2] == "coordinate"
	default:
		return bad("unknown format", words[2], "coordinate or array")
	}
	switch words[3] {
	case "real", "double":
		r.Elem = types.F64
	case "integer":
		r.Elem = types.I64
	case "pattern":
		r.Elem = types.Bool
	case "complex":
		return bad("no support for the field", words[3], "real, integer or pattern")
	default:
		return bad("unknown field", words[3], "real, integer or pattern")
	}
	switch words[4] {
	case "general":
	case "symmetric":
		r.sym = symmetric
	case "skew-symmetric":
		r.sym = skew
	default:
		return bad("unknown symmetry", words[4], "general, symmetric or skew-symmetric")
	}
	if r.Elem == types.Bool && (!r.coordinate || r.sym == skew) {
		return r.fail(0, "a pattern is neither an array nor skew-symmetric: it has no values")
	}
	return r.size()
}

// size reads the size line and checks that it can be true.
func (r *marketReader) size() error {
	line, err := r.content()
	if err == io.EOF {
		return r.fail(0, "the file ends before the line of sizes")
	} else if err != nil {
		return err
	}
	names := []string{"rows", "columns", "entries"}
	if !r.coordinate {
		names = names[:2]
	}
	var n [3]int64
	at := 0
	for k, name := range names {
		at = skipSpace(line, at)
		x, next, ok := scanInt(line, at)
		if !ok || next < len(line) && !isSpace(line[next]) || x < 0 {
			return r.fail(at+1, "the number of %s is wanted, found %s", name, quoted(line[at:wordEnd(line, at)])).
				help("after the comments comes one line: %s", strings.Join(names, " "))
		}
		n[k], at = x, next
	}
	if at = skipSpace(line, at); at < len(line) {
		return r.fail(at+1, "%s follows the %d sizes", quoted(line[at:wordEnd(line, at)]), len(names))
	}
	const most = math.MaxInt32 * 64 // 2^37: rows * columns stays far from overflow in float64, and no real file is near
	if n[0] > most || n[1] > most {
		return r.fail(0, "%d x %d is too large for a matrix", n[0], n[1])
	}
	r.Rows, r.Cols = int(n[0]), int(n[1])
	if r.sparse != nil {
		r.sparse.widest = r.no
	}
	if r.sym != general && r.Rows != r.Cols {
		return r.fail(0, "a symmetric matrix is square; this has %d rows and %d columns", r.Rows, r.Cols)
	}
	if r.sparse == nil {
		if err := r.in.fits(r.Header); err != nil {
			return err
		}
	}
	shortest := int64(4) // "1 1\n", the last line end may be missing
	if r.coordinate {
		r.entries = int(n[2])
	} else {
		shortest = 2
		switch r.sym {
		case general:
			r.entries = r.Rows * r.Cols
		case symmetric:
			r.entries = r.Rows * (r.Rows + 1) / 2
		case skew:
			r.entries = r.Rows * (r.Rows - 1) / 2
		}
	}
	if int64(r.entries) > r.in.size/shortest+1 {
		return r.fail(0, "%d entries are announced, and the file has no room for so many", r.entries)
	}
	return nil
}

// content is the next line that is neither empty nor a comment.
func (r *marketReader) content() ([]byte, error) {
	for {
		line, err := r.next()
		if err != nil {
			return nil, err
		}
		if at := skipSpace(line, 0); at < len(line) && line[at] != '%' {
			return line, nil
		}
	}
}

// lines calls f with each line that is neither empty nor a comment.
func (r *marketReader) lines(f func(line []byte) error) error {
	for {
		line, err := r.content()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(line)
		}
		if err != nil {
			return err
		}
	}
}

// linesAtOnce is for how many lines there is room before memory is asked for again.
const linesAtOnce = 4096

// triples reads the entries of a coordinate file.
func (r *marketReader) triples() error {
	done := 0
	err := r.lines(func(line []byte) error {
		if done == r.entries {
			return r.fail(0, "entry %d follows, %d are announced", done+1, r.entries)
		}
		if r.sparse != nil && done%linesAtOnce == 0 {
			if err := r.sparse.room(r.in, r.no, 2*linesAtOnce); err != nil {
				return err
			}
		}
		done++
		return r.triple(line)
	})
	if err == nil && !r.stored && done < r.entries {
		return r.fail(0, "%d entries are announced, the file ends after %d", r.entries, done)
	}
	return err
}

func (r *marketReader) triple(line []byte) error {
	i, at, err := r.index(line, 0, "row", r.Rows)
	if err != nil {
		return err
	}
	j, at, err := r.index(line, at, "column", r.Cols)
	if err != nil {
		return err
	}
	var w uint64
	if r.Elem != types.Bool {
		if w, at, err = r.value(line, at); err != nil {
			return err
		}
	}
	if at = skipSpace(line, at); at < len(line) {
		return r.fail(at+1, "%s follows the entry", quoted(line[at:]))
	}
	if r.sym != general {
		if i < j {
			return r.fail(0, "entry (%d, %d) lies above the diagonal of a symmetric matrix", i+1, j+1).
				help("only the lower triangle is stored; if this file holds both, its first line should say general")
		}
		if i == j && r.sym == skew {
			return r.fail(0, "entry (%d, %d) on the diagonal of a skew-symmetric matrix, which is zero", i+1, j+1)
		}
	}
	r.add(i, j, w)
	return nil
}

// index reads a 1-based index below or at size and returns it 0-based.
func (r *marketReader) index(line []byte, at int, what string, size int) (index, next int, err error) {
	at = skipSpace(line, at)
	x, next, ok := scanInt(line, at)
	if !ok || next < len(line) && !isSpace(line[next]) {
		if at == len(line) {
			return 0, 0, r.fail(at+1, "the line ends where a %s index is wanted", what)
		}
		return 0, 0, r.fail(at+1, "a %s index is wanted, found %s", what, quoted(line[at:wordEnd(line, at)]))
	}
	if x < 1 || x > int64(size) {
		e := r.fail(at+1, "%s %d of a matrix with %d %ss", what, x, size, what)
		if x == 0 {
			e.help("indices start at 1 in Matrix Market files")
		}
		return 0, 0, e
	}
	return int(x) - 1, next, nil
}

// value reads a number: the bits of an f64, or an i64.
func (r *marketReader) value(line []byte, at int) (w uint64, next int, err error) {
	at = skipSpace(line, at)
	ends := func(next int) bool { return next == len(line) || isSpace(line[next]) }
	wanted := "a number"
	if r.Elem == types.F64 {
		x, next, ok := scanFloat(line, at)
		if !ok || !ends(next) {
			next = wordEnd(line, at)
			x, ok = floatWord(line[at:next])
		}
		if ok {
			return math.Float64bits(x), next, nil
		}
	} else {
		if n, next, ok := scanInt(line, at); ok && ends(next) {
			return uint64(n), next, nil
		}
		wanted = "an integer of 64 bits"
	}
	if at == len(line) {
		return 0, 0, r.fail(at+1, "the line ends where %s is wanted", wanted)
	}
	return 0, 0, r.fail(at+1, "%s is wanted, found %s", wanted, quoted(line[at:wordEnd(line, at)]))
}

// add adds an entry of value w, as value returns it, and its mirror image.
func (r *marketReader) add(i, j int, w uint64) {
	if r.stored && !r.coordinate {
		i, j = -1, -1
	}
	r.put(i, j, w)
	switch {
	case r.stored:
	case r.sym == symmetric && i != j:
		r.put(j, i, w)
	case r.sym == skew && r.Elem == types.F64:
		r.put(j, i, w^1<<63)
	case r.sym == skew:
		r.put(j, i, -w)
	}
}

// put adds a value at a place.
func (r *marketReader) put(i, j int, w uint64) {
	if t := r.sparse; t != nil {
		if i >= 0 { // a number of an array has no place
			t.row, t.col = append(t.row, int32(i)), append(t.col, int32(j))
		}
		if t.header.Elem != types.Bool {
			t.val = append(t.val, w)
		}
		return
	}
	switch d, at := r.out, i*r.out.Stride+j; r.Elem {
	case types.F64:
		if x := math.Float64frombits(w); d.F64[at] != 0 {
			d.F64[at] += x
		} else {
			d.F64[at] = x // no entry yet: 0 + -0 would lose the sign
		}
	case types.I64:
		d.I64[at] += int64(w)
	default:
		d.Bool[at] = 1
	}
}

// columns reads the entries of an array file: column after column, of the lower triangle alone if
// it is symmetric. The standard has one number a line; several are read too.
func (r *marketReader) columns() error {
	put, done := r.filler(), 0
	err := r.lines(func(line []byte) (err error) {
		for at := skipSpace(line, 0); at < len(line); at = skipSpace(line, at) {
			if done == r.entries {
				return r.fail(at+1, "number %d follows, %d are announced (%d x %d)", done+1, r.entries, r.Rows, r.Cols)
			}
			var w uint64
			if w, at, err = r.value(line, at); err != nil {
				return err
			}
			put(w)
			done++
		}
		return nil
	})
	if err == nil && !r.stored && done < r.entries {
		return r.fail(0, "%d numbers are announced (%d x %d), the file ends after %d", r.entries, r.Rows, r.Cols, done)
	}
	return err
}

// filler returns a function that adds the next number of an array file.
func (r *marketReader) filler() func(w uint64) {
	i, j := 0, 0
	skipUpper := func() {
		switch r.sym {
		case symmetric:
			i = j
		case skew:
			i = j + 1
		default:
			i = 0
		}
	}
	skipUpper()
	return func(w uint64) {
		r.add(i, j, w)
		if i++; i == r.Rows {
			j++
			skipUpper()
		}
	}
}

// writeMatrixMarket writes the array form of a general matrix, with the shortest decimals that read
// back as the same numbers. bool becomes integer 0 and 1.
func writeMatrixMarket(w *bufio.Writer, d *value.Dense, _ Options) error {
	field := "integer"
	if d.Elem.IsFloat() {
		field = "real"
	}
	fmt.Fprintf(w, "%%%%MatrixMarket matrix array %s general\n%d %d\n", field, d.Rows, d.Cols)
	var text []byte
	for j := range d.Cols {
		for i := range d.Rows {
			text = append(appendNumber(text[:0], d, i*d.Stride+j), '\n')
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}
