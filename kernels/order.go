package kernels

// This file defines the order of elements that sort, unique, quantile and their like share.
// Every element becomes a key, an unsigned integer that orders as the elements do: -0 equals 0, and nan stands after
// everything and equals itself. Keys are sorted by their digits, which is stable and hardly compares: order_sort.go, and
// order_loop.go on several workers; order_select.go finds one key without sorting the rest.

import (
	"math"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
)

// nanKey is the key of nan; no number has it.
const nanKey = math.MaxUint64

// signBit is the highest bit of a key.
const signBit = 1 << 63

func floatKey(x float64) uint64 {
	if x != x {
		return nanKey
	}
	b := math.Float64bits(x + 0)                // -0 becomes 0
	return b ^ (uint64(int64(b)>>63) | signBit) // negative numbers: all bits turned; others: the sign
}

func intKey(x int64) uint64 { return uint64(x) ^ signBit }

// keyed is the element of type e that has key k: a zero is +0, a nan the common one.
func keyed(e types.Elem, k uint64) value.Scalar {
	switch {
	case !e.IsFloat():
		return value.Scalar{Elem: e, I: int64(k ^ signBit)}
	case k == nanKey:
		return value.Scalar{Elem: e, F: math.NaN()}
	case k < signBit:
		return value.Scalar{Elem: e, F: math.Float64frombits(^k)}
	}
	return value.Scalar{Elem: e, F: math.Float64frombits(k ^ signBit)}
}

// orderKey is the key of one scalar.
func orderKey(s value.Scalar) uint64 {
	if s.Elem.IsFloat() {
		return floatKey(s.F)
	}
	return intKey(s.I)
}

// appendKeys appends the keys of all elements of d in row-major order.
func appendKeys(keys []uint64, d *value.Dense) []uint64 {
	n, m := len(keys), d.Rows*d.Cols
	keys = slices.Grow(keys, m)[:n+m]
	elementKeys(keys[n:], d, 0)
	return keys
}

// elementKeys makes keys those of the elements from number `from` in row-major order on.
func elementKeys(keys []uint64, d *value.Dense, from int) {
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
			keys[i] = floatKey(d.F64[at+i*step])
		}
	case types.F32:
		for i := range keys {
			keys[i] = floatKey(float64(d.F32[at+i*step]))
		}
	case types.Bool:
		for i := range keys {
			keys[i] = intKey(int64(d.Bool[at+i*step]))
		}
	default:
		for i := range keys {
			keys[i] = intKey(d.I64[at+i*step])
		}
	}
}

// precedes is the order by its definition: nan stands last, whichever the direction.
func precedes(a, b value.Scalar, desc bool) bool {
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

// insertSorted is the definition of sorting: x in order, equal elements as they came.
func insertSorted(x []value.Scalar, desc bool) []value.Scalar {
	var out []value.Scalar
	for _, v := range x {
		i := len(out)
		for i > 0 && precedes(v, out[i-1], desc) {
			i--
		}
		out = slices.Insert(out, i, v)
	}
	return out
}

// plain is the scalar that stands for all that equal s: +0 for zeros, one nan.
func plain(s value.Scalar) value.Scalar {
	s.F += 0
	return canonical(s)
}
