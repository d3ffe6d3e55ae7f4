//go:build !amd64

package vec

// This file stands in for rows_amd64.go where there is no assembly.

func extremeRowsI64(_ bool, _, _ []int64, _ []int32, _ []int64, _ int64) (n int, longest int64) {
	return 0, 0
}
func extremeRowsI32(_ bool, _, _ []int64, _, _ []int32, _ int64) (n int, longest int64) {
	return 0, 0
}
func narrowWhole(_ []int32, _ []int64) (n int, least, greatest int64) { return 0, 0, 0 }
func narrowRowsWhole(_ []int32, _, _ []int64) (n int, least, greatest, leastOf, greatestOf int64) {
	return 0, 0, 0, 0, 0
}
func sumRows(_ []float64, _ []int64, _ []int32, _ []float64) (n int)    { return 0 }
func dotRows(_ []float64, _ []int64, _ []int32, _, _ []float64) (n int) { return 0 }
func maxRowsF64(_ []float64, _ []int64, _ []int32, _, _ []float64) (n int, longest int64) {
	return 0, 0
}
func minRowsF64(_ []float64, _ []int64, _ []int32, _, _ []float64) (n int, longest int64) {
	return 0, 0
}
