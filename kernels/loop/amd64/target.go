package amd64

// This file defines what a target is. Lowering writes the instructions of AVX-512, masks included;
// a target that lacks some of them rewrites the steps before registers are assigned. What the
// scalar code between the steps does with vectors is behind an interface, since no step names the
// instructions inside it.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// Target names an instruction set that code is made for.
type Target string

// The targets: AVX-512 with BW, CD, DQ and VL, and AVX2 with FMA.
const (
	AVX512 Target = "avx512"
	AVX2   Target = "avx2"
)

// target is one instruction set.
type target struct {
	name   Target
	length Len // of vectors of 64-bit elements
	lanes  int
	// embeds says that instructions take one element of memory for all lanes.
	embeds bool
	registers
	// line is how many vectors a row has at least that begins at a line of a cache: see lineStart. 0:
	// none does.
	line  int
	spare [3]Reg // vector registers through which values in scratch memory pass
	// spareMask are the mask registers through which they pass. The second limits no instruction.
	spareMask [2]Reg
	vec       vectors
	// rewrite replaces the instructions that the target lacks; nil: it has all.
	rewrite func(p *program, a *Asm)
}

// single is the length of vectors of f32, as many as lanes.
func (t *target) single() Len {
	if t.wide() {
		return t.length
	}
	return t.length - 1
}

// wide reports lanes of 32 bits.
func (t *target) wide() bool { return t.lanes*4 == t.length.Bytes() }

// vexOnly says that the target has no EVEX encodings and no mask registers.
func (t *target) vexOnly() bool { return t.rewrite != nil }

// vectors is what a target does with whole vectors inside scalar code. A mask says which lanes
// count; NoReg: all. The methods may change RAX, R9, R10, R11, the spare registers that no operand
// is in, and the flags; operands stay as they are.
type vectors interface {
	// splat sets all lanes of dst to the word in RAX.
	splat(m *maker, dst Reg)
	// truth sets the mask dst to all lanes if RAX is 1, to none if it is 0.
	truth(m *maker, dst Reg)
	// first sets the mask dst to as many lanes from the first on as RAX says, at most all.
	first(m *maker, dst Reg)
	// none sets the flags to Equal if the mask has no lane.
	none(m *maker, mask Reg)
	// bits sets RAX to the lanes of the mask, a bit each, and the others to 0.
	bits(m *maker, mask Reg)
	// load reads lanes that lie side by side at a place. It touches no memory of lanes that do not
	// count; they become 0.
	load(m *maker, e types.Elem, dst, mask Reg, at Mem)
	// store writes lanes side by side. Memory of lanes that do not count is not touched.
	store(m *maker, e types.Elem, v, mask Reg, at Mem)
	// gather reads an element a lane, but no bools: at.Index is the vector of offsets. Lanes that
	// do not count become 0.
	gather(m *maker, e types.Elem, dst, mask Reg, at Mem)
	// scatter writes an element a lane, but no bools, in ascending order of the lanes: at.Index is
	// the vector of offsets.
	scatter(m *maker, e types.Elem, v, mask Reg, at Mem)
}

// What follows is AVX-512 with its extensions BW, CD, DQ and VL.

var avx512 = &target{name: AVX512, length: L512, lanes: 8, embeds: true, line: 16,
	registers: registers{vectors: 29, masks: 6, general: generalRegs}, spare: [3]Reg{29, 30, 31},
	spareMask: [2]Reg{K0 + 7, K0}, vec: evexVectors{}}

// evexVectors has masks in mask registers.
type evexVectors struct{}

func (evexVectors) splat(m *maker, dst Reg) {
	m.Emit(Inst{Op: VPBROADCASTQG, Len: m.length, Dst: dst, B: RAX})
}

func (evexVectors) truth(m *maker, dst Reg) {
	m.Neg(RAX)
	if m.lanes < 8 {
		m.ArithImm(AndG, RAX, 1<<m.lanes-1)
	}
	m.Emit(Inst{Op: KMOVWFromG, Dst: dst, B: RAX})
}

func (evexVectors) first(m *maker, dst Reg) {
	masks := make([]uint64, m.lanes+1)
	for k := range masks {
		masks[k] = 1<<k - 1
	}
	m.Lea(R9, m.Const(masks...))
	m.Emit(Inst{Op: KMOVW, Dst: dst, InMem: true, Mem: Indexed(R9, RAX, 8, 0)})
}

func (evexVectors) none(m *maker, mask Reg) {
	op := KORTESTB
	if m.lanes > 8 {
		op = KORTESTW
	}
	m.Emit(Inst{Op: op, Dst: mask, B: mask})
}

func (evexVectors) bits(m *maker, mask Reg) {
	if mask == NoReg {
		m.MovImm(RAX, 1<<m.lanes-1)
		return
	}
	m.Emit(Inst{Op: KMOVBToG, Dst: RAX, B: mask})
	if m.lanes < 8 { // a constant mask has all bits
		m.ArithImm(AndG, RAX, 1<<m.lanes-1)
	}
}

func (evexVectors) load(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	i := Inst{Op: VMOVUPD, Len: m.length, Dst: dst, InMem: true, Mem: at}
	if mask != NoReg {
		i.Mask, i.Zero = mask, true
	}
	switch e {
	case types.F32:
		i.Op, i.Len = VMOVUPS, m.single()
	case types.Bool:
		i.Op, i.Len, i.Dst = VMOVDQU8, L128, m.spare[0]
		if mask == NoReg && m.lanes == 8 {
			i.Op = VMOVQ
		}
		m.put(&i)
		i = Inst{Op: VPTESTMB, Len: L128, Dst: dst, A: m.spare[0], B: m.spare[0]}
	}
	m.put(&i)
}

func (evexVectors) store(m *maker, e types.Elem, v, mask Reg, at Mem) {
	i := Inst{Op: VMOVUPDStore, Len: m.length, A: v, InMem: true, Mem: at}
	if mask != NoReg {
		i.Mask = mask
	}
	switch e {
	case types.F32:
		i.Op, i.Len = VMOVUPSStore, m.single()
	case types.Bool: // a byte a lane: all bits of a word, then one, then its low byte
		if m.lanes > 8 {
			m.Emit(Inst{Op: VPMOVM2D, Len: m.length, Dst: m.spare[0], B: v})
			m.Emit(Inst{Op: VPSRLD, Len: m.length, Dst: m.spare[0], B: m.spare[0], Imm: 31})
			i.Op, i.A = VPMOVDB, m.spare[0]
			break
		}
		m.Emit(Inst{Op: VPMOVM2Q, Len: m.length, Dst: m.spare[0], B: v})
		m.Emit(Inst{Op: VPSRLQ, Len: m.length, Dst: m.spare[0], B: m.spare[0], Imm: 63})
		i.Op, i.A = VPMOVQB, m.spare[0]
	}
	m.put(&i)
}

// counting copies a mask for an instruction that clears it.
func (evexVectors) counting(m *maker, mask Reg) Reg {
	if mask == NoReg {
		m.Emit(Inst{Op: KXNORW, Dst: m.spareMask[0], A: K(0), B: K(0)})
	} else {
		m.Emit(Inst{Op: KMOVW, Dst: m.spareMask[0], B: mask})
	}
	return m.spareMask[0]
}

func (x evexVectors) gather(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	to := dst
	if to == at.Index { // the two may not be one
		to = m.spare[2]
	}
	op := pair{VGATHERQPD, VGATHERQPS}.of(e)
	mask = x.counting(m, mask)
	m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: to, A: to, B: to})
	m.Emit(Inst{Op: op, Len: m.length, Dst: to, InMem: true, Mem: at, Mask: mask})
	if to != dst {
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: dst, B: to})
	}
}

func (x evexVectors) scatter(m *maker, e types.Elem, v, mask Reg, at Mem) {
	op := pair{VSCATTERQPD, VSCATTERQPS}.of(e)
	m.Emit(Inst{Op: op, Len: m.length, A: v, InMem: true, Mem: at, Mask: x.counting(m, mask)})
}

// What follows finds nests on f32 alone, whose vectors have twice as many lanes, and those of one
// point, which have shorter ones.

// singles is the target for a nest: t, or one with lanes of 32 bits where the nest computes with
// nothing else, or with vectors of half the length where there is one point and no vector in its rounds.
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
