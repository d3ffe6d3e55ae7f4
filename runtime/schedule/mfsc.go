package schedule

import "math"

// This file defines MFSC: the fixed size that makes about as many chunks as FAC2, without h and
// sigma.

// newMFSC guards T <= 1, where ln T is 0: there are no more iterations than workers.
func newMFSC(p Params) (Calculator, error) {
	t := ceilDiv(p.N, p.P)
	if t <= 1 {
		return newFixed(p, 1), nil
	}
	return newFixed(p, int(0.55+float64(t)*math.Ln2/math.Log(float64(t)))), nil
}
