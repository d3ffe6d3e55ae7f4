package sparse

// This file runs products of a sparse matrix and a vector over semirings (ring.go): loops
// over rows.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

func beginRowfold(c *op.Call, workers int) op.LoopBody {
	a, out := c.In[0].(*value.CSR), c.Result()
	x := flatVector(c.Dense(1))
	of := foldClass(c.Attrs)
	if of == loop.Any {
		return anyRows(out.Bool, a, x.Bool)
	}
	if of == loop.Sum {
		switch out.Elem {
		case types.F64:
			return sumRows(out, a, numbersOf[float64](a, types.F64), dense.Widened(x, types.F64).F64, func(d *value.Dense) []float64 { return d.F64 })
		case types.F32:
			return sumRows(out, a, numbersOf[float32](a, types.F32), x.F32, func(d *value.Dense) []float32 { return d.F32 })
		}
		return spmvI64(out.I64, a, numbersOf[int64](a, types.I64), dense.Widened(x, types.I64).I64)
	}
	fold := ringFold{least: of == loop.Least, zeros: true}
	x = dense.Widened(x, out.Elem)
	var base *value.Dense
	if len(c.In) > 2 {
		base = flatVector(c.Dense(2))
	}
	if fold.extremal(out, a) {
		return beginExtreme(fold, out, a, x, base, workers, c.Part)
	}
	rows := fold.begin(out, a, x)
	if base == nil {
		return rows
	}
	return onto(rows, out, base, reduce.PickOf(fold.least))
}

// onto is rows and then the greater or lesser of what they made and base, while it is in the cache.
func onto(rows rowLoop, out, base *value.Dense, pick reduce.Pick) rowLoop {
	const piece = 1024
	return func(lo, hi int) {
		for ; lo < hi; lo += piece {
			end := min(lo+piece, hi)
			rows(lo, end)
			switch out.Elem {
			case types.F64:
				pick.F64(out.F64[lo:end], out.F64[lo:end], base.F64[lo:end])
			case types.F32:
				pick.F32(out.F32[lo:end], out.F32[lo:end], base.F32[lo:end])
			default:
				pick.I64(out.I64[lo:end], out.I64[lo:end], base.I64[lo:end])
			}
		}
	}
}

func beginSemiring(c *op.Call, workers int) op.LoopBody {
	a, out := c.In[0].(*value.CSR), c.Result()
	x := flatVector(c.Dense(1))
	ring := ringOf(c.Attrs)
	if ring.truths() {
		return anyRows(out.Bool, a, x.Bool)
	}
	fold := ringFold{least: ring.least(), adds: ring.adds, empty: ring.zero(out.Elem)}
	if x = dense.Widened(x, out.Elem); fold.extremal(out, a) {
		return beginExtreme(fold, out, a, x, nil, workers, c.Part)
	}
	return fold.begin(out, a, x)
}

// flatVector is a vector whose elements lie one after the other.
func flatVector(x *value.Dense) *value.Dense {
	if x.Rows > 1 && x.Stride != 1 {
		return x.Clone()
	}
	return x
}

func anyRows(out []uint8, a *value.CSR, x []uint8) rowLoop {
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			found := uint8(0)
			for _, j := range a.Col[a.Ptr[i]:a.Ptr[i+1]] {
				if x[j] != 0 {
					found = 1
					break
				}
			}
			out[i] = found
		}
	}
}

// sumRows is the exact sum, rounded once, of the rounded products of every row. at returns the
// elements of a list of out's type.
func sumRows[T float32 | float64](out *value.Dense, a *value.CSR, val, x []T, at func(d *value.Dense) []T) rowLoop {
	sum := reduce.Named("sum").Whole
	return func(lo, hi int) {
		longest := int64(0)
		for i := lo; i < hi; i++ {
			longest = max(longest, a.Ptr[i+1]-a.Ptr[i])
		}
		list := value.New(out.Elem, 1, int(longest))
		products := at(list)
		sum.EachList(out, lo, hi, a.Cols, func(i int, row *value.Dense) {
			cols, from := a.Row(i)
			for k, j := range cols {
				if products[k] = x[j]; val != nil {
					products[k] *= val[from+k]
				}
			}
			list.Window(row, 0, 0, 1, len(cols))
		})
	}
}

// ringFold is a least or greatest of products or sums over the entries of a row; beginExtreme does
// those of patterns with integers.
type ringFold struct {
	least bool
	adds  bool         // a[i,k] + x[k] instead of a[i,k] * x[k]
	zeros bool         // elements that are not stored are zeros
	empty value.Scalar // without zeros: of a row without entries
}

func (f ringFold) begin(out *value.Dense, a *value.CSR, x *value.Dense) rowLoop {
	switch out.Elem {
	case types.F64:
		return f.rowsF64(out.F64, a, x.F64)
	case types.F32:
		return foldRows(f, out.F32, a, numbersOf[float32](a, types.F32), x.F32, float32(f.empty.F), float32(math.NaN()))
	}
	return foldRows(f, out.I64, a, numbersOf[int64](a, types.I64), x.I64, f.empty.I, 0)
}

// rowsF64 folds rows by a kernel. It folds some rows again because the kernel does not tell their value: full
// rows have no zero beside their entries, and a fold without zeros may give a zero of either sign.
func (f ringFold) rowsF64(out []float64, a *value.CSR, x []float64) rowLoop {
	val := numbersOf[float64](a, types.F64)
	again := foldRows(f, out, a, val, x, f.empty.F, math.NaN())
	fold := vec.Extremes{Least: f.least, Plus: f.adds, Start: f.empty.F}
	if f.zeros {
		fold.Start = 0
	}
	return func(lo, hi int) {
		n, longest := fold.F64(out[lo:hi], a.Ptr[lo:hi+1], a.Col, val, x)
		done := out[lo : lo+n]
		switch {
		case f.zeros && longest == int64(a.Cols):
			again(lo, lo+n)
		case !f.zeros:
			for i, v := range done {
				if f.adds && val == nil {
					done[i] = v + 1 // which grows with v
				} else if v == 0 {
					again(lo+i, lo+i+1)
				}
			}
		}
		again(lo+n, hi)
	}
}

// foldRows is the fold of every row; where a NaN wins it becomes nan, which is the one NaN of the
// element type.
func foldRows[T float32 | float64 | int64](f ringFold, out []T, a *value.CSR, val, x []T, empty, nan T) rowLoop {
	row := maxOf[T]
	if f.least {
		row = minOf[T]
	}
	mode := byPattern
	switch {
	case f.adds && val == nil:
		mode = onePlus
	case f.adds:
		mode = valuePlus
	case val != nil:
		mode = valueTimes
	}
	full := int64(a.Cols)
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, end := a.Ptr[i], a.Ptr[i+1]
			cols := a.Col[at:end]
			var best T
			switch {
			case f.zeros && end-at < full:
			case len(cols) == 0:
				out[i] = empty
				continue
			default:
				best = first(mode, cols[0], at, val, x)
			}
			switch mode {
			case byPattern:
				best = row(best, cols, nil, x)
			case valueTimes:
				best = row(best, cols, val[at:end], x)
			default:
				for k, j := range cols {
					p := x[j] + 1
					if mode == valuePlus {
						p = x[j] + val[at+int64(k)]
					}
					if f.least {
						best = min(best, p)
					} else {
						best = max(best, p)
					}
				}
			}
			if best != best {
				best = nan
			}
			if f.zeros {
				best += 0 // a product that is -0 is not stored, and what is not stored is 0
			}
			out[i] = best
		}
	}
}

// How a product of an entry and an element of the vector is made.
const (
	byPattern  = iota // true * x
	valueTimes        // v * x
	onePlus           // true + x
	valuePlus         // v + x
)

// first is the product of the first entry of a row.
func first[T float32 | float64 | int64](mode int, j int32, at int64, val, x []T) T {
	switch mode {
	case valueTimes:
		return val[at] * x[j]
	case onePlus:
		return 1 + x[j]
	case valuePlus:
		return val[at] + x[j]
	}
	return x[j]
}

// maxOf is the greatest of best and the products of a row: of the elements themselves without
// values.
func maxOf[T float32 | float64 | int64](best T, cols []int32, val, x []T) T {
	if val == nil {
		for _, j := range cols {
			best = max(best, x[j])
		}
		return best
	}
	val = val[:len(cols)]
	for k, j := range cols {
		best = max(best, val[k]*x[j])
	}
	return best
}

func minOf[T float32 | float64 | int64](best T, cols []int32, val, x []T) T {
	if val == nil {
		for _, j := range cols {
			best = min(best, x[j])
		}
		return best
	}
	val = val[:len(cols)]
	for k, j := range cols {
		best = min(best, val[k]*x[j])
	}
	return best
}
