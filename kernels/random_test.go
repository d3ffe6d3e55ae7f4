package kernels

import (
	"math"
	"math/rand/v2"

	"flow/ir/types"
	"flow/ir/value"
)

// anyScalar is a number that the tests like: small integers, ordinary floats, and now and then a
// hard case.
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
