package amd64

// This file lowers a nest to a program: the points along one index of the space are the lanes of
// vectors.

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

// Words of the block of arguments, each of 8 bytes. The memory of operand or result k begins at
// argMemory + k*memoryWords, operands first: address, bytes from row to row, rows, columns; of a
// scalar the word itself. Memory of a reduced result holds the states of its elements (see
// Code.States). The caller fills it with State.Empty, and every call adds to it. Word k of all elements
// is a matrix of 8-byte words; these matrices follow one another in memory. Windows of a nest with an
// ordered state are evaluated in the order of their rows.
const (
	argRow      = 0 // the window: rows argRow to argRowEnd-1, lanes argLane to argLaneEnd-1
	argRowEnd   = 1
	argLane     = 2
	argLaneEnd  = 3
	argScratch  = 4 // the address of scratch memory, aligned to 64 bytes
	argFlags    = 5 // bit 0: a check failed, and the window is to be evaluated again in order
	argFuel     = 6 // the code returns when it is used up; a round of the cheapest inner loop takes 1, others more
	argResume   = 7 // 0: the window is to be begun, or has been ended; else where it goes on
	argMemory   = 8
	memoryWords = 4
)

// operand is a value of the body while it is lowered: a constant, or a virtual register.
type operand struct {
	traits
	v     virt
	word  loop.Word
	facts *facts // nil: nothing is known. See known
}

// traits is a struct of its own because the Go compiler keeps structs of up to four fields in registers. It
// copies others by wide loads, which wait for the narrow stores before them.
type traits struct {
	elem   types.Elem
	konst  bool
	plus   bool // of floats: it is not -0
	summed bool // of floats: a sum, a difference or a product, so it is not a signalling nan
	rounds bool // it is carried from round to round, or from point to point
}

// constantOf returns a constant of type e. inRegister returns a value of type e in a register.
func constantOf(e types.Elem, w loop.Word) operand {
	return operand{traits: traits{elem: e, konst: true}, word: w}
}
func inRegister(e types.Elem, v virt) operand { return operand{traits: traits{elem: e}, v: v} }

// facts has properties that few operands have. Operands are copied often, so they hold only its address.
type facts struct {
	form   *loop.Lin // of i64: the linear form that it is known to be, or nil
	negate virt      // of f64: the value whose negation it is
	less   [2]virt   // of a comparison of floats: those of which the first is less; 0: it is another
	differ [4]virt   // of i64: the values of which it is a^b | c^d; the last two may be 0
	twice  virt      // of i64: the value that was shifted left by 1; of bool: the same, that it is 0
	two    twoWords  // of a result of selects between two constants
}

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

	part             // the vectors that are lowered now
	parts     []part // all that are lowered together
	square    bool   // the parts are rows: see squares
	besides   map[*loop.Stmt]*beside
	counts    []*counting      // of the innermost loop, by part
	asides    int              // blocks that stand aside, so far
	isAside   bool             // the block that is lowered is one, or in one
	together  int              // how many vectors are lowered together, but for the last ones of a row
	counters  map[int]counter  // of the indices of inner loops that are the same in all lanes, by name
	inMemory  map[counter]bool // counters that an instruction reads from memory
	locals    []local
	named     map[loop.Val]*namedWord // of values that subscripts name: see point.go
	alongBody map[*loop.Block]bool    // bodies of loops whose rounds are lanes: see along.go
	branches  int                     // how many blocks that perhaps do not run the statement is in
	filled    []bool                  // by local: the nest of one point begins by writing all its elements
	// localsEnd is the offset of what follows the locals of a constant size in scratch memory.
	localsEnd int
	top       virt // the mask of the lanes of the window, or 0: all
	nested    int  // how many inner loops the statement is in
	roots     bool // roots of f64 are computed by multiply-adds

	invariants
	words   []loop.Word // of constants that are folded
	divided []divided   // divisions by constants before the statement, in its block and those around it

	levels     int                         // of exact sums in results
	states     map[int]*loop.State         // of reduced results
	stateOf    map[int]types.Elem          // what contributes to them
	reductions map[contribution]*reduction // whose states are in registers
	reduced    []*reduction                // the same, in order
	keyed      map[int]*keyedTable         // of the results that are contributed to by key

	costly []costly // products and quotients before the statement, in its block and those around it
}

// frame is the values of one body: of the nest or of a function.
type frame struct {
	vals   []operand
	types  []types.Elem
	tables []loop.Table
	body   *loop.Block
	nest   bool         // not of a function
	inner  map[int]virt // the indices of inner loops that are counted in every lane
	read   []int        // of body: see reads
}

func unsupported(o loop.Origin, format string, args ...any) {
	panic(&Unsupported{fmt.Sprintf(format, args...), o})
}

// emit appends a step.
func (l *lowering) emit(s *step) virt {
	*l.next() = *s
	return l.emitted()
}

// emitted completes the last step and returns its result.
func (l *lowering) emitted() virt {
	s := &l.steps[len(l.steps)-1]
	if s.scalar != nil && s.dst == 0 && (!s.operands() || s.enters || s.leaves) { // perhaps a label
		l.sums = l.sums[:0]
	}
	if s.dst != 0 {
		depth := l.depthNow()
		if s.movable() {
			depth = max(l.values[s.a].depth, l.values[s.b].depth, l.values[s.c].depth, l.values[s.mask].depth)
		}
		l.makes(s.dst, depth)
	}
	s.part = int32(l.part.number)
	return s.dst
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

// block lowers the statements of a block that perhaps does not run, or runs again with other values.
func (l *lowering) block(b *loop.Block) {
	divided, costly := len(l.divided), len(l.costly)
	l.statements(b)
	l.divided, l.costly = l.divided[:divided], l.costly[:costly]
}

func (l *lowering) statements(b *loop.Block) {
	for i := range b.Stmts {
		l.stmt(&b.Stmts[i])
	}
}

func (l *lowering) args(s *loop.Stmt) []operand {
	out := l.shop.operands.list(len(s.Args))
	for _, v := range s.Args {
		out = append(out, l.frame.vals[v])
	}
	return out
}

// cut is memory for n operands.
func (l *lowering) cut(n int) []operand { return l.shop.operands.zeros(n) }

func (l *lowering) set(v loop.Val, o operand) {
	o.elem = l.frame.types[v]
	l.frame.vals[v] = o
	l.keepWord(v, o)
}

func (l *lowering) stmt(s *loop.Stmt) {
	switch s.Code {
	case loop.Apply:
		l.apply(s)
	case loop.If:
		l.branch(s)
	case loop.For:
		if l.alike() && l.along(s) {
			return
		}
		l.settle(func() { l.loop(s) })
	default:
		if g := l.besides[s]; g != nil {
			l.accessBeside(g, s)
			return
		}
		if l.square && l.turned(s) {
			return
		}
		if l.reductions[contribution{s, 0}] != nil && l.place(s).lanes {
			l.reduceHeld(s)
			return
		}
		l.each(func(int) { l.simple(s) })
	}
}

// simple lowers a statement that holds no others, for one part.
func (l *lowering) simple(s *loop.Stmt) {
	switch {
	case s.Code.IsOp():
		in := l.args(s)
		o := operand{v: l.multiple(s, in)}
		if o.v == 0 {
			o = l.operation(s, in)
			o.plus = l.frame.types[s.Dst].IsFloat() && in[0].elem == l.frame.types[s.Dst] && neverMinus(s.Code, in[0].elem, in)
			o.summed = s.Code == loop.Add || s.Code == loop.Sub || s.Code == loop.Mul
		}
		l.set(s.Dst, l.formed(o, l.affine(s, in)))
		return
	}
	switch s.Code {
	case loop.Const:
		l.set(s.Dst, operand{traits: traits{konst: true}, word: s.Imm})
	case loop.IndexOf:
		l.set(s.Dst, l.formed(operand{v: l.indexVector(int(s.Imm), s.Origin)}, l.affine(s, nil)))
	case loop.Load:
		if s.Mem.Kind == loop.LocalMem {
			l.set(s.Dst, l.loadLocal(s))
			return
		}
		l.set(s.Dst, l.formed(operand{v: l.load(s)}, l.affine(s, nil)))
	case loop.Store:
		l.store(s)
	case loop.Reduce:
		l.reduce(s)
	case loop.Look:
		l.set(s.Dst, operand{v: l.look(s, l.args(s)[0])})
	case loop.Check:
		l.check(l.args(s)[0])
	default:
		unsupported(s.Origin, "statement %d", s.Code)
	}
}

// apply lowers the body of a function in its place.
func (l *lowering) apply(s *loop.Stmt) {
	l.inline(s.Func, func() []operand { return l.args(s) }, func(out []operand) {
		for i, o := range out {
			l.set(s.Dst+loop.Val(i), o)
		}
	})
}

// inline lowers the body of a function for all parts together. in returns the arguments of a part, out takes its
// results.
func (l *lowering) inline(f *loop.Function, in func() []operand, out func([]operand)) {
	outer := make([]*frame, len(l.parts))
	l.each(func(k int) {
		args := in()
		outer[k] = l.frame
		l.frame = &frame{vals: l.cut(len(f.Types)), types: f.Types, tables: f.Tables, body: &f.Body}
		copy(l.frame.vals, args)
	})
	l.statements(&f.Body)
	l.each(func(k int) {
		list := l.cut(0)
		for _, v := range f.Body.Yield {
			list = append(list, l.frame.vals[v])
		}
		l.frame = outer[k]
		out(list)
	})
}

// call lowers the body of a function for the present part alone and returns its results.
func (l *lowering) call(f *loop.Function, args []operand) []operand {
	outer, parts := l.frame, l.parts
	inside := &frame{vals: l.cut(len(f.Types)), types: f.Types, tables: f.Tables, body: &f.Body}
	copy(inside.vals, args)
	l.frame = inside
	l.parts = []part{l.part}
	l.block(&f.Body)
	l.frame, l.parts = outer, parts
	out := l.cut(len(f.Body.Yield))
	for k, v := range f.Body.Yield {
		out[k] = inside.vals[v]
	}
	return out
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

// branch lowers an if: each block runs if some lane takes it, and its lanes alone count.
func (l *lowering) branch(s *loop.Stmt) {
	if o := l.args(s)[0]; o.konst { // of all parts: as where a function is applied to a constant
		b := s.Then
		if o.word == 0 {
			b = s.Else
		}
		l.statements(b)
		l.each(func(int) {
			for k, v := range b.Yield {
				l.set(s.Dst+loop.Val(k), l.frame.vals[v])
			}
		})
		return
	}
	if l.alike() {
		l.part = l.parts[0]
		l.jump(s)
		return
	}
	outer, yes, not := make([]virt, len(l.parts)), make([]virt, len(l.parts)), make([]virt, len(l.parts))
	l.each(func(k int) {
		c := l.vector(l.args(s)[0])
		outer[k], yes[k] = l.active, l.under(c)
		if l.active == 0 {
			not[k] = l.not(c)
		} else {
			not[k] = l.mask(KANDNW, c, l.active)
		}
		for i := range s.N {
			l.set(s.Dst+loop.Val(i), operand{v: l.fresh(l.classOf(l.frame.types[int(s.Dst)+i]))})
		}
	})
	side := func(masks []virt, b *loop.Block, first bool) {
		skip := l.asm.Label()
		if len(b.Stmts) > 0 {
			if !first || s.N == 0 { // the first block makes the results, so it always runs
				l.jumpIfNone(skip, masks...)
			}
			l.each(func(k int) { l.active = masks[k] })
		}
		write := func() {
			if len(b.Stmts) > 0 {
				l.block(b)
			}
			l.each(func(k int) {
				for i, x := range b.Yield {
					l.move(l.frame.vals[int(s.Dst)+i].v, l.frame.vals[x], masks[k], first)
				}
				l.active = outer[k]
			})
		}
		if !first && l.standsAside(b) {
			l.aside(write)
		} else {
			write()
		}
		l.bind(skip)
	}
	side(not, s.Else, true)
	side(yes, s.Then, false)
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
