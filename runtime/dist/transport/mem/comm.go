package mem

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"flow/runtime/dist/transport"
)

// comm is one rank's end. A Request is the number of its slot plus one in the low
// half and the slot's generation in the high half, so that a stale one is found.
type comm struct {
	g         *Group
	rank      int
	sendsLeft int64 // sends before the injected death; negative: no such death
	closed    atomic.Bool

	mu       sync.Mutex // covers what follows, and sendsLeft
	slots    []*op
	gens     []uint32
	free     []int
	counters int // calls of NewCounters so far
}

func (c *comm) Rank() int   { return c.rank }
func (c *comm) Size() int   { return len(c.g.ranks) }
func (c *comm) MaxTag() int { return c.g.opts.MaxTag }

// start makes the op of a transfer and its request. ok is false if it has already
// failed.
func (c *comm) start(kind opKind, ch transport.Channel, peer, tag int, buf []byte) (r transport.Request, o *op, ok bool) {
	o = &op{kind: kind, ch: ch, me: c.rank, peer: peer, tag: tag, buf: buf, size: len(buf)}
	err := transport.CheckArguments(c, ch, peer, tag)
	switch {
	case err != nil:
	case c.closed.Load():
		err = transport.ErrClosed
	case kind == receiving && ch != transport.Data:
		err = transport.ErrChannel
	}
	die := false
	c.mu.Lock()
	if kind == sending && c.sendsLeft >= 0 {
		die = c.sendsLeft == 0
		c.sendsLeft--
	}
	var i int
	if n := len(c.free); n > 0 {
		i, c.free = c.free[n-1], c.free[:n-1]
	} else {
		i = len(c.slots)
		c.slots, c.gens = append(c.slots, nil), append(c.gens, 0)
	}
	c.slots[i] = o
	r = transport.Request(uint64(c.gens[i])<<32 | uint64(i+1))
	c.mu.Unlock()
	if die {
		c.g.Kill(c.rank)
	}
	if err == nil {
		err = c.g.failure(c.rank, peer)
		// What a rank sent before it died can still be received.
		if _, dead := err.(*transport.DeadError); dead && kind == receiving && !c.g.killed[c.rank].Load() {
			err = nil
		}
	}
	if err != nil {
		o.finish(err)
		return r, o, false
	}
	return r, o, true
}

func (c *comm) Isend(ch transport.Channel, dst, tag int, buf []byte) transport.Request {
	r, o, ok := c.start(sending, ch, dst, tag, buf)
	if ok {
		c.g.deliver(c.rank, dst, o)
	}
	return r
}

func (c *comm) Irecv(ch transport.Channel, src, tag int, buf []byte) transport.Request {
	r, o, ok := c.start(receiving, ch, src, tag, buf)
	if ok {
		c.g.boxes[c.rank].post(src, o)
	}
	return r
}

func (c *comm) IrecvPlaced(src, tag, n int, place func() []byte) transport.Request {
	r, o, ok := c.start(receiving, transport.Data, src, tag, nil)
	if ok {
		o.size, o.place, o.placed = n, place, true
		c.g.boxes[c.rank].post(src, o)
	}
	return r
}

func (c *comm) IsendSome(dst, tag int, buf []byte) transport.Request {
	return c.Isend(transport.Data, dst, tag, buf)
}

func (c *comm) IrecvSome(src, tag int, buf []byte, got *int) transport.Request {
	r, o, ok := c.start(receiving, transport.Data, src, tag, buf)
	if ok {
		o.got = got
		c.g.boxes[c.rank].post(src, o)
	}
	return r
}

func (c *comm) TryRecv(ch transport.Channel) (transport.Message, bool, error) {
	err := c.g.failure(c.rank, -1)
	if ch != transport.Control {
		err = transport.ErrChannel
	}
	if err == nil && c.closed.Load() {
		err = transport.ErrClosed
	}
	if err != nil {
		return transport.Message{}, false, &transport.Error{Op: "probe", Rank: c.rank, Peer: -1, Tag: -1, Channel: ch, Index: -1, Err: err}
	}
	m, lost, ok := c.g.boxes[c.rank].tryRecv(ch)
	if lost {
		return transport.Message{}, false, &transport.Error{Op: "receive", Rank: c.rank, Peer: m.Src, Tag: m.Tag, Channel: ch, Index: -1, Err: transport.ErrLost}
	}
	return m, ok, nil
}

func (c *comm) Testsome(reqs []transport.Request, done []int) ([]int, error) {
	var errs []error
	delayed := c.g.opts.Faults.MaxDelay > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range reqs {
		if r == transport.None {
			continue
		}
		slot := int(uint32(r)) - 1
		if slot >= len(c.slots) || slot < 0 || c.slots[slot] == nil || c.gens[slot] != uint32(r>>32) {
			errs = append(errs, &transport.Error{Op: "test", Rank: c.rank, Peer: -1, Tag: -1, Index: i, Err: transport.ErrUnknownRequest})
			reqs[i], done = transport.None, append(done, i)
			continue
		}
		o := c.slots[slot]
		if !o.done.Load() && o.kind == receiving && (delayed || o.placed) {
			c.g.boxes[c.rank].progress(streamKey{o.peer, o.ch, o.tag})
		}
		if !o.done.Load() {
			if err := c.g.failure(c.rank, o.peer); err != nil {
				c.g.withdraw(o, err)
			}
		}
		if !o.done.Load() {
			continue
		}
		if o.err != nil {
			op := "send"
			if o.kind == receiving {
				op = "receive"
			}
			errs = append(errs, &transport.Error{Op: op, Rank: c.rank, Peer: o.peer, Tag: o.tag, Channel: o.ch, Index: i, Err: o.err})
		}
		c.slots[slot] = nil
		c.gens[slot]++
		c.free = append(c.free, slot)
		reqs[i], done = transport.None, append(done, i)
	}
	return done, errors.Join(errs...)
}

func (c *comm) Dead() []int {
	var dead []int
	for r := range c.g.deadline {
		if c.g.knownDead(r) {
			dead = append(dead, r)
		}
	}
	return dead
}

func (c *comm) Abort(code int) {
	c.g.code.Store(int64(code))
	c.g.aborted.Store(true)
}

func (c *comm) Close() error {
	c.mu.Lock()
	pending := len(c.slots) - len(c.free)
	c.mu.Unlock()
	var err error
	switch {
	case c.closed.Swap(true):
		err = transport.ErrClosed
	case pending > 0 && c.g.failure(c.rank, -1) == nil:
		err = errors.New("requests are still in progress")
	default:
		return nil
	}
	return &transport.Error{Op: "close", Rank: c.rank, Peer: -1, Tag: -1, Index: -1, Err: err}
}

func (c *comm) Barrier(ctx context.Context) error {
	err := c.g.barrier.wait(ctx, c.g, c.rank)
	if err != nil {
		return &transport.Error{Op: "barrier", Rank: c.rank, Peer: -1, Tag: -1, Index: -1, Err: err}
	}
	return nil
}
