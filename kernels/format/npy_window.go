package format

// This file reads parts of .npy files: what several readers want of a large matrix, each reads itself.

import (
	"bufio"
	"encoding/binary"
	"io"

	"flow/ir/types"
	"flow/ir/value"
)

// HasParts reports whether ReadPart can read a part of a file with this name, if the file is what the name
// says.
func HasParts(path string, o Options) bool {
	f, compressed, err := choose(path, o)
	return err == nil && f.name == "npy" && !compressed
}

// ReadPart sets out to the elements from (row, col) on of the matrix in an .npy file, without reading all
// of it. It returns false if the caller must read the whole file: it has no places in which parts begin,
// the part does not lie in the matrix, or the file has a mistake. Read reports the mistake.
func ReadPart(path string, o Options, out *value.Dense, row, col int) bool {
	if !HasParts(path, o) {
		return false
	}
	file, err := openCounted(path, o.Read)
	if err != nil {
		return false
	}
	defer file.file.Close()
	st, err := file.file.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	in := newInput(path)
	in.size, in.Reader = st.Size(), bufio.NewReaderSize(file, 1<<9)
	h, err := npyHead(in)
	size := int64(h.size)
	if err != nil || h.fortran && out.Rows < h.Rows && out.Rows*h.size < leastRun || h.Elem != out.Elem || st.Size() != h.at+int64(h.Rows)*int64(h.Cols)*size ||
		row < 0 || col < 0 || row+out.Rows > h.Rows || col+out.Cols > h.Cols {
		return false
	}
	if out.Rows == 0 || out.Cols == 0 {
		return true
	}
	place := func(i int) int64 { return h.at + (int64(row+i)*int64(h.Cols)+int64(col))*size }
	same := h.inMemory() && !h.fortran
	if same && out.Cols == h.Cols && out.Stride == out.Cols {
		_, err := file.ReadAt(out.Bytes(), place(0))
		return err == nil
	}
	if h.fortran {
		return h.columns(file, out, row, col)
	}
	return h.spans(file, out, place, same)
}

// spans reads out. Its row i begins at byte place(i) of the file. One call reads several rows, with
// what lies between their wanted parts. same: the file has the elements as they are in memory. It reports
// false if a read fails.
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

// mostGap is the most unwanted bytes of a row that are read along with the wanted ones. To copy them takes
// about as long as a system call. spanBytes is the most bytes that are read at a time.
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

// inMemory reports whether elements have the same bytes in the file and in memory.
func (h *npyHeader) inMemory() bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return h.size == h.Elem.Size() && h.kind != 'b' && h.Elem != types.Bool && (h.order == binary.LittleEndian) == little
}
