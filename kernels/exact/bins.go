package exact

// This file adds long slices. Where the CPU has vectors, error-free cascades (short.go, of vectors
// in package vec) sum a chunk to a few terms and notice when they cannot; then, and elsewhere, the
// elements go to bins, one for each limb, which are emptied into the limbs every few thousand
// elements. Bins of single exponents, as Neal's large form has them, took half as long again for
// numbers of a thousand exponents: nearly as many bins were emptied as numbers came.
//
// Four tables take turns, because neighbours mostly go to the same bins and a bin would wait for its
// own last store.

import (
	"math"

	"flow/kernels/vec"
)

const (
	lanes = 4
	// batch is how many elements go between two emptyings: a bin takes 2^10 parts of 53 bits in 63.
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

// bins holds what goes to each limb, one table a lane.
type bins [lanes][65]int64

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
	var t bins
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
		if t.fill(x[:n]) {
			s.addAll(x[:n])
			*t = bins{}
		} else {
			s.drain(t)
		}
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

// fill adds at most batch elements to bins that are zero. special tells that an element is an infinity
// or a NaN. The contents of the bins then mean nothing.
func (t *bins) fill(x []float64) (special bool) {
	t0, t1, t2, t3 := &t[0], &t[1], &t[2], &t[3]
	top := uint64(0)
	for ; len(x) >= lanes; x = x[lanes:] {
		k0, lo0, hi0, e0 := cut(x[0])
		k1, lo1, hi1, e1 := cut(x[1])
		k2, lo2, hi2, e2 := cut(x[2])
		k3, lo3, hi3, e3 := cut(x[3])
		top |= e0 | e1 | e2 | e3
		t0[k0] += lo0
		t0[k0+1] += hi0
		t1[k1] += lo1
		t1[k1+1] += hi1
		t2[k2] += lo2
		t2[k2+1] += hi2
		t3[k3] += lo3
		t3[k3+1] += hi3
	}
	for _, v := range x {
		k, lo, hi, e := cut(v)
		top |= e
		t0[k] += lo
		t0[k+1] += hi
	}
	return top > expMask
}

// cut returns the bin k below 64 of x, and what of x goes there and to the bin above: x is
// (lo + hi * 2^32) * 2^(32 k + unit), where lo is not negative. above exceeds expMask where x is not
// finite.
func cut(x float64) (k uint64, lo, hi int64, above uint64) {
	b := math.Float64bits(x)
	e := b >> fracBits & expMask
	normal := (e + expMask) >> 11
	neg := int64(b) >> 63
	m := (int64(b&fracMask|normal<<fracBits) ^ neg) - neg
	p := e - normal
	r := p & 31
	return p >> 5 & 63, m << r & math.MaxUint32, m >> (32 - r), e + 1
}

// drain moves the bins into the limbs and leaves them zero.
func (s *Sum) drain(t *bins) {
	for l := range t {
		for k, v := range &t[l] {
			if v != 0 {
				neg := v >> 63
				s.shifted(uint64((v^neg)-neg), 32*k, neg)
			}
		}
	}
	*t = bins{}
}
