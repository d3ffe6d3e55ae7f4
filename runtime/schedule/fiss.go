package schedule

// This file defines FISS, fixed increase: sizes grow by the same amount from stage to stage of P
// chunks.

// newFISS makes the last stage share what is left, because the rounded increment would leave a
// remainder (LB4OMP: 50 83 116 and 4).
func newFISS(p Params) (Calculator, error) {
	b := p.Stages
	x := b + 2
	first, inc := p.N/(x*p.P), 0
	if b > 1 {
		inc = 4 * p.N / (x * p.P * b * (b - 1))
	}
	return newPrefix(p, func(a at) int {
		if a.batch >= b-1 {
			return ceilDiv(a.atBatch, p.P)
		}
		return first + a.batch*inc
	}), nil
}
