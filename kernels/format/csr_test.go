package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
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
