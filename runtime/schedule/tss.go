package schedule

// This file defines TSS, trapezoid self-scheduling: sizes fall linearly from First to Last.

// trapezoid gives the size at each step before clipping: max(f - i*d, l).
type trapezoid struct{ f, l, d int }

// newTrapezoid rounds the number of steps up. Rounded down, the decrement would be too large for
// some loops: the trapezoid ends before the loop, and the rest goes out in chunks of l: 15625
// chunks instead of 63 for N = 1000000, P = 16.
func newTrapezoid(p Params) trapezoid {
	t := trapezoid{f: min(p.First, max(p.N, 1)), l: min(p.Last, p.First, max(p.N, 1))}
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

// mean returns the mean of count sizes from step i on, rounded down. The part above l is an
// arithmetic series.
func (t trapezoid) mean(i, count int) int {
	if t.d == 0 {
		return t.f
	}
	above := min(max((t.f-t.l)/t.d+1-i, 0), count) // steps of more than l, or just l
	return t.l + (above*(t.f-t.l)-t.d*(above*i+above*(above-1)/2))/count
}

func newTSS(p Params) (Calculator, error) {
	t := newTrapezoid(p)
	return newPrefix(p, func(a at) int { return t.size(a.step) }), nil
}
