package nest

// This file finds the part of a carried matrix that a round changes. The round then writes only this
// part, in the memory of the old matrix:
//
//	next A = ifelse(I == k, new, A)        one row, where I is seq(0, n)
//	next A = parfor i in 0..n { if i > k { A[i, :] - f[i, 0] * A[k, :] } else { A[i, :] } }
//
// An element that the loop loads and stores at the same place need not be stored. If comparisons of
// indices with numbers choose these elements, the numbers bound the changed part. Writing in place
// would be wrong if the loop read an element that it has changed before. So all reads at other places
// must lie outside of the bounds.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

// sharing reports, by register of b, which values may lie in the memory of some arguments. The value of
// an if does not, if its branches make it. made reports actions of b that run as stages.
func sharing(b *op.Body, args []bool, made func(k int) bool) []bool {
	list := append(slices.Clone(args), make([]bool, len(b.Acts))...)
	in := func(r int) bool { return list[r] }
	for k := range b.Acts {
		a := &b.Acts[k]
		if made(k) || owns(a) || a.Type.IsScalar() || !slices.ContainsFunc(a.Args, in) {
			continue
		}
		list[len(b.Args)+k] = a.Def.Control != op.Select || slices.ContainsFunc(a.Bodies, func(x *op.Body) bool {
			of := make([]bool, len(x.Args))
			for i, r := range a.Args[1:] {
				of[i] = list[r]
			}
			within := sharing(x, of, func(int) bool { return false })
			return slices.ContainsFunc(x.Yields, func(y int) bool { return within[y] })
		})
	}
	return list
}

// area is a set of places of a matrix. By axis, a place is at least every form of least and below every
// form of most. none: the set is empty.
type area struct {
	none        bool
	least, most [2][]loop.Lin
}

// and returns the places that are in both areas.
func (a area) and(b area) area {
	out := area{none: a.none || b.none}
	for d := range 2 {
		out.least[d] = slices.Concat(a.least[d], b.least[d])
		out.most[d] = slices.Concat(a.most[d], b.most[d])
	}
	return out
}

// or returns an area that includes both. It may be larger than their union.
func (a area) or(b area) (out area) {
	switch {
	case a.none:
		return b
	case b.none:
		return a
	}
	// common returns the bounds of each that hold for the other, too.
	common := func(a, b []loop.Lin, sign int64) (list []loop.Lin) {
		for _, both := range [2][2][]loop.Lin{{a, b}, {b, a}} {
			for _, l := range both[0] {
				looser := func(m loop.Lin) bool { d := m.Plus(l.Times(-1)); return d.Known() && sign*d.Const >= 0 }
				if slices.ContainsFunc(both[1], looser) {
					list = append(list, l)
				}
			}
		}
		return list
	}
	for d := range 2 {
		out.least[d] = common(a.least[d], b.least[d], 1)
		out.most[d] = common(a.most[d], b.most[d], -1)
	}
	return out
}

// misses reports whether the place at is surely outside of the area.
func (a area) misses(at [2]loop.Lin) bool {
	for d, l := range at {
		before := func(m loop.Lin) bool { d := l.Plus(m.Times(-1)); return d.Known() && d.Const < 0 }
		behind := func(m loop.Lin) bool { d := l.Plus(m.Times(-1)); return d.Known() && d.Const >= 0 }
		if slices.ContainsFunc(a.least[d], before) || slices.ContainsFunc(a.most[d], behind) {
			return true
		}
	}
	return a.none
}

// reads notes that v is element (i, j) of the matrix, loaded as operand number k. t is the matrix's
// type.
func (o *overwrites) reads(t types.Type, v loop.Val, k int, i, j loop.Lin) {
	at, size := [2]loop.Lin{i, j}, [2]int{t.Rows, t.Cols}
	for d := range at {
		if size[d] == 1 && at[d].Known() {
			at[d] = o.at[d]
		}
	}
	if at[0].Equal(o.at[0]) && at[1].Equal(o.at[1]) {
		o.own[v] = k
		return
	}
	o.others, o.foreign = append(o.others, [2]loop.Lin{i, j}), append(o.foreign, k)
}

// changed returns where the value v of the nest's body may differ from the old element. over is the
// operand that the result is written over. ok is false if the result must not lie in the memory of the
// old matrix.
func (x *Builder) changed(v loop.Val) (where area, over int, ok bool) {
	o := x.replaced
	checks := loop.Some(x.Nest.Body.Stmts, func(s *loop.Stmt) bool { return s.Code == loop.Check })
	over = -1
	for _, k := range o.own {
		if over >= 0 && k != over || slices.Contains(o.foreign, k) {
			return where, 0, false
		}
		over = k
	}
	if over < 0 || checks {
		return where, 0, false
	}
	sets := loop.Sets[area]{Facts: loop.FactsOf(x.Nest), None: area{none: true}, And: area.and, Or: area.or, Compared: x.compared}
	var differs func(v loop.Val) area
	differs = func(v loop.Val) (where area) {
		if _, own := o.own[v]; own {
			return sets.None
		}
		where, _ = sets.Chosen(v, differs)
		return where
	}
	return differs(v), over, true
}

// compared returns where s, a comparison of forms, has the value is.
func (x *Builder) compared(s *loop.Stmt, is bool) (out area) {
	if !slices.Contains([]loop.Code{loop.Lt, loop.Le, loop.Eq, loop.Ne}, s.Code) {
		return out
	}
	a, ok := x.Lins[s.Args[0]]
	b, fine := x.Lins[s.Args[1]]
	if ok && fine && comparable(a, b) {
		for _, l := range loop.NotNegative(s.Code, b.Plus(a.Times(-1)), is) {
			out = out.and(x.atLeast(l))
		}
	}
	return out
}

// comparable reports whether a < b follows from the sign of b - a, for numbers as small as window
// demands. It rules out sums that may wrap. A number that both forms have would cancel, so window would
// not check its size.
func comparable(a, b loop.Lin) bool {
	for _, l := range []loop.Lin{a, b} {
		if l.Const <= -farNumber || l.Const >= farNumber {
			return false
		}
		for _, t := range l.Terms {
			if t.Coef <= -farFactor || t.Coef >= farFactor || t.Sym.Kind == loop.ParamSym && a.Coef(t.Sym) != 0 && b.Coef(t.Sym) != 0 {
				return false
			}
		}
	}
	return true
}

// atLeast returns where a form is not negative: everywhere, unless it is one index and numbers.
func (x *Builder) atLeast(l loop.Lin) (out area) {
	for d, at := range x.replaced.at {
		if len(at.Terms) != 1 {
			continue
		}
		i := at.Terms[0].Sym
		rest := l.Plus(loop.Of(i.Kind, i.N).Times(-l.Coef(i)))
		if slices.ContainsFunc(rest.Terms, func(t loop.Term) bool {
			return t.Sym.Kind != loop.ParamSym || t.Sym.N < 2 || x.Operands[t.Sym.N-2].What == itsElement
		}) {
			continue
		}
		shift := loop.Num(at.Const) // place = index + shift
		switch l.Coef(i) {
		case 1:
			out.least[d] = append(out.least[d], rest.Times(-1).Plus(shift))
		case -1:
			out.most[d] = append(out.most[d], rest.Plus(shift).Plus(loop.Num(1)))
		}
	}
	return out
}

// byRegister returns l with the registers of scalar operands in place of their parameter numbers.
func (x *Builder) byRegister(l loop.Lin) loop.Lin {
	out := loop.Num(l.Const)
	for _, t := range l.Terms {
		if t.Sym.Kind == loop.ParamSym && t.Sym.N >= 2 {
			t.Sym.N = x.Operands[t.Sym.N-2].Register
		}
		out = out.Plus(loop.Lin{Terms: []loop.Term{t}})
	}
	return out
}

// inPlace describes how a rectangle changes the matrix that it replaces. All forms are in terms of
// registers.
type inPlace struct {
	area                // the changed places
	reads [][2]loop.Lin // the places of other elements that it reads
	over  int           // the operand that it is written over
	fine  bool          // the rectangle alone may be written in place
}

// noteInPlace sets the inPlace of rectangle r, whose elements are v.
func (x *Builder) noteInPlace(r *SpaceRect, v loop.Val) {
	a, over, ok := x.changed(v)
	p := &inPlace{over: over, fine: ok}
	for d, from := range [2]int{r.Row, r.Col} {
		size := [2]int{r.Rows, r.Cols}[d]
		a.least[d], a.most[d] = append(a.least[d], loop.Num(int64(from))), append(a.most[d], loop.Num(int64(from+size)))
		for k := range a.least[d] {
			a.least[d][k] = x.byRegister(a.least[d][k])
		}
		for k := range a.most[d] {
			a.most[d][k] = x.byRegister(a.most[d][k])
		}
	}
	for _, at := range x.replaced.others {
		p.reads = append(p.reads, [2]loop.Lin{x.byRegister(at[0]), x.byRegister(at[1])})
	}
	p.area, r.place = a, p
}

// mayReplace reports whether a matrix, whose rectangles are in list, is written in the memory of the
// one in a register that it replaces. No rectangle may read what any of them changes, and a part must
// stay unchanged.
func mayReplace(list []SpaceRect, register int) (fine bool) {
	some := false
	for k := range list {
		r := &list[k]
		if r.Loop == nil && r.From == register && r.I == r.Row && r.J == r.Col {
			r.place, some = &inPlace{area: area{none: true}, fine: true}, true
		}
		if r.place == nil || !r.place.fine {
			return false
		}
		for d := range 2 {
			some = some || len(r.place.least[d]) > 1 || len(r.place.most[d]) > 1
		}
	}
	for _, r := range list {
		for _, other := range list {
			for _, at := range r.place.reads {
				if !other.place.misses(at) {
					return false
				}
			}
		}
	}
	return some
}

// farNumber is beyond all places. Sums of a few smaller numbers, each times less than farFactor, do not
// overflow.
const (
	farNumber = 1 << 40
	farFactor = 1 << 16
)

// window returns the first and the end of the rows, and of the columns, that change, counted within the
// rectangle. num is the registers' numbers. ok is false if they are so large that sums of them may
// wrap.
func (p *inPlace) window(num []loop.Word) (at [2][2]int, ok bool) {
	value := func(l loop.Lin) int64 {
		n := l.Const
		ok = ok && -farNumber < n && n < farNumber
		for _, t := range l.Terms {
			x := int64(num[t.Sym.N])
			ok = ok && -farNumber < x && x < farNumber && -farFactor < t.Coef && t.Coef < farFactor
			n += t.Coef * x
		}
		return n
	}
	ok = true
	for d := range 2 {
		from := value(p.least[d][len(p.least[d])-1]) // the first of the rectangle
		lo, hi := from, value(p.most[d][len(p.most[d])-1])
		for _, l := range p.least[d] {
			lo = max(lo, value(l))
		}
		for _, l := range p.most[d] {
			hi = min(hi, value(l))
		}
		at[d] = [2]int{int(lo - from), int(max(lo, hi) - from)}
	}
	return at, ok
}

// owns reports an action whose kernel writes into memory of the interpreter, if place has some for it.
func owns(a *op.Action) bool {
	return a.Def.Control == op.NoControl && a.Def.Kernel != nil && a.Type.Sized()
}

// size estimates how many elements change. Along an axis whose bounds differ by what the run tells,
// that is half of the indices.
func (p *inPlace) size() (elements float64) {
	if p.none {
		return 0
	}
	elements = 1
	for d := range 2 {
		of := func(lo, hi loop.Lin) (n float64, known bool) {
			l := hi.Plus(lo.Times(-1))
			return float64(max(0, l.Const)), l.Known()
		}
		least, most := p.least[d], p.most[d]
		n, _ := of(least[len(least)-1], most[len(most)-1]) // of the rectangle, whose bounds come last
		if all := n; len(least)+len(most) > 2 {
			n /= 2
			for _, lo := range least {
				for _, hi := range most {
					if m, known := of(lo, hi); known && m < all {
						n = min(n, m)
					}
				}
			}
		}
		elements *= n
	}
	return elements
}

// SpaceRect is a rectangle of the result, and the loop that makes it.
type SpaceRect struct {
	window.Rect
	Loop     *launch.Loop // nil: it is a copy
	Across   bool         // the loop has one index, the row, and a point makes all columns
	Operands []Operand
	// A copy is of operand from, from row i and column j on.
	From, I, J int
	// place describes a rectangle of a matrix that is written in place; nil: of another.
	place *inPlace
	// told marks the operands that are numbers in subscripts, a bit each. A launch proves them.
	told uint64
}
