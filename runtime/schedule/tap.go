package schedule

import "math"

// This file defines TAP, tapering: GSS with head room for the variance of a chunk. Sigma = 0 is
// GSS.

func newTAP(p Params) (Calculator, error) {
	v := p.Alpha * p.Sigma / p.Mu
	return newPrefix(p, func(a at) int {
		if v == 0 {
			return ceilDiv(a.remaining, p.P)
		}
		t := float64(a.remaining) / float64(p.P)
		return ceil(t + v*v/2 - v*math.Sqrt(2*t+v*v/4))
	}), nil
}
