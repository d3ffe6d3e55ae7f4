package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"flow/runtime/schedule"
)

// This file compares the self-scheduling techniques in virtual time on up to a thousand workers,
// with the claimers that run programs.

// The virtual machine: the time of a claim as `claims` measures it, and its serial part.
const (
	virtualClaim  = 100e-9
	virtualSerial = 20e-9
)

const (
	executions = 12 // of each technique; the first ones teach those that learn
	taught     = 6  // executions that do not count; other techniques run only the first
	autoRuns   = 55 // executions under AUTO
	// of which these are its exploration: at most 1 + 5*3 + 4*1 + 6 + 3*3 + 2*3, and two more
	autoTaught = 43
	wallNoise  = 0.02
)

// oneMachine is the most workers of one machine.
const oneMachine = 64

// even is the difference, in points of percent, that counts as a draw.
const even = 0.5

var virtualWorkers = []int{2, 4, 8, 16, 64, 256, 1024}

// grownWorkers are those for which loops grow along; these run grownExecutions times, of which
// grownTaught do not count.
var grownWorkers = []int{64, 256, 1024}

const (
	grownExecutions = 8
	grownTaught     = 4
)

// outcome is a technique on a shape: mean seconds, and shares of the ideal's bound.
type outcome struct {
	name             string
	seconds, percent float64
	first            float64 // percent of the very first execution
	sched, idle      float64 // percent
}

// contestOf is all techniques on one shape and number of workers.
type contestOf struct {
	shape   workload
	p       int
	list    []outcome // best first
	binds   string
	lpt     float64 // percent of the bound that LPT reaches
	largest float64 // largest job over area
	claims  float64 // percent of the bound if each worker claims once
	// and if iterations are then dealt one by one at no cost, largest first as far as that can
	// be known
	known float64
	// the best technique without waiting for cache lines; only if the best is below its target
	alone outcome
	// seconds of AUTO after exploration, and of the best one in the same executions
	auto   float64
	oracle float64
	chosen string
}

func techniques(b *bench) error {
	shapes := append(syntheticShapes(shapeN), recordedShapes(b)...)
	for _, s := range shapes {
		c := s.costs(0)
		fmt.Fprintf(b.out, "%s: %d units of %s on average, the largest %.1f times that (%s).\n", s.name, len(c), schedule.Seconds(total(c)/float64(len(c))),
			slices.Max(c)/(total(c)/float64(len(c))), s.class)
	}
	fmt.Fprintf(b.out, "\nVirtual time: %g ns a claim, and %g ns for each line of memory that another worker wrote last: the counter, or the block of a worker that is robbed; %d executions, of which the first %d do not count; ordered, clustered and recorded\n"+
		"costs differ by up to %.0f %% from one execution to the next, independent ones are drawn anew. What COST learns is charged as time in which nobody works, or in which one worker does not.\n\n", virtualClaim*1e9, virtualSerial*1e9, executions, taught, 100*noisy)
	all, err := contests(shapes, virtualWorkers, executions, taught)
	if err != nil {
		return err
	}
	if err := inParallel(len(all), func(i int) error { return all[i].choose() }); err != nil {
		return err
	}
	b.bestTable(all, virtualWorkers)
	b.costTable(all)
	b.autoTable(all)
	b.missed(all)
	b.lossTable(all)
	return b.grown()
}

// grown runs the synthetic loops again, in proportion to the number of workers.
func (b *bench) grown() error {
	var all []contestOf
	for k := range syntheticShapes(1) {
		for _, p := range grownWorkers {
			list, err := contests(syntheticShapes(perWorker * p)[k:k+1], []int{p}, grownExecutions, grownTaught)
			if err != nil {
				return err
			}
			all = append(all, list...)
		}
	}
	fmt.Fprintf(b.out, "The same shapes with %d units for each worker, %d executions of which %d do not count.\n\n", perWorker, grownExecutions, grownTaught)
	b.bestTable(all, grownWorkers)
	b.missed(all)
	return nil
}

// contests compares all techniques on each shape with each number of workers.
func contests(shapes []workload, workers []int, executions, taught int) ([]contestOf, error) {
	all := make([]contestOf, len(shapes)*len(workers))
	err := inParallel(len(all), func(i int) (err error) {
		all[i], err = compare(shapes[i/len(workers)], workers[i%len(workers)], executions, taught)
		return err
	})
	return all, err
}

// inParallel calls f for 0 to n-1 on all processors, the last ones first, which have the most
// workers. It measures nothing.
func inParallel(n int, f func(i int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, n)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := n - int(next.Add(1)); i >= 0; i = n - int(next.Add(1)) {
				errs[i] = f(i)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// compare runs every technique on a shape this many times; the first taught do not count.
func compare(s workload, p, executions, taught int) (contestOf, error) {
	m := schedule.Machine{P: p, H: virtualClaim, Serial: virtualSerial}
	out := contestOf{shape: s, p: p}
	traces := make([]*schedule.Trace, executions)
	ideals := make([]schedule.Ideal, executions)
	for i := range traces {
		traces[i] = schedule.NewTrace(s.costs(i))
		ideals[i] = schedule.NewIdeal(traces[i], m)
	}
	counted := float64(executions - taught)
	late := m
	late.Arrivals = slices.Repeat([]float64{virtualClaim}, p)
	for i := taught; i < executions; i++ {
		bound, binds := ideals[i].Bound()
		out.binds = binds
		out.claims += 100 * bound / max(bound, schedule.AreaBound(traces[i].Total(), late)) / counted
		out.known += 100 * bound / max(bound, schedule.InOrder(s.dearest(traces[i].Costs()), late)) / counted
		out.lpt += 100 * bound / ideals[i].LPT / counted
		out.largest += ideals[i].Largest / ideals[i].Area / counted
	}
	var err error
	if out.list, err = ranked(traces, ideals, m, taught); err != nil {
		return out, err
	}
	if out.list[0].percent < out.target() {
		m := m
		m.Serial = 0
		list, err := ranked(traces, ideals, m, taught)
		if err != nil {
			return out, err
		}
		out.alone = list[0]
	}
	return out, nil
}

// ranked runs every technique and returns them best first. The first executions do not count.
func ranked(traces []*schedule.Trace, ideals []schedule.Ideal, m schedule.Machine, taught int) ([]outcome, error) {
	var out []outcome
	list, executions := schedule.Techniques(), len(traces)
	counted := float64(executions - taught)
	for k := range list {
		o := outcome{name: list[k].Name}
		sim, err := schedule.NewSimulation(traces[0], &list[k], schedule.Params{}, m)
		if err != nil {
			return nil, err
		}
		for i := range executions {
			if 0 < i && i < taught && !sim.Learns() {
				continue
			}
			sim.SetTrace(traces[i])
			got, err := sim.Run()
			if err != nil {
				return nil, err
			}
			share := ideals[i].Percent(got.Makespan)
			if i == 0 {
				o.first = share
			}
			if i >= taught {
				all := float64(m.P) * got.Makespan
				o.seconds += got.Makespan / counted
				o.percent += share / counted
				o.sched += 100 * got.Sched / all / counted
				o.idle += 100 * got.Idle / all / counted
			}
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b outcome) int { return cmp.Compare(b.percent, a.percent) })
	return out, nil
}

// choose lets AUTO choose over many executions, with clocks off by some percent, and compares it
// with the best technique in those after its exploration.
func (c *contestOf) choose() error {
	m := schedule.Machine{P: c.p, H: virtualClaim, Serial: virtualSerial}
	selector := schedule.NewSelector()
	r := rand.New(rand.NewPCG(3, uint64(c.p)))
	sims := map[string]*schedule.Simulation{}
	n := len(c.shape.costs(0))
	key := schedule.KeyOf(c.shape.name, n, c.p)
	// the best on average; the oracle of some executions is one of them
	rivals := c.list[:min(4, len(c.list))]
	rival := make([]float64, len(rivals))
	simOf := func(name string, tr *schedule.Trace) (*schedule.Simulation, error) {
		if s := sims[name]; s != nil {
			s.SetTrace(tr)
			return s, nil
		}
		t, err := schedule.Lookup(strings.TrimPrefix(name, "rival "))
		if err != nil {
			return nil, err
		}
		s, err := schedule.NewSimulation(tr, t, schedule.Params{}, m)
		sims[name] = s
		return s, err
	}
	for i := range autoRuns {
		tr := schedule.NewTrace(c.shape.costs(i % executions))
		t, record := selector.Choose(key)
		s, err := simOf(t.Name, tr)
		if err != nil {
			return err
		}
		got, err := s.Run()
		if err != nil {
			return err
		}
		var chunks []schedule.Executed
		if record {
			if chunks, err = recorded(t, tr, c.p); err != nil {
				return err
			}
		}
		// short loops are recorded many times before a trial; one execution stands for all
		// of these
		for again := true; again; {
			selector.Done(key, t, n, got.Makespan*math.Exp(wallNoise*r.NormFloat64()), chunks, got.Sched/float64(got.Chunks))
			_, again = selector.Choose(key)
			// a choice that was dropped is for the next execution
			again = again && record
		}
		if i < autoTaught-taught {
			continue
		}
		for k := range rivals {
			s, err := simOf("rival "+rivals[k].name, tr)
			if err != nil {
				return err
			}
			o, err := s.Run()
			if err != nil {
				return err
			}
			if i >= autoTaught {
				rival[k] += o.Makespan
			}
		}
		if i >= autoTaught {
			c.auto += got.Makespan
			c.chosen = t.Name
		}
	}
	c.oracle = slices.Min(rival)
	return nil
}

// recorded returns the chunks of an execution under a technique that is not adaptive.
func recorded(t *schedule.Technique, tr *schedule.Trace, p int) ([]schedule.Executed, error) {
	costs := tr.Costs()
	runs, err := schedule.Sequence(t, schedule.Params{N: len(costs), P: p})
	if err != nil {
		return nil, err
	}
	chunks, at := []schedule.Executed{}, 0
	for _, r := range runs {
		for range r.Repeat {
			chunks = append(chunks, schedule.Executed{Start: at, N: r.Size, Worker: len(chunks) % p, Seconds: total(costs[at : at+r.Size])})
			at += r.Size
		}
	}
	return chunks, nil
}

// published reports whether a technique is in the literature.
func published(name string) bool {
	t, err := schedule.Lookup(name)
	return err == nil && t.Source != "this project"
}

// find returns a technique's outcome; bestPublished the best of those in the literature.
func (c *contestOf) find(name string) *outcome {
	return &c.list[slices.IndexFunc(c.list, func(o outcome) bool { return o.name == name })]
}

func (c *contestOf) bestPublished() *outcome {
	return &c.list[slices.IndexFunc(c.list, func(o outcome) bool { return published(o.name) })]
}

// target returns what the best technique should reach, in percent of the ideal; 0: no target.
func (c *contestOf) target() float64 {
	return map[string]float64{"independent": 99, "ordered": 99, "clustered": 95}[c.shape.class]
}

// grid prints a table with a row a shape and a column a number of workers.
func (b *bench) grid(all []contestOf, workers []int, keep func(*contestOf) bool, cell func(*contestOf) string) {
	fmt.Fprint(b.out, "| workers |")
	for _, p := range workers {
		fmt.Fprintf(b.out, " %d |", p)
	}
	fmt.Fprintf(b.out, "\n|---|%s\n", strings.Repeat("---|", len(workers)))
	for i := range all {
		c := &all[i]
		if !keep(c) {
			continue
		}
		if c.p == workers[0] {
			fmt.Fprintf(b.out, "| %s |", c.shape.name)
		}
		fmt.Fprintf(b.out, " %s |", cell(c))
		if c.p == workers[len(workers)-1] {
			fmt.Fprintln(b.out)
		}
	}
	fmt.Fprintln(b.out)
}

func every(*contestOf) bool { return true }

func (b *bench) bestTable(all []contestOf, workers []int) {
	fmt.Fprint(b.out, "The best technique and its percent of the ideal (targets: 99 on independent and ordered costs, 95 on clustered ones; * below it):\n\n")
	b.grid(all, workers, every, func(c *contestOf) string {
		star := ""
		if c.list[0].percent < c.target() {
			star = "*"
		}
		return fmt.Sprintf("%s %.1f%s", c.list[0].name, c.list[0].percent, star)
	})
}

func (b *bench) costTable(all []contestOf) {
	fmt.Fprint(b.out, "COST, in its first execution and then, against the best published technique, in percent of the ideal\n(= within half a point, * behind by more):\n\n")
	b.grid(all, virtualWorkers, func(c *contestOf) bool { return c.shape.class == "clustered" }, func(c *contestOf) string {
		cost, best, star := c.find("COST"), c.bestPublished(), ""
		switch d := cost.percent - best.percent; {
		case d < -even:
			star = "*"
		case d < even:
			star = "="
		}
		return fmt.Sprintf("%.1f, %.1f%s; %s %.1f", cost.first, cost.percent, star, best.name, best.percent)
	})
}

func (b *bench) autoTable(all []contestOf) {
	fmt.Fprintf(b.out, "AUTO after its exploration (executions %d to %d): its choice at the end, and how much longer it took than the best technique (target 3 %%; * above it):\n\n", autoTaught, autoRuns)
	b.grid(all, virtualWorkers, every, func(c *contestOf) string {
		more, star := 100*(c.auto/c.oracle-1), ""
		if more > 3 {
			star = "*"
		}
		return fmt.Sprintf("%s %+.1f %%%s", c.chosen, more, star)
	})
}

// missed prints the cause for each cell below its target.
func (b *bench) missed(all []contestOf) {
	fmt.Fprintf(b.out, "Where the best is below its target. Two bounds that nobody beats: *claims*, each worker claims once, %g ns; *known*, all other claims cost nothing, and iterations are given out one by one, largest first\n"+
		"as far as anyone can know (independent costs: in their order; the others: as they are but for the noise), so that what differs between executions and single iterations that end late bind. *Alone* is no\n"+
		"bound: the best technique of all on the same loops if nobody ever waited for a line of memory that another worker has. Where it is below the target, too, the time of the claims themselves is in the way, as far\n"+
		"as any of these techniques can tell: more of them would balance, and take the time that they win:\n\n"+
		"| shape, workers | best | ideal is | LPT reaches | claims | known | alone | scheduling, idle of the best | the target is beyond |\n|---|---|---|---|---|---|---|---|---|\n", virtualClaim*1e9)
	for i := range all {
		c := &all[i]
		if o := &c.list[0]; o.percent < c.target() {
			fmt.Fprintf(b.out, "| %s, %d | %s %.1f %% | %s, %.2f | %.1f %% | %.1f %% | %.1f %% | %s %.1f %% | %.1f %%, %.1f %% | %s |\n", c.shape.name, c.p, o.name, o.percent, c.binds, c.largest, c.lpt, c.claims, c.known,
				c.alone.name, c.alone.percent, o.sched, o.idle, c.beyond())
		}
	}
	fmt.Fprintln(b.out)
}

// beyond names the bound that is below the target, or the other cause.
func (c *contestOf) beyond() string {
	switch {
	case c.claims < c.target():
		return "claims"
	case c.known < c.target():
		return "what can be known"
	case c.alone.percent < c.target():
		return "the time of claims, not proved"
	}
	return "waiting for each other"
}

// lossTable compares techniques over all shapes: their loss against the best of each, in the first
// execution and later.
func (b *bench) lossTable(all []contestOf) {
	type loss struct {
		name                               string
		mean, worst, firstMean, firstSmall float64
		where                              string
	}
	small := 0 // contests with at most the workers of one machine
	for i := range all {
		if all[i].p <= oneMachine {
			small++
		}
	}
	var list []loss
	for _, t := range schedule.Techniques() {
		l := loss{name: t.Name}
		for i := range all {
			c := &all[i]
			o := c.find(t.Name)
			l.mean += (100 - o.percent) / float64(len(all))
			l.firstMean += (100 - o.first) / float64(len(all))
			if c.p <= oneMachine {
				l.firstSmall += (100 - o.first) / float64(small)
			}
			if 100-o.percent > l.worst {
				l.worst, l.where = 100-o.percent, fmt.Sprintf("%s, %d", c.shape.name, c.p)
			}
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b loss) int { return int(math.Copysign(1, a.firstMean-b.firstMean)) })
	fmt.Fprint(b.out, "What each technique loses against the ideal, over all shapes and numbers of workers, in percent:\n\n| technique | mean, first executions | to 64 workers | mean, then | worst, then | where |\n|---|---|---|---|---|---|\n")
	for _, l := range list {
		fmt.Fprintf(b.out, "| %s | %.1f | %.1f | %.1f | %.1f | %s |\n", l.name, l.firstMean, l.firstSmall, l.mean, l.worst, l.where)
	}
	fmt.Fprintln(b.out)
}
