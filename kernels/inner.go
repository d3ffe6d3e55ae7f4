package kernels

// This file compiles a body that goes over the rows of tall matrices: elementwise operators on
// matrices of n rows and a few columns, sums of their rows, and sums of their columns at the end,
// as in the sum of forces on a body. Such a body is one pass over the rows: a register is a piece
// of a column, and a step is one loop over it. Matrices that are the same in every iteration are
// laid out by columns once, before the loop.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

const (
	// innerLanes is the rows that a step handles at a time.
	innerLanes = 512
	// innerCols is the most columns of a tall matrix: each is a register.
	innerCols = 16
	// innerRows is the fewest rows for which the pass is worth its steps.
	innerRows = 16
)

// innerCode is a compiled body. It is read-only.
type innerCode struct {
	laneCode               // its elems, slots and fills; block is the pass over the rows
	rows     int           // of every tall matrix
	columns  []innerColumn // registers that are columns of matrices that are the same in every iteration
	items    []innerColumn // registers that are elements of rows that are
	spread   []laneMove    // numbers of an iteration, which the pass reads in every lane
	before   []laneStep    // on numbers, before the pass
	after    []laneStep    // and after it
	sums     []innerSum
	dots     []innerDot
	out      []int
	powers   map[int]float64 // constants, by the body's register
	pass     *passCode       // the pass for the pass machine, nil if that cannot run it
	across   *passCode       // the pass for many iterations at a time (inner_across.go), nil if there is none
	spare    sync.Pool       // of *innerState: of executions that are over
}

// innerColumn is column col of the matrix in the body's register from.
type innerColumn struct{ reg, from, col int }

// innerSum is the exact sum of all elements of columns.
type innerSum struct {
	of []int
	to int
}

// innerDot is a product of a row and a column of as many elements as tall matrices have rows: one
// chain of fused multiply-adds.
type innerDot struct{ a, b, to int }

// innerRef is what a register of a body is: the columns of a tall matrix, or the elements of a row
// or scalar.
type innerRef struct {
	tall bool
	late bool // known after the pass
	flat bool // a tall column, transposed: nothing but a product reads it
	regs []int
}

// innerCompiler makes an innerCode; it panics with notLanes for what the pass cannot do.
type innerCompiler struct {
	laneCompiler
	in     *innerCode
	body   *op.Body
	varies []bool // whether a register of the body differs from iteration to iteration
	env    map[int]innerRef
	wide   map[int]int // numbers -> the registers that hold them in every lane
	zero   int
}

// compileInner is the body as a pass over the rows of tall matrices, nil if it is none.
func compileInner(b *op.Body, varies []bool) (c *innerCode) {
	n := 0
	for k := range b.Acts {
		if t := b.Acts[k].Type; varies[len(b.Args)+k] && t.IsDense() {
			n = max(n, t.Rows)
		}
	}
	if n < innerRows {
		return nil
	}
	c = &innerCode{rows: n, powers: map[int]float64{}}
	c.matrix = len(varies)
	k := &innerCompiler{in: c, body: b, varies: varies, env: map[int]innerRef{}, wide: map[int]int{}, zero: -1}
	k.c = &c.laneCode
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(notLanes); !is {
				panic(r)
			}
			c = nil
		}
	}()
	c.index = k.register(types.I64)
	k.env[0] = innerRef{regs: []int{c.index}}
	for i := range b.Acts {
		a, r := &b.Acts[i], len(b.Args)+i
		if !varies[r] {
			if a.Def.Role == op.Constant && isNumber(a.Type) {
				c.powers[r] = a.Attrs.Float("value")
			}
			continue
		}
		k.env[r] = k.act(a)
	}
	y, ok := k.env[b.Yields[0]]
	if !ok || y.tall {
		return nil
	}
	c.out = y.regs
	k.place()
	c.pass, c.across = compilePass(c), compileAcross(c)
	return c
}

// place gives registers their places. The pass uses its own again and again; numbers have a place
// each.
func (k *innerCompiler) place() {
	p := &laneSlots{c: k.c}
	pass := map[int]bool{}
	for i := range k.c.block {
		pass[k.c.block[i].dst] = true
	}
	for r := range k.c.elems {
		if !pass[r] {
			p.take(r)
		}
	}
	var kept []int
	for _, s := range k.in.sums {
		kept = append(kept, s.of...)
	}
	for _, d := range k.in.dots {
		kept = append(kept, d.a, d.b)
	}
	p.block(k.c.block, kept...)
}

// ref is register r of the body; one that is the same in every iteration comes in when it is first
// read.
func (k *innerCompiler) ref(r int) innerRef {
	if x, ok := k.env[r]; ok {
		if x.flat {
			panic(notLanes{})
		}
		return x
	}
	t := k.body.Register(r)
	var x innerRef
	switch {
	case isNumber(t):
		x.regs = []int{k.register(t.Elem)}
		k.c.fills = append(k.c.fills, laneFill{reg: x.regs[0], body: r})
	case !t.IsDense() || t.Elem.Size() == 0 || t.Cols > innerCols || t.Cols < 1:
		panic(notLanes{})
	case t.Rows == k.in.rows:
		x.tall = true
		for j := range t.Cols {
			x.regs = append(x.regs, k.register(t.Elem))
			k.in.columns = append(k.in.columns, innerColumn{x.regs[j], r, j})
		}
	case t.Rows == 1:
		for j := range t.Cols {
			x.regs = append(x.regs, k.register(t.Elem))
			k.in.items = append(k.in.items, innerColumn{x.regs[j], r, j})
		}
	default:
		panic(notLanes{})
	}
	k.env[r] = x
	return x
}

// emitTo adds a step to the pass, or to the steps on numbers before or after it.
func (k *innerCompiler) emitTo(tall, late bool, s laneStep) {
	switch {
	case tall:
		k.c.block = append(k.c.block, s)
	case late:
		k.in.after = append(k.in.after, s)
	default:
		k.in.before = append(k.in.before, s)
	}
}

func (k *innerCompiler) act(a *op.Action) innerRef {
	t := a.Type
	if a.Def.Name == "t" {
		return k.flat(a)
	}
	if !isNumber(t) && (!t.IsDense() || !t.Known() || t.Cols < 1 || t.Cols > innerCols || t.Rows != 1 && t.Rows != k.in.rows) {
		panic(notLanes{})
	}
	switch name := a.Def.Name; {
	case name == "element" || name == "window":
		return k.picks(a)
	case name == "item" || name == "slice":
		return k.part(a)
	case name == "rowsum" || name == "colsum" || name == "sum":
		return k.sum(a)
	case name == "matmul":
		return k.dot(a)
	case a.Def.Elt != nil && len(a.Args) <= 3:
		return k.map1(a)
	}
	panic(notLanes{})
}

// picks reads an element, or a whole row, of a matrix that is the same in every iteration.
func (k *innerCompiler) picks(a *op.Action) innerRef {
	varies := k.varies[a.Args[0]]
	row := k.ref(a.Args[1])
	col, constant := k.in.powers[a.Args[2]]
	m := k.body.Register(a.Args[0])
	if varies || !m.IsDense() || m.Elem.Size() == 0 || row.tall {
		panic(notLanes{})
	}
	out := innerRef{late: row.late}
	width := 1
	cols := []int{}
	if a.Def.Name == "window" {
		if width = a.Type.Cols; a.Type.Rows != 1 || !constant || col != 0 || width != m.Cols {
			panic(notLanes{})
		}
		for j := range width {
			cols = append(cols, k.number64(int64(j)))
		}
	} else {
		c := k.ref(a.Args[2])
		cols, out.late = c.regs, out.late || c.late
	}
	for j := range width {
		d := k.register(m.Elem)
		k.emitTo(false, out.late, laneStep{kind: stepPick, pick: &lanePick{a.Args[0], row.regs[0], cols[j]}, instr: instr{dst: d, out: m.Elem}})
		out.regs = append(out.regs, d)
	}
	return out
}

// number64 is a register that holds an integer.
func (k *innerCompiler) number64(x int64) int {
	r := k.register(types.I64)
	k.c.fills = append(k.c.fills, laneFill{reg: r, body: -1, number: value.I64(x)})
	return r
}

// part takes columns of a tall matrix, or elements of a row.
func (k *innerCompiler) part(a *op.Action) innerRef {
	x := k.ref(a.Args[0])
	at := a.Attrs.Ints("at")
	if a.Def.Name == "item" {
		if x.tall || len(at) != 2 {
			panic(notLanes{})
		}
		return innerRef{late: x.late, regs: x.regs[at[1] : at[1]+1]}
	}
	if len(at) != 4 || at[0] != 0 || x.tall != (at[2] == int64(k.in.rows)) {
		panic(notLanes{})
	}
	return innerRef{tall: x.tall, late: x.late, regs: x.regs[at[1] : at[1]+at[3]]}
}

// none is a column of zeros.
func (k *innerCompiler) none() int {
	if k.zero < 0 {
		k.zero = k.register(types.F64)
		k.c.fills = append(k.c.fills, laneFill{reg: k.zero, body: -1, number: value.F64(0)})
	}
	return k.zero
}

// map1 is an elementwise operator: on tall matrices column by column, else on numbers.
func (k *innerCompiler) map1(a *op.Action) innerRef {
	out := innerRef{tall: a.Type.IsDense() && a.Type.Rows == k.in.rows}
	var in []innerRef
	for _, r := range a.Args {
		x := k.ref(r)
		out.late = out.late || x.late
		in = append(in, x)
	}
	if out.tall && out.late {
		panic(notLanes{})
	}
	cols := 1
	if a.Type.IsDense() {
		cols = a.Type.Cols
	}
	for j := range cols {
		var arg [3]int
		for i, x := range in {
			if arg[i] = x.regs[0]; len(x.regs) > 1 {
				arg[i] = x.regs[j]
			}
			if out.tall && !x.tall {
				arg[i] = k.everywhere(arg[i])
			}
		}
		out.regs = append(out.regs, k.loop1(a, arg, out))
	}
	return out
}

// everywhere is a register that holds a number in every lane.
func (k *innerCompiler) everywhere(r int) int {
	for _, f := range k.c.fills {
		if f.reg == r {
			return r
		}
	}
	if w, ok := k.wide[r]; ok {
		return w
	}
	w := k.register(k.c.elems[r])
	k.wide[r] = w
	k.in.spread = append(k.in.spread, laneMove{r, w})
	return w
}

// product is the loop of squares.
var product = op.Loops{F64x2: vec.MulF64}

// loop1 emits an elementwise operator on registers.
func (k *innerCompiler) loop1(a *op.Action, arg [3]int, to innerRef) int {
	n := len(a.Args)
	if e := k.c.elems[arg[0]]; a.Def.Name == "pow" && a.Type.Elem == types.F64 && e == types.F64 && to.tall {
		d := k.register(types.F64)
		switch y, constant := k.in.powers[a.Args[1]]; {
		case constant && y == 2:
			k.emitTo(true, false, laneStep{instr: instr{code: opF64x2, loops: &product, elem: e, out: e, dst: d, arg: [3]int{arg[0], arg[0]}, n: 2}})
			return d
		case constant && y == 1.5:
			k.emitTo(true, false, laneStep{kind: stepRoot3, instr: instr{out: e, dst: d, arg: [3]int{arg[0]}, n: 1}})
			return d
		case constant && y == 3:
			k.emitTo(true, false, laneStep{kind: stepCube, instr: instr{out: e, dst: d, arg: [3]int{arg[0]}, n: 1}})
			return d
		}
	}
	var in [3]types.Elem
	for i := range n {
		in[i] = k.c.elems[arg[i]]
	}
	wide := define.Widest(in[:n])
	s := instr{def: a.Def, loops: &a.Def.Loops, n: n, out: a.Type.Elem, dst: k.register(a.Type.Elem)}
	for i := range n {
		want := define.OperandElem(a.Def, i, in[i], wide, a.Type.Elem)
		if in[i] != want {
			d := k.register(want)
			k.emitTo(to.tall, to.late, laneStep{instr: instr{code: opConvert, elem: in[i], out: want, dst: d, arg: [3]int{arg[i]}, n: 1}})
			arg[i] = d
		}
		s.arg[i], s.elem = arg[i], want
	}
	s.code = selectLoop(a.Def, n, s.elem, s.out)
	s.guard = a.Def.Fails(s.elem, s.out)
	k.emitTo(to.tall, to.late, laneStep{instr: s})
	return s.dst
}
