package order

// This file merges the runs of sorted rows that ranks send (op.Ordering.Of, ranks.go). Each unit of the
// loop makes an equal part of the result: it finds its part of each run by binary search.

import (
	"math"
	"math/bits"

	"flow/ir/op"
)

// runsOf is the runs of a call, by rank: those of this rank's window, or all rows.
func runsOf(c *op.Call) []sortedRows {
	cuts := c.Dense(1)
	from, to := 0, cuts.Cols-1
	for t := 0; c.Lo < c.Hi && t < cuts.Cols-1; t++ {
		first := 0
		for r := range cuts.Rows {
			first += int(cuts.At(r, t).I - cuts.At(r, 0).I)
		}
		if first == c.Lo { // of windows without rows the last one has them
			from, to = t, t+1
		}
	}
	runs := make([]sortedRows, cuts.Rows)
	for r := range runs {
		runs[r] = sortedOf(c, int(cuts.At(r, from).I), int(cuts.At(r, to).I))
	}
	return runs
}

// mergeRows is about how many rows are merged at a time, in a core's own cache.
const mergeRows = 1 << 13

// merge is one execution of op.Ordering.Of: unit u makes an equal part of the result.
type merge struct {
	c     *op.Call
	runs  []sortedRows
	n     int // rows
	units int
	by    []mergeRoom // by worker
	write func(c *op.Call, at []int64, to int)
}

// mergeRoom is the memory of a worker: keys and places, and where they go.
type mergeRoom struct {
	keys [2][]uint64
	at   [2][]int64
	_    [64]byte
}

func beginMerge(c *op.Call, workers int, write func(c *op.Call, at []int64, to int)) *merge {
	l := &merge{c: c, runs: runsOf(c), units: SortUnits, by: make([]mergeRoom, workers), write: write}
	for _, s := range l.runs {
		l.n += s.hi - s.lo
	}
	return l
}

// first is the number of the first row of the result that unit u makes.
func (l *merge) first(u int) int { return int(uint64(l.n) * uint64(u) / uint64(l.units)) }

// begins returns where rows of unit u begin in each run: the key there is found bit by bit.
func (l *merge) begins(u int) []int {
	lo, hi := make([]int, len(l.runs)), make([]int, len(l.runs))
	for r, s := range l.runs {
		lo[r], hi[r] = s.lo, s.hi
	}
	if u == l.units {
		return hi
	}
	left, mid := l.first(u), make([]int, len(l.runs)) // left: of the rows between lo and hi
	key, bit := l.common()
	for ; bit > 0 && left > 0; bit >>= 1 {
		below := 0
		for r := range l.runs {
			mid[r] = l.runs[r].before(key|bit, lo[r], hi[r])
			below += mid[r] - lo[r]
		}
		if below <= left {
			key |= bit
			left -= below
			lo, mid = mid, lo
		} else {
			hi, mid = mid, hi
		}
	}
	for r := range lo { // of equal keys those of the first ranks
		k := min(left, hi[r]-lo[r])
		lo[r] += k
		left -= k
	}
	return lo
}

// common returns the highest bits that the keys of all rows share, and the next bit; 0: there is none.
func (l *merge) common() (key, bit uint64) {
	least, most := uint64(math.MaxUint64), uint64(0)
	for r, s := range l.runs {
		if s.lo < s.hi {
			var ends [2]uint64
			l.runs[r].keys(ends[:1], s.lo)
			l.runs[r].keys(ends[1:], s.hi-1)
			least, most = min(least, ends[0]), max(most, ends[1])
		}
	}
	differ := bits.Len64(least ^ most)
	return most >> differ << differ, 1 << 63 >> (64 - differ)
}

// Chunk runs units lo..hi-1.
func (l *merge) Chunk(worker, lo, hi int) error {
	begins := l.begins(lo)
	for u := lo; u < hi; u++ {
		ends := l.begins(u + 1)
		l.write(l.c, l.by[worker].merged(l.runs, begins, ends), max(0, l.c.Lo)+l.first(u))
		begins = ends
	}
	return nil
}

// End does nothing.
func (l *merge) End() error { return nil }

// merged returns the places of rows from..to-1 of runs in order.
func (m *mergeRoom) merged(runs []sortedRows, from, to []int) []int64 {
	bounds, n := make([]int, 1, len(runs)+1), 0
	for r := range runs {
		n += to[r] - from[r]
		if to[r] > from[r] {
			bounds = append(bounds, n)
		}
	}
	if len(m.at[0]) < n {
		for k := range m.at {
			m.keys[k], m.at[k] = make([]uint64, n), make([]int64, n)
		}
	}
	keys, at, k := m.keys[0], m.at[0], 0
	for r := range runs {
		runs[r].keys(keys[k:k+to[r]-from[r]], from[r])
		for i := from[r]; i < to[r]; i++ {
			at[k] = int64(i)
			k++
		}
	}
	next, nextAt := m.keys[1], m.at[1]
	for len(bounds) > 2 {
		ends := bounds[:1]
		for b := 0; b+1 < len(bounds); b += 2 {
			i, j := bounds[b], bounds[b+1]
			e := bounds[min(b+2, len(bounds)-1)]
			mergePair(next[i:e], nextAt[i:e], keys[i:e], at[i:e], j-i)
			ends = append(ends, e)
		}
		bounds = ends
		keys, at, next, nextAt = next, nextAt, keys, at
	}
	return at[:n]
}

// mergePair merges sorted keys, before and from j on, and their places. Of equal ones the first come
// first.
func mergePair(out []uint64, outAt []int64, keys []uint64, at []int64, j int) {
	i, end, k := 0, j, 0
	if keys[j-1] <= keys[min(j, len(keys)-1)] { // in order already
		end, j = len(keys), len(keys)
	}
	for ; i < end && j < len(keys); k++ {
		_, less := bits.Sub64(keys[j], keys[i], 0) // 1 if the second one goes first: without a branch
		from := i + int(less)*(j-i)
		out[k], outAt[k] = keys[from], at[from]
		i += int(1 - less)
		j += int(less)
	}
	copy(out[k:], keys[i:end])
	copy(outAt[k:], at[i:end])
	k += end - i
	copy(out[k:], keys[j:])
	copy(outAt[k:], at[j:])
}
