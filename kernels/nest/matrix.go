package nest

// This file writes matrices of a loop's body. A matrix is what its elements are; an element is
// written where it is read, and once in a scope. Small matrices that are carried, chosen or read
// often are held element by element, in registers.

import (
	"fmt"
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// bodyStatements is the most statements of a loop: code beyond that fits into no cache.
const bodyStatements = 12000

// Ref is what a register of a body is in a loop: a scalar, a matrix, or the results of a loop
// or branch.
type Ref struct {
	Type  types.Type
	Val   loop.Val
	At    op.Element // of matrices
	rows  loop.Lin   // its size
	cols  loop.Lin
	Parts []Ref
}

// ElementKey is an element that a scope has written.
type ElementKey struct {
	matrix int
	i, j   string
}

// Builder writes bodies into a nest.
type Builder struct {
	*loop.Builder
	Words    int // of an exact sum
	Affine   bool
	made     int // matrices so far
	Scopes   []map[ElementKey]loop.Val
	Lins     map[loop.Val]loop.Lin // of integers that are linear in indices and operands
	Operands []Operand             // behind the bounds
	extent   *[2]int               // of the space, where it is a rectangle of a result: see space.go
	inside   map[int]int           // the rounds of inner loops there, by the name of the index
	fixed    []bool                // see Stages
	phase    *RowPhase             // of a body by phases, which has no matrices in memory of the point
	keep     *MemoMap              // of the body that is written; nil: it keeps nothing
}

// inner writes what f writes in a scope of its own.
func (x *Builder) inner(f func() []loop.Val) []loop.Val {
	x.Scopes = append(x.Scopes, map[ElementKey]loop.Val{})
	out := f()
	x.Scopes = x.Scopes[:len(x.Scopes)-1]
	return out
}

// matrix is a matrix of the body with these elements.
func (x *Builder) matrix(t types.Type, at op.Element) Ref {
	if !t.Known() {
		panic(NoBody{"a matrix of a size that the run tells"})
	}
	return x.memoised(t, at)
}

// memoised is a matrix whose elements are written once in a scope.
func (x *Builder) memoised(t types.Type, at op.Element) Ref {
	x.made++
	id := x.made
	return x.sized(t, func(i, j loop.Lin) loop.Val {
		key := ElementKey{id, formKey(i), formKey(j)}
		for k := len(x.Scopes) - 1; k >= 0; k-- {
			if v, ok := x.Scopes[k][key]; ok {
				return v
			}
		}
		v := at(i, j)
		x.Scopes[len(x.Scopes)-1][key] = v
		return v
	})
}

// sized is a matrix of a known size.
func (x *Builder) sized(t types.Type, at op.Element) Ref {
	return Ref{Type: t, Val: loop.NoVal, At: at, rows: loop.Num(int64(t.Rows)), cols: loop.Num(int64(t.Cols))}
}

// Operand is an operand of a nest: a register of the loop's body or something of it, what
// phases have made of it, or a cell.
type Operand struct {
	Register int
	What     operandPart
	Row, Col int // where a view begins
	// RowBy and ColBy are 1 + a register: its number is added to Row or Col, and the view has Rows rows
	// or Cols columns. 0: there is none.
	RowBy, ColBy, Rows, Cols int
	// Turned: it is the matrix transposed. Row and column are those of the transposed one.
	Turned bool
}

type operandPart uint8

const (
	itsValue operandPart = iota
	ItsRows
	ItsCols
	ItsReduced   // what a phase has reduced of it, a column with an element for each iteration
	ItsKept      // what a phase has stored of it, a matrix with a row for each iteration
	ItsResult    // a result of phases, whose number is the register
	ItsDrawnRows // a constructor, of which each window has its rows
	CellKnown    // 1 if the cell has a value, 0 if not yet
	CellValue    // follows CellKnown
)

// formKey is a linear form as a key.
func formKey(l loop.Lin) string {
	b := make([]byte, 0, 24)
	word := func(n int64) {
		for k := range 8 {
			b = append(b, byte(n>>(8*k)))
		}
	}
	word(l.Const)
	for _, t := range l.Terms {
		word(t.Coef)
		word(int64(t.Sym.Kind)<<56 | int64(t.Sym.N))
	}
	return string(b)
}

// holdable reports a matrix that may be held.
func holdable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() <= define.Unrolled }

// Hold writes all elements of a small matrix now.
func (x *Builder) Hold(r Ref) []loop.Val {
	if r.At == nil {
		return []loop.Val{r.Val}
	}
	if !holdable(r.Type) {
		panic(NoBody{"a matrix of the body of " + r.Type.String()})
	}
	var out []loop.Val
	for i := range r.Type.Rows {
		for j := range r.Type.Cols {
			out = append(out, r.At(loop.Num(int64(i)), loop.Num(int64(j))))
		}
		x.bounded()
	}
	return out
}

// bounded gives up where the loop grows too long.
func (x *Builder) bounded() {
	if len(x.Nest.Types) > bodyStatements {
		panic(NoBody{"so long a body"})
	}
}

// held is a scalar or a matrix of given elements.
func (x *Builder) held(t types.Type, list []loop.Val) Ref {
	if !t.IsDense() {
		return Ref{Type: t, Val: list[0]}
	}
	return x.sized(t, func(i, j loop.Lin) loop.Val {
		if i.Known() && j.Known() {
			return list[int(i.Const)*t.Cols+int(j.Const)]
		}
		return x.chosen(t, list, i, j)
	})
}

// chosen is an element at a place that only the run knows, found by comparisons.
func (x *Builder) chosen(t types.Type, list []loop.Val, i, j loop.Lin) loop.Val {
	if len(list) > define.WrittenLines || len(list) == 0 {
		panic(NoBody{"a subscript that the run tells, of a matrix of the body"})
	}
	at := x.Value(i.Times(int64(t.Cols)).Plus(j))
	v := list[0]
	for k := 1; k < len(list); k++ {
		v = x.Op(loop.Select, x.Op(loop.Eq, at, x.Const(types.I64, uint64(k))), list[k], v)
	}
	return v
}

// Value is a linear form as a number.
func (x *Builder) Value(l loop.Lin) loop.Val {
	var sum loop.Val = loop.NoVal
	add := func(v loop.Val) {
		if sum == loop.NoVal {
			sum = v
		} else {
			sum = x.Op(loop.Add, sum, v)
		}
	}
	for _, t := range l.Terms {
		var v loop.Val
		switch t.Sym.Kind {
		case loop.IndexSym:
			v = x.IndexValue(t.Sym.N)
		case loop.ValSym:
			v = loop.Val(t.Sym.N)
		case loop.ParamSym:
			v = x.Load(loop.Mem{Kind: loop.ParamMem, N: t.Sym.N})
		default:
			panic(NoBody{"a size as a number"})
		}
		if t.Coef != 1 {
			v = x.Op(loop.Mul, v, x.Const(types.I64, uint64(t.Coef)))
		}
		add(v)
	}
	if l.Const != 0 || sum == loop.NoVal {
		add(x.Const(types.I64, uint64(l.Const)))
	}
	x.Lins[sum] = l
	return sum
}

// sourceAt is element (i, j) of r, stretched to the shape of t.
func sourceAt(r Ref, t types.Type, i, j loop.Lin) loop.Val {
	if r.At == nil {
		return r.Val
	}
	if r.Type.Rows == 1 && t.Rows != 1 {
		i = loop.Num(0)
	}
	if r.Type.Cols == 1 && t.Cols != 1 {
		j = loop.Num(0)
	}
	return r.At(i, j)
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
	if c == loop.Var || c == loop.Stddev {
		return x.deviation(c, out, rows, cols, f)
	}
	if n <= define.Unrolled {
		var t *terms
		var state []loop.Val
		for i := range rows {
			for j := range cols {
				in := f(loop.Num(int64(i)), loop.Num(int64(j)))
				switch {
				case t == nil && x.Words < WideWords:
					t = x.terms(c, in)
					state = t.First(x.Builder, in)
				case t == nil:
					t = x.terms(c, in)
					t.bounded = t.Bounded(t.parts() * int64(n))
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

// foldOver reduces the contributions of a space by inner loops.
func (x *Builder) foldOver(c loop.Class, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val {
	var t *terms
	// The type of a contribution is known once one is written: one that nobody reads.
	x.inner(func() []loop.Val {
		mark := x.Mark()
		t = x.terms(c, f(loop.Num(0), loop.Num(0)))
		x.drop(mark)
		return nil
	})
	n := int64(-1)
	if rows.Known() && cols.Known() {
		n = rows.Const * cols.Const * t.parts()
	}
	t.bounded = t.Bounded(n)
	state := x.over(rows, cols, t.Begin(x.Builder), func(i, j loop.Lin, st []loop.Val) []loop.Val { return t.add(x, st, f(i, j)) })
	return t.end(x, out, rows, cols, state)
}

// terms is a reduction as a loop carries it. A mean is carried as a sum: no loop counts what is
// known before it. Where two words are not enough a norm is the root of a sum, of two parts of each
// square: such a sum is sure of its rounding although it loses bits.
type terms struct {
	*loop.Terms
	mean, root, bounded bool
}

// parts is how many numbers a contribution adds.
func (t *terms) parts() int64 {
	if t.root {
		return 2
	}
	return 1
}

// leastSquare is the least square of which the rest, which a product rounds off, is a float.
const leastSquare = 0x1p-900

// add is the state after one more contribution.
func (t *terms) add(x *Builder, state, in []loop.Val) []loop.Val {
	if !t.root {
		return t.Add(x.Builder, state, in)
	}
	float := func(f float64) loop.Val { return x.Const(types.F64, math.Float64bits(f)) }
	h := x.Op(loop.Mul, in[0], in[0])
	inside := x.Op(loop.And, x.Op(loop.Le, float(leastSquare), h), x.Op(loop.Le, h, float(math.MaxFloat64)))
	x.Check(loop.Uncertain, x.Op(loop.Or, inside, x.Op(loop.Eq, in[0], float(0))))
	state = t.Add(x.Builder, state, []loop.Val{h})
	return t.Add(x.Builder, state, []loop.Val{x.Op(loop.FMA, in[0], in[0], x.Op(loop.Neg, h))})
}

// terms is a reduction of contributions like the first.
func (x *Builder) terms(c loop.Class, first []loop.Val) *terms {
	e := x.Type(first[0])
	t := &terms{mean: c == loop.Mean && e == types.F64}
	t.root = c == loop.Norm && e == types.F64 && x.Words >= WideWords
	if t.mean || t.root {
		c = loop.Sum
	}
	if t.Terms = loop.TermsOf(c, e, x.Words); t.Terms == nil {
		panic(NoBody{c.Info().Name + " of " + e.String()})
	}
	return t
}

// end is the result of a state of rows x cols contributions.
func (t *terms) end(x *Builder, out types.Elem, rows, cols loop.Lin, state []loop.Val) loop.Val {
	n := func(parts int64) loop.Val {
		if rows.Known() && cols.Known() {
			return x.Const(types.F64, math.Float64bits(float64(parts*rows.Const*cols.Const)))
		}
		all := x.Op(loop.Mul, x.Value(rows), x.Value(cols))
		if parts > 1 {
			all = x.Op(loop.Mul, all, x.Const(types.I64, uint64(parts)))
		}
		return x.Op(loop.ToF64, all)
	}
	var v loop.Val
	if t.bounded {
		v = t.EndBounded(x.Builder, state, n(t.parts()))
	} else {
		v = t.End(x.Builder, state)
	}
	if t.root {
		v = x.Op(loop.Sqrt, v)
	}
	if t.mean {
		v = x.Op(loop.Div, v, n(1))
	}
	return define.ConvertBody(x.Builder, dense.Storage(out), v)
}

// over carries a state over the points of a rows x cols space by inner loops.
func (x *Builder) over(rows, cols loop.Lin, state []loop.Val, step func(i, j loop.Lin, st []loop.Val) []loop.Val) []loop.Val {
	if cols.Known() && cols.Const <= define.WrittenLines {
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

// deviation is a variance or its root.
func (x *Builder) deviation(c loop.Class, out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val {
	n := rows * cols
	if n == 0 {
		panic(NoBody{"a reduction of nothing"})
	}
	first := f(loop.Num(0), loop.Num(0))[0]
	s := loop.SpreadOf(x.Builder, c, n, first)
	if s == nil {
		panic(NoBody{fmt.Sprintf("%s of %d elements", c.Info().Name, n)})
	}
	state := s.Begin(x.Builder)
	step := func(i, j loop.Lin, st []loop.Val) []loop.Val { return s.Add(x.Builder, st, f(i, j)[0]) }
	if n <= define.Unrolled {
		for i := range rows {
			for j := range cols {
				state = step(loop.Num(int64(i)), loop.Num(int64(j)), state)
			}
			x.bounded()
		}
	} else {
		state = x.over(loop.Num(int64(rows)), loop.Num(int64(cols)), state, step)
	}
	return define.ConvertBody(x.Builder, dense.Storage(out), s.End(x.Builder, state))
}

// drop takes back what was written since a mark.
func (x *Builder) drop(m loop.Mark) {
	x.Drop(m)
	for v := range x.Lins {
		if int(v) >= len(x.Nest.Types) {
			delete(x.Lins, v)
		}
	}
}

// rounds is an inner loop over 0..n.
func (x *Builder) rounds(name string, n loop.Lin, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
	k := loop.Index{Name: x.Name(name), Range: loop.Range{Kind: loop.Steps, To: n, By: 1}}
	if x.extent != nil && n.Known() {
		x.inside[k.Name] = int(n.Const)
	}
	return x.For(k, state, func(carried []loop.Val) []loop.Val {
		return x.inner(func() []loop.Val { return body(loop.Of(loop.IndexSym, k.Name), carried) })
	})
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

// product multiplies at most as many floats as a run has chains: each is a chain of one, and they
// are multiplied by halves.
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
	for half := loop.ProductChains / 2; half > 0; half /= 2 {
		for k := range half {
			if k+half < len(list) {
				list[k] = x.Op(loop.Mul, list[k], list[k+half])
			}
		}
		list = list[:min(len(list), half)]
	}
	return list[0]
}

// chain is from + a b for n pairs, in order: see op.Elements.Chain.
func (x *Builder) chain(from loop.Val, n loop.Lin, pair func(k loop.Lin) (a, b loop.Val)) loop.Val {
	step := func(s loop.Val, k loop.Lin) loop.Val {
		a, b := pair(k)
		if x.Type(s).IsFloat() {
			return x.Op(loop.FMA, a, b, s)
		}
		return x.Op(loop.Add, s, x.Op(loop.Mul, a, b))
	}
	if !n.Known() || n.Const > define.Unrolled {
		return x.rounds("k", n, []loop.Val{from}, func(k loop.Lin, s []loop.Val) []loop.Val { return []loop.Val{step(s[0], k)} })[0]
	}
	for k := range n.Const {
		from = step(from, loop.Num(k))
		x.bounded()
	}
	return from
}

// below is a choice by the place of an element: see op.Elements.Below.
func (x *Builder) below(a, b loop.Lin, then, other func() loop.Val) loop.Val {
	if x.extent != nil {
		if below, ok := op.Before(a, b, [2]int{}, *x.extent); ok && below {
			return then()
		} else if ok {
			return other()
		}
	}
	var e types.Elem
	x.inner(func() []loop.Val { // of which type both are, one tells that is taken back
		mark := x.Mark()
		e = x.Type(then())
		x.drop(mark)
		return nil
	})
	side := func(f func() loop.Val) func() []loop.Val {
		return func() []loop.Val { return x.inner(func() []loop.Val { return []loop.Val{f()} }) }
	}
	return x.If(x.Op(loop.Lt, x.Value(a), x.Value(b)), []types.Elem{e}, side(then), side(other))[0]
}
