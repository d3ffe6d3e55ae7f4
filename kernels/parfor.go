package kernels

// This file defines the row `parfor`: its index space, its definition, and how its kernel is run in
// chunks: as a nest (nest_loop.go), or one iteration after the other (parfor_each.go).

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// parforLoop is a parfor as a loop over its first index.
var parforLoop = &op.Loop{Space: parforSpace, Group: parforGroup, Points: true, Rows: op.RowsOfResult, Begin: beginParfor,
	RowsEach: func(c *op.Call) (rows, iterations int) {
		if c.Attrs.Ints("lo") == nil || c.Attrs.Bool("pairs") {
			return 0, 0
		}
		return 1, 1
	}}

// indexSpace is the points of a parfor: index d goes lo, lo + by, .. for n values. The first lead
// inputs are bounds.
type indexSpace struct {
	dims      int
	lo, by, n [2]int
	lead      int
}

func spaceOf(c *op.Call) (s indexSpace) {
	by := c.Attrs.Ints("by")
	s.dims = len(by)
	lo, n, through := c.Attrs.Ints("lo"), c.Attrs.Ints("n"), c.Attrs.Ints("through")
	for d := range by {
		s.by[d] = int(by[d])
		if lo != nil {
			s.lo[d], s.n[d] = int(lo[d]), int(n[d])
			continue
		}
		s.lead = 2 * s.dims
		a, b := c.Scalar(2*d).I, c.Scalar(2*d+1).I
		s.lo[d] = int(a)
		s.n[d] = steps(a, b, by[d], through != nil && through[d] == 1)
	}
	return s
}

// steps is how many values a, a + by, .. come before b, or not after it where b is included; the
// greatest int if there are more. With a negative by they descend.
func steps(a, b, by int64, included bool) int {
	if by < 0 {
		a, b, by = b, a, -by
	}
	if b < a || b == a && !included {
		return 0
	}
	span := uint64(b) - uint64(a) // without a sign it does not overflow
	if !included {
		span--
	}
	return int(min(span/uint64(by), math.MaxInt-1) + 1)
}

// at is the index of dimension d at position k.
func (s *indexSpace) at(d, k int) int64 { return int64(s.lo[d] + k*s.by[d]) }

// width is how many points lie under one value of the first index.
func (s *indexSpace) width() int {
	if s.dims == 2 {
		return s.n[1]
	}
	return 1
}

// lanes is how many points the last index has.
func (s *indexSpace) lanes() int { return s.n[s.dims-1] }

// bounds are the operands of loops that say where an index begins, and how many values it has.
func (s *indexSpace) bounds(d int) []value.Value {
	return []value.Value{value.I64(int64(s.lo[d])), value.I64(int64(s.n[d]))}
}

// result is the type of the result. One that only the run knows and that no memory holds is a
// failure.
func (s *indexSpace) result(c *op.Call) (types.Type, error) {
	t := c.Type
	if t.Known() {
		return t, nil
	}
	t.Rows = s.n[0]
	if s.dims == 2 {
		t.Cols = s.n[1]
	}
	return t, define.Fits(t)
}

// failed is err, which an iteration gave, with the values of the indices.
func (s *indexSpace) failed(c *op.Call, err error, at ...int64) error {
	var f *op.Failure
	if !errors.As(err, &f) {
		return err
	}
	if c.Attrs.Bool("pairs") {
		a, k := c.Dense(s.lead), int(at[0])
		at = []int64{a.At(k, 0).I, a.At(k, 1).I}
	}
	var p []string
	for d, name := range strings.Fields(c.Attrs.Str("names")) {
		p = append(p, fmt.Sprintf("%s = %d", name, at[d]))
	}
	g := *f
	g.Msg += " (at " + strings.Join(p, ", ") + ")"
	var inner *op.BodyFailure
	if errors.As(err, &inner) {
		return &op.BodyFailure{Failure: &g, Path: inner.Path}
	}
	return &g
}

// point evaluates the body at one point by definition.
func (s *indexSpace) point(c *op.Call, i, j int) (value.Value, error) {
	at := []int64{s.at(0, i)}
	if s.dims == 2 {
		at = append(at, s.at(1, j))
	}
	var args []value.Value
	for _, x := range at {
		args = append(args, value.I64(x))
	}
	out, err := c.Bodies[0].Eval(append(args, c.In[s.lead:]...), c)
	if err != nil {
		return nil, s.failed(c, err, at...)
	}
	return out[0], nil
}

// parforRef evaluates the body at every point, in order.
func parforRef(c *op.Call) (value.Value, error) {
	s := spaceOf(c)
	t, err := s.result(c)
	if err != nil {
		return nil, err
	}
	out := value.New(t.Elem, t.Rows, t.Cols)
	for i := range s.n[0] {
		for j := range s.width() {
			v, err := s.point(c, i, j)
			if err != nil {
				return nil, err
			}
			if row, is := v.(*value.Dense); is {
				for k := range row.Cols {
					out.Set(i, k, row.At(0, k))
				}
			} else {
				out.Set(i, j, v.(value.Scalar))
			}
		}
	}
	return out, nil
}

// parforSpace is the space of the first index. Rows of a matrix of scalars are worth a chunk each;
// single scalars are taken 256 at a time where there are many.
func parforSpace(c *op.Call) (n, leaf int) {
	s := spaceOf(c)
	if _, err := s.result(c); err != nil {
		return 0, 0 // the kernel says why
	}
	if s.dims == 2 || c.Bodies[0].Type().Kind != types.Scalar {
		return s.n[0], 1
	}
	return s.n[0], min(max(1, s.n[0]/64), 256)
}

// parforGroup is how many rows of points are evaluated together. The lanes of rows of few points
// may be along the first index (launch.FewColumns), and a chunk of few rows leaves some of them
// empty. Longer rows have lanes of their own. Points of one index are lanes if their body is one loop,
// which evaluates several vectors at a time.
func parforGroup(c *op.Call) (rows, least int) {
	s := spaceOf(c)
	if w := s.width(); s.dims == 2 && w > 0 && w < launch.FewColumns {
		return rowsTogether, 1
	}
	if s.dims == 1 {
		code := compiledOf(c, 1)
		if l := code.inLanes(&s, c.Attrs.Str("names")); l != nil {
			return l.Together(), launch.Lanes()
		}
		if code.roundsInLanes(&s) {
			return launch.Lanes(), launch.Lanes()
		}
	}
	return 1, 1
}

// rowsTogether is the number of f64 in two vectors of AVX-512.
const rowsTogether = 16

// parforRun is one execution.
type parforRun struct {
	c      *op.Call
	space  indexSpace
	code   *bodyCode
	out    *value.Dense
	values []value.Value // of the registers that are the same in every iteration; nil for the others
	work   []*pointWorker
	of     nestBound // the loops; nil: there are none
	// more are the loops for much work, where little was expected.
	more struct {
		once  sync.Once
		loops nestBound
	}
	kept nest.Memo
	// whole is when drawn constructors were made.
	whole    sync.Once
	drawnErr error
	// chunk is where the chunk of each worker begins. failed is the least of those chunks of this rank that
	// have failed. Chunks after it are given up: no failure of theirs is the first, and one of their
	// iterations may be without end.
	chunk  []int
	failed atomic.Int64
}

// stopped reports that the chunk of a worker may be given up.
func (r *parforRun) stopped(worker int) bool {
	return r.work[worker].tooLong(1) || int64(r.chunk[worker]) > r.failed.Load() || r.c.Ended()
}

// stoppedOf is stopped of a worker.
func (r *parforRun) stoppedOf(worker int) func() bool {
	return func() bool { return r.stopped(worker) }
}

func beginParfor(c *op.Call, workers int) (op.LoopBody, error) {
	r := &parforRun{c: c, space: spaceOf(c)}
	t, err := r.space.result(c)
	if err != nil {
		return nil, err
	}
	if c.Out == nil {
		c.Out = value.New(t.Elem, t.Rows, t.Cols)
	}
	r.out = c.Result()
	r.failed.Store(math.MaxInt64)
	if r.space.n[0] == 0 || r.space.width() == 0 {
		return r, nil
	}
	code := compiledOf(c, r.space.dims)
	if err := r.uniform(code); err != nil {
		if f := (*op.Failure)(nil); errors.As(err, &f) {
			return nil, r.first(0, c.From*r.space.width()+1, err)
		}
		return nil, err
	}
	r.chunk = make([]int, workers)
	r.code, r.kept = code, nest.Memo{Call: c, Values: r.values, Cells: code.cells, State: make([]nest.MemoValue, len(code.cells))}
	of, brief := code.begin(r)
	if r.of = of; of == nil {
		if err := r.complete(); err != nil {
			return nil, err
		}
	}
	r.work = make([]*pointWorker, workers)
	all := make([]pointWorker, workers)
	for i := range all {
		all[i] = pointWorker{r: r, of: of, brief: brief, number: i}
		r.work[i] = &all[i]
	}
	return r, nil
}

// uniform computes what is the same in every iteration.
func (r *parforRun) uniform(code *bodyCode) error {
	r.values = slices.Clone(code.numbers)
	copy(r.values[r.space.dims:], r.c.In[r.space.lead:])
	if len(code.uniform) == 0 {
		return nil
	}
	p := nest.NewPoint(r.c.Bodies[0], code.uniform, true, r.c, nil, nil, loopsFrom.Load())
	defer p.Free()
	copy(p.Reg, r.values)
	r.values = p.Reg
	return p.Run()
}

// complete makes what a nest writes itself: constructors and lists of pairs, for readers of whole
// matrices.
func (r *parforRun) complete() error {
	r.whole.Do(func() {
		b := r.c.Bodies[0]
		p := nest.NewInterpreter(b, r.code.drawn, true, r.c, nil, nil)
		copy(p.Reg, r.values)
		for _, k := range r.code.drawn {
			if r.drawnErr != nil {
				return
			}
			r.values[len(b.Args)+k], r.drawnErr = p.Act(k)
		}
	})
	return r.drawnErr
}

func (r *parforRun) Chunk(worker, lo, hi int) error {
	w := r.space.width()
	if w == 0 {
		return nil
	}
	r.chunk[worker] = lo * w
	err := r.work[worker].run(lo*w, hi*w, r.out)
	switch {
	case err == nil || err == op.ErrStopped:
		return err
	case r.c.Part && (lo < r.c.From || lo >= r.c.To):
		return err // of another rank, where it runs again: iterations of this rank after it are not given up
	}
	for at := int64(lo * w); ; {
		if least := r.failed.Load(); at >= least || r.failed.CompareAndSwap(least, at) {
			break
		}
	}
	return r.first(worker, hi*w, err)
}

func (r *parforRun) End() error {
	for _, w := range r.work {
		w.free()
	}
	for _, x := range [...]nestBound{r.of, r.more.loops} {
		if n, ok := x.(*nestRun); ok {
			n.rest()
		}
	}
	return nil
}

// probe is how many points are tried at a time when the first that fails is looked for.
const probe = 256

// first returns the failure of the first point of this rank that fails before point end. Which point
// fails first does not depend on how rows are cut into chunks, so all points from the first of this
// rank on are tried: in batches by worker's code, and in the batch that fails one by one, by
// definition.
func (r *parforRun) first(worker, end int, err error) error {
	w := r.space.width()
	for at := r.c.From * w; at < end; at += probe {
		to := min(at+probe, end)
		if len(r.work) > worker {
			switch r.work[worker].run(at, to, nil) {
			case nil:
				continue
			case op.ErrStopped:
				return op.ErrStopped
			}
		}
		for p := at; p < to; p++ {
			if len(r.work) > worker { // a definition may take seconds
				switch r.work[worker].run(p, p+1, nil) {
				case nil:
					continue
				case op.ErrStopped:
					return op.ErrStopped
				}
			}
			if _, e := r.space.point(r.c, p/w, p%w); e != nil {
				return e
			}
		}
	}
	return fmt.Errorf("BUG: no iteration fails by definition, and a kernel says: %w", err)
}
