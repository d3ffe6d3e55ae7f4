package amd64

// This file defines a program of virtual registers: what a body becomes before registers are
// assigned.

// virt is a virtual register; 0 is none.
type virt int32

// class is the kind of register that a virtual one needs.
type class uint8

const (
	vectorClass class = iota
	maskClass
	generalClass // addresses and counters
	classCount
)

// step is one instruction on virtual registers, or a label, a jump or scalar code between them. Steps
// are copied several times, so no field is larger than it has to be.
type step struct {
	Inst // registers count where no virtual one is named; its length, immediate and memory always do
	dst  virt
	a, b virt
	c    virt
	mask virt
	// index is the vector of a gather's or scatter's addresses.
	index virt
	// fused is a multiply-add a*b + c with signs, or an operation on the bits of a, b and c.
	fused fusedStep
	// scalar is code of general registers, labels and jumps. It may read a, b, c and mask.
	scalar func(m *maker, dst Reg, r regs)
	// local is 1 + the number of the local that the step does nothing but store to, or 0.
	local int32
	// part is the number of the part that it belongs to.
	part int32
	// aside is the number of a block aside that begins behind the step, or less than 0 that of one
	// that ends before it: see aside.go.
	aside int32
	// near is the general register of an operand that the step reads from memory (readInPlace).
	near virt
	// loads is the place from which the step loads dst. It is nil if the step does anything else.
	loads *memoryRead
	// keeps says that dst is read too: what a mask leaves out stays.
	keeps bool
	// effect says that dst is made by more than one step, so that the step stays where it is.
	effect bool
	// pure says that scalar does nothing but make dst.
	pure bool
	// again says that scalar loads what nothing but a store changes: it may be loaded again.
	again bool
	// jumps says that scalar is a label, a jump, or a check: it changes no memory that is loaded.
	jumps bool
	// enters and leaves mark a loop: a value that is made before it and read inside lives until its
	// end.
	enters, leaves bool
	// anchor marks where steps of inner loops that do not depend on them may move: behind what they
	// read, on every way into the loops.
	anchor bool
}

// regs are the registers of the operands of scalar code, NoReg for operands that it has not.
type regs struct{ a, b, c, mask Reg }

// fusedStep is a multiply-add, or an operation on bits. Its form depends on which operand dies, so it
// is chosen when registers are known.
type fusedStep struct {
	is           bool  // the step is one
	table        uint8 // the truth table of an operation on bits: bit 4a+2b+c is the result; 0: multiply-add
	single       bool  // of f32
	minusProduct bool
	minusAddend  bool
}

// program is the steps of a body.
type program struct {
	steps  []step
	values []virtual // by virt; that of 0 stands for the results of steps without one
	shop   *workshop
	// additions is the number of steps that add floats, without those that hoist drops.
	additions int
}

// virtual is what is known of a virtual register.
type virtual struct {
	class class
	// depth is in how many loops it is made at most, those over rows and lanes among them.
	depth int16
	// home is the offset in scratch memory where each definition stores it; 0: nowhere.
	home int32
	// source is the element in memory that is in all lanes; its Base and Constant are 0 where there is
	// none. Such a register is made before the loops; without a register, its readers read memory.
	source Mem
	// inPlace is the memory that its reader reads instead. nil: it is in a register.
	inPlace *memoryRead
}

// workshop is memory for what a compilation needs until its code is written. The next compilation uses it
// again, so nothing that the Code holds may lie in it.
type workshop struct {
	steps     slab[step]
	operands  slab[operand]
	facts     slab[facts]
	intervals slab[interval]
	holders   slab[holder]
	words     slab[knownWord]
	asm       Asm
	regs      slab[Reg]
	lives     slab[life]
	ints      slab[int]
	numbers   slab[int32]
	virts     slab[virt]
	bytes     slab[uint8]
	values    slab[virtual]
	relations slab[related]
	reads     slab[memoryRead]
}

// free takes back all memory.
func (w *workshop) free() {
	for _, s := range []interface{ free() }{&w.steps, &w.operands, &w.facts, &w.intervals, &w.holders, &w.words, &w.regs, &w.lives, &w.ints, &w.numbers, &w.virts,
		&w.bytes, &w.values, &w.relations, &w.reads} {
		s.free()
	}
}

// slab is memory for values of a type. Pieces are cut from it one after another.
type slab[T any] struct {
	all  []T
	used int
	// asked is how many values have been cut since free, most the largest such number before.
	asked, most int
}

func (s *slab[T]) free() { s.most, s.asked, s.used = max(s.most, s.asked), 0, 0 }

// list cuts an empty list with room for n values.
func (s *slab[T]) list(n int) []T {
	if s.used+n > len(s.all) { // earlier pieces keep the old memory
		s.all, s.used = make([]T, max(s.most, n, leastSlab)), 0
	}
	s.used, s.asked = s.used+n, s.asked+n
	return s.all[s.used-n : s.used-n : s.used]
}

// leastSlab is the least size of a slab.
const leastSlab = 512

// room returns the list with room for n more values.
func (s *slab[T]) room(list []T, n int) []T {
	if len(list)+n > cap(list) {
		list = append(s.list(2*len(list)+n), list...)
	}
	return list
}

// zeros cuts n zero values.
func (s *slab[T]) zeros(n int) []T {
	out := s.list(n)[:n]
	clear(out)
	return out
}

// memoryRead is a vector in memory.
type memoryRead struct {
	at    Mem
	reg   virt  // the base of at; 0 if at has a base
	index bool  // reg is the index of at instead
	size  uint8 // bytes of an element
	all   bool  // all lanes read one element
	len   Len   // the length of the vector
}

// reading returns memory that holds x.
func (p *program) reading(x memoryRead) *memoryRead {
	list := append(p.shop.reads.list(1), x)
	return &list[0]
}

func (p *program) fresh(c class) virt {
	p.values = p.shop.values.room(p.values, 2)
	if len(p.values) == 0 {
		p.values = append(p.values, virtual{})
	}
	n := len(p.values)
	p.values = p.values[:n+1]
	p.values[n] = virtual{}
	p.values[n].class = c
	return virt(n)
}

// next appends an empty step. The caller fills it in and then calls emitted. Filling in a step in place takes
// less time than copying one.
func (p *program) next() *step {
	p.steps = p.shop.steps.room(p.steps, 1)
	n := len(p.steps)
	p.steps = p.steps[:n+1]
	p.steps[n] = step{}
	return &p.steps[n]
}

// hasSource reports that v is one element of memory in all lanes.
func (p *program) hasSource(v virt) bool { return p.values[v].source.Broadcast }

// inputs holds the virtual registers that a step reads. Unused places are 0.
type inputs [7]virt

// of sets in to the registers that s reads. Walks over all steps use it because it neither makes a call for
// each register nor copies a list.
func (in *inputs) of(s *step) {
	in[0], in[1], in[2], in[3], in[4], in[5], in[6] = s.a, s.b, s.c, s.mask, s.index, s.near, 0
	if s.keeps {
		in[6] = s.dst
	}
}

// reads calls f for every virtual register that the step reads.
func (s *step) reads(f func(v virt)) {
	var in inputs
	in.of(s)
	for i := range in {
		if in[i] != 0 {
			f(in[i])
		}
	}
}

// rename makes the step read f(v) where it reads v.
func (s *step) rename(f func(v virt) virt) {
	for _, v := range [...]*virt{&s.a, &s.b, &s.c, &s.mask, &s.index} {
		if *v != 0 {
			*v = f(*v)
		}
	}
}

// reading reports that the step reads v.
func (s *step) reading(v virt) bool {
	return v != 0 && (v == s.a || v == s.b || v == s.c || v == s.mask || v == s.index || v == s.near || s.keeps && v == s.dst)
}

// operands reports that scalar code reads a virtual register.
func (s *step) operands() bool { return s.a != 0 || s.mask != 0 }

// root reports a step that is kept even if nothing reads its result.
func (s *step) root() bool { return s.dst == 0 || s.scalar != nil && !s.pure }

// needed marks the steps whose results reach a root.
func (p *program) needed() []uint8 {
	first := p.shop.numbers.zeros(len(p.values)) // 1 + the last step that makes a virtual register
	next := p.shop.numbers.zeros(len(p.steps))   // 1 + the one before it
	needed := p.shop.bytes.zeros(len(p.steps))
	work := p.shop.numbers.list(len(p.steps))
	for k := range p.steps {
		s := &p.steps[k]
		if s.dst != 0 {
			next[k], first[s.dst] = first[s.dst], int32(k)+1
		}
		if s.root() {
			needed[k] = 1
			work = append(work, int32(k))
		}
	}
	var in inputs
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		in.of(&p.steps[k])
		for i := range in {
			v := in[i] // first[0] is 0
			for d := first[v]; d != 0; d = next[d-1] {
				if needed[d-1] == 0 {
					needed[d-1] = 1
					work = append(work, d-1)
				}
			}
			first[v] = 0
		}
	}
	return needed
}

// farthestInPlace is the largest number of steps between a load and the reader that replaces it.
const farthestInPlace = 32

// readInPlace removes loads whose only reader can take its operand from memory. Between the load and the
// reader no step stores, and no loop begins or ends.
func (p *program) readInPlace(t *target) {
	read, made, loads := p.shop.bytes.zeros(len(p.values)), p.shop.bytes.zeros(len(p.values)), false
	var in inputs
	for k := range p.steps {
		s := &p.steps[k]
		in.of(s)
		for i := range in {
			if v := in[i]; v != 0 {
				read[v] = min(read[v]+1, 2)
			}
		}
		made[s.dst] = min(made[s.dst]+1, 2)
		loads = loads || s.loads != nil
	}
	if !loads {
		return
	}
	at, last := p.shop.ints.zeros(len(p.values)), 0 // 1 + the step of a load; the last step that no load may cross
	for k := range p.steps {
		s := &p.steps[k]
		if x := s.loads; x != nil && read[s.dst] == 1 && made[s.dst] == 1 && p.values[s.dst].home == 0 && made[x.reg] <= 1 {
			at[s.dst] = k + 1
		}
		for _, v := range s.fromMemory() {
			d := at[v]
			if v == 0 || d <= last || k-d >= farthestInPlace || !p.steps[d-1].loads.fits(t, s) {
				continue
			}
			p.values[v].inPlace, s.near = p.steps[d-1].loads, p.steps[d-1].loads.reg
			p.steps[d-1] = step{}
			break
		}
		if s.enters || s.leaves || s.root() && !s.jumps {
			last = k + 1
		}
	}
}

// fromMemory lists the operands that an instruction may read from memory: the last one, or one that may be
// exchanged with it.
func (s *step) fromMemory() [3]virt {
	switch {
	case s.scalar != nil || s.InMem || s.index != 0:
		return [3]virt{}
	case s.fused.is && s.fused.table == 0:
		return [3]virt{s.b, s.a, s.c}
	case s.fused.is || s.c != 0:
		return [3]virt{}
	case traitsOf[s.Op].commutes:
		return [3]virt{s.b, s.a}
	}
	return [3]virt{s.b}
}

// fits reports whether the instruction of step s can take an operand from x.
func (x *memoryRead) fits(t *target, s *step) bool {
	size := uint8(8)
	if f := &forms[s.Op]; !s.fused.is {
		if !s.Op.takesMemory() || s.Op == VMOVAPD || f.tuple != tFull {
			return false
		}
		size = f.elem
		if x.all && f.evexW == no {
			return false
		}
	} else if s.fused.single {
		size = 4
	}
	return s.Len == x.len && (!x.all || t.embeds && size == x.size)
}
