package launch

// This file sums numbers of about one size at half the cost of a cascade (loop.NearLevels).

import (
	"math"
	"sync/atomic"

	"flow/ir/loop"
)

// sizes is of what size the numbers are that a loop adds to each reduced result: they have a magnitude of
// about 2^e, or less. It changes only speed.
type sizes struct {
	known atomic.Bool
	exps  []atomic.Int32
}

// set notes the sizes of the greatest numbers that were seen.
func (s *sizes) set(top []float64) {
	for k, v := range top {
		_, e := math.Frexp(v)
		s.exps[k].Store(int32(e))
	}
	s.known.Store(true)
}

// sumsNear reports a nest that adds floats to sums, of which each is one element and takes one number of a
// point. Several numbers would be states that all begin with the words in memory.
func sumsNear(n *loop.Nest) bool {
	sums, others, seen := false, false, uint64(0)
	reduces := func(s *loop.Stmt) bool { return s.Code == loop.Reduce }
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case reduces(s):
			e, _ := extentOfOne(n, s)
			r := n.Results[s.Mem.N]
			sums, others = sums || r.Class == loop.Sum && r.Elem.IsFloat(), others || e != oneInAll || seen>>s.Mem.N&1 != 0
			seen |= 1 << s.Mem.N
		case s.Loop != nil:
			others = others || loop.Some(s.Loop.Body.Stmts, reduces)
		}
	})
	return sums && !others
}

// sampled is how many points at each end of a row tell the size of what others add.
const sampled = 32

// nearWindows runs a window whose sums take numbers of about one size. Where that is not known, points are
// windows of their own. Each part is one call into machine code, as such sums put what they have in the place
// of the words that they began with.
func (w *Worker) nearWindows(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	s, depth, rows := &w.run.loop.sizes, &w.run.loop.depth, max(1, loop.NearCount/(l1-l0))
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
		for ; j < end; j += loop.NearCount {
			for k := range w.parts {
				w.parts[k].size = int(s.exps[k].Load())
			}
			first := depth.Next()
			last, flagged, err := w.tries(first, r0, to, j, min(j+loop.NearCount, end), stopped)
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
