package amd64

// This file gives nests on bools lanes of 8 bits: 64 points a vector. A bool has two forms: a vector of
// bytes, 0 or 1 as in memory, and a mask of 64 bits. A form that nothing reads is not made. Small
// integers, such as the number of neighbours that live, are bytes, too. lanes.go finds these nests.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// ofBytes returns the bool whose bytes, 0 or 1, are v.
func (l *lowering) ofBytes(v virt) operand {
	k := l.emit(&step{Inst: Inst{Op: VPTESTMB, Len: l.length}, a: v, b: v, dst: l.fresh(maskClass)})
	return l.knows(operand{v: k}, facts{bytes: v})
}

// byteVector returns an operand as bytes.
func (l *lowering) byteVector(o operand) virt {
	const ones = math.MaxUint64 / math.MaxUint8
	switch {
	case o.konst:
		return l.constantVector(types.I64, o.word&math.MaxUint8*ones)
	case o.elem != types.Bool:
		return o.v
	case o.known().bytes != 0:
		return o.known().bytes
	}
	return l.emit(&step{Inst: Inst{Op: VMOVDQU8, Len: l.length, Zero: true}, b: l.constantVector(types.I64, ones), mask: o.v, dst: l.fresh(vectorClass)})
}

var (
	byteBinary = [256]Op{loop.Add: VPADDB, loop.Sub: VPSUBB, loop.Min: VPMINSB, loop.Max: VPMAXSB, loop.And: VPANDQ, loop.Or: VPORQ, loop.Xor: VPXORQ,
		loop.Ne: VPXORQ}
	// negatesFirst has, for an operation on bools, the one with the same result on the negated first
	// operand.
	negatesFirst = map[loop.Code]loop.Code{loop.Eq: loop.Xor, loop.Lt: loop.And, loop.Le: loop.Or}
)

// byteOperation lowers an operation in lanes of bytes.
func (l *lowering) byteOperation(s *loop.Stmt, in []operand) operand {
	if o, ok := l.folded(s, in, in[0].elem); ok {
		return o
	}
	c := s.Code
	vectors := l.shop.virts.list(len(in))
	for _, o := range in {
		if o.elem == types.Bool && !o.konst && o.known().bytes == 0 && c != loop.ToI64 {
			break
		}
		vectors = append(vectors, l.byteVector(o))
	}
	bytes := len(vectors) == len(in)
	op := func(op Op, a, b virt) virt { return l.pairwise(op, l.length, a, b, vectorClass) }
	not := func(v virt) virt { return op(VPXORQ, v, l.byteVector(constantOf(types.Bool, 1))) }
	switch {
	case c == loop.ToI64:
		return operand{v: vectors[0]}
	case c == loop.Select && in[0].konst:
		return in[2-in[0].word]
	case c == loop.Select && in[1].elem == types.I64:
		a, b := l.byteVector(in[2]), l.byteVector(in[1])
		return operand{v: l.emit(&step{Inst: Inst{Op: VPBLENDMB, Len: l.length}, a: a, b: b, mask: in[0].v, dst: l.fresh(vectorClass)})}
	case in[0].elem == types.I64 && byteBinary[c] != noOp && c != loop.Ne:
		return operand{v: op(byteBinary[c], vectors[0], vectors[1])}
	case in[0].elem == types.I64:
		k := l.pairwise(VPCMPB, l.length, vectors[0], vectors[1], maskClass)
		l.steps[len(l.steps)-1].Imm = signed[c]
		return operand{v: k}
	case c == loop.Select && bytes:
		const chosen = 0xca // the second if the first is set, else the third
		return l.ofBytes(l.emit(&step{Inst: Inst{Len: l.length}, fused: fusedStep{is: true, table: chosen}, a: vectors[0], b: vectors[1], c: vectors[2], dst: l.fresh(vectorClass)}))
	case c == loop.Select:
		return operand{v: l.merged(l.vector(in[0]), in[1], in[2])}
	case !bytes:
		return operand{v: l.logic(s, in)}
	case c == loop.Not:
		return l.ofBytes(not(vectors[0]))
	}
	a := vectors[0]
	if of, ok := negatesFirst[c]; ok {
		a, c = not(a), of
	}
	return l.ofBytes(op(byteBinary[c], a, vectors[1]))
}

// contribution64 returns what bool o contributes in the active lanes to a state of one word. The
// contribution is a state with lanes of 64 bits, to be merged. A count is in its first lane alone.
func (l *lowering) contribution64(class loop.Class, o operand) []operand {
	c := l.vector(o)
	all := class == loop.All || class == loop.Least
	if all { // no lane that counts is false
		c = l.not(c)
	}
	v := l.emit(&step{a: l.under(c), dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, r regs) {
		if m.vec.bits(m, r.a); class == loop.Count {
			m.PopCount(RAX, RAX)
			m.Emit(Inst{Op: VMOVQ, Dst: dst, B: RAX})
			return
		}
		m.Mov(R9, RAX)
		m.Test(R9, R9)
		m.MovImm(RAX, 0)
		m.MovImm(R10, 1)
		if all {
			m.Cmov(Equal, RAX, R10)
		} else {
			m.Cmov(NotEqual, RAX, R10)
		}
		m.vec.splat(m, dst)
	}})
	return []operand{inRegister(types.I64, v)}
}
