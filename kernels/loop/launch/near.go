package launch

// This file sums numbers of about one size at half the cost of a cascade (loop.NearLevels).

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// set stores the exponents of the greatest numbers of a sample. top has one for each reduced result.
func (s *sizes) set(top []float64) {
	for k, v := range top {
		_, e := math.Frexp(v)
		s.exps[k].Store(int32(e))
	}
	s.known.Store(true)
}

// sumsNear reports whether a nest adds floats to sums of one element each, one number a point: to sums
// of all points, or of rows (rows). Several numbers a point would be wrong: each would have a state
// that begins with the words in memory. So would sums by key, whose words in memory change with every
// number.
func sumsNear(n *loop.Nest) (sums, rows bool) {
	others, seen := false, uint64(0)
	extents := map[extent]bool{}
	reduces := func(s *loop.Stmt) bool { return s.Code == loop.Reduce }
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case reduces(s):
			e, _ := extentOfOne(n, s)
			r := n.Results[s.Mem.N]
			switch extents[e] = true; {
			case e == oneInAll:
				sums = sums || r.Class == loop.Sum && r.Elem.IsFloat()
			case e == oneEach && s.At[1].Equal(loop.Num(0)) && r.Cols.Equal(loop.Num(1)):
				sums = sums || (r.Class == loop.Sum || r.Class == loop.Mean) && r.Elem == types.F64
			default:
				others = true
			}
			others = others || seen>>s.Mem.N&1 != 0
			seen |= 1 << s.Mem.N
		case s.Loop != nil:
			others = others || loop.Some(s.Loop.Body.Stmts, reduces)
		}
	})
	if rows = extents[oneEach]; rows {
		r := n.Space[1].Range
		cols := r.To.Plus(r.From.Times(-1))
		direct := 0 // what a branch contributes to a mean would not be counted
		for i := range n.Body.Stmts {
			if reduces(&n.Body.Stmts[i]) {
				direct++
			}
		}
		// The rows of fewer columns may be lanes: see schedule.
		others = others || direct != bits.OnesCount64(seen) || r.By != 1 || !cols.Known() || cols.Const < FewColumns || cols.Const > loop.NearMost
	}
	return sums && !others && len(extents) == 1, rows
}

// manyDoubts: if more than 1/manyDoubts of the rows of a window are in doubt, all rows are summed again
// together.
const manyDoubts = 4

// nearRows runs a window of whole rows with sums for numbers of about one size. Rows in doubt run again
// as cascades. The size is 1 until many rows of a window are in doubt. Then it follows from the sums of
// that window. It may be wrong for numbers that cancel, or whose size differs from row to row. Most
// windows of such rows run as cascades.
func (w *Worker) nearRows(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	sizes, depth := &w.run.loop.sizes, &w.run.loop.depth
	first := depth.Next()
	if first >= unsizedRows || w.run.Overwrites { // no row can run again
		_, flagged, err = w.tries(max(first, unsizedRows), r0, r1, l0, l1, stopped)
		return flagged, err
	}
	for k := range w.parts {
		w.parts[k].size = int(sizes.exps[k].Load())
	}
	w.bindParts(w, false, r0, r1, l0, l1)
	if flagged, err = w.window(r0, r1, l0, l1, stopped); flagged || err != nil {
		return flagged, err
	}
	w.doubts = w.doubts[:0]
	for k := range w.run.reduced {
		r, p := &w.run.reduced[k], &w.parts[k]
		if at := (r0 + int(r.offset)) * r.out.Stride; r.fast.Bound() {
			w.doubts = r.fast.Nearest(r.out.F64[at:], r.out.Stride, p.words, l1-l0, p.size, w.doubts)
			continue
		}
		if r.exact() {
			for i, lost := range p.watched(r, r.fast, l0, l1) {
				if lost<<1 != 0 {
					w.doubts = append(w.doubts, i)
				}
			}
		}
		p.take(r, r.fast, p.words, r0)
	}
	slices.Sort(w.doubts)
	if w.doubts = slices.Compact(w.doubts); len(w.doubts)*manyDoubts <= r1-r0 {
		w.alone = true
		for k := 0; k < len(w.doubts) && !flagged && err == nil; k++ {
			i := r0 + w.doubts[k]
			_, flagged, err = w.tries(unsizedRows, i, i+1, l0, l1, stopped)
		}
		w.alone = false
		return flagged, err
	}
	depth.Raise(unsizedRows)
	if _, flagged, err = w.tries(unsizedRows, r0, r1, l0, l1, stopped); flagged || err != nil {
		return flagged, err
	}
	for k := range w.run.reduced {
		r, top := &w.run.reduced[k], 0.0
		if !r.fast.Bound() {
			continue
		}
		for i := r0; i < r1; i++ {
			if x := math.Abs(r.out.F64[(i+int(r.offset))*r.out.Stride]); x <= math.MaxFloat64 {
				top = max(top, x)
			}
		}
		if r.class == loop.Mean {
			top *= float64(l1 - l0)
		}
		_, e := math.Frexp(top)
		sizes.exps[k].Store(int32(e - sumsSize))
	}
	return false, nil
}

// sumsSize is the assumed distance from the exponent of the numbers to that of their sum, where sums
// tell the size of the numbers. Most rows are then sure if their sums are at most 2^11 times as large
// or as small.
const sumsSize = 8

// sampled is how many points at each end of a row tell the size of what others add.
const sampled = 32

// nearWindows runs a window whose sums take numbers of about one size. While that size is not known, it
// runs some points at both ends of a row as windows of their own. Each part is one call into machine
// code, because such sums replace the words that they began with.
func (w *Worker) nearWindows(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	s, depth, lanes := &w.run.loop.sizes, &w.run.loop.depth, min(l1-l0, loop.NearCount)
	if w.run.loop.crosses {
		lanes = min(lanes, blockLanes)
	}
	rows := loop.NearCount / lanes
	if w.run.made.layout&lanesFirst != 0 {
		rows = min(rows, NearRows(l1-l0))
	}
	for to := r0; r0 < r1; r0 = to {
		j, end := l0, l1
		if to = min(r0+rows, r1); !s.known.Load() {
			top := make([]float64, len(w.parts))
			for to = r0 + 1; j < min(l0+sampled, end); {
				at := j
				if j++; j-l0 > l1-end+1 { // as many at the end: elements may grow along the row
					j, end = j-1, end-1
					at = end
				}
				if _, flagged, err = w.tries(unsized, r0, to, at, at+1, stopped); flagged || err != nil {
					return flagged, err
				}
				for k, p := range w.parts {
					top[k] = max(top[k], p.last)
				}
			}
			s.set(top)
		}
		for ; j < end; j += lanes {
			for k := range w.parts {
				w.parts[k].size = int(s.exps[k].Load())
			}
			first := depth.Next()
			last, flagged, err := w.tries(first, r0, to, j, min(j+lanes, end), stopped)
			if flagged || err != nil {
				return flagged, err
			}
			if last > first {
				s.known.Store(false)
			}
		}
	}
	return false, nil
}

// reduce runs a window of a nest with reduced results. If its sums lose bits, it runs the window again
// with more levels. Of results that lose nothing it keeps what the first run gave.
func (w *Worker) reduce(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	first, sums := 0, false
	for k := range w.run.reduced {
		r := &w.run.reduced[k]
		if r.extent == oneEach && (l0 > w.run.lanes[0] || l1 < w.run.lanes[1]) {
			return false, fmt.Errorf("BUG: a window of lanes %d to %d of %v, and result %d is of whole rows", l0, l1, w.run.lanes, r.result)
		}
		sums = sums || r.exact()
	}
	switch {
	case w.run.loop.nearRows:
		return w.nearRows(r0, r1, l0, l1, stopped)
	case w.run.loop.near:
		return w.nearWindows(r0, r1, l0, l1, stopped)
	}
	if sums {
		first = w.run.loop.depth.Next()
	}
	_, flagged, err = w.tries(first, r0, r1, l0, l1, stopped)
	return flagged, err
}

// beyondFirst is the place of the levels for a window after one for which all levels were too few. If
// these are too few again, more levels mostly are, too, and they cost several times as much.
const beyondFirst = 1

// tries runs a window with the levels at place first, and again with more levels as long as its sums
// lose bits. last is the place of the levels of the last run.
func (w *Worker) tries(first, r0, r1, l0, l1 int, stopped func() bool) (last int, flagged bool, err error) {
	list, l := w.run.reduced, w.run.loop
	d, lost := w, true
	beyond := first == len(l.levels)
	if beyond {
		if first = len(l.levels) - 1; w.Doubted != nil {
			first = beyondFirst
		}
	}
	for at := first; lost; at++ {
		next, err := w.atDepth(at)
		if err != nil && at > first { // there is no code for so many levels
			break
		} else if err != nil {
			return at, false, err
		}
		d, last = next, at
		w.bindParts(d, at > first, r0, r1, l0, l1)
		if flagged, err := d.window(r0, r1, l0, l1, stopped); flagged || err != nil {
			return at, flagged, err
		}
		few := true
		if lost, few = w.loses(d, l0, l1); few || beyond {
			break
		}
		if !w.alone {
			l.depth.Raise(at + 1)
		}
		if w.run.Overwrites || at+1 == len(l.levels) {
			break
		}
	}
	if lost && w.Doubted == nil {
		return last, false, ErrInexact
	}
	for k := range list {
		r, p := &list[k], &w.parts[k]
		if !r.exact() {
			p.take(r, r.fast, p.words, r0)
			continue
		}
		if r.kept {
			if err = w.retain(k, d, lost, r0, r1, l0, l1); err != nil {
				return last, false, err
			}
			continue
		}
		st := d.state(r)
		p.last = math.Abs(math.Float64frombits(d.parts[k].words[0]))
		switch {
		case !lost || lostOf(d.parts[k].watched(r, st, l0, l1)) == 0:
			p.take(r, st, d.parts[k].words, r0)
		default:
			err = w.doubt(k, r0, r1, l0, l1)
		}
		if err != nil {
			return last, false, err
		}
	}
	return last, false, nil
}
