package order

// This file defines the order of elements that sort, unique, quantile and their like share. Every
// element becomes a key, an unsigned integer that orders as the elements do: -0 equals 0, and nan
// stands after everything and equals itself. Keys are sorted by their digits, which is stable and
// hardly compares: sort.go, and loop.go on several workers; select.go finds one key without sorting
// the rest.

import (
	"math"
	"slices"
	"sort"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// NanKey is the key of nan; no number has it.
const NanKey = math.MaxUint64

// SignBit is the highest bit of a key.
const SignBit = 1 << 63

// FloatKey is the key of a float: keys are ordered as the floats are, -0 equals 0, and nan is last.
func FloatKey(x float64) uint64 {
	if x != x {
		return NanKey
	}
	b := math.Float64bits(x + 0)                // -0 becomes 0
	return b ^ (uint64(int64(b)>>63) | SignBit) // negative numbers: all bits turned; others: the sign
}

// IntKey is the key of an integer.
func IntKey(x int64) uint64 { return uint64(x) ^ SignBit }

// Keyed is the element of type e that has key k: a zero is +0, a nan the common one.
func Keyed(e types.Elem, k uint64) value.Scalar {
	switch {
	case !e.IsFloat():
		return value.Scalar{Elem: e, I: int64(k ^ SignBit)}
	case k == NanKey:
		return value.Scalar{Elem: e, F: math.NaN()}
	}
	return value.Scalar{Elem: e, F: math.Float64frombits(floatBits(k))}
}

// floatBits is the bits of the number with key k.
func floatBits(k uint64) uint64 { return k ^ (uint64(int64(^k)>>63) | SignBit) }

// OrderKey is the key of one scalar.
func OrderKey(s value.Scalar) uint64 {
	if s.Elem.IsFloat() {
		return FloatKey(s.F)
	}
	return IntKey(s.I)
}

// AppendKeys appends the keys of all elements of d in row-major order.
func AppendKeys(keys []uint64, d *value.Dense) []uint64 {
	n, m := len(keys), d.Rows*d.Cols
	keys = slices.Grow(keys, m)[:n+m]
	ElementKeys(keys[n:], d, 0)
	return keys
}

// ElementKeys makes keys those of the elements from number `from` in row-major order on.
func ElementKeys(keys []uint64, d *value.Dense, from int) {
	switch {
	case len(keys) == 0:
	case d.Cols == 1:
		stepKeys(keys, d, from*d.Stride, d.Stride)
	case d.Stride == d.Cols:
		stepKeys(keys, d, from, 1)
	default:
		for len(keys) > 0 {
			i, j := from/d.Cols, from%d.Cols
			n := min(d.Cols-j, len(keys))
			stepKeys(keys[:n], d, i*d.Stride+j, 1)
			keys, from = keys[n:], from+n
		}
	}
}

// stepKeys makes keys those of the elements at, at + step, ... of d's memory.
func stepKeys(keys []uint64, d *value.Dense, at, step int) {
	switch d.Elem {
	case types.F64:
		for i := range keys {
			keys[i] = FloatKey(d.F64[at+i*step])
		}
	case types.F32:
		for i := range keys {
			keys[i] = FloatKey(float64(d.F32[at+i*step]))
		}
	case types.Bool:
		for i := range keys {
			keys[i] = IntKey(int64(d.Bool[at+i*step]))
		}
	default:
		for i := range keys {
			keys[i] = IntKey(d.I64[at+i*step])
		}
	}
}

// Precedes is the order by its definition: nan stands last, whichever the direction.
func Precedes(a, b value.Scalar, desc bool) bool {
	switch {
	case a.Elem.IsFloat() && math.IsNaN(a.F):
		return false
	case b.Elem.IsFloat() && math.IsNaN(b.F):
		return true
	case desc:
		return a.F > b.F || a.I > b.I
	}
	return a.F < b.F || a.I < b.I
}

// Sorted is the definition of sorting: x in order, equal elements as they came.
func Sorted(x []value.Scalar, desc bool) []value.Scalar {
	out := slices.Clone(x)
	sort.SliceStable(out, func(i, j int) bool { return Precedes(out[i], out[j], desc) })
	return out
}

// Distinct is the definition of the different elements of x: the first of those that are equal, in
// order.
func Distinct(x []value.Scalar) []value.Scalar {
	return slices.CompactFunc(Sorted(x, false), func(a, b value.Scalar) bool { return define.Contains([]value.Scalar{a}, b) })
}
