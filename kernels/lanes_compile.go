package kernels

// This file compiles bodies to steps over lanes.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/vec"
)

// laneRef is what a register of a body is.
type laneRef struct {
	reg   int       // a register of lanes; -1 for the others
	lanes bool      // it differs from lane to lane
	mat   int       // of a matrix that is the same in every iteration: 1 + its register in the body of the parfor
	parts []laneRef // of the result of a loop or branch
}

func lanesIn(reg int) laneRef { return laneRef{reg: reg, lanes: true} }

// laneCompiler makes a laneCode. It panics with notLanes for what lanes cannot do.
type laneCompiler struct {
	c     *laneCode
	steps []laneStep      // of the block being compiled
	seen  map[laneKey]int // what the block has computed
	konst map[constKey]int
}

type notLanes struct{}

// laneKey identifies a value of a block: the same operator on the same registers.
type laneKey struct {
	def       *op.Def
	elem, out types.Elem
	arg       [3]int
	from      int
}

type constKey struct {
	elem types.Elem
	text string
}

// compileLanes is the body for lanes, nil if an action of it is none on scalars.
func compileLanes(b *op.Body, varies []bool, dims int, m *keepMap) (c *laneCode) {
	c = &laneCode{matrix: len(varies), iota: -1}
	k := &laneCompiler{c: c, seen: map[laneKey]int{}, konst: map[constKey]int{}}
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(notLanes); !is {
				panic(r)
			}
			c = nil
		}
	}()
	env := make([]laneRef, 0, len(varies))
	for r := range b.Args {
		env = append(env, k.outer(b, r, varies[r]))
	}
	for d := range dims {
		c.index[d] = env[d].reg
	}
	for i := range b.Acts {
		if r := len(b.Args) + i; !varies[r] {
			env = append(env, k.outer(b, r, false))
			k.draw(b, i)
		} else {
			env = append(env, k.act(b, i, env, m))
		}
	}
	y := env[b.Yields[0]]
	if y.reg < 0 {
		return nil
	}
	c.yield, c.block = y.reg, k.steps
	k.place()
	return c
}

// outer is an argument of the parfor's body, or a value that is the same in every iteration.
func (k *laneCompiler) outer(b *op.Body, r int, varies bool) laneRef {
	t := b.Register(r)
	if !isNumber(t) {
		return laneRef{reg: -1, mat: r + 1}
	}
	x := laneRef{reg: k.register(t.Elem), lanes: varies}
	if !varies {
		k.c.fills = append(k.c.fills, laneFill{reg: x.reg, body: r})
	}
	return x
}

// draw notes a constructor in the body that lanes make the rows of: what reads it reads its own row.
func (k *laneCompiler) draw(b *op.Body, i int) {
	a := &b.Acts[i]
	if !a.Attrs.Bool("drawn") {
		return
	}
	if k.c.iota < 0 {
		k.c.iota = k.register(types.I64)
	}
	k.c.draws = append(k.c.draws, laneDraw{len(b.Args) + i, a})
}

// draws reports whether register r of the body is made by the lanes.
func (k *laneCompiler) draws(r int) bool {
	for _, d := range k.c.draws {
		if d.reg == r {
			return true
		}
	}
	return false
}

func (k *laneCompiler) register(e types.Elem) int {
	k.c.elems = append(k.c.elems, e)
	k.c.slot = append(k.c.slot, -1)
	return len(k.c.elems) - 1
}

// place gives registers their places: those that are set before the batch or once for all have their own.
func (k *laneCompiler) place() {
	p := &laneSlots{c: k.c}
	for _, f := range k.c.fills {
		p.take(f.reg)
	}
	p.take(k.c.index[0])
	p.take(k.c.index[1])
	if k.c.iota >= 0 {
		p.take(k.c.iota)
	}
	p.block(k.c.block, k.c.yield)
}

func (k *laneCompiler) emit(s laneStep) int {
	k.steps = append(k.steps, s)
	return s.dst
}

// act compiles action i of b, whose registers so far are env; m says what of b is kept.
func (k *laneCompiler) act(b *op.Body, i int, env []laneRef, m *keepMap) laneRef {
	a := &b.Acts[i]
	switch {
	case m != nil && m.cell[i] > 0:
		return k.kept(a, m.cell[i]-1)
	case a.Def.Control == op.Part:
		return env[a.Args[0]].parts[a.Attrs.Int("at")]
	case a.Def.Control == op.Iterate:
		return k.loop(b, i, env, m.within(i))
	case a.Def.Control == op.Select:
		return k.branch(b, i, env, m.within(i))
	case a.Def.Name == "const" && isNumber(a.Type):
		return laneRef{reg: k.constant(a)}
	case a.Def.Name == "element":
		m := env[a.Args[0]]
		if m.mat == 0 || a.Type.Elem.Size() == 0 {
			panic(notLanes{})
		}
		p := &lanePick{m.mat - 1, k.number(env, a.Args[1]), k.number(env, a.Args[2])}
		if k.draws(m.mat - 1) {
			p.row = k.c.iota
		}
		key := laneKey{def: a.Def, arg: [3]int{p.row, p.col}, from: p.from + 1}
		if r, ok := k.seen[key]; ok {
			return lanesIn(r)
		}
		k.seen[key] = k.emit(laneStep{kind: stepPick, pick: p, instr: instr{dst: k.register(a.Type.Elem), out: a.Type.Elem}})
		return lanesIn(k.seen[key])
	case a.Def.Elt != nil && isNumber(a.Type) && len(a.Args) <= 3:
		return lanesIn(k.elementwise(a, env))
	}
	panic(notLanes{})
}

// kept is a value that an iteration needs first: a number in every lane, or a matrix.
func (k *laneCompiler) kept(a *op.Action, cell int) laneRef {
	s := laneStep{kind: stepKept, kept: cell, instr: instr{dst: -1, out: a.Type.Elem}}
	if isNumber(a.Type) {
		s.dst = k.register(a.Type.Elem)
		return lanesIn(k.emit(s))
	}
	k.emit(s)
	return laneRef{reg: -1, mat: 1 + k.c.matrix + cell}
}

// number is the register of lanes that body register r is.
func (k *laneCompiler) number(env []laneRef, r int) int {
	if env[r].reg < 0 {
		panic(notLanes{})
	}
	return env[r].reg
}

// constant is a register that holds a constant of a body.
func (k *laneCompiler) constant(a *op.Action) int {
	key := constKey{a.Type.Elem, a.Attrs.String()}
	r, ok := k.konst[key]
	if !ok {
		r = k.register(a.Type.Elem)
		k.konst[key] = r
		k.c.fills = append(k.c.fills, laneFill{reg: r, konst: a})
	}
	return r
}

// elementwise compiles an elementwise operator, with the conversions that its operands need before it.
func (k *laneCompiler) elementwise(a *op.Action, env []laneRef) int {
	var in [3]types.Elem
	for i, r := range a.Args {
		in[i] = k.c.elems[k.number(env, r)]
	}
	wide := widest(in[:len(a.Args)])
	s := instr{def: a.Def, loops: &a.Def.Loops, n: len(a.Args), out: a.Type.Elem}
	for i, r := range a.Args {
		want := operandElem(a.Def, i, in[i], wide, a.Type.Elem)
		s.arg[i], s.elem = k.converted(env[r].reg, want), want
	}
	s.code = selectLoop(a.Def, s.n, s.elem, s.out)
	s.guard = a.Def.Fails(s.elem, s.out)
	return k.once(s)
}

// once emits an instruction, unless the block has computed the same before.
func (k *laneCompiler) once(s instr) int {
	key := laneKey{s.def, s.elem, s.out, s.arg, 0}
	if r, ok := k.seen[key]; ok {
		return r
	}
	s.dst = k.register(s.out)
	k.seen[key] = k.emit(laneStep{instr: s})
	return s.dst
}

// converted is the register that holds r as elements of e.
func (k *laneCompiler) converted(r int, e types.Elem) int {
	if k.c.elems[r] == e {
		return r
	}
	return k.once(instr{code: opConvert, elem: k.c.elems[r], out: e, arg: [3]int{r}, n: 1})
}

// copied is a register of its own with what r holds.
func (k *laneCompiler) copied(r int) int {
	e := k.c.elems[r]
	return k.emit(laneStep{kind: stepCopy, instr: instr{elem: e, out: e, dst: k.register(e), arg: [3]int{r}, n: 1}})
}

// body compiles b in the current block and gives its yields.
func (k *laneCompiler) body(b *op.Body, args []laneRef, m *keepMap) []laneRef {
	env := append([]laneRef(nil), args...)
	for i := range b.Acts {
		env = append(env, k.act(b, i, env, m))
	}
	var out []laneRef
	for _, y := range b.Yields {
		out = append(out, env[y])
	}
	return out
}

// apart compiles f in a block of its own.
func (k *laneCompiler) apart(f func()) []laneStep {
	steps, seen := k.steps, k.seen
	k.steps, k.seen = nil, map[laneKey]int{}
	f()
	block := k.steps
	k.steps, k.seen = steps, seen
	return block
}

// locals is what a body apart sees of env[args]: a copy of its own of what differs from lane to lane.
func (k *laneCompiler) locals(env []laneRef, args []int, carry int) (in []laneRef, moves []laneMove) {
	for i, r := range args {
		x := env[r]
		if x.parts != nil {
			panic(notLanes{})
		}
		if i < carry || x.lanes {
			to := k.register(k.c.elems[k.number(env, r)])
			if i >= carry {
				moves = append(moves, laneMove{x.reg, to})
			}
			x = lanesIn(to)
		}
		in = append(in, x)
	}
	return in, moves
}

// readParts says which parts of the result of action i of b are read.
func readParts(b *op.Body, i, n int) []bool {
	read := make([]bool, n)
	for k := range b.Acts {
		if a := &b.Acts[k]; a.Def.Control == op.Part && a.Args[0] == len(b.Args)+i {
			read[a.Attrs.Int("at")] = true
		}
	}
	return read
}

// loop compiles an iterate. Condition and body see the same values in a round, so what the condition has computed the body
// need not compute again.
func (k *laneCompiler) loop(b *op.Body, i int, env []laneRef, inside []*keepMap) laneRef {
	a := &b.Acts[i]
	n := a.Attrs.Int("carry")
	l := &laneLoop{id: k.c.loops}
	k.c.loops++
	in, moves := k.locals(env, a.Args, n)
	l.local = moves
	for j, x := range in[:n] {
		l.init, l.carry = append(l.init, env[a.Args[j]].reg), append(l.carry, x.reg)
	}
	times, counted := a.Attrs.Get("times")
	l.times, l.counted = times.I, counted
	k.apart(func() {
		if !counted {
			l.stop = k.body(a.Bodies[1], in, inside[1])[0].reg
		}
		cond := len(k.steps)
		taken := map[int]bool{l.stop: !counted}
		for _, x := range k.body(a.Bodies[0], in, inside[0]) {
			own := false
			for s := cond; s < len(k.steps); s++ {
				k.steps[s].defines(func(r int) { own = own || r == x.reg })
			}
			if x.reg < 0 {
				panic(notLanes{})
			}
			if !own || taken[x.reg] {
				x.reg = k.copied(x.reg)
			}
			taken[x.reg] = true
			l.next = append(l.next, x.reg)
		}
		l.cond, l.body = k.steps[:cond:cond], k.steps[cond:]
	})
	return k.results(b, i, stepLoop, laneStep{loop: l}, l.carry, func(r []int) { l.result = r })
}

// results emits the step of a loop or branch, with a register for each part that is read; like are registers of the types.
func (k *laneCompiler) results(b *op.Body, i int, kind stepKind, s laneStep, like []int, set func([]int)) laneRef {
	out := laneRef{reg: -1}
	var result []int
	for j, read := range readParts(b, i, len(like)) {
		r := -1
		if read {
			r = k.register(k.c.elems[like[j]])
		}
		result = append(result, r)
		out.parts = append(out.parts, lanesIn(r))
	}
	set(result)
	s.kind = kind
	k.steps = append(k.steps, s)
	return out
}

// branch compiles a select.
func (k *laneCompiler) branch(b *op.Body, i int, env []laneRef, inside []*keepMap) laneRef {
	a := &b.Acts[i]
	cond := k.number(env, a.Args[0])
	if simple(a.Bodies[0], 0) && simple(a.Bodies[1], 0) {
		return k.blend(a, cond, env)
	}
	s := &laneBranch{id: k.c.loops, cond: cond}
	k.c.loops++
	for side := range s.sides {
		d := &s.sides[side]
		var in []laneRef
		in, d.local = k.locals(env, a.Args[1:], 0)
		d.block = k.apart(func() {
			for _, x := range k.body(a.Bodies[side], in, inside[side]) {
				if x.reg < 0 {
					panic(notLanes{})
				}
				d.yield = append(d.yield, x.reg)
			}
		})
	}
	return k.results(b, i, stepBranch, laneStep{branch: s}, s.sides[0].yield, func(r []int) { s.result = r })
}

// simple reports a body of a few operators that cannot fail.
func simple(b *op.Body, depth int) bool {
	if len(b.Acts) > 12 || depth > 2 {
		return false
	}
	for i := range b.Acts {
		a := &b.Acts[i]
		switch {
		case a.Def.Control == op.Part || a.Def.Name == "const":
		case a.Def.Control == op.Select:
			if !simple(a.Bodies[0], depth+1) || !simple(a.Bodies[1], depth+1) {
				return false
			}
		case a.Def.Elt == nil || a.Def.Fails(b.Register(a.Args[0]).Elem, a.Type.Elem):
			return false
		}
	}
	return true
}

// blendLoops select the bits of one of two registers.
var blendLoops = op.Loops{SelF64: vec.SelectF64, SelF32: vec.SelectF32, SelI64: vec.SelectI64}

// blend runs both sides and selects.
func (k *laneCompiler) blend(a *op.Action, cond int, env []laneRef) laneRef {
	var in []laneRef
	for _, r := range a.Args[1:] {
		in = append(in, env[r])
	}
	x, y := k.body(a.Bodies[0], in, nil), k.body(a.Bodies[1], in, nil)
	out := laneRef{reg: -1}
	for j := range x {
		if x[j].reg < 0 || y[j].reg < 0 {
			panic(notLanes{})
		}
		e := k.c.elems[x[j].reg]
		s := laneStep{instr: instr{loops: &blendLoops, out: e, dst: k.register(e), arg: [3]int{cond, x[j].reg, y[j].reg}, n: 3}}
		switch storage(e) {
		case types.F64:
			s.code = opSelF64
		case types.F32:
			s.code = opSelF32
		case types.I64:
			s.code = opSelI64
		default:
			s.kind = stepBlend
		}
		out.parts = append(out.parts, lanesIn(k.emit(s)))
	}
	return out
}
