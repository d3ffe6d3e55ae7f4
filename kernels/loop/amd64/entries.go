package amd64

// This file lowers indices over the stored entries of sparse rows. Where the lanes are points, each
// has a row of its own, whose entries are gathered; a row that all lanes share is read entry by
// entry. The lanes may also be the entries of a row.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// entries is an index over entries.
type entries struct {
	kind loop.RangeKind
	of   [2]int // operands; -1: none
	// Of lanes with rows of their own: the numbers of the next entries, where the rows end, and
	// which lanes store the present entry (0: all that count). column is 0 where it has not been
	// read.
	at, end, has [2]virt
	column       virt
	// Of a row that all lanes share: the number of the entry and its end, and the column.
	shared       bool
	word, within counter
}

// isEntries reports a range over entries.
func isEntries(r loop.Range) bool { return r.Kind != loop.Steps && r.Kind != loop.Forever }

// sparseArg is the words of a sparse operand: the address of the row pointers, that of the
// addresses of columns and values, rows, columns.
func (l *lowering) sparseArg(operand int) int32 { return 8 * int32(argMemory+memoryWords*operand) }

// Words behind the second word of a sparse operand.
const (
	columnsAt = 0
	valuesAt  = 8
)

// rowPointer writes code that leaves the entries of a row, the form At, in from and to. It changes
// R10 and R11.
func (l *lowering) rowPointer(m *maker, operand int, at loop.Lin, from, to func(r Reg)) {
	l.scalarLin(m, RAX, at)
	m.LoadG(R11, argMem(l.sparseArg(operand)))
	m.LoadG(R10, Indexed(R11, RAX, 8, 0))
	from(R10)
	m.LoadG(R10, Indexed(R11, RAX, 8, 8))
	to(R10)
}

// columnName is the name under which the column of a shared entry is a symbol of linear forms.
func columnName(index int) int { return -1000 - index }

// enterEntries makes an index visible.
func (l *lowering) enterEntries(name int, e *entries) {
	if l.frame.entries == nil {
		l.frame.entries = map[int]*entries{}
	}
	l.frame.entries[name] = e
}

// entryLoop lowers a for over entries.
func (l *lowering) entryLoop(s *loop.Stmt) {
	x := s.Loop
	r := x.Index.Range
	r.At, r.BAt = l.form(r.At), l.form(r.BAt)
	e := &entries{kind: r.Kind, of: [2]int{r.A, -1}}
	if r.Kind != loop.Row {
		e.of[1] = r.B
	}
	var carried []virt
	for _, v := range x.Init {
		o := l.frame.vals[v]
		c := l.fresh(l.classOf(o.elem))
		l.move(c, o, 0, true)
		carried = append(carried, c)
	}
	outer := l.active
	top, next, end := l.asm.Label(), l.asm.Label(), l.asm.Label()
	if outer != l.top { // perhaps no lane counts
		l.jumpIfNone(end, outer)
	}
	if r.Kind == loop.Row && l.frame.nest && !l.varies(r.At) {
		e.word, e.shared = l.wordNamed(x.Index.Name)
		if e.shared {
			e.within, e.shared = l.wordNamed(columnName(x.Index.Name))
		}
	}
	left := virt(0)
	if !e.shared || breaks(&x.Body) {
		left = l.fresh(maskClass)
		if outer == 0 {
			l.move(left, operand{elem: types.Bool, konst: true, word: 1}, 0, true)
		} else {
			l.emit(step{Inst: Inst{Op: KMOVW}, b: outer, dst: left, effect: true})
		}
	}
	more := func(m *maker, c Cond, to Label) {
		m.ArithMem(CmpG, RAX, e.word.end())
		m.Jump(c, to)
	}
	if e.shared {
		l.scalar(func(m *maker) {
			l.rowPointer(m, r.A, r.At, func(r Reg) { m.StoreG(e.word.mem(), r) }, func(r Reg) { m.StoreG(e.word.end(), r) })
			m.LoadG(RAX, e.word.mem())
			more(m, GreaterEq, end)
		})
	} else {
		l.beginRows(e, r, s.Origin)
	}
	l.forgetStored(&x.Body)
	defer l.forgetStored(&x.Body)
	l.nested++
	l.emit(step{enters: true, scalar: func(m *maker, _ Reg, _ []Reg) { m.Bind(top) }})
	if left != 0 {
		l.limit(left)
	}
	if !e.shared {
		l.nextEntry(e, left, next, end)
	}
	l.enterEntries(x.Index.Name, e)
	for i, v := range carried {
		l.makes(v, l.depthNow())
		l.set(x.Carry+loop.Val(i), operand{v: v})
	}
	begin := len(l.steps)
	for i := range x.Body.Stmts {
		b := &x.Body.Stmts[i]
		if b.Code != loop.Break {
			l.stmt(b)
			continue
		}
		gone := l.mask(KANDW, l.vector(l.frame.vals[b.Args[0]]), l.active)
		l.emit(step{Inst: Inst{Op: KANDNW}, a: gone, b: left, dst: left, effect: true})
		if l.active != left {
			l.emit(step{Inst: Inst{Op: KANDNW}, a: gone, b: l.active, dst: l.active, effect: true})
		}
		l.jumpIfNone(end, left)
	}
	l.carry(s, carried, l.active, begin)
	l.scalar(func(m *maker) { m.Bind(next) })
	if !e.shared {
		l.advanceRows(e)
	}
	l.emit(step{leaves: true, scalar: func(m *maker, _ Reg, _ []Reg) {
		m.refuel()
		if e.shared {
			m.LoadG(RAX, e.word.mem())
			m.ArithImm(AddG, RAX, 1)
			m.StoreG(e.word.mem(), RAX)
			more(m, Less, top)
		} else {
			m.Goto(top)
		}
		m.Bind(end)
	}})
	l.nested--
	l.limit(outer)
	delete(l.frame.entries, x.Index.Name)
	for i, v := range carried {
		l.set(s.Dst+loop.Val(i), operand{v: v})
	}
}

// limit sets the lanes that count from now on, there being one part.
func (l *lowering) limit(mask virt) {
	l.active = mask
	l.parts[0] = l.part
}

// beginRows finds the rows of the lanes that count.
func (l *lowering) beginRows(e *entries, r loop.Range, o loop.Origin) {
	for k, operand := range e.of {
		if operand < 0 {
			continue
		}
		row := l.lin([2]loop.Lin{r.At, r.BAt}[k], o)
		arg := l.sparseArg(operand)
		for n, to := range []*virt{&e.at[k], &e.end[k]} {
			v := l.gather(types.I64, row, 8, func(m *maker) {
				m.LoadG(RAX, argMem(arg))
				if n > 0 {
					m.ArithImm(AddG, RAX, 8)
				}
			})
			*to = l.fresh(vectorClass)
			l.step64(VMOVAPD, *to, v)
		}
	}
}

// step64 is an instruction of one operand whose result is made more than once.
func (l *lowering) step64(op Op, dst, v virt) {
	l.emit(step{Inst: Inst{Op: op, Len: l.length}, b: v, dst: dst, effect: true})
}

// nextEntry limits left to the lanes that have an entry left. Of two rows it finds the lesser
// column, and which of them store it; lanes in which that is not enough sit out the round.
func (l *lowering) nextEntry(e *entries, left virt, next, end Label) {
	e.column, e.has = 0, [2]virt{}
	less := func(k int, dst virt) virt {
		s := step{Inst: Inst{Op: VPCMPQ, Len: l.length, Imm: signed[loop.Lt]}, a: e.at[k], b: e.end[k], mask: left, dst: dst, effect: dst == left}
		return l.emit(s)
	}
	if e.kind == loop.Row {
		less(0, left)
		l.jumpIfNone(end, left)
		return
	}
	some := [2]virt{less(0, l.fresh(maskClass)), less(1, l.fresh(maskClass))}
	op := KORW
	if e.kind == loop.Both {
		op = KANDW
	}
	l.emit(step{Inst: Inst{Op: op}, a: some[0], b: some[1], dst: left, effect: true})
	l.jumpIfNone(end, left)
	none := operand{elem: types.I64, konst: true, word: 1<<63 - 1}
	var columns [2]operand
	for k := range columns {
		l.active = some[k]
		columns[k] = operand{elem: types.I64, v: l.gatherColumn(e, k)}
		columns[k].v = l.merged(some[k], columns[k], none)
	}
	l.active = left
	e.column = l.binary(VPMINSQ, types.I64, columns[0], columns[1], 0)
	for k := range columns {
		e.has[k] = l.emit(step{Inst: Inst{Op: VPCMPQ, Len: l.length}, a: columns[k].v, b: e.column, mask: some[k], dst: l.fresh(maskClass)})
	}
	if e.kind == loop.Both {
		l.limit(l.fresh(maskClass))
		l.emit(step{Inst: Inst{Op: KANDW}, a: e.has[0], b: e.has[1], dst: l.active, effect: true})
		l.jumpIfNone(next, l.active)
	}
}

// advanceRows goes on in the rows that stored the entry.
func (l *lowering) advanceRows(e *entries) {
	one := l.vector(operand{elem: types.I64, konst: true, word: 1})
	for k, at := range e.at {
		if at != 0 {
			l.emit(step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: at, b: one, mask: e.has[k], dst: at, keeps: e.has[k] != 0, effect: true})
		}
	}
}

// gatherColumn is the column of the next entry of one row, in the lanes that count.
func (l *lowering) gatherColumn(e *entries, k int) virt {
	arg := l.sparseArg(e.of[k])
	return l.widened(l.gather(types.F32, e.at[k], 4, func(m *maker) {
		m.LoadG(RAX, argMem(arg+8))
		m.LoadG(RAX, At(RAX, columnsAt))
	}))
}

// widened makes 64 bits of 32, with their sign.
func (l *lowering) widened(v virt) virt {
	return l.emit(step{Inst: Inst{Op: VPMOVSXDQ, Len: l.length}, b: v, dst: l.fresh(vectorClass)})
}

// column is the column of the present entry.
func (l *lowering) column(s *loop.Stmt) operand {
	e := l.frame.entries[int(s.Imm)]
	switch {
	case e.shared:
		arg := l.sparseArg(e.of[0])
		l.scalar(func(m *maker) {
			m.LoadG(RAX, e.word.mem())
			m.LoadG(R11, argMem(arg+8))
			m.LoadG(R11, At(R11, columnsAt))
			m.LoadG32(RAX, Indexed(R11, RAX, 4, 0))
			m.StoreG(e.within.mem(), RAX)
		})
		form := loop.Of(loop.IndexSym, columnName(int(s.Imm)))
		return operand{v: l.everyLane(e.within), form: &form}
	case e.at[0] == 0: // the lanes are entries
		base, at := l.entriesAt(e.of[0], columnsAt, 4)
		return operand{v: l.widened(l.loadEntries(types.F32, base, at))}
	case e.column == 0:
		return operand{v: l.gatherColumn(e, 0)}
	}
	return operand{v: e.column}
}

// entriesAt is where the columns or values of entries lie that are lanes.
func (l *lowering) entriesAt(sparse int, which int32, size int) (base virt, at Mem) {
	arg := l.sparseArg(sparse)
	base = l.once(invariant{kind: entriesKind, arg: arg, plane: int(which)}, generalClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ []Reg) {
			m.LoadG(dst, argMem(arg+8))
			m.LoadG(dst, At(dst, which))
		}}
	})
	return base, Mem{Index: laneReg, Scale: uint8(size), Disp: int32(l.number * l.target.lanes * size)}
}

func (l *lowering) loadEntries(e types.Elem, base virt, at Mem) virt {
	st := step{dst: l.fresh(vectorClass), pure: true, uses: []virt{base}}
	if l.active != 0 {
		st.uses = append(st.uses, l.active)
	}
	st.scalar = func(m *maker, dst Reg, r []Reg) {
		at.Base = r[0]
		m.vec.load(m, e, dst, maskAt(r, 1), at)
	}
	return l.emit(st)
}

// entry is what an operand stores in the present entry, 0 where it stores none. Stored bools are
// true.
func (l *lowering) entry(s *loop.Stmt) operand {
	e := l.frame.entries[int(s.Imm)]
	elem := l.nest.Params[s.Mem.N].Elem
	zero := operand{elem: elem, konst: true}
	arg := l.sparseArg(s.Mem.N)
	base := func(m *maker) {
		m.LoadG(RAX, argMem(arg+8))
		m.LoadG(RAX, At(RAX, valuesAt))
	}
	side := func(k int) operand {
		switch {
		case e.of[k] != s.Mem.N:
			return zero
		case elem == types.Bool && e.has[k] != 0:
			return operand{elem: elem, v: e.has[k]}
		case elem == types.Bool:
			return operand{elem: elem, konst: true, word: 1}
		case e.shared:
			return operand{elem: elem, v: l.emit(step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ []Reg) {
				base(m)
				m.LoadG(R11, e.word.mem())
				m.everywhere(elem, dst, Indexed(RAX, R11, uint8(elem.Size()), 0))
			}})}
		case e.at[k] == 0: // the lanes are entries
			from, at := l.entriesAt(s.Mem.N, valuesAt, elem.Size())
			return operand{elem: elem, v: l.loadEntries(elem, from, at)}
		}
		outer := l.active
		if e.has[k] != 0 {
			l.active = e.has[k]
		}
		v := l.gather(elem, e.at[k], uint8(elem.Size()), base)
		l.active = outer
		return operand{elem: elem, v: v}
	}
	first := side(0)
	if e.of[1] != s.Mem.N {
		return first
	}
	second := side(1)
	if e.of[0] != s.Mem.N {
		return second
	}
	return operand{v: l.merged(e.has[0], first, second)}
}
