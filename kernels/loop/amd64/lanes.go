package amd64

// This file chooses which index of a space of two the lanes are, and how wide a lane is.

import (
	"math"
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

// singles returns the target for a nest. It is t, except in two cases. A nest of one point has
// vectors of half the length if vectors take little of its time (see fewAlong). Another nest has
// lanes of 32 bits if all its values are f32 or bool and its lanes lie side by side in memory.
func singles(t *target, l *lowering) *target {
	if t.embeds && l.point() && (len(l.alongBody) == 0 || l.fewAlong()) {
		half := *t
		half.length, half.lanes = t.length-1, t.lanes/2
		return &half
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

// narrow chooses lanes of 8, 32 or 64 bits for the nest, on target t. packed reports that it has
// changed loops that count bools (loop.Packed).
func (l *lowering) narrow(t *target) (packed bool) {
	if slim := l.inBytes(); slim != nil {
		bytes := *t
		bytes.lanes = t.length.Bytes()
		l.nest, l.target = slim, &bytes
		return false
	}
	n := l.nest
	if l.target = singles(t, l); l.lanes >= 0 {
		l.nest = loop.Packed(n, l.lanes, l.follow)
	}
	return l.nest != n
}

// byteLanes finds out whether the lanes of a nest can be bytes.
type byteLanes struct {
	*lowering
	needed map[loop.Val]bool // a statement that is kept reads it
	spans  map[loop.Val]span // of integers that are bytes
	konst  map[loop.Val]bool // the value is known when the nest is compiled
}

// inBytes returns the nest without the statements that no result needs, or nil if its lanes cannot be
// bytes. All needed values must be bools, or integers that fit into a byte, and lanes must be
// adjacent in memory.
func (l *lowering) inBytes() *loop.Nest {
	n := l.nest
	if !l.embeds || l.lanes < 0 || l.ragged() || len(n.Locals) > 0 || len(n.Results) == 0 {
		return nil
	}
	for _, r := range n.Results {
		if r.Class == loop.NoClass && r.Elem != types.Bool || r.Class != loop.NoClass && !ofBools(r.Class) {
			return nil
		}
	}
	b := byteLanes{l, map[loop.Val]bool{}, map[loop.Val]span{}, map[loop.Val]bool{}}
	slim := *n
	slim.Body = b.slim(&n.Body)
	if !b.fits(&slim.Body) {
		return nil
	}
	return &slim
}

// ofBools reports the classes of reductions that byte lanes contribute to.
func ofBools(c loop.Class) bool {
	return c == loop.Count || c == loop.Any || c == loop.All || c == loop.Least || c == loop.Greatest
}

// slim returns the block without statements whose results nothing reads.
func (b *byteLanes) slim(x *loop.Block) loop.Block {
	out := loop.Block{Yield: x.Yield}
	note := func(v loop.Val) { b.needed[v] = true }
	for _, v := range x.Yield {
		note(v)
	}
	for k := len(x.Stmts) - 1; k >= 0; k-- {
		s := x.Stmts[k]
		keep := loop.Some(x.Stmts[k:k+1], func(s *loop.Stmt) bool {
			return s.Code == loop.Store || s.Code == loop.Reduce || s.Code == loop.Check || s.Code == loop.Break
		})
		for i := range s.N {
			keep = keep || b.needed[s.Dst+loop.Val(i)]
		}
		if !keep {
			continue
		}
		s.EachRead(note)
		switch {
		case s.Loop != nil:
			x := *s.Loop
			x.Body, s.Loop = b.slim(&x.Body), &x
		case s.Code == loop.If:
			then, other := b.slim(s.Then), b.slim(s.Else)
			s.Then, s.Else = &then, &other
		}
		out.Stmts = append(out.Stmts, s)
	}
	slices.Reverse(out.Stmts)
	return out
}

// fits reports whether byte lanes can do all statements of a block.
func (b *byteLanes) fits(x *loop.Block) bool {
	for k := range x.Stmts {
		if s := &x.Stmts[k]; !b.fit(s) {
			return false
		}
	}
	return true
}

// fit reports whether byte lanes can do a statement, and notes what is known of its result.
func (b *byteLanes) fit(s *loop.Stmt) bool {
	bools := func(v loop.Val, n int) bool {
		return n == 0 || !slices.ContainsFunc(b.nest.Types[v:int(v)+n], func(e types.Elem) bool { return e != types.Bool })
	}
	byValue := func(f loop.Lin) bool { return f.Any(func(s loop.Sym) bool { return s.Kind == loop.ValSym }) }
	switch s.Code {
	case loop.Const:
		b.konst[s.Dst] = true
		if n := int64(s.Imm); b.nest.Types[s.Dst] == types.I64 && n >= math.MinInt8 && n <= math.MaxInt8 {
			b.spans[s.Dst] = span{n, n}
		}
		return true
	case loop.Load:
		return s.Mem.Kind == loop.ParamMem && bools(s.Dst, 1) && !slices.ContainsFunc(s.At, byValue) && b.besideLanes(s)
	case loop.Store:
		return s.Mem.Kind == loop.ResultMem && !slices.ContainsFunc(s.At, byValue) && b.besideLanes(s)
	case loop.Reduce:
		return len(s.Args) == 1 && bools(s.Args[0], 1) && b.ofAllLanes(s.At)
	case loop.Check, loop.Break:
		return true
	case loop.If:
		return bools(s.Dst, s.N) && b.fits(s.Then) && b.fits(s.Else)
	case loop.For:
		r := s.Loop.Index.Range
		return s.Loop.Sums == nil && b.besideLanes(s) && !byValue(r.From) && !byValue(r.To) && bools(s.Loop.Carry, len(s.Loop.Init)) && b.fits(&s.Loop.Body)
	}
	return s.Code.IsOp() && b.operates(s)
}

// operates is fit for an operation.
func (b *byteLanes) operates(s *loop.Stmt) bool {
	konst := true
	for _, v := range s.Args {
		konst = konst && b.konst[v]
	}
	b.konst[s.Dst] = konst
	args := s.Args
	if s.Code == loop.Select {
		args = args[1:]
	}
	var of [2]span
	known := true
	for k, v := range args[:min(2, len(args))] {
		x, ok := b.spans[v]
		of[k], known = x, known && (ok || b.nest.Types[v] == types.Bool)
	}
	if !known {
		return konst
	}
	var out span
	x, y := of[0], of[1]
	switch bools := b.nest.Types[args[0]] == types.Bool; s.Code {
	case loop.ToI64:
		if out = (span{0, 1}); !bools {
			return false
		}
	case loop.Add:
		out = span{x.least + y.least, x.most + y.most}
	case loop.Sub:
		out = span{x.least - y.most, x.most - y.least}
	case loop.Min:
		out = span{min(x.least, y.least), min(x.most, y.most)}
	case loop.Max:
		out = span{max(x.least, y.least), max(x.most, y.most)}
	case loop.Select:
		out = span{min(x.least, y.least), max(x.most, y.most)}
	case loop.Eq, loop.Ne, loop.Lt, loop.Le:
		return true
	case loop.And, loop.Or, loop.Xor, loop.Not:
		return bools
	default:
		return false
	}
	if b.nest.Types[s.Dst] != types.I64 {
		return b.nest.Types[s.Dst] == types.Bool && s.Code == loop.Select
	}
	fits := out.least >= math.MinInt8 && out.most <= math.MaxInt8
	if fits {
		b.spans[s.Dst] = out
	}
	return konst || fits
}
