package local

// This file lets ranks help each other with a loop whose rows they share. A rank whose own rows are
// done asks another one; a worker there claims a chunk as for itself and gives it away; the rows
// come back by value, into their place. See Note [Help among ranks].

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/trace"
)

// Ask is a worker's question for a chunk of a loop that all ranks run.
type Ask struct {
	Rank      int   // who asks
	Worker    int32 // of that rank
	Loop      int32 // number of the loop in the plan (plan.Helped)
	Execution int32 // of the loop, from 1 on: the same on all ranks
}

// Rows are iterations lo..hi-1 of a loop; none if they are equal.
type Rows struct{ Lo, Hi int }

// helping is what an engine knows of loops that ranks help each other with.
type helping struct {
	mu     sync.Mutex
	open   map[int32]*loopRun // by number
	begun  map[int32]int32    // executions
	opened atomic.Int32       // len(open)
	gone   []atomic.Bool      // ranks that answer no more
}

// helped is the part of an execution of a loop that has to do with other ranks. helping.mu guards it.
type helped struct {
	ask       Ask // of this rank; Loop is 0 if ranks do not help each other
	since     time.Time
	perRow    int          // iterations
	asked     []Ask        // not answered yet
	waiting   atomic.Int32 // len(asked)
	away      []chunkAway  // chunks that other ranks have
	undone    []Rows       // chunks that other ranks had and have not done
	exhausted bool         // nothing is left to give
}

// chunkAway is a chunk that another rank has.
type chunkAway struct {
	rank int
	rows Rows
}

// given is an answer.
type given struct {
	from int
	ask  Ask
	rows Rows
}

// DefaultHelpFrom is the default of EngineOptions.HelpFrom. A question costs up to a chunk's time.
const DefaultHelpFrom = time.Millisecond

// maxReturn bounds the bytes of a chunk that goes to another rank: they are copied.
const maxReturn = 4 << 20

// helpNumber returns the number by which ranks ask each other for chunks of a loop; 0: they do not. A
// static technique decides beforehand who runs what.
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
// all ranks, and rows those of the result.
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
		h.open, h.begun = map[int32]*loopRun{}, map[int32]int32{}
	}
	h.begun[number]++ // also of one that takes no help, so that all ranks count alike
	if l.perRow = full / rows; !ok || out.Rows != rows || out.Stride != out.Cols {
		return
	}
	l.ask = Ask{Rank: e.o.Rank, Loop: number, Execution: h.begun[number]}
	l.since, l.exhausted = time.Now(), false
	l.asked, l.undone, l.away = l.asked[:0], l.undone[:0], l.away[:0]
	l.waiting.Store(0)
	h.open[number] = l
	h.opened.Store(int32(len(h.open)))
}

// Helps reports whether another rank may ask for chunks: then a busy rank has to listen.
func (e *Engine) Helps() bool { return e.helping.opened.Load() > 0 }

// Asked handles the question of another rank.
func (e *Engine) Asked(a Ask) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[a.Loop]
	if l == nil || l.ask.Execution != a.Execution || l.exhausted {
		e.o.Remote.Give(a, Rows{})
		return
	}
	l.asked = append(l.asked, a)
	l.waiting.Store(int32(len(l.asked)))
}

// gives gives a chunk that a worker has claimed to a rank that waits for one. It returns false if the
// worker has to run it itself: nobody waits any more, or its rows are too many to be copied.
func (l *loopRun) gives(w *Worker, rows Rows) bool {
	if len(l.rowsOf(l.out.(*value.Dense), rows)) > maxReturn {
		return false
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(l.asked) == 0 {
		return false
	}
	if l.keeps { // it is covered, and took this worker no time
		now := l.e.Now()
		l.chunks[w.index] = append(l.chunks[w.index], trace.Chunk{Lo: int64(rows.Lo - l.base), Hi: int64(rows.Hi - l.base), Worker: int32(w.index), Asked: now, Start: now, End: now})
	}
	a := l.asked[0]
	l.asked = slices.Delete(l.asked, 0, 1)
	l.waiting.Store(int32(len(l.asked)))
	l.away = append(l.away, chunkAway{a.Rank, rows})
	l.e.o.Remote.Give(a, rows)
	return true
}

// runsDry notes that a worker begins no more chunks. Where another one does, these stay here.
func (l *loopRun) runsDry() {
	if l.ask.Loop == 0 {
		return
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l.exhaust()
}

// exhaust answers all that wait that nothing is left. helping.mu is held.
func (l *loopRun) exhaust() {
	l.exhausted = true
	for _, a := range l.asked {
		l.e.o.Remote.Give(a, Rows{})
	}
	l.asked = l.asked[:0]
	l.waiting.Store(0)
}

// Given handles the answer of another rank to a question of this one. Where nobody waits for it any
// more, the chunk goes back as it came.
func (e *Engine) Given(from int, a Ask, rows Rows) {
	s := &e.scratch[a.Worker]
	e.helping.mu.Lock()
	waits := s.asking == a
	if waits {
		s.given.Store(&given{from, a, rows})
	}
	e.helping.mu.Unlock()
	if !waits && rows.Lo < rows.Hi {
		e.o.Remote.Return(from, a, rows, nil)
	}
}

// Gone notes that a rank answers no more, because the run ends there: it has not done what it was
// given and has not returned.
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
				l.undone = append(l.undone, x.rows)
			}
		}
		l.away = slices.DeleteFunc(l.away, func(x chunkAway) bool { return x.rank == rank })
	}
}

// help runs chunks of other ranks, until none has any.
func (l *loopRun) help(w *Worker, s *workerState) {
	e := l.e
	if l.ask.Loop == 0 || l.failed.Load() != maxNode || time.Since(l.since) < e.o.HelpFrom {
		return
	}
	a := l.ask
	a.Worker = int32(w.index)
	e.asks(s, a)
	defer e.asks(s, Ask{})
	for k := 1; k < e.p.Ranks; k++ {
		victim := (e.o.Rank + k) % e.p.Ranks
		e.o.Remote.Ask(victim, a)
		for {
			rows, ok := l.answer(w, s, victim)
			if !ok {
				return // the run ends
			}
			if rows.Lo == rows.Hi {
				break
			}
			e.o.Remote.Ask(victim, a) // the answer may come while this chunk runs
			var made []byte
			if l.run(w.index, rows) == nil {
				d := l.out.(*value.Dense)
				made = l.rowsOf(d, rows)
				s.helped++
			}
			e.o.Remote.Return(victim, a, rows, made)
		}
	}
}

// asks notes what a worker waits for the answer to. An answer that has come and was not taken goes
// back.
func (e *Engine) asks(s *workerState, a Ask) {
	e.helping.mu.Lock()
	s.asking = a
	g := s.given.Swap(nil)
	e.helping.mu.Unlock()
	if g != nil && g.rows.Lo < g.rows.Hi {
		e.o.Remote.Return(g.from, g.ask, g.rows, nil)
	}
}

// answer waits for the answer of a rank. ok is false if the loop has become pointless.
func (l *loopRun) answer(w *Worker, s *workerState, victim int) (rows Rows, ok bool) {
	ok = l.await(w, func() bool {
		gone := l.e.helping.gone[victim].Load() // before the look: what it has said has come before
		if g := s.given.Swap(nil); g != nil {
			rows = g.rows
			return true
		}
		return gone
	})
	return rows, ok
}

// await polls until done. It returns false if the loop has become pointless before.
func (l *loopRun) await(w *Worker, done func() bool) bool {
	for tries := 0; ; tries++ {
		switch {
		case done():
			return true
		case l.e.over(l.id) || w.Stopping():
			return false
		case l.e.o.Remote.Poll():
			tries = 0
		case tries < patientPolls:
			runtime.Gosched()
		default:
			time.Sleep(impatientNap)
		}
	}
}

// A worker that waits for another rank polls so often at full speed, and sleeps so long after each
// further poll.
const (
	patientPolls = 100
	impatientNap = 20 * time.Microsecond
)

// run runs iterations. A panic is an error.
func (l *loopRun) run(worker int, rows Rows) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	return l.steps.Chunk(worker, rows.Lo, rows.Hi)
}

// rowsOf returns the bytes of the rows that iterations make. d is contiguous.
func (l *loopRun) rowsOf(d *value.Dense, rows Rows) []byte {
	lo, hi := rows.Lo/l.perRow, rows.Hi/l.perRow
	return d.View(lo, 0, hi-lo, d.Cols).Bytes()
}

// Returned takes over the rows of a chunk that another rank has run; made is nil if it failed there.
func (e *Engine) Returned(a Ask, rows Rows, made []byte) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[a.Loop]
	if l == nil || l.ask.Execution != a.Execution {
		return // given up
	}
	k := slices.Index(l.away, chunkAway{a.Rank, rows})
	if k < 0 {
		return // the rank is gone, and what it had runs here
	}
	l.away = slices.Delete(l.away, k, k+1)
	if to := l.rowsOf(l.out.(*value.Dense), rows); len(to) == len(made) {
		copy(to, made)
	} else {
		l.undone = append(l.undone, rows)
	}
}

// settle waits for the rows that other ranks make, and runs again here what failed there. The last
// worker calls it. Then nobody else writes the result.
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
	slices.SortFunc(undone, func(a, b Rows) int { return a.Lo - b.Lo })
	for _, rows := range undone {
		if l.e.over(l.id) || int64(rows.Lo) > l.failed.Load() {
			return
		}
		if err := l.run(w.index, rows); err != nil {
			l.fail(int64(rows.Lo), err)
		}
	}
}

// Note [Help among ranks]
//
// A rank makes its own rows, by its own technique. Where these take different times, as those of a
// set of Mandelbrot do, the first to be done would wait for the last. So it asks the others, one
// after the other, and each that has chunks left gives it one at a time. Any rank can run any chunk,
// since all have the operands whole, matrices have their full shape, and a chunk writes only its own
// rows. The rows go back, so after the loop each rank has its own, as without help: no byte and no
// later node depends on who has run what.
//
// A question is answered by the rank's worker between two of its chunks, since techniques expect
// claims by as many workers as they know; and by whoever hears it if the loop has not begun there or
// is exhausted. So an answer takes a chunk's time. A rank whose own rows were done in less than
// EngineOptions.HelpFrom does not ask.
//
// A chunk that fails at a helper is run again at home: so the failure has the rank and the place in
// the order that it has without help. A rank that waits gives up when the loop has become pointless
// because of an earlier failure. A chunk that is given to one that has given up goes back undone, and
// a rank where the run has ended (Gone) has done nothing that it has not returned.
//
// It would be wrong for a loop with an operand of which a rank has only its own rows: the pass that
// spreads loops gives such a loop no number.
