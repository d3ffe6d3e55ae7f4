package format

// This file defines reading by lines, and numbers in lines. It keeps a file from asking for more
// memory than there is, by its head or by its length.

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"unsafe"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// lineReader gives the lines of an input, and knows their numbers.
type lineReader struct {
	in   *input
	no   int    // of the line that next returned last
	size int64  // bytes read
	long []byte // a line that did not fit the reader's buffer
}

// next is the next line without its end, valid until the following call; io.EOF after the last. An
// error is ready for the user.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.in.ReadSlice('\n')
			var full error
			if l.long, full = grow(l.in, l.no+1, l.long, len(line)); full != nil {
				return nil, full
			}
			if l.long = append(l.long, line...); len(l.long) > l.in.longest {
				return nil, l.in.tooLong(l.no + 1)
			}
		}
		line = l.long
	}
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	l.no++
	l.size += int64(len(line))
	if err != nil && err != io.EOF {
		return nil, readError(l.in.file, l.no, err)
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// skipSpace is the first place at or after i that is no space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// wordEnd is the end of the word that starts at i.
func wordEnd(b []byte, i int) int {
	for i < len(b) && !isSpace(b[i]) {
		i++
	}
	return i
}

// scanInt reads a decimal integer at i. ok is false, and next is i, when there is none or it does
// not fit.
func scanInt(b []byte, i int) (x int64, next int, ok bool) {
	start, negative := i, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	first := i
	var m uint64
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		if m > (math.MaxUint64-9)/10 {
			return 0, start, false
		}
		m = m*10 + uint64(b[i]-'0')
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if i == first || m > limit {
		return 0, start, false
	}
	if negative {
		return -int64(m), i, true
	}
	return int64(m), i, true
}

// tens are the powers of ten that are exact in f64.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanFloat reads a decimal number at i, correctly rounded. ok is false, and next is i, when there
// is none; words (nan, inf) and everything unusual are floatWord's.
//
// A significand below 2^53 and a power of ten up to 22 are exact, so one division or multiplication
// rounds once (Clinger, How to read floating point numbers accurately, 1990). All others go to
// strconv.
func scanFloat(b []byte, i int) (x float64, next int, ok bool) {
	start, negative := i, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var m uint64
	digits, dropped, exp := 0, false, 0
	first := i
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		if digits == 19 {
			dropped = true
			continue
		}
		m = m*10 + uint64(b[i]-'0')
		if m != 0 {
			digits++
		}
	}
	seen := i - first
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			if digits == 19 {
				dropped = true
				continue
			}
			m = m*10 + uint64(b[i]-'0')
			exp--
			if m != 0 {
				digits++
			}
		}
		seen += i - point
	}
	if seen == 0 {
		return 0, start, false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, after, ok := scanInt(b, i+1)
		if !ok {
			return 0, start, false
		}
		i = after
		exp += int(max(min(e, 1<<20), -1<<20))
	}
	if dropped || m >= 1<<53 || m != 0 && (exp < -22 || exp > 22) {
		x, err := strconv.ParseFloat(string(b[start:i]), 64)
		if err != nil {
			return 0, start, false // beyond f64
		}
		return x, i, true
	}
	x = float64(m)
	if m == 0 {
		exp = 0
	}
	if exp < 0 {
		x /= tens[-exp]
	} else {
		x *= tens[exp]
	}
	if negative {
		x = -x
	}
	return x, i, true
}

// floatWord reads a whole word as a number the slow way: nan, inf, infinity with any sign and case,
// and exponents that Fortran writes with a d.
func floatWord(word []byte) (float64, bool) {
	for _, c := range word {
		if c == '_' || c|0x20 == 'x' || c|0x20 == 'p' {
			return 0, false // Go's own notations are no data format's
		}
	}
	s := string(word)
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, true
	}
	if i := bytes.IndexAny(word, "dD"); i > 0 {
		x, err := strconv.ParseFloat(s[:i]+"e"+s[i+1:], 64)
		return x, err == nil
	}
	return 0, false
}

// quote is bytes of a file as a Go string literal: printable whatever they are.
func quote(b []byte) string { return strconv.Quote(string(b)) }

// matrix allocates what a header announces, if it can be held at all.
func (in *input) matrix(h Header) (*value.Dense, error) {
	if err := in.fits(h); err != nil {
		return nil, err
	}
	if memory.ReserveProduct(int64(h.Rows)*int64(h.Cols), int64(h.Elem.Size())) != nil {
		return nil, in.tooLarge(h, memory.Room())
	}
	return value.New(h.Elem, h.Rows, h.Cols), nil
}

// fits refuses a matrix that is larger than the memory of the machine.
func (in *input) fits(h Header) error {
	if h.bytes() > float64(in.memory.Bytes) {
		return in.tooLarge(h, in.memory)
	}
	return nil
}

// bytes is the size of a dense matrix, which may be beyond all integers.
func (h Header) bytes() float64 {
	return float64(h.Rows) * float64(h.Cols) * float64(h.Elem.Size())
}

func (in *input) tooLarge(h Header, have memory.Limit) *Error {
	return failf(TooLarge, in.file, "a dense %d x %d matrix takes %s, more than there is (%v)", h.Rows, h.Cols, types.InBytes(h.bytes()), have)
}

// holds refuses need bytes, of which have been allocated, for what a line of the file asks for;
// line 0 is none.
func (in *input) holds(line int, what string, need, allocated float64) error {
	limit := in.memory
	if need <= float64(limit.Bytes) {
		if memory.Reserve(int64(max(need-allocated, 0))) == nil {
			return nil
		}
		limit = memory.Room()
	}
	return failf(TooLarge, in.file, "%s takes %s, more than there is (%v)", what, types.InBytes(need), limit).at(line, 0)
}

// grow returns s with room for n elements more. T holds no pointers; line is how far the file has
// been read.
func grow[T any](in *input, line int, s []T, n int) ([]T, error) {
	if n <= cap(s)-len(s) {
		return s, nil
	}
	size := float64(unsafe.Sizeof(*new(T)))
	if need := size * float64(len(s)+n); need > float64(in.memory.Bytes) {
		return s, in.holds(line, "what has been read", need, 0)
	}
	grown, err := memory.Grow(s, n)
	if err != nil {
		return s, failf(TooLarge, in.file, "what has been read takes %s, and there is no memory to read on (%v)",
			types.InBytes(size*float64(len(s))), memory.Room()).at(line, 0)
	}
	return grown, nil
}

// tooLong refuses a line or record that goes on for more than is read.
func (in *input) tooLong(line int) error {
	return failf(TooLarge, in.file, "the line is longer than %s, the most that is read", types.InBytes(float64(in.longest))).at(line, 0).
		help("is this a text file?")
}

// fieldsIn is at most how many fields a line has, counted only where there may be very many.
func fieldsIn(line []byte, sep byte, usual int) int {
	if len(line) < 1<<20 {
		return usual
	}
	return max(usual, bytes.Count(line, []byte{sep})+1)
}

// quoted is a piece of a file in a message: at most 40 bytes of it, unprintable ones escaped.
func quoted(b []byte) string {
	const most = 40
	if len(b) == 0 {
		return "nothing"
	}
	if len(b) > most {
		return quote(b[:most]) + " ..."
	}
	return quote(b)
}

// appendNumber appends the element at a place as the shortest decimal that reads back the same;
// bool as 0 or 1.
func appendNumber(text []byte, d *value.Dense, at int) []byte {
	switch d.Elem {
	case types.F64:
		return AppendFloat(text, d.F64[at], 64)
	case types.F32:
		return AppendFloat(text, float64(d.F32[at]), 32)
	case types.Bool:
		return append(text, '0'+d.Bool[at])
	}
	return strconv.AppendInt(text, d.I64[at], 10)
}

// AppendFloat appends a number as value.FormatFloat writes it, without allocating.
func AppendFloat(text []byte, x float64, bits int) []byte {
	if x-x != 0 { // nan or infinite
		return append(text, value.FormatFloat(x, bits)...)
	}
	form := byte('g')
	if value.Counted(x, bits) {
		form = 'f'
	}
	return strconv.AppendFloat(text, x, form, -1, bits)
}
