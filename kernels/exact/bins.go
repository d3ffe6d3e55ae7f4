package exact

// This file adds long slices. Where the CPU has vectors, error-free cascades (short.go, of vectors
// in package vec) sum a chunk to a few terms and notice when they cannot; then, and elsewhere, the
// elements go to bins: one integer an exponent, emptied into the limbs every few thousand elements.
//
// Four tables take turns, because neighbours mostly have the same exponent and a bin would wait for its
// own last store.

import (
	"math"
	"math/bits"

	"flow/kernels/vec"
)

const (
	lanes = 4
	// batch is how many elements go between two emptyings: a bin takes 2^10 mantissas of 53 bits in
	// 63.
	batch = lanes << 10
	// short slices are added by a scalar cascade: the terms of a vector cascade would cost more.
	short = 192
	// chunk is how many elements a cascade takes at a time: few enough that its error terms fit
	// into 53 bits for ordinary data, enough to spread the cost of its 64 terms.
	chunk = 8192
	// patience is how many chunks go to the bins after a cascade has failed, before it is tried
	// again.
	patience = 16
)

// bins holds signed sums of mantissas by biased exponent, lane by lane.
type bins [lanes][expMask + 1]int64

// AddSlice adds every element of x.
func (s *Sum) AddSlice(x []float64) {
	var terms vec.Terms
	for bad := 0; len(x) >= short; {
		part := x[:min(len(x), chunk)]
		if bad == 0 {
			n, done, ok := vec.CascadeF64(part, false, &terms)
			if ok {
				s.addAll(terms[:n])
				x = x[done:]
				continue
			}
			bad = patience // wide data will be wide for a while
		}
		bad--
		s.addBins(part)
		x = x[len(part):]
	}
	s.addFew(x)
}

// AddSlice32 adds every element of x.
func (s *Sum) AddSlice32(x []float32) { s.add32(x, false) }

// AddSquares32 adds the square of every element of x, exactly.
func (s *Sum) AddSquares32(x []float32) { s.add32(x, true) }

func (s *Sum) add32(x []float32, squares bool) {
	var buf [2048]float64
	for len(x) > 0 {
		part := buf[:min(len(x), len(buf))]
		if vec.Convert(part, x[:len(part)]); squares {
			vec.Mul(part, part, part) // a square of 24 bits is exact
		}
		s.AddSlice(part)
		x = x[len(part):]
	}
}

// AddSquares adds the square of every element of x, each as the two float64 h = x*x (rounded) and l
// = x*x-h. That is exact unless the square leaves the range of normal numbers: an overflow counts
// as an infinity, and what lies below 2^-1074 is rounded off element by element. Order and grouping
// cannot change the result even then.
func (s *Sum) AddSquares(x []float64) {
	var terms vec.Terms
	for len(x) >= short {
		part := x[:min(len(x), chunk)]
		if n, done, ok := vec.CascadeF64(part, true, &terms); ok {
			s.addAll(terms[:n])
			x = x[done:]
			continue
		}
		s.addSquaresBins(part)
		x = x[len(part):]
	}
	if a, b, c, ok := triple(x); ok {
		s.addAll([]float64{a, b, c})
		return
	}
	for _, v := range x {
		h, l := Square(v)
		s.Add(h)
		s.Add(l)
	}
}

// addSquaresBins is the way of a part whose cascade was not exact.
func (s *Sum) addSquaresBins(part []float64) {
	var t bins
	var buf [batch]float64
	for len(part) > 0 {
		n := min(len(part), len(buf)/2)
		for i, v := range part[:n] {
			buf[2*i], buf[2*i+1] = Square(v)
		}
		t.add(s, buf[:2*n])
		part = part[n:]
	}
}

// addBins adds x by way of the bins.
func (s *Sum) addBins(x []float64) {
	var t bins // on the stack: clearing it costs as much as a hundred elements
	t.add(s, x)
}

// addFew adds a short slice.
func (s *Sum) addFew(x []float64) {
	if a, b, ok := pair(x); ok {
		s.Add(a)
		s.Add(b)
		return
	}
	s.addAll(x)
}

// addAll adds numbers one at a time.
func (s *Sum) addAll(x []float64) {
	for _, v := range x {
		s.Add(v)
	}
}

// add adds x to s by way of the bins, which it leaves zero.
func (t *bins) add(s *Sum, x []float64) {
	for len(x) > 0 {
		n := min(len(x), batch)
		used := t.fill(x[:n])
		if used>>63 != 0 { // exponents from 2016 up: perhaps an infinity or a NaN
			for _, v := range x[:n] {
				if b := math.Float64bits(v); b>>fracBits&expMask == expMask {
					s.special(b)
				}
			}
		}
		s.drain(t, used)
		x = x[n:]
	}
}

// Square is x*x as h + l, h being the rounded square; l is 0 when h is no finite number.
func Square(x float64) (h, l float64) {
	h = float64(x * x) // not fused with an addition that follows
	if h > math.MaxFloat64 || h != h {
		return h, 0
	}
	return h, math.FMA(x, x, -h)
}

// fill adds at most batch elements to the bins and returns which groups of 32 exponents it touched.
func (t *bins) fill(x []float64) (used uint64) {
	t0, t1, t2, t3 := &t[0], &t[1], &t[2], &t[3]
	for ; len(x) >= lanes; x = x[lanes:] {
		b0, b1, b2, b3 := math.Float64bits(x[0]), math.Float64bits(x[1]), math.Float64bits(x[2]), math.Float64bits(x[3])
		e0, e1, e2, e3 := b0>>fracBits&expMask, b1>>fracBits&expMask, b2>>fracBits&expMask, b3>>fracBits&expMask
		used |= 1<<(e0>>5&63) | 1<<(e1>>5&63) | 1<<(e2>>5&63) | 1<<(e3>>5&63)
		t0[e0] += mantissa(b0, e0)
		t1[e1] += mantissa(b1, e1)
		t2[e2] += mantissa(b2, e2)
		t3[e3] += mantissa(b3, e3)
	}
	for _, v := range x {
		b := math.Float64bits(v)
		e := b >> fracBits & expMask
		used |= 1 << (e >> 5 & 63)
		t0[e] += mantissa(b, e)
	}
	return used
}

// mantissa is the signed 53-bit integer of the number with bits b and biased exponent e; the hidden
// bit is there unless e is 0.
func mantissa(b, e uint64) int64 {
	m := int64(b&fracMask | (e+expMask)>>11<<fracBits)
	neg := int64(b) >> 63
	return (m ^ neg) - neg
}

// drain moves the used bins into the limbs and leaves them zero. Infinities and NaNs have been
// noted before.
func (s *Sum) drain(t *bins, used uint64) {
	for used != 0 {
		g := bits.TrailingZeros64(used)
		used &= used - 1
		for l := range t {
			group := t[l][32*g : 32*g+32]
			for i, v := range group {
				if v == 0 {
					continue
				}
				group[i] = 0
				if e := 32*g + i; e != expMask {
					neg := v >> 63
					s.shifted(uint64((v^neg)-neg), max(e, 1)-1, neg)
				}
			}
		}
	}
}
