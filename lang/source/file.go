package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// This file defines File and FileSet, which convert a Pos to a line and a column.

// File is one text of a compilation. It does not change after FileSet.Add, so several goroutines
// may read it.
type File struct {
	Name string // as the user gave it; "<set n>" and the like for other texts
	Text string
	Base Pos // the Pos of the first byte
	// Library: the file belongs to Flow's library, which users do not have.
	Library bool
	lines   []int32 // offset of the first byte of every line
}

// Pos returns the position of the byte at offset. len(Text) is the end.
func (f *File) Pos(offset int) Pos { return f.Base + Pos(offset) }

// Span returns the span of the bytes [from, to).
func (f *File) Span(from, to int) Span { return Span{f.Pos(from), f.Pos(to)} }

// Offset is the inverse of Pos, clamped to the text.
func (f *File) Offset(p Pos) int { return min(max(int(p-f.Base), 0), len(f.Text)) }

// End returns the position after the last byte.
func (f *File) End() Pos { return f.Base + Pos(len(f.Text)) }

// line returns the index (from 0) of the line that contains offset.
func (f *File) line(offset int) int {
	return sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset }) - 1
}

// lineText returns line i (from 0) without its line end, and its offset.
func (f *File) lineText(i int) (string, int) {
	from, to := int(f.lines[i]), len(f.Text)
	if i+1 < len(f.lines) {
		to = int(f.lines[i+1]) - 1
	}
	return strings.TrimSuffix(f.Text[from:to], "\r"), from
}

// FileSet holds the files of one compilation. Add is not safe for concurrent use. Everything else
// is, once all files are added.
type FileSet struct{ files []*File }

// NewFileSet returns an empty set.
func NewFileSet() *FileSet { return &FileSet{} }

// Add appends a text under a name. Two files may have the same name.
func (fs *FileSet) Add(name, text string) *File {
	f := &File{Name: name, Text: text, Base: 1, lines: []int32{0}}
	if n := len(fs.files); n > 0 {
		// One position separates files, so that the end of one is not the start of the
		// next.
		f.Base = fs.files[n-1].End() + 1
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			f.lines = append(f.lines, int32(i+1))
		}
	}
	fs.files = append(fs.files, f)
	return f
}

// Files returns all files in the order of Add.
func (fs *FileSet) Files() []*File { return fs.files }

// File returns the file that contains p, or nil.
func (fs *FileSet) File(p Pos) *File {
	if fs == nil || p <= 0 {
		return nil
	}
	i := sort.Search(len(fs.files), func(i int) bool { return fs.files[i].End() >= p })
	if i == len(fs.files) || fs.files[i].Base > p {
		return nil
	}
	return fs.files[i]
}

// Position returns the file name, line and column of p, both from 1. Columns count characters, a
// tab as one. Without a file the name is empty and both are 0.
func (fs *FileSet) Position(p Pos) (name string, line, col int) {
	f := fs.File(p)
	if f == nil {
		return "", 0, 0
	}
	off := f.Offset(p)
	i := f.line(off)
	return f.Name, i + 1, utf8.RuneCountInString(f.Text[f.lines[i]:off]) + 1
}

// Text returns the text of s, or "" if s is not inside one file.
func (fs *FileSet) Text(s Span) string {
	f := fs.File(s.From)
	if f == nil || s.To < s.From || s.To > f.End() {
		return ""
	}
	return f.Text[f.Offset(s.From):f.Offset(s.To)]
}
