package format

// This file defines CSV files of numbers, read as f64 matrices. Fields may be quoted as in RFC
// 4180, blanks around numbers and empty lines are ignored, and a line of names may come first
// (see names). An empty field and NA are missing values.
//
// The result is f64 even where all fields are integers: a type that changes when one field gets a
// decimal point would break programs by their data.

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"flow/ir/types"
	"flow/ir/value"
)

// csvReader reads the records of one file.
type csvReader struct {
	lineReader
	sep     byte
	missing float64
	cols    int      // fields of the first record; 0 before it
	first   int      // line of the first record
	bare    []byte   // room for a record without quotes
	heads   []string // the names of the columns; nil if there are none or this reader has not seen them
	text    []byte   // the record that is read, for messages
	quotes  bool     // text has quotes
	choice
}

// newCSV is a reader of in; o.Sep is set.
func newCSV(in *input, o Options) csvReader {
	r := csvReader{lineReader: lineReader{in: in}, sep: o.Sep, missing: math.NaN()}
	if o.Missing != nil {
		r.missing = *o.Missing
	}
	return r
}

// headCSV reads the first record. names says that it is the names of the columns.
func headCSV(in *input, o Options) (r *csvReader, names bool, line []byte, quoted bool, err error) {
	if err := in.begin(); err != nil {
		return nil, false, nil, false, err
	}
	x := newCSV(in, o)
	r = &x
	line, quoted, err = r.record()
	if err == io.EOF {
		return nil, false, nil, false, failf(CSV, in.file, "the file has no lines with fields")
	} else if err != nil {
		return nil, false, nil, false, err
	}
	fields, err := r.split(line, quoted)
	if err != nil {
		return nil, false, nil, false, err
	}
	r.cols, r.first = len(fields), r.no
	named, err := r.choose(fields, o)
	if err != nil {
		return nil, false, nil, false, err
	}
	if named {
		o.Header = Yes
	}
	if names, err = r.names(fields, line, quoted, o.Header); names && len(fields) <= mostHeads {
		r.heads = fields
	}
	return r, names, line, quoted, err
}

func readCSV(in *input, o Options, headOnly bool) (Header, *value.Dense, error) {
	r, names, line, quoted, err := headCSV(in, o)
	if err != nil {
		return Header{}, nil, err
	}
	h := Header{Elem: types.F64, Cols: r.taken}
	if names {
		line, quoted, err = r.record()
	}
	var x []float64
	for ; err == nil; line, quoted, err = r.record() {
		h.Rows++
		if headOnly {
			continue
		}
		if x, err = r.numbers(x, line, quoted); err == nil && h.Rows&0xfff == 0 {
			err = in.fits(h)
		}
		if err != nil {
			return Header{}, nil, err
		}
	}
	if err == io.EOF {
		err = r.someRows(h, o.Header)
	}
	switch {
	case err != nil:
		return Header{}, nil, err
	case headOnly:
		return h, nil, in.fits(h)
	}
	return h, &value.Dense{Elem: types.F64, Rows: h.Rows, Cols: h.Cols, Stride: h.Cols, F64: x[:len(x):len(x)]}, nil
}

func (r *csvReader) fail(col int, format string, args ...any) *Error {
	return failf(CSV, r.in.file, format, args...).at(r.no, col)
}

// record is the next line with text in it, or several where a quoted field holds line ends. It is
// valid until the following call; hasQuotes says that split must look for them.
func (r *csvReader) record() (line []byte, hasQuotes bool, err error) {
	for skipBlank(line, 0) == len(line) {
		if line, err = r.next(); err != nil {
			return nil, false, err
		}
	}
	quotes := bytes.Count(line, []byte{'"'})
	if quotes%2 == 0 {
		return line, quotes > 0, nil
	}
	start := r.no
	whole := bytes.Clone(line)
	for quotes%2 != 0 {
		line, err := r.next()
		if err == io.EOF {
			return nil, false, failf(CSV, r.in.file, "a quoted field is not closed").at(start, bytes.LastIndexByte(whole, '"')+1).
				help("a field in quotes ends with one; a quote in it is written twice")
		} else if err != nil {
			return nil, false, err
		}
		if whole, err = grow(r.in, r.no, whole, len(line)+1); err != nil {
			return nil, false, err
		}
		quotes += bytes.Count(line, []byte{'"'})
		if whole = append(append(whole, '\n'), line...); len(whole) > r.in.longest {
			return nil, false, r.in.tooLong(start)
		}
	}
	return whole, true, nil
}

// split is the fields of a record as text.
func (r *csvReader) split(line []byte, hasQuotes bool) ([]string, error) {
	if n := fieldsIn(line, r.sep, 0); n > 0 { // a header of 16 bytes a field, and the text
		if err := r.in.holds(r.no, fmt.Sprintf("a line of %d fields", n), 16*float64(n)+2*float64(len(line)), 0); err != nil {
			return nil, err
		}
	}
	if !hasQuotes {
		return strings.Split(string(line), string(rune(r.sep))), nil
	}
	c := csv.NewReader(bytes.NewReader(line))
	c.Comma = rune(r.sep)
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = r.sep != '\t' // the tab ends an empty field
	fields, err := c.Read()
	if err != nil {
		col := 0
		if e, ok := err.(*csv.ParseError); ok {
			col, err = e.Column, e.Err
		}
		return nil, r.fail(col, "%v", err)
	}
	return fields, nil
}

// numbers appends the fields of a record to x.
func (r *csvReader) numbers(x []float64, line []byte, hasQuotes bool) ([]float64, error) {
	r.text, r.quotes = line, hasQuotes
	if r.place != nil {
		return r.chosen(x, line, hasQuotes)
	}
	before := len(x)
	x, err := grow(r.in, r.no, x, fieldsIn(line, r.sep, r.cols))
	if err != nil {
		return x, err
	}
	if hasQuotes {
		if r.bare = unquoted(r.bare[:0], line, r.sep); len(r.bare) > 0 {
			if y, err := r.numbers(x, r.bare, false); err == nil {
				return y, nil
			}
			x = x[:before] // below is what is told
		}
		fields, err := r.split(line, true)
		if err != nil {
			return x, err
		}
		for k, f := range fields {
			if x, err = r.number(x, []byte(strings.TrimSpace(f)), k, 0); err != nil {
				return x, err
			}
		}
		return x, r.width(len(x) - before)
	}
	for at := 0; ; {
		at = skipBlank(line, at)
		// The common case is one pass: a number that ends at a separator or the end of the line.
		if v, next, ok := scanFloat(line, at); ok && (next == len(line) || line[next] == r.sep) {
			x, at = append(x, v), next
		} else {
			end := len(line)
			if n := bytes.IndexByte(line[at:], r.sep); n >= 0 {
				end = at + n
			}
			if x, err = r.number(x, bytes.TrimRight(line[at:end], " \t"), len(x)-before, at+1); err != nil {
				return x, err
			}
			at = end
		}
		if at == len(line) {
			return x, r.width(len(x) - before)
		}
		at++ // the separator; one at the end of the line is followed by an empty field
	}
}

// unquoted appends a record to dst without the quotes around its fields; nothing if a field holds a
// separator or a quote, or a quote is within a field.
func unquoted(dst, line []byte, sep byte) []byte {
	for at := 0; ; {
		at = skipBlank(line, at)
		end := len(line)
		if n := bytes.IndexByte(line[at:], sep); n >= 0 {
			end = at + n
		}
		field := line[at:end]
		if n := len(field); n > 1 && field[0] == '"' && field[n-1] == '"' {
			field = field[1 : n-1]
		}
		if bytes.IndexByte(field, '"') >= 0 {
			return dst[:0]
		}
		if dst = append(dst, field...); end == len(line) {
			return dst
		}
		dst, at = append(dst, sep), end+1
	}
}

// skipBlank is the first place at or after i that is not a blank; a tab may be the separator and
// stays.
func skipBlank(b []byte, i int) int {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}

// number appends one field; k is its 0-based number, col its place in the line or 0.
func (r *csvReader) number(x []float64, word []byte, k, col int) ([]float64, error) {
	if len(word) == 0 || len(word) == 2 && word[0] == 'N' && word[1] == 'A' {
		return append(x, r.missing), nil
	}
	if v, ok := floatWord(word); ok {
		return append(x, v), nil
	}
	return x, r.notNumber(word, k, col)
}

// width checks the number of fields of a record.
func (r *csvReader) width(n int) error {
	if n == r.cols {
		return nil
	}
	fields := "fields"
	if n == 1 {
		fields = "field"
	}
	e := r.fail(0, "%d %s, line %d has %d", n, fields, r.first, r.cols)
	if n > r.cols {
		return e.help("a field that has the separator in it is in quotes; sep = \";\" says what separates fields")
	}
	return e.help("a missing value is an empty field or NA between two separators; a text above the table is to be cut off")
}

// noHead writes nothing: a table of numbers begins with its first row.
func noHead(*bufio.Writer, *value.Dense) error { return nil }

func writeCSV(w *bufio.Writer, d *value.Dense, o Options) error {
	var text []byte
	for i := range d.Rows {
		text = text[:0]
		for j := range d.Cols {
			if j > 0 {
				text = append(text, o.Sep)
			}
			text = appendNumber(text, d, i*d.Stride+j)
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// begin skips a byte order mark and finds how lines end. Text in UTF-16 is refused. A file whose
// lines end in carriage returns alone, as early Macintosh programs wrote them, is read as if they
// were line feeds: its first buffer has carriage returns and no line feed.
func (in *input) begin() error {
	switch mark, _ := in.Peek(3); {
	case string(mark) == "\ufeff":
		in.Discard(3)
		in.begun = 3
	case len(mark) > 1 && (mark[0] == 0xff && mark[1] == 0xfe || mark[0] == 0xfe && mark[1] == 0xff):
		return failf(CSV, in.file, "the text is UTF-16").help("save it as UTF-8")
	}
	if first, _ := in.Peek(bufferSize); bytes.IndexByte(first, '\r') >= 0 && bytes.IndexByte(first, '\n') < 0 {
		in.Reader, in.feeds = bufio.NewReaderSize(feeds{in.Reader}, bufferSize), true
	}
	return nil
}

// feeds reads carriage returns as line feeds.
type feeds struct{ r io.Reader }

func (f feeds) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	for at := 0; ; at++ {
		next := bytes.IndexByte(b[at:n], '\r')
		if next < 0 {
			return n, err
		}
		at += next
		b[at] = '\n'
	}
}

// names reports whether the first record of a file is the names of its columns. The error is why it
// is neither names nor numbers. Where the user leaves the choice open, names are a record in which
// no field is a number or begins like one, and none has control characters: a row of numbers with a
// mistake in it must not be dropped in silence.
func (r *csvReader) names(fields []string, line []byte, quoted bool, choice Choice) (bool, error) {
	if choice == Yes {
		return true, nil
	}
	_, err := r.numbers(nil, line, quoted)
	if err == nil {
		return choice == Auto && r.place != nil && onlyNames(fields), nil
	}
	k := r.numeric(fields)
	if choice == Auto && k < 0 {
		return true, nil
	}
	var e *Error
	if errors.As(err, &e) && e.Help == "" {
		if e.help("head = false says that this line has numbers"); choice == Auto {
			e.help("is this line the names of the columns? field %d begins like a number; head = true says that it is", k+1)
			if list := r.otherColumns(); list != "" {
				e.Help += fmt.Sprintf("; columns = %q reads the columns of numbers alone", list)
			}
		}
	}
	return false, err
}

// numeric is the index of the first field that is read and keeps a record from being names, -1 where
// none does.
func (c *choice) numeric(fields []string) int {
	for k, f := range fields {
		if c.skips(k) {
			continue
		}
		f = strings.TrimSpace(f)
		if _, number := floatWord([]byte(f)); number || strings.ContainsFunc(f, isControl) {
			return k
		}
		if f != "" && beginsLikeNumber(f) {
			return k
		}
	}
	return -1
}

// beginsLikeNumber reports whether a field begins with a digit, a point, a sign or that of a currency.
func beginsLikeNumber(f string) bool {
	c, _ := utf8.DecodeRuneInString(f)
	return c == '.' || isSign(c) || unicode.IsDigit(c) || unicode.Is(unicode.Sc, c)
}

func isSign(c rune) bool { return c == '+' || c == '-' || c == '\u2212' } // the last is the mathematical minus

// isControl excludes the characters that a quoted name may hold.
func isControl(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }

// notNumber is the error of a field that is no number; k is its 0-based number, col its place in
// the line or 0. The help is empty where all that there is to say depends on the line.
func (r *csvReader) notNumber(word []byte, k, col int) *Error {
	e := r.fail(col, "field %d: a number is wanted, found %s", k+1, quoted(word))
	for _, c := range []byte{';', '\t', '|', ' ', ','} {
		if c != r.sep && bytes.IndexByte(word, c) > 0 && (r.cols == 1 || c == ';' || c == '\t' || c == '|') {
			return e.help("fields seem to be separated by %q: sep = %q", c, string(rune(c)))
		}
	}
	first, _ := utf8.DecodeRune(word)
	_, err := strconv.ParseFloat(string(word), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		e.help("the greatest number of f64 is 1.8e308")
	case bytes.IndexByte(word, '\r') >= 0:
		e.help("lines end in line feeds, or all in carriage returns; this file has both")
	case bytes.ContainsFunc(word, isControl):
		e.help("the file has bytes that are no text")
	case unicode.Is(unicode.Sc, first):
		e.help("numbers are written without a currency sign")
	case bytes.Count(word, []byte{','}) == 1 && r.decimalComma(word):
		e.help("numbers are written with a point: 1.5, not 1,5")
	case r.no == r.first:
	default:
		if list := r.otherColumns(); list != "" {
			return e.help("columns = %q reads the columns that have numbers in this line; empty fields and NA are missing values", list)
		}
		e.help("only numbers are read: columns = \"a, b\" names the columns that hold them; empty fields and NA are missing values")
	}
	return e
}

// decimalComma reports whether a field would be a number with a point for its comma.
func (r *csvReader) decimalComma(word []byte) bool {
	_, ok := floatWord(bytes.Replace(word, []byte{','}, []byte{'.'}, 1))
	return ok
}

// someRows refuses a table that has nothing below its names, unless the user said that there are
// names.
func (r *csvReader) someRows(h Header, choice Choice) error {
	if h.Rows > 0 || choice == Yes {
		return nil
	}
	return failf(CSV, r.in.file, "the line is taken for the names of the columns, and no rows follow").at(r.first, 0).
		help("head = true reads a table without rows")
}
