package flow

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"flow/ir"
	machine "flow/kernels/loop/code"
	"flow/kernels/loop/launch"
	"flow/runtime/dist/transport/mem"
)

// TestRehearse runs two programs on two ranks, which differ in operators, since machine code is found
// by the text of a loop. The run of the rehearsed one must make none. It has a slice, whose rows lie
// apart, a loop in rounds, a loop over more memory than is run as a whole, and a parfor.
func TestRehearse(t *testing.T) {
	if target, err := launch.Target(); err != nil || target == launch.Interp {
		t.Skip("no machine code is made here")
	}
	const program = `A = rand(30000, 12, seed = 1)
B = A[:, 0..11]
p = parfor i in 0..30000 { sin(A[i, 0]) OP 3 * A[i, 1] }
iterate x = A[:, 11..12] times 60 {
  next x = abs(A @ (t(A) @ exp(-abs(x OP 1))) / 1e6)
}
emit max(rowmax(B * B OP B))
emit max(x)
emit max(p)
`
	made := map[string]int64{}
	for _, by := range []string{"+", "-"} {
		p, err := Compile(t.Context(), "rehearsed.flow", []byte(strings.ReplaceAll(program, "OP", by)), CompileOptions{Ranks: 2})
		if err != nil {
			t.Fatal(err)
		}
		if by == "-" {
			for rank := range 2 {
				p.Rehearse(rank, func() bool { return false })
			}
		}
		before := machine.Added.Load()
		if _, err := p.Run(t.Context(), RunOptions{Threads: 1, Output: NewOutput(&bytes.Buffer{})}); err != nil {
			t.Fatal(err)
		}
		made[by] = machine.Added.Load() - before
	}
	if made["+"] == 0 && made["-"] == 0 {
		t.Skip("an earlier repetition of this test has made all code")
	}
	if made["+"] < 4 || made["-"] > 0 {
		t.Errorf("the run of a program makes %d pieces of code, and that of a rehearsed one %d; wanted at least 4, and none", made["+"], made["-"])
	}
}

// TestRehearsedExamples rehearses all tasks of some examples: none fails.
func TestRehearsedExamples(t *testing.T) {
	for name, set := range map[string]string{"linreg": "n=2000", "qr": "n=600", "kmeans": "n=2000", "nbody": "n=100", "cholesky": "n=256", "pagerank": "n=500", "multilogreg": "n=500"} {
		file := filepath.Join("examples", name+".flow")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		param, value, _ := strings.Cut(set, "=")
		p, err := Compile(t.Context(), file, text, CompileOptions{Ranks: 2, Set: []Setting{{Name: param, Text: value}}})
		if err != nil {
			t.Fatal(err)
		}
		r := newRehearsal(func() bool { return false })
		r.graph(p.made.Plan.Graph, func(ir.ID) bool { return true })
		r.end()
		if r.ran < 5 || len(r.failed) > 0 {
			t.Errorf("%s: %d tasks were rehearsed, and %v", name, r.ran, r.failed)
		}
	}
}

// TestRehearsesInFreshMemory: the matrices of a large task are not on the Go heap, which would clear
// them.
func TestRehearsesInFreshMemory(t *testing.T) {
	const bytes = 1000000 * 6 * 8
	p, err := Compile(t.Context(), "large.flow", []byte("A = rand(1000000, 6, seed = 1)\niterate x = A[:, 0..1] times 3 { next x = abs(A @ (t(A) @ x)) / 1e6 }\nemit max(x)\n"), CompileOptions{Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	large := false
	for i := range p.made.Plan.Graph.Nodes {
		large = large || p.made.Plan.Graph.Type(ir.ID(i)).Bytes() == bytes
	}
	if !large {
		t.Fatal("the program has no matrix as large as this test means")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Rehearse(0, func() bool { return false })
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > bytes/3 {
		t.Errorf("a rehearsal took %d bytes of the heap", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestWarm runs programs on two ranks, in memory that was prepared. Results are in it, and the output
// is that of one rank. Kernels of linreg and qr take memory that is not foreseen.
func TestWarm(t *testing.T) {
	for name, of := range map[string]struct {
		set  string
		more float64 // how often the memory of the pool
	}{"linreg": {"n=30000 method=cg", 2}, "heat2d": {"n=500 steps=5", 1.1}, "qr": {"n=600", 2}} {
		file := filepath.Join("examples", name+".flow")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []Setting
		for _, s := range strings.Fields(of.set) {
			param, value, _ := strings.Cut(s, "=")
			list = append(list, Setting{Name: param, Text: value})
		}
		run := func(ranks int) (printed bytes.Buffer) {
			comms := mem.New(ranks, mem.Options{})
			errs := make([]error, ranks)
			var all sync.WaitGroup
			for rank := range ranks {
				p, err := Compile(t.Context(), file, text, CompileOptions{Ranks: ranks, Set: list})
				if err != nil {
					t.Fatal(err)
				}
				o := RunOptions{Threads: 1}
				if rank == 0 {
					o.Stdout = &printed
				}
				o.Buffers = p.Warm(rank, func() bool { return false })
				before := o.Buffers.Stats()
				if before.Live+before.Peak+before.Gets != 0 || before.Resident == 0 {
					t.Errorf("%s: prepared memory counts as lent: %+v", name, before)
				}
				all.Go(func() {
					_, errs[rank] = p.RunRank(t.Context(), comms[rank], o)
					if now := o.Buffers.Stats(); float64(now.Resident) > of.more*float64(before.Resident) || now.Gets == 0 {
						t.Errorf("%s: rank %d took %d bytes in a pool of %d", name, rank, now.Resident-before.Resident, before.Resident)
					}
				})
			}
			all.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(name, err)
			}
			for _, c := range comms {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			return printed
		}
		if one, two := run(1), run(2); one.String() != two.String() {
			t.Errorf("%s: %s on one rank, %s on two", name, one.String(), two.String())
		}
	}
}
