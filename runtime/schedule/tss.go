package schedule

// This file defines TSS, trapezoid self-scheduling: sizes fall linearly from First to Last.

// trapezoid is the size at each step before clipping: max(f - i*d, l).
type trapezoid struct{ f, l, d int }

// newTrapezoid rounds the number of steps up. Rounded down, the decrement becomes too large for some loops, the trapezoid ends before the loop does,
// and the rest goes out in chunks of l: 15625 chunks instead of 63 for N = 1000000, P = 16.
func newTrapezoid(p Params) trapezoid {
	t := trapezoid{f: p.First, l: min(p.Last, p.First)}
	if s := ceilDiv(2*p.N, t.f+t.l); s > 1 {
		t.d = (t.f - t.l) / (s - 1)
	}
	return t
}

func (t trapezoid) size(i int) int {
	if t.d > 0 && i > (t.f-t.l)/t.d { // also keeps i*d in range
		return t.l
	}
	return t.f - i*t.d
}

func newTSS(p Params) (Calculator, error) {
	t := newTrapezoid(p)
	return newPrefix(p, func(a at) int { return t.size(a.step) }), nil
}
