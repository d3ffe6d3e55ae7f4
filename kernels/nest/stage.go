package nest

// This file plans bodies over matrices that fit in a cache. A stage is a group of actions that are computed
// together, as one loop over the elements of the last one's result. The body of an iterate over a state of
// some thousand numbers is a few stages, with calls of kernels between them.

import (
	"slices"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

const (
	// stageOps is the most operations of an element of a stage: longer code fills the instruction cache. A
	// long reduction is a loop and counts as stageBefore.
	stageOps = 400
	// stageAgain is the most operations of an element that is computed again: about the cost of a launch
	// and of the memory of an element.
	stageAgain = 12
	// stageBefore is the most operations of an element that is made before the loop. More are a loop of their
	// own, which would run for every vector of points.
	stageBefore = 2 * define.Unrolled
	// shortRows is the most elements of a matrix with short rows that is reduced as a stage.
	shortRows = 2048
	// stageReads is the most reads of one element.
	stageReads = 16
)

// Stages are the stages of a body. They are safe for concurrent use.
type Stages struct {
	body *op.Body
	// fixed reports, by argument, whether it is the same matrix with the same elements in all runs of an
	// interpreter. known writes an argument whose elements are known before the run; nil: they are not.
	fixed []bool
	known []writer
	// root is, by action, the last action of its stage; -1: a call.
	root []int
	// roots is, by action, the last actions of all stages that compute it. Comparisons of places may have
	// several.
	roots   [][]int
	members [][]int // by last action, the actions of its stage in order
	// over is, by last action, 1 + the carried argument that the stage writes in place; 0: none. last lists
	// these stages. They run after all other actions, in this order.
	over []int
	last []int
	// tiny reports, by last action, a stage of numbers: see numbers.go. gives lists the registers that it
	// sets.
	tiny  []bool
	gives [][]int
	code  []stageCode
}

// writer writes a matrix into a loop.
type writer func(x *Builder) Ref

// stageCode is a stage as loops, which are written when enough work has been seen.
type stageCode struct {
	seen atomic.Int64 // about the operations that its actions have run
	// forms are its loops: those whose subscripts a launch proves, and those that check them.
	forms [2]struct {
		once  sync.Once
		rects []SpaceRect // none: it has no loops
		why   string      // why it has none, if the stage is a matrix
	}
}

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

// planWithin plans the bodies of loops and branches in b. fixed and known describe its arguments: see Stages.
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
					if plan.batch = batchOf(a, made); plan.stages != nil {
						plan.stages.planInPlace(carried)
					}
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

// readers returns the stages of all actions that read action k. It returns nil if a call reads it or if the
// body yields it.
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

// folded reports whether an action is a reduction of a whole matrix. It is a loop of its own unless the
// matrix is small.
func folded(a *op.Action) bool { return a.Def.Class != loop.NoClass && a.Def.Fold == op.FoldAll }

// mayFail reports whether action k may fail, at an element or by a subscript.
func mayFail(b *op.Body, k int) bool {
	a := &b.Acts[k]
	return a.Def.Role == op.Points || !a.Def.Laws.Has(op.Total) && (!a.Def.Laws.Has(op.Elementwise) || a.Type.IsDense())
}

// readWhole reports whether a later action reads all elements of action k. whole reports, by action,
// whether all its elements are computed.
func (s *Stages) readWhole(k int, whole []bool) bool {
	b := s.body
	for i := k + 1; i < len(b.Acts); i++ {
		a := &b.Acts[i]
		all := !a.Def.Laws.Has(op.View) || len(a.Args) == 1 && a.Type.Count() == b.Acts[k].Type.Count()
		if whole[i] && all && slices.Contains(a.Args, len(b.Args)+k) {
			return true
		}
	}
	return false
}

// tells reports whether action k computes a subscript that is not linear in other numbers. Such a number is
// computed before the loops, which take it as an operand.
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

// stageable reports whether action k computes or moves elements, and fails for no reason but a subscript.
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
		return d.Body != nil && d.TotalOn(b.Register(a.Args[0]).Elem, a.Type.Elem)
	case folded(a): // a kernel is faster on many short rows
		t := b.Register(a.Args[0])
		return t.IsDense() && sums(d.Class, t.Elem, a.Type.Elem) &&
			(t.Rows == 1 || t.Cols == 1 || t.Cols >= launch.FewColumns || t.Count() <= shortRows)
	case d.Class != loop.NoClass:
		return d.Fold == op.FoldRows || d.Fold == op.FoldCols
	case d.Elements != nil && a.Type.IsDense():
		moves := d.Laws.Has(op.Total) || d.Laws.Has(op.View) && subscripts > 0 || d.Numbers == 1
		return (moves || d.Role == op.Multiplies || d.Role == op.MultipliesOnto) && !heavy(b, k)
	case d.Elements != nil:
		return d.Role == op.Picks || d.Role == op.PicksAt
	}
	return false
}

// pointwise reports whether a stage can compute a parfor element by element: its body makes no matrix that is
// read more than once, and has no effects.
func pointwise(a *op.Action) bool {
	if len(a.Bodies) != 1 || a.Attrs.Ints("lo") == nil || a.Attrs.Bool("pairs") {
		return false
	}
	return pointwiseBody(a.Bodies[0], !a.Bodies[0].Type().IsScalar())
}

// pointwiseBody is pointwise for a body or a side of a branch. row: its result is a row.
func pointwiseBody(b *op.Body, row bool) bool {
	for k := range b.Acts {
		x := &b.Acts[k]
		d, dense := x.Def, x.Type.IsDense()
		switch {
		case d.Control == op.Part && x.Type.Elem.Size() > 0:
		case d.Control == op.Select && !x.Asks:
			for _, side := range x.Bodies {
				if !pointwiseBody(side, row) {
					return false
				}
			}
			continue
		case x.Type.Elem.Size() == 0 || x.Asks || x.Bodies != nil || x.Chain != nil || d.Control != op.NoControl || !d.Laws.Has(op.Pure):
			return false
		}
		switch {
		case dense && !x.Type.Known(), !dense && !x.Type.IsScalar():
			return false
		case d.Control == op.Part:
			if dense && readersOf(b, k) > 1 {
				return false
			}
		case d.Class != loop.NoClass && (row || dense):
			return false
		case d.Ramp != nil:
		case dense && !(d.Laws.Has(op.Elementwise) || d.Laws.Has(op.View) || d.Role == op.Constant), dense && !d.Laws.Has(op.View) && readersOf(b, k) > 1:
			return false
		}
	}
	return true
}

// joins returns the last action h of the stage that has all readers of action k, and how often it computes
// each element of k. h is -1 if there is no such stage. times is, by action, how often its elements are
// computed.
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

// write returns the loops of the stage of action k, or why there are none. affine: the launch proves the
// subscripts.
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
			x.fixed, x.told = s.fixed, true
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

// loops returns the loops of all stages, for listings. why is the reason of a stage without loops, or "".
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
