package format

// This file keeps a file from asking for more memory than there is, by its head or by its length.

import (
	"bytes"
	"unsafe"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// mostLine is the length of the longest line that is read, and of the longest record of a CSV,
// which may be several lines.
const mostLine = 256 << 20

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
