package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// put writes a file for a test and returns its path.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// rows writes a matrix as nested lists, for comparing with what a test wants.
func rows(d *value.Dense) string {
	var lines []string
	for i := range d.Rows {
		var words []string
		for j := range d.Cols {
			words = append(words, d.At(i, j).String())
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return d.Elem.String() + ": " + strings.Join(lines, " / ")
}

func TestRead(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	hundred := 100.0
	for _, c := range []struct {
		name, text, want string
		o                Options
	}{
		{"a.mtx", mm + "array real general\n% comment\n\n2 3\n1\n2\n3\n4e0\n.5\n-6.\n", "f64: 1 3 0.5 / 2 4 -6", Options{}},
		{"a.mtx", mm + "array real general\r\n2 2\r\n1\r\n2\r\n3\r\n4", "f64: 1 3 / 2 4", Options{}},
		{"a.mtx", mm + "array integer symmetric\n3 3\n1 2 3\n4 5 6\n", "i64: 1 2 3 / 2 4 5 / 3 5 6", Options{}},
		{"a.mtx", mm + "array real skew-symmetric\n3 3\n1\n2\n3\n", "f64: 0 -1 -2 / 1 0 -3 / 2 3 0", Options{}},
		{"a.mtx", mm + "array real general\n0 4\n", "f64: ", Options{}},
		{"a.mtx", mm + "coordinate real general\n2 3 3\n1 1 1.5\n 2  3\t-2\n% late comment\n1 2 1e3\n", "f64: 1.5 1000 0 / 0 0 -2", Options{}},
		{"a.mtx", "%%matrixmarket MATRIX Coordinate Real Symmetric\n2 2 2\n1 1 4\n2 1 3\n", "f64: 4 3 / 3 0", Options{}},
		{"a.mtx", mm + "coordinate real skew-symmetric\n2 2 1\n2 1 3\n", "f64: 0 -3 / 3 0", Options{}},
		{"a.mtx", mm + "coordinate integer general\n2 2 2\n1 1 -9223372036854775808\n2 2 9223372036854775807\n", "i64: -9223372036854775808 0 / 0 9223372036854775807", Options{}},
		{"a.mtx", mm + "coordinate pattern general\n2 2 2\n1 2\n1 2\n", "bool: false true / false false", Options{}},
		{"a.mtx", mm + "coordinate pattern symmetric\n2 2 1\n2 1\n", "bool: false true / true false", Options{}},
		{"a.mtx", mm + "coordinate real general\n2 2 3\n1 1 0.1\n1 1 0.2\n1 1 0.3\n", "f64: 0.6000000000000001 0 / 0 0", Options{}}, // duplicates add up in order
		{"a.mtx", mm + "coordinate real symmetric\n2 2 2\n2 1 1\n2 1 2\n", "f64: 0 3 / 3 0", Options{}},
		{"a.mtx", mm + "coordinate real general\n1 5 5\n1 1 NaN\n1 2 -inf\n1 3 Infinity\n1 4 1.5D+02\n1 5 -0\n", "f64: nan -inf inf 150 -0", Options{}},
		{"a.mtx", mm + "coordinate double general\n1 1 0\n", "f64: 0", Options{}},
		{"a.mtx.gz", gzipped(mm + "array real general\n1 1\n7\n"), "f64: 7", Options{}},
		{"a.mtx", gzipped(mm + "array real general\n1 1\n7\n"), "f64: 7", Options{}}, // the contents tell
		{"noext", mm + "array real general\n1 1\n7\n", "f64: 7", Options{Form: "mtx"}},
		{"a.csv", "1,2.5,-3\n4,5,6\n", "f64: 1 2.5 -3 / 4 5 6", Options{}},
		{"a.csv", "\ufeffa,b\n1,2\n\n3, 4 \n", "f64: 1 2 / 3 4", Options{}},
		{"a.csv", "a,\"b, c\"\n\"1\",\"2\"\n3,4\n", "f64: 1 2 / 3 4", Options{}},
		{"a.csv", "\"two\nlines\",b\n1,2\n", "f64: 1 2", Options{}},
		{"a.csv", "1,2\n3,4\n", "f64: 3 4", Options{Header: Yes}},
		{"a.csv", "1,,NA\n,2,\n", "f64: 1 nan nan / nan 2 nan", Options{}},
		{"a.csv", "1,,NA\n\"\",2,3\n", "f64: 1 100 100 / 100 2 3", Options{Missing: &hundred}},
		{"a.csv", "1;2\n3;4\n", "f64: 1 2 / 3 4", Options{Sep: ';'}},
		{"a.csv", "x,y\n", "f64: ", Options{Header: Yes}},
		{"a.csv", "nan,inf\n-Inf,1E-3\n", "f64: nan inf / -inf 0.001", Options{}},
		{"a.tsv", "1\t2\n3\t\n", "f64: 1 2 / 3 nan", Options{}},
		{"a.csv.gz", gzipped("1,2\n"), "f64: 1 2", Options{}},
	} {
		path := put(t, c.name, c.text)
		d, err := Read(path, c.o)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := rows(d); got != c.want {
			t.Errorf("%q is %s, want %s", c.text, got, c.want)
		}
		if h, err := statOf(path, c.o); err != nil || h.Type() != d.Type() {
			t.Errorf("%q: Stat says %v, %v; Read %v", c.text, h.Type(), err, d.Type())
		}
	}
}

func TestBadFiles(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	text := mm + "array real general\n40 1\n" + strings.Repeat("0.123456789\n", 40)
	whole := gzipped(text)
	damaged := []byte(whole)
	damaged[len(damaged)-6] ^= 1 // in the checksum
	for _, c := range []struct {
		name, text string
		cause      Cause
		want       string // place and message
	}{
		{"a.mtx", "", MatrixMarket, ": the file is empty"},
		{"a.mtx", "hello\n", MatrixMarket, `:1: not the first line of a Matrix Market file: "hello"`},
		{"a.mtx", "%%MatrixMarket matrix array real\n", MatrixMarket, ":1: not the first line"},
		{"a.mtx", "%%MatrixMarket vector array real general\n", MatrixMarket, ":1: a Matrix Market vector is not read"},
		{"a.mtx", mm + "sparse real general\n1 1 1\n", MatrixMarket, `:1:23: unknown format "sparse"`},
		{"a.mtx", mm + "array float general\n1 1\n", MatrixMarket, `:1:29: unknown field "float"`},
		{"a.mtx", mm + "array complex general\n1 1\n", MatrixMarket, `:1:29: no support for the field "complex"`},
		{"a.mtx", mm + "array real hermitian\n1 1\n", MatrixMarket, `:1:34: unknown symmetry "hermitian"`},
		{"a.mtx", mm + "array pattern general\n1 1\n", MatrixMarket, ":1: a pattern is neither"},
		{"a.mtx", mm + "array real general\n% only comments\n", MatrixMarket, ":2: the file ends before the line of sizes"},
		{"a.mtx", mm + "array real general\n2 x\n", MatrixMarket, `:2:3: the number of columns is wanted, found "x"`},
		{"a.mtx", mm + "coordinate real general\n2 2\n", MatrixMarket, ":2:4: the number of entries is wanted, found nothing"},
		{"a.mtx", mm + "array real general\n-2 2\n", MatrixMarket, `:2:1: the number of rows is wanted, found "-2"`},
		{"a.mtx", mm + "array real general\n2 2 4\n", MatrixMarket, `:2:5: "4" follows the 2 sizes`},
		{"a.mtx", mm + "array real symmetric\n2 3\n", MatrixMarket, ":2: a symmetric matrix is square; this has 2 rows and 3 columns"},
		{"a.mtx", mm + "array real general\n100000 2\n1\n", MatrixMarket, ":2: 200000 entries are announced, and the file has no room"},
		{"a.mtx", mm + "array real general\n10000000000 10000000000\n1\n", TooLarge, ": a dense 10000000000 x 10000000000 matrix takes"},
		{"a.mtx", mm + "array real general\n2 2\n1.25\n2.25\n3.25\n", MatrixMarket, ":5: 4 numbers are announced (2 x 2), the file ends after 3"},
		{"a.mtx", mm + "array real general\n2 2\n1\n2\n3\n4\n5\n", MatrixMarket, ":7:1: number 5 follows, 4 are announced"},
		{"a.mtx", mm + "array real general\n2 1\n1\ntwo\n", MatrixMarket, `:4:1: a number is wanted, found "two"`},
		{"a.mtx", mm + "array integer general\n2 1\n1\n2.0\n", MatrixMarket, `:4:1: an integer of 64 bits is wanted, found "2.0"`},
		{"a.mtx", mm + "coordinate integer general\n2 1 1\n1 1 9223372036854775808\n", MatrixMarket, ":3:5: an integer of 64 bits"},
		{"a.mtx", mm + "coordinate real general\n2 2 3\n1 1 1\n2 2 2\n", MatrixMarket, ":4: 3 entries are announced, the file ends after 2"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", MatrixMarket, ":4: entry 2 follows, 1 are announced"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n3 1 1\n", MatrixMarket, ":3:1: row 3 of a matrix with 2 rows"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 0 1\n", MatrixMarket, ":3:3: column 0 of a matrix with 2 columns"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 -1 1\n", MatrixMarket, ":3:3: column -1"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 99999999999999999999 1\n", MatrixMarket, `:3:3: a column index is wanted, found "99999999999999999999"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\none 1 1\n", MatrixMarket, `:3:1: a row index is wanted, found "one"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1.5 1 1\n", MatrixMarket, `:3:1: a row index is wanted, found "1.5"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1\n", MatrixMarket, ":3:4: the line ends where a number is wanted"},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1 abc\n", MatrixMarket, `:3:5: a number is wanted, found "abc"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1 1e999\n", MatrixMarket, `:3:5: a number is wanted, found "1e999"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1 0x1p3\n", MatrixMarket, `:3:5: a number is wanted, found "0x1p3"`},
		{"a.mtx", mm + "coordinate real general\n2 2 1\n1 1 1 2\n", MatrixMarket, `:3:7: "2" follows the entry`},
		{"a.mtx", mm + "coordinate pattern general\n2 2 1\n1 1 1\n", MatrixMarket, `:3:5: "1" follows the entry`},
		{"a.mtx", mm + "coordinate real symmetric\n2 2 1\n1 2 1\n", MatrixMarket, ":3: entry (1, 2) lies above the diagonal of a symmetric matrix"},
		{"a.mtx", mm + "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", MatrixMarket, ":3: entry (1, 1) on the diagonal"},
		{"a.mtx.gz", whole[:len(whole)/2], Gzip, "the compressed data end before the text does"},
		{"a.mtx.gz", whole[:len(whole)-3], Gzip, "the compressed data end before the text does"},
		{"a.mtx.gz", whole[:5], Gzip, "the compressed data end before the text does"},
		{"a.mtx.gz", string(damaged), Gzip, "the compressed data are damaged"},
		{"a.mtx.gz", text, Gzip, ": the file is not compressed"},
		{"a.mtx.gz", gzipped(""), MatrixMarket, ": the file is empty"},
		{"a.csv.gz", gzipped(strings.Repeat("1,2\n", 1000))[:25], Gzip, "the compressed data end before the text does"},
		{"a.csv", "", CSV, ": the file is empty"},
		{"a.csv", "\n\n", CSV, ": the file has no lines with fields"},
		{"a.csv", "1,2\n3\n", CSV, ":2: 1 field, line 1 has 2"},
		{"a.csv", "1,2\n3,4,5\n", CSV, ":2: 3 fields, line 1 has 2"},
		{"a.csv", "1,2\n3,x4\n", CSV, `:2:3: field 2: a number is wanted, found "x4"`},
		{"a.csv", "1,2\n3,1e999\n", CSV, `:2:3: field 2: a number is wanted, found "1e999"`},
		{"a.csv", "a,b\n1,2\nx,3\n", CSV, `:3:1: field 1: a number is wanted, found "x"`},
		{"a.csv", "1;2\n3;4\n", CSV, `:1:1: field 1: a number is wanted, found "1;2"`},
		{"a.csv", "1,\"2\n3,4\n", CSV, ":1:3: a quoted field is not closed"},
		{"a.csv", "1,\"2\"x\n", CSV, ":1:"},
		{"a.npy", "", NPY, ": the file is empty"},
		{"a.npy", "hello world", NPY, ": not an .npy file"},
		{"a.npy", npyMagic + "\x01\x00", NPY, ": the file ends within its header"},
		{"a.npy", npyMagic + "\x09\x00\x01\x00 ", NPY, ": version 9.0 of the format is unknown"},
		{"a.npy", npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", ""), NPY, ": elements of type '<c16' are not read"},
		{"a.npy", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", ""), NPY, ": records are not read"},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", ""), NPY, ": fortran_order is"},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,2,3), }", ""), NPY, ": an array of 3 dimensions"},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", ""), NPY, ": shape is"},
		{"a.npy", npy("{'descr': '<f8', 'shape': (1,), }", ""), NPY, ": the header lacks"},
		{"a.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,3), }", "\x01\x00\x01"), NPY, ": 6 bytes of numbers are announced, the file ends after 3"},
		{"a.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,1), }", "\x01\x00\x01"), NPY, ": bytes follow the 2 x 1 numbers"},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2000,3), }", "\x01"), NPY, ": 48000 bytes of numbers are announced, and the file has no room"},
		{"a.txt", "1", UnknownFormat, `: unknown format ".txt"`},
		{"a", "1", UnknownFormat, ": the name has no extension"},
	} {
		path := put(t, c.name, c.text)
		d, err := Read(path, Options{})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q is read as %v, %v, want %s", c.text, d, err, c.want)
			continue
		}
		if e.Cause != c.cause || !strings.Contains(strings.TrimPrefix(e.Error(), path), c.want) {
			t.Errorf("%q: cause %d: %v, want cause %d: %s", c.text, e.Cause, e, c.cause, c.want)
		}
		if _, err := statOf(path, Options{}); err != nil && !errors.As(err, &e) {
			t.Errorf("Stat of %q: %v", c.text, err)
		}
	}
}

// npy is a version 1 file with this header.
func npy(header, data string) string {
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + data
}

func TestMissingFile(t *testing.T) {
	path := put(t, "matrix.mtx", "")
	var e *Error
	if _, err := Read(filepath.Join(filepath.Dir(path), "matirx.mtx"), Options{}); !errors.As(err, &e) || e.Cause != Unreadable ||
		!strings.Contains(e.Msg, "no such file") || e.Help != "did you mean `"+path+"`?" {
		t.Errorf("%v; help %q", err, e.Help)
	}
	if _, err := Read(filepath.Join(filepath.Dir(path), "none", "a.mtx"), Options{}); !errors.As(err, &e) || !strings.Contains(e.Help, "does not exist") {
		t.Errorf("%v; help %q", err, e.Help)
	}
	dir := filepath.Join(t.TempDir(), "dir.mtx")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, Options{}); !errors.As(err, &e) || e.Cause != Unreadable {
		t.Errorf("a directory: %v", err)
	}
}

func TestNPYVariants(t *testing.T) {
	for _, c := range []struct{ header, data, want string }{
		{"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }", "\x01\x00\xff\xff\x00\x80\x02\x00", "i64: 1 -1 / -32768 2"},
		{"{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", "\x00\x01\xff\xff\x80\x00\x00\x02", "i64: 1 -32768 / -1 2"},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\x01\xff\x80", "i64: 1 / 255 / 128"},
		{"{'shape': (), 'fortran_order': False, 'descr': '|i1'}", "\xfe", "i64: -2"},
		{"{'descr': '|b1', 'fortran_order': False, 'shape': (1, 3), }", "\x01\x00\x02", "bool: true false true"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9), }", "", "f32: "},
	} {
		path := put(t, "a.npy", npy(c.header, c.data))
		d, err := Read(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
		} else if got := rows(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.header, got, c.want)
		}
	}
}

// TestWriteReadsBack holds to the bit in the formats that keep element types, and through f64 in
// the others.
func TestWriteReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		for _, shape := range [][2]int{{1, 1}, {5, 3}, {1, 7}, {40, 1}, {33, 65}} {
			d := value.New(e, shape[0]+1, shape[1]+2).View(1, 1, shape[0], shape[1])
			for i := range d.Rows {
				for j := range d.Cols {
					bits := r.Uint64()
					switch e {
					case types.F64:
						d.F64[i*d.Stride+j] = math.Float64frombits(bits)
						if x := d.F64[i*d.Stride+j]; x != x {
							d.F64[i*d.Stride+j] = math.NaN() // text keeps no payload
						}
					case types.F32:
						d.F32[i*d.Stride+j] = float32(r.NormFloat64())
					case types.I64:
						d.I64[i*d.Stride+j] = int64(bits)
					default:
						d.Bool[i*d.Stride+j] = byte(bits & 1)
					}
				}
			}
			for _, name := range []string{"a.mtx", "a.mtx.gz", "a.npy", "a.npy.gz", "a.csv", "a.tsv.gz"} {
				if e == types.I64 && !strings.Contains(name, "npy") && !strings.Contains(name, "mtx") {
					continue // a CSV is f64
				}
				var b bytes.Buffer
				if err := Write(&b, name, d, Options{}); err != nil {
					t.Fatal(err)
				}
				got, err := Read(put(t, name, b.String()), Options{})
				if err != nil {
					t.Fatalf("%s of %v: %v", name, d.Type(), err)
				}
				if strings.Contains(name, "npy") && got.Elem != e {
					t.Errorf("%s of %v is %v", name, d.Type(), got.Type())
				}
				back := value.New(e, got.Rows, got.Cols)
				for i := range got.Rows {
					for j := range got.Cols {
						back.Set(i, j, got.At(i, j))
					}
				}
				if !value.Same(back, d) {
					t.Errorf("%s of %v reads back differently", name, d.Type())
				}
			}
		}
	}
}

// Which bits a nan has depends on the instructions that made it; files of equal matrices are equal.
func TestNansOfFilesAreOne(t *testing.T) {
	dense := []*value.Dense{value.New(types.F64, 1, 3), value.New(types.F64, 1, 3), value.New(types.F32, 1, 3), value.New(types.F32, 1, 3)}
	for k, bits := range []uint64{0x7ff8000000000001, 0xfff8123456789abc} {
		copy(dense[k].F64, []float64{1, math.Float64frombits(bits), math.Inf(-1)})
		copy(dense[2+k].F32, []float32{1, math.Float32frombits(uint32(bits >> 32)), -1})
	}
	for k := 0; k < len(dense); k += 2 {
		for _, name := range []string{"a.npy", "a.csr"} {
			var files [2]bytes.Buffer
			for q := range files {
				d := dense[k+q]
				var v value.Value = d
				if name == "a.csr" {
					m := value.NewCSR(d.Elem, 1, 3, 3)
					m.Ptr[1], m.F64, m.F32 = 3, d.F64, d.F32
					copy(m.Col, []int32{0, 1, 2})
					v = m
				}
				if err := Write(&files[q], name, v, Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
				t.Errorf("%s of %v: two nans are two files:\n%x\n%x", name, dense[k].Type(), files[0].Bytes(), files[1].Bytes())
			}
		}
	}
}

func TestWriteScalarsAndRefusals(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "x.csv", value.F64(2.5), Options{}); err != nil || b.String() != "2.5\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := Write(&b, "x.csv", value.Str("a"), Options{}); err == nil {
		t.Error("a str was written")
	}
	var e *Error
	if err := Write(failing{}, "x.csv.gz", value.F64(1), Options{}); !errors.As(err, &e) || e.Cause != Unwritable {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// statOf is the head of a file alone.
func statOf(path string, o Options) (Header, error) {
	h, _, err := StatOrRead(path, o)
	return h, err
}
