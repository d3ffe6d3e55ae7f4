package vec

// This file makes counter-based uniform numbers.

const (
	golden = 0x9E3779B97F4A7C15
	mix1   = 0xBF58476D1CE4E5B9
	mix2   = 0x94D049BB133111EB
)

// U01 is a float in [0, 1) from the state z of SplitMix64.
func U01(z uint64) float64 {
	z = (z ^ z>>30) * mix1
	z = (z ^ z>>27) * mix2
	return float64(int64((z^z>>31)>>11)) * 0x1p-53 // int64: a conversion from unsigned would branch
}

// Uniform sets dst to the numbers k, k+1, ... of the seed, uniform in [0, 1).
func Uniform(dst []float64, seed, k uint64) { UniformStep(dst, seed, k, 1) }

// UniformStep sets dst to the numbers k, k+step, k+2*step, ... of the seed.
func UniformStep(dst []float64, seed, k, step uint64) {
	z := seed + (k+1)*golden
	d := step * golden
	i := uniformWhole(dst, z, d)
	z += uint64(i) * d
	for ; i+4 <= len(dst); i += 4 {
		o := (*[4]float64)(dst[i:])
		o[0], o[1], o[2], o[3] = U01(z), U01(z+d), U01(z+2*d), U01(z+3*d)
		z += 4 * d
	}
	for ; i < len(dst); i++ {
		dst[i] = U01(z)
		z += d
	}
}
