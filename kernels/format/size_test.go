package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"flow/memory"
)

// small is an input of which a matrix may take 2 MiB and a line 600 KB. It is as long as it likes
// to be, like a pipe.
func small(t *testing.T, r io.Reader) *input {
	t.Helper()
	in := &input{file: "f", size: math.MaxInt64, memory: memory.Limit{Bytes: 2 << 20, By: "this test"}, longest: 600_000}
	if err := in.unpack(r, CSV); err != nil {
		t.Fatal(err)
	}
	return in
}

// lines is n lines.
func lines(n int, f func(k int) string) string {
	var b strings.Builder
	for k := range n {
		b.WriteString(f(k))
		b.WriteByte('\n')
	}
	return b.String()
}

// csrHead is the head of a .csr file of the first version.
func csrHead(elem, rows, cols, entries uint64) string {
	b := []byte(csrUnsummed)
	for _, n := range []uint64{elem, rows, cols, entries} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return string(b)
}

// What a file asks for by its head, or by going on and on, is refused before it is allocated, and
// the message names the file and the line.
func TestNothingLargerThanMemory(t *testing.T) {
	edges := func(in *input) error { _, err := readEdges(in, Options{}, false); return err }
	sparse := func(in *input) error { _, _, err := readMarketSparse(in, Options{}, false); return err }
	csv := func(in *input) error { _, _, err := readCSV(in, Options{Sep: ','}, false); return err }
	npyFile := func(in *input) error { _, _, err := readNPY(in, Options{}, false); return err }
	csr := func(in *input) error { _, _, err := readCSR(in, Options{}, false); return err }
	for _, c := range []struct {
		name, text string
		read       func(in *input) error
		want       string
	}{
		{"a vertex", "0 300000000\n", edges, "f:1: reading a sparse 300000001 x 300000001 matrix of 1 entries takes 4.47 GiB, more than there is (2 MiB, this test)"},
		{"many edges", lines(900_000, func(k int) string { return fmt.Sprint(k%7, k%11) }), edges, "f:"},
		{"a head of Matrix Market", firstReal + "2000000 2000000 1\n1 1 1\n", sparse,
			"f:2: reading a sparse 2000000 x 2000000 matrix of 1 entries takes 30.5 MiB, more than there is (2 MiB, this test)"},
		{"many entries", firstReal + "9 9 500000\n" + lines(500_000, func(k int) string { return "1 1 1" }), sparse, "f:"},
		{"a dense head of Matrix Market", firstReal + "200 2000 1\n1 1 1\n", func(in *input) error { _, _, err := readMatrixMarket(in, Options{}, true); return err },
			"f: a dense 200 x 2000 matrix takes 3.05 MiB, more than there is (2 MiB, this test)"},
		{"a head of npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (200, 2000), }", ""), npyFile,
			"f: a dense 200 x 2000 matrix takes 3.05 MiB, more than there is (2 MiB, this test)"},
		{"a head of csr", csrHead(3, 10, 10, 1<<40), csr, "f: the matrix takes 12 TiB, more than there is (2 MiB, this test)"},
		{"the largest head of csr", csrHead(3, 1<<58-2, 10, 1<<58-2), csr, "f: the matrix takes 5 EiB, more than there is (2 MiB, this test)"},
		{"rows of csr", csrHead(3, 1<<40, 10, 1), csr, "f: the matrix takes 8 TiB, more than there is (2 MiB, this test)"},
		{"many rows", lines(300_000, func(int) string { return "1,2" }), csv, "f:"},
		{"one row", strings.Repeat("1,", 290_000) + "1\n", csv, "f:1: what has been read takes 2.21 MiB"},
		{"a line", strings.Repeat("1", 700_000) + "\n", csv, "f:1: the line is longer than 586 KiB, the most that is read"},
		{"a quoted field", "1,\"" + lines(50_000, func(int) string { return strings.Repeat("x", 40) }), csv, "f:1"},
		{"a line of an entry", firstReal + "9 9 1\n1 1 " + strings.Repeat("1", 700_000), sparse, "f:3: the line is longer than 586 KiB"},
		{"a line of an edge", strings.Repeat("1", 3<<20), edges, "f:1: the line is longer than 586 KiB"},
	} {
		err := c.read(small(t, strings.NewReader(c.text)))
		var e *Error
		if !errors.As(err, &e) || e.Cause != TooLarge || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\n wanted %s", c.name, err, c.want)
		}
	}
}

// A row whose entries are to be sorted takes room beside the matrix; one in order does not. 50,000
// entries of a list and its matrix take 1.4 MB of the 2 MiB, and sorting them 0.8 MB.
func TestSortedRowFits(t *testing.T) {
	const n = 50_000
	for _, order := range []int{1, -1} {
		in := small(t, strings.NewReader(fmt.Sprintf("%s1 %d %d\n", firstReal, n, n)+lines(n, func(k int) string {
			return fmt.Sprint(1, max(1+k, order*(k-n)), 1) // 1, 2, .. or n, n - 1, ..
		})))
		_, m, err := readMarketSparse(in, Options{}, false)
		if order > 0 && (err != nil || m.NNZ() != n) {
			t.Errorf("a row in order: %v", err)
		}
		var e *Error
		if order < 0 && (!errors.As(err, &e) || e.Cause != TooLarge) {
			t.Errorf("a row to sort: %v", err)
		}
	}
}

const firstReal = "%%MatrixMarket matrix coordinate real general\n"

// A matrix without elements has none, however long its rows would be.
func TestEmptyMatrixWithLongRows(t *testing.T) {
	for _, shape := range []string{"(0, 1099511627776)", "(1099511627776, 0)"} {
		for _, order := range []string{"True", "False"} {
			text := npy("{'descr': '<f8', 'fortran_order': "+order+", 'shape': "+shape+", }", "")
			h, d, err := readNPY(small(t, bytes.NewReader([]byte(text))), Options{}, false)
			if err != nil || d.Rows != h.Rows || d.Cols != h.Cols || d.Rows*d.Cols != 0 {
				t.Errorf("%s, fortran_order %s: %v, %v", shape, order, d, err)
			}
		}
	}
}
