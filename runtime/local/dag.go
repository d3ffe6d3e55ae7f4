package local

// This file defines DAG, the graph of a run, and its derived data: its roots, the number of its
// external inputs, and the priority class of each task.

import (
	"fmt"
	"math"
	"sync"
)

// DAG describes the dependences of N tasks, numbered 0 to N-1. The slices belong to the caller, are
// only read, may be shared by several DAGs and runs, and must not change after the first Start:
// derived data is cached. A DAG must not be copied after that. It has at most 2^31-1 tasks and as
// many edges.
type DAG struct {
	N int
	// inputs that must arrive before t runs: predecessors in this graph plus external inputs
	Waits   []int32
	SuccOff []int32 // length N+1; the successors of t are Succ[SuccOff[t]:SuccOff[t+1]]
	Succ    []int32 // a successor that needs two inputs of t is listed twice
	Prio    []int32 // larger runs first; nil: all equal
	// Brief says which tasks take less time than another worker needs to find them: those that a task
	// enables stay with its worker, which runs them first. nil: none.
	Brief []bool
	// Counted is how many tasks, the first ones, run exactly once; the run ends when they have.
	// Later tasks run when a list of theirs is fired (Worker.Fire), any number of times. 0: all
	// are counted.
	Counted int
	// Announced is how many of the inputs in Waits are in no list and come from outside only after
	// a task has announced them (Run.Expect).
	Announced int

	once     sync.Once
	prepared prepared
}

// prepared is what Start derives from a DAG, once.
type prepared struct {
	err      error
	roots    int      // tasks that wait for nothing
	external int64    // inputs that no task of the graph provides
	class    []uint16 // nil: one class
}

// classes bounds the number of priority classes. It is 64*64, so that a two-level bitmap finds the
// best non-empty one with two leading-zero counts.
const classes = 64 * 64

// prioBins is the resolution of priorities before they are ranked. Small graphs have binsPerTask for
// each task, because to clear 65536 bins takes longer than to run a hundred tasks.
const (
	prioBins    = 1 << 16
	binsPerTask = 256
)

// counted returns the number of tasks that run exactly once.
func (d *DAG) counted() int {
	if d.Counted == 0 {
		return d.N
	}
	return d.Counted
}

// prepare checks the shape of d and derives its cached data. It is safe for concurrent use.
func (d *DAG) prepare() *prepared {
	d.once.Do(func() {
		d.prepared.err = d.check()
		if d.prepared.err != nil {
			return
		}
		for t, n := range d.Waits {
			if n == 0 && t < d.counted() {
				d.prepared.roots++
			}
			d.prepared.external += int64(n)
		}
		d.prepared.external -= int64(len(d.Succ)) + int64(d.Announced)
		if d.prepared.external < 0 {
			d.prepared.err = fmt.Errorf("local: graph has %d edges but its tasks wait for %d inputs", len(d.Succ), d.prepared.external+int64(len(d.Succ)))
		}
		d.prepared.class = rank(d.Prio)
	})
	return &d.prepared
}

// check finds what would make the executor read outside its memory. It does not compare Waits with
// the edges, a pass of random access: too small a value is reported when the counter goes below
// zero, too large a value when the run can make no progress.
func (d *DAG) check() error {
	switch {
	case d.N < 0 || d.N >= math.MaxInt32:
		return fmt.Errorf("local: graph of %d tasks", d.N)
	case len(d.Waits) != d.N || len(d.SuccOff) != d.N+1:
		return fmt.Errorf("local: graph of %d tasks has %d counters and %d offsets", d.N, len(d.Waits), len(d.SuccOff))
	case d.Prio != nil && len(d.Prio) != d.N:
		return fmt.Errorf("local: graph of %d tasks has %d priorities", d.N, len(d.Prio))
	case d.Brief != nil && len(d.Brief) != d.N:
		return fmt.Errorf("local: graph of %d tasks says of %d whether they are brief", d.N, len(d.Brief))
	case d.Counted < 0 || d.Counted > d.N:
		return fmt.Errorf("local: graph of %d tasks counts %d", d.N, d.Counted)
	case d.SuccOff[0] != 0 || int(d.SuccOff[d.N]) != len(d.Succ):
		return fmt.Errorf("local: successor offsets cover %d..%d of %d edges", d.SuccOff[0], d.SuccOff[d.N], len(d.Succ))
	}
	for t, n := range d.Waits {
		if n < 0 || d.SuccOff[t] > d.SuccOff[t+1] {
			return fmt.Errorf("local: task %d waits for %d inputs, successors %d..%d", t, n, d.SuccOff[t], d.SuccOff[t+1])
		}
	}
	for e, s := range d.Succ {
		if uint32(s) >= uint32(d.N) {
			return fmt.Errorf("local: edge %d leads to task %d of %d", e, s, d.N)
		}
	}
	return nil
}

// rank maps priorities to classes, larger for larger. Up to 4096 distinct priorities keep their
// exact order, unless two differ by less than 1/65536 of the spread, or with n < 256 tasks by less than
// 1/(256 n) of it. More are merged into classes of about equal population. It takes linear time,
// because a graph that runs once should not pay for a sort. It returns nil if all priorities are equal.
func rank(prio []int32) []uint16 {
	if len(prio) == 0 {
		return nil
	}
	lo, hi := prio[0], prio[0]
	for _, p := range prio {
		lo, hi = min(lo, p), max(hi, p)
	}
	if lo == hi {
		return nil
	}
	shift, most := uint(0), int64(min(prioBins, binsPerTask*len(prio)))
	for (int64(hi)-int64(lo))>>shift >= most {
		shift++
	}
	bins := make([]int32, (int64(hi)-int64(lo))>>shift+1)
	filled := 0
	for _, p := range prio {
		b := &bins[(int64(p)-int64(lo))>>shift]
		if *b == 0 {
			filled++
		}
		*b++
	}
	// Each filled bin gets its class: with few bins consecutive numbers, with many the share of
	// tasks below it.
	seen, next := int64(0), 0
	for i, n := range bins {
		if n == 0 {
			continue
		}
		if filled <= classes {
			bins[i] = int32(next)
		} else {
			bins[i] = int32(seen * classes / int64(len(prio)))
		}
		seen += int64(n)
		next++
	}
	class := make([]uint16, len(prio))
	for t, p := range prio {
		class[t] = uint16(bins[(int64(p)-int64(lo))>>shift])
	}
	return class
}
