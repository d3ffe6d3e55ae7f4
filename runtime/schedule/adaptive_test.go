package schedule

import (
	"math"
	"testing"
)

// This file checks the adaptive techniques against examples worked by hand, N = 1000, P = 4.

func adaptive(t *testing.T, name string, p Params) Adaptive {
	t.Helper()
	tech, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	calc, err := tech.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return calc.(Adaptive)
}

// Next is a claim of a caller that counts the iterations itself, without what is ready.
func (c *bold) Next(_, _, remaining int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	k := c.sized(remaining)
	c.total += c.speed(k)
	return k
}

func wantWeights(t *testing.T, c Adaptive, want ...float64) {
	t.Helper()
	r := c.(interface {
		rescaleAll()
		weight(worker int) float64
	})
	r.rescaleAll()
	for i, w := range want {
		if have := r.weight(i); !near(have, w, 6e-5) {
			t.Errorf("weight %d is %v, want %v", i, have, w)
		}
	}
}

// wantChunks lets each worker claim once, in order, while `left` iterations are left, and then
// `after`.
func wantChunks(t *testing.T, c Adaptive, left int, chunks []int, after int) {
	t.Helper()
	for w, want := range chunks {
		k := c.Next(w, 4+w, left)
		if k != want {
			t.Errorf("worker %d with %d left: %d, want %d", w, left, k, want)
		}
		left -= k
	}
	if left != after {
		t.Errorf("%d left, want %d", left, after)
	}
}

var loop1000 = Params{N: 1000, P: 4}

func TestAWFB(t *testing.T) {
	c := adaptive(t, "AWF-B", loop1000)
	for w := range 4 {
		if k := c.Next(w, w, 1000-125*w); k != 125 {
			t.Errorf("first chunk of worker %d: %d", w, k)
		}
	}
	for w, s := range []float64{1.25, 1.25, 2.5, 5} {
		c.Report(w, 125*w, 125, s, 1)
	}
	wantWeights(t, c, 1.4545, 1.4545, .7273, .3636)
	left := 500
	for w, want := range []int{92, 92, 46, 23} {
		if k := c.Next(w, 4+w, left); k != want {
			t.Errorf("second chunk of worker %d: %d, want %d", w, k, want)
		} else {
			left -= k
		}
	}
	c.Report(3, 0, 23, 0.46, 0)
	wantWeights(t, c, 1.4343, 1.4343, .7171, .4143)
}

func TestAWFC(t *testing.T) {
	c := adaptive(t, "AWF-C", loop1000)
	for w, s := range []float64{1.25, 1.25, 2.5, 5} {
		c.Report(w, 125*w, 125, s, 1)
	}
	wantChunks(t, c, 500, []int{92, 75, 31, 14}, 288)
}

func TestAWFD(t *testing.T) {
	for _, name := range []string{"AWF-D", "AWF-E"} {
		c := adaptive(t, name, loop1000)
		for w, s := range []float64{1.25, 1.25, 2.5, 5} {
			c.Report(w, 125*w, 125, s, .25)
		}
		wantWeights(t, c, 1.4128, 1.4128, .7706, .4037)
		if name == "AWF-E" {
			continue
		}
		for w, want := range []int{90, 90, 49, 26} {
			if k := c.Next(w, 4+w, 500); k != want {
				t.Errorf("chunk of worker %d: %d, want %d", w, k, want)
			}
		}
	}
}

func TestAWFTimeSteps(t *testing.T) {
	c := adaptive(t, "AWF", loop1000)
	for w, s := range []float64{2.5, 2.5, 5, 10} {
		if k := c.Next(w, w, 1000); k != 125 {
			t.Errorf("first chunk %d", k)
		}
		c.Report(w, 0, 100, s*.4, 1) // in two chunks: a record is the whole execution
		c.Report(w, 0, 150, s*.6, 1)
	}
	wantWeights(t, c, 1, 1, 1, 1) // weights change between executions only
	c.Restart()
	wantWeights(t, c, 1.4545, 1.4545, .7273, .3636)
	for w, want := range []int{182, 182, 91, 46} {
		if k := c.Next(w, w, 1000); k != want {
			t.Errorf("worker %d: %d, want %d", w, k, want)
		}
	}
	for w, s := range []float64{3.64, 3.64, 3.64, 1.8} {
		c.Report(w, 0, []int{364, 364, 182, 90}[w], s, 0)
	}
	c.Restart()
	wantWeights(t, c, 1.4204, 1.4204, .7102, .4491)
}

// TestAWFGuards: a clock that stands still makes nobody infinitely fast, and a worker without data
// has the mean speed.
func TestAWFGuards(t *testing.T) {
	c := adaptive(t, "AWF-C", loop1000)
	c.Report(0, 0, 50, 0, 0)
	wantWeights(t, c, 1, 1, 1, 1)
	c.Report(0, 0, 50, 1, 0) // 100 iterations in 1 s in all
	c.Report(1, 0, 300, 1, 0)
	wantWeights(t, c, .5, 1.5, 1, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		c.Report(2, 0, 10, bad, 0)
	}
	wantWeights(t, c, .5, 1.5, 1, 1)
}

// feed gives worker w records with mean mu and deviation sigma: two chunks of m iterations, as far
// off the mean as makes the estimate sigma.
func feed(c Adaptive, w int, mu, sigma float64) {
	const m = 50.0
	off := sigma * math.Sqrt(m/2)
	c.Report(w, 0, m, m*mu+off, 0)
	c.Report(w, 0, m, m*mu-off, 0)
}

func TestAF(t *testing.T) {
	c := adaptive(t, "AF", loop1000)
	mus := []float64{.01, .01, .02, .04}
	for w, mu := range mus {
		if k := c.Next(w, w, 1000); k != 25 { // 0.1 N/P
			t.Errorf("probe %d", k)
		}
		feed(c, w, mu, mu/2)
	}
	for w, want := range []float64{163.72, 163.72, 81.86, 40.93} {
		if k := c.(*af).share(w, 500); !near(k, want, .005) {
			t.Errorf("share of worker %d: %g, want %g", w, k, want)
		}
	}
	wantChunks(t, c, 500, []int{164, 108, 36, 15}, 177)
	even := adaptive(t, "AF", loop1000)
	for w, mu := range mus {
		feed(even, w, mu, 0)
	}
	if k := even.(*af).share(0, 500); !near(k, 500*(1/.01)/(100+100+50+25), 1e-6) {
		t.Errorf("without variance: %g", k)
	}
}

// TestAFUnits: sizes do not depend on the unit of time.
func TestAFUnits(t *testing.T) {
	for _, unit := range []float64{1, 1e3, 1e6} {
		c := adaptive(t, "AF", loop1000)
		for w, mu := range []float64{.01, .01, .02, .04} {
			feed(c, w, mu*unit, mu*unit/2)
		}
		if k := c.Next(0, 4, 500); k != 164 {
			t.Errorf("unit %g: %d", unit, k)
		}
	}
}

func TestAFCap(t *testing.T) {
	c := adaptive(t, "AF_CAP", loop1000)
	if k := c.Next(0, 0, 1000); k != 3 { // 1 % of N/P
		t.Errorf("probe %d", k)
	}
	for w, mu := range []float64{.01, .01, .02, .04} {
		feed(c, w, mu, mu/2)
	}
	for w, want := range []int{91, 91, 46, 23} { // w R/2P, 1.4545 * 62.5 = 90.9
		if k := c.Next(w, 4+w, 500); k != want {
			t.Errorf("worker %d: %d, want %d", w, k, want)
		}
	}
}

// TestAFMoments is the estimate from the totals of four chunks.
func TestAFMoments(t *testing.T) {
	c := adaptive(t, "AF", loop1000).(*af)
	for i, n := range []int{10, 20, 10, 5} {
		c.Report(0, 0, n, []float64{.105, .19, .12, .045}[i], 0)
	}
	mu, variance := c.moments(0)
	if !near(mu, .010222, 1e-6) || !near(math.Sqrt(variance), .004094, 1e-6) {
		t.Errorf("mu %g, sigma %g, want .010222 and .004094", mu, math.Sqrt(variance))
	}
}

// TestBOLD checks one request against the formula worked by hand, and the limits.
func TestBOLD(t *testing.T) {
	now := 0.0
	c := adaptive(t, "BOLD", Params{N: 1000, P: 4, Mu: 1, Sigma: 1, H: .5, Now: func() float64 { return now }})
	// a = 2, b = 16 ln 16 = 44.361, c1 = .72135, c2 = 1.80815, c3 = .59230; R = r = M = 1000, Q
	// = t = 250, v = .84930, d = 1000/(1 + .18111 - .84930) = 3013.8, s = 2 (8.01096 -
	// .59230)(1 + .25) = 18.5467, W = ln(.84930 * 5.52146) + 3.79236 = 5.33766, k = 250 +
	// 3.85032 + 9.27335 - sqrt(18.5467 (250 + 4.63668)) = 194.40.
	if k := c.Next(0, 0, 1000); k != 195 {
		t.Errorf("first chunk %d, want 195", k)
	}
	if k := c.Next(0, 9, 4); k != 1 {
		t.Errorf("an iteration a worker left: %d", k)
	}
	free := adaptive(t, "BOLD", Params{N: 1000, P: 4, Mu: 1, Sigma: 1})
	if k := free.Next(0, 0, 1000); k != 1 {
		t.Errorf("claiming costs nothing: %d", k)
	}
	even := adaptive(t, "BOLD", Params{N: 1000, P: 4, Mu: 1, H: 1})
	if k := even.Next(0, 0, 1000); k != 250 {
		t.Errorf("iterations all alike: %d", k)
	}
}

// TestPSSLocked: where the counters of PSS_MEASURED do not fit into a word, they do the same behind
// a lock.
func TestPSSLocked(t *testing.T) {
	for _, p := range []Params{{N: 5000, P: 3}, {N: 1 << 20, P: 64}, {N: 100, P: 8, MinChunk: 7}, {N: 3, P: 256}, {N: 1 << 15, P: 1024}} {
		word, locked := claimer(t, "PSS_MEASURED", p), claimer(t, "PSS_MEASURED", p)
		if word.own.(*pssMeasured).locked {
			t.Fatalf("%+v does not fit", p)
		}
		locked.own.(*pssMeasured).locked = true
		for execution := range 2 {
			for i, w := 0, 0; ; i, w = i+1, (w+i)%p.P {
				a, b, ok := word.Claim(w)
				c, d, also := locked.Claim(w)
				if a != c || b != d || ok != also {
					t.Fatalf("%+v, execution %d, request %d of worker %d: %d+%d %v in a word, %d+%d %v behind a lock", p, execution, i, w, a, b, ok, c, d, also)
				}
				if !ok {
					break
				}
				if i%3 > 0 {
					word.Report(w, a, b, 1, 0)
					locked.Report(w, a, b, 1, 0)
				}
			}
			word.Reset()
			locked.Reset()
		}
	}
	if c := claimer(t, "PSS_MEASURED", Params{N: MaxN, P: 4096}); !c.own.(*pssMeasured).locked {
		t.Error("2^53 iterations and 4096 workers fit into a word")
	}
}

// TestBOLDOpening: the chunks before the first report are those of the formula, in every execution;
// and Next, which is told what is left, gives the same.
func TestBOLDOpening(t *testing.T) {
	p := Params{N: 100000, P: 6, Mu: 1, Sigma: 2, H: .5}
	c := claimer(t, "BOLD", p)
	for execution := range 3 {
		fresh, left := adaptive(t, "BOLD", p), p.N
		for i := range 20 {
			_, size, _ := c.Claim(i % p.P)
			if want := fresh.Next(i%p.P, i, left); size != want {
				t.Fatalf("execution %d, chunk %d: %d, want %d", execution, i, size, want)
			}
			if i > 10 { // the opening is over
				c.Report(i%p.P, 0, size, float64(size), .1)
				fresh.Report(i%p.P, 0, size, float64(size), .1)
			}
			left -= size
		}
		c.Reset()
	}
	b := adaptive(t, "BOLD", p).(*bold)
	for _, left := range []int{100000, 4711, 100000, 50000} { // as no opening goes
		if got, want := b.Next(0, 0, left), b.sized(left); got != want {
			t.Errorf("%d left: %d, want %d", left, got, want)
		}
	}
}
