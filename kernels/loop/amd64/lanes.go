package amd64

// This file chooses which index of a space of two the lanes are, and how wide a lane is.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// LanesFirst reports that points of a space of so many rows and columns are evaluated faster if the
// lanes are the first index. A row of few columns would leave most lanes of a vector without a
// point.
func LanesFirst(n *loop.Nest, params, results []Layout, rows, cols int) bool {
	if !canTurn(n) || rows < 2 {
		return false
	}
	c := laneCost{nest: n, params: params, results: results}
	c.block(&n.Body)
	own := weigh(&n.Body).cost
	last := c.points(rows, cols, own+c.access[1])
	first := c.points(cols, rows, own+c.access[0])
	return first+first/4 < last
}

// What an access costs beside the instruction, and what a row costs beside its vectors, in the
// units of the cost model. On a Zen 4, rows of three columns of one product and sum take 8 cycles
// each, and 8 such points of a column that lies apart take 30.
const (
	gatherCost  = 10
	scatterCost = 16
	rowCost     = 4
)

// laneCost adds up what accesses cost more than those of lanes that lie side by side, by which
// index the lanes are.
type laneCost struct {
	nest            *loop.Nest
	params, results []Layout
	access          [2]int
}

func (c *laneCost) block(b *loop.Block) {
	loop.EachStmt(b, func(s *loop.Stmt) {
		switch {
		case s.Code == loop.Load && s.Mem.Kind == loop.ParamMem && len(s.At) == 2:
			c.add(s, c.params[s.Mem.N].Unit, gatherCost)
		case s.Code == loop.Store && s.Mem.Kind == loop.ResultMem:
			c.add(s, c.results[s.Mem.N].Unit, scatterCost)
		}
	})
}

// add counts an access for both choices of the lanes.
func (c *laneCost) add(s *loop.Stmt, unit bool, apart int) {
	for k, x := range c.nest.Space {
		lane := loop.Sym{Kind: loop.IndexSym, N: x.Name}
		row, col := s.At[0].Coef(lane), s.At[1].Coef(lane)
		if !s.At[0].Affine() || !s.At[1].Affine() || row != 0 && !unit || row+col > 1 || row+col < 0 {
			c.access[k] += apart
		}
	}
}

// points is the cost of rows of so many lanes, cost being that of a vector.
func (c *laneCost) points(rows, lanes, cost int) int {
	return rows * ((lanes+avx512.lanes-1)/avx512.lanes*cost + rowCost)
}

// Flat reports that every access is at the point itself and nothing else depends on the indices, but
// for operands that are read in row 0, in the column of the point: a bit of across each. Without those,
// whole rows of a window may be passed as one row 0, where all matrices are as wide as the space and in
// one piece: rows r0 to r1-1 of c columns are the lanes r0*c to r1*c-1.
func Flat(n *loop.Nest) (across uint64, ok bool) {
	var point uint64 // operands that are read at the point
	if !canTurn(n) || len(n.Params) > 64 {
		return 0, false
	}
	i, j := loop.Of(loop.IndexSym, n.Space[0].Name), loop.Of(loop.IndexSym, n.Space[1].Name)
	depends := func(f loop.Lin) bool { return f.Coef(i.Terms[0].Sym) != 0 || f.Coef(j.Terms[0].Sym) != 0 }
	ok = true
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case s.Code == loop.IndexOf:
			ok = ok && !depends(loop.Of(loop.IndexSym, int(s.Imm)))
		case s.Code == loop.Reduce:
		case len(s.At) == 2 && (s.Mem.Kind == loop.ParamMem || s.Mem.Kind == loop.ResultMem):
			switch operand := s.Mem.Kind == loop.ParamMem; {
			case !s.At[1].Equal(j):
				ok = false
			case operand && s.At[0].Equal(loop.Num(0)):
				across |= 1 << s.Mem.N
			case !s.At[0].Equal(i):
				ok = false
			case operand:
				point |= 1 << s.Mem.N
			}
		case s.Loop != nil:
			r := s.Loop.Index.Range
			ok = ok && (r.Kind == loop.Steps || r.Kind == loop.Forever) && !depends(r.From) && !depends(r.To)
		default:
			ok = ok && !slices.ContainsFunc(s.At, depends)
		}
	})
	if !ok || point&across != 0 {
		return 0, false
	}
	return across, true
}

// Crosses reports a space of two indices with an operand that is read across: each lane reads another
// row, and each row of the space another column. It is false if the order of the points counts.
func Crosses(n *loop.Nest) (some bool) {
	if len(n.Space) != 2 {
		return false
	}
	row, lane := loop.Sym{Kind: loop.IndexSym, N: n.Space[0].Name}, loop.Sym{Kind: loop.IndexSym, N: n.Space[1].Name}
	ordered := false
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case s.Code == loop.Reduce:
			ordered = ordered || !n.Results[s.Mem.N].Class.Free(n.Results[s.Mem.N].Elem)
		case s.Code == loop.Load && s.Mem.Kind == loop.ParamMem && len(s.At) == 2 && s.At[0].Coef(lane) != 0 && s.At[1].Coef(lane) == 0:
			some = some || s.At[1].Any(func(x loop.Sym) bool { return x == row || x.Kind == loop.ValSym })
		}
	})
	return some && !ordered
}

// singles returns the target for a nest. It is t, except in three cases. A nest of one point has
// vectors of half the length if vectors take little of its time (see fewAlong). Another nest has
// lanes of 32 bits if all its values are f32 or bool and its lanes lie side by side in memory, and
// lanes of 8 bits if they are bools (see inBytes).
func singles(t *target, l *lowering) *target {
	if t.embeds && l.point() && (len(l.alongBody) == 0 || l.fewAlong()) {
		half := *t
		half.length, half.lanes = t.length-1, t.lanes/2
		return &half
	}
	if slim := l.inBytes(); slim != nil {
		l.nest = slim
		bytes := *t
		bytes.lanes = t.length.Bytes()
		return &bytes
	}
	if !t.embeds || l.ragged() || !narrow(l.nest.Types) || len(l.nest.Locals) > 0 || !l.sideBySide(&l.nest.Body) {
		return t
	}
	wide := *t
	wide.lanes *= 2
	return &wide
}

// narrow reports values of f32 and bools alone, some of f32.
func narrow(list []types.Elem) (some bool) {
	for _, e := range list {
		if e != types.F32 && e != types.Bool {
			return false
		}
		some = some || e == types.F32
	}
	return some
}

// sideBySide reports a block whose lanes lie side by side in memory, or read one element, and whose
// loops have bounds for all lanes.
func (l *lowering) sideBySide(b *loop.Block) bool {
	fine := true
	loop.EachStmt(b, func(s *loop.Stmt) { fine = fine && l.besideLanes(s) })
	return fine
}

func (l *lowering) besideLanes(s *loop.Stmt) bool {
	lane := l.lane()
	switch s.Code {
	case loop.Const, loop.If, loop.Check, loop.Break:
		return true
	case loop.Load, loop.Store:
		if len(s.At) == 0 {
			return true
		}
		row, col := s.At[0], s.At[1]
		if l.memory(s.Mem).unit {
			row, col = loop.Lin{}, row.Plus(col)
		}
		c := col.Coef(lane)
		return row.Coef(lane) == 0 && (c == 1 || c == 0 && s.Code == loop.Load)
	case loop.Reduce:
		c := l.nest.Results[s.Mem.N].Class
		return (c == loop.Least || c == loop.Greatest) && l.nest.Types[s.Args[0]] == types.F32 && l.ofAllLanes(s.At)
	case loop.For:
		r := s.Loop.Index.Range
		return r.Kind == loop.Steps && r.From.Coef(lane) == 0 && r.To.Coef(lane) == 0
	case loop.Apply:
		return narrow(s.Func.Types) && l.sideBySide(&s.Func.Body)
	}
	return s.Code.IsOp()
}

// ofAllLanes reports whether a place is the same for all lanes: it depends on no index but the row's,
// and on no value.
func (l *lowering) ofAllLanes(at []loop.Lin) bool {
	other := func(s loop.Sym) bool { return s.Kind == loop.ValSym || s.Kind == loop.IndexSym && s.N != l.rows }
	return !slices.ContainsFunc(at, func(f loop.Lin) bool { return f.Any(other) })
}

// multiple writes s if it is the product of the lanes' index and a number that is the same in all
// lanes. It multiplies for the first lane in general registers, which takes less time than a product of
// vectors. It returns 0 for other statements.
func (l *lowering) multiple(s *loop.Stmt, in []operand) virt {
	if s.Code != loop.Mul || l.lanes < 0 || l.square || !l.frame.nest {
		return 0
	}
	for k, x := range in {
		by := in[1-k]
		if form := x.known().form; form == nil || !form.Equal(loop.Of(loop.IndexSym, l.lanes)) {
			continue
		}
		if by.konst && l.affine(s, in) == nil { // by more than 32 bits
			by = inRegister(types.I64, l.vector(by))
		} else if !slices.ContainsFunc(l.made, func(y invariant) bool { return y.kind == elementKind && y.v == by.v }) {
			continue
		}
		first := l.recentOf(vectorClass, sum{address: by.v, size: -1}, func() step {
			return step{a: by.v, scalar: func(m *maker, dst Reg, r regs) {
				m.Emit(Inst{Op: VMOVQStore, Dst: RAX, A: r.a})
				m.IMul(RAX, laneReg)
				m.vec.splat(m, dst)
			}}
		})
		count := l.numberedLanes(l.constantVector(types.I64, 0))
		return l.binary(VPADDQ, types.I64, inRegister(types.I64, first), inRegister(types.I64, l.integer(s, []operand{inRegister(types.I64, count), by})))
	}
	return 0
}
