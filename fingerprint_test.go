package flow

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"flow/kernels/blas"
	"flow/runtime/dist/transport/mem"
)

// Ranks may use different kernel sets if the sets keep the order of every sum, and are refused
// otherwise: their bytes would depend on which rank computed what.
func TestKernelSetsOfRanks(t *testing.T) {
	text := []byte("param n = 40\nA = rand_spd(n, seed = 3)\nemit sum(cholesky(A, tile = 16)) as \"sum\"\n")
	run := func(sets ...string) (string, error) {
		comms := mem.New(len(sets), mem.Options{})
		var out bytes.Buffer
		errs := make([]error, len(sets))
		var all sync.WaitGroup
		for rank, set := range sets {
			p, err := Compile(context.Background(), "a.flow", text, CompileOptions{Kernels: set, Ranks: len(sets)})
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				o := RunOptions{Threads: 1}
				if rank == 0 {
					o.Stdout = &out
				}
				_, errs[rank] = p.RunRank(context.Background(), comms[rank], o)
			})
		}
		all.Wait()
		for rank, c := range comms {
			if err := c.Close(); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		for _, err := range errs[1:] {
			if (err == nil) != (errs[0] == nil) {
				t.Errorf("%v: the ranks end differently: %v", sets, errs)
			}
		}
		return out.String(), errs[0]
	}
	want, err := run("portable", "portable")
	if err != nil {
		t.Fatal(err)
	}
	if best, err := blas.Select(""); err != nil {
		t.Fatal(err)
	} else if best.Chain { // not so on processors without fused multiply-add
		if got, err := run(best.Name, "portable"); err != nil || got != want {
			t.Errorf("two sets that keep the order: %q, %v, want %q", got, err, want)
		}
	}
	for _, sets := range [][]string{{"portable", "gonum"}, {"gonum", "portable"}} {
		if out, err := run(sets...); err == nil || !strings.Contains(err.Error(), "E701") || !strings.Contains(err.Error(), "another kernel set") || out != "" {
			t.Errorf("%v: %v, printed %q", sets, err, out)
		}
	}
}
