package schedule

import (
	"math"
	"sync/atomic"
)

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

// number is a float64 that is read while it is written.
type number struct{ bits atomic.Uint64 }

func (x *number) get() float64  { return math.Float64frombits(x.bits.Load()) }
func (x *number) set(v float64) { x.bits.Store(math.Float64bits(v)) }

// rates are the workers of a loop.
type rates struct {
	prior []float64 // weights before anything is known
	of    []rate

	// The published values of each worker. A reader may see values of different reports, which
	// changes sizes, never coverage. They are adjacent, since a reader needs all of them.
	speeds          []number // iterations a second, b/a; 0: unknown
	inverse, spread []number // 1/mu and sigma^2/mu, for AF alone; 0: unknown

	// What turns speeds into weights, as of the last rescale, so that a claim reads one worker
	// only. Overlapping reports may miss one of them until the next.
	_       [128]byte
	perRate number // P over the sum of all speeds
	unknown number // see scale
	_       [128 - 2*8]byte
}

// published returns n numbers on lines of their own.
func published(n int) []number { return make([]number, (n+31)&^15)[8:][:n] }

func (r *rates) begin(p Params) {
	r.prior, r.of, r.speeds = p.Weights, make([]rate, p.P), published(p.P)
	r.rescale()
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

// total returns the sum of all speeds; 0 if one is unknown.
func (r *rates) total() float64 {
	var even, odd float64 // additions wait for each other
	n := len(r.speeds) &^ 1
	for i := 0; i < n; i += 2 {
		v, w := r.speeds[i].get(), r.speeds[i+1].get()
		if v == 0 || w == 0 {
			return 0
		}
		even += v
		odd += w
	}
	if n < len(r.speeds) {
		v := r.speeds[n].get()
		if v == 0 {
			return 0
		}
		even += v
	}
	return even + odd
}

// scale returns what turns speeds into weights: the sum of all speeds, and the speed of an unknown
// worker of prior weight 1. Unknown workers have the mean speed of the known ones; unknown is 0 if
// there are none.
func (r *rates) scale() (sum, unknown float64) {
	if sum = r.total(); sum > 0 {
		return sum, 0
	}
	known, missing := 0.0, 0.0
	for i := range r.speeds {
		if v := r.speeds[i].get(); v > 0 {
			sum += v
			known += r.prior[i]
		} else {
			missing += r.prior[i]
		}
	}
	if known == 0 {
		return missing, 1
	}
	unknown = sum / known
	return sum + missing*unknown, unknown
}

// rescale publishes the current scale.
func (r *rates) rescale() {
	sum, unknown := r.scale()
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

// weights fills dst, which has room for all workers.
func (r *rates) weights(dst []float64) []float64 {
	r.rescale()
	for i := range dst {
		dst[i] = r.weight(i)
	}
	return dst
}

// Expected returns the current relative speed of every worker.
func (r *rates) Expected() []float64 { return r.weights(make([]float64, len(r.of))) }
