package compiler

import (
	"fmt"
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/compiler/pass"
	"flow/ir"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/lang/source"
	"flow/memory"
)

// This file refuses plans that need more memory than there is.

// tooLarge returns the first node of a plan, in program order, whose value or operands together
// exceed the limit. ok is false if there is none. A matrix that fusion eliminates has no node, so
// it may be of any size.
//
// Regions are not checked: a branch may not be taken, and what they hold is part of the peak. Sizes
// that only the run knows are checked in the run.
func tooLarge(p *plan.Plan, limit memory.Limit) (d source.Diagnostic, ok bool) {
	g, stored := p.Graph, plan.Stored(p)
	var in []ir.ID
	for id, n := range g.All() {
		if t, size := g.Type(id), stored[id]; size > float64(limit.Bytes) {
			// an internal node; the program names the one it reads
			if n.Op.Hidden && len(g.In(id)) > 0 {
				n = &g.Nodes[g.In(id)[0]]
			}
			return tooMuch(n, fmt.Sprintf("a %v takes", t), size, limit), true
		}
		if len(g.In(id)) < 2 {
			continue
		}
		in = append(in[:0], g.In(id)...)
		slices.Sort(in)
		in = slices.Compact(in)
		all := 0.0
		for _, x := range in {
			all += stored[x]
		}
		if all > float64(limit.Bytes) {
			return tooMuch(n, fmt.Sprintf("its %d operands take", len(in)), all, limit), true
		}
	}
	return d, false
}

// peakTooLarge refuses a plan whose values take more than the limit at one time, with one worker a rank
// and so many ranks on the machine, whichever branches it takes. all: the larger branches fit, too. A
// plan that is not refused runs in the order of the prediction if all of its values together would not
// fit. If they do, the prediction costs next to nothing.
func peakTooLarge(p *plan.Plan, ranks int, limit memory.Limit) (d source.Diagnostic, ok, all bool) {
	if ranks < 1 {
		ranks = p.Ranks
	}
	if plan.FitsIn(p, limit.Bytes/int64(ranks)) {
		return d, false, true
	}
	m, all := p.Sparing(pass.DepthFirst(p.Graph), ranks, limit.Bytes)
	need := m.On(ranks)
	if need <= limit.Bytes {
		return d, false, all
	}
	message := fmt.Sprintf("the values of this program take %s at one time, more than there is (%v)", types.InBytes(float64(need)), limit)
	if ranks > 1 {
		message = fmt.Sprintf("the values of this program take %s at one time on %d ranks, %s on one, more than there is (%v)",
			types.InBytes(float64(need)), ranks, types.InBytes(float64(m.Most())), limit)
	}
	for k, h := range m.Largest {
		if n := &p.Graph.Nodes[h.Node]; k == 0 {
			d = source.Errorf("E605", n.Span, "%s", message).WithLabel("%s of them are made here", types.InBytes(float64(h.Bytes))).WithHelp(smaller)
		} else {
			d = d.WithNote(n.Span, "%s are made here", types.InBytes(float64(h.Bytes)))
		}
	}
	return d, true, false
}

// smaller is the help for a program that needs too much memory.
const smaller = "choose smaller sizes, or reduce the matrix where it is made: `sum` of a constructor stores nothing; a machine with more memory takes it as it is"

func tooMuch(n *ir.Node, what string, size float64, limit memory.Limit) source.Diagnostic {
	message := fmt.Sprintf("%s %s, more than there is (%v)", what, types.InBytes(size), limit)
	return source.Errorf("E605", n.Span, "%s", n.Op.Told(message)).
		WithHelp(smaller)
}

// fits reports whether the values of the plan fit in memory if the smaller branches are taken.
func (s *state) fits() bool {
	ok, _ := s.room()
	return ok
}

// room reports whether the values of the plan fit in memory: if the smaller branches are taken (ok),
// and whichever are (all). Without a limit they do.
func (s *state) room() (ok, all bool) {
	if s.o.Memory.Bytes <= 0 {
		return true, true
	}
	if _, one := tooLarge(s.plan(), s.o.Memory); one {
		return false, false
	}
	_, large, all := peakTooLarge(s.plan(), s.o.Together, s.o.Memory)
	return !large, all
}

// leastPart is the size in bytes of parts of files where larger ones do not fit in memory.
const leastPart = 1 << 17

// readInParts makes the plan read files part by part, if its values take more memory than there is and
// fit in parts. It reports whether the values then fit. Tests read in parts always (Sizes.Part).
func (s *state) readInParts() bool {
	some, all := s.room()
	if all && s.o.Sizes.Part == 0 {
		return true
	}
	// The second try repeats more work, and the third also reads small parts. Tests take the first.
	small := s.o.Sizes
	small.Part = leastPart
	for k, sizes := range []nodes.Sizes{s.o.Sizes, s.o.Sizes, small} {
		x := *s
		if k > 0 && s.owner == nil {
			x.g = layout.WholeReads(s.g, s.o.Table)
		}
		x.g, x.owner = layout.InParts(x.g, s.owner, s.o.Table, sizes, k > 0 || s.o.Sizes.Part > 0)
		if fits, whichever := x.room(); s.o.Sizes.Part > 0 || whichever && !all || fits && !some {
			s.g, s.owner = x.g, x.owner
			return fits
		}
	}
	return some
}
