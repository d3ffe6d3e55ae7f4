package nest

// This file finds counters: integers that a loop carries and that grow by the same number in each
// round. They are linear in the loop's index, so that no register carries them, and subscripts with
// them are proved at the launch. Where the loop ends by a counter, its rounds are known before it.

import (
	"cmp"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// counterLimit bounds the numbers of forms of counters, so that none of them overflows.
const counterLimit = 1 << 40

// counters is what is known of the counters of a loop.
type counters struct {
	is     []bool     // of each carried value
	from   []loop.Lin // before the first round
	by     []int64
	rounds loop.Lin
	// floored: no rounds where the form is negative. Of other loops it is not negative.
	floored bool
}

// counters finds the counters of an iterate. There are none where the number of rounds is unknown.
func (x *Builder) counters(a *op.Action, in []Ref) *counters {
	n := a.Attrs.Int("carry")
	c := &counters{is: make([]bool, n), from: make([]loop.Lin, n), by: make([]int64, n)}
	times, counted := a.Attrs.Get("times")
	if counted {
		c.rounds = loop.Num(times.I)
	}
	if x.extent != nil || !counted && !simple(a.Bodies[1], 0) {
		return c
	}
	var ends ending
	x.takenBack(func() {
		args := slices.Clone(in)
		for k, t := range a.Bodies[0].Args[:n] {
			l, linear := x.Lins[in[k].Val]
			if linear && l.Affine() && in[k].At == nil && t.IsScalar() && t.Elem == types.I64 {
				v := x.Const(types.I64, 0)
				x.Lins[v] = loop.Of(loop.ValSym, int(v))
				args[k], c.from[k], c.is[k] = Ref{Type: t, Val: v}, l, true
			}
		}
		if slices.Contains(c.is, true) {
			c.steps(x, a.Bodies[0], args)
			if !counted {
				ends = c.ends(x, a.Bodies[1], args)
			}
		}
	})
	if !counted && !c.bounded(x, ends) {
		clear(c.is)
	}
	return c
}

// steps finds by how much each value grows, and keeps those that do so by a constant.
func (c *counters) steps(x *Builder, b *op.Body, args []Ref) {
	env := make([]Ref, len(b.Args)+len(b.Acts))
	copy(env, args)
	for k, is := range c.is {
		if !is {
			continue
		}
		next, ok := x.tried(b, b.Yields[k], env)
		l, linear := x.Lins[next]
		by := l.Plus(x.Lins[args[k].Val].Times(-1))
		if c.is[k] = ok && linear && by.Known() && within(by); c.is[k] {
			c.by[k] = by.Const
		}
	}
}

// tried writes an integer or truth of a body that is computed of scalars by total operators.
func (x *Builder) tried(b *op.Body, r int, env []Ref) (loop.Val, bool) {
	k := r - len(b.Args)
	if env[r].Type.IsScalar() && env[r].Val != loop.NoVal && env[r].Type.Elem != types.NoElem {
		return env[r].Val, true
	}
	if k < 0 {
		return loop.NoVal, false
	}
	a := &b.Acts[k]
	if v, ok := x.constant(a); ok && a.Type.IsScalar() {
		env[r] = v
		return v.Val, true
	}
	if a.Def.Elt == nil || !a.Type.IsScalar() || a.Type.Elem != types.I64 && a.Type.Elem != types.Bool {
		return loop.NoVal, false
	}
	for _, arg := range a.Args {
		if _, ok := x.tried(b, arg, env); !ok {
			return loop.NoVal, false
		}
	}
	env[r] = x.elementwise(b, k, env)
	return env[r].Val, true
}

// ending is when a loop ends: in the first round where a form is 0, or not negative.
type ending struct {
	form  loop.Lin
	zero  bool
	grows int64 // the form, in each round
	known bool
}

// ends reads the condition of a loop, with the counters replaced by what they are at first.
func (c *counters) ends(x *Builder, b *op.Body, args []Ref) (e ending) {
	env := make([]Ref, len(b.Args)+len(b.Acts))
	copy(env, args)
	mark := x.Mark()
	cond, ok := x.tried(b, b.Yields[0], env)
	if !ok {
		return e
	}
	made := map[loop.Val]*loop.Stmt{}
	x.Since(mark, func(s *loop.Stmt) { made[s.Dst] = s })
	s, sign := made[cond], int64(1)
	for s != nil && s.Code == loop.Not {
		s, sign = made[s.Args[0]], -sign
	}
	if s == nil || len(s.Args) != 2 {
		return e
	}
	l, ok1 := x.Lins[s.Args[0]]
	r, ok2 := x.Lins[s.Args[1]]
	if !ok1 || !ok2 {
		return e
	}
	e.form = r.Plus(l.Times(-1)).Times(sign)
	switch {
	case s.Code == loop.Eq && sign > 0:
		e.zero = true
	case s.Code == loop.Lt && sign > 0, s.Code == loop.Le && sign < 0:
		e.form = e.form.Plus(loop.Num(-1))
	case s.Code == loop.Le, s.Code == loop.Lt:
	default:
		return e
	}
	for k, is := range c.is {
		own := loop.Sym{Kind: loop.ValSym, N: int(args[k].Val)}
		if f := e.form.Coef(own); is && f != 0 {
			e.form = e.form.Plus(loop.Of(own.Kind, own.N).Times(-f)).Plus(c.from[k].Times(f))
			e.grows += f * c.by[k]
		}
	}
	e.known = e.form.Affine()
	return e
}

// bounded finds the number of rounds of a loop that ends so. What a form cannot prove, a check
// demands: a loop for ever is left to an operator at a time.
func (c *counters) bounded(x *Builder, e ending) bool {
	if !e.known || e.grows == 0 || !within(e.form) {
		return false
	}
	by := e.grows
	if e.zero && by < 0 {
		e.form, by = e.form.Times(-1), -by
	}
	left := e.form.Times(-1)
	switch {
	case by < 0:
		return false
	case left.Known() && left.Const <= 0:
		c.rounds = loop.Num(0)
		return !e.zero || left.Const == 0
	case left.Known():
		c.rounds = loop.Num((left.Const + by - 1) / by)
		return !e.zero || left.Const%by == 0
	case by != 1 || x.phase != nil:
		return false
	}
	// An index of the nest begins at 0 and grows by 1, so no run reaches the limit.
	index := func(t loop.Term) bool { return t.Sym.Kind == loop.IndexSym && t.Coef*t.Coef == 1 }
	if slices.ContainsFunc(left.Terms, func(t loop.Term) bool { return !index(t) && t.Sym.Kind != loop.ParamSym }) {
		return false
	}
	fine := x.Const(types.Bool, 1)
	for _, t := range slices.DeleteFunc(slices.Clone(left.Terms), index) {
		v := x.Value(loop.Of(t.Sym.Kind, t.Sym.N))
		limit := x.Const(types.I64, counterLimit)
		small := x.Op(loop.And, x.Op(loop.Le, x.Op(loop.Neg, limit), v), x.Op(loop.Le, v, limit))
		fine = x.Op(loop.And, fine, small)
	}
	if e.zero {
		fine = x.Op(loop.And, fine, x.Op(loop.Le, x.Const(types.I64, 0), x.Value(left)))
	}
	x.Check(0, fine)
	c.rounds, c.floored = left, !e.zero
	return true
}

// roundCount is a number of rounds as a linear form of the scalar parameters of a nest.
type roundCount struct {
	loop.Lin
	floored bool // a form below 0 stands for 0 rounds; otherwise the nest fails a check
}

// of returns the number of rounds for these values of the parameters, or -1 if a check of the nest
// would fail.
func (r *roundCount) of(params []value.Value) int64 {
	n := r.Const
	for _, t := range r.Terms {
		v := params[t.Sym.N].(value.Scalar).I
		if v > counterLimit || v < -counterLimit {
			return -1
		}
		n += t.Coef * v
	}
	if n < 0 && r.floored {
		return 0
	}
	return max(n, -1)
}

// within reports a form of small numbers.
func within(l loop.Lin) bool {
	for _, t := range l.Terms {
		if t.Coef > 1<<20 || t.Coef < -1<<20 {
			return false
		}
	}
	return l.Const <= counterLimit && l.Const >= -counterLimit
}

// rest is the elements of a list that are no counters.
func rest[T any](c *counters, list []T) (out []T) {
	for k, v := range list {
		if !c.is[k] {
			out = append(out, v)
		}
	}
	return out
}

// all is the carried values in a round, with the others as given.
func (c *counters) all(x *Builder, round loop.Lin, others []Ref) (out []Ref) {
	for k, is := range c.is {
		if !is {
			out, others = append(out, others[0]), others[1:]
			continue
		}
		out = append(out, Ref{Type: types.ScalarOf(types.I64), Val: x.Value(c.from[k].Plus(round.Times(c.by[k])))})
	}
	return out
}

// after is the carried values after the last round.
func (c *counters) after(x *Builder, others []Ref) []Ref {
	if c.floored && slices.Contains(c.is, true) {
		n, zero := x.Value(c.rounds), x.Const(types.I64, 0)
		n = x.Op(loop.Select, x.Op(loop.Lt, n, zero), zero, n)
		return c.all(x, loop.Of(loop.ValSym, int(n)), others)
	}
	return c.all(x, c.rounds, others)
}

// What follows cuts the rounds of a loop whose body divides a counter by constants: a walk over the
// places of a window as `k // 5` and `k % 5`. Its rounds are nested loops then, quotient and remainder
// are their indices, and subscripts with them are linear.

// bases returns the constants by which b divides counters, the greatest first. Each divides the one
// before it, and the first one divides the number of rounds.
func (c *counters) bases(x *Builder, b *op.Body, in []Ref) (list []int64) {
	first := len(b.Args)
	number := make([]*loop.Lin, first+len(b.Acts)) // of registers that are constants
	follows := make([]bool, len(number))           // of integers that counters tell
	for r := range b.Args {
		if r < len(c.is) {
			follows[r] = c.is[r] && c.by[r] == 1 && c.from[r].Known()
		} else if l, ok := x.Lins[in[r].Val]; ok && in[r].At == nil && l.Known() {
			number[r] = &l
		}
	}
	from := int64(0)
	for k := range b.Acts {
		a := &b.Acts[k]
		if v, ok := a.Attrs.Get("value"); ok && a.Def.Role == op.Constant && a.Type == types.ScalarOf(types.I64) {
			number[first+k] = &loop.Lin{Const: v.I}
			continue
		}
		if a.Def.Elt == nil || a.Type != types.ScalarOf(types.I64) || len(a.Args) == 0 || !slices.ContainsFunc(a.Args, func(r int) bool { return follows[r] }) {
			continue
		}
		follows[first+k] = !slices.ContainsFunc(a.Args, func(r int) bool { return !follows[r] && number[r] == nil })
		if by := number[a.Args[len(a.Args)-1]]; follows[first+k] && a.Def.Partial == op.NotByZero && by != nil && by.Const > 1 {
			list = append(list, by.Const)
		}
	}
	for k, is := range c.is {
		if is && follows[k] {
			from |= c.from[k].Const
		}
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	list = slices.Compact(list)
	many := c.rounds.Const
	for k, by := range list {
		if from != 0 || many%by != 0 || many == by {
			return list[:k]
		}
		many = by
	}
	return list
}

// eachRound writes a loop of a range, from at on. With bases it is nested loops.
func (x *Builder) eachRound(r loop.Range, bases []int64, at loop.Lin, state []loop.Val, body func(round loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
	by := int64(1)
	within := r
	if len(bases) > 0 {
		by = bases[0]
		within.To, r.To = loop.Num(by), loop.Num(r.To.Const/by)
	}
	index := loop.Index{Name: x.Name("round"), Range: r}
	if r.Kind == loop.Steps && r.To.Known() {
		x.inside[index.Name] = int(r.To.Const)
	}
	at = at.Plus(loop.Of(loop.IndexSym, index.Name).Times(by))
	return x.For(index, state, func(state []loop.Val) []loop.Val {
		if len(bases) > 0 {
			return x.eachRound(within, bases[1:], at, state, body)
		}
		return x.inner(func() []loop.Val { return body(at, state) })
	})
}

// divided returns the form of a quotient or remainder of a form and a constant, if the terms that the
// constant does not divide stay below it in all rounds. Only indices of inner loops of known rounds are
// surely too small for the form to wrap.
func (x *Builder) divided(c loop.Code, in []loop.Lin) (l loop.Lin, ok bool) {
	if c != loop.IDiv && c != loop.Mod || !in[1].Known() || in[1].Const <= 0 || !within(in[0]) || !x.within(in[0], 1, loop.Num(counterLimit)) {
		return l, false
	}
	by := in[1].Const
	whole, rest := loop.Num(in[0].Const/by), loop.Num(in[0].Const%by)
	for _, t := range in[0].Terms {
		if one := (loop.Lin{Terms: []loop.Term{t}}); t.Coef%by == 0 {
			whole = whole.Plus(loop.Of(t.Sym.Kind, t.Sym.N).Times(t.Coef / by))
		} else {
			rest = rest.Plus(one)
		}
	}
	if c == loop.Mod {
		whole = rest
	}
	return whole, in[0].Const >= 0 && x.within(rest, 1, in[1])
}

// What follows writes ramps, matrices of row or column numbers, as linear forms of the indices.

// linearIn writes action k of a body, a view of a matrix of linear forms, or a sum or a product of one
// and numbers, although a cell keeps its value: to compute an element takes less time than reading it,
// and what depends on it alone is seen (loop.Tabulate).
func (x *Builder) linearIn(b *op.Body, k int, env []Ref) (r Ref, ok bool) {
	a := &b.Acts[k]
	for _, arg := range a.Args {
		if env[arg].At != nil && !env[arg].linear || env[arg].Val == loop.NoVal && env[arg].At == nil {
			return r, false
		}
		ok = ok || env[arg].linear
	}
	switch {
	case !ok || !a.Type.Known() || a.Type.Elem != types.I64 || a.Bodies != nil || a.Chain != nil:
		return r, false
	case a.Def.Laws.Has(op.View) && a.Def.Elements != nil:
		r = x.elements(b, k, env)
	case a.Def.Laws.Has(op.Elementwise) && a.Def.Elt != nil && x.keepsLines(a, env):
		r = x.elementwise(b, k, env)
	default:
		return r, false
	}
	r.linear = true
	return r, true
}

// keepsLines reports whether an operator on linear forms and numbers gives linear forms.
func (x *Builder) keepsLines(a *op.Action, env []Ref) bool {
	try := &Builder{Builder: loop.New(), Lins: map[loop.Val]loop.Lin{}}
	i := loop.Of(loop.IndexSym, try.Index("i", loop.Range{To: loop.Num(1), By: 1}))
	list, elems := make([]loop.Val, len(a.Args)), make([]types.Elem, len(a.Args))
	for k, arg := range a.Args {
		l, known := x.Lins[env[arg].Val]
		switch elems[k] = env[arg].Type.Elem; {
		case elems[k] != types.I64:
			return false
		case env[arg].At != nil:
			list[k] = try.Value(i)
		case known && l.Known():
			list[k] = try.Value(l)
		default:
			return false
		}
	}
	mark := try.Mark()
	v := Step(try.Builder, a.Def, a.Type.Elem, list, elems, 0, false)
	try.Since(mark, try.linear)
	_, ok := try.Lins[v]
	return ok
}

// Ramps reports, for each action of a body, whether it is a ramp (op.Def.Ramp) or a view of one.
func Ramps(b *op.Body) []bool {
	list := make([]bool, len(b.Acts))
	for k := range b.Acts {
		list[k] = isRamp(b, k)
	}
	return list
}

// isRamp reports whether action k of a body is a ramp or a view of one.
func isRamp(b *op.Body, k int) (is bool) {
	a := &b.Acts[k]
	if a.Def.Ramp != nil {
		_, _, is = a.Def.Ramp(a.Attrs)
		return is
	}
	return a.Def.Laws.Has(op.View) && a.Def.Elements != nil && len(a.Args) == 1 && a.Args[0] >= len(b.Args) && isRamp(b, a.Args[0]-len(b.Args))
}

// rampOf writes action k of a body if it is a ramp or a view of one, wherever it is computed: an index
// takes less time than reading it from memory, and comparisons with it tell which places change
// (loop.AtPlaces).
func (x *Builder) rampOf(b *op.Body, k int) (r Ref, ok bool) {
	a := &b.Acts[k]
	if !a.Type.Known() || a.Attrs.Bool("drawn") || !isRamp(b, k) {
		return r, false
	}
	if a.Def.Ramp != nil {
		first, down, _ := a.Def.Ramp(a.Attrs)
		r = x.matrix(a.Type, func(i, _ loop.Lin) loop.Val { return x.Value(i.Times(down).Plus(loop.Num(first))) })
	} else {
		env := make([]Ref, a.Args[0]+1)
		if env[a.Args[0]], ok = x.rampOf(b, a.Args[0]-len(b.Args)); !ok {
			return r, false
		}
		r = x.elements(b, k, env)
	}
	r.linear = true
	return r, true
}

// simple reports a body of a few operators that cannot fail.
func simple(b *op.Body, depth int) bool {
	if len(b.Acts) > 12 || depth > 2 {
		return false
	}
	for i := range b.Acts {
		a := &b.Acts[i]
		switch {
		case a.Def.Control == op.Part || a.Def.Role == op.Constant:
		case a.Def.Control == op.Select:
			if !simple(a.Bodies[0], depth+1) || !simple(a.Bodies[1], depth+1) {
				return false
			}
		case a.Def.Elt == nil || a.Def.Fails(b.Register(a.Args[0]).Elem, a.Type.Elem):
			return false
		}
	}
	return true
}
