package local

// This file counts what a run did, by kernel and by the user's function call.

import (
	"slices"
	"sort"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

func (c *callCount) add(start, end int64) {
	c.share(start, end)
	c.tasks++
}

// share adds a part of a task that is counted elsewhere.
func (c *callCount) share(start, end int64) {
	if !c.any {
		c.first, c.any = start, true
	}
	c.last = end
	c.busy += end - start
}

// plus extends c by o, which covers other tasks.
func (c *callCount) plus(o callCount) {
	if !o.any {
		return
	}
	if !c.any || o.first < c.first {
		c.first, c.any = o.first, true
	}
	c.last = max(c.last, o.last)
	c.tasks += o.tasks
	c.busy += o.busy
}

func (e *Engine) makeReport(wall time.Duration) *Report {
	r := &Report{Rank: e.o.Rank, Workers: len(e.scratch), Rounds: e.Rounds(), Edges: len(e.dag.Succ), Seconds: wall.Seconds(), BytesPeak: e.buffers.Stats().Peak}
	if e.o.Read != nil {
		r.BytesRead = e.o.Read.Load()
	}
	r.Moved = e.helping.moved
	kinds := make([]kindCount, len(e.kinds))
	calls := make([]callCount, len(e.g.Calls))
	for i := range e.scratch {
		s := &e.scratch[i]
		r.BytesLent += s.lent
		r.BytesReused += s.reused
		r.Helped += s.helped
		for k, c := range s.kinds {
			kinds[k].tasks += c.tasks
			kinds[k].busy += c.busy
		}
		for k, c := range s.calls {
			calls[k].plus(c)
		}
	}
	var flops, callFlops []float64
	if e.o.Stats {
		flops, callFlops = e.flops()
	}
	for k, c := range kinds {
		if c.tasks == 0 {
			continue
		}
		kr := KernelReport{Name: e.kinds[k].Name, Tasks: c.tasks, Busy: float64(c.busy) / 1e9}
		if flops != nil {
			kr.Flops = flops[k]
		}
		r.Tasks += int(c.tasks)
		r.Busy += kr.Busy
		r.Flops += kr.Flops
		r.Kernels = append(r.Kernels, kr)
	}
	sort.Slice(r.Kernels, func(i, j int) bool {
		a, b := &r.Kernels[i], &r.Kernels[j]
		if a.Busy != b.Busy {
			return a.Busy > b.Busy
		}
		return a.Name < b.Name
	})
	e.reportCalls(r, calls, callFlops)
	r.Loops = e.records
	return r
}

// reportCalls adds every call to its caller, then lists those that ran anything. A call comes after
// its caller.
func (e *Engine) reportCalls(r *Report, calls []callCount, flops []float64) {
	list := e.g.Calls
	begin := e.started.Sub(e.epoch).Nanoseconds()
	for i := len(list) - 1; i > 0; i-- {
		if p := list[i].Parent; p > 0 && int(p) < i {
			calls[p].plus(calls[i])
			if flops != nil {
				flops[p] += flops[i]
			}
		}
	}
	for i := 1; i < len(list); i++ {
		c := calls[i]
		if c.tasks == 0 {
			continue
		}
		cr := CallReport{Call: int32(i), Name: list[i].Name, Span: list[i].Span, Tasks: c.tasks, Busy: float64(c.busy) / 1e9,
			First: float64(c.first-begin) / 1e9, Last: float64(c.last-begin) / 1e9}
		if flops != nil {
			cr.Flops = flops[i]
		}
		r.Calls = append(r.Calls, cr)
	}
}

// flops sums the work of all tasks by kind and by call. Adjacent tasks are mostly alike, so the
// last answer of each kind is cached.
func (e *Engine) flops() (byKind, byCall []float64) {
	g := e.g
	byKind = make([]float64, len(e.kinds))
	byCall = make([]float64, len(g.Calls))
	type answer struct {
		in    []types.Type
		out   types.Type
		attrs *op.Attrs
		flops float64
	}
	last := make([]answer, len(e.kinds))
	var in []types.Type
	for t, id := range e.task {
		if e.flags[t]&steers != 0 {
			continue
		}
		k := e.kind[t]
		d := e.kinds[k]
		if e.flags[t]&fused != 0 {
			f := e.chainFlops(id) * e.runs(id)
			byKind[k] += f
			byCall[g.Nodes[id].Call] += f
			continue
		}
		if d.Cost == nil {
			continue
		}
		in = g.Types(in[:0], g.In(id)...)
		a := &last[k]
		if out := g.Type(id); a.in == nil || a.attrs != g.Nodes[id].Attrs || a.out != out || !slices.Equal(a.in, in) {
			a.in, a.out, a.attrs = append(a.in[:0], in...), out, g.Nodes[id].Attrs
			a.flops = d.Cost(&op.Sig{Def: d, In: in, Attrs: a.attrs}, out).Flops
			if a.in == nil {
				a.in = []types.Type{}
			}
		}
		f := a.flops * e.runs(id)
		byKind[k] += f
		byCall[g.Nodes[id].Call] += f
	}
	return byKind, byCall
}

// chainFlops returns the work of a map: one operation an element and a step. The row of a chain
// that computes a product gives its own.
func (e *Engine) chainFlops(id ir.ID) float64 {
	n := &e.g.Nodes[id]
	r := n.Region
	t := e.g.Type(id).Parts()[0] // matrices come first, and are of one shape
	if t.Kind == types.Matrix && !t.Known() {
		return 0
	}
	if _, product := n.Attrs.Get("place"); product && n.Op.Cost != nil {
		return n.Op.Cost(&op.Sig{Def: n.Op, Attrs: n.Attrs, In: e.g.Types(nil, e.g.In(id)...)}, t).Flops
	}
	return float64(t.Count()) * float64(r.Graph.Len()-len(r.Args))
}
