package interp

// This file compares what another target has stored with what the interpreter would store.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/value"
)

// Difference is the error of a window that would store another element than there is.
type Difference struct {
	Result   int
	Row, Col int // of the result
	// There is what is stored, Want what the interpreter gives.
	There, Want value.Scalar
}

func (d *Difference) Error() string {
	return fmt.Sprintf("element (%d, %d) of result %d is %v, and the interpreter gives %v", d.Row, d.Col, d.Result, d.There, d.Want)
}

// Compare makes the windows from now on compare: what they would store must be there. The error of
// one that finds something else is a *Difference. Operands must be what they were when the results
// were made.
func (w *Worker) Compare() { w.comparing, w.odd = true, map[[2]int]bool{} }

// compare is a store of a comparing worker. bits says that the words are those of floats. A nan may
// have any nan's bits, and what a nest makes of the bits of such numbers, as a state that watches
// for lost ones does, is not compared either: the words of a column in which an earlier row is not
// finite.
func (w *Worker) compare(k int, a access, x *slab, at, step int, regular, bits bool, n int) int {
	d := w.out[k]
	lane := -1
	if regular {
		lane = a.differs(d, at, step, x, n)
	} else {
		lane = a.differsAt(d, w.places[:n], x)
	}
	number := func(lane int) int {
		if regular {
			return at + lane*step + w.origins[len(w.in)+k]
		}
		return w.places[lane] + w.origins[len(w.in)+k]
	}
	if bits {
		for l := range n {
			if f := wordF64(a.word(x, l)); f-f != 0 {
				w.odd[[2]int{k, number(l) % d.Stride}] = true
			}
		}
	}
	var there slab
	for ; lane >= 0 && lane < n; lane++ {
		m := number(lane)
		a.view(&there, d, m-w.origins[len(w.in)+k], 1)
		have, want := loop.ScalarOf(d.Elem, a.word(&there, 0)), loop.ScalarOf(d.Elem, a.word(x, lane))
		if have.Same(want) || w.odd[[2]int{k, m % d.Stride}] {
			continue
		}
		w.err = &Difference{k, m / d.Stride, m % d.Stride, have, want}
		return 0
	}
	return n
}
