package format

// This file defines the list of formats, and what they share: choosing by name, opening, compression, memory.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/source"
)

// Choice is yes, no, or whatever the file suggests.
type Choice uint8

// The choices.
const (
	Auto Choice = iota
	Yes
	No
)

// Options are how to read or write a file; the zero value is right for most.
type Options struct {
	// Form overrides the extension: "mtx", "npy", "csv" or "tsv".
	Form string
	// Sep separates the fields of a CSV; 0: a comma (a tab in .tsv).
	Sep byte
	// Header says whether a CSV begins with a line of names. Auto: it does when that line has text in it.
	Header Choice
	// Missing is what an empty field or NA of a CSV becomes; nil: nan.
	Missing *float64
}

// Header is what is known of a file before its numbers are read.
type Header struct {
	Elem       types.Elem
	Rows, Cols int
}

// Type is the type of the matrix in the file.
func (h Header) Type() types.Type { return types.DenseOf(h.Elem, h.Rows, h.Cols) }

// form is one format. read returns after the header when headOnly is set, with a nil matrix.
type form struct {
	name  string // the extension without its point
	cause Cause
	sep   byte
	read  func(in *input, o Options, headOnly bool) (Header, *value.Dense, error)
	write func(w *bufio.Writer, d *value.Dense, o Options) error
}

// forms is the list of formats. It is a function because package variables that hold functions can be changed.
func forms() []form {
	return []form{
		{"mtx", MatrixMarket, 0, readMatrixMarket, writeMatrixMarket},
		{"npy", NPY, 0, readNPY, writeNPY},
		{"csv", CSV, ',', readCSV, writeCSV},
		{"tsv", CSV, '\t', readCSV, writeCSV},
	}
}

// Extensions are the endings of file names that Read and Write know; each may be followed by .gz.
func Extensions() []string {
	var list []string
	for _, f := range forms() {
		list = append(list, "."+f.name)
	}
	return list
}

// Check reports, without touching the file system, whether the name and the options name a format.
func Check(path string, o Options) error {
	_, _, err := choose(path, o)
	return err
}

// choose is the format of a file name, and whether the name asks for compression.
func choose(path string, o Options) (f form, compressed bool, err error) {
	base := strings.ToLower(filepath.Base(path))
	base, compressed = strings.CutSuffix(base, ".gz")
	ext := strings.TrimPrefix(filepath.Ext(base), ".")
	word := ext
	if o.Form != "" {
		word = o.Form
	}
	for _, f := range forms() {
		if f.name == word {
			return f, compressed, nil
		}
	}
	known := strings.Join(Extensions(), " ")
	e := failf(UnknownFormat, path, "unknown format %q", "."+word)
	if word == "" {
		e = failf(UnknownFormat, path, "the name has no extension that tells the format")
	}
	e.help("known are %s, each also with .gz", known)
	if best, ok := source.Suggest("."+word, Extensions()); ok && word != "" {
		e.help("did you mean %s? known are %s, each also with .gz", best, known)
	}
	return form{}, compressed, e
}

// Stat is the element type and shape of the matrix in a file. For Matrix Market and .npy it reads the header; a
// CSV has none, so its lines are counted, not understood.
func Stat(path string, o Options) (Header, error) {
	h, _, err := readFile(path, o, true)
	return h, err
}

// Read is the matrix in a file, on the heap.
func Read(path string, o Options) (*value.Dense, error) {
	_, d, err := readFile(path, o, false)
	return d, err
}

func readFile(path string, o Options, headOnly bool) (Header, *value.Dense, error) {
	f, _, err := choose(path, o)
	if err != nil {
		return Header{}, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return Header{}, nil, openError(path, err)
	}
	defer file.Close()
	in := &input{file: path, size: math.MaxInt64, memory: memory()}
	if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
		in.size = st.Size()
	}
	return in.decode(file, f, o, headOnly)
}

// input is a file being read.
type input struct {
	*bufio.Reader
	file   string
	size   int64 // bytes that the file can hold at most once decompressed
	memory int64 // bytes that a matrix may take
}

const (
	bufferSize = 1 << 18
	// deflateRatio bounds how much DEFLATE can shrink: 258 bytes in two bits.
	deflateRatio = 1032
)

// decode reads r, compressed or not: the first bytes tell, so that a wrong name does no harm.
func (in *input) decode(r io.Reader, f form, o Options, headOnly bool) (Header, *value.Dense, error) {
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	in.Reader = bufio.NewReaderSize(r, bufferSize)
	magic, err := in.Peek(2)
	if len(magic) == 0 {
		if err != nil && err != io.EOF {
			return Header{}, nil, readError(in.file, 0, err)
		}
		return Header{}, nil, failf(f.cause, in.file, "the file is empty")
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in.Reader)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return Header{}, nil, readError(in.file, 0, err)
		}
		if in.size < math.MaxInt64/deflateRatio {
			in.size *= deflateRatio
		}
		in.Reader = bufio.NewReaderSize(z, bufferSize)
		if _, err := in.Peek(1); err == io.EOF {
			return Header{}, nil, failf(f.cause, in.file, "the file is empty")
		}
	} else if strings.HasSuffix(strings.ToLower(in.file), ".gz") {
		return Header{}, nil, failf(Gzip, in.file, "the file is not compressed").help("rename it without .gz")
	}
	return f.read(in, o, headOnly)
}

// matrix allocates what a header announces, if it can be held at all.
func (in *input) matrix(h Header) (*value.Dense, error) {
	if err := in.fits(h); err != nil {
		return nil, err
	}
	return value.New(h.Elem, h.Rows, h.Cols), nil
}

// fits refuses a matrix beyond the memory of the machine; without it the system would end the process.
func (in *input) fits(h Header) error {
	if need := float64(h.Rows) * float64(h.Cols) * float64(h.Elem.Size()); need > float64(in.memory) {
		return failf(TooLarge, in.file, "a dense %d x %d matrix takes %s, more than there is (%s)", h.Rows, h.Cols, inBytes(need), inBytes(float64(in.memory)))
	}
	return nil
}

// inBytes is a number of bytes for people.
func inBytes(n float64) string {
	unit := 0
	for n >= 1024 && unit < 5 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%.3g %s", n, [...]string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}[unit])
}

// unknownMemory is what a matrix may take on a system that does not tell its memory: any 48-bit address.
const unknownMemory = 1 << 48

// memory is the machine's main memory in bytes, where /proc tells it.
func memory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return unknownMemory
	}
	fields := strings.Fields(string(text)) // "MemTotal:  24567890 kB ..."
	if len(fields) < 2 || fields[0] != "MemTotal:" {
		return unknownMemory
	}
	kib, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return unknownMemory
	}
	return kib << 10
}

// Write writes v, a dense matrix or a scalar (as a 1 x 1 matrix), in the format that the name and the options say,
// compressed if the name says so.
func Write(w io.Writer, path string, v value.Value, o Options) error {
	f, compressed, err := choose(path, o)
	if err != nil {
		return err
	}
	if o.Sep == 0 {
		o.Sep = f.sep
	}
	d, ok := v.(*value.Dense)
	if s, isScalar := v.(value.Scalar); isScalar && s.Elem.IsNumeric() {
		d, ok = value.New(s.Elem, 1, 1), true
		d.Set(0, 0, s)
	}
	if !ok {
		return failf(Unwritable, path, "a %s cannot be written to .%s", v.Type(), f.name)
	}
	out := w
	var z *gzip.Writer
	if compressed {
		z = gzip.NewWriter(w)
		out = z
	}
	b := bufio.NewWriterSize(out, bufferSize)
	if err := f.write(b, d, o); err != nil {
		return writeError(path, err)
	}
	if err := b.Flush(); err != nil {
		return writeError(path, err)
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return writeError(path, err)
		}
	}
	return nil
}

func writeError(path string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = path
		return e
	}
	return failf(Unwritable, path, "cannot be written: %v", reason(err))
}
