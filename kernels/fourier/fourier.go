package fourier

// This file defines fft and ifft. A complex number is a pair of neighbours in a row: a column of n
// complex numbers is a matrix n x 2 of their real and imaginary parts.
//
// Definition and kernel are one code (plan.go), because no obvious code gives the same bits: that
// it is the transform is tested against its sum (fourier_test.go).

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// Rows is the rows of this file.
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
	run := func(c *op.Call, out *value.Dense) {
		x, s := c.Dense(0), idle.Get().(*room)
		if x.Rows <= longestMemo { // longer rooms would stay in memory
			defer idle.Put(s)
		}
		s.z = slices.Grow(s.z[:0], x.Rows)[:x.Rows]
		for i := range s.z {
			switch at := i * x.Stride; {
			case x.Elem == types.F64 && x.Cols == 2:
				s.z[i] = complex(x.F64[at], x.F64[at+1])
			case x.Elem == types.F64:
				s.z[i] = complex(x.F64[at], 0)
			case x.Cols == 2:
				s.z[i] = complex(x.At(i, 0).Float(), x.At(i, 1).Float())
			default:
				s.z[i] = complex(x.At(i, 0).Float(), 0)
			}
		}
		for i, v := range s.transform(s.z, inverse) {
			row := out.F64[i*out.Stride:]
			row[0], row[1] = real(v), imag(v)
		}
	}
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
			run(c, out)
			return out, nil
		},
		Kernel: func(c *op.Call) error {
			x, out := c.Dense(0), c.Result()
			if lengthOf(x.Rows).s == 0 {
				run(c, out)
				return nil
			}
			return op.RunAll(begin(x, out, inverse, 1), units)
		},
		Loop: loop(inverse),
	}
}
