package amd64

// This file gives nests on bools lanes of 8 bits: 64 points a vector. A bool is a byte, 0 or 1, as it is
// in memory, and a mask of 64 bits; what nothing reads of the two is not made. Small integers, such as
// the number of neighbours that live, are bytes, too.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// bytewise reports lanes of 8 bits.
func (t *target) bytewise() bool { return t.lanes == t.length.Bytes() }

// longMasks has, for instructions on masks of 16 bits, those on masks of 64 bits.
var longMasks = func() (list [mostOps]Op) {
	for _, x := range [][2]Op{{KANDW, KANDQ}, {KANDNW, KANDNQ}, {KORW, KORQ}, {KXNORW, KXNORQ}, {KXORW, KXORQ}, {KNOTW, KNOTQ}, {KORTESTW, KORTESTQ},
		{KMOVW, KMOVQ}, {KMOVWStore, KMOVQStore}, {KMOVWFromG, KMOVQFromG}, {KMOVWToG, KMOVQToG}} {
		list[x[0]] = x[1]
	}
	return list
}()

// byteLanes finds out whether the lanes of a nest can be bytes.
type byteLanes struct {
	*lowering
	needed map[loop.Val]bool // a statement that is kept reads it
	spans  map[loop.Val]span // of integers that are bytes
	konst  map[loop.Val]bool // the value is known when the nest is compiled
}

// inBytes returns the nest without statements that no result needs if its lanes can be bytes, or nil.
// All that is needed must be bools, or integers that fit into a byte; lanes must lie side by side.
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

// fits reports that byte lanes can do all statements of a block.
func (b *byteLanes) fits(x *loop.Block) bool {
	for k := range x.Stmts {
		if s := &x.Stmts[k]; !b.fit(s) {
			return false
		}
	}
	return true
}

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

// operates reports an operation that byte lanes can do, and notes what is known of its result.
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

// What follows lowers operations on bytes.

// ofBytes returns the bool that is a byte of v, 0 or 1.
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
	// negatesFirst are operations on bools that are others of the first operand's negation.
	negatesFirst = map[loop.Code]loop.Code{loop.Eq: loop.Xor, loop.Lt: loop.And, loop.Le: loop.Or}
)

// byteOperation lowers an operation on bytes.
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

// contribution64 returns what the bools of the lanes that count contribute to a state of one word: as
// another state, whose lanes are merged with those of the first. A number is in its first lane alone.
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
