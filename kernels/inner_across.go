package kernels

// This file turns a pass that ends with products of a row and a matrix into a program of the pass machine whose lanes
// are iterations of the loop: it goes over the rows one by one, each product being a chain of multiply-adds in every
// lane, in the order that its definition says. A column of a matrix that is the same in every iteration is one number a
// row then, and what differs from iteration to iteration is a register that lies still.
//
// A difference of the two, such as of all bodies and one, is formed where it is read, if squares and products alone
// read it: to compute it again takes less than to store it.

import "flow/kernels/vec"

// across is what a passCompiler knows besides where lanes are iterations.
type across struct {
	apart   map[int]apart // differences that are formed where they are read, by register
	squares map[int]apart // registers that are squares of these, which an addition takes in
	columns []passInstr   // at the beginning of a row: columns that are read as registers
}

// apart is the difference of a column and a register, or of a register and a column.
type apart struct {
	column, lanes int
	back          bool
}

// compileAcross is the program of c's block and products, nil if there is none.
func compileAcross(c *innerCode) *passCode {
	if !vec.HavePass || len(c.dots) == 0 || len(c.sums) > 0 {
		return nil
	}
	k := newPassCompiler(c)
	k.across = &across{apart: map[int]apart{}, squares: map[int]apart{}}
	return k.compile(func(k *passCompiler) {
		for _, d := range c.dots {
			k.gone[k.def[d.a]], k.gone[k.def[d.b]] = true, true
		}
		for i := range c.block {
			k.squares(i)
		}
		for i := range c.block {
			k.across.differences(k, i)
		}
		for i := range c.block {
			k.step(i)
		}
		for i, d := range c.dots {
			k.across.dot(k, i, d)
		}
		k.p.steady = append(append(k.across.columns, timesRoots(k.body)...), passInstr{op: vec.PassEnd})
		k.p.compact()
		k.p.forces = k.p.asForces()
		join(k.p.steady)
	})
}

// lanes is how many iterations the machine computes in the time of one. p may be nil.
func (p *passCode) lanes() int {
	if p != nil && p.forces != nil {
		return vec.ForceLanes
	}
	return vec.PassRows
}

// timesRoots makes one step of a number's root times the number, where it was stored for nothing else.
func timesRoots(body []passInstr) []passInstr {
	reads := map[passArg]int{}
	for _, s := range body {
		for _, a := range s.arg {
			reads[a]++
		}
	}
	var out []passInstr
	for i := 0; i < len(body); i++ {
		if i+2 < len(body) && body[i].op == vec.PassStore && body[i+1].op == vec.PassSqrtBoth && body[i+2].op == vec.PassMul {
			if x := body[i].arg[0]; body[i+2].arg[0] == x && reads[x] == 2 {
				out = append(out, passInstr{op: vec.PassRootTimes})
				i += 2
				continue
			}
		}
		out = append(out, body[i])
	}
	return out
}

// threeInOne is three steps that the machine has as one, too.
var threeInOne = map[[3]uint64]uint64{
	{vec.PassRowSquare, vec.PassRowSquareAdd, vec.PassRowSquareAdd}: vec.PassRowSquares,
	{vec.PassRowDot, vec.PassRowDot, vec.PassRowDot}:                vec.PassRowDots,
}

// join makes one step of three where the machine has it: the operands of the other two stay where they are.
func join(steps []passInstr) {
	for i := 0; i+2 < len(steps); i++ {
		if op, have := threeInOne[[3]uint64{steps[i].op, steps[i+1].op, steps[i+2].op}]; have {
			steps[i].op = op
			i += 2
		}
	}
}

// compact leaves out registers that no step mentions: those of numbers that are powers, or that one step does not store
// any more.
func (p *passCode) compact() {
	used := map[int]bool{}
	for _, s := range p.steady {
		for _, a := range s.arg {
			used[a.reg] = used[a.reg] || a.kind == argNow
		}
	}
	var kept []int
	constants := p.constants
	for i, r := range p.registers {
		switch {
		case used[r]:
			p.at[r] = len(kept)
			kept = append(kept, r)
		default:
			delete(p.at, r)
			if i < constants {
				p.constants--
			}
		}
	}
	p.registers = kept
}

// spread makes column r a register in every row.
func (a *across) spread(r int) {
	a.columns = append(a.columns, passInstr{vec.PassSpread, [3]passArg{{argInRow, r}}}, passInstr{vec.PassStore, [3]passArg{{argNow, r}}})
}

// differences finds out whether step i is a difference that is formed where it is read.
func (a *across) differences(k *passCompiler, i int) {
	s := &k.in.block[i]
	if s.kind != stepInstr || s.code != opF64x2 || s.def == nil || s.def.Name != "sub" {
		return
	}
	d := apart{column: s.arg[0], lanes: s.arg[1]}
	if _, column := k.p.columns[d.column]; !column {
		d.column, d.lanes, d.back = d.lanes, d.column, true
	}
	_, column := k.p.columns[d.column]
	if _, still := k.p.at[d.lanes]; !column || !still {
		return
	}
	squares := []int{}
	for j := i + 1; j < len(k.in.block); j++ {
		n := &k.in.block[j]
		switch reads := n.kind == stepCopy && n.arg[0] == s.dst && k.gone[j] && !a.left(k, n.dst); {
		case reads:
		case k.multiplies(j) && !k.gone[j] && n.arg[0] == s.dst && n.arg[1] == s.dst && a.added(k, j):
			squares = append(squares, j)
		default:
			read := false
			n.reads(func(r int) { read = read || r == s.dst })
			if read {
				return
			}
		}
	}
	k.gone[i], a.apart[s.dst] = true, d
	for _, j := range squares {
		k.gone[j], a.squares[k.in.block[j].dst] = true, d
	}
}

// left reports that r is the left factor of a product.
func (a *across) left(k *passCompiler, r int) bool {
	for _, d := range k.in.dots {
		if d.a == r {
			return true
		}
	}
	return false
}

// added reports that an addition reads what step j computes, and nothing else does.
func (a *across) added(k *passCompiler, j int) bool {
	r := k.in.block[j].dst
	if k.uses[r] != 1 {
		return false
	}
	for i := j + 1; i < len(k.in.block); i++ {
		n, read := &k.in.block[i], false
		if n.reads(func(x int) { read = read || x == r }); read {
			return n.kind == stepInstr && n.code == opF64x2 && n.def != nil && n.def.Name == "add"
		}
	}
	return false
}

// step emits s if it is an addition of squares.
func (a *across) step(k *passCompiler, s *laneStep) bool {
	if s.kind != stepInstr || s.def == nil || s.def.Name != "add" {
		return false
	}
	x, y := s.arg[0], s.arg[1]
	dx, first := a.squares[x]
	dy, second := a.squares[y]
	switch {
	case first && second:
		k.emit(vec.PassRowSquare, k.now(dx.lanes), passArg{argInRow, dx.column})
	case first:
		dy = dx
		k.load(y)
	case second:
		k.load(x)
	default:
		return false
	}
	k.emit(vec.PassRowSquareAdd, k.now(dy.lanes), passArg{argInRow, dy.column})
	return true
}

// difference emits s, a difference that is stored, if it is one of a column and a register that lies still.
func (a *across) difference(k *passCompiler, s *laneStep) bool {
	_, column := k.p.columns[s.arg[0]]
	_, still := k.p.at[s.arg[1]]
	if column && still {
		k.emit(vec.PassRowDifference, k.now(s.arg[1]), passArg{argInRow, s.arg[0]}, k.now(s.dst))
	}
	return column && still
}

// last reports that nothing but products reads what step i computes, and nothing is computed after it.
func (a *across) last(k *passCompiler, i int) bool {
	r := k.in.block[i].dst
	for j := i + 1; j < len(k.in.block); j++ {
		if !k.gone[j] {
			return false
		}
	}
	for _, d := range k.in.dots {
		if k.in.block[k.def[d.a]].arg[0] != r || k.in.block[k.def[d.b]].arg[0] == r {
			return false
		}
	}
	return true
}

// dot adds to the chains of product i: acc is the left factor.
func (a *across) dot(k *passCompiler, i int, d innerDot) {
	left, right := k.in.block[k.def[d.a]].arg[0], k.in.block[k.def[d.b]].arg[0]
	k.load(left)
	k.acc = left
	chains := passArg{argDot, i}
	if x, is := a.apart[right]; is && !x.back {
		k.emit(vec.PassRowDot, k.now(x.lanes), passArg{argInRow, x.column}, chains)
	} else if is {
		k.emit(vec.PassRowDotBack, k.now(x.lanes), passArg{argInRow, x.column}, chains)
	} else {
		k.emit(vec.PassDot, k.now(right), passArg{}, chains)
	}
}
