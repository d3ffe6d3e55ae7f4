package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws the sizes of chunks over the steps in which they were handed out.

// Chunks is a sequence: so many chunks of one size in a row.
type Chunks struct {
	Title string
	Runs  []Run
}

// Run is Repeat chunks of one size.
type Run struct{ Size, Repeat int }

func (s *Chunks) count() int {
	n := 0
	for _, r := range s.Runs {
		n += r.Repeat
	}
	return n
}

// Steps draws a panel for each sequence; several share their axes, the size on a logarithmic one. A
// single one has a linear axis.
func Steps(title string, sequences []Chunks) *Page {
	if len(sequences) == 1 {
		s := sequences[0]
		p := panel("", "scheduling step", "chunk size (iterations)")
		steps, largest := addSteps(p, s.Runs)
		p.Add(plotter.NewGrid())
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(max(steps, 1)), 0, 1.05*float64(max(largest, 1)) // the first stroke is not the frame
		p.X.Tick.Marker, p.Y.Tick.Marker = whole{8}, whole{6}
		return &Page{title: title, panels: [][]*plot.Plot{{p}}, width: 16 * vg.Centimeter, height: 10 * vg.Centimeter}
	}
	columns := min(4, len(sequences))
	var panels []*plot.Plot
	largest, most := 1, 1
	for i, s := range sequences {
		x, y := "", ""
		if i >= len(sequences)-columns {
			x = "step"
		}
		if i%columns == 0 {
			y = "chunk size"
		}
		p := panel(fmt.Sprintf("%s: %d", s.Title, s.count()), x, y)
		steps, size := addSteps(p, s.Runs)
		p.X.Min, p.X.Max = 0, float64(max(steps, 1))
		p.X.Tick.Marker = whole{3}
		most, largest = max(most, steps), max(largest, size)
		panels = append(panels, p)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max, p.Y.Scale = .8, 1.4*float64(largest), plot.LogScale{}
		p.Y.Tick.Marker = counts{tickBase(largest)}
	}
	g := grid(panels, columns)
	return &Page{title: title, panels: g, width: vg.Length(columns)*5*vg.Centimeter + 1*vg.Centimeter, height: vg.Length(len(g))*4*vg.Centimeter + 1.5*vg.Centimeter}
}

// tickBase is the base of the ticks of an axis from 1 to largest: powers of ten would leave small
// ranges with the 1 alone.
func tickBase(largest int) float64 {
	if largest < 50 {
		return 2
	}
	return 10
}

// addSteps draws both ends of every run: a horizontal stroke, a vertical one to the next.
func addSteps(p *plot.Plot, runs []Run) (steps, largest int) {
	var line plotter.XYs
	for _, r := range runs {
		line = append(line, plotter.XY{X: float64(steps), Y: float64(r.Size)}, plotter.XY{X: float64(steps + r.Repeat), Y: float64(r.Size)})
		steps += r.Repeat
		largest = max(largest, r.Size)
	}
	if len(line) == 0 {
		return 0, 0
	}
	p.Add(&stroke{thin(line), draw.LineStyle{Color: palette[0], Width: 1.2}})
	return steps, largest
}

// manyPoints is from how many points on a line is thinned out.
const manyPoints = 4000

// thin keeps the extremes of a long line in each of many intervals of x, which is what can be seen
// of it.
func thin(line plotter.XYs) plotter.XYs {
	if len(line) <= manyPoints {
		return line
	}
	var out plotter.XYs
	each := (len(line) + manyPoints/4 - 1) / (manyPoints / 4)
	for from := 0; from < len(line); from += each {
		part := line[from:min(from+each, len(line))]
		lo, hi := part[0], part[0]
		for _, q := range part {
			if q.Y < lo.Y {
				lo = q
			}
			if q.Y > hi.Y {
				hi = q
			}
		}
		out = append(out, part[0])
		if lo.X < hi.X {
			out = append(out, lo, hi)
		} else {
			out = append(out, hi, lo)
		}
		out = append(out, part[len(part)-1])
	}
	return out
}

// stroke is a line through points.
type stroke struct {
	line  plotter.XYs
	style draw.LineStyle
}

// Plot draws it, clipped to the panel.
func (s *stroke) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(s.line))
	for i, q := range s.line {
		points[i] = vg.Point{X: x(q.X), Y: y(q.Y)}
	}
	c.StrokeLines(s.style, c.ClipLinesXY(points)...)
}

// Thumbnail draws a piece of it.
func (s *stroke) Thumbnail(c *draw.Canvas) {
	y := (c.Min.Y + c.Max.Y) / 2
	c.StrokeLine2(s.style, c.Min.X, y, c.Max.X, y)
}

var lightGray = color.RGBA{235, 235, 235, 255}
