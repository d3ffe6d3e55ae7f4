package vec

// This file sums many columns whose rows are read as they lie in memory.

import (
	"math"
	"math/bits"
	"slices"
)

// MaxNearRows is the most rows of one near sum of columns. The fewer, the smaller elements may be beside others: see room.
const MaxNearRows = 1 << 9

// The sums must be finite and normal.
const nearLow, nearHigh = -900, 900

// sampledRows is how many rows say how large elements are: four times as large ones, or seldom larger ones, have room.
const sampledRows = 8

// NearColumns is the memory of near sums of columns: see gen/near.go. A zero one is ready.
type NearColumns struct {
	state []float64 // the sums, those of their errors, where the sums began; then, behind vectors of columns, one of the last ones
	slots int
}

// Sum sums the columns of rows x cols elements, rows ld apart, at most MaxNearRows: the exact sum of column j is s[j] + t[j], if ok. Elements
// in a column may not differ too much in size, and be finite; a matrix narrower than a vector, and a CPU without vectors, have none.
func (n *NearColumns) Sum(s, t []float64, x []float64, ld, rows, cols int) (ok bool) {
	return nearColumns(n, s, t, x, ld, rows, cols, false)
}

// Sum32 is Sum of float32, or of their squares.
func (n *NearColumns) Sum32(s, t []float64, x []float32, ld, rows, cols int, squares bool) (ok bool) {
	return nearColumns(n, s, t, x, ld, rows, cols, squares)
}

func nearColumns[T Float](n *NearColumns, s, t []float64, x []T, ld, rows, cols int, squares bool) bool {
	c := plan(false)
	if c.lanes == 0 || cols < c.lanes || rows == 0 || rows > MaxNearRows {
		return false
	}
	full := (cols+c.lanes-1)/c.lanes - 1
	n.slots = (full + 1) * c.lanes
	n.state = slices.Grow(n.state[:0], 3*n.slots)[:3*n.slots]
	high, low, base := n.state[:n.slots], n.state[n.slots:2*n.slots], n.state[2*n.slots:]
	last := cols - c.lanes
	// Of elements below 2^e a sum that begins with 1.5 * 2^(e+room) stays in its binade, and so does that of their errors, at most 2^(e+room-53)
	// each, which begins with 1.5 * 2^(e+2*room-53).
	room := bits.Len(uint(rows)) + 1
	drop := math.Float64frombits(uint64(1023-53+room) << 52)
	tops := s[:cols] // what some rows show
	clear(tops)
	for k := range min(rows, sampledRows) {
		row := x[k*rows/min(rows, sampledRows)*ld:][:cols]
		for j, v := range row { // bits of numbers without a sign ascend as they do
			b := math.Float64bits(float64(v)) &^ (1 << 63)
			tops[j] = math.Float64frombits(max(math.Float64bits(tops[j]), b))
		}
	}
	e := 0
	for k := range n.slots {
		j := k
		if k >= full*c.lanes {
			j = last + k - full*c.lanes
		}
		top := tops[j]
		if squares {
			top *= top
		}
		if top != 0 { // else as the column before
			e = min(max(int(math.Float64bits(top)>>52)-1022+2, nearLow), nearHigh)
		}
		base[k] = math.Float64frombits(uint64(e+room+1023)<<52 | 1<<51)
		high[k], low[k] = base[k], base[k]*drop
	}
	var bad, stray [8]float64
	size := 8 * n.slots
	switch x := any(x).(type) {
	case []float64:
		if c.lanes == 8 {
			nearColumnsF64AVX512(&high[0], size, &x[0], rows, 8*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		} else {
			nearColumnsF64AVX2(&high[0], size, &x[0], rows, 8*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		}
	case []float32:
		switch {
		case c.lanes == 8 && squares:
			nearSquaresF32AVX512(&high[0], size, &x[0], rows, 4*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		case c.lanes == 8:
			nearColumnsF32AVX512(&high[0], size, &x[0], rows, 4*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		case squares:
			nearSquaresF32AVX2(&high[0], size, &x[0], rows, 4*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		default:
			nearColumnsF32AVX2(&high[0], size, &x[0], rows, 4*ld, 8*full*c.lanes, last, &bad[0], &stray[0])
		}
	}
	var lost, strayed uint64
	for k := range bad {
		lost |= math.Float64bits(bad[k]) << 1
		strayed |= math.Float64bits(stray[k]) >> 52
	}
	if lost != 0 || strayed != 0 {
		return false
	}
	for j := range cols {
		k := j
		if j >= full*c.lanes {
			k = full*c.lanes + j - last
		}
		// A sum less where it began is exact: both are of one binade. The base of the errors follows from that of the sum.
		s[j], t[j] = high[k]-base[k], low[k]-base[k]*drop
	}
	return true
}
