package loop

// This file rewrites nests whose points are loops of very different length, for targets whose lanes
// are points. Lanes that have ended wait for the longest one; here a lane that has ended takes the
// next point instead. The loop over points and the loop inside become one (R. von Hanxleden & K.
// Kennedy, "Relaxing SIMD control flow constraints using loop transformations", 1992).

import (
	"slices"

	"flow/ir/types"
)

// Refilled is a nest whose lanes take points From + lane, then Step further each, below To.
type Refilled struct {
	Nest *Nest
	// From, To and Step are scalar operands of i64, behind those of the other nest.
	From, To, Step int
	// Round and Point are the statements of a round, and of a point beside its rounds.
	Round, Point int
}

// refilledLanes bounds the last index of a refilled nest; windows have far fewer lanes.
const refilledLanes = 1 << 20

// Refill returns n with lanes that take points of the last index, or nil where its points are not
// one loop until a break, with operations before it and stores behind it. The places of elements are
// values in the new nest, so the launcher has to prove those of n.
func Refill(n *Nest) *Refilled {
	f := &refill{n: n}
	if !f.matches() {
		return nil
	}
	f.depends()
	return f.rewrite()
}

// refill is a nest that is rewritten.
type refill struct {
	n       *Nest
	lane    int // the name of the last index
	at      int // the statement that is the loop
	broken  int // the statement of its body that is the break
	varies  []bool
	carried []Val // values before the loop that differ between points and are read later
}

// matches reports a nest of the form.
func (f *refill) matches() bool {
	n := f.n
	if len(n.Space) == 0 || len(n.Locals) > 0 || len(n.Results) == 0 {
		return false
	}
	x := n.Space[len(n.Space)-1]
	if f.lane = x.Name; x.Range.Kind != Steps || x.Range.By != 1 || !x.Range.From.Known() || x.Range.From.Const != 0 {
		return false
	}
	for _, r := range n.Results {
		if r.Class != NoClass || r.Over >= 0 {
			return false
		}
	}
	f.at, f.broken = -1, -1
	stored := false
	for k := range n.Body.Stmts {
		switch s := &n.Body.Stmts[k]; {
		case s.Code == For && s.Loop.Index.Range.Kind == Forever:
			if f.at >= 0 {
				return false
			}
			f.at = k
		case s.Code == Store && f.at >= 0:
			stored = true
		case !computes(s):
			return false
		}
	}
	if f.at < 0 || !stored {
		return false
	}
	l := n.Body.Stmts[f.at].Loop
	for k := range l.Body.Stmts {
		switch s := &l.Body.Stmts[k]; {
		case s.Code == Break && f.broken < 0:
			f.broken = k
		case !computes(s) || f.broken >= 0 && checksWithin(s) || readsIndex(s, l.Index.Name):
			return false
		}
	}
	return f.broken >= 0
}

// computes reports a statement that only makes values, or checks them.
func computes(s *Stmt) bool {
	return !s.some(func(x *Stmt) bool {
		return x.Code == Store || x.Code == Reduce || x.Code == Break || x.Loop != nil && x.Loop.Index.Range.Kind != Steps
	})
}

// checksWithin reports a check in a block of s.
func checksWithin(s *Stmt) bool {
	return s.some(func(x *Stmt) bool { return x.Code == Check && x != s })
}

// readsIndex reports that s reads an index.
func readsIndex(s *Stmt, name int) bool {
	inForm := func(l Lin) bool { return l.Coef(Sym{IndexSym, name}) != 0 }
	return s.some(func(x *Stmt) bool {
		return x.Code == IndexOf && int(x.Imm) == name || slices.ContainsFunc(x.forms(), inForm)
	})
}

// depends finds what differs between points, and which of it is carried.
func (f *refill) depends() {
	f.varies = make([]bool, len(f.n.Types))
	before := make([]bool, len(f.n.Types))
	for k := range f.n.Body.Stmts[:f.at] {
		s := &f.n.Body.Stmts[k]
		apart := f.apart(s)
		for i := range s.N {
			before[int(s.Dst)+i], f.varies[int(s.Dst)+i] = true, apart
		}
	}
	seen := make([]bool, len(f.n.Types))
	need := func(v Val) {
		if before[v] && f.varies[v] && !seen[v] {
			seen[v] = true
			f.carried = append(f.carried, v)
		}
	}
	loop := f.n.Body.Stmts[f.at].Loop
	for k := range loop.Body.Stmts {
		valuesOf(&loop.Body.Stmts[k], need)
	}
	for _, v := range loop.Body.Yield {
		need(v)
	}
	for k := range f.n.Body.Stmts[f.at+1:] {
		valuesOf(&f.n.Body.Stmts[f.at+1+k], need)
	}
}

// rewrite makes the nest.
func (f *refill) rewrite() *Refilled {
	n := f.n
	r := newRewriter(n)
	r.Nest.Params = append([]Param{}, n.Params...)
	r.Nest.Space = append([]Index{}, n.Space...)
	r.Nest.Space[len(n.Space)-1].Range = Range{Kind: Steps, To: Num(refilledLanes), By: 1}
	out := &Refilled{From: r.Param(ScalarParam, types.I64), To: r.Param(ScalarParam, types.I64), Step: r.Param(ScalarParam, types.I64)}
	scalar := func(k int) Val { return r.Load(Mem{Kind: ParamMem, N: k}) }
	from, to, step := scalar(out.From), scalar(out.To), scalar(out.Step)
	last := r.Op(Sub, to, r.Const(types.I64, 1))
	first := r.Op(Add, from, r.IndexValue(f.lane))
	s := &n.Body.Stmts[f.at]
	l := s.Loop
	// begin writes what precedes the loop, at a point that exists.
	begin := func(p Val, again bool) []Val {
		r.points[f.lane] = r.Op(Min, p, last)
		for k := range n.Body.Stmts[:f.at] {
			if x := &n.Body.Stmts[k]; !again || f.differs(x) {
				r.one(x)
			}
		}
		return append(append([]Val{p}, r.values(f.carried)...), r.values(l.Init)...)
	}
	init := begin(first, false)
	r.For(Index{r.Name("round"), Range{Kind: Forever, By: 1}}, init, func(c []Val) []Val {
		p, kept, state := c[0], c[1:1+len(f.carried)], c[1+len(f.carried):]
		r.Break(r.Op(Le, to, p))
		enter := func() {
			for k, v := range f.carried {
				r.now[v] = kept[k]
			}
			r.carry(l, state)
			r.points[f.lane] = p
		}
		enter()
		// Lanes that have ended make the rest of the round, too, for nothing. They do not if what their
		// state says is the place of an element: it may be anywhere.
		behind := f.broken + 1
		rest := l.Body.Stmts[behind:]
		apart := Some(rest, (*Stmt).byValue)
		for k := range l.Body.Stmts[:f.broken] {
			r.one(&l.Body.Stmts[k])
		}
		ended := r.now[l.Body.Stmts[f.broken].Args[0]]
		var next []Val
		round := func() {
			for k := range rest {
				if x := &rest[k]; x.Code == Check && !apart { // a lane that has ended makes no such round
					c := *x
					c.Args = r.values(x.Args)
					c.Args[0] = r.Op(Or, ended, c.Args[0])
					r.add(c)
				} else {
					r.one(x)
				}
			}
			next = append(append([]Val{p}, kept...), r.values(l.Body.Yield)...)
		}
		if !apart {
			round()
		}
		return r.If(ended, r.typesOf(c), func() []Val {
			for k, v := range state {
				r.now[int(s.Dst)+k] = v
			}
			for k := range n.Body.Stmts[f.at+1:] {
				r.one(&n.Body.Stmts[f.at+1+k])
			}
			return begin(r.Op(Add, p, step), true)
		}, func() []Val {
			if apart {
				enter()
				round()
			}
			return next
		})
	})
	out.Nest, out.Round = r.Done(), Length(&l.Body)
	out.Point = Length(&n.Body) - out.Round
	return out
}

// one copies a statement.
func (r *rewriter) one(s *Stmt) {
	r.where = s.Origin
	r.copy(s)
}

// differs reports a statement before the loop that is made for every point.
func (f *refill) differs(s *Stmt) bool {
	if s.N > 0 {
		return f.varies[s.Dst]
	}
	return f.apart(s)
}

// apart reports a statement that reads the index of the lanes, or a value that differs between points.
func (f *refill) apart(s *Stmt) bool {
	return readsIndex(s, f.lane) || s.Reads(func(v Val) bool { return f.varies[v] })
}
