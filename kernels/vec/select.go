package vec

// This file defines comparisons, logic, selection and conversion between element types.

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Eq is dst = a == b.
func Eq[T Element](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = bit(a[i] == b[i])
	}
}

// Ne is dst = a != b.
func Ne[T Element](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = bit(a[i] != b[i])
	}
}

// Lt is dst = a < b.
func Lt[T Element](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = bit(a[i] < b[i])
	}
}

// Le is dst = a <= b.
func Le[T Element](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = bit(a[i] <= b[i])
	}
}

// bit compiles to a set instruction, without a branch.
func bit(c bool) uint8 {
	if c {
		return 1
	}
	return 0
}

// ones is eight bools that are true. Logic and comparisons of bools go eight at a time, their bytes
// being 0 or 1.
const ones = 0x0101010101010101

// And is dst = a and b; of bools it is also the minimum.
func And(dst, a, b []uint8) { meet(dst, a, b, 0, 0, 0) }

// Or is dst = a or b; of bools it is also the maximum.
func Or(dst, a, b []uint8) { meet(dst, a, b, ones, ones, ones) }

// LtBool is dst = a < b: not a, and b.
func LtBool(dst, a, b []uint8) { meet(dst, a, b, ones, 0, 0) }

// LeBool is dst = a <= b: not both a and not b.
func LeBool(dst, a, b []uint8) { meet(dst, a, b, 0, ones, ones) }

// EqBool is dst = a == b.
func EqBool(dst, a, b []uint8) { differ(dst, a, b, ones) }

// NeBool is dst = a != b.
func NeBool(dst, a, b []uint8) { differ(dst, a, b, 0) }

// meet is dst = turned where turn says so: a, b, and a and b of these.
func meet(dst, a, b []uint8, turnA, turnB, turn uint64) {
	a, b = a[:len(dst)], b[:len(dst)]
	word := binary.LittleEndian
	for ; len(dst) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		word.PutUint64(dst, (word.Uint64(a)^turnA)&(word.Uint64(b)^turnB)^turn)
	}
	for i := range dst {
		dst[i] = (a[i]^uint8(turnA))&(b[i]^uint8(turnB)) ^ uint8(turn)
	}
}

// differ is dst = a != b, turned where turn says so.
func differ(dst, a, b []uint8, turn uint64) {
	a, b = a[:len(dst)], b[:len(dst)]
	word := binary.LittleEndian
	for ; len(dst) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		word.PutUint64(dst, word.Uint64(a)^word.Uint64(b)^turn)
	}
	for i := range dst {
		dst[i] = a[i] ^ b[i] ^ uint8(turn)
	}
}

// Not is dst = not a.
func Not(dst, a []uint8) { meet(dst, a, a, 0, 0, ones) }

// SelectBool is dst = a where c, b elsewhere.
func SelectBool(dst, c, a, b []uint8) {
	c, a, b = c[:len(dst)], a[:len(dst)], b[:len(dst)]
	word := binary.LittleEndian
	for ; len(dst) >= 8; dst, c, a, b = dst[8:], c[8:], a[8:], b[8:] {
		x, y := word.Uint64(a), word.Uint64(b)
		word.PutUint64(dst, y^(x^y)&word.Uint64(c))
	}
	for i := range dst {
		dst[i] = b[i] ^ (a[i]^b[i])&c[i]
	}
}

// Select is dst = a where c, b elsewhere.
func Select[T Number](dst []T, c []uint8, a, b []T) {
	if unsafe.Sizeof(*new(T)) == 8 {
		choose(words[uint64](dst), c, words[uint64](a), words[uint64](b))
	} else {
		choose(words[uint32](dst), c, words[uint32](a), words[uint32](b))
	}
}

// choose has no branch: conditions of data are hard to predict, and a wrong guess costs ten elements.
func choose[T uint32 | uint64](dst []T, c []uint8, a, b []T) {
	c, a, b = c[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = b[i] ^ (a[i]^b[i])&-T(c[i])
	}
}

// words is numbers as the integers they are in memory, which have the same size.
func words[W uint32 | uint64, T Number](x []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// Convert is dst = a as numbers of another type; bools count as 0 and 1. It does not make bools:
// NonZero does. Nor integers of floats: Words does.
func Convert[D Number, S Element](dst []D, a []S) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = D(v)
	}
}

// NonZero is dst = a != 0: the conversion to bool. NaN is true.
func NonZero[S Element](dst []uint8, a []S) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = bit(v != 0)
	}
}

// CountTrue is the number of bools that are true: eight at a time, their bytes being 0 or 1.
func CountTrue(a []uint8) int64 {
	n := 0
	for ; len(a) >= 8; a = a[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(a))
	}
	for _, v := range a {
		n += int(v)
	}
	return int64(n)
}

// Fill sets every element of dst to v.
func Fill[T Element](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}
