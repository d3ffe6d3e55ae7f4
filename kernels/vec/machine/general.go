package machine

// This file defines the instructions on general registers. Operands are in the order of the Go
// assembler; a source may be a number.

import "flow/kernels/loop/amd64"

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
