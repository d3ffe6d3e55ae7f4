package kernels

// This file plans the phases of a body that gives rows. Between two phases lie reductions of whole rows: a phase is a loop over rows and
// columns that reads what earlier ones have reduced, reduces on, and the last one stores the row.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

const (
	// leastWidth is from how many columns on rows have phases: shorter ones are lanes side by side.
	leastWidth = 32
	// dearElement is from how many statements on an element that a later phase reads is kept in memory, and not made again.
	dearElement = 12
)

// rowPlan says which phase computes what.
type rowPlan struct {
	body   *op.Body
	varies []bool
	width  int      // of the rows
	last   int      // the last phase
	level  []int    // of each register, the first phase that may read it
	need   [][]bool // of each phase, the registers that it reads or makes
	kept   []bool   // registers that their first phase stores for later ones
	cost   []int    // of each register, statements for an element
}

// planRows plans a body whose only index is its first argument; nil where it gives no rows, or not by phases.
func planRows(b *op.Body, varies []bool) *rowPlan {
	y := b.Yields[0]
	t := b.Register(y)
	if !t.IsDense() || !t.Known() || t.Rows != 1 || t.Cols < leastWidth || !varies[y] {
		return nil
	}
	p := &rowPlan{body: b, varies: varies, width: t.Cols, level: make([]int, len(varies)), kept: make([]bool, len(varies)),
		cost: make([]int, len(varies))}
	for k := range b.Acts {
		a, r := &b.Acts[k], len(b.Args)+k
		if !varies[r] {
			continue
		}
		if a.Def.Control != op.NoControl {
			return nil
		}
		for _, x := range a.Args {
			p.level[r] = max(p.level[r], p.level[x])
		}
		if p.cut(k) {
			p.level[r]++
		}
	}
	p.last = p.level[y]
	p.need = make([][]bool, p.last+1)
	for k := range p.need {
		p.need[k] = make([]bool, len(varies))
	}
	p.read(y, p.last)
	for k := range b.Acts { // what nobody reads may fail
		if r := len(b.Args) + k; varies[r] && !p.needed(r) {
			return nil
		}
	}
	return p
}

// needed reports that some phase reads or makes a register.
func (p *rowPlan) needed(r int) bool {
	return slices.ContainsFunc(p.need, func(phase []bool) bool { return phase[r] })
}

// cut reports an action that reduces a whole row.
func (p *rowPlan) cut(k int) bool {
	a := &p.body.Acts[k]
	if !p.varies[len(p.body.Args)+k] || a.Def.Class == loop.NoClass || a.Def.Fold != op.FoldAll {
		return false
	}
	t := p.body.Register(a.Args[0])
	return t.IsDense() && p.wide(t)
}

// wide reports a matrix that is a row, or a column as long as a row.
func (p *rowPlan) wide(t types.Type) bool {
	return t.Known() && min(t.Rows, t.Cols) == 1 && t.Count() == p.width
}

// read notes that a phase reads a register.
func (p *rowPlan) read(r, phase int) {
	if p.need[phase][r] {
		return
	}
	p.need[phase][r] = true
	k := r - len(p.body.Args)
	if k < 0 || !p.varies[r] {
		return
	}
	a := &p.body.Acts[k]
	if p.cut(k) { // its own phase is the one before it may be read
		p.need[p.level[a.Args[0]]][r] = true
		p.read(a.Args[0], p.level[a.Args[0]])
		return
	}
	if own := p.level[r]; own < phase && p.wide(a.Type) && a.Type.Rows == 1 && p.costOf(r) >= dearElement {
		p.kept[r] = true
		p.read(r, own)
		return
	}
	for _, x := range a.Args {
		p.read(x, phase)
	}
}

// costOf is how many statements an element of a register takes, about.
func (p *rowPlan) costOf(r int) int {
	k := r - len(p.body.Args)
	if k < 0 || !p.varies[r] || p.cut(k) {
		return 0
	}
	if p.cost[r] == 0 {
		a := &p.body.Acts[k]
		n := 1
		switch {
		case a.Def.Body != nil:
			n = statements(a, p.body)
		case !a.Def.Laws.Has(op.View) && a.Type.IsDense():
			n = dearElement // a product, a reduction of another matrix
		}
		for _, x := range a.Args {
			n += p.costOf(x)
		}
		p.cost[r] = n
	}
	return p.cost[r]
}

// statements is how many statements the body of an elementwise action has.
func statements(a *op.Action, b *op.Body) (n int) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(op.NoElement); !ok {
				panic(r)
			}
			n = 1 // who writes it says why not
		}
	}()
	x := loop.New()
	var in []loop.Val
	var elems []types.Elem
	for _, r := range a.Args {
		e := b.Register(r).Elem
		if e.Size() == 0 {
			return 1
		}
		in, elems = append(in, x.Const(dense.Storage(e), 0)), append(elems, e)
	}
	m := x.Mark()
	nestStep(x, a.Def, a.Type.Elem, in, elems, 0)
	x.Since(m, func(s *loop.Stmt) {
		if n++; s.Func != nil {
			n += len(s.Func.Body.Stmts)
		}
	})
	return n
}
