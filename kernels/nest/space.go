package nest

// This file writes a matrix of a body as loops over its elements: operators that move elements say
// where they come from, chains what is made of them. Where that depends on the place, as at the
// border of a stencil, the matrix is cut into rectangles, each a loop of its own.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// mostRects is the most rectangles that a result is cut into.
const mostRects = 256

// WriteSpace returns loops that compute the results of a body, or why there are none. Results that are
// matrices have the given size. So have matrices that are reduced to results, except columns, over
// which loops run as over a row.
func WriteSpace(b *op.Body, results []RowResult, rows, cols int) (list []SpaceRect, why string) {
	why, _ = Written(func() {
		write := func(x *Builder) []Ref {
			var args []Ref
			for r := range b.Args {
				args = append(args, x.Outer(b, r))
			}
			return x.body(b, args, nil)
		}
		space := window.Rect{Rows: rows, Cols: cols}
		if list = writeSpace(space, results, Form{Affine: true}, -1, write); cols <= loop.MostAcross {
			list = across(list, space, results, write)
		}
	})
	return list, why
}

// fewAcross is the most columns of a rectangle that is slower than a loop over its rows: half of the
// lanes.
const fewAcross = 4

// across returns a loop over the rows of a space in place of the rectangles in list, if that is faster.
// A point of it makes all columns. It is faster if each rectangle has few columns, or if the rectangles
// compute again what columns share. A reduced result stays with its rectangles.
func across(list []SpaceRect, space window.Rect, results []RowResult, write func(x *Builder) []Ref) []SpaceRect {
	if slices.ContainsFunc(results, func(r RowResult) bool { return r.Total != nil }) {
		return list
	}
	steps, narrow := 0, len(list) > 1
	for _, r := range list {
		narrow = narrow && r.Cols <= fewAcross
		if r.Loop != nil {
			steps += r.Cols * loop.Length(&r.Loop.Nest().Body) * r.Rows / space.Rows
		}
	}
	var one SpaceRect
	var cut *op.Cut
	why, _ := Written(func() {
		one, cut = writeRect(write, results, Form{Affine: true, across: true}, -1, space)
	})
	if why != "" || cut != nil || !narrow && 4*loop.Length(&one.Loop.Nest().Body) > 3*steps {
		return list
	}
	return []SpaceRect{one}
}

// writeSpace returns loops over space that compute results (see Written). write writes the registers of
// the results. over is the register of the matrix that the result may be written over; negative: none.
func writeSpace(space window.Rect, results []RowResult, form Form, over int, write func(x *Builder) []Ref) (list []SpaceRect) {
	todo := []window.Rect{space}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r, cut := writeRect(write, results, form, over, w)
		switch {
		case len(list)+len(todo) >= mostRects:
			panic(NoBody{"so many rectangles"})
		case cut == nil:
			list = append(list, r)
			continue
		}
		first, second := w, w
		if cut.Axis == 0 {
			first.Rows = cut.At
			second.Row, second.Rows = w.Row+cut.At, w.Rows-cut.At
		} else {
			first.Cols = cut.At
			second.Col, second.Cols = w.Col+cut.At, w.Cols-cut.At
		}
		todo = append(todo, second, first)
	}
	if over >= 0 && !mayReplace(list, over) {
		return writeSpace(space, results, form, -1, write)
	}
	return list
}

// writeRect writes the loop of a rectangle, or says where it has to be cut.
func writeRect(write func(x *Builder) []Ref, results []RowResult, form Form, over int, w window.Rect) (out SpaceRect, cut *op.Cut) {
	defer func() {
		if r := recover(); r != nil {
			c, is := r.(op.Cut)
			if !is {
				panic(r)
			}
			cut = &c
		}
	}()
	x := NewBuilder(Form{Words: 2, Affine: form.Affine})
	x.extent = &[2]int{w.Rows, w.Cols}
	var at, size [2]loop.Lin
	for d, name := range []string{"i", "j"} {
		size[d] = loop.Of(loop.ParamSym, x.Param(loop.ScalarParam, types.I64))
		if d == 0 || !form.across {
			at[d] = loop.Of(loop.IndexSym, x.Index(name, loop.Range{Kind: loop.Steps, To: size[d], By: 1}))
		}
	}
	if out = (SpaceRect{Rect: w, From: -1, Across: form.across}); over >= 0 {
		x.replaced = &overwrites{register: over, at: [2]loop.Lin{at[0].Plus(loop.Num(int64(w.Row))), at[1].Plus(loop.Num(int64(w.Col)))}, own: map[loop.Val]int{}}
	}
	if form.across {
		x.extent[1], size[1] = 1, loop.Num(int64(w.Cols))
	}
	for k, y := range write(x) {
		if y.At == nil || y.Type.Elem.Size() == 0 {
			panic(NoBody{"a result of " + y.Type.String()})
		}
		i, j := at[0].Plus(loop.Num(int64(w.Row))), at[1].Plus(loop.Num(int64(w.Col)))
		if results[k].Total != nil {
			if y.Type.Cols == 1 && w.Col+w.Cols > 1 {
				i, j = j, i
			}
			to := loop.Num(0)
			if x.told && !x.parted && w.Rows == 1 && w.Cols == y.Type.Count() { // a stage goes over the whole row, which is rounded at once
				to = at[0]
			}
			x.ends(&results[k], y, i, j, to)
			continue
		}
		if form.across {
			x.storesRow(y, i, j, at[0], size)
			continue
		}
		v := y.At(i, j)
		if len(results) == 1 && x.copies(&out, at, v) {
			return out, nil
		}
		result := loop.Mem{Kind: loop.ResultMem, N: x.Result(dense.Storage(y.Type.Elem), size[0], size[1])}
		if over >= 0 {
			if x.noteInPlace(&out, v); out.place.fine {
				x.Nest.Results[result.N].Over = 2 + out.place.over
			}
		}
		x.Store(result, at[0], at[1], define.ConvertBody(x.Builder, dense.Storage(y.Type.Elem), v))
	}
	made := x.Done()
	if len(results) > 1 || form.across { // they share what they read
		made = loop.Merge(made)
	}
	out.Operands, out.Loop, out.told = x.Operands, LoopOf(made), x.inSubscripts(made)
	return out, nil
}

// storesRow stores row i of y, from column j on, as row to of a result of this size.
func (x *Builder) storesRow(y Ref, i, j, to loop.Lin, size [2]loop.Lin) {
	e := dense.Storage(y.Type.Elem)
	result := loop.Mem{Kind: loop.ResultMem, N: x.Result(e, size[0], size[1])}
	for c := range size[1].Const {
		x.Store(result, to, loop.Num(c), define.ConvertBody(x.Builder, e, y.At(i, j.Plus(loop.Num(c)))))
	}
}

// ends contributes element (i, j) of y to result r, a reduction of all elements, in row to of its
// memory.
func (x *Builder) ends(r *RowResult, y Ref, i, j, to loop.Lin) {
	contribute := func(c loop.Class, terms []loop.Val) {
		x.reduced(c, r.Type.Elem, loop.Num(1), [2]loop.Lin{to, loop.Num(0)}, terms...)
	}
	if argExtreme(r.Total) {
		x.contributePlace(r.Total, y, [2]loop.Lin{i, j}, contribute)
		return
	}
	contribute(r.Total.Class, []loop.Val{x.Term(r.Total.Class, y.At(i, j))})
}

// contributePlace contributes element at of y to d, an argmax or argmin: the element and its place.
func (x *Builder) contributePlace(d *op.Def, y Ref, at [2]loop.Lin, contribute func(c loop.Class, terms []loop.Val)) {
	e, _ := x.call(&op.Action{Def: d, Type: types.ScalarOf(types.I64)}, []Ref{y})
	e.Fold = func(c loop.Class, _ types.Elem, _, _ loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
		terms := f(at[0], at[1])
		contribute(c, terms)
		return terms[0]
	}
	d.Elements(e)(loop.Num(0), loop.Num(0))
}

// inSubscripts marks the scalar operands in subscripts and inner ranges of a nest. If there are
// enough points, it also marks operands that move borders of numbers in subscripts.
func (x *Builder) inSubscripts(n *loop.Nest) (marks uint64) {
	mark := func(list ...loop.Lin) {
		for _, l := range list {
			for _, t := range l.Terms {
				if t.Sym.Kind == loop.ParamSym {
					marks |= 1 << t.Sym.N
				}
			}
		}
	}
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		mark(s.At...)
		if s.Loop != nil {
			mark(s.Loop.Index.Range.From, s.Loop.Index.Range.To)
		}
	})
	if x.tells() && x.extent[0]*x.extent[1] >= leastCut {
		for _, b := range loop.Borders(n) {
			if b.Numbers() {
				mark(b.Low, b.High, b.Size)
			}
		}
	}
	return marks
}

// copies reports whether v, element at of a rectangle, is loaded from a place of an operand at a fixed
// distance. It makes the rectangle r a copy then.
func (x *Builder) copies(r *SpaceRect, at [2]loop.Lin, v loop.Val) bool {
	s := &x.Nest.Body.Stmts[len(x.Nest.Body.Stmts)-1]
	if s.Code != loop.Load || s.Dst != v || len(s.At) != 2 {
		return false
	}
	down, right := s.At[0].Plus(at[0].Times(-1)), s.At[1].Plus(at[1].Times(-1))
	o := x.Operands[s.Mem.N-2]
	if !down.Known() || !right.Known() || o.RowBy != 0 || o.ColBy != 0 || o.Turned {
		return false
	}
	r.From, r.I, r.J = o.Register, o.Row+int(down.Const), o.Col+int(right.Const)
	return true
}

const (
	// mostViews is the most operands that are views. Each takes a register for its address.
	mostViews = 16
	// mostFixed is the number of operands from which on views that begin at a known element are avoided.
	mostFixed = 10
)

// viewed is matrix r from outside. A distance at which its elements are read is no part of the loop
// but says where the operand begins, so that the rectangles of a border, many stencils, and rows with
// a number that the run tells, have one code.
func (x *Builder) viewed(t types.Type, r int) Ref {
	return x.matrix(t, func(i, j loop.Lin) loop.Val {
		if v := x.element(t, r, i, j); v != loop.NoVal {
			return v
		}
		o, row, col := Operand{Register: r, Turned: x.turns(r, i, j)}, i, j
		if o.Turned {
			i, j = j, i
		}
		if len(x.Operands) < mostViews {
			v, down, right := o, i, j
			v.Row, v.RowBy, v.Rows, down = x.begins(i)
			v.Col, v.ColBy, v.Cols, right = x.begins(j)
			if moves := v.RowBy != 0 || v.ColBy != 0; moves && x.sides > 0 && x.tells() {
				// a condition may keep the places inside the matrix, and a view of all places would not fit in it
			} else if moves || len(x.Operands) < mostFixed || slices.Contains(x.Operands, v) {
				o, i, j = v, down, right
			}
		}
		for _, l := range []loop.Lin{i, j} {
			for _, t := range l.Terms {
				told := x.tells() && t.Sym.Kind == loop.ParamSym && t.Sym.N >= 2
				if t.Sym.Kind != loop.IndexSym && t.Sym.Kind != loop.ValSym && !told {
					panic(NoBody{"a subscript that the run tells"})
				}
			}
		}
		k := slices.Index(x.Operands, o)
		if k < 0 {
			k = len(x.Operands)
			x.Operands = append(x.Operands, o)
			x.Param(loop.DenseParam, dense.Storage(t.Elem))
		}
		v := x.Load(loop.Mem{Kind: loop.ParamMem, N: 2 + k}, i, j)
		if x.replaced != nil && x.replaced.register == r {
			x.replaced.reads(t, v, k, row, col)
		}
		return v
	})
}

// leastTold is the fewest points of a nest with numbers of the run in subscripts. For fewer points a
// proof of such subscripts takes longer than gathers.
const leastTold = 1024

// leastCut is the same for borders that such a number moves. Finding them takes some 5 us.
const leastCut = 16384

// tells reports whether subscripts may have numbers that the run tells before each launch.
func (x *Builder) tells() bool { return x.told && x.Affine && x.extent[0]*x.extent[1] >= leastTold }

// element returns an integer of matrix r from outside that is the same at all points, as an operand
// that subscripts may have. It returns NoVal for other elements.
func (x *Builder) element(t types.Type, r int, i, j loop.Lin) loop.Val {
	if !x.tells() || t.Elem != types.I64 {
		return loop.NoVal
	}
	o := Operand{Register: r, What: itsElement}
	o.Row, o.RowBy, o.Rows, i = x.begins(i)
	o.Col, o.ColBy, o.Cols, j = x.begins(j)
	k := slices.Index(x.Operands, o)
	switch zero := loop.Num(0); {
	case !i.Equal(zero) || !j.Equal(zero) || k < 0 && len(x.Operands) >= mostViews:
		return loop.NoVal
	case k < 0:
		k = len(x.Operands)
		x.param(types.ScalarOf(types.I64), o)
	}
	v := x.Load(loop.Mem{Kind: loop.ParamMem, N: 2 + k})
	x.Lins[v] = loop.Of(loop.ParamSym, 2+k)
	return v
}

// turns reports an element of a matrix that is read with the lanes in its rows, as the lanes are the
// rows of a column, and that stays the same: transposed, the lanes read what lies side by side.
func (x *Builder) turns(r int, i, j loop.Lin) bool {
	row := loop.Sym{Kind: loop.IndexSym, N: 0}
	return r < len(x.fixed) && x.fixed[r] && x.extent[1] == 1 && x.extent[0] > 1 && i.Coef(row) == 1 && j.Coef(row) == 0 && len(j.Terms) > 0
}

// begins splits a form that ascends with the indices into its least value and the rest. If the form has
// a number that the run tells, by is 1 + its register, or the negative of that if it is subtracted, and
// size is the number of places that the form spans from there on.
func (x *Builder) begins(l loop.Lin) (least, by, size int, rest loop.Lin) {
	for _, t := range l.Terms {
		switch {
		case t.Sym.Kind == loop.IndexSym && t.Coef > 0:
			rest.Terms = append(rest.Terms, t)
		case t.Sym.Kind == loop.ParamSym && (t.Coef == 1 || t.Coef == -1) && by == 0 && t.Sym.N >= 2 &&
			x.Operands[t.Sym.N-2].What == ItsValue:
			by = int(t.Coef) * (1 + x.Operands[t.Sym.N-2].Register)
		default:
			return 0, 0, 0, l
		}
	}
	if by == 0 && l.Const < 0 {
		return 0, 0, 0, l
	}
	if by != 0 {
		size = 1
		for _, t := range rest.Terms {
			n, known := x.inside[t.Sym.N]
			if t.Sym.N < len(x.extent) {
				n, known = x.extent[t.Sym.N], true
			}
			if !known {
				return 0, 0, 0, l
			}
			size += int(t.Coef) * (n - 1)
		}
	}
	return int(l.Const), by, size, rest
}

// chained writes a chain of elementwise operators.
func (x *Builder) chained(a *op.Action, env []Ref) Ref {
	in := x.reads(a, env)
	p := a.Chain
	if !a.Type.IsDense() {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	return x.matrix(a.Type, func(i, j loop.Lin) loop.Val {
		at := i.Plus(x.row) // in the whole
		v := Chain(x.Builder, p, false, func(k int) loop.Val {
			switch o := &p.In[k]; {
			case o.Mode == op.Drawn && k < len(in):
				return o.Gen.Draw.Element(x.Builder, o.Elem, at, j, func(n int) loop.Val { return in[k].At(loop.Num(0), loop.Num(int64(n))) })
			case o.Mode == op.Drawn:
				return x.drawnBy(o.Gen, o.Elem, o.Words(op.Origin(a.Attrs)), at, j)
			case in[k].At == nil:
				return in[k].Val
			case o.Mode == op.Trans:
				return in[k].At(j, at)
			default:
				return in[k].At(Place(o.Mode, i, j))
			}
		})
		x.bounded()
		return v
	})
}

// points writes a loop over points as a matrix of its results. Its first inputs are the bounds that the
// run tells. Where one of them may fail, all are made, unless a reduction reads them all.
func (x *Builder) points(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	if a.Attrs.Bool("pairs") {
		return x.pairsOf(b, k, env)
	}
	m := x.pointsOf(a, env)
	if x.again && x.cannotFail(m) {
		return m
	}
	if x.extent != nil || !bodyFails(a.Bodies[0]) && !x.readAgain(b, k) || readByFold(b, k) {
		return m
	}
	return x.settled(b, k, m, true, false)
}

// cannotFail reports whether no element of m can fail anywhere: writing any element takes no check.
func (x *Builder) cannotFail(m Ref) (fine bool) {
	if !m.Type.Known() {
		return false
	}
	x.trial = true // a launch proves no access that is not written
	x.takenBack(func() {
		mark := x.Mark()
		x.rounds("r", m.rows, nil, func(i loop.Lin, _ []loop.Val) []loop.Val {
			x.rounds("c", m.cols, nil, func(j loop.Lin, _ []loop.Val) []loop.Val { m.At(i, j); return nil })
			return nil
		})
		fine = true
		x.Since(mark, func(s *loop.Stmt) {
			fine = fine && !loop.Some([]loop.Stmt{*s}, func(s *loop.Stmt) bool { return s.Code == loop.Check })
		})
	})
	x.trial = false
	return fine
}

func (x *Builder) pointsOf(a *op.Action, env []Ref) Ref {
	by, known, through := a.Attrs.Ints("by"), a.Attrs.Ints("lo"), a.Attrs.Ints("through")
	if len(a.Bodies) != 1 || !a.Type.IsDense() {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	b, in := a.Bodies[0], x.reads(a, env)
	var lo [2]loop.Lin
	size := [2]loop.Lin{{}, loop.Num(int64(max(a.Type.Cols, 1)))}
	for d := range by {
		if known != nil {
			lo[d] = loop.Num(known[d])
			continue
		}
		lo[d], size[d] = x.steps(in[0].Val, in[1].Val, by[d], through != nil && through[d] == 1)
		in = in[2:]
	}
	return x.ragged(a.Type, size[0], size[1], func(i, j loop.Lin) loop.Val {
		at := []loop.Lin{i, j}
		var inner []Ref
		for d := range by {
			inner = append(inner, Ref{Type: types.ScalarOf(types.I64), Val: x.Value(at[d].Times(by[d]).Plus(lo[d]))})
		}
		y := x.body(b, append(inner, in...), nil)[0] // no cell keeps what is within
		switch {
		case y.Parts != nil || y.At != nil && (len(by) != 1 || y.Type.Rows != 1):
			panic(NoBody{"a result of " + y.Type.String()})
		case y.At != nil: // a row an index
			return y.At(loop.Num(0), j)
		}
		return y.Val
	})
}

// bodyFails reports whether an action of a body may fail.
func bodyFails(b *op.Body) bool {
	for k := range b.Acts {
		a := &b.Acts[k]
		d, elementwise := a.Def, a.Def.Laws.Has(op.Elementwise) && len(a.Args) > 0
		switch {
		case slices.ContainsFunc(a.Bodies, bodyFails) || a.Type.Kind == types.Effect:
			return true
		case a.Bodies != nil || d.Control != op.NoControl || len(a.Args) == 0:
		case elementwise && !d.TotalOn(b.Register(a.Args[len(a.Args)-1]).Elem, a.Type.Elem):
			return true
		case !elementwise && !d.Laws.Has(op.Total) && (len(a.Args) > 1 || !d.Laws.Has(op.View) && d.Class == loop.NoClass):
			return true
		}
	}
	return false
}
