package amd64

// This file appends single steps on whole vectors to a program. All files that lower statements use it.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

// cut is memory for n operands.
func (l *lowering) cut(n int) []operand { return l.shop.operands.zeros(n) }

// emitted completes the last step and returns its result.
func (l *lowering) emitted() virt {
	s := &l.steps[len(l.steps)-1]
	if s.scalar != nil && s.dst == 0 && (!s.operands() || s.enters || s.leaves) { // perhaps a label
		l.sums = l.sums[:0]
	}
	if s.dst != 0 {
		depth := l.depthNow()
		if l.weight.divides > 0 && s.movable() { // quotient.go alone reads the depth
			depth = max(l.values[s.a].depth, l.values[s.b].depth, l.values[s.c].depth, l.values[s.mask].depth)
		}
		l.makes(s.dst, depth)
	}
	s.part = int32(l.part.number)
	return s.dst
}

// vector is o in a register.
func (l *lowering) vector(o operand) virt {
	if !o.konst {
		return o.v
	}
	if o.elem != types.Bool {
		return l.constantVector(o.elem, o.word)
	}
	op := KXORW
	if o.word != 0 {
		if l.halved() {
			return l.firstOnes(l.target.lanes)
		}
		op = KXNORW
	}
	return l.emit(&step{Inst: Inst{Op: op, A: K(0), B: K(0)}, dst: l.fresh(maskClass)})
}

func (l *lowering) set(v loop.Val, o operand) {
	o.elem = l.frame.types[v]
	l.frame.vals[v] = o
	if l.named != nil {
		l.keepWord(v, o)
	}
}

// emit appends a step.
func (l *lowering) emit(s *step) virt {
	*l.appended() = *s
	return l.emitted()
}

// vlen is the length of vectors of e.
func (l *lowering) vlen(e types.Elem) Len {
	if e == types.F32 {
		return l.single()
	}
	return l.length
}

func (l *lowering) classOf(e types.Elem) class {
	if e == types.Bool {
		return maskClass
	}
	return vectorClass
}

// loadClass is the class of a register that a load of e makes.
func (l *lowering) loadClass(e types.Elem) class {
	if l.bytewise() {
		return vectorClass
	}
	return l.classOf(e)
}

// constant is the memory operand of a constant in every lane.
func (l *lowering) constant(e types.Elem, w loop.Word) Mem {
	if e == types.F32 {
		w |= w << 32
	}
	m := l.asm.Const(w)
	m.Broadcast = true
	return m
}

// binary is dst = a op b on vectors of e.
func (l *lowering) binary(op Op, e types.Elem, a, b operand) virt {
	return l.pairwise(op, l.vlen(e), l.vector(a), l.vector(b), vectorClass)
}

// pairwise emits an instruction on a and b whose result is a register of class c.
func (l *lowering) pairwise(op Op, length Len, a, b virt, c class) virt {
	s := l.next()
	s.Op, s.Len, s.a, s.b, s.dst = op, length, a, b, l.fresh(c)
	return l.emitted()
}

// unary is dst = op a.
func (l *lowering) unary(op Op, e types.Elem, a operand, imm uint8) virt {
	v := l.vector(a)
	s := l.next()
	s.Op, s.Len, s.Imm, s.b, s.dst = op, l.vlen(e), imm, v, l.fresh(vectorClass)
	return l.emitted()
}

// mask is dst = a op b on masks.
func (l *lowering) mask(op Op, a, b virt) virt {
	return l.pairwise(op, 0, a, b, maskClass)
}

// under is c in the lanes that count.
func (l *lowering) under(c virt) virt {
	if l.active == 0 {
		return c
	}
	return l.mask(KANDW, c, l.active)
}

// merged is a in the lanes of c, b in the others.
func (l *lowering) merged(c virt, a, b operand) virt {
	e := a.elem
	if e == types.Bool {
		yes := l.mask(KANDW, c, l.vector(a))
		return l.mask(KORW, yes, l.mask(KANDNW, c, l.vector(b)))
	}
	op := pair{VBLENDMPD, VBLENDMPS}.of(e)
	return l.emit(&step{Inst: Inst{Op: op, Len: l.vlen(e)}, a: l.vector(b), mask: c, b: l.vector(a), dst: l.fresh(vectorClass)})
}

// move sets to in the lanes of mask, or in all.
func (l *lowering) move(to virt, o operand, mask virt, everywhere bool) {
	if o.elem == types.Bool {
		if everywhere {
			v := l.vector(o)
			l.emit(&step{Inst: Inst{Op: KMOVW}, b: v, dst: to, effect: true})
			return
		}
		v := l.mask(KANDW, mask, l.vector(o))
		rest := l.mask(KANDNW, mask, to)
		l.emit(&step{Inst: Inst{Op: KORW}, a: v, b: rest, dst: to, keeps: true, effect: true})
		return
	}
	s := step{Inst: Inst{Op: pair{VMOVAPD, VMOVUPS}.of(o.elem), Len: l.vlen(o.elem)}, b: l.vector(o), dst: to, effect: true}
	if !everywhere {
		s.mask, s.keeps = mask, true
	}
	l.emit(&s)
}

// jumpIfNone leaves where no lane of any of the masks counts.
func (l *lowering) jumpIfNone(to Label, masks ...virt) {
	for ; len(masks) > 1; masks = append(masks[2:len(masks):len(masks)], l.mask(KORW, masks[0], masks[1])) {
	}
	l.emit(&step{a: masks[0], jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.Jump(Equal, to)
	}})
}

func unsupported(o loop.Origin, format string, args ...any) {
	panic(&Unsupported{fmt.Sprintf(format, args...), o})
}

// Unsupported says why a nest has no machine code; the caller interprets it.
type Unsupported struct {
	What string
	loop.Origin
}

func (u *Unsupported) Error() string { return "no machine code for " + u.What }

// constantOf returns a constant of type e. inRegister returns a value of type e in a register.
func constantOf(e types.Elem, w loop.Word) operand {
	return operand{traits: traits{elem: e, konst: true}, word: w}
}

func inRegister(e types.Elem, v virt) operand { return operand{traits: traits{elem: e}, v: v} }

// nothing is the facts of an operand without such properties.
var nothing facts

// known returns the facts of o. The caller does not change them.
func (o *operand) known() *facts {
	if o.facts == nil {
		return &nothing
	}
	return o.facts
}

// knows returns o with the facts f instead of its own, or o if f is empty.
func (l *lowering) knows(o operand, f facts) operand {
	if f != nothing {
		o.facts = &append(l.shop.facts.list(1), f)[0]
	}
	return o
}

// formed returns o with a linear form as one of its facts. If form is nil, it returns o.
func (l *lowering) formed(o operand, form *loop.Lin) operand {
	if form == nil {
		return o
	}
	f := *o.known()
	f.form = form
	return l.knows(o, f)
}

func (l *lowering) args(s *loop.Stmt) []operand {
	vals, out := l.frame.vals, l.shop.operands.list(len(s.Args))[:len(s.Args)]
	for k, v := range s.Args {
		out[k] = vals[v]
	}
	return out
}

// halved reports vectors of fewer lanes than a mask has bits. The other bits are 0, because
// instructions that test masks test all.
func (l *lowering) halved() bool { return l.embeds && l.target.lanes < squareRows }

// not is the other lanes.
func (l *lowering) not(c virt) virt {
	if l.halved() {
		return l.mask(KANDNW, c, l.firstOnes(l.target.lanes))
	}
	return l.emit(&step{Inst: Inst{Op: KNOTW}, b: c, dst: l.fresh(maskClass)})
}

// keepWord stores a value in its word, if it has one.
func (l *lowering) keepWord(v loop.Val, o operand) {
	w := l.named[v]
	if w == nil || !l.frame.nest {
		return
	}
	w.made, w.inner = l.alike(), l.inner
	if form := o.known().form; w.made && !o.konst && (form == nil || l.counted(*form)) {
		l.emit(&step{a: o.v, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			m.storeOne(types.I64, r.a, At(scratchReg, w.at))
		}})
	}
}

// firstOnes is the mask of so many lanes from the first on.
func (l *lowering) firstOnes(n int) virt {
	return l.once(invariant{kind: maskKind, row: loop.Num(int64(n))}, maskClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			m.MovImm(RAX, int64(n))
			m.vec.first(m, dst)
		}}
	})
}

// turn transposes a square of 64-bit words: pairs of rows are interleaved, then pairs of those,
// then halves.
func (l *lowering) turn(rows [squareRows]virt) (cols [squareRows]virt) {
	mix := func(op Op, imm uint8, a, b virt) virt { // 0 is any vector
		if b == 0 {
			b = a
		}
		if a == 0 {
			return 0
		}
		return l.emit(&step{Inst: Inst{Op: op, Len: l.length, Imm: imm}, a: a, b: b, dst: l.fresh(vectorClass)})
	}
	const even, odd = 0x88, 0xdd // quarters 0 and 2, or 1 and 3, of both operands
	for parity, op := range []Op{VUNPCKLPD, VUNPCKHPD} {
		if l.vexOnly() {
			upper, lower := mix(op, 0, rows[0], rows[1]), mix(op, 0, rows[2], rows[3])
			cols[parity], cols[2+parity] = mix(VPERM2F128, 0x20, upper, lower), mix(VPERM2F128, 0x31, upper, lower)
			continue
		}
		var pairs [4]virt // of rows 2k and 2k+1: columns parity, 2+parity, 4+parity, 6+parity
		for k := range pairs {
			pairs[k] = mix(op, 0, rows[2*k], rows[2*k+1])
		}
		for k, imm := range []uint8{even, odd} { // columns 2k+parity and 4+2k+parity
			upper, lower := mix(VSHUFF64X2, imm, pairs[0], pairs[1]), mix(VSHUFF64X2, imm, pairs[2], pairs[3])
			cols[2*k+parity] = mix(VSHUFF64X2, even, upper, lower)
			cols[4+2*k+parity] = mix(VSHUFF64X2, odd, upper, lower)
		}
	}
	return cols
}

func (l *lowering) side() int { return l.target.length.Bytes() / 8 }

// constantVector is a constant in all lanes.
func (l *lowering) constantVector(e types.Elem, w loop.Word) virt {
	single, last := e == types.F32, &l.byWord[w*0x9e3779b97f4a7c15>>58]
	for k := *last; k != 0; k = l.consts[k-1].before {
		if x := &l.consts[k-1]; x.bits == w && x.single == single {
			return x.v
		}
	}
	at := l.constant(e, w)
	at.Scale = uint8(e.Size())
	v := l.fromWord(at)
	l.consts = append(l.shop.words.room(l.consts, 1), knownWord{w, single, v, *last})
	*last = int32(len(l.consts))
	return v
}

// fromWord is an element in memory that no point changes, in all lanes. Scale of the place is its
// size.
func (l *lowering) fromWord(at Mem) virt {
	v := l.fresh(vectorClass)
	at.Broadcast = true
	l.values[v].source = at
	at.Broadcast = false
	load := Inst{Op: VBROADCASTSD, Len: l.length, InMem: true, Mem: at}
	if at.Scale == 4 {
		load.Op = VBROADCASTSS
	}
	l.head = append(l.shop.steps.room(l.head, 1), step{Inst: load, dst: v})
	return v
}

// once is the value of x, made by f the first time. f returns a step without its result.
func (l *lowering) once(x invariant, c class, f func() step) virt {
	if v := l.find(x); v != 0 {
		return v
	}
	s := f()
	s.pure = s.scalar != nil
	s.dst = l.fresh(c)
	if x.v = s.dst; l.perRow(x.row) || l.perRow(x.col) {
		l.rowHead = append(l.shop.steps.room(l.rowHead, 1), s)
		l.makes(s.dst, 1)
	} else {
		l.head = append(l.shop.steps.room(l.head, 1), s)
	}
	l.made = append(l.shop.made.room(l.made, 1), x)
	return x.v
}

// find is the value of x, or 0.
func (l *lowering) find(x invariant) virt {
	for k := range l.made {
		y := &l.made[k]
		if y.col.Const != x.col.Const || y.row.Const != x.row.Const { // cheap, and true for most in a long body
			continue
		}
		if y.kind == x.kind && y.elem == x.elem && y.arg == x.arg && y.plane == x.plane && y.row.Equal(x.row) && y.col.Equal(x.col) {
			return y.v
		}
	}
	return 0
}

// makes notes that a register is made in so many loops.
func (l *lowering) makes(v virt, depth int16) {
	x := &l.values[v]
	x.depth = max(x.depth, depth)
}

// depthNow is in how many loops the statement is that is lowered.
func (l *lowering) depthNow() int16 { return int16(2 + l.nested) }

// compare is a mask of the lanes in which a comparison holds.
func (l *lowering) compare(op Op, e types.Elem, a, b operand, imm uint8) virt {
	x, y := l.vector(a), l.vector(b)
	s := l.next()
	s.Op, s.Len, s.Imm, s.a, s.b, s.dst = op, l.vlen(e), imm, x, y, l.fresh(maskClass)
	return l.emitted()
}

// gather loads from base + index*scale; base leaves its address in RAX.
func (l *lowering) gather(e types.Elem, index virt, scale uint8, base func(m *maker)) virt {
	st := step{dst: l.fresh(l.classOf(e)), a: index, mask: l.active, pure: true}
	alike := l.alike()
	st.scalar = func(m *maker, dst Reg, r regs) {
		if alike {
			m.unlessNone(r.mask, func() {
				base(m)
				m.Emit(Inst{Op: VMOVQStore, Dst: R9, A: r.a}) // the first lane
				m.Lea(RAX, Indexed(RAX, R9, scale, 0))
				m.everywhere(e, dst, At(RAX, 0))
			})
			return
		}
		base(m)
		m.vec.gather(m, e, dst, r.mask, Indexed(RAX, r.a, scale, 0))
	}
	return l.emit(&st)
}

// scatter stores v at base + index in the lanes that count; base leaves its address in RAX.
func (l *lowering) scatter(e types.Elem, v, index virt, base func(m *maker)) {
	st := step{a: v, b: index, mask: l.active}
	st.scalar = func(m *maker, _ Reg, r regs) {
		base(m)
		m.vec.scatter(m, e, r.a, r.mask, Indexed(RAX, r.b, 1, 0))
	}
	l.emit(&st)
}

// movable reports an instruction that does nothing but make its result, from registers or a
// constant. One that reads nothing is as cheap as a register that is kept.
func (s *step) movable() bool {
	return s.dst != 0 && s.scalar == nil && !s.keeps && !s.effect && (s.a != 0 || s.b != 0 || s.c != 0) && s.index == 0 &&
		(!s.InMem || s.Mem.Constant != 0)
}
