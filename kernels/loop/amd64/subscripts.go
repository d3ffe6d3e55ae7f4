package amd64

// This file finds the bounds of subscripts. A subscript in x[max(i, 0)] is never negative, so no code
// counts it from the end or checks it for that.
//
// The file also loads elements at places that go up by one from lane to lane in most vectors, not in
// all:
//
//	x[max(i - k, 0)]     x[(i + k) % n]     x[ifelse(i < m, i, i - m)]
//
// Only the run tells the few vectors in which a bound, the end of a circle or a choice lies. If the
// places of a vector follow each other, one instruction loads it. A gather takes ten times as long.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// spanOf returns the span of the integer o.
func (l *lowering) spanOf(o operand) span {
	switch f := o.known(); {
	case o.konst:
		return span{int64(o.word), int64(o.word)}
	case f.span != nil:
		return *f.span
	}
	return span{math.MinInt64, math.MaxInt64}
}

// bounded returns the span of the result of s, an operation on integers, or nil if nothing is known.
func (l *lowering) bounded(s *loop.Stmt, in []operand) *span {
	last := len(in) - 1
	a, b := l.spanOf(in[max(0, last-1)]), l.spanOf(in[last])
	switch s.Code {
	case loop.Min:
		return &span{min(a.least, b.least), min(a.most, b.most)}
	case loop.Max:
		return &span{max(a.least, b.least), max(a.most, b.most)}
	case loop.Select:
		return &span{min(a.least, b.least), max(a.most, b.most)}
	case loop.Mod:
		if b.least > 0 {
			return &span{0, b.most - 1}
		}
	case loop.Add:
		if a.small() && b.small() {
			return &span{a.least + b.least, a.most + b.most}
		}
	case loop.Sub:
		if a.small() && b.small() {
			return &span{a.least - b.most, a.most - b.least}
		}
	}
	return nil
}

// small reports that no sum of two such integers wraps.
func (s span) small() bool { return s.least >= math.MinInt64/2 && s.most <= math.MaxInt64/2 }

// told returns o, the bool that s makes of in, with what it tells of integers.
func (l *lowering) told(s *loop.Stmt, in []operand, o operand) operand {
	t := telling{frame: l.frame}
	of := func(k int) [2][]bound {
		if x := in[k].known().tells; x != nil && x.frame == l.frame {
			return x.where
		}
		return [2][]bound{}
	}
	switch {
	case o.konst:
		return o
	case (s.Code == loop.Lt || s.Code == loop.Le) && in[0].elem == types.I64:
		a, b := l.spanOf(in[0]), l.spanOf(in[1])
		// A bound past the integers wraps and gives the span of all.
		if !in[1].konst {
			if !in[0].konst {
				return o
			}
			past := int64(1) // k < x, and x <= k where it is false
			if s.Code == loop.Le {
				past = 0
			}
			t.where[1] = []bound{{s.Args[1], span{a.least + past, math.MaxInt64}}}
			t.where[0] = []bound{{s.Args[1], span{math.MinInt64, a.least + past - 1}}}
			break
		}
		past := int64(0) // x < k, and k <= x where it is false
		if s.Code == loop.Le {
			past = 1
		}
		t.where[1] = []bound{{s.Args[0], span{math.MinInt64, b.least + past - 1}}}
		t.where[0] = []bound{{s.Args[0], span{b.least + past, math.MaxInt64}}}
	case s.Code == loop.Not:
		x := of(0)
		t.where = [2][]bound{x[1], x[0]}
	case s.Code == loop.And:
		t.where[1] = slices.Concat(of(0)[1], of(1)[1])
	case s.Code == loop.Or:
		t.where[0] = slices.Concat(of(0)[0], of(1)[0])
	}
	if len(t.where[0])+len(t.where[1]) == 0 {
		return o
	}
	f := *o.known()
	f.tells = &t
	return l.knows(o, f)
}

// narrowed lowers what write does where the condition of s has the value is: integers have the spans
// that the condition tells there, in all parts.
func (l *lowering) narrowed(s *loop.Stmt, is int, write func()) {
	var before [squareRows][]operand
	spans := func(k int) []bound {
		if t := l.args(s)[0].known().tells; t != nil && t.frame == l.frame {
			return t.where[is]
		}
		return nil
	}
	l.each(func(k int) {
		for _, b := range spans(k) {
			o := l.frame.vals[b.v]
			before[k] = append(before[k], o)
			now := l.spanOf(o)
			now = span{max(now.least, b.span.least), min(now.most, b.span.most)}
			if f := *o.known(); !o.konst && now.least <= now.most {
				f.span = &now
				l.frame.vals[b.v] = l.knows(o, f)
			}
		}
	})
	write()
	l.each(func(k int) {
		list := spans(k)
		for i := len(list) - 1; i >= 0; i-- {
			l.frame.vals[list[i].v] = before[k][i]
		}
	})
}

// decided returns a comparison of integers as a constant if their spans tell it.
func (l *lowering) decided(s *loop.Stmt, in []operand) (o operand, ok bool) {
	if s.Code != loop.Lt && s.Code != loop.Le {
		return o, false
	}
	a, b := l.spanOf(in[0]), l.spanOf(in[1])
	is := a.most < b.least || s.Code == loop.Le && a.most == b.least
	not := a.least > b.most || s.Code == loop.Lt && a.least == b.most
	if is {
		o.word = 1
	}
	o.konst = true
	return o, is || not
}

// climbs reports that the integer o probably goes up by one from lane to lane. A wrong guess costs time
// alone, because the code compares all places.
func (l *lowering) climbs(o operand) bool {
	f := o.known()
	return f.climbs || f.form != nil && l.lanes >= 0 && f.form.Coef(l.lane()) == 1
}

// subscript returns o, the integer that s makes of in, with what is known of it as a subscript.
func (l *lowering) subscript(s *loop.Stmt, in []operand, o operand) operand {
	if in[len(in)-1].elem != types.I64 || o.konst || o.known().span != nil { // or it is one of in
		return o
	}
	is := false
	switch last := len(in) - 1; s.Code {
	case loop.Add:
		is = l.climbs(in[0]) != l.climbs(in[1])
	case loop.Sub, loop.Mod:
		is = l.climbs(in[0]) && !l.climbs(in[1])
	case loop.Min, loop.Max, loop.Select:
		is = l.climbs(in[last-1]) || l.climbs(in[last])
	}
	f, span := *o.known(), l.bounded(s, in)
	if is || span != nil {
		f.climbs, f.span = is, span
		o = l.knows(o, f)
	}
	return o
}

// rising reports whether the elements of the lanes probably follow each other in a row. col is their
// place in it. parts is how many units of col an element has: 1, or 8 if col counts bytes.
func (l *lowering) rising(row, col loop.Lin, parts int64) bool {
	if l.alike() || l.length.Bytes() != 8*l.target.lanes || l.varies(row) {
		return false
	}
	climbing := 0
	for _, t := range col.Terms {
		switch {
		case t.Sym == l.lane():
			return false // they lie apart
		case t.Sym.Kind == loop.ValSym && l.climbs(l.frame.vals[t.Sym.N]):
			if climbing++; t.Coef != parts {
				return false
			}
		}
	}
	return climbing == 1
}

// loadRising loads an element of 8 bytes a lane. at holds their distances in bytes from the address
// that base leaves in RAX.
func (l *lowering) loadRising(e types.Elem, at virt, base func(m *maker)) virt {
	lanes := l.target.lanes
	var steps []uint64
	for k := range lanes {
		steps = append(steps, uint64(8*k))
	}
	follow := l.emit(&step{dst: l.fresh(vectorClass), a: at, pure: true, scalar: func(m *maker, dst Reg, r regs) {
		m.Emit(Inst{Op: VPBROADCASTQ, Len: m.length, Dst: dst, B: r.a}) // the first lane
		m.Emit(Inst{Op: VPADDQ, Len: m.length, Dst: dst, A: dst, InMem: true, Mem: m.Const(steps...)})
	}})
	same := l.compare(VPCMPQ, types.I64, inRegister(types.I64, at), inRegister(types.I64, follow), signed[loop.Eq])
	return l.emit(&step{dst: l.fresh(vectorClass), a: at, c: same, mask: l.active, pure: true, scalar: func(m *maker, dst Reg, r regs) {
		apart, done := m.Label(), m.Label()
		m.vec.bits(m, r.c)
		m.ArithImm(CmpG, RAX, 1<<lanes-1)
		m.Jump(NotEqual, apart)
		base(m)
		m.Emit(Inst{Op: VMOVQStore, Dst: R9, A: r.a})
		m.vec.load(m, e, dst, r.mask, Indexed(RAX, R9, 1, 0))
		m.Goto(done)
		m.Bind(apart)
		base(m)
		m.vec.gather(m, e, dst, r.mask, Indexed(RAX, r.a, 1, 0))
		m.Bind(done)
	}})
}
