package inout

// This file defines emit, and how values look on a terminal: a scalar as the language writes it; a
// matrix a line a row, its columns aligned; where all is asked for, elements separated by one
// space. A matrix of more than mostShown elements is shown by its type and its ends
// unless all of it is asked for. The bytes do not depend on where they go.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/elementwise"
	"flow/kernels/format"
)

func emitRow() *op.Def {
	return &op.Def{
		Name: "emit",
		Doc: "emit prints a value, or writes it to a file: `emit x`, `emit x as \"label\"`, `emit x to \"x.csv\"`. A matrix of more than 1000 elements is printed by its type, its first and its last rows and columns; `emit all x` prints " +
			"everything, as files have it. The extension tells the format as for read. " +
			"A picture is printed as characters, 80 wide, or drawn to .svg, .png or .html; a matrix to .png is an image, a pixel an element. " +
			"Emits to the same place happen in the order of the program; a file appears only when the whole run has succeeded.",
		Args: []op.Arg{
			{Name: "x", Doc: "scalar or matrix"},
			{Name: "after", Rest: true, Doc: "effects that come first; the compiler writes them"},
			{Name: "label", Attr: true, Kind: op.StrVal, Optional: true, Doc: "printed before the value"},
			{Name: "all", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "print every element, however many there are; the compiler writes it for `emit all x`"},
			{Name: "to", Attr: true, Kind: op.StrVal, Optional: true, Doc: "file name; standard output unless given"},
			{Name: "sep", Attr: true, Kind: op.StrVal, Optional: true, Doc: "separator of a CSV, one character; a comma unless given"},
			{Name: "max", Attr: true, Optional: true, Doc: "the number that is white in an image; the greatest unless given"},
			{Name: "form", Attr: true, Kind: op.StrVal, Optional: true, Doc: "\"mtx\", \"npy\", \"csv\", \"tsv\", \"pgm\", \"png\", \"svg\" or \"html\", where the extension does not tell"},
			{Name: "width", Attr: true, Optional: true, Doc: "of a picture, in pixels of 1/96 inch"},
			{Name: "height", Attr: true, Optional: true, Doc: "of a picture, in pixels of 1/96 inch"},
			{Name: "dpi", Attr: true, Optional: true, Doc: "dots per inch of a picture as .png; 120 unless given"},
			{Name: "scale", Attr: true, Optional: true, Doc: "pixels along an element of a matrix as .png; 1 unless given"},
			{Name: "colormap", Attr: true, Optional: true, Doc: "of a matrix as .png, as for heatmap"},
			{Name: "low", Attr: true, Optional: true, Doc: "the value at the lower end of the colour map"},
			{Name: "high", Attr: true, Optional: true, Doc: "the value at its upper end"},
		},
		Eg:   []op.Example{{Program: "emit 0.5 as \"half\"\nemit eye(2) as \"I\"", Output: "half: 0.5\nI:\n1 0\n0 1\n"}},
		Type: emitType, Ref: func(c *op.Call) (value.Value, error) { return nil, emitKernel(c) }, Laws: op.Effectful, Shard: op.Shard{Kind: op.ShardSink}, Cost: define.CopyWork,
		Kernel: emitKernel, Shows: shows, Writes: beginRows,
		Parts: func(a *op.Attrs) bool {
			o, err := readOptions(a)
			return err == nil && !shows(a) && drawnForm(a) == "" && format.WritesRows(a.Str("to"), o)
		},
	}
}

// shows reports an emit whose bytes are seen at once: to standard output, or to a device, which is
// written directly. Other files appear when the run has succeeded, so that an emit to one of them
// waits for nothing. Wrong for a named pipe, which no name tells.
func shows(a *op.Attrs) bool {
	to := a.Str("to")
	return to == "" || strings.HasPrefix(filepath.Clean(to), "/dev/")
}

func emitType(s *op.Sig) (types.Type, error) {
	t := s.In[0]
	if !t.IsScalar() && !t.IsMatrix() {
		return types.Type{}, op.Faultf(0, define.CodeKind, "emit takes a scalar or a matrix; this is %s", t)
	}
	// Attributes come after the value and its effects.
	toArg := len(s.In) + 1
	if isDrawn(t, s.Attrs) {
		if err := drawnType(s, toArg); err != nil {
			return types.Type{}, err
		}
		return define.EffectType(s, 1)
	}
	for _, a := range s.Attrs.List() {
		if !slices.Contains([]string{"label", "to", "sep", "max", "form", "all"}, a.Name) {
			return types.Type{}, op.Faultf(toArg, define.CodeArgument, "a sink has no argument `%s`", a.Name).WithHelp("write csv(\"f\", sep = \";\")")
		}
	}
	if to := s.Attrs.Str("to"); to != "" {
		o, err := readOptions(s.Attrs)
		if err != nil {
			err.(*op.Fault).Arg = toArg + 1
			return types.Type{}, err
		}
		if err := format.Check(to, o, t.IsSparse()); err != nil {
			return types.Type{}, fileFault(toArg, err)
		}
		if !t.Elem.IsNumeric() {
			return types.Type{}, op.Faultf(0, define.CodeKind, "a %s cannot be written to a file of numbers", t)
		}
	}
	return define.EffectType(s, 1)
}

func emitKernel(c *op.Call) error {
	if to := c.Attrs.Str("to"); to != "" {
		return emitFile(c, to)
	}
	if taken(c) {
		return nil
	}
	b := &textWriter{w: c.Env.Stdout()}
	b.text = append(b.text, labelled(c.Attrs.Str("label"), c.In[0])...)
	switch x := c.In[0].(type) {
	case *value.Dense:
		switch {
		case endsAlone(c):
			b.text = append(b.text, endsTitle(x.Type())...)
			b.columns(x, ends(x.Rows), ends(x.Cols))
		case c.Attrs.Bool("all") || x.Cols < 2:
			b.matrix(x)
		default:
			b.columns(x, upTo(x.Rows), upTo(x.Cols))
		}
	case *value.CSR:
		if endsAlone(c) {
			b.sparseEnds(x)
		} else {
			b.sparse(x)
		}
	default:
		text := fmt.Sprintln(x)
		if x.Type().Elem == types.Picture {
			var err error
			if text, err = pictureText(x); err != nil {
				return err
			}
		}
		b.text = append(b.text, text...)
	}
	b.flush()
	if b.err != nil {
		return op.Failf(define.CodeUnwritten, "standard output cannot be written: %v", b.err)
	}
	return nil
}

// labelled is a label as it is printed before v: on a line of its own, unless v is one word.
func labelled(label string, v value.Value) string {
	switch t := v.Type(); {
	case label == "":
		return ""
	case t.IsScalar() && t.Elem != types.Picture:
		return label + ": "
	}
	return label + ":\n"
}

// taken reports that the environment takes the value of an emit to standard output as it is.
func taken(c *op.Call) bool {
	t, ok := c.Env.(op.Taker)
	if !ok {
		return false
	}
	v := c.In[0]
	if v.Type().Elem == types.Picture {
		text, err := pictureText(v)
		if err != nil {
			return false // printing it tells
		}
		v = value.Str(text)
	}
	return t.Take(c.Attrs.Str("label"), v)
}

// sinkOf opens the file of an emit. It returns the sink and the options of the format.
func sinkOf(c *op.Call, to string) (w io.WriteCloser, o format.Options, err error) {
	if o, err = readOptions(c.Attrs); err != nil {
		return nil, o, err
	}
	if w, err = c.Env.Create(to); err != nil {
		f := op.Failf(define.CodeUnwritten, "%s: cannot be written: %v", to, err)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, o, f.WithHelp("make its directory first")
		}
		return nil, o, f
	}
	return w, o, nil
}

// rowsSink writes a matrix that is made in parts to the file of an emit.
type rowsSink struct {
	d    *value.Dense
	to   string
	file io.WriteCloser
	w    *format.RowWriter
}

// beginRows opens the file of an emit, and writes the part of it before the rows.
func beginRows(c *op.Call) (op.LoopBody, error) {
	to := c.Attrs.Str("to")
	file, o, err := sinkOf(c, to)
	if err != nil {
		return nil, err
	}
	x := &rowsSink{d: c.Dense(0), to: to, file: file}
	if x.w, err = format.WriteRows(file, to, x.d, o); err != nil {
		x.Quit()
		return nil, fileFailure(err)
	}
	return x, nil
}

// Chunk writes rows lo..hi-1, which follow those of the call before.
func (x *rowsSink) Chunk(_, lo, hi int) error {
	if err := x.w.Write(x.d.View(lo, 0, hi-lo, x.d.Cols)); err != nil {
		return fileFailure(err)
	}
	return nil
}

// End completes the file.
func (x *rowsSink) End() error {
	return closeSink(x.file, x.to, x.w.End())
}

// Quit closes the file of a run that fails. The environment removes it.
func (x *rowsSink) Quit() { _ = x.file.Close() }

// emitFile writes to a sink of the environment, which keeps half files from being seen.
func emitFile(c *op.Call, to string) error {
	w, o, err := sinkOf(c, to)
	if err != nil {
		return err
	}
	if isDrawn(c.In[0].Type(), c.Attrs) {
		if err = draw(w, c.In[0], c.Attrs); err != nil {
			err = &format.Error{Cause: format.Unwritable, File: to, Msg: "cannot be written: " + err.Error()}
		}
	} else {
		err = format.Write(w, to, c.In[0], o)
	}
	return closeSink(w, to, err)
}

// closeSink closes the file of an emit whose last write returned err. It returns the first failure.
func closeSink(w io.Closer, to string, err error) error {
	if cerr := w.Close(); err == nil && cerr != nil {
		err = &format.Error{Cause: format.Unwritable, File: to, Msg: "cannot be written: " + cerr.Error()}
	}
	if err != nil {
		return fileFailure(err)
	}
	return nil
}

// textWriter gathers text and writes it in pieces of about 64 KiB.
type textWriter struct {
	w    io.Writer
	text []byte
	err  error
}

const textPiece = 1 << 16

func (b *textWriter) flush() {
	if b.err == nil && len(b.text) > 0 {
		_, b.err = b.w.Write(b.text)
	}
	b.text = b.text[:0]
}

func (b *textWriter) matrix(d *value.Dense) {
	for i := range d.Rows {
		at := i * d.Stride
		for j := range d.Cols {
			if j > 0 {
				b.text = append(b.text, ' ')
			}
			switch d.Elem {
			case types.F64:
				b.text = format.AppendFloat(b.text, d.F64[at+j], 64)
			case types.F32:
				b.text = format.AppendFloat(b.text, float64(d.F32[at+j]), 32)
			case types.Bool:
				b.text = strconv.AppendBool(b.text, d.Bool[at+j] != 0)
			default:
				b.text = strconv.AppendInt(b.text, d.I64[at+j], 10)
			}
		}
		b.text = append(b.text, '\n')
		if len(b.text) > textPiece {
			b.flush()
		}
	}
}

// sparse prints what is stored, a line an element: row, column and, but for bool, the value; both
// count from 0.
func (b *textWriter) sparse(m *value.CSR) {
	b.text = append(b.text, sparseTitle(m)...)
	for i := range m.Rows {
		cols, at := m.Row(i)
		for k := range cols {
			b.text = format.AppendEntry(b.text, m, i, at+k, 0)
			if len(b.text) > textPiece {
				b.flush()
			}
		}
	}
}

// sparseTitle is the first line of a printed sparse matrix.
func sparseTitle(m *value.CSR) string { return fmt.Sprintf("%v, %d stored\n", m.Type(), m.NNZ()) }

const (
	// mostShown is how many elements emit prints unless all are asked for.
	mostShown = 1000
	// shownEnd is how many rows and columns are shown at each end.
	shownEnd = 5
	// gap stands for what is left out.
	gap = ".."
)

// endsAlone reports an emit that shows the ends of its value alone.
func endsAlone(c *op.Call) bool {
	if c.Attrs.Bool("all") {
		return false
	}
	switch x := c.In[0].(type) {
	case *value.Dense:
		return x.Rows > 0 && x.Cols > mostShown/x.Rows
	case *value.CSR:
		return x.NNZ() > mostShown
	}
	return false
}

// ends is the indices of n that are shown; -1 is the gap.
func ends(n int) []int {
	if n <= 2*shownEnd+1 {
		return upTo(n)
	}
	at := append(upTo(shownEnd), -1)
	for i := n - shownEnd; i < n; i++ {
		at = append(at, i)
	}
	return at
}

func endsTitle(t types.Type) string { return t.String() + ", its ends (emit all shows everything)\n" }

// upTo is 0 to n-1.
func upTo(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// columns prints these rows and columns of d, -1 being a gap, each column as wide as its widest
// element.
func (b *textWriter) columns(d *value.Dense, rows, cols []int) {
	words, width := make([]string, 0, len(rows)*len(cols)), make([]int, len(cols))
	for _, i := range rows {
		for k, j := range cols {
			w := gap
			if i >= 0 && j >= 0 {
				w = d.At(i, j).String()
			}
			words, width[k] = append(words, w), max(width[k], len(w))
		}
	}
	for k, w := range words {
		j := k % len(cols)
		if j > 0 {
			b.text = append(b.text, ' ')
		}
		b.text = elementwise.Repeated(b.text, ' ', width[j]-len(w))
		b.text = append(b.text, w...)
		if j == len(cols)-1 {
			b.text = append(b.text, '\n')
		}
	}
}

func sparseEndsTitle(m *value.CSR) string {
	return strings.TrimSuffix(sparseTitle(m), "\n") + "; the first and last of them (emit all shows everything)\n"
}

// sparseEnds prints the first and last stored elements of m.
func (b *textWriter) sparseEnds(m *value.CSR) {
	b.text = append(b.text, sparseEndsTitle(m)...)
	at, i := ends(m.NNZ()), 0
	for _, k := range at {
		if k < 0 {
			b.text = append(b.text, gap+"\n"...)
			continue
		}
		for m.Ptr[i+1]-m.Ptr[0] <= int64(k) {
			i++
		}
		b.text = format.AppendEntry(b.text, m, i, int(m.Ptr[0])+k, 0)
	}
}
