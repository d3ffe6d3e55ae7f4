package amd64

// This file lowers a nest to a program: the points along one index of the space are the lanes of vectors.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

// Unsupported says why a nest has no machine code; the caller interprets it.
type Unsupported struct {
	What string
	loop.Origin
}

func (u *Unsupported) Error() string { return "no machine code for " + u.What }

// Layout says how an operand or a result lies in memory, as far as the code depends on it.
type Layout struct {
	// Unit says that rows follow each other by one element: a column that lies in one piece.
	Unit bool
}

// Words of the block of arguments, each of 8 bytes. The memory of operand or result k begins at argMemory + k*memoryWords, operands
// first: address, bytes from row to row, rows, columns; of a scalar the word itself.
const (
	argRow      = 0 // the window: rows argRow to argRowEnd-1, lanes argLane to argLaneEnd-1
	argRowEnd   = 1
	argLane     = 2
	argLaneEnd  = 3
	argScratch  = 4 // the address of scratch memory, aligned to 64 bytes
	argFlags    = 5 // bit 0: a check failed, and the window is to be evaluated again in order
	argFuel     = 6 // how many rounds of loops, those of the window among them, the code makes before it returns
	argResume   = 7 // 0: the window is to be begun, or has been ended; else where it goes on
	argMemory   = 8
	memoryWords = 4
)

// operand is a value of the body while it is lowered: a constant, or a virtual register.
type operand struct {
	elem   types.Elem
	konst  bool
	word   loop.Word
	v      virt
	negate virt // of f64: the value whose negation it is
}

// lowering is the state of one nest.
type lowering struct {
	*target
	nest    *loop.Nest
	params  []Layout
	results []Layout
	program
	asm   *maker
	lanes int // the name of the index that the lanes count, or -1
	rows  int // the name of the other index of the space, or -1

	frame  *frame
	active virt // the mask of the lanes that count, or 0: all
	inner  map[int]virt
}

// frame is the values of one body: of the nest or of a function.
type frame struct {
	vals   []operand
	types  []types.Elem
	tables []loop.Table
}

func unsupported(o loop.Origin, format string, args ...any) {
	panic(&Unsupported{fmt.Sprintf(format, args...), o})
}

// emit appends a step.
func (l *lowering) emit(s step) virt {
	l.steps = append(l.steps, s)
	return s.dst
}

// vlen is the length of vectors of e: as many lanes as there are of 64 bits.
func (l *lowering) vlen(e types.Elem) Len {
	if e == types.F32 {
		return l.length - 1
	}
	return l.length
}

func (l *lowering) classOf(e types.Elem) class {
	if e == types.Bool {
		return maskClass
	}
	return vectorClass
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

// vector is o in a register.
func (l *lowering) vector(o operand) virt {
	if !o.konst {
		return o.v
	}
	v := l.fresh(l.classOf(o.elem))
	if o.elem == types.Bool {
		op := KXORW
		if o.word != 0 {
			op = KXNORW
		}
		l.emit(step{Inst: Inst{Op: op, A: K(0), B: K(0)}, dst: v})
		return v
	}
	m := l.constant(o.elem, o.word)
	m.Broadcast = false
	op := VBROADCASTSD
	if o.elem == types.F32 {
		op = VBROADCASTSS
	}
	l.emit(step{Inst: Inst{Op: op, Len: l.vlen(o.elem), InMem: true, Mem: m}, dst: v})
	return v
}

// second sets the last source of a step: a constant from memory, or a register.
func (l *lowering) second(s *step, o operand) {
	if o.konst && o.elem != types.Bool {
		s.InMem, s.Mem = true, l.constant(o.elem, o.word)
		return
	}
	s.b = l.vector(o)
}

// binary is dst = a op b on vectors of e.
func (l *lowering) binary(op Op, e types.Elem, a, b operand, imm uint8) virt {
	s := step{Inst: Inst{Op: op, Len: l.vlen(e), Imm: imm}, a: l.vector(a)}
	l.second(&s, b)
	s.dst = l.fresh(vectorClass)
	return l.emit(s)
}

// unary is dst = op a.
func (l *lowering) unary(op Op, e types.Elem, a operand, imm uint8) virt {
	s := step{Inst: Inst{Op: op, Len: l.vlen(e), Imm: imm}}
	l.second(&s, a)
	s.dst = l.fresh(vectorClass)
	return l.emit(s)
}

// mask is dst = a op b on masks.
func (l *lowering) mask(op Op, a, b virt) virt {
	return l.emit(step{Inst: Inst{Op: op}, a: a, b: b, dst: l.fresh(maskClass)})
}

// under is c in the lanes that count.
func (l *lowering) under(c virt) virt {
	if l.active == 0 {
		return c
	}
	return l.mask(KANDW, c, l.active)
}

// block lowers statements.
func (l *lowering) block(b *loop.Block) {
	for i := range b.Stmts {
		l.stmt(&b.Stmts[i])
	}
}

func (l *lowering) args(s *loop.Stmt) []operand {
	out := make([]operand, len(s.Args))
	for k, v := range s.Args {
		out[k] = l.frame.vals[v]
	}
	return out
}

func (l *lowering) set(v loop.Val, o operand) {
	o.elem = l.frame.types[v]
	l.frame.vals[v] = o
}

func (l *lowering) stmt(s *loop.Stmt) {
	switch {
	case s.Code.IsOp():
		l.set(s.Dst, l.operation(s, l.args(s)))
		return
	}
	switch s.Code {
	case loop.Const:
		l.set(s.Dst, operand{konst: true, word: s.Imm})
	case loop.IndexOf:
		l.set(s.Dst, operand{v: l.indexVector(int(s.Imm), s.Origin)})
	case loop.Load:
		l.set(s.Dst, operand{v: l.load(s)})
	case loop.Store:
		l.store(s)
	case loop.Look:
		l.set(s.Dst, operand{v: l.look(s, l.args(s)[0])})
	case loop.Check:
		l.check(l.args(s)[0])
	case loop.Apply:
		l.apply(s)
	case loop.If:
		l.branch(s)
	case loop.For:
		l.loop(s)
	default:
		unsupported(s.Origin, "statement %d", s.Code)
	}
}

// apply lowers the body of a function in its place.
func (l *lowering) apply(s *loop.Stmt) {
	args := l.args(s)
	outer := l.frame
	f := s.Func
	l.frame = &frame{make([]operand, len(f.Types)), f.Types, f.Tables}
	copy(l.frame.vals, args)
	l.block(&f.Body)
	out := make([]operand, len(f.Body.Yield))
	for k, v := range f.Body.Yield {
		out[k] = l.frame.vals[v]
	}
	l.frame = outer
	for k, o := range out {
		l.set(s.Dst+loop.Val(k), o)
	}
}

// merged is a in the lanes of c, b in the others.
func (l *lowering) merged(c virt, a, b operand) virt {
	e := a.elem
	if e == types.Bool {
		yes := l.mask(KANDW, c, l.vector(a))
		return l.mask(KORW, yes, l.mask(KANDNW, c, l.vector(b)))
	}
	op := VBLENDMPD
	if e == types.F32 {
		op = VBLENDMPS
	}
	s := step{Inst: Inst{Op: op, Len: l.vlen(e)}, a: l.vector(b), mask: c}
	l.second(&s, a)
	s.dst = l.fresh(vectorClass)
	return l.emit(s)
}

// branch lowers an if: each block runs if some lane takes it, and its lanes alone count.
func (l *lowering) branch(s *loop.Stmt) {
	c := l.vector(l.args(s)[0])
	outer := l.active
	yes := l.under(c)
	var not virt
	if outer == 0 {
		not = l.emit(step{Inst: Inst{Op: KNOTW}, b: c, dst: l.fresh(maskClass)})
	} else {
		not = l.mask(KANDNW, c, outer)
	}
	results := make([]virt, s.N)
	for k := range results {
		results[k] = l.fresh(l.classOf(l.frame.types[int(s.Dst)+k]))
	}
	side := func(mask virt, b *loop.Block, first bool) {
		if len(b.Stmts) > 0 {
			skip := l.asm.Label()
			if !first || len(results) == 0 { // the first block makes the results, so it always runs
				l.jumpIfNone(mask, skip)
			}
			l.active = mask
			l.block(b)
			l.yields(mask, b, results, first)
			l.emit(step{scalar: func(m *maker, _ Reg, _ []Reg) { m.Bind(skip) }})
			l.active = outer
			return
		}
		l.yields(mask, b, results, first)
	}
	side(not, s.Else, true)
	side(yes, s.Then, false)
	for k, v := range results {
		l.set(s.Dst+loop.Val(k), operand{v: v})
	}
}

// yields moves the values of a block to the results: all lanes first, then those of the mask.
func (l *lowering) yields(mask virt, b *loop.Block, results []virt, first bool) {
	for k, x := range b.Yield {
		l.move(results[k], l.frame.vals[x], mask, first)
	}
}

// move sets to in the lanes of mask, or in all.
func (l *lowering) move(to virt, o operand, mask virt, everywhere bool) {
	if o.elem == types.Bool {
		if everywhere {
			v := l.vector(o)
			l.emit(step{Inst: Inst{Op: KMOVW}, b: v, dst: to, effect: true})
			return
		}
		v := l.mask(KANDW, mask, l.vector(o))
		rest := l.mask(KANDNW, mask, to)
		l.emit(step{Inst: Inst{Op: KORW}, a: v, b: rest, dst: to, keeps: true, effect: true})
		return
	}
	op := VMOVAPD
	if o.elem == types.F32 {
		op = VMOVUPS
	}
	s := step{Inst: Inst{Op: op, Len: l.vlen(o.elem)}, b: l.vector(o), dst: to, effect: true}
	if !everywhere {
		s.mask, s.keeps = mask, true
	}
	l.emit(s)
}

// jumpIfNone leaves where no lane of the mask counts.
func (l *lowering) jumpIfNone(mask virt, to Label) {
	l.emit(step{uses: []virt{mask}, scalar: func(m *maker, _ Reg, r []Reg) {
		m.Emit(Inst{Op: KORTESTB, Dst: r[0], B: r[0]})
		m.Jump(Equal, to)
	}})
}

// check sets a flag and leaves the code if a lane that counts fails.
func (l *lowering) check(c operand) {
	not := l.emit(step{Inst: Inst{Op: KNOTW}, b: l.vector(c), dst: l.fresh(maskClass)})
	if l.active != 0 {
		not = l.mask(KANDW, not, l.active)
	}
	l.emit(step{uses: []virt{not}, scalar: func(m *maker, _ Reg, r []Reg) {
		fine := m.Label()
		m.Emit(Inst{Op: KORTESTB, Dst: r[0], B: r[0]})
		m.Jump(Equal, fine)
		m.MovImm(RAX, 1)
		m.StoreG(At(argsReg, 8*argFlags), RAX)
		m.Goto(m.leave)
		m.Bind(fine)
	}})
}

// loop lowers a for: as long as a lane has a round left, the round is made for all, and counts in these alone.
func (l *lowering) loop(s *loop.Stmt) {
	x := s.Loop
	r := x.Index.Range
	if r.Kind != loop.Steps && r.Kind != loop.Forever {
		unsupported(s.Origin, "a loop over entries")
	}
	carried := make([]virt, len(x.Init))
	for k, v := range x.Init {
		o := l.frame.vals[v]
		carried[k] = l.fresh(l.classOf(o.elem))
		l.move(carried[k], o, 0, true)
	}
	outer := l.active
	left := l.fresh(maskClass) // the lanes that have rounds left
	if outer == 0 {
		l.move(left, operand{elem: types.Bool, konst: true, word: 1}, 0, true)
	} else {
		l.emit(step{Inst: Inst{Op: KMOVW}, b: outer, dst: left, effect: true})
	}
	count := l.fresh(vectorClass)
	l.inner[x.Index.Name] = count
	defer delete(l.inner, x.Index.Name)
	if r.Kind == loop.Steps {
		l.move(count, operand{elem: types.I64, v: l.lin(r.From, s.Origin)}, 0, true)
	} else {
		l.move(count, operand{elem: types.I64, konst: true}, 0, true)
	}
	top, end := l.asm.Label(), l.asm.Label()
	l.emit(step{enters: true, scalar: func(m *maker, _ Reg, _ []Reg) { m.Bind(top) }})
	if r.Kind == loop.Steps {
		to := l.lin(r.To, s.Origin)
		less := uint8(1)
		if r.By < 0 {
			less = 6 // not less or equal
		}
		l.emit(step{Inst: Inst{Op: VPCMPQ, Len: l.length, Imm: less}, a: count, b: to, mask: left, dst: left, effect: true})
	}
	l.jumpIfNone(left, end)
	l.active = left
	for k, v := range carried {
		l.set(x.Carry+loop.Val(k), operand{v: v})
	}
	for i := range x.Body.Stmts {
		if b := &x.Body.Stmts[i]; b.Code == loop.Break {
			c := l.vector(l.args(b)[0])
			l.emit(step{Inst: Inst{Op: KANDNW}, a: c, b: left, dst: left, keeps: true, effect: true})
			l.jumpIfNone(left, end)
			continue
		}
		l.stmt(&x.Body.Stmts[i])
	}
	// All next values are read before one is changed.
	next := make([]operand, len(carried))
	for k, v := range x.Body.Yield {
		o := l.frame.vals[v]
		for _, c := range carried {
			if !o.konst && o.v == c && carried[k] != c {
				copied := l.fresh(l.classOf(o.elem))
				l.move(copied, o, 0, true)
				o.v = copied
				break
			}
		}
		next[k] = o
	}
	for k, o := range next {
		if o.konst || o.v != carried[k] {
			l.move(carried[k], o, left, false)
		}
	}
	step1 := operand{elem: types.I64, konst: true, word: loop.Word(r.By)}
	add := step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: count, dst: count, effect: true}
	l.second(&add, step1)
	l.emit(add)
	l.emit(step{scalar: func(m *maker, _ Reg, _ []Reg) { m.again(top) }})
	l.emit(step{leaves: true, scalar: func(m *maker, _ Reg, _ []Reg) { m.Bind(end) }})
	l.active = outer
	for k, v := range carried {
		// A register of its own: the carried one changes when the loop is entered again.
		out := l.fresh(l.classOf(l.frame.types[int(s.Dst)+k]))
		l.move(out, operand{elem: l.frame.types[int(s.Dst)+k], v: v}, 0, true)
		l.set(s.Dst+loop.Val(k), operand{v: out})
	}
}
