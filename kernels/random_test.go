package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"flow/ir/types"
	"flow/ir/value"
)

// anyScalar is a number that the tests like: small integers, ordinary floats, and now and then a hard case.
func anyScalar(r *rand.Rand, e types.Elem) value.Scalar {
	switch e {
	case types.Bool:
		return value.Bool(r.IntN(2) == 1)
	case types.F64, types.F32:
		x := r.NormFloat64() * 3
		switch r.IntN(12) {
		case 0:
			x = float64(r.IntN(7) - 3)
		case 1:
			x = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 1e-310, 2, 0.5, 1.5}[r.IntN(10)]
		}
		return value.F64(x).Convert(e)
	}
	if r.IntN(20) == 0 {
		return value.Scalar{Elem: e, I: []int64{math.MinInt64, math.MaxInt64, -1}[r.IntN(3)]}
	}
	return value.Scalar{Elem: e, I: int64(r.IntN(9) - 4)}
}

// anyDense is a matrix of such numbers, half of the time a view with gaps between its rows.
func anyDense(r *rand.Rand, e types.Elem, rows, cols int) *value.Dense {
	d := value.New(e, rows, cols)
	if r.IntN(2) == 0 {
		d = value.New(e, rows+2, cols+3).View(1, 2, rows, cols)
	}
	for i := range rows {
		for j := range cols {
			d.Set(i, j, anyScalar(r, e))
		}
	}
	return d
}

// differ says where two values differ, "" if they do not: in bits, but that one NaN is as good as another. IEEE 754
// leaves the payload of a NaN made from two open, and compilers swap the operands of an addition.
func differ(a, b value.Value) string {
	if a == nil || b == nil || !a.Type().Equal(b.Type()) {
		return fmt.Sprintf("%v against %v", a, b)
	}
	if x, ok := a.(value.Scalar); ok {
		if y := b.(value.Scalar); !sameScalar(x, y) {
			return fmt.Sprintf("%v against %v", x, y)
		}
		return ""
	}
	if x, ok := a.(*value.CSR); ok {
		y := b.(*value.CSR)
		if x.NNZ() != y.NNZ() {
			return fmt.Sprintf("%d entries against %d", x.NNZ(), y.NNZ())
		}
		a, b = everyElement(x), everyElement(y)
	}
	x, y := a.(*value.Dense), b.(*value.Dense)
	for i := range x.Rows {
		for j := range x.Cols {
			if u, v := x.At(i, j), y.At(i, j); !sameScalar(u, v) {
				return fmt.Sprintf("at (%d, %d): %v against %v", i, j, u, v)
			}
		}
	}
	return ""
}

func sameScalar(a, b value.Scalar) bool {
	return a.Same(b) || a.Elem == b.Elem && math.IsNaN(a.F) && math.IsNaN(b.F)
}
