package machine

// This file defines the emitter, which writers call: it notes instructions on virtual registers.

import (
	"slices"

	"flow/kernels/loop/amd64"
)

// reg is a virtual register. A vector register has the length by which an instruction names it.
type reg struct {
	id     int
	length amd64.Len
}

// x and y are the lowest 16 and 32 bytes of a vector register.
func (r reg) x() reg { return reg{r.id, amd64.L128} }
func (r reg) y() reg { return reg{r.id, amd64.L256} }

// mem is an operand in memory: base + index*scale + disp, or a word beside the code.
type mem struct {
	base, index reg
	scale       uint8
	disp        int
	cast        bool // the word is spread over all lanes
	word        uint64
	isWord      bool
}

// class is a kind of register.
type class uint8

const (
	isGeneral class = iota
	isVector
	isMask
	classes
)

// step is an instruction, a label, or both in this order: the label is before the instruction.
type step struct {
	regs        []reg
	write       func(a *amd64.Asm, at func(reg) amd64.Reg)
	label, jump string
}

// emitter notes the instructions of a kernel for a set.
type emitter struct {
	k      *Kernel
	set    Set
	bytes  int // of a vector
	class  []class
	steps  []step
	regs   []reg // of all steps
	block  reg   // the address of the arguments
	labels map[string]amd64.Label
}

func newEmitter(k *Kernel, s Set) *emitter {
	e := &emitter{k: k, set: s, bytes: 32 << s, labels: map[string]amd64.Label{}, steps: make([]step, 0, 1<<8), regs: make([]reg, 0, 1<<9)}
	e.block = e.general()
	return e
}

func (e *emitter) fresh(c class, length amd64.Len) reg {
	e.class = append(e.class, c)
	return reg{len(e.class) - 1, length}
}

// general is a fresh general register, mask a fresh mask register, of a fresh vector register of
// that length and vector one of the set's length.
func (e *emitter) general() reg            { return e.fresh(isGeneral, 0) }
func (e *emitter) mask() reg               { return e.fresh(isMask, 0) }
func (e *emitter) of(length amd64.Len) reg { return e.fresh(isVector, length) }
func (e *emitter) vector() reg             { return e.of(amd64.L256 + amd64.Len(e.set)) }

// vectors is n of them.
func (e *emitter) vectors(n int) []reg {
	v := make([]reg, n)
	for i := range v {
		v[i] = e.vector()
	}
	return v
}

// word is an argument, or the place of a result behind them, by its number.
func (e *emitter) word(k int) mem { return mem{base: e.block, disp: 8 * k} }

// param loads a parameter into a fresh register.
func (e *emitter) param(name string) reg {
	r := e.general()
	e.mov(e.place(name), r)
	return r
}

// place is where a parameter lies.
func (e *emitter) place(name string) mem {
	k := slices.Index(e.k.params, name)
	if k < 0 {
		panic("BUG: " + e.k.name + " has no parameter " + name)
	}
	return e.word(k)
}

// store sets result k.
func (e *emitter) store(r reg, k int) { e.mov(r, e.word(len(e.k.params)+k)) }

// plus is n bytes behind m.
func (m mem) plus(n int) mem { m.disp += n; return m }

// at is byte offset off from base + index.
func at(base, index reg, off int) mem { return mem{base: base, index: index, scale: 1, disp: off} }

// finish ends a kernel; wide registers left dirty would slow scalar code down a hundredfold.
func (e *emitter) finish() {
	e.step(nil, func(a *amd64.Asm, _ func(reg) amd64.Reg) {
		a.ZeroUpper()
		a.Return()
	})
}

// step notes an instruction that reads or writes these operands.
func (e *emitter) step(operands []any, write func(a *amd64.Asm, at func(reg) amd64.Reg)) {
	from := len(e.regs)
	for _, o := range operands {
		switch o := o.(type) {
		case reg:
			e.regs = append(e.regs, o)
		case mem:
			if !o.isWord {
				e.regs = append(e.regs, o.base)
			}
			if o.scale > 0 {
				e.regs = append(e.regs, o.index)
			}
		}
	}
	e.steps = append(e.steps, step{regs: e.regs[from:len(e.regs):len(e.regs)], write: write})
}

// address is an operand in memory with the processor's registers.
func (m mem) address(a *amd64.Asm, at func(reg) amd64.Reg) amd64.Mem {
	if m.isWord {
		x := a.Const(m.word)
		x.Broadcast = m.cast
		return x
	}
	x := amd64.At(at(m.base), int32(m.disp))
	if m.scale > 0 {
		x = amd64.Indexed(at(m.base), at(m.index), m.scale, int32(m.disp))
	}
	x.Broadcast = m.cast
	return x
}

// v notes a vector or mask instruction.
func (e *emitter) v(op amd64.Op, operands ...any) { e.noted(op, false, operands) }

// vz is v, whose mask clears the lanes that it leaves out.
func (e *emitter) vz(op amd64.Op, operands ...any) { e.noted(op, true, operands) }

func (e *emitter) noted(op amd64.Op, zero bool, operands []any) {
	length := amd64.L128
	for _, o := range operands {
		if r, ok := o.(reg); ok && e.class[r.id] == isVector {
			length = max(length, r.length)
		}
	}
	op = e.form(op, operands)
	e.step(operands, func(a *amd64.Asm, at func(reg) amd64.Reg) {
		real := make([]any, len(operands))
		for k, o := range operands {
			switch o := o.(type) {
			case reg:
				real[k] = at(o)
			case mem:
				real[k] = o.address(a, at)
			case int:
				real[k] = uint8(o)
			}
		}
		i := op.With(length, real...)
		i.Zero = zero
		a.Emit(i)
	})
}

// otherForms are the forms by which operands other than vectors of a load are encoded.
var (
	storing = map[amd64.Op]amd64.Op{amd64.VMOVUPD: amd64.VMOVUPDStore, amd64.VMOVUPS: amd64.VMOVUPSStore, amd64.VMOVSD: amd64.VMOVSDStore, amd64.VMOVSS: amd64.VMOVSSStore,
		amd64.VMOVDQU: amd64.VMOVDQUStore, amd64.VMOVDQU64: amd64.VMOVDQU64Store}
	fromGeneral = map[amd64.Op]amd64.Op{amd64.KMOVB: amd64.KMOVBFromG, amd64.KMOVW: amd64.KMOVWFromG, amd64.VPBROADCASTQ: amd64.VPBROADCASTQG,
		amd64.VPBROADCASTD: amd64.VPBROADCASTDG}
	toGeneral = map[amd64.Op]amd64.Op{amd64.KMOVB: amd64.KMOVBToG, amd64.KMOVW: amd64.KMOVWToG, amd64.VMOVQ: amd64.VMOVQStore, amd64.VMOVD: amd64.VMOVDStore}
	toMask    = map[amd64.Op]amd64.Op{amd64.VCMPPD: amd64.VCMPPDK, amd64.VCMPPS: amd64.VCMPPSK}
)

// form is the form of op for these operands.
func (e *emitter) form(op amd64.Op, operands []any) amd64.Op {
	is := func(o any, c class) bool {
		r, ok := o.(reg)
		return ok && e.class[r.id] == c
	}
	first, last := operands[0], operands[len(operands)-1]
	other := map[amd64.Op]amd64.Op(nil)
	switch _, stores := last.(mem); {
	case stores:
		other = storing
	case is(first, isGeneral):
		other = fromGeneral
	case is(last, isGeneral):
		other = toGeneral
	case is(last, isMask):
		other = toMask
	}
	if f, ok := other[op]; ok {
		return f
	}
	return op
}
