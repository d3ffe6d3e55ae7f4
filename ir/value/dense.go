package value

import (
	"fmt"
	"unsafe"

	"flow/ir/types"
	"flow/memory"
)

// Dense is a row-major matrix. Element (i, j) is at i*Stride+j of the one slice that its element
// type names; the others are nil. Bool is one byte, 0 or 1. I64 also holds time and dur.
type Dense struct {
	Elem       types.Elem
	Rows, Cols int
	Stride     int // elements from one row to the next, >= Cols
	F64        []float64
	F32        []float32
	I64        []int64
	Bool       []uint8
	// Buf is the lent memory, for its lender; nil for heap memory and views.
	Buf []byte
}

// Type returns the matrix's type.
func (d *Dense) Type() types.Type { return types.DenseOf(d.Elem, d.Rows, d.Cols) }

// New returns a zero matrix on the heap. It panics for an element type without a fixed size, and
// with a *memory.Error if memory is short; callers of kernels turn that into a failure of the run.
func New(e types.Elem, rows, cols int) *Dense {
	d := &Dense{Elem: e, Rows: rows, Cols: cols, Stride: cols}
	n := rows * cols
	memory.MustProduct(n, e.Size())
	switch e {
	case types.F64:
		d.F64 = make([]float64, n)
	case types.F32:
		d.F32 = make([]float32, n)
	case types.I64, types.Time, types.Dur:
		d.I64 = make([]int64, n)
	case types.Bool:
		d.Bool = make([]uint8, n)
	default:
		panic("BUG: dense matrix of " + e.String())
	}
	return d
}

// Over returns a rows x cols matrix over buf, which must be long enough and aligned. The contents
// are those of buf. The matrix keeps buf.
func Over(buf []byte, e types.Elem, rows, cols int) *Dense {
	d := &Dense{Elem: e, Rows: rows, Cols: cols, Stride: cols, Buf: buf}
	n := rows * cols
	if n*e.Size() > len(buf) {
		panic(fmt.Sprintf("BUG: %d bytes under a %v", len(buf), d.Type()))
	}
	if n == 0 {
		return d
	}
	p := unsafe.Pointer(unsafe.SliceData(buf))
	switch e {
	case types.F64:
		d.F64 = unsafe.Slice((*float64)(p), n)
	case types.F32:
		d.F32 = unsafe.Slice((*float32)(p), n)
	case types.I64, types.Time, types.Dur:
		d.I64 = unsafe.Slice((*int64)(p), n)
	case types.Bool:
		d.Bool = unsafe.Slice((*uint8)(p), n)
	default:
		panic("BUG: dense matrix of " + e.String())
	}
	return d
}

// Anew returns a matrix of that size for new contents, in the memory of old if that is large enough.
// The contents are any. old may be nil. It would be wrong if old were a view with gaps.
func Anew(old *Dense, e types.Elem, rows, cols int) *Dense {
	memory.MustProduct(rows*cols, e.Size())
	if old == nil || old.Elem != e {
		return New(e, rows, cols)
	}
	d, n, fits := &Dense{Elem: e, Rows: rows, Cols: cols, Stride: cols}, rows*cols, true
	switch {
	case n <= cap(old.F64):
		d.F64 = old.F64[:n]
	case n <= cap(old.F32):
		d.F32 = old.F32[:n]
	case n <= cap(old.I64):
		d.I64 = old.I64[:n]
	case n <= cap(old.Bool):
		d.Bool = old.Bool[:n]
	default:
		fits = false
	}
	if !fits {
		return New(e, rows, cols)
	}
	return d
}

// Bytes returns the memory of a contiguous matrix (Stride == Cols), not a copy, for messages and
// hashes. It panics for a view with gaps.
func (d *Dense) Bytes() []byte {
	if d.Stride != d.Cols && d.Rows > 1 {
		panic("BUG: bytes of a strided view")
	}
	n := d.Rows * d.Cols
	if n == 0 {
		return nil
	}
	switch d.Elem {
	case types.F64:
		return unsafe.Slice((*byte)(unsafe.Pointer(&d.F64[0])), 8*n)
	case types.F32:
		return unsafe.Slice((*byte)(unsafe.Pointer(&d.F32[0])), 4*n)
	case types.Bool:
		return d.Bool[:n]
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&d.I64[0])), 8*n)
}

// View returns the window of rows x cols at (r0, c0), sharing memory.
func (d *Dense) View(r0, c0, rows, cols int) *Dense {
	v := new(Dense)
	d.Window(v, r0, c0, rows, cols)
	return v
}

// Window makes v the window of rows x cols at (r0, c0), sharing memory.
func (d *Dense) Window(v *Dense, r0, c0, rows, cols int) {
	if r0 < 0 || c0 < 0 || r0+rows > d.Rows || c0+cols > d.Cols {
		panic(fmt.Sprintf("BUG: view %d+%d, %d+%d of a %v", r0, rows, c0, cols, d.Type()))
	}
	*v = Dense{Elem: d.Elem, Rows: rows, Cols: cols, Stride: d.Stride}
	if rows == 0 || cols == 0 {
		return
	}
	at := r0*d.Stride + c0
	end := at + (rows-1)*d.Stride + cols
	switch d.Elem {
	case types.F64:
		v.F64 = d.F64[at:end]
	case types.F32:
		v.F32 = d.F32[at:end]
	case types.Bool:
		v.Bool = d.Bool[at:end]
	default:
		v.I64 = d.I64[at:end]
	}
}

// CopyFrom copies s, of the same element type and shape, into d.
func (d *Dense) CopyFrom(s *Dense) {
	if d.Elem != s.Elem || d.Rows != s.Rows || d.Cols != s.Cols {
		panic(fmt.Sprintf("BUG: copy of a %v into a %v", s.Type(), d.Type()))
	}
	if d.Rows == 0 || d.Cols == 0 {
		return // a view without columns has no memory to slice
	}
	rows, cols := d.Rows, d.Cols
	if d.Stride == cols && s.Stride == cols { // in one piece
		rows, cols = 1, rows*cols
	}
	switch d.Elem {
	case types.F64:
		copyRows(d.F64, s.F64, d.Stride, s.Stride, rows, cols)
	case types.F32:
		copyRows(d.F32, s.F32, d.Stride, s.Stride, rows, cols)
	case types.Bool:
		copyRows(d.Bool, s.Bool, d.Stride, s.Stride, rows, cols)
	default:
		copyRows(d.I64, s.I64, d.Stride, s.Stride, rows, cols)
	}
}

// copyRows copies rows x cols elements from s, whose rows begin ss elements apart, to d, whose rows
// begin ds elements apart. Rows of fewer than eight elements are copied one by one, because a call of
// copy costs more.
func copyRows[T any](d, s []T, ds, ss, rows, cols int) {
	if cols == 1 {
		for a, b := 0, 0; rows > 0; rows-- {
			d[a] = s[b]
			a, b = a+ds, b+ss
		}
		return
	}
	for i := range rows {
		a, b := i*ds, i*ss
		if cols >= 8 {
			copy(d[a:a+cols], s[b:b+cols])
			continue
		}
		for j := range cols {
			d[a+j] = s[b+j]
		}
	}
}

// Clone returns a contiguous copy on the heap.
func (d *Dense) Clone() *Dense {
	c := New(d.Elem, d.Rows, d.Cols)
	c.CopyFrom(d)
	return c
}

// At returns element (i, j) as a scalar, for printing, tests and reference code. It is slow.
func (d *Dense) At(i, j int) (s Scalar) {
	d.Read(i, j, &s)
	return s
}

// Read sets s to element (i, j): At, for loops that read many.
func (d *Dense) Read(i, j int, s *Scalar) {
	at := i*d.Stride + j
	s.Elem, s.F, s.I = d.Elem, 0, 0
	switch d.Elem {
	case types.F64:
		s.F = d.F64[at]
	case types.F32:
		s.F = float64(d.F32[at])
	case types.Bool:
		s.I = int64(d.Bool[at])
	default:
		s.I = d.I64[at]
	}
}

// Set stores s, converted to the element type, at (i, j).
func (d *Dense) Set(i, j int, s Scalar) {
	at := i*d.Stride + j
	if s.Elem != d.Elem {
		s = s.Convert(d.Elem)
	}
	switch d.Elem {
	case types.F64:
		d.F64[at] = s.F
	case types.F32:
		d.F32[at] = float32(s.F)
	case types.Bool:
		d.Bool[at] = uint8(s.I)
	default:
		d.I64[at] = s.I
	}
}

// Same reports whether two values have the same type and bits. All NaNs are equal, -0 and 0 differ.
// It is the oracle's comparison and the language's identical.
func Same(a, b Value) bool {
	switch x := a.(type) {
	case Scalar:
		y, ok := b.(Scalar)
		return ok && x.Same(y)
	case *Dense:
		y, ok := b.(*Dense)
		if !ok || x.Elem != y.Elem || x.Rows != y.Rows || x.Cols != y.Cols {
			return false
		}
		if x.Rows*x.Cols == 0 {
			return true
		}
		for i := range x.Rows {
			if string(x.View(i, 0, 1, x.Cols).Bytes()) == string(y.View(i, 0, 1, y.Cols).Bytes()) {
				continue
			}
			for j := range x.Cols { // a row with another NaN
				if !x.At(i, j).Same(y.At(i, j)) {
					return false
				}
			}
		}
		return true
	case *CSR:
		y, ok := b.(*CSR)
		return ok && sameCSR(x, y)
	}
	return false
}
