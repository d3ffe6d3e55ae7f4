package nest

// This file writes loops and branches within a body.

import (
	"maps"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

// body writes a body within and gives what it yields.
func (x *Builder) body(b *op.Body, args []Ref, keep *MemoMap) []Ref {
	around := x.keep
	x.keep = keep
	defer func() { x.keep = around }()
	env := append(make([]Ref, 0, len(b.Args)+len(b.Acts)), args...)
	for k := range b.Acts {
		env = append(env, x.Act(b, k, env))
	}
	return picked(env, b.Yields)
}

// iterate writes a loop with carried values. Scalars and small matrices are carried in registers,
// large ones lie in memory. Counters are neither, see counter.go.
func (x *Builder) iterate(a *op.Action, env []Ref, keep []*MemoMap) Ref {
	parts, _, _ := x.iterated(a, picked(env, a.Args), keep, nil)
	return Ref{Type: a.Type, Val: loop.NoVal, Parts: parts}
}

// iterated writes the rounds of loop a on the operands in, and returns the carried values after the
// last round. The loop makes at most *most rounds, or any number if most is nil. With most, iterated
// also returns how many rounds a loop with a condition makes. If counters tell the number, it is times,
// and *most must not exceed it. Else it is made, the number before the condition held. What does not
// apply is NoVal or nil.
func (x *Builder) iterated(a *op.Action, in []Ref, keep []*MemoMap, most *loop.Lin) (out []Ref, made loop.Val, times *roundCount) {
	n := a.Attrs.Int("carry")
	made = loop.NoVal
	count := x.counters(a, in)
	_, fixed := a.Attrs.Get("times")
	counted := fixed || slices.Contains(count.is, true)
	r := loop.Range{Kind: loop.Forever, By: 1}
	switch {
	case most != nil:
		if counted && !fixed {
			times = &roundCount{count.rounds, count.floored}
		}
		r = loop.Range{Kind: loop.Steps, To: *most, By: 1}
		count.rounds, count.floored = *most, false
	case counted:
		r = loop.Range{Kind: loop.Steps, To: count.rounds, By: 1}
	}
	if most != nil && !counted {
		x.Affine = false // a launch would have to prove subscripts of rounds behind the last one
	}
	ts := rest(count, a.Bodies[0].Args[:n])
	c := x.carry(x.ownTypes(ts))
	init := c.begin(x.ownRows(rest(count, in[:n])))
	if most != nil && !counted { // the last carried value counts the rounds
		init = append(init, x.Const(types.I64, 0))
	}
	var bases []int64
	if most == nil && r.Kind == loop.Steps && r.To.Known() {
		bases = count.bases(x, a.Bodies[0], in)
	}
	last := x.eachRound(r, bases, loop.Num(0), init, func(round loop.Lin, state []loop.Val) []loop.Val {
		args := append(count.all(x, round, x.whole(ts, c.refs(state))), in[n:]...)
		if !counted {
			x.Break(x.body(a.Bodies[1], args, keep[1])[0].Val)
		}
		next := c.next(x.ownRows(rest(count, x.body(a.Bodies[0], args, keep[0]))))
		if most != nil && !counted {
			next = append(next, x.Op(loop.Add, state[len(state)-1], x.Const(types.I64, 1)))
		}
		return next
	})
	if most != nil && !counted {
		made = last[len(last)-1]
	}
	return count.after(x, x.whole(ts, c.refs(last))), made, times
}

// choose writes a branch: both sides and a choice where they are a few operators and cannot fail.
func (x *Builder) choose(a *op.Action, env []Ref, keep []*MemoMap) Ref {
	c := env[a.Args[0]].Val
	if c == loop.NoVal {
		panic(NoBody{"a condition that is no scalar"})
	}
	in := picked(env, a.Args[1:])
	var ts []types.Type
	for _, y := range a.Bodies[0].Yields {
		ts = append(ts, a.Bodies[0].Register(y))
	}
	large := func(t types.Type) bool { return t.IsDense() && t.Known() && !holdable(t) }
	laid := x.extent == nil && x.phase == nil && x.owned == 0 && slices.ContainsFunc(ts, large)
	if !laid || !x.around {
		if rows := x.rows(a, c, in); rows != nil {
			x.branched = x.branched || laid
			return Ref{Type: a.Type, Val: loop.NoVal, Parts: rows}
		}
	}
	if laid {
		return Ref{Type: a.Type, Val: loop.NoVal, Parts: x.laidSides(a, c, in, keep, ts, large)}
	}
	side := func(k int) []loop.Val { return x.spread(x.body(a.Bodies[k], in, keep[k])) }
	if simple(a.Bodies[0], 0) && simple(a.Bodies[1], 0) {
		keep = make([]*MemoMap, 2) // a few operators: they are written again
		yes, no := side(0), side(1)
		out := make([]loop.Val, len(yes))
		for k := range yes {
			out[k] = x.Op(loop.Select, c, yes[k], no[k])
		}
		return Ref{Type: a.Type, Val: loop.NoVal, Parts: x.gathered(ts, out)}
	}
	out := x.either(c, elemsOf(ts...), func() []loop.Val { return side(0) }, func() []loop.Val { return side(1) })
	return Ref{Type: a.Type, Val: loop.NoVal, Parts: x.gathered(ts, out)}
}

// laidSides returns the results of a branch on c, whose types are ts. The side that is taken stores its
// large matrices in memory, except those that are in memory already.
func (x *Builder) laidSides(a *op.Action, c loop.Val, in []Ref, keep []*MemoMap, ts []types.Type, large func(types.Type) bool) []Ref {
	var small []types.Type
	room, at := make([]loop.Mem, len(ts)), make([][2]loop.Mem, len(ts))
	for k, t := range ts {
		if large(t) {
			room[k], _ = x.local(t)
		} else {
			small = append(small, t)
		}
	}
	side := func(n int) func() []loop.Val {
		return func() []loop.Val {
			var others []Ref
			for k, r := range x.body(a.Bodies[n], in, keep[n]) {
				switch {
				case !large(ts[k]):
					others = append(others, r)
				case r.At == nil || !sameSize(r.Type, ts[k]):
					panic(NoBody{"a value of " + r.Type.String() + elsewhere})
				case r.mem.Kind != loop.LocalMem || x.Nest.Locals[r.mem.N].Elem != dense.Storage(ts[k].Elem):
					x.lay(room[k], r)
					at[k][n] = room[k]
				default:
					at[k][n] = r.mem
				}
			}
			return x.spread(others)
		}
	}
	vals := x.either(c, elemsOf(small...), side(0), side(1))
	out, rest := make([]Ref, len(ts)), x.gathered(small, vals)
	for k, t := range ts {
		from := at[k]
		switch {
		case !large(t):
			out[k], rest = rest[0], rest[1:]
		case from[0] == from[1]:
			out[k] = x.in(from[0], t)
		default:
			out[k] = x.sized(t, func(i, j loop.Lin) loop.Val {
				return x.Op(loop.Select, c, x.Load(from[0], i, j), x.Load(from[1], i, j))
			})
			out[k].sides, out[k].condition = &from, c
		}
	}
	return out
}

// rows returns the results of a branch with matrices that are too large to be held, or of any branch
// with matrices in a nest that computes one element a point. Each element is chosen where it is read.
// rows returns nil if the branch has no such matrix, or if a side does more than move and combine
// elements, or may fail.
func (x *Builder) rows(a *op.Action, c loop.Val, in []Ref) (out []Ref) {
	sides, fine := [2][]Ref{}, true
	for k, b := range a.Bodies {
		large := func(y int) bool { return b.Register(y).IsDense() && (x.extent != nil || !holdable(b.Register(y))) }
		effect := func(a op.Action) bool { return a.Type.Kind == types.Effect }
		if !slices.ContainsFunc(b.Yields, large) || slices.ContainsFunc(b.Acts, effect) || !pointwiseBody(b, true) {
			return nil
		}
		mark, own := x.Mark(), map[ElementKey]loop.Val{}
		x.tentative(own, func() { sides[k] = x.body(b, in, nil) })
		x.Since(mark, func(s *loop.Stmt) { fine = fine && s.Code != loop.Check && s.Loop == nil && s.Then == nil })
		if !fine {
			x.drop(mark)
			return nil
		}
		maps.Copy(x.Scopes[len(x.Scopes)-1], own)
	}
	for k, yes := range sides[0] {
		no := sides[1][k]
		if yes.At == nil {
			out = append(out, Ref{Type: yes.Type, Val: x.Op(loop.Select, c, yes.Val, no.Val)})
			continue
		}
		out = append(out, x.matrix(yes.Type, func(i, j loop.Lin) loop.Val {
			read := func(r Ref) func() []loop.Val { return func() []loop.Val { return []loop.Val{r.At(i, j)} } }
			return x.either(c, []types.Elem{dense.Storage(yes.Type.Elem)}, read(yes), read(no))[0]
		}))
	}
	return out
}
