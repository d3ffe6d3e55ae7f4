package machine

// This file gives virtual registers those of the processor, by linear scan (M. Poletto & V. Sarkar,
// "Linear scan register allocation", 1999).

import (
	"cmp"
	"fmt"
	"slices"

	"flow/kernels/loop/amd64"
)

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
