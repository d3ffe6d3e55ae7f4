package kernels

// This file writes the body of a parfor as a nest: its indices are the space, what is the same in
// every iteration are operands, and every action is written by its row.

import (
	"strings"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// nestForm is how a body is written.
type nestForm struct {
	// affine says that subscripts which are linear in the indices are taken to be in range: who
	// launches the loop has to prove it. Else each is checked, and counted from the end where it is
	// negative.
	affine bool
	words  int // of exact sums
}

// nestOfBody is a body as a nest.
type nestOfBody struct {
	nest     *loop.Nest
	operands []nestOperand // behind the bounds
}

// writeBody writes a body whose first dims arguments are the indices, with the steps by. why says
// what cannot be written.
func writeBody(b *op.Body, varies []bool, keep *keepMap, dims int, by [2]int, names string, form nestForm) (out *nestOfBody, why string) {
	x := &nestBuilder{Builder: loop.New(), words: form.words, affine: form.affine, lins: map[loop.Val]loop.Lin{},
		scopes: []map[elementKey]loop.Val{{}}, keep: keep}
	defer func() {
		if r := recover(); r != nil {
			n, is := r.(op.NoElement)
			if !is {
				panic(r)
			}
			out, why = nil, n.NoElement()
		}
	}()
	var at []loop.Lin
	env := make([]nestRef, 0, len(varies))
	list := strings.Fields(names)
	for d := range dims {
		lo, n := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
		k := x.Index(list[d], loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, n), By: 1})
		at = append(at, loop.Of(loop.IndexSym, k))
		index := loop.Of(loop.ParamSym, lo).Plus(at[d].Times(int64(by[d])))
		env = append(env, nestRef{t: types.ScalarOf(types.I64), val: x.value(index)})
	}
	if dims == 1 {
		at = append(at, loop.Num(0))
	}
	for r := dims; r < len(b.Args); r++ {
		env = append(env, x.outer(b, r))
	}
	for k := range b.Acts {
		if r := len(b.Args) + k; varies[r] {
			env = append(env, x.act(b, k, env))
		} else {
			env = append(env, x.outer(b, r))
		}
	}
	x.yield(env[b.Yields[0]], at, dims)
	if err := x.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + x.Nest.String())
	}
	return &nestOfBody{loop.Merge(x.Nest), x.operands}, ""
}

// yield stores what an iteration gives: a scalar at its place, or a row.
func (x *nestBuilder) yield(y nestRef, at []loop.Lin, dims int) {
	if y.t.Elem.Size() == 0 || y.parts != nil || y.t.IsDense() && (dims != 1 || y.t.Rows != 1) {
		panic(noBody{"a result of " + y.t.String()})
	}
	cols := loop.Num(1)
	switch {
	case y.at != nil:
		cols = loop.Num(int64(y.t.Cols))
	case dims == 2:
		cols = loop.Of(loop.ParamSym, 3)
	}
	r := loop.Mem{Kind: loop.ResultMem, N: x.Result(dense.Storage(y.t.Elem), loop.Of(loop.ParamSym, 1), cols)}
	if y.at == nil {
		x.Store(r, at[0], at[1], y.val)
		return
	}
	if y.t.Cols > define.Unrolled {
		x.rounds("c", y.cols, nil, func(j loop.Lin, _ []loop.Val) []loop.Val {
			x.Store(r, at[0], j, y.at(loop.Num(0), j))
			return nil
		})
		return
	}
	for j := range y.t.Cols {
		x.Store(r, at[0], loop.Num(int64(j)), y.at(loop.Num(0), loop.Num(int64(j))))
	}
}

// outer is register r of the loop's body, the same in every iteration: a constant, or an operand
// when it is first read.
func (x *nestBuilder) outer(b *op.Body, r int) nestRef {
	if k := r - len(b.Args); k >= 0 {
		if c, ok := x.constant(&b.Acts[k]); ok {
			return c
		}
	}
	t := b.Register(r)
	bring := func() int { return x.param(t, nestOperand{register: r}) }
	if k := r - len(b.Args); k >= 0 && b.Acts[k].Attrs.Bool("drawn") {
		bring = func() int { return x.param(t, nestOperand{register: r, what: itsDrawnRows}) }
	}
	switch {
	case t.Elem.Size() == 0:
		return nestRef{t: t, val: loop.NoVal} // what reads it cannot be written
	case t.IsScalar():
		k := bring()
		v := x.Load(loop.Mem{Kind: loop.ParamMem, N: k})
		if t.Elem == types.I64 {
			x.lins[v] = loop.Of(loop.ParamSym, k)
		}
		return nestRef{t: t, val: v}
	case t.IsDense() && x.extent != nil:
		return x.viewed(t, r)
	case t.IsDense():
		k := -1
		at := func(i, j loop.Lin) loop.Val {
			if k < 0 {
				k = bring()
			}
			return x.Load(loop.Mem{Kind: loop.ParamMem, N: k}, i, j)
		}
		if t.Known() {
			return x.sized(t, at)
		}
		size := func(p operandPart) loop.Lin {
			x.operands = append(x.operands, nestOperand{register: r, what: p})
			return loop.Of(loop.ParamSym, x.Param(loop.ScalarParam, types.I64))
		}
		return nestRef{t: t, val: loop.NoVal, at: at, rows: size(itsRows), cols: size(itsCols)}
	}
	return nestRef{t: t, val: loop.NoVal}
}

// constant is the value of an action without operands, as constants.
func (x *nestBuilder) constant(a *op.Action) (nestRef, bool) {
	if len(a.Args) > 0 || a.Def.Ref == nil || !a.Def.Laws.Has(op.Pure) || a.Attrs.Bool("drawn") || !a.Type.IsScalar() && !holdable(a.Type) || a.Type.Elem.Size() == 0 {
		return nestRef{}, false
	}
	v, err := a.Def.Ref(&op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type})
	if err != nil {
		return nestRef{}, false
	}
	e := dense.Storage(a.Type.Elem)
	number := func(s value.Scalar) loop.Val {
		v := x.Const(e, loop.WordOf(s))
		if e == types.I64 {
			x.lins[v] = loop.Num(s.I)
		}
		return v
	}
	if s, ok := v.(value.Scalar); ok {
		return nestRef{t: a.Type, val: number(s)}, true
	}
	d := v.(*value.Dense)
	r := x.matrix(a.Type, func(i, j loop.Lin) loop.Val {
		if i.Known() && j.Known() {
			return number(d.At(int(i.Const), int(j.Const)))
		}
		var list []loop.Val
		for i := range d.Rows {
			for j := range d.Cols {
				list = append(list, number(d.At(i, j)))
			}
		}
		return x.chosen(a.Type, list, i, j)
	})
	return r, true
}

// act writes action k of a body.
func (x *nestBuilder) act(b *op.Body, k int, env []nestRef) nestRef {
	a := &b.Acts[k]
	if c, ok := x.constant(a); ok {
		return c
	}
	if m := x.keep; m != nil && m.cell[k] > 0 && !again(a) {
		return x.once(b, k, m)
	}
	d := a.Def
	switch {
	case a.Type.Kind == types.Effect:
		return x.effect(a, env)
	case text(b, k):
		return nestRef{t: a.Type, val: loop.NoVal}
	case d.Control == op.Part:
		if parts := env[a.Args[0]].parts; parts != nil {
			return parts[a.Attrs.Int("at")]
		}
	case d.Control == op.Iterate:
		return x.iterate(a, env, x.keep.within(k))
	case d.Control == op.Select:
		return x.choose(a, env, x.keep.within(k))
	case d.Control != op.NoControl || a.Type.Elem.Size() == 0:
	case a.Chain != nil:
		return x.chained(a, env)
	case a.Bodies != nil:
		return x.points(a, env)
	case d.Laws.Has(op.Elementwise) && d.Elt != nil:
		return x.elementwise(b, k, env)
	case d.Class != loop.NoClass:
		return x.reduction(b, k, env)
	case d.Elements != nil:
		return x.elements(b, k, env)
	}
	panic(noBody{"`" + define.SourceName(d) + "`"})
}

// reads is the refs that an action reads, all of which can be written.
func (x *nestBuilder) reads(a *op.Action, env []nestRef) []nestRef {
	out := make([]nestRef, len(a.Args))
	for k, r := range a.Args {
		if out[k] = env[r]; out[k].val == loop.NoVal && out[k].at == nil {
			panic(noBody{"`" + define.SourceName(a.Def) + "` of " + out[k].t.String()})
		}
	}
	return out
}

func (x *nestBuilder) elementwise(b *op.Body, k int, env []nestRef) nestRef {
	a := &b.Acts[k]
	in := x.reads(a, env)
	elems := make([]types.Elem, len(in))
	for k, r := range in {
		elems[k] = r.t.Elem
	}
	step := func(list []loop.Val) loop.Val {
		mark := x.Mark()
		v := nestStep(x.Builder, a.Def, a.Type.Elem, list, elems, 0)
		x.Since(mark, x.linear)
		x.bounded()
		return v
	}
	if !a.Type.IsDense() {
		list := make([]loop.Val, len(in))
		for k, r := range in {
			list[k] = r.val
			if r.at != nil { // 1 x 1
				list[k] = r.at(loop.Num(0), loop.Num(0))
			}
		}
		return nestRef{t: a.Type, val: step(list)}
	}
	var rows, cols loop.Lin
	if !a.Type.Known() {
		rows, cols = x.together(a.Type, in)
	}
	m := x.ragged(a.Type, rows, cols, func(i, j loop.Lin) loop.Val {
		list := make([]loop.Val, len(in))
		for k, r := range in {
			list[k] = sourceAt(r, a.Type, i, j)
		}
		return step(list)
	})
	return x.settled(b, k, m, !a.Def.TotalOn(elems[len(elems)-1], a.Type.Elem), false)
}

// linear notes of an integer that it is linear in indices and operands.
func (x *nestBuilder) linear(s *loop.Stmt) {
	if s.N != 1 || x.Type(s.Dst) != types.I64 {
		return
	}
	if s.Code == loop.Const {
		x.lins[s.Dst] = loop.Num(int64(s.Imm))
		return
	}
	in := make([]loop.Lin, len(s.Args))
	for k, v := range s.Args {
		l, ok := x.lins[v]
		if !ok {
			return
		}
		in[k] = l
	}
	switch {
	case s.Code == loop.Add:
		x.lins[s.Dst] = in[0].Plus(in[1])
	case s.Code == loop.Sub:
		x.lins[s.Dst] = in[0].Plus(in[1].Times(-1))
	case s.Code == loop.Neg:
		x.lins[s.Dst] = in[0].Times(-1)
	case s.Code == loop.Mul && in[0].Known():
		x.lins[s.Dst] = in[1].Times(in[0].Const)
	case s.Code == loop.Mul && in[1].Known():
		x.lins[s.Dst] = in[0].Times(in[1].Const)
	}
}

// reduction writes a reduction of a whole matrix, its rows or its columns.
func (x *nestBuilder) reduction(b *op.Body, k int, env []nestRef) nestRef {
	a := &b.Acts[k]
	in := x.reads(a, env)[0]
	rows, cols := in.rows, in.cols
	if !in.t.IsDense() {
		rows, cols = loop.Num(1), loop.Num(1)
	}
	one, long, wide := loop.Num(1), rows, cols
	if a.Def.Fold == op.FoldRows {
		wide = one
	} else {
		long = one
	}
	term := func(i, j loop.Lin) []loop.Val {
		v := in.val
		if in.at != nil {
			v = in.at(i, j)
		}
		return []loop.Val{x.term(a.Def.Class, v)}
	}
	if a.Def.Fold == op.FoldAll {
		return nestRef{t: a.Type, val: x.foldRagged(a.Def.Class, a.Type.Elem, rows, cols, term)}
	}
	m := x.ragged(a.Type, long, wide, func(i, j loop.Lin) loop.Val {
		if a.Def.Fold == op.FoldRows {
			return x.foldRagged(a.Def.Class, a.Type.Elem, one, cols, func(_, c loop.Lin) []loop.Val { return term(i, c) })
		}
		return x.foldRagged(a.Def.Class, a.Type.Elem, rows, one, func(r, _ loop.Lin) []loop.Val { return term(r, j) })
	})
	if holdable(a.Type) {
		return x.held(a.Type, x.hold(m))
	}
	return x.settled(b, k, m, false, true)
}

// elements writes an action by the elements of its row.
func (x *nestBuilder) elements(b *op.Body, k int, env []nestRef) nestRef {
	a := &b.Acts[k]
	e, made := x.call(a, x.reads(a, env))
	var rows, cols *loop.Lin
	e.Size = func(n, m loop.Lin) { rows, cols = &n, &m }
	at := a.Def.Elements(e)
	if at == nil {
		panic(noBody{"`" + define.SourceName(a.Def) + "`"})
	}
	if !a.Type.IsDense() {
		return nestRef{t: a.Type, val: at(loop.Num(0), loop.Num(0))}
	}
	m := nestRef{}
	if a.Type.Known() || rows == nil {
		m = x.matrix(a.Type, at)
	} else {
		m = x.ragged(a.Type, *rows, *cols, at)
	}
	return x.settled(b, k, m, false, !*made && !a.Def.Laws.Has(op.View))
}

// call is what the row of an action is told, and whether the row has made the elements of its
// result: in memory, or as a list.
func (x *nestBuilder) call(a *op.Action, in []nestRef) (*op.Elements, *bool) {
	e := &op.Elements{B: x.Builder, Attrs: a.Attrs, Out: a.Type, Fold: x.foldRagged, Chain: x.chain, Below: x.below, Number: x.value}
	e.Rounds = func(n int, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
		return x.rounds("k", loop.Num(int64(n)), state, body)
	}
	e.Size = func(loop.Lin, loop.Lin) {}
	made := false
	e.Held = func(list []loop.Val) op.Element {
		made = true
		return x.held(a.Type, list).at
	}
	e.Laid = func(write func(store func(i, j loop.Lin, v loop.Val))) op.Element {
		m, ref := x.local(a.Type)
		write(func(i, j loop.Lin, v loop.Val) { x.Store(m, i, j, v) })
		made = true
		return ref.at
	}
	e.Pick = func(list []loop.Val, i, j loop.Lin) loop.Val { return x.held(a.Type, list).at(i, j) }
	for _, r := range in {
		s := op.Source{Type: r.t, At: r.at, Rows: r.rows, Cols: r.cols}
		if r.at == nil {
			s.At = func(loop.Lin, loop.Lin) loop.Val { return r.val }
			s.Rows, s.Cols = loop.Num(1), loop.Num(1)
		}
		e.In = append(e.In, s)
	}
	e.Window = func(lo, hi int, through bool, n loop.Lin) (from, size loop.Lin) {
		return x.window(in[lo].val, in[hi].val, through, n)
	}
	e.Agree = x.agree
	e.Index = func(k, size int, n loop.Lin) loop.Lin { return x.subscript(in[k].val, size, n) }
	return e, &made
}

// subscript is a number as the first of size neighbouring subscripts of an axis of length n. One
// that is linear is taken to be in range where the launch proves it; any other is checked, and
// counted from the end if it is negative. A range must not cross from the negative subscripts to
// the others; the one index -1 is the last.
func (x *nestBuilder) subscript(v loop.Val, size int, n loop.Lin) loop.Lin {
	l, linear := x.lins[v]
	if linear && l.Known() {
		switch {
		case l.Const >= 0 && n.Known() && l.Const+int64(size) <= n.Const:
			return l
		case l.Const < 0 && n.Known() && (l.Const+int64(size) < 0 || l.Const == -1 && size == 1) && l.Const+n.Const >= 0:
			return l.Plus(n)
		}
	}
	if linear && x.affine {
		return l
	}
	zero := x.Const(types.I64, 0)
	length := x.value(n)
	below := x.Op(loop.Lt, v, zero)
	at := x.Op(loop.Select, below, x.Op(loop.Add, v, length), v)
	last := x.Op(loop.Sub, length, x.Const(types.I64, uint64(size)))
	x.Check(0, x.Op(loop.And, x.Op(loop.Le, zero, at), x.Op(loop.Le, at, last)), v)
	if size > 1 {
		crosses := x.Op(loop.And, below, x.Op(loop.Le, zero, x.Op(loop.Add, v, x.Const(types.I64, uint64(size)))))
		x.Check(0, x.Op(loop.Not, crosses), v)
	}
	return loop.Of(loop.ValSym, int(at))
}

// wideWords is of how many words exact sums are where two are not enough.
const wideWords = 3
