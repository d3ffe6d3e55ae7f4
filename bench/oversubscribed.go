package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"

	"flow/runtime/schedule"
)

// This file compares techniques on real threads: programs on more threads than processors.

const (
	finalists = 4 // published techniques that are measured further
	heats     = 3 // runs of each technique that say which
	measured  = 9 // of COST, AUTO and these, at least
)

// oversubscribed compares COST with every published technique on real threads. The ideal of P
// threads on C processors is the work over min(P, C): the area bound over P workers would be that
// of a machine with P processors. The work is the time of one thread for the same calls. A thread
// that loses its processor inside a chunk keeps what it has claimed, which is the imbalance that
// oversubscription tests.
//
// The best of 22 in the runs that select it is partly lucky. So heats select, other runs are
// compared, turn by turn, and the interval shows the uncertainty.
func oversubscribed(b *bench) error {
	cores := runtime.NumCPU()
	reps := max(b.reps, measured)
	fmt.Fprintf(b.out, "For real, on %d processors; percent of the ideal, which is the time of one thread over min(threads, processors), medians. Every published technique runs %d times; the fastest %d, COST and AUTO\n"+
		"then run %d times more, in turn. Time saved: COST against the fastest of them, the median over turns, and in brackets the interval that has it with 95 %% (order statistics).\n\n"+
		"| program, threads | COST | AUTO | the best published ones | time saved |\n|---|---|---|---|---|\n", cores, heats, finalists, reps)
	match, err := regexp.Compile(b.match)
	if err != nil {
		return err
	}
	programs, err := b.irregularPrograms()
	if err != nil {
		return err
	}
	for _, p := range programs {
		for _, threads := range []int{2, 4, 8} {
			if !match.MatchString(fmt.Sprintf("%s, %d", p.name, threads)) {
				continue
			}
			one := contest(heats, []contestant{b.work(p.args, "AUTO_CHUNK", 1)})[0]
			if one.err != nil {
				return one.err
			}
			ideal := one.median() / float64(min(threads, cores))
			best, err := b.heat(p.args, threads)
			if err != nil {
				return err
			}
			field := []contestant{b.work(p.args, "COST", threads), b.work(p.args, "AUTO", threads)}
			for _, name := range best {
				field = append(field, b.work(p.args, name, threads))
			}
			results := contest(reps, field)
			for _, r := range results {
				if r.err != nil {
					return r.err
				}
			}
			percent := func(r *result) string { return fmt.Sprintf("%.1f", 100*ideal/r.median()) }
			rivals := results[2:]
			slices.SortStableFunc(rivals, func(a, b *result) int { return cmp.Compare(a.median(), b.median()) })
			names := ""
			for i, r := range rivals {
				if i > 0 {
					names += ", "
				}
				names += r.name + " " + percent(r)
			}
			saved, low, high := savings(results[0].seconds, rivals[0].seconds)
			fmt.Fprintf(b.out, "| %s, %d | %s | %s | %s | %+.1f %% (%+.1f to %+.1f) |\n", p.name, threads, percent(results[0]), percent(results[1]), names, 100*saved, 100*low, 100*high)
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

// savings returns the median over turns of the part of the other's time that ours saves, and the
// order statistics that enclose the median with 95 %: each turn is above it with probability one
// half (W. J. Conover, "Practical Nonparametric Statistics", 1999, 3.2).
func savings(ours, others []float64) (median, low, high float64) {
	var r result
	for i := range ours {
		r.seconds = append(r.seconds, 1-ours[i]/others[i])
	}
	slices.Sort(r.seconds)
	n := len(r.seconds)
	// the probability of this few turns on one side
	tail, term, out := 0.0, math.Pow(.5, float64(n)), 0
	for k := 0; k < n/2; k++ {
		if tail += term; tail > .025 {
			break
		}
		out = k
		term *= float64(n-k) / float64(k+1)
	}
	return r.median(), r.seconds[out], r.seconds[n-1-out]
}

// irregularProgram is a program whose call `work` repeatedly executes loops of very uneven
// iterations.
type irregularProgram struct {
	name string
	args []string
}

func (b *bench) irregularPrograms() ([]irregularProgram, error) {
	list := []irregularProgram{{"Mandelbrot rows", []string{b.program("rows.flow"), "--set=again=12"}}}
	for _, g := range []struct {
		name string
		file func() (string, error)
	}{
		{"web-NotreDame", func() (string, error) {
			file, _, err := b.notreDame("symmetric.flow")
			return file, err
		}},
		{"RMAT scale 20", func() (string, error) { return b.graph(20) }},
	} {
		file, err := g.file()
		if err != nil {
			b.skip("%s: %v", g.name, err)
			continue
		}
		list = append(list, irregularProgram{g.name, []string{b.program("components.flow"), "--set=graph=" + file}})
	}
	return list, nil
}

// heat runs every published technique some times, in turn, and returns the names of the fastest.
func (b *bench) heat(args []string, threads int) ([]string, error) {
	var field []contestant
	for _, t := range schedule.Techniques() {
		if published(t.Name) {
			field = append(field, b.work(args, t.Name, threads))
		}
	}
	results := entered(field)
	takeTurns(heats, field, results)
	for _, r := range results {
		if r.err != nil {
			return nil, r.err
		}
	}
	slices.SortStableFunc(results, func(a, b *result) int { return cmp.Compare(a.median(), b.median()) })
	var names []string
	for _, r := range results[:finalists] {
		names = append(names, r.name)
	}
	return names, nil
}

// work runs the call `work` of a program under a technique, on this many threads.
func (b *bench) work(args []string, technique string, threads int) contestant {
	return contestant{name: technique, run: func() (float64, error) {
		return callSeconds("work", nil, b.flowrun, append(slices.Clone(args), fmt.Sprintf("--threads=%d", threads), "--partitioning="+technique)...)
	}}
}
