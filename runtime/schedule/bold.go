package schedule

import (
	"math"
	"sync"
)

// This file defines BOLD: the size that minimises expected wasted time, bolder than factoring while much is left. It follows the two algorithms of Hagerup's
// paper: constants computed once, and the work at a request.

// bold keeps two estimates of the iterations that are not done: m counts down when chunks are reported, nb all the time, at the speed
// that the chunks on their way should have.
type bold struct {
	loop
	a, lnb, b, c1, c2, c3 float64

	mu    sync.Mutex
	next  int // first iteration not handed out, if this counts them
	m, nb float64
	spent []float64 // seconds that each worker has reported, overhead included
	clock float64   // the most of them: what has passed since the loop began, without reading a clock
	last  float64   // when nb was brought up to date
	speed []float64 // iterations a second that each worker's chunk should have, its overhead included
	total float64

	// opening is the first chunks of every execution: as long as nothing was reported and no time has passed, a chunk depends on what is left alone. steps is how many of
	// them this execution has had.
	opening []boldChunk
	steps   int
}

// boldChunk is the chunk for what is left, if nothing is known but that.
type boldChunk struct {
	left, size int
	speed      float64
}

// maxOpening bounds what is kept of an opening.
const maxOpening = 1 << 10

func newBOLD(p Params) (Calculator, error) {
	c := &bold{loop: loop{p}, spent: make([]float64, p.P), speed: make([]float64, p.P)}
	cv := p.Sigma / p.Mu
	c.a = 2 * cv * cv
	if c.a > 0 { // a ln a goes to 0
		c.b = 8 * c.a * math.Log(8*c.a)
	}
	if c.b > 0 {
		c.lnb = math.Log(c.b)
	}
	c.c1 = p.H / (p.Mu * math.Ln2)
	c.c2 = math.Sqrt(2*math.Pi) * c.c1
	c.c3 = math.Log(c.c2)
	c.Restart()
	return c, nil
}

// Next is for those who count the iterations themselves.
func (c *bold) Next(worker, _, remaining int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chunk(worker, remaining)
}

// claim is Claimer.Claim.
func (c *bold) claim(worker int) (start, size int, ok bool) {
	c.mu.Lock()
	if start = c.next; start < c.N {
		size, ok = c.chunk(worker, c.N-start), true
		c.next += size
	}
	c.mu.Unlock() // not deferred: a clock that panics ends the run anyway
	return start, size, ok
}

// chunk is the size of the worker's next chunk.
func (c *bold) chunk(worker, left int) int {
	now := c.now()
	if now > c.last {
		c.nb -= (now - c.last) * c.total
	}
	c.last = now
	var k boldChunk
	if n := float64(c.N); c.m != n || c.nb != n || c.steps == maxOpening {
		k = c.sized(left)
	} else if k = c.opened(left); k.left != left { // who counts the iterations may have passed some over
		k = c.sized(left)
	}
	c.total -= c.speed[worker]
	c.speed[worker] = k.speed
	c.total += k.speed
	return k.size
}

// opened is the next chunk of an opening, which is computed in the first execution.
func (c *bold) opened(left int) boldChunk {
	if c.steps == len(c.opening) {
		c.opening = append(c.opening, c.sized(left))
	}
	c.steps++
	return c.opening[c.steps-1]
}

// sized computes a chunk, and the speed that it should have.
func (c *bold) sized(left int) boldChunk {
	k := boldChunk{left: left, size: c.clip(ceil(c.size(float64(left))), left)}
	if t := float64(k.size)*c.Mu + c.H; t > 0 {
		k.speed = float64(k.size) / t
	}
	return k
}

// now is the clock that the params have, or the reported one. A worker reports what it has done before it asks, so the reported one is late only
// while all are in long chunks.
func (c *bold) now() float64 {
	if c.Now != nil {
		return c.Now()
	}
	return c.clock
}

// size has two limits beside the formula: without overhead single iterations are best, and where it is not a number, the share is taken.
func (c *bold) size(left float64) float64 {
	p := float64(c.P)
	q := left / p
	if q <= 1 || c.c2 == 0 {
		return 1
	}
	r := max(left, c.nb)
	t := r / p
	lnq := math.Log(q)
	v := q / (c.b + q)
	d := left / (1 + 1/lnq - v)
	if d <= c.c2 {
		return t
	}
	s := c.a * (math.Log(d) - c.c3) * (1 + c.m/(r*p))
	w := 0.0
	if c.b > 0 {
		w = math.Log(v*lnq) + c.lnb
	} else {
		w = math.Log(lnq)
	}
	k := min(t, t+max(0, c.c1*w)+s/2-math.Sqrt(s*(t+s/4)))
	if math.IsNaN(k) {
		return t
	}
	return k
}

// Report takes finished iterations off and moves the clock.
func (c *bold) Report(worker, _, n int, seconds, overhead float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m -= float64(n)
	if seconds > 0 && overhead >= 0 {
		c.spent[worker] += seconds + overhead
		c.clock = max(c.clock, c.spent[worker])
	}
}

// Restart begins with all iterations undone and no worker under way.
func (c *bold) Restart() {
	c.m, c.nb, c.total = float64(c.N), float64(c.N), 0
	clear(c.speed)
	clear(c.spent)
	c.clock, c.next, c.steps = 0, 0, 0
	c.last = c.now()
}

// Expected is equal speeds.
func (c *bold) Expected() []float64 { return c.Weights }
