package fourier

// This file defines fft and ifft, and runs them on several workers, pass after pass. A complex number
// is a pair of neighbours in a row: a column of n complex numbers is a matrix n x 2 of their real and
// imaginary parts.
//
// Definition and kernel are one code (plan.go), because no obvious code gives the same bits: that it is
// the transform is tested against its sum (fourier_test.go).

import (
	"math/bits"
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/memory"
)

const (
	units  = 128     // of a pass
	shared = 1 << 14 // the least length that workers share: some hundred microseconds
)

// run is one execution. The parts of a pass run in any order.
type run struct {
	passes  []pass
	at      int // of passes
	workers []scratch
	room    []float64 // between the steps
	short   bool
	plain   bool // no transform is divided into columns
}

// runs keeps runs of short transforms on one worker. Programs often make many of these.
var runs = sync.Pool{New: func() any { return &run{workers: make([]scratch, 1), short: true} }}

type pass struct {
	items int
	do    func(w *scratch, lo, hi int)
}

func (r *run) add(items int, do func(w *scratch, lo, hi int)) {
	r.passes = append(r.passes, pass{items, do})
}

func (r *run) Chunk(worker, lo, hi int) error {
	p := &r.passes[r.at]
	if lo, hi = lo*p.items/units, hi*p.items/units; lo < hi {
		p.do(&r.workers[worker], lo, hi)
	}
	return nil
}

func (r *run) Next() (again bool, err error) {
	r.at++
	return r.at < len(r.passes), nil
}

// End leaves the memory of a short transform to the next one.
func (r *run) End() error {
	if r.short {
		clear(r.passes)
		r.passes, r.at = r.passes[:0], 0
		runs.Put(r)
	}
	return nil
}

// loop is the Loop of a transform.
func loop(inverse bool) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) {
			if n := c.In[0].Type().Rows; n < shared || lengthOf(n).s == 0 {
				return 0, 0
			}
			return units, 1
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return begin(c.Dense(0), c.Result(), inverse, workers), nil
		},
	}
}

// lengthOf divides the length of the transforms that make one of n numbers: n, or that of a
// convolution.
func lengthOf(n int) halves {
	if n == 0 {
		return halves{}
	}
	factors, ok := factorsOf(n)
	if !ok {
		n = convolved(n)
		factors, _ = factorsOf(n)
	}
	return cut(n, factors)
}

// operandOf returns the numbers of x. Numbers of another type than f64 are converted by fill, which the
// caller calls for all rows; nil: there are none.
func operandOf(x *value.Dense, conjugate bool) (o operand, fill func(lo, hi int)) {
	o = operand{x: x.F64, step: x.Stride, real: x.Cols == 1, conjugate: conjugate}
	if x.Elem == types.F64 {
		return o, nil
	}
	o.x, o.step = make([]float64, x.Rows*x.Cols), x.Cols
	return o, func(lo, hi int) {
		for i := lo * x.Cols; i < hi*x.Cols; i++ {
			o.x[i] = x.At(i/x.Cols, i%x.Cols).Float()
		}
	}
}

// begin begins the transform of the rows of x into out.
func begin(x, out *value.Dense, inverse bool, workers int) *run {
	if workers == 1 && x.Rows <= longestTable {
		return runs.Get().(*run).begin(x, out, inverse)
	}
	return (&run{workers: make([]scratch, workers)}).begin(x, out, inverse)
}

func (r *run) begin(x, out *value.Dense, inverse bool) *run {
	n := x.Rows
	from, fill := operandOf(x, inverse)
	if fill != nil {
		r.add(n, func(_ *scratch, lo, hi int) { fill(lo, hi) })
	}
	if _, ok := factorsOf(n); ok {
		p := r.plan(n)
		r.transform(p, from, out.F64, inverse)
	} else {
		r.bluestein(from, n, out.F64, inverse)
	}
	return r
}

// plan is the plan of length n, with passes that make the roots of a long one.
func (r *run) plan(n int) *plan {
	if n <= longestTable || r.plain || lengthOf(n).s == 0 {
		return planOf(n)
	}
	at := memo(n)
	if at != nil {
		if p := at.Load(); p != nil && p.n == n {
			return p
		}
	}
	p := newPlan(n)
	p.w = make([]complex128, directRoots(n))
	r.add(len(p.w), func(_ *scratch, lo, hi int) { p.direct(lo, hi) })
	r.add(1, func(*scratch, int, int) {
		if p.tables(); at != nil {
			at.Store(p)
		}
	})
	return p
}

// transform adds the transform of x into out.
func (r *run) transform(p *plan, x operand, out []float64, inverse bool) {
	if p.s == 0 || r.plain {
		r.add(1, func(w *scratch, _, _ int) { p.whole(w, x, out, 2, inverse) })
		return
	}
	n := line * p.s * blocks(p.c)
	if len(r.room) < n {
		r.room = memory.Fresh[float64](n)
	}
	between := r.room
	r.add(blocks(p.c), func(w *scratch, lo, hi int) {
		for b := lo; b < hi; b++ {
			p.firstSteps(w, x, between, b)
		}
	})
	r.add(blocks(p.s), func(w *scratch, lo, hi int) {
		for b := lo; b < hi; b++ {
			p.secondSteps(w, between, out, inverse, b)
		}
	})
}

// bluestein adds the transform of x, of any number n of numbers, into out. It is a convolution with the
// conjugate of chirp[j] = exp(-pi i j^2 / n), because j k = (j^2 + k^2 - (k - j)^2) / 2. The length of
// the convolution is a power of two.
func (r *run) bluestein(x operand, n int, out []float64, inverse bool) {
	size := convolved(n)
	p := r.plan(size)
	chirp, a, b := memory.Fresh[complex128](n), memory.Fresh[complex128](size), memory.Fresh[complex128](size)
	r.add(size, func(_ *scratch, lo, hi int) {
		for j := max(lo, n); j < hi; j++ {
			if a[j] = 0; j <= size-n {
				b[j] = 0
			}
		}
	})
	put := func(j int, c complex128) {
		chirp[j], b[j] = c, conjugate(c)
		if j > 0 {
			b[size-j] = b[j]
		}
		a[j] = multiply(x.at(j), c)
	}
	r.add(n/2+1, func(_ *scratch, lo, hi int) {
		h, l := bits.Mul64(uint64(lo), uint64(lo))
		square := int(bits.Rem64(h, l, uint64(2*n)))
		for j := lo; j < hi; j++ {
			c := root(square, 2*n)
			square = (square + 2*j + 1) % (2 * n)
			put(j, c)
			if n%2 > 0 { // the square of n - j is n more than that of j, modulo 2 n, or equal
				c = -c
			}
			if j > 0 && 2*j != n {
				put(n-j, c)
			}
		}
	})
	whole := func(z []complex128) { r.transform(p, operand{x: floats(z), step: 2}, floats(z), false) }
	whole(a)
	whole(b)
	r.add(size, func(_ *scratch, lo, hi int) {
		for k := lo; k < hi; k++ {
			a[k] = conjugate(multiply(a[k], b[k]))
		}
	})
	whole(a) // of the conjugate: size times the conjugate of the inverse
	r.add(n, func(_ *scratch, lo, hi int) {
		for k := lo; k < hi; k++ {
			v := multiply(complex(real(a[k])/float64(size), -imag(a[k])/float64(size)), chirp[k])
			if inverse {
				v = complex(real(v)/float64(n), 0-imag(v)/float64(n))
			}
			out[2*k], out[2*k+1] = real(v), imag(v)
		}
	})
}

// idle holds memory that no transform uses. Many short transforms of one length often follow one
// another.
var idle = sync.Pool{New: func() any { return new(scratch) }}

// compute writes the transform of x to out on one worker. If plain, no transform is divided into
// columns, which is the definition.
func compute(x, out *value.Dense, inverse, plain bool) error {
	n := x.Rows
	if n == 0 {
		return nil
	}
	if plain || lengthOf(n).s == 0 {
		if p := planOf(n); p.ok {
			from, fill := operandOf(x, inverse)
			if fill != nil {
				fill(0, n)
			}
			w := idle.Get().(*scratch)
			p.whole(w, from, out.F64, out.Stride, inverse)
			if n <= longestMemo { // longer memory would stay
				idle.Put(w)
			}
			return nil
		}
	}
	if plain {
		return op.RunAll((&run{workers: make([]scratch, 1), plain: true}).begin(x, out, inverse), units)
	}
	return op.RunAll(begin(x, out, inverse, 1), units)
}

// whole writes the transform of x, of p.n numbers, to out, where they are step floats apart.
func (p *plan) whole(w *scratch, x operand, out []float64, step int, inverse bool) {
	w.z, w.next = slices.Grow(w.z[:0], p.n)[:p.n], slices.Grow(w.next[:0], p.n)[:p.n]
	for j := range w.z {
		w.z[j] = x.at(j)
	}
	z, _ := stockham(w.z, w.next, p)
	for k, v := range z {
		if inverse {
			v = complex(real(v)/float64(p.n), 0-imag(v)/float64(p.n)) // 0 -: no -0 of a real column
		}
		out[k*step], out[k*step+1] = real(v), imag(v)
	}
}

func Rows() []*op.Def {
	return []*op.Def{
		transform("fft", false,
			"fft is the discrete Fourier transform of a column of n numbers, real (n x 1) or complex (n x 2, the real and imaginary parts), as n x 2: "+
				"element k is the sum of x[j] exp(-2 pi i j k / n) over j, without a factor. Any n takes some n log(n) operations: by its factors up to 61 "+
				"(the self-sorting form of T. Stockham, High-speed convolution and correlation, 1966), else as a convolution (L. Bluestein, 1970). "+
				"It computes in f64. The error is at most some 4e-16 log2(2 n) norm(x) in each element. An infinite or nan element makes all of the result nan.",
			"fft([1, 2, 3, 2])", " 8 0\n-2 0\n 0 0\n-2 0\n"),
		transform("ifft", true,
			"ifft is the inverse of fft, n x 2: element j is the sum of x[k] exp(2 pi i j k / n) over k, divided by n. ifft(x)[:, 0] is its real parts.",
			"ifft([[8, 0], [-2, 0], [0, 0], [-2, 0]])", "1 0\n2 0\n3 0\n2 0\n"),
	}
}

func transform(name string, inverse bool, doc, example, output string) *op.Def {
	return &op.Def{
		Name: name, Doc: doc, Eg: define.Eg(example, output), Args: []op.Arg{{Name: "x", Doc: "n x 1 of real numbers, or n x 2 of complex ones"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.NumberMatrix(s, 0)
			if err == nil && !define.Agree(t.Cols, 1) && !define.Agree(t.Cols, 2) {
				f := op.Faultf(0, define.CodeShape, "`%s` takes a column of real numbers, or two columns of real and imaginary parts; this is %s", name, t)
				if t.Rows == 1 {
					f = f.WithHelp("t(x) makes a column of a row")
				}
				return t, f
			}
			return types.DenseOf(types.F64, t.Rows, 2), err
		},
		Laws: op.Pure,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := op.Work{Flops: 120 * define.ElementCount(out), Bytes: define.Traffic(s, out)}
			if n := out.Rows; n < 1 {
				return w
			} else if _, ok := factorsOf(n); !ok { // three transforms of another length
				w.Flops *= 3 * float64(convolved(n)) / float64(n)
			}
			return w
		},
		Beside: func(_ *op.Sig, out types.Type) float64 { return roomOf(out.Rows) },
		Ref: func(c *op.Call) (value.Value, error) {
			out := value.New(types.F64, c.Dense(0).Rows, 2)
			return out, compute(c.Dense(0), out, inverse, true)
		},
		Kernel: func(c *op.Call) error { return compute(c.Dense(0), c.Result(), inverse, false) },
		Loop:   loop(inverse),
	}
}
