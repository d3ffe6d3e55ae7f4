package reduce

// This file counts what is not zero in columns: by rows, so that memory is read as it lies, without
// a branch an element.

import (
	"encoding/binary"

	"flow/ir/value"
	"flow/kernels/vec"
)

// tallyWidth is how many columns are counted at a time where counts are not int64 yet: their counts
// stay in the first-level cache.
const tallyWidth = 4096

// narrowCols is how many columns fill vectors well.
const narrowCols = 256

// countColumns adds the number of elements that are not zero of every column of d, whose elements
// are x, to n.
func countColumns[T vec.Element](n []int64, x []T, d *value.Dense) {
	if k := narrowCols / max(d.Cols, 1); k > 1 && d.Stride == d.Cols && d.Rows >= 2*k { // k rows are one of k times as many columns
		var room [narrowCols]int64
		wide := *d
		wide.Rows, wide.Cols, wide.Stride = d.Rows/k, k*d.Cols, k*d.Cols
		countColumns(room[:wide.Cols], x, &wide)
		for j, c := range room[:wide.Cols] {
			n[j%d.Cols] += c
		}
		left := *d
		left.Rows = d.Rows % k
		x, d = x[wide.Rows*wide.Cols:], &left
	}
	switch x := any(x).(type) {
	case []float64:
		for i := range d.Rows {
			vec.TallyF64(n[:d.Cols], x[i*d.Stride:][:d.Cols])
		}
	case []int64:
		for i := range d.Rows {
			vec.TallyI64(n[:d.Cols], x[i*d.Stride:][:d.Cols])
		}
	case []float32:
		var count [tallyWidth]int32
		for j := 0; j < d.Cols; j += tallyWidth {
			c := count[:min(tallyWidth, d.Cols-j)]
			for i0 := 0; i0 < d.Rows; i0 += 1 << 30 { // counts of 32 bits
				clear(c)
				for i := i0; i < min(i0+1<<30, d.Rows); i++ {
					vec.TallyF32(c, x[i*d.Stride+j:][:len(c)])
				}
				for k, v := range c {
					n[j+k] += int64(v)
				}
			}
		}
	case []uint8:
		countTruths(n, x, d)
	}
}

// countTruths counts bools: eight of them are added to eight counts of a byte in one word, for 255
// rows.
func countTruths(n []int64, x []uint8, d *value.Dense) {
	var words [tallyWidth / 8]uint64
	for j := 0; j < d.Cols; j += tallyWidth {
		cols := min(tallyWidth, d.Cols-j)
		whole := cols / 8
		for i0 := 0; i0 < d.Rows; i0 += 255 {
			w := words[:whole]
			clear(w)
			for i := i0; i < min(i0+255, d.Rows); i++ {
				row := x[i*d.Stride+j:][:cols]
				for k := range w {
					w[k] += binary.LittleEndian.Uint64(row[8*k:])
				}
				for k := 8 * whole; k < cols; k++ {
					n[j+k] += int64(row[k])
				}
			}
			for k, v := range w {
				for b := range 8 {
					n[j+8*k+b] += int64(v >> (8 * b) & 255)
				}
			}
		}
	}
}
