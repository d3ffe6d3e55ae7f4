package kernels

// This file turns runs of float arithmetic, comparisons and selections among the instructions into programs of the chain machine (package vec),
// which keeps what is between two operators in registers. A run that it covers costs no slab traffic; a program that is
// one such run needs no batches either and goes over memory in one piece.

import (
	"slices"
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
	store uint64     // LinkStore, LinkStream, or LinkEnd: it is not stored
	again uint64     // the same of what is stored besides
	ends  []vec.Link // reductions; what fills no group of theirs goes to the tails
}

// linkNames are the links of rows on float64 and float32: with the accumulator as first argument, and as second one.
var linkNames = map[string][2]uint64{
	"add": {vec.LinkAdd, vec.LinkAdd}, "sub": {vec.LinkSub, vec.LinkSubFrom},
	"mul": {vec.LinkMul, vec.LinkMul}, "div": {vec.LinkDiv, vec.LinkDivInto},
	"ew.min": {vec.LinkMin, vec.LinkMin}, "ew.max": {vec.LinkMax, vec.LinkMax},
	"sqrt": {vec.LinkSqrt}, "abs": {vec.LinkAbs}, "neg": {vec.LinkNeg},
	"round": {vec.LinkRound}, "floor": {vec.LinkFloor}, "ceil": {vec.LinkCeil},
}

// wideNames are those on float64 alone, predicateNames those that compare float64, truthNames those on truths.
var (
	wideNames      = map[string]uint64{"sign": vec.LinkSign, "relu": vec.LinkRectify}
	predicateNames = map[string][2]uint64{
		"eq": {vec.LinkEqual, vec.LinkEqual}, "ne": {vec.LinkNotEqual, vec.LinkNotEqual},
		"lt": {vec.LinkLess, vec.LinkGreater}, "gt": {vec.LinkGreater, vec.LinkLess},
		"le": {vec.LinkLessEqual, vec.LinkGreaterEqual}, "ge": {vec.LinkGreaterEqual, vec.LinkLessEqual},
		"isnan": {vec.LinkIsNaN}, "isinf": {vec.LinkIsInf},
	}
	truthNames = map[string]uint64{"and": vec.LinkAnd, "or": vec.LinkOr, "ew.min": vec.LinkAnd, "ew.max": vec.LinkOr, "not": vec.LinkNot}
)

// linksOf is the link of an instruction, with the accumulator as first argument and as second one (0: there is none), and the type of
// the lanes that it needs. That of a selection is the one with the accumulator as condition.
func linksOf(i *instr) (first, second uint64, lanes types.Elem, ok bool) {
	switch i.code {
	case opConvert:
		switch from, to := i.elem, i.out; {
		case from == to && to.IsFloat():
			return vec.LinkLoad, vec.LinkLoad, to, true // a copy
		case from == types.Bool && to == types.F64:
			return vec.LinkOfTruth, vec.LinkOfTruth, types.F64, true
		case from == types.F64 && to == types.Bool:
			return vec.LinkNonZero, vec.LinkNonZero, types.F64, true
		}
		return 0, 0, types.NoElem, false
	case opSelF64:
		return vec.LinkChoose, vec.LinkChoose, types.F64, i.def.Name == "ifelse"
	case opCmpF64:
		l, ok := predicateNames[i.def.Name]
		return l[0], l[1], types.F64, ok
	case opBoolx1, opBoolx2:
		l, ok := truthNames[i.def.Name]
		return l, l, types.F64, ok
	case opF64x1, opF32x1, opF64x2, opF32x2:
	default:
		return 0, 0, types.NoElem, false
	}
	if l, ok := linkNames[i.def.Name]; ok {
		return l[0], l[1], i.out, true
	}
	if f, ok := vec.FunctionNamed(i.def.Name); ok && i.n == 1 {
		return f.Link, f.Link, i.out, true
	}
	if f, ok := vec.Function2Named(i.def.Name); ok && i.n == 2 {
		return f.Link, 0, i.out, true
	}
	l, ok := wideNames[i.def.Name]
	return l, l, i.out, ok && i.out == types.F64
}

// link finds the segments. One alone among other instructions is left to its loop, which does as well.
func (m *machine) link() {
	m.segs, m.segAt = m.segs[:0], resized(m.segAt, len(m.code))
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
		if !m.worthwhile(k, l) {
			continue
		}
		_, _, lanes, _ := linksOf(&m.code[k])
		m.segAt[k] = len(m.segs)
		m.segs = append(m.segs, segment{first: k, last: l - 1, elem: lanes, protos: m.protos(k, l-1)})
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
	_, _, lanes, ok := linksOf(&m.code[l])
	_, _, first, _ := linksOf(&m.code[k])
	return ok && lanes == first
}

// worthwhile reports that instructions k..l-1 go better as a segment than one by one: more than one of several, and not
// truths alone, which are bytes elsewhere.
func (m *machine) worthwhile(k, l int) bool {
	if l-k < 2 {
		return l > k && len(m.code) == 1 && m.code[k].out.IsFloat() && m.code[k].n < 3
	}
	for _, i := range m.code[k:l] {
		if i.out.IsFloat() || i.code == opCmpF64 {
			return true
		}
	}
	return false
}

// linker writes the links of instructions first..last. The accumulator holds the result of the instruction before; it is
// written out where somebody else reads it too.
type linker struct {
	*machine
	first, last int
	acc         int
	out         []proto
}

func (m *machine) protos(first, last int) []proto {
	w := &linker{machine: m, first: first, last: last, acc: -1}
	w.truths()
	for k := first; k <= last; k++ {
		w.operation(&m.code[k])
		w.acc = m.code[k].dst
		w.keep(k)
	}
	return w.out
}

func (w *linker) add(op uint64, p proto) {
	p.op = op
	w.out = append(w.out, p)
}

// makes reports that the segment computes register r.
func (w *linker) makes(r int) bool {
	for k := w.first; k <= w.last; k++ {
		if w.code[k].dst == r {
			return true
		}
	}
	return false
}

// home is where the machine finds register r: truths as lanes, which are its own.
func (w *linker) home(r int) proto {
	if w.elems[r] == types.Bool || w.makes(r) && w.machine.last[r] <= w.last {
		return proto{kind: inTemp, reg: r}
	}
	return proto{kind: inSlab, reg: r}
}

// truths turns those that come from elsewhere into lanes.
func (w *linker) truths() {
	var seen map[int]bool
	for k := w.first; k <= w.last; k++ {
		for _, r := range w.code[k].arg[:w.code[k].n] {
			if w.elems[r] == types.Bool && !seen[r] && !w.makes(r) {
				if seen == nil {
					seen = map[int]bool{}
				}
				seen[r] = true
				w.add(vec.LinkLoadTruths, proto{kind: inSlab, reg: r})
				w.add(vec.LinkStore, w.home(r))
			}
		}
	}
}

// operation writes the links of one instruction.
func (w *linker) operation(i *instr) {
	one, two, _, _ := linksOf(i)
	a, b := i.arg[0], i.arg[1]
	switch {
	case i.n == 3:
		w.selection(a, b, i.arg[2])
	case i.n == 1:
		if a != w.acc {
			w.add(vec.LinkLoad, w.home(a))
		}
		if one != vec.LinkLoad { // of a copy, which that is
			w.add(one, proto{})
		}
	case a == w.acc:
		w.add(one, w.home(b))
	case b == w.acc && two != 0:
		w.add(two, w.home(a))
	default:
		if b == w.acc {
			w.add(vec.LinkStore, w.home(b))
		}
		w.add(vec.LinkLoad, w.home(a))
		w.add(one, w.home(b))
	}
}

// selection is a where c holds, b elsewhere.
func (w *linker) selection(c, a, b int) {
	switch {
	case a == w.acc && b != w.acc:
		w.add(vec.LinkOther, w.home(c))
		w.add(vec.LinkThen, w.home(b))
	case b == w.acc && a != w.acc:
		w.add(vec.LinkOther, w.home(c))
		w.add(vec.LinkElse, w.home(a))
	default:
		if c != w.acc {
			w.add(vec.LinkLoad, w.home(c))
		}
		w.add(vec.LinkOther, w.home(a))
		w.add(vec.LinkChoose, w.home(b))
	}
}

// keep writes the result of instruction k out if more than the next instruction's one operand reads it.
func (w *linker) keep(k int) {
	readNext := 0
	if k < w.last {
		for _, r := range w.code[k+1].arg[:w.code[k+1].n] {
			if r == w.acc {
				readNext++
			}
		}
	}
	last := w.machine.last[w.acc]
	if last > k+1 || readNext > 1 || k == w.last && last > k {
		w.add(vec.LinkStore, w.home(w.acc))
	}
	if w.elems[w.acc] == types.Bool && last > w.last {
		w.add(vec.LinkStoreTruths, proto{kind: inSlab, reg: w.acc})
	}
}

// chain runs a segment on n elements: whole groups by the machine, the rest instruction by instruction. end is for the
// segment that makes the program's result, at dst.
func (m *machine) chain(s *segment, n int, dst *slab) {
	group := vec.ChainBytes / s.elem.Size()
	whole := n - n%group
	if whole > 0 {
		m.fillLinks(s, dst)
		if s.elem == types.F64 {
			vec.ChainF64(m.links, whole)
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
			} else {
				l.Op = vec.Same(p.op)
			}
		}
		if m.links = append(m.links, l); len(m.links) == 1 && m.asking {
			m.ask(s)
		}
	}
	if s.last == len(m.code)-1 {
		if store := m.end.store; store != vec.LinkEnd {
			if m.code[s.last].out == types.Bool {
				store = vec.LinkStoreTruths
			}
			m.links = append(m.links, vec.Link{Op: store, Base: dst.pointer(), Walk: ^uint64(0)})
		}
		if m.aside.len() > 0 {
			m.links = append(m.links, vec.Link{Op: m.end.again, Base: m.aside.pointer(), Walk: ^uint64(0)})
		}
		m.links = append(m.links, m.end.ends...)
	}
	m.links = append(m.links, vec.Link{Op: vec.LinkEnd})
}

// askFrom is the size of an operand of which links ask ahead: smaller ones may lie in a cache.
const askFrom = 1 << 20

// ask adds links that ask for what the segment reads from memory in the rounds to come.
func (m *machine) ask(s *segment) {
	first := len(m.links)
	for _, p := range s.protos {
		if p.kind != inSlab || p.reg >= len(m.in) || m.elems[p.reg] != s.elem {
			continue
		}
		x := &m.in[p.reg]
		if x.mode != op.Full || x.d.Rows*x.d.Cols*s.elem.Size() < askFrom {
			continue
		}
		l := vec.Link{Op: vec.LinkAsk, Base: m.regs[p.reg].pointer(), Walk: ^uint64(0)}
		if !slices.Contains(m.links[first:], l) {
			m.links = append(m.links, l)
		}
	}
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
		if len(m.end.ends) > 0 {
			m.tail += n
		}
	}
	for k := s.first; k <= s.last; k++ {
		m.step(&m.code[k], n)
	}
	if s.last == len(m.code)-1 && m.aside.len() > 0 {
		copySlab(&m.aside, s.elem, at, m.regs[m.code[s.last].dst])
	}
	if s.last == len(m.code)-1 && m.end.store != vec.LinkEnd && len(m.end.ends) > 0 {
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
