package kernels

// This file turns a chain of elementwise operators into instructions over slabs: short vectors of
// one batch of elements, which stay in the first-level cache from step to step.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/elementwise"
	"flow/kernels/vec"
)

const (
	// batch is the most elements that an instruction handles at a time: 4 KiB of f64, so that half
	// a dozen live slabs fit into 32 KiB; the cost of dispatch, some 3 ns, is spread over it.
	batch = 512
	// panelCols is the batch of programs with a transposed operand, and panelStride the distance of
	// panel rows: the padding keeps rows off one another's cache sets.
	panelCols   = 256
	panelStride = panelCols + 8
)

// opcode says which loop of a row an instruction calls.
type opcode uint8

const (
	opElt opcode = iota // no loop: the definition, element by element
	opConvert
	opF64x1
	opF64x2
	opF32x1
	opF32x2
	opI64x1
	opI64x2
	opBoolx1
	opBoolx2
	opCmpF64
	opCmpF32
	opCmpI64
	opSelF64
	opSelF32
	opSelI64
	opSelBool
)

// instr applies one loop to registers.
type instr struct {
	code  opcode
	guard bool       // fail where def has no value
	def   *op.Def    // nil in conversions that compile put in
	loops *op.Loops  // of def
	elem  types.Elem // of the arguments as the row wants them (opElt), or of the source (opConvert)
	out   types.Elem
	dst   int
	arg   [3]int
	n     int // arguments
}

// selectLoop chooses the loop of d for n arguments of type in and a result of type out.
func selectLoop(d *op.Def, n int, in, out types.Elem) opcode {
	l := &d.Loops
	in, out = dense.Storage(in), dense.Storage(out)
	pick := func(have bool, c opcode) opcode {
		if have {
			return c
		}
		return opElt
	}
	predicate := l.CmpF64 != nil
	switch {
	case define.IsConversion(d):
		return opConvert
	case n == 3 && out == types.F64:
		return pick(l.SelF64 != nil, opSelF64)
	case n == 3 && out == types.F32:
		return pick(l.SelF32 != nil, opSelF32)
	case n == 3 && out == types.I64:
		return pick(l.SelI64 != nil, opSelI64)
	case n == 3 && out == types.Bool:
		return pick(l.SelF64 != nil, opSelBool)
	case n == 3:
		return opElt
	case in == types.Bool && n == 1:
		return pick(l.Boolx1 != nil, opBoolx1)
	case in == types.Bool:
		return pick(l.Boolx2 != nil, opBoolx2)
	case predicate && in == types.F64:
		return opCmpF64
	case predicate && in == types.F32:
		return pick(l.CmpF32 != nil, opCmpF32)
	case predicate && in == types.I64:
		return pick(l.CmpI64 != nil, opCmpI64)
	case in == types.F64 && n == 1:
		return pick(l.F64x1 != nil, opF64x1)
	case in == types.F64 && n == 2:
		return pick(l.F64x2 != nil, opF64x2)
	case in == types.F32 && n == 1:
		return pick(l.F32x1 != nil, opF32x1)
	case in == types.F32 && n == 2:
		return pick(l.F32x2 != nil, opF32x2)
	case in == types.I64 && n == 1:
		return pick(l.I64x1 != nil, opI64x1)
	case in == types.I64 && n == 2:
		return pick(l.I64x2 != nil, opI64x2)
	}
	return opElt
}

// compile fills m.code and m.elems from the program; registers of conversions come after the
// program's own.
func (m *machine) compile(p *op.Program) {
	m.elems, m.code, m.constants = m.elems[:0], m.code[:0], m.constants[:0]
	for _, o := range p.In {
		m.elems = append(m.elems, o.Elem)
	}
	for _, s := range p.Steps {
		m.elems = append(m.elems, s.Elem)
	}
	for k, s := range p.Steps {
		var in [3]types.Elem
		for a, r := range s.Args {
			in[a] = m.elems[r]
		}
		if steps := elementwise.ExpansionOf(s.Def.Name); steps != nil {
			m.expanded(p, s, steps, len(p.In)+k)
			continue
		}
		wide := define.Widest(in[:len(s.Args)])
		i := instr{def: s.Def, loops: &s.Def.Loops, n: len(s.Args), out: s.Elem, dst: len(p.In) + k}
		for a, r := range s.Args {
			want := define.OperandElem(s.Def, a, in[a], wide, s.Elem)
			i.arg[a] = m.converted(p, r, want)
			i.elem = want // the last argument's: the first of a selection is its condition
		}
		i.code = selectLoop(s.Def, i.n, i.elem, i.out)
		i.guard = s.Def.Fails(i.elem, i.out)
		m.code = append(m.code, i)
	}
	if len(p.Steps) == 0 { // a copy
		m.code = append(m.code, instr{code: opConvert, elem: m.elems[0], out: m.elems[0], dst: m.register(m.elems[0]), n: 1})
	}
}

// expanded is the instructions of a step that stands for others, on arguments of its result's type.
// The last writes to dst.
func (m *machine) expanded(p *op.Program, s op.Step, steps []elementwise.Expansion, dst int) {
	var regs [9]int
	for a, r := range s.Args {
		regs[a] = m.converted(p, r, s.Elem)
	}
	for k, x := range steps {
		i := instr{def: x.Def, loops: &x.Def.Loops, n: len(x.Args), out: x.Elem(s.Elem), dst: dst}
		if k < len(steps)-1 {
			i.dst = m.register(i.out)
		}
		for a, r := range x.Args {
			i.arg[a] = regs[r]
			i.elem = m.elems[regs[r]]
		}
		i.code = selectLoop(x.Def, i.n, i.elem, i.out)
		regs[len(s.Args)+k] = i.dst
		m.code = append(m.code, i)
	}
}

// converted is the register that holds r as elements of e, which a conversion before makes if need
// be.
func (m *machine) converted(p *op.Program, r int, e types.Elem) int {
	if m.elems[r] == e {
		return r
	}
	if c := m.constantOf(p, r, e); c >= 0 {
		return c
	}
	d := m.register(e)
	m.code = append(m.code, instr{code: opConvert, elem: m.elems[r], out: e, dst: d, arg: [3]int{r}, n: 1})
	return d
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

func (m *machine) register(e types.Elem) int {
	m.elems = append(m.elems, e)
	return len(m.elems) - 1
}

// assign gives every computed register a slab; slabs whose register is read no more are used again.
// The last register needs none: it is written where the result belongs.
func (m *machine) assign(inputs int) {
	n := len(m.elems)
	m.slot, m.last = dense.Resized(m.slot, n), dense.Resized(m.last, n)
	for r := range n {
		m.slot[r], m.last[r] = -1, -1
	}
	for k, i := range m.code {
		for _, r := range i.arg[:i.n] {
			m.last[r] = k
		}
	}
	m.spare, m.sizes = m.spare[:0], m.sizes[:0]
	m.slots = 0
	// A slab of elements of one size is never used again for those of another: segments go through
	// all their instructions group by group, and a group of words lies over more than a group of
	// bytes.
	take := func(r int) {
		size := m.elems[r].Size()
		for k := len(m.spare) - 1; k >= 0; k-- {
			if s := m.spare[k]; m.sizes[s] == size {
				m.slot[r], m.spare = s, append(m.spare[:k], m.spare[k+1:]...)
				return
			}
		}
		m.slot[r] = m.slots
		m.slots++
		m.sizes = append(m.sizes, size)
	}
	for r := range inputs { // inputs keep theirs: constants are filled once a call
		take(r)
	}
	for _, c := range m.constants {
		take(c.reg)
	}
	for k, i := range m.code[:len(m.code)-1] {
		take(i.dst) // before the arguments are given back: loops of mixed types must not overlap
		for a, r := range i.arg[:i.n] {
			if r >= inputs && m.last[r] == k && !repeats(i.arg[:a], r) && !m.constant(r) {
				m.spare = append(m.spare, m.slot[r])
			}
		}
		if m.last[i.dst] < 0 { // a step that nobody reads
			m.spare = append(m.spare, m.slot[i.dst])
		}
	}
}

func (m *machine) constant(r int) bool {
	for _, c := range m.constants {
		if c.reg == r {
			return true
		}
	}
	return false
}

func repeats(list []int, r int) bool {
	for _, x := range list {
		if x == r {
			return true
		}
	}
	return false
}

// step runs one instruction on the first n elements of its registers; false says that it has no
// value of some.
func (m *machine) step(i *instr, n int) bool {
	l := i.loops
	d, a, b, c := &m.regs[i.dst], &m.regs[i.arg[0]], &m.regs[i.arg[1]], &m.regs[i.arg[2]]
	switch i.code {
	case opF64x2:
		l.F64x2(d.F64[:n], a.F64[:n], b.F64[:n])
	case opF64x1:
		l.F64x1(d.F64[:n], a.F64[:n])
	case opF32x2:
		l.F32x2(d.F32[:n], a.F32[:n], b.F32[:n])
	case opF32x1:
		l.F32x1(d.F32[:n], a.F32[:n])
	case opI64x2:
		if i.guard && vec.HasZero(b.I64[:n]) {
			return false
		}
		l.I64x2(d.I64[:n], a.I64[:n], b.I64[:n])
	case opI64x1:
		l.I64x1(d.I64[:n], a.I64[:n])
	case opBoolx2:
		l.Boolx2(d.Bool[:n], a.Bool[:n], b.Bool[:n])
	case opBoolx1:
		l.Boolx1(d.Bool[:n], a.Bool[:n])
	case opCmpF64:
		if i.n == 1 {
			b = a
		}
		l.CmpF64(d.Bool[:n], a.F64[:n], b.F64[:n])
	case opCmpF32:
		if i.n == 1 {
			b = a
		}
		l.CmpF32(d.Bool[:n], a.F32[:n], b.F32[:n])
	case opCmpI64:
		if i.n == 1 {
			b = a
		}
		l.CmpI64(d.Bool[:n], a.I64[:n], b.I64[:n])
	case opSelF64:
		l.SelF64(d.F64[:n], a.Bool[:n], b.F64[:n], c.F64[:n])
	case opSelF32:
		l.SelF32(d.F32[:n], a.Bool[:n], b.F32[:n], c.F32[:n])
	case opSelI64:
		l.SelI64(d.I64[:n], a.Bool[:n], b.I64[:n], c.I64[:n])
	case opSelBool:
		vec.SelectBool(d.Bool[:n], a.Bool[:n], b.Bool[:n], c.Bool[:n])
	case opConvert:
		if i.guard {
			return dense.ToWords(d.I64[:n], a, i.elem)
		}
		dense.Convert(d, i.out, a, i.elem, n)
	default:
		return m.element(i, n)
	}
	return true
}
