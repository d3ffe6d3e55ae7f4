package mem

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"flow/runtime/dist/transport"
)

// A barrier lets all ranks of a group through together, again and again.
type barrier struct {
	mu      sync.Mutex
	arrived int
	open    chan struct{} // closed when the last rank of this round arrives
}

// faultPoll is how soon a waiting rank sees a death or an abort, which nothing
// else wakes it for.
const faultPoll = time.Millisecond

func (b *barrier) wait(ctx context.Context, g *Group, me int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := g.groupFailure(me); err != nil {
		return err
	}
	b.mu.Lock()
	if b.open == nil {
		b.open = make(chan struct{})
	}
	open := b.open
	if b.arrived++; b.arrived == len(g.ranks) {
		b.arrived, b.open = 0, nil
		close(open)
	}
	b.mu.Unlock()
	tick := time.NewTicker(faultPoll)
	defer tick.Stop()
	var err error
	for err == nil {
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-tick.C:
			err = g.groupFailure(me)
		}
	}
	// Leave, unless the last rank came in the meantime.
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open != open {
		return nil
	}
	b.arrived--
	return err
}

// groupFailure is failure with any rank: what needs all of them fails with the
// first dead one.
func (g *Group) groupFailure(me int) error {
	for r := range g.ranks {
		if err := g.failure(me, r); err != nil {
			return err
		}
	}
	return nil
}

// counters are shared by the ranks. The same object serves all of them.
type counters struct {
	v     []atomic.Int64
	owner int
}

// rankCounters is one rank's access to counters.
type rankCounters struct {
	c *comm
	*counters
}

// NewCounters implements transport.CounterMaker.
func (c *comm) NewCounters(ctx context.Context, owner, n int) (transport.Counters, error) {
	fail := func(err error) error {
		return &transport.Error{Op: "counter", Rank: c.rank, Peer: owner, Tag: -1, Index: -1, Err: err}
	}
	if err := transport.CheckArguments(c, transport.Control, owner, 0); err != nil {
		return nil, fail(err)
	}
	if n < 0 {
		n = 0
	}
	c.mu.Lock()
	k := c.counters
	c.counters++
	c.mu.Unlock()
	// The k-th call on each rank means the same counters: the call is collective.
	c.g.countersMu.Lock()
	for len(c.g.counters) <= k {
		c.g.counters = append(c.g.counters, &counters{v: make([]atomic.Int64, n), owner: owner})
	}
	shared := c.g.counters[k]
	c.g.countersMu.Unlock()
	if err := c.g.barrier.wait(ctx, c.g, c.rank); err != nil {
		return nil, fail(err)
	}
	return rankCounters{c, shared}, nil
}

// check returns why counter i cannot be reached, or nil.
func (k rankCounters) check(i int) error {
	err := k.c.g.failure(k.c.rank, k.owner)
	if err == nil && (i < 0 || i >= len(k.v)) {
		err = &transport.ArgumentError{Name: "counter", Value: i, Limit: len(k.v)}
	}
	if err != nil {
		return &transport.Error{Op: "counter", Rank: k.c.rank, Peer: k.owner, Tag: -1, Index: -1, Err: err}
	}
	return nil
}

func (k rankCounters) FetchAdd(i int, delta int64) (int64, error) {
	if err := k.check(i); err != nil {
		return 0, err
	}
	return k.v[i].Add(delta) - delta, nil
}

func (k rankCounters) Free() error { return nil }
