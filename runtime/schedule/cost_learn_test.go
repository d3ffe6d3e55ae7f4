package schedule

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// again executes a loop of costs so many times under COST and returns the outcomes.
func again(t *testing.T, m Machine, times int, costs func(execution int) []float64) (list []Outcome, c *cost) {
	t.Helper()
	var s *Simulation
	for i := range times {
		tr := NewTrace(costs(i))
		if s == nil {
			var err error
			if s, err = NewSimulation(tr, mustLookup("COST"), Params{}, m); err != nil {
				t.Fatal(err)
			}
		}
		s.SetTrace(tr)
		out, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, out)
	}
	return list, s.claimer.cost
}

// noisyCosts are the costs of n iterations of mean seconds, alternating by the factor and with
// noise.
func noisyCosts(n int, mean, noise float64) func(int) []float64 {
	return func(execution int) []float64 {
		r := rand.New(rand.NewPCG(uint64(execution), 3))
		list := make([]float64, n)
		for i := range list {
			list[i] = mean * (1 + 3*float64(i/(n/8)%2)) * (1 - noise + 2*noise*r.Float64())
		}
		return list
	}
}

// TestLearningPaysForItself: what a loop learns costs it at most its part of the time of all
// workers, however short it is; the first times it may cost what was lost before. Claims cost
// nothing here, so what a simulation counts as scheduling is learning.
func TestLearningPaysForItself(t *testing.T) {
	for _, p := range []int{2, asideFrom, 32} {
		for _, mean := range []float64{2e-9, 5e-8, 1e-6, 1e-4} {
			const n, times = 4000, 60
			costs := noisyCosts(n, mean, .9)
			s, err := NewSimulation(NewTrace(costs(0)), mustLookup("COST"), Params{}, Machine{P: p})
			if err != nil {
				t.Fatal(err)
			}
			c, early := s.claimer.cost, 1
			if c.aside() {
				early = firstTimes
			}
			busy, learning, lost := 0.0, 0.0, 0.0
			for i := range times {
				s.SetTrace(NewTrace(costs(i)))
				out, err := s.Run()
				if err != nil {
					t.Fatal(err)
				}
				learning += out.Sched
				if c.times < early {
					lost += float64(p)*out.Makespan - out.Busy + firstPart*out.Busy
				}
				busy += out.Busy
			}
			if most := learningPart*busy + lost + 1e-9; learning > most {
				t.Errorf("%d workers, iterations of %g s: %.3g s of learning in %d executions, at most %.3g are paid for", p, mean, learning, times, most)
			}
			if c.times == 0 {
				t.Errorf("%d workers, iterations of %g s: nothing was ever learned", p, mean)
			}
		}
	}
}

// TestLearningAside: from some workers on one learns while the others work. It has no block then
// and comes late, the executions meanwhile have the plan that they had, and the one after has the
// new one.
func TestLearningAside(t *testing.T) {
	const n, p = 4096, 8
	costs := noisyCosts(n, 1e-9, .1)
	s, err := NewSimulation(NewTrace(costs(0)), mustLookup("COST"), Params{}, Machine{P: p})
	if err != nil {
		t.Fatal(err)
	}
	c := s.claimer.cost
	executions, during := 0, 0
	for ; c.profile == nil && executions < 500; executions++ {
		out, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if !c.beside {
			continue
		}
		during++
		if c.away != 1 || c.procs() != p-1 || c.worker[p-1].lo < c.worker[p-1].hi {
			t.Fatalf("execution %d: the last worker learns, and %g workers are planned for", executions, c.procs())
		}
		if !c.deal.active() {
			t.Fatal("the plan changed before anything was learned")
		}
		if out.Sched <= 0 || out.Sched > out.Makespan*(1+1e-9) {
			t.Errorf("execution %d: one worker learned for %g s of %g", executions, out.Sched, out.Makespan)
		}
		if sum := out.Busy + out.Sched + out.Idle; !near(sum, p*out.Makespan, 1e-9) {
			t.Errorf("execution %d: %g of %g s are accounted for", executions, sum, p*out.Makespan)
		}
	}
	if during < 2 {
		t.Fatalf("what takes longer than an execution was learned within %d", during)
	}
	if _, err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if c.deal.active() || c.away != 0 || c.procs() != p {
		t.Error("what was learned is not the plan")
	}
}

// TestJudge: a plan that loses more than the one before makes room for that again; one that does
// not stays.
func TestJudge(t *testing.T) {
	for _, bad := range []bool{false, true} {
		const n, p = 4096, 8
		calc, err := mustLookup("COST").New(Params{N: n, P: p, Profile: []float64{1, 1, 1, 1}})
		if err != nil {
			t.Fatal(err)
		}
		c := calc.(*cost)
		c.costPlan.most++ // to know it again
		before, profile := c.most, c.profile
		c.lost = .05
		c.heard[0] = costLog{chunks: []costRecord{{0, n / 2, 3}, {n / 2, n / 2, 1}}, busy: 4, n: n}
		if !c.learn(512) {
			t.Fatal("nothing was learned")
		}
		c.takeOver()
		late := 1.
		if bad {
			late = 1.1
		}
		for w := range p {
			c.did[w] = costLog{busy: 1, n: n / p}
		}
		c.did[0].asked = late - 1
		c.judge(c.executed())
		if is := c.most == before; is != bad {
			t.Errorf("bad: %v; the plan is the one before: %v", bad, is)
		}
		if is := c.profile == profile; is != bad {
			t.Errorf("bad: %v; the profile is the one before: %v", bad, is)
		}
		if c.former != nil {
			t.Error("still on trial")
		}
	}
}

// TestWhoStudies: what is to be learned beside an execution the last worker learns when it claims,
// nobody else; if it does not come, a goroutine does after that execution.
func TestWhoStudies(t *testing.T) {
	for _, comes := range []bool{true, false} {
		const n, p = 4096, 8
		calc := claimer(t, "COST", Params{N: n, P: p})
		c := calc.cost
		for w := range p { // nothing was lost, so nobody waits, and the lesson is short beside an execution
			c.did[w] = costLog{chunks: []costRecord{{w * n / p, n / p, 1}}, busy: 1, n: n / p}
		}
		c.Restart()
		if c.lesson == nil || c.away != 1 {
			t.Fatal("nothing is to be learned beside the next execution")
		}
		for w := range p - 1 {
			calc.Claim(w)
		}
		if c.begun.Load() {
			t.Fatal("another worker than the last learns")
		}
		if comes {
			if calc.Claim(p - 1); !c.ready.Load() {
				t.Fatal("the last worker claimed and did not learn")
			}
		} else {
			for c.Restart(); !c.ready.Load(); {
				runtime.Gosched()
			}
		}
		if c.Restart(); c.beside || c.away != 0 || c.deal.active() {
			t.Errorf("comes: %v; what was learned is not the plan", comes)
		}
	}
}

// TestMost: COST has something to do for as many workers as there are processors, the others for
// all.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		name          string
		processors, w int
	}{{"COST", 2, 2}, {"COST", 8, 0}, {"GSS", 2, 0}} {
		q, err := NewQueues(&Plan{Technique: mustLookup(c.name)}, Params{N: 100, P: 8, Processors: c.processors})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Most(); got != c.w {
			t.Errorf("%s on %d processors: %d workers, want %d", c.name, c.processors, got, c.w)
		}
	}
}

// TestStudy: in a real loop the last worker learns at a claim, or a goroutine does if it does not
// come or has no time, and each iteration is done once all the while.
func TestStudy(t *testing.T) {
	for _, absent := range []bool{false, true} {
		const n, p = 6000, 8
		c := claimer(t, "COST", Params{N: n, P: p})
		learned := 0
		for range 60 {
			did, workers := make([]atomic.Int32, n), p
			if absent {
				workers--
			}
			var group sync.WaitGroup
			for w := range workers {
				group.Go(func() {
					for {
						start, size, ok := c.Claim(w)
						if !ok {
							return
						}
						for i := start; i < start+size; i++ {
							did[i].Add(1)
						}
						c.Report(w, start, size, float64(size)*1e-6*float64(1+start/(n/8)), 1e-7)
					}
				})
			}
			group.Wait()
			for i := range did {
				if k := did[i].Load(); k != 1 {
					t.Fatalf("iteration %d was done %d times", i, k)
				}
			}
			c.Reset()
			if !c.cost.deal.active() {
				learned++
			}
		}
		if learned == 0 {
			t.Errorf("absent: %v: nothing was learned", absent)
		}
	}
}

// TestNothingToLearn: an execution that lost next to nothing is not learned from, so no time is
// spent between executions.
func TestNothingToLearn(t *testing.T) {
	list, c := again(t, Machine{P: 4, H: 1e-8}, 6, noisyCosts(4000, 1e-5, .1))
	if c.learning() != 0 {
		t.Errorf("%g s were spent on learning what is known", c.learning())
	}
	last := list[len(list)-1]
	if lost := last.Makespan/(last.Busy/4) - 1; lost > balanced {
		t.Errorf("%.2f %% were lost", 100*lost)
	}
}

// TestLearningIsCharged: a simulation lets all wait while COST learns between executions, and
// counts that as scheduling.
func TestLearningIsCharged(t *testing.T) {
	const p = asideFrom - 1
	list, _ := again(t, Machine{P: p}, 2, noisyCosts(4000, 1e-6, .9))
	for i, out := range list {
		waited := out.Sched / p
		if learned := i > 0; learned != (waited > 500*binPrice) {
			t.Errorf("execution %d: all waited %g s", i, waited)
		}
		if sum := out.Busy + out.Sched + out.Idle; !near(sum, p*out.Makespan, 1e-12) {
			t.Errorf("execution %d: %g of %g s are accounted for", i, sum, p*out.Makespan)
		}
	}
}

// TestFixedCost: where a chunk costs something by itself COST learns how much, cuts into fewer
// chunks, and is nearer to the ideal than its chunks for nothing would be.
func TestFixedCost(t *testing.T) {
	const fixed = 2e-4
	costs := noisyCosts(4000, 1e-5, .3)
	free, _ := again(t, Machine{P: 4, H: 1e-7}, 12, costs)
	dear, c := again(t, Machine{P: 4, H: 1e-7, Chunk: fixed}, 12, costs)
	if got := c.fixed.seconds; got < fixed/2 || got > fixed*1.2 {
		t.Errorf("a chunk costs %g s by itself, learned: %g", fixed, got)
	}
	last := len(free) - 1
	if 2*dear[last].Chunks > free[last].Chunks {
		t.Errorf("%d chunks of which each costs %g s, %d that cost nothing", dear[last].Chunks, fixed, free[last].Chunks)
	}
	if would := free[last].Makespan + fixed*float64(free[last].Chunks)/4; dear[last].Makespan >= would {
		t.Errorf("%g s, with as many chunks as if they cost nothing %g", dear[last].Makespan, would)
	}
	if c := c.fixed; c.precision == 0 {
		t.Error("nothing is known of chunks")
	}
}

// TestRegression: the intercept is found whatever a few points are off, and points that are all
// alike say nothing.
func TestRegression(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var g regression
	for i := range 60 {
		x := float64(uint(1) << (i % 6))
		y := 5 + 2*x + .1*r.NormFloat64()
		if i%10 == 3 {
			y += 200 // it lost its processor
		}
		g.add(x, y)
	}
	a, deviation, ok := g.intercept()
	if !ok || !near(a, 5, .05) || deviation > .2 {
		t.Errorf("intercept %g +- %g, %v; want 5", a, deviation, ok)
	}
	g = regression{}
	for range 20 {
		g.add(3, 7)
	}
	if a, deviation, ok := g.intercept(); ok {
		t.Errorf("twenty times the same point have the intercept %g +- %g", a, deviation)
	}
}

// TestCards: the deal is a permutation, each block has one unit of each P in a row, and rounds
// differ in which.
func TestCards(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 7}, {64, 8}, {1000, 7}, {4097, 16}} {
		units, blocks := size[0], size[1]
		d := newDeal(units, blocks)
		if d.first(0) != 0 || d.first(blocks) != units {
			t.Fatalf("%v: blocks are %d..%d", size, d.first(0), d.first(blocks))
		}
		did := make([]bool, units)
		shifts := map[int]bool{}
		for b := range blocks {
			for pos := d.first(b); pos < d.first(b+1); pos++ {
				if got := d.block(pos); got != b {
					t.Fatalf("%v: pos %d is of block %d, not %d", size, pos, got, b)
				}
				u := d.unit(b, pos)
				if u < 0 || u >= units || did[u] {
					t.Fatalf("%v: pos %d is unit %d", size, pos, u)
				}
				did[u] = true
				if round := pos - d.first(b); u/blocks != round {
					t.Fatalf("%v: unit %d in round %d", size, u, round)
				}
				if b == 0 {
					shifts[u%blocks] = true
				}
			}
		}
		if units/blocks > 4*blocks && len(shifts) < blocks/2 {
			t.Errorf("%v: block 0 has only %d of each %d units", size, len(shifts), blocks)
		}
	}
}

// TestFewProcessors: with more workers than processors COST cuts for the processors, whichever
// workers come, and each iteration is still done once.
func TestFewProcessors(t *testing.T) {
	const n, p = 4000, 8
	costs := noisyCosts(n, 1e-5, .3)(0)
	for _, processors := range []int{1, 2, 3, 8} {
		c := claimer(t, "COST", Params{N: n, P: p, Processors: processors})
		chunks := 0
		for execution := range 6 {
			did := make([]int, n)
			chunks = 0
			present := rand.New(rand.NewPCG(uint64(execution), 9)).Perm(p)[:processors]
			for left := processors; left > 0; {
				for i, w := range present {
					if w < 0 {
						continue
					}
					start, size, ok := c.Claim(w)
					if !ok {
						present[i] = -1
						left--
						continue
					}
					seconds := 0.0
					for k := start; k < start+size; k++ {
						did[k]++
						seconds += costs[k]
					}
					c.Report(w, start, size, seconds, 1e-7)
					chunks++
				}
			}
			for i, times := range did {
				if times != 1 {
					t.Fatalf("%d processors, execution %d: iteration %d was done %d times", processors, execution, i, times)
				}
			}
			c.Reset()
		}
		if most := 24 * processors; chunks > most {
			t.Errorf("%d chunks for %d processors, at most %d", chunks, processors, most)
		}
	}
	if _, err := mustLookup("COST").New(Params{N: 10, P: 2, Processors: 3}); err == nil {
		t.Error("3 processors for 2 workers")
	}
}
