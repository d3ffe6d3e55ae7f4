package nest

// This file writes a loop over pairs (i, j), whose second range depends on i, as two loops, one in
// the other. The list of the pairs is not stored then. Only a reduction of all values is written
// like this: the place of a pair in the list is not known.

import (
	"flow/ir/loop"
	"flow/ir/op"
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
