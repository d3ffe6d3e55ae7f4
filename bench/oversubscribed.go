package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
)

// This file defines the real part of the comparison of techniques: programs on more threads than there are processors.

// oversubscribed compares techniques for real. The ideal of P threads on C processors is the work over min(P, C): threads that wait for a processor
// do nothing, so the area bound over P workers is no bound of this machine but of one with P processors. The work is what one thread takes for the
// same calls; a thread that loses its processor inside of a chunk keeps what it has claimed, which is the imbalance that oversubscription is a test of.
func oversubscribed(b *bench) error {
	cores := runtime.NumCPU()
	fmt.Fprintf(b.out, "For real, on %d processors; percent of the ideal, which is the time of one thread over min(threads, processors). Least of %d runs in turn; loops are executed again and again:\n\n", cores, b.reps)
	fmt.Fprint(b.out, "| program, threads |")
	list := []string{"STATIC", "GSS", "FAC2", "AWF-C", "StaticSteal", "AUTO_CHUNK", "COST", "AUTO"}
	for _, t := range list {
		fmt.Fprintf(b.out, " %s |", t)
	}
	fmt.Fprint(b.out, "\n|---|")
	for range list {
		fmt.Fprint(b.out, "---|")
	}
	fmt.Fprintln(b.out)
	programs := []struct {
		name string
		args []string
	}{{"Mandelbrot rows", []string{b.program("rows.flow")}}}
	if graph, err := b.graph(); err != nil {
		b.skip("RMAT: %v", err)
	} else {
		programs = append(programs, struct {
			name string
			args []string
		}{"RMAT scale 20", []string{b.program("components.flow"), "--set=graph=" + graph}})
	}
	for _, p := range programs {
		field := []contestant{b.work(p.args, "AUTO_CHUNK", 1)}
		for _, threads := range []int{2, 4, 8} {
			for _, t := range list {
				field = append(field, b.work(p.args, t, threads))
			}
		}
		results := contest(b.reps, field)
		for _, r := range results {
			if r.err != nil {
				return r.err
			}
		}
		one := results[0].least()
		for i, threads := range []int{2, 4, 8} {
			fmt.Fprintf(b.out, "| %s, %d |", p.name, threads)
			ideal := one / float64(min(threads, cores))
			of := results[1+i*len(list):][:len(list)]
			best := slices.MinFunc(of, func(a, b *result) int { return cmp.Compare(a.least(), b.least()) })
			for _, r := range of {
				mark := ""
				if r == best {
					mark = "**"
				}
				fmt.Fprintf(b.out, " %s%.1f%s |", mark, 100*ideal/r.least(), mark)
			}
			fmt.Fprintln(b.out)
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

// work is the call `work` of a program under a technique, on so many threads.
func (b *bench) work(args []string, technique string, threads int) contestant {
	return contestant{name: technique, run: func() (float64, error) {
		return callSeconds("work", nil, b.flowrun, append(slices.Clone(args), fmt.Sprintf("--threads=%d", threads), "--partitioning="+technique)...)
	}}
}
