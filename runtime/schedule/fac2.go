package schedule

// This file defines FAC2: factoring that hands out half of the rest in each batch. Of the five
// conventions in use it is the closed form, which needs no state and agrees with "halve with ceil".

// fac2 returns ceil(n / (p * 2^(batch+1))) without overflow: a ceiling of a ceiling is a ceiling.
func fac2(n, p, batch int) int {
	if batch >= 62 {
		return 1
	}
	return ceilDiv(ceilDiv(n, p), 1<<(batch+1))
}

func newFAC2(p Params) (Calculator, error) {
	return newPrefix(p, func(a at) int { return fac2(p.N, p.P, a.batch) }), nil
}
