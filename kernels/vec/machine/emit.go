package machine

// This file defines the emitter, which writers call: it notes instructions on virtual registers.

import (
	"cmp"
	"fmt"
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

// The forms of instructions whose operands are not those of a load into a vector: stores, moves from
// and to general registers, and comparisons into masks.
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

// Instructions on general registers have operands in the order of the Go assembler; a source may be a
// number.

// mov copies a number, a register or a word of memory to a register, or a register to memory.
func (e *emitter) mov(src, dst any) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) {
		switch s := src.(type) {
		case int:
			a.MovImm(at(dst.(reg)), int64(s))
		case uint64:
			a.MovImm(at(dst.(reg)), int64(s))
		case mem:
			a.LoadG(at(dst.(reg)), s.address(a, at))
		case reg:
			if m, ok := dst.(mem); ok {
				a.StoreG(m.address(a, at), at(s))
			} else if to := at(dst.(reg)); to != at(s) {
				a.Mov(to, at(s))
			}
		}
	})
}

func (e *emitter) arith(op amd64.Arith, src any, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) {
		switch s := src.(type) {
		case int:
			a.ArithImm(op, at(dst), int32(s))
		case reg:
			a.ArithG(op, at(dst), at(s))
		}
	})
}

func (e *emitter) add(src any, dst reg) { e.arith(amd64.AddG, src, dst) }
func (e *emitter) sub(src any, dst reg) { e.arith(amd64.SubG, src, dst) }
func (e *emitter) and(src any, dst reg) { e.arith(amd64.AndG, src, dst) }
func (e *emitter) inc(r reg)            { e.add(1, r) }
func (e *emitter) dec(r reg)            { e.sub(1, r) }

// clear sets a register to 0.
func (e *emitter) clear(r reg) { e.mov(0, r) }

// cmp sets the flags of x less y.
func (e *emitter) cmp(x reg, y any) { e.arith(amd64.CmpG, y, x) }

// test sets the flags of a register.
func (e *emitter) test(x reg) {
	e.step([]any{x}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.Test(at(x), at(x)) })
}

func (e *emitter) shr(n int, r reg) { e.shift(amd64.ShrG, n, r) }
func (e *emitter) shl(n int, r reg) { e.shift(amd64.ShlG, n, r) }

func (e *emitter) shift(op amd64.Shift, n int, r reg) {
	e.step([]any{r}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.ShiftImm(op, at(r), uint8(n)) })
}

// shlx is dst = src << count.
func (e *emitter) shlx(count, src, dst reg) {
	e.step([]any{count, src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.ShlX(at(dst), at(src), at(count)) })
}

func (e *emitter) imul(src, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.IMul(at(dst), at(src)) })
}

// extend loads 4 bytes, or takes those of a register, and widens them with their sign.
func (e *emitter) extend(src any, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) {
		if m, ok := src.(mem); ok {
			a.LoadG32(at(dst), m.address(a, at))
		} else {
			a.Extend32(at(dst), at(src.(reg)))
		}
	})
}

func (e *emitter) lea(m mem, dst reg) {
	e.step([]any{m, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.Lea(at(dst), m.address(a, at)) })
}

// prefetch asks for a line into the first-level cache, prefetchSecond into the second only.
func (e *emitter) prefetch(m mem)       { e.ask(m, false) }
func (e *emitter) prefetchSecond(m mem) { e.ask(m, true) }

func (e *emitter) ask(m mem, second bool) {
	e.step([]any{m}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.Prefetch(m.address(a, at), second) })
}

// popcount is the number of bits of src that are set, lowest the number of the lowest one.
func (e *emitter) popcount(src, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.PopCount(at(dst), at(src)) })
}

func (e *emitter) lowest(src, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.BitScan(at(dst), at(src)) })
}

// cmov copies src to dst if c holds.
func (e *emitter) cmov(c amd64.Cond, src, dst reg) {
	e.step([]any{src, dst}, func(a *amd64.Asm, at func(reg) amd64.Reg) { a.Cmov(c, at(dst), at(src)) })
}

// label names the next instruction within the kernel.
func (e *emitter) label(name string) { e.steps = append(e.steps, step{label: name}) }

// jump goes to a label.
func (e *emitter) jump(to string) {
	e.steps = append(e.steps, step{jump: to, write: func(a *amd64.Asm, _ func(reg) amd64.Reg) { a.Goto(e.labels[to]) }})
}

// jumpIf goes to a label if c holds.
func (e *emitter) jumpIf(c amd64.Cond, to string) {
	e.steps = append(e.steps, step{jump: to, write: func(a *amd64.Asm, _ func(reg) amd64.Reg) { a.Jump(c, e.labels[to]) }})
}

// What follows gives virtual registers those of the processor, by linear scan (M. Poletto & V. Sarkar,
// "Linear scan register allocation", 1999).

// span is where a register lives: from the first step that has it to the last.
type span struct{ id, from, to int }

// spans finds where registers live. What is made before a loop and read or written inside of it
// lives until the loop's end. Writers make nothing inside of a loop that a later round reads.
func (e *emitter) spans() []span {
	all := make([]span, len(e.class))
	for id := range all {
		all[id] = span{id, -1, -1}
	}
	places := map[string]int{}
	type round struct{ from, to int }
	var loops []round
	for k, s := range e.steps {
		if s.label != "" {
			places[s.label] = k
		}
		if from, before := places[s.jump]; s.jump != "" && before {
			loops = append(loops, round{from, k})
		}
		for _, r := range s.regs {
			if all[r.id].from < 0 {
				all[r.id].from = k
			}
			all[r.id].to = k
		}
	}
	for changed := true; changed; {
		changed = false
		for _, l := range loops {
			for id := range all {
				if x := &all[id]; x.from >= 0 && x.from < l.from && x.to >= l.from && x.to < l.to {
					x.to, changed = l.to, true
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(x span) bool { return x.from < 0 })
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// free lists the registers of the set by class. The address of the arguments comes in RDI.
func (e *emitter) free() (free [classes][]amd64.Reg) {
	free[isGeneral] = []amd64.Reg{amd64.RAX, amd64.RCX, amd64.RDX, amd64.RBX, amd64.RSI, amd64.R8, amd64.R9, amd64.R10, amd64.R11, amd64.R12,
		amd64.R13, amd64.R14, amd64.R15}
	for n := range 16 << e.set {
		free[isVector] = append(free[isVector], amd64.V(n))
	}
	if e.set == AVX512 { // K0 as a mask means none
		for n := 1; n < 8; n++ {
			free[isMask] = append(free[isMask], amd64.K(n))
		}
	}
	return free
}

// assigned is the register of each virtual one.
func (e *emitter) assigned() ([]amd64.Reg, error) {
	free, out := e.free(), make([]amd64.Reg, len(e.class))
	var active []span
	for _, x := range e.spans() {
		active = slices.DeleteFunc(active, func(y span) bool {
			over := y.to <= x.from // a step reads before it writes
			if over {
				c := e.class[y.id]
				free[c] = append(free[c], out[y.id])
				slices.Sort(free[c]) // the lowest first: some instructions name 16 vector registers
			}
			return over
		})
		c := e.class[x.id]
		switch {
		case x.id == e.block.id:
			out[x.id] = amd64.RDI
		case len(free[c]) == 0:
			return nil, fmt.Errorf("BUG: %s needs more registers than %s has", e.k.name, target(e.set))
		default:
			out[x.id] = free[c][0]
			free[c] = free[c][1:]
		}
		active = append(active, x)
	}
	return out, nil
}

// finished is the machine code of what was written.
func (e *emitter) finished() ([]byte, error) {
	regs, err := e.assigned()
	if err != nil {
		return nil, err
	}
	a := amd64.NewAsm(target(e.set))
	for _, s := range e.steps {
		if s.label != "" {
			e.labels[s.label] = a.Label()
		}
	}
	for _, s := range e.steps {
		if s.label != "" {
			a.Bind(e.labels[s.label])
		}
		if s.write != nil {
			s.write(a, func(r reg) amd64.Reg { return regs[r.id] })
		}
	}
	return a.Finish()
}
