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
	c.rows, c.cols, c.core = []stretch{{0, rows, true}}, []stretch{{0, cols, true}}, l.core
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
	return &c.cuts
}

// cutter finds cuts.
type cutter struct {
	cuts
	hull // operands alone
}

// next returns the nest for points of the core where borders of an index are decided, or nil.
func (c *cutter) next(l *Loop, index int, list *[]stretch, least int) *core {
	outcomes, key := map[int]int64{}, make([]byte, len(c.core.borders))
	for k := range c.core.borders {
		if x, ok := c.decide(&c.core.borders[k], index, list, least); ok {
			outcomes[k], key[k] = x, byte(x)^0x80
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := c.core.next[string(key)]
	if next == nil && len(outcomes) > 0 && l.cores < mostCores {
		l.cores++
		next = coreOf(loop.Decided(c.core.nest, c.core.borders, outcomes))
		c.core.next[string(key)] = next
	}
	return next
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
	low, ok1 := c.line(b.Low, index)
	high, ok2 := c.line(b.High, index)
	size, ok3 := c.line(b.Size, index)
	if !ok1 || !ok2 || !ok3 || low.a == 0 && high.a == 0 || size.b <= 0 {
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
			p := stretch{from, at[k+1], false}
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
	w.moved = false
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
	r, l := w.run, w.run.loop
	met := l.meet(r.core, w.seen)
	if w.seen = 0; !met {
		return false
	}
	v, err := l.variant(r.core)
	if err != nil {
		w.moved = true // the code for all points serves
		return false
	}
	room, err := v.code.ScratchFor(r.args)
	if err != nil {
		w.moved = true
		return false
	}
	x, ok := v.idle.Get().(*Worker)
	if !ok {
		x = v.code.worker()
	}
	x.run, x.variant = r, v
	x.scratch(room)
	w.core = x
	return true
}

// freeCore gives it back.
func (w *Worker) freeCore() {
	if x := w.core; x != nil {
		v := x.variant
		x.run, x.variant, w.core = nil, nil, nil
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
			j0, j1, on := max(l0, q.from), min(l1, q.to), w
			switch {
			case !p.within:
				j0, j1 = l0, l1
			case q.within:
				on = x
			}
			if i0 < i1 && j0 < j1 {
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
	return false, nil
}
