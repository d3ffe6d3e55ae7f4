package exact_test

import (
	"fmt"

	"flow/kernels/exact"
)

// The exact sum of 2^53, 1 and -2^53 is 1; float additions from the left lose it.
func ExampleSum() {
	x := []float64{1 << 53, 1, -(1 << 53)}
	naive := 0.0
	for _, v := range x {
		naive += v
	}
	var s, half exact.Sum
	s.AddSlice(x[:1])
	half.AddSlice(x[1:])
	s.Merge(&half)
	fmt.Println(naive, s.Round())
	// Output: 0 1
}
