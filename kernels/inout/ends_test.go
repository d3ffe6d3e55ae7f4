package inout

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/format"
)

// shownEnv is an op.Env that keeps what is printed.
type shownEnv struct{ out bytes.Buffer }

func (e *shownEnv) Stdout() io.Writer                          { return &e.out }
func (e *shownEnv) Create(path string) (io.WriteCloser, error) { return nil, io.ErrClosedPipe }
func (e *shownEnv) Path(path string) string                    { return path }

// A large matrix is shown by its ends, by kernel and definition alike, unless all of it is asked for.
func TestEmitEnds(t *testing.T) {
	tall, wide, square := value.New(types.F64, 10_001, 1), value.New(types.I64, 1, 10_001), value.New(types.F64, 101, 100)
	some, few := value.New(types.F64, 10, 100), value.New(types.Bool, 11, 1000)
	for i := range 10_001 {
		tall.F64[i] = float64(i) / 4
		wide.I64[i] = int64(i) - 10
	}
	for i := range square.F64 {
		square.F64[i] = float64(i * i)
	}
	for i := range few.Bool {
		few.Bool[i] = uint8(i & 1)
	}
	stored := define.KeptRef(square)
	for _, c := range []struct {
		x     value.Value
		all   bool
		lines int
		want  string
	}{
		{tall, false, 12, "f64[10001,1], its ends (emit all shows everything)\n      0\n   0.25\n    0.5\n   0.75\n      1\n     ..\n   2499\n2499.25\n"},
		{tall, true, 10_001, "0\n0.25\n"},
		{wide, false, 2, "i64[1,10001], its ends (emit all shows everything)\n-10 -9 -8 -7 -6 .. 9986 9987 9988 9989 9990\n"},
		{square, false, 12, "f64[101,100], its ends (emit all shows everything)\n        0         1         4"},
		{square, true, 101, "0 1 4 9"},
		{some, false, 10, "0 0 0"},
		{few, false, 12, "bool[11,1000], its ends"},
		{stored, false, 12, "sparse f64[101,100], 10099 stored; the first and last of them (emit all shows everything)\n0 1 1\n0 2 4\n0 3 9\n0 4 16\n0 5 25\n..\n100 95 "},
		{stored, true, 10_100, "sparse f64[101,100], 10099 stored\n0 1 1\n"},
	} {
		var attrs *op.Attrs
		if c.all {
			attrs = op.MakeAttrs(op.Attr{Name: "all", Val: op.Bool(true)})
		}
		var got [2]string
		for k, f := range []func(*op.Call) error{emitKernel, printRef} {
			e := &shownEnv{}
			if err := f(&op.Call{Def: emitRow(), Attrs: attrs, In: []value.Value{c.x}, Env: e}); err != nil {
				t.Fatal(err)
			}
			got[k] = e.out.String()
		}
		if got[0] != got[1] {
			t.Errorf("%v: the kernel prints\n%.400s\nthe definition\n%.400s", c.x.Type(), got[0], got[1])
		}
		if n := strings.Count(got[0], "\n"); n != c.lines || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%v, all %v: %d lines, want %d:\n%.600s\nwant\n%s", c.x.Type(), c.all, n, c.lines, got[0], c.want)
		}
	}
}

// A matrix of 1000 elements is printed whole, one more is too many.
func TestMostShown(t *testing.T) {
	for rows, want := range map[int]bool{1000: false, 1001: true} {
		c := &op.Call{Attrs: op.MakeAttrs(op.Attr{Name: "all", Val: op.Bool(false)}), In: []value.Value{value.New(types.F64, rows, 1)}}
		if endsAlone(c) != want {
			t.Errorf("%d elements are shortened: %v", rows, !want)
		}
	}
}

// Whole numbers that a float type counts one by one have no exponent.
func TestWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		x    float64
		bits int
		want string
	}{{1e6, 64, "1000000"}, {-1 << 53, 64, "-9007199254740992"}, {1<<53 + 2, 64, "9.007199254740994e+15"}, {1 << 24, 32, "16777216"}, {1 << 25, 32, "3.3554432e+07"}, {0.5e-7, 64, "5e-08"}, {1e21, 64, "1e+21"}, {123456.5, 64, "123456.5"}} {
		if text := string(format.AppendFloat(nil, c.x, c.bits)); text != c.want || value.FormatFloat(c.x, c.bits) != c.want {
			t.Errorf("%v: %s, %s, want %s", c.x, text, value.FormatFloat(c.x, c.bits), c.want)
		}
	}
}

// printRef is the definition of an emit to standard output.
func printRef(c *op.Call) error {
	text, err := shownRef(c)
	if err == nil {
		_, err = io.WriteString(c.Env.Stdout(), labelled(c.Attrs.Str("label"), c.In[0])+text)
	}
	return err
}

// shownRef is what emit prints of its value, by its definition. It fails for a picture that cannot be
// drawn.
func shownRef(c *op.Call) (string, error) {
	switch x := c.In[0].(type) {
	case *value.CSR:
		if endsAlone(c) {
			return sparseEndsTitle(x) + sparseEndsRef(x), nil
		}
		return sparseTitle(x) + strings.Join(storedLines(x), ""), nil
	case *value.Dense:
		if endsAlone(c) {
			return endsRef(x), nil
		}
		width := make([]int, x.Cols) // 0: not aligned
		for i := range x.Rows {
			for j := range x.Cols {
				if !c.Attrs.Bool("all") && x.Cols > 1 {
					width[j] = max(width[j], len(x.At(i, j).String()))
				}
			}
		}
		text := ""
		for i := range x.Rows {
			words := make([]string, x.Cols)
			for j := range words {
				words[j] = fmt.Sprintf("%*s", width[j], x.At(i, j))
			}
			text += strings.Join(words, " ") + "\n"
		}
		return text, nil
	}
	if c.In[0].Type().Elem == types.Picture {
		return pictureText(c.In[0])
	}
	return fmt.Sprintln(c.In[0]), nil
}

// storedLines are the lines of the stored elements, by their definition.
func storedLines(m *value.CSR) (lines []string) {
	for i := range m.Rows {
		for j := range m.Cols {
			switch x := m.At(i, j); {
			case !x.True():
			case m.Elem == types.Bool:
				lines = append(lines, fmt.Sprintf("%d %d\n", i, j))
			default:
				lines = append(lines, fmt.Sprintf("%d %d %v\n", i, j, x))
			}
		}
	}
	return lines
}

// endsRef is what ends prints, by lines.
func endsRef(d *value.Dense) string {
	var lines [][]string
	for i := range d.Rows {
		if i >= shownEnd && i < d.Rows-shownEnd && d.Rows > 2*shownEnd+1 {
			if i == shownEnd {
				lines = append(lines, nil)
			}
			continue
		}
		var line []string
		for j := range d.Cols {
			if j >= shownEnd && j < d.Cols-shownEnd && d.Cols > 2*shownEnd+1 {
				if j == shownEnd {
					line = append(line, gap)
				}
				continue
			}
			line = append(line, d.At(i, j).String())
		}
		lines = append(lines, line)
	}
	for i, line := range lines {
		if line == nil {
			for range lines[0] {
				lines[i] = append(lines[i], gap)
			}
		}
	}
	text := endsTitle(d.Type())
	for _, line := range lines {
		for j, w := range line {
			width := 0
			for _, other := range lines {
				width = max(width, utf8.RuneCountInString(other[j]))
			}
			line[j] = fmt.Sprintf("%*s", width, w)
		}
		text += strings.Join(line, " ") + "\n"
	}
	return text
}

// sparseEndsRef is what sparseEnds prints after the title.
func sparseEndsRef(m *value.CSR) string {
	lines := storedLines(m)
	return strings.Join(lines[:shownEnd], "") + gap + "\n" + strings.Join(lines[len(lines)-shownEnd:], "")
}
