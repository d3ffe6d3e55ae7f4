package kernels

import (
	"math"
	"math/big"
)

// fma32Exact is the fused multiply-add by exact arithmetic on finite numbers.
func fma32Exact(x, y, z float32) float32 {
	for _, v := range []float32{x, y, z} {
		if v != v || math.IsInf(float64(v), 0) {
			return float32(float64(x)*float64(y) + float64(z)) // no rounding is involved
		}
	}
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	sum := exact(0).Mul(exact(x), exact(y))
	sum.Add(sum, exact(z))
	if sum.Sign() == 0 {
		return float32(float64(x)*float64(y) + float64(z)) // the sign of an exact zero is IEEE's
	}
	f, _ := sum.Float32()
	return f
}
