package nest

// This file plans the phases of a body that gives rows. Between two phases lie reductions of whole
// rows: a phase is a loop over rows and columns that reads what earlier ones have reduced, reduces
// on, and stores results.

import (
	"cmp"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

const (
	// LeastWidth is from how many columns on rows have phases: shorter ones are lanes side by side.
	LeastWidth = 32
	// dearElement is from how many statements on an element that a later phase reads is kept in
	// memory, and not made again.
	dearElement = 12
)

// Whole reports a result of all iterations.
func (y RowResult) Whole() bool { return y.Total != nil || y.Keyed != nil }

// Columns reports the reduction of each column.
func (y RowResult) Columns() bool { return y.Total != nil && y.Type.IsDense() }

// Tables is how many tables a result of reductions by key has, one for each panel of that many
// iterations where their order counts, and the number of elements of each.
func (y *RowResult) Tables(iterations, panel int) (n, size int) {
	n, size = 1, y.Type.Count()
	if y.Ordered() {
		n = (iterations + panel - 1) / panel
	}
	if y.Keyed.Def.Keyed.Stacked {
		size /= n
	}
	return n, size
}

// Ordered reports a reduction by key whose order counts.
func (y *RowResult) Ordered() bool { return y.Keyed.Def.Keyed.Panel(y.Keyed.Attrs) != op.NoOrder }

// OwnRow reports an argument that gives each iteration its own row.
func (b *RowsBody) OwnRow(r int) bool { return b.ByRow != nil && r < len(b.Args) && b.ByRow[r] }

// PlanParfor plans the body of a parfor whose only index is its first argument; nil where it gives
// no rows, or not by phases.
func PlanParfor(b *op.Body, varies []bool) *RowPlan {
	y := b.Yields[0]
	t := b.Register(y)
	if !t.IsDense() || !t.Known() || t.Rows != 1 || t.Cols < LeastWidth || !varies[y] {
		return nil
	}
	p, _ := PlanRows(&RowsBody{Body: b, Varies: varies, Results: []RowResult{{Register: y, Type: t}}}, t.Cols)
	return p
}

// PlanLong plans the body of a parfor whose only index is its first argument by phases over long
// vectors that it reduces. It gives a number, or a row. nil: it reduces none.
func PlanLong(b *op.Body, varies []bool) *RowPlan {
	y, width := b.Yields[0], 0
	t := b.Register(y)
	if !varies[y] || !isNumber(t) && (!t.IsDense() || !t.Known() || t.Rows != 1 || t.Cols == 0) {
		return nil
	}
	for k := range b.Acts {
		if a := &b.Acts[k]; varies[len(b.Args)+k] && (a.Def.Class != loop.NoClass || a.Def.Keyed != nil) {
			if x := b.Register(a.Args[0]); x.IsDense() && x.Known() && min(x.Rows, x.Cols) == 1 {
				width = max(width, x.Count())
			}
		}
	}
	if width < LeastWidth {
		return nil
	}
	p, _ := PlanRows(&RowsBody{Body: b, Varies: varies, Results: []RowResult{{Register: y, Type: t}}}, width)
	return p
}

// PlanRows plans a body by phases. If the body cannot run so, it returns nil and why.
func PlanRows(b *RowsBody, width int) (p *RowPlan, why string) {
	p = &RowPlan{RowsBody: b, width: width, level: make([]int, len(b.Varies)), Kept: make([]bool, len(b.Varies)), cost: make([]int, len(b.Varies))}
	for k := range b.Acts {
		a, r := &b.Acts[k], len(b.Args)+k
		if !b.Varies[r] {
			continue
		}
		other := func(b *op.Body) bool { return !pointwiseBody(b, true) }
		if a.Def.Control == op.Iterate || a.Def.Control == op.Select && slices.ContainsFunc(a.Bodies, other) {
			return nil, "a loop or branch for each row"
		}
		for _, x := range a.Args {
			p.level[r] = max(p.level[r], p.level[x])
		}
		if p.cut(k) {
			p.level[r]++
		}
	}
	for k, y := range b.Results {
		f := p.phase(p.level[y.Register], b.Register(y.Register))
		p.Phases[f].Results = append(p.Phases[f].Results, k)
		p.read(y.Register, f)
	}
	for k := range b.Acts { // unread results may fail
		if r := len(b.Args) + k; b.Varies[r] && !p.needed(r) {
			return nil, "what nothing reads: `" + define.SourceName(b.Acts[k].Def) + "`"
		}
	}
	slices.SortStableFunc(p.Phases, func(a, b phasePlan) int {
		if p.width > 0 { // what is kept of a point comes first
			return cmp.Or(a.level-b.level, a.Width-b.Width)
		}
		return cmp.Or(a.level-b.level, b.Width-a.Width)
	})
	return p, ""
}

// phase is the number of the phase of a level that goes over rows of type t, until all phases are
// known.
func (p *RowPlan) phase(level int, t types.Type) int {
	width := t.Count()
	for k := range p.Phases {
		if f := &p.Phases[k]; f.level == level && f.Width == width {
			return k
		}
	}
	p.Phases = append(p.Phases, phasePlan{level: level, Width: width, need: make([]bool, len(p.Varies))})
	return len(p.Phases) - 1
}

// needed reports that some phase reads or makes a register.
func (p *RowPlan) needed(r int) bool {
	return slices.ContainsFunc(p.Phases, func(f phasePlan) bool { return f.need[r] })
}

// ofPoint reports a number that is the same in all columns of a phase. If it is dear, a phase of one
// column makes it for each point.
func (p *RowPlan) ofPoint(r int, f *phasePlan) bool {
	return p.width > 0 && f.Width > 1 && isNumber(p.Register(r))
}

// byKey reports a reduction by key of long vectors, whose rows are one chain if their order counts.
func (p *RowPlan) byKey(k int) bool {
	a := &p.Acts[k]
	if a.Def.Keyed == nil || a.Def.Keyed.Stacked || p.width == 0 || !p.Varies[len(p.Args)+k] || !a.Type.Known() {
		return false
	}
	if n := a.Def.Keyed.Panel(a.Attrs); n != op.NoOrder && n != op.OneChain && n < p.width {
		return false
	}
	return !slices.ContainsFunc(a.Args, func(r int) bool { t := p.Register(r); return !t.IsDense() || !p.wide(t) || t.Cols != 1 })
}

// cut reports an action that reduces a whole row, or long vectors by key.
func (p *RowPlan) cut(k int) bool {
	a := &p.Acts[k]
	if p.byKey(k) {
		return true
	}
	if !p.Varies[len(p.Args)+k] || a.Def.Fold != op.FoldAll && !a.Def.Places && (a.Def.Fold != op.FoldRows || a.Type.Rows != 1) {
		return false
	}
	t := p.Register(a.Args[0])
	return t.IsDense() && p.wide(t) && (a.Def.Class != loop.NoClass || argExtreme(a.Def) && t.Elem != types.Bool)
}

// wide reports a matrix that is a row, or a column as long as a row.
func (p *RowPlan) wide(t types.Type) bool {
	return t.Known() && min(t.Rows, t.Cols) == 1 && t.Count() > 1 && (p.width == 0 || t.Count() == p.width)
}

// passes reports whether the phase passes over every element of a row or column, or over every row of a
// matrix of few columns.
func (f *RowPhase) passes(t types.Type) bool {
	few := t.Rows == f.plan.width && t.Cols <= define.WrittenLines
	return t.Known() && (min(t.Rows, t.Cols) == 1 && t.Count() > 1 || few) && max(t.Rows, t.Cols) == f.Own.Width
}

// read notes that a phase reads a register.
func (p *RowPlan) read(r, phase int) {
	if p.Phases[phase].need[r] {
		return
	}
	p.Phases[phase].need[r] = true
	k := r - len(p.Args)
	if k < 0 || !p.Varies[r] {
		return
	}
	a := &p.Acts[k]
	if p.cut(k) { // its own phase is the one before it may be read
		own := p.phase(p.level[r]-1, p.Register(a.Args[0]))
		p.Phases[own].need[r] = true
		for _, x := range a.Args {
			p.read(x, own)
		}
		return
	}
	own, dear := p.level[r], p.costOf(r) >= dearElement
	if dear && (own < p.Phases[phase].level && p.wide(a.Type) || p.ofPoint(r, &p.Phases[phase])) {
		p.Kept[r] = true
		p.read(r, p.phase(own, a.Type))
		return
	}
	for _, x := range a.Args {
		p.read(x, phase)
	}
}

// costOf is how many statements an element of a register takes, about.
func (p *RowPlan) costOf(r int) int {
	k := r - len(p.Args)
	if k < 0 || !p.Varies[r] || p.cut(k) {
		return 0
	}
	if p.cost[r] == 0 {
		a := &p.Acts[k]
		n := 1
		switch {
		case a.Chain != nil:
			n = 0
			for _, s := range a.Chain.Steps {
				var in []types.Elem
				for _, x := range s.Args {
					in = append(in, chainElem(a.Chain, x))
				}
				n += statements(s.Def, s.Elem, in)
			}
		case a.Def.Body != nil:
			var in []types.Elem
			for _, x := range a.Args {
				in = append(in, p.Register(x).Elem)
			}
			n = statements(a.Def, a.Type.Elem, in)
		case !a.Def.Laws.Has(op.View) && a.Type.IsDense():
			n = dearElement // a product, a reduction of another matrix
		}
		for _, x := range a.Args {
			n += p.costOf(x)
		}
		p.cost[r] = max(n, 1)
	}
	return p.cost[r]
}

// chainElem is the element type of register r of a chain.
func chainElem(p *op.Program, r int) types.Elem {
	if r < len(p.In) {
		return p.In[r].Elem
	}
	return p.Steps[r-len(p.In)].Elem
}

// statements is how many statements the body of an elementwise operator has, for operands and a
// result of these types.
func statements(d *op.Def, out types.Elem, elems []types.Elem) (n int) {
	x := loop.New()
	var in []loop.Val
	for _, e := range elems {
		if e.Size() == 0 {
			return 1
		}
		in = append(in, x.Const(dense.Storage(e), 0))
	}
	m := x.Mark()
	if _, ok := Written(func() { Step(x, d, out, in, elems, 0, false) }); !ok {
		return 1 // the writer of the loop reports why
	}
	x.Since(m, func(s *loop.Stmt) {
		if n++; s.Func != nil {
			n += len(s.Func.Body.Stmts)
		}
	})
	return n
}
