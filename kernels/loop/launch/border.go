package launch

// This file runs the points within borders by code without the conditions that tell the borders: most
// points of a space meet the same sides of conditions such as `i > 0` and `j == n - 1`. Lanes evaluate
// both sides of a condition, and read their operands by masks.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
)

const (
	// mostBorders is the most borders that are looked at, and mostCores the most nests of a loop.
	mostBorders, mostCores = 128, 64
	// mostStretches is the most stretches of an index, and leastStretch how many columns they have on
	// average, at least: a vector at a border takes as long as several within.
	mostStretches, leastStretch = 9, 16
	// leastWithin is the least number of points that borders are looked for in.
	leastWithin = 1 << 8
)

// coreOf looks for borders of n. Code for points within has no states of reduced results.
func coreOf(n *loop.Nest) *core {
	c := &core{nest: n, next: map[string]*core{}}
	reduced := slices.ContainsFunc(n.Results, func(r loop.Result) bool { return r.Class != loop.NoClass })
	if list := loop.Borders(n); !reduced && len(n.Space) > 0 && len(list) <= mostBorders {
		c.borders = list
	}
	return c
}

// cutsOf returns the cuts of a run; nil if conditions cut nothing off. Operands in varies may have
// other values in each window.
func (l *Loop) cutsOf(in []value.Value, varies uint64) *cuts {
	if len(l.core.borders) == 0 || l.small {
		return nil
	}
	rows, cols, two := extents(l.nest, in)
	if rows*cols < leastWithin {
		return nil
	}
	if !two { // its index is that of the lanes
		rows, cols = 1, rows
	}
	c := &cutter{hull: hull{in: in, varies: varies}}
	c.rows, c.cols, c.core = []stretch{{0, rows, true, 0}}, []stretch{{0, cols, true, 0}}, l.core
	space := l.nest.Space
	for { // what is decided may make linear what depends on it, or leave out borders of columns
		next := (*core)(nil)
		if two {
			next = c.next(l, space[0].Name, &c.rows, 1)
		}
		if next == nil {
			next = c.next(l, space[len(space)-1].Name, &c.cols, leastStretch)
		}
		if next == nil {
			break
		}
		c.core = next
	}
	if c.core == l.core {
		return nil
	}
	c.addEdges(l, two)
	return &c.cuts
}

// cutter finds cuts.
type cutter struct {
	cuts
	hull // operands alone
}

// next returns the nest for points of the core where borders of an index are decided, or nil.
func (c *cutter) next(l *Loop, index int, list *[]stretch, least int) *core {
	return l.decided(c.core, mostCores, func(b *loop.Border) (int64, bool) { return c.decide(b, index, list, least) })
}

// decided returns the nest of a core in which the borders that outcome knows are decided. It returns
// nil if outcome knows none, or if the loop has most nests already.
func (l *Loop) decided(of *core, most int, outcome func(b *loop.Border) (int64, bool)) *core {
	outcomes, key := map[int]int64{}, make([]byte, len(of.borders))
	for k := range of.borders {
		if x, ok := outcome(&of.borders[k]); ok {
			outcomes[k], key[k] = x, byte(x)^0x80
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := of.next[string(key)]
	if next == nil && len(outcomes) > 0 && l.cores < most {
		l.cores++
		next = coreOf(loop.Decided(of.nest, of.borders, outcomes))
		of.next[string(key)] = next
	}
	return next
}

// addEdges finds the conditions that are decided in stretches that are not within: `i == 0` in the
// first row, and `i == 0` and `j == 0` in the first column of other rows. Without code of its own, a
// stretch of one column takes as long as three vectors within.
func (c *cutter) addEdges(l *Loop, two bool) {
	within := slices.DeleteFunc(slices.Clone(c.rows), func(p stretch) bool { return !p.within })
	for k, p := range c.rows {
		if !p.within {
			c.rows[k].edge = c.edgeOf(l, two, []stretch{p}, []stretch{{0, c.cols[len(c.cols)-1].to, true, 0}})
		}
	}
	for k, q := range c.cols {
		if !q.within {
			c.cols[k].edge = c.edgeOf(l, two, within, []stretch{q})
		}
	}
}

// edgeOf returns the stretch.edge of these rows and columns: 0 if no condition is decided there.
func (c *cutter) edgeOf(l *Loop, two bool, rows, cols []stretch) int {
	space, at := l.nest.Space, l.core
	for {
		next := l.decided(at, mostCores/2, func(b *loop.Border) (int64, bool) {
			x, ok := c.same(b, space[len(space)-1].Name, cols)
			if !ok && two {
				x, ok = c.same(b, space[0].Name, rows)
			}
			return x, ok
		})
		if next == nil {
			break
		}
		at = next
	}
	if at == l.core {
		return 0
	}
	k := slices.Index(c.edges, at)
	if k < 0 {
		k, c.edges = len(c.edges), append(c.edges, at)
	}
	return k + 1
}

// same returns the outcome of border b. ok is false unless b depends on this index alone, and has the
// same outcome for all indices of the list.
func (c *cutter) same(b *loop.Border, index int, list []stretch) (outcome int64, ok bool) {
	low, high, size, ok := c.lines(b, index)
	if !ok {
		return 0, false
	}
	for k, p := range list {
		for _, l := range []line{low, high} {
			at, few := b.Changes(l.a, l.b, size.b, int64(p.from), int64(p.to))
			if !few || slices.ContainsFunc(at, func(i int64) bool { return int64(p.from) < i && i < int64(p.to) }) {
				return 0, false
			}
		}
		i := int64(p.from)
		x, same := b.Outcome(low.a*i+low.b, high.a*i+high.b, size.b)
		if !same || k > 0 && x != outcome {
			return 0, false
		}
		outcome = x
	}
	c.reads |= low.reads | high.reads | size.reads
	return outcome, len(list) > 0
}

// lines returns the forms of border b. ok is false unless b depends on this index alone.
func (c *cutter) lines(b *loop.Border, index int) (low, high, size line, ok bool) {
	low, ok1 := c.line(b.Low, index)
	high, ok2 := c.line(b.High, index)
	size, ok3 := c.line(b.Size, index)
	return low, high, size, ok1 && ok2 && ok3 && (low.a != 0 || high.a != 0) && size.b > 0
}

// line is a form of one index: a*index + b, and the operands that it depends on.
type line struct {
	a, b  int64
	reads uint64
}

// line returns the form of a border as a line, where it depends on no other index.
func (c *cutter) line(f loop.Lin, index int) (l line, ok bool) {
	l.b = f.Const
	for _, t := range f.Terms {
		x := c.sym(t.Sym)
		switch {
		case t.Sym == (loop.Sym{Kind: loop.IndexSym, N: index}):
			l.a = t.Coef
			continue
		case x == anything: // another index, or a number that may change
			return l, false
		case t.Sym.Kind == loop.ParamSym:
			l.reads |= 1 << t.Sym.N
		}
		l.b += t.Coef * x.lo
	}
	return l, true
}

// decide returns the outcome that border b, which depends on this index alone, has for most indices,
// and cuts the stretches within where it has another one. Each stretch has at least so many indices on
// average.
func (c *cutter) decide(b *loop.Border, index int, list *[]stretch, least int) (outcome int64, ok bool) {
	low, high, size, ok := c.lines(b, index)
	if !ok {
		return 0, false
	}
	n := (*list)[len(*list)-1].to
	var cut []stretch
	count, of := map[int64]int{}, map[int]int64{} // of, by where a stretch begins, is the outcome
	for _, s := range *list {
		at := []int{s.from, s.to}
		for _, l := range []line{low, high} {
			list, few := b.Changes(l.a, l.b, size.b, int64(s.from), int64(s.to))
			if !few {
				return 0, false
			}
			for _, i := range list {
				if s.within && int64(s.from) < i && i < int64(s.to) {
					at = append(at, int(i))
				}
			}
		}
		slices.Sort(at)
		at = slices.Compact(at)
		for k, from := range at[:len(at)-1] {
			p := stretch{from, at[k+1], false, 0}
			i := int64(from)
			if x, same := b.Outcome(low.a*i+low.b, high.a*i+high.b, size.b); same && s.within {
				p.within, of[from] = true, x
				count[x] += p.to - from
			}
			cut = append(cut, p)
		}
	}
	most := 0
	for _, p := range cut {
		if x := of[p.from]; p.within && count[x] > most {
			outcome, most = x, count[x]
		}
	}
	joined := cut[:0]
	for _, p := range cut {
		p.within = p.within && of[p.from] == outcome
		if k := len(joined) - 1; k >= 0 && joined[k].within == p.within {
			joined[k].to = p.to
		} else {
			joined = append(joined, p)
		}
	}
	if most < n-n/4 || len(joined) > mostStretches || n < least*len(joined) && len(joined) > len(*list) {
		return 0, false
	}
	*list = joined
	c.reads |= low.reads | high.reads | size.reads
	return outcome, true
}

// cutBy makes workers use cuts, where they pay.
func (r *Run) cutBy(c *cuts) {
	if r.cuts = nil; c == nil || r.wide > 0 || r.made.layout&lanesFirst != 0 && c.rows[len(c.rows)-1].to < leastStretch*len(c.rows) {
		return
	}
	if t, err := Target(); err != nil || t == Interp {
		return
	}
	r.cuts, r.core = c, r.made
	r.core.core = c.core
}

// Told proves that all accesses are inside after Word has told other integers, which the operands
// of the run have, too. It also moves the code for most points to where these integers put it. It
// is wrong for a run with several workers.
func (w *Worker) Told() (inside bool) {
	r, old := w.run, w.run.core
	if !r.Inside() {
		return false
	}
	if r.cuts != nil && !w.moved {
		return true
	}
	if r.cutBy(r.loop.cutsOf(r.in, r.Varies)); r.cuts == nil || r.core != old {
		w.freeCore()
	}
	w.freeEdges()
	w.moved = false
	w.told++
	return true
}

// askFrom is how many points a worker evaluates before it asks whether there is code for those within.
const askFrom = 1 << 12

// cut reports whether a window of so many points is evaluated by both codes, and gets the second one.
func (w *Worker) cut(points int) bool {
	if w.core != nil || w.moved || w.run.cuts == nil {
		return w.core != nil && !w.moved
	}
	if w.seen += points; w.seen < min(askFrom, FixedFrom) {
		return false
	}
	return w.getCore()
}

// getCore gets the worker of the code for the points within, if there is such code or it is worth
// making.
func (w *Worker) getCore() bool {
	r := w.run
	met := r.loop.meet(r.core, w.seen)
	if w.seen = 0; !met {
		return false
	}
	if w.core = w.other(r.core); w.core == nil {
		w.moved = true // the code for all points serves
		return false
	}
	return true
}

// other gets a worker that runs another version of the loop on the operands of the run. It returns nil
// if there is no code for it.
func (w *Worker) other(made version) *Worker {
	v, err := w.run.loop.variant(made)
	if err != nil {
		return nil
	}
	room, err := v.code.ScratchFor(w.run.args)
	if err != nil {
		return nil
	}
	x, ok := v.idle.Get().(*Worker)
	if !ok {
		x = v.code.worker()
	}
	x.run, x.variant = w.run, v
	x.scratch(room)
	return x
}

// edge returns the worker for a stretch that is not within; k is its stretch.edge. It counts the rows
// and columns that are evaluated there: until enough have been, w runs them.
func (w *Worker) edge(k, rows, cols int) *Worker {
	if k == 0 {
		return w
	}
	for len(w.edges) < k {
		w.edges = append(w.edges, edge{})
	}
	e := &w.edges[k-1]
	if e.on == nil && !e.none {
		made := w.run.core
		made.core = w.run.cuts.edges[k-1]
		if !w.run.loop.pays(made, rows*max(cols, leastStretch)) {
			return w
		}
		e.on = w.other(made)
		e.none = e.on == nil
	}
	if e.on == nil {
		return w
	}
	copy(e.on.args[firstOperand:], w.args[firstOperand:][:len(w.run.args)])
	return e.on
}

// freeCore gives the workers of other versions back to their pools.
func (w *Worker) freeCore() {
	w.core.giveBack()
	w.core = nil
	w.freeEdges()
}

// freeEdges gives the workers for edges back to their pools.
func (w *Worker) freeEdges() {
	for _, e := range w.edges {
		e.on.giveBack()
	}
	clear(w.edges)
	w.edges = w.edges[:0]
}

// giveBack returns a worker from other to the pool of its variant. x may be nil.
func (x *Worker) giveBack() {
	if x != nil {
		v := x.variant
		x.run, x.variant = nil, nil
		clear(x.args[firstOperand:])
		v.idle.Put(x)
	}
}

// stretched evaluates a window by both codes.
func (w *Worker) stretched(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	c, x := w.run.cuts, w.core
	copy(x.args[firstOperand:], w.args[firstOperand:][:len(w.run.args)]) // as Place and Scalar say
	for _, p := range c.rows {
		i0, i1 := max(r0, p.from), min(r1, p.to)
		for _, q := range c.cols {
			j0, j1, on, edge := max(l0, q.from), min(l1, q.to), x, q.edge
			if !p.within {
				j0, j1, edge = l0, l1, p.edge
			}
			if i0 < i1 && j0 < j1 {
				if !p.within || !q.within {
					on = w.edge(edge, i1-i0, j1-j0)
				}
				if flagged, err = on.points1(i0, i1, j0, j1, stopped); flagged || err != nil {
					return flagged, err
				}
			}
			if !p.within {
				break
			}
		}
	}
	w.rounds, x.rounds = w.rounds+x.rounds, 0
	for _, e := range w.edges {
		if e.on != nil {
			w.rounds, e.on.rounds = w.rounds+e.on.rounds, 0
		}
	}
	return false, nil
}
