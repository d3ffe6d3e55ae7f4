package launch

// This file runs the points within borders by code without the conditions that tell the borders: most points
// of a space meet the same sides of conditions such as `i > 0` and `j == n - 1`. Lanes evaluate both sides
// of a condition, and read their operands by masks.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
)

// cuts says where in its space a loop meets the same side of conditions.
type cuts struct {
	rows, cols []stretch // one after the other; those of columns hold in rows that are within
	// decided marks borders of the loop whose conditions are decided within, a bit each, and truths their
	// values.
	decided, truths uint64
	reads           uint64 // the operands that the cuts depend on
}

// stretch is the indices from from to to-1. within: they meet the same sides as most.
type stretch struct {
	from, to int
	within   bool
}

const (
	// mostBorders is the most conditions that are looked at.
	mostBorders = 32
	// mostStretches is the most stretches of an index, and leastStretch how many columns they have on
	// average, at least: a vector at a border takes as long as several within.
	mostStretches, leastStretch = 9, 16
	// leastWithin is the least number of points that borders are looked for in.
	leastWithin = 1 << 8
)

// bordersOf returns the conditions that may hold alike for most points of n. Code for these has no states of
// reduced results.
func bordersOf(n *loop.Nest) []loop.Border {
	reduced := slices.ContainsFunc(n.Results, func(r loop.Result) bool { return r.Class != loop.NoClass })
	if list := loop.Borders(n, nil); !reduced && len(n.Space) > 0 && len(list) <= mostBorders {
		return list
	}
	return nil
}

// cutsOf returns the cuts of a run; nil if conditions cut nothing off. Operands in varies may have other
// values in each window.
func (l *Loop) cutsOf(in []value.Value, varies uint64) *cuts {
	if len(l.borders) == 0 || l.small {
		return nil
	}
	rows, cols, two := extents(l.nest, in)
	if rows*cols < leastWithin {
		return nil
	}
	c := &cutter{loop: l, in: in, varies: varies, known: map[loop.Val]bool{}, lanes: l.nest.Space[len(l.nest.Space)-1].Name}
	c.rows = []stretch{{0, 1, true}}
	if two {
		c.rows = c.stretches(l.borders, l.nest.Space[0].Name, rows, 1)
	}
	left := l.borders
	if len(c.known) > 0 {
		left = loop.Borders(l.nest, c.known)
	}
	c.cols = c.stretches(left, c.lanes, cols, leastStretch)
	if c.decided == 0 {
		return nil
	}
	return &c.cuts
}

// cutter finds cuts.
type cutter struct {
	cuts
	loop   *Loop
	in     []value.Value
	varies uint64
	known  map[loop.Val]bool // the conditions that are decided
	lanes  int               // the name of the index of the lanes
}

// form returns the border's form as a*index + b, where it depends on no other index.
func (c *cutter) form(f loop.Lin, index int) (a, b int64, ok bool) {
	b = f.Const
	for _, t := range f.Terms {
		x := int64(0)
		switch t.Sym.Kind {
		case loop.IndexSym:
			if t.Sym.N != index {
				return 0, 0, false
			}
			a = t.Coef
			continue
		case loop.ParamSym:
			s, is := c.in[t.Sym.N].(value.Scalar)
			if !is || c.varies>>t.Sym.N&1 != 0 || s.I != min(max(s.I, -wide), wide) {
				return 0, 0, false
			}
			x = s.I
			c.reads |= 1 << t.Sym.N
		case loop.RowsSym:
			x = int64(c.in[t.Sym.N].Type().Rows)
		default:
			x = int64(c.in[t.Sym.N].Type().Cols)
		}
		b += t.Coef * x
	}
	return a, b, a != 0
}

// stretches cuts the indices 0 to n-1 where the values of borders change that depend on this index alone, and
// decides these for the stretches that are within. Each stretch has at least so many indices on average.
func (c *cutter) stretches(borders []loop.Border, index, n, least int) []stretch {
	type line struct {
		bit  int
		a, b int64
	}
	var lines []line
	at := []int{0, n}
	for k := range borders {
		b := &borders[k]
		bit := slices.IndexFunc(c.loop.borders, func(x loop.Border) bool { return x.Val == b.Val })
		a, x, ok := c.form(b.Form, index)
		if !ok || bit < 0 {
			continue
		}
		lines = append(lines, line{bit, a, x})
		for _, i := range b.Changes(a, x) {
			if 0 < i && i < int64(n) {
				at = append(at, int(i))
			}
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	all := []stretch{{0, n, true}}
	if len(at) > mostStretches || n < least*(len(at)-1) || len(lines) == 0 {
		return all
	}
	list, values, count := make([]stretch, len(at)-1), make([]uint64, len(at)-1), map[uint64]int{}
	for k := range list {
		list[k] = stretch{from: at[k], to: at[k+1]}
		for _, x := range lines {
			if c.loop.borders[x.bit].Truth(x.a*int64(at[k]) + x.b) {
				values[k] |= 1 << x.bit
			}
		}
		count[values[k]] += at[k+1] - at[k]
	}
	best := values[0]
	for _, v := range values {
		if count[v] > count[best] {
			best = v
		}
	}
	if count[best] < n-n/4 {
		return all
	}
	for k := range list {
		list[k].within = values[k] == best
	}
	for _, x := range lines {
		c.decided |= 1 << x.bit
		c.known[c.loop.borders[x.bit].Val] = best>>x.bit&1 != 0
	}
	c.truths |= best
	return list
}

// within returns the nest for the points within.
func (l *Loop) within(decided, truths uint64) *loop.Nest {
	known := map[loop.Val]bool{}
	for k, b := range l.borders {
		if decided>>k&1 != 0 {
			known[b.Val] = truths>>k&1 != 0
		}
	}
	return loop.Decided(l.nest, known)
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
	r.core.decided, r.core.truths = c.decided, c.truths
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

// getCore gets the worker of the code for the points within, if there is such code or it is worth making.
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
