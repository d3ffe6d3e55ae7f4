package local

// This file reuses the state of loop executions. Making one takes memory, and the technique's sums
// some thousand instructions. A state that has learned goes to the same task, others to any loop of
// the run with the same cut. Each worker keeps the few that it used last, which are in its cache.

import (
	"slices"

	"flow/ir"
	"flow/ir/plan"
	"flow/runtime/schedule"
)

const (
	// idleLoops is how many states each worker keeps to itself.
	idleLoops = 8
	// spareLoops is how many states the workers share. Loops with another length in each round
	// would fill the memory, so the list is then cleared.
	spareLoops = 256
)

// loopOf finds or makes the state of the loop of task t, with this many units of leaf iterations.
// What its technique has learned is kept as long as the number of units stays. Only one worker at a
// time runs a task, so its entry in loops needs no lock.
func (e *Engine) loopOf(s *workerState, t int32, id ir.ID, units, leaf int) (*nodeLoop, error) {
	l, n := e.loops[t], &e.g.Nodes[id]
	if l == nil || l.cut.units != units {
		c := e.cutOf(n, units, leaf)
		c.near = e.near(id, &c)
		c.least = e.leastOf(t, &c)
		if l = e.unused(s, c); l == nil {
			return e.newLoop(t, n, c)
		}
	}
	if err := l.prepare(); err != nil {
		return nil, noChunk(&l.plan, n, err)
	}
	return l, nil
}

// newLoop makes the state of the loop of task t for its first execution.
func (e *Engine) newLoop(t int32, n *ir.Node, c cut) (*nodeLoop, error) {
	l := &nodeLoop{cut: c}
	l.log, l.e = l, e
	l.stopped = func() bool { return e.over(l.id) }
	if err := e.planOf(l, n); err != nil {
		return nil, err
	}
	l.choose(n)
	if err := l.prepare(); err != nil {
		return nil, noChunk(&l.plan, n, err)
	}
	if l.learns = l.did != nil || l.queues.Learns(); l.learns {
		e.loops[t] = l
	}
	return l, nil
}

// cutOf returns how a loop of n, with this many units of leaf iterations, is cut: as the run says,
// unless the node's attributes schedule and grain (the least iterations a chunk) say otherwise.
func (e *Engine) cutOf(n *ir.Node, units, leaf int) cut {
	c := cut{units: units, grain: e.o.Schedule.Grain, technique: own(&e.o.Schedule, n), ranks: 1}
	if e.helpNumber(n) > 0 && e.o.Schedule.Layout == schedule.Centralized {
		c.ranks = e.p.Ranks
	}
	if n.Op.Loop.Team {
		c.technique = "SS"
	}
	if g := n.Attrs.Int("grain"); g > 0 {
		c.grain = (g + leaf - 1) / leaf
	}
	return c
}

// near reports a loop of a node that runs again and again, under the default technique. Its parts
// lie in the caches of the workers that had them the last time, so each worker has a queue of its
// own part, and takes of others when that is empty.
func (e *Engine) near(id ir.ID, c *cut) bool {
	p := &e.o.Schedule
	return int(id) >= e.p.Graph.Len() && p.Technique == nil && c.technique == "" && p.Layout == schedule.Centralized && c.ranks == 1 && c.units >= 2*len(e.scratch)
}

// single reports a loop whose technique claims one iteration at a time.
func (e *Engine) single(n *ir.Node) bool {
	t := e.techniqueOf(n)
	return t != nil && t.Single()
}

// techniqueOf returns the technique of a loop; nil: the default, or one that does not exist, which
// is reported when the loop is planned.
func (e *Engine) techniqueOf(n *ir.Node) *schedule.Technique {
	t := e.o.Schedule.Technique
	if name := own(&e.o.Schedule, n); name != "" {
		t, _ = schedule.Lookup(name)
	}
	return t
}

// planOf makes the plan of a loop with the cut of l.
func (e *Engine) planOf(l *nodeLoop, n *ir.Node) error {
	l.plan = e.o.Schedule
	l.plan.Grain = l.cut.grain
	if l.cut.near {
		l.plan.Layout, l.plan.PrePartition = schedule.PerCPU, true
	}
	if l.plan.Groups = nil; l.plan.Layout != schedule.Centralized {
		l.plan.Groups = e.pool.Groups()
	}
	if l.cut.technique == "" {
		return nil
	}
	t, err := schedule.Lookup(l.cut.technique)
	if err != nil {
		return noChunk(&l.plan, n, err)
	}
	l.plan.Technique = t
	return nil
}

// unused returns an idle state for a cut: the one that the worker of s used last, else a shared
// one, else nil.
func (e *Engine) unused(s *workerState, c cut) *nodeLoop {
	for i := len(s.idle) - 1; i >= 0; i-- {
		if l := s.idle[i]; l.cut == c {
			s.idle = slices.Delete(s.idle, i, i+1)
			return l
		}
	}
	if e.spares.Load() == 0 {
		return nil
	}
	e.loopMu.Lock()
	defer e.loopMu.Unlock()
	list := e.spare[c]
	if len(list) == 0 {
		return nil
	}
	last := len(list) - 1
	l := list[last]
	list[last] = nil
	e.spare[c] = list[:last]
	e.spares.Add(-1)
	return l
}

// rest returns l to the worker of s, which has completed an execution of it.
func (e *Engine) rest(s *workerState, l *nodeLoop) {
	if l.learns {
		return
	}
	if len(s.idle) < idleLoops {
		s.idle = append(s.idle, l)
		return
	}
	old := s.idle[0]
	copy(s.idle, s.idle[1:])
	s.idle[idleLoops-1] = l
	e.loopMu.Lock()
	defer e.loopMu.Unlock()
	if e.spare == nil || e.spares.Load() == spareLoops {
		e.spare = map[cut][]*nodeLoop{}
		e.spares.Store(0)
	}
	e.spare[old.cut] = append(e.spare[old.cut], old)
	e.spares.Add(1)
}

// executed returns the number, from 0 on, of a recorded execution of the loop of task t. It counts
// on as long as the number of units stays.
func (e *Engine) executed(t int32, units int) int32 {
	x := &e.rounds[t]
	if x.units != units {
		*x = executions{units: units}
	}
	x.n++
	return x.n - 1
}

// helpNumber returns the number by which ranks ask each other for chunks of a loop, or 0 if they do
// not. A static technique decides beforehand which worker runs a chunk, so no rank helps.
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
