// Package mem is the transport between ranks that are goroutines of one process.
// It is for tests and for trying a distributed plan on one machine: messages are
// copied once, straight from the sender's buffer into the receiver's, and delay,
// reordering, loss and death can be injected by seed.
package mem

import (
	"sync"
	"sync/atomic"
	"time"

	"flow/runtime/dist/transport"
)

// now is the clock of deaths and delays. Tests have one of their own.
var now = time.Now

// Options configures a group. The zero value has no faults.
type Options struct {
	// MaxTag is the largest tag; 32767, the least that MPI grants, if zero.
	MaxTag int
	// EagerLimit is the largest message, in bytes, that is buffered when its
	// receive is not yet posted, so that its send completes at once, as in MPI.
	// Zero means 4096, negative none. Larger sends wait for their receive.
	EagerLimit int
	// Faults are injected; see there.
	Faults Faults
}

// DefaultEagerLimit is the EagerLimit of the zero Options, which is that of Open
// MPI's shared memory transport.
const DefaultEagerLimit = 4096

// Group is a set of ranks. Comm and Kill may be called from any goroutine.
type Group struct {
	opts     Options
	ranks    []*comm
	boxes    []mailbox
	aborted  atomic.Bool
	code     atomic.Int64
	deadline []atomic.Int64 // per rank: UnixNano from which peers know of its death, 0 if alive
	killed   []atomic.Bool  // per rank: dead, whether or not known yet
	barrier  barrier

	countersMu sync.Mutex
	counters   []*counters
}

// New makes a group of n ranks and returns their ends, by rank. The ends are
// used by different goroutines as if they were different processes.
func New(n int, opts Options) []transport.Comm {
	g := NewGroup(n, opts)
	comms := make([]transport.Comm, n)
	for r := range comms {
		comms[r] = g.Comm(r)
	}
	return comms
}

// NewGroup makes a group of n ranks, for callers that also want to Kill some.
func NewGroup(n int, opts Options) *Group {
	if opts.MaxTag == 0 {
		opts.MaxTag = 32767
	}
	if opts.EagerLimit == 0 {
		opts.EagerLimit = DefaultEagerLimit
	}
	g := &Group{
		opts:     opts,
		ranks:    make([]*comm, n),
		boxes:    make([]mailbox, n),
		deadline: make([]atomic.Int64, n),
		killed:   make([]atomic.Bool, n),
	}
	for r := range n {
		g.ranks[r] = &comm{g: g, rank: r, sendsLeft: -1}
		g.boxes[r].streams = make(map[streamKey]*stream)
	}
	for _, d := range opts.Faults.Deaths {
		if d.Rank >= 0 && d.Rank < n {
			g.ranks[d.Rank].sendsLeft = int64(d.AfterSends)
		}
	}
	return g
}

// Delayed reports whether the group holds back a message for a rank until a time that has not come.
func (c *comm) Delayed() bool { return c.g.boxes[c.rank].waitsForTime() }

// Comm returns the end of one rank.
func (g *Group) Comm(rank int) transport.Comm { return g.ranks[rank] }

// Kill makes a rank die now: its own calls fail, what it has not handed over is
// gone, and after Faults.Notice its peers' transfers with it fail as well.
func (g *Group) Kill(rank int) {
	if g.killed[rank].Swap(true) {
		return
	}
	g.deadline[rank].Store(now().Add(g.opts.Faults.Notice).UnixNano())
	// The dead rank's goroutine will see its requests fail and may reuse their
	// buffers, so from here on nobody else may touch those.
	box := &g.boxes[rank]
	box.mu.Lock()
	box.dead = true
	for _, s := range box.streams {
		s.posted = nil
	}
	box.mu.Unlock()
	c := g.ranks[rank]
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.slots {
		if o != nil && o.kind == sending {
			g.withdraw(o, nil)
		}
	}
}

// knownDead tells whether the peers know by now that a rank is dead.
func (g *Group) knownDead(rank int) bool {
	t := g.deadline[rank].Load()
	return t != 0 && now().UnixNano() >= t
}

// failure is the reason for which a transfer between me and peer can no longer
// happen, or nil. peer is -1 for operations without one.
func (g *Group) failure(me, peer int) error {
	switch {
	case g.killed[me].Load():
		return &transport.DeadError{Rank: me}
	case g.aborted.Load():
		return transport.ErrAborted
	case peer >= 0 && g.knownDead(peer):
		return &transport.DeadError{Rank: peer}
	}
	return nil
}
