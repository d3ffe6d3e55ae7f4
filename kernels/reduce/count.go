package reduce

import (
	"flow/ir/value"
	"flow/kernels/vec"
)

// countColumns adds the number of elements that are not zero of every column of d, whose elements
// are x, to n: by rows, so that memory is read as it lies.
func countColumns[T vec.Element](n []int64, x []T, d *value.Dense) {
	for i := range d.Rows {
		for j, v := range x[i*d.Stride : i*d.Stride+d.Cols] {
			if v != 0 {
				n[j]++
			}
		}
	}
}
