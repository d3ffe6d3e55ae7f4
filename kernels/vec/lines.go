package vec

// This file folds over the entries of a sparse matrix. Each entry names a line of a dense matrix.

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"flow/kernels/blas"
	"flow/kernels/vec/machine"
)

// Step is what an entry does to an element of the result.
type Step = machine.Step

// These are the steps for an entry of value u, an element v of the result, and an element x of the
// named line. The least and the greatest of floats are NaN if one of them is, and -0 is less than 0.
const (
	Chain         = machine.Chain         // v += u*x, fused
	LeastTimes    = machine.LeastTimes    // v = min(v, u*x)
	GreatestTimes = machine.GreatestTimes // v = max(v, u*x)
	LeastPlus     = machine.LeastPlus     // v = min(v, u+x)
	GreatestPlus  = machine.GreatestPlus  // v = max(v, u+x)
)

// Lines is a dense matrix: row i begins at X[i*Stride].
type Lines[T Number] struct {
	X            []T
	Cols, Stride int
}

// row returns row i.
func (l Lines[T]) row(i int) []T { return l.X[i*l.Stride:][:l.Cols] }

// From returns the rows from row i on.
func (l Lines[T]) From(i int) Lines[T] {
	if l.X = l.X[min(i*l.Stride, len(l.X)):]; l.Cols == 0 {
		l.X = nil
	}
	return l
}

// Entries are the rows of a sparse matrix. Row i has the entries Ptr[i] <= k < Ptr[i+1] with columns
// Col[k], which ascend, and values Val[k]. A nil Val stands for ones.
type Entries[T Number] struct {
	Ptr []int64
	Col []int32
	Val []T
}

// Convert makes e the rows of x with the values that integers has at their places. It reuses the
// memory of e. The values of machine.Ahead entries behind the rows are converted too, as kernels
// read them.
func (e *Entries[T]) Convert(x Entries[T], integers []int64) {
	from, n := x.Ptr[0], len(x.Ptr)
	to := min(int(x.Ptr[n-1])+machine.Ahead, len(x.Col))
	e.Col = x.Col[from:to]
	e.Val = slices.Grow(e.Val[:0], to-int(from))[:to-int(from)]
	Convert(e.Val, integers[from:to])
	e.Ptr = slices.Grow(e.Ptr[:0], n)[:n]
	for i, k := range x.Ptr {
		e.Ptr[i] = k - from
	}
}

// Fold makes step s of row i of out with the lines of b that row i of e names, one entry after the
// other, for all rows.
func (e Entries[T]) Fold(s Step, out, b Lines[T]) {
	if out.Cols == 0 {
		return
	}
	n := rowsBefore(e.Ptr, len(e.Col))
	if n == 0 || !e.run(false, s, out, b, n, 0, 0) {
		n = 0
	}
	for i := n; i < len(e.Ptr)-1; i++ {
		for k := e.Ptr[i]; k < e.Ptr[i+1]; k++ {
			e.step(s, out.row(i), b.row(int(e.Col[k])), k)
		}
	}
}

// Add makes the step Chain of row Col[k] of out with row i of b, for the entries k of row i with lo <=
// Col[k] < hi and for all rows one after the other. A hi of math.MaxInt32 stands for all entries; lo is
// then 0.
func (e Entries[T]) Add(out, b Lines[T], lo, hi int32) {
	n := len(e.Ptr) - 1
	if out.Cols == 0 || n < 1 || len(e.Col) == 0 || e.run(true, Chain, out, b, n, int(lo), int(hi)) {
		return
	}
	for i := range n {
		row := e.Col[e.Ptr[i]:e.Ptr[i+1]]
		for k := e.Ptr[i] + int64(NotLess(row, lo)); k < e.Ptr[i]+int64(NotLess(row, hi)); k++ {
			e.step(Chain, out.row(int(e.Col[k])), b.row(i), k)
		}
	}
}

// mostEntries is the most entries of several rows of a call, so that it lasts some 20 us.
const mostEntries = 1024

// run adds or folds n rows by a kernel, in strips of columns. The width of a strip changes no bit. run
// returns false if the processor has no kernel for them.
func (e Entries[T]) run(adds bool, s Step, out, b Lines[T], n, lo, hi int) bool {
	size := int(unsafe.Sizeof(*new(T)))
	f := machine.Form{Type: ordinal[T](), Step: s, Valued: e.Val != nil}
	one := out.Cols == 1 && out.Stride == 1 && b.Stride == 1
	kernels, instructions, width := machine.FoldLines, machine.AVX512, 64/size
	if adds {
		kernels = machine.AddLines
	}
	if !haveGather {
		instructions, width = machine.AVX2, 32/size
	}
	if f.Vectors = 1; one {
		f.Vectors = 0
	}
	if !haveAVX2 || !haveGather && !f.OnAVX2() {
		return false
	}
	for first := 0; first < n; {
		end := first + 1
		for end < n && end-first < mostEntries && e.Ptr[end+1]-e.Ptr[first] <= mostEntries {
			end++
		}
		for c := 0; c < out.Cols; {
			columns := min(out.Cols-c, 4*width)
			switch {
			case one:
				f.Vectors = 0
			case columns <= width:
				f.Vectors = 1
			case columns <= 2*width:
				f.Vectors = 2
			default:
				f.Vectors = 4
			}
			// on AVX2 masks only leave out elements of the last strip
			if f.Whole = adds && !haveGather && !one && columns >= width; f.Whole && columns < f.Vectors*width {
				f.Vectors /= 2
				columns = f.Vectors * width
			}
			args := struct {
				out           *T
				ptr           *int64
				col           *int32
				val, b        *T
				n, ldout, ldb int
				mask          uint64
				lo, hi        int
			}{
				&out.X[c], &e.Ptr[first], unsafe.SliceData(e.Col), unsafe.SliceData(e.Val), &b.X[c],
				end - first, size * out.Stride, size * b.Stride, ^uint64(0) >> (64 - columns), lo, hi,
			}
			if adds {
				args.b = &b.X[first*b.Stride+c]
			} else {
				args.out = &out.X[first*out.Stride+c]
			}
			if !haveGather {
				args.mask = machine.StripMask(columns * size)
			}
			kernels[f].Call(instructions, unsafe.Pointer(&args))
			c += columns
		}
		first = end
	}
	return true
}

// step makes step s of entry k for the elements of v and x, in plain Go.
func (e Entries[T]) step(s Step, v, x []T, k int64) {
	u := T(1)
	if e.Val != nil {
		u = e.Val[k]
	}
	if s == Chain {
		chain(u, x[:len(v)], v)
		return
	}
	for c, y := range x[:len(v)] {
		switch s {
		case LeastTimes:
			v[c] = min(v[c], u*y)
		case GreatestTimes:
			v[c] = max(v[c], u*y)
		case LeastPlus:
			v[c] = min(v[c], u+y)
		default:
			v[c] = max(v[c], u+y)
		}
	}
}

// chain makes v = u*x + v, element by element. Floats are rounded once.
func chain[T Number](u T, x, v []T) {
	switch v := any(v).(type) {
	case []float64:
		blas.Axpy(float64(u), any(x).([]float64), v)
	case []float32:
		blas.Axpy(float32(u), any(x).([]float32), v)
	case []int64:
		for c, y := range any(x).([]int64) {
			v[c] += int64(u) * y
		}
	}
}

// NotLess is the first place of an ascending list that holds at least x, len(list) if there is
// none. The search has no branches that depend on the list: rows of a sparse matrix have their
// boundaries at places that cannot be foretold.
func NotLess(list []int32, x int32) int {
	base, n := 0, len(list)
	for n > 1 {
		half := n / 2
		base += half & int((int64(list[base+half-1])-int64(x))>>63)
		n -= half
	}
	if n == 1 {
		base -= int((int64(list[base]) - int64(x)) >> 63)
	}
	return base
}

// What follows finds the extremes of integers that the rows of a pattern name. Row i names x[col[k]]
// for ptr[i] <= k < ptr[i+1]. len(ptr) is len(out)+1, and every col[k] is an index of x.

// MaxRows raises out[i] to the greatest element that row i names. No named element is greater than
// bound, an int32. A row ends once it reaches bound: if most vertices of a graph have the greatest
// label already, few entries are read.
func MaxRows(out, ptr []int64, col, x []int32, bound int64) {
	for i := extremeRows(machine.MaxRows, out, ptr, col, x, bound); i < len(out); i++ {
		v, row := out[i], col[ptr[i]:ptr[i+1]]
		for ; len(row) >= abreast && v < bound; row = row[abreast:] {
			v = max(v, int64(max(x[row[0]], x[row[1]], x[row[2]], x[row[3]])))
		}
		for k := 0; k < len(row) && v < bound; k++ {
			v = max(v, int64(x[row[k]]))
		}
		out[i] = v
	}
}

// MinRows lowers out[i] to the least element that row i names. No named element is less than bound.
func MinRows(out, ptr []int64, col, x []int32, bound int64) {
	for i := extremeRows(machine.MinRows, out, ptr, col, x, bound); i < len(out); i++ {
		v, row := out[i], col[ptr[i]:ptr[i+1]]
		for ; len(row) >= abreast && v > bound; row = row[abreast:] {
			v = min(v, int64(min(x[row[0]], x[row[1]], x[row[2]], x[row[3]])))
		}
		for k := 0; k < len(row) && v > bound; k++ {
			v = min(v, int64(x[row[k]]))
		}
		out[i] = v
	}
}

// abreast is how many elements a row reads between two comparisons with the bound.
const abreast = 4

// extremeRows runs kernel k on the first n rows, and returns n.
func extremeRows(k *machine.Kernel, out, ptr []int64, col, x []int32, bound int64) (n int) {
	if !haveGather {
		return 0
	}
	if n = rowsBefore(ptr, len(col)); n > 0 {
		args := struct {
			out, ptr *int64
			col, x   *int32
			rows     int
			bound    int64
		}{&out[:n][0], &ptr[0], &col[0], &x[0], n, bound}
		k.Call(machine.AVX512, unsafe.Pointer(&args))
	}
	return n
}

// rowsBefore returns the number of rows whose ends a kernel can pass by machine.Ahead entries.
func rowsBefore(ptr []int64, entries int) int {
	return sort.Search(len(ptr)-1, func(i int) bool { return ptr[i+1] > int64(entries-machine.Ahead) })
}

// Narrow copies the low halves of src to dst, and says what the least and the greatest of src are:
// where both fit in an int32, dst is src. Of no elements they are the greatest and the least int64.
func Narrow(dst []int32, src []int64) (least, greatest int64) {
	full := uint64(math.MaxUint64)
	least, greatest, done := narrowWords(dst, src, &full, 0)
	for i, v := range src[done:] {
		dst[done+i] = int32(v)
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// NarrowMarked is Narrow for the elements whose bits are set in marks: bit i stands for element i. The
// other elements of dst are undefined.
func NarrowMarked(dst []int32, src []int64, marks []uint64) (least, greatest int64) {
	if len(src) == 0 {
		return math.MaxInt64, math.MinInt64
	}
	least, greatest, done := narrowWords(dst, src, &marks[0], 8)
	for i := done; i < len(src); i += 64 {
		end := min(i+64, len(src))
		dst, src, w := dst[i:end], src[i:end], marks[i/64]
		if w == math.MaxUint64 { // most words are full
			lo, hi := Narrow(dst, src)
			least, greatest = min(least, lo), max(greatest, hi)
			continue
		}
		for k, v := range src { // no branch depends on a mark: among mixed ones it would often be mispredicted
			dst[k] = int32(v)
			lo, hi := v, v
			if w&1 == 0 {
				lo, hi = math.MaxInt64, math.MinInt64
			}
			least, greatest, w = min(least, lo), max(greatest, hi), w>>1
		}
	}
	return least, greatest
}

// narrowWords is NarrowMarked for the elements of whole words of marks. done is their number. The words
// are step bytes apart; 0: the first word serves all.
func narrowWords(dst []int32, src []int64, marks *uint64, step int) (least, greatest int64, done int) {
	least, greatest = math.MaxInt64, math.MinInt64
	words := len(src) / 64
	if words == 0 || !haveGather {
		return least, greatest, 0
	}
	var best [2][8]int64
	args := struct {
		dst         *int32
		src         *int64
		marks       *uint64
		step, words int
		best        *[2][8]int64
	}{&dst[:len(src)][0], &src[0], marks, step, words, &best}
	machine.Narrow.Call(machine.AVX512, unsafe.Pointer(&args))
	for k := range best[0] {
		least, greatest = min(least, best[0][k]), max(greatest, best[1][k])
	}
	return least, greatest, 64 * words
}
