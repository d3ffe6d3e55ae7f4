package dist

// This file defines Run: its options, its report, and the loop of a rank from the handshake to the
// end.

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/memory"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// Options says how a plan is run. The zero value is the common case.
type Options struct {
	// Env is the environment of the tasks that this rank owns.
	Env op.Env
	// Read is as in local.EngineOptions.
	Read *atomic.Int64
	// Fingerprint is compared between ranks before anything runs: the program's version, the
	// operator table, parameters, headers of inputs, with the same names in the same order on
	// every rank. The plan's hash is always compared.
	Fingerprint []Item
	// Budget bounds the bytes of values received for later, or of receives posted for small
	// values; 0 means 256 MiB. What the next task needs is received even beyond it.
	Budget int64
	// MaxPosted bounds the number of posted receives, since every poll checks each; 0 means
	// 256.
	MaxPosted int

	// As in local.EngineOptions.
	Buffers    *local.BufferPool
	Stats      bool
	Trace      *trace.Recorder
	OnProgress func(local.Progress)
	Observe    func(id ir.ID, v value.Value)
	HelpFrom   time.Duration
	Grace      time.Duration
	Schedule   schedule.Plan
	Memory     memory.Limit

	// Notice, if not nil, is called by rank 0, and by rank 1 about rank 0, when a rank has been
	// silent for long, or is heard again.
	Notice func(text string)

	// Agree makes the ranks of one process compare all that they gather, round by round: they must
	// have the same bytes. RunGroup reports a difference after the run, as a bug.
	Agree bool

	watch *standstill // of a group in one process; nil: nobody watches
	agree *agreement  // likewise, with Agree

	// patience, beats, looks and placed replace goodbye, beatEvery, lookEvery and placedFrom in
	// tests.
	patience, beats, looks time.Duration
	placed                 int
}

// Item is something that must be equal on every rank.
type Item struct {
	Name string // as messages say it: "the operator table", "param n"
	Hash [32]byte
	Text string // its value as text, or ""
}

const (
	defaultBudget    = 256 << 20
	defaultMaxPosted = 256
	// beatEvery is the period of heartbeats, which carry a rank's activity for the message
	// about its death.
	beatEvery = time.Second
	// lookEvery is the period of checking the other processes of this machine.
	lookEvery = 500 * time.Millisecond
	// goodbye is how long the ranks may take to end together after an interruption; then each
	// ends alone.
	goodbye = 1500 * time.Millisecond
	// pollEvery is the least time between two polls by workers that have tasks, while polls find
	// something, and pollSeldom the most that it grows to.
	pollEvery  = 20 * time.Microsecond
	pollSeldom = 160 * time.Microsecond
	// pollAnyway is the same where this rank waits for nothing: another may ask for rows of a loop
	// that is over here, and waits for the answer.
	pollAnyway = 500 * time.Microsecond
	// sayFirst is how much later the others return from a run after which the job is aborted:
	// the speaker must have spoken before the launcher kills it.
	sayFirst = 300 * time.Millisecond
	// traceFirst is the additional delay if a trace is to be written: for rank 0's tasks to
	// end, and for the file.
	traceFirst = 1500 * time.Millisecond
	// haltFor is how long rank 0 waits for its running tasks when a rank has died. Its trace is
	// lost if they take longer.
	haltFor = 700 * time.Millisecond
	// beatPeers bounds how many ranks get a heartbeat.
	beatPeers = 32
)

// Report is what a run did, of all ranks on rank 0 and of this one elsewhere. A rank without a
// report is omitted.
type Report struct {
	Ranks      []RankReport
	Recordings []*trace.Recording // of the ranks that traced
}

// RankReport is what one rank did.
type RankReport struct {
	*local.Report
	MessagesSent, MessagesReceived int64
	BytesSent, BytesReceived       int64
	ReadSent                       int64 // of BytesSent, what was read of files and sent as it was read
	Forwarded                      int64 // messages that were passed on to others
	// Processor is the seconds of processor time of the rank's process in this run, all threads; 0
	// where other ranks run in the same process.
	Processor float64
	Polls     int64
}

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
	sends        atomic.Int32  // matrices being sent

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
	consumed time.Duration // of processor time before the run
	bad      error         // of the transport; set under pollMu
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

// Run executes this rank's tasks of p, together with the other ranks, which must call it with the
// same plan. It blocks until the run has ended on all of them. The error is a *Failure, the same on
// every living rank.
func Run(ctx context.Context, comm transport.Comm, pool *local.Pool, p *plan.Plan, o Options) (*Report, error) {
	ofKernel.begin()
	r := newRank(comm, p, o)
	unready := r.prepare()
	if f := r.handshake(ctx); f != nil {
		return nil, f
	}
	return r.run(ctx, pool, unready)
}

// run is Run after the handshake. unready is why there is no engine.
func (r *rank) run(ctx context.Context, pool *local.Pool, unready *Failure) (*Report, error) {
	f := unready
	if f == nil {
		f = r.loop(ctx, pool)
	}
	if f != nil && !f.Clean && f.Speaker != r.me {
		time.Sleep(sayFirst)
		if r.o.Trace != nil {
			time.Sleep(traceFirst)
		}
	}
	report := r.finish(f)
	if f != nil {
		return report, f
	}
	return report, nil
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

// prepare makes the routes and the engine, before the handshake: after it no rank waits for another
// that still prepares. The handshake refuses a plan for another number of ranks.
func (r *rank) prepare() *Failure {
	if r.p.Ranks != r.n {
		return nil
	}
	r.routes = newRoutes(r.p, r.me)
	for dst, c := range r.routes.toCount {
		r.begun[dst] = make([]uint64, (c+63)/64)
	}
	if err := r.prepareGathers(); err != nil {
		return &Failure{Code: "E606", Err: err}
	}
	r.arrived = make([]bool, len(r.routes.receives))
	r.missing = len(r.routes.receives)
	r.variables = map[ir.ID]int{}
	for i, x := range r.routes.receives {
		if x.form == variable {
			r.variables[x.exchange] = i
		}
	}
	r.ending.init(r.n)
	eng, err := local.NewEngine(r.p, local.EngineOptions{
		Env: r.o.Env, Read: r.o.Read, Buffers: r.o.Buffers, Memory: r.o.Memory, Stats: r.o.Stats, Trace: r.o.Trace, Rank: r.me, OnProgress: r.o.OnProgress,
		Observe: r.o.Observe, Grace: r.o.Grace, HelpFrom: r.o.HelpFrom, Schedule: r.o.Schedule,
		Remote: &local.Remote{
			Sends:    func(id ir.ID) int { return len(r.routes.of(id)) },
			Produced: r.produced,
			Freed:    r.freed,
			Between:  r.between,
			Idle:     r.idle,
			Failed:   func(f *local.TaskFailure) { r.tell(failureOf(f)) },
			Cleared:  r.cleared,
			Gather:   r.gather, GatherSparse: r.gatherSparse, Fetch: r.fetch,
			Ask:    r.ask,
			Give:   r.give,
			Return: r.giveBack,
			Near:   func(rank int) bool { return r.peers[rank].Host == r.peers[r.me].Host },
			Wait:   r.wait,
		},
	})
	if err != nil {
		return &Failure{Code: "E606", Err: err}
	}
	r.eng = eng
	return nil
}

// loop is the progress engine: it polls unless workers do, listens, and sleeps when nothing
// happens.
func (r *rank) loop(ctx context.Context, pool *local.Pool) *Failure {
	// Cancellation is handled here, so that all ranks end together: the engine's context is
	// another. Threads that wait for messages must not take cores from those that compute what
	// they wait for.
	if r.roomy(pool.Workers(), runtime.NumCPU()) {
		r.keen = keenly
	}
	r.consumed = processorTime()
	r.eng.Start(context.WithoutCancel(ctx), pool)
	r.started.Store(true)
	r.o.watch.enter(r)
	defer r.o.watch.leave(r)
	engineDone := r.eng.Done()
	now := time.Now()
	beat, look := now.Add(r.o.beats), now.Add(r.o.looks)
	quit := ctx.Done()
	for {
		r.left.Store(false)
		attended := r.attended.Swap(false)
		worked := !attended && r.poll()
		if r.listen() {
			worked, attended = true, false
		}
		now = time.Now()
		if now.After(beat) {
			beat = now.Add(r.o.beats)
			r.sendBeat()
		}
		if now.After(look) {
			look = now.Add(r.o.looks)
			r.look()
			r.listenForSilence()
		}
		select {
		case <-quit:
			quit = nil
			r.interrupted(context.Cause(ctx))
		default:
		}
		select {
		case <-engineDone:
			engineDone = nil
			r.ending.idle = true
			worked = true
			r.attended.Store(false) // there will be no more of it
		default:
		}
		if f, over := r.step(now); over {
			return f
		}
		switch nap := r.napAt(now, attended); {
		case worked:
		case r.ending.idle && nap < time.Millisecond:
			transport.Nap(nap)
		default:
			r.pause(nap, engineDone, quit)
		}
	}
}

// finish closes the engine and gathers the reports.
func (r *rank) finish(f *Failure) *Report {
	if r.eng == nil {
		return nil
	}
	if r.started.Load() && (f == nil || f.Clean) && r.ending.idle {
		report, _ := r.eng.Wait()
		r.stats.Report = report
		if err := r.eng.Close(); err != nil && f == nil {
			// Memory was not given back: a bug, though the results are right.
			panic(fmt.Sprintf("BUG: after a run: %v", err))
		}
	}
	out := r.gathered()
	if len(out.Recordings) == 0 && f != nil && !f.Clean && r.me == 0 && r.started.Load() && r.halted() {
		// of the dead there is none; this rank's shows where it stopped
		if rec := r.o.Trace.Recording(); rec != nil {
			out.Recordings = append(out.Recordings, rec)
		}
	}
	return out
}

// halted stops the engine and reports whether its workers have ended within haltFor.
func (r *rank) halted() bool {
	r.eng.Cancel(context.Canceled)
	select {
	case <-r.eng.Done():
		return true
	case <-time.After(haltFor):
		return false
	}
}
