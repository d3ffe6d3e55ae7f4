package format

// This file defines .csr, Flow's own binary form of a sparse matrix, for graphs that take longer to
// read as text than to work on. All numbers are little-endian:
//
//	8 bytes  "FLOWCSR2"
//	4 x i64  element type (0 bool, 1 i64, 2 f32, 3 f64), rows, columns, entries
//	u32      checksum of the 40 bytes above
//	i64      row pointers, rows + 1, the first 0
//	i32      columns of the entries, ascending in a row; none twice
//	         values of the entries, none zero, all nans with the same bits as in .npy; of bool nothing
//	u32      checksum of the three arrays
//
// Checksums are CRC-32C (RFC 3720, appendix B.4). A file that begins with "FLOWCSR1" has none; it
// is read and no longer written.

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
)

const (
	csrMagic    = "FLOWCSR2"
	csrUnsummed = "FLOWCSR1" // the first version
	csrSumSize  = 4
)

// csrTable makes the table of CRC-32C; the package keeps one.
func csrTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

var csrElems = [...]types.Elem{types.Bool, types.I64, types.F32, types.F64}

// csrLayout is the head of a .csr.
type csrLayout struct {
	Header
	summed bool
	at     int64 // where the row pointers begin
}

// cols and values are where the columns and the values begin.
func (h csrLayout) cols() int64   { return h.at + 8*int64(h.Rows+1) }
func (h csrLayout) values() int64 { return h.cols() + 4*int64(h.Entries) }

// end is where the values end.
func (h csrLayout) end() int64 { return h.values() + h.per()*int64(h.Entries) }

// per is the bytes of a value.
func (h csrLayout) per() int64 {
	if h.Elem == types.Bool {
		return 0
	}
	return int64(h.Elem.Size())
}

func readCSRHead(in *input) (h csrLayout, err error) {
	var head [40]byte
	_, err = io.ReadFull(in, head[:])
	h.summed, h.at = string(head[:8]) == csrMagic, int64(len(head))
	if err != nil || !h.summed && string(head[:8]) != csrUnsummed {
		if err != nil && err != io.EOF && !(err == io.ErrUnexpectedEOF && in.plainEnd()) {
			return h, readError(in.file, 0, err)
		}
		return h, failf(CSR, in.file, "not a .csr file: it does not begin with %s and four numbers", csrMagic)
	}
	around := int64(0)
	if h.summed {
		if err := in.csrSum(crc32.Checksum(head[:], csrTable())); err != nil {
			return h, err
		}
		h.at, around = h.at+csrSumSize, csrSumSize
	}
	var n [4]uint64
	for k := range n {
		n[k] = binary.LittleEndian.Uint64(head[8+8*k:])
	}
	if n[0] >= uint64(len(csrElems)) || n[1] >= math.MaxInt64/32 || n[2] > value.MaxSparseCols || n[3] >= math.MaxInt64/32 {
		return h, failf(CSR, in.file, "element type %d, %d x %d, %d entries: there is no such matrix", n[0], n[1], n[2], n[3])
	}
	h.Header = Header{Elem: csrElems[n[0]], Rows: int(n[1]), Cols: int(n[2]), Sparse: true, Entries: int(n[3])}
	if h.end() > in.size-around {
		return h, failf(CSR, in.file, "%d rows and %d entries are announced, and the file has no room for so many", n[1], n[3]).
			help("the file is cut off: copy it again")
	}
	return h, nil
}

func readCSR(in *input, _ Options, headOnly bool) (Header, *value.CSR, error) {
	head, err := readCSRHead(in)
	h, summed := head.Header, head.summed
	if err != nil || headOnly {
		return h, nil, err
	}
	if err := in.holds(0, "the matrix", float64(head.end()-head.at), 0); err != nil {
		return h, nil, err
	}
	n := h.Entries
	m := value.NewCSR(h.Elem, h.Rows, h.Cols, n)
	parts := [][]byte{bytesOf(m.Ptr), bytesOf(m.Col), bytesOf(m.F64), bytesOf(m.F32), bytesOf(m.I64)}
	sum := uint32(0)
	for _, p := range parts {
		if _, err := io.ReadFull(in, p); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
				return h, nil, failf(CSR, in.file, "the file ends before its %d entries", n)
			}
			return h, nil, readError(in.file, 0, err)
		}
		if summed {
			sum = crc32.Update(sum, csrTable(), p)
		}
	}
	if summed {
		if err := in.csrSum(sum); err != nil {
			return h, nil, err
		}
	}
	if _, err := in.ReadByte(); err == nil {
		return h, nil, failf(CSR, in.file, "bytes follow the %d entries", n)
	} else if err != io.EOF {
		return h, nil, readError(in.file, 0, err)
	}
	if m.Ptr[0] != 0 || m.Ptr[h.Rows] != int64(n) {
		return h, nil, failf(CSR, in.file, "row pointers run from %d to %d for %d entries", m.Ptr[0], m.Ptr[h.Rows], n)
	}
	if err := m.Check(); err != nil {
		return h, nil, failf(CSR, in.file, "%v", err)
	}
	return h, m, nil
}

// csrSum reads a checksum and compares it with that of what was read.
func (in *input) csrSum(sum uint32) error {
	var b [csrSumSize]byte
	if _, err := io.ReadFull(in, b[:]); err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
		return failf(CSR, in.file, "the file ends before its checksum").help("the file is cut off: copy it again")
	} else if err != nil {
		return readError(in.file, 0, err)
	}
	if want := binary.LittleEndian.Uint32(b[:]); sum != want {
		return failf(CSR, in.file, "the file is damaged: its checksum is %08x, that of its contents %08x", want, sum).help("copy the file again")
	}
	return nil
}

// oneNaN returns val, the bytes of x, or those of a copy of x in which all nans have the bits of
// bits64.
func oneNaN[T float32 | float64](x []T, val []byte) []byte {
	if !slices.ContainsFunc(x, func(x T) bool { return x != x }) {
		return val
	}
	x = slices.Clone(x)
	for k, v := range x {
		if v != v {
			x[k] = T(math.Float64frombits(bits64(math.NaN())))
		}
	}
	return bytesOf(x)
}

func writeCSR(w *bufio.Writer, m *value.CSR) error {
	var elem int
	for k, e := range csrElems {
		if e == m.Elem {
			elem = k
		}
	}
	head := []byte(csrMagic)
	for _, n := range []int{elem, m.Rows, m.Cols, m.NNZ()} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	w.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, csrTable()))) // a bufio.Writer keeps its first error
	sum := uint32(0)
	put := func(b []byte) {
		sum = crc32.Update(sum, csrTable(), b)
		w.Write(b)
	}
	first := m.Ptr[0]
	ptr := make([]byte, 0, 1<<12)
	for _, p := range m.Ptr {
		if ptr = binary.LittleEndian.AppendUint64(ptr, uint64(p-first)); len(ptr) == cap(ptr) {
			put(ptr)
			ptr = ptr[:0]
		}
	}
	put(ptr)
	col, val := m.Parts()
	put(col)
	switch m.Elem {
	case types.F64:
		val = oneNaN(m.Values().F64, val)
	case types.F32:
		val = oneNaN(m.Values().F32, val)
	}
	put(val)
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum))
	return err
}
