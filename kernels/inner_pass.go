package kernels

// This file turns the pass over the rows of tall matrices into a program of the pass machine
// (package vec), where its steps are arithmetic on f64 that the machine has. It computes what the
// steps compute, with two differences that show in no result: a product that is only summed is not
// kept, and sums of columns are taken with a bias (exact.Column). Where these cannot prove their
// rounding, or something infinite comes up, the steps run as they are.
//
// The sums of a group of rows are taken while the next group is computed, behind its first root or
// division: those units are slow, and the additions have nothing to wait for.

import (
	"slices"

	"flow/ir/types"
	"flow/kernels/vec"
)

// passCode is a program without addresses. It is read-only.
type passCode struct {
	registers []int            // that lie in memory, in the body's numbers; those that are constant in a pass first
	constants int              // how many
	first     []passInstr      // the first group: constants of the iteration, and body
	steady    []passInstr      // every other one
	last      []passInstr      // the sums of the last group
	at        map[int]int      // the place of a register of the lanes in registers
	columns   map[int]int      // registers that are columns of matrices that are the same in every iteration, in order
	spread    map[int]laneMove // constants of the iteration
	forces    *forceCode       // the steady program in one, where it is a pass of forces; else nil
}

// passInstr is one step.
type passInstr struct {
	op  uint64
	arg [3]passArg
}

// passArg is a register, or the state of a sum; n operands of an instruction are set, the others
// have kind noArg.
type passArg struct {
	kind passKind
	reg  int
}

type passKind uint8

const (
	noArg     passKind = iota
	argNow             // a register or a column, of this group
	argBefore          // of the group before
	argNumber          // the one number of an iteration
	argState           // of a sum
	argInRow           // the number of a column in this row, where lanes are iterations
	argDot             // a product's chains so far, there
)

// passCompiler makes a passCode; it panics with notLanes for what the machine cannot do.
type passCompiler struct {
	in   *innerCode
	p    *passCode
	def  map[int]int  // the step that defines a register
	uses map[int]int  // how often it is read
	zero map[int]bool // constants that are 0
	gone map[int]bool // steps that another one includes
	acc  int          // the register in the accumulator; -1: none
	body []passInstr
	sums []passInstr

	across *across // where lanes are iterations; else nil
}

// compilePass is the program of c's block and sums, nil if there is none.
func compilePass(c *innerCode) (p *passCode) {
	if !vec.HavePass || len(c.sums) == 0 || len(c.dots) > 0 {
		return nil
	}
	return newPassCompiler(c).compile(func(k *passCompiler) {
		k.sumsOf()
		for i := range c.block {
			k.squares(i)
		}
		for i := range c.block {
			k.step(i)
		}
		k.assemble()
	})
}

// compile is the code that f makes, nil if the machine cannot do something.
func (k *passCompiler) compile(f func(k *passCompiler)) (p *passCode) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(notLanes); !is {
				panic(r)
			}
			p = nil
		}
	}()
	f(k)
	return k.p
}

// newPassCompiler knows the registers and steps of c.
func newPassCompiler(c *innerCode) *passCompiler {
	p := &passCode{at: map[int]int{}, columns: map[int]int{}, spread: map[int]laneMove{}}
	k := &passCompiler{in: c, p: p, def: map[int]int{}, uses: map[int]int{}, zero: map[int]bool{}, gone: map[int]bool{}, acc: -1}
	for i, x := range c.columns {
		p.columns[x.reg] = i
	}
	for _, f := range c.fills {
		k.zero[f.reg] = f.body < 0 && f.number.Elem == types.F64 && f.number.F == 0
		k.constant(f.reg)
	}
	for _, m := range c.spread {
		k.constant(m.to)
		p.spread[m.to] = m
	}
	p.constants = len(p.registers)
	for i := range c.block {
		s := &c.block[i]
		k.def[s.dst] = i
		s.reads(func(r int) { k.uses[r]++ })
	}
	return k
}

func (k *passCompiler) constant(r int) {
	if k.in.elems[r] == types.F64 {
		k.p.at[r] = len(k.p.registers)
		k.p.registers = append(k.p.registers, r)
	}
}

// now is register r as an operand: it lies in memory from when it is defined.
func (k *passCompiler) now(r int) passArg {
	if k.in.elems[r] != types.F64 {
		panic(notLanes{})
	}
	_, column := k.p.columns[r]
	if _, have := k.p.at[r]; !have && (!column || k.across != nil) {
		k.p.at[r] = len(k.p.registers)
		k.p.registers = append(k.p.registers, r)
		if column {
			k.across.spread(r)
		}
	}
	return passArg{argNow, r}
}

// before is register r as an operand of a sum.
func (k *passCompiler) before(r int) passArg {
	a := k.now(r)
	if _, column := k.p.columns[r]; column || k.p.at[r] >= k.p.constants {
		a.kind = argBefore
	}
	return a
}

// sumsOf makes the sums: their steps are copies of what is summed.
func (k *passCompiler) sumsOf() {
	for i, s := range k.in.sums {
		for _, r := range s.of {
			copying := k.def[r]
			k.gone[copying] = true
			x := k.in.block[copying].arg[0]
			state := passArg{argState, i}
			if d, ok := k.def[x]; ok && k.uses[x] == 1 && k.multiplies(d) {
				k.gone[d] = true
				m := &k.in.block[d]
				k.sums = append(k.sums, passInstr{vec.PassProducts, [3]passArg{k.before(m.arg[0]), k.before(m.arg[1]), state}})
				continue
			}
			k.sums = append(k.sums, passInstr{vec.PassColumn, [3]passArg{0: k.before(x), 2: state}})
		}
	}
}

// multiplies reports that step i is a product.
func (k *passCompiler) multiplies(i int) bool {
	s := &k.in.block[i]
	return s.kind == stepInstr && s.code == opF64x2 && (s.loops == &product || s.def != nil && s.def.Name == "mul")
}

// squares lets a sum of three take in the squares that nothing else reads.
func (k *passCompiler) squares(i int) {
	s := &k.in.block[i]
	if s.kind != stepSum3 {
		return
	}
	for _, r := range s.arg {
		d, ok := k.def[r]
		if k.zero[r] {
			continue
		}
		if !ok || k.uses[r] != 1 || !k.multiplies(d) || k.in.block[d].arg[0] != k.in.block[d].arg[1] {
			return
		}
	}
	for _, r := range s.arg {
		if !k.zero[r] {
			k.gone[k.def[r]] = true
		}
	}
}

// step emits step i.
func (k *passCompiler) step(i int) {
	if k.gone[i] {
		return
	}
	s := &k.in.block[i]
	switch {
	case k.across != nil && k.across.step(k, s):
	case s.kind == stepInstr && k.difference(s, i):
		return
	case s.kind == stepInstr:
		k.arithmetic(s)
	case s.kind == stepSum3:
		p := passInstr{op: vec.PassSum3}
		for j, r := range s.arg {
			if d, ok := k.def[r]; ok && k.gone[d] {
				p.op, r = vec.PassSquares3, k.in.block[d].arg[0]
			}
			p.arg[j] = k.now(r)
		}
		k.body = append(k.body, p)
	case s.kind == stepRoot3:
		k.load(s.arg[0])
		k.emit(k.root())
		k.emit(vec.PassMul, k.now(s.arg[0]))
	case s.kind == stepCube:
		k.load(s.arg[0])
		k.emit(vec.PassCube)
	default:
		panic(notLanes{})
	}
	k.acc = s.dst
	k.keep(i)
}

func (k *passCompiler) emit(op uint64, arg ...passArg) {
	p := passInstr{op: op}
	copy(p.arg[:], arg)
	k.body = append(k.body, p)
}

// root is the operation for roots: sums leave the units that multiply no time for them.
func (k *passCompiler) root() uint64 {
	if k.across != nil {
		return vec.PassRoot()
	}
	return vec.PassSqrt
}

// load brings r into the accumulator.
func (k *passCompiler) load(r int) {
	if k.acc != r {
		k.emit(vec.PassLoad, k.now(r))
	}
}

// operations are the steps of a row: with the accumulator as the first argument, and as the second.
var operations = map[string][2]uint64{
	"add": {vec.PassAdd, vec.PassAdd}, "sub": {vec.PassSub, vec.PassSubFrom}, "mul": {vec.PassMul, vec.PassMul},
	"div": {vec.PassDiv, vec.PassDivInto}, "sqrt": {vec.PassSqrt, vec.PassSqrt}, "rsqrt": {vec.PassRsqrt, vec.PassRsqrt},
	"abs": {vec.PassAbs, vec.PassAbs}, "neg": {vec.PassNeg, vec.PassNeg}, "ew.min": {vec.PassMin, vec.PassMin}, "ew.max": {vec.PassMax, vec.PassMax},
}

func (k *passCompiler) arithmetic(s *laneStep) {
	name := "mul" // the loop of squares has no row
	if s.def != nil {
		name = s.def.Name
	}
	o, have := operations[name]
	if name == "sqrt" {
		o[0] = k.root()
	}
	switch {
	case !have || s.out != types.F64:
		panic(notLanes{})
	case s.code == opF64x1 && s.n == 1:
		k.load(s.arg[0])
		k.emit(o[0])
	case s.code == opF64x2 && s.n == 2 && s.arg[0] == s.arg[1] && name == "mul":
		k.load(s.arg[0])
		k.emit(vec.PassSquare)
	case s.code == opF64x2 && s.n == 2 && k.acc == s.arg[1] && k.acc != s.arg[0]:
		k.emit(o[1], k.now(s.arg[0]))
	case s.code == opF64x2 && s.n == 2:
		k.load(s.arg[0])
		k.emit(o[0], k.now(s.arg[1]))
	default:
		panic(notLanes{})
	}
}

// difference emits step i if it is a subtraction of what lies in memory, to be stored: one
// operation instead of three.
func (k *passCompiler) difference(s *laneStep, i int) bool {
	if s.code != opF64x2 || s.def == nil || s.def.Name != "sub" || k.acc == s.arg[0] || k.acc == s.arg[1] || k.taken(s.dst, i) {
		return false
	}
	if k.across != nil && k.across.difference(k, s) {
		return true
	}
	k.emit(vec.PassDifference, k.now(s.arg[0]), k.now(s.arg[1]), k.now(s.dst))
	return true
}

// keep stores the accumulator, unless the next step takes it.
func (k *passCompiler) keep(i int) {
	if !k.taken(k.acc, i) && (k.across == nil || !k.across.last(k, i)) {
		k.emit(vec.PassStore, k.now(k.acc))
	}
}

// taken reports that the step after i takes r, which step i makes, from the accumulator, and that
// nothing else reads it.
func (k *passCompiler) taken(r, i int) bool {
	for j := i + 1; j < len(k.in.block); j++ {
		if k.gone[j] {
			continue
		}
		n := &k.in.block[j]
		once := k.uses[r] == 1 || k.uses[r] == 2 && n.arg[0] == r && n.arg[1] == r && k.multiplies(j)
		return (n.kind == stepInstr || n.kind == stepCube) && once && slices.Contains(n.arg[:n.n], r)
	}
	return false
}

// assemble puts the programs together.
func (k *passCompiler) assemble() {
	p := k.p
	end := passInstr{op: vec.PassEnd}
	for _, r := range p.registers[:p.constants] {
		if m, ok := p.spread[r]; ok {
			p.first = append(p.first, passInstr{vec.PassSpread, [3]passArg{{argNumber, m.from}}}, passInstr{vec.PassStore, [3]passArg{{argNow, r}}})
		}
	}
	p.first = append(append(p.first, k.body...), end)
	at := slices.IndexFunc(k.body, func(s passInstr) bool {
		return s.op == vec.PassSqrt || s.op == vec.PassDiv || s.op == vec.PassDivInto
	})
	p.steady = slices.Concat(k.body[:at+1], k.sums, k.body[at+1:], []passInstr{end})
	for _, s := range k.sums {
		s.op++ // its form for the tail
		p.last = append(p.last, s)
	}
	p.last = append(p.last, end)
}
