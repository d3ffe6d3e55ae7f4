package schedule

import (
	"math"
)

// This file defines fixedCost, what a chunk takes beyond claiming it and its iterations: groups of lanes that
// it leaves half empty, inner loops that it enters cold. Whoever cuts finely without looking at it has the
// better balance and the longer time.

// fixedCost is learned from the chunks of each execution by a regression of what they took over what their
// iterations were expected to take. It is the intercept, averaged over executions by what each tells (chunks
// that are all alike tell nothing), less its standard error: only what is significant counts.
type fixedCost struct {
	seconds   float64
	mean      float64
	precision float64 // 1 over its variance; 0: nothing is known
	asked     int     // executions
}

// keeps is how much of what executions told counts after one more.
const keeps = 0.8

// enough is how many chunks a regression needs.
const enough = 6

// outlier is how many robust standard deviations off a chunk counts no more.
const outlier = 3

// less is what the iterations of a chunk took that took t: what is fixed is never all of it.
func (f *fixedCost) less(t float64) float64 { return max(t-f.seconds, t/4) }

// add is another estimate with its standard error.
func (f *fixedCost) add(seconds, deviation float64) {
	deviation = max(deviation, math.Abs(seconds)/100, 1e-12)
	before, now := keeps*f.precision, 1/(deviation*deviation)
	f.mean = (float64(before*f.mean) + float64(now*seconds)) / (before + now)
	f.precision = before + now
	f.seconds = max(f.mean-1/math.Sqrt(f.precision), 0)
}

// learnFixed learns what a chunk of the last execution took beside its iterations.
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

// regression is t = a + s x + e, where e has a variance in proportion to x: the sum of as many independent iterations.
type regression struct{ x, t []float64 }

func (g *regression) add(x, t float64) {
	if x > 0 {
		g.x, g.t = append(g.x, x), append(g.t, t)
	}
}

// intercept is a and its standard error, by weighted least squares: over all points, then again and again over
// those that are not far off the line before.
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

// fits is how many lines are tried.
const fits = 4

// normalQuartile is the median of the absolute values of a standard normal variable.
const normalQuartile = 0.6745

// fit uses the points that are at most so many roots of x off the line a0 + s0 x.
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
