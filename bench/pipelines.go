package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// This file defines the sections about loops under self-scheduling: fused pipelines, sparse and
// irregular work, small data analysis. The call `work` of each program is measured; data are in
// memory before it starts.

// flowWork runs one of the programs beside this file on two threads of Flow.
func (b *bench) flowWork(label, program string, args ...string) contestant {
	return contestant{name: label, run: func() (float64, error) {
		return callSeconds("work", nil, b.flowrun, append([]string{b.program(program), "--threads=2"}, args...)...)
	}}
}

// scan runs a peer's program over the variants of its last arguments.
func (b *bench) scan(label, binary string, args []string, variants ...[]string) contestant {
	var list []contestant
	for _, v := range variants {
		list = append(list, b.peers.peer(strings.Join(v, " "), binary, peerEnv(), append(append([]string{}, args...), v...)...))
	}
	return best(label, list)
}

// threaded gives the BLAS of a Python peer both threads; its own kernels have them anyway.
func threaded() []string { return peerEnv("OPENBLAS_NUM_THREADS=2") }

// warmEnv returns the environment of peers that call `work` four times; the first does not count on
// either side.
func warmEnv(extra ...string) []string { return peerEnv(append(extra, "PEER_REPS=3")...) }

func fused(b *bench) error {
	const n = "1e8"
	read, copied, err := bandwidth(2)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "The memory gives %.1f GB/s to two threads that read, and %.1f that copy past the caches (what is read and what is written).\n\n", read/1e9, copied/1e9)
	for _, mode := range []string{"sum", "y"} {
		kept := fmt.Sprintf("--set=kept=%t", mode == "y")
		python := func(label, what string, more ...string) contestant {
			return b.peers.script(label, "fused.py", warmEnv(), append([]string{what, mode, n}, more...)...)
		}
		results := contest(b.reps, []contestant{
			b.flowWork("Flow", "fused.flow", kept),
			b.peers.peer("C, OpenMP, one loop", "fused", warmEnv(), n, mode),
			b.peers.peer("the same in huge pages", "fused", warmEnv("GLIBC_TUNABLES=glibc.malloc.hugetlb=1"), n, mode),
			python("numba", "numba", "2"),
			python("numexpr", "numexpr", "2"),
			python("NumPy", "numpy"),
		})
		b.table("sqrt(a*x+b)*c-d over 1e8 f64, "+map[string]string{"sum": "summed", "y": "stored"}[mode]+", two threads", 0, results)
		bytes, most := 8e8, read
		if mode == "y" {
			bytes, most = 16e8, copied
		}
		b.shares(bytes, most, results)
	}
	return nil
}

func transpose(b *bench) error {
	_, copied, err := bandwidth(2)
	if err != nil {
		return err
	}
	blocked := func(label string, env []string) contestant {
		var list []contestant
		for _, block := range []string{"32", "64", "128"} {
			list = append(list, b.peers.peer(block, "transpose", env, "8192", block))
		}
		return best(label, list)
	}
	results := contest(b.reps, []contestant{
		b.flowWork("Flow", "transpose.flow"),
		blocked("C, OpenMP, streaming stores, block", warmEnv()),
		blocked("the same in huge pages, block", warmEnv("GLIBC_TUNABLES=glibc.malloc.hugetlb=1")),
		b.peers.script("NumPy", "transpose.py", warmEnv(), "8192"),
	})
	b.table("x + t(x), 8192 x 8192 f64, two threads", 0, results)
	b.shares(16*8192*8192, copied, results)
	return nil
}

// epilogue measures max(x @ w + b, 0): tall matrices in strips of rows, a cut one by tiles.
func epilogue(b *bench) error {
	for _, s := range [][3]int{{1_000_000, 64, 64}, {1_000_000, 8, 64}, {1_000_000, 64, 8}, {4096, 4096, 4096}} {
		shape := []string{fmt.Sprintf("--set=n=%d", s[0]), fmt.Sprintf("--set=k=%d", s[1]), fmt.Sprintf("--set=m=%d", s[2])}
		results := contest(b.reps, []contestant{
			b.flowWork("Flow", "epilogue.flow", shape...),
			b.flowWork("the product stored", "epilogue.flow", append(shape, "--disable=fuse-epilogues")...),
		})
		b.table(fmt.Sprintf("max(x @ w + b, 0), x %d x %d, w %d x %d, f64, two threads", s[0], s[1], s[1], s[2]), 2*float64(s[0])*float64(s[1])*float64(s[2]), results)
	}
	return nil
}

func nbody(b *bench) error {
	b.table("n-body, 2000 bodies, 100 steps, two threads", 0, contest(b.reps, []contestant{
		b.flowWork("Flow", "nbody.flow"),
		b.peers.peer("C, OpenMP", "nbody", peerEnv(), "2000", "100"),
		b.peers.script("numba", "nbody.py", peerEnv(), "2000", "100", "2"),
	}))
	return nil
}

func learning(b *bench) error {
	b.table("k-means, 1e6 x 20, k = 10, 20 rounds, two threads", 0, contest(b.reps, []contestant{
		b.flowWork("Flow", "kmeans.flow"),
		b.peers.peer("C, OpenMP", "kmeans", peerEnv()),
		b.peers.script("NumPy", "learning.py", threaded(), "kmeans"),
		b.peers.script("Dask, threads", "learning_dask.py", peerEnv(), "kmeans"),
	}))
	b.table("least squares by normal equations, 2e6 x 50, two threads", 0, contest(b.reps, []contestant{
		b.flowWork("Flow", "regression.flow"),
		b.peers.script("NumPy", "learning.py", threaded(), "linreg"),
		b.peers.script("Dask, threads", "learning_dask.py", peerEnv(), "linreg"),
	}))
	return nil
}

// rankPeers runs on two ranks, or processes, of one thread. -match chooses programs by name.
func rankPeers(b *bench) error {
	if b.mpi == "" {
		b.skip("flowrun with MPI did not build; `.ci/setup` installs what it needs")
		return nil
	}
	match, err := regexp.Compile(b.match)
	if err != nil {
		return err
	}
	of := func(title, work, flow string, set, peer []string) {
		if !match.MatchString(work) {
			return
		}
		b.table(title+", two ranks", 0, contest(b.reps, []contestant{
			{name: "Flow, MPI, one thread a rank", run: func() (float64, error) {
				return callSeconds("work", peerEnv(), b.mpi, append([]string{b.program(flow), "--distributed", "--backend=mpi", "--ranks=2", "--threads=1"}, set...)...)
			}},
			b.peers.scriptOnRanks("mpi4py, NumPy and SciPy", "ranks_mpi4py.py", 2, append([]string{work}, peer...)...),
			b.peers.script("Dask distributed", "ranks_dask.py", peerEnv(), append([]string{work}, peer...)...),
		}))
	}
	of("k-means, 1e6 x 20, k = 10, 20 rounds", "kmeans", "kmeans.flow", nil, nil)
	of("n-body, 2000 bodies, 100 steps", "nbody", "nbody.flow", nil, nil)
	flow, peers, err := b.notreDame("directed.flow")
	if err != nil {
		b.skip("%v", err)
		return nil
	}
	of("PageRank, web-NotreDame, 50 rounds", "pagerank", "pagerank.flow", []string{"--set=graph=" + flow}, []string{peers})
	return nil
}

func irregular(b *bench) error {
	list := []contestant{b.scan("C, OpenMP", "escape", []string{"2048", "1000"}, []string{"static", "1"}, []string{"dynamic", "1"}, []string{"guided", "1"})}
	for _, technique := range []string{"STATIC", "GSS", "FAC2", "COST", "AUTO"} {
		list = append(list, b.flowWork("Flow, "+technique, "irregular.flow", "--partitioning="+technique))
	}
	b.table("escape times, 2048 x 2048, at most 1000 rounds, two threads", 0, contest(b.reps, append(list[1:], list[0])))
	fmt.Fprintf(b.out, "| technique | percent of the ideal, median | min..max | target: 95 |\n|---|---|---|---|\n")
	for _, technique := range []string{"COST", "AUTO"} {
		var share result
		for range b.reps {
			s, err := runStats(nil, b.flowrun, b.program("irregular.flow"), "--threads=2", "--partitioning="+technique)
			if err != nil {
				return err
			}
			for _, l := range s.Loops {
				if l.Name == "parfor" {
					share.seconds = append(share.seconds, l.Percent)
				}
			}
		}
		m := share.median()
		fmt.Fprintf(b.out, "| %s | %.1f | %.1f..%.1f | %s |\n", technique, m, slices.Min(share.seconds), slices.Max(share.seconds), yes(m >= 95))
	}
	fmt.Fprintln(b.out)
	return nil
}
