package schedule

import "math"

// This file defines AF, adaptive factoring by the mean and variance of each worker's own
// iterations, and AF_CAP, the same with a bound.

// af estimates mu and sigma from chunk totals, so no iteration is timed: mu = sum t/sum n, sigma^2
// = 1/(m-1) sum (t_c - n_c mu)^2/n_c. That is unbiased for independent iterations and grows with
// their correlation, as sizes should.
//
// It would be wrong to form sum sigma/mu instead of sum sigma^2/mu, as one implementation does: a
// pure number added to times, so sizes depend on the unit of time.
type af struct {
	loop
	rates
	capped bool
	each   float64 // 1/2P
	probe  int     // size of a worker's first two chunks: there is no variance before

	// D and T as of the last report, aligned as in rates.perRate.
	_               [128]byte
	noise, together number
	_               [128 - 2*8]byte

	estimates sums // of the workers that have reported: sigma^2/mu, 1/mu, and how many they are
}

// newAF probes with 0.1 N/P twice.
func newAF(p Params) (Calculator, error) {
	return makeAF(p, false, ceilDiv(p.N, 10*p.P))
}

// newAFCap probes with 1 % of N/P and never exceeds the weighted factoring share w R/(2P). AF
// assumes exchangeable iterations; costs that fall along the loop deceive it at first, and the cap
// keeps enough back.
func newAFCap(p Params) (Calculator, error) {
	return makeAF(p, true, ceilDiv(p.N, 100*p.P))
}

func makeAF(p Params, capped bool, probe int) (Calculator, error) {
	c := &af{loop: loop{p}, capped: capped, probe: probe, each: 1 / float64(2*p.P)}
	c.rates.begin(p)
	c.inverse, c.spread, c.estimates = published(p.P), published(p.P), newSums(p.P)
	return c, nil
}

func (c *af) Next(worker, _, remaining int) int {
	if c.of[worker].s < 2 {
		return c.clip(c.probe, remaining)
	}
	k := c.share(worker, remaining)
	if c.capped {
		if most := c.weight(worker) * float64(remaining) * c.each; most < k {
			k = most
		}
	}
	return c.clip(ceil(k), remaining)
}

// share returns (D + 2TR - sqrt(D^2 + 4DTR))/(2 mu) with D = sum sigma^2/mu and T = 1/sum(1/mu), mu
// of the worker; 0 before its first report. It multiplies by R last and does not divide, since the
// rest is precomputed.
func (c *af) share(worker, remaining int) float64 {
	d, t, r := c.noise.get(), c.together.get(), float64(remaining)
	return (d + 2*t*r - math.Sqrt(d*d+4*d*t*r)) * (c.inverse[worker].get() / 2)
}

// moments returns mean and variance of the time of a worker's iterations; 0 if unknown.
func (c *af) moments(worker int) (mu, variance float64) {
	w := &c.of[worker]
	if w.n == 0 {
		return 0, 0
	}
	mu = w.t / w.n
	if w.s > 1 {
		variance = max(0, (w.q-w.t*mu)/(w.s-1))
	}
	return mu, variance
}

// Report adds a record and recomputes the sums. Workers that have not reported count as the mean of
// the others.
func (c *af) Report(worker, _, n int, seconds, _ float64) {
	c.record(worker, n, seconds)
	mu, variance := c.moments(worker)
	if mu == 0 {
		return
	}
	c.spread[worker].set(variance / mu)
	c.inverse[worker].set(1 / mu)
	all := c.estimates.renew(worker, c.estimated)
	missing := float64(c.P) / all[2]
	c.noise.set(all[0] * missing)
	c.together.set(1 / (all[1] * missing))
	if c.capped {
		c.rescale(worker)
	}
}

// estimated returns the sums over workers lo to hi-1.
func (c *af) estimated(lo, hi int) (sum [3]float64) {
	for i := lo; i < hi; i++ {
		if x := c.inverse[i].get(); x > 0 {
			sum[0] += c.spread[i].get()
			sum[1] += x
			sum[2]++
		}
	}
	return sum
}

// touch is Claimer.Touch.
func (c *af) touch(worker int) float64 {
	return c.rates.touch(worker) + c.spread[worker].get() + c.inverse[worker].get() + c.noise.get()
}

// stepless: sizes do not depend on the step.
func (c *af) stepless() bool { return true }

// Restart keeps all estimates: sizes are right from the first chunk on.
func (c *af) Restart() {}
