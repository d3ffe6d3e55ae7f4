package amd64

// This file drives the making of code: the loops over the window around the body.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

// Code is the machine code of a nest, and what its caller has to know.
type Code struct {
	Text []byte
	// Scratch is how many bytes of scratch memory a call needs, at an address that is a multiple of 64.
	Scratch int
	// Words is the length of the block of arguments.
	Words int
}

// Compile makes code for the points of a window: of nests over two indices the lanes are the last one, of nests over one its
// points. The operands and results are laid out as the layouts say. An error is an *Unsupported, or a bug.
//
// The code reads a block of words (see argRow and the others), evaluates points of the window and returns: when the window is
// ended, when a check failed, or when its fuel is spent. Then it is called again with the same block and new fuel, and goes on. It touches
// no memory but that of the points; subscripts are not checked, so the caller proves them from the window first.
func Compile(n *loop.Nest, params, results []Layout) (*Code, error) {
	return compileFor(avx512, n, params, results)
}

func compileFor(t *target, n *loop.Nest, params, results []Layout) (code *Code, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(*Unsupported)
			if !ok {
				panic(r)
			}
			code, err = nil, u
		}
	}()
	n = loop.ExpandFolds(n)
	m := &maker{target: t}
	l := &lowering{target: t, nest: n, params: params, results: results, asm: m, inner: map[int]virt{}, lanes: -1, rows: -1}
	switch len(n.Space) {
	case 1:
		l.lanes = n.Space[0].Name
	case 2:
		l.rows, l.lanes = n.Space[0].Name, n.Space[1].Name
	default:
		return nil, &Unsupported{What: fmt.Sprintf("a space of %d indices", len(n.Space))}
	}
	for _, x := range n.Space {
		if x.Range.Kind != loop.Steps || x.Range.By != 1 {
			return nil, &Unsupported{What: "a space with steps"}
		}
	}
	if len(n.Locals) > 0 {
		return nil, &Unsupported{What: "locals"}
	}
	l.window()
	l.prune()
	m.at = l.allocate(m.registers)
	m.leave = m.Label()
	m.spills = savedBytes
	m.enter()
	m.write(&l.program)
	m.end()
	text, err := m.Finish()
	if err != nil {
		return nil, err
	}
	return &Code{Text: text, Scratch: savedBytes + m.at.slots*slotBytes, Words: argMemory + memoryWords*(len(n.Params)+len(n.Results))}, nil
}

// window writes the loops over rows and lanes: whole vectors, then what is left under a mask.
func (l *lowering) window() {
	scalar := func(f func(m *maker)) { l.emit(step{scalar: func(m *maker, _ Reg, _ []Reg) { f(m) }}) }
	nextRow, end := l.asm.Label(), l.asm.Label()
	scalar(func(m *maker) {
		m.LoadG(rowReg, argMem(8*argRow))
		m.LoadG(rowEndReg, argMem(8*argRowEnd))
		m.LoadG(laneEndReg, argMem(8*argLaneEnd))
	})
	l.emit(step{enters: true, scalar: func(m *maker, _ Reg, _ []Reg) {
		m.Bind(nextRow)
		m.ArithG(CmpG, rowReg, rowEndReg)
		m.Jump(GreaterEq, end)
		m.LoadG(laneReg, argMem(8*argLane))
	}})
	whole, rest, done := l.asm.Label(), l.asm.Label(), l.asm.Label()
	l.emit(step{enters: true, scalar: func(m *maker, _ Reg, _ []Reg) {
		m.Bind(whole)
		m.Lea(RAX, At(laneReg, int32(m.lanes)))
		m.ArithG(CmpG, RAX, laneEndReg)
		m.Jump(Greater, rest)
	}})
	l.points(0)
	l.emit(step{leaves: true, scalar: func(m *maker, _ Reg, _ []Reg) {
		m.ArithImm(AddG, laneReg, int32(m.lanes))
		m.again(whole)
		m.Bind(rest)
		m.ArithG(CmpG, laneReg, laneEndReg)
		m.Jump(GreaterEq, done)
	}})
	left := l.broadcastG(func(m *maker) { m.Mov(RAX, laneEndReg) })
	tail := l.compare(VPCMPQ, types.I64, operand{elem: types.I64, v: l.indexVector(l.lanes, loop.Origin{})}, operand{elem: types.I64, v: left}, 1)
	l.points(tail)
	l.emit(step{leaves: true, scalar: func(m *maker, _ Reg, _ []Reg) {
		m.Bind(done)
		m.ArithImm(AddG, rowReg, 1)
		m.Goto(nextRow)
		m.Bind(end)
	}})
}

// points lowers the body for the lanes of a mask, or for all.
func (l *lowering) points(mask virt) {
	l.frame = &frame{make([]operand, len(l.nest.Types)), l.nest.Types, l.nest.Tables}
	l.active = mask
	l.block(&l.nest.Body)
}
