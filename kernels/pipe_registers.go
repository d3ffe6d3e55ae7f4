package kernels

// This file reduces what a chain makes in the chain machine's registers, on its way to where it is
// stored.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

// running is an exact sum of elements or of their squares. Of float64 the chain machine cascades
// it, if that loses nothing.
type running struct {
	exact.Sum
	squares bool
	state   *vec.Terms
	link    uint64 // of the area in work
	near    near
	wait    int // areas to reduce block by block after a cascade has lost something
}

// near is what a worker expects of the elements to come.
type near struct {
	known bool
	exp   int // their magnitude is about 2^exp, or less
	wait  int // areas to sum by the other cascade after this one has failed
}

// patience is how many areas are summed in another way after a cascade has failed.
const patience = 16

// sampleElems is how many elements the expectation is taken from.
const sampleElems = vec.ChainBytes / 8

// beginSums starts the sums of a worker.
func (f *folder) beginSums() {
	f.parts = f.Sums(f.elem)
	for k := range f.parts {
		r := &f.sums[k]
		r.Reset()
		r.squares, r.near, r.wait = f.Squares() || k == 1, near{}, 0
	}
}

func (f *folder) resetSums() {
	for k := range f.parts {
		f.sums[k].Reset()
	}
}

// putSums writes the sums to the accumulator.
func (f *folder) putSums() {
	for k := range f.parts {
		f.sums[k].PutWords(f.acc.I64[k*exact.Words:][:exact.Words])
	}
}

// add takes a block into the sum.
func (r *running) add(b *value.Dense) {
	if r.squares {
		reduce.SquaresTo(&r.Sum, b)
	} else {
		reduce.ExactTo(&r.Sum, b)
	}
}

// eachSum calls do for the sums of all reductions.
func (m *machine) eachSum(do func(r *running)) {
	for k := range m.f {
		for l := range m.f[k].parts {
			do(&m.f[k].sums[l])
		}
	}
}

// reduceArea adds an area of at most loopUnit elements to the results over all elements, in
// registers. Sums that lost something are taken again.
func (m *machine) reduceArea(x *execution, a area) error {
	waiting, sample := false, false
	m.eachSum(func(r *running) {
		if r.wait > 0 {
			r.wait--
			waiting = true
		}
		sample = sample || !r.squares && r.near.wait == 0 && !r.near.known
	})
	if waiting {
		return m.addBlocks(x, a)
	}
	if sample {
		if err := m.sample(x, a); err != nil {
			return err
		}
	}
	if m.tails == nil {
		m.tails = make([]float64, maxTailRows*(vec.ChainBytes/8))
	}
	m.tail, m.end = 0, terminal{ends: m.ends[:0]}
	if x.out != nil {
		m.end.store = x.storing()
	}
	for k := range m.f {
		m.end.ends = m.f[k].links(m.end.ends)
	}
	m.ends = m.end.ends
	if k := slices.IndexFunc(m.ends, func(l vec.Link) bool { return l.Op == vec.LinkNearSum }); k >= 0 { // last, which it is fastest as
		last := len(m.ends) - 1
		m.ends[k], m.ends[last] = m.ends[last], m.ends[k]
	}
	if err := m.area(a, target{d: x.out}); err != nil {
		return err
	}
	tails := value.Dense{Elem: types.F64, Rows: 1, Cols: m.tail, Stride: m.tail, F64: m.tails[:m.tail]}
	for k := range m.f {
		if err := m.take(x, a, &m.f[k], &tails); err != nil {
			return err
		}
	}
	return nil
}

// links appends the links of a reduction, whose states are made ready.
func (f *folder) links(to []vec.Link) []vec.Link {
	for k := range f.parts {
		r := &f.sums[k]
		r.begin()
		to = append(to, vec.Link{Op: r.link, Base: r.state.Pointer()})
	}
	if f.parts > 0 {
		return to
	}
	if f.state == nil {
		f.state = vec.NewTerms()
	}
	link := uint64(vec.LinkZeros)
	switch f.Whole.Class {
	case loop.Least:
		link = vec.LinkLeast
		f.state.Extremes()
	case loop.Greatest:
		link = vec.LinkGreatest
		f.state.Extremes()
	default:
		*f.state = vec.Terms{}
	}
	return append(to, vec.Link{Op: link, Base: f.state.Pointer()})
}

// begin chooses the cascade of a sum and makes its state ready.
func (r *running) begin() {
	if r.state == nil {
		r.state = vec.NewTerms()
	}
	switch {
	case !r.squares && r.near.known && loopUnit <= vec.NearCount:
		r.link = vec.LinkNearSum
		r.state.Near(r.near.exp)
		return
	case r.squares:
		r.link = vec.LinkSquares
	default:
		r.link = vec.LinkSum
		r.near.wait--
	}
	*r.state = vec.Terms{}
}

// end adds what the cascade holds to the sum, if that is exact.
func (r *running) end() bool {
	var n int
	var ok bool
	if r.link == vec.LinkNearSum {
		n, ok = vec.ChainNearSum(r.state, r.near.exp)
	} else {
		n, ok = vec.ChainSum(r.state, r.squares)
	}
	switch {
	case ok:
		r.AddTerms(r.state[:n])
	case r.link == vec.LinkNearSum:
		r.near = near{wait: patience}
	default:
		r.wait = patience
	}
	return ok
}

// take adds what the registers hold of an area, and the tails, to a reduction.
func (m *machine) take(x *execution, a area, f *folder, tails *value.Dense) error {
	for k := range f.parts {
		r := &f.sums[k]
		if r.end() {
			if tails.Cols > 0 {
				r.add(tails)
			}
		} else if err := m.addAgain(x, a, r); err != nil {
			return err
		}
	}
	if f.parts > 0 {
		return nil
	}
	n := int64(a.rows()*a.cols() - tails.Cols)
	switch f.Whole.Class {
	case loop.Least:
		f.one.F64[0] = f.state.Least()
		f.Whole.Join(f.acc, f.one)
	case loop.Greatest:
		f.one.F64[0] = f.state.Greatest()
		f.Whole.Join(f.acc, f.one)
	case loop.Count:
		f.acc.I64[0] += n - f.state.Zeros()
	case loop.Any:
		f.acc.Bool[0] |= reduce.Bit(f.state.Zeros() < n)
	case loop.All:
		f.acc.Bool[0] &= reduce.Bit(f.state.Zeros() == 0)
	}
	if tails.Cols > 0 {
		f.add(tails)
	}
	return nil
}

// addAgain adds an area to one exact sum: as it was stored, where it was, for an operand may have
// been overwritten.
func (m *machine) addAgain(x *execution, a area, r *running) error {
	if x.out != nil {
		for i := range a.rows() {
			s := dense.SlabOf(x.out, (a.i0+i)*x.out.Stride+a.j0, a.cols())
			r.add(m.made.over(x.elem, s, area{0, 1, 0, a.cols()}))
		}
		return nil
	}
	return a.split(blockElems, blockElems, func(a area) error {
		b, err := m.make(x, a)
		if err == nil {
			r.add(b)
		}
		return err
	})
}

// sample sets what sums expect from the first elements of an area.
func (m *machine) sample(x *execution, a area) error {
	m.end = terminal{store: vec.LinkStore}
	a.i1, a.j1 = a.i0+1, min(a.j1, a.j0+sampleElems)
	b := m.made.over(x.elem, dense.SlabOver(m.made.words, x.elem, a.cols()), a)
	if err := m.area(a, target{d: b, i0: a.i0, j0: a.j0}); err != nil {
		return err
	}
	top := 0.0
	for _, v := range b.F64[:b.Cols] {
		if v = math.Abs(v); v > top { // no NaN is
			top = v
		}
	}
	_, exp := math.Frexp(top)
	m.eachSum(func(r *running) {
		if !r.squares && r.near.wait == 0 && !r.near.known {
			r.near.exp, r.near.known = exp, true
		}
	})
	return nil
}
