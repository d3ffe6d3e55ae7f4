package format

// This file defines NumPy's .npy format, versions 1 to 3 (NEP 1): f8, f4, i8 and b1 become f64,
// f32, i64 and bool; shorter and unsigned integers become i64. One-dimensional arrays are read as
// columns; what is written has two dimensions in C order, and every nan in it is the positive quiet
// one: which bits a nan has depends on the instructions that made it, and files do not.

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
)

const npyMagic = "\x93NUMPY"

// npyHeader is what the header of a .npy file says.
type npyHeader struct {
	Header
	kind    byte // f, i, u or b
	size    int  // bytes an element
	order   binary.ByteOrder
	fortran bool
	at      int64 // where the numbers begin
}

func readNPY(in *input, _ Options, headOnly bool) (Header, *value.Dense, error) {
	h, err := npyHead(in)
	if err != nil || headOnly {
		return h.Header, nil, err
	}
	d, err := in.matrix(h.Header)
	if err != nil {
		return Header{}, nil, err
	}
	// Lines of the file are rows of the matrix, or its columns in Fortran order.
	lines, length := d.Rows, d.Cols
	if h.fortran {
		lines, length = length, lines
	}
	if length == 0 || lines == 0 {
		lines, length = 0, 0 // however many of the other: there is nothing to read
	}
	row := make([]byte, length*h.size)
	for k := range lines {
		if n, err := io.ReadFull(in, row); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
				at := k*len(row) + n
				return Header{}, nil, failf(NPY, in.file, "%d bytes of numbers are announced, the file ends after %d", lines*len(row), at).help("the file is cut off: copy it again")
			}
			return Header{}, nil, readError(in.file, 0, err)
		}
		for p := range length {
			at := k*d.Stride + p
			if h.fortran {
				at = p*d.Stride + k
			}
			h.store(d, at, row[p*h.size:])
		}
	}
	switch _, err := in.ReadByte(); err {
	case io.EOF:
		return h.Header, d, nil
	case nil:
		return Header{}, nil, failf(NPY, in.file, "bytes follow the %d x %d numbers that are announced", d.Rows, d.Cols).help("a file has one matrix: numpy.save writes one")
	default:
		return Header{}, nil, readError(in.file, 0, err)
	}
}

// store puts the element in b at a place of d.
func (h *npyHeader) store(d *value.Dense, at int, b []byte) {
	var bits uint64
	switch h.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(h.order.Uint16(b))
	case 4:
		bits = uint64(h.order.Uint32(b))
	default:
		bits = h.order.Uint64(b)
	}
	switch d.Elem {
	case types.F64:
		d.F64[at] = math.Float64frombits(bits)
	case types.F32:
		d.F32[at] = math.Float32frombits(uint32(bits))
	case types.Bool:
		if bits != 0 {
			d.Bool[at] = 1
		}
	default:
		if h.kind == 'i' { // extend the sign
			shift := 64 - 8*h.size
			d.I64[at] = int64(bits<<shift) >> shift
		} else {
			d.I64[at] = int64(bits)
		}
	}
}

// npyHead reads the header: magic, version, length, and a Python dictionary of three entries.
func npyHead(in *input) (h npyHeader, err error) {
	bad := func(format string, args ...any) (npyHeader, error) {
		return npyHeader{}, failf(NPY, in.file, format, args...).help("numpy.save(file, x) writes a matrix of numbers or bools; f64, f32, i64 and bool are read")
	}
	cut := func(err error) (npyHeader, error) {
		if err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
			return bad("the file ends within its header")
		}
		return npyHeader{}, readError(in.file, 0, err)
	}
	var head [8]byte
	if n, err := io.ReadFull(in, head[:]); string(head[:min(n, 6)]) != npyMagic {
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return cut(err)
		}
		return bad("not an .npy file: it does not begin with \\x93NUMPY")
	} else if err != nil {
		return cut(err)
	}
	var length uint32
	switch head[6] {
	case 1:
		var n [2]byte
		_, err = io.ReadFull(in, n[:])
		length = uint32(binary.LittleEndian.Uint16(n[:]))
	case 2, 3:
		var n [4]byte
		_, err = io.ReadFull(in, n[:])
		length = binary.LittleEndian.Uint32(n[:])
	default:
		return bad("version %d.%d of the format is unknown", head[6], head[7])
	}
	if err != nil {
		return cut(err)
	}
	if h.at = 8 + 2 + int64(length); head[6] > 1 {
		h.at += 2
	}
	if length > 1<<20 {
		return bad("a header of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return cut(err)
	}
	descr, ok1 := pyEntry(string(text), "descr")
	order, ok2 := pyEntry(string(text), "fortran_order")
	shape, ok3 := pyEntry(string(text), "shape")
	if !ok1 || !ok2 || !ok3 {
		return bad("the header lacks descr, fortran_order or shape: %s", quoted(text))
	}
	if msg := h.element(descr); msg != "" {
		return bad("%s", msg)
	}
	switch order {
	case "True":
		h.fortran = true
	case "False":
	default:
		return bad("fortran_order is %s", quoted([]byte(order)))
	}
	if msg := h.dimensions(shape); msg != "" {
		return bad("%s", msg)
	}
	if err := in.fits(h.Header); err != nil {
		return npyHeader{}, err
	}
	if need := int64(h.Rows) * int64(h.Cols) * int64(h.size); need > in.size {
		return bad("%d bytes of numbers are announced, and the file has no room for so many", need)
	}
	return h, nil
}

// pyEntry is the text of a value in a Python dictionary of simple literals.
func pyEntry(dict, key string) (string, bool) {
	at := strings.Index(dict, "'"+key+"'")
	if at < 0 {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(dict[at+len(key)+2:], " "), ":")
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, " ")
	end := strings.IndexAny(rest, ",}")
	if strings.HasPrefix(rest, "(") {
		end = strings.Index(rest, ")") + 1
	} else if strings.HasPrefix(rest, "[") {
		end = strings.LastIndex(rest, "]") + 1
	}
	if end <= 0 {
		return "", false
	}
	return strings.TrimSpace(rest[:end]), true
}

// element understands descr; a message says why not.
func (h *npyHeader) element(descr string) string {
	if strings.HasPrefix(descr, "[") {
		return "records are not read, only matrices of numbers"
	}
	word := strings.Trim(descr, "'\"")
	h.order = binary.LittleEndian
	if word != "" && strings.ContainsRune("<>|=", rune(word[0])) {
		if word[0] == '>' {
			h.order = binary.BigEndian
		}
		word = word[1:]
	}
	h.kind = '?'
	if len(word) == 2 {
		h.kind, h.size = word[0], int(word[1]-'0')
	}
	switch word {
	case "f8":
		h.Elem = types.F64
	case "f4":
		h.Elem = types.F32
	case "i8", "i4", "i2", "i1", "u4", "u2", "u1":
		h.Elem = types.I64
	case "b1":
		h.Elem = types.Bool
	default:
		return fmt.Sprintf("elements of type %s are not read, only f8, f4, i1 to i8, u1 to u4 and b1", descr)
	}
	return ""
}

// dimensions understands shape.
func (h *npyHeader) dimensions(shape string) string {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(shape, ")"), "(")
	if !ok {
		return "shape is " + quoted([]byte(shape))
	}
	sizes := []int{}
	for _, word := range strings.Split(inner, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(word, "L")) // Python 2 wrote 3L
		if err != nil || n < 0 || n > 1<<40 {
			return "shape is " + quoted([]byte(shape))
		}
		sizes = append(sizes, n)
	}
	switch len(sizes) {
	case 0:
		h.Rows, h.Cols = 1, 1
	case 1:
		h.Rows, h.Cols = sizes[0], 1
	case 2:
		h.Rows, h.Cols = sizes[0], sizes[1]
	default:
		return fmt.Sprintf("an array of %d dimensions; a matrix has two", len(sizes))
	}
	return ""
}

func headNPY(w *bufio.Writer, d *value.Dense) error {
	descr := map[types.Elem]string{types.F64: "<f8", types.F32: "<f4", types.I64: "<i8", types.Bool: "|b1"}[d.Elem]
	if descr == "" {
		return failf(Unwritable, "", "a %s cannot be written to .npy", d.Type())
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, d.Rows, d.Cols)
	// The numbers start at a multiple of 64 bytes, so that they can be mapped into memory.
	const before = len(npyMagic) + 2 + 2
	pad := 63 - (before+len(text))%64
	text += strings.Repeat(" ", pad) + "\n"
	w.WriteString(npyMagic + "\x01\x00")
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	_, err := w.WriteString(text)
	return err
}

func writeNPY(w *bufio.Writer, d *value.Dense, _ Options) error {
	row := make([]byte, 0, d.Cols*d.Elem.Size())
	for i := range d.Rows {
		row = row[:0]
		for j := range d.Cols {
			at := i*d.Stride + j
			switch d.Elem {
			case types.F64:
				row = binary.LittleEndian.AppendUint64(row, bits64(d.F64[at]))
			case types.F32:
				row = binary.LittleEndian.AppendUint32(row, bits32(d.F32[at]))
			case types.Bool:
				row = append(row, d.Bool[at])
			default:
				row = binary.LittleEndian.AppendUint64(row, uint64(d.I64[at]))
			}
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// bits64 is the bits of x in a file: all nans are one.
func bits64(x float64) uint64 {
	if x != x {
		return 0x7ff8 << 48
	}
	return math.Float64bits(x)
}

// bits32 is bits64 of 32-bit floats.
func bits32(x float32) uint32 {
	if x != x {
		return 0x7fc0 << 16
	}
	return math.Float32bits(x)
}

// spans reads out. Its row i begins at byte place(i) of the file. One call reads several rows, with
// what lies between their wanted parts. same: the file has the elements as they are in memory. It
// reports false if a read fails.
func (h *npyHeader) spans(file io.ReaderAt, out *value.Dense, place func(i int) int64, same bool) bool {
	step, width := h.Cols*h.size, out.Cols*h.size
	together := 1
	if step-width <= mostGap {
		together = max(1, min(out.Rows, spanBytes/step))
	}
	line := make([]byte, (together-1)*step+width)
	flat := *out
	flat.Rows, flat.Cols = 1, (out.Rows-1)*out.Stride+out.Cols
	memory := flat.Bytes()
	for i := 0; i < out.Rows; i += together {
		k := min(together, out.Rows-i)
		if _, err := file.ReadAt(line[:(k-1)*step+width], place(i)); err != nil {
			return false
		}
		for r := range k {
			from, at := line[r*step:][:width], (i+r)*out.Stride
			if same {
				copy(memory[at*h.size:], from)
				continue
			}
			h.clear(out, i+r)
			for j := range out.Cols {
				h.store(out, at+j, from[j*h.size:])
			}
		}
	}
	return true
}

// mostGap is the most unwanted bytes of a row that are read along with the wanted ones. To copy them
// takes about as long as a system call. spanBytes is the most bytes that are read at a time.
const mostGap, spanBytes = 4 << 10, 128 << 10

// leastRun is the least number of bytes of a column that are read alone.
const leastRun = 256

// columns is ReadPart of a matrix that is stored by columns.
func (h *npyHeader) columns(file io.ReaderAt, out *value.Dense, row, col int) bool {
	for i := range out.Rows {
		h.clear(out, i)
	}
	line := make([]byte, out.Rows*h.size)
	for j := range out.Cols {
		if _, err := file.ReadAt(line, h.at+(int64(col+j)*int64(h.Rows)+int64(row))*int64(h.size)); err != nil {
			return false
		}
		for i := range out.Rows {
			h.store(out, i*out.Stride+j, line[i*h.size:])
		}
	}
	return true
}

// clear clears a row if store writes only what is true.
func (h *npyHeader) clear(out *value.Dense, i int) {
	if out.Elem == types.Bool {
		clear(out.Bool[i*out.Stride:][:out.Cols])
	}
}
