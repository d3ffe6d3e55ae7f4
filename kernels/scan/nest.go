package scan

// This file runs running reductions as loops. Each line of a matrix is one chain: a step waits for
// the one before it. So the columns of a matrix are lanes, and one column is a scalar chain. Rows
// are computed in Go (scan.go): a loop whose lanes are rows would gather, and eight scalar chains
// side by side took 1.2 to 1.8 times as long as two in Go.

import (
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// scanForm is the way in which a nest goes over a matrix.
type scanForm uint8

const (
	scanColumns scanForm = iota // lanes are columns, and each goes down
	scanStrip                   // lanes are columns, row after row
	scanColumn                  // one column
)

const (
	// scanRounds is how many elements of a line a round takes where there are as many.
	scanRounds = 4
	// scanWide is from how many columns on rows are done one after the other: whole rows are read
	// as fast as memory gives them, and columns that go down by themselves took 1.4 times as long.
	// A row must be longer than what a target computes at once: up to four vectors. scanWideBools is for
	// bools, whose vectors have up to 64 lanes.
	scanWide      = 64
	scanWideBools = 8 * scanWide
	// scanStored is the most elements of a launch of such rows: what is stored past the caches
	// would not be there for the next row.
	scanStored = 1 << 20
	// scanPiece is how many elements of some columns are done before the next columns: they stay in
	// a second-level cache.
	scanPiece = 1 << 15
	// scanOperations is how many operations an element takes: see launch.Steps.
	scanOperations = 4
)

// scanStep writes the next running value of a line.
type scanStep func(b *loop.Builder, s, x loop.Val) loop.Val

// scanner runs a row as nests, one for each form and pair of element types. It is safe for
// concurrent use.
type scanner struct {
	step scanStep
	seen launch.Steps
	made define.Made[scanKey, *launch.Loop]
	idle sync.Pool // of *scanRun
}

type scanKey struct {
	form    scanForm
	rounds  int // elements of a line that a round takes
	in, out types.Elem
}

// scanRun is one launch.
type scanRun struct {
	run            launch.Run
	x, before, out value.Dense
	in             [2]value.Value
	to             [1]*value.Dense
}

// scanNest writes a form. Its operands are the elements behind the first ones and the running
// values before them.
func scanNest(k scanKey, step scanStep) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, dense.Storage(k.in))}
	before := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, dense.Storage(k.out))}
	rows, cols := loop.Of(loop.RowsSym, x.N), loop.Of(loop.ColsSym, x.N)
	out := loop.Mem{Kind: loop.ResultMem, N: b.Result(dense.Storage(k.out), rows, cols)}
	next := func(s loop.Val, i, j loop.Lin) loop.Val {
		s = step(b, s, define.ConvertBody(b, dense.Storage(k.out), b.Load(x, i, j)))
		b.Store(out, i, j, s)
		return s
	}
	// over is a loop over 0, by, .. of n, a multiple of by.
	over := func(n loop.Lin, by int, state []loop.Val, body func(at loop.Lin, state []loop.Val) []loop.Val) []loop.Val {
		index := loop.Index{Name: b.Name("k"), Range: loop.Range{Kind: loop.Steps, To: n.Plus(loop.Num(int64(1 - by))), By: int64(by)}}
		return b.For(index, state, func(c []loop.Val) []loop.Val { return body(loop.Of(loop.IndexSym, index.Name), c) })
	}
	plus := func(l loop.Lin, k int) loop.Lin { return l.Plus(loop.Num(int64(k))) }
	zero := loop.Num(0)
	switch k.form {
	case scanColumns:
		j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
		over(rows, 1, []loop.Val{b.Load(before, zero, j)}, func(i loop.Lin, s []loop.Val) []loop.Val {
			return []loop.Val{next(s[0], i, j)}
		})
	case scanStrip:
		// The rows before are those of the result: a window takes its rows in order.
		i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
		j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
		next(b.Load(before, i, j), i, j)
	case scanColumn:
		over(rows, k.rounds, []loop.Val{b.Load(before, zero, zero)}, func(i loop.Lin, s []loop.Val) []loop.Val {
			v := s[0]
			for c := range k.rounds {
				v = next(v, plus(i, c), zero)
			}
			return []loop.Val{v}
		})
	}
	return b.Done()
}

// part runs a form on rows x cols elements from (i, j) on. It reports whether a target runs it.
func (s *scanner) part(r *scanRun, form scanForm, rounds int, out, a *value.Dense, i, j, rows, cols int) bool {
	if rows <= 0 || cols <= 0 {
		return true
	}
	a.Window(&r.x, i, j, rows, cols)
	out.Window(&r.out, i, j, rows, cols)
	points := [2]int{1, 1}
	switch form {
	case scanStrip:
		out.Window(&r.before, i-1, j, rows, cols)
		points = [2]int{rows, cols}
	case scanColumns:
		out.Window(&r.before, i-1, j, 1, cols)
		points[1] = cols
	case scanColumn:
		out.Window(&r.before, i-1, j, 1, 1)
	}
	r.in[0], r.in[1], r.to[0] = &r.x, &r.before, &r.out
	k := scanKey{form, rounds, a.Elem, out.Elem}
	_, err := s.made.Of(k, func() *launch.Loop { return launch.New(scanNest(k, s.step)) }).Alone(&r.run, r.in[:], r.to[:], points[0], points[1])
	return err == nil
}

// down runs all columns, of which the first row is there.
func (s *scanner) down(r *scanRun, out, a *value.Dense) bool {
	if a.Cols == 1 {
		n := a.Rows - 1
		whole := n / scanRounds * scanRounds
		return s.part(r, scanColumn, scanRounds, out, a, 1, 0, whole, 1) && s.part(r, scanColumn, 1, out, a, 1+whole, 0, n-whole, 1)
	}
	form, rows := scanColumns, max(16, scanPiece/a.Cols)
	if a.Cols >= scanWideBools || a.Cols >= scanWide && out.Elem != types.Bool {
		form, rows = scanStrip, max(1, scanStored/a.Cols)
	}
	for i := 1; i < a.Rows; i += rows {
		if !s.part(r, form, 1, out, a, i, 0, min(rows, a.Rows-i), a.Cols) {
			return false
		}
	}
	return true
}

// scan writes the running values of all columns of a, whose first elements are in out. It reports
// whether it did: not as long as little work has been seen, and not on a target that takes longer
// for a step of one element than a call takes.
func (s *scanner) scan(out, a *value.Dense) bool {
	if !s.seen.Pay(int64(a.Rows)*int64(a.Cols), func() int { return scanOperations }) {
		return false
	}
	if t, err := launch.Target(); err != nil || t == launch.Interp {
		return false
	}
	r, ok := s.idle.Get().(*scanRun)
	if !ok {
		r = &scanRun{}
	}
	done := s.down(r, out, a)
	r.x, r.before, r.out = value.Dense{}, value.Dense{}, value.Dense{}
	s.idle.Put(r)
	if done {
		launch.Begun.Add(1)
	}
	return done
}

// scanElements writes the running values of a matrix of the body into its memory.
func scanElements(e *op.Elements, byRow bool, step scanStep) op.Element {
	x, elem := e.In[0], dense.Storage(e.Out.Elem)
	if !x.Rows.Known() || !x.Cols.Known() || x.Rows.Const == 0 || x.Cols.Const == 0 {
		return nil
	}
	lines, n := int(x.Cols.Const), int(x.Rows.Const)
	if byRow {
		lines, n = n, lines
	}
	return e.Laid(func(store func(i, j loop.Lin, v loop.Val)) {
		line := func(k loop.Lin) {
			at := func(i loop.Lin) (r, c loop.Lin) {
				if byRow {
					return k, i
				}
				return i, k
			}
			next := func(i loop.Lin, s loop.Val) loop.Val {
				r, c := at(i)
				v := define.ConvertBody(e.B, elem, x.At(r, c))
				if s != loop.NoVal {
					v = step(e.B, s, v)
				}
				store(r, c, v)
				return v
			}
			s := next(loop.Num(0), loop.NoVal)
			if lines*n <= define.Unrolled {
				for i := 1; i < n; i++ {
					s = next(loop.Num(int64(i)), s)
				}
				return
			}
			if n > 1 {
				e.Rounds(n-1, []loop.Val{s}, func(i loop.Lin, s []loop.Val) []loop.Val {
					return []loop.Val{next(i.Plus(loop.Num(1)), s[0])}
				})
			}
		}
		if lines <= define.WrittenLines {
			for k := range lines {
				line(loop.Num(int64(k)))
			}
			return
		}
		e.Rounds(lines, nil, func(k loop.Lin, _ []loop.Val) []loop.Val { line(k); return nil })
	})
}
