package schedule

// This file defines PLS, performance-based loop scheduling: a static part, then GSS.

func newPLS(p Params) (Calculator, error) {
	static := ceil(p.SWR * float64(p.N) / float64(p.P))
	return newPrefix(p, func(a at) int {
		if a.step < p.P {
			return static
		}
		return ceilDiv(a.remaining, p.P)
	}), nil
}
