package amd64

// This file lowers what reads and writes memory.

import (
	"math"
	"math/bits"

	"flow/ir/loop"
	"flow/ir/types"
)

func (l *lowering) memory(m loop.Mem) memory {
	if m.Kind == loop.ResultMem && l.nest.Results[m.N].Class != loop.NoClass { // words of states
		cols := l.nest.Results[m.N].Cols
		return memory{types.I64, cols.Known() && cols.Const == 1, 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+m.N))}
	}
	if m.Kind == loop.ResultMem {
		return memory{l.nest.Results[m.N].Elem, l.results[m.N].Unit, 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+m.N))}
	}
	return memory{l.nest.Params[m.N].Elem, l.params[m.N].Unit, 8 * int32(argMemory+memoryWords*m.N)}
}

func (l *lowering) place(s *loop.Stmt) place {
	p := place{mem: l.memory(s.Mem)}
	p.row, p.col = l.ofRow(l.form(s.At[0])), l.ofRow(l.form(s.At[1]))
	if p.mem.unit { // rows and columns count the same elements
		p.row, p.col = loop.Lin{}, p.row.Plus(p.col)
	}
	lane := loop.Sym{Kind: loop.IndexSym, N: l.lanes}
	if l.lanes >= 0 && p.row.Coef(lane) == 0 && p.col.Coef(lane) == 1 {
		rest := p.col.Without(lane)
		if !l.varies(p.row) && !l.varies(rest) {
			p.col, p.lanes = rest, true
			return p
		}
	}
	p.gather = l.varies(p.row) || l.varies(p.col)
	return p
}

// load lowers a load: of what the lanes hold side by side, of one element for all, or of an element
// a lane.
func (l *lowering) load(s *loop.Stmt) virt {
	e := l.nest.Params[s.Mem.N].Elem
	if l.nest.Params[s.Mem.N].Kind == loop.ScalarParam {
		return l.scalarOperand(e, 8*int32(argMemory+memoryWords*s.Mem.N))
	}
	p := l.place(s)
	switch {
	case l.frame.types[s.Dst] != e:
		return l.loadWord(p, s.Origin)
	case p.lanes:
		return l.contiguous(s, p)
	case l.tiled(p):
		return l.loadTiled(p)
	case l.apart(p):
		return l.loadApart(p)
	case p.gather:
		return l.gathered(p, s.Origin)
	}
	return l.uniform(p, e)
}

// follow reports whether a load reads consecutive elements of memory as an index ascends.
func (l *lowering) follow(s *loop.Stmt, index int) bool {
	row, col := s.At[0], s.At[1]
	if l.memory(s.Mem).unit {
		row, col = loop.Lin{}, row.Plus(col)
	}
	x := loop.Sym{Kind: loop.IndexSym, N: index}
	return row.Coef(x) == 0 && col.Coef(x) == 1
}

// loadWord loads eight bools that follow each other as a word (see loop.Packed).
func (l *lowering) loadWord(p place, o loop.Origin) virt {
	if p.lanes { // the words of two lanes overlap
		p.col, p.lanes, p.gather = p.col.Plus(loop.Of(loop.IndexSym, l.lanes)), false, true
	}
	if !p.gather {
		return l.uniform(p, types.I64)
	}
	base, p := l.base(p)
	return l.gather(types.I64, l.addresses(p, o), 1, base)
}

// lanesAt is the place of lanes that lie side by side; its base is an address.
func (l *lowering) lanesAt(p place) (base virt, at Mem) {
	base, disp := l.pointer(p)
	size := p.mem.elem.Size()
	return base, Mem{Index: laneReg, Scale: uint8(size), Disp: disp + int32(l.number*l.target.lanes*size)}
}

// contiguous loads lanes that lie side by side; lanes that do not count are 0 and are not touched.
func (l *lowering) contiguous(s *loop.Stmt, p place) virt {
	e := p.mem.elem
	dst := l.fresh(l.loadClass(e))
	base, at := l.lanesAt(p)
	st := step{dst: dst, pure: true, again: true, a: base, mask: l.active}
	if l.active == 0 && l.values[dst].class == vectorClass {
		st.loads = l.reading(memoryRead{at: at, reg: base, size: uint8(e.Size()), len: l.vlen(e)})
	}
	st.scalar = func(m *maker, dst Reg, r regs) {
		m.vec.load(m, e, dst, r.mask, at.on(r.a))
	}
	if l.active == 0 && l.part.first() {
		l.fetchAhead(p, base, at)
	}
	if l.prefetches[s] && l.active == 0 && l.number*l.target.lanes*e.Size()%lineBytes == 0 { // once a line
		to := at
		to.Disp += fetchBytes
		l.emit(&step{a: base, jumps: true, scalar: func(m *maker, _ Reg, r regs) { m.Prefetch(to.on(r.a), true) }})
	}
	return l.emit(&st)
}

// addresses is the offset in bytes of every lane from the address of the memory.
func (l *lowering) addresses(p place, o loop.Origin) virt {
	made := func(op Op, of virt, arg int32, in Inst) virt {
		in.Op, in.Len = op, l.length
		return l.recentOf(vectorClass, sum{address: of, arg: arg, size: isDistance}, func() step {
			if in.InMem {
				return step{Inst: in, a: of}
			}
			return step{Inst: in, b: of}
		})
	}
	col := l.lin(p.col, o)
	if size := p.mem.elem.Size(); size > 1 {
		col = made(VPSLLQ, col, int32(-size), Inst{Imm: uint8(bits.TrailingZeros64(uint64(size)))})
	}
	if p.mem.unit || p.row.Known() && p.row.Const == 0 {
		return col
	}
	stride := argMem(p.mem.arg + 8)
	stride.Broadcast = true
	row := made(VPMULLQ, l.lin(p.row, o), p.mem.arg, Inst{InMem: true, Mem: stride})
	return l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: row, b: col, dst: l.fresh(vectorClass)})
}

// base splits p into an address that all lanes share, which the code returned leaves in RAX, and the
// rest of the place. A row that all lanes share is part of the address: its product with the stride is
// one instruction there, and ten of vectors of AVX2.
func (l *lowering) base(p place) (address func(m *maker), rest place) {
	row := loop.Lin{}
	if rest = p; !p.mem.unit && !l.varies(p.row) {
		row, rest.row = p.row, row
	}
	return func(m *maker) {
		m.LoadG(RAX, argMem(p.mem.arg))
		l.addRows(m, RAX, p.mem.arg, row)
	}, rest
}

// gathered loads an element a lane.
func (l *lowering) gathered(p place, o loop.Origin) virt {
	e := p.mem.elem
	base, p := l.base(p)
	if e == types.Bool && !l.alike() {
		return l.gatherBools(l.addresses(p, o), base)
	}
	if e.Size() == 8 && l.rising(p.row, p.col, 1) {
		return l.loadRising(e, l.addresses(p, o), base)
	}
	return l.gather(e, l.addresses(p, o), 1, base)
}

// look lowers a look into a table, which lies beside the code.
func (l *lowering) look(s *loop.Stmt, at operand) virt {
	table := l.asm.Const(l.frame.tables[s.Mem.N].Words...)
	return l.gather(types.I64, l.vector(at), 8, func(m *maker) { m.Lea(RAX, table) })
}

// tiled reports a load that reads a tile. Its loop is the only one around it.
func (l *lowering) tiled(p place) bool {
	if !p.gather || l.nested != 1 || l.number >= len(l.counts) || l.top != 0 || l.square || !l.embeds || l.target.lanes != squareRows || p.mem.unit || p.mem.elem.Size() != 8 {
		return false
	}
	c := l.counts[l.number]
	r := c.rng
	if !c.shared || r.Kind != loop.Steps || r.By != 1 || l.active != 0 && l.active != c.left || r.From.Known() && r.To.Known() && r.To.Const-r.From.Const < leastTiled {
		return false
	}
	_, moving := l.steady(p.row)
	return len(moving.Terms) == 0 && p.row.Coef(l.lane()) == 1 && !l.varies(l.without(p.row)) && p.col.Coef(loop.Sym{Kind: loop.IndexSym, N: c.name}) == 1 && !l.varies(p.col)
}

// loadTiled emits a load that reads a tile. A word before the tile holds the index at which the tile
// ends.
func (l *lowering) loadTiled(p place) virt {
	at := int32(l.localsEnd)
	l.localsEnd += (1 + squareRows) * slotBytes
	l.inMemory[l.counts[l.number].word] = true
	index, end, skip := l.counts[l.number].word.mem(), At(scratchReg, at), l.asm.Label()
	l.before.steps = append(l.before.steps, step{scalar: func(m *maker, _ Reg, _ regs) { // there is none
		m.MovImm(RAX, math.MinInt64)
		m.StoreG(end, RAX)
	}})
	l.scalar(func(m *maker, _ Reg, _ regs) {
		m.LoadG(RAX, index)
		m.ArithMem(CmpG, RAX, end)
		m.Jump(Less, skip)
		m.ArithImm(AddG, RAX, squareRows)
		m.StoreG(end, RAX)
	})
	// The mask has the columns of the tile.
	mask := l.emit(&step{dst: l.fresh(maskClass), scalar: func(m *maker, dst Reg, _ regs) {
		some := m.Label()
		l.scalarLin(m, RAX, p.col)
		m.Neg(RAX)
		m.ArithMem(AddG, RAX, argMem(p.mem.arg+24))
		m.ArithImm(CmpG, RAX, squareRows)
		m.Jump(LessEqual, some)
		m.MovImm(RAX, squareRows)
		m.Bind(some)
		m.vec.first(m, dst)
	}})
	for k, v := range l.turn(l.readRows(p, mask)) {
		l.emit(&step{a: v, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.store(m, types.F64, r.a, NoReg, At(scratchReg, at+int32(1+k)*slotBytes))
		}})
	}
	l.bind(skip)
	return l.emit(&step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ regs) {
		m.LoadG(RAX, index)
		m.ArithMem(SubG, RAX, end)
		m.ShiftImm(ShlG, RAX, 6)
		m.vec.load(m, types.F64, dst, NoReg, Indexed(scratchReg, RAX, 1, at+(1+squareRows)*slotBytes))
	}})
}

// leastTiled is the least number of rounds for which tiles pay, if the number is known.
const leastTiled = 16

// readRows reads columns, from p on, of the rows of all lanes: the columns of a mask, or a full vector
// if it is 0.
func (l *lowering) readRows(p place, mask virt) (rows [squareRows]virt) {
	first, disp := l.rowOfLane(p)
	for k := range l.side() {
		st := step{dst: l.fresh(vectorClass), a: first, mask: mask, pure: true}
		at := l.rowAt(&st.c, p, disp, k)
		st.scalar = func(m *maker, dst Reg, r regs) { m.vec.load(m, types.F64, dst, r.mask, at(m, r.a, r.c)) }
		rows[k] = l.emit(&st)
		if l.fetch && l.nested == 0 && l.active == 0 && l.top == 0 {
			ask := step{a: first, jumps: true}
			to := l.rowAt(&ask.c, p, disp+fetchBytes, k)
			ask.scalar = func(m *maker, _ Reg, r regs) { m.Prefetch(to(m, r.a, r.c), true) }
			l.emit(&ask)
		}
	}
	return rows
}

// rowAt returns code that finds the place of row k after the first, and perhaps emits code that changes
// R11. On AVX2 it sets distance to a register that the code reads.
func (l *lowering) rowAt(distance *virt, p place, disp int32, k int) func(m *maker, first, distance Reg) Mem {
	scale := uint8(k)
	switch {
	case k == 0:
		return func(_ *maker, first, _ Reg) Mem { return At(first, disp) }
	case k != 1 && k != 2 && k != 4:
		scale = 1
	}
	if l.vexOnly() {
		*distance = l.rowsApart(p, k/int(scale))
		return func(_ *maker, first, distance Reg) Mem { return Indexed(first, distance, scale, disp) }
	}
	return func(m *maker, first, _ Reg) Mem {
		m.LoadG(R11, argMem(p.mem.arg+8))
		if int(scale) != k {
			m.IMulImm(R11, R11, int32(k))
		}
		return Indexed(first, R11, scale, disp)
	}
}

// rowsApart returns how many bytes so many rows of a memory take.
func (l *lowering) rowsApart(p place, rows int) virt {
	return l.once(invariant{kind: rowsKind, arg: p.mem.arg, row: loop.Num(int64(rows))}, generalClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			if m.LoadG(dst, argMem(p.mem.arg+8)); rows > 1 {
				m.IMulImm(dst, dst, int32(rows))
			}
		}}
	})
}

// rowOfLane returns the address of the row of the first lane of the present part, less a displacement.
// Lanes of p are rows of the memory.
func (l *lowering) rowOfLane(p place) (first virt, disp int32) {
	if l.vexOnly() && l.nested+l.branches == 0 {
		return l.firstApart(p)
	}
	p.row = l.without(p.row)
	base, disp := l.pointer(p)
	from := int32(l.number * l.target.lanes)
	return l.emit(&step{dst: l.fresh(generalClass), a: base, pure: true, scalar: func(m *maker, dst Reg, r regs) {
		m.Lea(R11, At(laneReg, from))
		m.LoadG(R10, argMem(p.mem.arg+8))
		m.IMul(R11, R10)
		m.Lea(dst, Indexed(r.a, R11, 1, 0))
	}}), disp
}

// fetchAhead asks for the lines of an operand that a later round reads, where the innermost loop goes
// down its rows. Rows are far apart there, so the processor foresees no line: walks down 1000 rows of
// 80 kB take half of the time (Emerald Rapids). It would be slower for operands that are in a cache
// already and for loops that have next to no work for a line. Loops of few rounds would ask for lines
// that nothing reads.
func (l *lowering) fetchAhead(p place, base virt, at Mem) {
	if len(l.counts) == 0 || !l.counts[0].shared || l.square {
		return
	}
	rng := l.counts[0].rng
	rows := p.row.Coef(loop.Sym{Kind: loop.IndexSym, N: l.counts[0].name}) * rng.By * fetchRounds
	few := rng.From.Known() && rng.To.Known() && (rng.To.Const-rng.From.Const)/max(1, rng.By) < 4*fetchRounds
	if rows == 0 || rows != int64(int32(rows)) || few {
		return
	}
	bytes, first := l.together*l.target.lanes*p.mem.elem.Size(), at.Disp
	l.emit(&step{a: base, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.LoadG(R11, argMem(p.mem.arg+8))
		m.IMulImm(R11, R11, int32(rows))
		m.ArithG(AddG, R11, r.a)
		at.Base = R11
		for k := 0; k < bytes; k += lineBytes {
			at.Disp = first + int32(k)
			m.Prefetch(at, true)
		}
	}})
}

const (
	// lineBytes is the length of a line of a cache.
	lineBytes = 64
	// fetchRounds is how many rounds ahead a loop down the rows of an operand asks for its lines. Half
	// as many take 1.1 times as long (Emerald Rapids).
	fetchRounds = 32
	// fetchBytes is how far ahead loads of consecutive memory prefetch. Half and twice as far take the
	// same time, 1 KiB gains next to nothing (Emerald Rapids).
	fetchBytes = 8 << 10
	// mostPrefetched is the most operands that a nest prefetches. More of them are often views of one
	// matrix: rounds of Life, with three, take 1.09 to 1.2 times as long with prefetches.
	mostPrefetched = 2
)

// findPrefetches finds the loads that prefetch lines of a later round, if the schedule asks for it.
// They load consecutive lanes. Among the loads of one operand, only the one of the last element
// prefetches, because the others read its lines later. A row that all rows of the nest read stays in a
// cache.
func (l *lowering) findPrefetches() {
	l.prefetches = nil
	if !l.fetch || l.top != 0 || l.square || l.lanes < 0 || l.lanes != len(l.nest.Space)-1 {
		return
	}
	l.part = l.parts[0]
	last := map[int]*loop.Stmt{}
	for i := range l.nest.Body.Stmts {
		s := &l.nest.Body.Stmts[i]
		if s.Code != loop.Load || s.Mem.Kind != loop.ParamMem || l.nest.Params[s.Mem.N].Kind == loop.ScalarParam ||
			!s.At[0].Affine() || !s.At[1].Affine() || !l.place(s).lanes || l.rows >= 0 && s.At[0].Coef(loop.Sym{Kind: loop.IndexSym, N: l.rows}) == 0 {
			continue
		}
		if x := last[s.Mem.N]; x == nil || s.At[0].Const > x.At[0].Const || s.At[0].Const == x.At[0].Const && s.At[1].Const > x.At[1].Const {
			last[s.Mem.N] = s
		}
	}
	if len(last) > mostPrefetched {
		return
	}
	l.prefetches = map[*loop.Stmt]bool{}
	for _, s := range last {
		l.prefetches[s] = true
	}
}
