package construct

// This file writes the elements of constructors into loops (op.Draw), and fills matrices by such loops.
// A random number is a function of the state of SplitMix64, which follows from the row and the column.

import (
	"math"
	"math/bits"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/vec"
)

// drawnLeast is from how many numbers on a launch takes less time than their definition.
const drawnLeast = 64

// drawer runs the loop of one constructor for elements of one type. It is safe for concurrent use.
type drawer struct {
	seen        launch.Steps
	loop, small func() *launch.Loop // small: interpreted
	operations  func() int          // of a number
	idle        sync.Pool           // of *drawing
}

// drawing is the memory of one launch.
type drawing struct {
	run       launch.Run
	words     value.Dense
	size, out value.Dense
	in        [2]value.Value
	to        [1]*value.Dense
}

// newDrawer writes the loop. Its operands are the words and a matrix of the size of the result. The
// loop does not read the matrix.
func newDrawer(d *op.Draw, e types.Elem) *drawer {
	b := loop.New()
	words := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.I64)}
	size := b.Param(loop.DenseParam, dense.Storage(e))
	rows, cols := loop.Of(loop.RowsSym, size), loop.Of(loop.ColsSym, size)
	row := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
	col := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := d.Element(b, e, row, col, func(k int) loop.Val { return b.Load(words, loop.Num(0), loop.Num(int64(k))) })
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(dense.Storage(e), rows, cols)}, row, col, v)
	n := b.Done()
	return &drawer{
		loop:       sync.OnceValue(func() *launch.Loop { return launch.New(n) }),
		small:      sync.OnceValue(func() *launch.Loop { return launch.Interpreted(n) }),
		operations: sync.OnceValue(func() int { return launch.Operations(n) }),
	}
}

// mixed writes number k of the generator behind a state: its 64 bits.
func mixed(b *loop.Builder, state loop.Val, k int) loop.Val {
	constant := func(w uint64) loop.Val { return b.Const(types.I64, w) }
	shifted := func(z loop.Val, by uint64) loop.Val { return b.Op(loop.Xor, z, b.Op(loop.Shr, z, constant(by))) }
	z := state
	if k > 0 {
		z = b.Op(loop.Add, z, constant(uint64(k)*golden))
	}
	z = b.Op(loop.Mul, shifted(z, 30), constant(0xBF58476D1CE4E5B9))
	z = b.Op(loop.Mul, shifted(z, 27), constant(0x94D049BB133111EB))
	return shifted(z, 31)
}

// drawnWritten is up to how many operations of a matrix are written out one by one.
const drawnWritten = 256

// elements writes the numbers of a seed that the run tells into a loop, where they are few: many are
// drawn in less time by a call.
func (g generator) elements(e *op.Elements) op.Element {
	rows, cols, seed := e.Out.Rows, e.Out.Cols, define.ConvertBody(e.B, types.I64, e.In[0].At(loop.Num(0), loop.Num(0)))
	if rows*cols == 0 {
		return nil
	}
	words := g.draw.Words(e.Attrs.With("seed", op.Int(0)), 0, 0) // a seed is added to the state
	number := func(i, j loop.Lin) loop.Val {
		return g.draw.Element(e.B, e.Out.Elem, i, j, func(k int) loop.Val {
			w := e.B.Const(types.I64, uint64(words[k]))
			if k == 0 {
				w = e.B.Op(loop.Add, seed, w)
			}
			return w
		})
	}
	if rows*cols > define.Unrolled {
		return number
	}
	if float64(rows*cols)*g.flops > drawnWritten {
		return e.Laid(func(store func(i, j loop.Lin, v loop.Val)) {
			e.Rounds(rows, nil, func(i loop.Lin, _ []loop.Val) []loop.Val {
				e.Rounds(cols, nil, func(j loop.Lin, _ []loop.Val) []loop.Val { store(i, j, number(i, j)); return nil })
				return nil
			})
		})
	}
	var list []loop.Val
	for k := range rows * cols {
		list = append(list, number(loop.Num(int64(k/cols)), loop.Num(int64(k%cols))))
	}
	return e.Held(list)
}

// filler returns generator.fill by loops. Fewer than drawnLeast elements are made by their definition.
func (g generator) filler() func(a *op.Attrs, out *value.Dense, r0, c0 int) {
	by := &define.Made[types.Elem, *drawer]{}
	return func(a *op.Attrs, out *value.Dense, r0, c0 int) {
		if out.Rows*out.Cols < drawnLeast {
			for i := range out.Rows {
				for j := range out.Cols {
					out.Set(i, j, g.at(a, r0+i, c0+j))
				}
			}
			return
		}
		by.Of(out.Elem, func() *drawer { return newDrawer(g.draw, out.Elem) }).fill(out, g.draw.Words(a, r0, c0))
	}
}

// fill sets out to the elements that the words describe.
func (d *drawer) fill(out *value.Dense, words op.DrawWords) {
	r, ok := d.idle.Get().(*drawing)
	if !ok {
		r = &drawing{words: *value.New(types.I64, 1, len(words))}
	}
	defer d.idle.Put(r)
	out.Window(&r.out, 0, 0, out.Rows, out.Cols)
	if flat, ok := words.InOneRow(out.Cols); ok && out.Stride == out.Cols { // one row of memory
		words = flat
		r.out.Rows, r.out.Cols, r.out.Stride = 1, out.Rows*out.Cols, out.Rows*out.Cols
	}
	copy(r.words.I64, words[:])
	r.size = r.out
	r.in[0], r.in[1], r.to[0] = &r.words, &r.size, &r.out
	defer func() { r.size, r.out = value.Dense{}, value.Dense{} }()
	l := d.small
	if d.seen.Pay(int64(out.Rows*out.Cols), d.operations) {
		l = d.loop
		launch.Begun.Add(1)
	}
	_, err := l().Alone(&r.run, r.in[:], r.to[:], r.out.Rows, r.out.Cols)
	if err != nil {
		_, err = d.small().Alone(&r.run, r.in[:], r.to[:], r.out.Rows, r.out.Cols)
	}
	if err != nil {
		panic("BUG: " + err.Error())
	}
}

// draft writes operations on f64.
type draft struct{ *loop.Builder }

func (b draft) num(x float64) loop.Val     { return b.Const(types.F64, math.Float64bits(x)) }
func (b draft) add(x, y loop.Val) loop.Val { return b.Op(loop.Add, x, y) }
func (b draft) sub(x, y loop.Val) loop.Val { return b.Op(loop.Sub, x, y) }
func (b draft) mul(x, y loop.Val) loop.Val { return b.Op(loop.Mul, x, y) }

// horner is the polynomial with these coefficients, the highest power first.
func (b draft) horner(x loop.Val, coefficients ...float64) loop.Val {
	sum := b.num(coefficients[0])
	for _, c := range coefficients[1:] {
		sum = b.add(b.mul(sum, x), b.num(c))
	}
	return sum
}

// uniform is U01 of 64 bits.
func (b draft) uniform(bits loop.Val) loop.Val {
	high := b.Op(loop.Shr, bits, b.Const(types.I64, 11))
	return b.mul(b.Op(loop.ToF64, high), b.num(0x1p-53))
}

// log is math.Log of a normal positive number, operation by operation (FreeBSD's e_log.c, as Go has
// it on amd64).
func (b draft) log(x loop.Val) loop.Val {
	word := func(w uint64) loop.Val { return b.Const(types.I64, w) }
	w := b.Op(loop.Bits, x)
	f := b.Op(loop.F64Bits, b.Op(loop.Or, b.Op(loop.And, w, word(1<<52-1)), word(math.Float64bits(0.5))))
	e := b.Op(loop.ToF64, b.Op(loop.Sub, b.Op(loop.Shr, w, word(52)), word(1022)))
	small := b.Op(loop.Le, f, b.num(math.Sqrt2/2))
	e = b.sub(e, b.Op(loop.Select, small, b.num(1), b.num(0)))
	f = b.sub(b.mul(f, b.Op(loop.Select, small, b.num(2), b.num(1))), b.num(1))
	s := b.Op(loop.Div, f, b.add(f, b.num(2)))
	s2 := b.mul(s, s)
	s4 := b.mul(s2, s2)
	t1 := b.mul(s2, b.horner(s4, 1.479819860511658591e-01, 1.818357216161805012e-01,
		2.857142874366239149e-01, 6.666666666666735130e-01))
	t2 := b.mul(s4, b.horner(s4, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01))
	half := b.mul(b.mul(b.num(0.5), f), f)
	tail := b.add(b.mul(s, b.add(half, b.add(t1, t2))), b.mul(e, b.num(1.90821492927058770002e-10)))
	return b.sub(b.mul(e, b.num(6.93147180369123816490e-01)), b.sub(b.sub(half, tail), f))
}

// cos is math.Cos of a number from 0 to 2 pi, operation by operation (Cephes).
func (b draft) cos(x loop.Val) loop.Val {
	octant := b.Op(loop.Floor, b.mul(x, b.num(4/math.Pi)))
	quarter := b.Op(loop.Floor, b.mul(b.add(octant, b.num(1)), b.num(0.5))) // 0 to 4
	y := b.add(quarter, quarter)
	z := b.sub(x, b.mul(y, b.num(7.85398125648498535156e-1)))
	z = b.sub(b.sub(z, b.mul(y, b.num(3.77489470793079817668e-8))), b.mul(y, b.num(2.69515142907905952645e-15)))
	zz := b.mul(z, z)
	sin := b.horner(zz, 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6,
		-1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1)
	sin = b.add(z, b.mul(b.mul(z, zz), sin))
	cos := b.horner(zz, -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7,
		2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2)
	cos = b.add(b.sub(b.num(1), b.mul(b.num(0.5), zz)), b.mul(b.mul(zz, zz), cos))
	is := func(q float64) loop.Val { return b.Op(loop.Eq, quarter, b.num(q)) }
	first := is(1)
	v := b.Op(loop.Select, b.Op(loop.Or, first, is(3)), sin, cos)
	return b.Op(loop.Select, b.Op(loop.Or, first, is(2)), b.Op(loop.Neg, v), v)
}

// numbers returns the Draw of random numbers. Each takes the same count of numbers of the generator.
func numbers(takes int, number func(b draft, bits func(k int) loop.Val) loop.Val) *op.Draw {
	return &op.Draw{
		Words: func(a *op.Attrs, r, c int) op.DrawWords { return counted(a, r, c, takes) },
		Number: func(b *loop.Builder, _ types.Elem, state loop.Val, _ func(k int) loop.Val) loop.Val {
			return number(draft{b}, func(k int) loop.Val { return mixed(b, state, k) })
		},
	}
}

// counted returns the words of a matrix from row r and column c on, each of whose elements takes so
// many numbers of the generator.
func counted(a *op.Attrs, r, c, takes int) op.DrawWords {
	_, cols, _ := nByM(a)
	step := uint64(takes) * golden
	w := op.DrawWords{int64(uint64(a.Int("seed")) + golden), int64(uint64(cols) * step), int64(step)}
	return w.From(r, c)
}

var (
	uniformDraw = numbers(1, func(b draft, bits func(k int) loop.Val) loop.Val { return b.uniform(bits(0)) })
	normalDraw  = numbers(2, func(b draft, bits func(k int) loop.Val) loop.Val {
		u := b.sub(b.num(1), b.uniform(bits(0)))
		length := b.Op(loop.Sqrt, b.mul(b.num(-2), b.log(u)))
		return b.mul(length, b.cos(b.mul(b.num(2*math.Pi), b.uniform(bits(1)))))
	})
	exponentialDraw = numbers(1, func(b draft, bits func(k int) loop.Val) loop.Val {
		return b.sub(b.num(0), define.Apply(b.Builder, "log", b.sub(b.num(1), b.uniform(bits(0)))))
	})
	// integerDraw has as arguments how many integers there are and the least of them.
	integerDraw = &op.Draw{
		Words: func(a *op.Attrs, r, c int) op.DrawWords {
			w := counted(a, r, c, 1)
			w[3], w[4] = int64(a.Int("hi")-a.Int("lo")), int64(a.Int("lo"))
			return w
		},
		Number: func(b *loop.Builder, _ types.Elem, state loop.Val, given func(k int) loop.Val) loop.Val {
			return b.Op(loop.Add, given(1), b.Op(loop.MulHighU, mixed(b, state, 0), given(0)))
		},
	}
	// identityDraw has the distance from the diagonal as its state.
	identityDraw = &op.Draw{
		Words: func(_ *op.Attrs, r, c int) op.DrawWords { return op.DrawWords{int64(r - c), 1, -1} },
		Number: func(b *loop.Builder, e types.Elem, state loop.Val, _ func(k int) loop.Val) loop.Val {
			return b.Op(loop.Select, b.Op(loop.Eq, state, define.Numeral(b, types.I64, 0)), define.Numeral(b, e, 1), define.Numeral(b, e, 0))
		},
	}
	// rampDraw has the row as its state. Its arguments are the first number and the step.
	rampDraw = &op.Draw{
		Words: func(a *op.Attrs, r, _ int) op.DrawWords {
			w := op.DrawWords{int64(r), 1}
			if w[3], w[4] = int64(a.Int("a")), seqStep(a).I; seqFloats(a) {
				w[3], w[4] = int64(math.Float64bits(a.Float("a"))), int64(math.Float64bits(seqDistance(a)))
			}
			return w
		},
		Number: func(b *loop.Builder, e types.Elem, state loop.Val, given func(k int) loop.Val) loop.Val {
			first, d := given(0), given(1)
			if e == types.F64 {
				first, d, state = b.Op(loop.F64Bits, first), b.Op(loop.F64Bits, d), b.Op(loop.ToF64, state)
			}
			return b.Op(loop.Add, first, b.Op(loop.Mul, state, d))
		},
	}
)

// alikeDraw returns the Draw of elements that are all x(a).
func alikeDraw(x func(a *op.Attrs) op.Val) *op.Draw {
	return &op.Draw{
		Words: func(a *op.Attrs, _, _ int) (w op.DrawWords) {
			v := x(a)
			if w[3] = v.I; v.Kind == op.FloatVal {
				w[3] = int64(math.Float64bits(v.F))
			}
			return w
		},
		Number: func(b *loop.Builder, e types.Elem, _ loop.Val, given func(k int) loop.Val) loop.Val {
			switch e {
			case types.F64:
				return b.Op(loop.F64Bits, given(0))
			case types.Bool:
				return b.Op(loop.ToBool, given(0))
			}
			return given(0)
		},
	}
}

// draws returns the generators of distributions other than those of rand and randn: exponential numbers
// and integers within bounds. Element k of a seed depends on k and the seed alone.
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
