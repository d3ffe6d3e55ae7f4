//go:build mpi

package mpi

import (
	"context"

	"flow/runtime/dist/transport"
)

// counters are shared counters in a window.
type counters struct {
	c     *Comm
	w     *Window
	owner int
	n     int
}

// NewCounters implements transport.CounterMaker.
func (c *Comm) NewCounters(ctx context.Context, owner, n int) (transport.Counters, error) {
	k := &counters{c: c, owner: owner, n: n}
	if err := transport.CheckArguments(c, transport.Control, owner, 0); err != nil {
		return nil, k.fail(err)
	}
	if n < 0 {
		return nil, k.fail(&transport.ArgumentError{Name: "number of counters", Value: n, Limit: c.maxTag})
	}
	// Making a window waits inside MPI with the mutex held. Waiting for the others
	// first, outside, makes that short and lets transfers go on meanwhile.
	err := c.Barrier(ctx)
	if err == nil {
		mine := 0
		if c.rank == owner {
			mine = n
		}
		k.w, err = c.collective.WinAllocate(mine)
	}
	if err != nil {
		return nil, k.fail(err)
	}
	return k, nil
}

func (k *counters) fail(err error) error {
	if err == nil {
		return nil
	}
	return &transport.Error{Op: "counter", Rank: k.c.rank, Peer: k.owner, Tag: -1, Index: -1, Err: err}
}

// checkIndex refuses what would read or write beside the window.
func (k *counters) checkIndex(i int) error {
	if i < 0 || i >= k.n {
		return k.fail(&transport.ArgumentError{Name: "counter", Value: i, Limit: k.n})
	}
	return nil
}

// FetchAdd implements transport.Counters.
func (k *counters) FetchAdd(i int, delta int64) (int64, error) {
	if err := k.checkIndex(i); err != nil {
		return 0, err
	}
	v, err := k.w.FetchAndOp(delta, k.owner, i, Sum)
	return v, k.fail(err)
}

// Free implements transport.Counters.
func (k *counters) Free() error {
	if err := k.c.Barrier(context.Background()); err != nil {
		return k.fail(err)
	}
	return k.fail(k.w.Free())
}
