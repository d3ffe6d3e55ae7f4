package amd64

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// This file defines a program of virtual registers: what a body becomes before registers are
// assigned. It also defines what the later passes share: the memory of a compilation, targets, live
// intervals, machine code, and the layouts of scratch memory and of the block of arguments.

// program is the steps of a body.
type program struct {
	steps  []step
	values []virtual // by virt; that of 0 stands for the results of steps without one
	shop   *workshop
	// hoist counts, of the steps that it leaves, those that add floats and those that load what may be
	// loaded again. By value it counts how many make it and read it (see needed). loads says that a
	// step loads.
	additions, again int
	makers, readers  []uint8
	loads            bool
	// inMemory reports, by counter, whether instructions read it from memory. Scalar code finds the index
	// of a loop that contains no other loop in its register.
	inMemory [maxCounters]bool
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

// workshop is memory for what a compilation needs until its code is written. The next compilation uses
// it again, so nothing that the Code holds may lie in it.
type workshop struct {
	steps     slab[step]
	operands  slab[operand]
	facts     slab[facts]
	intervals slab[interval]
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
	forms     slab[loop.Lin]
	frames    slab[frame]
	parts     slab[part]
	made      slab[invariant]
	sums      slab[sum]
	moves     map[allMoves][]byte // their code: see moveAll
	lowering  lowering
	maker     maker
}

// free takes back all memory.
func (w *workshop) free() {
	for _, s := range []interface{ free() }{&w.steps, &w.operands, &w.facts, &w.intervals, &w.words, &w.regs, &w.lives, &w.ints, &w.numbers, &w.virts,
		&w.bytes, &w.values, &w.relations, &w.reads, &w.forms, &w.frames, &w.parts, &w.made, &w.sums} {
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
		s.all, s.used = make([]T, max(s.most, n, 2*len(s.all), leastSlab)), 0
	}
	s.used, s.asked = s.used+n, s.asked+n
	return s.all[s.used-n : s.used-n : s.used]
}

// leastSlab is the least size of a slab.
const leastSlab = 64

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
	if len(p.values) == cap(p.values) {
		if p.values = p.shop.values.room(p.values, 2); len(p.values) == 0 {
			p.values = append(p.values, virtual{})
		}
	}
	n := len(p.values)
	p.values = p.values[:n+1]
	p.values[n] = virtual{class: c}
	return virt(n)
}

// next appends an empty step. The caller fills it in and then calls emitted. Filling in a step in place
// takes less time than copying one.
func (p *program) next() *step {
	s := p.appended()
	*s = step{}
	return s
}

// appended appends a step and returns it. The caller sets all of it, because its fields are not
// cleared.
func (p *program) appended() *step {
	n := len(p.steps)
	if n == cap(p.steps) {
		p.steps = p.shop.steps.room(p.steps, 1)
	}
	p.steps = p.steps[:n+1]
	return &p.steps[n]
}

// hasSource reports that v is one element of memory in all lanes.
func (p *program) hasSource(v virt) bool { return p.values[v].source.Broadcast }

// inputs is room for the virtual registers that a step reads.
type inputs [7]virt

// of returns the registers that s reads, and 0 in unused places. Most steps read at most two. Walks
// over all steps use it because it makes no call for each register.
func (in *inputs) of(s *step) []virt {
	in[0], in[1] = s.a, s.b
	if s.c|s.mask|s.index|s.near == 0 && !s.keeps {
		return in[:2]
	}
	in[2], in[3], in[4], in[5], in[6] = s.c, s.mask, s.index, s.near, 0
	if s.keeps {
		in[6] = s.dst
	}
	return in[:]
}

// reads calls f for every virtual register that the step reads.
func (s *step) reads(f func(v virt)) {
	var in inputs
	for _, v := range in.of(s) {
		if v != 0 {
			f(v)
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

// maker writes steps.
type maker struct {
	Asm
	*target
	p      *program
	at     assignment
	spills int // offset of the slots in scratch memory
	leave  Label
	failed Label // the code that sets the flag of a failed check and leaves; bound if checks is set
	checks bool
	start  Label
	resume []suspension
	// roundFuel is the fuel of a round of each loop that has not ended, in the order in which they end.
	// fuel is that of the loop that ends now.
	roundFuel []int
	fuel      int
	// held is 1 + the number of the counter whose index is in counterReg, or 0.
	held counter
	// streams says that results are stored past the caches.
	streams bool
}

// slotBytes is the size of a slot: a vector, or a mask.
const slotBytes = 64

// General registers with a fixed role. RAX, R9, R10 and R11 are free within a step.
const (
	argsReg    = RDI // the block of arguments
	laneReg    = RSI // the vector index of the first lane
	rowReg     = RCX // the other index of the space
	fuelReg    = R15 // rounds that may still be made
	scratchReg = RBX
	counterReg = RBP // the index of a shared inner loop that holds no other loop: see counting.alone
)

// target is one instruction set.
type target struct {
	name   Target
	length Len // of vectors of 64-bit elements
	lanes  int
	// embeds says that instructions take one element of memory for all lanes.
	embeds bool
	registers
	// line is how many vectors a row has at least that begins at a line of a cache: see lineStart. 0:
	// none does.
	line  int
	spare [3]Reg // vector registers through which values in scratch memory pass
	// spareMask are the mask registers through which they pass. The second limits no instruction.
	spareMask [2]Reg
	vec       vectors
	// rewrite replaces the instructions that the target lacks; nil: it has all.
	rewrite func(p *program, a *Asm)
}

// vectors is what a target does with whole vectors inside scalar code. A mask says which lanes
// count; NoReg: all. The methods may change RAX, R9, R10, R11, the spare registers that no operand
// is in, and the flags; operands stay as they are.
type vectors interface {
	// splat sets all lanes of dst to the word in RAX.
	splat(m *maker, dst Reg)
	// truth sets the mask dst to all lanes if RAX is 1, to none if it is 0.
	truth(m *maker, dst Reg)
	// first sets the mask dst to as many lanes from the first on as RAX says, at most all.
	first(m *maker, dst Reg)
	// none sets the flags to Equal if the mask has no lane.
	none(m *maker, mask Reg)
	// bits sets RAX to the lanes of the mask, a bit each, and the others to 0.
	bits(m *maker, mask Reg)
	// load reads lanes that lie side by side at a place. It touches no memory of lanes that do not
	// count; they become 0.
	load(m *maker, e types.Elem, dst, mask Reg, at Mem)
	// store writes lanes side by side. Memory of lanes that do not count is not touched.
	store(m *maker, e types.Elem, v, mask Reg, at Mem)
	// gather reads an element a lane, but no bools: at.Index is the vector of offsets. Lanes that
	// do not count become 0.
	gather(m *maker, e types.Elem, dst, mask Reg, at Mem)
	// scatter writes an element a lane, but no bools, in ascending order of the lanes: at.Index is
	// the vector of offsets.
	scatter(m *maker, e types.Elem, v, mask Reg, at Mem)
}

// Target names an instruction set that code is made for.
type Target string

// pair is an instruction for f64 and f32.
type pair struct{ f64, f32 Op }

func (p pair) of(e types.Elem) Op {
	if e == types.F32 {
		return p.f32
	}
	return p.f64
}

// counter is two words in scratch memory: the index, and where it ends.
type counter int32

// maxCounters is the room for counters in scratch memory.
const maxCounters = 64

// suspension is a place where the code may return.
type suspension struct{ leave, back Label }

// Scratch memory saves, in this order, the vector registers, the masks, the position in the window, the
// assigned general registers and counterReg. Counters of inner loops, the room of lane-by-lane code,
// locals, and values without a register follow. They stay in scratch memory and need no saving.
const (
	savedMasks = 32 * slotBytes
	savedRow   = savedMasks + 8*8
	savedLane  = savedRow + 8
	savedG     = savedLane + 8
	countersAt = savedMasks + 3*slotBytes
	roomAt     = countersAt + 16*maxCounters
	rowEndAt   = roomAt + 3*slotBytes + 32 // behind the words of lane-by-lane code
	localsAt   = roomAt + 4*slotBytes
)

// interval is where a virtual register lives: from the step that makes it to the last that reads
// it.
type interval struct {
	from, to int32
	// cost is how many steps make or read it, a step in a loop counting loopWeight times.
	cost float64
	// spill is the value of spillCost; 0: it has not been computed.
	spill float64
	// carried: a loop inside of the interval makes the value anew, so a round waits for the one before.
	carried bool
	made    bool // a step has made it
}

// assignment says where every virtual register lives.
type assignment struct {
	reg   []Reg // by virt; NoReg: in scratch memory
	slot  []int // by virt, of those in scratch memory
	slots int
	lives intervals
}

// registers is what may be assigned of each class.
type registers struct {
	vectors, masks int
	general        []Reg
}

// intervals is where all virtual registers of a program live.
type intervals struct {
	of    []interval // by virt
	order []virt     // by the step that makes them first
}

// life is the live range of a vector while splits walks the steps.
type life struct {
	from, to int32   // the steps of its interval
	dies     int32   // the step behind which it needs no register
	reads    []int32 // the steps that read it
	next     int     // the place in reads of the next one
	loop     int     // 1 + the step that begins the loop that all its steps are in; 0: none; -1: several
	seen     bool    // a step reads or defines it
	several  bool    // several steps define it
	evicted  bool    // it is in memory alone
	reload   virt    // the value that it was last loaded to; 0: it is in its first register
	slot     int32   // its offset in scratch memory; 0: none
}

// related holds the values, each with one definition, that a value is a copy of, has the complemented
// bits of, and is the magnitude of (floats). 0: there is none.
type related struct{ same, opposite, magnitudeOf virt }

// Code is the machine code of a nest, and what its caller has to know.
type Code struct {
	Text []byte
	// Scratch is how many bytes of scratch memory a call needs, at an address that is a multiple of
	// 64, beside what locals need whose size is known at run time alone: see ScratchFor.
	Scratch int
	// Words is the length of the block of arguments.
	Words int
	// Fuel is the fuel of a call. A round of the cheapest inner loop takes 1, so that a call takes some 20
	// us at most. The rest of it is in the block when the call returns.
	Fuel int
	// Points is how many points of a row are evaluated at a time.
	Points int
	sized  []sizedLocal
	// States are those of the results that are reduced, by number. A result that no statement
	// contributes to has none.
	States map[int]*loop.State
}

func argMem(offset int32) Mem { return At(argsReg, offset) }

// sizedLocal is a local whose size is known at run time alone.
type sizedLocal struct {
	rows, cols loop.Lin
	wide       int64
}

// Words of the block of arguments, each of 8 bytes. The memory of operand or result k begins at
// argMemory + k*memoryWords, operands first: address, bytes from row to row, rows, columns; of a
// scalar the word itself. Memory of a reduced result holds the states of its elements (see
// Code.States). The caller fills it with State.Empty, and every call adds to it. Word k of all elements
// is a matrix of 8-byte words; these matrices follow one another in memory. Windows of a nest with an
// ordered state are evaluated in the order of their rows.
const (
	argRow      = 0 // the window: rows argRow to argRowEnd-1, lanes argLane to argLaneEnd-1
	argRowEnd   = 1
	argLane     = 2
	argLaneEnd  = 3
	argScratch  = 4 // the address of scratch memory, aligned to 64 bytes
	argFlags    = 5 // bit 0: a check failed, and the window is to be evaluated again in order
	argFuel     = 6 // the code returns when it is used up; a round of the cheapest inner loop takes 1, others more
	argResume   = 7 // 0: the window is to be begun, or has been ended; else where it goes on
	argMemory   = 8
	memoryWords = 4
)
