// Package transporttest is the conformance suite of flow/runtime/dist/transport.
//
// Each case is one function that every rank runs, as a rank of a real job does, so
// the same cases check goroutine ranks (Run) and processes (RunRank, called by each
// process for its own end).
package transporttest

import (
	"bytes"
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

// block is how many bytes fill and verify look at together. Bytes of a block are on the stack, where
// the race detector looks at none. It looks at each block of a message once.
const block = 512

// noise is a sequence of bytes that depends on seed.
type noise uint32

func noiseOf(seed int) noise { return noise(uint32(seed)*2654435761 + 12345) }

// next returns the next bytes of the sequence.
func (x *noise) next() (b [block]byte) {
	y := *x
	for i := range b {
		y = y*1664525 + 1013904223 // Numerical Recipes' generator
		b[i] = byte(y >> 24)
	}
	*x = y
	return b
}

// fill writes bytes that depend on the place and on seed.
func fill(b []byte, seed int) []byte {
	x := noiseOf(seed)
	for i := 0; i < len(b); i += block {
		part := x.next()
		copy(b[i:], part[:])
	}
	return b
}

// verify tells where b differs from fill's bytes.
func verify(b []byte, seed int, what string, args ...any) error {
	x := noiseOf(seed)
	for i := 0; i < len(b); i += block {
		got, want := b[i:min(i+block, len(b))], x.next()
		if bytes.Equal(got, want[:len(got)]) {
			continue
		}
		for k, v := range got {
			if v != want[k] {
				return fmt.Errorf("%s: byte %d of %d is %d, want %d", fmt.Sprintf(what, args...), i+k, len(b), v, want[k])
			}
		}
	}
	return nil
}
