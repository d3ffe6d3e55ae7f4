package amd64

// This file reads and writes memory whose rows are the lanes of a loop. Code moves parts of rows, one row for
// each lane (eight on AVX-512, four on AVX2), and transposes them in registers. That replaces gathers and
// scatters for transposed operands, for columns side by side that one point accesses, and for rows that an
// inner loop goes along.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// squareRows is the most rows of a square: a row for each lane of 64 bits. side is how many the target has.
const squareRows = 8

func (l *lowering) side() int { return l.target.length.Bytes() / 8 }

// maxSquareCost is above what cost of the body eight rows would not fit into registers.
const maxSquareCost = 24

// squares reports a nest that is evaluated in squares: it reads an operand across, and its body is
// operations, loads and stores alone.
func (l *lowering) squares() bool {
	n := l.nest
	if !l.embeds || l.target.lanes != squareRows || l.rows < 0 || !canTurn(n) || len(n.Locals) > 0 || weigh(&n.Body).cost > maxSquareCost {
		return false
	}
	some := false
	for i := range n.Body.Stmts {
		s := &n.Body.Stmts[i]
		switch {
		case s.Code == loop.Const, s.Code == loop.IndexOf, s.Code == loop.Store, s.Code.IsOp():
		case s.Code == loop.Load:
			some = some || l.across(s)
		default:
			return false
		}
	}
	return some
}

// across reports a load whose lanes are rows of the operand, and whose rows are columns.
func (l *lowering) across(s *loop.Stmt) bool {
	if len(s.At) < 2 || s.Mem.Kind != loop.ParamMem {
		return false
	}
	m := l.memory(s.Mem)
	lane, row := loop.Sym{Kind: loop.IndexSym, N: l.lanes}, loop.Sym{Kind: loop.IndexSym, N: l.rows}
	return !m.unit && m.elem.Size() == 8 && s.At[0].Affine() && s.At[1].Affine() &&
		s.At[0].Coef(lane) == 1 && s.At[0].Coef(row) == 0 && s.At[1].Coef(row) == 1 && s.At[1].Coef(lane) == 0
}

// ofRow is a form in the row of the present part.
func (l *lowering) ofRow(f loop.Lin) loop.Lin {
	if l.part.row == 0 {
		return f
	}
	return f.Plus(loop.Num(int64(l.part.row) * f.Coef(loop.Sym{Kind: loop.IndexSym, N: l.rows})))
}

// forgetRow begins a new loop over rows: what was made once a row is made again.
func (l *lowering) forgetRow() {
	l.rowHead = nil
	l.made = slices.DeleteFunc(l.made, func(x invariant) bool { return l.perRow(x.row) || l.perRow(x.col) })
}

// turned lowers a load across for all rows of a square whose lanes all count: it reads a vector
// along each row of the operand and turns the square. It reports whether s is such a load.
func (l *lowering) turned(s *loop.Stmt) bool {
	if s.Code != loop.Load || l.top != 0 || !l.across(s) {
		return false
	}
	l.part = l.parts[0]
	cols := l.turn(l.readRows(l.place(s), 0))
	l.each(func(k int) { l.set(s.Dst, operand{v: cols[k]}) })
	return true
}

// rowOfLane returns the address of the row of the first lane of the present part, less a displacement.
// Lanes of p are rows of the memory.
func (l *lowering) rowOfLane(p place) (first virt, disp int32) {
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

// rowAt returns the place of row k after the first. It emits code that changes R11.
func rowAt(m *maker, p place, first Reg, disp int32, k int) Mem {
	switch m.LoadG(R11, argMem(p.mem.arg+8)); k {
	case 0:
		return At(first, disp)
	case 1, 2, 4:
		return Indexed(first, R11, uint8(k), disp)
	}
	m.IMulImm(R11, R11, int32(k))
	return Indexed(first, R11, 1, disp)
}

// firstColumns returns the mask of the first width columns, 0 for a full vector.
func (l *lowering) firstColumns(width int) virt {
	if width == l.side() {
		return 0
	}
	return l.firstOnes(width)
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

// readRows reads columns, from p on, of the rows of all lanes: the columns of a mask, or a full vector
// if it is 0.
func (l *lowering) readRows(p place, mask virt) (rows [squareRows]virt) {
	first, disp := l.rowOfLane(p)
	for k := range l.side() {
		rows[k] = l.emit(&step{dst: l.fresh(vectorClass), a: first, mask: mask, pure: true, scalar: func(m *maker, dst Reg, r regs) {
			m.vec.load(m, types.F64, dst, r.mask, rowAt(m, p, r.a, disp, k))
		}})
	}
	return rows
}

// writeRows writes columns side by side, from p on, of the rows of all lanes.
func (l *lowering) writeRows(p place, cols []virt) {
	first, disp := l.rowOfLane(p)
	mask := l.firstColumns(len(cols))
	var values [squareRows]virt
	copy(values[:], cols)
	rows := l.turn(values)
	for k, v := range rows[:l.side()] {
		l.emit(&step{a: v, b: first, mask: mask, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.store(m, types.F64, r.a, r.mask, rowAt(m, p, r.b, disp, k))
		}})
	}
}

// beside is a group of accesses of a block to columns side by side, in the rows of the lanes. All are loads
// or all are stores, to one memory, and they span at most as many columns as a vector has lanes. Loads run
// together at the place of the first of them, stores at the place of the last.
type beside struct {
	at    []*loop.Stmt // in the order of the block
	least int64        // the constant of the first column
	width int
	twice bool               // a column is accessed twice: the last store counts, so stores stay apart
	made  int                // how many stores have been reached
	rows  [][squareRows]virt // by part, of loads: what was read
	cols  [][squareRows]virt // the same, transposed
}

// fewestBeside returns the least size of a group. On a Zen 4 a gather takes 25 cycles, a scatter 30, and eight
// rows that are transposed about 50. AVX2 takes seven instructions for a column (see apart.go), and 16 for four
// rows. It moves parts of a vector slowly: three columns of a group take 1.12 times as long (Zen 3).
func (l *lowering) fewestBeside() int {
	if l.vexOnly() {
		return l.side()
	}
	return 2
}

// findBeside finds the groups among the statements of the body, outside of branches and inner loops.
func (l *lowering) findBeside() {
	l.besides = nil
	if l.top != 0 || l.square || l.target.lanes != l.side() || l.lanes < 0 {
		return
	}
	l.part = l.parts[0]
	within := map[loop.Mem]bool{} // what inner blocks store: their order counts
	var groups []*beside
	for i := range l.nest.Body.Stmts {
		s := &l.nest.Body.Stmts[i]
		s.EachBlock(func(b *loop.Block) {
			loop.EachStmt(b, func(s *loop.Stmt) {
				if s.Code == loop.Store {
					within[s.Mem] = true
				}
			})
		})
		if !l.inRow(s) {
			if s.Code == loop.Store {
				within[s.Mem] = true
			}
			continue
		}
		k := slices.IndexFunc(groups, func(g *beside) bool { return g.takes(s, l.side()) })
		if k < 0 {
			groups = append(groups, &beside{least: s.At[1].Const})
			k = len(groups) - 1
		}
		g := groups[k]
		g.twice = g.twice || slices.ContainsFunc(g.at, func(y *loop.Stmt) bool { return y.At[1].Const == s.At[1].Const })
		first := min(g.least, s.At[1].Const)
		g.width = int(max(g.least+int64(g.width), s.At[1].Const+1) - first)
		g.at, g.least = append(g.at, s), first
	}
	l.besides = map[*loop.Stmt]*beside{}
	for _, g := range groups {
		if len(g.at) < l.fewestBeside() || g.at[0].Code == loop.Store && (g.twice || len(g.at) < g.width || within[g.at[0].Mem]) {
			continue
		}
		for _, s := range g.at {
			l.besides[s] = g
		}
	}
}

// inRow reports an access to 64-bit words at one column, where each lane has its own row of the memory.
func (l *lowering) inRow(s *loop.Stmt) bool {
	if s.Code != loop.Load && s.Code != loop.Store || s.Mem.Kind != loop.ParamMem && s.Mem.Kind != loop.ResultMem || len(s.At) < 2 || !s.At[0].Affine() || !s.At[1].Affine() {
		return false
	}
	if s.Mem.Kind == loop.ParamMem && l.nest.Params[s.Mem.N].Kind == loop.ScalarParam {
		return false
	}
	m := l.memory(s.Mem)
	return !m.unit && m.elem.Size() == 8 && s.At[0].Coef(l.lane()) == 1 && !l.varies(l.without(s.At[0])) && !l.varies(s.At[1])
}

// takes reports whether an access can join g: it has the same rows, and a column near those of g.
func (g *beside) takes(s *loop.Stmt, side int) bool {
	x, c := g.at[0], s.At[1].Const
	if s.Code != x.Code || s.Mem != x.Mem || !s.At[0].Equal(x.At[0]) || !s.At[1].Plus(loop.Num(-c)).Equal(x.At[1].Plus(loop.Num(-x.At[1].Const))) {
		return false
	}
	return max(g.least+int64(g.width), c+1)-min(g.least, c) <= int64(side)
}

// accessBeside lowers an access of g.
func (l *lowering) accessBeside(g *beside, s *loop.Stmt) {
	from := func() place {
		p := l.place(s)
		p.col = p.col.Plus(loop.Num(g.least - s.At[1].Const))
		return p
	}
	if s.Code == loop.Store {
		if g.made++; g.made == len(g.at) {
			g.made = 0
			l.each(func(int) {
				cols := make([]virt, g.width)
				for _, x := range g.at {
					cols[x.At[1].Const-g.least] = l.vector(l.args(x)[0])
				}
				l.writeRows(from(), cols)
			})
		}
		return
	}
	if s == g.at[0] {
		g.rows, g.cols = g.rows[:0], g.cols[:0]
		l.each(func(k int) {
			g.rows = append(g.rows, l.readRows(from(), l.firstColumns(g.width)))
			g.cols = append(g.cols, l.turn(g.rows[k]))
		})
	}
	l.each(func(k int) { l.set(s.Dst, l.formed(operand{v: g.cols[k][s.At[1].Const-g.least]}, l.affine(s, nil))) })
}

// rowsOf returns the transposed vectors of cols. If a group has read these columns, it returns what was read.
func (l *lowering) rowsOf(cols []virt) [squareRows]virt {
	for _, g := range l.besides {
		if k := l.number; k < len(g.cols) && slices.Equal(g.cols[k][:len(cols)], cols) {
			return g.rows[k]
		}
	}
	var all [squareRows]virt
	copy(all[:], cols)
	return l.turn(all)
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

// An inner loop may go along the rows of the lanes, so that each lane loads the element of its row at the
// loop's index. Such a load reads a tile: squareRows columns of the rows, transposed, in scratch memory. The
// code fills the tile again when the index has left it.

// leastTiled is the least number of rounds for which tiles pay, if the number is known.
const leastTiled = 16

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

// loadTiled emits a load that reads a tile. A word before the tile holds the index at which the tile ends.
func (l *lowering) loadTiled(p place) virt {
	at := int32(l.localsEnd)
	l.localsEnd += (1 + squareRows) * slotBytes
	l.inMemory[l.counts[l.number].word] = true
	index, end, skip := l.counts[l.number].word.mem(), At(scratchReg, at), l.asm.Label()
	l.before.steps = append(l.before.steps, step{scalar: func(m *maker, _ Reg, _ regs) { // there is none
		m.MovImm(RAX, math.MinInt64)
		m.StoreG(end, RAX)
	}})
	l.scalar(func(m *maker) {
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
