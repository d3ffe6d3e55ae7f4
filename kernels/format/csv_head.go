package format

// This file defines which first line of a CSV is the names of its columns, how its lines end, and
// what its user is told of a field that is no number.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		return false, nil
	}
	k := numeric(fields)
	if choice == Auto && k < 0 {
		return true, nil
	}
	var e *Error
	if errors.As(err, &e) && e.Help == "" {
		if e.help("head = false says that this line has numbers"); choice == Auto {
			e.help("is this line the names of the columns? field %d begins like a number; head = true says that it is", k+1)
		}
	}
	return false, err
}

// numeric is the index of the first field that keeps a record from being names, -1 where none does.
func numeric(fields []string) int {
	for k, f := range fields {
		f = strings.TrimSpace(f)
		if _, number := floatWord([]byte(f)); number || strings.ContainsFunc(f, isControl) {
			return k
		}
		c, _ := utf8.DecodeRuneInString(f)
		if f != "" && (c == '.' || isSign(c) || unicode.IsDigit(c) || unicode.Is(unicode.Sc, c)) {
			return k
		}
	}
	return -1
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
		e.help("only matrices of numbers are read; empty fields and NA are missing values")
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
