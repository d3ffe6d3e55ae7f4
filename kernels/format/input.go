package format

// This file defines files that are being read: the options of reading, what is known of a file,
// opening, compression and blocks.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"flow/ir/types"
	"flow/memory"
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
	// Header says whether a CSV begins with a line of names. Auto: it does when no field of that
	// line begins like a number.
	Header Choice
	// Columns lists the columns of a CSV that are read, by name or by number; "": all.
	Columns string
	// Missing is what an empty field or NA of a CSV becomes; nil: nan.
	Missing *float64
	// Max is the number that is white in an image; nil: the greatest.
	Max *float64
	// Share does a task of reading together with other processes; nil: Task.All does.
	Share func(Task) (Answer, error)
	// Read counts the bytes that are read from files. nil: they are not counted.
	Read *atomic.Int64
}

// Header is what is known of a file before its numbers are read.
type Header struct {
	Elem       types.Elem
	Rows, Cols int
	Sparse     bool // it is read as a sparse matrix
	// Entries is the number of elements in the head of a sparse matrix, with those that a symmetric
	// file leaves out.
	Entries int
}

// Type is the type of the matrix in the file.
func (h Header) Type() types.Type {
	if h.Sparse {
		return types.SparseOf(h.Elem, h.Rows, h.Cols)
	}
	return types.DenseOf(h.Elem, h.Rows, h.Cols)
}

// OpenFile opens a file for reading. The error is an *Error.
func OpenFile(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	return file, nil
}

// countedFile is a file that counts the bytes read from it.
type countedFile struct {
	file *os.File
	read *atomic.Int64 // nil: no count
}

// openCounted opens a file for reading. The error is an *Error.
func openCounted(path string, read *atomic.Int64) (countedFile, error) {
	file, err := OpenFile(path)
	return countedFile{file, read}, err
}

func (c countedFile) Read(b []byte) (int, error) { return c.add(c.file.Read(b)) }

func (c countedFile) ReadAt(b []byte, at int64) (int, error) { return c.add(c.file.ReadAt(b, at)) }

func (c countedFile) add(n int, err error) (int, error) {
	if c.read != nil {
		c.read.Add(int64(n))
	}
	return n, err
}

// input is a file being read.
type input struct {
	*bufio.Reader
	file    string
	size    int64        // bytes that the file can hold at most once decompressed
	memory  memory.Limit // what a matrix may take
	longest int          // line, in bytes

	plain      io.ReaderAt // the file, if it is regular
	compressed bool        // set by unpack
	begun      int64       // bytes of a byte order mark; set by begin, and feeds
	feeds      bool        // lines end in carriage returns alone
}

const (
	bufferSize = 1 << 18
	// deflateRatio bounds how much DEFLATE can shrink: 258 bytes in two bits.
	deflateRatio = 1032
)

// newInput is an input of unknown size.
func newInput(name string) *input {
	return &input{file: name, size: math.MaxInt64, memory: memory.Most(), longest: mostLine}
}

// mostLine is the length of the longest line that is read, and of the longest record of a CSV,
// which may be several lines.
const mostLine = 256 << 20

// open runs f on a file, decompressed if it is compressed.
func open(path string, cause Cause, o Options, f func(in *input) error) error {
	file, err := openCounted(path, o.Read)
	if err != nil {
		return err
	}
	defer file.file.Close()
	in := newInput(path)
	if st, err := file.file.Stat(); err == nil && st.Mode().IsRegular() {
		in.size, in.plain = st.Size(), file
	}
	if err := in.unpack(file, cause); err != nil {
		return err
	}
	return f(in)
}

// unpack makes in read from r, and decompresses it if its first bytes say that it is compressed. The
// file's name may therefore be wrong. An empty file is an error of the given cause.
func (in *input) unpack(r io.Reader, cause Cause) error {
	in.Reader = bufio.NewReaderSize(r, bufferSize)
	magic, err := in.Peek(2)
	if len(magic) == 0 {
		if err != nil && err != io.EOF {
			return readError(in.file, 0, err)
		}
		return isEmpty(in.file, cause)
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in.Reader)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return readError(in.file, 0, err)
		}
		in.compressed = true
		if in.size < math.MaxInt64/deflateRatio {
			in.size *= deflateRatio
		}
		in.Reader = bufio.NewReaderSize(z, bufferSize)
		if _, err := in.Peek(1); err == io.EOF {
			return isEmpty(in.file, cause)
		}
	} else if strings.HasSuffix(strings.ToLower(in.file), ".gz") {
		return failf(Gzip, in.file, "the file is not compressed").help("rename it without .gz")
	}
	return nil
}

// extension is the word that tells the format of a file: o.Form, or the extension of its name in
// lower case without its point and without .gz.
func extension(name string, o Options) string {
	if o.Form != "" {
		return o.Form
	}
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".gz")
	return strings.TrimPrefix(filepath.Ext(base), ".")
}

// blocks gives pieces of whole lines of about a MiB; the last may lack its line end. Decompression
// goes on in another goroutine while a piece is worked on.
func (in *input) blocks(f func(block []byte) error) error {
	const size = 1 << 20
	type piece struct {
		text []byte
		err  error
	}
	full, empty, stop := make(chan piece, 2), make(chan []byte, 4), make(chan struct{})
	defer func() {
		close(stop)
		for range full { // the reader ends before the file is closed
		}
	}()
	go func() {
		defer close(full)
		send := func(p piece) bool {
			select {
			case full <- p:
				return true
			case <-stop:
				return false
			}
		}
		var rest []byte
		for {
			var buf []byte
			select {
			case buf = <-empty:
			default:
			}
			if len(rest) > in.longest {
				send(piece{err: in.tooLong(0)})
				return
			}
			// A long line doubles the buffer: otherwise each piece of the line would be copied again.
			if cap(buf) < size+len(rest) {
				var err error
				if buf, err = grow[byte](in, 0, nil, max(size, len(rest))+len(rest)); err != nil {
					send(piece{err: err})
					return
				}
			}
			buf = buf[:cap(buf)]
			n := copy(buf, rest)
			got, err := io.ReadFull(in.Reader, buf[n:])
			n += got
			if err == io.EOF || err == io.ErrUnexpectedEOF && in.plainEnd() {
				if n > 0 {
					send(piece{text: buf[:n]})
				}
				return
			}
			end := bytes.LastIndexByte(buf[:n], '\n') + 1
			rest = append(rest[:0], buf[end:n]...)
			if !send(piece{buf[:end], err}) || err != nil {
				return
			}
		}
	}()
	for p := range full {
		if err := f(p.text); err != nil {
			return err
		}
		if p.err != nil {
			return p.err
		}
		select {
		case empty <- p.text:
		default:
		}
	}
	return nil
}

// skipLine skips the rest of a line, but no more than most bytes, and returns how many.
func (in *input) skipLine(most int64) (n int64, err error) {
	for n < most {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if err == nil || err == io.EOF {
			return n, nil
		} else if err != bufio.ErrBufferFull {
			return n, readError(in.file, 0, err)
		}
	}
	return n, nil
}

// plainEnd reports that the stream itself has ended without an error: ReadFull says
// ErrUnexpectedEOF for that and for a gzip stream that is cut.
func (in *input) plainEnd() bool {
	_, err := in.ReadByte()
	return err == io.EOF
}
