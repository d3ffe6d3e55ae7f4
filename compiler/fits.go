package compiler

import (
	"fmt"
	"slices"

	"flow/ir"
	"flow/ir/types"
	"flow/lang/source"
	"flow/memory"
)

// This file refuses plans that need more memory than there is.

// tooLarge returns the first node of a plan, in program order, whose value or operands together
// exceed the limit. ok is false if there is none. A matrix that fusion eliminates has no node, so
// it may be of any size.
//
// Regions are not checked: a branch may not be taken, and a loop may have no rounds. Sizes that
// only the run knows are checked in the run.
func tooLarge(g *ir.Graph, limit memory.Limit) (d source.Diagnostic, ok bool) {
	var in []ir.ID
	for i := range g.Nodes {
		id := ir.ID(i)
		if t, size := g.Type(id), stored(g, id); size > float64(limit.Bytes) {
			n := &g.Nodes[i]
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
			all += stored(g, x)
		}
		if all > float64(limit.Bytes) {
			return tooMuch(&g.Nodes[i], fmt.Sprintf("its %d operands take", len(in)), all, limit), true
		}
	}
	return d, false
}

func tooMuch(n *ir.Node, what string, size float64, limit memory.Limit) source.Diagnostic {
	message := fmt.Sprintf("%s %s, more than there is (%v)", what, types.InBytes(size), limit)
	return source.Errorf("E605", n.Span, "%s", n.Op.Told(message)).
		WithHelp("choose smaller sizes, or reduce the matrix where it is made: `sum` of a constructor stores nothing; a machine with more memory takes it as it is")
}

// stored returns the memory of a node's value in bytes, 0 if it is unknown, small, or an operand's.
func stored(g *ir.Graph, id ir.ID) float64 {
	t := g.Type(id)
	if t.Kind != types.Matrix || t.Repr != types.Dense || !t.Known() || g.Nodes[id].Op.Look != nil {
		return 0
	}
	return float64(t.Rows) * float64(t.Cols) * float64(t.Elem.Size())
}
