package sweep

import (
	"math"
	"slices"
)

// This file defines Estimate: the median of a sample and its interval.

// Estimate is a median with an interval that covers the median of the distribution with probability
// Coverage, for any distribution. An empty sample has all fields 0; one value has an interval of no
// width, with Coverage 0.
type Estimate struct {
	Median   float64 `json:"median"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
}

// Estimated returns the estimate from a sample of independent values. The interval is between two
// order statistics, the k-th smallest and the k-th largest value; it misses the median with
// probability 2 P(B < k), B binomial with n trials of probability 1/2 (Hahn, Meeker, Statistical
// Intervals, 1991, section 5.2). It is the narrowest with at least the requested level, or the
// whole range if the sample is too small: 5 values cover 93.75 %, 6 values 96.9 %.
//
// It is slightly conservative for ties, and wrong for dependent values, which random order
// prevents.
func Estimated(sample []float64, level float64) Estimate {
	n := len(sample)
	if n == 0 {
		return Estimate{}
	}
	x := slices.Sorted(slices.Values(sample))
	e := Estimate{Median: (x[(n-1)/2] + x[n/2]) / 2}
	k := 1
	for 2*(k+1) <= n && coverage(n, k+1) >= level {
		k++
	}
	e.Low, e.High, e.Coverage = x[k-1], x[n-k], coverage(n, k)
	return e
}

// coverage returns 1 - 2 P(B < k) without cancellation, as P(k <= B <= n-k). It is exact to the
// last digits for realistic sizes, and uses logarithms where 2^-n is subnormal.
func coverage(n, k int) float64 {
	const exact = 1000
	sum, p := 0.0, math.Ldexp(1, -min(n, exact)) // p is P(B = i)
	for i := 0; i <= n-k; i++ {
		if n > exact {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			p = math.Exp(a - b - c - float64(n)*math.Ln2)
		}
		if i >= k {
			sum += p
		}
		p *= float64(n-i) / float64(i+1)
	}
	return min(sum, 1)
}
