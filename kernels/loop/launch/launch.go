package launch

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"math/bits"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/amd64"
	"flow/kernels/loop/interp"
)

// ErrOutside says that an access cannot be proved to stay inside its matrix.
var ErrOutside = errors.New("an access may leave its matrix")

// ErrStopped says that a window was given up because the run was stopped.
var ErrStopped = errors.New("the run was stopped")

// New makes a Loop of a nest, which has been verified.
func New(n *loop.Nest) *Loop {
	n, whole := prepared(n)
	across, flat := amd64.Flat(n)
	l := &Loop{
		nest: n, whole: whole, levels: loop.Levels, facts: branchesOf(whole), flat: flat, across: across,
		inner: storesInside(&n.Body), byRow: rowResults(n), decides: loop.Deciding(n), made: map[version]*variant{},
		keeps: amd64.Keeping(n), crosses: amd64.Crosses(n), over: slices.ContainsFunc(n.Results, func(r loop.Result) bool { return r.Over >= 0 }),
		core: coreOf(n),
	}
	switch near, rows := sumsNear(n); {
	case !near:
	case rows:
		l.nearRows, l.levels, l.sizes.exps = true, rowLevels, make([]atomic.Int32, len(n.Results))
	default:
		l.near, l.levels, l.sizes.exps = true, nearLevels, make([]atomic.Int32, len(n.Results))
	}
	l.beside = sync.OnceValues(func() (*interp.Code, error) { return interp.Compile(n) })
	l.Together = sync.OnceValue(func() int {
		if target, err := Target(); err == nil && target != Interp {
			return amd64.Together(amd64.Target(target), n)
		}
		return Lanes()
	})
	return l
}

// prepared returns the nest that is run for n, with fewer conditions and less memory. whole is the same
// nest with whole sweeps.
func prepared(n *loop.Nest) (run, whole *loop.Nest) {
	n = loop.InPlace(n)
	few := loop.AtPlaces(n)
	if run = loop.Split(few); few == n {
		return run, run
	}
	return run, loop.Split(n)
}

// Interpreted makes a Loop that is interpreted on every machine, for work that is done before
// machine code is made.
func Interpreted(n *loop.Nest) *Loop {
	l := New(n)
	l.small = true
	return l
}

// Nest is what the loop runs.
func (l *Loop) Nest() *loop.Nest { return l.nest }

// Begin binds operands and results. Every result must have the size that the nest says. The error is
// ErrOutside, or the reason why the nest can run on no target.
func (l *Loop) Begin(in []value.Value, out []*value.Dense) (*Run, error) {
	r := &Run{}
	if err := l.Bind(r, in, out); err != nil {
		return nil, err
	}
	return r, nil
}

// Bind is Begin in the memory of an earlier execution, which has ended: it allocates nothing once a
// loop was bound before.
func (l *Loop) Bind(r *Run, in []value.Value, out []*value.Dense) error {
	n := l.nest
	if len(in) != len(n.Params) || len(out) != len(n.Results) {
		return fmt.Errorf("BUG: %d operands and %d results for a loop of %d and %d", len(in), len(out), len(n.Params), len(n.Results))
	}
	var room [48]int64
	sizes, p := proofOf(room[:0], in, out, r.Varies), l.proved.Load()
	if p == nil || !slices.Equal(p.from, sizes) {
		if r.loop, r.in, r.out = l, in, out; !r.Inside() {
			return ErrOutside
		}
		p = &proof{slices.Clone(sizes), l.cutsOf(in, r.Varies)}
		l.proved.Store(p)
	}
	var lay layout
	bit := layout(1)
	for _, v := range in {
		if d, ok := v.(*value.Dense); ok && column(d) {
			lay |= bit
		}
		bit <<= 1
	}
	for _, d := range out {
		if column(d) {
			lay |= bit
		}
		bit <<= 1
	}
	lay, wide := l.schedule(in, out, lay)
	lay |= l.streams(r, out, wide > 0) | fetching(in)
	if l.keeps && (r.Overwrites || l.over) {
		lay |= keeping
	}
	made := l.version(lay, in, r.Stays)
	v, err := l.variant(made)
	if err != nil {
		return err
	}
	r.v, r.in, r.out, r.args, r.loop, r.made, r.reduced = v, in, out, r.args[:0], l, made, nil
	r.wide = wide
	if err := r.reduces(); err != nil {
		return err
	}
	for _, x := range in {
		r.operand(x)
	}
	for _, d := range out {
		r.operand(d)
	}
	r.cutBy(p.cuts)
	r.room, err = v.code.ScratchFor(r.args)
	return err
}

// Alone runs all rows x cols points of a loop on the calling worker, in the memory of r. See Bind and
// Worker.Window.
func (l *Loop) Alone(r *Run, in []value.Value, out []*value.Dense, rows, cols int) (flagged bool, err error) {
	if err := l.Bind(r, in, out); err != nil {
		return false, err
	}
	w := r.Worker()
	defer w.Free()
	return w.Window(0, rows, 0, cols, nil)
}

// Again binds other operands and results of the same sizes and distances between rows, which Begin
// has proved to be in range, and whose scalars may differ where they are no integers. It reports
// whether they are such; if not, r is as it was.
func (r *Run) Again(in []value.Value, out []*value.Dense) bool {
	if len(in) != len(r.in) || len(out) != len(r.out) {
		return false
	}
	r.next = r.next[:0]
	for k, v := range in {
		w, was := wordsOf(v), r.args[wordsOfOperand*k:][:wordsOfOperand]
		switch v := v.(type) {
		case value.Scalar:
			if v.Elem != r.loop.nest.Params[k].Elem || v.Elem == types.I64 && w[0] != was[0] || !r.MadeFor(k, v) {
				return false
			}
		case *value.Dense:
			if !slices.Equal(w[1:], was[1:]) {
				return false
			}
		default:
			return false
		}
		r.next = append(r.next, w[:]...)
	}
	for _, d := range out {
		w := wordsOf(d)
		if !slices.Equal(w[1:], r.args[len(r.next)+1:][:wordsOfOperand-1]) {
			return false
		}
		r.next = append(r.next, w[:]...)
	}
	r.in, r.out, r.args, r.next = in, out, r.next, r.args
	for k := range r.reduced {
		r.reduced[k].out = out[r.reduced[k].result]
	}
	return true
}

// Shift moves the address of operand k by some bytes. From the number of operands on, k counts
// results. Shift replaces Again if nothing but addresses has changed. It would be wrong for sparse
// operands and reduced results.
func (r *Run) Shift(k int, bytes uint64) { r.args[wordsOfOperand*k] += bytes }

// Words returns what machine code reads of an operand or result. The first word is the address of a
// matrix or the value of a scalar; Shift does not change the others. ok is false for a sparse
// matrix.
func Words(v value.Value) (words [wordsOfOperand]uint64, ok bool) {
	switch v.(type) {
	case *value.Dense, value.Scalar:
		return wordsOf(v), true
	}
	return words, false
}

// column reports a column in one piece.
func column(d *value.Dense) bool { return d.Cols == 1 && d.Stride == 1 }

// wordsOf returns the words of an operand or result: address, bytes from row to row, rows, columns; of
// a scalar its word.
func wordsOf(v value.Value) (w [wordsOfOperand]uint64) {
	switch v := v.(type) {
	case *value.Dense:
		w = [wordsOfOperand]uint64{uint64(uintptr(base(v))), uint64(v.Stride * v.Elem.Size()), uint64(v.Rows), uint64(v.Cols)}
	case value.Scalar:
		w[0] = loop.WordOf(v)
	}
	return w
}

// operand appends the words of an operand or result.
func (r *Run) operand(v value.Value) {
	w := wordsOf(v)
	r.args = append(r.args, w[:]...)
}

// base is where the elements of a matrix lie.
func base(d *value.Dense) unsafe.Pointer {
	switch d.Elem {
	case types.F64:
		return unsafe.Pointer(unsafe.SliceData(d.F64))
	case types.F32:
		return unsafe.Pointer(unsafe.SliceData(d.F32))
	case types.Bool:
		return unsafe.Pointer(unsafe.SliceData(d.Bool))
	}
	return unsafe.Pointer(unsafe.SliceData(d.I64))
}

// Worker lends a worker's state; Free gives it back.
func (r *Run) Worker() *Worker {
	w, ok := r.v.idle.Get().(*Worker)
	if !ok {
		w = r.v.code.worker()
	}
	w.run = r
	copy(w.args[firstOperand:], r.args)
	w.scratch(r.room)
	w.parts = append(w.parts[:cap(w.parts)], make([]part, max(0, len(r.reduced)-cap(w.parts)))...)[:len(r.reduced)]
	for k := range r.reduced {
		w.parts[k].n = 0
		w.parts[k].begin(&r.reduced[k])
	}
	w.interpret()
	if w.moved, w.seen, w.told = false, 0, 0; w.beside == nil && r.cuts != nil {
		w.getCore()
	}
	return w
}

// scratch makes room for so many bytes of scratch memory.
func (w *Worker) scratch(room int) {
	if need := room + alignment; len(w.keep) < need {
		w.keep = make([]byte, need)
		w.args[argScratch] = uint64((uintptr(unsafe.Pointer(&w.keep[0])) + alignment - 1) &^ (alignment - 1))
	}
}

// alignment is that of scratch memory.
const alignment = 64

// Points is how many points of a row machine code evaluates at a time; 0: it is interpreted, or
// checked.
func (w *Worker) Points() int {
	if w.check != nil || w.beside != nil {
		return 0
	}
	return w.points
}

// Rounds returns the number of rounds of loops that machine code has made so far, loops over points
// included. A round evaluates several points at a time. A long round counts as the number of rounds of
// the cheapest inner loop that take as long.
func (w *Worker) Rounds() int64 { return w.rounds }

// Free gives the worker's memory to the next execution.
func (w *Worker) Free() {
	v := w.run.v
	w.forget()
	w.freeCore()
	w.run, w.Doubted = nil, nil
	clear(w.args[firstOperand:])
	for _, d := range w.deeper {
		if d != nil {
			d.run = nil
			clear(d.args[firstOperand:])
		}
	}
	v.idle.Put(w)
}

// askEvery is after how many calls a worker asks whether the run was stopped.
const askEvery = 64

// Window evaluates rows r0 to r1-1 and lanes l0 to l1-1 of the index space: values of the indices.
// Of a space of one index these are lanes, and rows are 0 to 1. flagged says that a check failed:
// what has been stored is then undefined, and the caller evaluates the window in order to say what
// failed. stopped may be nil.
//
// Windows of a nest with a reduced result that has an element a row hold whole rows, and make these
// elements. The other reduced results are there after Merge and Finish. The error is ErrStopped or
// ErrInexact.
func (w *Worker) Window(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	switch {
	case r0 >= r1 || l0 >= l1 && !w.run.perRow():
		return false, nil
	case w.beside != nil:
		return w.beside.window(w, r0, r1, l0, l1, stopped)
	}
	switch {
	case len(w.parts) > 0:
		flagged, err = w.reduce(r0, r1, l0, l1, stopped)
	default:
		flagged, err = w.window(r0, r1, l0, l1, stopped)
	}
	if w.check != nil {
		if !flagged && err == nil {
			w.check.window(w, r0, r1, l0, l1)
		} else if w.check.reduces { // contributions of the window are missing
			w.check.off = true
		}
	}
	return flagged, err
}

// window evaluates points.
func (w *Worker) window(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	if wide := w.run.wide; wide > 0 && l0 == 0 && l1 == wide { // whole rows are one
		r0, r1, l0, l1 = 0, 1, r0*wide, r1*wide
	}
	if w.cut((r1 - r0) * (l1 - l0)) {
		return w.stretched(r0, r1, l0, l1, stopped)
	}
	if k := w.joins(r0, r1, l0, l1); k > 0 {
		return w.joined(k, r0, r1, l1, stopped)
	}
	return w.points1(r0, r1, l0, l1, stopped)
}

// points1 evaluates points by calls into machine code.
func (w *Worker) points1(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	switch l := w.run.loop; {
	case w.run.made.layout&lanesFirst != 0:
	case l.crosses && !l.near && !l.nearRows: // such sums take one call a window
		for ; r0 < r1; r0 += blockRows {
			for at := l0; at < l1; at += blockLanes {
				if flagged, err = w.calls(r0, min(r0+blockRows, r1), at, min(at+blockLanes, l1), stopped); flagged || err != nil {
					return flagged, err
				}
			}
		}
		return false, nil
	default:
		return w.calls(r0, r1, l0, l1, stopped)
	}
	for near := NearRows(l1 - l0); r0 < r1 && !flagged && err == nil; r0 += near {
		flagged, err = w.calls(l0, l1, r0, min(r0+near, r1), stopped)
	}
	return flagged, err
}

// blockRows and blockLanes are the size of a block. A loop that reads an operand across goes block by
// block, so that a cache still has the lines that the next rows read. A block has loop.NearCount
// points, the most that sum together (nearWindows). Sums over pairs X[i, j], X[j, i] of 8192 x 8192
// take 0.31 of the time of whole rows. Blocks of 64 x 512 take 1.4 times as long for f32 (Emerald
// Rapids).
const (
	blockRows  = 128
	blockLanes = 256
)

// NearRows is how many rows of so many columns are evaluated at a time by loops whose lanes are the
// rows. Such a loop goes over the rows once for each column, so a near cache should hold the rows.
func NearRows(cols int) int { return max(1<<6, nearPoints/cols&^7) }

// nearPoints are some kilobytes of an operand and of a result.
const nearPoints = 1 << 11

func (w *Worker) calls(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	a := w.args
	a[argRow], a[argRowEnd], a[argLane], a[argLaneEnd] = uint64(r0), uint64(r1), uint64(l0), uint64(l1)
	a[argFlags], a[argResume] = 0, 0
	for n := 1; ; n++ {
		a[argFuel] = w.fuel
		w.call(w)
		w.rounds += int64(w.fuel - a[argFuel])
		if a[argResume] == 0 {
			return a[argFlags] != 0, nil
		}
		if n%askEvery == 0 && stopped != nil && stopped() {
			return false, ErrStopped
		}
	}
}

// joined evaluates rows r0 to r1-1 of cols columns, k rows as one.
func (w *Worker) joined(k, r0, r1, cols int, stopped func() bool) (flagged bool, err error) {
	l := w.run.loop
	w.saved, w.rows = append(w.saved[:0], w.args[firstOperand:]...), w.rows[:0]
	defer func() { copy(w.args[firstOperand:], w.saved) }()
	w.rows = slices.Grow(w.rows, bits.OnesCount64(l.across)*k*cols) // words: no element is larger
	w.matrices(func(i int, e types.Elem, a []uint64) {
		if l.across>>i&1 == 0 {
			a[1] *= uint64(k)
			return
		}
		row := unsafe.Slice(*(**byte)(unsafe.Pointer(&a[0])), cols*e.Size())
		to := w.rows[len(w.rows) : len(w.rows)+k*cols]
		w.rows = w.rows[:len(w.rows)+k*cols]
		for room := unsafe.Slice((*byte)(unsafe.Pointer(&to[0])), k*len(row)); len(room) > 0; room = room[len(row):] {
			copy(room, row)
		}
		a[0] = uint64(uintptr(unsafe.Pointer(&to[0])))
	})
	for r0 < r1 && !flagged && err == nil {
		rows, from, to := 1, r0%k, min(k, r0%k+r1-r0)
		if to-from == k {
			rows = (r1 - r0) / k
		}
		flagged, err = w.points1(r0/k, r0/k+rows, from*cols, to*cols, stopped)
		r0 += rows*to - from // from is 0 if there are several
	}
	return flagged, err
}
