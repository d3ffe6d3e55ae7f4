package amd64

// This file makes what is the same at many points once: constants, elements of operands, addresses
// of rows.

import (
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// invariants is what has been made before the loops.
type invariants struct {
	head    []step // before the rows
	rowHead []step // at the begin of each row
	consts  []knownWord
	byWord  [64]int32 // by some bits of a constant: 1 + the place in consts of the last such one
	made    []invariant
	sums    []sum // see recent
	before  settling
	// inner is like before, for the innermost of nested loops; nil: there is none. innermost is the name of
	// the index of that loop. See ahead.
	inner     *settling
	innermost int
}

// settling is what moves in front of the inner loop that is lowered and no other holds.
type settling struct {
	at    int // where the loop begins
	steps []step
	sums  []sum
}

// knownWord is a constant, and the register with it in all lanes.
type knownWord struct {
	bits   loop.Word
	single bool // of f32
	v      virt
	before int32 // 1 + the place of the constant before it with the same bits of byWord; 0: none
}

// invariant is a value that depends on operands and the row alone.
type invariant struct {
	kind     invariantKind
	elem     types.Elem
	arg      int32 // the words of an operand or result
	row, col loop.Lin
	plane    int
	v        virt
}

type invariantKind uint8

const (
	addressKind invariantKind = iota // of an element
	elementKind                      // an element in all lanes
	formKind                         // a linear form in all lanes: row + col
	maskKind                         // the first lanes, as many as row says
)

// find is the value of x, or 0.
func (l *lowering) find(x invariant) virt {
	for k := range l.made {
		y := &l.made[k]
		if y.kind == x.kind && y.elem == x.elem && y.arg == x.arg && y.plane == x.plane && y.row.Equal(x.row) && y.col.Equal(x.col) {
			return y.v
		}
	}
	return 0
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
	l.made = append(l.made, x)
	return x.v
}

// perRow reports that a form changes with the row.
func (l *lowering) perRow(f loop.Lin) bool {
	return f.Coef(loop.Sym{Kind: loop.IndexSym, N: l.rows}) != 0
}

// steady splits a form that is the same in all lanes: into what all rounds of inner loops share,
// and the rest.
func (l *lowering) steady(f loop.Lin) (same, moving loop.Lin) {
	if len(l.counters)+len(l.named) == 0 {
		return f, moving
	}
	same.Const = f.Const
	for _, t := range f.Terms {
		if _, counts := l.counters[t.Sym.N]; counts && t.Sym.Kind == loop.IndexSym || t.Sym.Kind == loop.ValSym {
			moving.Terms = append(moving.Terms, t)
		} else {
			same.Terms = append(same.Terms, t)
		}
	}
	return same, moving
}

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
	l.values[v].source = at
	l.values[v].source.Broadcast = true
	l.head = append(l.shop.steps.room(l.head, 1), step{dst: v, pure: true, scalar: func(m *maker, dst Reg, _ regs) { m.fromSource(dst, at) }})
	return v
}

// pointer is the address of an element: of the first lane where lanes are contiguous, which is the
// lanes' index away from it. The constant part of the column is the displacement.
func (l *lowering) pointer(p place) (v virt, disp int32) {
	v, disp, moving, across := l.start(p)
	v, moving, across = l.ahead(v, p.mem, moving, across)
	if len(moving.Terms) > 0 || len(across.Terms) > 0 {
		v = l.moved(v, l.offset(p.mem, moving, across))
	}
	return v, disp
}

// ahead adds the part of a displacement that the rounds of the innermost loop share, of rows and cols, to
// address v in front of that loop. It returns the new address and the part that depends on the round.
func (l *lowering) ahead(v virt, mem memory, rows, cols loop.Lin) (at virt, moving, across loop.Lin) {
	b := l.inner
	if b == nil {
		return v, rows, cols
	}
	split := func(f loop.Lin) (around, inside loop.Lin) {
		for _, t := range f.Terms {
			if t.Sym.Kind == loop.IndexSym && t.Sym.N == l.innermost || t.Sym.Kind == loop.ValSym && l.named[loop.Val(t.Sym.N)].inner == b {
				inside.Terms = append(inside.Terms, t)
			} else {
				around.Terms = append(around.Terms, t)
			}
		}
		return around, inside
	}
	rows, moving = split(rows)
	cols, across = split(cols)
	if len(rows.Terms) == 0 && len(cols.Terms) == 0 {
		return v, moving, across
	}
	x := sum{row: rows, col: cols, size: mem.elem.Size(), arg: mem.arg, address: v}
	return b.recent(l, x, func() step {
		return step{a: v, scalar: func(m *maker, dst Reg, r regs) {
			m.MovTo(dst, r.a)
			l.advance(m, dst, mem, rows, cols)
		}}
	}), moving, across
}

// counterIndexes reports whether the displacement from an address is the index of the innermost loop, in
// elements of a row. The operand in memory then uses the register of the index.
func (l *lowering) counterIndexes(moving, across loop.Lin) bool {
	if len(l.counts) == 0 || !l.counts[0].alone || len(moving.Terms) > 0 {
		return false
	}
	return across.Equal(loop.Of(loop.IndexSym, l.counts[0].name))
}

// start is the address of an element as far as all rounds of inner loops share it, and what moves it
// there.
func (l *lowering) start(p place) (v virt, disp int32, moving, across loop.Lin) {
	size := int64(p.mem.elem.Size())
	row, moving := l.steady(p.row)
	col, across := l.steady(p.col)
	if c := col.Const * size; c == int64(int32(c)) {
		disp, col = int32(c), loop.Lin{Terms: col.Terms}
	}
	v = l.once(invariant{kind: addressKind, arg: p.mem.arg, row: row, col: col, plane: p.plane}, generalClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			m.LoadG(dst, argMem(p.mem.arg))
			if p.plane > 0 {
				m.planes(R9, p.mem.arg, p.plane)
				m.ArithG(AddG, dst, R9)
			}
			l.advance(m, dst, p.mem, row, col)
		}}
	})
	return v, disp, moving, across
}

// offset is how many bytes an address moves in the rounds of inner loops.
func (l *lowering) offset(mem memory, rows, cols loop.Lin) virt {
	x := sum{row: rows, col: cols, size: mem.elem.Size()}
	if len(rows.Terms) > 0 {
		x.arg = mem.arg
	}
	return l.recent(x, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			if len(cols.Terms) == 0 {
				l.scalarLin(m, dst, rows)
				m.IMulMem(dst, argMem(mem.arg+8))
				return
			}
			l.scalarLin(m, dst, cols)
			m.ShiftImm(ShlG, dst, uint8(bits.TrailingZeros(uint(x.size))))
			l.addRows(m, dst, mem.arg, rows)
		}}
	})
}

// moved is an address and an offset.
func (l *lowering) moved(v, offset virt) virt {
	return l.recent(sum{address: v, offset: offset}, func() step {
		return step{a: v, b: offset, scalar: func(m *maker, dst Reg, r regs) { m.Lea(dst, Indexed(r.a, r.b, 1, 0)) }}
	})
}

// sum is an offset, or an address and an offset.
type sum struct {
	row, col        loop.Lin
	size            int
	arg             int32
	address, offset virt
	v               virt
}

func (x *sum) same(y *sum) bool {
	return x.address == y.address && x.offset == y.offset && x.arg == y.arg && x.size == y.size && x.row.Equal(y.row) && x.col.Equal(y.col)
}

// recent is recentOf for a general register.
func (l *lowering) recent(x sum, f func() step) virt { return l.recentOf(generalClass, x, f) }

// recentOf returns the value of x. f makes it, unless it has been made since the last label: all ways to here
// make it, and no counter has changed.
func (l *lowering) recentOf(c class, x sum, f func() step) virt {
	for k := range l.sums {
		if y := &l.sums[k]; y.same(&x) {
			return y.v
		}
	}
	s := f()
	s.dst, s.pure = l.fresh(c), true
	x.v = l.emit(&s)
	l.sums = append(l.sums, x)
	return x.v
}

// addRows adds the bytes of so many rows of the memory with the words at arg. It changes R9, R10 and R11.
func (l *lowering) addRows(m *maker, dst Reg, arg int32, rows loop.Lin) {
	if len(rows.Terms) > 0 || rows.Const != 0 {
		l.scalarLin(m, R9, rows)
		m.IMulMem(R9, argMem(arg+8))
		m.ArithG(AddG, dst, R9)
	}
}

// advance moves an address on by rows and columns. It changes R9, R10 and R11.
func (l *lowering) advance(m *maker, dst Reg, mem memory, rows, cols loop.Lin) {
	l.addRows(m, dst, mem.arg, rows)
	if len(cols.Terms) > 0 || cols.Const != 0 {
		l.scalarLin(m, R9, cols)
		m.Lea(dst, Indexed(dst, R9, uint8(mem.elem.Size()), 0))
	}
}

// uniform is an element in all lanes that count.
func (l *lowering) uniform(p place) virt {
	e := p.mem.elem
	base, disp, moving, across := l.start(p)
	base, moving, across = l.ahead(base, p.mem, moving, across)
	at := At(0, disp)
	if l.counterIndexes(moving, across) {
		at = Indexed(0, counterReg, uint8(e.Size()), disp)
	} else if len(moving.Terms) > 0 || len(across.Terms) > 0 {
		base = l.moved(base, l.offset(p.mem, moving, across))
	}
	load := func(m *maker, dst Reg, r regs) {
		at := at
		at.Base = r.a
		m.everywhere(e, dst, at)
	}
	_, moving = l.steady(p.row.Plus(p.col))
	certain := l.active == l.top // a lane counts
	if certain && l.nested+l.branches == 0 && len(moving.Terms) == 0 {
		return l.once(invariant{kind: elementKind, elem: e, arg: p.mem.arg, row: p.row, col: p.col}, l.classOf(e), func() step {
			return step{a: base, scalar: load}
		})
	}
	s := step{dst: l.fresh(l.classOf(e)), pure: true, a: base, scalar: load}
	if !certain { // it may lie outside where no lane counts
		s.mask = l.active
		s.scalar = func(m *maker, dst Reg, r regs) { m.unlessNone(r.mask, func() { load(m, dst, r) }) }
	} else if e != types.Bool {
		s.loads = l.reading(memoryRead{at: at, reg: base, size: uint8(e.Size()), all: true, len: l.vlen(e)})
	}
	return l.emit(&s)
}

// scalarOperand is a scalar operand in all lanes.
func (l *lowering) scalarOperand(e types.Elem, arg int32) virt {
	x := invariant{kind: elementKind, elem: e, arg: arg}
	if e == types.Bool {
		return l.once(x, maskClass, func() step {
			return step{scalar: func(m *maker, dst Reg, _ regs) { m.everywhere(e, dst, argMem(arg)) }}
		})
	}
	if v := l.find(x); v != 0 {
		return v
	}
	at := argMem(arg)
	at.Scale = uint8(e.Size())
	x.v = l.fromWord(at)
	l.made = append(l.made, x)
	return x.v
}

// settled is the value of x, which no inner loop changes: made by f in front of them. Outside of
// loops it is recent.
func (l *lowering) settled(x sum, f func() step) virt {
	b := &l.before
	if b.at == 0 {
		return l.recent(x, f)
	}
	return b.recent(l, x, f)
}

// recent returns the value of x. If the loop has none yet, f makes it in front of the loop.
func (b *settling) recent(l *lowering, x sum, f func() step) virt {
	for k := range b.sums {
		if y := &b.sums[k]; y.same(&x) {
			return y.v
		}
	}
	s := f()
	s.dst, s.pure, s.part = l.fresh(generalClass), true, int32(l.number)
	x.v = s.dst
	b.steps, b.sums = append(b.steps, s), append(b.sums, x)
	return x.v
}

// settle lowers an inner loop, and what moves in front of it.
func (l *lowering) settle(write func()) {
	if l.nested > 0 {
		write()
		return
	}
	l.before = settling{at: len(l.steps)}
	write()
	b := l.before
	l.steps = slices.Insert(l.shop.steps.room(l.steps, len(b.steps)), b.at, b.steps...)
	l.before = settling{}
}

// everywhere loads an element into all lanes.
func (m *maker) everywhere(e types.Elem, dst Reg, at Mem) {
	switch e {
	case types.Bool:
		m.LoadG8(RAX, at)
		m.vec.truth(m, dst)
	case types.F32:
		m.Emit(Inst{Op: VBROADCASTSS, Len: m.single(), Dst: dst, InMem: true, Mem: at})
	default:
		m.Emit(Inst{Op: VBROADCASTSD, Len: m.length, Dst: dst, InMem: true, Mem: at})
	}
}

// formVector is a form that is the same in all lanes, as a vector.
func (l *lowering) formVector(f loop.Lin) virt {
	if len(f.Terms) == 0 {
		return l.constantVector(types.I64, loop.Word(f.Const))
	}
	if _, moving := l.steady(f); len(moving.Terms) > 0 {
		return l.broadcastG(func(m *maker) { l.scalarLin(m, RAX, f) })
	}
	return l.once(invariant{kind: formKind, row: f}, vectorClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			l.scalarLin(m, RAX, f)
			m.vec.splat(m, dst)
		}}
	})
}
