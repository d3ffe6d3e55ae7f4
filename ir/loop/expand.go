package loop

// This file writes reductions inside a point as loops that carry a state, for targets that know loops alone.

import (
	"math"

	"flow/ir/types"
)

// Uncertain is the site of checks that say of a state whether it holds the exact result. Where one fails, the point has not failed:
// it is to be evaluated by the definition.
const Uncertain = 1 << 30

// ExpandFolds is n with each Fold written as a For where a state of a few values can be carried. What stays a Fold is
// the exact classes beyond Sum and Mean of f64, Panels and Product, whose order is not that of the rounds.
func ExpandFolds(n *Nest) *Nest {
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		if s.Code != Fold {
			return false
		}
		e := n.Types[s.Loop.Body.Yield[0]]
		f := foldState(s.Loop.Class, e)
		if f == nil {
			return false
		}
		x := s.Loop.Index
		x.Range = r.rng(x.Range)
		state := r.For(x, f.begin(r.Builder), func(state []Val) []Val {
			r.block(&s.Loop.Body)
			r.where = s.Origin
			return f.add(r.Builder, state, r.values(s.Loop.Body.Yield))
		})
		r.where = s.Origin
		r.set(s, []Val{f.end(r.Builder, state)})
		return true
	})
}

// state is a reduction as a loop: its values before the first contribution, after one more, and the result.
type state struct {
	begin func(b *Builder) []Val
	add   func(b *Builder, s, in []Val) []Val
	end   func(b *Builder, s []Val) Val
}

func first(_ *Builder, s []Val) Val { return s[0] }

// carries is a state of one value that an operation combines with the contribution.
func carries(e types.Elem, from Word, op Code) *state {
	return &state{
		begin: func(b *Builder) []Val { return []Val{b.Const(e, from)} },
		add:   func(b *Builder, s, in []Val) []Val { return []Val{b.Op(op, s[0], in[0])} },
		end:   first,
	}
}

// foldState is the state of a class for contributions of e, or nil.
func foldState(c Class, e types.Elem) *state {
	switch {
	case c == Sum && e == types.I64:
		return carries(e, 0, Add)
	case c == Product && e == types.I64:
		return carries(e, 1, Mul)
	case (c == Sum || c == Mean) && e == types.F64:
		return exactSum(c == Mean)
	case c == Least && e != types.Bool:
		return carries(e, extreme(e, 1), Min)
	case c == Greatest && e != types.Bool:
		return carries(e, extreme(e, -1), Max)
	case c == Any, c == Greatest:
		return carries(e, 0, Or)
	case c == All, c == Least:
		return carries(e, 1, And)
	case c == Count:
		return &state{
			begin: func(b *Builder) []Val { return []Val{b.Const(types.I64, 0)} },
			add:   func(b *Builder, s, in []Val) []Val { return []Val{b.Op(Add, s[0], b.Op(ToI64, in[0]))} },
			end:   first,
		}
	case (c == Chain || c == Panels) && e == types.I64:
		return &state{
			begin: func(b *Builder) []Val { return []Val{b.Const(e, 0)} },
			add:   func(b *Builder, s, in []Val) []Val { return []Val{b.Op(Add, s[0], b.Op(Mul, in[0], in[1]))} },
			end:   first,
		}
	case c == Chain:
		return &state{
			begin: func(b *Builder) []Val { return []Val{b.Const(e, 0)} },
			add:   func(b *Builder, s, in []Val) []Val { return []Val{b.Op(FMA, in[0], in[1], s[0])} },
			end:   first,
		}
	case c == ArgLeast || c == ArgGreatest:
		return argState(e, c == ArgLeast)
	}
	return nil
}

// argState carries the best value and its index, -1 before the first. A nan is ahead of every number; of equals the
// least index wins.
func argState(e types.Elem, least bool) *state {
	return &state{
		begin: func(b *Builder) []Val { return []Val{b.Const(e, 0), b.Const(types.I64, math.MaxUint64)} },
		add: func(b *Builder, s, in []Val) []Val {
			x, y := in[0], s[0]
			if !least {
				x, y = y, x
			}
			ahead, level := b.Op(Lt, x, y), b.Op(Eq, x, y)
			if e.IsFloat() {
				nan, was := b.Op(Ne, in[0], in[0]), b.Op(Ne, s[0], s[0])
				ahead = b.Op(Or, ahead, b.Op(And, nan, b.Op(Not, was)))
				level = b.Op(Or, level, b.Op(And, nan, was))
			}
			lower := b.Op(And, level, b.Op(Lt, in[1], s[1]))
			none := b.Op(Lt, s[1], b.Const(types.I64, 0))
			take := b.Op(Or, b.Op(Or, ahead, lower), none)
			return []Val{b.Op(Select, take, in[0], s[0]), b.Op(Select, take, in[1], s[1])}
		},
		end: func(_ *Builder, s []Val) Val { return s[1] },
	}
}

// exactSum carries the sum as s + t and whether that has been exact: t takes the rounding errors of s (T. Ogita, S. Rump &
// S. Oishi, "Accurate sum and dot product", 2005) and notices its own. Numbers of similar size are summed exactly.
func exactSum(mean bool) *state {
	two := func(b *Builder, x, y Val) (sum, err Val) {
		sum = b.Op(Add, x, y)
		v := b.Op(Sub, sum, x)
		return sum, b.Op(Add, b.Op(Sub, x, b.Op(Sub, sum, v)), b.Op(Sub, y, v))
	}
	return &state{
		begin: func(b *Builder) []Val {
			return []Val{b.Const(types.F64, 0), b.Const(types.F64, 0), b.Const(types.Bool, 1), b.Const(types.F64, 0)}
		},
		add: func(b *Builder, s, in []Val) []Val {
			sum, e := two(b, s[0], in[0])
			t, lost := two(b, s[1], e)
			exact := b.Op(Eq, lost, b.Const(types.F64, 0))
			return []Val{sum, t, b.Op(And, s[2], exact), b.Op(Add, s[3], b.Const(types.F64, math.Float64bits(1)))}
		},
		end: func(b *Builder, s []Val) Val {
			b.Check(Uncertain, s[2])
			sum := b.Op(Add, s[0], s[1])
			if mean {
				return b.Op(Div, sum, s[3])
			}
			return sum
		},
	}
}
