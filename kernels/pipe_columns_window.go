package kernels

// This file runs the loop that reduces columns on a window, and takes over what its states hold.

import (
	"slices"
	"unsafe"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

// columnWindow runs the loop on a window, to the states of its columns. If many columns lose bits, the
// loop is bound with more levels, and the window runs again if its operands have not been overwritten.
func (m *machine) columnWindow(p area) error {
	n := &m.nest.columns
	w := n.worker
	for k, words := range [...][]uint64{n.words, n.next} {
		m.nest.view = denseOver(dense.Slab{I64: asInts(words)}, types.I64, n.planes, n.width, n.width)
		number := n.states(m)
		if k > 0 {
			if number = n.result(m); n.stored {
				number++
			}
		}
		w.Place(number, &m.nest.view, 0, n.j0)
	}
	w.Scalar(len(m.in)+2, value.I64(int64(p.i0)))
	w.Scalar(len(m.in)+3, value.I64(int64(p.i1)))
	flagged, err := w.Window(0, 1, p.j0, p.j1, nil)
	switch {
	case err != nil:
		return err
	case flagged:
		return m.areaFailure(n.inSpace(m, p))
	}
	lost, wide := false, false
	for k := range n.parts {
		n.doubts(&n.parts[k], p)
		lost, wide = lost || len(n.lost) > 0, wide || n.many(p)
	}
	if wide && !n.x.alias && m.deepen() {
		return m.columnWindow(p)
	}
	for k := range n.parts {
		x := &n.parts[k]
		if lost && len(n.parts) > 1 {
			n.doubts(x, p)
		}
		if n.many(p) {
			n.lost = append(n.lost[:0], p)
		}
		from := p.j0
		for _, a := range n.lost {
			n.keep(x, from, a.j0)
			from = a.j1
			if err := m.addAgain(n.x, n.inSpace(m, a), *x); err != nil {
				return err
			}
		}
		n.keep(x, from, p.j1)
	}
	if wide && n.x.alias {
		m.deepen()
	}
	return nil
}

// many reports that too many columns have lost bits to add them one by one.
func (n *columnNest) many(p area) bool {
	return n.side > 0 && len(n.lost) > 0 || len(n.lost) > p.cols()/fewLost
}

// fewLost divides the columns of a window. If a greater part has lost bits, all columns are added
// again.
const fewLost = 32

// doubts sets lost to the columns of the last window in which a part has lost bits.
func (n *columnNest) doubts(x *foldPart, p area) {
	n.lost = n.lost[:0]
	if x.state.Lost < 0 {
		return
	}
	at := (x.plane+x.state.Lost)*n.width - n.j0
	lost := uint64(0)
	for _, w := range n.next[at+p.j0 : at+p.j1] {
		lost |= w << 1
	}
	for j := p.j0; lost != 0 && j < p.j1; j++ {
		if n.next[at+j]<<1 != 0 {
			n.lost = append(n.lost, area{p.i0, p.i1, j, j + 1})
		}
	}
}

// keep takes over the states of part x of columns j0..j1-1 from the last window.
func (n *columnNest) keep(x *foldPart, j0, j1 int) {
	for k := range x.state.Types {
		at := (x.plane+k)*n.width - n.j0
		copy(n.words[at+j0:at+j1], n.next[at+j0:])
	}
}

// empty makes the states empty, if they are not in use.
func (n *columnNest) empty() {
	if n.begun {
		return
	}
	n.begun = true
	n.words, n.next = dense.Resized(n.words, n.planes*n.width), dense.Resized(n.next, n.planes*n.width)
	for _, x := range n.parts {
		for k, w := range x.state.Empty {
			vec.Fill(asInts(n.words[(x.plane+k)*n.width:][:n.width]), int64(w))
		}
	}
}

// places reports a reduction that says in which row something lies.
func (n *columnNest) places() bool {
	return slices.ContainsFunc(n.parts, func(p foldPart) bool { return p.class == loop.ArgLeast || p.class == loop.ArgGreatest })
}

// takeColumns moves what the loop has reduced to the accumulators.
func (m *machine) takeColumns() {
	n := &m.nest.columns
	if n.worker == nil || !n.begun {
		return
	}
	for k := range n.parts {
		n.take(m, &n.parts[k])
	}
	n.begun = false
}

func (n *columnNest) stateWords(x *foldPart) []uint64 {
	return n.words[x.plane*n.width:][:len(x.state.Types)*n.width]
}

// take moves what the loop has reduced of one part.
func (n *columnNest) take(m *machine, x *foldPart) {
	f := &m.f[x.fold]
	words, cols := n.stateWords(x), n.cols
	if x.sum >= 0 {
		for j := range n.width {
			line := 0
			if f.Axis == reduce.OverCols {
				line = n.j0 + j%cols
			}
			x.addTo(f.Adder(x.sum, line), words, n.width, j)
		}
		return
	}
	for at := 0; at < n.width; at += cols {
		if f.Arg {
			n.takePlaces(f, x, words, at)
			continue
		}
		e := dense.Storage(x.class.Gives(x.of))
		if n.row == nil || n.row.Elem != e || n.row.Cols != cols {
			n.row = value.New(e, 1, cols)
		}
		x.state.Results(n.row, 0, 1, words, n.width, at, at+cols)
		if f.Axis == reduce.OverCols {
			f.JoinRow(n.row)
			continue
		}
		for j := range cols {
			f.Join(0, n.row.At(0, j))
		}
	}
}

// takePlaces moves the places of extreme elements, from those of column number at of the loop on.
func (n *columnNest) takePlaces(f *folder, x *foldPart, words []uint64, at int) {
	wide := x.state.Types[0]
	for j := range n.cols {
		i := int(int64(words[n.width+at+j]))
		if i < 0 {
			continue
		}
		if n.side > 0 {
			i = n.first + i*n.side + at/n.cols
		}
		f.Place(n.j0+j, loop.ScalarOf(wide, words[at+j]), i)
	}
}

// addTo adds state j of places to an exact sum.
func (x *foldPart) addTo(to loop.Adder, words []uint64, places, j int) {
	switch v, by := int64(words[j]), 1.0; {
	case x.sum >= 0 && !x.of.IsFloat():
		if x.half == upper {
			by = 1 << halfBits
		}
		to.Add(float64(v>>31) * (1 << 31) * by)
		to.Add(float64(v&(1<<31-1)) * by)
	default:
		x.state.Sums(words, places, j, to, to)
	}
}

func asInts(words []uint64) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
