package sparse

// This file defines s * (a @ b) of a sparse s: the product is made where s has entries, and not stored.
// An element is the chain that the product has there, times the entry. The chain may begin with an
// element of c.

import (
	"math"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/vec"
)

func sparseEntryProduct() *op.Def {
	return &op.Def{
		Name: "sp.times", Hidden: true,
		Doc: "sp.times is s * (a @ b) of a sparse s and two dense or two sparse factors: the product is made where s " +
			"has entries. The compiler writes it.",
		Args: []op.Arg{{Name: "s", Doc: "sparse n x m"}, {Name: "a", Doc: "n x k"}, {Name: "b", Doc: "k x m"}, {Name: "c", Optional: true, Doc: "dense n x m: the product is c + a @ b of dense factors"},
			define.Flag("ta", "a is used transposed"), define.Flag("tb", "b is used transposed"),
			define.Flag("sub", "the product is c - a @ b"),
			define.Flag("alone", "the product alone, with what is zero in it: an element for each entry of s")},
		Eg: define.Eg("sum(sparse(eye(2)) * (ones(2, 3) @ ones(3, 2)))", "6"),
		Type: func(s *op.Sig) (types.Type, error) {
			product := denseSig(s)
			product.In = product.In[:3]
			t, err := linalg.ProductType(product, 1)
			if err != nil {
				return t, err
			}
			for i, x := range s.In {
				if i == 0 && s.Attrs.Bool("alone") {
					x.Elem = types.Bool
				}
				same := x.Elem == t.Elem || x.Elem == types.Bool || x.Elem == types.I64 && t.Elem == types.F64
				sparse := i == 0 || s.In[1].IsSparse()
				if i == 3 && (sparse || x.Elem != t.Elem || x.Rows != t.Rows || x.Cols != t.Cols) {
					return t, op.Faultf(i, define.CodeShape, "sp.times of %v onto a %v", t, x)
				}
				if x.IsSparse() != sparse || sparse && (!same || i > 0 && (s.Attrs.Bool("ta") || s.Attrs.Bool("tb"))) {
					return t, op.Faultf(i, define.CodeKind, "sp.times of %v", x)
				}
			}
			if x := s.In[0]; !t.Known() || t.Rows != x.Rows || t.Cols != x.Cols {
				return t, op.Faultf(0, define.CodeShape, "sp.times of %v and a product %v", x, t)
			}
			return Of(0, t)
		},
		Ref:  entryProductRef,
		Laws: op.Pure, Rate: "copy", ByColumn: 2,
		Along: func(a *op.Attrs) []int {
			if a.Bool("ta") {
				return []int{0, 3}
			}
			return []int{0, 1, 3}
		},
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.SparseCost(1)(s, out)
			if s.In[1].IsSparse() {
				w.Flops += define.Entries(s, 1) * define.Entries(s, 2) / max(1, float64(s.In[2].Rows))
			} else {
				w.Flops += 2 * define.Entries(s, 0) * define.ElementCount(s.In[1]) / max(1, float64(out.Rows))
			}
			return w
		},
		Stored: func(_ *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate {
			in[0].Basis = max(in[0].Basis, sparsity.Estimated) // zeros may come up
			return in[0]
		},
		Loop: unitLoop(func(c *op.Call, units, workers int) op.LoopBody {
			e := c.Type.Elem
			return dense.ForNumber(e, beginEntryProduct[float64], beginEntryProduct[float32], beginEntryProduct[int64])(c, units, workers)
		}),
	}
}

// entryProductRef is the definition. A sparse product has no zeros: an infinite entry times one is
// zero.
func entryProductRef(c *op.Call) (value.Value, error) {
	product, times := &op.Call{Def: c.Def, Attrs: c.Attrs, In: c.In[1:], Type: c.Type}, linalg.MatmulRef
	_, whole := c.In[1].(*value.Dense)
	switch {
	case !whole:
		times = sparseProductRef
	case len(c.In) > 3:
		product.In, times = []value.Value{c.In[3], c.In[1], c.In[2]}, linalg.GemmRef
	}
	v, err := times(product)
	if err != nil {
		return nil, err
	}
	s, x := define.EveryElement(c.In[0]), define.EveryElement(v)
	if c.Attrs.Bool("alone") {
		return takenAt(s, x), nil
	}
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for i := range out.Rows {
		for j := range out.Cols {
			if u, y := s.At(i, j), x.At(i, j); u.True() && (whole || y.True()) {
				out.Set(i, j, linalg.StepRef(out.Elem, false, u, y, value.Scalar{Elem: out.Elem}))
			}
		}
	}
	return define.KeptRef(out), nil
}

// entryProduct is such a product in the making. It ends as an elementwise operator does: mapLoop leaves
// out zeros.
type entryProduct[T dense.Factor] struct {
	*mapLoop[T]
	s     *value.CSR
	u     []T           // the values of s; nil: all are one
	alone bool          // the values of s are no factors, and zeros stay
	onto  dense.Grid[T] // what chains begin with; empty: 0
	sub   bool          // terms are subtracted
	step  func(u, v, sum T) T
}

func beginEntryProduct[T dense.Factor](c *op.Call, units, workers int) op.LoopBody {
	s := c.In[0].(*value.CSR)
	out := &value.CSR{Elem: c.Type.Elem, Rows: s.Rows, Cols: s.Cols, Ptr: make([]int64, s.Rows+1)}
	l := &entryProduct[T]{mapLoop: &mapLoop[T]{c: c, out: out}, s: s, alone: c.Attrs.Bool("alone"), step: stepOf[T]()}
	if !l.alone {
		l.u = numbersOf[T](s, out.Elem)
	}
	l.onPlaces(s)
	if a, ok := c.In[1].(*value.CSR); ok {
		b := c.In[2].(*value.CSR)
		return &UnitLoop{RowCut: cutByMeetings(units, a, b), Passes: l.ends(l.meetings(a, b, workers))}
	}
	a, b := linesAlong[T](c, 1, c.Attrs.Bool("ta")), linesAlong[T](c, 2, !c.Attrs.Bool("tb"))
	if l.sub = c.Attrs.Bool("sub"); len(c.In) > 3 {
		l.onto = dense.GridOf[T](c.Dense(3))
	}
	return &UnitLoop{RowCut: cutByEntries(units, s), Passes: l.ends(l.chains(a, b))}
}

// linesAlong returns argument k, transposed if turn, whose rows are contiguous.
func linesAlong[T dense.Factor](c *op.Call, k int, turn bool) dense.Grid[T] {
	g := dense.GridOf[T](dense.Widened(c.Dense(k), c.Type.Elem))
	if turn {
		return dense.TurnedCopy(g)
	}
	return g
}

// chains makes the elements of dense factors, four chains at a time: one alone waits for each step.
func (l *entryProduct[T]) chains(a, b dense.Grid[T]) func(_, lo, hi int) error {
	return func(_, lo, hi int) error {
		var minus []T
		for i := lo; i < hi; i++ {
			cols, from := l.s.Row(i)
			val, x := l.val[int(l.out.Ptr[i]):][:len(cols)], a.Row(i)
			if l.sub {
				minus = minus[:0]
				for _, u := range x {
					minus = append(minus, -u)
				}
				x = minus
			}
			for k := 0; k < len(cols); k += 4 {
				var y [4][]T
				var sums [4]T
				for q := range y {
					j := int(cols[min(k+q, len(cols)-1)])
					if y[q] = b.Row(j); l.onto.X != nil {
						sums[q] = l.onto.Row(i)[j]
					}
				}
				fourChains(x, y, &sums)
				copy(val[k:], sums[:])
			}
			if l.u != nil {
				for q, u := range l.u[from : from+len(val)] {
					val[q] *= u
				}
			}
			l.note(val)
		}
		return nil
	}
}

// meetings makes the elements of sparse factors. A worker notes the place of each column of a row of s,
// and passes over what the rows of b have in other columns.
func (l *entryProduct[T]) meetings(a, b *value.CSR, workers int) func(worker, lo, hi int) error {
	by, x, y := make([][]int32, workers), numbersOf[T](a, l.out.Elem), numbersOf[T](b, l.out.Elem)
	return func(worker, lo, hi int) error {
		if by[worker] == nil {
			by[worker] = make([]int32, l.s.Cols)
		}
		place := by[worker]
		for i := lo; i < hi; i++ {
			cols, from := l.s.Row(i)
			val := l.val[int(l.out.Ptr[i]):][:len(cols)]
			clear(val)
			rows, at := a.Row(i)
			for q, j := range cols {
				place[j] = int32(q + 1)
			}
			for p, k := range rows {
				u, v := T(1), T(1)
				if x != nil {
					u = x[at+p]
				}
				line, first := b.Row(int(k))
				for n, j := range line {
					if q := place[j]; q != 0 {
						if y != nil {
							v = y[first+n]
						}
						val[q-1] = l.step(u, v, val[q-1])
					}
				}
			}
			for _, j := range cols {
				place[j] = 0
			}
			for q, v := range val {
				if v == 0 { // no entry of the product, also if s is infinite
					val[q] = 0
				} else if l.u != nil {
					val[q] = v * l.u[from+q]
				}
			}
			l.note(val)
		}
		return nil
	}
}

// note looks for zeros.
func (l *entryProduct[T]) note(val []T) {
	if !l.alone && !l.zero.Load() && vec.Index(val, 0) >= 0 {
		l.zero.Store(true)
	}
}

// stepOf returns a step of a chain.
func stepOf[T dense.Factor]() func(u, v, sum T) T {
	var step any = func(u, v, sum int64) int64 { return sum + u*v }
	switch any(*new(T)).(type) {
	case float64:
		// math.FMA itself, as a value, is the routine for processors without the instruction.
		step = func(u, v, sum float64) float64 { return math.FMA(u, v, sum) }
	case float32:
		step = blas.FMA[float32]
	}
	return step.(func(u, v, sum T) T)
}

// fourChains adds the chains of x and four lists of its length to sums.
func fourChains[T dense.Factor](x []T, y [4][]T, sums *[4]T) {
	a, ok := any(x).([]float64)
	if !ok {
		step := stepOf[T]()
		for q := range y {
			for p, u := range x {
				sums[q] = step(u, y[q][p], sums[q])
			}
		}
		return
	}
	z, s := any(&y).(*[4][]float64), any(sums).(*[4]float64)
	y0, y1, y2, y3 := z[0][:len(a)], z[1][:len(a)], z[2][:len(a)], z[3][:len(a)]
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for p, u := range a {
		s0, s1 = math.FMA(u, y0[p], s0), math.FMA(u, y1[p], s1)
		s2, s3 = math.FMA(u, y2[p], s2), math.FMA(u, y3[p], s3)
	}
	*s = [4]float64{s0, s1, s2, s3}
}
