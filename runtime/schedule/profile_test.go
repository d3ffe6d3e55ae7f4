package schedule

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// TestProfileSearch: the table of near places changes no answer, whatever the costs.
func TestProfileSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	shapes := map[string]func(i int) float64{
		"even":     func(int) float64 { return 1 },
		"power":    func(int) float64 { x := r.Float64(); return 1 / (1e-9 + x*x*x) },
		"gaps":     func(i int) float64 { return map[bool]float64{true: 3, false: 0}[i%97 == 0] },
		"one":      func(i int) float64 { return map[bool]float64{true: 1, false: 0}[i == 40] },
		"nothing":  func(int) float64 { return 0 },
		"tiny":     func(int) float64 { return 5e-324 },
		"growing":  func(i int) float64 { return float64(i * i) },
		"infinite": func(int) float64 { return 1e308 },
	}
	for name, cost := range shapes {
		for _, n := range []int{1, 2, 50, 1000} {
			costs := make([]float64, n)
			for i := range costs {
				costs[i] = cost(i)
			}
			p := newProfile(n, costs)
			check := func(c float64) {
				want := sort.Search(len(p.bins), func(i int) bool { return p.bins[i].before >= c })
				if got := p.search(c); got != want {
					t.Fatalf("%s, %d bins: search(%g) = %d, want %d", name, n, c, got, want)
				}
			}
			for range 200 {
				check(p.total() * 1.1 * r.Float64())
			}
			for i := range p.bins {
				check(p.bins[i].before)
				check(p.bins[i].before * (1 + 1e-15))
			}
			check(-1)
			check(2*p.total() + 1)
		}
	}
}

// TestProfileFind: what costs c is found to the nearest iteration.
func TestProfileFind(t *testing.T) {
	p := newProfile(4, []float64{1, 2, 0, 5}) // one iteration a bin
	for _, c := range []struct {
		cost float64
		want int
	}{{-1, 0}, {0, 0}, {.4, 0}, {.6, 1}, {1, 1}, {1.9, 1}, {2.1, 2}, {3, 2}, {5.4, 3}, {5.6, 4}, {8, 4}, {9, 4}} {
		if got := p.find(c.cost); got != c.want {
			t.Errorf("find(%g) = %d, want %d", c.cost, got, c.want)
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

// TestAutoShortLoops: loops that are too short to explore at once are explored when together they have taken long enough.
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
