package exact

// This file defines the accumulator: adding, merging, carrying, and its form as words for messages.

import (
	"fmt"
	"math"
	"math/bits"

	"flow/ir/loop"
)

const (
	limbs = 68 // 2098 bits of exponent range and mantissa, 64 bits of room for carries, a sign
	// Words is the length of a Sum as words: the limbs and a word of flags.
	Words = limbs + 1
	// unit is the exponent of the lowest bit of limb 0: the least subnormal, 2^-1074.
	unit = -1074
	// maxPending adds change a limb by less than 2^32 each, so that a carried limb stays below 2^63.
	maxPending = 1 << 30

	fracBits = 52
	fracMask = 1<<fracBits - 1
	expMask  = 0x7ff
)

// The flags of values that are no real number. They are sticky and merge by or.
const (
	sawNaN = 1 << iota
	sawPlusInf
	sawMinusInf
)

// Sum is an exact sum of float64 values. The zero Sum is empty and ready. It must not be used by
// two goroutines at once; copying one copies its value.
type Sum struct {
	limb    [limbs]int64 // value = sum of limb[i] * 2^(32 i + unit); every limb but the last in [0, 2^32) after carry
	flags   int64
	pending int // adds since the last carry
}

// Reset empties the sum.
func (s *Sum) Reset() { *s = Sum{} }

// Add adds x. A NaN or an infinity decides the result as in IEEE addition; inf and -inf make NaN.
func (s *Sum) Add(x float64) {
	b := math.Float64bits(x)
	e := int(b>>fracBits) & expMask
	m := b & fracMask
	if e == expMask {
		s.special(b)
		return
	}
	if e != 0 {
		m |= 1 << fracBits
		e--
	}
	s.shifted(m, e, int64(b)>>63)
}

// AddInts adds every element of x.
func (s *Sum) AddInts(x []int64) {
	hi, lo := sumInts(x)
	s.shifted(lo, -unit, 0)
	neg := hi >> 63
	s.shifted(uint64((hi^neg)-neg), 64-unit, neg)
}

// sumInts is the sum of x, of fewer than 2^63 elements, as hi * 2^64 + lo.
func sumInts(x []int64) (hi int64, lo uint64) {
	for _, v := range x {
		var c uint64
		lo, c = bits.Add64(lo, uint64(v), 0)
		hi += v>>63 + int64(c)
	}
	return hi, lo
}

// shifted adds mag * 2^(p+unit), negated when neg is -1 (0 otherwise).
func (s *Sum) shifted(mag uint64, p int, neg int64) {
	if s.pending >= maxPending {
		s.carry()
	}
	s.pending++
	k, r := p>>5, uint(p&31)
	lo, hi := mag<<r, mag>>(64-r) // a shift by 64 gives 0
	w := s.limb[k : k+3 : k+3]
	w[0] += (int64(lo&math.MaxUint32) ^ neg) - neg
	w[1] += (int64(lo>>32) ^ neg) - neg
	w[2] += (int64(hi) ^ neg) - neg
}

// special notes an infinity or a NaN by its bits.
func (s *Sum) special(b uint64) {
	switch {
	case b&fracMask != 0:
		s.flags |= sawNaN
	case b>>63 == 0:
		s.flags |= sawPlusInf
	default:
		s.flags |= sawMinusInf
	}
}

// Merge adds what o holds; o keeps its value.
func (s *Sum) Merge(o *Sum) {
	if s.pending+o.pending >= maxPending {
		c := *o
		c.carry()
		o = &c
		s.carry()
	}
	for i, v := range &o.limb {
		s.limb[i] += v
	}
	s.flags |= o.flags
	s.pending += o.pending + 1 // a limb is below 2^32 times one more than that
}

// carry brings every limb but the last into [0, 2^32). The form is unique, so that equal sums have
// equal words.
func (s *Sum) carry() {
	s.pending = 0
	c := int64(0)
	for i := range limbs - 1 {
		v := s.limb[i] + c
		s.limb[i] = v & math.MaxUint32
		c = v >> 32
	}
	s.limb[limbs-1] += c
}

// PutWords writes the sum to dst, which has length Words. Equal sums give equal words, whatever
// their history.
func (s *Sum) PutWords(dst []int64) {
	s.carry()
	copy(dst[:limbs], s.limb[:])
	if dst[limbs] = s.flags; s.isNaN() {
		dst[limbs] = sawNaN
	}
}

// isNaN reports that the sum is NaN: it has a NaN, or infinities of both signs.
func (s *Sum) isNaN() bool {
	const both = sawPlusInf | sawMinusInf
	return s.flags&sawNaN != 0 || s.flags&both == both
}

// FromWords is the sum that PutWords wrote. It panics if w has another length.
func FromWords(w []int64) Sum {
	if len(w) != Words {
		panic(fmt.Sprintf("BUG: %d words of an exact sum", len(w)))
	}
	var s Sum
	copy(s.limb[:], w)
	s.flags = w[limbs]
	s.pending = 1
	return s
}

// JoinWords writes to dst the words of the sum of all sums whose words are in from. dst may be one of
// these.
func JoinWords(dst []int64, from ...[]int64) {
	s := FromWords(from[0])
	for _, w := range from[1:] {
		for i, v := range w[:limbs] { // all but the last below 2^32
			s.limb[i] += v
		}
		s.flags |= w[limbs]
	}
	s.PutWords(dst)
}

// Round is the float64 nearest to the sum, ties to even; an exact zero is +0. It overflows to an
// infinity only if the exact sum does.
func (s *Sum) Round() float64 { return s.round(53, 0) }

// Round32 is the float32 nearest to the sum: one rounding, not one to float64 first.
func (s *Sum) Round32() float32 { return float32(s.round(24, -149-unit)) }

// round gives the nearest number of prec bits that is a multiple of 2^(lowest+unit).
func (s *Sum) round(prec, lowest int) float64 {
	if x, ok := s.notFinite(); ok {
		return x
	}
	var a [limbs]int64
	low, top, sign := s.magnitude(&a)
	if top < 0 {
		return 0
	}
	high := 32*top + bits.Len64(uint64(a[top])) - 1 // the highest bit that is set
	shift := max(high-prec+1, lowest)
	m := window(&a, shift)
	if shift > 0 && bit(&a, shift-1) && (m&1 == 1 || anyBelow(&a, low, shift-1)) {
		m++
	}
	return sign * math.Ldexp(float64(m), shift+unit) // m has at most prec+1 bits, so that float64(m) is exact
}

// notFinite is the value of a sum of which some number was not finite.
func (s *Sum) notFinite() (x float64, ok bool) {
	switch {
	case s.flags == 0:
		return 0, false
	case s.isNaN():
		return math.NaN(), true
	case s.flags&sawPlusInf != 0:
		return math.Inf(1), true
	}
	return math.Inf(-1), true
}

// magnitude writes the absolute value to a, whose elements are zero, in limbs from 0 to 2^32. Those
// below low are zero; top is the highest that is not, -1 if there is none. Few limbs of most sums
// are not zero, and only those are carried.
func (s *Sum) magnitude(a *[limbs]int64) (low, top int, sign float64) {
	sign = 1
	for low < limbs && s.limb[low] == 0 {
		low++
	}
	if low == limbs {
		return 0, -1, sign
	}
	top = limbs - 1
	for s.limb[top] == 0 {
		top--
	}
	end := min(top+2, limbs-1) // a limb below 2^63 carries less than 2^31 to the next, and that nothing but a sign
	c := int64(0)
	for i := low; i < end; i++ {
		v := s.limb[i] + c
		a[i], c = v&math.MaxUint32, v>>32
	}
	if a[end] = s.limb[end] + c; a[end] < 0 {
		sign, c = -1, 0
		for i := low; i < end; i++ {
			v := c - a[i]
			a[i], c = v&math.MaxUint32, v>>32
		}
		a[end] = c - a[end]
	}
	for top = end; top >= 0 && a[top] == 0; {
		top--
	}
	return low, top, sign
}

// Expand writes the sum to t, of falling magnitude and one sign, the next 53 bits of it each. What
// is left of it is below 2^-158 of it; whole says that it is nothing. The sum must be finite; ok is
// false where it is not.
func (s *Sum) Expand(t *[3]float64) (whole, ok bool) {
	if s.flags != 0 {
		return false, false
	}
	*t = [3]float64{}
	var a [limbs]int64
	low, top, sign := s.magnitude(&a)
	if top < 0 {
		return true, true
	}
	end := 32*top + bits.Len64(uint64(a[top])) // of the bits that are to be written
	for k := range t {
		shift := max(end-53, 0)
		t[k] = sign * math.Ldexp(float64(window(&a, shift)&(1<<(end-shift)-1)), shift+unit)
		if end = shift; end == 0 {
			return true, true
		}
	}
	return !anyBelow(&a, low, end), true
}

// window is the bits from position p up, of which the caller knows that they fit into 53.
func window(a *[limbs]int64, p int) uint64 {
	k, r := p>>5, uint(p&31)
	v := uint64(a[k]) >> r
	if k+1 < limbs {
		v |= uint64(a[k+1]) << (32 - r)
	}
	if k+2 < limbs {
		v |= uint64(a[k+2]) << (64 - r)
	}
	return v
}

func bit(a *[limbs]int64, p int) bool { return a[p>>5]>>(p&31)&1 != 0 }

// anyBelow reports a set bit below position p, of limbs of which those below low are zero.
func anyBelow(a *[limbs]int64, low, p int) bool {
	for i := low; i < p>>5; i++ {
		if a[i] != 0 {
			return true
		}
	}
	return a[p>>5]&(1<<(p&31)-1) != 0
}

// Reduced returns the result of a sum, mean, norm, variance or standard deviation of n numbers, from
// their exact sum and that of their squares. A sum that the class does not need may be any. The result
// is rounded once before a root or a division: a sum to float32 and a variance to float32 if narrow.
func Reduced(c loop.Class, sum, squares *Sum, n int, narrow bool) float64 {
	switch c {
	case loop.Norm:
		return math.Sqrt(squares.Round())
	case loop.Mean:
		return sum.Round() / float64(n)
	case loop.Var:
		return VarianceOf(sum, squares, n, narrow)
	case loop.Stddev:
		return math.Sqrt(VarianceOf(sum, squares, n, false))
	}
	if narrow {
		return float64(sum.Round32())
	}
	return sum.Round()
}
