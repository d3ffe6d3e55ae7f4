package loop

// This file builds nests statement by statement.

import (
	"slices"

	"flow/ir/types"
)

// Builder appends statements to a nest. Values are numbered as they are made, which Verify
// requires.
type Builder struct {
	Nest  *Nest
	open  []*Block // the innermost is the last
	where Origin   // of the statements to come
	// next maps the names of indices in use to the number that Name tries next. Name makes it if it is nil.
	next map[string]int
}

// NewBuilder begins a nest with the memory and the space of another.
func NewBuilder(like *Nest) *Builder {
	n := &Nest{Params: like.Params, Space: like.Space, Locals: like.Locals, Tables: like.Tables, Results: like.Results, Names: slices.Clone(like.Names)}
	return &Builder{Nest: n, open: []*Block{&n.Body}}
}

// At sets the origin of the next statements.
func (b *Builder) At(o Origin) { b.where = o }

// fresh makes values of these types with consecutive numbers and returns the first.
func (b *Builder) fresh(list ...types.Elem) Val {
	if len(list) == 0 {
		return NoVal
	}
	first := Val(len(b.Nest.Types))
	b.Nest.Types = append(b.Nest.Types, list...)
	return first
}

func (b *Builder) add(s Stmt) {
	s.Origin = b.where
	block := b.open[len(b.open)-1]
	block.Stmts = append(block.Stmts, s)
}

// room makes room for so many statements.
func (b *Builder) room(n int) {
	block := b.open[len(b.open)-1]
	block.Stmts = slices.Grow(block.Stmts, n)
}

// last returns the statement that was added last to the open block.
func (b *Builder) last() *Stmt {
	list := b.open[len(b.open)-1].Stmts
	return &list[len(list)-1]
}

func (b *Builder) typesOf(list []Val) []types.Elem {
	return each(list, func(v Val) types.Elem { return b.Nest.Types[v] })
}

// Type returns the element type of a value.
func (b *Builder) Type(v Val) types.Elem { return b.Nest.Types[v] }

// Const writes a constant.
func (b *Builder) Const(e types.Elem, w Word) Val {
	v := b.fresh(e)
	b.add(Stmt{Code: Const, Dst: v, N: 1, Imm: w})
	return v
}

// Op writes a scalar operation. It panics with a BUG if the operation is not defined on the types
// of its operands.
func (b *Builder) Op(c Code, args ...Val) Val {
	e, err := opType(c, b.typesOf(args))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	v := b.fresh(e)
	b.add(Stmt{Code: c, Dst: v, N: 1, Args: args})
	return v
}

// Check writes a check that fails at a site unless c holds.
func (b *Builder) Check(site int, c Val, args ...Val) {
	b.add(Stmt{Code: Check, Dst: NoVal, Imm: uint64(site), Args: append([]Val{c}, args...)})
}

// consecutive returns n values from first on.
func consecutive(first Val, n int) []Val {
	out := make([]Val, n)
	for k := range out {
		out[k] = first + Val(k)
	}
	return out
}

// For writes an inner loop. body takes the carried values and returns the next ones. The results
// are the last ones.
func (b *Builder) For(x Index, init []Val, body func(carried []Val) []Val) []Val {
	list := b.typesOf(init)
	s := Stmt{Code: For, Dst: b.fresh(list...), N: len(list)}
	l := &Loop{Index: x, Init: init, Carry: b.fresh(list...)}
	s.Loop = l
	where := b.where
	b.inside(&l.Body, func() []Val { return body(consecutive(max(0, l.Carry), len(list))) })
	b.where = where
	b.add(s)
	return consecutive(max(0, s.Dst), s.N)
}

// Adds notes that the For before, which gives state, only adds contributions to a state of t.
func (b *Builder) Adds(t *Terms, state []Val) {
	if s := b.last(); s.Code == For && s.N == len(state) && s.Dst == state[0] {
		s.Loop.Sums = []*Terms{t}
	}
}

// Depth is the number of open blocks.
func (b *Builder) Depth() int { return len(b.open) }

// Around calls f while only the outermost depth blocks are open. So what f writes comes before the
// inner loops and branches that are being written.
func (b *Builder) Around(depth int, f func()) {
	open := b.open
	b.open = open[:depth:depth]
	f()
	b.open = open
}

// inside appends to a block of a statement and sets its yields.
func (b *Builder) inside(block *Block, body func() []Val) {
	b.open = append(b.open, block)
	block.Yield = body()
	b.open = b.open[:len(b.open)-1]
}
