package kernels

// This file sums what a chain makes in the chain machine's registers.

import (
	"math"

	"flow/kernels/vec"
)

// near is what a worker expects of the elements to come.
type near struct {
	known bool
	exp   int // their magnitude is about 2^exp, or less
	wait  int // blocks to sum by the other cascade after this one has failed
}

// sampleElems is how many elements the expectation is taken from.
const sampleElems = vec.ChainBytes / 8

// sumNear adds an area of at most vec.NearCount elements to the exact sum lead, and to the other results over all elements, by the
// cascade for elements that are near one another in size; false if they are not, or if it is not for this reduction.
func (m *machine) sumNear(x *execution, a area, lead int) (done bool, err error) {
	f := &m.f[lead]
	switch {
	case f.squares() || loopUnit > vec.NearCount:
		return false, nil
	case f.near.wait > 0:
		f.near.wait--
		return false, nil
	case !f.near.known:
		if err := m.sample(x, a, f); err != nil {
			return false, err
		}
	}
	m.state.Near(f.near.exp)
	if err := m.cascade(x, a, lead, vec.LinkNearSum); err != nil {
		return false, err
	}
	n, ok := vec.ChainNearSum(m.state, f.near.exp)
	switch {
	case ok:
		m.addTerms(f, n)
		return true, nil
	case x.out != nil || len(m.f) > 1: // the rest is done, and would not be right a second time
		f.near = near{wait: patience}
		return true, m.addAgain(x, a, f)
	}
	f.near = near{wait: patience}
	return false, nil
}

// sample sets the expectation from the first elements of an area.
func (m *machine) sample(x *execution, a area, f *folder) error {
	m.end = terminal{store: vec.LinkStore}
	a.i1, a.j1 = a.i0+1, min(a.j1, a.j0+sampleElems)
	b := m.made.over(x.elem, slabOver(m.made.words, x.elem, a.cols()), a)
	if err := m.area(a, target{b, a.i0, a.j0}); err != nil {
		return err
	}
	top := 0.0
	for _, v := range b.F64[:b.Cols] {
		if v = math.Abs(v); v > top { // no NaN is
			top = v
		}
	}
	_, f.near.exp = math.Frexp(top)
	f.near.known = true
	return nil
}

// cascade runs the program on an area. The sum of what it makes goes to the state by way of link, and to the tails what fills no
// group; lead is the reduction that it is for.
func (m *machine) cascade(x *execution, a area, lead int, link uint64) error {
	m.tail = 0
	if len(m.f) > 1 {
		return m.addBlocks(x, a, lead, link)
	}
	if m.end = (terminal{sum: link}); x.out != nil {
		m.end.store = x.storing()
	}
	return m.area(a, target{d: x.out})
}

// addTerms adds n terms of the state, and the tails, to an exact sum.
func (m *machine) addTerms(f *folder, n int) {
	f.sum.AddTerms(m.state[:n])
	f.addSlice(m.tails[:m.tail])
}
