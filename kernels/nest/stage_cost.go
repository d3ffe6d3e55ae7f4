package nest

// This file estimates what stages cost.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/loop/launch"
)

const (
	// stageLaunch and stageActions are the costs of launching a stage's loop and of calling a kernel, in
	// operations on single elements. A launch includes the numbers and views that are set between stages.
	stageLaunch  = 400
	stageActions = 800
	// sideWeight is the assumed share of rounds that take a side with matrices. A search keeps what it has
	// in most rounds.
	sideWeight = 0.25
)

// moves reports whether an action only moves elements of its operands.
func moves(a *op.Action) bool {
	return a.Def.Laws.Has(op.View) || a.Def.Role == op.Beside || a.Def.Role == op.Below || a.Def.Role == op.Lays
}

// costs estimates, for each action, the operations of an element. They include those of earlier actions
// that only this one reads.
func (s *Stages) costs() []float64 {
	b := s.body
	readers := make([]int, len(b.Args)+len(b.Acts))
	for k := range b.Acts {
		for _, r := range b.Acts[k].Args {
			readers[r]++
		}
	}
	for _, r := range b.Yields {
		readers[r] += 2
	}
	all := make([]float64, len(b.Acts))
	for k := range b.Acts {
		all[k] = s.cost(k)
		for at, r := range b.Acts[k].Args {
			if i := r - len(b.Args); i >= 0 && readers[r] == 1 && stageable(b, i) {
				all[k] += all[i] * s.reads(k, at)
			}
		}
	}
	return all
}

// cost estimates the operations of an element of action k.
func (s *Stages) cost(k int) float64 {
	a := &s.body.Acts[k]
	if a.Def.Role == op.Points {
		return float64(ActionsOf(a.Bodies[0]))
	}
	if a.Def.Laws.Has(op.View) || a.Def.Cost == nil || len(a.Args) == 0 {
		return 0
	}
	return flopsOf(s.body, a) / float64(max(1, a.Type.Count()))
}

// dear reports whether action k of b is a call with work for several workers.
func dear(b *op.Body, k int) bool {
	a := &b.Acts[k]
	l := a.Def.Loop
	return l != nil && !l.Team && !l.Points && l.Group == nil && a.Def.Cost != nil && a.Def.Kernel != nil && a.Bodies == nil && a.Chain == nil && !a.Asks &&
		a.Type.IsDense() && a.Type.Known() && flopsOf(b, a) >= float64(2*teamFrom.Load())
}

// ops estimates the number of operations of the stage of action h.
func (s *Stages) ops(h int) (sum float64) {
	for _, i := range s.members[h] {
		sum += float64(s.body.Acts[i].Type.Count()) * max(1, s.cost(i))
	}
	return sum
}

// reads estimates how often action i reads each element of operand at.
func (s *Stages) reads(i, at int) float64 {
	a := &s.body.Acts[i]
	from, out := s.body.Register(a.Args[at]), a.Type
	elements, results := float64(max(1, from.Count())), float64(max(1, out.Count()))
	switch {
	case from.IsScalar():
		return 0 // made before the loop
	case a.Def.Role == op.Points, a.Def.Numbers > 0 && at == 0: // at places that the run tells
		return stageReads + 1
	case a.Def.Numbers > 0:
		return float64(out.Cols)
	case a.Def.Class != loop.NoClass, a.Def.Once && at == 0, a.Def.Role == op.MultipliesOnto && at == 0:
		return 1
	case a.Def.Laws.Has(op.Elementwise) || a.Def.Laws.Has(op.View):
		return max(1, results/elements)
	}
	if a.Def.Cost == nil {
		return stageReads + 1
	}
	return max(1, flopsOf(s.body, a)/2/elements)
}

// branching reports whether the code of a number k, or of points k, has branches or checks. Such code
// inside of a loop would run for every vector, because only code without branches is moved before the
// loop.
func branching(b *op.Body, k int) (is bool) {
	a := &b.Acts[k]
	points := a.Def.Role == op.Points
	if !points && (!isNumber(a.Type) || a.Def.Body == nil) {
		return false
	}
	Written(func() {
		x := NewBuilder(Form{})
		env := make([]Ref, len(b.Args)+k)
		for _, r := range a.Args {
			env[r] = x.Outer(b, r)
		}
		if y := x.Act(b, k, env); points {
			y.At(loop.Num(0), loop.Num(0))
		}
		branches := func(s *loop.Stmt) bool { return s.Then != nil || s.Loop != nil }
		is = loop.Some(x.Nest.Body.Stmts, func(s *loop.Stmt) bool {
			return points && (branches(s) || s.Code == loop.Check) || s.Func != nil && loop.Some(s.Func.Body.Stmts, branches)
		})
	})
	return is
}

// What follows estimates the work of bodies.

const (
	// someRounds is the estimated number of rounds of a loop in a body if it is not known.
	someRounds = 64
	// countedRounds is the most rounds of a loop, and the most points of a parfor, that are counted.
	countedRounds = 1 << 16
)

// ActionsOf estimates the number of actions of one run of body b. An element of a matrix counts as one
// action.
func ActionsOf(b *op.Body) int {
	n, elements := 0, elementsOf(b)
	for k := range b.Acts {
		n++
		rounds := 1
		switch a := &b.Acts[k]; {
		case a.Def.Control == op.Iterate:
			rounds = someRounds
			if times, ok := a.Attrs.Get("times"); ok {
				rounds = int(min(max(times.I, 1), countedRounds))
			}
		case a.Def.Role == op.Points: // the body runs for each number of the result, or for each row
			rounds = elements[len(b.Args)+k]
			if y := a.Bodies[0].Type(); y.IsDense() {
				rounds /= max(1, y.Count())
			}
			rounds = min(max(rounds, 1), countedRounds)
		}
		for _, inner := range b.Acts[k].Bodies {
			n += min(rounds*ActionsOf(inner), 1<<30)
		}
		n += elements[len(b.Args)+k]
	}
	return n
}

// elementsOf estimates the number of elements of each register of a body. A matrix of unknown size is
// taken to have half of the elements of the largest operand that it is computed from.
func elementsOf(b *op.Body) []int {
	n := make([]int, len(b.Args)+len(b.Acts))
	for r := range n {
		t := b.Register(r)
		switch k := r - len(b.Args); {
		case !t.IsDense():
		case t.Known():
			n[r] = t.Count()
		case k >= 0:
			for _, from := range b.Acts[k].Args {
				n[r] = max(n[r], n[from]/2)
			}
		}
	}
	return n
}

// stageable reports whether action k computes or moves elements. A loop checks what may fail, such as
// a subscript or a division by zero. If a check fails, the actions of the stage run one by one.
func stageable(b *op.Body, k int) bool {
	a := &b.Acts[k]
	d := a.Def
	switch {
	case a.Type.Elem.Size() == 0 || a.Asks || a.Attrs.Int("keep") > 0 || a.Attrs.Bool("drawn"):
		return false
	case !a.Type.IsScalar() && !(a.Type.IsDense() && a.Type.Known() && a.Type.Count() > 0):
		return false
	case d.Role == op.Points:
		return pointwise(a)
	case d.Control != op.NoControl || a.Bodies != nil || a.Chain != nil || !d.Laws.Has(op.Pure):
		return false
	}
	subscripts := 0
	for _, r := range a.Args {
		t := b.Register(r)
		if t.Elem.Size() == 0 || !t.IsScalar() && !(t.IsDense() && t.Known() && t.Count() > 0) {
			return false
		}
		if t == types.ScalarOf(types.I64) {
			subscripts++
		}
	}
	switch {
	case len(a.Args) == 0:
		return d.Role == op.Constant
	case d.Laws.Has(op.Elementwise) && d.Elt != nil:
		return d.Body != nil
	case folded(a): // a kernel is faster on many short rows
		t := b.Register(a.Args[0])
		return t.IsDense() && sums(d.Class, t.Elem, a.Type.Elem) &&
			(t.Rows == 1 || t.Cols == 1 || t.Cols >= launch.FewColumns || t.Count() <= shortRows)
	case d.Class != loop.NoClass || d.Once && d.Fold != op.NoFold: // the second is a place of an extreme
		return d.Fold == op.FoldRows || d.Fold == op.FoldCols
	case d.Elements != nil && a.Type.IsDense():
		moves := d.Laws.Has(op.Total) || d.Laws.Has(op.View) && subscripts > 0 || d.Numbers == 1
		return (moves || d.Role == op.Multiplies || d.Role == op.MultipliesOnto) && !heavy(b, k)
	case d.Elements != nil:
		return d.Role == op.Picks || d.Role == op.PicksAt
	}
	return false
}

// heavy reports an action whose kernel is faster than a loop over points.
func heavy(b *op.Body, k int) bool {
	a := &b.Acts[k]
	d := a.Def
	switch {
	case d.Control != op.NoControl || d.Kernel == nil || d.Cost == nil || a.Bodies != nil || a.Chain != nil:
		return false
	case d.Laws.Has(op.Elementwise) || d.Class != loop.NoClass || !a.Type.IsDense() || !a.Type.Known():
		return false
	}
	elements := a.Type.Count()
	for _, r := range a.Args {
		t := b.Register(r)
		if !t.IsScalar() && !(t.IsDense() && t.Known()) {
			return false
		}
		elements += t.Count()
	}
	work := flopsOf(b, a)
	return work >= heavyWork && work >= heavyUses*float64(elements)
}

const (
	// againWork is the most operations of an element that each nest computes for itself. The lanes are
	// points, and the stored elements of a point lie in a row, so that to store one and to load it is a
	// scatter and a gather: local regressions around a quantile of distances take 1.2 times as long
	// with all of them stored.
	againWork = 8
	// heavyWork is from how many operations on a call is worth less than its work, if each element
	// takes part in heavyUses of them: then its kernel keeps elements in registers.
	heavyWork = 1 << 15
	heavyUses = 8
	// WideElements is the most elements that rows of a block of several points have.
	WideElements = 1 << 20
)
