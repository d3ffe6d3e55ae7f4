package dense

// This file defines Grid, a dense matrix as a slice of Go elements, and what copies, clears, widens
// and transposes.

import (
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// Precision is the element types that factorisations compute in.
type Precision interface{ float32 | float64 }

// Factor is the set of element types in which products are computed.
type Factor interface{ Precision | int64 }

// Cell is how an element of a dense matrix lies in memory.
type Cell interface {
	float32 | float64 | int64 | uint8
}

// Grid is a dense matrix as a slice of its elements; it shares the matrix's memory.
type Grid[T Cell] struct {
	Rows, Cols, LD int
	X              []T
}

// GridOf is d's elements; d's element type must lie in memory as T.
func GridOf[T Cell](d *value.Dense) Grid[T] {
	return Grid[T]{Rows: d.Rows, Cols: d.Cols, LD: d.Stride, X: *Cells[T](d)}
}

// Cells is the place in d of the slice of its elements, which must lie in memory as T.
func Cells[T Cell](d *value.Dense) *[]T { return placeOf[T](&d.F64, &d.F32, &d.I64, &d.Bool) }

// Values is Cells of a sparse matrix. A matrix of bools has no values: what is stored there is lost.
func Values[T Cell](m *value.CSR) *[]T { return placeOf[T](&m.F64, &m.F32, &m.I64, new([]uint8)) }

// placeOf returns the place of the slice of T.
func placeOf[T Cell](f64 *[]float64, f32 *[]float32, i64 *[]int64, truths *[]uint8) *[]T {
	var x any = truths
	switch any(*new(T)).(type) {
	case float64:
		x = f64
	case float32:
		x = f32
	case int64:
		x = i64
	}
	return x.(*[]T)
}

// ForElem returns the instance of a generic function that fits the storage of elements of type e: f64,
// f32, truths (uint8) for bools, and i64 for all others.
func ForElem[F any](e types.Elem, f64, f32, i64, truths F) F {
	if e == types.Bool {
		return truths
	}
	return ForNumber(e, f64, f32, i64)
}

// ForNumber is ForElem for functions without an instance for bools. It would return i64 for them, so e
// must not be types.Bool.
func ForNumber[F any](e types.Elem, f64, f32, i64 F) F {
	switch e {
	case types.F64:
		return f64
	case types.F32:
		return f32
	}
	return i64
}

// Row is row i; empty where the grid has no columns, as a view of nothing has no memory at all.
func (g Grid[T]) Row(i int) []T {
	if g.Cols == 0 {
		return nil
	}
	return g.X[i*g.LD:][:g.Cols]
}

// Part is the window of rows x cols at (i, j).
func (g Grid[T]) Part(i, j, rows, cols int) Grid[T] {
	p := Grid[T]{Rows: rows, Cols: cols, LD: g.LD}
	if rows > 0 && cols > 0 {
		p.X = g.X[i*g.LD+j:][:(rows-1)*g.LD+cols]
	}
	return p
}

// TurnedCopy is t(g) on the heap.
func TurnedCopy[T Cell](g Grid[T]) Grid[T] {
	c := Grid[T]{Rows: g.Cols, Cols: g.Rows, LD: g.Rows, X: make([]T, g.Rows*g.Cols)}
	if len(c.X) > 0 {
		Transpose(c, g)
	}
	return c
}

// Transpose stores t(src) in dst.
func Transpose[T Cell](dst, src Grid[T]) {
	vec.Transpose(dst.X, dst.LD, src.X, src.LD, dst.Rows, dst.Cols)
}

// Turn stores t(src) in dst.
func Turn(dst, src *value.Dense) {
	if dst.Rows > 0 && dst.Cols > 0 {
		TurnBlock(SlabOf(dst, 0, (dst.Rows-1)*dst.Stride+dst.Cols), dst.Stride, src, 0, 0, dst.Rows, dst.Cols)
	}
}

// Widened is d in element type e: d itself, or a converted copy.
func Widened(d *value.Dense, e types.Elem) *value.Dense {
	if d.Elem == e {
		return d
	}
	c := value.New(e, d.Rows, d.Cols)
	for i := 0; i < d.Rows && d.Cols > 0; i++ { // a view without columns has no memory to slice
		switch at, from := i*c.Stride, SlabOf(d, i*d.Stride, d.Cols); {
		case d.Elem == types.I64 && e == types.F64:
			vec.Convert(c.F64[at:at+d.Cols], from.I64)
		case d.Elem == types.F32 && e == types.F64:
			vec.Convert(c.F64[at:at+d.Cols], from.F32)
		case d.Elem == types.Bool && e == types.F64:
			vec.Convert(c.F64[at:at+d.Cols], from.Bool)
		case d.Elem == types.Bool && e == types.I64:
			vec.Convert(c.I64[at:at+d.Cols], from.Bool)
		default:
			panic("BUG: no widening of " + d.Elem.String() + " to " + e.String())
		}
	}
	return c
}

// Clear sets all elements of a contiguous matrix to zero.
func Clear(d *value.Dense) { clear(d.Bytes()) }

// TurnedVector is a vector seen the other way round, in the same memory.
func TurnedVector(v *value.Dense) *value.Dense {
	t := *v
	if v.Rows > 1 && v.Stride != 1 { // a column with gaps becomes a row only by a copy
		t = *v.Clone()
	}
	t.Rows, t.Cols, t.Stride = v.Cols, v.Rows, v.Rows
	return &t
}
