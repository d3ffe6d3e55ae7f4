package schedule

// This file defines GSS, guided self-scheduling: an equal share of what is left. The recurrence is
// the definition. The closed form (N/P)((P-1)/P)^i differs from step 4 on, and libomp's "guided"
// hands out half of it.

func newGSS(p Params) (Calculator, error) {
	return newPrefix(p, func(a at) int { return ceilDiv(a.remaining, p.P) }), nil
}
