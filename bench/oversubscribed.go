package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"flow/runtime/schedule"
)

// This file defines the real part of the comparison of techniques: programs on more threads than there are processors.

const finalists = 4 // published techniques that are measured more than once

// oversubscribed compares COST for real with every published technique. The ideal of P threads on C processors is the work over min(P, C): threads that wait for a processor
// do nothing, so the area bound over P workers is no bound of this machine but of one with P processors. The work is what one thread takes for the
// same calls; a thread that loses its processor inside of a chunk keeps what it has claimed, which is the imbalance that oversubscription is a test of.
func oversubscribed(b *bench) error {
	cores := runtime.NumCPU()
	fmt.Fprintf(b.out, "For real, on %d processors; percent of the ideal, which is the time of one thread over min(threads, processors). Every published technique runs once; the fastest %d, COST and AUTO then run\n"+
		"%d times more, in turn, and least times count. Loops are executed again and again in each run.\n\n"+
		"| program, threads | COST | AUTO | the best published ones | COST against the best of them: time saved |\n|---|---|---|---|---|\n", cores, finalists, b.reps)
	programs, err := b.irregularPrograms()
	if err != nil {
		return err
	}
	for _, p := range programs {
		one := contest(b.reps, []contestant{b.work(p.args, "AUTO_CHUNK", 1)})[0]
		if one.err != nil {
			return one.err
		}
		for _, threads := range []int{2, 4, 8} {
			ideal := one.least() / float64(min(threads, cores))
			best, err := b.heat(p.args, threads)
			if err != nil {
				return err
			}
			field := []contestant{b.work(p.args, "COST", threads), b.work(p.args, "AUTO", threads)}
			for _, name := range best {
				field = append(field, b.work(p.args, name, threads))
			}
			results := contest(b.reps, field)
			for _, r := range results {
				if r.err != nil {
					return r.err
				}
			}
			percent := func(r *result) string { return fmt.Sprintf("%.1f", 100*ideal/r.least()) }
			rivals := results[2:]
			slices.SortStableFunc(rivals, func(a, b *result) int { return cmp.Compare(a.least(), b.least()) })
			names := ""
			for i, r := range rivals {
				if i > 0 {
					names += ", "
				}
				names += r.name + " " + percent(r)
			}
			fmt.Fprintf(b.out, "| %s, %d | %s | %s | %s | %+.1f %% |\n", p.name, threads, percent(results[0]), percent(results[1]), names, 100*(1-results[0].least()/rivals[0].least()))
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

// irregularProgram is a program whose call `work` executes loops of very different iterations again and again.
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
			file, _, err := b.notreDame()
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

// heat runs every published technique once and returns the names of the fastest.
func (b *bench) heat(args []string, threads int) ([]string, error) {
	type timed struct {
		name    string
		seconds float64
	}
	var list []timed
	for _, t := range schedule.Techniques() {
		if !published(t.Name) {
			continue
		}
		seconds, err := b.work(args, t.Name, threads).run()
		if err != nil {
			return nil, err
		}
		list = append(list, timed{t.Name, seconds})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	var names []string
	for _, t := range list[:finalists] {
		names = append(names, t.name)
	}
	return names, nil
}

// work is the call `work` of a program under a technique, on so many threads.
func (b *bench) work(args []string, technique string, threads int) contestant {
	return contestant{name: technique, run: func() (float64, error) {
		return callSeconds("work", nil, b.flowrun, append(slices.Clone(args), fmt.Sprintf("--threads=%d", threads), "--partitioning="+technique)...)
	}}
}
