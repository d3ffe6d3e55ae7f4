package nest

// This file writes the body of a parfor as a nest: its indices are the space, what is the same in
// every iteration are operands, and every action is written by its row.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// Body is a body as a nest.
type Body struct {
	Nest     *loop.Nest
	Operands []Operand // behind the bounds
}

// WriteBody writes a body whose first dims arguments are the indices, with the steps by. why says
// what cannot be written.
func WriteBody(b *op.Body, varies []bool, keep *MemoMap, dims int, by [2]int, names string, form Form) (out *Body, why string) {
	widest := 0
	write := func() (made *Body, why string, ok bool) {
		why, ok = Written(func() { made, widest = writeBody(b, varies, keep, dims, by, names, form) })
		return made, why, ok
	}
	out, why, ok := write()
	if !form.Short && (why == soLong || ok && widest > define.WrittenLines) {
		form.Short = true
		if short, said, fine := write(); !ok || fine && lengthOf(short.Nest) < lengthOf(out.Nest) {
			out, why, ok = short, said, fine
		}
	}
	if !ok {
		return nil, why
	}
	for k, l := range out.Nest.Locals { // those that are left
		if n := l.Rows.Const * l.Cols.Const; n > laidElements && (n > readElements || out.storesOf(k) > 1) {
			return nil, fmt.Sprintf("a matrix of the body of %d x %d elements", l.Rows.Const, l.Cols.Const)
		}
	}
	return out, ""
}

// storesOf returns how many statements store to local k.
func (b *Body) storesOf(k int) (n int) {
	loop.Some(b.Nest.Body.Stmts, func(s *loop.Stmt) bool {
		if s.Code == loop.Store && s.Mem == (loop.Mem{Kind: loop.LocalMem, N: k}) {
			n++
		}
		return false
	})
	return n
}

// lengthOf estimates the operations of a point. It counts the statements that stay when a launch
// has removed copies of matrices and rounds without effect.
func lengthOf(n *loop.Nest) int { return loop.Length(&loop.AtPlaces(loop.InPlace(n)).Body) }

// writeBody also returns the most elements of a matrix that rounds carry in registers.
func writeBody(b *op.Body, varies []bool, keep *MemoMap, dims int, by [2]int, names string, form Form) (*Body, int) {
	x := NewBuilder(form)
	x.keep, x.most = keep, passedElements
	at, size := [2]loop.Lin{}, [2]loop.Lin{loop.Num(1), loop.Num(1)}
	env := make([]Ref, dims, len(varies))
	list := strings.Fields(names)
	for d := range dims {
		var index func() Ref
		at[d], size[d], index = x.index(list[d], by[d])
		env[d] = index()
	}
	for r := dims; r < len(b.Args); r++ {
		env = append(env, x.Outer(b, r))
	}
	for k := range b.Acts {
		if r := len(b.Args) + k; varies[r] {
			env = append(env, x.Act(b, k, env))
		} else {
			env = append(env, x.Outer(b, r))
		}
	}
	x.yield(env[b.Yields[0]], dims, at, size)
	return &Body{loop.Merge(x.Done()), x.Operands}, x.widest
}

// index adds an index to the space, whose bounds are operands. It returns its position, how many there
// are, and what writes the value of the index, whose step is by.
func (x *Builder) index(name string, by int) (at, size loop.Lin, value func() Ref) {
	lo, n := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
	size = loop.Of(loop.ParamSym, n)
	at = loop.Of(loop.IndexSym, x.Index(name, loop.Range{Kind: loop.Steps, To: size, By: 1}))
	return at, size, func() Ref {
		return Ref{Type: types.ScalarOf(types.I64), Val: x.Value(loop.Of(loop.ParamSym, lo).Plus(at.Times(int64(by))))}
	}
}

// yield stores what a point of a parfor gives: a number at its place in a result of that size, or a
// row.
func (x *Builder) yield(y Ref, dims int, at, size [2]loop.Lin) {
	switch {
	case y.Type.Elem.Size() == 0 || y.Parts != nil || y.Val == loop.NoVal && y.At == nil || y.Type.IsDense() && (dims != 1 || y.Type.Rows != 1):
		panic(NoBody{"a result of " + y.Type.String() + elsewhere})
	case dims == 1:
		x.keepRow(y, at[0], size[0])
	default:
		r := loop.Mem{Kind: loop.ResultMem, N: x.Result(dense.Storage(y.Type.Elem), size[0], size[1])}
		x.Store(r, at[0], at[1], y.Val)
	}
}

// keepRow stores all elements of a value as a row of a result that has one for each of so many points.
func (x *Builder) keepRow(y Ref, at, count loop.Lin) {
	if y.Val == loop.NoVal && y.At == nil {
		panic(NoBody{"a value of " + y.Type.String() + elsewhere})
	}
	e, size := dense.Storage(y.Type.Elem), y.Type.Count()
	m := loop.Mem{Kind: loop.ResultMem, N: x.Result(e, count, loop.Num(int64(size)))}
	store := func(i, j loop.Lin) {
		x.Store(m, at, i.Times(int64(y.Type.Cols)).Plus(j), define.ConvertBody(x.Builder, e, y.elem(i, j)))
	}
	if y.At != nil && size > define.Unrolled {
		x.eachElement(y, 0, store)
		return
	}
	cols := max(1, y.Type.Cols)
	for k := range size {
		store(loop.Num(int64(k/cols)), loop.Num(int64(k%cols)))
	}
}

// Outer is register r of the loop's body, the same in every iteration: a constant, or an operand
// when it is first read.
func (x *Builder) Outer(b *op.Body, r int) Ref {
	if k := r - len(b.Args); k >= 0 {
		if c, ok := x.rampOf(b, k); ok {
			return c
		}
		if c, ok := x.constant(&b.Acts[k]); ok {
			return c
		}
		if b.Acts[k].Def.Role == op.Pairs { // see LazyPairs
			return Ref{Type: b.Acts[k].Type, Val: loop.NoVal}
		}
	}
	t := b.Register(r)
	bring := func() int { return x.param(t, Operand{Register: r}) }
	if k := r - len(b.Args); k >= 0 && b.Acts[k].Attrs.Bool("drawn") {
		a := &b.Acts[k] // its elements are computed where they are read
		words := a.Def.Draw.Words(a.Attrs, 0, 0)
		drawn := x.matrix(a.Type, func(i, j loop.Lin) loop.Val { return x.drawnBy(a.Def, a.Type.Elem, words, i, j) })
		return drawn.proved() // only where it has all that is read
	}
	switch {
	case t.Elem.Size() == 0:
		return Ref{Type: t, Val: loop.NoVal} // what reads it cannot be written
	case t.IsScalar():
		k := bring()
		v := x.Load(loop.Mem{Kind: loop.ParamMem, N: k})
		if t.Elem == types.I64 {
			x.Lins[v] = loop.Of(loop.ParamSym, k)
		}
		return Ref{Type: t, Val: v}
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
			return x.sized(t, at).proved()
		}
		size := func(p operandPart) loop.Lin {
			x.Operands = append(x.Operands, Operand{Register: r, What: p})
			return loop.Of(loop.ParamSym, x.Param(loop.ScalarParam, types.I64))
		}
		return Ref{Type: t, Val: loop.NoVal, At: at, rows: size(ItsRows), cols: size(ItsCols)}.proved()
	}
	return Ref{Type: t, Val: loop.NoVal}
}

// drawnBy writes element (i, j) of constructor d, of type e, by its words.
func (x *Builder) drawnBy(d *op.Def, e types.Elem, words op.DrawWords, i, j loop.Lin) loop.Val {
	return d.Draw.Element(x.Builder, e, i, j, func(k int) loop.Val { return x.Const(types.I64, uint64(words[k])) })
}

// constant is the value of an action without operands, as constants. One with a body is made like
// others.
func (x *Builder) constant(a *op.Action) (Ref, bool) {
	if len(a.Args) > 0 || a.Def.Ref == nil || a.Bodies != nil || a.Chain != nil || !a.Def.Laws.Has(op.Pure) || a.Attrs.Bool("drawn") || !a.Type.IsScalar() && !holdable(a.Type) || a.Type.Elem.Size() == 0 {
		return Ref{}, false
	}
	v, err := a.Def.Ref(&op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type})
	if err != nil {
		return Ref{}, false
	}
	e := dense.Storage(a.Type.Elem)
	number := func(s value.Scalar) loop.Val {
		v := x.Const(e, loop.WordOf(s))
		if e == types.I64 {
			x.Lins[v] = loop.Num(s.I)
		}
		return v
	}
	if s, ok := v.(value.Scalar); ok {
		return Ref{Type: a.Type, Val: number(s)}, true
	}
	d := v.(*value.Dense)
	r := x.matrix(a.Type, func(i, j loop.Lin) loop.Val {
		if i.Known() && j.Known() {
			return number(d.At(int(i.Const), int(j.Const)))
		}
		var list []loop.Val
		made := map[loop.Word]loop.Val{}
		for i := range d.Rows {
			for j := range d.Cols {
				s := d.At(i, j)
				v, ok := made[loop.WordOf(s)]
				if !ok {
					v = number(s)
					made[loop.WordOf(s)] = v
				}
				list = append(list, v)
			}
		}
		return x.chosen(a.Type, list, i, j)
	})
	return r, true
}

// Act writes action k of a body.
func (x *Builder) Act(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	if c, ok := x.rampOf(b, k); ok {
		return c
	}
	if c, ok := x.constant(a); ok {
		return c
	}
	if m := x.keep; m != nil && m.Cell[k] > 0 && !again(a) {
		if c, ok := x.linearIn(b, k, env); ok {
			return c
		}
		return x.once(b, k, m)
	}
	d := a.Def
	switch {
	case d.Role == op.Pairs: // what reads it writes it
		return Ref{Type: a.Type, Val: loop.NoVal}
	case a.Type.Kind == types.Effect:
		return x.effect(a, env)
	case text(b, k):
		return Ref{Type: a.Type, Val: loop.NoVal}
	case d.Control == op.Part:
		if parts := env[a.Args[0]].Parts; parts != nil {
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
		return x.points(b, k, env)
	case d.Laws.Has(op.Elementwise) && d.Elt != nil:
		return x.elementwise(b, k, env)
	case d.Class != loop.NoClass:
		return x.reduction(b, k, env)
	case d.Elements != nil:
		return x.elements(b, k, env)
	}
	panic(NoBody{"`" + define.SourceName(d) + "`"})
}

// reads is the refs that an action reads, all of which can be written.
func (x *Builder) reads(a *op.Action, env []Ref) []Ref {
	out := picked(env, a.Args)
	for _, r := range out {
		if r.Val == loop.NoVal && r.At == nil {
			panic(NoBody{"`" + define.SourceName(a.Def) + "` of " + r.Type.String()})
		}
	}
	return out
}

func (x *Builder) elementwise(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	in := x.reads(a, env)
	elems := make([]types.Elem, len(in))
	for k, r := range in {
		elems[k] = r.Type.Elem
	}
	step := func(list []loop.Val) loop.Val {
		mark := x.Mark()
		v := Step(x.Builder, a.Def, a.Type.Elem, list, elems, 0, false)
		x.Since(mark, x.linear)
		if l, ok := x.Lins[v]; ok && a.Def.Partial == op.NotByZero { // see divided
			x.drop(mark)
			v = x.Value(l)
		}
		x.bounded()
		return v
	}
	if !a.Type.IsDense() {
		list := make([]loop.Val, len(in))
		for k, r := range in {
			list[k] = r.elem(loop.Num(0), loop.Num(0)) // a matrix of 1 x 1
		}
		return Ref{Type: a.Type, Val: step(list)}
	}
	var rows, cols loop.Lin
	if !a.Type.Known() || slices.ContainsFunc(in, func(r Ref) bool { return r.At != nil && !r.Type.Known() }) {
		rows, cols = x.together(a.Type, in) // one size may be known and another not
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
func (x *Builder) linear(s *loop.Stmt) {
	if s.N != 1 || x.Type(s.Dst) != types.I64 {
		return
	}
	if s.Code == loop.Const {
		x.Lins[s.Dst] = loop.Num(int64(s.Imm))
		return
	}
	in := make([]loop.Lin, len(s.Args))
	for k, v := range s.Args {
		l, ok := x.Lins[v]
		if !ok {
			return
		}
		in[k] = l
	}
	l, ok := s.Code.Linear(in)
	if !ok {
		l, ok = x.divided(s.Code, in)
	}
	if ok {
		x.Lins[s.Dst] = l
	}
}

// elements writes an action by the elements of its row.
func (x *Builder) elements(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	e, made := x.call(a, x.reads(a, env))
	passes := x.phase != nil && x.phase.passes(a.Type)
	e.All = passes || x.extent != nil || readByFold(b, k)
	var rows, cols *loop.Lin
	e.Size = func(n, m loop.Lin) { rows, cols = &n, &m }
	at := a.Def.Elements(e)
	if at == nil {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	if !a.Type.IsDense() {
		return Ref{Type: a.Type, Val: at(loop.Num(0), loop.Num(0))}
	}
	m := Ref{}
	if a.Type.Known() || rows == nil {
		m = x.matrix(a.Type, at)
	} else {
		m = x.ragged(a.Type, *rows, *cols, at)
	}
	if a.Def.Role == op.Windows || a.Def.Role == op.Slices {
		from := env[a.Args[0]]
		m.hull = [2]bool{from.hull[0] && from.Type.Rows == a.Type.Rows, from.hull[1] && from.Type.Cols == a.Type.Cols}
	}
	return x.settled(b, k, m, passes && mayFail(b, k), !*made && !a.Def.Laws.Has(op.View))
}

// call is what the row of an action is told, and whether the row has made the elements of its
// result: in memory, or as a list.
func (x *Builder) call(a *op.Action, in []Ref) (*op.Elements, *bool) {
	e := &op.Elements{B: x.Builder, Attrs: a.Attrs, Out: a.Type, Fold: x.foldRagged, Chain: x.chain, Below: x.below, Number: x.Value}
	e.Rounds = func(n int, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
		return x.rounds("k", loop.Num(int64(n)), state, body)
	}
	e.Size = func(loop.Lin, loop.Lin) {}
	made := false
	e.Held = func(list []loop.Val) op.Element {
		made = true
		return x.held(a.Type, list).At
	}
	e.Laid = func(write func(store func(i, j loop.Lin, v loop.Val))) op.Element {
		m, ref := x.local(a.Type)
		write(func(i, j loop.Lin, v loop.Val) { x.Store(m, i, j, v) })
		made = true
		return ref.At
	}
	e.Pick = func(list []loop.Val, i, j loop.Lin) loop.Val { return x.held(a.Type, list).At(i, j) }
	for _, r := range in {
		s := op.Source{Type: r.Type, At: r.At, Rows: r.rows, Cols: r.cols}
		if r.At == nil {
			s.At = func(loop.Lin, loop.Lin) loop.Val { return r.Val }
			s.Rows, s.Cols = loop.Num(1), loop.Num(1)
		}
		e.In = append(e.In, s)
	}
	e.Window = func(lo, hi int, through bool, n loop.Lin) (from, size loop.Lin) {
		return x.window(in[lo].Val, in[hi].Val, through, n)
	}
	e.Agree = x.agree
	e.Index = func(k, size int, n loop.Lin) loop.Lin {
		return x.subscript(in[k].Val, size, n, in[0].hull[(k-1)*2/(len(in)-1)])
	}
	return e, &made
}

// subscript is a number as the first of size neighbouring subscripts of an axis of length n. One that
// is linear in what is known before the point is taken to be in range where the launch proves it
// (hull), or where the ranges of inner loops do; any other is checked, a known one that is out of range
// too: the elements of a small matrix are in registers. It is counted from the end if it is negative. A
// range must not cross from the negative subscripts to the others; the one index -1 is the last.
func (x *Builder) subscript(v loop.Val, size int, n loop.Lin, hull bool) loop.Lin {
	l, linear := x.Lins[v]
	if linear && l.Known() {
		switch {
		case l.Const >= 0 && n.Known() && l.Const+int64(size) <= n.Const:
			return l
		case l.Const < 0 && n.Known() && (l.Const+int64(size) < 0 || l.Const == -1 && size == 1) && l.Const+n.Const >= 0:
			return l.Plus(n)
		}
	}
	if linear && x.Affine && l.Affine() && !(l.Known() && n.Known()) && (hull && !x.trial || x.extent != nil || x.within(l, size, n)) {
		return l
	}
	key := func(v loop.Val) ElementKey { return ElementKey{-size, strconv.Itoa(int(v)), string(n.AppendKey(nil))} }
	for _, known := range x.Scopes { // it has been checked
		if at, ok := known[key(v)]; ok {
			return loop.Of(loop.ValSym, int(at))
		}
	}
	zero := x.Const(types.I64, 0)
	length := x.Value(n)
	below := x.Op(loop.Lt, v, zero)
	at := x.Op(loop.Select, below, x.Op(loop.Add, v, length), v)
	last := x.Op(loop.Sub, length, x.Const(types.I64, uint64(size)))
	x.Check(0, x.Op(loop.And, x.Op(loop.Le, zero, at), x.Op(loop.Le, at, last)), v)
	if size > 1 {
		crosses := x.Op(loop.And, below, x.Op(loop.Le, zero, x.Op(loop.Add, v, x.Const(types.I64, uint64(size)))))
		x.Check(0, x.Op(loop.Not, crosses), v)
	}
	scope := x.Scopes[len(x.Scopes)-1]
	scope[key(v)], scope[key(at)] = at, at
	return loop.Of(loop.ValSym, int(at))
}

// WideWords is of how many words exact sums are where two are not enough.
const WideWords = 3

// readByFold reports whether a yield or a reduction of a whole matrix takes all elements of action k,
// as elementwise operators leave them.
func readByFold(b *op.Body, k int) bool {
	r := len(b.Args) + k
	if slices.Contains(b.Yields, r) {
		return true
	}
	for i := k + 1; i < len(b.Acts); i++ {
		a := &b.Acts[i]
		if slices.Contains(a.Args, r) && (folded(a) || a.Def.Laws.Has(op.Elementwise) && sameSize(a.Type, b.Register(r)) && readByFold(b, i)) {
			return true
		}
	}
	return false
}

// effect writes an action that has no value. Its order among others needs no words: which point
// fails first, and how, is said by definition.
func (x *Builder) effect(a *op.Action, env []Ref) Ref {
	none := Ref{Type: a.Type, Val: loop.NoVal}
	if a.Def.Control == op.Part {
		return none
	}
	if a.Def.Elements == nil {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	e, _ := x.call(a, picked(env, a.Args))
	a.Def.Elements(e)
	return none
}
