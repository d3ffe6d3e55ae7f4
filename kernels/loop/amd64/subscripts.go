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
	small := min(a.least, b.least) >= -1<<31 && max(a.most, b.most) < 1<<31
	switch s.Code {
	case loop.Add:
		if small {
			return &span{a.least + b.least, a.most + b.most}
		}
	case loop.Sub:
		if small {
			return &span{a.least - b.most, a.most - b.least}
		}
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
	}
	return nil
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
