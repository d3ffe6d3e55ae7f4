package interp

// This file compares what another target has stored with what the interpreter would store.

import (
	"fmt"

	"flow/ir/types"
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
func (w *Worker) Compare() { w.comparing = true }

// compare is a store of a comparing worker.
func (w *Worker) compare(k int, a access, x *slab, at, step int, regular bool, n int) int {
	d := w.out[k]
	lane := -1
	if regular {
		lane = a.differs(d, at, step, x, n)
		at += lane * step
	} else if lane = a.differsAt(d, w.places[:n], x); lane >= 0 {
		at = w.places[lane]
	}
	if lane < 0 {
		return n
	}
	var there slab
	a.view(&there, d, at, 1)
	number := at + w.origins[len(w.in)+k]
	w.err = &Difference{k, number / d.Stride, number % d.Stride, scalarOf(d.Elem, a, &there, 0), scalarOf(d.Elem, a, x, lane)}
	return 0
}

func scalarOf(e types.Elem, a access, x *slab, k int) value.Scalar {
	switch word := a.word(x, k); e {
	case types.F64:
		return value.F64(wordF64(word))
	case types.F32:
		return value.F64(float64(wordF32(word))).Convert(e)
	default:
		return value.Scalar{Elem: e, I: int64(word)}
	}
}
