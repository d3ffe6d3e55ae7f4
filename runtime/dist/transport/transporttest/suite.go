// Package transporttest is the conformance suite of flow/runtime/dist/transport.
//
// Each case is one function that every rank runs, as a rank of a real job does, so
// the same cases check goroutine ranks (Run) and processes (RunRank, called by each
// process for its own end).
package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"flow/runtime/dist/transport"
)

// A Case is one part of the contract. Run is called on every rank at once and
// returns what is wrong. It leaves no message and no request behind, except on tags
// that no other case uses.
type Case struct {
	Name string
	Run  func(ctx context.Context, c transport.Comm) error
}

// Limit is how long a case may take; longer means that it hangs.
const Limit = 3 * time.Minute

// Cases lists all cases.
func Cases() []Case {
	return []Case{
		{"PingPong", pingPong},
		{"Outstanding", outstanding},
		{"PostingOrder", postingOrder},
		{"SameTag", sameTag},
		{"Placed", placed},
		{"Some", some},
		{"TagRange", tagRange},
		{"SelfSend", selfSend},
		{"AllToAll", allToAll},
		{"LargePayload", largePayload},
		{"ControlAside", controlAside},
		{"ControlOrder", controlOrder},
		{"Concurrent", concurrent},
		{"GarbageCollector", garbageCollector},
		{"Barrier", barrier},
		{"Counters", sharedCounters},
		{"Idle", idle},
		{"Arguments", arguments},
		{"StaleRequest", staleRequest},
		{"SizeMismatch", sizeMismatch},
	}
}

// Run runs every case as a subtest on fresh ranks of one process, for each number of
// ranks given; 1, 2 and 5 if none. open makes the ends of n ranks.
func Run(t *testing.T, open func(n int) []transport.Comm, ranks ...int) {
	if len(ranks) == 0 {
		ranks = []int{1, 2, 5}
	}
	for _, n := range ranks {
		for _, k := range Cases() {
			t.Run(fmt.Sprintf("%s/%d", k.Name, n), func(t *testing.T) {
				comms := open(n)
				errs := make([]error, n)
				var group sync.WaitGroup
				for r, c := range comms {
					group.Go(func() {
						if errs[r] = RunRank(k, c); errs[r] == nil {
							errs[r] = c.Close()
						}
						if errs[r] != nil {
							// else the others wait for this rank
							c.Abort(1)
						}
					})
				}
				group.Wait()
				for r, err := range errs {
					if err != nil && !errors.Is(err, transport.ErrAborted) {
						t.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
	}
}

// RunRank runs one case on one rank, with a barrier after it so that cases do not
// overlap.
func RunRank(k Case, c transport.Comm) error {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	if err := k.Run(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", k.Name, err)
	}
	return c.Barrier(ctx)
}

// fill writes bytes that depend on the place and on seed.
func fill(b []byte, seed int) []byte {
	x := uint32(seed)*2654435761 + 12345
	for i := range b {
		x = x*1664525 + 1013904223 // Numerical Recipes' generator
		b[i] = byte(x >> 24)
	}
	return b
}

// verify tells where b differs from fill's bytes.
func verify(b []byte, seed int, what string, args ...any) error {
	x := uint32(seed)*2654435761 + 12345
	for i, v := range b {
		x = x*1664525 + 1013904223
		if v != byte(x>>24) {
			return fmt.Errorf("%s: byte %d of %d is %d, want %d", fmt.Sprintf(what, args...), i, len(b), v, byte(x>>24))
		}
	}
	return nil
}
