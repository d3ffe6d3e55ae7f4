package schedule

import "math"

// This file defines rates, the measured speeds of the workers, shared by the adaptive techniques.

// rate is what one worker reported; only that worker reads it. Padding separates the lines of two
// workers, including the adjacent ones that processors prefetch.
type rate struct {
	// sum s*t and sum s*n over records s = 1, 2, ...: later records weigh more; sum n, sum t,
	// sum t^2/n
	a, b, n, t, q float64
	s             float64 // records so far
	pending       int     // iterations whose time was too short to measure
	_             [128 - 7*8]byte
}

// rates are the workers of a loop.
type rates struct {
	prior []float64 // weights before anything is known
	of    []rate

	// The published values of each worker. A reader may see values of different reports, which
	// changes sizes, never coverage. They are adjacent, since a reader needs all of them.
	speeds          []number // iterations a second, b/a; 0: unknown
	inverse, spread []number // 1/mu and sigma^2/mu, for AF alone; 0: unknown
	known           sums     // see speedsOf

	// What turns speeds into weights, as of the last rescale, so that a claim reads one worker
	// only. Overlapping reports may miss one of them until the next.
	_       [128]byte
	perRate number // P over the sum of all speeds
	unknown number // see publish
	_       [128 - 2*8]byte
}

// published returns n numbers on lines of their own.
func published(n int) []number { return make([]number, (n+31)&^15)[8:][:n] }

func (r *rates) begin(p Params) {
	r.prior, r.of, r.speeds = p.Weights, make([]rate, p.P), published(p.P)
	r.known = newSums(p.P)
	r.rescaleAll()
}

// record adds a record of n iterations in t seconds. If the clock has not moved the worker would be
// infinitely fast, so such iterations wait for the next record.
func (r *rates) record(worker, n int, t float64) {
	w := &r.of[worker]
	if n += w.pending; n <= 0 || !(t > 0) || math.IsInf(t, 0) {
		w.pending = max(n, 0)
		return
	}
	w.pending = 0
	f := float64(n)
	w.s++
	w.a += w.s * t
	w.b += w.s * f
	w.n += f
	w.t += t
	w.q += t * t / f
	r.speeds[worker].set(w.b / w.a)
}

// touch is Claimer.Touch.
func (r *rates) touch(worker int) float64 {
	return r.of[worker].s + r.speeds[worker].get() + r.prior[worker] + r.perRate.get()
}

// condense makes everything that a worker did the first record of the next execution.
func (r *rates) condense() {
	for i := range r.of {
		w := &r.of[i]
		if w.s > 0 {
			w.s, w.a, w.b = 1, w.t, w.n
			r.speeds[i].set(w.b / w.a)
		}
	}
}

// rescale publishes the scale after the speed of one worker has changed.
func (r *rates) rescale(worker int) { r.publish(r.known.renew(worker, r.speedsOf)) }

// rescaleAll is rescale of all workers.
func (r *rates) rescaleAll() {
	for worker := 0; worker < len(r.of); worker += groupSize {
		r.rescale(worker)
	}
}

// speedsOf returns the sum of the known speeds of workers lo to hi-1, and the sums of the prior
// weights of those whose speed is known and is not.
func (r *rates) speedsOf(lo, hi int) (sum [3]float64) {
	for i := lo; i < hi; i++ {
		if v := r.speeds[i].get(); v > 0 {
			sum[0] += v
			sum[1] += r.prior[i]
		} else {
			sum[2] += r.prior[i]
		}
	}
	return sum
}

// publish sets what turns speeds into weights: P over the sum of all speeds, and the speed of an
// unknown worker of prior weight 1. Unknown workers have the mean speed of the known ones.
func (r *rates) publish(known [3]float64) {
	sum, unknown := known[2], 1.0 // no speed is known
	if known[1] > 0 {
		unknown = known[0] / known[1]
		sum = known[0] + known[2]*unknown
	}
	if known[2] == 0 {
		unknown = 0
	}
	r.perRate.set(float64(len(r.of)) / sum)
	if r.unknown.get() != unknown { // it is 0 for good once all are known
		r.unknown.set(unknown)
	}
}

// weight returns P * speed / sum of speeds, the sum as of the last rescale.
func (r *rates) weight(worker int) float64 {
	v := r.speeds[worker].get()
	if v == 0 {
		v = r.prior[worker] * r.unknown.get()
	}
	return v * r.perRate.get()
}
