package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"flow/runtime/local"
)

// This file defines the section about the executor alone: a million tasks that do nothing.

const emptyTasks = 1_000_000

// edges makes the graph of n tasks with these (before, after) pairs.
func edges(n int, list [][2]int32) *local.DAG {
	d := &local.DAG{N: n, Waits: make([]int32, n), SuccOff: make([]int32, n+1), Succ: make([]int32, len(list))}
	for _, e := range list {
		d.SuccOff[e[0]+1]++
		d.Waits[e[1]]++
	}
	for i := range n {
		d.SuccOff[i+1] += d.SuccOff[i]
	}
	next := append([]int32(nil), d.SuccOff[:n]...)
	for _, e := range list {
		d.Succ[next[e[0]]] = e[1]
		next[e[0]]++
	}
	return d
}

// shapes are the graphs, by the name that the peers know.
func shape(name string, n int) *local.DAG {
	var list [][2]int32
	switch name {
	case "chain":
		for i := range n - 1 {
			list = append(list, [2]int32{int32(i), int32(i + 1)})
		}
	case "fan": // one task, n-2 after it, one after these
		for i := 1; i < n-1; i++ {
			list = append(list, [2]int32{0, int32(i)}, [2]int32{int32(i), int32(n - 1)})
		}
	case "random": // up to four predecessors among the ten thousand tasks before
		rng := rand.New(rand.NewPCG(1, 2))
		for i := 1; i < n; i++ {
			for range rng.IntN(5) {
				list = append(list, [2]int32{int32(i - 1 - rng.IntN(min(i, 10_000))), int32(i)})
			}
		}
	}
	return edges(n, list)
}

func tasks(b *bench) error {
	pool := local.NewPool(2)
	defer pool.Close()
	for _, name := range []string{"chain", "fan", "random"} {
		d := shape(name, emptyTasks)
		run := func() (float64, error) {
			start := time.Now()
			err := pool.Start(context.Background(), d, func(*local.Worker, int32) error { return nil }).Wait()
			return time.Since(start).Seconds(), err
		}
		field := []contestant{{name: "Flow", run: run}}
		if name != "random" { // the peers' programs have no such graph
			field = append(field,
				b.peers.peer("OpenMP tasks (gcc)", "tasks_gomp", peerEnv("OMP_PROC_BIND=false"), name, fmt.Sprint(emptyTasks)),
				b.peers.peer("OpenMP tasks (llvm)", "tasks_llvm", peerEnv("OMP_PROC_BIND=false"), name, fmt.Sprint(emptyTasks)),
				b.peers.peer("StarPU", "tasks_starpu", peerEnv(), name, fmt.Sprint(emptyTasks)))
		}
		results := contest(b.reps, field)
		fmt.Fprintf(b.out, "| %s, a million tasks, two workers | us a task | times Flow's |\n|---|---|---|\n", name)
		base := results[0].median()
		for _, r := range results {
			if r.err != nil {
				fmt.Fprintf(b.out, "| %s | left out: %s | |\n", r.name, firstLine(r.err))
				continue
			}
			fmt.Fprintf(b.out, "| %s | %.3f | %.1f |\n", r.name, r.median()/emptyTasks*1e6, r.median()/base)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := run(); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		fmt.Fprintf(b.out, "\nA run of %s allocates %.2f bytes a task beside the graph.\n\n", name, float64(after.TotalAlloc-before.TotalAlloc)/emptyTasks)
	}
	return nil
}
