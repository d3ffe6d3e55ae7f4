package loop

// This file builds and rewrites nests statement by statement.

import (
	"fmt"
	"slices"

	"flow/ir/types"
)

// Builder appends statements to a nest. Values are numbered as they are made, which Verify
// requires.
type Builder struct {
	Nest  *Nest
	open  []*Block // the innermost is the last
	where Origin   // of the statements to come
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

// last returns the statement that was added last to the open block.
func (b *Builder) last() *Stmt {
	list := b.open[len(b.open)-1].Stmts
	return &list[len(list)-1]
}

func (b *Builder) typesOf(list []Val) []types.Elem {
	return each(list, func(v Val) types.Elem { return b.Nest.Types[v] })
}

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

// inside appends to a block of a statement and sets its yields.
func (b *Builder) inside(block *Block, body func() []Val) {
	b.open = append(b.open, block)
	block.Yield = body()
	b.open = b.open[:len(b.open)-1]
}

// rewriter copies the statements of a nest to a builder. replace may write something else instead.
type rewriter struct {
	*Builder
	from *Nest
	now  []Val // of each value of the old nest
	// replace writes other statements for s and returns true, or returns false.
	replace func(s *Stmt) bool
	// blocks, if not nil, writes the statements of a block of a statement.
	blocks func(b *Block)
	names  map[int]int   // of indices that others stand for
	fixed  map[int]int64 // indices that have become constants
	points map[int]Val   // indices that have become values
	shifts map[int]int64 // how far indices are behind those that stand for them
}

// rewritten returns a copy of n, rewritten by replace.
func rewritten(n *Nest, replace func(r *rewriter, s *Stmt) bool) *Nest {
	r := &rewriter{Builder: NewBuilder(n), from: n, now: make([]Val, len(n.Types)), names: map[int]int{}, points: map[int]Val{}}
	r.replace = func(s *Stmt) bool { return replace(r, s) }
	r.block(&n.Body)
	if err := r.Nest.Verify(); err != nil {
		panic(fmt.Sprintf("BUG: %v after a rewrite of\n%s", err, n))
	}
	return r.Nest
}

func (r *rewriter) values(list []Val) []Val {
	return each(list, func(v Val) Val { return r.now[v] })
}

// each returns f of each element of a list.
func each[A, B any](list []A, f func(x A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for k, x := range list {
		out[k] = f(x)
	}
	return out
}

func (r *rewriter) form(l Lin) Lin {
	out := Lin{Const: l.Const}
	for _, t := range l.Terms {
		if x, ok := r.fixed[t.Sym.N]; ok && t.Sym.Kind == IndexSym {
			out.Const += t.Coef * x
			continue
		}
		switch t.Sym.Kind {
		case ValSym:
			t.Sym.N = int(r.now[t.Sym.N])
		case IndexSym:
			if v, ok := r.points[t.Sym.N]; ok {
				t.Sym = Sym{ValSym, int(v)}
			} else {
				out.Const += t.Coef * r.shifts[t.Sym.N]
				t.Sym.N = r.name(t.Sym.N)
			}
		}
		out = out.Plus(Lin{Terms: []Term{t}})
	}
	return out
}

// name returns the new index of an old one.
func (r *rewriter) name(n int) int {
	if k, ok := r.names[n]; ok {
		return k
	}
	return n
}

func (r *rewriter) rng(x Range) Range {
	x.From, x.To = r.form(x.From), r.form(x.To)
	return x
}

func (r *rewriter) block(b *Block) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		r.where = s.Origin
		if !r.replace(s) {
			r.copy(s)
		}
	}
}

// set maps the results of s to new values.
func (r *rewriter) set(s *Stmt, list []Val) {
	for k := range s.N {
		r.now[int(s.Dst)+k] = list[k]
	}
}

// round writes a round of loop l with these carried values, and returns the next ones.
func (r *rewriter) round(l *Loop, carried []Val) []Val {
	r.carry(l, carried)
	r.block(&l.Body)
	return r.values(l.Body.Yield)
}

// carry maps the carried values of loop l to new ones.
func (r *rewriter) carry(l *Loop, now []Val) {
	for k, v := range now {
		r.now[int(l.Carry)+k] = v
	}
}

func (r *rewriter) copy(s *Stmt) {
	if s.Code == IndexOf {
		if v, ok := r.points[int(s.Imm)]; ok {
			r.set(s, []Val{v})
			return
		}
	}
	c := *s
	c.Args = r.values(s.Args)
	if s.Code == IndexOf {
		c.Imm = uint64(r.name(int(s.Imm)))
	}
	c.At = each(s.At, r.form)
	where := s.Origin
	if s.N > 0 && s.Code != For {
		c.Dst = r.fresh(r.from.Types[int(s.Dst) : int(s.Dst)+s.N]...)
		for k := range s.N {
			r.now[int(s.Dst)+k] = c.Dst + Val(k)
		}
	}
	sub := func(b *Block) *Block {
		if b == nil {
			return nil
		}
		out := &Block{}
		r.inside(out, func() []Val {
			if r.blocks != nil {
				r.blocks(b)
			} else {
				r.block(b)
			}
			return r.values(b.Yield)
		})
		return out
	}
	if s.Code == For {
		x := s.Loop.Index
		x.Range = r.rng(x.Range)
		r.set(s, r.For(x, r.values(s.Loop.Init), func(carried []Val) []Val { return r.round(s.Loop, carried) }))
		r.last().Loop.Sums = s.Loop.Sums
		return
	}
	c.Then, c.Else = sub(s.Then), sub(s.Else)
	r.where = where
	r.add(c)
}

// Done returns the nest. It panics if the nest is not well formed, which is a bug of the caller.
func (b *Builder) Done() *Nest {
	if err := b.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + b.Nest.String())
	}
	return b.Nest
}
