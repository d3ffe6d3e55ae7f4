//go:build !amd64

package vec

// This file stands in for columns_amd64.go where there is no assembly.

// MaxNearRows is the most rows of one near sum of columns.
const MaxNearRows = 1 << 9

// NearColumns is the memory of near sums of columns.
type NearColumns struct{}

// Sum sums nothing here.
func (n *NearColumns) Sum(s, t []float64, x []float64, ld, rows, cols int) (ok bool) { return false }

// Sum32 sums nothing here.
func (n *NearColumns) Sum32(s, t []float64, x []float32, ld, rows, cols int, squares bool) (ok bool) {
	return false
}
