package sparse

// This file merges rows of two sparse matrices. Where the columns of one row lie among those of
// another cannot be foretold, so loops that branch on it wait for every other branch; these do not
// branch.

import (
	"math/bits"
	"unsafe"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

// mostMarked is the most columns for which sets are made: a set of them stays in a second-level
// cache. There are none of more.
const mostMarked = 1 << 22

func newBitset(cols int) bitset {
	if cols > mostMarked {
		return nil
	}
	return make(bitset, cols/64+1)
}

// count returns the number of elements of the set.
func (s bitset) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// countMet is how many elements ascending lists of columns have in common. The set is clear before
// and after.
func (s bitset) countMet(a, b []int32) (n int) {
	for _, j := range a {
		s[uint32(j)/64] |= 1 << (uint32(j) % 64)
	}
	for _, j := range b {
		n += int(s[uint32(j)/64] >> (uint32(j) % 64) & 1)
	}
	for _, j := range a {
		s[uint32(j)/64] = 0
	}
	return n
}

// merged writes the places of some rows from row lo on and lists the elements of both arguments
// there, if the call is one of two sparse matrices whose entries are joined and whose values are
// words of the same size.
func (l *mapLoop[T]) merged(w *mapWorker, at *places, lo int) bool {
	if l.p != patternJoin || len(l.of) != 2 || len(l.wide) != 2 {
		return false
	}
	a, b := l.of[0], l.of[1]
	size := a.Elem.Size()
	if a.Elem == types.Bool || b.Elem == types.Bool || b.Elem.Size() != size {
		return false
	}
	u, v := &w.lists[0], &w.lists[1]
	relist(u, a.Elem, len(at.col))
	relist(v, b.Elem, len(at.col))
	w.args[0], w.args[1] = u, v
	if size == 8 {
		mergeRows(at, lo, a, b, words[uint64](a.Values()), words[uint64](b.Values()), words[uint64](u), words[uint64](v))
	} else {
		mergeRows(at, lo, a, b, words[uint32](a.Values()), words[uint32](b.Values()), words[uint32](u), words[uint32](v))
	}
	return true
}

// words is the elements of a list, which are of that size, as they lie in memory.
func words[W uint32 | uint64](d *value.Dense) []W {
	s := dense.SlabOf(d, 0, d.Cols)
	return unsafe.Slice((*W)(s.Pointer()), d.Cols)
}

// mergeRows joins rows of a and b, whose values are x and y, from row lo on: their columns in
// at.col, their values in u and v, 0 where a matrix has none.
func mergeRows[W uint32 | uint64](at *places, lo int, a, b *value.CSR, x, y, u, v []W) {
	x0, y0 := a.Ptr[0], b.Ptr[0] // values begin there
	for i := range at.rows {
		k, end := at.ptr[i]-at.ptr[0], at.ptr[i+1]-at.ptr[0]
		if k == end {
			continue
		}
		cols, p := a.Row(lo + i)
		others, q := b.Row(lo + i)
		merge(at.col[k:end], cols, others, x[int64(p)-x0:][:len(cols)], y[int64(q)-y0:][:len(others)], u[k:end], v[k:end])
	}
}

// merge joins ascending lists a and b, whose values are x and y, in dst, which is as long as what
// they make: u and v are their values there, 0 where one has none. It merges from both ends at
// once, since each step waits for the one before it.
func merge[W uint32 | uint64](dst, a, b []int32, x, y, u, v []W) {
	i, j, k := 0, 0, 0
	p, q, r := len(a)-1, len(b)-1, len(dst)-1
	for i < p && j < q { // a step at either end takes at most one element of each
		s, t := int64(a[i]), int64(b[j])
		takeA, takeB := ^((t - s) >> 63), ^((s - t) >> 63) // all ones: s <= t, t <= s
		dst[k] = int32(s&takeA | t&^takeA)
		u[k], v[k] = x[i]&W(takeA), y[j]&W(takeB)
		i -= int(takeA)
		j -= int(takeB)
		k++
		s, t = int64(a[p]), int64(b[q])
		takeA, takeB = ^((s - t) >> 63), ^((t - s) >> 63) // s >= t, t >= s
		dst[r] = int32(s&takeA | t&^takeA)
		u[r], v[r] = x[p]&W(takeA), y[q]&W(takeB)
		p += int(takeA)
		q += int(takeB)
		r--
	}
	for i <= p && j <= q {
		s, t := a[i], b[j]
		dst[k], u[k], v[k] = min(s, t), 0, 0
		if s <= t {
			u[k] = x[i]
			i++
		}
		if t <= s {
			v[k] = y[j]
			j++
		}
		k++
	}
	for ; i <= p; i, k = i+1, k+1 {
		dst[k], u[k], v[k] = a[i], x[i], 0
	}
	for ; j <= q; j, k = j+1, k+1 {
		dst[k], u[k], v[k] = b[j], 0, y[j]
	}
}
