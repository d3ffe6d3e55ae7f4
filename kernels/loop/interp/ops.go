package interp

// This file lists the loops of scalar operations: one row an operation, one column an element type.

import (
	"fmt"
	"math"
	"math/bits"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/vec"
)

// operation is the loop of a scalar operation over n lanes. dst may be one of the operands.
type operation func(dst, a, b, c *slab, n int)

// row holds the loops of an operation by the element type of its operands; nil: it is not defined
// there.
type row struct{ f64, f32, i64, b operation }

var rows = map[loop.Code]row{
	loop.Add:     {f64: lift2(&f64s, vec.Add), f32: lift2(&f32s, vec.Add), i64: lift2(&i64s, vec.Add)},
	loop.Sub:     {f64: lift2(&f64s, vec.Sub), f32: lift2(&f32s, vec.Sub), i64: lift2(&i64s, vec.Sub)},
	loop.Mul:     {f64: lift2(&f64s, vec.Mul), f32: lift2(&f32s, vec.Mul), i64: lift2(&i64s, vec.Mul)},
	loop.Div:     {f64: lift2(&f64s, vec.Div), f32: lift2(&f32s, vec.Div)},
	loop.FMA:     {f64: fused(&f64s, fma), f32: fused(&f32s, loop.FMA32)},
	loop.Neg:     {f64: lift1(&f64s, vec.Neg), f32: lift1(&f32s, vec.Neg), i64: lift1(&i64s, vec.Neg)},
	loop.Abs:     {f64: lift1(&f64s, vec.AbsF64), f32: lift1(&f32s, vec.AbsF32), i64: lift1(&i64s, vec.AbsI64)},
	loop.Sqrt:    {f64: lift1(&f64s, vec.Map1F64(math.Sqrt)), f32: lift1(&f32s, vec.Map1F32(math.Sqrt))},
	loop.Min:     {f64: lift2(&f64s, vec.Min), f32: lift2(&f32s, vec.Min), i64: lift2(&i64s, vec.Min)},
	loop.Max:     {f64: lift2(&f64s, vec.Max), f32: lift2(&f32s, vec.Max), i64: lift2(&i64s, vec.Max)},
	loop.Nearest: {f64: lift1(&f64s, vec.Map1F64(math.RoundToEven)), f32: lift1(&f32s, vec.Map1F32(math.RoundToEven))},
	loop.Floor:   {f64: lift1(&f64s, vec.Map1F64(math.Floor)), f32: lift1(&f32s, vec.Map1F32(math.Floor))},
	loop.Ceil:    {f64: lift1(&f64s, vec.Map1F64(math.Ceil)), f32: lift1(&f32s, vec.Map1F32(math.Ceil))},
	loop.Scale:   {f64: lift2(&f64s, vec.Map2F64(scale))},

	loop.IDiv:     {i64: lift2(&i64s, vec.IDivI64)},
	loop.Mod:      {i64: lift2(&i64s, vec.ModI64)},
	loop.MulHighU: {i64: each2(mulHighU)},
	loop.Shl:      {i64: each2(func(a, b int64) int64 { return a << uint64(b) })},
	loop.Shr:      {i64: each2(func(a, b int64) int64 { return int64(uint64(a) >> uint64(b)) })},
	loop.Sar:      {i64: each2(func(a, b int64) int64 { return a >> uint64(b) })},
	loop.And:      {i64: each2(func(a, b int64) int64 { return a & b }), b: lift2(&bools, vec.And)},
	loop.Or:       {i64: each2(func(a, b int64) int64 { return a | b }), b: lift2(&bools, vec.Or)},
	loop.Xor:      {i64: each2(func(a, b int64) int64 { return a ^ b }), b: lift2(&bools, vec.NeBool)},
	loop.Not:      {i64: each1(func(a int64) int64 { return ^a }), b: lift1(&bools, vec.Not)},

	loop.Lt: {f64: liftTest(&f64s, vec.Lt), f32: liftTest(&f32s, vec.Lt), i64: liftTest(&i64s, vec.Lt), b: lift2(&bools, vec.LtBool)},
	loop.Le: {f64: liftTest(&f64s, vec.Le), f32: liftTest(&f32s, vec.Le), i64: liftTest(&i64s, vec.Le), b: lift2(&bools, vec.LeBool)},
	loop.Eq: {f64: liftTest(&f64s, vec.Eq), f32: liftTest(&f32s, vec.Eq), i64: liftTest(&i64s, vec.Eq), b: lift2(&bools, vec.EqBool)},
	loop.Ne: {f64: liftTest(&f64s, vec.Ne), f32: liftTest(&f32s, vec.Ne), i64: liftTest(&i64s, vec.Ne), b: lift2(&bools, vec.NeBool)},

	loop.ToF64: {
		f32: func(d, a, _, _ *slab, n int) { vec.Convert(d.F64[:n], a.F32[:n]) },
		i64: func(d, a, _, _ *slab, n int) { vec.Convert(d.F64[:n], a.I64[:n]) },
		b:   func(d, a, _, _ *slab, n int) { vec.Convert(d.F64[:n], a.Bool[:n]) },
	},
	loop.ToF32: {
		f64: func(d, a, _, _ *slab, n int) { vec.Convert(d.F32[:n], a.F64[:n]) },
		i64: func(d, a, _, _ *slab, n int) { vec.Convert(d.F32[:n], a.I64[:n]) },
		b:   func(d, a, _, _ *slab, n int) { vec.Convert(d.F32[:n], a.Bool[:n]) },
	},
	// Lanes that have left a loop may hold numbers out of range. Go converts them to any integer.
	loop.ToI64: {
		f64: func(d, a, _, _ *slab, n int) { truncate(d.I64[:n], a.F64[:n]) },
		f32: func(d, a, _, _ *slab, n int) { truncate(d.I64[:n], a.F32[:n]) },
		b:   func(d, a, _, _ *slab, n int) { vec.Convert(d.I64[:n], a.Bool[:n]) },
	},
	loop.ToBool: {
		f64: func(d, a, _, _ *slab, n int) { vec.NonZero(d.Bool[:n], a.F64[:n]) },
		f32: func(d, a, _, _ *slab, n int) { vec.NonZero(d.Bool[:n], a.F32[:n]) },
		i64: func(d, a, _, _ *slab, n int) { vec.NonZero(d.Bool[:n], a.I64[:n]) },
	},
	loop.Bits: {
		f64: func(d, a, _, _ *slab, n int) {
			turn(d.I64[:n], a.F64, func(x float64) int64 { return int64(f64Word(x)) })
		},
		f32: func(d, a, _, _ *slab, n int) {
			turn(d.I64[:n], a.F32, func(x float32) int64 { return int64(f32Word(x)) })
		},
	},
	loop.F64Bits: {i64: func(d, a, _, _ *slab, n int) {
		turn(d.F64[:n], a.I64, func(x int64) float64 { return wordF64(loop.Word(x)) })
	}},
}

// selects are the loops of Select, by the type of what it selects.
var selects = row{
	f64: func(d, c, a, b *slab, n int) { vec.Select(d.F64[:n], c.Bool[:n], a.F64[:n], b.F64[:n]) },
	f32: func(d, c, a, b *slab, n int) { vec.Select(d.F32[:n], c.Bool[:n], a.F32[:n], b.F32[:n]) },
	i64: func(d, c, a, b *slab, n int) { vec.Select(d.I64[:n], c.Bool[:n], a.I64[:n], b.I64[:n]) },
	b:   func(d, c, a, b *slab, n int) { vec.SelectBool(d.Bool[:n], c.Bool[:n], a.Bool[:n], b.Bool[:n]) },
}

// of is the loop on elements of e.
func (r row) of(e types.Elem) operation {
	switch e {
	case types.F64:
		return r.f64
	case types.F32:
		return r.f32
	case types.I64:
		return r.i64
	}
	return r.b
}

// operationOf is the loop of a scalar operation on these types. It panics with an *Unsupported
// where there is none.
func operationOf(c loop.Code, in []types.Elem) operation {
	r, e := rows[c], in[0]
	if c == loop.Select {
		r, e = selects, in[1]
	}
	f := r.of(e)
	if f == nil {
		panic(&Unsupported{fmt.Sprintf("%s of a %v", c.Operation().Name, e)})
	}
	return f
}

// functionLoop is the loop of package vec that gives the same bytes as the body of a function of
// the standard library, or nil.
func functionLoop(f *loop.Function) operation {
	if len(f.Params) == 0 || (loop.Standard{}).Function(f.Name) != f {
		return nil
	}
	if g, ok := vec.FunctionNamed(f.Name); ok && len(f.Params) == 1 {
		return lift1(&f64s, vec.Map1F64(g.F))
	}
	if g, ok := vec.Function2Named(f.Name); ok && len(f.Params) == 2 {
		return lift2(&f64s, vec.Map2F64(g.F))
	}
	return nil
}

// native is the loop of a Go function: a call a lane.
func native(f *loop.Function) operation {
	return func(d, a, b, c *slab, n int) {
		in, x := [3]*slab{a, b, c}, make([]float64, len(f.Params))
		for lane := range n {
			for k := range x {
				x[k] = in[k].F64[lane]
			}
			d.F64[lane] = f.Go(x)
		}
	}
}

// lift1, lift2 and liftTest are loops on registers.
func lift1[T vec.Element](k *kind[T], f func(dst, a []T)) operation {
	return func(d, a, _, _ *slab, n int) { f((*k.of(d))[:n], (*k.of(a))[:n]) }
}

func lift2[T vec.Element](k *kind[T], f func(dst, a, b []T)) operation {
	return func(d, a, b, _ *slab, n int) { f((*k.of(d))[:n], (*k.of(a))[:n], (*k.of(b))[:n]) }
}

func liftTest[T vec.Element](k *kind[T], f func(dst []uint8, a, b []T)) operation {
	return func(d, a, b, _ *slab, n int) { f(d.Bool[:n], (*k.of(a))[:n], (*k.of(b))[:n]) }
}

// each1 and each2 are for operations that package vec has no loop for: a call an element.
func each1(f func(a int64) int64) operation {
	return func(d, a, _, _ *slab, n int) { turn(d.I64[:n], a.I64, f) }
}

func each2(f func(a, b int64) int64) operation {
	return func(d, a, b, _ *slab, n int) {
		dst, x, y := d.I64[:n], a.I64[:n], b.I64[:n]
		for k := range dst {
			dst[k] = f(x[k], y[k])
		}
	}
}

func turn[D, S vec.Element](dst []D, a []S, f func(x S) D) {
	a = a[:len(dst)]
	for k, x := range a {
		dst[k] = f(x)
	}
}

func truncate[T vec.Float](dst []int64, a []T) {
	a = a[:len(dst)]
	for k, x := range a {
		dst[k] = int64(x)
	}
}

func mulHighU(a, b int64) int64 {
	h, _ := bits.Mul64(uint64(a), uint64(b))
	return int64(h)
}

// scale is a * 2^n rounded once. A power of two that is a normal number is exact, so that one
// product rounds once, also to a subnormal number.
func scale(a, n float64) float64 {
	switch {
	case n >= -1022 && n <= 1023:
		return a * math.Float64frombits(uint64(int64(n)+1023)<<52)
	case a != a || n != n || math.IsInf(n, 1) && a == 0 || math.IsInf(n, -1) && math.IsInf(a, 0):
		return math.NaN()
	}
	return math.Ldexp(a, int(max(-1<<12, min(1<<12, n))))
}

// fused is a loop of fused multiplications and additions.
func fused[T vec.Float](k *kind[T], f func(x, y, z T) T) operation {
	return func(d, a, b, c *slab, n int) {
		dst, x, y, z := (*k.of(d))[:n], (*k.of(a))[:n], (*k.of(b))[:n], (*k.of(c))[:n]
		for k := range dst {
			dst[k] = f(x[k], y[k], z[k])
		}
	}
}

// fma calls math.FMA directly, which is one instruction then. As a value, math.FMA is the routine for
// processors that have none.
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }
