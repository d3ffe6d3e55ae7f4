package nest

// This file writes the phases of a body that gives rows: each is a nest over rows and columns. A body
// of short rows is one phase, whose lanes are rows.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// WritePhases writes all phases in one form. If a phase cannot be written, it returns nil and why. name
// and by are the name and the step of the index.
func WritePhases(p *RowPlan, by int, name string, form Form) (out []*RowPhase, why string) {
	why, ok := Written(func() {
		for n := range p.Phases {
			out = append(out, writePhase(p, n, by, name, form))
		}
	})
	if !ok {
		return nil, why
	}
	return out, ""
}

func writePhase(p *RowPlan, number, by int, name string, form Form) *RowPhase {
	f := &RowPhase{plan: p, Own: &p.Phases[number], Apart: map[int]bool{}}
	x := NewBuilder(form)
	x.phase = f
	row, _, index := x.index(name, by)
	at := [2]loop.Lin{row, loop.Of(loop.IndexSym, x.Index("column", loop.Range{Kind: loop.Steps, To: loop.Num(int64(f.Own.Width)), By: 1}))}
	if f.column = at[1]; p.ByRow != nil {
		x.row = row
	}
	env := make([]Ref, 1)
	if f.Own.need[0] {
		env[0] = index()
	}
	for r := 1; r < len(p.Varies); r++ {
		env = append(env, x.inPhase(r, env, at))
	}
	for _, k := range f.Own.Results {
		x.result(k, env, at)
	}
	f.Operands = x.Operands
	f.Loop = LoopOf(loop.Merge(x.Done()))
	return f
}

// result stores the elements of result k, or contributes them.
func (x *Builder) result(k int, env []Ref, at [2]loop.Lin) {
	f, p := x.phase, x.phase.plan
	y := &p.Results[k]
	r := env[y.Register]
	switch {
	case y.Total != nil:
		x.contribute(y.Total, y.Type.Elem, r, [2]loop.Lin{loop.Num(0), loop.Num(0)}, at[1])
		f.Results = append(f.Results, Operand{Register: k, What: ItsResult})
	case p.Kept[y.Register]: // it is kept where the result is
	default:
		f.Results = append(f.Results, Operand{Register: k, What: ItsResult})
		out := x.Result(dense.Storage(y.Type.Elem), loop.Of(loop.ParamSym, 1), loop.Num(int64(f.Own.Width)))
		v := define.ConvertBody(x.Builder, dense.Storage(y.Type.Elem), r.elem(loop.Num(0), at[1]))
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], v)
	}
}

// WriteLanes writes a body as one loop whose lanes are the iterations, with exact sums of the given
// number of words. If it cannot be written, it returns nil and why. Its bounds are the number of the
// panel, for reductions by key whose order counts, and the number of iterations.
func WriteLanes(b *RowsBody, words, iterations, panel int) (f *RowPhase, why string) {
	why, _ = Written(func() {
		x := NewBuilder(Form{Words: words, Affine: true})
		x.remakes = true
		number, n := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
		row := loop.Of(loop.IndexSym, x.Index("i", loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, n), By: 1}))
		env := []Ref{{Type: b.Args[0], Val: x.Value(row)}}
		x.row = row
		for r := 1; r < len(b.Args); r++ {
			if b.OwnRow(r) {
				env = append(env, x.OwnRow(b, r, row))
			} else {
				env = append(env, x.Outer(b.Body, r))
			}
		}
		keeps := b.keptInLanes()
		for k := range b.Acts {
			y := x.Act(b.Body, k, env)
			if keeps != nil && keeps[len(b.Args)+k] {
				y = x.laid(y)
			}
			env = append(env, y)
		}
		if keeps != nil { // all inner loops come before what is stored, which would keep them apart
			for _, y := range b.Results {
				if r := env[y.Register]; r.At != nil {
					env[y.Register] = x.held(r.Type, x.Hold(r))
				}
			}
		}
		var results []Operand
		for k := range b.Results {
			y := &b.Results[k]
			if y.Columns() {
				results = append(results, x.laneColumns(k, y, env[y.Register])...)
				continue
			}
			if results = append(results, Operand{Register: k, What: ItsResult}); y.Keyed == nil {
				x.laneRow(y, env[y.Register], row, n)
				continue
			}
			tables, size := y.Tables(iterations, panel)
			x.laneKeyed(y, env, number, tables, size)
		}
		f = &RowPhase{Loop: LoopOf(loop.Merge(x.Done())), Operands: x.Operands, Results: results}
	})
	return f, why
}

// keptInLanes says which registers of a body whose lanes are rows are dear and read again after a
// reduction of their row. Rows are made again beyond laidElements. It is nil for a body without wide
// rows.
func (b *RowsBody) keptInLanes() []bool {
	wide := func(r int) bool { t := b.Register(r); return t.IsDense() && t.Cols > define.Unrolled }
	any := false
	for k := range b.Acts {
		any = any || wide(len(b.Args)+k)
	}
	p, _ := PlanRows(b, 0)
	if !any || p == nil {
		return nil
	}
	room := laidElements // of all: the lanes share a second-level cache
	for r := range p.Kept {
		n := b.Register(r).Count()
		if p.Kept[r] = p.Kept[r] && wide(r) && n <= room; p.Kept[r] {
			room -= n
		}
	}
	return p.Kept
}

// laneRow stores a row of a result, or contributes it.
func (x *Builder) laneRow(y *RowResult, in Ref, row loop.Lin, n int) {
	if y.Total == nil {
		x.keepRow(in, row, loop.Of(loop.ParamSym, n))
		return
	}
	var m loop.Mem
	for j := range max(1, in.Type.Cols) {
		x.total(y.Total.Class, y.Type.Elem, in.elem(loop.Num(0), loop.Num(int64(j))), &m)
	}
}

// laneColumns contributes a row to the reductions of the columns, result k. Each column is a result
// of its own in the loop, since the numbers of one column mostly have similar magnitudes and those
// of several columns do not.
func (x *Builder) laneColumns(k int, y *RowResult, in Ref) (results []Operand) {
	for j := range y.Type.Cols {
		var m loop.Mem
		x.total(y.Total.Class, y.Type.Elem, in.elem(loop.Num(0), loop.Num(int64(j))), &m)
		results = append(results, Operand{Register: k, What: ItsColumn, Col: j})
	}
	return results
}

// total contributes a value to a reduction of all elements, whose result m is when there is one.
func (x *Builder) total(c loop.Class, gives types.Elem, v loop.Val, m *loop.Mem) {
	v = x.Term(c, v)
	if zero := loop.Num(0); m.Kind == loop.NoMem {
		*m = x.reduced(c, gives, loop.Num(1), [2]loop.Lin{zero, zero}, v)
	} else {
		x.Reduce(*m, zero, zero, v)
	}
}

// contributeByKey contributes what element at[1] of vectors gives to the table of point at[0]. A
// product with all rows of a matrix of codes is nan where a number of another code is infinite or nan:
// a check says so.
func (x *Builder) contributeByKey(a *op.Action, env []Ref, at [2]loop.Lin) {
	in := x.reads(a, env)
	one := make([]Ref, len(in))
	for k, r := range in {
		one[k] = x.sized(types.DenseOf(r.Type.Elem, 1, 1), func(loop.Lin, loop.Lin) loop.Val { return r.along(at[1]) })
	}
	e, _ := x.call(a, one)
	w := a.Def.Keyed.Write(e)
	v := w.Terms[0]
	if n := a.Def.Keyed.Panel(a.Attrs); n != op.NoOrder && n != op.OneChain {
		last := v[len(v)-1]
		x.Check(loop.Uncertain, x.Op(loop.Eq, x.Op(loop.Sub, last, last), define.Numeral(x.Builder, x.Type(last), 0)))
	}
	size := loop.Num(int64(a.Type.Count()))
	m := loop.Mem{Kind: loop.ResultMem, N: x.Reduced(w.Class, w.Class.Gives(x.Type(v[0])), loop.Of(loop.ParamSym, 1), size)}
	x.Reduce(m, at[0], loop.Of(loop.ValSym, int(w.Key)), v...)
}

// reducedByKey is the type of what a reduction by key gives.
func (x *Builder) reducedByKey(a *op.Action) (gives types.Elem) {
	x.takenBack(func() {
		var in []Ref
		for _, r := range a.Args {
			t := x.phase.plan.Register(r)
			in = append(in, Ref{Type: t, Val: x.Const(dense.Storage(t.Elem), 0)})
		}
		e, _ := x.call(a, in)
		w := a.Def.Keyed.Write(e)
		gives = w.Class.Gives(x.Type(w.Terms[0][0]))
	})
	return gives
}

// laneKeyed contributes to the tables of a result by key; number is the operand that says which of
// them is at work.
func (x *Builder) laneKeyed(y *RowResult, env []Ref, number, tables, size int) {
	e, _ := x.call(y.Keyed, x.reads(y.Keyed, env))
	w := y.Keyed.Def.Keyed.Write(e)
	of := len(w.Terms)
	if tables > 1 {
		first := x.Op(loop.Mul, x.Load(loop.Mem{Kind: loop.ParamMem, N: number}), define.Numeral(x.Builder, types.I64, size/of))
		w.Key = x.Op(loop.Add, w.Key, first)
	}
	m := loop.Mem{Kind: loop.ResultMem, N: x.Reduced(w.Class, w.Class.Gives(x.Type(w.Terms[0][0])), loop.Num(int64(tables*size)), loop.Num(1))}
	at := loop.Of(loop.ValSym, int(w.Key)).Times(int64(of))
	for j, t := range w.Terms {
		x.Reduce(m, at.Plus(loop.Num(int64(j))), loop.Num(0), t...)
	}
}

// inPhase is register r at a point of the phase.
func (x *Builder) inPhase(r int, env []Ref, at [2]loop.Lin) Ref {
	f, p := x.phase, x.phase.plan
	t := p.Register(r)
	k := r - len(p.Args)
	switch {
	case !f.Own.need[r]:
		return Ref{Type: t, Val: loop.NoVal}
	case p.OwnRow(r):
		return x.OwnRow(p.RowsBody, r, at[0])
	case !p.Varies[r]:
		return x.Outer(p.Body, r)
	case p.cut(k) && p.level[r] > f.Own.level && p.byKey(k):
		x.contributeByKey(&p.Acts[k], env, at)
		f.Results = append(f.Results, Operand{Register: r, What: ItsReduced})
		return Ref{Type: t, Val: loop.NoVal}
	case p.cut(k) && p.level[r] > f.Own.level:
		x.contribute(p.Acts[k].Def, types.NoElem, env[p.Acts[k].Args[0]], [2]loop.Lin{at[0], loop.Num(0)}, at[1])
		f.Results = append(f.Results, Operand{Register: r, What: ItsReduced})
		return Ref{Type: t, Val: loop.NoVal}
	case p.cut(k) && p.byKey(k):
		m := x.bring(r, ItsReduced, x.reducedByKey(&p.Acts[k]))
		return x.sized(t, func(i, j loop.Lin) loop.Val {
			return define.ConvertBody(x.Builder, dense.Storage(t.Elem), x.Load(m, at[0], i.Times(int64(t.Cols)).Plus(j)))
		})
	case p.cut(k):
		d, gives := p.Acts[k].Def, types.I64 // the place of an extreme
		if c := d.Class; !argExtreme(d) {
			gives = c.Gives(takenAs(c, dense.Storage(p.Register(p.Acts[k].Args[0]).Elem)))
		}
		m := x.bring(r, ItsReduced, gives)
		v := define.ConvertBody(x.Builder, dense.Storage(t.Elem), x.Load(m, at[0], loop.Num(0)))
		return x.held(t, []loop.Val{v})
	case p.Kept[r] && (p.level[r] < f.Own.level || p.ofPoint(r, f.Own)):
		m := x.bring(r, ItsKept, dense.Storage(t.Elem))
		if isNumber(t) {
			return Ref{Type: t, Val: x.Load(m, at[0], loop.Num(0))}
		}
		return x.sized(t, func(i, j loop.Lin) loop.Val {
			j = i.Plus(j) // one of them is 0
			f.Apart[r] = f.Apart[r] || !j.Equal(at[1])
			return x.Load(m, at[0], j)
		})
	}
	mark := x.Mark()
	y := x.Act(p.Body, k, env)
	x.Since(mark, func(s *loop.Stmt) {
		loops := loop.Some([]loop.Stmt{*s}, func(s *loop.Stmt) bool { return s.Loop != nil })
		if loops || s.Then != nil && !f.passes(t) { // it would run for every column
			panic(NoBody{"a loop for each row"})
		}
	})
	if p.Kept[r] {
		out := x.Result(dense.Storage(t.Elem), loop.Of(loop.ParamSym, 1), loop.Num(int64(f.Own.Width)))
		f.Results = append(f.Results, Operand{Register: r, What: ItsKept})
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], define.ConvertBody(x.Builder, dense.Storage(t.Elem), y.along(at[1])))
	}
	return y
}

// OwnRow is the row of argument r that belongs to the iteration.
func (x *Builder) OwnRow(b *RowsBody, r int, row loop.Lin) Ref {
	t := b.Args[r]
	m := x.bring(r, ItsValue, dense.Storage(t.Elem))
	return x.sized(t, func(_, j loop.Lin) loop.Val { return x.Load(m, row, j) })
}

// bring adds an operand: a matrix that an earlier phase has made, or one that gives each iteration its
// row.
func (x *Builder) bring(r int, what operandPart, e types.Elem) loop.Mem {
	x.Operands = append(x.Operands, Operand{Register: r, What: what})
	return loop.Mem{Kind: loop.ParamMem, N: x.Param(loop.DenseParam, e)}
}

// contribute contributes the elements of a row to a reduction of rows, or of all of them, whose
// result is of gives; NoElem: of any type. Its element is to, and col the column.
func (x *Builder) contribute(d *op.Def, gives types.Elem, in Ref, to [2]loop.Lin, col loop.Lin) {
	if in.At == nil && !in.Type.IsScalar() || in.Val == loop.NoVal && in.At == nil {
		panic(NoBody{"`" + define.SourceName(d) + "` of " + in.Type.String()})
	}
	rows := loop.Of(loop.ParamSym, 1)
	if to[0].Known() {
		rows = loop.Num(1)
	}
	if argExtreme(d) && !to[0].Known() {
		place := [2]loop.Lin{loop.Num(0), col}
		if in.Type.Cols == 1 {
			place = [2]loop.Lin{col, loop.Num(0)}
		}
		x.contributePlace(d, in, place, func(c loop.Class, terms []loop.Val) { x.reduced(c, gives, rows, to, terms...) })
		return
	}
	x.reduced(d.Class, gives, rows, to, x.Term(d.Class, in.along(col)))
}
