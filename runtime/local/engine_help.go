package local

// This file lets ranks help each other with a loop whose rows they share: work stealing, started by
// the rank without work. A rank whose own rows are nearly done asks another for iterations, and gets
// half of what that has left. The rows come back as copies, into their place. See Note [Help among
// ranks].

import (
	"fmt"
	"math"
	"slices"
	"time"

	"flow/ir/op"
	"flow/ir/value"
	"flow/runtime/schedule"
)

// The numbers of requests.
const (
	// firstTrip is the time that a request takes as long as none was measured.
	firstTrip = 200 * time.Microsecond
	// leads is the round trips before the estimated end of a rank's work at which it asks for more.
	leads = 2
	// probes is how many requests a rank without work has under way: the next one goes out when the
	// last was not answered for late round trips, because its rank may be stopped.
	probes, late = 3, 8
	// maxReturn bounds the bytes of the rows that come back in a message.
	maxReturn = 4 << 20
	// tryAgain is how many executions of a loop there are to one in which a rank asks in any case.
	tryAgain = 32
	// A rank that may give some later is asked again after this part of the time since the loop began,
	// or after askLatest.
	askAgain  = 16
	askLatest = 10 * time.Millisecond
)

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
		h.open, h.begun, h.vain, h.late = map[int32]*loopRun{}, map[int32]int32{}, map[int32]bool{}, map[int32]int32{}
		h.trip.Store(int64(firstTrip))
		h.fast.Store(int64(firstTrip))
	}
	h.begun[number]++ // also if this rank takes no help, so that all ranks count alike
	defer e.unpacks()
	if l.perRow = full / rows; !ok || out.Rows != rows || out.Stride != out.Cols {
		return
	}
	l.carry = l.carry[:0]
	for _, k := range e.g.Nodes[l.id].Attrs.Ints(op.CarryAttr) {
		d, ok := l.in[k].(*value.Dense)
		if !ok || d.Rows != rows {
			return
		}
		l.carry = append(l.carry, d)
	}
	l.ask = Ask{Rank: e.o.Rank, Loop: number, Execution: h.begun[number]}
	l.since, l.exhausted, l.busy = time.Now(), false, 0
	l.asked, l.asking, l.given = l.asked[:0], l.asking[:0], l.given[:0]
	l.undone, l.away, l.returned = l.undone[:0], l.away[:0], l.returned[:0]
	l.waiting.Store(0)
	l.handed.Store(0)
	l.pace.Store(0)
	l.left.Store(int64(l.n))
	l.hints, l.dry, l.again = schedule.Hints{}, make([]bool, e.p.Ranks), make([]float64, e.p.Ranks)
	l.moved, l.spare = l.moved[:0], l.spare[:0]
	l.spares.Store(0)
	l.expects.Store(0)
	l.spent.Store(0)
	h.open[number] = l
	h.opened.Store(int32(len(h.open)))
	l.moves()
}

// Helps reports whether another rank may ask for iterations: then a busy rank has to listen.
func (e *Engine) Helps() bool { return e.helping.opened.Load() > 0 }

// clock returns the seconds since the execution began.
func (l *loopRun) clock() float64 { return time.Since(l.since).Seconds() }

// trip returns the seconds from a request to its answer, as measured.
func (l *loopRun) trip() float64 { return time.Duration(l.e.helping.trip.Load()).Seconds() }

// each returns the seconds that a worker takes for an iteration, as last measured; 0: unknown.
func (l *loopRun) each() float64 { return math.Float64frombits(l.pace.Load()) }

// mayHelp reports whether it may pay to ask. Where this rank's rows took no time those of others may
// take long, so that is tried: in executions 1, 2, 4 and so on, because ranks may begin the first at
// different times, as long as there is something to do, and now and then.
func (l *loopRun) mayHelp() bool {
	k := l.ask.Execution
	if time.Since(l.since) >= l.e.o.HelpFrom || k%tryAgain == 1 || k < tryAgain && k&(k-1) == 0 {
		return true
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.vain[l.ask.Loop]
}

// note keeps whether the requests of an execution were in vain.
func (h *helping) note(loop int32, vain bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.vain[loop] = vain
}

// foresees asks for more if a worker with so many iterations before it will soon have none.
func (l *loopRun) foresees(rest int) {
	each := l.each()
	if l.left.Load()+l.handed.Load() > 0 || each == 0 || float64(rest)*each > leads*l.trip() || time.Since(l.since) < l.e.o.HelpFrom {
		return
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l.request(false)
}

// request asks a rank for iterations, if no request is under way, or none was answered for long and a
// worker is idle. It returns false if no request is under way, and none will be. helping.mu is held.
func (l *loopRun) request(idle bool) bool {
	now, n := l.clock(), len(l.asking)
	if n == 0 || idle && n < probes && now-l.asking[n-1].at > late*l.trip() {
		if to := l.victim(now); to >= 0 {
			l.asking = append(l.asking, asking{to, now})
			l.e.o.Remote.Ask(int(to), l.ask)
		}
	}
	for r, at := range l.again {
		if at > 0 && l.mayHave(r) && !l.e.wanted() {
			return true
		}
	}
	return len(l.asking) > 0
}

// mayHave reports whether a rank may have iterations of this execution. It has none once it has begun
// a later one, and its answer would take long if it waits for other ranks. helping.mu is held.
func (l *loopRun) mayHave(rank int) bool {
	h := &l.e.helping
	return rank != l.e.o.Rank && !h.gone[rank] && h.reached[rank][l.ask.Loop] <= l.ask.Execution
}

// reaches notes that a rank has begun so many executions of a loop. helping.mu is held.
func (h *helping) reaches(rank int, loop, begun int32) {
	if h.reached[rank] == nil {
		h.reached[rank] = map[int32]int32{}
	}
	h.reached[rank][loop] = max(h.reached[rank][loop], begun)
}

// idles reports whether no worker runs a task. Then this rank waits for another one.
func (e *Engine) idles() bool {
	p := e.pool
	return int(p.asleep.Load()+p.searching.Load()+e.helping.waits.Load()) >= len(p.workers)
}

// victim returns the rank to ask: one that is known to have work, or else the next rank whose last
// answer was not empty. Ranks on the same machine come first. It returns -1 if there is none.
func (l *loopRun) victim(now float64) int32 {
	e := l.e
	may := func(r int32) bool {
		return l.mayHave(int(r)) && l.again[r] <= now && !slices.ContainsFunc(l.asking, func(a asking) bool { return a.to == r })
	}
	near := func(r int32) bool { return e.o.Remote.Near == nil || e.o.Remote.Near(int(r)) }
	if to := l.hints.Victim(now, l.trip(), near, may); to >= 0 {
		return to
	}
	for _, same := range []bool{true, false} {
		for k := 1; k < e.p.Ranks; k++ {
			if to := int32((e.o.Rank + k) % e.p.Ranks); near(to) == same && !l.dry[to] && may(to) {
				return to
			}
		}
	}
	return -1
}

// Given handles the answer of another rank to a request of this one. What comes after the execution
// has ended here goes back undone. The error says what is wrong with the message.
func (e *Engine) Given(from int, a Ask, g Gift) error {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.accept(from, a, g)
}

// accept is Given while helping.mu is held.
func (e *Engine) accept(from int, a Ask, g Gift) error {
	h := &e.helping
	h.reaches(from, a.Loop, g.Begun)
	for _, x := range g.Lent {
		if x.Home < 0 || x.Home >= e.p.Ranks {
			return fmt.Errorf("rank %d gives rows of rank %d, and there are %d ranks", from, x.Home, e.p.Ranks)
		}
	}
	l := h.open[a.Loop]
	if g.Moved && a.Rank == e.o.Rank && a.Execution > h.begun[a.Loop] && !h.gone[from] {
		h.early = append(h.early, earlyGift{from, a, g})
		return nil
	}
	if l == nil || l.ask != a || h.gone[from] { // of a rank that is gone, Gone has ended the request
		for _, x := range g.Lent {
			if x.Home != e.o.Rank {
				e.o.Remote.Return(x.Home, a, x.Chunk, nil, 0)
			}
		}
		return nil
	}
	now, trip := l.clock(), l.trip()
	if k := slices.IndexFunc(l.asking, func(x asking) bool { return int(x.to) == from }); g.Moved {
		l.expects.Add(-1)
	} else if k < 0 {
		return fmt.Errorf("rank %d answers a request that it has not got", from)
	} else {
		took := now - l.asking[k].at
		h.trip.Store(int64((trip + (min(took, 4*trip)-trip)/8) * 1e9))
		h.fast.Store(min(int64(took*1e9), h.fast.Load()*9/8))
		l.asking = slices.Delete(l.asking, k, k+1)
	}
	for _, x := range g.Lent {
		switch err := l.check(x); {
		case err != nil:
			return fmt.Errorf("rank %d gives %w", from, err)
		case x.Home == e.o.Rank && !partOf(l.away, x.Chunk):
			continue // a rank is gone, and what was away runs here
		}
		l.given = append(l.given, x)
		l.handed.Add(int64(x.size()))
	}
	rows, size := g.Rows, 0
	l.rowsFor(e.o.Rank, g.Lent, func(to []byte) { size += len(to) })
	if size != len(rows) {
		return fmt.Errorf("rank %d gives %d bytes of inputs with iterations of loop %d that need %d", from, len(rows), a.Loop, size)
	}
	l.rowsFor(e.o.Rank, g.Lent, func(to []byte) { rows = rows[copy(to, rows):] })
	l.dry[from], l.again[from] = len(g.Lent) == 0 && !g.Later, 0
	if g.Later {
		l.again[from] = now + max(trip, min(now/askAgain, askLatest.Seconds()))
	}
	for i, x := range g.Hints {
		if x.Rank < 0 || int(x.Rank) >= e.p.Ranks {
			return fmt.Errorf("rank %d names a rank %d, and there are %d", from, x.Rank, e.p.Ranks)
		}
		if x.At = now; x.Left > 0 && (i > 0 || len(g.Lent) > 0) {
			l.hints.Learn(x)
		}
	}
	return nil
}

// check returns what is wrong with iterations that a message names: they are whole rows, and rows of
// their home.
func (l *loopRun) check(x Lent) error {
	lo, n, err := l.e.window(&l.call, x.Home, l.out.(*value.Dense).Rows*l.perRow)
	if hi := lo + n; err == nil && (x.Lo < lo || x.Hi > hi || x.Lo >= x.Hi || x.Lo%l.perRow != 0 || x.Hi%l.perRow != 0) {
		err = fmt.Errorf("iterations %d to %d of loop %d, which are not rows of rank %d: it has %d to %d, %d a row", x.Lo, x.Hi, l.ask.Loop,
			x.Home, lo, hi, l.perRow)
	}
	return err
}

// Gone notes that a rank answers no more, because the run ends there. What others have may have come
// to it, so all that is away is undone.
func (e *Engine) Gone(rank int) {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone[rank] = true
	for _, l := range h.open {
		l.asked = slices.DeleteFunc(l.asked, func(a Ask) bool { return a.Rank == rank })
		l.waiting.Store(int32(len(l.asked)))
		l.asking = slices.DeleteFunc(l.asking, func(a asking) bool { return int(a.to) == rank })
		l.undone = append(l.undone, l.away...)
		l.away = l.away[:0]
	}
}

// help runs iterations of other ranks until none has any.
func (l *loopRun) help(w *Worker, s *workerState) {
	e := l.e
	if l.ask.Loop == 0 || l.failed.Load() != maxNode || l.handed.Load() == 0 && l.expects.Load() <= 0 && !l.mayHelp() {
		return
	}
	helped := s.helped
	defer func() { e.helping.note(l.ask.Loop, s.helped == helped) }()
	for step := 1; ; {
		x, ok := l.nextGiven(w, s)
		if !ok {
			return
		}
		began := time.Now()
		err := l.runGiven(w, x.Chunk, &step)
		s.helped++
		l.hasRun(x, err, time.Since(began))
	}
}

// hasRun returns the rows of iterations that a worker has run for a rank, or says that it failed:
// then they run again at home, where the failure is reported.
func (l *loopRun) hasRun(x Lent, err error, took time.Duration) {
	if x.Home != l.e.o.Rank {
		var made []byte
		if err == nil {
			made = l.rowsOf(l.out.(*value.Dense), x.Chunk)
		}
		l.e.o.Remote.Return(x.Home, l.ask, x.Chunk, made, took.Seconds())
		return
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l.arrives(x.Chunk, l.e.o.Rank, took.Seconds(), err == nil)
}

// nextGiven waits for iterations of other ranks, and takes some. ok is false if there is nothing to
// wait for, or the loop has become pointless.
func (l *loopRun) nextGiven(w *Worker, s *workerState) (x Lent, ok bool) {
	since := time.Now()
	defer func() { s.waited += int64(time.Since(since)) }()
	h := &l.e.helping
	l.await(w, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if x = l.takeGiven(); x.size() > 0 {
			ok = true
			return true
		}
		return !l.request(true) && (l.expects.Load() <= 0 || l.clock() > late*l.trip())
	})
	return x, ok
}

// takeGiven takes some of what others gave: a part that leaves as much for each other worker, and for
// ranks that ask, but no less than is worth a message. helping.mu is held.
func (l *loopRun) takeGiven() (x Lent) {
	if len(l.given) == 0 {
		return x
	}
	n := int(l.handed.Load()) / (2 * len(l.e.scratch))
	if each := l.each(); each > 0 {
		n = max(n, int(shortPart.Seconds()/each))
	}
	n = max(min(n, l.most(), max(l.n/givenParts, 1)), 1)
	first := &l.given[0]
	x = Lent{first.Home, Chunk{first.Lo, min(first.Hi, first.Lo+(n+l.perRow-1)/l.perRow*l.perRow)}}
	if first.Lo = x.Hi; first.size() == 0 {
		l.given = slices.Delete(l.given, 0, 1)
	}
	l.handed.Add(-int64(x.size()))
	return x
}

// await polls until done. It returns false if an earlier failure or the end of the run has made the
// loop pointless before. So it ends although another rank may never answer.
func (l *loopRun) await(w *Worker, done func() bool) bool {
	l.e.helping.waits.Add(1)
	defer l.e.helping.waits.Add(-1)
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

// rowsFor calls f with the memory of the rows of inputs (op.CarryAttr) that go to a rank with the
// iterations lent, in their order. The rank has the rows of its own iterations.
func (l *loopRun) rowsFor(rank int, lent []Lent, f func(rows []byte)) {
	for _, x := range lent {
		for _, d := range l.carry {
			lo, hi, step := x.Lo/l.perRow, x.Hi/l.perRow, 1
			if x.Home == rank {
				continue
			}
			if d.Stride == d.Cols {
				step = hi - lo
			}
			for ; lo < hi; lo += step {
				f(d.View(lo, 0, step, d.Cols).Bytes())
			}
		}
	}
}

// rowBytes returns how many bytes are sent for a row of the result: that row, and those of the inputs
// in carry.
func (l *loopRun) rowBytes() int {
	n := len(l.rowsOf(l.out.(*value.Dense), Chunk{0, l.perRow}))
	l.rowsFor(-1, []Lent{{Chunk: Chunk{0, l.perRow}}}, func(rows []byte) { n += len(rows) })
	return n
}

// Note [Help among ranks]
//
// A rank makes its own rows, by its own technique. Rows may take very different times. Then the rank
// that is done first would wait for the last. So it asks other ranks, and each that has iterations
// left gives it some. Any rank can run any row: all have the operands whole, matrices have their full
// shape, and rows are written apart. Of an operand whose rows ranks share, row i goes with iteration i,
// into its place on the other rank, where no other iteration reads or writes it. The rows of the result
// go back to their home, so after the loop each rank has its own, as without help. No byte and no later
// node depends on which rank has run a row.
//
// A rank asks when what it has left will take less than leads round trips, as measured, so that the
// answer is there in time. It asks the rank with most left as far as it knows (schedule.Hints), on
// the same machine first. A technique expects claims by as many workers as it knows. So a worker
// answers, between two parts of a chunk, with half of what is left on its rank, less what that does
// in a round trip; of several requests each gets an equal share. What was given can be given on. A
// rank whose own rows are claimed answers when the request arrives. So an answer takes up to a part's
// time. A rank that cannot know yet answers that it may give some later (Gift.Later), and is asked
// again: its rows were cheap so far, or it has not begun the execution. Ranks whose rounds need nothing
// of each other drift apart, and so the faster ones wait and help. A rank all of whose workers wait
// promises nothing: otherwise ranks could wait for each other. Messages tell the executions that
// ranks have begun, and no rank asks another that is ahead: its answer takes long if it waits or has
// ended. A rank whose own rows were done in less than EngineOptions.HelpFrom asks only if the last
// time was not in vain, and in some executions (loopRun.mayHelp). Rows that are made faster than
// they are copied are not given away.
//
// Under a technique that knows costs (schedule.Queues.Costs), ranks tell each other after an execution
// how long their rows took, and nothing waits for that (Engine.Told). Before the first chunk of the
// next one, a rank with more than the mean gives rows to ranks with less (schedule.Moves). It sends
// them unasked, as an answer. Such a gift may come before its execution has begun, and waits
// (earlyGift). A rank that waits for rows of another loop sends it back undone (Engine.refuses):
// otherwise two ranks that run two loops in different orders would wait for each other. A rank that
// expects gifts waits for them a few round trips. Ranks that know different times give other rows than
// are expected, and each row is still run once. Ranks that wait for each other in no round may be many
// rounds apart. Then gifts come back undone, and one worker runs them at the end of the loop. So after
// such an execution a loop makes none in the next tryAgain ones.
//
// The rows come back with the time that they took, under the number of the worker that made them, of
// all ranks' workers. So a technique learns the costs of all iterations and the speeds of all workers
// for the next execution.
//
// A chunk that fails at a helper is run again at home, so the failure has the rank and the place that
// it has without help. A rank stops waiting when an earlier failure has made the loop pointless.
// Iterations that are given to a rank that has stopped waiting go back undone. Where a run has ended
// on a rank (Gone) it returns no more, and what was given to others may have been given to it. So all
// that is away then runs here, and what still returns is dropped.
//
// It would be wrong for a loop that reads rows of an operand that a rank does not have: the pass that
// spreads loops gives such a loop no number (plan.Helped). It would also be wrong for a kernel that
// makes something of all rows of an operand before the first iteration, if its rows come with
// iterations (op.CarryAttr).
