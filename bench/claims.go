package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"flow/ir/op"
	"flow/ir/plan"
	"flow/kernels"
	"flow/runtime/local"
	"flow/runtime/schedule"
)

// This file measures the overhead of self-scheduling: a claim, a chunk beyond its work, the launch
// of a loop.

const (
	claimWorkers = 8
	claimLoop    = 1 << 20 // iterations
	claimsInAll  = 5_000   // of each technique in a repetition
	// at least, in all: disturbances on a core last for milliseconds
	claimsTake   = 400 * time.Millisecond
	claimTarget  = 20  // ns
	chunkTarget  = 200 // ns
	launchTarget = 5   // us
)

// The loops on which chunks and launches are measured: chunkLoops of them run in sequence.
const (
	chunkLoops = 400
	fewChunks  = 8
	// of a loop, so that the difference to one without chunks exceeds the noise
	wantChunks = 32
	leastUnits = 4000    // of such a loop
	mostUnits  = 1 << 22 // techniques that halve what is left have two dozen chunks
	turns      = 20      // times the repetitions of other sections
)

func claims(b *bench) error {
	fmt.Fprintf(b.out, "A claim: one worker of %d claims, nobody beside it, from a loop of 2^20 iterations that was executed twice before; with report: the time of each chunk is told to the technique, too, if it\n"+
		"learns. A chunk: one worker, loops of units that do nothing, of %d chunks or as many as 2^22 units have, less loops of two units, %d times in turn. A launch: loops of two units on two workers. Clocks that techniques need are\n"+
		"included. Least times, which other programs disturb least; in brackets medians.\n\n"+
		"| technique | a claim, ns | with report, ns | a chunk, ns | a launch, us | target: %d, -, %d, %d |\n|---|---|---|---|---|---|\n",
		claimWorkers, wantChunks, turns*b.reps, claimTarget, chunkTarget, launchTarget)
	list := schedule.Techniques()
	for i := range list {
		t := &list[i]
		alone, err := claimSeconds(b.reps, t, false)
		if err != nil {
			return err
		}
		reported, err := claimSeconds(b.reps, t, true)
		if err != nil {
			return err
		}
		chunk, err := chunkSeconds(b, t)
		if err != nil {
			return err
		}
		launch, err := emptyLoops(3*b.reps, 2, t.Name, 2)
		if err != nil {
			return err
		}
		claim, open := alone.least()*1e9, launch[0].least()*1e6
		each := "few"
		if chunk > 0 {
			each = fmt.Sprintf("%.0f", chunk*1e9)
		}
		fmt.Fprintf(b.out, "| %s | %.1f (%.1f) | %.1f | %s | %.2f (%.2f) | %s |\n", t.Name, claim, alone.median()*1e9, reported.least()*1e9, each, open, launch[0].median()*1e6,
			yes(claim <= claimTarget && chunk*1e9 <= chunkTarget && open <= launchTarget))
	}
	fmt.Fprintln(b.out)
	return launches(b)
}

func yes(met bool) string {
	if met {
		return "met"
	}
	return "not met"
}

// least returns the smallest time of a result.
func (r *result) least() float64 { return slices.Min(r.seconds) }

// claimSeconds returns the time of a claim, over repetitions.
func claimSeconds(reps int, t *schedule.Technique, report bool) (*result, error) {
	var ready []*schedule.Claimer
	for claims := 0; claims < claimsInAll; {
		calc, err := t.New(schedule.Params{N: claimLoop, P: claimWorkers, Mu: 1e-6, Sigma: 5e-7, H: 1e-7})
		if err != nil {
			return nil, err
		}
		c := schedule.NewClaimer(calc)
		for range 2 { // techniques that learn need a history
			claims += claimAll(c, claimLoop, true)
			c.Reset()
		}
		for range 2 { // a lesson of COST's worker is no part of a claim
			claimAll(c, claimLoop, false)
			c.Reset()
		}
		ready = append(ready, c)
	}
	r := &result{name: t.Name}
	for began, i := time.Now(), 0; i < 30*reps || time.Since(began) < claimsTake; i++ {
		n := 0
		start := time.Now()
		for _, c := range ready {
			n += claimAll(c, claimsInAll, report && c.Learns())
		}
		r.seconds = append(r.seconds, time.Since(start).Seconds()/float64(n))
		for _, c := range ready {
			c.Reset()
		}
	}
	return r, nil
}

// claimAll claims at most this many chunks for one worker after the other, and returns their
// number.
func claimAll(c *schedule.Claimer, most int, report bool) int {
	n := 0
	for w := 0; n < most; n++ {
		start, size, ok := c.Claim(w)
		if !ok {
			break
		}
		if report {
			c.Report(w, start, size, float64(size)*1e-6*(1+float64(w&3)/8), 1e-7)
		}
		w = (w + 1) % claimWorkers
	}
	return n
}

// emptyTable has one operator, whose loop has as many empty units as its result has columns.
func emptyTable() (*op.Table, error) {
	return op.NewTable([]*op.Def{{
		Name: "empty", Laws: op.Pure,
		Kernel: func(*op.Call) error { return nil },
		Loop: &op.Loop{
			Space: func(c *op.Call) (int, int) { return c.Type.Cols, 1 },
			Begin: func(*op.Call, int) (op.LoopBody, error) { return empty{}, nil },
		},
	}, {
		Name: "start", Laws: op.Pure,
		Kernel: func(*op.Call) error { return nil },
	}})
}

type empty struct{}

func (empty) Chunk(int, int, int) error { return nil }
func (empty) End() error                { return nil }

// emptyLoops returns the seconds of one of many empty loops in a chain, for loops of each number of
// units.
func emptyLoops(reps, workers int, technique string, units ...int) ([]*result, error) {
	table, err := emptyTable()
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, n := range units {
		texts = append(texts, chain("%0 = start()", "empty(%P)", 1, n))
	}
	return loopSeconds(reps, table, texts, workers, technique)
}

// chain returns a plan of chunkLoops operators, each of which reads the result of the one before,
// %P, on matrices of one shape.
func chain(first, next string, rows, cols int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s : f64[%d,%d]\n", first, rows, cols)
	for i := range chunkLoops {
		fmt.Fprintf(&s, "%%%d = %s : f64[%d,%d]\n", i+1, strings.ReplaceAll(next, "%P", fmt.Sprintf("%%%d", i)), rows, cols)
	}
	return s.String()
}

// loopSeconds runs plans of chunkLoops loops in turn and returns the seconds of one loop of each.
func loopSeconds(reps int, table *op.Table, texts []string, workers int, technique string) ([]*result, error) {
	t, err := schedule.Lookup(technique)
	if err != nil {
		return nil, err
	}
	pool := local.NewPool(workers)
	defer pool.Close()
	var list []contestant
	for _, text := range texts {
		p, err := plan.Parse(text, table)
		if err != nil {
			return nil, err
		}
		list = append(list, contestant{run: func() (float64, error) {
			start := time.Now()
			_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Schedule: schedule.Plan{Technique: t}})
			return time.Since(start).Seconds() / chunkLoops, err
		}})
	}
	results := contest(reps, list)
	for _, r := range results {
		if r.err != nil {
			return nil, r.err
		}
	}
	return results, nil
}

// chunkSeconds returns the time of a chunk on one worker; 0 if a loop has few more chunks than one
// of two units, which noise would hide. It compares least times of many executions in turn, since
// disturbances do not cancel.
func chunkSeconds(b *bench, t *schedule.Technique) (float64, error) {
	none, err := countChunks(t, 2)
	if err != nil {
		return 0, err
	}
	units, chunks := leastUnits, 0
	for ; ; units *= 2 {
		if chunks, err = countChunks(t, units); err != nil {
			return 0, err
		}
		if chunks >= wantChunks || 2*units > mostUnits {
			break
		}
	}
	if chunks-none < fewChunks {
		return 0, nil
	}
	r, err := emptyLoops(turns*b.reps, 1, t.Name, 2, units)
	if err != nil {
		return 0, err
	}
	return max(1e-10, r[1].least()-r[0].least()) / float64(chunks-none), nil
}

// countChunks runs a chain of empty loops on one worker and returns the chunks of one of them.
func countChunks(t *schedule.Technique, units int) (int, error) {
	table, err := emptyTable()
	if err != nil {
		return 0, err
	}
	p, err := plan.Parse(chain("%0 = start()", "empty(%P)", 1, units), table)
	if err != nil {
		return 0, err
	}
	pool := local.NewPool(1)
	defer pool.Close()
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Stats: true, Schedule: schedule.Plan{Technique: t}})
	if err != nil {
		return 0, err
	}
	chunks := 0
	for i := range r.Loops {
		chunks += len(r.Loops[i].Chunks)
	}
	return chunks / chunkLoops, nil
}

// launches prints the cost of opening and completing a loop: an empty one, and a pipeline one
// element larger than its kernel runs as a task, minus that task.
func launches(b *bench) error {
	real, err := kernels.Table("")
	if err != nil {
		return err
	}
	const leaf = 1 << 14 // elements; see kernels/pipe_loop.go
	var texts []string
	for _, n := range []int{leaf, leaf + 1} {
		texts = append(texts, chain(fmt.Sprintf("%%0 = zeros() {m=1, n=%d}", n), "add(%P, %0)", n, 1))
	}
	fmt.Fprintf(b.out, "| one launch | median us | least us | target: %d us |\n|---|---|---|---|\n", launchTarget)
	for _, workers := range []int{1, 2} {
		empty, err := emptyLoops(3*b.reps, workers, "STATIC", 2)
		if err != nil {
			return err
		}
		pipe, err := loopSeconds(3*b.reps, real, texts, workers, "STATIC")
		if err != nil {
			return err
		}
		for _, l := range []struct {
			name          string
			median, least float64
		}{
			{"a loop of two empty chunks", empty[0].median(), empty[0].least()},
			{"x + y of 16385 numbers as a loop, less the same of 16384 as a task", pipe[1].median() - pipe[0].median(), pipe[1].least() - pipe[0].least()},
		} {
			fmt.Fprintf(b.out, "| %s, %s | %.2f | %.2f | %s |\n", l.name, plural(workers, "worker"), l.median*1e6, l.least*1e6, yes(l.least*1e6 <= launchTarget))
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
