package amd64

// This file lowers a nest to a program: the points along one index of the space are the lanes of
// vectors.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// block lowers the statements of a block that perhaps does not run, or runs again with other values.
func (l *lowering) block(b *loop.Block) {
	divided := len(l.divided)
	l.statements(b)
	l.divided = l.divided[:divided]
}

func (l *lowering) statements(b *loop.Block) {
	for i := range b.Stmts {
		l.stmt(&b.Stmts[i])
	}
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
	case loop.Load, loop.Store:
		if g := l.besides[s]; g != nil {
			l.accessBeside(g, s)
		} else if !l.square || !l.turned(s) {
			l.each(func(int) { l.simple(s) })
		}
	case loop.Reduce:
		if l.reductions[contribution{s, 0}] != nil && l.place(s).lanes {
			l.reduceHeld(s)
			return
		}
		l.each(func(int) { l.simple(s) })
	default:
		l.each(func(int) { l.simple(s) })
	}
}

// simple lowers a statement that holds no others, for one part.
func (l *lowering) simple(s *loop.Stmt) {
	switch {
	case s.Code.IsOp():
		in := l.args(s)
		if l.bytewise() && l.frame.nest {
			l.set(s.Dst, l.byteOperation(s, in))
			return
		}
		o := operand{v: l.multiple(s, in)}
		if o.v == 0 {
			o = l.operation(s, in)
			o.plus = l.frame.types[s.Dst].IsFloat() && in[0].elem == l.frame.types[s.Dst] && neverMinus(s.Code, in[0].elem, in)
			o.summed = s.Code == loop.Add || s.Code == loop.Sub || s.Code == loop.Mul
		}
		if form := l.affine(s, in); form != nil {
			o = l.formed(o, form)
		}
		switch l.frame.types[s.Dst] {
		case types.I64:
			o = l.subscript(s, in, o)
		case types.Bool:
			o = l.told(s, in, o)
		}
		l.set(s.Dst, o)
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
		if v := l.load(s); l.bytewise() {
			l.set(s.Dst, l.ofBytes(v))
		} else {
			l.set(s.Dst, l.formed(operand{v: v}, l.affine(s, nil)))
		}
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

// inline lowers the body of a function for all parts together. in returns the arguments of a part;
// out takes its results.
func (l *lowering) inline(f *loop.Function, in func() []operand, out func([]operand)) {
	var outer [squareRows]*frame
	l.each(func(k int) {
		args := in()
		outer[k] = l.frame
		l.frame = l.inside(f, args)
	})
	l.statements(&f.Body)
	l.each(func(k int) {
		list := l.yields(l.frame)
		l.frame = outer[k]
		out(list)
	})
}

// call lowers the body of a function for the present part alone and returns its results.
func (l *lowering) call(f *loop.Function, args []operand) []operand {
	outer, parts, inside := l.frame, l.parts, l.inside(f, args)
	l.frame = inside
	l.parts = append(l.shop.parts.list(1), l.part)
	l.block(&f.Body)
	l.frame, l.parts = outer, parts
	return l.yields(inside)
}

// inside returns a frame for the body of a function.
func (l *lowering) inside(f *loop.Function, args []operand) *frame {
	vals := l.cut(len(f.Types))
	copy(vals, args)
	return &append(l.shop.frames.list(1), frame{vals: vals, types: f.Types, tables: f.Tables, body: &f.Body})[0]
}

// yields returns the results of the body of f.
func (l *lowering) yields(f *frame) []operand {
	out := l.shop.operands.list(len(f.body.Yield))
	for _, v := range f.body.Yield {
		out = append(out, f.vals[v])
	}
	return out
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
	n, masks := len(l.parts), l.shop.virts.list(3 * len(l.parts))[:3*len(l.parts)]
	outer, yes, not := masks[:n], masks[n:2*n], masks[2*n:]
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
	side := func(masks []virt, b *loop.Block, is int) {
		first := is == 0
		skip := l.asm.Label()
		if len(b.Stmts) > 0 {
			if !first || s.N == 0 { // the first block makes the results, so it always runs
				l.jumpIfNone(skip, masks...)
			}
			l.each(func(k int) { l.active = masks[k] })
		}
		if len(b.Stmts) > 0 {
			l.narrowed(s, is, func() { l.block(b) })
		}
		l.each(func(k int) {
			for i, x := range b.Yield {
				l.move(l.frame.vals[int(s.Dst)+i].v, l.frame.vals[x], masks[k], first)
			}
			l.active = outer[k]
		})
		l.bind(skip)
	}
	side(not, s.Else, 0)
	side(yes, s.Then, 1)
}

// jump lowers an if whose condition is that of the point.
func (l *lowering) jump(s *loop.Stmt) {
	out := make([]virt, s.N)
	for i := range out {
		out[i] = l.fresh(l.classOf(l.frame.types[int(s.Dst)+i]))
	}
	c, yes, end := l.frame.vals[s.Args[0]], l.asm.Label(), l.asm.Label()
	write := func(b *loop.Block) {
		l.block(b)
		for i, v := range b.Yield {
			l.move(out[i], l.frame.vals[v], 0, true)
		}
	}
	l.branches++
	if len(s.Else.Stmts)+s.N == 0 {
		l.jumpIfNone(end, l.vector(c))
	} else {
		l.jumpIf(c, yes)
		write(s.Else)
		l.scalar(func(m *maker, _ Reg, _ regs) { m.Goto(end) })
		l.bind(yes)
	}
	write(s.Then)
	l.bind(end)
	l.branches--
	for i, v := range out {
		l.set(s.Dst+loop.Val(i), operand{v: v})
	}
}
