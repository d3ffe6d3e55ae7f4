package source

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

// This file defines Render, which prints a diagnostic with its source lines, underlined.

// mark is an underlined part of a source line, in display columns.
type mark struct {
	from, to int
	label    string
	primary  bool
}

// Render writes d in the form
//
//	error[E210]: inner sizes of `@` differ: 21 columns, 20 rows
//	  --> linreg.flow:17:14
//	   |
//	17 | emit r2(y, X @ w) as "R2"
//	   |            - ^ - f64[20,1]
//	   |            |
//	   |            f64[100000,21]
//	   = note: n, m were bound at the call on line 15
//	   = help: …
//
// A span over several lines is underlined on its first. With color it uses ANSI
// sequences. It writes in one call of w.Write; write errors are not reported.
func Render(w io.Writer, fs *FileSet, d Diagnostic, color bool) {
	p := paint{on: color}
	head := p.severity(d.Severity)
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", head(fmt.Sprintf("%s[%s]", d.Severity, d.Code)), p.bold(": "+d.Message))

	shown := placesByFile(fs, d)
	width := 1
	for _, pl := range shown {
		width = max(width, len(fmt.Sprint(pl.last()+1)))
	}
	gutter := strings.Repeat(" ", width)
	for i, pl := range shown {
		arrow := "-->"
		if i > 0 {
			arrow = ":::"
		}
		name, line, col := fs.Position(pl.first)
		fmt.Fprintf(&b, "%s%s %s:%d:%d\n%s %s\n", gutter, p.blue(arrow), name, line, col, gutter, p.blue("|"))
		prev := -1
		for _, ln := range pl.lines {
			if prev >= 0 && ln > prev+1 {
				fmt.Fprintf(&b, "%s\n", p.blue("..."))
			}
			prev = ln
			text, marks := layLine(pl.file, ln, pl.spans[ln])
			fmt.Fprintf(&b, "%s %s %s\n", p.blue(fmt.Sprintf("%*d", width, ln+1)), p.blue("|"), text)
			for _, row := range markRows(marks, p, head) {
				fmt.Fprintf(&b, "%s %s %s\n", gutter, p.blue("|"), row)
			}
		}
	}
	for _, n := range d.Notes {
		if fs.File(n.Span.From) == nil {
			fmt.Fprintf(&b, "%s %s %s\n", gutter, p.blue("="), p.bold("note: ")+indentRest(n.Text, width+9))
		}
	}
	if d.Help != "" {
		fmt.Fprintf(&b, "%s %s %s\n", gutter, p.blue("="), p.bold("help: ")+indentRest(d.Help, width+9))
	}
	_, _ = io.WriteString(w, b.String())
}

// RenderAll renders all of ds, sorted, with an empty line between.
func RenderAll(w io.Writer, fs *FileSet, ds Diagnostics, color bool) {
	for i, d := range ds.Sort() {
		if i > 0 {
			_, _ = io.WriteString(w, "\n")
		}
		Render(w, fs, d, color)
	}
}

// indentRest indents all lines but the first.
func indentRest(s string, by int) string {
	return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", by))
}

// labelled is a span to underline.
type labelled struct {
	span    Span
	label   string
	primary bool
}

// places are the lines of one file that a diagnostic shows.
type places struct {
	file  *File
	first Pos // what the --> line names
	lines []int
	spans map[int][]labelled
}

func (p *places) last() int { return p.lines[len(p.lines)-1] }

// placesByFile groups the places of d by file, the primary span's file first.
func placesByFile(fs *FileSet, d Diagnostic) []*places {
	var out []*places
	add := func(l labelled) {
		f := fs.File(l.span.From)
		if f == nil {
			return
		}
		var pl *places
		for _, o := range out {
			if o.file == f {
				pl = o
			}
		}
		if pl == nil {
			pl = &places{file: f, first: l.span.From, spans: map[int][]labelled{}}
			out = append(out, pl)
		}
		ln := f.line(f.Offset(l.span.From))
		if pl.spans[ln] == nil {
			pl.lines = append(pl.lines, ln)
		}
		pl.spans[ln] = append(pl.spans[ln], l)
	}
	add(labelled{d.Span, d.Label, true})
	for _, n := range d.Notes {
		add(labelled{n.Span, n.Text, false})
	}
	for _, pl := range out {
		sort.Ints(pl.lines)
	}
	return out
}

// maxColumns is the widest source line printed whole. Of a wider one the part around the primary
// mark is printed.
const maxColumns = 160

// layLine returns the line as displayed (tabs as 4 columns, control characters as dots) and its
// marks in display columns.
func layLine(f *File, ln int, spans []labelled) (string, []mark) {
	text, start := f.lineText(ln)
	col := make([]int, len(text)+1) // byte offset -> display column
	var cells []string              // one per display column; a wide rune fills two
	for i, r := range text {
		for j := i; j < len(text) && j < i+len(string(r)); j++ {
			col[j] = len(cells)
		}
		switch w := runeWidth(r); {
		case r == '\t':
			cells = append(cells, " ", " ", " ", " ")
		case r < ' ' || r == 0x7f:
			cells = append(cells, "·")
		case w == 0 && len(cells) > 0:
			cells[len(cells)-1] += string(r)
		case w == 2:
			cells = append(cells, string(r), "")
		default:
			cells = append(cells, string(r))
		}
	}
	col[len(text)] = len(cells)
	var marks []mark
	for _, s := range spans {
		a := min(max(f.Offset(s.span.From)-start, 0), len(text))
		z := min(max(f.Offset(s.span.To)-start, a), len(text))
		from, to := col[a], col[z]
		marks = append(marks, mark{from, max(to, from+1), s.label, s.primary})
	}
	if len(cells) > maxColumns {
		focus := marks[0].from
		from := max(0, min(focus-maxColumns/2, len(cells)-maxColumns))
		to := min(len(cells), from+maxColumns)
		cells = append([]string{"…"}, append(cells[from:to:to], "…")...)
		for i := range marks {
			marks[i].from = min(max(marks[i].from-from+1, 0), len(cells)-1)
			marks[i].to = min(max(marks[i].to-from+1, marks[i].from+1), len(cells))
		}
	}
	return strings.Join(cells, ""), marks
}

// over returns the layer of m: 0, 1 for the primary, 2 for a label inside the primary.
func (m mark) over(marks []mark) int {
	if m.primary {
		return 1
	}
	for _, o := range marks {
		if o.primary && m.label != "" && o.from <= m.from && m.to <= o.to && m.to-m.from < o.to-o.from {
			return 2
		}
	}
	return 0
}

// markRows returns the rows under a source line: the underlines with the rightmost label, then one
// row a remaining label, from right to left.
func markRows(marks []mark, p paint, head func(string) string) []string {
	sort.SliceStable(marks, func(i, j int) bool { return marks[i].from < marks[j].from })
	width := 0
	for _, m := range marks {
		width = max(width, m.to)
	}
	under := []byte(strings.Repeat(" ", width))
	// the primary over the others, labels inside it over the primary, so that all are visible
	for pass := range 3 {
		for _, m := range marks {
			if m.over(marks) == pass {
				for c := m.from; c < m.to; c++ {
					under[c] = map[bool]byte{true: '^', false: '-'}[m.primary]
				}
			}
		}
	}
	tone := func(m mark) func(string) string {
		if m.primary {
			return head
		}
		return p.blue
	}
	var first strings.Builder
	for i := 0; i < len(under); {
		j := i
		for j < len(under) && under[j] == under[i] {
			j++
		}
		s := string(under[i:j])
		switch under[i] {
		case '^':
			s = head(s)
		case '-':
			s = p.blue(s)
		}
		first.WriteString(s)
		i = j
	}
	rest := make([]mark, 0, len(marks))
	for _, m := range marks {
		if m.label != "" {
			rest = append(rest, m)
		}
	}
	// The rightmost label follows the underlines if its mark is the last.
	if n := len(rest); n > 0 && rest[n-1].to == width {
		first.WriteString(" " + tone(rest[n-1])(rest[n-1].label))
		rest = rest[:n-1]
	}
	rows := []string{first.String()}
	bars := func(ms []mark) string {
		var b strings.Builder
		at := 0
		for _, m := range ms {
			if m.from < at {
				continue // two labels at one column share a bar
			}
			b.WriteString(strings.Repeat(" ", m.from-at) + tone(m)("|"))
			at = m.from + 1
		}
		return b.String()
	}
	if len(rest) > 0 {
		rows = append(rows, bars(rest))
	}
	for n := len(rest); n > 0; n-- {
		m := rest[n-1]
		left := rest[:n-1]
		for len(left) > 0 && left[len(left)-1].from == m.from {
			left = left[:len(left)-1]
		}
		row := bars(left)
		at := 0
		if len(left) > 0 {
			at = left[len(left)-1].from + 1
		}
		rows = append(rows, row+strings.Repeat(" ", m.from-at)+tone(m)(m.label))
	}
	return rows
}

// runeWidth returns the terminal columns of r: 0 for combining marks, 2 for East Asian wide blocks
// and emoji. It approximates by blocks (Unicode Standard Annex 11 has the exact table); an error
// moves a caret by one.
func runeWidth(r rune) int {
	switch {
	case r >= 0x300 && r <= 0x36f, r >= 0x200b && r <= 0x200f, r >= 0xfe00 && r <= 0xfe0f, r >= 0x20d0 && r <= 0x20ff:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// paint colours text if on.
type paint struct{ on bool }

func (p paint) wrap(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
func (p paint) bold(s string) string { return p.wrap("1", s) }
func (p paint) blue(s string) string { return p.wrap("1;34", s) }

func (p paint) severity(s Severity) func(string) string {
	code := "1;31"
	switch s {
	case Limit:
		code = "1;35"
	case Warning:
		code = "1;33"
	}
	return func(t string) string { return p.wrap(code, t) }
}
