package amd64

// This file reads and writes memory whose rows are the lanes of a loop. Code moves parts of rows, one
// row for each lane (eight on AVX-512, four on AVX2), and transposes them in registers. That replaces
// gathers and scatters for transposed operands, for columns side by side that one point accesses, and
// for rows that an inner loop goes along.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// maxSquareCost is above what cost of the body eight rows would not fit into registers.
const maxSquareCost = 24

// squares reports a nest that is evaluated in squares: it reads an operand across, and its body is
// operations, loads, stores and reductions alone.
func (l *lowering) squares() bool {
	n := l.nest
	if !l.embeds || l.target.lanes != squareRows || l.rows < 0 || !canTurn(n) || len(n.Locals) > 0 || l.weight.cost > maxSquareCost {
		return false
	}
	some := false
	for i := range n.Body.Stmts {
		s := &n.Body.Stmts[i]
		switch {
		case s.Code == loop.Const, s.Code == loop.IndexOf, s.Code == loop.Store, s.Code == loop.Reduce, s.Code.IsOp():
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

// firstColumns returns the mask of the first width columns, 0 for a full vector.
func (l *lowering) firstColumns(width int) virt {
	if width == l.side() {
		return 0
	}
	return l.firstOnes(width)
}

// writeRows writes columns side by side, from p on, of the rows of all lanes.
func (l *lowering) writeRows(p place, cols []virt) {
	first, disp := l.rowOfLane(p)
	mask := l.firstColumns(len(cols))
	var values [squareRows]virt
	copy(values[:], cols)
	rows := l.turn(values)
	for k, v := range rows[:l.side()] {
		st := step{a: v, b: first, mask: mask}
		at := l.rowAt(&st.c, p, disp, k)
		st.scalar = func(m *maker, _ Reg, r regs) { m.vec.store(m, types.F64, r.a, r.mask, at(m, r.b, r.c)) }
		l.emit(&st)
	}
}

// fewestBeside returns the least size of a group. On a Zen 4 a gather takes 25 cycles, a scatter 30,
// and eight rows that are transposed about 50. AVX2 takes seven instructions for a column (see
// apart.go), and 16 for four rows. It moves parts of a vector slowly: three columns of a group take
// 1.12 times as long (Zen 3).
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

// rowsOf returns the transposed vectors of cols. If a group has read these columns, it returns what was
// read.
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

// An inner loop may go along the rows of the lanes, so that each lane loads the element of its row at
// the loop's index. Such a load reads a tile: squareRows columns of the rows, transposed, in scratch
// memory. The code fills the tile again when the index has left it.
