//go:build mpi

package mpi

// #include "binding.h"
import "C"

import (
	"context"
	"errors"
	"runtime"
	"unsafe"

	"flow/runtime/dist/transport"
)

const (
	// DefaultPieceLimit keeps MPI's int counts far from their end, and is large
	// enough for the extra messages not to show.
	DefaultPieceLimit = 1 << 30
	// DefaultPolls bounds a Testsome that finds nothing to about a microsecond.
	DefaultPolls = 8
)

// Comm is the transport.Comm of an MPI job. Set its fields before the first use.
type Comm struct {
	// PieceLimit is the largest payload, in bytes, that goes as one message.
	// Larger ones are cut, transparently. It must be positive and the same on all
	// ranks.
	PieceLimit int
	// Polls is how often Testsome asks MPI before it returns without a result.
	Polls int

	env        *Environment
	world      *Communicator
	channels   [transport.NumChannels]*Communicator
	pieces     *Communicator // see pieces.go
	collective *Communicator
	rank, size int
	maxTag     int
	closed     bool

	// Under env.mu: the transfers, by slot, reused so that a message costs no
	// allocation, and whose request each tested MPI request is.
	slots  []*slot
	free   []int
	owners []owner
	series int // numbers this rank's headed sends
}

// A slot is one transfer. Its MPI requests are first and, if the payload goes with a
// header, more; finished ones are MPI_REQUEST_NULL.
type slot struct {
	kind     string // "send" or "receive"
	channel  transport.Channel
	peer     int
	tag      int
	buf      []byte        // of a placed receive: nil, or a small message's, until it is placed
	size     int           // bytes of the payload
	place    func() []byte // of a placed receive
	some     bool          // sent by IsendSome, or received by IrecvSome
	got      *int          // of IrecvSome
	asking   bool          // the message is there, and place has still to say where to
	pin      runtime.Pinner
	form     form
	envelope *[headerSize]byte // in C memory
	series   int               // of a headed payload: the tag of its pieces
	first    C.MPI_Request
	more     []C.MPI_Request
	left     int // MPI requests not finished
	err      error
	gen      uint32
	live     bool
}

// An owner says which request, by its index in Testsome's reqs, and which piece of
// it an entry of the tested array is.
type owner struct {
	s     *slot
	req   int
	piece int
}

// Init joins the ranks of the job that the launcher has started; without a launcher
// that is one rank. Collective. Once in the life of a process.
func Init() (transport.Comm, error) {
	env, err := InitThread()
	if err != nil {
		return nil, err
	}
	c := &Comm{PieceLimit: DefaultPieceLimit, Polls: DefaultPolls, env: env, world: env.World()}
	if c.rank, err = c.world.Rank(); err != nil {
		return nil, err
	}
	if c.size, err = c.world.Size(); err != nil {
		return nil, err
	}
	if c.maxTag, err = c.world.MaxTag(); err != nil {
		return nil, err
	}
	for i := range c.channels {
		if c.channels[i], err = c.world.Dup(); err != nil {
			return nil, err
		}
	}
	if c.pieces, err = c.world.Dup(); err != nil {
		return nil, err
	}
	if c.collective, err = c.world.Dup(); err == nil {
		env.polling()
	}
	return c, err
}

// World gives the binding's communicator of the same ranks.
func (c *Comm) World() *Communicator { return c.world }

// Rank implements transport.Comm.
func (c *Comm) Rank() int { return c.rank }

// Size implements transport.Comm.
func (c *Comm) Size() int { return c.size }

// MaxTag implements transport.Comm.
func (c *Comm) MaxTag() int { return c.maxTag }

// newSlot takes a slot for a transfer. env.mu is held.
func (c *Comm) newSlot(kind string, ch transport.Channel, peer, tag int, buf []byte) (transport.Request, *slot) {
	var i int
	if n := len(c.free); n > 0 {
		i, c.free = c.free[n-1], c.free[:n-1]
	} else {
		i = len(c.slots)
		c.slots = append(c.slots, &slot{envelope: (*[headerSize]byte)(C.malloc(C.size_t(headerSize)))})
	}
	s := c.slots[i]
	s.kind, s.channel, s.peer, s.tag, s.buf, s.size, s.live = kind, ch, peer, tag, buf, len(buf), true
	s.err = transport.CheckArguments(c, ch, peer, tag)
	switch {
	case c.closed:
		s.err = transport.ErrClosed
	case s.err != nil:
	case kind == "receive" && ch != transport.Data:
		s.err = transport.ErrChannel
	case ch == transport.Control && len(buf) > DefaultPieceLimit:
		s.err = transport.ErrTooLong
	}
	return transport.Request(uint64(s.gen)<<32 | uint64(i+1)), s
}

// Isend implements transport.Comm.
func (c *Comm) Isend(ch transport.Channel, dst, tag int, buf []byte) transport.Request {
	return c.start("send", ch, dst, tag, buf)
}

// Irecv implements transport.Comm.
func (c *Comm) Irecv(ch transport.Channel, src, tag int, buf []byte) transport.Request {
	return c.start("receive", ch, src, tag, buf)
}

func (c *Comm) start(kind string, ch transport.Channel, peer, tag int, buf []byte) transport.Request {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	r, s := c.newSlot(kind, ch, peer, tag, buf)
	if s.err == nil {
		c.begin(s)
	}
	return r
}

// IrecvPlaced implements transport.Comm.
func (c *Comm) IrecvPlaced(src, tag, n int, place func() []byte) transport.Request {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	r, s := c.newSlot("receive", transport.Data, src, tag, nil)
	if s.size, s.place = n, place; s.err != nil {
		return r
	}
	if c.formOf(s) != headed { // too small to wait at its sender's
		s.buf = make([]byte, n)
	}
	c.begin(s)
	return r
}

// IsendSome implements transport.Comm.
func (c *Comm) IsendSome(dst, tag int, buf []byte) transport.Request {
	return c.startSome("send", dst, tag, buf, nil)
}

// IrecvSome implements transport.Comm.
func (c *Comm) IrecvSome(src, tag int, buf []byte, got *int) transport.Request {
	return c.startSome("receive", src, tag, buf, got)
}

// startSome starts an IsendSome or an IrecvSome; got is nil for the former.
func (c *Comm) startSome(kind string, peer, tag int, buf []byte, got *int) transport.Request {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	r, s := c.newSlot(kind, transport.Data, peer, tag, buf)
	if s.some, s.got = true, got; s.err == nil {
		c.begin(s)
	}
	return r
}

// begin starts the first message of a transfer. env.mu is held.
func (c *Comm) begin(s *slot) {
	at, n := address(&s.pin, s.buf), len(s.buf)
	landing := C.uintptr_t(uintptr(unsafe.Pointer(s.envelope)))
	switch s.form = c.formOf(s); {
	case s.form == headed:
		if s.kind == "send" {
			c.sendHeaded(s, landing, at)
			return
		}
		s.first = c.post(s, landing, headerSize)
	case s.form == tiny && s.kind == "receive":
		s.first = c.post(s, landing, headerSize)
	default:
		s.first = c.post(s, at, n)
	}
}

// post starts a transfer's first message, on its own channel and tag. One that is sent is small, or
// is copied by MPI at once: it has mostly gone already.
func (c *Comm) post(s *slot, at C.uintptr_t, n int) C.MPI_Request {
	return c.postOn(c.channels[s.channel], s.tag, s, 0, at, n, s.kind == "send")
}

// postOn starts one message of a transfer, and looks at once whether it has finished, if look says
// so: then the request is null. env.mu is held.
func (c *Comm) postOn(on *Communicator, tag int, s *slot, piece int, at C.uintptr_t, n int, look bool) C.MPI_Request {
	var started C.flow_started
	looks := C.int(0)
	if look {
		looks = 1
	}
	if s.kind == "send" {
		started = C.flow_isend(at, C.int(n), C.int(s.peer), C.int(tag), on.h, looks)
	} else {
		started = C.flow_irecv(at, C.int(n), C.int(s.peer), C.int(tag), on.h, looks)
	}
	return c.started(s, piece, &started)
}

// started takes in how one message of a transfer has been started, and gives the request to wait
// for, which is null if there is none.
func (c *Comm) started(s *slot, piece int, f *C.flow_started) C.MPI_Request {
	switch {
	case f.rc != C.MPI_SUCCESS:
		s.err = check(s.function(), f.rc)
		return c.env.null
	case f.done.index == 0:
		c.took(s, piece, &f.done)
		return c.env.null
	}
	s.left++
	return f.request
}

// TryRecv implements transport.Comm.
func (c *Comm) TryRecv(ch transport.Channel) (transport.Message, bool, error) {
	if !c.env.mu.TryLock() {
		return transport.Message{}, false, nil // whoever is inside drives progress
	}
	defer c.env.mu.Unlock()
	var err error
	switch {
	case ch != transport.Control:
		err = transport.ErrChannel
	case c.closed:
		err = transport.ErrClosed
	}
	var m transport.Message
	ok := false
	if err == nil {
		var st Status
		m.Payload, st, ok, err = c.channels[ch].improbe()
		m.Src, m.Tag = st.Source, st.Tag
	}
	if err != nil {
		err = &transport.Error{Op: "probe", Rank: c.rank, Peer: -1, Tag: -1, Channel: ch, Index: -1, Err: err}
	}
	return m, ok, err
}

// Testsome implements transport.Comm.
func (c *Comm) Testsome(reqs []transport.Request, done []int) ([]int, error) {
	if !c.env.mu.TryLock() {
		return done, nil
	}
	defer c.env.mu.Unlock()
	begun := len(done)
	done, again, err := c.test(reqs, done, c.Polls)
	if again && len(done) == begun {
		// A header has come; its payload is probably there as well.
		var more error
		done, _, more = c.test(reqs, done, c.Polls)
		err = errors.Join(err, more)
	}
	return done, err
}

// test is one round of Testsome: again says that a receive has gone on to its next
// messages. env.mu is held.
func (c *Comm) test(reqs []transport.Request, done []int, polls int) (_ []int, again bool, _ error) {
	env := c.env
	var errs []error
	owners := c.owners[:0]
	ended := len(done)
	for i, r := range reqs {
		if r == transport.None {
			continue
		}
		k := int(uint32(r)) - 1
		if k < 0 || k >= len(c.slots) || !c.slots[k].live || c.slots[k].gen != uint32(r>>32) {
			errs = append(errs, &transport.Error{Op: "test", Rank: c.rank, Peer: -1, Tag: -1, Index: i, Err: transport.ErrUnknownRequest})
			reqs[i], done = transport.None, append(done, i)
			continue
		}
		s := c.slots[k]
		if s.asking && !c.supply(s) {
			continue
		}
		if s.left == 0 { // failed at its start, or was there before its place
			errs = c.finish(s, i, errs)
			reqs[i], done = c.release(k), append(done, i)
			continue
		}
		env.reserve(len(owners) + 1 + len(s.more))
		tested := env.requests()
		if s.first != env.null {
			tested[len(owners)] = s.first
			owners = append(owners, owner{s, i, 0})
		}
		for p, h := range s.more {
			if h != env.null {
				tested[len(owners)] = h
				owners = append(owners, owner{s, i, p + 1})
			}
		}
	}
	c.owners = owners
	if len(done) > ended || polls < 1 {
		polls = 1
	}
	found, err := env.testsome(len(owners), polls)
	if err != nil {
		errs = append(errs, &transport.Error{Op: "test", Rank: c.rank, Peer: -1, Tag: -1, Index: -1, Err: err})
	}
	for k := range found {
		o := &owners[found[k].index]
		pieces := len(o.s.more)
		c.arrived(o.s, o.piece, &found[k])
		if o.s.asking && !c.supply(o.s) || o.s.left > 0 {
			again = again || len(o.s.more) > pieces
			continue
		}
		errs = c.finish(o.s, o.req, errs)
		reqs[o.req], done = c.release(int(uint32(reqs[o.req]))-1), append(done, o.req)
	}
	if errs == nil {
		return done, again, nil
	}
	return done, again, errors.Join(errs...)
}

// arrived takes in that one message of a transfer, which was waited for, has finished. env.mu is held.
func (c *Comm) arrived(s *slot, piece int, f *C.flow_completion) {
	s.left--
	if piece == 0 {
		s.first = c.env.null
	} else {
		s.more[piece-1] = c.env.null
	}
	c.took(s, piece, f)
}

// took takes in how one message of a transfer has finished. env.mu is held.
func (c *Comm) took(s *slot, piece int, f *C.flow_completion) {
	if s.err != nil {
		return
	}
	if f.rc != C.MPI_SUCCESS {
		s.err = check(s.function(), f.rc)
	}
	if s.kind == "receive" && (s.err == nil || truncated(s.err)) {
		s.err = c.received(s, piece, int(f.bytes))
	}
}

// finish appends a transfer's error, if any, to errs.
func (c *Comm) finish(s *slot, index int, errs []error) []error {
	if s.err == nil {
		return errs
	}
	return append(errs, &transport.Error{Op: s.kind, Rank: c.rank, Peer: s.peer, Tag: s.tag, Channel: s.channel, Index: index, Err: s.err})
}

// function names the MPI function of a transfer, for messages.
func (s *slot) function() string {
	if s.kind == "send" {
		return "MPI_Isend"
	}
	return "MPI_Irecv"
}

// release gives a slot back and lets go of the buffer. It returns None.
func (c *Comm) release(k int) transport.Request {
	s := c.slots[k]
	s.pin.Unpin()
	s.buf, s.place, s.asking, s.more, s.err, s.live = nil, nil, false, s.more[:0], nil, false
	s.some, s.got = false, nil
	s.gen++
	c.free = append(c.free, k)
	return transport.None
}

// Barrier implements transport.Comm. It does not hold MPI while it waits.
func (c *Comm) Barrier(ctx context.Context) error {
	err := ctx.Err()
	var r *Request
	if err == nil {
		r, err = c.collective.Ibarrier()
	}
	for pause, finished := (transport.Backoff{}), false; err == nil && !finished; {
		if _, finished, err = r.Test(); err == nil && !finished {
			err = ctx.Err()
			pause.Pause()
		}
	}
	if err != nil {
		return &transport.Error{Op: "barrier", Rank: c.rank, Peer: -1, Tag: -1, Index: -1, Err: err}
	}
	return nil
}

// Dead implements transport.Comm: the launcher ends the job when a rank dies, so no
// rank is ever known to be dead.
func (c *Comm) Dead() []int { return nil }

// Abort implements transport.Comm.
func (c *Comm) Abort(code int) { c.world.Abort(code) }

// Close implements transport.Comm. It ends MPI in this process for good and waits
// for the other ranks to do so.
func (c *Comm) Close() error {
	c.env.mu.Lock()
	err := error(nil)
	switch {
	case c.closed:
		err = transport.ErrClosed
	case len(c.free) < len(c.slots):
		err = errors.New("requests are still in progress")
	}
	c.closed = c.closed || err == nil
	c.env.mu.Unlock()
	for _, d := range append(c.channels[:], c.pieces, c.collective) {
		if err == nil {
			err = d.Free()
		}
	}
	if err == nil {
		err = c.env.Finalize()
		for _, s := range c.slots {
			C.free(unsafe.Pointer(s.envelope))
		}
		c.slots, c.free = nil, nil
	}
	if err != nil {
		return &transport.Error{Op: "close", Rank: c.rank, Peer: -1, Tag: -1, Index: -1, Err: err}
	}
	return nil
}
