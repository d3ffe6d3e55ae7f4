package dist

import (
	"context"
	"errors"
	"testing"
	"time"

	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
)

// Larger plans, more ranks, few tags, budgets from one byte on; every third fails somewhere.
func TestManyRanks(t *testing.T) {
	for seed := range uint64(9) {
		ranks := 3 + int(seed)*3/2
		p := enginetest.Random(seed, 3000, ranks)
		bad := -1
		if seed%3 == 2 {
			bad = spoil(p, int(seed)*300)
		}
		o, err := enginetest.NewOracle(p)
		if err != nil && bad < 0 {
			t.Fatal(err)
		}
		within(t, 60*time.Second, func() {
			comms := mem.New(ranks, mem.Options{MaxTag: 1 + int(seed)%4*7, EagerLimit: int(seed%2)*5000 - 1})
			_, err := RunGroup(context.Background(), comms, p, 1, func(int) Options {
				op := Options{Env: &enginetest.Env{}, Budget: 1 << (seed % 16), Grace: time.Minute, beats: 2 * time.Millisecond}
				if bad < 0 {
					op.Observe = o.Observe
				}
				return op
			})
			if bad < 0 {
				if err != nil || o.Err() != nil {
					t.Fatal(seed, err, o.Err())
				}
			} else if f, ok := err.(*Failure); !ok || !isTask(f, bad) || !f.Clean {
				t.Fatal(seed, err, bad)
			}
			closeAll(t, comms)
		})
	}
}

func isTask(f *Failure, node int) bool {
	var t *local.TaskFailure
	return errors.As(f, &t) && int(t.Node) == node
}
