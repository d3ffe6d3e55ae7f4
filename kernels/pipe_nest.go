package kernels

// This file reduces the elements of a chain in the loop that computes them, without storing them.
// Each worker keeps states in registers, a window at a time, and adds them to its accumulators.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/loop/launch"
)

// sampleElems is the number of elements at each end that the expectation is taken from.
const sampleElems = 32

// foldNest is the loop that reduces the elements of a job, bound to its operands.
type foldNest struct {
	boundNest
	x      *execution // nil outside of windows of the loop
	parts  []foldPart
	known  bool // the size of the elements to come: their magnitude is about 2^exp, or less
	exp    int
	out    []value.Dense // reduced results, which stay with the worker
	unused exact.Sum
}

// begin forgets what a worker expects.
func (n *foldNest) begin() { n.asked, n.known, n.x = false, false, nil }

// foldWorker is the worker of the loop that reduces the elements of an execution, or nil where they
// are to be reduced block by block.
func (m *machine) foldWorker(x *execution) *launch.Worker {
	n := &m.nest.fold
	if n.asked {
		return n.worker
	}
	n.asked = true
	rows, cols := m.rows, m.cols
	shape, lines, ok := m.nestShape(rows, cols)
	shape.fold = x.fold
	b := &n.boundNest
	b.run.Overwrites = x.alias
	if ok && b.alike(m, shape, lines, rows, cols) {
		b.again(m)
		b.worker.Forget()
		return b.worker
	}
	b.renew(m, shape, lines, rows, cols)
	if !ok || m.plain(x) && x.elem == types.F32 && m.f[0].Extreme() { // its kernel is as fast
		return nil
	}
	stored := false
	if n.parts, _, stored = foldParts(x.fold, x.elem, 0); len(n.parts) == 0 {
		return nil
	}
	l := m.nest.program.nest(m.prog, shape, x.rows*x.cols)
	if l == nil {
		return nil
	}
	b.operands(m, false, rows, cols)
	if !stored {
		b.out = b.out[:0]
	}
	n.out = dense.Resized(n.out, len(n.parts))
	for k, p := range n.parts {
		n.out[k] = *value.New(dense.Storage(p.class.Gives(p.of)), 1, 1)
		b.out = append(b.out, &n.out[k])
	}
	return b.bind(m, l)
}

// reduceArea adds an area of at most loop.NearCount elements to the results over all elements.
func (m *machine) reduceArea(x *execution, a area) error {
	n, w := &m.nest.fold, m.foldWorker(x)
	if w == nil {
		return m.addBlocks(x, a)
	}
	if !n.known && n.expects() {
		if err := m.sample(x, a); err != nil {
			return err
		}
	}
	w.Expect(n.exp)
	n.x = x
	err := m.nestedGrid(&n.boundNest, a, target{d: x.out})
	n.x = nil
	return err
}

// expects reports sums whose states depend on the size of the elements.
func (n *foldNest) expects() bool {
	for _, p := range n.parts {
		if p.class == loop.Sum && p.of.IsFloat() {
			return true
		}
	}
	return false
}

// reduced follows a window of the loop: sums that have lost bits of it are taken again.
func (m *machine) reduced(b *boundNest, a area) error {
	n := &m.nest.fold
	x := n.x
	if x == nil || b != &n.boundNest {
		return nil
	}
	n.x = nil
	defer func() { n.x = x }()
	for k, p := range n.parts {
		if n.worker.Doubt(k) {
			if err := m.addAgain(x, a, p); err != nil {
				return err
			}
		}
	}
	n.known = n.known && !n.worker.Missed()
	return nil
}

// takeFolds moves what the loop has reduced to the accumulators.
func (m *machine) takeFolds() {
	n := &m.nest.fold
	if !n.asked || n.worker == nil {
		return
	}
	for k, p := range n.parts {
		f := &m.f[p.fold]
		switch {
		case p.sum < 0:
			f.Join(0, n.worker.Take(k))
		case p.class == loop.Count:
			f.Sum(p.sum, 0).AddInt(n.worker.Take(k).I)
		case p.class == loop.Norm:
			n.worker.TakeSums(k, &n.unused, f.Sum(p.sum, 0))
		default:
			n.worker.TakeSums(k, f.Sum(p.sum, 0), &n.unused)
		}
	}
}

// addAgain adds an area to one exact sum. It reads stored elements from the result, because the result
// may have overwritten an operand.
func (m *machine) addAgain(x *execution, a area, p foldPart) error {
	add := func(b *value.Dense, a area) { m.f[p.fold].AddPart(p.sum, b, a.j0) }
	if x.out == nil {
		return m.eachBlock(x, a, add)
	}
	var b value.Dense
	x.out.Window(&b, a.i0, a.j0, a.rows(), a.cols())
	add(&b, a)
	return nil
}

// sample sets what sums expect, from the first and the last elements of an area: elements that
// grow along the way are among them.
func (m *machine) sample(x *execution, a area) error {
	top := 0.0
	first, last := area{a.i0, a.i0 + 1, a.j0, min(a.j1, a.j0+sampleElems)}, area{a.i1 - 1, a.i1, max(a.j0, a.j1-sampleElems), a.j1}
	for _, a := range [...]area{first, last} {
		b := m.made.over(x.elem, dense.SlabOver(m.made.words, x.elem, a.cols()), a)
		if err := m.area(a, target{d: b, i0: a.i0, j0: a.j0}); err != nil {
			return err
		}
		for j := range b.Cols {
			if v := math.Abs(b.At(0, j).Float()); v > top { // no NaN is
				top = v
			}
		}
	}
	n := &m.nest.fold
	_, n.exp = math.Frexp(top)
	n.known = true
	return nil
}
