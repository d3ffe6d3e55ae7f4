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
	return []generator{
		generator{
			name: "randexp",
			doc: "randexp is an n x m matrix of exponential numbers with mean 1, by counter like rand: element k is -log(1 - u) of number k " +
				"of rand, which is the inverse of the distribution function (L. Devroye, Non-Uniform Random Variate Generation, 1986, section II.2). " +
				"The greatest possible one is 36.7.",
			eg: define.Eg("all(randexp(3, 2) >= 0)", "true"), args: []op.Arg{n, m, seed}, shape: nByM, flops: 20, draw: exponentialDraw,
			elem: func(*op.Attrs) types.Elem { return types.F64 },
			at: func(a *op.Attrs, i, j int) value.Scalar { // 0 -: -log(1) is +0
				return value.F64(0 - vec.Log(1-U01(uint64(a.Int("seed")), numberAt(a, i, j))))
			},
		},
		generator{
			name: "randint",
			doc: "randint is an n x m matrix of i64 that are uniform in lo, lo + 1, .., hi - 1, by counter like rand: element k is lo plus the upper " +
				"half of the product of hi - lo and the 64 bits of number k (D. Lemire, Fast random integer generation in an interval, 2019, without " +
				"its rejection). The probability of each value is off by less than 2^-64.",
			eg:   define.Eg("all(randint(3, 2, 1, 7) <= 6)", "true"),
			args: []op.Arg{n, need, bound("lo", "the least value"), bound("hi", "end of the values, not included"), seed}, flops: 6, draw: integerDraw,
			shape: func(a *op.Attrs) (rows, cols int, bad string) {
				if a.Int("lo") >= a.Int("hi") {
					bad = "hi is not above lo"
				}
				return a.Int("n"), a.Int("m"), bad
			},
			elem: func(*op.Attrs) types.Elem { return types.I64 },
			at: func(a *op.Attrs, i, j int) value.Scalar {
				lo := uint64(a.Int("lo"))
				up, _ := bits.Mul64(mix(uint64(a.Int("seed"))+(numberAt(a, i, j)+1)*golden), uint64(a.Int("hi"))-lo) // all 64 bits may be needed
				return value.I64(int64(lo + up))
			},
		},
	}
}

// numberAt returns i * m + j for element (i, j) of a matrix of m columns.
func numberAt(a *op.Attrs, i, j int) uint64 {
	_, cols, _ := nByM(a)
	return uint64(i*cols + j)
}
