package sparse

// This file defines the product of two sparse matrices, row by row (F. Gustavson, Two fast
// algorithms for sparse matrices, ACM TOMS 4(3), 1978): row i of the product is the sum of the rows
// of b that row i of a names.
//
// It goes over the rows of a twice: the first pass counts the columns that a row touches, which
// says where each row of the result goes; the second computes it there. Units of both are cut by
// multiplications.

import (
	"math"
	"math/bits"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/dense"
)

// gustavson is a product in the making.
type gustavson[T dense.Factor] struct {
	*mapLoop[T] // it ends as an elementwise operator does: sums that are zero are left out
	a, b        *value.CSR
	x, y        []T                                     // the values of a and b; nil: all are one
	add         func(sum []T, u T, cols []int32, v []T) // see scatterOf
	rows        []scatterRow[T]                         // of each worker
}

func newGustavson[T dense.Factor](c *op.Call, units, workers int) *UnitLoop {
	a, b := c.In[0].(*value.CSR), c.In[1].(*value.CSR)
	g := &gustavson[T]{
		mapLoop: &mapLoop[T]{c: c, out: value.NewCSR(c.Type.Elem, a.Rows, b.Cols, 0)}, a: a, b: b, x: numbersOf[T](a, c.Type.Elem),
		y: numbersOf[T](b, c.Type.Elem), add: scatterOf[T](), rows: make([]scatterRow[T], workers),
	}
	return &UnitLoop{
		RowCut: cutByMeetings(units, a, b),
		Passes: append([]Pass{{g.count, g.layOut}}, g.ends(g.fill)...),
	}
}

// cutByMeetings cuts the rows of a by the multiplications of a @ b.
func cutByMeetings(units int, a, b *value.CSR) RowCut {
	work := make([]int64, a.Rows+1)
	for i := range a.Rows {
		cols, _ := a.Row(i)
		n := int64(1)
		for _, k := range cols {
			n += 1 + b.Ptr[k+1] - b.Ptr[k]
		}
		work[i+1] = work[i] + n
	}
	return RowCut{Rows: a.Rows, Units: units, Before: func(i int) int64 { return work[i] }}
}

// worker is the scratch row of a worker.
func (g *gustavson[T]) worker(w int) *scatterRow[T] {
	s := &g.rows[w]
	if s.bits == nil {
		words := g.b.Cols/64 + 1
		s.bits, s.top = make([]uint64, words), make([]uint64, words/64+1)
	}
	return s
}

// count writes the lengths of rows lo..hi-1 to the row pointers behind them.
func (g *gustavson[T]) count(worker, lo, hi int) error {
	s := g.worker(worker)
	for i := lo; i < hi; i++ {
		rows, _ := g.a.Row(i)
		if len(rows) == 1 {
			k := rows[0]
			g.out.Ptr[i+1] = g.b.Ptr[k+1] - g.b.Ptr[k]
			continue
		}
		s.begin()
		for _, k := range rows {
			cols, _ := g.b.Row(int(k))
			s.mark(cols)
		}
		g.out.Ptr[i+1] = s.count()
	}
	return nil
}

// fill computes rows lo..hi-1.
func (g *gustavson[T]) fill(worker, lo, hi int) error {
	s := g.worker(worker)
	if s.sum == nil {
		s.sum = make([]T, g.b.Cols)
	}
	for i := lo; i < hi; i++ {
		rows, at := g.a.Row(i)
		s.begin()
		for p, k := range rows {
			u := T(1)
			if g.x != nil {
				u = g.x[at+p]
			}
			cols, from := g.b.Row(int(k))
			s.mark(cols)
			if g.y == nil {
				addOnes(s.sum, u, cols)
			} else {
				g.add(s.sum, u, cols, g.y[from:from+len(cols)])
			}
		}
		p, q := g.out.Ptr[i], g.out.Ptr[i+1]
		if s.take(g.out.Col[p:q], g.val[p:q]) {
			g.zero.Store(true)
		}
	}
	return nil
}

// scatterRow is a row in the making: its sums lie where their columns are. Two levels of bits say
// which columns have been touched, so that they come out in order without being sorted: top has a
// bit for each word of bits. Between rows all of it is zero.
type scatterRow[T dense.Cell] struct {
	sum       []T
	bits, top []uint64
	lo, hi    int32 // words of top with bits
	_         [64]byte
}

func (s *scatterRow[T]) begin() { s.lo, s.hi = math.MaxInt32, -1 }

// mark notes ascending columns.
func (s *scatterRow[T]) mark(cols []int32) {
	if len(cols) == 0 {
		return
	}
	s.lo, s.hi = min(s.lo, cols[0]>>12), max(s.hi, cols[len(cols)-1]>>12)
	bits, top := s.bits, s.top
	for _, j := range cols {
		bits[j>>6] |= 1 << (j & 63)
		top[j>>12] |= 1 << (j >> 6 & 63)
	}
}

// count is how many columns have been marked; it forgets them.
func (s *scatterRow[T]) count() int64 {
	n := 0
	for t := s.lo; t <= s.hi; t++ {
		for m := s.top[t]; m != 0; m &= m - 1 {
			w := int(t)<<6 + bits.TrailingZeros64(m)
			n += bits.OnesCount64(s.bits[w])
			s.bits[w] = 0
		}
		s.top[t] = 0
	}
	return int64(n)
}

// take writes the columns that have been marked and their sums, which it sets to zero again, and
// reports whether one was zero.
func (s *scatterRow[T]) take(col []int32, val []T) (zero bool) {
	n := 0
	for t := s.lo; t <= s.hi; t++ {
		for m := s.top[t]; m != 0; m &= m - 1 {
			w := int(t)<<6 + bits.TrailingZeros64(m)
			for b := s.bits[w]; b != 0; b &= b - 1 {
				j := w<<6 + bits.TrailingZeros64(b)
				v := s.sum[j]
				col[n], val[n] = int32(j), v
				s.sum[j] = 0
				zero = zero || v == 0
				n++
			}
			s.bits[w] = 0
		}
		s.top[t] = 0
	}
	return zero
}

// scatterOf returns what adds u times a row to sum: sum[cols[k]] += u * v[k], fused.
func scatterOf[T dense.Factor]() func(sum []T, u T, cols []int32, v []T) {
	var add any = addI64
	switch any(*new(T)).(type) {
	case float64:
		add = addF64
	case float32:
		add = addF32
	}
	return add.(func(sum []T, u T, cols []int32, v []T))
}

// addOnes adds u times a row of ones.
func addOnes[T dense.Factor](sum []T, u T, cols []int32) {
	for _, j := range cols {
		sum[j] += u
	}
}

func addF64(sum []float64, u float64, cols []int32, v []float64) {
	v = v[:len(cols)]
	for k, j := range cols {
		sum[j] = math.FMA(u, v[k], sum[j])
	}
}

func addF32(sum []float32, u float32, cols []int32, v []float32) {
	v = v[:len(cols)]
	for k, j := range cols {
		sum[j] = blas.FMA(u, v[k], sum[j])
	}
}

func addI64(sum []int64, u int64, cols []int32, v []int64) {
	v = v[:len(cols)]
	for k, j := range cols {
		sum[j] += u * v[k]
	}
}
