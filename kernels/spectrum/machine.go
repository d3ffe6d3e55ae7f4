package spectrum

// This file defines Machine, a computation in passes, and what a worker has.

import (
	"errors"
	"sync"

	"flow/kernels/blas"
)

// Slots is how many parts every pass is shared out in.
const Slots = 64

// ErrDiverged says that an iteration did not converge.
var ErrDiverged = errors.New("the iteration did not converge")

// Machine is a running computation. After it was made, all slots of a pass are run by Chunk, on any
// workers at once; then Next says whether another pass follows. The results are there when none
// does.
type Machine struct {
	set     *blas.Set
	workers []worker

	items  int
	item   func(w *worker, i int)
	then   func()
	alone  bool // the pass is too small to be shared
	passes bool // a pass is waiting
	err    error

	arena []float64 // memory for floats, of a machine of one worker
	taken int       // elements of arena that are in use
	more  int       // elements for which arena had no room
}

// worker is the scratch of one worker.
type worker struct {
	number int // its index in Machine.workers
	ws     blas.Workspace
	rows   []float64 // of combine
	room   []float64
	_      [64]byte
}

func newMachine(set *blas.Set, workers int) *Machine {
	if workers > 1 {
		m := &Machine{set: set, workers: make([]worker, workers)}
		for i := range m.workers {
			m.workers[i].number = i
		}
		return m
	}
	m := machines.Get().(*Machine)
	m.set = set
	return m
}

// machines keeps machines of one worker with their memory. Allocating it takes longer than a
// decomposition of a small matrix.
var machines = sync.Pool{New: func() any { return &Machine{workers: make([]worker, 1)} }}

// mostKept is the greatest number of elements that a machine in machines has.
const mostKept = 1 << 14

// Free returns the machine to machines. The caller reads no result of it after that.
func (m *Machine) Free() {
	w := &m.workers[0]
	if len(m.workers) > 1 || len(w.room)+m.taken+m.more > mostKept {
		return
	}
	if m.more > 0 {
		m.arena = make([]float64, m.taken+m.more)
	}
	*m = Machine{workers: m.workers, arena: m.arena}
	machines.Put(m)
}

// floats returns memory for n numbers, which is valid until Free. It is not zeroed.
func (m *Machine) floats(n int) []float64 {
	from := m.taken
	if from+n > len(m.arena) {
		m.more += n
		return make([]float64, n)
	}
	m.taken += n
	return m.arena[from:m.taken:m.taken]
}

// zeros returns memory for n numbers like floats, filled with zeros.
func (m *Machine) zeros(n int) []float64 {
	x := m.floats(n)
	clear(x)
	return x
}

// pass asks for item(w, i) for all i < items, in any order and at once, and goes on with then.
func (m *Machine) pass(items int, item func(w *worker, i int), then func()) {
	m.items, m.item, m.then, m.alone, m.passes = items, item, then, false, true
}

// fewest is the least number of multiply-adds that a pass is shared out for: some ten microseconds.
const fewest = 1 << 15

// passOf is pass for work of that many multiply-adds.
func (m *Machine) passOf(work, items int, item func(w *worker, i int), then func()) {
	m.pass(items, item, then)
	m.alone = work < fewest || items < 2
}

// fail ends the computation.
func (m *Machine) fail(err error) { m.err, m.passes = err, false }

// Chunk runs slots lo..hi-1 of the pass as the worker of that number.
func (m *Machine) Chunk(number, lo, hi int) {
	w := &m.workers[number]
	for i := lo * m.items / Slots; i < hi*m.items/Slots; i++ {
		m.item(w, i)
	}
}

// Next goes on after a pass, by itself as long as passes are small.
func (m *Machine) Next() (again bool, err error) {
	for {
		m.passes = false
		m.then()
		if m.err != nil || !m.passes {
			return false, m.err
		}
		if !m.alone {
			return true, nil
		}
		m.Chunk(0, 0, Slots)
	}
}

// Run runs all of it on the calling goroutine.
func (m *Machine) Run() error {
	for {
		m.Chunk(0, 0, Slots)
		if again, err := m.Next(); !again {
			return err
		}
	}
}

// slice is the most columns that combine takes at a time: eight vectors.
const slice = 64

// combine adds the sum of coefs[r] * row r of b to c, n elements of k rows, each a chain in
// ascending r.
func (m *Machine) combine(w *worker, c, coefs, b []float64, ldb, n, k int) {
	if k == 0 {
		return
	}
	if w.rows == nil {
		w.rows = make([]float64, blas.TallRows*slice)
	}
	for j := 0; j < n; j += slice {
		cols := min(slice, n-j)
		copy(w.rows, c[j:j+cols])
		m.set.F64.Tall(&w.ws, false, 0, 1, cols, k, coefs, 1, b[j:], ldb, w.rows, slice)
		copy(c[j:j+cols], w.rows)
	}
}

// scratch is n elements of w, which the next call hands out again.
func (w *worker) scratch(n int) []float64 {
	if len(w.room) < n {
		w.room = make([]float64, max(n, 2*len(w.room)))
	}
	return w.room[:n]
}
