package local

// This file runs the tasks that steer loops and branches; see engine_control.go.

import (
	"sync/atomic"

	"flow/ir"
	"flow/ir/value"
)

// steerTask runs a task that decides what comes next. After an earlier failure in program order it
// ends the loop.
func (e *Engine) steerTask(w *Worker, t int32) error {
	st := e.steer[t]
	switch st.role {
	case gathers:
		e.startGather(&e.scratch[w.index], st.gather)
		return nil
	case early:
		e.startEarly(st.gather)
		return nil
	}
	lp, s := st.loop, &e.scratch[w.index]
	switch st.role {
	case leaves:
		e.leave(s, lp, t)
		return nil
	case enters:
		if lp.place > e.failedAt.Load() {
			e.exit(w, lp)
			return nil
		}
	case joins:
		if lp.regions[st.region].place > e.failedAt.Load() {
			e.exit(w, lp)
			return nil
		}
	}
	var err error
	switch {
	case st.role == enters && lp.branch:
		e.choose(w, lp)
	case st.role == enters:
		err = e.enterLoop(w, s, lp)
	case lp.branch:
		err = e.give(s, lp, lp.regions[st.region])
		e.exit(w, lp)
	case st.region == 1:
		e.test(w, lp)
	default:
		err = e.endRound(w, s, lp)
	}
	if err != nil {
		e.fail(lp.node, err)
		e.exit(w, lp)
	}
	if e.o.Remote != nil {
		e.o.Remote.Between(e.Now())
	}
	return nil
}

// capture lets the arguments that are not carried refer to the outer values.
func (e *Engine) capture(lp *control) {
	in := e.g.In(lp.node)[lp.skip():]
	for i := lp.carry; i < len(lp.args); i++ {
		e.slot[lp.args[i]] = e.slot[e.at(in[i])]
	}
}

// choose begins the branch that the condition selects.
func (e *Engine) choose(w *Worker, lp *control) {
	c := e.at(e.g.In(lp.node)[0])
	k := 1
	if e.slot[c].(value.Scalar).True() {
		k = 0
	}
	e.Release(c)
	e.capture(lp)
	lp.round = 0
	e.reaches(lp, 1)
	e.begin(w, lp, k)
}

// enterLoop takes over the initial values and begins the first round.
func (e *Engine) enterLoop(w *Worker, s *workerState, lp *control) error {
	e.capture(lp)
	for i, x := range e.g.In(lp.node)[:lp.carry] {
		v, err := e.keep(s, e.at(x))
		if err != nil {
			return err
		}
		e.slot[lp.args[i]] = v
		lp.shape[i] = v.Type()
	}
	lp.round = 0
	lp.told.Store(1)
	e.reaches(lp, 1)
	lp.entered++
	e.nextRound(w, lp)
	return nil
}

// nextRound tests the condition, or begins a round, or ends the loop.
func (e *Engine) nextRound(w *Worker, lp *control) {
	switch {
	case lp.times < 0:
		e.begin(w, lp, 1)
	case lp.round < lp.times:
		e.begin(w, lp, 0)
	default:
		e.exit(w, lp)
	}
}

// begin resets the tasks of a region and enables the first of them.
func (e *Engine) begin(w *Worker, lp *control, k int) {
	r := lp.regions[k]
	w.Arm(r.from, r.to)
	copy(e.uses[r.lo:r.hi], r.uses)
	for i, a := range lp.args {
		if i >= lp.carry || k > 0 {
			e.uses[a] = pinned
			continue
		}
		if e.uses[a] = r.reads[i]; r.reads[i] == 0 {
			v := e.slot[a]
			e.slot[a] = nil
			e.discard(v)
		}
	}
	r.runs++
	r.beginKept()
	w.Fire(r.begin)
}

// test continues or stops by the condition.
func (e *Engine) test(w *Worker, lp *control) {
	y := e.at(lp.regions[1].yields[0])
	stop := e.slot[y].(value.Scalar).True()
	e.Release(y)
	if stop {
		e.exit(w, lp)
		return
	}
	e.begin(w, lp, 0)
}

// endRound hands the body's results to the next round.
func (e *Engine) endRound(w *Worker, s *workerState, lp *control) error {
	if err := e.yields(s, lp, lp.regions[0]); err != nil {
		return err
	}
	for i, v := range lp.vals {
		if err := ir.KeepsShape(lp.shape[i], v.Type()); err != nil {
			e.drop(lp)
			return err
		}
	}
	for i, v := range lp.vals {
		e.slot[lp.args[i]] = v
		lp.vals[i] = nil
	}
	if err := e.carriesEarly(lp); err != nil {
		return err
	}
	lp.round++
	lp.told.Store(lp.round + 1)
	e.reaches(lp, lp.round+1)
	e.turns.Add(1)
	e.nextRound(w, lp)
	return nil
}

// yields takes over a region's results, into lp.vals.
func (e *Engine) yields(s *workerState, lp *control, r *region) (err error) {
	for i, y := range r.yields {
		if lp.vals[i], err = e.keep(s, e.at(y)); err != nil {
			lp.vals[i] = nil
			e.drop(lp)
			return err
		}
	}
	return nil
}

// drop releases results that were taken over.
func (e *Engine) drop(lp *control) {
	for i, v := range lp.vals {
		if v != nil {
			e.discard(v)
		}
		lp.vals[i] = nil
	}
}

// give makes a branch's results those of the node.
func (e *Engine) give(s *workerState, lp *control, r *region) error {
	if err := e.yields(s, lp, r); err != nil {
		return err
	}
	for i, v := range lp.vals {
		lp.vals[i] = nil
		if err := e.deliver(s, lp, i, v); err != nil {
			e.drop(lp)
			return err
		}
	}
	return nil
}

// leave ends a loop or branch: its results are those of the last round, and its captures are freed.
func (e *Engine) leave(s *workerState, lp *control, t int32) {
	lp.told.Store(0)
	e.reaches(lp, 0)
	if e.place(lp.node) > e.failedAt.Load() {
		e.passOver(lp.node)
		return
	}
	e.forgetKept(lp)
	for i, a := range lp.args {
		v := e.slot[a]
		e.slot[a] = nil
		if i >= lp.carry {
			e.Release(e.at(e.g.In(lp.node)[lp.skip()+i]))
		} else if err := e.deliver(s, lp, i, v); err != nil {
			e.fail(lp.node, err)
			return
		}
	}
	if int(lp.node) < e.p.Graph.Len() {
		s.kinds[e.kind[t]].tasks++
		end := int64(0)
		if e.clock {
			end = e.Now()
		}
		e.ended(s, t, end)
	}
}

// deliver puts a result into the slots of its nodes.
func (e *Engine) deliver(s *workerState, lp *control, at int, v value.Value) error {
	given := false
	for _, id := range lp.parts[at] {
		if int(id) < e.p.Graph.Len() && e.o.Observe != nil {
			e.o.Observe(id, v)
		}
		if e.uses[id] == 0 {
			continue
		}
		x := v
		if given {
			var err error
			if x, err = e.copied(s, v, false); err != nil {
				return err
			}
		}
		given = true
		e.slot[id] = x
	}
	if !given {
		e.discard(v)
	}
	if e.o.Remote != nil {
		for _, id := range lp.parts[at] {
			if int(id) < e.p.Graph.Len() && e.o.Remote.Sends(id) > 0 {
				e.o.Remote.Produced(id, e.slot[id])
			}
		}
	}
	return nil
}

// keep ends the caller's use of x and returns its value for the caller to keep: the value itself
// without other readers, else a copy.
func (e *Engine) keep(s *workerState, x ir.ID) (value.Value, error) {
	v := e.slot[x]
	if d, ok := v.(*value.Dense); ok && e.takeable(x, d) {
		e.slot[x] = nil
		atomic.StoreInt32(&e.uses[x], 0)
		if e.received(x) {
			e.o.Remote.Freed(x)
		}
		return v, nil
	}
	v, err := e.copied(s, v, e.isView(e.outside(x), v))
	if err == nil {
		e.Release(x)
	}
	return v, err
}

// outside returns the node whose value a captured argument refers to, through all loops and
// branches; x itself for others.
func (e *Engine) outside(x ir.ID) ir.ID {
	for e.handed(x) {
		lp := e.home[int(x)-e.p.Graph.Len()].loop
		i := int(x - lp.args[0])
		if i < lp.carry {
			break
		}
		x = e.at(e.g.In(lp.node)[lp.skip()+i])
	}
	return x
}

// copied returns a copy of a value in memory of the pool, such as a view, and v itself if it is
// never written.
func (e *Engine) copied(s *workerState, v value.Value, view bool) (value.Value, error) {
	d, ok := v.(*value.Dense)
	if !ok || len(d.Buf) == 0 && !view {
		e.buffers.HoldAgain(v)
		return v, nil
	}
	out, err := e.fresh(s, d.Type())
	if err != nil {
		return nil, err
	}
	out.CopyFrom(d)
	return out, nil
}
