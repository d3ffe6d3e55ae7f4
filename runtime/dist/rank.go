package dist

import (
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// This file defines what a rank of a run remembers, part by part. The functions of a part are in the
// file of its name.

// rank is one rank in one run.
type rank struct {
	comm    transport.Comm
	me, n   int
	p       *plan.Plan
	o       Options
	routes  *routes
	epoch   uint64
	offset  int64     // of rank 0's clock to this one's
	peers   []process // all ranks, after the handshake
	window  int32     // how many tags there are for exchanges; those of gathers follow
	eng     *local.Engine
	started atomic.Bool // eng is

	// Sending. mu is held over Isend: it keeps messages of one tag in order.
	mu       sync.Mutex
	frozen   bool               // no message starts any more
	mute     bool               // all tasks have ended: no message starts that nobody needs
	begun    [][]uint64         // by rank, a bit a number: the send has started
	held     map[heldKey]flight // sends that wait for the one a window before them
	gathers  []gathers          // by key
	fresh    []flight           // started, not yet known to the poller
	newFresh atomic.Int32       // len(fresh)
	pending  atomic.Int32       // requests that the poller tests; a hint for workers

	// Polling.
	pollMu  sync.Mutex
	reqs    []transport.Request
	flights []flight // of reqs
	done    []int
	holes   int // finished ones among reqs
	oldest  int // all before it are finished
	turn    int // where the next check of the younger ones begins
	// receives posted, or skipped because they are over Control
	next         int
	posted       []int32             // by rank: numbers posted
	awaited      int                 // posted, not arrived
	arrived      []bool              // by receive
	missing      int                 // receives not arrived
	variables    map[ir.ID]int       // exchange -> receive, of variable form
	early        []transport.Message // arrived before this rank knew that the run has begun
	inbox        []*message          // for Run's goroutine
	used         atomic.Int64
	starved      *local.TaskFailure // memory was short for what has arrived
	waste        []byte             // of messages that no task reads
	wasting      bool               // a request has it
	lastPoll     atomic.Int64
	pollGap      atomic.Int64 // the least time after that until a worker with tasks polls
	attended     atomic.Bool  // a worker has polled since Run's goroutine last looked
	epochOfClock time.Time
	lastWork     atomic.Int64  // when a poll last found something, since epochOfClock
	keen         time.Duration // how long idle workers poll without a sleep
	underWay     atomic.Int64  // needsBoth of the messages under way

	// Of Run's goroutine.
	wake     chan struct{}
	napping  atomic.Bool
	dozing   atomic.Bool   // in a long nap because nothing happens
	relying  atomic.Bool   // in a nap because workers poll
	left     atomic.Bool   // a worker has stopped polling since the last look
	spell    time.Duration // that nap's length, 0 in others
	failMu   sync.Mutex
	toTell   []*failure // failures of this rank that the others do not know yet
	ending   ending
	persists bool // an interruption waits for all ranks, so that no request is left
	silences *silences
	beats    []beat            // last heard, by rank
	beating  []atomic.Bool     // a heartbeat to the rank is under way
	suspect  map[int]time.Time // ranks whose process was not found
	stats    RankReport
	clock    func() time.Duration // returns the processor time used so far; nil: nothing is measured
	consumed time.Duration        // of clock before the run
	bad      error                // of the transport; set under pollMu
}

type heldKey struct{ dst, num int32 }

// flight is a transfer that has a request, or will have.
type flight struct {
	kind    flightKind
	at      int32 // index into receives
	peer    int32
	num     int32
	id      ir.ID // exchange; of a gather that has ended, its Node
	source  ir.ID // node whose value is sent
	dense   *value.Dense
	placed  *placed // memory of a large matrix; dense and buf are set at its end
	whole   *gathering
	buf     []byte
	got     *int // the length of a message that may be shorter than buf; nil: of others
	req     transport.Request
	started int64
}

type flightKind uint8

const (
	sending flightKind = iota
	sendingCopy
	receiving
	giving // rows of this rank, to a gather
	taking // rows of another one
	control
	heartbeat
	filler   // of the end: the bytes are not used
	finished // about to be forgotten
)

// placed is the memory of a matrix being received, once there is any.
type placed struct {
	r      *rank
	x      *receive
	dense  *value.Dense
	wasted bool // no task reads it, and it is in rank.waste
}

// gathers is one gather of the plan, all its rounds.
type gathers struct {
	plan.Gathered
	key        int
	give, take [][]plan.Range // in a round, by the other rank: a message each
	messages   int            // in a round: the number of these
	begun      int32          // rounds that this rank has begun; mu
	// by rank: the round of a sparse gather whose row pointers from it are awaited, or nil; mu
	pointers []*sparseGathering
	fetched  []fetched // by rank, with lists; mu
}

// gathering is one round of a gather.
type gathering struct {
	of       *gathers
	round    int32 // from 1 on
	left     int   // transfers under way; pollMu
	finished func()
	sparse   *sparseGathering // nil: of a dense matrix
}

// sparseGathering is one round of the gather of a sparse matrix.
type sparseGathering struct {
	key   int // of the gather
	elem  types.Elem
	cols  int
	parts []*value.CSR // by rank
	rows  [][]int32    // by rank: the lengths of its rows
	left  []int        // by rank: its messages that have not arrived
	fills []int        // by rank: later rounds to fill once all receives of this one are posted
}

// ending is the state of a rank's end. It belongs to Run's goroutine, except frozen and said.
type ending struct {
	idle   bool        // the engine runs no task any more
	frozen atomic.Bool // no message starts, no receive is posted
	// the end was announced: later messages on Control may belong to the next run
	said     atomic.Bool
	failure  *failure  // to be reported, as far as is known
	since    time.Time // of the first failure
	limit    time.Time // when this rank ends alone; zero: never
	cause    error     // of this rank's own interruption
	drains   []*drain  // by rank
	filled   bool      // what others posted is being sent, what they sent is being received
	reported int       // what rank 0 was told: a state
	dones    []*done   // on rank 0
	end      *end
	last     time.Time // of the last check of needed values
}

// silences is what a rank knows of the silence of others. Rank 0 watches all, rank 1 watches rank
// 0; the watcher also informs the user.
type silences struct {
	looks     atomic.Int64
	heard     []atomic.Int64 // by rank: the look before which it was last heard
	asked     []bool         // since then
	mentioned []bool
}

func newSilences(n int) *silences {
	return &silences{heard: make([]atomic.Int64, n), asked: make([]bool, n), mentioned: make([]bool, n)}
}

// standstill watches the ranks of a group. A nil one does nothing.
type standstill struct {
	mu    sync.Mutex
	ranks []*rank // by number, nil before its engine has started and after its run has ended
	left  []bool  // by number: its run has ended
	ended chan struct{}
	once  sync.Once
}

// still is a rank that waits, or has nothing left to do.
type still struct {
	rank    *rank
	waiting bool
	stopped bool   // its engine starts no task any more, after a failure
	moves   uint64 // as local.Engine.Waits
	worked  int64  // when a poll last found something
	polls   int64
	needs   int64 // polls that look at every request, and some more
}

// agreement has the hashes of gathers that not all ranks have ended. A nil one compares nothing.
type agreement struct {
	ranks int
	seed  maphash.Seed

	mu    sync.Mutex
	open  map[gatherRound]*agreed
	wrong error // the first difference
}

// gatherRound is one execution of a gather: the how manieth of a run, from 1 on.
type gatherRound struct {
	key   int
	round int32
}

type agreed struct {
	rank  int // the first that ended it
	hash  uint64
	ended int // ranks
}

func newRank(comm transport.Comm, p *plan.Plan, o Options) *rank {
	if o.Budget <= 0 {
		o.Budget = defaultBudget
	}
	if o.MaxPosted <= 0 {
		o.MaxPosted = defaultMaxPosted
	}
	if o.Grace == 0 {
		o.Grace = local.DefaultGrace
	}
	if o.patience == 0 {
		o.patience = goodbye
	}
	if o.beats == 0 {
		o.beats = beatEvery
	}
	if o.looks == 0 {
		o.looks = lookEvery
	}
	if o.placed == 0 {
		o.placed = placedFrom
	}
	n := comm.Size()
	return &rank{comm: comm, me: comm.Rank(), n: n, p: p, o: o,
		held: map[heldKey]flight{}, begun: make([][]uint64, n), posted: make([]int32, n), wake: make(chan struct{}, 1),
		silences: newSilences(n), beats: make([]beat, n), beating: make([]atomic.Bool, n), epochOfClock: time.Now()}
}

// gatherAt returns the place in the text of what a gather brings together, or its number.
func (r *rank) gatherAt(g *gathers) string {
	if at := r.p.At(g.Span); at != "" {
		return at
	}
	return fmt.Sprintf("gather %d", g.key)
}
