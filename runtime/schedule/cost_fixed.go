package schedule

import (
	"math"
)

// This file defines fixedCost, the cost of a chunk beyond claiming and its iterations: groups of
// lanes that it leaves half empty, inner loops that it enters cold. Cutting finely without it gives
// better balance and a longer time.

// fixedCost is learned by regressing the measured time of an execution's chunks on their expected
// time. It is the intercept, averaged over executions by their information (equal chunks have
// none), minus its standard error, so only a significant value counts.
type fixedCost struct {
	seconds   float64
	mean      float64
	precision float64 // 1 over its variance; 0: unknown
	asked     int     // executions
}

// keeps is the weight of earlier executions after one more.
const keeps = 0.8

// enough is the least number of chunks of a regression.
const enough = 6

// outlier is the number of robust standard deviations beyond which a chunk is dropped.
const outlier = 3

// less returns the time of a chunk's iterations, given the chunk's time t. The fixed cost is never
// all of it.
func (f *fixedCost) less(t float64) float64 { return max(t-f.seconds, t/4) }

// add adds an estimate with its standard error.
func (f *fixedCost) add(seconds, deviation float64) {
	deviation = max(deviation, math.Abs(seconds)/100, 1e-12)
	before, now := keeps*f.precision, 1/(deviation*deviation)
	f.mean = (float64(before*f.mean) + float64(now*seconds)) / (before + now)
	f.precision = before + now
	f.seconds = max(f.mean-1/math.Sqrt(f.precision), 0)
}

// learnFixed learns the fixed cost of a chunk from the last execution.
func (c *cost) learnFixed() {
	if c.profile == nil {
		return
	}
	c.fixed.asked++
	var line regression
	for i := range c.heard {
		for _, r := range c.heard[i].chunks {
			line.add(c.predicted(r), r.t*c.weights[i])
		}
	}
	if a, deviation, ok := line.intercept(); ok {
		c.fixed.add(a, deviation)
	}
}

// regression is t = a + s x + e, where the variance of e is proportional to x, as for sums of
// independent iterations.
type regression struct{ x, t []float64 }

func (g *regression) add(x, t float64) {
	if x > 0 {
		g.x, g.t = append(g.x, x), append(g.t, t)
	}
}

// intercept returns a and its standard error by weighted least squares: over all points, then
// repeatedly over those near the last line.
func (g *regression) intercept() (a, deviation float64, ok bool) {
	most, s := math.Inf(1), 0.0
	off := make([]float64, len(g.x))
	for range fits {
		if a, s, deviation, ok = g.fit(most, a, s); !ok {
			return 0, 0, false
		}
		for i, x := range g.x {
			off[i] = math.Abs(g.t[i]-a-float64(s*x)) / math.Sqrt(x)
		}
		most = outlier * median(off) / normalQuartile
	}
	return a, deviation, ok
}

// fits is the number of lines tried.
const fits = 4

// normalQuartile is the median of the absolute values of a standard normal variable.
const normalQuartile = 0.6745

// fit uses the points at most this many roots of x off the line a0 + s0 x.
func (g *regression) fit(most, a0, s0 float64) (a, s, deviation float64, ok bool) {
	var n, w, x, tw, t, tt float64 // sums of 1, 1/x, x, t/x, t, t^2/x
	for i, xi := range g.x {
		ti := g.t[i]
		if d := ti - a0 - float64(s0*xi); float64(d*d) > float64(most*most)*xi {
			continue
		}
		n++
		w += 1 / xi
		x += xi
		tw += ti / xi
		t += ti
		tt += ti * ti / xi
	}
	det := float64(w*x) - float64(n*n)
	if n < enough || !(det > 1e-9*w*x) {
		return 0, 0, 0, false
	}
	a = (float64(tw*x) - float64(t*n)) / det
	s = (float64(w*t) - float64(n*tw)) / det
	squares := max(0, tt-float64(a*tw)-float64(s*t))
	return a, s, math.Sqrt(squares / (n - 2) * x / det), true
}
