package schedule

import "math"

// This file defines FAC, factoring: batches of P equal chunks, each batch as large as mu and sigma
// let it be without risking imbalance.

// newFAC with sigma = 0 hands out everything in the first batch: x is 1.
func newFAC(p Params) (Calculator, error) {
	return newPrefix(p, func(a at) int {
		r := float64(a.atBatch)
		b := float64(p.P) * p.Sigma / (2 * p.Mu * math.Sqrt(r))
		x := 2 + b*b + b*math.Sqrt(b*b+4)
		if a.batch == 0 {
			x = 1 + b*b + b*math.Sqrt(b*b+2)
		}
		return ceil(r / (x * float64(p.P)))
	}), nil
}
