package local

// This file decides which failure is reported, and handles messages from other ranks.

import (
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/lang/source"
)

func (f *TaskFailure) Error() string {
	return fmt.Sprintf("task %d on rank %d: %v", f.Node, f.Rank, f.Err)
}

// Unwrap returns the kernel's error.
func (f *TaskFailure) Unwrap() error { return f.Err }

// Message returns the failure as users read it: `potrf: leading minor 17 is not positive definite,
// in L[3,3] version 3 (k = 3), cholesky.flow:11:13`. It omits what p does not know.
func (f *TaskFailure) Message(p *plan.Plan) string {
	g, id, ok := p.Graph.Follow(f.Node, f.Within)
	if !ok {
		return f.Err.Error()
	}
	n := &g.Nodes[id]
	s := n.Op.Told(f.Err.Error())
	if where := p.WhereWithin(f.Node, f.Within); where != "" {
		s += ", in " + where
	}
	if at := f.Span(p); p.Files != nil && at.IsValid() {
		file, line, col := p.Files.Position(at.From)
		s += fmt.Sprintf(", %s:%d:%d", file, line, col)
	}
	return s
}

// Span returns the place of the failure in the text: the node, or an action in its body.
func (f *TaskFailure) Span(p *plan.Plan) source.Span {
	var x *op.Failure
	if errors.As(f.Err, &x) && x.At != (op.Place{}) {
		return source.Span{From: source.Pos(x.At.From), To: source.Pos(x.At.To)}
	}
	return p.Graph.Nodes[f.Node].Span
}

// Fail makes f the engine's failure unless an earlier task has failed already. f may be another
// rank's. See Note [The first failure].
func (e *Engine) Fail(f *TaskFailure) {
	e.failMu.Lock()
	if f.place = e.placeOf(f); f.Rank == e.o.Rank {
		first := e.place(f.Node)
		if lp := e.controlOf(f.Node); lp != nil {
			first = lp.place
		}
		f.order = f.place - first
	}
	if e.failure != nil && !precedes(f, e.failure) {
		e.failMu.Unlock()
		return
	}
	e.failure = f
	if !e.expired {
		e.failedAt.Store(f.place - 1)
		e.passes() // a round that begins now sees the failure, or is seen here
	}
	if e.grace == nil {
		e.grace = time.AfterFunc(e.o.Grace, e.expire)
	}
	place := f.place
	e.failMu.Unlock()
	if e.o.Remote != nil && f.Rank == e.o.Rank {
		e.o.Remote.Failed(f)
	}
	e.giveUp(place - 1)
}

// expire ends the time for tasks before the failed one: all that have not begun are skipped.
func (e *Engine) expire() {
	e.failMu.Lock()
	e.expired = true
	e.failedAt.Store(-1)
	e.failMu.Unlock()
	e.giveUp(-1)
}

// passOver is called for the node of a task that is skipped or stopped because of a failure.
func (e *Engine) passOver(id ir.ID) {
	if e.failedAt.Load() >= 0 {
		return // the grace is not over, so the task comes after the failed one
	}
	e.failMu.Lock()
	defer e.failMu.Unlock()
	if !e.unsettled && e.place(id)+1 < e.failure.place && ir.MayFail(e.g, id) {
		e.unsettled = true
	}
}

// Place orders failures of one node, of any rank: the lesser place comes first in the program. It
// counts from the first place of the node, because ranks have different loops before it.
func (f *TaskFailure) Place() int64 { return f.order }

// Unsettled reports whether tasks of this rank before node id that may fail have not succeeded. It
// needs Remote.
func (e *Engine) Unsettled(id ir.ID) bool {
	for t, x := range e.task[:e.dag.counted()] {
		if x >= id {
			break
		}
		if e.done[t/32].Load()>>(t%32)&1 == 0 && ir.MayFail(e.g, x) {
			return true
		}
	}
	e.failMu.Lock()
	defer e.failMu.Unlock()
	return e.unsettled // a task of a loop
}

// Failure returns the failure so far, or nil.
func (e *Engine) Failure() *TaskFailure {
	e.failMu.Lock()
	defer e.failMu.Unlock()
	return e.failure
}

// Cancel ends the run with err, which Wait returns unless a task has failed.
func (e *Engine) Cancel(err error) { e.running().Cancel(err) }

// externalAt returns the position of exchange id among the values that this rank receives. ok is
// false for others.
func (e *Engine) externalAt(id ir.ID) (i int, ok bool) {
	i = sort.Search(len(e.external), func(i int) bool { return e.external[i] >= id })
	return i, i < len(e.external) && e.external[i] == id
}

// Deliver hands over the value of exchange id. The engine owns it from now on, and its memory if
// the engine's Buffers lent it. It fails if the value was delivered before, or is not received by
// this rank.
func (e *Engine) Deliver(id ir.ID, v value.Value) error {
	i, ok := e.externalAt(id)
	if !ok {
		return fmt.Errorf("BUG: rank %d received %%%d, which it does not need", e.o.Rank, id)
	}
	if !e.extState[i].CompareAndSwap(0, 1) {
		if e.Failure() == nil {
			return fmt.Errorf("BUG: rank %d received %%%d twice", e.o.Rank, id)
		}
		// skipped here, but others may need it; Close frees it
		if e.o.Remote.Sends(id) > 0 {
			e.slot[id] = v
			e.holdReceived(v)
			e.o.Remote.Produced(id, v)
		} else {
			e.discard(v)
		}
		return nil
	}
	if e.uses[id] == 0 {
		e.discard(v)
		e.o.Remote.Freed(id)
		return nil
	}
	e.slot[id] = v
	e.holdReceived(v)
	if e.o.Remote.Sends(id) > 0 {
		e.o.Remote.Produced(id, v)
	}
	e.satisfy(i)
	return nil
}

// holdReceived counts a received sparse matrix. Others are in buffers.
func (e *Engine) holdReceived(v value.Value) {
	if v.Type().IsSparse() {
		e.buffers.Hold(v)
	}
}

// satisfy tells the readers of external i that it has arrived.
func (e *Engine) satisfy(i int) {
	r := e.running()
	for _, t := range e.extTask[e.extOff[i]:e.extOff[i+1]] {
		r.Satisfy(t)
	}
}

// giveUp ends the wait for values that only tasks after a place in program order read, which are
// skipped.
func (e *Engine) giveUp(place int64) {
	for i := range e.external {
		from, to := e.extOff[i], e.extOff[i+1]
		if from < to && e.firstOf(e.extTask[from:to]) > place && e.extState[i].CompareAndSwap(0, 1) {
			e.satisfy(i)
		}
	}
	for _, g := range e.gathers {
		if e.place(g.id) > place {
			e.arrived(g)
		}
		if g.loop != nil && e.place(g.loop.node) > place {
			e.forgo(g)
		}
	}
	for k, a := range e.awaits {
		if e.place(k.shown) > place && a.given.CompareAndSwap(false, true) {
			e.running().Satisfy(a.task)
		}
	}
}

// firstOf returns the first place in program order of some tasks. Entering a loop comes before all
// of the loop, and the loop's node after it.
func (e *Engine) firstOf(tasks []int32) int64 {
	first := int64(maxNode)
	for _, t := range tasks {
		at := e.place(e.task[t])
		if s, ok := e.steer[t]; ok && s.role == enters {
			at = s.loop.place
		}
		first = min(first, at)
	}
	return first
}

// FirstUnfinished returns a node before which all of this rank's tasks have ended, or the number of
// nodes at the end. It grows. Call it from one goroutine at a time. It needs Remote.
func (e *Engine) FirstUnfinished() ir.ID {
	for e.low < e.dag.counted() {
		w := e.done[e.low/32].Load() >> (e.low % 32)
		ended := bits.TrailingZeros32(^w)
		e.low += min(ended, 32-e.low%32)
		if e.low%32 != 0 || ended == 0 {
			break
		}
	}
	if e.low >= e.dag.counted() {
		return ir.ID(e.p.Graph.Len())
	}
	return e.task[e.low]
}

// arrived lets the second task of g run: the rows are there, or a failure has made them pointless.
// Calls after the first one have no effect.
func (e *Engine) arrived(g *gather) {
	if g.away.CompareAndSwap(true, false) {
		e.running().Satisfy(g.task)
	}
}

// fail reports the failure of a task of node id.
func (e *Engine) fail(id ir.ID, err error) {
	node := e.planned(id)
	path := e.path(id)
	f := &TaskFailure{Node: node, Rank: e.o.Rank, Err: err, Within: e.p.Graph.Into(node, path, err), Depth: len(path), place: 1 + e.place(id)}
	if g, at, ok := e.p.Graph.Follow(node, path); ok && len(f.Within) > f.Depth && g.Nodes[at].Op.Along != nil {
		f.Act = f.Within[f.Depth].Node
	}
	e.Fail(f)
}

// failOrGiveUp reports the failure of a task of node id, unless the task was only stopped. A task that
// gives up although nothing has stopped it is a bug: its readers would run without its result.
func (e *Engine) failOrGiveUp(id ir.ID, err error) {
	switch {
	case err != op.ErrStopped:
		e.fail(id, err)
	case e.over(id):
		e.passOver(id)
	default:
		e.fail(id, fmt.Errorf("BUG: %s has given up, and no earlier task has failed", e.g.Nodes[id].Op.Name))
	}
}

// Note [The first failure]
//
// Which of several failing tasks fails first on the clock depends on threads and ranks; the program
// order does not. Node numbers are program order and a topological order. So a failure of node f
// skips all tasks after f, whose results are dead (readers of skipped tasks come after them, so
// they are skipped too), while tasks before f run on. One of them may fail and replace f. When the
// graph has drained, every task before the remaining failure has succeeded: it is the first in
// program order, on every engine. Values from other ranks that only tasks after f read are no
// longer awaited; the others still arrive, since the other ranks do the same.
//
// A failing run shows what the reference evaluator shows before the failure: a visible effect waits
// for every earlier task that may fail (ir.Guards), by edges of the task graph. Program order alone
// does not suffice, since the effect may happen before the failure is known. Guards on other ranks
// send one message for each visible effect (Remote.Cleared), once all of them have succeeded; after
// a failure that never happens, and the wait is abandoned. A loop or branch with a visible effect
// waits as a whole. Tasks that show nothing never wait.
//
// The price is that a failure waits for earlier tasks, which EngineOptions.Grace bounds. After it
// all tasks that have not begun are skipped, and the first failure seen is reported as Unsettled if
// one of them may have failed.
