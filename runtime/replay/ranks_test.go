package replay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/runtime/schedule"
)

// rankLoops returns executions of an operator: costs of a few hard units among many, the same each
// time.
func rankLoops(n, executions int) []Operator {
	r := rand.New(rand.NewPCG(3, 4))
	costs := make([]float64, n)
	for i := range costs {
		costs[i] = 1e-6 * (1 + 20*math.Abs(math.Sin(6*float64(i)/float64(n))) + r.ExpFloat64())
	}
	o := Operator{Name: "loop"}
	for range executions {
		o.Loops = append(o.Loops, costLoop(slices.Clone(costs)))
	}
	return []Operator{o}
}

// Every technique runs each iteration once, whatever the machine and the protocol are, and the same
// simulation gives the same result.
func TestRanksRunEverything(t *testing.T) {
	list := schedule.Techniques()
	for _, n := range []int{0, 1, 5, 997} {
		loops := rankLoops(n, 3)
		total := 0.0
		for i := range loops[0].Loops {
			total += loops[0].Loops[i].Costs.Total()
		}
		for i := range list {
			for _, m := range []Cluster{
				{Ranks: 1, Threads: 1},
				{Ranks: 2, Threads: 1, Delay: 1e-6},
				{Ranks: 7, Threads: 3, H: 1e-7, Delay: 1e-5},
				{Ranks: 64, Threads: 1, H: 1e-7},
				{Ranks: 5, Threads: 2, H: 1e-7, Delay: 1e-6, Counter: true, Op: 1e-7},
			} {
				a, err := SimulateRanks(loops, &list[i], m, 0)
				if err != nil {
					t.Fatalf("%s, %d iterations, %+v: %v", list[i].Name, n, m, err)
				}
				if math.Abs(a.Busy-total) > 1e-9*total {
					t.Errorf("%s, %d iterations, %+v: busy for %g s, want %g", list[i].Name, n, m, a.Busy, total)
				}
				if a.Time < a.Ideal*(1-1e-9) && a.Ideal > m.Delay*3 {
					t.Errorf("%s, %d iterations, %+v: %g s, and the ideal is %g", list[i].Name, n, m, a.Time, a.Ideal)
				}
				if b, _ := SimulateRanks(loops, &list[i], m, 0); a != b {
					t.Errorf("%s, %d iterations, %+v: %+v, and again %+v", list[i].Name, n, m, a, b)
				}
			}
		}
	}
}

// Stealing makes good for blocks of unequal cost, for a slow rank, and for one that has all work.
func TestRanksSteal(t *testing.T) {
	auto, static := schedule.Default(), technique(t, "STATIC")
	uneven := rankLoops(16*512, 1)
	one := make([]float64, 16*512)
	for i := range one[:512] {
		one[i] = 1e-5
	}
	slow := slices.Repeat([]float64{1}, 16)
	slow[3] = .5
	for _, k := range []struct {
		name              string
		loops             []Operator
		speeds            []float64
		atLeast, staticly float64
	}{
		{"uneven blocks", uneven, nil, 95, 80},
		{"half speed", uneven, slow, 93, 60},
		{"one has all", []Operator{{Loops: []Loop{costLoop(one)}}}, nil, 70, 7},
	} {
		m := Cluster{Ranks: 16, Threads: 1, H: 1e-7, Delay: 1e-6, Speeds: k.speeds}
		a, err := SimulateRanks(k.loops, auto, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := SimulateRanks(k.loops, static, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.Percent() < k.atLeast || b.Percent() > k.staticly || b.Messages != 0 {
			t.Errorf("%s: %.1f %% of ideal, want %g; STATIC %.1f %% with %d messages, want at most %g and none", k.name, a.Percent(), k.atLeast,
				b.Percent(), b.Messages, k.staticly)
		}
	}
}

// COST moves rows by the costs of the last execution: later ones are nearer to the ideal.
func TestRanksLearn(t *testing.T) {
	cost := technique(t, "COST")
	m := Cluster{Ranks: 32, Threads: 1, H: 1e-7, Delay: 1e-4}
	costs := make([]float64, 32*1024)
	for i := range costs {
		if costs[i] = 1e-6; i < len(costs)/4 {
			costs[i] = 4e-5
		}
	}
	percent := func(n int) float64 {
		all, err := SimulateRanks([]Operator{{Loops: slices.Repeat([]Loop{costLoop(costs)}, n)}}, cost, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		return all.Percent()
	}
	if first, all := percent(1), percent(6); all < first+1 {
		t.Errorf("six executions reach %.1f %% of ideal, the first %.1f %%", all, first)
	}
}

// A counter costs two messages a chunk. A thread's next claim is under way while it runs a chunk, so
// chunks longer than a round trip hide it.
func TestRanksClaimAhead(t *testing.T) {
	loops := rankLoops(1<<14, 1)
	for _, k := range []struct{ delay, least, most float64 }{{1e-6, 95, 100}, {1e-3, 0, 50}} {
		a, err := SimulateRanks(loops, schedule.Default(), Cluster{Ranks: 4, Threads: 1, Delay: k.delay, Counter: true}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.Percent() < k.least || a.Percent() > k.most {
			t.Errorf("messages of %g s: %.1f %% of ideal", k.delay, a.Percent())
		}
	}
}

func technique(t *testing.T, name string) *schedule.Technique {
	k, err := schedule.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Events come in order of time, and those of one time in the order in which they were added, whatever
// the distribution of times is: all the same, few far away, or spread.
func TestEventsAreInOrder(t *testing.T) {
	for seed, gap := range []func(r *rand.Rand) float64{
		func(*rand.Rand) float64 { return 0 },
		func(r *rand.Rand) float64 { return float64(r.IntN(3)) },
		func(r *rand.Rand) float64 { return r.Float64() },
		func(r *rand.Rand) float64 { return math.Exp(20 * r.NormFloat64()) },
		func(r *rand.Rand) float64 { return 1e-9 + 1e9*float64(r.IntN(2)) },
	} {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		s := &rankLoop{}
		for range 2 { // a queue is used again from 0 on
			s.events.begin()
			for range 3000 {
				s.at(gap(r), 0, 0)
			}
			last, taken := event{time: -1}, 0
			for added := 3000; ; taken++ {
				e, ok := s.events.take()
				if !ok {
					break
				}
				if e.before(&last) {
					t.Fatalf("distribution %d: event %d of time %g comes after one of %g", seed, taken, e.time, last.time)
				}
				last = e
				for range r.IntN(3) {
					if added < 20000 {
						s.at(e.time+gap(r), 0, 0)
						added++
					}
				}
			}
			if want := int(s.events.order); taken != want {
				t.Errorf("distribution %d: %d events were taken of %d", seed, taken, want)
			}
			s.events.order = 0
		}
	}
}
