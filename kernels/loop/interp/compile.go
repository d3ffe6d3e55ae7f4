package interp

// This file holds the compiler's state: values and the registers that hold them, contexts, blocks
// of steps, and how long each register is needed.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// step runs on n lanes and returns how many are left; 0 ends the block.
type step func(w *Worker, n int) int

// block is a list of steps.
type block struct{ steps []step }

// level says how often a uniform value is computed.
type level uint8

const (
	onBegin level = iota // once a worker
	onRow                // once a row, in programs along rows
	here                 // where its statement stands
)

// operand is where a value of the body is.
type operand struct {
	elem types.Elem
	// uniform says that the value is the same in all lanes: reg is a cell.
	uniform bool
	level   level
	reg     int
	ctx     *context // whose lanes reg has
	// spread is a register with the cell's element in every lane; -1 until a step needs one.
	spread int
	// in is the block that defines a cell, at is the step of the block that is kept free for
	// spreading it, and pos is its position.
	in      *block
	at, pos int
}

// context is a set of lanes. The lanes of all but the root context are packed: some lanes of the
// context around it, moved together.
type context struct {
	parent *context
	// imports are the registers of the context around this one that are read here, with their
	// copies.
	imports []move
	copies  map[int]int
	start   int
}

type move struct{ to, from int }

// span is a loop that is being compiled: what is defined before it and read inside is needed until
// its end.
type span struct {
	start   int
	outside []int
}

// frame is the values, tables and indices of a nest or of a function.
type frame struct {
	vals   []*operand
	types  []types.Elem
	tables []int // of the program
	index  map[int]*operand
	// bits are the values that are the words of floats.
	bits []loop.Val
}

type compiler struct {
	*program
	*frame
	nest *loop.Nest
	// across says that the batches take lanes from several rows.
	across bool
	root   *context
	ctx    *context
	cur    *block
	top    *block // of the statements that every point reaches
	blocks []*block
	pos    int
	open   []*span
	consts map[constant]*operand
	lane   *operand // numbers of lanes: 0, 1, ..
	// point is the block of one point, at whose start locals are zero.
	point *loop.Block
	// mixed is set when a break that differs between lanes is met in a loop without packed lanes.
	mixed bool
	// packs are the loops around the statement, innermost last; nil: one that packs no lanes.
	packs []*packed
	// several are the results with more than one statement, or one in a loop, that contributes.
	several map[int]bool
	reduced []reducedInfo
}

type constant struct {
	elem types.Elem
	word loop.Word
}

func compileProgram(n *loop.Nest, across bool) *program {
	c := &compiler{program: &program{index: -1}, nest: n, across: across, root: &context{}, consts: map[constant]*operand{}, several: contributors(n)}
	c.ctx = c.root
	c.frame = c.newFrame(n.Types, n.Tables)
	c.begin, c.row, c.head = c.newBlock(), c.newBlock(), c.newBlock()
	c.regs = []register{{}} // register 0 is none
	c.pos = 1
	c.program.body = c.inside(func() { c.points() })
	for _, b := range c.blocks {
		b.steps = slices.DeleteFunc(b.steps, func(s step) bool { return s == nil })
	}
	c.allocate()
	c.program.contributions = c.reduced
	return c.program
}

func (c *compiler) newFrame(list []types.Elem, tables []loop.Table) *frame {
	f := &frame{vals: make([]*operand, len(list)), types: list, index: map[int]*operand{}}
	for _, t := range tables {
		f.tables = append(f.tables, c.table(t))
	}
	return f
}

func (c *compiler) newBlock() *block {
	b := &block{}
	c.blocks = append(c.blocks, b)
	return b
}

// inside compiles steps into a block of their own.
func (c *compiler) inside(f func()) *block {
	b, outer := c.newBlock(), c.cur
	c.cur = b
	f()
	c.cur = outer
	return b
}

// emit appends a step to the block.
func (c *compiler) emit(s step) {
	c.cur.steps = append(c.cur.steps, s)
	c.pos++
}

// emitAt appends a step on one element to the block of its level.
func (c *compiler) emitAt(l level, s step) {
	switch l {
	case onBegin:
		c.begin.steps = append(c.begin.steps, s)
	case onRow:
		c.row.steps = append(c.row.steps, s)
	default:
		c.emit(s)
	}
}

// lanesOf makes a register with an element a lane of the context.
func (c *compiler) lanesOf(e types.Elem, ctx *context) *operand {
	c.regs = append(c.regs, register{elem: e, ctx: ctx, def: c.pos, last: c.pos, pair: -1})
	return &operand{elem: e, level: here, reg: len(c.regs) - 1, ctx: ctx, spread: -1}
}

// fresh makes a register for a value of the context.
func (c *compiler) fresh(e types.Elem) *operand { return c.lanesOf(e, c.ctx) }

// cell makes a register of one element, which steps of the level l define.
func (c *compiler) cell(e types.Elem, l level) *operand {
	c.regs = append(c.regs, register{elem: e, cell: true, fixed: true, pair: -1})
	return &operand{elem: e, uniform: true, level: l, reg: len(c.regs) - 1, spread: -1}
}

// defined keeps a step free behind the one that defines a cell, for spreading it.
func (c *compiler) defined(o *operand) *operand {
	switch o.level {
	case onBegin:
		o.in = c.begin
	case onRow:
		o.in = c.row
	default:
		o.in = c.cur
	}
	o.at, o.pos, o.ctx = len(o.in.steps), c.pos, c.ctx
	c.emitAt(o.level, nil)
	return o
}

// lanes is the register that holds the elements of a value for the lanes of the context.
func (c *compiler) lanes(o *operand) int {
	if o.uniform {
		if o.spread < 0 {
			c.spreadOut(o)
		}
		c.use(o.spread)
		return o.spread
	}
	r := c.carriedIn(o.reg, o.ctx, c.ctx)
	c.use(r)
	return r
}

// spreadOut writes the element of a cell to every lane, where the cell is defined.
func (c *compiler) spreadOut(o *operand) {
	s := c.lanesOf(o.elem, o.ctx)
	r := &c.regs[s.reg]
	r.def, r.fixed = o.pos, o.level != here
	o.spread = s.reg
	from, to, a := o.reg, s.reg, accessTo(o.elem)
	o.in.steps[o.at] = func(w *Worker, n int) int {
		a.fill(&w.regs[to], &w.regs[from], n)
		return n
	}
}

// carriedIn is the register of context ctx for a register of a context around it.
func (c *compiler) carriedIn(reg int, owner, ctx *context) int {
	if owner == ctx || c.regs[reg].fixed && ctx.parent == nil {
		return reg
	}
	if ctx.parent == nil {
		panic("BUG: a value of another context")
	}
	if r, ok := ctx.copies[reg]; ok {
		return r
	}
	from := c.carriedIn(reg, owner, ctx.parent)
	c.use(from)
	to := c.lanesOf(c.regs[reg].elem, ctx).reg
	c.regs[to].def = ctx.start
	if ctx.copies == nil {
		ctx.copies = map[int]int{}
	}
	ctx.copies[reg] = to
	ctx.imports = append(ctx.imports, move{to, from})
	return to
}

// use says that the next step reads a register.
func (c *compiler) use(reg int) {
	r := &c.regs[reg]
	r.last, r.read = max(r.last, c.pos), true
	for _, s := range c.open {
		if s.start > r.def {
			s.outside = append(s.outside, reg)
			return
		}
	}
}

// looping compiles the body of a loop: what it reads from before it is needed until its end.
func (c *compiler) looping(f func()) {
	s := &span{start: c.pos}
	c.open = append(c.open, s)
	c.pos++
	f()
	c.pos++
	c.open = c.open[:len(c.open)-1]
	for _, r := range s.outside {
		c.use(r)
	}
}

// packing is the innermost loop if it packs its lanes, else nil.
func (c *compiler) packing() *packed {
	if len(c.packs) == 0 {
		return nil
	}
	return c.packs[len(c.packs)-1]
}

// konst is a constant, once for all its uses.
func (c *compiler) konst(e types.Elem, word loop.Word) *operand {
	k := constant{e, word}
	if o := c.consts[k]; o != nil {
		return o
	}
	o := c.cell(e, onBegin)
	a, reg := accessTo(e), o.reg
	c.emitAt(onBegin, func(w *Worker, n int) int {
		a.setWord(&w.regs[reg], word)
		return n
	})
	c.consts[k] = c.defined(o)
	return o
}

// laneNumbers is a register with 0, 1, .. of the root context.
func (c *compiler) laneNumbers() *operand {
	if c.lane == nil {
		c.lane = c.lanesOf(types.I64, c.root)
		c.regs[c.lane.reg].fixed = true
		reg := c.lane.reg
		c.emitAt(onBegin, func(w *Worker, n int) int {
			for k := range w.regs[reg].i64[:n] {
				w.regs[reg].i64[k] = int64(k)
			}
			return n
		})
	}
	return c.lane
}

// allocate gives every register memory: a cell, memory of its own, or a slot that it shares with
// registers that are needed at other times.
func (c *compiler) allocate() {
	var order []int
	for i := range c.regs {
		r := &c.regs[i]
		if r.cell {
			continue
		}
		if r.fixed {
			r.slot = c.slots[r.elem]
			c.slots[r.elem]++
			continue
		}
		if r.pair >= 0 {
			q := &c.regs[r.pair]
			r.def, r.last = min(r.def, q.def), max(r.last, q.last)
			q.def, q.last = r.def, r.last
		}
		if i > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.regs[a].def - c.regs[b].def })
	var live []int
	spare := map[types.Elem][]int{}
	for _, i := range order {
		r := &c.regs[i]
		live = slices.DeleteFunc(live, func(k int) bool {
			old := &c.regs[k]
			if old.last < r.def {
				spare[old.elem] = append(spare[old.elem], old.slot)
				return true
			}
			return false
		})
		if free := spare[r.elem]; len(free) > 0 {
			r.slot, spare[r.elem] = free[len(free)-1], free[:len(free)-1]
		} else {
			r.slot = c.slots[r.elem]
			c.slots[r.elem]++
		}
		live = append(live, i)
	}
}
