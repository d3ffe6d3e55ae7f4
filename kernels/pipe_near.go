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

// sumNear adds an area of at most vec.NearCount elements to the exact sum by the cascade for elements that are near one
// another in size; false if they are not, or if it is not for this reduction.
func (m *machine) sumNear(a area) (done bool, err error) {
	f := &m.f
	switch {
	case f.squares() || loopUnit > vec.NearCount:
		return false, nil
	case f.near.wait > 0:
		f.near.wait--
		return false, nil
	case !f.near.known:
		if err := m.sample(a); err != nil {
			return false, err
		}
	}
	m.state.Near(f.near.exp)
	m.end.sum = vec.LinkNearSum
	if err := m.cascade(a); err != nil {
		return false, err
	}
	n, ok := vec.ChainNearSum(m.state, f.near.exp)
	if !ok {
		f.near = near{wait: patience}
		return false, nil
	}
	m.addTerms(n)
	return true, nil
}

// sample sets the expectation from the first elements of an area.
func (m *machine) sample(a area) error {
	b, err := m.make(area{a.i0, a.i0 + 1, a.j0, min(a.j1, a.j0+sampleElems)})
	if err != nil {
		return err
	}
	top := 0.0
	for _, v := range b.F64[:b.Cols] {
		if v = math.Abs(v); v > top { // no NaN is
			top = v
		}
	}
	_, m.f.near.exp = math.Frexp(top)
	m.f.near.known = true
	return nil
}

// cascade runs the program on an area; its sum goes to the state, and to the tails what fills no group.
func (m *machine) cascade(a area) error {
	m.tail = 0
	m.end.store = vec.LinkEnd
	return m.area(a, target{})
}

// addTerms adds n terms of the state, and the tails, to the exact sum.
func (m *machine) addTerms(n int) {
	f := &m.f
	f.sum.AddTerms(m.state[:n])
	if f.squares() {
		f.sum.AddSquares(m.tails[:m.tail])
	} else {
		f.sum.AddSlice(m.tails[:m.tail])
	}
}
