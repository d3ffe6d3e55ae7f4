package nest

// This file writes matrices of a loop's body. A matrix is what its elements are; an element is
// written where it is read, and once in a scope. Small matrices that are carried, chosen or read
// often are held element by element, in registers. reduction.go has their reductions.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// inner writes what f writes in a scope of its own.
func (x *Builder) inner(f func() []loop.Val) (out []loop.Val) {
	x.scoped(map[ElementKey]loop.Val{}, func() { out = f() })
	return out
}

// scoped writes what f writes in a scope with these elements.
func (x *Builder) scoped(own map[ElementKey]loop.Val, f func()) {
	x.Scopes, x.depths = append(x.Scopes, own), append(x.depths, x.Depth())
	f()
	x.Scopes, x.depths = x.Scopes[:len(x.Scopes)-1], x.depths[:len(x.depths)-1]
}

// tentative writes what f writes in a scope with these elements. Some of it may be taken back, so until
// then nothing is written around that scope.
func (x *Builder) tentative(own map[ElementKey]loop.Val, f func()) {
	defer func(around int) { x.fence = around }(x.fence)
	x.scoped(own, func() {
		x.fence = len(x.Scopes) - 1
		f()
	})
}

// either writes a branch on c, whose sides are written by then and other.
func (x *Builder) either(c loop.Val, gives []types.Elem, then, other func() []loop.Val) []loop.Val {
	x.sides++
	out := x.If(c, gives, func() []loop.Val { return x.inner(then) }, func() []loop.Val { return x.inner(other) })
	x.sides--
	return out
}

// matrix is a matrix of the body with these elements.
func (x *Builder) matrix(t types.Type, at op.Element) Ref {
	if !t.Known() {
		panic(noSize)
	}
	return x.memoised(t, at)
}

// memoised is a matrix whose elements are written once in a scope.
func (x *Builder) memoised(t types.Type, at op.Element) Ref {
	x.made++
	id := x.made
	return x.sized(t, func(i, j loop.Lin) loop.Val {
		key := ElementKey{id, string(i.AppendKey(nil)), string(j.AppendKey(nil))}
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

// elem is an element of a matrix, or the number.
func (r Ref) elem(i, j loop.Lin) loop.Val {
	if r.At == nil {
		return r.Val
	}
	return r.At(i, j)
}

// sized is a matrix of a known size.
func (x *Builder) sized(t types.Type, at op.Element) Ref {
	return Ref{Type: t, Val: loop.NoVal, At: at, rows: loop.Num(int64(t.Rows)), cols: loop.Num(int64(t.Cols))}
}

const (
	ItsValue operandPart = iota
	ItsRows
	ItsCols
	ItsReduced // what a phase has reduced of it, a column with an element for each iteration
	ItsKept    // what a phase has stored of it, a matrix with a row for each iteration
	ItsResult  // a result of phases, whose number is the register
	ItsColumn  // element Col of such a result, which is one row
	itsElement // the element at Row and Col, an integer
	CellKnown  // 1 if the cell has a value, 0 if not yet
	CellValue  // follows CellKnown
)

// holdable reports a matrix that may be held.
func holdable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() <= define.Unrolled }

// inRegisters reports whether registers hold a matrix of the body of this type.
func (x *Builder) inRegisters(t types.Type) bool { return holdable(t) && t.Count() <= x.few }

// lines returns the most elements that are written without a loop over them.
func (x *Builder) lines() int { return min(x.few, define.WrittenLines) }

// Hold writes all elements of a small matrix now.
func (x *Builder) Hold(r Ref) []loop.Val {
	if r.At == nil {
		return []loop.Val{r.Val}
	}
	if !holdable(r.Type) {
		panic(NoBody{"a value of " + r.Type.String() + elsewhere})
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

// soLong is why a body of more than the most statements is not written.
const soLong = "so long a body; split it into several loops"

// bounded gives up where the loop grows too long.
func (x *Builder) bounded() {
	if len(x.Nest.Types) > x.limit {
		panic(NoBody{soLong})
	}
}

// held returns a scalar or a matrix of given elements. Where the run tells a subscript, comparisons
// find an element of a few. More elements are written once to memory of the point, in the scope
// that has them: a loop or branch that reads them would write all of them for each element that it
// reads.
func (x *Builder) held(t types.Type, list []loop.Val) Ref {
	if !t.IsDense() {
		return Ref{Type: t, Val: list[0]}
	}
	x.made++
	written, home := ElementKey{matrix: x.made}, len(x.Scopes)-1
	var m loop.Mem
	return x.sized(t, func(i, j loop.Lin) loop.Val {
		switch {
		case i.Known() && j.Known():
			return list[int(i.Const)*t.Cols+int(j.Const)]
		case len(list) <= x.lines():
			return x.chosen(t, list, i, j)
		case x.extent != nil || x.phase != nil:
			panic(NoBody{"a subscript that the run tells, of a matrix of the body"})
		case m.Kind == loop.NoMem:
			m, _ = x.local(t)
		}
		if !slices.ContainsFunc(x.Scopes, func(s map[ElementKey]loop.Val) bool { _, is := s[written]; return is }) {
			e, at, depth := x.Nest.Locals[m.N].Elem, len(x.Scopes)-1, x.Depth()
			if out := max(home, x.fence); out < at && !slices.ContainsFunc(list, func(v loop.Val) bool { return x.Type(v) != e }) {
				at, depth = out, x.depths[out]
			}
			x.Scopes[at][written] = loop.NoVal
			x.Around(depth, func() {
				for k, v := range list {
					x.Store(m, loop.Num(int64(k/t.Cols)), loop.Num(int64(k%t.Cols)), define.ConvertBody(x.Builder, e, v))
				}
			})
		}
		return x.Load(m, i, j)
	})
}

// chosen is an element at a place that only the run knows, found by comparisons.
func (x *Builder) chosen(t types.Type, list []loop.Val, i, j loop.Lin) loop.Val {
	if len(list) == 0 {
		panic(NoBody{"a subscript of a matrix without elements"})
	}
	if slices.Max(list) == slices.Min(list) { // one value
		return list[0]
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
	if slices.ContainsFunc(l.Terms, func(t loop.Term) bool { return t.Sym.Kind == loop.RowsSym || t.Sym.Kind == loop.ColsSym }) {
		panic(NoBody{"a size as a number"})
	}
	v := x.Number(l)
	x.Lins[v] = l
	return v
}

// picked returns what env has of some registers, in their order.
func picked(env []Ref, registers []int) []Ref {
	out := make([]Ref, len(registers))
	for k, r := range registers {
		out[k] = env[r]
	}
	return out
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

// drop takes back what was written since a mark.
func (x *Builder) drop(m loop.Mark) {
	x.Drop(m)
	for v := range x.Lins {
		if int(v) >= len(x.Nest.Types) {
			delete(x.Lins, v)
		}
	}
}

// takenBack calls write, which writes something to learn what it would be, and takes it back.
func (x *Builder) takenBack(write func()) {
	x.tentative(map[ElementKey]loop.Val{}, func() {
		mark := x.Mark()
		write()
		x.drop(mark)
	})
}

// rounds is an inner loop over 0..n.
func (x *Builder) rounds(name string, n loop.Lin, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
	k := loop.Index{Name: x.Name(name), Range: loop.Range{Kind: loop.Steps, To: n, By: 1}}
	if n.Known() {
		x.inside[k.Name] = int(n.Const)
	}
	return x.For(k, state, func(carried []loop.Val) []loop.Val {
		return x.inner(func() []loop.Val { return body(loop.Of(loop.IndexSym, k.Name), carried) })
	})
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
	x.takenBack(func() { e = x.Type(then()) })
	side := func(f func() loop.Val) func() []loop.Val { return func() []loop.Val { return []loop.Val{f()} } }
	return x.either(x.Op(loop.Lt, x.Value(a), x.Value(b)), []types.Elem{e}, side(then), side(other))[0]
}

// spread is scalars and small matrices as numbers, and the types of these.
func (x *Builder) spread(list []Ref) (vals []loop.Val) {
	for _, r := range list {
		if r.Parts != nil || r.Val == loop.NoVal && r.At == nil || r.Type.Elem.Size() == 0 {
			panic(NoBody{"a carried " + r.Type.String()})
		}
		vals = append(vals, x.Hold(r)...)
	}
	return vals
}

// gathered is the inverse of spread: it returns values of types ts that have vals as their numbers.
func (x *Builder) gathered(ts []types.Type, vals []loop.Val) (out []Ref) {
	for _, t := range ts {
		n := t.Count()
		out = append(out, x.held(t, vals[:n:n]))
		vals = vals[n:]
	}
	return out
}

// elemsOf returns the element type of each number of scalars and matrices of known size that registers
// hold.
func elemsOf(ts ...types.Type) (elems []types.Elem) {
	for _, t := range ts {
		for range t.Count() {
			elems = append(elems, dense.Storage(t.Elem))
		}
	}
	return elems
}

// local is memory for a matrix of the body.
func (x *Builder) local(t types.Type) (loop.Mem, Ref) {
	if !t.IsDense() || !t.Known() || t.Count() > max(laidElements, x.most) {
		panic(NoBody{"a value of " + t.String() + elsewhere})
	}
	m := loop.Mem{Kind: loop.LocalMem, N: x.Local(dense.Storage(t.Elem), loop.Num(int64(t.Rows)), loop.Num(int64(t.Cols)))}
	return m, x.in(m, t)
}

// in returns the matrix of type t in memory m.
func (x *Builder) in(m loop.Mem, t types.Type) Ref {
	r := x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(m, i, j) })
	r.mem = m
	return r
}

// eachElement writes loops over the elements of a matrix. Rows of few columns are no loop.
func (x *Builder) eachElement(r Ref, few int, store func(i, j loop.Lin)) {
	row := func(i loop.Lin) {
		if r.Type.Cols <= few {
			for j := range r.Type.Cols {
				store(i, loop.Num(int64(j)))
			}
			return
		}
		x.rounds("c", r.cols, nil, func(j loop.Lin, _ []loop.Val) []loop.Val { store(i, j); return nil })
	}
	if r.Type.Rows == 1 {
		row(loop.Num(0))
		return
	}
	x.rounds("r", r.rows, nil, func(i loop.Lin, _ []loop.Val) []loop.Val { row(i); return nil })
}
