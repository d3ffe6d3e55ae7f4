package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file draws a Picture as text: lines and points as Braille dots (2 x 4 a character), bars as
// eighths of blocks, matrices as shades. The text is the same on a terminal and in a file: 80
// characters wide, without colour.

const (
	textWidth = 80
	textRows  = 18 // of a field
)

// Text is the picture as lines, fields below each other.
func (p *Picture) Text() string {
	var b strings.Builder
	if p.Title != "" {
		b.WriteString(centred(p.Title, textWidth) + "\n")
	}
	for i := range p.Fields {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.Fields[i].text(&b)
	}
	return b.String()
}

// sheet is the characters of a field without its axes, and the Braille dots over them.
type sheet struct {
	wide, high int
	cells      []rune  // row by row; 0: the dots
	dots       []uint8 // as in Unicode: U+2800 + dots
}

func newSheet(wide, high int) *sheet {
	return &sheet{wide, high, make([]rune, wide*high), make([]uint8, wide*high)}
}

// dot sets a dot; x counts from the left in halves, y from the top in quarters of a character.
func (s *sheet) dot(x, y int) {
	if x < 0 || y < 0 || x >= 2*s.wide || y >= 4*s.high {
		return
	}
	bits := [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	s.dots[y/4*s.wide+x/2] |= bits[y%4][x%2]
}

// line sets the dots between two (Bresenham's algorithm).
func (s *sheet) line(x0, y0, x1, y1 int) {
	dx, dy := abs(x1-x0), -abs(y1-y0)
	sx, sy, err := 1, 1, dx+dy
	if x1 < x0 {
		sx = -1
	}
	if y1 < y0 {
		sy = -1
	}
	for {
		s.dot(x0, y0)
		if x0 == x1 && y0 == y1 {
			return
		}
		if e := 2 * err; e >= dy {
			if err, x0 = err+dy, x0+sx; e <= dx {
				err, y0 = err+dx, y0+sy
			}
		} else {
			err, y0 = err+dx, y0+sy
		}
	}
}

func abs(n int) int { return max(n, -n) }

func (s *sheet) set(x, y int, r rune) {
	if x >= 0 && y >= 0 && x < s.wide && y < s.high {
		s.cells[y*s.wide+x] = r
	}
}

func (s *sheet) row(y int) string {
	var b strings.Builder
	for x := range s.wide {
		switch k := y*s.wide + x; {
		case s.cells[k] != 0:
			b.WriteRune(s.cells[k])
		case s.dots[k] != 0:
			b.WriteRune(0x2800 + rune(s.dots[k]))
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// marksOfText tell the layers of a field apart where there are several.
var marksOfText = []rune("●×▲◆○+△◇")

// fillsOfText tell bars and histograms apart.
var fillsOfText = []rune("█▒░▓")

func (f *Field) text(b *strings.Builder) {
	if f.Title != "" {
		b.WriteString(centred(f.Title, textWidth) + "\n")
	}
	x, y, ok := f.limits()
	if !ok {
		b.WriteString(noData + "\n")
		return
	}
	if g := f.grid(); g != nil {
		f.textMatrix(b, g)
		return
	}
	if f.YLabel != "" {
		b.WriteString(f.YLabel + "\n")
	}
	yTicks := ticks{f.LogY, 5}.Ticks(y[0], y[1])
	left := 0
	for _, t := range yTicks {
		left = max(left, utf8.RuneCountInString(t.Label))
	}
	left = min(left, textWidth/3)
	s := newSheet(textWidth-left-2, textRows)
	px := place(x, f.LogX, 2*s.wide)
	py := place(y, f.LogY, 4*s.high)
	down := func(v float64) int { return 4*s.high - 1 - py(v) }
	bars := 0
	for i := range f.Layers {
		switch f.Layers[i].Kind {
		case BarLayer, HistogramLayer:
			f.textBars(s, i, bars, px, py, y)
			bars++
		default:
			f.textPoints(s, i, px, down)
		}
	}
	f.textLegend(b, left)
	at := map[int]string{}
	for _, t := range yTicks {
		if row := down(t.Value) / 4; t.Label != "" && row >= 0 && row < s.high {
			at[row] = t.Label
		}
	}
	for row := range s.high {
		label, axis := at[row], "│"
		if label != "" {
			axis = "┤"
		}
		label = strings.Repeat(" ", max(0, left-utf8.RuneCountInString(label))) + label
		b.WriteString(strings.TrimRight(label+" "+axis+s.row(row), " ") + "\n")
	}
	f.textAxis(b, left, s.wide, x, px)
}

// textAxis draws the horizontal axis and what stands below it.
func (f *Field) textAxis(b *strings.Builder, left, wide int, x [2]float64, px func(float64) int) {
	marker := ticks{f.LogX, 7}.Ticks(x[0], x[1])
	for i := range f.Layers {
		if len(f.Layers[i].Names) > 0 {
			marker = f.Layers[i].named()
		}
	}
	axis, labels := []rune(strings.Repeat("─", wide)), []rune(strings.Repeat(" ", left+2+wide))
	free := 0
	for _, t := range marker {
		column := px(t.Value) / 2
		if column < 0 || column >= wide || t.Label == "" {
			continue
		}
		axis[column] = '┬'
		text := []rune(t.Label)
		from := min(left+2+column-len(text)/2, len(labels)-len(text))
		if from >= free && from >= 0 {
			copy(labels[from:], text)
			free = from + len(text) + 1
		}
	}
	b.WriteString(strings.Repeat(" ", left+1) + "└" + string(axis) + "\n")
	b.WriteString(strings.TrimRight(string(labels), " ") + "\n")
	if f.XLabel != "" {
		b.WriteString(centred(f.XLabel, textWidth) + "\n")
	}
}

// place is the dot out of n of a coordinate.
func place(r [2]float64, log bool, n int) func(float64) int {
	lo, hi := r[0], r[1]
	if log {
		lo, hi = math.Log10(lo), math.Log10(hi)
	}
	return func(v float64) int {
		if log {
			v = math.Log10(v)
		}
		return int(math.Floor((v-lo)/(hi-lo)*float64(n-1) + .5))
	}
}

func (f *Field) textLegend(b *strings.Builder, left int) {
	list := f.legend()
	if len(list) == 0 {
		return
	}
	var words []string
	for _, e := range list {
		words = append(words, string(f.markOf(e.layer))+" "+e.label)
	}
	line := strings.Repeat(" ", left+1)
	for i, w := range words {
		if i > 0 && utf8.RuneCountInString(line)+3+utf8.RuneCountInString(w) > textWidth {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", left+1)
		} else if i > 0 {
			line += "  "
		}
		line += " " + w
	}
	b.WriteString(line + "\n")
}

// markOf is the character of layer i: lines and points have marks, bars fills.
func (f *Field) markOf(i int) rune {
	bar := func(k Kind) bool { return k == BarLayer || k == HistogramLayer }
	n, mine := 0, bar(f.Layers[i].Kind)
	for k := range i {
		if kind := f.Layers[k].Kind; kind != HeatLayer && kind != ImageLayer && bar(kind) == mine {
			n++
		}
	}
	if mine {
		return fillsOfText[n%len(fillsOfText)]
	}
	return marksOfText[n%len(marksOfText)]
}

// several reports layers that marks must tell apart, or a label that explains a mark.
func (f *Field) several() bool { return len(f.Layers) > 1 || f.Layers[0].Label != "" }

func (f *Field) textPoints(s *sheet, i int, px, down func(float64) int) {
	l := &f.Layers[i]
	mark, last, have := f.markOf(i), -1<<30, false
	x0, y0 := 0, 0
	for k := range l.Y {
		if !there(l.X[k], f.LogX) || !there(l.Y[k], f.LogY) {
			have = false
			continue
		}
		x1, y1 := px(l.X[k]), down(f.up(l.Y[k]))
		switch {
		case l.Kind == PointLayer && f.several():
			s.set(x1/2, y1/4, mark)
		case l.Kind == PointLayer || !have:
			s.dot(x1, y1)
		default:
			s.line(x0, y0, x1, y1)
		}
		if l.Kind == LineLayer && f.several() && x1/2-last >= 12 {
			s.set(x1/2, y1/4, mark)
			last = x1 / 2
		}
		x0, y0, have = x1, y1, true
	}
}

// textBars draws bars as whole characters wide, their ends to an eighth of one.
func (f *Field) textBars(s *sheet, i, nth int, px, py func(float64) int, y [2]float64) {
	l := &f.Layers[i]
	groups := 0
	for k := range f.Layers {
		if f.Layers[k].Kind == BarLayer {
			groups++
		}
	}
	ground := 0
	if !f.LogY {
		ground = eighths(s, y, f.LogY, min(max(0, y[0]), y[1]))
	}
	for k, v := range l.Y {
		if !there(l.X[k], f.LogX) || !there(v, f.LogY) {
			continue
		}
		var from, to int
		if l.Kind == HistogramLayer {
			from, to = px(l.X[k])/2, px(l.X[k+1])/2
		} else {
			space := l.spacing()
			wide := .8 / float64(groups)
			left := l.X[k] + (-.4+wide*float64(nth))*space
			if f.LogX {
				from = px(l.X[k]) / 2
				to = from + 1
			} else {
				from, to = (px(left)+1)/2, (px(left+wide*space)+1)/2
			}
		}
		for column := from; column < max(to, from+1); column++ {
			s.column(column, ground, eighths(s, y, f.LogY, v), f.markOf(i))
		}
	}
}

// eighths is the height of v above the bottom of the sheet, in eighths of a character.
func eighths(s *sheet, y [2]float64, log bool, v float64) int {
	return place(y, log, 8*s.high+1)(v)
}

// column fills a column between two heights. Only full blocks have parts.
func (s *sheet) column(x, a, b int, fill rune) {
	lower := []rune(" ▁▂▃▄▅▆▇█")
	lo, hi := min(a, b), max(a, b)
	for row := range s.high {
		bottom := 8 * (s.high - 1 - row)
		from, to := max(lo, bottom)-bottom, min(hi, bottom+8)-bottom
		switch {
		case to <= from:
		case from == 0 && to == 8:
			s.set(x, row, fill)
		case fill != '█':
			if to-from >= 4 {
				s.set(x, row, fill)
			}
		case from == 0:
			s.set(x, row, lower[to])
		case to-from >= 4: // hanging: there are only these
			s.set(x, row, '▀')
		default:
			s.set(x, row, '▔')
		}
	}
}

// textMatrix draws a matrix as shades, the least light, and says what they mean.
func (f *Field) textMatrix(b *strings.Builder, l *Layer) {
	shade := []rune(" ░▒▓█")
	lo, hi := l.extent()
	grey := *l
	if n := l.Rows * l.Cols; len(l.Z) == 3*n {
		lo, hi = 0, 255
		grey.Z = make([]float64, n)
		img := l.pixels()
		for i := range n { // the luma of ITU-R BT.601
			c := img.NRGBAAt(i%l.Cols, i/l.Cols)
			if grey.Z[i] = .299*float64(c.R) + .587*float64(c.G) + .114*float64(c.B); c.A == 0 {
				grey.Z[i] = math.NaN()
			}
		}
	}
	left := len(number(float64(l.Rows)))
	wide := textWidth - left - 3
	small := grey.cells(2*textRows, wide/2)
	each := max(2, min(8, wide/small.Cols/2*2))
	if f.YLabel != "" {
		b.WriteString(f.YLabel + "\n")
	}
	edge := strings.Repeat("─", each*small.Cols)
	over := f.textOver(l, each*small.Cols, small.Rows)
	f.textLegend(b, left)
	b.WriteString(strings.Repeat(" ", left+1) + "┌" + edge + "┐\n")
	for i := range small.Rows {
		label := ""
		if l.Kind == HeatLayer && (i == 0 || i == small.Rows-1 || i%5 == 0 && small.Rows-1-i > 2) {
			label = number(float64(i * l.Rows / small.Rows))
			if i == small.Rows-1 {
				label = number(float64(l.Rows - 1))
			}
		}
		var row []rune
		for _, v := range small.Z[i*small.Cols : (i+1)*small.Cols] {
			r := '·'
			if v == v {
				r = shade[min(4, int(level((v-lo)/(hi-lo)))*5/256)]
			}
			row = append(row, slices.Repeat([]rune{r}, each)...)
		}
		for k := range row {
			if r := over.cells[i*over.wide+k]; r != 0 {
				row[k] = r
			}
		}
		b.WriteString(strings.Repeat(" ", left-len(label)) + label + " │" + string(row) + "│\n")
	}
	b.WriteString(strings.Repeat(" ", left+1) + "└" + edge + "┘\n")
	if l.Kind == HeatLayer {
		last := number(float64(l.Cols - 1))
		if l.Cols > 1 {
			b.WriteString(strings.Repeat(" ", left+2) + "0" + strings.Repeat(" ", max(1, each*small.Cols-1-len(last))) + last + "\n")
		}
	}
	if f.XLabel != "" {
		b.WriteString(centred(f.XLabel, textWidth) + "\n")
	}
	if l.Kind == HeatLayer {
		b.WriteString(strings.Repeat(" ", left+2) + "from " + tell(lo) + " (blank) by ░ ▒ ▓ to " + tell(hi) + " (█)")
		if slices.ContainsFunc(small.Z, func(v float64) bool { return v != v }) {
			b.WriteString("; ·: missing")
		}
		b.WriteString("\n")
	}
}

// textOver is the marks of the points and lines that lie over a matrix of so many characters.
func (f *Field) textOver(m *Layer, wide, high int) *sheet {
	s := newSheet(wide, high)
	at := func(v float64, n, cells int) int { return int(math.Floor((v + .5) / float64(n) * float64(cells))) }
	for i := range f.Layers {
		l := &f.Layers[i]
		if l.Kind != LineLayer && l.Kind != PointLayer {
			continue
		}
		for k, y := range l.Y {
			if there(l.X[k], false) && there(y, false) {
				s.set(at(l.X[k], m.Cols, wide), at(y, m.Rows, high), f.markOf(i))
			}
		}
	}
	return s
}

// tell is a number in at most four digits.
func tell(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// centred is a text in the middle of so many characters.
func centred(text string, wide int) string {
	return strings.Repeat(" ", max(0, (wide-utf8.RuneCountInString(text))/2)) + text
}
