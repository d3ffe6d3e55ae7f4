package kernels

// This file turns runs of float arithmetic, comparisons and selections among the instructions into
// programs of the chain machine (package vec), which keeps what is between two operators in
// registers. A run that it covers costs no slab traffic; a program that is one such run needs no
// batches either and goes over memory in one piece.

import (
	"math"
	"slices"
	"unsafe"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// segment is a run of instructions first..last that the chain machine executes.
type segment struct {
	first, last int
	protos      []proto
	guards      []guard
}

// guard is an instruction that may have no value of an element, and the temporary in which the
// machine says so.
type guard struct {
	def  *op.Def
	from types.Elem // of its operands
	temp int
}

// failure is that of which the temporary has a word that is not 0, of the first element: an
// instruction that makes words of floats leaves what it has no value of there.
func (g *guard) failure(found uint64) error {
	if g.from.IsFloat() {
		return define.NoValue(g.def, types.I64, []value.Scalar{{Elem: g.from, F: math.Float64frombits(found)}})
	}
	return define.NoValue(g.def, types.I64, []value.Scalar{value.I64(1), value.I64(0)})
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
	store uint64 // LinkStore or LinkStream
	again uint64 // the same of what is stored besides
	// strips: the target is a part of what is stored past the caches, which a loop would not see.
	strips bool
}

// link finds the segments. One alone among other instructions is left to its loop, which does as
// well.
func (m *machine) link(inputs []op.Operand) {
	m.segs, m.segAt, m.protos = m.segs[:0], dense.Resized(m.segAt, len(m.code)), m.protos[:0]
	m.pure = false
	for k := range m.code {
		m.segAt[k] = -1
	}
	if !vec.HaveChain {
		return
	}
	guards := 0
	for k := 0; k < len(m.code); k++ {
		l := m.extent(k)
		if !m.worthwhile(k, l) {
			continue
		}
		m.segAt[k] = len(m.segs)
		m.segs = append(m.segs, segment{first: k, last: l - 1})
		s := &m.segs[len(m.segs)-1]
		for i := range m.code[k:l] {
			if c := &m.code[k+i]; c.guard {
				s.guards = append(s.guards, guard{c.def, c.elem, len(m.elems) + guards})
				guards++
			}
		}
		m.write(s, inputs)
		k = l - 1
	}
	m.pure = len(m.segs) == 1 && m.segs[0].last-m.segs[0].first == len(m.code)-1
	if need := (len(m.elems)+guards)*tempWords + 8; len(m.temps) < need {
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

// fewRounded is the most operations on float32 of a segment, in whose lanes of 64 bits they take
// four times as long as in loops of their own.
const fewRounded = 3

// extent is the instruction after the longest run from k on that the machine can do.
func (m *machine) extent(k int) int {
	rounded := 0
	for l := k; l < len(m.code); l++ {
		x := linksOf(&m.code[l])
		if x.rounds {
			rounded++
		}
		if !x.runs || rounded > fewRounded {
			return l
		}
	}
	return len(m.code)
}

// worthwhile reports that instructions k..l-1 go better as a segment than one by one: more than one
// of several, and not truths and float32 alone, which take less room elsewhere.
func (m *machine) worthwhile(k, l int) bool {
	if l-k < 2 {
		i := &m.code[k]
		return l > k && len(m.code) == 1 && i.n < 3 && (i.out == types.F64 || i.guard || i.code == opConvert && i.out != types.F32)
	}
	for _, i := range m.code[k:l] {
		if i.out.Size() == 8 || i.code == opCmpF64 || i.code == opCmpI64 {
			return true
		}
	}
	return false
}

// chain runs a segment on n elements: whole groups by the machine, the rest instruction by
// instruction. end is for the segment that makes the program's result, at dst.
func (m *machine) chain(s *segment, n int, dst *dense.Slab) error {
	const group = vec.ChainBytes / 8
	whole := n - n%group
	if whole > 0 {
		m.fillLinks(s, dst)
		for _, g := range s.guards {
			clear(m.temps[g.temp*tempWords:][:tempWords])
		}
		vec.ChainF64(m.links, whole)
		for _, g := range s.guards {
			for _, found := range m.temps[g.temp*tempWords:][:tempWords] {
				if found != 0 {
					return g.failure(found)
				}
			}
		}
	}
	if whole < n {
		return m.rest(s, whole, n-whole, dst)
	}
	return nil
}

// failure is the failure of the first of n elements of which i has no value.
func (m *machine) failure(i *instr, n int) error {
	for e := range n {
		for a, r := range i.arg[:i.n] {
			m.x[a] = m.regs[r].At(m.elems[r], e)
		}
		if err := define.NoValue(i.def, i.out, m.x[:i.n]); err != nil {
			return err
		}
	}
	return op.Failf(define.CodeData, "BUG: a loop has no value of an element of which its row has one")
}

func (m *machine) fillLinks(s *segment, dst *dense.Slab) {
	m.links = m.links[:0]
	m.pairs = m.pairs[:0]
	if need := (len(s.protos) + 1) / 2; cap(m.pairs) < need {
		m.pairs = make([][2]uint64, 0, need)
	}
	for _, p := range s.protos {
		l := vec.Link{Op: p.op}
		switch p.kind {
		case inTemp:
			l.Base = unsafe.Pointer(&m.temps[p.reg*tempWords])
		case inSlab:
			l.Base = m.regs[p.reg].Pointer()
			if m.walk[p.reg] {
				l.Walk = ^uint64(0)
			} else {
				l.Op = vec.Same(p.op)
			}
		}
		if m.paired(l) {
			continue
		}
		if m.links = append(m.links, l); len(m.links) == 1 && m.asking {
			m.ask(s)
		}
	}
	if s.last == len(m.code)-1 {
		m.links = append(m.links, vec.Link{Op: m.storing(s, m.end.store), Base: dst.Pointer(), Walk: ^uint64(0)})
		if m.aside.Len() > 0 {
			m.links = append(m.links, vec.Link{Op: m.storing(s, m.end.again), Base: m.aside.Pointer(), Walk: ^uint64(0)})
		}
	}
	m.links = append(m.links, vec.Link{Op: vec.LinkEnd})
}

// paired makes one link of the last one and l if both are of operands that are the same for all
// elements and there is such a link.
func (m *machine) paired(l vec.Link) bool {
	k := len(m.links) - 1
	if k < 0 || l.Walk != 0 {
		return false
	}
	before := &m.links[k]
	op := vec.Pair(before.Op, l.Op)
	if op == 0 {
		return false
	}
	m.pairs = append(m.pairs, [2]uint64{})
	both := &m.pairs[len(m.pairs)-1]
	both[0], both[1] = *(*uint64)(before.Base), *(*uint64)(l.Base)
	*before = vec.Link{Op: op, Base: unsafe.Pointer(both)}
	return true
}

// askFrom is the size of an operand of which links ask ahead: smaller ones may lie in a cache.
const askFrom = 1 << 20

// ask adds links that ask for what the segment reads from memory in the rounds to come.
func (m *machine) ask(s *segment) {
	first := len(m.links)
	for _, p := range s.protos {
		if p.kind != inSlab || p.reg >= len(m.in) || m.elems[p.reg].Size() != 8 {
			continue
		}
		x := &m.in[p.reg]
		if x.mode != op.Full || x.d.Rows*x.d.Cols*8 < askFrom {
			continue
		}
		l := vec.Link{Op: vec.LinkAsk, Base: m.regs[p.reg].Pointer(), Walk: ^uint64(0)}
		if load := &m.links[0]; load.Op == vec.LinkLoad && load.Base == l.Base {
			load.Op = vec.LinkLoadAsk
			continue
		}
		if !slices.Contains(m.links[first:], l) {
			m.links = append(m.links, l)
		}
	}
}

// storing is the link that stores the result of the last segment: the given one where elements are
// in memory as they are in lanes.
func (m *machine) storing(s *segment, store uint64) uint64 {
	switch out := m.code[s.last].out; {
	case out == types.Bool:
		return vec.LinkStoreTruths
	case out == types.F32:
		return vec.LinkStoreFloats
	}
	return store
}

// rest runs the instructions of a segment on n elements from at on: fewer than a group. Registers
// that the chain kept to itself use the start of their slabs.
func (m *machine) rest(s *segment, at, n int, dst *dense.Slab) error {
	keep := m.regs
	defer func() { m.regs = keep }()
	m.shifted = append(m.shifted[:0], m.regs...)
	for r := range m.shifted {
		if x := &m.shifted[r]; m.walk[r] && x.Len() >= at+n {
			*x = dense.Cut(*x, at, n)
		}
	}
	m.regs = m.shifted
	if s.last == len(m.code)-1 {
		d := &m.regs[m.code[s.last].dst]
		*d = dense.Cut(*dst, at, n)
	}
	for k := s.first; k <= s.last; k++ {
		if !m.step(&m.code[k], n) {
			return m.failure(&m.code[k], n)
		}
	}
	if s.last == len(m.code)-1 && m.aside.Len() > 0 {
		dense.CopySlab(&m.aside, m.code[s.last].out, at, m.regs[m.code[s.last].dst])
	}
	return nil
}

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
	dense.Fill(&m.regs[k], m.elems[k], v, 0, n)
	for _, c := range m.constants {
		if c.in == k {
			dense.Fill(&m.regs[c.reg], m.elems[c.reg], v.Convert(m.elems[c.reg]), 0, n)
		}
	}
}
