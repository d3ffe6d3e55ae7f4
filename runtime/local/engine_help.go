package local

// This file lets ranks help each other with a loop whose rows they share: work stealing, started by
// the rank without work. A worker of a rank whose own rows are done asks another rank for a chunk. A
// worker there claims a chunk as for itself and gives it away. The rows come back as a copy, into
// their place. See Note [Help among ranks].

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/value"
)

// Ask is a worker's request for a chunk of a loop that all ranks run.
type Ask struct {
	Rank      int   // of the worker
	Worker    int32 // of that rank
	Loop      int32 // number of the loop in the plan (plan.Helped)
	Execution int32 // of the loop, from 1 on: the same on all ranks
}

// Chunk is iterations Lo..Hi-1 of a loop; it is empty if they are equal.
type Chunk struct{ Lo, Hi int }

func (c Chunk) size() int { return c.Hi - c.Lo }

// helping is the state of an engine's loops that ranks help each other with. Locks are taken in the
// order: the lock of transfers, mu, the lock of sends. So Remote.Give may be called with mu held.
type helping struct {
	mu     sync.Mutex
	open   map[int32]*loopRun // executions under way, by number of the loop
	begun  map[int32]int32    // executions begun, by number of the loop
	opened atomic.Int32       // len(open)
	vain   map[int32]bool     // the last requests got no chunk, by number of the loop
	gone   []atomic.Bool      // ranks that answer no more
}

// helped is what an execution of a loop knows of other ranks. helping.mu guards it.
type helped struct {
	ask       Ask // of this rank; Loop is 0 if ranks do not help each other
	since     time.Time
	perRow    int          // iterations
	asked     []Ask        // not answered yet
	waiting   atomic.Int32 // len(asked)
	left      atomic.Int64 // iterations of this rank that no worker has claimed
	away      []chunkAway  // chunks that other ranks have
	undone    []Chunk      // chunks that other ranks had and have not done
	exhausted bool         // no chunk is left to give
}

// chunkAway is a chunk that another rank has.
type chunkAway struct {
	rank  int
	chunk Chunk
}

// given is an answer to an Ask.
type given struct {
	from  int
	ask   Ask
	chunk Chunk
}

// DefaultHelpFrom is the default of EngineOptions.HelpFrom. An answer takes up to the time of
// a part of a chunk.
const DefaultHelpFrom = time.Millisecond

// maxReturn bounds the bytes of the rows of a chunk that goes to another rank: they come back as a copy.
const maxReturn = 4 << 20

// helpNumber returns the number by which ranks ask each other for chunks of a loop, or 0 if they do not.
// A static technique decides beforehand which worker runs a chunk, so no rank helps.
func (e *Engine) helpNumber(n *ir.Node) int32 {
	number := int32(n.Attrs.Int(plan.Helped))
	if number == 0 || e.p.Ranks < 2 || e.o.Remote == nil {
		return 0
	}
	if t := e.techniqueOf(n); t != nil && t.Static() {
		return 0
	}
	return number
}

// opens notes that l begins, if other ranks may help with it. full is the number of iterations of
// all ranks, and rows the number of rows of the result.
func (e *Engine) opens(l *loopRun, full, rows int) {
	l.ask = Ask{}
	number := e.helpNumber(&e.g.Nodes[l.id])
	if number == 0 {
		return
	}
	out, ok := l.out.(*value.Dense)
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open, h.begun, h.vain = map[int32]*loopRun{}, map[int32]int32{}, map[int32]bool{}
	}
	h.begun[number]++ // also if this rank takes no help, so that all ranks count alike
	if l.perRow = full / rows; !ok || out.Rows != rows || out.Stride != out.Cols {
		return
	}
	l.ask = Ask{Rank: e.o.Rank, Loop: number, Execution: h.begun[number]}
	l.since, l.exhausted = time.Now(), false
	l.asked, l.undone, l.away = l.asked[:0], l.undone[:0], l.away[:0]
	l.waiting.Store(0)
	l.left.Store(int64(l.n))
	h.open[number] = l
	h.opened.Store(int32(len(h.open)))
}

// Helps reports whether another rank may ask for chunks: then a busy rank has to listen.
func (e *Engine) Helps() bool { return e.helping.opened.Load() > 0 }

// Asked handles the request of another rank. It answers at once if no chunk can be given: the
// execution has not begun here, has ended, or is exhausted.
func (e *Engine) Asked(a Ask) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[a.Loop]
	if l == nil || l.ask.Execution != a.Execution || l.exhausted {
		e.o.Remote.Give(a, Chunk{})
		return
	}
	l.asked = append(l.asked, a)
	l.waiting.Store(int32(len(l.asked)))
}

// runsDry notes that a worker of this rank has found no chunk to claim. Chunks that its other workers
// still claim stay here.
func (l *loopRun) runsDry() {
	if l.ask.Loop == 0 {
		return
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l.exhaust()
}

// exhaust answers all ranks that wait that no chunk is left. helping.mu is held.
func (l *loopRun) exhaust() {
	l.exhausted = true
	for _, a := range l.asked {
		l.e.o.Remote.Give(a, Chunk{})
	}
	l.asked = l.asked[:0]
	l.waiting.Store(0)
}

// Given handles the answer of another rank to a request of this one. If the worker no longer waits for
// it, the chunk goes back undone.
func (e *Engine) Given(from int, a Ask, chunk Chunk) {
	s := &e.scratch[a.Worker]
	e.helping.mu.Lock()
	waits := s.asking == a
	if waits {
		s.given.Store(&given{from, a, chunk})
	}
	e.helping.mu.Unlock()
	if !waits && chunk.Lo < chunk.Hi {
		e.o.Remote.Return(from, a, chunk, nil)
	}
}

// Gone notes that a rank answers no more, because the run ends there. What it was given and has not
// returned is undone.
func (e *Engine) Gone(rank int) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone[rank].Store(true)
	for _, l := range h.open {
		l.asked = slices.DeleteFunc(l.asked, func(a Ask) bool { return a.Rank == rank })
		l.waiting.Store(int32(len(l.asked)))
		for _, x := range l.away {
			if x.rank == rank {
				l.undone = append(l.undone, x.chunk)
			}
		}
		l.away = slices.DeleteFunc(l.away, func(x chunkAway) bool { return x.rank == rank })
	}
}

// help runs chunks of other ranks until none has any. Each worker has one request under way at most.
func (l *loopRun) help(w *Worker, s *workerState) {
	e := l.e
	if l.ask.Loop == 0 || l.failed.Load() != maxNode || !l.mayHelp() {
		return
	}
	helped := s.helped
	defer func() { e.helping.note(l.ask.Loop, s.helped == helped) }()
	a, step := l.ask, 1
	a.Worker = int32(w.index)
	e.asks(s, a)
	defer e.asks(s, Ask{})
	for k := 1; k < e.p.Ranks; k++ {
		victim := (e.o.Rank + k) % e.p.Ranks
		e.o.Remote.Ask(victim, a)
		for {
			chunk, ok := l.answer(w, s, victim)
			if !ok {
				return // the run ends
			}
			if chunk.Lo == chunk.Hi {
				break
			}
			e.o.Remote.Ask(victim, a) // early: the answer may come while this chunk runs
			var made []byte
			if l.runGiven(w, chunk, &step) == nil {
				d := l.out.(*value.Dense)
				made = l.rowsOf(d, chunk)
				s.helped++
			}
			e.o.Remote.Return(victim, a, chunk, made)
		}
	}
}

// mayHelp reports whether it may pay to ask. Where this rank's rows took no time those of others may
// take long, so that is tried: in the first execution of a loop, as long as there is something to do,
// and now and then.
func (l *loopRun) mayHelp() bool {
	if time.Since(l.since) >= l.e.o.HelpFrom || l.ask.Execution%tryAgain == 1 {
		return true
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.vain[l.ask.Loop]
}

// tryAgain is how many executions of a loop there are to one in which a rank asks in any case.
const tryAgain = 32

// note keeps whether the requests of an execution were in vain.
func (h *helping) note(loop int32, vain bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.vain[loop] = vain
}

// asks notes the request whose answer a worker waits for; the zero Ask: none. A chunk that has come and
// was not taken goes back undone.
func (e *Engine) asks(s *workerState, a Ask) {
	e.helping.mu.Lock()
	s.asking = a
	g := s.given.Swap(nil)
	e.helping.mu.Unlock()
	if g != nil && g.chunk.Lo < g.chunk.Hi {
		e.o.Remote.Return(g.from, g.ask, g.chunk, nil)
	}
}

// answer waits for the answer of a rank. ok is false if the loop has become pointless.
func (l *loopRun) answer(w *Worker, s *workerState, victim int) (chunk Chunk, ok bool) {
	since := time.Now()
	defer func() { s.waited += int64(time.Since(since)) }()
	ok = l.await(w, func() bool {
		// Read before the answer: all answers of a rank arrive before the news that it is gone.
		gone := l.e.helping.gone[victim].Load()
		if g := s.given.Swap(nil); g != nil {
			chunk = g.chunk
			return true
		}
		return gone
	})
	return chunk, ok
}

// await polls until done. It returns false if an earlier failure or the end of the run has made the
// loop pointless before. So it ends although another rank may never answer.
func (l *loopRun) await(w *Worker, done func() bool) bool {
	for since := time.Now(); ; {
		switch {
		case done():
			return true
		case l.e.over(l.id) || w.Stopping():
			return false
		}
		l.e.o.Remote.Wait(time.Since(since))
	}
}

// run runs a chunk. A panic is an error.
func (l *loopRun) run(worker int, chunk Chunk) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	return l.steps.Chunk(worker, chunk.Lo, chunk.Hi)
}

// rowsOf returns the bytes of the rows of d that a chunk makes. d is contiguous.
func (l *loopRun) rowsOf(d *value.Dense, chunk Chunk) []byte {
	lo, hi := chunk.Lo/l.perRow, chunk.Hi/l.perRow
	return d.View(lo, 0, hi-lo, d.Cols).Bytes()
}

// Returned copies the rows of a chunk that another rank has run. made is nil if it failed there.
func (e *Engine) Returned(a Ask, chunk Chunk, made []byte) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[a.Loop]
	if l == nil || l.ask.Execution != a.Execution {
		return // this rank has given up the execution
	}
	k := slices.Index(l.away, chunkAway{a.Rank, chunk})
	if k < 0 {
		return // the rank is gone, and its chunks run here
	}
	l.away = slices.Delete(l.away, k, k+1)
	if to := l.rowsOf(l.out.(*value.Dense), chunk); len(to) == len(made) {
		copy(to, made)
	} else {
		l.undone = append(l.undone, chunk)
	}
}

// settle waits for the rows that other ranks make, and runs here what is undone. The last worker calls
// it after each pass of the loop, when no other worker writes the result. Later passes take no help.
func (l *loopRun) settle(w *Worker) {
	if l.ask.Loop == 0 {
		return
	}
	h := &l.e.helping
	l.runsDry()
	l.await(w, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(l.away) == 0
	})
	h.mu.Lock()
	delete(h.open, l.ask.Loop)
	h.opened.Store(int32(len(h.open)))
	l.ask.Loop = 0
	undone := l.undone
	h.mu.Unlock()
	slices.SortFunc(undone, func(a, b Chunk) int { return a.Lo - b.Lo })
	for _, chunk := range undone {
		if l.e.over(l.id) || int64(chunk.Lo) > l.failed.Load() {
			return
		}
		if err := l.run(w.index, chunk); err != nil {
			l.fail(int64(chunk.Lo), err)
		}
	}
}

// Note [Help among ranks]
//
// A rank makes its own rows, by its own technique. Rows may take very different times. Then the rank
// that is done first would wait for the last. So it asks the other ranks in turn, and each that has
// chunks left gives it some. Any rank can run any chunk: all have the operands whole, matrices have
// their full shape, and a chunk writes only its own rows. The rows go back, so after the loop each
// rank has its own, as without help. No byte and no later node depends on which rank has run a chunk.
//
// A technique expects claims by as many workers as it knows. So a worker answers a request, between
// two parts of a chunk, with half of an equal share of what is left on its rank. One chunk at a time
// would leave a helper without work for most of the time of a slower rank's chunk. The worker that
// hears the request answers it if the loop has not begun on its rank or is exhausted. So an answer
// takes up to a part's time. A rank whose own rows were done in less than EngineOptions.HelpFrom asks
// only if the last time was not in vain, and in the first of every tryAgain executions. Rows that are
// made faster than they are copied are not given away.
//
// A chunk that fails at a helper is run again at home, so the failure has the rank and the place that
// it has without help. A rank stops waiting when an earlier failure has made the loop pointless. A
// chunk that is given to a rank that has stopped waiting goes back undone. A rank where the run has
// ended (Gone) returns no more chunks, so those that it has are undone.
//
// It would be wrong for a loop with an operand that has only a rank's own rows there: the pass that
// spreads loops gives such a loop no number (plan.Helped).
