package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"flow/runtime/replay"
	"flow/runtime/trace"
)

// This file defines the loops that techniques are compared on: drawn costs of iterations, and costs
// recorded from programs.

// workload is a loop whose executions have similar costs.
type workload struct {
	name  string
	class string // independent, ordered, clustered
	// costs returns the seconds of the iterations in execution i, from 0 on.
	costs func(i int) []float64
	base  []float64 // the part common to all executions, or nil
}

const (
	shapeN    = 1 << 15
	perWorker = 1 << 11 // units per worker, if loops grow with the workers
	shapeMean = 5e-6    // seconds: about a leaf of a loop
	// relative range of the differences between executions of recorded and ordered costs
	noisy = 0.2
)

// dearest returns the costs of an execution by expected cost, largest first; independent ones in
// their order.
func (w *workload) dearest(costs []float64) []float64 {
	if w.base == nil {
		return costs
	}
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.base[b], w.base[a]) })
	sorted := make([]float64, len(costs))
	for k, i := range order {
		sorted[k] = costs[i]
	}
	return sorted
}

// drawn returns a shape of n independent costs, drawn anew in each execution.
func drawn(name string, n int, draw func(r *rand.Rand) float64) workload {
	return workload{name: name, class: "independent", costs: func(i int) []float64 {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		c := make([]float64, n)
		for k := range c {
			c[k] = draw(r)
		}
		return scaled(c, shapeMean)
	}}
}

// fixedShape returns a shape whose costs are equal in each execution, except noise.
func fixedShape(name, class string, base []float64) workload {
	return workload{name: name, class: class, base: base, costs: func(i int) []float64 {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		c := slices.Clone(base)
		for k := range c {
			c[k] *= 1 - noisy + 2*noisy*r.Float64()
		}
		return c
	}}
}

// scaled scales c to a mean.
func scaled(c []float64, mean float64) []float64 {
	sum := 0.0
	for _, x := range c {
		sum += x
	}
	for k := range c {
		c[k] *= mean * float64(len(c)) / sum
	}
	return c
}

// along returns n costs f(x) at x from 0 to 1.
func along(n int, f func(x float64) float64) []float64 {
	c := make([]float64, n)
	for k := range c {
		c[k] = f((float64(k) + .5) / float64(n))
	}
	return scaled(c, shapeMean)
}

// syntheticShapes returns the computed shapes, of n units.
func syntheticShapes(n int) []workload {
	// four narrow bells of up to forty times the rest
	clusters := along(n, func(x float64) float64 {
		sum := 1.0
		for _, at := range []float64{.1, .35, .4, .8} {
			sum += 40 * math.Exp(-(x-at)*(x-at)/(2*.01*.01))
		}
		return sum
	})
	return []workload{
		drawn("constant", n, func(*rand.Rand) float64 { return 1 }),
		drawn("uniform", n, func(r *rand.Rand) float64 { return .5 + r.Float64() }),
		drawn("exponential", n, func(r *rand.Rand) float64 { return r.ExpFloat64() }),
		drawn("bimodal", n, func(r *rand.Rand) float64 {
			if r.Float64() < .1 {
				return 10
			}
			return 1
		}),
		fixedShape("increasing", "ordered", along(n, func(x float64) float64 { return x })),
		fixedShape("decreasing", "ordered", along(n, func(x float64) float64 { return 1 - x })),
		fixedShape("clustered", "clustered", clusters),
	}
}

// recordedShapes runs the real programs in the smallest chunks and keeps the least time of each
// unit, since disturbances hit different units in different executions.
func recordedShapes(b *bench) []workload {
	data := filepath.Join(b.root, "..", "shared", "data")
	if d := os.Getenv("FLOW_DATA"); d != "" {
		data = d
	}
	rmat := func(scale int) []string { // as symmetric
		file, err := b.graph(scale)
		if err != nil {
			b.skip("RMAT scale %d: %v", scale, err)
		}
		return []string{b.program("components.flow"), "--set=graph=" + file}
	}
	// a file that could not be made is reported when the program fails
	symmetric := func(name string) []string {
		file := filepath.Join(b.dir, name+".csr")
		if _, err := launch(nil, b.flowrun, b.program("symmetric.flow"), "--set=edges="+filepath.Join(data, name+".txt.gz"), "--set=file="+file); err != nil {
			b.skip("%s: %s", name, firstLine(err))
		}
		return []string{b.program("components.flow"), "--set=graph=" + file}
	}
	var list []workload
	for _, r := range []struct {
		name string
		runs int
		args []string
	}{
		{"Mandelbrot rows", 5, []string{b.program("irregular.flow")}},
		{"soc-Epinions1", 3, symmetric("soc-Epinions1")},
		{"web-NotreDame", 3, symmetric("web-NotreDame")},
		{"RMAT scale 20", 3, rmat(20)},
		{"RMAT scale 22", 3, rmat(22)},
	} {
		costs, err := b.record(r.runs, r.args)
		if err != nil {
			b.skip("%s: %s", r.name, firstLine(err))
			continue
		}
		list = append(list, fixedShape(r.name, "clustered", costs))
	}
	return list
}

// record runs a program some times and returns the least seconds of each unit of its longest loop:
// the operator that took most time, and of it the execution that is longest by these least times,
// since any execution is long if the processor is taken away. Rounds of one operator differ: where
// labels have settled there is little to do.
func (b *bench) record(runs int, args []string) ([]float64, error) {
	file := filepath.Join(b.dir, "loops.trace")
	var least map[loopOf][]float64
	for run := range runs {
		if _, err := launch(nil, b.flowrun, append(slices.Clone(args), "--threads=1", "--partitioning=SS", "--trace="+file)...); err != nil {
			return nil, err
		}
		loops, err := readLoops(file)
		if err != nil {
			return nil, err
		}
		if run == 0 {
			least = loops
		}
		for at, costs := range least {
			if len(loops[at]) != len(costs) {
				return nil, fmt.Errorf("run %d has no execution %d of %s", run+1, at.round+1, at.name)
			}
			for k, c := range loops[at] {
				costs[k] = min(costs[k], c)
			}
		}
	}
	if len(least) == 0 {
		return nil, fmt.Errorf("no loop was recorded")
	}
	return least[longest(least)], nil
}

// loopOf is one execution of an operator.
type loopOf struct {
	name, where string
	round       int
}

// longest returns the longest execution of the operator that took most time.
func longest(loops map[loopOf][]float64) (at loopOf) {
	sums := map[loopOf]float64{} // by operator
	for l, costs := range loops {
		l.round = 0
		sums[l] += total(costs)
	}
	most, longest := 0.0, 0.0
	for o, sum := range sums {
		if sum > most {
			at, most = o, sum
		}
	}
	o := at
	for l, costs := range loops {
		if t := total(costs); l.name == o.name && l.where == o.where && t > longest {
			at, longest = l, t
		}
	}
	return at
}

// readLoops returns the costs of all loops of a trace.
func readLoops(file string) (map[loopOf][]float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ranks, err := trace.ReadLoops(f)
	if err != nil {
		return nil, err
	}
	all := map[loopOf][]float64{}
	for _, r := range ranks {
		for _, o := range replay.FromRecords(r.Rank, r.Loops, replay.Fine) {
			for round := range o.Loops {
				all[loopOf{o.Name, o.Where, round}] = o.Loops[round].Costs.Costs()
			}
		}
	}
	return all, nil
}
