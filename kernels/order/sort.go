package order

// This file sorts keys, alone or with the places that they came from, on one worker.

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// FewKeys is the length up to which keys are inserted one by one.
const FewKeys = 32

// mostDigits is how many digits a sort goes by at once: 32 bits tell more keys apart than there
// are.
const mostDigits = 4

// mostKept is the length up to which rooms are kept: 1 MiB of keys, 1 MiB of places, and as much beside
// them.
const mostKept = 1 << 17

// SortRoom is memory that sorts need besides what they sort; it grows.
type SortRoom struct {
	key []uint64
	at  []int64
}

// Of is room for n keys and, with places, as many places.
func (r *SortRoom) Of(n int, places bool) ([]uint64, []int64) {
	if len(r.key) < n {
		r.key = make([]uint64, n)
	}
	if !places {
		return r.key[:n], nil
	}
	if len(r.at) < n {
		r.at = make([]int64, n)
	}
	return r.key[:n], r.at[:n]
}

// SortKeys sorts keys upwards.
func SortKeys(keys []uint64) {
	var r SortRoom
	room, _ := r.Of(len(keys), false)
	SortPairs(keys, nil, room, nil)
}

// differing is the bits in which keys differ.
func differing(keys []uint64) (bits uint64) {
	for _, k := range keys {
		bits |= k ^ keys[0]
	}
	return bits
}

// SortPairs sorts keys upwards, and at along with them unless it is nil; equal keys keep their
// order. The rooms are as long.
//
// Keys without places that lie close together are counted. Others go by the digits of the highest
// bits in which keys differ, as many as n keys need to be told apart if they are spread evenly, from
// the lowest up. What is then left in disorder are runs of keys that have these bits in common: few
// and short, and sorted by themselves. Were there many, in long runs, each would be sorted by its
// digits again, so time stays linear.
func SortPairs(keys []uint64, at []int64, roomKeys []uint64, roomAt []int64) {
	if len(keys) <= FewKeys {
		insertKeys(keys, at)
		return
	}
	differ := differing(keys)
	if differ == 0 || at == nil && countKeys(keys, roomKeys) {
		return
	}
	digits := min((bits.Len(uint(len(keys)))+2+7)/8, mostDigits, (bits.Len64(differ)+7)/8)
	low := max(0, bits.Len64(differ)-8*digits)
	sortDigits(keys, at, roomKeys, roomAt, low, digits)
	if low == 0 {
		return
	}
	for i := 0; i < len(keys); {
		j, top := i+1, keys[i]>>low
		for j < len(keys) && keys[j]>>low == top {
			j++
		}
		if j > i+1 {
			if at == nil {
				SortPairs(keys[i:j], nil, roomKeys[i:j], nil)
			} else {
				SortPairs(keys[i:j], at[i:j], roomKeys[i:j], roomAt[i:j])
			}
		}
		i = j
	}
}

// countKeys sorts keys without places by counting each value, if there are at most two values a key
// between the least and the greatest one, as there are of codes and labels. It takes a third of the
// time of three digits. room is as long as keys, and holds the counters.
func countKeys(keys, room []uint64) bool {
	most := 2 * uint64(len(keys))
	if a, b := keys[0], keys[len(keys)/2]; max(a, b)-min(a, b) >= most || len(keys) > math.MaxUint32 {
		return false // as most keys of floats
	}
	low := slices.Min(keys)
	n := slices.Max(keys) - low
	if n >= most {
		return false
	}
	count := unsafe.Slice((*uint32)(unsafe.Pointer(&room[0])), n+1)
	clear(count)
	for _, k := range keys {
		count[k-low]++
	}
	for v, times := range count {
		for i := range keys[:times] {
			keys[i] = low + uint64(v)
		}
		keys = keys[times:]
	}
	return true
}

// insertKeys is SortPairs of few keys.
func insertKeys(keys []uint64, at []int64) {
	for i := 1; i < len(keys); i++ {
		j, k := i, keys[i]
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
		if at != nil && j < i {
			p := at[i]
			copy(at[j+1:i+1], at[j:i])
			at[j] = p
		}
	}
}

// sortDigits sorts by n digits of 8 bits, of which the lowest begins at bit low. A digit that all
// keys share costs nothing.
func sortDigits(keys []uint64, at []int64, roomKeys []uint64, roomAt []int64, low, n int) {
	var count [mostDigits][256]int
	for _, k := range keys {
		k >>= low
		for d := range n {
			count[d][byte(k)]++
			k >>= 8
		}
	}
	from, to, fromAt, toAt := keys, roomKeys[:len(keys)], at, roomAt
	for d := range n {
		c, shift := &count[d], low+8*d
		if c[byte(from[0]>>shift)] == len(keys) {
			continue
		}
		sum := 0
		for b, n := range c {
			c[b] = sum
			sum += n
		}
		if at == nil {
			for _, k := range from {
				b := byte(k >> shift)
				to[c[b]] = k
				c[b]++
			}
		} else {
			for i, k := range from {
				b := byte(k >> shift)
				j := c[b]
				to[j], toAt[j] = k, fromAt[i]
				c[b] = j + 1
			}
		}
		from, to, fromAt, toAt = to, from, toAt, fromAt
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
		copy(at, fromAt)
	}
}
