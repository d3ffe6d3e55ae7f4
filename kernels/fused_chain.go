package kernels

// This file turns runs of float arithmetic among the instructions into programs of the chain machine (package vec),
// which keeps what is between two operators in registers. A run that it covers costs no slab traffic; a program that is
// one such run needs no batches either and goes over memory in one piece.

import (
	"unsafe"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// segment is a run of instructions first..last that the chain machine executes.
type segment struct {
	first, last int
	elem        types.Elem
	protos      []proto
}

// proto is a link whose operand's place is not known yet.
type proto struct {
	op   uint64
	kind location
	reg  int
}

// location is where the operand of a link lies.
type location uint8

const (
	nowhere location = iota
	inSlab           // in the register's slab or, an input, in memory
	inTemp           // in one accumulator's worth of words: read and written within a round
)

// constant is a register that holds a scalar input as elements of another type.
type constant struct{ reg, in int }

// terminal is what becomes of the result of a program that is one segment.
type terminal struct {
	store uint64 // LinkStore, LinkStream, or LinkEnd: it is not stored
	sum   uint64 // LinkSum, LinkSquares or LinkEnd
}

// linksOf is the link of an instruction: with the accumulator as first argument, and as second one.
func linksOf(i *instr) (first, second uint64, ok bool) {
	switch i.code {
	case opConvert:
		return vec.LinkLoad, vec.LinkLoad, i.def == nil && i.elem == i.out && i.out.IsFloat() // a copy
	case opF64x1, opF32x1, opF64x2, opF32x2:
	default:
		return 0, 0, false
	}
	switch i.def.Name {
	case "add":
		return vec.LinkAdd, vec.LinkAdd, true
	case "sub":
		return vec.LinkSub, vec.LinkSubFrom, true
	case "mul":
		return vec.LinkMul, vec.LinkMul, true
	case "div":
		return vec.LinkDiv, vec.LinkDivInto, true
	case "ew.min":
		return vec.LinkMin, vec.LinkMin, true
	case "ew.max":
		return vec.LinkMax, vec.LinkMax, true
	case "sqrt":
		return vec.LinkSqrt, vec.LinkSqrt, true
	case "abs":
		return vec.LinkAbs, vec.LinkAbs, true
	case "neg":
		return vec.LinkNeg, vec.LinkNeg, true
	}
	if f, ok := vec.FunctionNamed(i.def.Name); ok && i.n == 1 {
		return f.Link, f.Link, true
	}
	return 0, 0, false
}

// link finds the segments. One alone among other instructions is left to its loop, which does as well.
func (m *machine) link() {
	m.segs, m.segAt = m.segs[:0], resize(m.segAt, len(m.code))
	m.pure = false
	for k := range m.code {
		m.segAt[k] = -1
	}
	if !vec.HaveChain {
		return
	}
	for k := 0; k < len(m.code); k++ {
		l := k
		for l < len(m.code) && m.joins(k, l) {
			l++
		}
		if l-k < 2 && (l == k || len(m.code) > 1) {
			continue
		}
		m.segAt[k] = len(m.segs)
		m.segs = append(m.segs, segment{first: k, last: l - 1, elem: storage(m.code[k].out), protos: m.protos(k, l-1)})
		k = l - 1
	}
	m.pure = len(m.segs) == 1 && m.segs[0].last-m.segs[0].first == len(m.code)-1
	if need := len(m.elems)*tempWords + 8; len(m.temps) < need {
		m.temps = make([]uint64, need)
	}
	m.temps = aligned(m.temps)
}

// tempWords is the words of a temporary.
const tempWords = vec.ChainBytes / 8

// aligned is s from its first cache line on.
func aligned(s []uint64) []uint64 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 != 0 {
		s = s[1:]
	}
	return s
}

// joins reports that instruction l can be in a segment that starts with k.
func (m *machine) joins(k, l int) bool {
	i := &m.code[l]
	_, _, ok := linksOf(i)
	return ok && i.out == m.code[k].out && i.elem == i.out
}

// protos is the links of instructions first..last. The accumulator holds the result of the instruction before; it is
// written out where somebody else reads it too.
func (m *machine) protos(first, last int) (out []proto) {
	acc := -1
	home := func(r int) proto {
		for k := first; k <= last; k++ {
			if m.code[k].dst == r && m.last[r] <= last {
				return proto{kind: inTemp, reg: r}
			}
		}
		return proto{kind: inSlab, reg: r}
	}
	add := func(op uint64, p proto) {
		p.op = op
		out = append(out, p)
	}
	for k := first; k <= last; k++ {
		i := &m.code[k]
		one, two, _ := linksOf(i)
		a := i.arg[0]
		switch {
		case i.n == 1 && one == vec.LinkLoad:
			add(vec.LinkLoad, home(a))
		case i.n == 1:
			if a != acc {
				add(vec.LinkLoad, home(a))
			}
			add(one, proto{})
		case a == acc:
			add(one, home(i.arg[1]))
		case i.arg[1] == acc:
			add(two, home(a))
		default:
			add(vec.LinkLoad, home(a))
			add(one, home(i.arg[1]))
		}
		acc = i.dst
		readNext := 0
		if k < last {
			for _, r := range m.code[k+1].arg[:m.code[k+1].n] {
				if r == acc {
					readNext++
				}
			}
		}
		if m.last[acc] > k+1 || readNext > 1 || k == last && m.last[acc] > k {
			add(vec.LinkStore, home(acc))
		}
	}
	return out
}

// chain runs a segment on n elements: whole groups by the machine, the rest instruction by instruction. end is for the
// segment that makes the program's result, at dst.
func (m *machine) chain(s *segment, n int, dst *slab) {
	group := vec.ChainBytes / s.elem.Size()
	whole := n - n%group
	if whole > 0 {
		m.fillLinks(s, dst)
		if s.elem == types.F64 {
			vec.ChainF64(m.links, whole, m.state)
		} else {
			vec.ChainF32(m.links, whole)
		}
	}
	if whole < n {
		m.rest(s, whole, n-whole, dst)
	}
}

func (m *machine) fillLinks(s *segment, dst *slab) {
	m.links = m.links[:0]
	for _, p := range s.protos {
		l := vec.Link{Op: p.op}
		switch p.kind {
		case inTemp:
			l.Base = unsafe.Pointer(&m.temps[p.reg*tempWords])
		case inSlab:
			l.Base = m.regs[p.reg].pointer()
			if m.walk[p.reg] {
				l.Walk = ^uint64(0)
			}
		}
		m.links = append(m.links, l)
	}
	if s.last == len(m.code)-1 {
		if m.end.store != vec.LinkEnd {
			m.links = append(m.links, vec.Link{Op: m.end.store, Base: dst.pointer(), Walk: ^uint64(0)})
		}
		if m.end.sum != vec.LinkEnd {
			m.links = append(m.links, vec.Link{Op: m.end.sum})
		}
	}
	m.links = append(m.links, vec.Link{Op: vec.LinkEnd})
}

// rest runs the instructions of a segment on n elements from at on: fewer than a group. Registers that the chain kept to
// itself use the start of their slabs.
func (m *machine) rest(s *segment, at, n int, dst *slab) {
	keep := m.regs
	m.shifted = append(m.shifted[:0], m.regs...)
	for r := range m.shifted {
		if x := &m.shifted[r]; m.walk[r] && x.len() >= at+n {
			*x = cut(*x, at, n)
		}
	}
	m.regs = m.shifted
	if s.last == len(m.code)-1 {
		d := &m.regs[m.code[s.last].dst]
		if m.end.store != vec.LinkEnd {
			*d = cut(*dst, at, n)
		} else {
			*d = slab{f64: m.tails[m.tail : m.tail+n]}
		}
		if m.end.sum != vec.LinkEnd {
			m.tail += n
		}
	}
	for k := s.first; k <= s.last; k++ {
		m.step(&m.code[k], n)
	}
	if s.last == len(m.code)-1 && m.end.store != vec.LinkEnd && m.end.sum != vec.LinkEnd {
		copy(m.tails[m.tail-n:m.tail], m.regs[m.code[s.last].dst].f64)
	}
	m.regs = keep
}

// pointer is the address of the first element.
func (s *slab) pointer() unsafe.Pointer {
	switch {
	case s.f64 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.f64))
	case s.f32 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.f32))
	case s.i64 != nil:
		return unsafe.Pointer(unsafe.SliceData(s.i64))
	}
	return unsafe.Pointer(unsafe.SliceData(s.b))
}

func (s *slab) len() int { return len(s.f64) + len(s.f32) + len(s.i64) + len(s.b) }

// constantOf is the register of scalar input r as elements of e, or -1 where r is no scalar.
func (m *machine) constantOf(p *op.Program, r int, e types.Elem) int {
	if r >= len(p.In) || p.In[r].Mode != op.Single || !e.IsNumeric() {
		return -1
	}
	for _, c := range m.constants {
		if c.in == r && m.elems[c.reg] == e {
			return c.reg
		}
	}
	c := constant{m.register(e), r}
	m.constants = append(m.constants, c)
	return c.reg
}

// setConstants fills the registers that hold scalar input k.
func (m *machine) setConstants(k int, v value.Scalar, n int) {
	fill(&m.regs[k], m.elems[k], v, 0, n)
	for _, c := range m.constants {
		if c.in == k {
			fill(&m.regs[c.reg], m.elems[c.reg], v.Convert(m.elems[c.reg]), 0, n)
		}
	}
}
