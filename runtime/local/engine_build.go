package local

// This file derives the task graph of one rank from a plan. An exchange is no task: on its owner it
// is another name of its input (root), elsewhere an external input of its readers.

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/schedule"
)

// NewEngine prepares the tasks of o.Rank. It costs some tens of nanoseconds a node, whether or not
// the node is a task.
func NewEngine(p *plan.Plan, o EngineOptions) (*Engine, error) {
	if o.Rank < 0 || o.Rank >= p.Ranks {
		return nil, fmt.Errorf("BUG: rank %d of a plan for %d", o.Rank, p.Ranks)
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.HelpFrom == 0 {
		o.HelpFrom = DefaultHelpFrom
	}
	e := &Engine{p: p, o: o, buffers: o.Buffers, epoch: o.Trace.Epoch(), selector: schedule.NewSelector()}
	if e.buffers == nil {
		e.buffers, e.own = newOwnPool(o.Memory), true
	}
	e.clock = o.Stats || o.Trace != nil || o.Remote != nil
	e.failedAt.Store(maxNode)
	e.helping.gone, e.helping.reached = make([]bool, p.Ranks), make([]map[int32]int32, p.Ranks)
	e.flatten()
	e.slot = make([]value.Value, e.g.Len())
	e.uses = make([]int32, e.g.Len())
	if err := e.number(); err != nil {
		return nil, err
	}
	e.connect()
	e.viewColumns()

	if o.Remote == nil && len(e.external) > 0 {
		return nil, fmt.Errorf("BUG: rank %d reads %%%d of another rank, and nothing moves values", o.Rank, e.external[0])
	}
	if o.Remote != nil {
		for t, id := range e.task[:e.dag.counted()] {
			if k := o.Remote.Sends(id); k > 0 {
				e.uses[id] += int32(k)
				// a message carries memory of its own
				e.flags[t] = e.flags[t]&^looks | sent
			}
		}
		for _, id := range e.external {
			e.uses[id] += int32(o.Remote.Sends(id))
		}
	}
	e.sendParts()
	e.prioritise()
	e.keepUses()
	if o.Remote != nil {
		e.done = make([]atomic.Uint32, (e.dag.counted()+31)/32)
	}
	e.extState = make([]atomic.Uint32, len(e.external))
	loops := false
	for _, d := range e.kinds {
		e.names = append(e.names, o.Trace.Name(d.Name))
		loops = loops || d.Loop != nil
	}
	if loops {
		e.loops = make([]*nodeLoop, e.dag.N)
		e.took = make([]int64, e.dag.N-e.dag.counted())
		if o.Stats || o.Trace != nil {
			e.rounds = make([]executions, e.dag.N)
		}
	}
	return e, nil
}

// number finds the tasks, their kinds and flags, and the root of every exchange. Tasks of the
// plan's nodes come first.
func (e *Engine) number() error {
	p := e.p
	n := p.Graph.Len()
	e.index = make([]int32, e.g.Len())
	for i := range e.index {
		e.index[i] = -1
	}
	var exchange *op.Def
	b := &numbering{e: e, kindOf: map[*op.Def]uint16{}, programs: map[*ir.Region]bool{}}
	size := n
	if p.Ranks > 1 {
		size = n/p.Ranks + n/8
	}
	e.task = make([]ir.ID, 0, size)
	e.flags = make([]uint16, 0, size)
	e.kind = make([]uint16, 0, size)
	for i := range n {
		id := ir.ID(i)
		node := &e.g.Nodes[i]
		if exchange == nil && node.Op.Role == op.Exchange {
			exchange = node.Op
			e.root = make([]ir.ID, e.g.Len())
			for j := range e.root {
				e.root[j] = ir.ID(j)
			}
		}
		if node.Op == exchange && exchange != nil {
			if p.Rank(id) == e.o.Rank {
				e.root[i] = e.root[e.g.In(id)[0]]
			}
			continue
		}
		if !p.Runs(e.o.Rank, id) {
			continue
		}
		if err := b.add(id); err != nil {
			return err
		}
	}
	return b.controls()
}

// numbering assigns task numbers.
type numbering struct {
	e        *Engine
	kindOf   map[*op.Def]uint16
	lastDef  *op.Def
	lastKind uint16
	programs map[*ir.Region]bool
}

// add makes a task of node id. A part of several results is no task: the task that makes them fills
// its slot.
func (b *numbering) add(id ir.ID) error {
	e, g := b.e, b.e.g
	node := &g.Nodes[id]
	if node.Op.Control == op.Part {
		from := g.In(id)[0]
		e.index[id] = e.index[from]
		if parts := e.several[from]; parts != nil {
			at := node.Attrs.Int("at")
			if parts[at] != ir.None {
				return fmt.Errorf("BUG: two nodes stand for result %d of %%%d", at, from)
			}
			parts[at] = id
		}
		return nil
	}
	if err := b.kind(node.Op); err != nil {
		return err
	}
	f := flagsOf(g, id)
	if f&several != 0 {
		if e.several == nil {
			e.several = map[ir.ID][]ir.ID{}
		}
		e.several[id] = slices.Repeat([]ir.ID{ir.None}, len(g.Results(id)))
	}
	if f&fused != 0 && !b.programs[node.Region] {
		b.programs[node.Region] = true
		// made here, so that tasks only fetch it
		if err := node.Enter(&op.Call{}); err != nil {
			return fmt.Errorf("BUG: %w\n  in %s", err, g.Line(id))
		}
	}
	if e.notesOver(node, id) {
		e.noteOver(id)
	}
	e.index[id] = int32(len(e.task))
	if plan.IsGather(node) {
		x := &gather{id: id, task: e.index[id]}
		if f |= gathered; node.Op.Role == op.Gathers {
			f = gathered | looks
		}
		if e.gatherOf == nil {
			e.gatherOf = map[ir.ID]*gather{}
		}
		e.gatherOf[id] = x
		e.gathers = append(e.gathers, x)
	}
	e.task = append(e.task, id)
	e.flags = append(e.flags, f)
	e.kind = append(e.kind, b.lastKind)
	return nil
}

// kind sets lastKind to the number of an operator. Neighbours often have one operator, and a lookup
// costs as much as the rest of a task.
func (b *numbering) kind(d *op.Def) error {
	if d == b.lastDef {
		return nil
	}
	k, ok := b.kindOf[d]
	if !ok {
		if k = uint16(len(b.e.kinds)); len(b.e.kinds) > math.MaxUint16 {
			return fmt.Errorf("BUG: more than %d operators in a plan", math.MaxUint16)
		}
		b.kindOf[d] = k
		b.e.kinds = append(b.e.kinds, d)
	}
	b.lastDef, b.lastKind = d, k
	return nil
}

// flagsOf returns what the engine checks each time it runs a task.
func flagsOf(g *ir.Graph, id ir.ID) (f uint16) {
	node, t := &g.Nodes[id], g.Type(id)
	plain := node.Op.Control == op.NoControl
	if t.Sized() {
		f |= lent
	}
	if t.Kind == types.Effect {
		f |= effect
	}
	if t.Kind == types.Tuple && plain {
		f |= several
	}
	if g.Asks(id) {
		f |= asks
	}
	if plan.MayView(g, id) {
		f |= looks
	}
	if t.IsScalar() && len(g.In(id)) == 0 && node.Op.Laws.Has(op.Pure|op.Total) {
		f |= constant
	}
	if node.Region != nil && plain {
		f |= fused
	}
	if (node.Op.Loop == nil || node.Op.Loop.Own || t.IsSparse()) && node.Attrs.Int(plan.SharedRows) > 0 && node.Attrs.Int(plan.Owner) == 0 {
		f |= windowed
	}
	return f
}

// connect makes the edges of the task graph, the list of external inputs and the use counts, in two
// passes over the inputs: count, then fill.
func (e *Engine) connect() {
	d := &e.dag
	d.N = len(e.task)
	d.Waits = make([]int32, d.N)
	d.SuccOff = make([]int32, d.N+1)
	edges := 0
	for t := range e.task {
		for _, x := range e.reads(int32(t)) {
			x = e.at(x)
			e.uses[x]++
			if e.handed(x) {
				continue
			}
			d.Waits[t]++
			if p := e.index[x]; p >= 0 {
				d.SuccOff[p+1]++
				edges++
			}
		}
	}
	for _, g := range e.gathers {
		d.Waits[g.task]++
		d.Announced++
		if g.loop != nil { // the transfers of a round that does not follow
			d.Waits[e.index[g.loop.node]]++
			d.Announced++
		}
	}
	extra := append(e.connectGuards(), e.connectControls()...)
	edges += len(extra)
	for t := range d.N {
		d.SuccOff[t+1] += d.SuccOff[t]
	}
	ext := e.receive()
	d.Succ = make([]int32, edges)
	fill := append([]int32(nil), d.SuccOff[:d.N]...)
	fillExt := append([]int32(nil), e.extOff...)
	for t := range e.task {
		for _, x := range e.reads(int32(t)) {
			if x = e.at(x); e.handed(x) {
				continue
			}
			if p := e.index[x]; p >= 0 {
				d.Succ[fill[p]] = int32(t)
				fill[p]++
			} else {
				k := ext[x]
				e.extTask[fillExt[k]] = int32(t)
				fillExt[k]++
			}
		}
	}
	for _, x := range extra {
		d.Succ[fill[x.from]] = x.to
		fill[x.from]++
	}
}

// receive lists the received values: those with uses but no task here, and those that only pass
// through.
func (e *Engine) receive() (ext map[ir.ID]int32) {
	ext = make(map[ir.ID]int32)
	total := 0
	for i := range e.p.Graph.Len() {
		id := ir.ID(i)
		if e.index[i] >= 0 || e.at(id) != id {
			continue
		}
		to, ok := e.p.Exchange(id)
		if !ok || e.p.Rank(id) == e.o.Rank || e.uses[id] == 0 && !slices.Contains(to, int64(e.o.Rank)) {
			continue
		}
		ext[id] = int32(len(e.external))
		e.external = append(e.external, id)
		e.extOff = append(e.extOff, int32(total))
		total += int(e.uses[id])
	}
	e.extOff = append(e.extOff, int32(total))
	e.extTask = make([]int32, total)
	return ext
}

// prioritise copies the plan's priorities, or makes earlier tasks more urgent. Gathers start first.
func (e *Engine) prioritise() {
	e.dag.Prio = make([]int32, e.dag.N)
	for t, id := range e.task[:e.dag.counted()] {
		if e.p.Prio != nil {
			e.dag.Prio[t] = e.p.Prio[id]
		} else {
			e.dag.Prio[t] = -int32(t)
		}
	}
	for t, s := range e.steer { // other ranks wait for the message of a gather, and starting it takes no time
		if s.role == gathers || s.role == early {
			e.dag.Prio[t] = math.MaxInt32
		}
	}
	e.prioritiseControls()
}
