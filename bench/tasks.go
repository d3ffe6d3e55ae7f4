package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"flow/runtime/local"
)

// This file measures the executor alone: a million empty tasks.

const emptyTasks = 1_000_000

// edge is a task and one that waits for it. Tasks are numbered in a valid order.
type edge struct{ before, after int32 }

// edges returns the graph called name of n tasks, by after.
func edges(name string, n int) (list []edge) {
	switch name {
	case "chain":
		for i := range n - 1 {
			list = append(list, edge{int32(i), int32(i + 1)})
		}
	case "fan": // one task, n-2 after it, one after these
		for i := 1; i < n-1; i++ {
			list = append(list, edge{0, int32(i)})
		}
		for i := 1; i < n-1; i++ {
			list = append(list, edge{int32(i), int32(n - 1)})
		}
	case "random": // up to four predecessors among the ten thousand tasks before
		rng := rand.New(rand.NewPCG(1, 2))
		for i := 1; i < n; i++ {
			for range rng.IntN(5) {
				list = append(list, edge{int32(i - 1 - rng.IntN(min(i, 10_000))), int32(i)})
			}
		}
	}
	return list
}

// graphOf converts the graph for the executor.
func graphOf(n int, list []edge) *local.DAG {
	d := &local.DAG{N: n, Waits: make([]int32, n), SuccOff: make([]int32, n+1), Succ: make([]int32, len(list))}
	for _, e := range list {
		d.SuccOff[e.before+1]++
		d.Waits[e.after]++
	}
	for i := range n {
		d.SuccOff[i+1] += d.SuccOff[i]
	}
	next := append([]int32(nil), d.SuccOff[:n]...)
	for _, e := range list {
		d.Succ[next[e.before]] = e.after
		next[e.before]++
	}
	return d
}

// ordered checks a graph once: every task runs once, after all that it waits for. The other
// systems' programs check themselves.
func ordered(pool *local.Pool, d *local.DAG, list []edge) error {
	var clock atomic.Int32
	at := make([]int32, d.N)
	var twice atomic.Bool
	err := pool.Start(context.Background(), d, func(_ *local.Worker, t int32) error {
		if !atomic.CompareAndSwapInt32(&at[t], 0, clock.Add(1)) {
			twice.Store(true)
		}
		return nil
	}).Wait()
	switch {
	case err != nil:
		return err
	case twice.Load() || int(clock.Load()) != d.N:
		return fmt.Errorf("%d tasks have run, of %d", clock.Load(), d.N)
	}
	for _, e := range list {
		if at[e.before] >= at[e.after] {
			return fmt.Errorf("task %d has run before task %d, for which it waits", e.after, e.before)
		}
	}
	return nil
}

// write writes the graph to a file for the programs in dag; dag.h defines the format.
func write(file string, n int, list []edge) error {
	head, off, pred := []int32{int32(n), int32(len(list))}, make([]int32, n+1), make([]int32, len(list))
	for i, e := range list {
		off[e.after+1]++
		pred[i] = e.before // the list is by after
	}
	for i := range n {
		off[i+1] += off[i]
	}
	var out bytes.Buffer
	for _, part := range [][]int32{head, off, pred} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o666)
}

// onGraph is a contestant that runs a graph file with a program of dag, which it compiles first.
func (b *bench) onGraph(label, source, file, compile string, env []string) contestant {
	program := filepath.Join(b.dir, "dag_"+strings.Fields(compile)[0]+"_"+source)
	return contestant{name: label, run: func() (float64, error) {
		if !exists(program) {
			// The source comes before the flags: libraries follow what needs them.
			line := append([]string{filepath.Join(b.root, "bench", "dag", source+".c"), "-o", program}, strings.Fields(compile)[1:]...)
			if out, err := exec.Command(strings.Fields(compile)[0], line...).CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%s does not compile: %w: %s", source, err, bytes.TrimSpace(out))
			}
		}
		return peerSeconds(env, program, file)
	}}
}

// starpuFlags returns the compiler flags of programs that use StarPU.
func starpuFlags() (string, error) {
	out, err := exec.Command("pkg-config", "--cflags", "--libs", "starpu-1.3").Output()
	if err != nil {
		return "", errors.New("pkg-config does not know starpu-1.3")
	}
	return strings.TrimSpace(string(out)), nil
}

// others returns the systems that run a graph beside Flow. The peers create chain and fan in a loop
// of their own; the random graph is read from the same list of edges.
func (b *bench) others(name string, list []edge) ([]contestant, error) {
	unbound := peerEnv("OMP_PROC_BIND=false")
	if name != "random" {
		tasks := fmt.Sprint(emptyTasks)
		return []contestant{
			b.peers.peer("OpenMP tasks (gcc)", "tasks_gcc", unbound, name, tasks),
			b.peers.peer("OpenMP tasks (llvm)", "tasks_llvm", unbound, name, tasks),
			b.peers.peer("StarPU", "tasks_starpu", peerEnv(), name, tasks),
		}, nil
	}
	file := filepath.Join(b.dir, name+".dag")
	if err := write(file, emptyTasks, list); err != nil {
		return nil, err
	}
	field := []contestant{
		b.onGraph("OpenMP tasks (gcc)", "openmp", file, "gcc -O3 -march=native -fopenmp", unbound),
		b.onGraph("OpenMP tasks (llvm)", "openmp", file, "clang -O3 -march=native -fopenmp", unbound),
	}
	flags, err := starpuFlags()
	if err != nil {
		b.skip("StarPU: %v", err)
		return field, nil
	}
	return append(field, b.onGraph("StarPU", "starpu", file, "gcc -O3 -march=native "+flags, peerEnv())), nil
}

func tasks(b *bench) error {
	pool := local.NewPool(2)
	defer pool.Close()
	for _, name := range []string{"chain", "fan", "random"} {
		if err := b.empty(pool, name); err != nil {
			return err
		}
	}
	return nil
}

// empty prints the table of one graph.
func (b *bench) empty(pool *local.Pool, name string) error {
	list := edges(name, emptyTasks)
	d := graphOf(emptyTasks, list)
	if err := ordered(pool, d, list); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	done := make([]bool, emptyTasks)
	run := func(graphToo bool) (float64, error) {
		start := time.Now()
		if graphToo {
			d = graphOf(emptyTasks, list)
		}
		err := pool.Start(context.Background(), d, func(_ *local.Worker, t int32) error { done[t] = true; return nil }).Wait()
		return time.Since(start).Seconds(), err
	}
	field := []contestant{
		{name: "Flow", run: func() (float64, error) { return run(false) }},
		{name: "Flow, and its graph made from the edges", run: func() (float64, error) { return run(true) }},
	}
	peers, err := b.others(name, list)
	if err != nil {
		return err
	}
	results := contest(b.reps, append(field, peers...))
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
	if _, err := run(false); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	fmt.Fprintf(b.out, "\nA run of %s, %d edges, allocates %.2f bytes a task beside the graph.\n\n", name, len(list), float64(after.TotalAlloc-before.TotalAlloc)/emptyTasks)
	return nil
}
