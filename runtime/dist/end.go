package dist

// This file ends a run on all ranks together, in success and in failure.

import (
	"slices"
	"time"

	"flow/ir"
	"flow/runtime/trace"
)

// States of a rank without work.
const (
	busy    = iota
	ended   // all tasks ended and nothing is under way
	drained // after a failure: nothing is under way
)

func (e *ending) init(n int) {
	e.drains = make([]*drain, n)
	e.dones = make([]*done, n)
}

// tell informs all ranks of a failure of this one. Workers call it too.
func (r *rank) tell(f *failure) {
	r.failMu.Lock()
	r.toTell = append(r.toTell, f)
	r.failMu.Unlock()
	r.rouse()
}

// others calls f for every other rank.
func (r *rank) others(f func(to int)) {
	for to := range r.n {
		if to != r.me {
			f(to)
		}
	}
}

// note records a failure, of this rank or another.
func (r *rank) note(f *failure) {
	if !f.before(r.ending.failure) {
		return
	}
	if r.ending.failure == nil {
		r.ending.since = time.Now()
	}
	r.ending.failure = f
	switch f.Severity {
	case taskFailed:
		r.eng.Fail(f.task())
	case interrupted:
		if !r.persists {
			r.ending.limit = time.Now().Add(r.o.patience)
		}
		r.eng.Cancel(&InterruptError{Rank: f.Rank})
	default:
		r.eng.Cancel(f.public())
	}
}

// interrupted is called when this rank's context has ended. A launcher also stops the ranks because
// one of them has died: then the death is reported.
func (r *rank) interrupted(cause error) {
	for range 6 {
		if r.look(); r.ending.failure != nil {
			if r.ending.failure.Severity == taskFailed {
				r.ending.since = time.Time{} // the time for tasks before it is over
			}
			return
		}
		if !r.hasNeighbours() {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	r.ending.cause = cause
	r.tell(&failure{Severity: interrupted, Rank: r.me})
}

// listen handles the control messages that the poller has taken.
func (r *rank) listen() (worked bool) {
	r.pollMu.Lock()
	in := r.inbox
	r.inbox = nil
	bad := r.bad
	r.pollMu.Unlock()
	for _, m := range in {
		worked = worked || m.beat == nil && m.Word == nil
		switch {
		case m.Failure != nil:
			r.note(m.Failure)
		case m.beat != nil:
			m.beat.heard = time.Now()
			r.beats[m.beat.From] = *m.beat
		case m.Word != nil:
			r.answered(m.Word)
		case m.Drain != nil:
			r.ending.drains[m.Drain.From] = m.Drain
			r.eng.Gone(m.Drain.From)
		case m.Done != nil:
			r.ending.dones[m.Done.From] = m.Done
			if f := m.Done.Failure; f != nil {
				r.note(f)
			}
		case m.End != nil:
			r.ending.end = m.End
		}
	}
	if bad != nil && r.ending.end == nil && (r.ending.failure == nil || r.ending.failure.Severity < transportFailed) {
		f := failureOfTransport(bad)
		if f.Severity == rankDied {
			r.describe(f)
		}
		r.tell(f)
	}
	for _, rank := range r.comm.Dead() {
		if rank != r.me && r.ending.end == nil && (r.ending.failure == nil || r.ending.failure.Severity < rankDied) {
			f := &failure{Severity: rankDied, Rank: rank}
			r.describe(f)
			r.tell(f)
		}
	}
	return worked
}

// step advances the end. over: the run has ended on this rank. See Note [Ending together].
func (r *rank) step(now time.Time) (f *Failure, over bool) {
	e := &r.ending
	r.failMu.Lock()
	news := r.toTell
	r.toTell = nil
	r.failMu.Unlock()
	for _, n := range news {
		if n.before(e.failure) {
			r.note(n)
			r.others(func(to int) { r.say(to, &message{Failure: n}) })
		}
	}
	if e.end != nil {
		return r.over(e.end.Failure)
	}
	switch {
	case e.failure == nil:
		if e.idle && e.reported == busy && r.quiet() && r.complete() {
			r.reportDone(ended)
		}
	case e.failure.Severity >= transportFailed:
		r.flush(100 * time.Millisecond)
		return e.failure.public(), true
	default:
		r.windDown(now)
	}
	if !e.limit.IsZero() && time.Now().After(e.limit) {
		f := e.failure.public()
		f.Clean = false
		return f, true
	}
	if r.me == 0 {
		if state, all := r.agreed(); all && (state == ended) == (e.failure == nil) {
			e.end = &end{Failure: r.settled(e.failure)}
			e.said.Store(true)
			r.others(func(to int) { r.say(to, &message{End: e.end}) })
			return r.over(e.end.Failure)
		}
	}
	return nil, false
}

// quiet reports whether no transfer is under way or held.
func (r *rank) quiet() bool {
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	r.adopt()
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.reqs) == r.holes && len(r.fresh) == 0 && (len(r.held) == 0 || r.frozen)
}

// complete reports whether every value has arrived.
func (r *rank) complete() bool {
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	return r.missing == 0
}

// reportDone tells rank 0 that this rank has nothing left to do.
func (r *rank) reportDone(state int) {
	e := &r.ending
	e.reported = state
	d := &done{From: r.me, State: state, Failure: e.failure}
	if f := e.failure; f != nil && f.Severity == taskFailed {
		// An interrupted loop has no vote of its own.
		d.Unsettled = r.eng.Unsettled(ir.ID(f.Node)) || !e.idle && f.Rank == r.me
	}
	if e.idle {
		report, _ := r.eng.Wait()
		r.pollMu.Lock()
		own := r.stats
		r.pollMu.Unlock()
		own.Report = report
		if r.clock != nil {
			own.Processor = (r.clock() - r.consumed).Seconds()
		}
		d.Report = &own
		if rec := r.o.Trace.Recording(); rec != nil {
			rec.Offset = r.offset
			if b, err := rec.MarshalBinary(); err == nil {
				d.Recording = b
			}
		}
	}
	if r.me == 0 {
		e.dones[0] = d
	} else {
		r.say(0, &message{Done: d})
	}
}

// agreed reports whether all ranks have nothing left to do, in the same state.
func (r *rank) agreed() (state int, all bool) {
	for i, d := range r.ending.dones {
		if d == nil || i > 0 && d.State != state {
			return busy, false
		}
		state = d.State
	}
	return state, true
}

// settled returns the failure of all ranks, with what they know about earlier ones.
func (r *rank) settled(f *failure) *failure {
	if f == nil || f.Severity != taskFailed {
		return f
	}
	told := *f
	for _, d := range r.ending.dones {
		told.Unsettled = told.Unsettled || d.Unsettled
	}
	return &told
}

// over ends the run on this rank after rank 0's announcement.
func (r *rank) over(w *failure) (*Failure, bool) {
	r.ending.said.Store(true)
	clean := false
	if w != nil && w.Severity == interrupted && !r.persists {
		clean = r.flush(time.Second) // all in all there are two
	} else {
		clean = r.settle()
	}
	if w == nil {
		if !clean {
			return &Failure{Code: "E705", Err: errUnfinished}, true
		}
		return nil, true
	}
	f := w.public()
	f.Clean = clean
	if i, ok := f.Err.(*InterruptError); ok {
		i.Cause = r.ending.cause
	}
	return f, true
}

// flush polls until nothing is under way.
func (r *rank) flush(limit time.Duration) bool {
	for start := time.Now(); !r.quiet(); {
		if time.Since(start) > limit {
			return false
		}
		if !r.poll() {
			yield()
		}
	}
	return true
}

// settle polls until nothing is under way, however long the others take. It returns false if one of
// them is gone.
func (r *rank) settle() bool {
	for range settleFor {
		if r.flush(time.Second) {
			return true
		}
		if r.awaitsTheGone() {
			break
		}
	}
	return false
}

// settleFor bounds settle, in seconds, for deaths that this rank cannot see.
const settleFor = 30

// awaitsTheGone reports whether a transfer is under way with a rank that no longer runs.
func (r *rank) awaitsTheGone() bool {
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	me := r.peers[r.me]
	dead := r.comm.Dead()
	for i := range r.flights {
		f := &r.flights[i]
		if f.kind == finished {
			continue
		}
		p := r.peers[f.peer]
		if slices.Contains(dead, int(f.peer)) || p.Space == me.Space && p.Space != "" && p.gone() {
			return true
		}
	}
	return false
}

// gathered returns what this rank knows of all.
func (r *rank) gathered() *Report {
	out := &Report{}
	for _, d := range r.ending.dones {
		if d == nil {
			continue
		}
		if d.Report != nil && d.Report.Report != nil {
			out.Ranks = append(out.Ranks, *d.Report)
		}
		if len(d.Recording) > 0 {
			rec := new(trace.Recording)
			if rec.UnmarshalBinary(d.Recording) == nil {
				out.Recordings = append(out.Recordings, rec)
			}
		}
	}
	if r.me != 0 && r.stats.Report != nil {
		out.Ranks = append(out.Ranks, r.stats)
	}
	return out
}

// Note [Ending together]
//
// Success: a rank whose tasks have ended and that has nothing under way tells rank 0 (done); when
// all have, rank 0 announces the end. A failed rank never reports done, so no rank leaves while a
// failure is on its way.
//
// Failure of a task: the rank tells every other rank, once. Each continues with the tasks before
// the failed one, for a bounded time (local, Note [The first failure]), then freezes: it starts no
// message and posts no receive. Requests cannot be taken back, and buffers belong to the transport
// until theirs finish. So each rank tells each other what it has posted and started (drain), and
// both sides supply what is missing: fillers for receives, scratch receives for sends. The budget
// of receives, and what was under way, bound the amount. Then all requests finish, all report done,
// rank 0 announces the end with the first failure, and the Comm is as new.
//
// Interruption works the same way, without earlier tasks; if it takes longer than `goodbye` each
// rank leaves alone.
//
// Death: the dead rank's part cannot be supplied. The rank that notices tells the others, and all
// leave with Clean false.
