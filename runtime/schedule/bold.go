package schedule

import (
	"math"
	"sync"
	"sync/atomic"
)

// This file defines BOLD: the size that minimises expected wasted time, bolder than factoring while
// much is left. It follows the two algorithms of Hagerup's paper: constants computed once, and the
// work at a request.

// bold keeps two estimates of the iterations not done: m counts down when chunks are reported, nb
// continuously, at the expected speed of the running chunks.
//
// A chunk depends on these and on what is left, not on the worker, and they change only with a
// report. So a report computes the next chunk, and the following claim takes it with one
// compare-and-swap. Until the first report chunks depend only on what is left, so they are kept
// from the first execution on. With a clock, each claim computes its own.
type bold struct {
	loop
	a, lnb, b, c1, c2, c3 float64

	// What a claim reads is in one cache line, most of which the claim changes.
	_ [128]byte
	// first unclaimed iteration, with the number of claimed chunks above it, as Claimer.next
	next atomic.Uint64
	// the size of a chunk, with the number of those before it above; 0: none is computed
	ready  atomic.Uint64
	n      int          // N
	opened atomic.Int64 // known chunks of the opening; 0 from the first report on
	// opening holds the sizes of the first chunks of every execution, as far as any execution
	// got without a report. Known ones do not change.
	opening []uint32
	_       [128 - 7*8]byte

	mu    sync.Mutex // guards what follows
	known int        // chunks of the opening
	m, nb float64
	spent []float64 // seconds that each worker has reported, overhead included
	// the maximum of them: the time since the loop began, without reading a clock
	clock float64
	last  float64 // when nb was brought up to date
	total float64 // expected iterations a second of the running chunks
	seen  uint64  // next when total was brought up to date
	far   int     // next of loops that it cannot count
}

// maxOpening bounds the stored opening.
const maxOpening = 1 << 10

func newBOLD(p Params) (Calculator, error) {
	c := &bold{loop: loop{p}, n: p.N, spent: make([]float64, p.P)}
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

// claim is Claimer.Claim.
func (c *bold) claim(int) (start, size int, ok bool) {
	word := c.next.Load()
	if start = int(word & packedUnits); start >= c.n {
		return c.n, 0, false
	}
	step := word >> 32
	if r := c.ready.Load(); r>>32 == step && r > 0 {
		size = int(r & packedUnits)
	} else if step < uint64(c.opened.Load()) {
		size = int(c.opening[step])
	}
	if size > 0 && c.next.CompareAndSwap(word, word+1<<32+uint64(size)) {
		return start, size, true
	}
	return c.compute()
}

// compute claims a chunk that is not ready.
func (c *bold) compute() (start, size int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	if c.N > packedUnits {
		if start = c.far; start < c.N {
			size, ok = c.sized(c.N-start), true
			c.far += size
			c.total += c.speed(size)
		}
		return start, size, ok
	}
	for {
		word := c.next.Load()
		if start = int(word & packedUnits); start >= c.N {
			return c.N, 0, false
		}
		c.account() // others may have taken one that was ready
		size = c.sized(c.N - start)
		c.open(int(word>>32), size)
		if c.next.CompareAndSwap(word, word+1<<32+uint64(size)) {
			c.account()
			return start, size, true
		}
	}
}

// open stores a chunk of the opening.
func (c *bold) open(step, size int) {
	if opened := int(c.opened.Load()); step != opened || step > 0 && opened == 0 || step == maxOpening || c.Now != nil || c.m != float64(c.N) {
		return
	}
	if c.opening == nil {
		c.opening = make([]uint32, maxOpening)
	}
	c.opening[step] = uint32(size)
	c.known = step + 1
	c.opened.Store(int64(c.known))
}

// speed returns the expected iterations a second of a chunk of this size, its overhead included.
func (c *bold) speed(size int) float64 {
	if t := float64(size)*c.Mu + c.H; t > 0 {
		return float64(size) / t
	}
	return 0
}

// account adds to total the chunks that were taken without the lock: one that was ready, or any
// number of an opening.
func (c *bold) account() {
	word := c.next.Load()
	from, to := c.seen>>32, word>>32
	switch {
	case to == from+1:
		c.total += c.speed(int(word&packedUnits - c.seen&packedUnits))
	case to > from:
		for _, size := range c.opening[min(from, uint64(c.known)):min(to, uint64(c.known))] {
			c.total += c.speed(int(size))
		}
	}
	c.seen = word
}

// advance brings the estimates up to now.
func (c *bold) advance() {
	c.account()
	now := c.now()
	if now > c.last {
		c.nb -= (now - c.last) * c.total
	}
	c.last = now
}

// sized computes a chunk of what is left.
func (c *bold) sized(left int) int { return c.clip(ceil(c.size(float64(left))), left) }

// now returns the clock of the params, or the reported time. Workers report before they ask, so the
// reported time is late only while all are in long chunks.
func (c *bold) now() float64 {
	if c.Now != nil {
		return c.Now()
	}
	return c.clock
}

// size has two limits beside the formula: without overhead it is one iteration, and if the result
// is not a number, the share.
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

// Report subtracts finished iterations, advances the clock, and computes the next chunk.
func (c *bold) Report(worker, _, n int, seconds, overhead float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened.Store(0)
	c.m -= float64(n)
	if seconds > 0 && overhead >= 0 {
		c.spent[worker] += seconds + overhead
		c.clock = max(c.clock, c.spent[worker])
	}
	c.advance()
	c.total -= c.speed(n)
	if word := c.next.Load(); c.Now == nil && word > 0 && int(word&packedUnits) < c.N {
		c.ready.Store(word&^packedUnits | uint64(c.sized(c.N-int(word&packedUnits))))
	}
}

// Restart begins with all iterations undone and no running chunk.
func (c *bold) Restart() {
	c.m, c.nb, c.total = float64(c.N), float64(c.N), 0
	clear(c.spent)
	c.next.Store(0)
	c.ready.Store(0)
	c.opened.Store(int64(c.known))
	c.clock, c.seen, c.far = 0, 0, 0
	c.last = c.now()
}

// touch is Claimer.Touch.
func (c *bold) touch(worker int) float64 {
	return float64(c.next.Load()) + c.m + float64(c.far) + c.spent[worker]
}
