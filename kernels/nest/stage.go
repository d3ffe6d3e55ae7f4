package nest

// This file plans bodies over matrices that fit in a cache. A stage is a group of actions that are
// computed together, as one loop over the elements of the last one's result. The body of an iterate
// over a state of some thousand numbers is a few stages, with calls of kernels between them.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

// PlanStages groups the actions of the loops and branches in b. The arguments of b never change.
func PlanStages(b *op.Body) {
	fixed := make([]bool, len(b.Args))
	for k := range fixed {
		fixed[k] = true
	}
	planWithin(b, fixed, make([]writer, len(b.Args)))
}

// PlanPoint is PlanStages for the body of a loop over points, whose arguments may change from point to
// point.
func PlanPoint(b *op.Body) { planWithin(b, make([]bool, len(b.Args)), make([]writer, len(b.Args))) }

// planWithin plans the bodies of loops and branches in b. fixed and known describe its arguments: see
// Stages.
func planWithin(b *op.Body, fixed []bool, known []writer) {
	known = slices.Clone(known)
	for k, is := range Ramps(b) {
		if known = append(known, nil); is || b.Acts[k].Def.Role == op.Constant && isNumber(b.Acts[k].Type) {
			known[len(b.Args)+k] = func(x *Builder) Ref { return x.Act(b, k, nil) }
		}
	}
	for k := range b.Acts {
		a := &b.Acts[k]
		first, carried := 0, 0
		switch a.Def.Control {
		case op.Select:
			first = 1 // the condition
		case op.Iterate:
			carried = a.Attrs.Int("carry")
		default:
			continue
		}
		same, made := make([]bool, len(a.Args)-first), make([]writer, len(a.Args)-first)
		for i, r := range a.Args[first:] {
			if i >= carried {
				same[i], made[i] = r < len(b.Args) && fixed[r], known[r]
			}
		}
		for _, in := range a.Bodies {
			in.Compiled(func(in *op.Body) any {
				plan := &bodyPlan{stages: stagesIn(in, same, made)}
				if a.Def.Control == op.Iterate && in == a.Bodies[0] {
					if plan.stages != nil {
						plan.stages.planInPlace(carried)
					}
					plan.batch = batchOf(a, made, plan.stages)
				}
				return plan
			})
			planWithin(in, same, made)
		}
	}
}

// stagesIn groups the actions of a body, from the last one back; nil if there is no stage.
func stagesIn(b *op.Body, fixed []bool, known []writer) *Stages {
	s := &Stages{body: b, fixed: fixed, known: known, root: make([]int, len(b.Acts)), roots: make([][]int, len(b.Acts)), members: make([][]int, len(b.Acts)), over: make([]int, len(b.Acts)),
		tiny: make([]bool, len(b.Acts)), gives: make([][]int, len(b.Acts)), code: make([]stageCode, len(b.Acts))}
	times := make([]float64, len(b.Acts)) // how often an element is computed for one of the last action
	ops := make([]float64, len(b.Acts))   // of an element of a stage, by its last action
	whole := make([]bool, len(b.Acts))    // all elements are computed
	all, places := s.costs(), s.ofPlaces()
	for k := len(b.Acts) - 1; k >= 0; k-- {
		s.root[k], times[k] = -1, 1
		if !stageable(b, k) || s.tells(k) {
			continue
		}
		if places[k] {
			if s.roots[k] = s.readers(k); s.roots[k] != nil {
				s.root[k] = slices.Max(s.roots[k])
				continue
			}
		}
		cost, folds := s.cost(k), folded(&b.Acts[k])
		before := float64(stageBefore)
		if folds {
			before = stageReads
		}
		h, n := s.joins(k, times)
		whole[k] = h < 0 || s.readWhole(k, whole)
		switch {
		case h >= 0 && (n >= 1 || cost <= before && !branching(b, k)) && (n <= 1 || (n-1)*all[k] <= stageAgain) && n <= stageReads &&
			ops[h]+n*min(cost, stageBefore) <= stageOps && (whole[k] || !mayFail(b, k)):
			s.root[k], times[k] = h, n
		case folds || b.Acts[k].Type.IsDense():
			s.root[k], whole[k] = k, true
		}
		if h := s.root[k]; h >= 0 {
			ops[h] += times[k] * min(cost, stageBefore)
		}
	}
	s.groupNumbers()
	some := false
	for k, h := range s.root {
		if h < 0 {
			continue
		}
		some = true
		if s.roots[k] == nil {
			s.roots[k] = []int{h}
		}
		for _, h := range s.roots[k] {
			s.members[h] = append(s.members[h], k)
		}
	}
	if !some {
		return nil
	}
	for h, tiny := range s.tiny {
		if tiny {
			s.gives[h] = s.given(s.members[h])
		}
	}
	return s
}

// ofPlaces reports, by action, whether it computes a matrix from row and column numbers alone by one
// operation an element. Such an operation costs no more than reading its result.
func (s *Stages) ofPlaces() []bool {
	b := s.body
	list := Ramps(b)
	for k := range b.Acts {
		a, dense := &b.Acts[k], false
		if !a.Type.IsDense() || !a.Def.Laws.Has(op.Elementwise) || !a.Def.Laws.Has(op.Pure) || len(a.Args) == 0 || s.cost(k) > 1 {
			continue
		}
		list[k] = true
		for _, r := range a.Args {
			if t := b.Register(r); t.IsDense() {
				dense = true
				list[k] = list[k] && (r < len(b.Args) && s.known[r] != nil || r >= len(b.Args) && list[r-len(b.Args)])
			}
		}
		list[k] = list[k] && dense
	}
	return list
}

// readers returns the stages of all actions that read action k. It returns nil if a call reads it or if
// the body yields it.
func (s *Stages) readers(k int) (list []int) {
	b, r := s.body, len(s.body.Args)+k
	if slices.Contains(b.Yields, r) {
		return nil
	}
	for i := k + 1; i < len(b.Acts); i++ {
		if !slices.Contains(b.Acts[i].Args, r) {
			continue
		}
		of := s.roots[i]
		if of == nil {
			of = []int{s.root[i]}
		}
		for _, h := range of {
			if h < 0 {
				return nil
			}
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
	}
	return list
}

// readWhole reports whether a later action reads all elements of action k. whole reports, by action,
// whether all its elements are computed.
func (s *Stages) readWhole(k int, whole []bool) bool {
	b := s.body
	for i := k + 1; i < len(b.Acts); i++ {
		a := &b.Acts[i]
		part := a.Def.Laws.Has(op.View) || a.Def.RowsRead != nil // an element, chosen rows, a slice
		all := !part || len(a.Args) == 1 && a.Type.Count() == b.Acts[k].Type.Count()
		if whole[i] && all && slices.Contains(a.Args, len(b.Args)+k) {
			return true
		}
	}
	return false
}

// tells reports whether action k computes a subscript that is not linear in other numbers. Such a
// number is computed before the loops, which take it as an operand.
func (s *Stages) tells(k int) bool {
	b := s.body
	if !isNumber(b.Acts[k].Type) || b.Acts[k].Type.Elem != types.I64 {
		return false
	}
	for i := k + 1; i < len(b.Acts); i++ {
		a := &b.Acts[i]
		reads := a.Def.Laws.Has(op.View) || a.Def.Role == op.Picks || a.Def.Role == op.PicksAt
		if reads && slices.Index(a.Args, len(b.Args)+k) > 0 {
			_, linear := Written(func() {
				x := NewBuilder(Form{})
				env := make([]Ref, len(b.Args)+k)
				for r := range env {
					if t := b.Register(r); isNumber(t) {
						env[r] = x.Outer(b, r)
					}
				}
				if _, linear := x.Lins[x.Act(b, k, env).Val]; !linear {
					panic(NoBody{"a number that is not linear"})
				}
			})
			return !linear
		}
	}
	return false
}

// joins returns the last action h of the stage that has all readers of action k, and how often it
// computes each element of k. h is -1 if there is no such stage. times is, by action, how often its
// elements are computed.
func (s *Stages) joins(k int, times []float64) (h int, n float64) {
	b, r := s.body, len(s.body.Args)+k
	h = -1
	if slices.Contains(b.Yields, r) {
		return -1, 0
	}
	for i := k + 1; i < len(b.Acts); i++ {
		for at, x := range b.Acts[i].Args {
			if x != r {
				continue
			}
			if s.root[i] < 0 || h >= 0 && s.root[i] != h || len(s.roots[i]) > 1 {
				return -1, 0
			}
			h = s.root[i]
			n += times[i] * s.reads(i, at)
		}
	}
	return h, n
}

// written returns the loops of the stage of action k. A launch proves the subscripts of form 0. Form 1
// checks them.
func (s *Stages) written(k, form int) []SpaceRect {
	c := &s.code[k].forms[form]
	c.once.Do(func() {
		if s.tiny[k] {
			c.rects = s.writeNumbers(k)
		} else {
			c.rects, c.why = s.write(k, form == 0)
		}
	})
	return c.rects
}

// write returns the loops of the stage of action k, or why there are none. affine: the launch proves
// the subscripts.
func (s *Stages) write(k int, affine bool) (list []SpaceRect, why string) {
	b := s.body
	own := make([]bool, len(b.Acts))
	for _, i := range s.members[k] {
		own[i] = true
	}
	read := make([]bool, len(b.Args)+len(b.Acts)) // from outside
	for _, i := range s.members[k] {
		for _, r := range b.Acts[i].Args {
			read[r] = r < len(b.Args) || !own[r-len(b.Args)]
		}
	}
	gives := RowResult{Register: len(b.Args) + k, Type: b.Acts[k].Type}
	space := window.Rect{Rows: gives.Type.Rows, Cols: gives.Type.Cols}
	if folded(&b.Acts[k]) {
		gives.Register, gives.Total = b.Acts[k].Args[0], b.Acts[k].Def
		t := b.Register(gives.Register)
		if space = (window.Rect{Rows: t.Rows, Cols: t.Cols}); t.Cols == 1 { // it is reduced like a row
			space.Rows, space.Cols = 1, t.Rows
		}
	}
	over := -1
	if affine {
		over = s.over[k] - 1
	}
	why, _ = Written(func() {
		list = writeSpace(space, []RowResult{gives}, Form{Affine: affine}, over, func(x *Builder) []Ref {
			x.fixed, x.told, x.parted = s.fixed, true, s.ops(k) >= float64(teamFrom.Load())
			env := make([]Ref, len(b.Args)+k+1)
			for r := range env {
				switch i := r - len(b.Args); {
				case read[r] && r < len(b.Args) && s.known[r] != nil:
					env[r] = s.known[r](x)
				case read[r]:
					env[r] = x.Outer(b, r)
				case i >= 0 && own[i] && (i != k || gives.Total == nil):
					env[r] = x.Act(b, i, env)
				}
			}
			return []Ref{env[gives.Register]}
		})
	})
	return list, why
}

// loops returns the loops of all stages, for listings. why is the reason of a stage without loops, or
// "".
func (s *Stages) loops() (list []*loop.Nest, why string) {
	for k, h := range s.root {
		if h != k {
			continue
		}
		for _, r := range s.written(k, 0) {
			if r.Loop != nil {
				list = append(list, r.Loop.Nest())
			}
		}
		if why == "" {
			why = s.code[k].forms[0].why
		}
	}
	return list, why
}

// planInPlace finds the stages whose results may lie in the memory of the carried argument that they
// replace. carried is the number of carried arguments. No action may read the result. No earlier stage
// in place may change what the stage reads, and no other carried result may lie in the argument's
// memory. The stage may read this memory as the argument alone: under another name, such as the value
// of an if, changed does not see the reads. A stage of numbers is never in place, because stages in
// place run last, and other stages may read its numbers.
func (s *Stages) planInPlace(carried int) {
	b := s.body
	for c, y := range b.Yields[:carried] {
		k := y - len(b.Args)
		if k < 0 || s.root[k] != k || s.tiny[k] || b.Args[c] != b.Acts[k].Type || !b.Acts[k].Type.IsDense() || folded(&b.Acts[k]) {
			continue
		}
		reads := func(r int) bool {
			return slices.ContainsFunc(b.Acts, func(a op.Action) bool { return slices.Contains(a.Args, r) })
		}
		shares := s.shares(c)
		fine := !reads(y)
		for i, r := range b.Yields {
			fine = fine && (i == c || r != y && !shares[r])
		}
		for _, i := range s.members[k] {
			fine = fine && !slices.ContainsFunc(b.Acts[i].Args, func(r int) bool { return r != c && shares[r] })
		}
		for _, h := range s.last {
			earlier := s.shares(s.over[h] - 1)
			for _, i := range s.members[k] {
				fine = fine && !slices.ContainsFunc(b.Acts[i].Args, func(r int) bool { return earlier[r] })
			}
		}
		if fine {
			s.over[k], s.last = 1+c, append(s.last, k)
		}
	}
}

// changed estimates, by action, the part of the elements of its stage that the stage makes. It is less
// than 1 if the stage leaves elements of a large matrix as they are.
func (s *Stages) changed() []float64 {
	list := make([]float64, len(s.body.Acts))
	for k := range list {
		list[k] = 1
	}
	for _, h := range s.last {
		n, made, rects := s.body.Acts[h].Type.Count(), 0.0, []SpaceRect(nil)
		if n > laidElements {
			rects = s.written(h, 0)
		}
		if len(rects) == 0 {
			continue
		}
		for _, r := range rects {
			if r.place == nil {
				made += float64(r.Rows * r.Cols)
			} else {
				made += r.place.size()
			}
		}
		for _, k := range s.members[h] {
			list[k] = made / float64(n)
		}
	}
	return list
}

// shares reports, by register, which values may lie in the memory of argument c.
func (s *Stages) shares(c int) []bool {
	args := make([]bool, len(s.body.Args))
	args[c] = true
	return sharing(s.body, args, func(k int) bool { return s.root[k] >= 0 })
}

// weighStages estimates how many operations a run of body b by stages takes. changed is the result of
// Stages.changed; nil: all elements are made. As many elements as a vector has lanes are one operation.
func weighStages(b *op.Body, changed []float64) (cost float64) {
	s := stagesIn(b, nil, make([]writer, len(b.Args)))
	for k := range b.Acts {
		a := &b.Acts[k]
		switch {
		case a.Def.Control == op.Iterate || a.Def.Control == op.Select:
			rounds := 1.0
			if times, known := a.Attrs.Get("times"); known {
				rounds = float64(times.I)
			}
			if a.Def.Control == op.Select && (s == nil || s.root[k] < 0) {
				rounds, cost = sideWeight, cost+stageActions
			}
			for _, in := range a.Bodies {
				cost += rounds * weighStages(in, nil)
			}
			continue
		case a.Def.Control != op.NoControl || len(a.Args) == 0:
			continue
		case s == nil || s.root[k] < 0:
			cost += stageActions
		case s.root[k] == k:
			cost += stageLaunch
			fallthrough
		default:
			if moves(a) { // each matrix of a border is one more
				cost += stageLaunch * float64(len(a.Args)-1)
			}
		}
		if s != nil && s.root[k] >= 0 && !moves(a) {
			own := float64(max(1, a.Type.Count()))
			switch {
			case a.Def.Role == op.Points:
				own *= s.cost(k)
			case a.Def.Cost != nil:
				own = max(own, flopsOf(b, a)/2)
			}
			if own /= float64(launch.Lanes()); changed != nil {
				own *= changed[k]
			}
			cost += own
		}
	}
	return cost
}

// numbersAlone reports whether stages of numbers run all of body b.
func numbersAlone(b *op.Body) bool {
	s := stagesIn(b, nil, make([]writer, len(b.Args)))
	for k := range b.Acts {
		if len(b.Acts[k].Args) > 0 && (s == nil || s.root[k] < 0 || !s.tiny[s.root[k]]) {
			return false
		}
	}
	return true
}

// planOf returns the plan that PlanStages has made for the body of a loop or branch.
func planOf(b *op.Body) *bodyPlan {
	return b.Compiled(func(*op.Body) any { panic("BUG: a body without a plan of its stages") }).(*bodyPlan)
}
