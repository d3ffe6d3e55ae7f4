package exact

// This file defines the accumulator: adding, merging, carrying, and its form as words for messages.

import (
	"fmt"
	"math"
	"math/bits"
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

// Sum is an exact sum of float64 values. The zero Sum is empty and ready. It must not be used by two goroutines at
// once; copying one copies its value.
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

// AddInt adds the integer v.
func (s *Sum) AddInt(v int64) {
	neg := v >> 63
	s.shifted(uint64((v^neg)-neg), -unit, neg)
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
	s.carry()
	c := *o
	c.carry()
	for i, v := range c.limb {
		s.limb[i] += v
	}
	s.flags |= c.flags
	s.pending = 1
}

// carry brings every limb but the last into [0, 2^32). The form is unique, so that equal sums have equal words.
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

// PutWords writes the sum to dst, which has length Words. Equal sums give equal words, whatever their history.
func (s *Sum) PutWords(dst []int64) {
	s.carry()
	copy(dst[:limbs], s.limb[:])
	dst[limbs] = s.flags
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

// Round is the float64 nearest to the sum, ties to even; an exact zero is +0. It overflows to an infinity only if
// the exact sum does.
func (s *Sum) Round() float64 { return s.round(53, 0) }

// Round32 is the float32 nearest to the sum: one rounding, not one to float64 first.
func (s *Sum) Round32() float32 { return float32(s.round(24, -149-unit)) }

// round gives the nearest number of prec bits that is a multiple of 2^(lowest+unit).
func (s *Sum) round(prec, lowest int) float64 {
	switch both := int64(sawPlusInf | sawMinusInf); {
	case s.flags&sawNaN != 0 || s.flags&both == both:
		return math.NaN()
	case s.flags&sawPlusInf != 0:
		return math.Inf(1)
	case s.flags&sawMinusInf != 0:
		return math.Inf(-1)
	}
	s.carry()
	a, sign := s.limb, 1.0
	if a[limbs-1] < 0 {
		sign = -1
		c := int64(0)
		for i := range limbs - 1 {
			v := c - a[i]
			a[i], c = v&math.MaxUint32, v>>32
		}
		a[limbs-1] = c - a[limbs-1]
	}
	top := limbs - 1
	for top >= 0 && a[top] == 0 {
		top--
	}
	if top < 0 {
		return 0
	}
	high := 32*top + bits.Len64(uint64(a[top])) - 1 // the highest bit that is set
	shift := max(high-prec+1, lowest)
	m := window(&a, shift)
	if shift > 0 && bit(&a, shift-1) && (m&1 == 1 || anyBelow(&a, shift-1)) {
		m++
	}
	return sign * math.Ldexp(float64(m), shift+unit) // m has at most prec+1 bits, so that float64(m) is exact
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

// anyBelow reports a set bit below position p.
func anyBelow(a *[limbs]int64, p int) bool {
	for i := range p >> 5 {
		if a[i] != 0 {
			return true
		}
	}
	return a[p>>5]&(1<<(p&31)-1) != 0
}
