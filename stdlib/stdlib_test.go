package stdlib_test

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"flow"
	"flow/stdlib"
)

// This file defines how the tests of the library run programs and read what they print.

// way is a way to run a program; the zero value is the engine on all processors.
type way struct {
	threads int
	ranks   int // in this process; 0 is 1
	disable []string
	eval    bool // by the definitions of the operators, one at a time
}

// run is what a program prints; set is "name=value name=value".
func run(text, set string, w way) (string, error) {
	o := flow.CompileOptions{Disable: w.disable, Ranks: w.ranks, Verify: true}
	for _, s := range strings.Fields(set) {
		name, value, _ := strings.Cut(s, "=")
		o.Set = append(o.Set, flow.Setting{Name: name, Text: value})
	}
	p, err := flow.Compile(context.Background(), "test.flow", []byte(text), o)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if w.eval {
		err = p.Evaluate(&out)
	} else {
		_, err = p.Run(context.Background(), flow.RunOptions{Stdout: &out, Threads: w.threads})
	}
	return out.String(), err
}

// spaced is the lines of a text with one blank between words: how wide columns are depends on what
// else is in them.
func spaced(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

// printed is what a program emitted under labels, read back: numbers are printed so that nothing is
// lost.
type printed map[string]*mat.Dense

// values runs a program whose emits all have labels, and begin a line.
func values(t *testing.T, text, set string) printed {
	t.Helper()
	text = strings.ReplaceAll("\n"+text, "\nemit ", "\nemit all ")
	out, err := run(text, set, way{})
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, text)
	}
	p := printed{}
	label, rows := "", [][]float64(nil)
	flush := func() {
		if label != "" && len(rows) > 0 {
			m := mat.NewDense(len(rows), len(rows[0]), nil)
			for i, r := range rows {
				m.SetRow(i, r)
			}
			p[label] = m
		}
		rows = nil
	}
	for line := range strings.Lines(out) {
		if name, rest, ok := strings.Cut(line, ":"); ok {
			flush()
			label, line = name, rest
		}
		var row []float64
		for _, f := range strings.Fields(line) {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			row = append(row, x)
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	flush()
	return p
}

func (p printed) get(t *testing.T, label string) *mat.Dense {
	t.Helper()
	m := p[label]
	if m == nil {
		t.Fatalf("the program printed no %s", label)
	}
	return m
}

// apart is the largest |a - b| over the largest |b|.
func apart(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	size := largest(b)
	if size == 0 {
		size = 1
	}
	return largest(&d) / size
}

func largest(a mat.Matrix) float64 { return max(mat.Max(a), -mat.Min(a)) }

// function is one fn or number of the library with the comment above it.
type function struct {
	name, doc       string
	number          bool
	program, output string // its example
}

// functions reads the library's text.
func functions(t *testing.T) []function {
	t.Helper()
	files, err := fs.Glob(stdlib.Files, "*.flow")
	if err != nil || len(files) == 0 {
		t.Fatalf("the library has no files: %v", err)
	}
	var list []function
	for _, file := range files {
		text, err := fs.ReadFile(stdlib.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		var comment []string
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if rest, ok := strings.CutPrefix(line, "#"); ok {
				comment = append(comment, rest)
				continue
			}
			if rest, ok := strings.CutPrefix(line, "fn "); ok {
				name, _, _ := strings.Cut(rest, "(")
				list = append(list, documented(name, comment))
			} else if name, _, ok := strings.Cut(line, " = "); ok && comment != nil && !strings.ContainsAny(name, " (") {
				list = append(list, documented(name, comment))
				list[len(list)-1].number = true
			}
			comment = nil
		}
	}
	return list
}

// documented takes the comment above a fn apart: prose, then an indented example, whose lines up to
// the last emit are the program and whose others are what it prints.
func documented(name string, comment []string) function {
	f := function{name: name}
	for _, line := range comment {
		if eg, ok := strings.CutPrefix(line, "   "); ok {
			if f.output += eg + "\n"; strings.HasPrefix(eg, "emit ") {
				f.program, f.output = f.program+f.output, ""
			}
			continue
		}
		f.doc += strings.TrimSpace(line) + "\n"
	}
	return f
}

// docVerbs are the verbs of a function's comment.
var docVerbs = []string{"returns", "converts", "reports", "is"}

// The comment above a function begins with its name and what it returns, and its example prints
// what it says.
func TestDocumentation(t *testing.T) {
	examples := 0
	for _, f := range functions(t) {
		if verb := strings.Fields(strings.TrimPrefix(f.doc, f.name) + " ."); !strings.HasPrefix(f.doc, f.name+" ") || !slices.Contains(docVerbs, verb[0]) {
			t.Errorf("the comment above %s begins with %.40q, want %q", f.name, f.doc, f.name+" returns ..")
		}
		if f.program == "" {
			continue
		}
		examples++
		for _, w := range []way{{}, {eval: true}} {
			got, err := run(f.program, "", w)
			if err != nil {
				t.Errorf("the example of %s: %v", f.name, err)
			} else if got != f.output {
				t.Errorf("the example of %s prints\n%swant\n%s", f.name, got, f.output)
			}
		}
	}
	if examples < 12 {
		t.Errorf("only %d functions have an example", examples)
	}
}
