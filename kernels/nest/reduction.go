package nest

// This file writes reductions of the elements of a matrix of a loop's body: without a loop if they
// are few, else by inner loops.

import (
	"fmt"
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// reduction writes a reduction of a whole matrix, its rows or its columns.
func (x *Builder) reduction(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	if in := env[a.Args[0]]; in.pairs != nil {
		return Ref{Type: a.Type, Val: x.foldPairs(a, in)}
	}
	in := x.reads(a, env)[0]
	rows, cols := in.rows, in.cols
	if !in.Type.IsDense() {
		rows, cols = loop.Num(1), loop.Num(1)
	}
	c, one, long, wide := a.Def.Class, loop.Num(1), rows, cols
	if c == loop.Mean && in.Type.Elem == types.Bool { // a count divided by the number needs no exact sum
		c = loop.Count
	}
	if a.Def.Fold == op.FoldRows {
		wide = one
	} else {
		long = one
	}
	term := func(i, j loop.Lin) []loop.Val {
		return []loop.Val{x.Term(c, in.elem(i, j))}
	}
	fold := func(rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
		if c == a.Def.Class {
			return x.foldRagged(c, a.Type.Elem, rows, cols, f)
		}
		all := x.Op(loop.Mul, x.Value(rows), x.Value(cols))
		count := x.foldRagged(c, types.I64, rows, cols, f)
		return x.Op(loop.Div, x.Op(loop.ToF64, count), x.Op(loop.ToF64, all))
	}
	if a.Def.Fold == op.FoldAll {
		return Ref{Type: a.Type, Val: fold(rows, cols, term)}
	}
	m := x.ragged(a.Type, long, wide, func(i, j loop.Lin) loop.Val {
		if a.Def.Fold == op.FoldRows {
			return fold(one, cols, func(_, j loop.Lin) []loop.Val { return term(i, j) })
		}
		return fold(rows, one, func(i, _ loop.Lin) []loop.Val { return term(i, j) })
	})
	if x.extent == nil && x.inRegisters(a.Type) && !endsOnce(b, k) {
		return x.held(a.Type, x.Hold(m))
	}
	return x.settled(b, k, m, false, true)
}

// fold reduces the contributions of a rows x cols space: see op.Elements.Fold.
func (x *Builder) fold(c loop.Class, out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val {
	n := rows * cols
	if c == loop.Product && n <= define.Unrolled && out.IsFloat() {
		return x.product(out, rows, cols, f)
	}
	if n > 0 && n <= define.Unrolled && x.exactPair(c, out, n) {
		if sum := x.pair(c, out, rows, cols, f); sum != loop.NoVal {
			return sum
		}
	}
	if x.Words < loop.FastLevels {
		if v := x.near(c, out, rows, cols, f); v != loop.NoVal {
			return v
		}
	}
	if v := x.paired(c, out, loop.Num(int64(rows)), loop.Num(int64(cols)), f); v != loop.NoVal {
		return v
	}
	if x.writtenOut(n, f) {
		var t *terms
		var state []loop.Val
		at := func(k int) []loop.Val { return f(loop.Num(int64(k/cols)), loop.Num(int64(k%cols))) }
		if n > 1 && len(x.Nest.Space) == 0 { // one point waits for each operation
			x.takenBack(func() { t = x.terms(c, at(0)) })
			if state = t.Balanced(x.Builder, n, at); state != nil {
				return t.end(x, out, loop.Num(int64(rows)), loop.Num(int64(cols)), state)
			}
			t = nil
		}
		for i := range rows {
			for j := range cols {
				in := f(loop.Num(int64(i)), loop.Num(int64(j)))
				switch {
				case t == nil && x.Words < WideWords:
					t = x.terms(c, in)
					state = t.First(x.Builder, in)
				case t == nil:
					t = x.terms(c, in)
					t.bounded = t.Bounded(t.parts()*int64(n), x.Masked(in[0]))
					state = t.add(x, t.Begin(x.Builder), in)
				default:
					state = t.add(x, state, in)
				}
				x.bounded()
			}
		}
		if t == nil {
			panic(NoBody{"a reduction of nothing"})
		}
		return t.end(x, out, loop.Num(int64(rows)), loop.Num(int64(cols)), state)
	}
	return x.foldOver(c, out, loop.Num(int64(rows)), loop.Num(int64(cols)), f)
}

// writtenStatements is the most statements of the contributions of a reduction that is written out.
// Longer code is read from memory again in every round of the loop around it.
const writtenStatements = 1024

// writtenOut reports that a reduction of n contributions is written without a loop. More than a few are
// if the first one, which is written and taken back, is short. They are not where rounds keep such
// matrices in memory: the code takes longer to make than to run.
func (x *Builder) writtenOut(n int, f func(i, j loop.Lin) []loop.Val) (fine bool) {
	lines := x.lines()
	if x.laying {
		lines = define.WrittenLines
	}
	if few := x.short || len(x.Nest.Space) == 0 && x.few <= define.WrittenLines; n <= lines || n > define.Unrolled || few {
		return n <= lines || n <= define.Unrolled && !few
	}
	x.takenBack(func() {
		before := len(x.Nest.Types)
		f(loop.Num(0), loop.Num(0))
		fine = n*(len(x.Nest.Types)-before) <= writtenStatements
	})
	return fine
}

// foldOver reduces the contributions of a space by inner loops.
func (x *Builder) foldOver(c loop.Class, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
	one := func() []loop.Val { return f(loop.Num(0), loop.Num(0)) }
	return x.foldBy(c, out, rows, cols, one, func(state []loop.Val, add func(st, in []loop.Val) []loop.Val) []loop.Val {
		return x.over(rows, cols, state, func(i, j loop.Lin, st []loop.Val) []loop.Val { return add(st, f(i, j)) })
	})
}

// foldBy reduces rows x cols contributions, over which over goes. one writes one of them.
func (x *Builder) foldBy(c loop.Class, out types.Elem, rows, cols loop.Lin, one func() []loop.Val, over func(state []loop.Val, add func(st, in []loop.Val) []loop.Val) []loop.Val) loop.Val {
	var t *terms
	var masked bool
	x.takenBack(func() {
		in := one()
		t, masked = x.terms(c, in), x.Masked(in[0])
	})
	n := int64(-1)
	if rows.Known() && cols.Known() {
		n = rows.Const * cols.Const * t.parts()
	}
	t.bounded = t.Bounded(n, masked)
	state := over(t.Begin(x.Builder), func(st, in []loop.Val) []loop.Val { return t.add(x, st, in) })
	// A state of several words takes longer to merge than a loop of few rounds saves.
	if len(x.Nest.Space) == 0 && !t.root && (n >= 0 || len(state) == 1) {
		t.merges = true
		x.Adds(t.Terms, state)
	}
	return t.end(x, out, rows, cols, state)
}

// terms is a reduction as a loop carries it. A mean is carried as a sum: no loop counts what is
// known before it. Where two words are not enough a norm is the root of a sum, of two parts of each
// square: such a sum is sure of its rounding although it loses bits.
type terms struct {
	*loop.Terms
	mean, root, bounded bool
	merges              bool // rounds may be lanes, whose states merge
}

// parts is how many numbers a contribution adds.
func (t *terms) parts() int64 {
	if t.root {
		return 2
	}
	return 1
}

// leastSquare is the least square whose rounding error is itself a float. Smaller squares lose bits of
// it to underflow. They are left out of a sum that is larger by far.
const leastSquare = 0x1p-900

// add is the state after one more contribution.
func (t *terms) add(x *Builder, state, in []loop.Val) []loop.Val {
	if !t.root {
		return t.Add(x.Builder, state, in)
	}
	float := func(f float64) loop.Val { return x.Const(types.F64, math.Float64bits(f)) }
	h := x.Op(loop.Mul, in[0], in[0])
	x.Check(loop.Uncertain, x.Op(loop.Le, h, float(math.MaxFloat64)))
	small := x.Op(loop.Lt, h, float(leastSquare))
	v := x.Op(loop.Select, small, float(0), in[0])
	h = x.Op(loop.Mul, v, v)
	state = t.Add(x.Builder, state, []loop.Val{h})
	state = t.Add(x.Builder, state, []loop.Val{x.Op(loop.FMA, v, v, x.Op(loop.Neg, h))})
	return t.LeftOut(x.Builder, state, x.Op(loop.Ne, v, in[0]), leastSquare)
}

// terms is a reduction of contributions like the first.
func (x *Builder) terms(c loop.Class, first []loop.Val) *terms {
	e := x.Type(first[0])
	t := &terms{mean: c == loop.Mean && e == types.F64}
	t.root = c == loop.Norm && e == types.F64 && x.Words >= WideWords
	if t.mean || t.root {
		c = loop.Sum
	}
	if t.Terms = loop.TermsOf(c, e, max(x.Words, loop.FastLevels)); t.Terms == nil {
		panic(NoBody{c.Info().Name + " of " + e.String()})
	}
	return t
}

// end is the result of a state of rows x cols contributions.
func (t *terms) end(x *Builder, out types.Elem, rows, cols loop.Lin, state []loop.Val) loop.Val {
	n := func(parts, more int64) loop.Val {
		if rows.Known() && cols.Known() {
			return x.Const(types.F64, math.Float64bits(float64(parts*rows.Const*cols.Const+more)))
		}
		all := x.Op(loop.Mul, x.Value(rows), x.Value(cols))
		if parts > 1 {
			all = x.Op(loop.Mul, all, x.Const(types.I64, uint64(parts)))
		}
		return x.Op(loop.ToF64, all)
	}
	var v loop.Val
	if t.bounded {
		more := int64(0)
		if t.merges {
			more = loop.MergeTerms
		}
		v = t.EndBounded(x.Builder, state, n(t.parts(), more))
	} else {
		v = t.End(x.Builder, state)
	}
	if t.root {
		v = x.Op(loop.Sqrt, v)
	}
	if t.mean {
		v = x.Op(loop.Div, v, n(1, 0))
	}
	return define.ConvertBody(x.Builder, dense.Storage(out), v)
}

// over carries a state over the points of a rows x cols space by inner loops.
func (x *Builder) over(rows, cols loop.Lin, state []loop.Val, step func(i, j loop.Lin, st []loop.Val) []loop.Val) []loop.Val {
	if cols.Known() && cols.Const <= int64(x.lines()) {
		return x.rounds("r", rows, state, func(i loop.Lin, st []loop.Val) []loop.Val {
			for j := range cols.Const {
				st = step(i, loop.Num(j), st)
			}
			return st
		})
	}
	row := func(i loop.Lin, outer []loop.Val) []loop.Val {
		return x.rounds("c", cols, outer, func(j loop.Lin, st []loop.Val) []loop.Val { return step(i, j, st) })
	}
	if rows.Known() && rows.Const == 1 {
		return row(loop.Num(0), state)
	}
	return x.rounds("r", rows, state, row)
}

// paired is a variance, its root or a norm, carried by pairs of floats with a bound of their errors;
// NoVal where the class has no such form, and a norm where sums have three words.
func (x *Builder) paired(c loop.Class, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
	spread := c == loop.Var || c == loop.Stddev
	if !spread && (c != loop.Norm || x.Words >= WideWords) {
		return loop.NoVal
	}
	zero, known := loop.Num(0), rows.Known() && cols.Known()
	if known && rows.Const*cols.Const == 0 {
		panic(NoBody{"a reduction of nothing"})
	}
	first := func() loop.Val { return f(zero, zero)[0] }
	var e types.Elem
	x.takenBack(func() { e = x.Type(first()) })
	if !spread && e != types.F64 {
		return loop.NoVal
	}
	n, pivot := loop.Known(int(rows.Const*cols.Const)), loop.NoVal
	if !known {
		n = loop.Told(x.Builder, x.Op(loop.Mul, x.Value(rows), x.Value(cols)))
	}
	switch {
	case !spread:
		return x.carried(loop.RootOf(n), out, rows, cols, f)
	case known:
		pivot = first()
	default: // there may be none
		pivot = x.below(zero, rows, func() loop.Val {
			return x.below(zero, cols, first, func() loop.Val { return x.Const(e, 0) })
		}, func() loop.Val { return x.Const(e, 0) })
	}
	s := loop.SpreadOf(x.Builder, c, n, pivot)
	if s == nil {
		panic(NoBody{fmt.Sprintf("%s of %d elements", c.Info().Name, rows.Const*cols.Const)})
	}
	return x.carried(s, out, rows, cols, f)
}

// near is a reduction carried by sums of numbers of about one size, which some of them tell; NoVal
// where it has no such form.
func (x *Builder) near(c loop.Class, out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val {
	if n := rows * cols; n < loop.LeastNear || n > loop.MostNear || !c.Sums() {
		return loop.NoVal
	}
	fits := false
	x.takenBack(func() { fits = x.Type(f(loop.Num(0), loop.Num(0))[0]) == types.F64 })
	if !fits {
		return loop.NoVal
	}
	var some []loop.Val
	// Many elements get more samples: if all samples are far below the rest, the point is computed again.
	last := min(2+rows*cols/32, 6)
	for k := range last + 1 {
		i, j := min(k*rows/last, rows-1), min(k*cols/last, cols-1)
		some = append(some, f(loop.Num(int64(i)), loop.Num(int64(j)))[0])
	}
	s := loop.NearOf(x.Builder, c, rows*cols, some)
	if s == nil { // so many squares
		return loop.NoVal
	}
	return x.carried(s, out, loop.Num(int64(rows)), loop.Num(int64(cols)), f)
}

// carried is a reduction of elements that are told one after the other.
func (x *Builder) carried(s interface {
	Begin(b *loop.Builder) []loop.Val
	Add(b *loop.Builder, state []loop.Val, v loop.Val) []loop.Val
	End(b *loop.Builder, state []loop.Val) loop.Val
}, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
	state := s.Begin(x.Builder)
	step := func(i, j loop.Lin, st []loop.Val) []loop.Val { return s.Add(x.Builder, st, f(i, j)[0]) }
	if rows.Known() && cols.Known() && x.writtenOut(int(rows.Const*cols.Const), f) {
		root, is := s.(*loop.Root)
		for i := range rows.Const {
			for j := range cols.Const {
				if is && i+j == 0 {
					state = root.First(x.Builder, f(loop.Num(0), loop.Num(0))[0])
				} else {
					state = step(loop.Num(i), loop.Num(j), state)
				}
			}
			x.bounded()
		}
	} else {
		state = x.over(rows, cols, state, step)
	}
	return define.ConvertBody(x.Builder, dense.Storage(out), s.End(x.Builder, state))
}

// exactPair reports a sum of one or two floats: one addition rounds it once.
func (x *Builder) exactPair(c loop.Class, out types.Elem, n int) bool {
	return n <= 2 && out.IsFloat() && (c == loop.Sum || c == loop.Mean && out == types.F64)
}

// pair is the sum or mean of one or two contributions, NoVal where they are no numbers of the
// result's type.
func (x *Builder) pair(c loop.Class, out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val {
	sum := f(loop.Num(0), loop.Num(0))[0]
	if x.Type(sum) != out {
		return loop.NoVal
	}
	if rows*cols == 2 {
		sum = x.Op(loop.Add, sum, f(loop.Num(int64(rows-1)), loop.Num(int64(cols-1)))[0])
		if c == loop.Mean {
			return x.Op(loop.Div, x.Op(loop.Add, sum, define.Numeral(x.Builder, out, 0)), define.Numeral(x.Builder, out, 2))
		}
	}
	return x.Op(loop.Add, sum, define.Numeral(x.Builder, out, 0)) // a sum of 0 is +0
}

// product multiplies at most define.Unrolled floats by halves. Each of so few is a chain of its own in
// prod, whose chains are multiplied by halves.
func (x *Builder) product(out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val {
	var list []loop.Val
	for i := range rows {
		for j := range cols {
			list = append(list, f(loop.Num(int64(i)), loop.Num(int64(j)))[0])
		}
	}
	if len(list) == 0 {
		return define.Numeral(x.Builder, out, 1)
	}
	for half := define.Unrolled / 2; half > 0; half /= 2 {
		for k := range half {
			if k+half < len(list) {
				list[k] = x.Op(loop.Mul, list[k], list[k+half])
			}
		}
		list = list[:min(len(list), half)]
	}
	return list[0]
}

// Term is an element as a class takes it.
func (x *Builder) Term(c loop.Class, v loop.Val) loop.Val {
	switch e := x.Type(v); takenAs(c, e) {
	case e:
		return v
	case types.Bool:
		return x.Op(loop.ToBool, v)
	case types.F64:
		return define.ConvertBody(x.Builder, types.F64, v)
	default:
		return x.Op(loop.ToI64, v)
	}
}

// reduced adds a reduced result of one column and the given rows, and contributes terms to its element
// to.
func (x *Builder) reduced(c loop.Class, gives types.Elem, rows loop.Lin, to [2]loop.Lin, terms ...loop.Val) loop.Mem {
	e := x.Type(terms[0])
	x.Summed(c, e, gives)
	m := loop.Mem{Kind: loop.ResultMem, N: x.Reduced(c, c.Gives(e), rows, loop.Num(1))}
	x.Reduce(m, to[0], to[1], terms...)
	return m
}

// sums reports whether a loop can reduce elements of type e to a result of type gives.
func sums(c loop.Class, e, gives types.Elem) bool {
	e = takenAs(c, dense.Storage(e))
	return kept(c, e) && c.Gives(e) == dense.Storage(gives)
}

// kept reports whether class c has a state for contributions of e and does not depend on their order.
func kept(c loop.Class, e types.Elem) bool {
	return slices.Contains(c.Info().On, e) && loop.StateOf(c, e, loop.FastLevels) != nil && c.Free(e)
}

// takenAs is the type of the contributions that elements of e are to a class.
func takenAs(c loop.Class, e types.Elem) types.Elem {
	switch {
	case c == loop.Count || c == loop.Any || c == loop.All:
		return types.Bool
	case e == types.Bool && c == loop.Sum:
		return types.I64
	case !e.IsFloat() && (c == loop.Norm || c == loop.Var || c == loop.Stddev), e == types.Bool && c == loop.Mean:
		return types.F64
	}
	return e
}

// Summed gives up on a reduction of e that has no state, or depends on the order, or whose result
// is not of gives; NoElem: it may be of any type.
func (x *Builder) Summed(c loop.Class, e, gives types.Elem) {
	switch {
	case !kept(c, e):
		panic(NoBody{c.Info().Name + " of " + e.String()})
	case gives != types.NoElem && c.Gives(e) != dense.Storage(gives):
		panic(NoBody{c.Info().Name + " as " + gives.String()})
	}
}

// foldRagged reduces a space whose size only the run knows. What has no value of nothing is left to
// a check.
func (x *Builder) foldRagged(c loop.Class, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
	if rows.Known() && cols.Known() {
		return x.fold(c, out, int(rows.Const), int(cols.Const), f)
	}
	switch c {
	case loop.Sum, loop.Count, loop.Any, loop.All, loop.Norm:
	default:
		zero := x.Const(types.I64, 0)
		x.Check(0, x.Op(loop.And, x.Op(loop.Lt, zero, x.Value(rows)), x.Op(loop.Lt, zero, x.Value(cols))))
	}
	if v := x.paired(c, out, rows, cols, f); v != loop.NoVal {
		return v
	}
	return x.foldOver(c, out, rows, cols, f)
}
