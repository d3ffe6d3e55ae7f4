package loop

// This file joins an inner loop with an earlier one that stores what it reads in locals:
//
//	for i in 0..n { s = s + x[i]; p[i] = s }          for i in 0..n { s = s + x[i]; m = max(m, |s|) }
//	for i in 0..n { m = max(m, |p[i]|) }        ->
//
// The values of a round then stay in registers, and a local that nothing else reads is dropped. All
// values and results stay the same.
//
// It would be wrong if the loops had different rounds, if a statement between them read or changed what
// the second loop needs, or if the first loop read the local: fits looks for these.

import (
	"slices"

	"flow/ir/types"
)

// Through returns n with loops of one block joined where one reads what an earlier one stores.
func Through(n *Nest) *Nest {
	if len(n.Locals) == 0 {
		return n
	}
	for {
		w := &weaver{rewriter: newRewriter(n), ends: map[*Block]*loopEnds{}, origins: map[Val][]Val{}}
		w.again = &rewriter{Builder: w.Builder, from: w.Nest, names: map[int]int{}, points: map[int]Val{}}
		w.rewriter.replace, w.again.replace = w.statement, func(*Stmt) bool { return false }
		if w.block(&n.Body); !w.joined {
			break
		}
		n = rewritten(w.Nest, func(_ *rewriter, s *Stmt) bool { return s.Code == Const && s.N == 0 }) // numbers the values
	}
	return Forward(n)
}

// weaver copies a nest and joins each loop that it has written with earlier ones of the same block.
// A join replaces the two loops by empty constants. So it costs the statements of its loops, and not
// those of the nest.
type weaver struct {
	*rewriter
	again   *rewriter // copies loops of the new nest
	ends    map[*Block]*loopEnds
	origins map[Val][]Val // by the first result of a loop of the new nest, the old values of its results
	joined  bool
}

// loopEnds has what a block of the new nest stores so far. stores has, for each local, the places of
// the loops that store to it. over says that no more loops are joined, since none may move behind a
// break.
type loopEnds struct {
	stores map[Mem][]int
	over   bool
}

// statement copies a statement of the block that is open, and joins it if it is a loop.
func (w *weaver) statement(s *Stmt) bool {
	b := w.open[len(w.open)-1]
	x := w.ends[b]
	if x == nil {
		x = &loopEnds{stores: map[Mem][]int{}}
		w.ends[b] = x
	}
	if s.Code != For {
		x.over = x.over || s.some(func(s *Stmt) bool { return s.Code == Break })
		return false
	}
	w.copy(s)
	if s.N > 0 {
		w.origins[w.last().Dst] = consecutive(s.Dst, s.N)
	}
	for !x.over && roundsAlone(w.last()) && w.join(b, x) {
	}
	locals(b.Stmts[len(b.Stmts)-1:], func(s *Stmt) {
		if list := x.stores[s.Mem]; s.Code == Store && (len(list) == 0 || list[len(list)-1] != len(b.Stmts)-1) {
			x.stores[s.Mem] = append(list, len(b.Stmts)-1)
		}
	})
	return true
}

// join joins the last loop of a block with the nearest earlier one that fits. It returns false if none
// does.
func (w *weaver) join(b *Block, x *loopEnds) bool {
	j := len(b.Stmts) - 1
	var from []int
	locals(b.Stmts[j:], func(s *Stmt) {
		if s.Code == Load {
			from = append(from, x.stores[s.Mem]...)
		}
	})
	slices.Sort(from)
	for _, i := range slices.Backward(slices.Compact(from)) {
		if b.Stmts[i].Code != For || !roundsAlone(&b.Stmts[i]) {
			continue
		}
		p := &passing{from: &b.Stmts[i], to: &b.Stmts[j], passed: map[Mem]passed{}}
		if !p.fits(b.Stmts, i, j) {
			continue
		}
		for v := len(w.again.now); v < len(w.Nest.Types); v++ {
			w.again.now = append(w.again.now, Val(v))
		}
		old := slices.Concat(w.origins[p.from.Dst], w.origins[p.to.Dst])
		w.where = p.to.Origin
		out := p.join(w.again)
		for k, v := range old {
			w.now[v] = out[k]
		}
		if len(out) > 0 {
			w.origins[out[0]] = old
		}
		b.Stmts[i], b.Stmts[j], w.joined = Stmt{Code: Const, Dst: NoVal}, Stmt{Code: Const, Dst: NoVal}, true
		return true
	}
	return false
}

// passing is two loops of a block to join. Round i of the second reads what round i - shift of the
// first stores in the locals passed. If peel is set, the second loop has one more round, its first,
// which reads what statements before the first loop have stored.
type passing struct {
	from, to *Stmt
	shift    int64
	peel     bool
	passed   map[Mem]passed
}

// passed is the stores to a local that passes values from the first loop to the second.
type passed struct {
	store  *Stmt // in the first loop
	before *Stmt // before the first loop, of the element that a peeled round reads; nil: none is needed
}

// locals calls f for every access to a local in statements.
func locals(list []Stmt, f func(s *Stmt)) {
	EachStmt(&Block{Stmts: list}, func(s *Stmt) {
		if s.Mem.Kind == LocalMem && (s.Code == Load || s.Code == Store) {
			f(s)
		}
	})
}

// fits reports whether loops i and j of a body can be joined, at the place of the second one. Both have
// rounds alone.
func (p *passing) fits(list []Stmt, i, j int) bool {
	read, some := map[Mem]bool{}, false // by the first loop
	locals(list[i:i+1], func(s *Stmt) {
		if x, ok := p.passed[s.Mem]; s.Code == Load {
			read[s.Mem] = true
		} else if x.store = s; !ok {
			p.passed[s.Mem] = x
		} else {
			read[s.Mem] = true // stored twice
		}
	})
	fine, shifted := true, false
	locals(list[j:j+1], func(s *Stmt) {
		x, stored := p.passed[s.Mem]
		if s.Code == Store {
			fine = fine && !stored && !read[s.Mem]
			return
		}
		if !stored {
			return
		}
		d, ok := along(x.store, p.from.Loop.Index.Name, x.store)
		e, same := along(s, p.to.Loop.Index.Name, x.store)
		fine = fine && ok && same && !read[s.Mem] && (!shifted || p.shift == d-e) && slices.ContainsFunc(p.from.Loop.Body.Stmts, func(t Stmt) bool { return t.Code == Store && t.Mem == s.Mem })
		p.shift, shifted, some = d-e, true, true
	})
	ra, rb := p.from.Loop.Index.Range, p.to.Loop.Index.Range
	p.peel = rb.From.Const-p.shift == ra.From.Const-1
	if !fine || !some || rb.To.Const-p.shift != ra.To.Const || !p.peel && rb.From.Const-p.shift != ra.From.Const {
		return false
	}
	for k := i + 1; k <= j; k++ { // the first loop moves behind these, so none may need its results
		valuesOf(&list[k], func(v Val) { fine = fine && (v < p.from.Dst || int(v) >= int(p.from.Dst)+p.from.N) })
	}
	locals(list[i+1:j], func(s *Stmt) {
		x, stored := p.passed[s.Mem]
		fine = fine && !(s.Code == Store && (stored || read[s.Mem])) && (!stored || p.outside(s, x.store))
	})
	return fine && (!p.peel || p.findBefore(list, i, j))
}

// roundsAlone reports a loop with a known number of rounds that only computes, and stores only to
// locals.
func roundsAlone(s *Stmt) bool {
	r := s.Loop.Index.Range
	return r.Kind == Steps && r.By == 1 && r.From.Known() && r.To.Known() && r.From.Const < r.To.Const &&
		!Some(s.Loop.Body.Stmts, func(t *Stmt) bool {
			return t.Code == Break || t.Code == Reduce || t.Code == Store && t.Mem.Kind != LocalMem
		})
}

// axisOf returns which subscript of a store, 0 or 1, moves with the index of its loop.
func axisOf(store *Stmt) int {
	if store.At[0].Known() {
		return 1
	}
	return 0
}

// along returns c for an access at index + c along the axis of a store. ok is false if it is no such
// access, or if its other subscript differs from that of the store.
func along(s *Stmt, index int, store *Stmt) (c int64, ok bool) {
	axis := axisOf(store)
	across, rest := s.At[1-axis], s.At[axis].Plus(Of(IndexSym, index).Times(-1))
	return rest.Const, rest.Known() && across.Known() && store.At[1-axis].Known() && across.Const == store.At[1-axis].Const
}

// outside reports an access to one element that the store in the first loop never reaches.
func (p *passing) outside(s, store *Stmt) bool {
	d, ok := along(store, p.from.Loop.Index.Name, store)
	if !ok || !s.At[0].Known() || !s.At[1].Known() {
		return false
	}
	axis, r := axisOf(store), p.from.Loop.Index.Range
	at := s.At[axis].Const - d
	return s.At[1-axis].Const != store.At[1-axis].Const || at < r.From.Const || at >= r.To.Const
}

// findBefore finds, in the statements before the first loop, the stores of the elements that a peeled
// first round reads. It returns false if it does not find one store to the right element for each.
func (p *passing) findBefore(list []Stmt, i, j int) bool {
	fine := true
	locals(list[j:j+1], func(s *Stmt) {
		x, ok := p.passed[s.Mem]
		if !ok || s.Code != Load || x.before != nil {
			return
		}
		d, _ := along(x.store, p.from.Loop.Index.Name, x.store)
		axis := axisOf(x.store)
		locals(list[:i], func(t *Stmt) {
			if t.Code == Store && t.Mem == s.Mem {
				if x.before = t; !t.At[0].Known() || !t.At[1].Known() {
					fine = false
				}
			}
		})
		b := x.before
		fine = fine && b != nil && slices.ContainsFunc(list[:i], func(t Stmt) bool { return t.Code == Store && t.Mem == s.Mem && t.Args[0] == b.Args[0] }) &&
			b.At[1-axis].Const == x.store.At[1-axis].Const && b.At[axis].Const-d == p.from.Loop.Index.Range.From.Const-1
		p.passed[s.Mem] = x
	})
	return fine
}

// join writes the two loops as one and returns the results, those of the first loop first.
func (p *passing) join(r *rewriter) []Val {
	a, b := p.from.Loop, p.to.Loop
	var value func(x passed) Val // the value of a load; nil: the first loop is written
	defer func(replace func(*Stmt) bool) { r.replace = replace }(r.replace)
	r.replace = func(s *Stmt) bool {
		x, passes := p.passed[s.Mem]
		switch {
		case value != nil && s.Code == Load && passes:
			r.set(s, []Val{value(x)})
		case s.Code == IndexOf && value != nil && int(s.Imm) == b.Index.Name:
			if at, known := r.fixed[b.Index.Name]; known {
				r.set(s, []Val{r.Const(types.I64, Word(at))})
			} else {
				r.set(s, []Val{r.Op(Add, r.IndexValue(a.Index.Name), r.Const(types.I64, Word(p.shift)))})
			}
		default:
			return false
		}
		return true
	}
	round := func(carried []Val, of func(x passed) Val) []Val {
		value = of
		defer func() { value = nil }()
		return r.round(b, carried)
	}
	second := r.values(b.Init)
	if p.peel {
		r.fixed = map[int]int64{b.Index.Name: b.Index.Range.From.Const}
		second = round(second, func(x passed) Val { return r.now[x.before.Args[0]] })
		r.fixed = nil
	}
	x0 := a.Index
	r.names, r.shifts = map[int]int{b.Index.Name: x0.Name}, map[int]int64{b.Index.Name: p.shift}
	out := r.For(x0, append(r.values(a.Init), second...), func(carried []Val) []Val {
		next := r.round(a, carried[:len(a.Init)])
		return append(next, round(carried[len(a.Init):], func(x passed) Val { return r.now[x.store.Args[0]] })...)
	})
	r.names, r.shifts = map[int]int{}, nil
	return out
}

// localElement is an element of a local at a place that is known.
type localElement struct {
	local    int
	row, col int64
}

// elementOf returns the element that a statement loads or stores.
func elementOf(s *Stmt) (x localElement, ok bool) {
	if s.Mem.Kind != LocalMem || s.Code != Load && s.Code != Store || !known(s.At) {
		return x, false
	}
	return localElement{s.Mem.N, s.At[0].Const, s.At[1].Const}, true
}

// Forward returns n with loads of its body replaced by the value that the body has stored at the same
// element of a local, and without the locals that nothing reads then. No statement between may store to
// that element.
func Forward(n *Nest) *Nest {
	if len(n.Locals) == 0 {
		return n
	}
	list := n.Body.Stmts
	stored, source := map[localElement]*Stmt{}, map[*Stmt]*Stmt{}
	for i := range list {
		s := &list[i]
		x, ok := elementOf(s)
		switch {
		case ok && s.Code == Store:
			stored[x] = s
			continue
		case ok && stored[x] != nil:
			source[s] = stored[x]
		}
		alone := s.Code == For && roundsAlone(s)
		locals(list[i:i+1], func(u *Stmt) {
			if u.Code != Store {
				return
			}
			at, fixed := elementOf(u)
			for x, t := range stored {
				apart := fixed && at != x || alone && (&passing{from: s}).outside(t, u)
				if u.Mem == t.Mem && !apart {
					delete(stored, x)
				}
			}
		})
	}
	if len(source) == 0 {
		return dropLocals(n)
	}
	return dropLocals(rewritten(n, func(r *rewriter, s *Stmt) bool {
		t := source[s]
		if t != nil {
			r.set(s, []Val{r.now[t.Args[0]]})
		}
		return t != nil
	}))
}

// dropLocals returns n without the locals that nothing reads.
func dropLocals(n *Nest) *Nest {
	read := make([]bool, len(n.Locals))
	EachStmt(&n.Body, func(s *Stmt) {
		if s.Mem.Kind == LocalMem && s.Code != Store {
			read[s.Mem.N] = true
		}
	})
	if !slices.Contains(read, false) {
		return n
	}
	to := make([]int, len(read))
	var kept []Local
	for k, r := range read {
		if to[k] = len(kept); r {
			kept = append(kept, n.Locals[k])
		}
	}
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		r.Nest.Locals = kept
		if s.Mem.Kind != LocalMem {
			return false
		}
		if s.Code == Store && !read[s.Mem.N] {
			return true
		}
		moved := *s
		moved.Mem.N = to[s.Mem.N]
		r.copy(&moved)
		return true
	})
}
