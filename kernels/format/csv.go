package format

// This file defines CSV files of numbers, read as f64 matrices. Fields may be quoted as in RFC
// 4180, blanks around numbers and empty lines are ignored, and a line of names may come first
// (csv_head.go). An empty field and NA are missing values.
//
// The result is f64 even where all fields are integers: a type that changes when one field gets a
// decimal point would break programs by their data.

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
)

// csvReader reads the records of one file.
type csvReader struct {
	lineReader
	sep     byte
	missing float64
	cols    int    // fields of the first record; 0 before it
	first   int    // line of the first record
	bare    []byte // room for a record without quotes
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
	names, err = r.names(fields, line, quoted, o.Header)
	return r, names, line, quoted, err
}

func readCSV(in *input, o Options, headOnly bool) (Header, *value.Dense, error) {
	r, names, line, quoted, err := headCSV(in, o)
	if err != nil {
		return Header{}, nil, err
	}
	h := Header{Elem: types.F64, Cols: r.cols}
	if headOnly {
		if !names {
			h.Rows = 1
		}
		for {
			if _, _, err := r.record(); err == io.EOF {
				if err := r.someRows(h, o.Header); err != nil {
					return Header{}, nil, err
				}
				return h, nil, in.fits(h)
			} else if err != nil {
				return Header{}, nil, err
			}
			h.Rows++
		}
	}
	var x []float64
	if !names {
		if x, err = r.numbers(x, line, quoted); err != nil {
			return Header{}, nil, err
		}
		h.Rows = 1
	}
	for {
		line, quoted, err := r.record()
		if err == io.EOF {
			break
		} else if err != nil {
			return Header{}, nil, err
		}
		if x, err = r.numbers(x, line, quoted); err != nil {
			return Header{}, nil, err
		}
		h.Rows++
		if h.Rows&0xfff == 0 {
			if err := in.fits(h); err != nil {
				return Header{}, nil, err
			}
		}
	}
	if err := r.someRows(h, o.Header); err != nil {
		return Header{}, nil, err
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
	c.TrimLeadingSpace = true
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

func isMissing(word []byte) bool {
	return len(word) == 0 || len(word) == 2 && word[0] == 'N' && word[1] == 'A'
}

// numbers appends the fields of a record to x.
func (r *csvReader) numbers(x []float64, line []byte, hasQuotes bool) ([]float64, error) {
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
	if isMissing(word) {
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
