package nest

// This file writes a loop over pairs (i, j), whose second range depends on i, as two loops, one in
// the other. The list of the pairs is not stored then. Only a reduction of all values is written
// like this: the place of a pair in the list is not known.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
)

// madeBy is the action that makes a register; nil: it is an argument.
func madeBy(b *op.Body, r int) *op.Action {
	if k := r - len(b.Args); k >= 0 {
		return &b.Acts[k]
	}
	return nil
}

// LazyPairs lists the lists of pairs, among the actions that are the same in every iteration, which
// only actions read that vary: a nest does not need them.
func LazyPairs(b *op.Body, varies []bool) (acts []int) {
	for k := range b.Acts {
		r := len(b.Args) + k
		lazy := b.Acts[k].Def.Role == op.Pairs && !varies[r] && r != b.Yields[0]
		for i := range b.Acts {
			for _, y := range b.Acts[i].Args {
				lazy = lazy && (y != r || varies[len(b.Args)+i])
			}
		}
		if lazy {
			acts = append(acts, k)
		}
	}
	return acts
}

// pairsOf is the loop over pairs of action k. Its first input is the list, made of a row for each i: i
// and the range of j.
func (x *Builder) pairsOf(b *op.Body, k int, env []Ref) Ref {
	a := &b.Acts[k]
	list := madeBy(b, a.Args[0])
	if x.extent != nil || x.phase != nil || !a.Type.Known() || a.Type.Count() == 0 || list == nil || list.Def.Role != op.Pairs {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	of := env[list.Args[0]]
	if first := madeBy(b, list.Args[0]); first != nil && first.Bodies != nil {
		of = x.pointsOf(first, env) // its numbers are linear in i
	}
	if of.At == nil {
		panic(NoBody{"`" + define.SourceName(a.Def) + "` of " + of.Type.String()})
	}
	in := picked(env, a.Args[1:])
	inner, by := a.Bodies[0], int64(list.Attrs.Int("by"))
	row := func(i loop.Lin) (loop.Lin, func(j loop.Lin) func(k loop.Lin) loop.Val) {
		from, n := x.steps(of.At(i, loop.Num(1)), of.At(i, loop.Num(2)), by, list.Attrs.Bool("through"))
		return n, func(j loop.Lin) func(k loop.Lin) loop.Val {
			pair := x.sized(inner.Args[1], func(_, col loop.Lin) loop.Val {
				if col.Known() && col.Const == 0 {
					return of.At(i, loop.Num(0))
				}
				return x.Value(j.Times(by).Plus(from))
			})
			place := Ref{Type: types.ScalarOf(types.I64), Val: x.Value(loop.Num(0))} // of the pair, which alone is asked for
			y := x.body(inner, append([]Ref{place, pair}, in...), nil)[0]
			switch {
			case y.Parts != nil || y.At != nil && y.Type.Rows != 1:
				panic(NoBody{"a result of " + y.Type.String()})
			case y.At != nil:
				return func(k loop.Lin) loop.Val { return y.At(loop.Num(0), k) }
			}
			return func(loop.Lin) loop.Val { return y.Val }
		}
	}
	return Ref{Type: a.Type, Val: loop.NoVal, pairs: &pairs{of.rows, row}}
}

// foldPairs reduces all values of a loop over pairs.
func (x *Builder) foldPairs(a *op.Action, in Ref) loop.Val {
	c := a.Def.Class
	switch {
	case a.Def.Fold == op.FoldRows, c == loop.Var, c == loop.Stddev, c == loop.ArgLeast, c == loop.ArgGreatest, !c.Free(in.Type.Elem):
		panic(NoBody{c.Info().Name + " of pairs"})
	}
	cols := loop.Num(int64(in.Type.Cols)) // of the value of a pair
	term := func(v loop.Val) []loop.Val { return []loop.Val{x.Term(c, v)} }
	one := func() []loop.Val { // for its type
		_, at := in.pairs.row(loop.Num(0))
		return term(at(loop.Num(0))(loop.Num(0)))
	}
	return x.foldBy(c, a.Type.Elem, loop.Num(int64(in.Type.Rows)), cols, one, func(state []loop.Val, add func(st, in []loop.Val) []loop.Val) []loop.Val {
		return x.rounds("i", in.pairs.rows, state, func(i loop.Lin, st []loop.Val) []loop.Val {
			n, at := in.pairs.row(i)
			return x.rounds("j", n, st, func(j loop.Lin, st []loop.Val) []loop.Val {
				elem := at(j)
				if in.Type.Cols == 1 {
					return add(st, term(elem(loop.Num(0))))
				}
				return x.rounds("k", cols, st, func(k loop.Lin, st []loop.Val) []loop.Val { return add(st, term(elem(k))) })
			})
		})
	})
}
