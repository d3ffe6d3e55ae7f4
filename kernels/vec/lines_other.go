//go:build !amd64

package vec

func dotLines(Lines, []int64, []int32, []float64, Lines) int { return 0 }

func addLines(Lines, []int64, []int32, []float64, Lines, int32, int32) bool { return false }

func addRows([]float64, []int64, []int32, []float64, []float64, int32, int32) bool { return false }
