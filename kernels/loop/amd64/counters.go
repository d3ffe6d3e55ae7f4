package amd64

// This file keeps the indices of inner loops that are the same in all lanes: each is a counter in
// scratch memory, from which addresses are computed by scalar instructions. A vector of it is made
// only where its value is read.

import (
	"math"
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// mem is where the index lies.
func (c counter) mem() Mem { return At(scratchReg, countersAt+16*int32(c)) }

// end is where its end lies.
func (c counter) end() Mem { return At(scratchReg, countersAt+16*int32(c)+8) }

// counter is that of an index of the nest; ok is false where it is not the same in all lanes, or
// there is no room.
func (l *lowering) counter(x loop.Index) (c counter, ok bool) {
	if !l.frame.nest || l.varies(l.form(x.Range.From)) {
		return 0, false
	}
	return l.wordNamed(x.Name)
}

// wordNamed is the counter of a name; ok is false where there is no room.
func (l *lowering) wordNamed(name int) (c counter, ok bool) {
	c, ok = l.counters[name]
	if !ok && len(l.counters) < maxCounters {
		c, ok = counter(len(l.counters)), true
		l.counters[name] = c
	}
	return c, ok
}

// scalar emits code of general registers that makes no value.
func (l *lowering) scalar(write func(m *maker, _ Reg, _ regs)) { l.emit(&step{scalar: write}) }

// bind places a label.
func (l *lowering) bind(at Label) {
	l.emit(&step{jumps: true, scalar: func(m *maker, _ Reg, _ regs) { m.Bind(at) }})
}

// setWord sets a word of scratch memory to a form that is the same in all lanes.
func (l *lowering) setWord(to Mem, f loop.Lin) {
	l.scalar(func(m *maker, _ Reg, _ regs) {
		l.scalarLin(m, RAX, f)
		m.StoreG(to, RAX)
	})
}

// breaks reports a break that belongs to the loop of b.
func breaks(b *loop.Block) bool {
	return slices.ContainsFunc(b.Stmts, func(s loop.Stmt) bool { return s.Code == loop.Break })
}

// form is f with values replaced by the linear forms that they are known to be. A form that needs
// the vector of an index is left.
func (l *lowering) form(f loop.Lin) loop.Lin {
	if f.Affine() {
		return f
	}
	out := loop.Lin{Const: f.Const}
	for k, t := range f.Terms {
		one := loop.Lin{Terms: f.Terms[k : k+1 : k+1]}
		if t.Sym.Kind == loop.ValSym {
			o := l.frame.vals[t.Sym.N]
			switch form := o.known().form; {
			case o.konst:
				one = loop.Num(int64(o.word)).Times(t.Coef)
			case form != nil && !l.counted(*form):
				one = form.Times(t.Coef)
			}
		}
		out = out.Plus(one)
	}
	return out
}

// affine is the linear form of a value of the nest, or nil: an index, an operand, a constant, and
// sums and multiples of them.
func (l *lowering) affine(s *loop.Stmt, in []operand) *loop.Lin {
	if !l.frame.nest || s.N != 1 || l.frame.types[s.Dst] != types.I64 {
		return nil
	}
	var known [2]loop.Lin
	if len(in) > len(known) {
		return nil
	}
	for k, o := range in {
		switch {
		case o.elem != types.I64:
			return nil
		case o.konst:
			known[k] = loop.Num(int64(o.word))
		case o.known().form != nil:
			known[k] = *o.facts.form
		default:
			return nil
		}
	}
	var f loop.Lin
	switch s.Code {
	case loop.IndexOf:
		f = loop.Of(loop.IndexSym, int(s.Imm))
	case loop.Load:
		if s.Mem.Kind != loop.ParamMem || l.nest.Params[s.Mem.N].Kind != loop.ScalarParam {
			return nil
		}
		f = loop.Of(loop.ParamSym, s.Mem.N)
	default:
		var ok bool
		if f, ok = s.Code.Linear(known[:]); !ok {
			return nil
		}
	}
	for _, t := range f.Terms { // an instruction multiplies by 32 bits
		if t.Coef > math.MaxInt32 || t.Coef < math.MinInt32 {
			return nil
		}
	}
	return &append(l.shop.forms.list(1), f)[0]
}

// varies reports that a form is not the same in all lanes.
func (l *lowering) varies(f loop.Lin) bool {
	return f.Any(func(s loop.Sym) bool {
		_, inner := l.frame.inner[s.N]
		return s.Kind == loop.ValSym && !l.sameWord(s.N) || s.Kind == loop.IndexSym && (inner || s.N == l.lanes)
	})
}

// symbolMem is the word of a symbol that is the same in all lanes; ok is false for the row index,
// which is in a register.
func (l *lowering) symbolMem(s loop.Sym) (m Mem, ok bool) {
	at := 8 * int32(argMemory+memoryWords*s.N)
	switch s.Kind {
	case loop.IndexSym:
		if c, ok := l.counters[s.N]; ok {
			return c.mem(), true
		}
	case loop.ParamSym:
		return argMem(at), true
	case loop.RowsSym:
		return argMem(at + 16), true
	case loop.ColsSym:
		return argMem(at + 24), true
	case loop.ValSym:
		return At(scratchReg, l.named[loop.Val(s.N)].at), true
	}
	return Mem{}, false
}

// symbolIn returns a register that holds symbol s. It loads the symbol into spare if it has no register
// of its own.
func (l *lowering) symbolIn(m *maker, s loop.Sym, spare Reg) Reg {
	if c, ok := l.counters[s.N]; ok && s.Kind == loop.IndexSym && m.held == 1+c {
		return counterReg
	}
	from, ok := l.symbolMem(s)
	if !ok {
		return rowReg
	}
	m.LoadG(spare, from)
	return spare
}

// scalarLin writes code that leaves a form, the same in all lanes, in dst. It uses R10 and R11.
func (l *lowering) scalarLin(m *maker, dst Reg, f loop.Lin) {
	if len(f.Terms) == 0 {
		m.MovImm(dst, f.Const)
		return
	}
	for k, t := range f.Terms {
		to := R11
		if k == 0 {
			to = dst
		}
		from := l.symbolIn(m, t.Sym, to)
		switch c := t.Coef; {
		case c == 1:
			to = from
		case c > 0 && c&(c-1) == 0:
			m.MovTo(to, from)
			m.ShiftImm(ShlG, to, uint8(bits.TrailingZeros64(uint64(c))))
		case c == int64(int32(c)):
			m.IMulImm(to, from, int32(c))
		default:
			m.MovTo(to, from)
			m.MovImm(R10, c)
			m.IMul(to, R10)
		}
		if k > 0 {
			m.ArithG(AddG, dst, to)
		} else {
			m.MovTo(dst, to)
		}
	}
	if f.Const != 0 {
		m.ArithConst(AddG, dst, f.Const)
	}
}

// broadcastG is a general register in all lanes, written by code that leaves it in RAX.
func (l *lowering) broadcastG(write func(m *maker)) virt {
	return l.emit(&step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ regs) {
		write(m)
		m.vec.splat(m, dst)
	}})
}

// ofRow is a form in the row of the present part.
func (l *lowering) ofRow(f loop.Lin) loop.Lin {
	if l.part.row == 0 {
		return f
	}
	return f.Plus(loop.Num(int64(l.part.row) * f.Coef(loop.Sym{Kind: loop.IndexSym, N: l.rows})))
}

// ragged reports that the lanes are others in each row.
func (l *lowering) ragged() bool {
	r := l.laneRange()
	return l.rows >= 0 && (l.perRow(r.From) || l.perRow(r.To))
}

// laneRange is the range of the lanes; a space without indices is one point.
func (l *lowering) laneRange() loop.Range {
	if n := len(l.nest.Space); n > 0 {
		return l.nest.Space[n-1].Range
	}
	return loop.Range{}
}
