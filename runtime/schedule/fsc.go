package schedule

import "math"

// This file defines FSC, the fixed size that balances the overhead of many chunks against the idle
// time of large ones.

// newFSC handles the two divisions by zero of the formula: ln P for one worker, and sigma for equal
// iterations. In both cases more than one chunk a worker gains nothing.
func newFSC(p Params) (Calculator, error) {
	if p.P == 1 || p.Sigma == 0 {
		return newFixed(p, ceilDiv(p.N, p.P)), nil
	}
	n, w := float64(p.N), float64(p.P)
	x := math.Sqrt2 * n * p.H / (p.Sigma * w * math.Sqrt(math.Log(w)))
	return newFixed(p, ceil(math.Pow(x, 2.0/3))), nil
}
