package dist

// This file drives transfers: receives are posted ahead, and every idle goroutine polls.

import (
	"errors"
	"runtime"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
	"flow/runtime/trace"
)

func yield() { runtime.Gosched() }

// between polls after a task if the last poll is a while ago, the longer the more polls in a row have
// found nothing: in short tasks a poll of a microsecond after each took a twentieth of the time.
func (r *rank) between(now int64) {
	last, gap := r.lastPoll.Load(), r.pollGap.Load()
	if r.pending.Load()+r.newFresh.Load() == 0 && !r.eng.Helps() {
		gap = int64(pollAnyway)
	}
	if now-last <= gap || !r.lastPoll.CompareAndSwap(last, now) {
		return
	}
	r.attended.Store(true)
	if r.poll() {
		gap = 0
	}
	r.pollGap.Store(min(max(2*gap, int64(pollEvery)), int64(pollSeldom)))
}

// idle polls for a worker that has been without a task for the time waited. The worker that waits
// alone, so for another rank, goes on for attentive and sleeps between its polls: to wake it from a
// sleep of its own takes longer than a message.
func (r *rank) idle(waited time.Duration, alone bool) bool {
	switch {
	case alone && waited < attentive:
		r.wait(waited)
		return true
	case r.pending.Load()+r.newFresh.Load() > 0:
		r.attended.Store(true)
		if r.poll() || waited < r.keen {
			return true
		}
	}
	r.leave()
	return false
}

// wait is local.Remote.Wait. It does not yield: the thread of a worker would be handed over.
func (r *rank) wait(waited time.Duration) {
	r.attended.Store(true)
	switch {
	case r.poll() || waited < r.keen:
	case r.closely(waited):
		transport.Nap(firstNap)
	default:
		transport.Nap(transport.NapAfter(waited))
	}
}

// poll drives all transfers, unless another goroutine does. It returns true if something happened.
func (r *rank) poll() bool {
	if !r.pollMu.TryLock() {
		return false
	}
	defer r.pollMu.Unlock()
	r.stats.Polls++
	r.adopt()
	worked := r.post()
	if r.hear() {
		worked = true
	}
	r.adopt()
	// The oldest are the likeliest; the others take turns. Checking each of 256 posted receives
	// in every poll cost 10 us a message.
	if r.test(r.oldest, r.oldest+testAtOnce) {
		worked = true
	}
	if len(r.reqs) > r.oldest+testAtOnce {
		if r.turn = r.turn + testAtOnce; r.turn >= len(r.reqs) || r.turn < r.oldest+testAtOnce {
			r.turn = r.oldest + testAtOnce
		}
		if r.test(r.turn, r.turn+testAtOnce) {
			worked = true
		}
	}
	r.pending.Store(int32(len(r.reqs) - r.holes))
	if worked {
		r.lastWork.Store(int64(time.Since(r.epochOfClock)))
	}
	return worked
}

// adopt takes over the requests that were started since. pollMu is held, as in all functions below.
func (r *rank) adopt() {
	if r.newFresh.Load() == 0 {
		return
	}
	r.mu.Lock()
	for _, f := range r.fresh {
		r.underWay.Add(needsBoth(&f))
		r.reqs = append(r.reqs, f.req)
		r.flights = append(r.flights, f)
	}
	clear(r.fresh)
	r.fresh = r.fresh[:0]
	r.newFresh.Store(0)
	r.mu.Unlock()
}

// testAtOnce is how many requests one Testsome checks.
const testAtOnce = 16

// test checks requests from lo on, below hi. It returns true if a value arrived or was sent:
// heartbeats must not keep an idle rank awake.
func (r *rank) test(lo, hi int) (worked bool) {
	hi = min(hi, len(r.reqs))
	if lo >= hi {
		return false
	}
	var err error
	if r.done, err = r.comm.Testsome(r.reqs[lo:hi], r.done[:0]); err != nil {
		r.broken(err)
	}
	if f := r.starved; f != nil {
		r.starved = nil
		r.eng.Fail(f)
	}
	if len(r.done) == 0 {
		return false
	}
	// Failed ones bring no value: broken has ended the run.
	failed := map[int]bool(nil)
	for _, f := range transport.Failures(err) {
		if failed == nil {
			failed = map[int]bool{}
		}
		failed[f.Index] = true
	}
	for _, i := range r.done {
		f := &r.flights[lo+i]
		if r.underWay.Add(-needsBoth(f)); f.kind == heartbeat {
			r.beating[f.peer].Store(false)
		}
		worked = worked || f.kind != control && f.kind != heartbeat
		if !failed[i] {
			r.land(f)
		}
		*f = flight{kind: finished}
	}
	for r.oldest < len(r.flights) && r.flights[r.oldest].kind == finished {
		r.oldest++
	}
	if r.holes += len(r.done); 4*r.holes > len(r.reqs) {
		r.compact()
	}
	return worked
}

// compact closes the gaps of finished requests, keeping the order.
func (r *rank) compact() {
	kept := 0
	for i := range r.flights {
		if r.flights[i].kind != finished {
			r.flights[kept], r.reqs[kept] = r.flights[i], r.reqs[i]
			kept++
		}
	}
	clear(r.flights[kept:])
	r.flights, r.reqs, r.holes = r.flights[:kept], r.reqs[:kept], 0
	r.oldest = 0
}

// land handles one successful transfer.
func (r *rank) land(f *flight) {
	switch f.kind {
	case sending, sendingCopy:
		r.countSent(f, plan.IsRead(r.p.Graph, f.source))
		r.record(trace.Send, f)
		r.eng.Release(f.source)
	case receiving:
		r.awaited--
		x := &r.routes.receives[f.at]
		var v value.Value
		if p := f.placed; p != nil {
			if p.wasted {
				r.wasting = false
				return
			}
			f.dense = p.dense
			f.buf = x.in(f.dense.Bytes())
		}
		switch x.form {
		case inPlace:
			v = f.dense
		case fixed:
			v = getScalar(f.buf, r.p.Graph.Type(x.exchange).Elem)
		}
		r.record(trace.Receive, f)
		r.received(int(f.at), v, int64(len(f.buf)))
	case giving, taking:
		r.gatheredOne(f)
	case filler:
		if f.placed != nil {
			r.wasting = false
		}
	}
}

// received hands a value to the engine, passes it on and starts its readers.
func (r *rank) received(at int, v value.Value, bytes int64) {
	id := r.routes.receives[at].exchange
	r.arrived[at] = true
	r.missing--
	r.stats.MessagesReceived++
	r.stats.BytesReceived += bytes
	r.stats.Forwarded += int64(len(r.routes.of(id)))
	if err := r.eng.Deliver(id, v); err != nil {
		r.eng.Fail(&local.TaskFailure{Node: id, Rank: r.me, Err: err})
	}
}

// post starts receives ahead of their time. See Note [Receives cannot deadlock].
func (r *rank) post() (worked bool) {
	if !r.started.Load() || r.ending.frozen.Load() {
		return false
	}
	for r.next < len(r.routes.receives) {
		x := &r.routes.receives[r.next]
		if x.form == variable { // comes over Control by itself
			r.next++
			continue
		}
		late := x.form == inPlace && x.bytes >= r.o.placed
		over := r.awaited >= r.o.MaxPosted || !late && r.awaited+int(r.used.Load()) > 0 && r.used.Load()+int64(x.memory) > r.o.Budget
		if over && x.pos > r.eng.FirstUnfinished() {
			return worked
		}
		f := flight{kind: receiving, at: int32(r.next), peer: x.src, num: x.num, id: x.exchange, started: r.now()}
		var q transport.Request
		switch {
		case late:
			f.placed = &placed{r: r, x: x}
			q = r.comm.IrecvPlaced(int(x.src), int(x.num%r.window), x.bytes, f.placed.place)
		case x.form == inPlace:
			b, err := r.eng.Buffers().GetPart(x.memory, x.bytes)
			if err != nil {
				if r.awaited == 0 || x.pos <= r.eng.FirstUnfinished() {
					r.eng.Fail(&local.TaskFailure{Node: x.exchange, Rank: r.me, Err: op.NoMemory(err)})
				}
				return worked // memory will come back
			}
			t := r.p.Graph.Type(x.exchange)
			f.dense, f.buf = value.Over(b, t.Elem, t.Rows, t.Cols), x.in(b)
			r.used.Add(int64(x.memory))
		case x.form == fixed:
			f.buf = make([]byte, scalarBytes)
		}
		if !late {
			q = r.comm.Irecv(transport.Data, int(x.src), int(x.num%r.window), f.buf)
		}
		r.reqs = append(r.reqs, q)
		r.flights = append(r.flights, f)
		r.posted[x.src] = x.num + 1
		r.awaited++
		r.next++
		worked = true
	}
	return worked
}

// freed returns a received value's share of the budget.
func (r *rank) freed(id ir.ID) {
	if f, bytes := formOf(r.p.Graph.Type(id)); f == inPlace {
		r.used.Add(-int64(bytes))
		r.nudge()
	}
}

// hear handles messages on Control: values go to the engine, others to Run's goroutine.
func (r *rank) hear() (worked bool) {
	if !r.started.Load() || r.ending.said.Load() {
		return false
	}
	for len(r.early) > 0 {
		m := r.early[0]
		r.early = r.early[1:]
		r.hearOne(m)
	}
	for {
		m, ok, err := r.comm.TryRecv(transport.Control)
		if err != nil {
			r.broken(err)
			return worked
		}
		if !ok {
			return worked
		}
		worked = r.hearOne(m) || worked
	}
}

// hearOne handles one message. It returns true unless it was a heartbeat or the like, which must
// not keep an idle rank awake.
func (r *rank) hearOne(m transport.Message) bool {
	r.heardFrom(m.Src)
	if m.Tag == tagClear {
		epoch, shown, err := getClear(m.Payload)
		switch {
		case err != nil:
			r.broken(err)
		case epoch == r.epoch:
			r.eng.Clear(shown, m.Src)
		}
		return true
	}
	if m.Tag == tagHelp {
		r.helped(m.Src, m.Payload)
		return true
	}
	if m.Tag != tagValue {
		c, err := decode(m.Payload)
		if err != nil {
			r.broken(err)
			return true
		}
		if c.Epoch == r.epoch { // else of an earlier run on this Comm
			r.inbox = append(r.inbox, c)
			r.rouse()
		}
		return c.beat == nil && c.Word == nil
	}
	epoch, id, v, err := getValue(m.Payload)
	if err != nil {
		r.broken(err)
		return true
	}
	if epoch != r.epoch || r.ending.frozen.Load() {
		return true
	}
	at, ok := r.variables[id]
	if !ok || r.arrived[at] {
		r.broken(errors.New("BUG: a value arrived that this rank does not expect"))
		return true
	}
	if m, ok := v.(*value.CSR); ok && ownRows(r.p, id) {
		rows := r.p.Graph.Type(id).Rows
		lo, _ := plan.SentRows(r.p.Graph.Nodes[id].Attrs, r.me, r.n, rows)
		v = m.Padded(lo, rows)
	}
	r.received(at, v, int64(len(m.Payload)))
	return true
}

// Note [Receives cannot deadlock]
//
// Receives are posted in the order of pos, the first task on any rank that reads the exchange, and
// per pair of ranks messages are numbered in that order. The budget may stop posting, and keep what
// has arrived from being placed, except for what comes before the rank's own first unfinished task.
//
// Claim: while tasks are unfinished, something moves. Let T be the unfinished task that comes first
// in the program, over all ranks. What T reads was produced by tasks before T, so it has been
// produced, and so has everything with pos <= T, because an exchange is produced before its first
// reader. Let e have pos <= T, and let rank r be next on e's way down the tree. All tasks of r
// before T are finished, so r's first unfinished task is not before T. So the budget does not stop
// r from posting e and everything before e in its order, nor from placing them. Everything before e
// has pos <= T as well. Its sends have started at their owners: the window may hold message m for
// message m - window, which comes earlier in the order and has been produced too. By induction over
// the order and over the depth in the tree, e arrives, T's inputs are complete, and T runs:
// executors do not wait for anything else.
//
// It would be wrong if posting were in the order of arrival, or if a value that was received early
// could hold the budget against what T needs. That is why the exception exists and is unbounded.
//
// Gathers (gather.go) are not posted ahead, and they stand in loops, too. The order of the program goes
// on in a loop: by round, and in a round by place. All ranks run the same rounds and branches, because
// the values that a condition reads have the same bytes on all of them. Let the first unfinished task T
// in this order, over all ranks, be a gather. What T reads comes before T, so it is finished on every
// rank. So every rank begins T, and no worker waits for its end. Its receives need no budget, as rows
// arrive in memory that the rank has already. Its messages match: others with its tag are of earlier
// rounds, which are finished, or of later ones, which are sent after those of T. So T ends.
//
// It would be wrong if a condition read a value that differs among ranks, or if a rank could begin a
// round of a loop before it has begun all gathers of the round before.
