package construct

// This file draws random numbers by loops in machine code. Each number is a function of the state of
// SplitMix64 at its place.

import (
	"math"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

const (
	// drawnSteps is how many steps a number counts for: see launch.Steps.
	drawnSteps = 16
	// drawnLeast is from how many numbers on a launch takes less time than their definition.
	drawnLeast = 64
)

// numberBody writes a number. bits writes the 64 bits of number k of the generator behind the place
// of the number, given writes word k of the arguments.
type numberBody func(b *loop.Builder, bits, given func(k int) loop.Val) loop.Val

// drawer runs the loop of one distribution. It is safe for concurrent use.
type drawer struct {
	elem   types.Elem
	number numberBody
	seen   launch.Steps
	loop   func() *launch.Loop
	idle   sync.Pool // of *draw
}

// draw is one launch.
type draw struct {
	run       launch.Run
	words     value.Dense // see drawer.fill
	size, out value.Dense
	in        [2]value.Value
	to        [1]*value.Dense
}

// The words of a launch. Arguments of the distribution follow.
const (
	drawnState = iota
	drawnRow   // the step of the state from row to row
	drawnCol   // the step of the state from column to column
	drawnGiven
)

func newDrawer(elem types.Elem, number numberBody) *drawer {
	d := &drawer{elem: elem, number: number}
	d.loop = sync.OnceValue(func() *launch.Loop { return launch.New(d.nest()) })
	return d
}

// nest writes the loop. Its operands are the words and a matrix of the size of the result, which it
// does not read.
func (d *drawer) nest() *loop.Nest {
	b := loop.New()
	words := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.I64)}
	size := b.Param(loop.DenseParam, d.elem)
	rows, cols := loop.Of(loop.RowsSym, size), loop.Of(loop.ColsSym, size)
	row := b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1})
	col := b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1})
	word := func(k int) loop.Val { return b.Load(words, loop.Num(0), loop.Num(int64(k))) }
	state := b.Op(loop.Add, word(drawnState), b.Op(loop.Mul, b.IndexValue(row), word(drawnRow)))
	state = b.Op(loop.Add, state, b.Op(loop.Mul, b.IndexValue(col), word(drawnCol)))
	v := d.at(b, state, func(k int) loop.Val { return word(drawnGiven + k) })
	out := loop.Mem{Kind: loop.ResultMem, N: b.Result(d.elem, rows, cols)}
	b.Store(out, loop.Of(loop.IndexSym, row), loop.Of(loop.IndexSym, col), v)
	return b.Done()
}

// at writes the number at a state of the generator.
func (d *drawer) at(b *loop.Builder, state loop.Val, given func(k int) loop.Val) loop.Val {
	constant := func(w uint64) loop.Val { return b.Const(types.I64, w) }
	shifted := func(z loop.Val, by uint64) loop.Val { return b.Op(loop.Xor, z, b.Op(loop.Shr, z, constant(by))) }
	return d.number(b, func(k int) loop.Val { // mix
		z := state
		if k > 0 {
			z = b.Op(loop.Add, z, constant(uint64(k)*golden))
		}
		z = b.Op(loop.Mul, shifted(z, 30), constant(0xBF58476D1CE4E5B9))
		z = b.Op(loop.Mul, shifted(z, 27), constant(0x94D049BB133111EB))
		return shifted(z, 31)
	}, given)
}

// states gives the state of number k of the matrix, counted by rows, the step of the state from number
// to number, and the arguments of the distribution.
type states func(a *op.Attrs, k uint64) (state, step uint64, given [2]uint64)

// drawnWritten is up to how many operations of a matrix are written out one by one.
const drawnWritten = 256

// elements writes the numbers of a seed that the run tells into a loop, where they are few: many are
// drawn in less time by a call.
func (g generator) elements(e *op.Elements) op.Element {
	rows, cols, seed := e.Out.Rows, e.Out.Cols, define.ConvertBody(e.B, types.I64, e.In[0].At(loop.Num(0), loop.Num(0)))
	if n := rows * cols; n == 0 || n > define.Unrolled {
		return nil
	}
	first, step, given := g.states(e.Attrs.With("seed", op.Int(0)), 0) // a seed is added to the state
	number := func(i, j loop.Lin) loop.Val {
		constant := func(w uint64) loop.Val { return e.B.Const(types.I64, w) }
		k := e.B.Op(loop.Add, e.B.Op(loop.Mul, e.Number(i), constant(uint64(cols))), e.Number(j))
		state := e.B.Op(loop.Add, e.B.Op(loop.Add, seed, constant(first)), e.B.Op(loop.Mul, k, constant(step)))
		return g.drawn.at(e.B, state, func(k int) loop.Val { return constant(given[k]) })
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

// drawnBy makes g fill by a loop where that is faster.
func (g *generator) drawnBy(d *drawer, of states) {
	slow, shape := g.fill, g.shape
	g.drawn, g.states = d, of
	g.fill = func(a *op.Attrs, out *value.Dense, r0, c0 int) {
		_, cols, _ := shape(a)
		state, step, given := of(a, uint64(r0*cols+c0))
		if !d.fill(out, cols, state, step, given) {
			slow(a, out, r0, c0)
		}
	}
}

// fill draws a block of a matrix with so many columns. It reports whether it did: not where the
// definition is faster.
func (d *drawer) fill(out *value.Dense, cols int, state, step uint64, given [2]uint64) bool {
	n := out.Rows * out.Cols
	if n < drawnLeast || !d.seen.Pay(drawnSteps*int64(n)) {
		return false
	}
	if t, err := launch.Target(); err != nil || t == launch.Interp {
		return false
	}
	r, ok := d.idle.Get().(*draw)
	if !ok {
		r = &draw{words: *value.New(types.I64, 1, drawnGiven+len(given))}
	}
	defer d.idle.Put(r)
	w := r.words.I64
	w[drawnState], w[drawnRow], w[drawnCol] = int64(state), int64(step*uint64(cols)), int64(step)
	for k, x := range given {
		w[drawnGiven+k] = int64(x)
	}
	out.Window(&r.out, 0, 0, out.Rows, out.Cols)
	if out.Cols == cols && out.Stride == cols { // one row of memory
		r.out.Rows, r.out.Cols, r.out.Stride = 1, n, n
	}
	r.size = r.out
	r.in[0], r.in[1], r.to[0] = &r.words, &r.size, &r.out
	defer func() { r.size, r.out = value.Dense{}, value.Dense{} }()
	if d.loop().Bind(&r.run, r.in[:], r.to[:]) != nil {
		return false
	}
	worker := r.run.Worker()
	defer worker.Free()
	if _, err := worker.Window(0, r.out.Rows, 0, r.out.Cols, nil); err != nil {
		panic("BUG: " + err.Error())
	}
	launch.Begun.Add(1)
	return true
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

// The loops of the distributions. Their definitions are those of the rows.

func uniformDrawer() *drawer {
	return newDrawer(types.F64, func(b *loop.Builder, bits, _ func(k int) loop.Val) loop.Val { return draft{b}.uniform(bits(0)) })
}

func normalDrawer() *drawer {
	return newDrawer(types.F64, func(l *loop.Builder, bits, _ func(k int) loop.Val) loop.Val {
		b := draft{l}
		u := b.sub(b.num(1), b.uniform(bits(0)))
		length := b.Op(loop.Sqrt, b.mul(b.num(-2), b.log(u)))
		return b.mul(length, b.cos(b.mul(b.num(2*math.Pi), b.uniform(bits(1)))))
	})
}

func exponentialDrawer() *drawer {
	return newDrawer(types.F64, func(l *loop.Builder, bits, _ func(k int) loop.Val) loop.Val {
		b := draft{l}
		return b.sub(b.num(0), define.Apply(l, "log", b.sub(b.num(1), b.uniform(bits(0)))))
	})
}

// integerDrawer takes how many integers there are and the least of them.
func integerDrawer() *drawer {
	return newDrawer(types.I64, func(b *loop.Builder, bits, given func(k int) loop.Val) loop.Val {
		return b.Op(loop.Add, given(1), b.Op(loop.MulHighU, bits(0), given(0)))
	})
}
