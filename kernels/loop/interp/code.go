package interp

// This file defines prepared nests and begins workers.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/value"
)

// Compile prepares a nest that Verify accepts. It fails with an *Unsupported if the package cannot run
// the nest.
func Compile(n *loop.Nest) (code *Code, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(*Unsupported)
			if !ok {
				panic(r)
			}
			code, err = nil, u
		}
	}()
	checkSharing(n)
	for _, x := range n.Space {
		if x.Range.Kind != loop.Steps {
			return nil, &Unsupported{fmt.Sprintf("index %s of the space without bounds known before the first point", n.Names[x.Name])}
		}
	}
	code = &Code{nest: n}
	code.plan()
	return code, nil
}

// checkSharing refuses a nest that loads an operand after it has stored to a result that may share
// its memory: the load would see the new element.
func checkSharing(n *loop.Nest) {
	stored := map[int]bool{} // operands
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case s.Code == loop.Load && s.Mem.Kind == loop.ParamMem && stored[s.Mem.N]:
			panic(&Unsupported{fmt.Sprintf("a load of %%%d after a store to a result that shares its memory", s.Mem.N)})
		case s.Code == loop.Store && s.Mem.Kind == loop.ResultMem:
			if p := n.Results[s.Mem.N].Over; p >= 0 {
				stored[p] = true
			}
		}
	})
}

// Begin makes a worker for these operands and results. A stored result is written by Window, a
// reduced one by Finish. The memory of operands and results must not change size or place while the
// worker is used.
func (c *Code) Begin(in []value.Value, out []*value.Dense) *Worker {
	w, ok := c.idle.Get().(*Worker)
	if !ok {
		w = &Worker{code: c}
	}
	w.begin(in, out)
	return w
}
