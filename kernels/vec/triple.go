package vec

// Sum3F64 is dst = a + b + c, each rounded once, as far as it goes: n elements. ok is false when it met a sum that is not finite;
// then dst is not to be used. Without AVX-512 n is 0. dst must not be an input.
func Sum3F64(dst, a, b, c []float64) (n int, ok bool) { return sum3(dst, a, b, c) }
