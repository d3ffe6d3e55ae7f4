package amd64

// This file makes what is the same at many points once: constants, elements of operands, addresses
// of rows.

import (
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// steady splits a form that is the same in all lanes: into what all rounds of inner loops share,
// and the rest.
func (l *lowering) steady(f loop.Lin) (same, moving loop.Lin) {
	if len(l.counters)+len(l.named) == 0 {
		return f, moving
	}
	moves := func(s loop.Sym) bool {
		_, counts := l.counters[s.N]
		return counts && s.Kind == loop.IndexSym || s.Kind == loop.ValSym
	}
	if !f.Any(moves) {
		return f, moving
	}
	same.Const = f.Const
	for _, t := range f.Terms {
		if moves(t.Sym) {
			moving.Terms = append(moving.Terms, t)
		} else {
			same.Terms = append(same.Terms, t)
		}
	}
	return same, moving
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

// ahead adds the part of a displacement that the rounds of the innermost loop share, of rows and cols,
// to address v in front of that loop. It returns the new address and the part that depends on the
// round.
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

// counterIndexes reports whether the displacement from an address is the index of the innermost loop,
// in elements of a row. The operand in memory then uses the register of the index.
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

func (x *sum) same(y *sum) bool {
	return x.address == y.address && x.offset == y.offset && x.arg == y.arg && x.size == y.size && x.row.Equal(y.row) && x.col.Equal(y.col)
}

// recent is recentOf for a general register.
func (l *lowering) recent(x sum, f func() step) virt { return l.recentOf(generalClass, x, f) }

// recentOf returns the value of x. f makes it, unless it has been made since the last label: all ways
// to here make it, and no counter has changed.
func (l *lowering) recentOf(c class, x sum, f func() step) virt {
	for k := range l.sums {
		if y := &l.sums[k]; y.same(&x) {
			return y.v
		}
	}
	s := f()
	s.dst, s.pure = l.fresh(c), true
	x.v = l.emit(&s)
	l.sums = append(l.shop.sums.room(l.sums, 1), x)
	return x.v
}

// addRows adds the bytes of so many rows of the memory with the words at arg. It changes R9, R10 and
// R11.
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

// uniform is an element in all lanes that count, or a word of elements if e is a wider type.
func (l *lowering) uniform(p place, e types.Elem) virt {
	base, disp, moving, across := l.start(p)
	base, moving, across = l.ahead(base, p.mem, moving, across)
	at := At(0, disp)
	if l.counterIndexes(moving, across) {
		at = Indexed(0, counterReg, uint8(p.mem.elem.Size()), disp)
	} else if len(moving.Terms) > 0 || len(across.Terms) > 0 {
		base = l.moved(base, l.offset(p.mem, moving, across))
	}
	load := func(m *maker, dst Reg, r regs) { m.everywhere(e, dst, at.on(r.a)) }
	_, moving = l.steady(p.row.Plus(p.col))
	certain := l.active == l.top // a lane counts
	if certain && l.nested+l.branches == 0 && len(moving.Terms) == 0 {
		return l.once(invariant{kind: elementKind, elem: e, arg: p.mem.arg, row: p.row, col: p.col}, l.loadClass(e), func() step {
			return step{a: base, scalar: load}
		})
	}
	s := step{dst: l.fresh(l.loadClass(e)), pure: true, a: base, scalar: load}
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
		return l.once(x, l.loadClass(e), func() step {
			return step{scalar: func(m *maker, dst Reg, _ regs) { m.everywhere(e, dst, argMem(arg)) }}
		})
	}
	if v := l.find(x); v != 0 {
		return v
	}
	at := argMem(arg)
	at.Scale = uint8(e.Size())
	x.v = l.fromWord(at)
	l.made = append(l.shop.made.room(l.made, 1), x)
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
	b.steps, b.sums = append(l.shop.steps.room(b.steps, 1), s), append(l.shop.sums.room(b.sums, 1), x)
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

// lin is a form in every lane.
func (l *lowering) lin(f loop.Lin, o loop.Origin) virt {
	f = l.form(f)
	same := loop.Lin{Const: f.Const}
	var sum virt
	add := func(v virt) {
		if sum == 0 {
			sum = v
			return
		}
		sum = l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: sum, b: v, dst: l.fresh(vectorClass)})
	}
	for k, t := range f.Terms {
		one := loop.Lin{Terms: f.Terms[k : k+1 : k+1]}
		if !l.varies(one) {
			same = same.Plus(one)
			continue
		}
		x := inRegister(types.I64, 0)
		if t.Sym.Kind == loop.ValSym {
			x = l.frame.vals[t.Sym.N]
		} else {
			x.v = l.indexVector(t.Sym.N, o)
		}
		switch {
		case t.Coef > 1 && t.Coef&(t.Coef-1) == 0:
			x.v = l.emit(&step{Inst: Inst{Op: VPSLLQ, Len: l.length, Imm: uint8(bits.TrailingZeros64(uint64(t.Coef)))}, b: l.vector(x), dst: l.fresh(vectorClass)})
			x.konst = false
		case t.Coef != 1:
			x = inRegister(types.I64, l.binary(VPMULLQ, types.I64, inRegister(types.I64, l.vector(x)), constantOf(types.I64, loop.Word(t.Coef))))
		}
		add(l.vector(x))
	}
	if len(same.Terms) == 0 && sum != 0 {
		if same.Const != 0 {
			sum = l.binary(VPADDQ, types.I64, inRegister(types.I64, sum), constantOf(types.I64, loop.Word(same.Const)))
		}
		return sum
	}
	add(l.formVector(same))
	return sum
}

// indexVector is an index as i64.
func (l *lowering) indexVector(name int, o loop.Origin) virt {
	if v, ok := l.frame.inner[name]; ok {
		out := l.fresh(vectorClass) // the counter changes
		l.move(out, inRegister(types.I64, v), 0, true)
		return out
	}
	if c, ok := l.counters[name]; ok && l.frame.nest {
		return l.emit(&step{Inst: Inst{Op: VBROADCASTSD, Len: l.length, InMem: true, Mem: c.mem()}, dst: l.fresh(vectorClass)})
	}
	switch name {
	case l.lanes:
		return l.numberedLanes(l.broadcastG(func(m *maker) { m.Mov(RAX, laneReg) }))
	case l.rows:
		return l.formVector(l.ofRow(loop.Of(loop.IndexSym, name)))
	}
	unsupported(o, "index %s", l.nest.Names[name])
	return 0
}

// numberedLanes is first, and in each lane of the part how many lanes come before it.
func (l *lowering) numberedLanes(first virt) virt {
	at := l.asm.Const(counting64[l.number*l.target.lanes:][:l.target.lanes]...)
	return l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length, InMem: true, Mem: at}, a: first, dst: l.fresh(vectorClass)})
}

// counting64 counts the lanes of all parts.
var counting64 = func() (list [8 * maxParts]uint64) {
	for k := range list {
		list[k] = uint64(k)
	}
	return list
}()
