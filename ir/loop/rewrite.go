package loop

import (
	"fmt"
	"slices"

	"flow/ir/types"
)

// This file copies nests and replaces some of their statements.

// rewriter copies the statements of a nest to a builder. replace may write something else instead.
type rewriter struct {
	*Builder
	from *Nest
	now  []Val // of each value of the old nest
	// lists has room for lists of values.
	lists []Val
	// replace writes other statements for s and returns true, or returns false.
	replace func(s *Stmt) bool
	// blocks, if not nil, writes the statements of a block of a statement.
	blocks func(b *Block)
	names  map[int]int   // of indices that others stand for
	fixed  map[int]int64 // indices that have become constants
	points map[int]Val   // indices that have become values
	shifts map[int]int64 // how far indices are behind those that stand for them
}

// newRewriter returns a rewriter of n that replaces nothing.
func newRewriter(n *Nest) *rewriter {
	b := NewBuilder(n)
	b.Nest.Types = make([]types.Elem, 0, len(n.Types))
	return &rewriter{Builder: b, from: n, now: make([]Val, len(n.Types)), names: map[int]int{}, points: map[int]Val{},
		replace: func(*Stmt) bool { return false }}
}

// rewritten returns a copy of n, rewritten by replace.
func rewritten(n *Nest, replace func(r *rewriter, s *Stmt) bool) *Nest {
	c := copied(n, replace)
	if err := c.Verify(); err != nil {
		panic(fmt.Sprintf("BUG: %v after a rewrite of\n%s", err, n))
	}
	return c
}

// copied is rewritten without the check of the copy, for a caller that rewrites the copy again:
// that rewrite checks its result.
func copied(n *Nest, replace func(r *rewriter, s *Stmt) bool) *Nest {
	r := newRewriter(n)
	r.replace = func(s *Stmt) bool { return replace(r, s) }
	r.block(&n.Body)
	return r.Nest
}

// values returns the new values of old ones. Short lists are cut from one.
func (r *rewriter) values(list []Val) []Val {
	if len(list) == 0 {
		return nil
	}
	if len(r.lists)+len(list) > cap(r.lists) {
		r.lists = make([]Val, 0, max(64, len(list)))
	}
	from := len(r.lists)
	for _, v := range list {
		r.lists = append(r.lists, r.now[v])
	}
	return slices.Clip(r.lists[from:])
}

// places returns new forms of old ones.
func (r *rewriter) places(list []Lin) []Lin {
	if !slices.ContainsFunc(list, func(l Lin) bool { return l.Any(r.changes) }) {
		return list
	}
	return each(list, r.form)
}

func (r *rewriter) form(l Lin) Lin {
	if !l.Any(r.changes) {
		return l
	}
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

// changes reports whether a symbol becomes another, or a constant.
func (r *rewriter) changes(s Sym) bool {
	switch s.Kind {
	case ValSym:
		return int(r.now[s.N]) != s.N
	case IndexSym:
		_, fixed := r.fixed[s.N]
		_, point := r.points[s.N]
		return fixed || point || r.shifts[s.N] != 0 || r.name(s.N) != s.N
	}
	return false
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
	r.room(len(b.Stmts))
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
	c.At = r.places(s.At)
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
