package amd64

// This file defines a program of virtual registers: what a body becomes before registers are assigned.

// virt is a virtual register; 0 is none.
type virt int32

// class is the kind of register that a virtual one needs.
type class uint8

const (
	vectorClass class = iota
	maskClass
)

// step is one instruction on virtual registers, or a label, a jump or scalar code between them.
type step struct {
	Inst // registers count where no virtual one is named; its length, immediate and memory always do
	dst  virt
	a, b virt
	c    virt
	mask virt
	// index is the vector of a gather's or scatter's addresses.
	index virt
	// keeps says that dst is read too: what a mask leaves out stays.
	keeps bool
	// effect says that the step counts though nobody reads dst.
	effect bool
	// fused is a*b + c: how the product and the addend are signed.
	fused *fusedStep
	// scalar is code of general registers, labels and jumps. It may read masks: see uses.
	scalar func(m *maker, dst Reg, regs []Reg)
	uses   []virt
	// enters and leaves mark a loop: a value that is made before it and read inside lives until its end.
	enters, leaves bool
}

// fusedStep is a multiply-add. Its form depends on which operand dies, so it is chosen when registers are known.
type fusedStep struct {
	single       bool // of f32
	minusProduct bool
	minusAddend  bool
	// in says which operand is Mem: 'b', 'c' or 0, none.
	in byte
}

// program is the steps of a body.
type program struct {
	steps   []step
	classes []class // by virt
}

func (p *program) fresh(c class) virt {
	if len(p.classes) == 0 {
		p.classes = append(p.classes, 0)
	}
	p.classes = append(p.classes, c)
	return virt(len(p.classes) - 1)
}

// reads calls f for every virtual register that the step reads.
func (s *step) reads(f func(v virt)) {
	for _, v := range [...]virt{s.a, s.b, s.c, s.mask, s.index} {
		if v != 0 {
			f(v)
		}
	}
	if s.keeps {
		f(s.dst)
	}
	for _, v := range s.uses {
		f(v)
	}
}

// prune drops steps whose results nobody reads.
func (p *program) prune() {
	read := make([]bool, len(p.classes))
	// A value that a loop hands on is read by a step above the one that makes it, so reads are collected until
	// nothing changes.
	for changed := true; changed; {
		changed = false
		for k := len(p.steps) - 1; k >= 0; k-- {
			s := &p.steps[k]
			if s.dst != 0 && !s.effect && s.scalar == nil && !read[s.dst] {
				continue
			}
			s.reads(func(v virt) {
				if !read[v] && !(s.keeps && v == s.dst) {
					read[v], changed = true, true
				}
			})
		}
	}
	kept := p.steps[:0]
	for _, s := range p.steps {
		if s.dst == 0 || s.effect || s.scalar != nil || read[s.dst] {
			kept = append(kept, s)
		}
	}
	p.steps = kept
}
