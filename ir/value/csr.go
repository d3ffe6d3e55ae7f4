package value

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"unsafe"

	"flow/ir/types"
	"flow/memory"
)

// CSR is a sparse matrix in compressed sparse rows. The nonzeros of row i are entries
// Ptr[i]..Ptr[i+1]-1 of Col (columns, ascending) and of the one value slice that its element type
// names. Bool has no values: stored elements are true.
//
// No stored element is zero (of either sign), so equal matrices have equal arrays, and the number
// of entries is the number of nonzeros. Ptr need not begin at 0: a range of rows shares Col and the
// values with its matrix.
type CSR struct {
	Elem       types.Elem
	Rows, Cols int
	Ptr        []int64 // Rows+1
	Col        []int32
	F64        []float64
	F32        []float32
	I64        []int64
}

// MaxSparseCols is the greatest number of columns: a column index is an int32.
const MaxSparseCols = math.MaxInt32

// Type returns the matrix's type.
func (m *CSR) Type() types.Type { return types.SparseOf(m.Elem, m.Rows, m.Cols) }

// NewCSR returns a matrix with room for n entries, whose contents are undefined, and zero row pointers.
// It panics for an element type that is not numeric, and with a *memory.Error if memory is short.
func NewCSR(e types.Elem, rows, cols, n int) *CSR {
	memory.MustProduct(rows, 8)
	memory.MustProduct(n, 4+valueBytes(e))
	memory.MustProduct(8*rows+n*(4+valueBytes(e)), 1) // together: what is not written yet is not in use
	m := &CSR{Elem: e, Rows: rows, Cols: cols, Ptr: memory.Huge(make([]int64, rows+1)), Col: memory.Fresh[int32](n)}
	switch e {
	case types.F64:
		m.F64 = memory.Fresh[float64](n)
	case types.F32:
		m.F32 = memory.Fresh[float32](n)
	case types.I64:
		m.I64 = memory.Fresh[int64](n)
	case types.Bool:
	default:
		panic("BUG: sparse matrix of " + e.String())
	}
	return m
}

// NNZ returns the number of stored elements.
func (m *CSR) NNZ() int { return int(m.Ptr[m.Rows] - m.Ptr[0]) }

// Bytes returns the memory of the matrix, which is what a message of it moves.
func (m *CSR) Bytes() int { return 8*(m.Rows+1) + m.NNZ()*(4+valueBytes(m.Elem)) }

// valueBytes returns the size of one stored value.
func valueBytes(e types.Elem) int {
	if e == types.Bool {
		return 0
	}
	return e.Size()
}

// View returns rows r0..r0+rows-1, sharing memory.
func (m *CSR) View(r0, rows int) *CSR {
	if r0 < 0 || rows < 0 || r0+rows > m.Rows {
		panic(fmt.Sprintf("BUG: rows %d+%d of a %v", r0, rows, m.Type()))
	}
	v := *m
	v.Rows, v.Ptr = rows, m.Ptr[r0:r0+rows+1]
	return &v
}

// Only returns a matrix of m's shape with some rows of m. The other rows are empty. list is ascending,
// and its element i stands for row i - lo of m. Only copies the entries.
func (m *CSR) Only(list []int32, lo int) *CSR {
	n := 0
	for _, i := range list {
		n += int(m.Ptr[int(i)-lo+1] - m.Ptr[int(i)-lo])
	}
	out := NewCSR(m.Elem, m.Rows, m.Cols, n)
	row, to := 0, 0
	for _, i := range list {
		from, end := m.Ptr[int(i)-lo], m.Ptr[int(i)-lo+1]
		for ; row <= int(i)-lo; row++ {
			out.Ptr[row] = int64(to)
		}
		copy(out.Col[to:], m.Col[from:end])
		out.CopyValues(to, m, int(from), int(end))
		to += int(end - from)
	}
	for ; row <= out.Rows; row++ {
		out.Ptr[row] = int64(to)
	}
	return out
}

// CopyValues copies the values of from's entries lo..hi-1 to those of m from entry at on. Both have one
// type of elements. Columns stay.
func (m *CSR) CopyValues(at int, from *CSR, lo, hi int) {
	switch m.Elem {
	case types.F64:
		copy(m.F64[at:], from.F64[lo:hi])
	case types.F32:
		copy(m.F32[at:], from.F32[lo:hi])
	case types.I64:
		copy(m.I64[at:], from.I64[lo:hi])
	}
}

// Padded returns a matrix of so many rows: those from row lo on are m's, and the others are empty. It
// shares the memory of m's entries, not that of its row pointers.
func (m *CSR) Padded(lo, rows int) *CSR {
	p := *m
	p.Rows, p.Ptr = rows, memory.Fresh[int64](rows+1)
	for i := range p.Ptr[:lo] {
		p.Ptr[i] = m.Ptr[0]
	}
	copy(p.Ptr[lo:], m.Ptr)
	for i := lo + m.Rows + 1; i <= rows; i++ {
		p.Ptr[i] = m.Ptr[m.Rows]
	}
	return &p
}

// Row returns the columns of the entries of row i and the place of the first.
func (m *CSR) Row(i int) (cols []int32, at int) {
	return m.Col[m.Ptr[i]:m.Ptr[i+1]], int(m.Ptr[i])
}

// SamePlaces reports whether m and b share the memory of their row pointers and columns. It does
// not compare contents.
func (m *CSR) SamePlaces(b *CSR) bool {
	n := m.NNZ()
	if m.Rows != b.Rows || m.Cols != b.Cols || n != b.NNZ() {
		return false
	}
	if n == 0 {
		return true
	}
	at, bt := m.Ptr[0], b.Ptr[0]
	if &m.Col[at] != &b.Col[bt] {
		return false
	}
	if &m.Ptr[0] == &b.Ptr[0] {
		return true
	}
	for i, p := range m.Ptr[:m.Rows+1] {
		if p-at != b.Ptr[i]-bt {
			return false
		}
	}
	return true
}

// Entry returns the value at a place of the arrays, for printing, tests and reference code.
func (m *CSR) Entry(at int) Scalar {
	switch m.Elem {
	case types.F64:
		return F64(m.F64[at])
	case types.F32:
		return Scalar{Elem: types.F32, F: float64(m.F32[at])}
	case types.Bool:
		return Bool(true)
	}
	return Scalar{Elem: m.Elem, I: m.I64[at]}
}

// SetEntry stores s, converted to the element type, at a place of the arrays.
func (m *CSR) SetEntry(at int, s Scalar) {
	s = s.Convert(m.Elem)
	switch m.Elem {
	case types.F64:
		m.F64[at] = s.F
	case types.F32:
		m.F32[at] = float32(s.F)
	case types.I64:
		m.I64[at] = s.I
	}
}

// At returns element (i, j).
func (m *CSR) At(i, j int) Scalar {
	cols, at := m.Row(i)
	k := sort.Search(len(cols), func(k int) bool { return int(cols[k]) >= j })
	if k < len(cols) && int(cols[k]) == j {
		return m.Entry(at + k)
	}
	return Scalar{Elem: m.Elem}
}

// Values returns the stored values in order as a 1 x NNZ dense matrix over the same memory, or nil
// for bool.
func (m *CSR) Values() *Dense {
	lo, hi := m.Ptr[0], m.Ptr[m.Rows]
	d := &Dense{Elem: m.Elem, Rows: 1, Cols: int(hi - lo), Stride: int(hi - lo)}
	switch m.Elem {
	case types.F64:
		d.F64 = m.F64[lo:hi]
	case types.F32:
		d.F32 = m.F32[lo:hi]
	case types.I64:
		d.I64 = m.I64[lo:hi]
	default:
		return nil
	}
	return d
}

// Check returns what is malformed, or nil. Every matrix from outside is checked.
func (m *CSR) Check() error {
	if m.Rows < 0 || m.Cols < 0 || m.Cols > MaxSparseCols || len(m.Ptr) != m.Rows+1 {
		return fmt.Errorf("%d row pointers in a %v", len(m.Ptr), m.Type())
	}
	n := len(m.Col)
	if m.Elem != types.Bool {
		n = min(n, len(m.F64)+len(m.F32)+len(m.I64))
	}
	if m.Ptr[0] < 0 || m.Ptr[m.Rows] > int64(n) {
		return fmt.Errorf("row pointers %d..%d of %d entries", m.Ptr[0], m.Ptr[m.Rows], n)
	}
	for i := range m.Rows {
		lo, hi := m.Ptr[i], m.Ptr[i+1]
		if lo > hi || hi > int64(n) {
			return fmt.Errorf("row %d lies at %d..%d", i, lo, hi)
		}
		last, wrong := int32(-1), int32(0) // negative if some column is, or does not ascend
		for _, j := range m.Col[lo:hi] {
			wrong |= j | (j - last - 1)
			last = j
		}
		if wrong < 0 || int(last) >= m.Cols || m.Elem != types.Bool {
			if err := m.checkRow(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRow returns what is wrong with the entries of row i.
func (m *CSR) checkRow(i int) error {
	last := int32(-1)
	for k := m.Ptr[i]; k < m.Ptr[i+1]; k++ {
		j := m.Col[k]
		if j <= last || int(j) >= m.Cols {
			return fmt.Errorf("row %d: column %d after %d, of %d columns", i, j, last, m.Cols)
		}
		last = j
		if m.Elem != types.Bool && !m.Entry(int(k)).True() {
			return fmt.Errorf("row %d: a zero is stored in column %d", i, j)
		}
	}
	return nil
}

// sameCSR compares two matrices of one type by bits. All NaNs are equal.
func sameCSR(a, b *CSR) bool {
	if a.Type() != b.Type() || a.NNZ() != b.NNZ() {
		return false
	}
	off := b.Ptr[0] - a.Ptr[0]
	for i := range a.Ptr {
		if b.Ptr[i]-a.Ptr[i] != off {
			return false
		}
	}
	lo, n := a.Ptr[0], int64(a.NNZ())
	if !slices.Equal(a.Col[lo:lo+n], b.Col[lo+off:lo+off+n]) {
		return false
	}
	return a.Elem == types.Bool || Same(a.Values(), b.Values())
}

// Lengths returns the numbers of entries of the rows.
func (m *CSR) Lengths() []int32 {
	out := make([]int32, m.Rows)
	for i := range out {
		out[i] = int32(m.Ptr[i+1] - m.Ptr[i])
	}
	return out
}

// Entries returns the number of entries of rows with these lengths.
func Entries(lengths []int32) (n int) {
	for _, k := range lengths {
		n += int(k)
	}
	return n
}

// SetLengths sets the row pointers of m to those of rows with these lengths. Row 0 begins at entry 0.
func (m *CSR) SetLengths(lengths []int32) {
	m.Rows, m.Ptr = len(lengths), memory.Fresh[int64](len(lengths)+1)
	m.Ptr[0] = 0
	at, ends := int64(0), m.Ptr[1:]
	for i, k := range lengths {
		at += int64(k) // a sum in memory would wait for each store
		ends[i] = at
	}
}

// SumLengths makes row pointers of lengths: Ptr[i+1] is the length of row i before, and where row i
// ends after.
func (m *CSR) SumLengths() {
	at := int64(0)
	for i, k := range m.Ptr[:m.Rows+1] {
		at += k
		m.Ptr[i] = at
	}
}

// Parts returns the columns and the values of the entries as bytes, for a message. They share m's
// memory.
func (m *CSR) Parts() (col, val []byte) {
	if n := m.NNZ(); n > 0 {
		col = unsafe.Slice((*byte)(unsafe.Pointer(&m.Col[m.Ptr[0]])), 4*n)
		if m.Elem != types.Bool {
			val = m.Values().Bytes()
		}
	}
	return col, val
}

// CSRFromParts returns the matrix that data encodes: its values, its columns and its Lengths, one after
// the other. The matrix keeps the memory of data, or copies it if it is not aligned to 8 bytes. The
// error says what is wrong with its sizes. Columns are not checked: a rank sends what it has.
func CSRFromParts(e types.Elem, rows, cols int, data []byte) (*CSR, error) {
	size := int64(len(data)) - 4*int64(rows)
	per := int64(4 + valueBytes(e))
	if !e.IsNumeric() || rows < 0 || int64(rows) > int64(len(data))/4 || size < 0 || size%per != 0 {
		return nil, fmt.Errorf("%d bytes are no sparse %v[%d,%d]", len(data), e, rows, cols)
	}
	m, n := &CSR{Elem: e, Cols: cols}, int(size/per)
	if n > 0 {
		if uintptr(unsafe.Pointer(&data[0]))%8 != 0 {
			data = slices.Clone(data)
		}
		p := unsafe.Pointer(&data[0])
		switch e {
		case types.F64:
			m.F64 = unsafe.Slice((*float64)(p), n)
		case types.F32:
			m.F32 = unsafe.Slice((*float32)(p), n)
		case types.I64:
			m.I64 = unsafe.Slice((*int64)(p), n)
		}
		m.Col = unsafe.Slice((*int32)(unsafe.Pointer(&data[n*valueBytes(e)])), n)
	}
	lengths := make([]int32, rows)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(lengths))), 4*rows), data[size:])
	if m.SetLengths(lengths); m.Ptr[rows] != int64(n) || rows > 0 && slices.Min(lengths) < 0 {
		return nil, fmt.Errorf("%d entries where the lengths of rows say %d", n, m.Ptr[rows])
	}
	return m, nil
}

// AddEqual sorts the entries of each row by column, in place. It adds entries with the same column in
// their order, and leaves out sums that are zero.
func (m *CSR) AddEqual() {
	switch m.Elem {
	case types.F64:
		m.F64 = addEqual(m, m.F64)
	case types.F32:
		m.F32 = addEqual(m, m.F32)
	case types.I64:
		m.I64 = addEqual(m, m.I64)
	default:
		addEqual[int64](m, nil)
	}
}

// AddEqualBytes returns the bytes that AddEqual allocates: two lists as long as the longest row that it
// sorts.
func (m *CSR) AddEqualBytes() int64 {
	switch m.Elem {
	case types.F64:
		return (8 + 8) * longestUnsorted(m, m.F64, 0, 0)
	case types.F32:
		return (8 + 4) * longestUnsorted(m, m.F32, 0, 0)
	case types.I64:
		return (8 + 8) * longestUnsorted(m, m.I64, 0, 0)
	}
	return 8 * longestUnsorted[int64](m, nil, 0, 0)
}

// longestUnsorted returns the length of the longest row, from row i on, that addEqual has to sort. The
// entries of row i begin at from.
func longestUnsorted[T float64 | float32 | int64](m *CSR, val []T, i int, from int64) (n int64) {
	for _, end := range m.Ptr[i+1:] {
		if end-from > n && !sorted(m, val, from, end) {
			n = end - from
		}
		from = end
	}
	return n
}

// sorted reports whether the entries from..end-1 of a row have ascending columns and no zeros. Most
// rows do.
func sorted[T float64 | float32 | int64](m *CSR, val []T, from, end int64) bool {
	return ascends(m.Col[from:end]) && (val == nil || !slices.Contains(val[from:end], 0))
}

// addEqual is AddEqual of a matrix with these values, which it returns. A matrix of bools has none: all
// are true.
func addEqual[T float64 | float32 | int64](m *CSR, val []T) []T {
	var order []uint64 // of the entries of a row: column and place
	var row []T
	to, from := int64(0), m.Ptr[0]
	for i := range m.Rows {
		end := m.Ptr[i+1]
		cols := m.Col[from:end]
		if sorted(m, val, from, end) {
			if to < from {
				copy(m.Col[to:], cols)
				if val != nil {
					copy(val[to:], val[from:end])
				}
			}
			to += end - from
			m.Ptr[i+1], from = to, end
			continue
		}
		if order = order[:0]; cap(order) == 0 {
			n := longestUnsorted(m, val, i, from)
			order, row = make([]uint64, 0, n), make([]T, 0, min(n, int64(len(val))))
		}
		for k, j := range cols {
			order = append(order, uint64(j)<<32|uint64(k))
		}
		slices.Sort(order)
		if val != nil {
			row = append(row[:0], val[from:end]...)
		}
		for k := 0; k < len(order); {
			j, sum := order[k]>>32, T(0)
			for ; k < len(order) && order[k]>>32 == j; k++ {
				switch {
				case val == nil:
					sum = 1
				case sum == 0:
					sum = row[uint32(order[k])] // an old zero is no entry: 0 + -0 would lose the sign
				default:
					sum += row[uint32(order[k])]
				}
			}
			if sum == 0 {
				continue
			}
			if m.Col[to] = int32(j); val != nil {
				val[to] = sum
			}
			to++
		}
		m.Ptr[i+1], from = to, end
	}
	m.Col = m.Col[:to]
	return val[:min(int(to), len(val))]
}

// ascends reports whether each column is above the one before.
func ascends(cols []int32) bool {
	last := int32(-1)
	for _, j := range cols {
		if j <= last {
			return false
		}
		last = j
	}
	return true
}
