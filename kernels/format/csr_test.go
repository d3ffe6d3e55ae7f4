package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// sampleCSR is a 3 x 4 matrix of 3 entries, as a matrix and as a file.
func sampleCSR(t *testing.T, e types.Elem) (*value.CSR, []byte) {
	t.Helper()
	m := value.NewCSR(e, 3, 4, 3)
	copy(m.Ptr, []int64{0, 1, 1, 3})
	copy(m.Col, []int32{2, 0, 3})
	copy(m.F64, []float64{1.5, -2, 3})
	copy(m.F32, []float32{1.5, -2, 3})
	copy(m.I64, []int64{1, -2, 3})
	var b bytes.Buffer
	if err := Write(&b, "a.csr", m, Options{}); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

// TestCSRDamage: whatever bit is changed (every fifth is tried), and wherever the file is cut off,
// reading says so; what concerns the head is said from the head alone.
func TestCSRDamage(t *testing.T) {
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		m, file := sampleCSR(t, e)
		if got, err := ReadSparse(put(t, "a.csr", string(file)), Options{}); err != nil || !value.Same(got, m) {
			t.Fatalf("%v: the whole file is read as %v, %v", e, got, err)
		}
		path := put(t, "a.csr", "")
		refused := func(text []byte, what string, k int, headToo bool) {
			t.Helper()
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			var bad *Error
			if m, err := ReadSparse(path, Options{}); !errors.As(err, &bad) || bad.Cause != CSR {
				t.Errorf("%v: %s %d: %v, %v", e, what, k, m, err)
			}
			if h, err := StatSparse(path, Options{}); headToo && err == nil {
				t.Errorf("%v: %s %d: the head alone is %v", e, what, k, h)
			}
		}
		for bit := 0; bit < 8*len(file); bit += 5 {
			text := bytes.Clone(file)
			text[bit/8] ^= 1 << (bit % 8)
			refused(text, "bit", bit, bit < 8*44)
		}
		for n := range file {
			refused(file[:n], "cut off after byte", n, true)
		}
		refused(append(bytes.Clone(file), 0), "one byte after", len(file), false)
	}
}

// TestCSRDamageCompressed: a compressed file has no size to compare with, so that what is missing
// is missed at its end.
func TestCSRDamageCompressed(t *testing.T) {
	_, file := sampleCSR(t, types.F64)
	for cut, want := range map[int]string{20: "not a .csr file", 42: "ends before its checksum", 80: "ends before its 3 entries", len(file) - 2: "ends before its checksum"} {
		_, err := ReadSparse(put(t, "a.csr.gz", gzipped(string(file[:cut]))), Options{})
		if e := (*Error)(nil); !errors.As(err, &e) || e.Cause != CSR || !strings.Contains(e.Msg, want) {
			t.Errorf("cut off after byte %d: %v, want %s", cut, err, want)
		}
	}
}

// TestCSRFirstVersion: files without checksums are read.
func TestCSRFirstVersion(t *testing.T) {
	m, file := sampleCSR(t, types.F64)
	old := append([]byte(csrUnsummed), file[8:40]...)
	old = append(old, file[44:len(file)-4]...)
	got, err := ReadSparse(put(t, "a.csr", string(old)), Options{})
	if err != nil || !value.Same(got, m) {
		t.Fatalf("%v, %v", got, err)
	}
	binary.LittleEndian.PutUint64(old[48:], 7) // a row pointer beyond the entries
	if got, err := ReadSparse(put(t, "a.csr", string(old)), Options{}); err == nil {
		t.Errorf("a wrong row pointer is read as %v", got)
	}
}

// Rows of a .csr are those of the matrix, and its checksum is that of its blocks, wherever they are
// cut.
func TestRowsOfCSR(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 4))
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		d := value.New(e, 300, 70)
		for range 9000 {
			d.Set(r.IntN(d.Rows), r.IntN(d.Cols), value.F64(1+r.Float64()*9).Convert(e))
		}
		nonzero := func(i, j int) bool { return d.At(i, j) != value.F64(0).Convert(e) }
		n := 0
		for k := range d.Rows * d.Cols {
			if nonzero(k/d.Cols, k%d.Cols) {
				n++
			}
		}
		m := value.NewCSR(e, d.Rows, d.Cols, n)
		n = 0
		for i := range d.Rows {
			for j := range d.Cols {
				if nonzero(i, j) {
					m.Col[n] = int32(j)
					m.SetEntry(n, d.At(i, j))
					n++
				}
			}
			m.Ptr[i+1] = int64(n)
		}
		var b bytes.Buffer
		if err := Write(&b, "a.csr", m, Options{}); err != nil {
			t.Fatal(err)
		}
		path := put(t, "a.csr", b.String())
		shared := 0
		o := Options{Share: func(task Task) (Answer, error) {
			shared++
			task.Block = 1 + r.Int64N(5000)
			return inRanges(r, task)
		}}
		if !HasRows(path, o) || shared != 1 {
			t.Fatalf("%v: the sum of the blocks is another one, or they were not shared (%d)", e, shared)
		}
		for range 20 {
			lo := r.IntN(d.Rows)
			hi := lo + 1 + r.IntN(d.Rows-lo)
			got, err := ReadRows(path, Options{}, lo, hi)
			if err != nil {
				t.Fatal(err)
			}
			for i := range d.Rows {
				cols, at := got.Row(i)
				want, from := m.Row(i)
				if i < lo || i >= hi {
					want = nil
				}
				if fmt.Sprint(cols) != fmt.Sprint(want) {
					t.Fatalf("%v, rows %d..%d: row %d is %v, want %v", e, lo, hi, i, cols, want)
				}
				for k := range cols {
					if e == types.F64 && got.F64[at+k] != m.F64[from+k] || e == types.F32 && got.F32[at+k] != m.F32[from+k] || e == types.I64 && got.I64[at+k] != m.I64[from+k] {
						t.Fatalf("%v: another value in row %d", e, i)
					}
				}
			}
		}
		damaged := b.Bytes()
		damaged[44+r.IntN(len(damaged)-48)] ^= 1
		if HasRows(put(t, "b.csr", string(damaged)), Options{}) || HasRows(put(t, "c.csr", b.String()[:b.Len()-1]), Options{}) {
			t.Errorf("%v: a damaged file has rows", e)
		}
	}
}

// Ranks that share the blocks of a graph find the mistakes of a .csr with the right checksums: pointers
// that do not ascend or end elsewhere, columns that do not ascend in a row or are none. Of a sound one
// they count the edges.
func TestGraphRowsFindMistakes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for try := range 300 {
		n := 1 + r.IntN(40)
		m := value.NewCSR(types.Bool, n, n, 0)
		in, out := make([]float64, n), make([]float64, n)
		for i := range n {
			for j := range n {
				if r.IntN(1+try%7) == 0 && i%3 > 0 {
					m.Col = append(m.Col, int32(j))
					out[i]++
					in[j]++
				}
			}
			m.Ptr[i+1] = int64(len(m.Col))
		}
		var b bytes.Buffer
		if err := Write(&b, "g.csr", m, Options{}); err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()[:b.Len()-4]
		pointer := func(i int) []byte { return file[44+8*i:] }
		column := func(k int64) []byte { return file[44+8*(n+1)+4*int(k):] }
		i := r.IntN(n)
		lo, hi := m.Ptr[i], m.Ptr[i+1]
		k := lo + r.Int64N(max(1, hi-lo))
		switch kind := try % 6; {
		case kind == 1 && k > lo:
			copy(column(k), column(k - 1)[:4])
		case kind == 2 && k > lo:
			binary.LittleEndian.PutUint64(column(k-1), uint64(m.Col[k])|uint64(m.Col[k-1])<<32)
		case kind == 3 && hi > lo:
			binary.LittleEndian.PutUint32(column(hi-1), []uint32{uint32(n), math.MaxUint32}[r.IntN(2)])
		case kind == 4:
			binary.LittleEndian.PutUint64(pointer(i+1), uint64(hi-1+2*r.Int64N(2)))
		case kind == 5:
			binary.LittleEndian.PutUint64(pointer(0), math.MaxUint64)
		}
		path := put(t, "g.csr", string(binary.LittleEndian.AppendUint32(file, crc32.Checksum(file[44:], csrTable()))))
		var task Task
		k0, ok := GraphRows(path, Options{Share: func(c Task) (Answer, error) {
			task = c
			task.Block = 4 * (1 + r.Int64N(60))
			if ranks := 1 + try%8; 2*ranks <= task.Blocks() {
				if end := task.Ends(ranks); end[0] < 1 || end[ranks-1] != task.Blocks() || !slices.IsSortedFunc(end, func(a, b int) int {
					return a - b - 1 // each rank has a block
				}) {
					t.Fatalf("try %d: of %d blocks those of %d ranks end at %v", try, task.Blocks(), ranks, end)
				}
			}
			return inRanges(r, task)
		}})
		g, err := ReadGraph(path, Options{})
		if ok != (err == nil) {
			t.Errorf("try %d: ranks find a graph: %v; one process: %v", try, ok, err)
		}
		if ok && (!slices.Equal(k0.ByRow, out) || !slices.Equal(k0.ByCol, in)) && try%6 != 4 {
			t.Errorf("try %d: other counts of edges", try)
		}
		if ok && g.NNZ() > 0 {
			keptRows(t, r, task, k0.ByRow, g)
		}
	}
}

// keptRows compares rows of the graph g with those that a process makes of the blocks that it has kept.
// It then damages the columns in the file. Only rows with all columns kept can be had of it.
func keptRows(t *testing.T, r *rand.Rand, task Task, lengths []float64, g *value.CSR) {
	t.Helper()
	whole, err := os.ReadFile(task.Path)
	if err != nil {
		t.Fatal(err)
	}
	for try := range 9 {
		first := r.IntN(task.Blocks() + 1)
		last := first + r.IntN(task.Blocks()-first+1)
		lo := r.IntN(g.Rows)
		hi := lo + 1 + r.IntN(g.Rows-lo)
		if try%3 == 0 { // almost all rows, with few columns in other blocks
			first, last, lo, hi = 0, max(task.Blocks()-try/3, 1), 0, max(g.Rows-try/3, 1)
		}
		kept, err := task.Range(first, last)
		if err != nil {
			t.Fatal(err)
		}
		damaged := r.IntN(2) == 0
		if text := slices.Clone(whole); damaged {
			for k := range text[task.From:task.To] {
				text[int(task.From)+k] = 0xff
			}
			if err := os.WriteFile(task.Path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m, named, err := task.GraphOf(lengths, lo, hi, kept.Parts, first, last)
		place := func(block int) int64 {
			return (min(task.Begin+int64(block)*task.Block, task.Size) - task.From) / 4
		}
		some := g.Ptr[hi] > g.Ptr[lo]
		inside := max(0, place(first)) <= g.Ptr[lo] && g.Ptr[hi] <= place(last)
		if want := !damaged || !some || inside; (err == nil) != want {
			t.Fatalf("rows %d..%d of blocks %d..%d: %v; damaged: %v", lo, hi, first, last, err, damaged)
		}
		if try == 0 && some && err == nil && named == nil {
			t.Fatal("columns of all blocks were not counted for all rows")
		}
		for j := 0; named != nil && j < g.Cols; j++ {
			if named[j/64]>>(j%64)&1 != 0 != slices.Contains(g.Col[g.Ptr[lo]:g.Ptr[hi]], int32(j)) {
				t.Fatalf("rows %d..%d of blocks %d..%d: column %d is named by mistake, or is not", lo, hi, first, last, j)
			}
		}
		for i := 0; err == nil && i < g.Rows; i++ {
			cols, _ := m.Row(i)
			want, _ := g.Row(i)
			if i < lo || i >= hi {
				want = nil
			}
			if fmt.Sprint(cols) != fmt.Sprint(want) {
				t.Fatalf("rows %d..%d of blocks %d..%d: row %d is %v, want %v", lo, hi, first, last, i, cols, want)
			}
		}
		if err := os.WriteFile(task.Path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
