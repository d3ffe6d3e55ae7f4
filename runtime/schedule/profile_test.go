package schedule

import (
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCuts: units lie in order, are together the loop, and each cut is off by less than a part and
// the iteration, or half of the dear bin, that it lies in.
func TestCuts(t *testing.T) {
	oneGoroutine(t)
	r := rand.New(rand.NewPCG(8, 1))
	only := func(c float64, when func(i int) bool) func(int) float64 {
		return func(i int) float64 {
			if when(i) {
				return c
			}
			return 0
		}
	}
	shapes := map[string]func(i int) float64{
		"even":       func(int) float64 { return 1 },
		"power":      func(int) float64 { x := r.Float64(); return 1 / (1e-9 + x*x*x) },
		"gaps":       only(3, func(i int) bool { return i%97 == 0 }),
		"one":        only(1, func(i int) bool { return i == 40 }),
		"the first":  only(1, func(i int) bool { return i == 0 }),
		"not after":  only(1, func(i int) bool { return i < 30 }),
		"not before": only(1, func(i int) bool { return i > 30 }),
		"nothing":    func(int) float64 { return 0 },
		"tiny":       func(int) float64 { return 5e-324 },
		"growing":    func(i int) float64 { return float64(i * i) },
		"infinite":   func(int) float64 { return 1e308 },
	}
	for name, cost := range shapes {
		for _, size := range [][2]int{{1, 1}, {2, 2}, {50, 50}, {1000, 1000}, {1000, 130}, {5000, 41}, {MaxN, 300}} {
			n, bins := size[0], size[1]
			costs := make([]float64, bins)
			for i := range costs {
				costs[i] = cost(i)
			}
			p := newProfile(n, costs)
			c := newCuts(p, make([]int, bins+2))
			step, before := p.total()/float64(bins), 0
			for u := range c.units + 1 {
				at := c.at(u)
				if at < before || at > n || u == 0 && at != 0 || u == c.units && at != n {
					t.Fatalf("%s, %v: unit %d begins at %d, the one before at %d", name, size, u, at, before)
				}
				before = at
				if !(step > 0) || step < 1e-300 || step > 1e300 {
					continue
				}
				want, slack := step*float64(u)/(1<<cutBits), step*1.01+2e-16*p.total()
				if u%(1<<cutBits) == 0 {
					slack -= step
				}
				b := sort.Search(bins-1, func(b int) bool { return p.bins[b+1].before >= want })
				if cost := p.bins[b].cost; cost > dearBin*step { // it lies on one side
					slack += cost / 2
				}
				if b := p.bins[min(int(float64(at)*p.rate), bins-1)]; b.cost > dearBin*step { // it lies on one side
					slack += b.cost / 2
				}
				if p.until(min(at+1, n)) < want-slack || p.until(max(at-1, 0)) > want+slack {
					t.Fatalf("%s, %v: before unit %d lie %g to %g, want %g", name, size, u, p.until(max(at-1, 0)), p.until(min(at+1, n)), want)
				}
			}
		}
	}
}

// TestCostHeedsClaims: the dearer a claim, the fewer pieces, down to one a worker.
func TestCostHeedsClaims(t *testing.T) {
	last := 0
	for _, h := range []float64{10, .5, .01, .0001} {
		costs := make([]float64, 4096)
		for i := range costs {
			costs[i] = 1
		}
		s, err := NewSimulation(NewTrace(costs), mustLookup("COST"), Params{}, Machine{P: 8, H: h * 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		tiny := make([]float64, len(costs))
		for i := range tiny {
			tiny[i] = 1e-7
		}
		s.SetTrace(NewTrace(tiny))
		var out Outcome
		for range 3 {
			if out, err = s.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if out.Chunks < last || out.Chunks < 8 || h == 10 && out.Chunks > 16 {
			t.Errorf("claims of %g us: %d chunks, %d where they were dearer", h, out.Chunks, last)
		}
		last = out.Chunks
	}
	if last < 100 {
		t.Errorf("%d chunks where claims cost nothing", last)
	}
}

// TestAutoShortLoops: loops that are too short to explore at once are explored when together they
// have taken long enough.
func TestAutoShortLoops(t *testing.T) {
	s := NewSelector()
	k := KeyOf("map", 100, 4)
	chunks := []Executed{{0, 50, 0, 5e-5}, {50, 50, 1, 5e-5}}
	runs := 0
	for ; runs < 10_000; runs++ {
		tech, record := s.Choose(k)
		if !record {
			break
		}
		s.Done(k, tech, 100, 1e-4, chunks, 1e-7)
	}
	if want := int(worthSum / 1e-4); runs < want-1 || runs > want+1 {
		t.Errorf("explored after %d executions of 100 us, want %d", runs, want)
	}
	names := map[string]bool{}
	for range 40 {
		tech, _ := s.Choose(k)
		names[tech.Name] = true
		s.Done(k, tech, 100, 1e-4, nil, 1e-7)
	}
	if !names["COST"] || len(names) < survivors {
		t.Errorf("tried %v", names)
	}
}

// TestCostDearest: iterations that are dearer than a small part of a share are handed out first,
// the dearest before the others, and all exactly once, whoever else claims.
func TestCostDearest(t *testing.T) {
	const n, p = 500, 8
	profile := make([]float64, n)
	for i := range profile {
		profile[i] = 1
	}
	for i, at := range []int{499, 3, 4, 250, 0, 77} {
		profile[at] = float64(100 - i)
	}
	tech := mustLookup("COST")
	calc, err := tech.New(Params{N: n, P: p, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	c := NewClaimer(calc)
	for execution := range 3 {
		did := make([]atomic.Int32, n)
		for i, want := range []int{499, 3, 4, 250, 0, 77} {
			start, size, ok := c.Claim(i % 3)
			if start != want || size != 1 || !ok {
				t.Fatalf("execution %d, claim %d: %d+%d %v, want iteration %d", execution, i, start, size, ok, want)
			}
			did[start].Add(1)
			c.Report(i%3, start, size, profile[start], 0)
		}
		var wg sync.WaitGroup
		for w := range p {
			wg.Go(func() {
				for {
					start, size, ok := c.Claim(w)
					if !ok {
						return
					}
					seconds := 0.0
					for i := start; i < start+size; i++ {
						did[i].Add(1)
						seconds += profile[i]
					}
					runtime.Gosched()
					c.Report(w, start, size, seconds, 0)
				}
			})
		}
		wg.Wait()
		for i := range did {
			if got := did[i].Load(); got != 1 {
				t.Fatalf("execution %d: iteration %d was done %d times", execution, i, got)
			}
		}
		c.Reset()
	}
}
