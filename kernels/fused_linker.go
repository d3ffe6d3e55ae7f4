package kernels

// This file writes the links of a segment: which value the accumulator holds, and where the others wait.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/vec"
)

// linker writes the links of instructions first..last. The accumulator holds the result of the instruction before; it is
// written out where somebody else reads it too.
type linker struct {
	*machine
	*segment
	inputs []op.Operand // of the program
	acc    int
	direct int // a register that is loaded from where it lies, or -1
	guard  int // those that are written
}

// write writes the links of a segment behind those of others.
func (m *machine) write(s *segment, inputs []op.Operand) {
	start := len(m.protos)
	w := linker{machine: m, segment: s, inputs: inputs, acc: -1, direct: -1}
	w.foreign()
	for k := s.first; k <= s.last; k++ {
		w.operation(&m.code[k])
		w.acc = m.code[k].dst
		w.keep(k)
	}
	s.protos = m.protos[start:len(m.protos):len(m.protos)]
}

func (w *linker) add(op uint64, p proto) {
	p.op = op
	w.machine.protos = append(w.machine.protos, p)
}

// makes reports that the segment computes register r.
func (w *linker) makes(r int) bool {
	for k := w.first; k <= w.segment.last; k++ {
		if w.code[k].dst == r {
			return true
		}
	}
	return false
}

// reads is how often the segment reads register r.
func (w *linker) reads(r int) (n int) {
	for k := w.first; k <= w.segment.last; k++ {
		for _, a := range w.code[k].arg[:w.code[k].n] {
			if a == r {
				n++
			}
		}
	}
	return n
}

// otherwise reports that elements of r are not in memory as they are in lanes, and the links that bring them from there and to there.
func (w *linker) otherwise(r int) (load, store uint64, ok bool) {
	switch e := w.elems[r]; {
	case e == types.Bool:
		return vec.LinkLoadTruths, vec.LinkStoreTruths, true
	case e == types.F32:
		return vec.LinkLoadFloats, vec.LinkStoreFloats, true
	}
	return vec.LinkLoad, vec.LinkStore, false
}

// home is where the machine finds register r: its own lanes where these differ from what is in memory.
func (w *linker) home(r int) proto {
	if _, _, ok := w.otherwise(r); ok || w.makes(r) && w.machine.last[r] <= w.segment.last {
		return proto{kind: inTemp, reg: r}
	}
	return proto{kind: inSlab, reg: r}
}

// foreign turns what comes from elsewhere into lanes. What the first instruction alone reads, as its first argument, it loads itself.
func (w *linker) foreign() {
	var seen map[int]bool
	if a := w.code[w.first].arg[0]; w.code[w.first].n > 0 && w.reads(a) == 1 {
		w.direct = a
	}
	for k := w.first; k <= w.segment.last; k++ {
		for _, r := range w.code[k].arg[:w.code[k].n] {
			load, _, ok := w.otherwise(r)
			if !ok || seen[r] || w.makes(r) || r == w.direct {
				continue
			}
			if seen == nil {
				seen = map[int]bool{}
			}
			seen[r] = true
			w.add(load, proto{kind: inSlab, reg: r})
			w.add(vec.LinkStore, w.home(r))
		}
	}
}

// load makes the accumulator register r.
func (w *linker) load(r int) {
	if r == w.direct {
		load, _, _ := w.otherwise(r)
		w.add(load, proto{kind: inSlab, reg: r})
		return
	}
	w.add(vec.LinkLoad, w.home(r))
}

// operation writes the links of one instruction.
func (w *linker) operation(i *instr) {
	l := linksOf(i)
	a, b := i.arg[0], i.arg[1]
	switch {
	case i.n == 3:
		w.selection(a, b, i.arg[2])
	case i.n == 1:
		if a != w.acc {
			w.load(a)
		}
		w.watch(i)
		if l.first != vec.LinkLoad { // of a copy, which that is
			w.add(l.first, proto{})
		}
	case b == w.acc && a != w.acc && l.second != 0:
		w.add(l.second, w.home(a))
	case a != w.acc && l.second != 0 && w.single(a) && !w.single(b): // what is the same for all elements comes second, and once
		w.load(b)
		w.add(l.second, w.home(a))
	default:
		if b == w.acc && a != w.acc {
			w.add(vec.LinkStore, w.home(b))
		}
		if a != w.acc {
			w.load(a)
		}
		w.watch(i)
		w.add(l.first, w.home(b))
	}
	if l.rounds {
		w.add(vec.LinkRoundFloats, proto{})
	}
}

// watch gives an instruction that may have no value of an element its temporary.
func (w *linker) watch(i *instr) {
	if i.guard {
		w.add(vec.LinkOther, proto{kind: inTemp, reg: w.guards[w.guard].temp})
		w.guard++
	}
}

// single reports that register r is an input that is the same for all elements, and has the form of lanes in memory.
func (w *linker) single(r int) bool {
	_, _, converted := w.otherwise(r) // and perhaps loaded on the way
	return r < len(w.inputs) && w.inputs[r].Mode == op.Single && !converted
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
			w.load(c)
		}
		w.add(vec.LinkOther, w.home(a))
		w.add(vec.LinkChoose, w.home(b))
	}
}

// keep writes the result of instruction k out if more than the next instruction's one operand reads it.
func (w *linker) keep(k int) {
	readNext := 0
	end := w.segment.last
	if k < end {
		for _, r := range w.code[k+1].arg[:w.code[k+1].n] {
			if r == w.acc {
				readNext++
			}
		}
	}
	last := w.machine.last[w.acc]
	if last > k+1 || readNext > 1 || k == end && last > k {
		w.add(vec.LinkStore, w.home(w.acc))
	}
	if _, store, ok := w.otherwise(w.acc); ok && last > end {
		w.add(store, proto{kind: inSlab, reg: w.acc})
	}
}
