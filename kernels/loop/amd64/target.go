package amd64

// This file defines what a target is. Lowering writes the instructions of AVX-512, masks included;
// a target that lacks some of them rewrites the steps before registers are assigned. What the
// scalar code between the steps does with vectors is behind an interface, since no step names the
// instructions inside it.

import "flow/ir/types"

// Target names an instruction set that code is made for.
type Target string

// The targets: AVX-512 with BW, CD, DQ and VL, and AVX2 with FMA.
const (
	AVX512 Target = "avx512"
	AVX2   Target = "avx2"
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

// single is the length of vectors of f32, as many as lanes.
func (t *target) single() Len {
	if t.wide() {
		return t.length
	}
	return t.length - 1
}

// wide reports lanes of 32 bits.
func (t *target) wide() bool { return t.lanes*4 == t.length.Bytes() }

// vexOnly says that the target has no EVEX encodings and no mask registers.
func (t *target) vexOnly() bool { return t.rewrite != nil }

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
