package schedule

import "math"

// This file defines AF, adaptive factoring, from mean and variance of each worker's own iterations, and AF_CAP, the same with a bound.

// af estimates mu and sigma from chunk totals, so no iteration is timed: mu = sum t/sum n, sigma^2 = 1/(m-1) sum (t_c - n_c mu)^2/n_c. That is
// unbiased if iterations are independent and grows with their correlation, which is what sizes should do.
//
// It would be wrong to form sum sigma/mu instead of sum sigma^2/mu as one implementation does: a pure number, added to times, so that sizes
// depend on the unit of time.
type af struct {
	loop
	rates
	capped bool
	probe  int // size of a worker's first two chunks: there is no variance before
}

// newAF probes with 0.1 N/P twice.
func newAF(p Params) (Calculator, error) {
	return &af{loop: loop{p}, rates: newRates(p), probe: ceilDiv(p.N, 10*p.P)}, nil
}

// newAFCap probes with 1 % of N/P and never exceeds the weighted factoring share w R/(2P). AF takes iterations to be exchangeable; on
// costs that fall along the loop the early ones deceive it, and the cap keeps enough back.
func newAFCap(p Params) (Calculator, error) {
	return &af{loop: loop{p}, rates: newRates(p), probe: ceilDiv(p.N, 100*p.P), capped: true}, nil
}

func (c *af) Next(worker, _, remaining int) int {
	if c.of[worker].s.get() < 2 {
		return c.clip(c.probe, remaining)
	}
	k := c.share(worker, remaining)
	if c.capped {
		sum, unknown := c.scale()
		k = min(k, c.weight(worker, sum, unknown)*float64(remaining)/float64(2*c.P))
	}
	return c.clip(ceil(k), remaining)
}

// share is (D + 2TR - sqrt(D^2 + 4DTR))/(2 mu) with D = sum sigma^2/mu and T = 1/sum(1/mu). Workers that have reported nothing are
// taken to be like the mean of the others.
func (c *af) share(worker, remaining int) float64 {
	d, inverse, known := 0.0, 0.0, 0.0
	for i := range c.of {
		if mu, variance := c.moments(i); mu > 0 {
			d += variance / mu
			inverse += 1 / mu
			known++
		}
	}
	mu, _ := c.moments(worker)
	if known == 0 || mu == 0 {
		return 0
	}
	d *= float64(c.P) / known
	tr := float64(remaining) / (inverse * float64(c.P) / known)
	return (d + 2*tr - math.Sqrt(d*d+4*d*tr)) / (2 * mu)
}

// moments are mean and variance of the time of a worker's iterations; 0 if nothing is known.
func (c *af) moments(worker int) (mu, variance float64) {
	w := &c.of[worker]
	n, t := w.n.get(), w.t.get()
	if n == 0 {
		return 0, 0
	}
	mu = t / n
	if m := w.s.get(); m > 1 {
		variance = max(0, (w.q.get()-t*mu)/(m-1))
	}
	return mu, variance
}

// Report adds a record.
func (c *af) Report(worker, _, n int, seconds, _ float64) { c.record(worker, n, seconds) }

// Restart keeps all estimates: sizes are right from the first chunk on.
func (c *af) Restart() {}
