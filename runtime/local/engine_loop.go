package local

// This file runs a task whose row has a Loop: idle workers claim its iterations in chunks, under
// the technique of the run or of the node.

import (
	"math"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// open makes task t a loop if it is one, and then takes over the call of s. It returns false if the
// kernel should run.
func (e *Engine) open(w *Worker, s *workerState, t int32, id ir.ID, start int64, out value.Value) (opened bool, err error) {
	c := &s.call
	shared := e.shared(id)
	c.Part, c.From, c.To = shared, 0, 0
	n, leaf := c.Def.Loop.Space(c)
	base, full := 0, n
	team := c.Def.Loop.Team
	if team && n > 0 {
		n = e.processors
	}
	if shared {
		if base, n, err = e.window(c, e.o.Rank, n); err != nil {
			return false, err
		}
		c.From, c.To = base, base+n
		leaf = max(1, min(leaf, n))
	} else if n <= leaf || leaf <= 0 || c.Def.Loop.Light && n < lightLeaves*leaf && brief(c) && e.o.Schedule.Technique == nil {
		return false, nil
	}
	if team && (n < 2 || e.o.Remote != nil) { // workers of a rank must look for messages
		return false, nil
	}
	if c.Def.Loop.Points && e.single(&e.g.Nodes[id]) {
		leaf = 1
	} else {
		leaf = grouped(c, n, leaf, e.processors)
	}
	if shared && e.helpNumber(&e.g.Nodes[id]) > 0 { // what goes to another rank is whole rows
		perRow := full / c.Attrs.Int(plan.SharedRows)
		leaf = (leaf + perRow - 1) / perRow * perRow
	}
	l, err := e.loopOf(s, t, id, (n+leaf-1)/leaf, leaf)
	if err != nil {
		return false, err
	}
	l.ask.Loop = 0
	l.t, l.id, l.n, l.leaf, l.base, l.owner = t, id, n, leaf, base, w.index
	l.call, l.in, l.out = *c, append(l.in[:0], c.In...), out
	l.call.In, l.call.Stopped = l.in, l.stopped
	if team {
		l.call.Wanted = e.wanted
	}
	if l.steps, err = c.Def.Loop.Begin(&l.call, len(e.scratch)); err != nil {
		l.forget()
		return false, err
	}
	if l.failed.Load() != maxNode {
		l.failed.Store(maxNode)
	}
	l.err = nil
	l.counted(n)
	l.observe()
	if l.timed && !e.clock {
		start = e.Now()
	}
	l.begun = start
	if l.paced = 0; !team && int(t) >= e.dag.counted() && !l.learns {
		l.paced = e.Now()
	}
	if shared {
		e.opens(&l.loopRun, full, c.Attrs.Int(plan.SharedRows))
	}
	l.AtMost(l.queues.Most())
	w.Share(&l.Shared, l)
	return true, nil
}

// groupsPerWorker is the least number of groups of leaves for each worker with a processor in loops
// that are cut between groups: with fewer the workers would finish too far apart.
const groupsPerWorker = 8

// grouped returns the iterations of a unit of the loop: a leaf, or whole groups if there are enough of
// them, or one worker. What takes as long as one iteration is never cut.
func grouped(c *op.Call, n, leaf, workers int) int {
	if c.Def.Loop.Group == nil {
		return leaf
	}
	g, least := c.Def.Loop.Group(c)
	if g = (leaf + g - 1) / g * g; workers == 1 || n/g >= groupsPerWorker*workers {
		return g
	}
	return (leaf + least - 1) / least * least
}

// observe sets what is recorded of the chunks of a pass.
func (l *loopRun) observe() {
	e := l.e
	l.timed = e.clock || l.log.queues.Learns() || l.log.did != nil
	if l.keeps = l.recorded() || l.log.record; !l.keeps {
		return
	}
	if l.chunks == nil {
		l.chunks = make([]chunkList, len(e.scratch))
	}
	for i := range l.chunks {
		l.chunks[i].list = l.chunks[i].list[:0] // addLoop copies them
	}
}

// recorded reports whether reports and traces have this execution. They leave out teams, whose
// iterations are workers.
func (l *loopRun) recorded() bool {
	return (l.e.o.Stats || l.e.o.Trace != nil) && !l.call.Def.Loop.Team
}

// wanted reports whether tasks wait for a worker, or there are more workers than processors.
func (e *Engine) wanted() bool {
	return e.pool.crowded() || slices.ContainsFunc(e.pool.workers, func(w *Worker) bool { return w.queue.best.Load() != 0 })
}

// Again begins the next pass of a body that has one. A pass counts as an execution of the loop, in
// reports and for techniques that learn.
func (l *loopRun) Again(w *Worker) bool {
	l.settle(w)
	p, ok := l.steps.(op.Passes)
	if !ok || l.err != nil || l.e.over(l.id) || l.log.queues.Err() != nil {
		return false
	}
	e := l.e
	end := int64(0)
	if e.clock || l.timed {
		end = e.Now()
	}
	if !l.next(p) {
		return false
	}
	l.log.learn(l.begun, end)
	if l.recorded() {
		e.addLoop(l, end, false)
	}
	if err := l.log.prepare(); err != nil {
		l.fail(0, noChunk(&l.log.plan, &e.g.Nodes[l.id], err))
		return false
	}
	l.begun, l.owner = end, w.index
	l.counted(l.n)
	l.observe()
	l.AtMost(l.log.queues.Most())
	return true
}

// next asks for another pass. A panic or an error is a failure of the loop.
func (l *loopRun) next(p op.Passes) (again bool) {
	defer func() {
		if v := recover(); v != nil {
			again = false
			l.fail(0, panicked(v))
		}
	}()
	again, err := p.Next()
	if err != nil {
		l.fail(0, err)
	}
	return again && err == nil
}

// lightLeaves is from how many leaves on a light loop is shared by default: some fifty microseconds
// of work. Blocks of a cut matrix are smaller, and each is already a task.
const lightLeaves = 10

// brief reports whether few leaves of a light loop are little work. The leaves of a loop over long
// rows, or over columns of many rows, have more elements than others.
func brief(c *op.Call) bool {
	const most = lightLeaves << 14 // elements of as many other leaves
	for _, v := range c.In {
		if t := v.Type(); t.IsDense() && t.Count() >= most {
			return false
		}
	}
	return !c.Type.IsDense() || c.Type.Count() < most
}

// forget drops the values of an execution.
func (l *loopRun) forget() {
	l.call.In, l.call.Out, l.out, l.steps = nil, nil, nil, nil
	clear(l.in)
}

// Work claims chunks and runs them.
func (l *loopRun) Work(w *Worker) {
	e := l.e
	s := &e.scratch[w.index]
	s.current.Store(int64(l.id) + 1)
	start := l.begun
	if w.index != l.owner && e.clock {
		start = e.Now()
	}
	waited := s.waited
	l.begins()
	l.claim(w, s)
	l.runsDry() // before help: of two ranks that ask each other, each gets its answer
	l.help(w, s)
	if e.clock {
		if x, is := l.steps.(op.Waits); is {
			s.waited += int64(x.Waited(w.index))
		}
		e.timeShare(s, l.t, l.id, start, s.waited-waited)
	}
	s.current.Store(0)
}

// timeShare accounts for a worker's part of a loop, which began at start. It has waited for other ranks
// meanwhile.
func (e *Engine) timeShare(s *workerState, t int32, id ir.ID, start, waited int64) {
	var end int64
	if s.track != nil {
		end = s.track.Share(int32(e.planned(id)), e.names[e.kind[t]], start)
	} else {
		end = e.Now()
	}
	s.kinds[e.kind[t]].busy += end - start - waited
	if s.calls != nil {
		c := &s.calls[e.g.Nodes[id].Call]
		c.share(start, end)
		c.busy -= waited
	}
}

// claimNext claims the next chunk. ok is false if none is left.
func (l *loopRun) claimNext(w *Worker) (c claimed, ok bool) {
	for l.ask.Loop == 0 || !l.takeSpare(&c) {
		unit, size, stolen, ok := l.log.queues.Claim(w.index)
		if !ok {
			return c, false
		}
		if c = (claimed{Chunk{l.base + unit*l.leaf, l.base + min((unit+size)*l.leaf, l.n)}, stolen}); l.ask.Loop == 0 {
			return c, true
		}
		if c.Chunk = l.stays(c.Chunk); c.size() > 0 {
			break
		}
	}
	l.left.Add(-int64(c.size()))
	return c, true
}

// claim runs chunks until none is left. A panic in one is a failure of that chunk.
func (l *loopRun) claim(w *Worker, s *workerState) {
	at, step := int64(0), 1
	defer func() {
		if v := recover(); v != nil {
			l.fail(at, panicked(v))
		}
	}()
	q, e := l.log.queues, l.e
	ordered := q.Ordered()
	var asked, began, ended int64
	if l.timed {
		asked = e.Now()
	}
	var c, next claimed
	for !e.over(l.id) {
		if c = next; c.size() == 0 {
			var ok bool
			if c, ok = l.claimNext(w); !ok {
				return
			}
		}
		next.Chunk = Chunk{}
		if int64(c.Lo) > l.failed.Load() {
			if ordered {
				return
			}
			continue
		}
		if l.timed {
			began = e.Now()
		}
		var ran Chunk
		var err error
		if ran, next, err = l.runOwn(w, c, &at, &step); err != nil {
			l.fail(at, err)
		}
		l.count.ran(w.index, ran.size())
		if l.timed {
			ended = e.Now()
			l.spent.Add(ended - began)
			units := (ran.size() + l.leaf - 1) / l.leaf
			q.Report(w.index, (ran.Lo-l.base)/l.leaf, units, float64(ended-began)/1e9, float64(began-asked)/1e9)
			if l.log.did != nil {
				l.log.did[w.index].add(units, float64(ended-began)/1e9, float64(began-asked)/1e9)
			}
			if l.keeps {
				did := &l.chunks[w.index]
				did.list = append(did.list, trace.Chunk{Lo: int64(ran.Lo - l.base), Hi: int64(ran.Hi - l.base), Worker: int32(w.index), Stolen: c.stolen,
					Asked: asked, Start: began, End: ended})
			}
			asked = ended
		}
		if e.o.Remote != nil {
			e.o.Remote.Between(ended)
		}
	}
}

// fail records the failure of the chunk that begins at iteration at. Of several the first in
// iteration order counts: chunks after it are skipped, those before it run, so the workers do not
// determine which is reported.
func (l *loopRun) fail(at int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at < l.failed.Load() {
		l.failed.Store(at)
		l.err = err
	}
}

// Done completes the result and settles the task.
func (l *loopRun) Done(w *Worker) error {
	e := l.e
	s := &e.scratch[w.index]
	s.current.Store(int64(l.id) + 1)
	start := int64(0)
	if e.clock || l.timed {
		start = e.Now()
	}
	v, err := l.result()
	if err != nil {
		op.Quit(l.steps)
	}
	end := start
	if e.clock || l.timed {
		end = e.Now()
	}
	if err == nil {
		l.log.learn(l.begun, end)
	}
	if l.recorded() {
		e.addLoop(l, end, err != nil)
	}
	out, t, id := l.out, l.t, l.id
	if l.paced != 0 {
		e.took[int(t)-e.dag.counted()] = max(1, e.Now()-l.paced)
	}
	l.forget() // the loop may begin again as soon as the task is settled
	e.rest(s, l.log)
	if err != nil {
		if out != nil {
			e.discard(out)
		}
		s.current.Store(0)
		e.failOrGiveUp(id, err)
		return nil
	}
	e.finish(s, t, id, v, start)
	return nil
}

// result returns the result of the loop.
func (l *loopRun) result() (v value.Value, err error) {
	switch {
	case l.err != nil:
		return nil, l.err
	case l.e.over(l.id):
		return nil, op.ErrStopped
	}
	if err := l.log.queues.Err(); err != nil { // an expression that has stopped making sense
		return nil, noChunk(&l.log.plan, &l.e.g.Nodes[l.id], err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if err := l.steps.End(); err != nil {
		return nil, err
	}
	return l.e.checked(&l.call, l.t, l.out, l.call.Out)
}

// addLoop stores the record of a loop.
func (e *Engine) addLoop(l *loopRun, end int64, failed bool) {
	n := 0
	for k := range l.chunks {
		n += len(l.chunks[k].list)
	}
	p := &l.log.plan
	t := p.Technique
	if t == nil {
		t = schedule.Default()
	}
	r := trace.LoopRecord{Node: int32(e.planned(l.id)), At: int32(e.g.Nodes[l.id].Span.From), Round: e.executed(l.t, l.log.cut.units), Op: l.call.Def.Name, N: int64(l.n), Leaf: int64(l.leaf), MinChunk: int64(p.Grain),
		Technique: t.Name, Layout: p.Layout.String(), Victim: p.Victim.String(), Workers: int32(len(e.scratch)),
		Chosen: l.log.auto != nil, Start: l.begun, End: end, Failed: failed}
	e.loopMu.Lock()
	defer e.loopMu.Unlock()
	if cap(e.room)-len(e.room) < n { // a slice a loop would be some microseconds a round
		e.room = make([]trace.Chunk, 0, max(n, 1024))
	}
	from := len(e.room)
	for k := range l.chunks {
		e.room = append(e.room, l.chunks[k].list...)
	}
	r.Chunks = e.room[from:len(e.room):len(e.room)]
	e.o.Trace.AddLoop(r)
	if e.kept += n; e.kept <= maxChunks {
		e.records = append(e.records, r)
	} else {
		e.unkept++
	}
}

// maxChunks bounds the chunks that an engine stores for its report, 48 bytes each.
const maxChunks = math.MaxInt32 / 256
