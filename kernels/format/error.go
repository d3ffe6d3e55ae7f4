package format

// This file defines the one error type of the package.

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"flow/lang/source"
)

// Cause is the kind of thing that is wrong with a file.
type Cause uint8

// The causes.
const (
	Unreadable    Cause = iota // missing, or the system refused
	UnknownFormat              // by its name
	MatrixMarket               // contents that break the rules of the format
	CSV
	NPY
	Gzip     // damaged or cut off
	TooLarge // for the memory of this machine
	Unwritable
	Edges // a list of edges
	CSR   // a .csr file
)

// Error is what is wrong with a file, for its user.
type Error struct {
	Cause Cause
	File  string
	Line  int // 1-based; 0 when the whole file is meant
	Col   int // 1-based byte in the line; 0 when the whole line is meant
	Msg   string
	Help  string // what to do, or ""
}

// Error is file, place and message in one line.
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
		if e.Col > 0 {
			s += fmt.Sprintf(":%d", e.Col)
		}
	}
	return s + ": " + e.Msg
}

func failf(c Cause, file, format string, args ...any) *Error {
	return &Error{Cause: c, File: file, Msg: fmt.Sprintf(format, args...)}
}

func (e *Error) at(line, col int) *Error {
	e.Line, e.Col = line, col
	return e
}

func (e *Error) help(format string, args ...any) *Error {
	e.Help = fmt.Sprintf(format, args...)
	return e
}

// openError is the error of a file that could not be opened.
func openError(path string, err error) *Error {
	if !errors.Is(err, fs.ErrNotExist) {
		return unreadable(path, err)
	}
	e := failf(Unreadable, path, "no such file")
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return e.help("the directory %s does not exist", dir)
	}
	var names []string
	for _, d := range entries {
		names = append(names, d.Name())
	}
	if best, ok := source.Suggest(filepath.Base(path), names); ok {
		return e.help("did you mean `%s`?", filepath.Join(dir, best))
	}
	if filepath.IsAbs(path) {
		return e.help("the directory %s is there, without it", dir)
	}
	return e.help("names are relative to the directory in which flowrun runs")
}

// isEmpty is the error of a file without a byte.
func isEmpty(file string, cause Cause) *Error {
	return failf(cause, file, "the file is empty").help("what writes it has failed, or writes it still; a matrix has a line, or a head")
}

// readError is the error of a stream that broke off at a line.
func readError(file string, line int, err error) *Error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return failf(Gzip, file, "the compressed data end before the text does").at(line, 0).help("the file is cut off, or has other bytes behind its end: copy it again")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return failf(Gzip, file, "the compressed data are damaged (%v)", reason(err)).at(line, 0).help("copy the file again")
	}
	return unreadable(file, err).at(line, 0)
}

// unreadable is the error of a file that the system refuses to read.
func unreadable(file string, err error) *Error {
	e := failf(Unreadable, file, "cannot be read: %v", reason(err))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return e.help("name a file in it")
	case errors.Is(err, fs.ErrPermission):
		return e.help("it belongs to another user: chmod or a copy makes it readable")
	}
	return e
}

// reason is an error without the path that every *fs.PathError repeats.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
