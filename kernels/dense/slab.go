package dense

// This file defines Slab, a vector of any element type, and its loops: fill, convert and transpose.

import (
	"slices"
	"unsafe"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// Panel is the edge of the sub-blocks in which transposed operands are read.
const Panel = 64

// Slab is a vector of one element type: the slice of that type is set, the others are nil.
type Slab struct {
	F64  []float64
	F32  []float32
	I64  []int64
	Bool []uint8
}

// Part is the place in s of the slice of T.
func Part[T Cell](s *Slab) *[]T { return placeOf[T](&s.F64, &s.F32, &s.I64, &s.Bool) }

// SlabOver lays a slab of n elements of e over 8-byte words.
func SlabOver(words []uint64, e types.Elem, n int) Slab {
	p := unsafe.Pointer(unsafe.SliceData(words))
	switch {
	case n == 0:
		return Slab{}
	case e == types.F64:
		return Slab{F64: unsafe.Slice((*float64)(p), n)}
	case e == types.F32:
		return Slab{F32: unsafe.Slice((*float32)(p), n)}
	case e == types.Bool:
		return Slab{Bool: unsafe.Slice((*uint8)(p), n)}
	}
	return Slab{I64: unsafe.Slice((*int64)(p), n)}
}

// SlabOf is n elements of d's memory from element at.
func SlabOf(d *value.Dense, at, n int) Slab {
	switch d.Elem {
	case types.F64:
		return Slab{F64: d.F64[at : at+n]}
	case types.F32:
		return Slab{F32: d.F32[at : at+n]}
	case types.Bool:
		return Slab{Bool: d.Bool[at : at+n]}
	}
	return Slab{I64: d.I64[at : at+n]}
}

// Storage is how e lies in memory: time and dur are int64.
func Storage(e types.Elem) types.Elem {
	if e == types.Time || e == types.Dur {
		return types.I64
	}
	return e
}

// TurnBlock writes elements (j0+j, i0+i) of d to dst[i*ld+j], i < rows, j < cols.
func TurnBlock(dst Slab, ld int, d *value.Dense, j0, i0, rows, cols int) {
	at := j0*d.Stride + i0
	switch d.Elem {
	case types.F64:
		vec.Transpose(dst.F64, ld, d.F64[at:], d.Stride, rows, cols)
	case types.F32:
		vec.Transpose(dst.F32, ld, d.F32[at:], d.Stride, rows, cols)
	case types.Bool:
		vec.Transpose(dst.Bool, ld, d.Bool[at:], d.Stride, rows, cols)
	default:
		vec.Transpose(dst.I64, ld, d.I64[at:], d.Stride, rows, cols)
	}
}

// Cut is n elements of s from at on.
func Cut(s Slab, at, n int) Slab {
	switch {
	case s.F64 != nil:
		return Slab{F64: s.F64[at : at+n]}
	case s.F32 != nil:
		return Slab{F32: s.F32[at : at+n]}
	case s.Bool != nil:
		return Slab{Bool: s.Bool[at : at+n]}
	}
	return Slab{I64: s.I64[at : at+n]}
}

// Fill sets n elements of s from at on to v, which is of type e.
func Fill(s *Slab, e types.Elem, v value.Scalar, at, n int) {
	switch Storage(e) {
	case types.F64:
		vec.Fill(s.F64[at:at+n], v.F)
	case types.F32:
		vec.Fill(s.F32[at:at+n], float32(v.F))
	case types.Bool:
		vec.Fill(s.Bool[at:at+n], uint8(v.I))
	default:
		vec.Fill(s.I64[at:at+n], v.I)
	}
}

// Set makes v element i of a slab whose elements are of type e.
func (s *Slab) Set(e types.Elem, i int, v value.Scalar) {
	switch Storage(e) {
	case types.F64:
		s.F64[i] = v.F
	case types.F32:
		s.F32[i] = float32(v.F)
	case types.Bool:
		s.Bool[i] = uint8(v.I)
	default:
		s.I64[i] = v.I
	}
}

// Pointer returns the address of the first element.
func (s *Slab) Pointer() unsafe.Pointer {
	switch {
	case s.F64 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.F64))
	case s.F32 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.F32))
	case s.I64 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.I64))
	}
	return unsafe.Pointer(unsafe.SliceData(s.Bool))
}

// EachRun calls f with the storage of every maximal contiguous piece of d.
func EachRun(d *value.Dense, f func(s Slab, n int)) {
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	if d.Stride == d.Cols {
		f(SlabOf(d, 0, d.Rows*d.Cols), d.Rows*d.Cols)
		return
	}
	for i := range d.Rows {
		f(SlabOf(d, i*d.Stride, d.Cols), d.Cols)
	}
}

// Resized returns n elements of unknown content, in the memory of s if that is enough.
func Resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
