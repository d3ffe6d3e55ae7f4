package dist

// These tests begin runs on ranks that differ.

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"testing"

	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
)

func TestMismatchIsNamed(t *testing.T) {
	comms := mem.New(3, mem.Options{})
	good, other := enginetest.Random(1, 50, 3), enginetest.Random(2, 50, 3)
	run := func(f func(rank int) (*plan.Plan, []Item)) string {
		errs := make([]error, 3)
		within(t, func() {
			var all sync.WaitGroup
			for i, c := range comms {
				all.Go(func() {
					pool := local.NewPool(1)
					defer pool.Close()
					p, items := f(i)
					_, errs[i] = Run(context.Background(), c, pool, p, Options{Fingerprint: items, Env: &enginetest.Env{},
						Observe: nil})
				})
			}
			all.Wait()
		})
		for _, err := range errs {
			if err == nil || err.Error() != errs[0].Error() || err.(*Failure).Code != "E701" {
				t.Fatalf("errors %v", errs)
			}
		}
		return errs[0].Error()
	}
	for _, c := range []struct {
		want string
		f    func(rank int) (*plan.Plan, []Item)
	}{
		{"rank 2 has another plan", func(rank int) (*plan.Plan, []Item) {
			if rank == 2 {
				return other, nil
			}
			return good, nil
		}},
		{"ranks 1, 2 have another value of param n", func(rank int) (*plan.Plan, []Item) {
			return good, []Item{{Name: "operator table", Hash: [32]byte{1}}, {Name: "value of param n", Hash: [32]byte{byte(min(rank, 1))}}}
		}},
		{"the plan is for 2 ranks, the job has 3", func(int) (*plan.Plan, []Item) { return enginetest.Random(1, 50, 2), nil }},
	} {
		if got := run(c.f); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	closeAll(t, comms)
}

// A rank without a plan keeps nobody waiting, whichever it is and however many there are.
func TestRefusalIsNamed(t *testing.T) {
	p := enginetest.Random(1, 50, 3)
	for refusing := 1; refusing < 8; refusing++ { // a set of ranks
		comms := mem.New(3, mem.Options{})
		errs := make([]error, 3)
		within(t, func() {
			var all sync.WaitGroup
			for i, c := range comms {
				all.Go(func() {
					if refusing>>i&1 == 1 {
						errs[i] = Refuse(context.Background(), c, fmt.Sprint("mistake ", i))
						return
					}
					pool := local.NewPool(1)
					defer pool.Close()
					_, errs[i] = Run(context.Background(), c, pool, p, Options{Env: &enginetest.Env{}})
				})
			}
			all.Wait()
		})
		first := bits.TrailingZeros(uint(refusing))
		want := fmt.Sprintf("rank %d cannot run its program: mistake %d", first, first)
		for i, err := range errs {
			if refusing>>i&1 == 1 {
				if err != nil {
					t.Errorf("%03b: Refuse on rank %d: %v", refusing, i, err)
				}
			} else if f, ok := err.(*Failure); !ok || f.Code != "E701" || !f.Clean || f.Error() != want {
				t.Errorf("%03b: Run on rank %d: %v, want %s", refusing, i, err, want)
			}
		}
		closeAll(t, comms)
	}
}
