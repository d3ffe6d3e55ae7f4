package kernels

// This file defines the order of elements that sort, unique, quantile and their like share, and the sort itself.
// Every element becomes a key, an unsigned integer that orders as the elements do: -0 equals 0, and nan stands after
// everything and equals itself. Keys are sorted by their digits from the lowest up, which is stable and does not
// compare.

import (
	"cmp"
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
	keys = slices.Grow(keys, d.Rows*d.Cols)
	eachRun(d, func(s slab, _ int) {
		for _, v := range s.f64 {
			keys = append(keys, floatKey(v))
		}
		for _, v := range s.f32 {
			keys = append(keys, floatKey(float64(v)))
		}
		for _, v := range s.i64 {
			keys = append(keys, intKey(v))
		}
		for _, v := range s.b {
			keys = append(keys, intKey(int64(v)))
		}
	})
	return keys
}

// place is a key and where it came from.
type place struct {
	key uint64
	at  int64
}

// fewKeys is the length from which digits beat comparisons.
const fewKeys = 200

// sortPlaces sorts by key and keeps the order of equal keys.
func sortPlaces(x []place) {
	if len(x) < fewKeys {
		slices.SortStableFunc(x, func(a, b place) int { return cmp.Compare(a.key, b.key) })
		return
	}
	sortDigits(x, func(p place) uint64 { return p.key })
}

// sortKeys sorts keys upwards.
func sortKeys(x []uint64) {
	if len(x) < fewKeys {
		slices.Sort(x)
		return
	}
	sortDigits(x, func(k uint64) uint64 { return k })
}

// sortDigits is the radix sort, a byte at a time; a digit that all keys share costs nothing.
func sortDigits[T any](x []T, key func(T) uint64) {
	var count [8][256]int
	for _, v := range x {
		k := key(v)
		for d := range 8 {
			count[d][byte(k>>(8*d))]++
		}
	}
	from, to := x, make([]T, len(x))
	for d := range 8 {
		c := &count[d]
		if c[byte(key(x[0])>>(8*d))] == len(x) {
			continue
		}
		at := 0
		for b, n := range c {
			c[b] = at
			at += n
		}
		for _, v := range from {
			b := byte(key(v) >> (8 * d))
			to[c[b]] = v
			c[b]++
		}
		from, to = to, from
	}
	if &from[0] != &x[0] {
		copy(x, from)
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
