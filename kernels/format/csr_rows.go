package format

// This file reads some rows of a .csr. The checksum covers all arrays of the file. So all blocks are
// summed before rows are read, each block once, by some thread or rank.

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sort"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// lengths reads the row pointers of a .csr, and sets rows to the lengths of the rows.
func (in *input) lengths(h csrLayout, rows []float64) error {
	r := bufio.NewReaderSize(io.NewSectionReader(in.plain, h.at, 8*int64(h.Rows+1)), bufferSize)
	last := int64(0)
	for i := -1; i < len(rows); i++ {
		next, err := nextPointer(r)
		if err != nil {
			return err
		}
		if next < last || i < 0 && next != 0 {
			return errUncut
		}
		if i >= 0 {
			rows[i] = float64(next - last)
		}
		last = next
	}
	if last != int64(h.Entries) {
		return errUncut
	}
	return nil
}

// nextPointer reads a row pointer. An array of 8 bytes for io.ReadFull would be allocated for each.
func nextPointer(r *bufio.Reader) (int64, error) {
	b, err := r.Peek(8)
	if err != nil {
		return 0, err
	}
	next := int64(binary.LittleEndian.Uint64(b))
	_, err = r.Discard(8)
	return next, err
}

// summed compares the length and the checksum of a .csr with its head. It fails if they are wrong. If
// cols is not 0, the result counts the entries of so many columns (Entries.To).
func (in *input) summed(o Options, h csrLayout, cols int) ([]Entries, error) {
	end := h.end()
	if h.summed {
		end += csrSumSize
	}
	if in.size != end {
		return nil, errUncut
	}
	if !h.summed || h.end() == h.at {
		return nil, nil
	}
	block := max(leastBlock, (h.end()-h.at)/mostBlocks+3) &^ 3 // whole numbers of columns
	a, err := o.share(Task{Path: in.file, Size: h.end(), Begin: h.at, Block: block, Sum: true, Keep: cols > 0, Graph: cols > 0, Cols: cols, From: h.cols(), To: h.values()})
	if err != nil {
		return nil, err
	}
	sum := uint32(0)
	for _, e := range a.Parts {
		sum = joinSums(sum, e.Sum, e.Bytes)
	}
	var want [csrSumSize]byte
	if _, err := in.plain.ReadAt(want[:], h.end()); err != nil || binary.LittleEndian.Uint32(want[:]) != sum {
		return nil, errUncut // reading all of it tells
	}
	return a.Parts, nil
}

// rowWorth is the number of entries that take as long as a row, in the work that ranks do after they
// have read a graph (compiler/layout, rowSteps).
const rowWorth = 12

// Ends returns for each rank the block behind those that it reads. Ranks read equally many blocks. If
// they keep the columns of a graph, each reads the columns of the rows that it is likely to get later.
// These rows have about the same work on each rank. What a rank has not kept of its rows it reads
// again.
func (c Task) Ends(ranks int) []int {
	end := make([]int, ranks)
	for r := range end {
		end[r] = (r + 1) * c.Blocks() / ranks
	}
	if !c.Sum || !c.Keep {
		return end
	}
	file, err := os.Open(c.Path)
	if err != nil {
		return end
	}
	defer file.Close()
	rows, entries := (c.From-c.Begin)/8-1, (c.To-c.From)/4
	above := func(row int) int64 { // entries above a row; of a damaged file any number of them
		var b [8]byte
		_, _ = file.ReadAt(b[:], c.Begin+8*int64(row))
		return min(max(int64(binary.LittleEndian.Uint64(b[:])), 0), entries)
	}
	for r := range end[:ranks-1] {
		share := int64(r+1) * (entries + rowWorth*rows) / int64(ranks)
		row := sort.Search(int(rows), func(i int) bool { return above(i)+rowWorth*int64(i) >= share })
		least := 1 // each rank reads a block
		if r > 0 {
			least = end[r-1] + 1
		}
		end[r] = min(max(int((c.From+4*above(row)-c.Begin)/c.Block), least), c.Blocks()-ranks+r+1)
	}
	return end
}

// sum sums the blocks lo..hi-1.
func (c Task) sum(file io.ReaderAt, lo, hi int) (Entries, error) {
	begin := c.Begin + int64(lo)*c.Block
	end := min(c.Begin+int64(hi)*c.Block, c.Size)
	r := bufio.NewReaderSize(io.NewSectionReader(file, begin, end-begin), bufferSize)
	h := crc32.New(csrTable())
	cols := columnCount{Task: c, at: begin, file: file, last: -1, n: memory.Huge(make([]int32, c.Cols))}
	to := io.Writer(h)
	if c.Cols > 0 {
		to = io.MultiWriter(h, &cols)
	}
	n, err := io.Copy(to, r)
	return Entries{Sum: h.Sum32(), Bytes: n, To: bytesOf(cols.n), Col: c.cols}, err
}

// columnCount counts how often each column occurs among the numbers in bytes From..To-1 of what is
// written to it. at is the next byte, and rest the beginning of a number. It fails for a number that is
// no column, or that is not above the one before in its row.
type columnCount struct {
	Task
	at   int64
	rest []byte
	n    []int32

	file        io.ReaderAt
	rows        *bufio.Reader // of row pointers; nil: no column has come
	entry, next int64         // the place of the next column, and of the first one of the row below
	last        int32         // the column before, in the same row; -1: there is none
}

func (c *columnCount) Write(p []byte) (int, error) {
	lo, hi := max(c.From-c.at, 0), min(c.To-c.at, int64(len(p)))
	if lo < hi && c.rows == nil {
		c.seek((c.at + lo - c.From) / 4)
	}
	at := c.at + lo
	c.at += int64(len(p))
	if lo >= hi {
		return len(p), nil
	}
	text := p[lo:hi]
	if c.cols != nil {
		copy(c.cols[at-c.From:], text)
	}
	if len(c.rest) > 0 {
		text = append(c.rest, text...)
	}
	for len(text) >= 4 {
		for ; c.entry >= c.next; c.last = -1 {
			next, err := nextPointer(c.rows)
			if err != nil {
				return 0, errUncut
			}
			c.next = next
		}
		row := text[:4*min(int64(len(text)/4), c.next-c.entry)]
		n, last := c.n, c.last
		for k := 0; k < len(row); k += 4 {
			j := int32(binary.LittleEndian.Uint32(row[k:]))
			if j <= last || int(j) >= len(n) {
				return 0, errUncut
			}
			n[j]++
			last = j
		}
		c.last, c.entry, text = last, c.entry+int64(len(row)/4), text[len(row):]
	}
	c.rest = append([]byte(nil), text...)
	return len(p), nil
}

// seek finds the row of the first column that will be written, which is the one of an entry. Of
// pointers that do not ascend it finds any.
func (c *columnCount) seek(entry int64) {
	c.entry = entry
	number := func(at int64, n int) int64 {
		var b [8]byte
		if _, err := c.file.ReadAt(b[:n], at); err != nil {
			return math.MaxInt64
		}
		return int64(binary.LittleEndian.Uint64(b[:]))
	}
	pointers := (c.From - c.Begin) / 8
	i := int64(sort.Search(int(pointers), func(i int) bool { return number(c.Begin+8*int64(i), 8) > entry }))
	if i > 0 && i < pointers && number(c.Begin+8*(i-1), 8) < entry {
		c.next, c.last = number(c.Begin+8*i, 8), int32(number(c.From+4*(entry-1), 4))
		i++
	}
	c.rows = bufio.NewReader(io.NewSectionReader(c.file, c.Begin+8*i, 8*(pointers-i)))
}

// joinSums returns the CRC-32C of a text with sum a followed by one with sum b and n bytes. Appending a
// zero byte maps the 32 bits of a sum linearly, and n of them are the nth power of this map. The method
// is that of crc32_combine by Adler in zlib 1.2.
func joinSums(a, b uint32, n int64) uint32 {
	var step [32]uint32 // the map of one zero bit, by its images of single bits
	step[0] = crc32.Castagnoli
	for k := 1; k < 32; k++ {
		step[k] = 1 << (k - 1)
	}
	times := func(x uint32) (y uint32) {
		for k := 0; x != 0; x, k = x>>1, k+1 {
			if x&1 != 0 {
				y ^= step[k]
			}
		}
		return y
	}
	square := func() {
		next := step
		for k, x := range step {
			next[k] = times(x)
		}
		step = next
	}
	for range 3 {
		square()
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			a = times(a)
		}
		square()
	}
	return a ^ b
}

// GraphOf returns the rows lo..hi-1 of a graph whose rows have the given lengths; the other rows are
// empty. parts are what this process has kept of the blocks first..last-1 of a task of GraphRows. The
// result shares their memory, and they must not be used again. Columns of other blocks are read. Bit
// j%64 of named[j/64] tells whether column j has an entry in these rows. named is nil if so many
// entries would have to be counted that going over the rows takes no longer. GraphOf fails if nothing
// was kept, or if the file cannot be read or holds other columns by now; the caller then reads the rows
// in another way.
func (c Task) GraphOf(lengths []float64, lo, hi int, parts []Entries, first, last int) (m *value.CSR, named []uint64, err error) {
	if len(parts) == 0 || len(parts[0].Col) == 0 || len(lengths) != c.Cols {
		return nil, nil, errUncut
	}
	m = value.NewCSR(types.Bool, c.Cols, c.Cols, 0)
	m.Col = of[int32](parts[0].Col)
	beginRows(m.Ptr, lengths, lo, hi)
	file, err := openCounted(c.Path, c.read)
	if err != nil {
		return nil, nil, err
	}
	defer file.file.Close()
	place := func(block int) int64 { // of the first entry in a block
		return (min(max(c.Begin+int64(block)*c.Block, c.From), c.To) - c.From) / 4
	}
	begin, end, a, b := m.Ptr[lo], m.Ptr[hi], place(first), place(last)
	missing := [][2]int64{{begin, min(end, a)}, {max(begin, b), end}}
	for _, x := range missing {
		if x[0] >= x[1] {
		} else if _, err := file.ReadAt(bytesOf(m.Col[x[0]:x[1]]), c.From+4*x[0]); err != nil {
			return nil, nil, err
		}
	}
	row := func(entry int64) int { return sort.Search(m.Rows, func(i int) bool { return m.Ptr[i+1] > entry }) }
	for _, x := range missing {
		if x[0] >= x[1] {
		} else if from := row(x[0]); m.View(from, row(x[1]-1)+1-from).Check() != nil {
			return nil, nil, errUncut
		}
	}
	both := max(0, min(end, b)-max(begin, a)) // entries of these rows and blocks
	if other := end - begin + b - a - 2*both; 3*other >= end-begin {
		return m, nil, nil
	}
	n := of[int32](parts[0].To)
	for _, e := range parts[1:] {
		for j, k := range of[int32](e.To) {
			n[j] += k
		}
	}
	count := func(from, to int64, by int32) {
		if n := n; from < to { // a variable of its own stays in a register
			for _, j := range m.Col[from:to] {
				n[j] += by
			}
		}
	}
	for _, x := range missing {
		count(x[0], x[1], 1)
	}
	count(a, min(b, begin), -1)
	count(max(a, end), b, -1)
	return m, positive(n), nil
}

// beginRows writes to ptr where the rows of a matrix begin whose rows have the given lengths. Rows
// other than lo..hi-1 are made empty: the entries before row lo belong to no row.
func beginRows(ptr []int64, lengths []float64, lo, hi int) {
	begin := int64(0)
	for _, n := range lengths[:lo] {
		begin += int64(n)
	}
	for k := range ptr {
		switch {
		case k <= lo:
			ptr[k] = begin
		case k <= hi:
			ptr[k] = ptr[k-1] + int64(lengths[k-1])
		default:
			ptr[k] = ptr[hi]
		}
	}
}

// positive returns a set of the places of n that hold a positive number: bit j%64 of set[j/64] is place
// j. No number is negative.
func positive(n []int32) (set []uint64) {
	set = make([]uint64, (len(n)+63)/64)
	for j, n := range n {
		set[j/64] |= uint64(uint32(-n)>>31) << (j % 64)
	}
	return set
}
