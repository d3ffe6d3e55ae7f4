package flow

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
	"flow/runtime/local"
)

// This file makes the machine code of a program before the program runs, while its rank waits for
// others.

const (
	// A task of at most rehearsedFlops operations and rehearsedBytes bytes is run. Of a larger one the
	// first leaf of its loop is run, on matrices of at most begunBytes bytes, whose other pages nothing
	// touches. What works on larger matrices takes so long that the time to make its code is a small part.
	rehearsedFlops, rehearsedBytes = 1 << 25, 2 << 20
	begunBytes                     = 64 << 20
)

// Rehearse makes the machine code of this rank's tasks before the run: it runs a task of each kind on
// made-up matrices, or begins its loop if the task is large. Tasks with effects, of sparse matrices and
// of sizes that only the run tells are left out. The rounds of a parfor may be endless on made-up
// numbers, so its loop is only begun. stop is asked between two tasks. Rehearse changes no result: it
// drops what the tasks return, failures included.
func (p *Program) Rehearse(rank int, stop func() bool) {
	made := p.made.Plan
	p.fingerprint() // what it and the hash take most time for is kept
	made.Hash()
	r := newRehearsal(stop)
	defer r.end()
	r.graph(made.Graph, func(id ir.ID) bool { return made.Runs(rank, id) })
}

// Warm returns memory for RunOptions.Buffers of this rank: what the plan is predicted to take, as far
// as stop allows. The ranks of a machine get at most a sixteenth of its memory so.
func (p *Program) Warm(rank int, stop func() bool) *Buffers {
	return local.Warm(p.made.Plan, rank, partOf(p.options.Together), stop)
}

// WarmAhead is Warm for a program that cannot be compiled before the ranks meet: there is no plan, so
// it returns a fixed amount. together is the number of ranks on this machine.
func WarmAhead(together int, stop func() bool) *Buffers {
	return local.WarmAhead(partOf(together), stop)
}

// partOf returns how many bytes one of together ranks on a machine may get before the run.
func partOf(together int) int64 { return memory.Most().Bytes / 16 / int64(max(1, together)) }

// rehearsal is one call of Rehearse.
type rehearsal struct {
	stop     func() bool
	seen     map[string]bool             // kinds of tasks
	units    map[types.Type]*value.Dense // see unit
	room     *local.BufferPool           // lends from and to
	lent     [][]byte                    // by room
	from, to []byte                      // memory of operands, which is zero, and of results: most is never touched
	ran      int                         // tasks, for tests
	failed   []error                     // likewise
}

func newRehearsal(stop func() bool) *rehearsal {
	return &rehearsal{stop: stop, seen: map[string]bool{}, units: map[types.Type]*value.Dense{}, room: local.NewBufferPool(0)}
}

// end gives the memory of the rehearsal back.
func (r *rehearsal) end() {
	for _, b := range r.lent {
		r.room.Put(b)
	}
	r.lent, r.from, r.to = nil, nil, nil
	if err := r.room.Close(); err != nil {
		r.failed = append(r.failed, err)
	}
}

// graph rehearses the nodes of g for which mine is true, and those of the regions of its loops and
// branches.
func (r *rehearsal) graph(g *ir.Graph, mine func(id ir.ID) bool) {
	for i := range g.Nodes {
		id, n := ir.ID(i), &g.Nodes[i]
		switch {
		case !mine(id):
		case r.stop():
			return
		case n.Op.Control == op.Iterate || n.Op.Control == op.Select:
			for region := n.Region; region != nil; region = region.Next {
				r.graph(region.Graph, func(ir.ID) bool { return true })
			}
		default:
			r.node(g, id)
		}
	}
}

// node rehearses node id, unless it is of a kind that was rehearsed.
func (r *rehearsal) node(g *ir.Graph, id ir.ID) {
	n, t := &g.Nodes[id], g.Type(id)
	d, sig := n.Op, &op.Sig{Def: n.Op, Attrs: n.Attrs}
	if d.Kernel == nil || d.Control != op.NoControl || d.Reads != nil || !d.Laws.Has(op.Pure) || plan.IsGather(n) || plan.MayView(g, id) {
		return
	}
	bytes, most := 0, 0
	for _, x := range g.In(id) {
		in := g.Type(x)
		if !in.Sized() && !(in.IsScalar() && in.Elem.Size() > 0) {
			return
		}
		sig.In = append(sig.In, in)
		bytes, most = bytes+in.Bytes(), max(most, in.Bytes())
	}
	for _, out := range t.Parts() {
		if !out.Sized() {
			return
		}
		bytes, most = bytes+out.Bytes(), max(most, out.Bytes())
	}
	kind := fmt.Append(nil, d.Name, sig.In)
	for _, a := range n.Attrs.List() {
		if a.Val.Kind == op.BoolVal || a.Val.Kind == op.StrVal { // numbers are places and sizes
			kind = fmt.Append(kind, a)
		}
	}
	if n.Region != nil {
		kind = fmt.Appendf(kind, "%p", n.Region)
	}
	if r.seen[string(kind)] {
		return
	}
	r.seen[string(kind)] = true
	small := bytes <= rehearsedBytes && d.Role != op.Points && d.Role != op.Rounds && d.Cost != nil && d.Cost(sig, t).Flops <= rehearsedFlops
	if !small && (d.Loop == nil || most > begunBytes) {
		return
	}
	c := &op.Call{Def: d, Attrs: n.Attrs, Type: t, Part: n.Attrs.Int(plan.SharedRows) > 0 && !small, Stopped: r.stop}
	for _, x := range g.In(id) {
		c.In = append(c.In, r.operand(g, x, small))
	}
	var outs value.Tuple
	for _, out := range t.Parts() {
		outs = append(outs, r.over(&r.to, out))
	}
	if c.Out = outs; t.Kind != types.Tuple {
		c.Out = outs[0]
	}
	if small && d.Accum > 0 {
		outs[0].(*value.Dense).CopyFrom(c.In[d.Accum-1].(*value.Dense))
	}
	if n.Region != nil && n.Enter(c) != nil {
		return
	}
	r.run(c, small)
}

// run runs a call, or begins its loop.
func (r *rehearsal) run(c *op.Call, whole bool) {
	var err error
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: %v", c.Def.Name, v)
		}
		if r.ran++; err != nil {
			r.failed = append(r.failed, err)
		}
	}()
	if whole {
		err = c.Def.Kernel(c)
	} else if n, leaf := c.Def.Loop.Space(c); n > 0 {
		var b op.LoopBody
		if b, err = c.Def.Loop.Begin(c, 1); err == nil && c.Def.Role != op.Points && c.Def.Role != op.Rounds {
			err = b.Chunk(0, 0, min(n, leaf))
		}
	}
}

// operand returns a made-up value for node x. A node that is a view in the run, as a slice is, is a
// view here: machine code depends on the distance between rows. unit asks for a unit matrix.
func (r *rehearsal) operand(g *ir.Graph, x ir.ID, unit bool) value.Value {
	n, t := &g.Nodes[x], g.Type(x)
	if n.Op.Role == op.Constant {
		if v, err := n.Op.Ref(&op.Call{Def: n.Op, Attrs: n.Attrs, Type: t}); err == nil {
			return v
		}
	}
	if t.IsScalar() {
		return value.F64(1).Convert(t.Elem)
	}
	if plan.MayView(g, x) && t.Sized() && g.Type(g.In(x)[0]).Sized() {
		c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: t}
		for _, y := range g.In(x) {
			c.In = append(c.In, r.operand(g, y, unit))
		}
		if d, err := n.Op.Look(c); d != nil && err == nil {
			return d
		}
	}
	// Integers may be codes and positions that a task before has checked. 0 is one in any matrix.
	if unit && t.Elem.IsFloat() && t.Bytes() <= rehearsedBytes {
		return r.unit(t)
	}
	if unit {
		return value.New(t.Elem, t.Rows, t.Cols)
	}
	return r.over(&r.from, t)
}

// unit returns a unit matrix of type t, the same one in all calls. Few kernels refuse it.
func (r *rehearsal) unit(t types.Type) *value.Dense {
	d := r.units[t]
	if d == nil {
		d = value.New(t.Elem, t.Rows, t.Cols)
		for i := range min(t.Rows, t.Cols) {
			d.Set(i, i, value.F64(1).Convert(t.Elem))
		}
		r.units[t] = d
	}
	return d
}

// over returns a matrix of type t in memory that it shares with others. The memory is not of the Go
// heap, which would clear it, because what the ballast leaves behind counts as used. To clear the 8 MiB
// of heat2d takes 4 to 40 ms, which Warm then lacks.
func (r *rehearsal) over(memory *[]byte, t types.Type) *value.Dense {
	if n := t.Bytes(); len(*memory) < n {
		if b, err := r.room.Get(n); err == nil {
			*memory, r.lent = b, append(r.lent, b) // kept until the end: no operand may get the memory of a result
		} else {
			*memory = make([]byte, n)
		}
	}
	return value.Over((*memory)[:t.Bytes()], t.Elem, t.Rows, t.Cols)
}
