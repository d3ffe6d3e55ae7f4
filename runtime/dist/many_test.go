package dist

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
)

// Larger plans, more ranks, few tags, budgets from one byte on; every third fails somewhere.
func TestManyRanks(t *testing.T) {
	tasks := 3000
	if testing.Short() {
		tasks = 1200
	}
	for seed := range uint64(9) {
		ranks := 3 + int(seed)*3/2
		p := enginetest.Random(seed, tasks, ranks)
		bad := -1
		if seed%3 == 2 {
			p, bad = spoiled(seed, tasks, ranks, int(seed)*tasks/10)
		}
		o, err := enginetest.NewOracle(p)
		if err != nil && bad < 0 {
			t.Fatal(err)
		}
		within(t, func() {
			comms := mem.New(ranks, mem.Options{MaxTag: 1 + int(seed)%4*7, EagerLimit: int(seed%2)*5000 - 1})
			_, err := RunGroup(context.Background(), comms, p, 1, func(int) Options {
				op := Options{Env: &enginetest.Env{}, Budget: 1 << (seed % 16), placed: int(seed / 2 % 2), Grace: 2 * guard, beats: 2 * time.Millisecond}
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

// Heartbeats in every round of the loop, whose messages wait to be taken: the run must end
// nevertheless, because a rank that has nothing left to do says nothing more.
func TestHeartbeatsDoNotPutOffTheEnd(t *testing.T) {
	for seed := range uint64(4) {
		p := enginetest.Random(seed, 300, 6)
		bad := -1
		if seed%2 == 1 {
			p, bad = spoiled(seed, 300, 6, 150)
		}
		within(t, func() {
			comms := mem.New(6, mem.Options{EagerLimit: -1})
			_, err := RunGroup(context.Background(), comms, p, 1, func(int) Options {
				return Options{Env: &enginetest.Env{}, Grace: 2 * guard, beats: time.Nanosecond}
			})
			if f, ok := err.(*Failure); bad < 0 && err != nil || bad >= 0 && (!ok || !isTask(f, bad) || !f.Clean) {
				t.Fatal(seed, err)
			}
			closeAll(t, comms)
		})
	}
}

// late is a rank that gets no processor for a while after it has said that it is done.
type late struct {
	transport.Comm
	until atomic.Int64
}

func (l *late) Isend(ch transport.Channel, dst, tag int, buf []byte) transport.Request {
	if m, err := decode(buf); ch == transport.Control && tag == tagMessage && err == nil && m.Done != nil {
		l.until.Store(time.Now().Add(1500 * time.Millisecond).UnixNano())
	}
	return l.Comm.Isend(ch, dst, tag, buf)
}

func (l *late) TryRecv(ch transport.Channel) (transport.Message, bool, error) {
	if time.Now().UnixNano() < l.until.Load() {
		return transport.Message{}, false, nil
	}
	return l.Comm.TryRecv(ch)
}

// tardy is a rank 0 that loses its processor after it has said the end.
type tardy struct{ transport.Comm }

func (l tardy) Isend(ch transport.Channel, dst, tag int, buf []byte) transport.Request {
	r := l.Comm.Isend(ch, dst, tag, buf)
	if m, err := decode(buf); ch == transport.Control && tag == tagMessage && err == nil && m.End != nil {
		time.Sleep(20 * time.Millisecond)
	}
	return r
}

// Ranks that have heard the end greet for the next run while rank 0 has still to finish sending it.
func TestNextRunIsGreetedEarly(t *testing.T) {
	comms := mem.New(4, mem.Options{EagerLimit: -1})
	ranks := slices.Clone(comms)
	ranks[0] = tardy{comms[0]}
	within(t, func() {
		var all sync.WaitGroup
		for _, c := range ranks {
			all.Go(func() {
				pool := local.NewPool(1)
				defer pool.Close()
				for seed := range uint64(3) {
					if _, err := Run(context.Background(), c, pool, enginetest.Random(seed, 50, 4), Options{Env: &enginetest.Env{}}); err != nil {
						t.Errorf("rank %d, run %d: %v", c.Rank(), seed, err)
					}
				}
			})
		}
		all.Wait()
	})
	closeAll(t, comms)
}

// The last word waits for a rank that is slow to take it.
func TestEndWaitsForTheSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second and a half")
	}
	p := enginetest.Random(1, 100, 3)
	within(t, func() {
		comms := mem.New(3, mem.Options{EagerLimit: -1})
		ranks := slices.Clone(comms)
		ranks[1] = &late{Comm: comms[1]}
		if _, err := RunGroup(context.Background(), ranks, p, 1, func(int) Options { return Options{Env: &enginetest.Env{}} }); err != nil {
			t.Fatal(err)
		}
		closeAll(t, comms)
	})
}
