package amd64

// This file reads transposed operands in squares: as many rows as a vector has lanes are evaluated
// together, so that the lines of an operand that lies across are read whole, and turned in
// registers.

import "flow/ir/loop"

// squareRows is how many rows a square has: a row for each lane of 64 bits.
const squareRows = 8

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
	kept := l.made[:0]
	for _, x := range l.made {
		if !l.perRow(x.row) && !l.perRow(x.col) {
			kept = append(kept, x)
		}
	}
	l.made = kept
}

// turned lowers a load across for all rows of a square whose lanes all count: it reads a vector
// along each row of the operand and turns the square. It reports whether s is such a load.
func (l *lowering) turned(s *loop.Stmt) bool {
	if s.Code != loop.Load || l.top != 0 || !l.across(s) {
		return false
	}
	l.part = l.parts[0]
	p := l.place(s)
	p.row = p.row.Plus(loop.Of(loop.IndexSym, l.lanes).Times(-1))
	base, disp := l.pointer(p)
	stride := argMem(p.mem.arg + 8)
	first := l.emit(step{dst: l.fresh(generalClass), uses: []virt{base}, pure: true, scalar: func(m *maker, dst Reg, r []Reg) {
		m.LoadG(R11, stride)
		m.IMul(R11, laneReg)
		m.Mov(dst, r[0])
		m.ArithG(AddG, dst, R11)
	}})
	var rows [squareRows]virt
	for k := range rows {
		rows[k] = l.emit(step{dst: l.fresh(vectorClass), uses: []virt{first}, pure: true, scalar: func(m *maker, dst Reg, r []Reg) {
			m.LoadG(R11, stride)
			m.IMulImm(R11, R11, int32(k))
			m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: dst, InMem: true, Mem: Indexed(r[0], R11, 1, disp)})
		}})
	}
	cols := l.turn(rows)
	l.each(func(k int) { l.set(s.Dst, operand{v: cols[k]}) })
	return true
}

// turn transposes a square of 64-bit words: pairs of rows are interleaved, then pairs of those,
// then halves.
func (l *lowering) turn(rows [squareRows]virt) (cols [squareRows]virt) {
	mix := func(op Op, imm uint8, a, b virt) virt {
		return l.emit(step{Inst: Inst{Op: op, Len: l.length, Imm: imm}, a: a, b: b, dst: l.fresh(vectorClass)})
	}
	const even, odd = 0x88, 0xdd // quarters 0 and 2, or 1 and 3, of both operands
	for parity, op := range []Op{VUNPCKLPD, VUNPCKHPD} {
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
