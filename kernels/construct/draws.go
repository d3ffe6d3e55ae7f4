package construct

// This file defines the constructors of random numbers of other distributions than rand's and
// randn's: exponential ones and integers within bounds. They draw by the same counter: element k of
// a seed depends on k and the seed alone.

import (
	"math/bits"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// draws is the generators of this file.
func draws(n, m, seed op.Arg) []generator {
	bound := func(name, doc string) op.Arg { return op.Arg{Name: name, Attr: true, Kind: op.IntVal, Doc: doc} }
	need := n // randint has its columns before its bounds, so they have no default
	need.Name, need.Doc = "m", "columns"
	out := []generator{
		byElement(generator{
			name: "randexp",
			doc: "randexp is an n x m matrix of exponential numbers with mean 1, by counter like rand: element k is -log(1 - u) of number k " +
				"of rand, which is the inverse of the distribution function (L. Devroye, Non-Uniform Random Variate Generation, 1986, section II.2). " +
				"The greatest possible one is 36.7.",
			eg: define.Eg("all(randexp(3, 2) >= 0)", "true"), args: []op.Arg{n, m, seed}, shape: nByM, flops: 20,
			elem: func(*op.Attrs) types.Elem { return types.F64 },
		}, func(a *op.Attrs) func(k uint64) value.Scalar {
			s := uint64(a.Int("seed"))
			return func(k uint64) value.Scalar { return value.F64(0 - vec.Log(1-U01(s, k))) } // 0 -: -log(1) is +0
		}),
		byElement(generator{
			name: "randint",
			doc: "randint is an n x m matrix of i64 that are uniform in lo, lo + 1, .., hi - 1, by counter like rand: element k is lo plus the upper " +
				"half of the product of hi - lo and the 64 bits of number k (D. Lemire, Fast random integer generation in an interval, 2019, without " +
				"its rejection). The probability of each value is off by less than 2^-64.",
			eg:   define.Eg("all(randint(3, 2, 1, 7) <= 6)", "true"),
			args: []op.Arg{n, need, bound("lo", "the least value"), bound("hi", "end of the values, not included"), seed}, flops: 6,
			shape: func(a *op.Attrs) (rows, cols int, bad string) {
				if a.Int("lo") >= a.Int("hi") {
					bad = "hi is not above lo"
				}
				return a.Int("n"), a.Int("m"), bad
			},
			elem: func(*op.Attrs) types.Elem { return types.I64 },
		}, func(a *op.Attrs) func(k uint64) value.Scalar {
			s, lo := uint64(a.Int("seed")), uint64(a.Int("lo"))
			many := uint64(a.Int("hi")) - lo // a difference of integers may need all 64 bits
			return func(k uint64) value.Scalar {
				up, _ := bits.Mul64(mix(s+(k+1)*golden), many)
				return value.I64(int64(lo + up))
			}
		}),
	}
	out[0].drawnBy(exponentialDrawer(), single)
	out[1].drawnBy(integerDrawer(), func(a *op.Attrs, k uint64) (state, step uint64, given [2]uint64) {
		state, step, _ = single(a, k)
		lo := uint64(a.Int("lo"))
		return state, step, [2]uint64{uint64(a.Int("hi")) - lo, lo}
	})
	return out
}

// single is the states of a distribution that takes one number of the generator.
func single(a *op.Attrs, k uint64) (state, step uint64, given [2]uint64) {
	return uint64(a.Int("seed")) + (k+1)*golden, golden, given
}

// byElement is g, of which number k of the matrix, counted by rows, is at(a)(k).
func byElement(g generator, at func(a *op.Attrs) func(k uint64) value.Scalar) generator {
	g.at = func(a *op.Attrs, i, j int) value.Scalar {
		_, cols, _ := g.shape(a)
		return at(a)(uint64(i*cols + j))
	}
	g.fill = func(a *op.Attrs, out *value.Dense, r0, c0 int) {
		_, cols, _ := g.shape(a)
		f := at(a)
		for i := range out.Rows {
			k := uint64((r0+i)*cols + c0)
			for j := range out.Cols {
				switch p := i*out.Stride + j; out.Elem {
				case types.I64:
					out.I64[p] = f(k + uint64(j)).I
				default:
					out.F64[p] = f(k + uint64(j)).F
				}
			}
		}
	}
	return g
}
