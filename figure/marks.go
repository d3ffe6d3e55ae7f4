package figure

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// This file draws the marks of a field: grid lines, then each layer over the one before.
//
// A line of many points is drawn by the first, least, greatest and last point of those that follow
// each other within half a point (1/144 inch) along x, which colours the same pixels as all of them
// (U. Jugel, Z. Jerzak, G. Hackenbroich, V. Markl, "M4: a visualization-oriented time series data
// aggregation", 2014). Of discs with the same centre to within half a point one is drawn; more than
// mostDiscs of them become one image.

// mostDiscs is how many marks of one layer are shapes of their own in an SVG; at 90 bytes each it
// is 1 MB.
const mostDiscs = 10000

// mostCells is the most rows and columns of a matrix in a figure; larger ones are drawn by means of
// blocks.
const mostCells = 1024

// marks draws all layers of a field.
type marks struct{ *Field }

// Plot draws them.
func (m *marks) Plot(c vgdraw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if _, _, ok := m.limits(); !ok {
		m.drawLegend(c)
		style := titleStyle()
		style.Font, style.XAlign, style.YAlign = sans(labelSize), vgdraw.XCenter, vgdraw.YCenter
		c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y + c.Max.Y) / 2}, noData)
		return
	}
	if m.grid() == nil {
		rule := vgdraw.LineStyle{Color: ruleColor, Width: .5}
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			c.StrokeLine2(rule, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if p.X.Tick.Length > 0 {
				c.StrokeLine2(rule, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
			}
		}
	}
	bars, groups := 0, 0
	for i := range m.Layers {
		if m.Layers[i].Kind == BarLayer {
			groups++
		}
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		switch l.Kind {
		case HeatLayer, ImageLayer:
			m.matrix(c, l, x, y)
		case HistogramLayer:
			for k, n := range l.Y {
				if there(l.X[k], m.LogX) && there(l.X[k+1], m.LogX) && there(n, m.LogY) {
					m.bar(c, i, x(l.X[k]), x(l.X[k+1]), y(max(0, p.Y.Min)), y(n), m.histograms() > 1)
				}
			}
		case BarLayer:
			wide := .8 / float64(groups)
			left, space := -.4+wide*float64(bars), l.spacing()
			for k, v := range l.Y {
				if !there(l.X[k], m.LogX) || !there(v, m.LogY) {
					continue
				}
				x0, x1 := x(l.X[k]), x(l.X[k])
				if m.LogX { // there is no width on such an axis
					x0, x1 = x0-3, x1+3
				} else {
					x0, x1 = x(l.X[k]+left*space), x(l.X[k]+(left+wide*.95)*space)
				}
				ground := p.Y.Min
				if !m.LogY {
					ground = min(max(0, p.Y.Min), p.Y.Max)
				}
				m.bar(c, i, x0, x1, y(ground), y(v), false)
			}
			bars++
		default:
			m.points(c, i, x, y)
		}
	}
	frame := vgdraw.LineStyle{Color: color.Black, Width: .5}
	if g := m.grid(); g != nil && g.Kind == HeatLayer {
		c.StrokeLines(frame, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min})
	}
	if groups > 0 && p.Y.Min < 0 && p.Y.Max > 0 && !m.LogY {
		c.StrokeLine2(frame, c.Min.X, y(0), c.Max.X, y(0))
	}
	m.drawLegend(c)
}

func (f *Field) histograms() int {
	n := 0
	for i := range f.Layers {
		if f.Layers[i].Kind == HistogramLayer {
			n++
		}
	}
	return n
}

const noData = "no data: no point has numbers for both axes"

var ruleColor = color.RGBA{225, 225, 225, 255}

// GlyphBoxes reserves the room of the colour bar.
func (m *marks) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	if g := m.grid(); g != nil && g.Kind == HeatLayer {
		return []plot.GlyphBox{{X: 1, Y: .5, Rectangle: vg.Rectangle{Max: vg.Point{X: barRoom}}}}
	}
	return nil
}

const barRoom = 22 * vg.Millimeter

// bar is a rectangle; through bars that lie over others these are seen.
func (m *marks) bar(c vgdraw.Canvas, i int, x0, x1, y0, y1 vg.Length, through bool) {
	r, g, b, _ := m.style(i).Color.RGBA()
	fill := color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
	if through {
		fill.A = 140
	}
	c.FillPolygon(fill, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
	if m.Layers[i].Kind == HistogramLayer && x1-x0 > 3 {
		c.StrokeLines(vgdraw.LineStyle{Color: color.White, Width: .5}, []vg.Point{{X: x0, Y: y0}, {X: x0, Y: y1}, {X: x1, Y: y1}, {X: x1, Y: y0}})
	}
}

// resolution is how many places there are along a point: marks nearer to each other are one.
const resolution = 2

// points draws a line or discs.
func (m *marks) points(c vgdraw.Canvas, i int, x, y func(float64) vg.Length) {
	l := &m.Layers[i]
	at := func(k int) (vg.Point, bool) {
		if !there(l.X[k], m.LogX) || !there(l.Y[k], m.LogY) {
			return vg.Point{}, false
		}
		return vg.Point{X: x(l.X[k]), Y: y(m.up(l.Y[k]))}, true
	}
	if l.Kind == LineLayer {
		for _, run := range thinned(len(l.Y), at) {
			if len(run) == 1 { // between two gaps
				c.DrawGlyph(vgdraw.GlyphStyle{Color: m.style(i).Color, Radius: 1.2, Shape: vgdraw.CircleGlyph{}}, run[0])
				continue
			}
			c.StrokeLines(m.style(i), run)
		}
		return
	}
	seen := map[[2]int32]bool{}
	var discs []vg.Point
	for k := range l.Y {
		if q, ok := at(k); ok {
			place := [2]int32{int32(q.X * resolution), int32(q.Y * resolution)}
			if !seen[place] {
				seen[place] = true
				discs = append(discs, q)
			}
		}
	}
	style := m.glyph(i)
	if len(discs) > mostDiscs {
		stamp(c, discs, style)
		return
	}
	for _, q := range discs {
		c.DrawGlyph(style, q)
	}
}

// thinned is the runs of n points between gaps, without those that colour no pixel of their own.
func thinned(n int, at func(int) (vg.Point, bool)) [][]vg.Point {
	var runs [][]vg.Point
	var run, group []vg.Point // group: first, least, greatest, last; least and greatest by index
	column, low, high := 0, 0, 0
	flush := func() {
		if len(group) == 0 {
			return
		}
		last := len(group) - 1
		a, b := min(low, high), max(low, high)
		for k, index := range []int{0, a, b, last} {
			if k == 0 || index != []int{0, 0, a, b}[k] {
				run = append(run, group[index])
			}
		}
		group, low, high = group[:0], 0, 0
	}
	end := func() {
		flush()
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	for k := range n {
		q, ok := at(k)
		if !ok {
			end()
			continue
		}
		if here := int(math.Floor(float64(q.X) * resolution)); len(group) == 0 || here != column {
			flush()
			column = here
		}
		group = append(group, q)
		if q.Y < group[low].Y {
			low = len(group) - 1
		}
		if q.Y > group[high].Y {
			high = len(group) - 1
		}
	}
	end()
	return runs
}

// stamp draws many marks as discs in one image of three dots a point: their shapes are lost, their
// colour stays.
func stamp(c vgdraw.Canvas, discs []vg.Point, style vgdraw.GlyphStyle) {
	const dots = 3
	wide, high := int((c.Max.X-c.Min.X)*dots)+1, int((c.Max.Y-c.Min.Y)*dots)+1
	img := image.NewNRGBA(image.Rect(0, 0, wide, high))
	ink := image.NewUniform(style.Color)
	r := int(math.Round(float64(style.Radius) * dots))
	for _, q := range discs {
		x, y := int(float64(q.X-c.Min.X)*dots), high-1-int(float64(q.Y-c.Min.Y)*dots)
		for dy := -r; dy <= r; dy++ {
			half := int(math.Sqrt(float64(r*r - dy*dy)))
			draw.Draw(img, image.Rect(x-half, y+dy, x+half+1, y+dy+1), ink, image.Point{}, draw.Src)
		}
	}
	c.DrawImage(vg.Rectangle{Min: c.Min, Max: vg.Point{X: c.Min.X + vg.Length(wide)/dots, Y: c.Min.Y + vg.Length(high)/dots}}, img)
}

// matrix draws a heat map over the whole field, an image as large as its sides allow.
func (m *marks) matrix(c vgdraw.Canvas, l *Layer, x, y func(float64) vg.Length) {
	small := l.cells(mostCells, mostCells)
	box := vg.Rectangle{Min: vg.Point{X: x(-.5), Y: y(.5 - float64(l.Rows))}, Max: vg.Point{X: x(float64(l.Cols) - .5), Y: y(.5)}}
	if l.Kind == ImageLayer {
		cell := min((box.Max.X-box.Min.X)/vg.Length(l.Cols), (box.Max.Y-box.Min.Y)/vg.Length(l.Rows))
		dx, dy := (box.Max.X-box.Min.X-cell*vg.Length(l.Cols))/2, (box.Max.Y-box.Min.Y-cell*vg.Length(l.Rows))/2
		box.Min.X, box.Max.X, box.Min.Y, box.Max.Y = box.Min.X+dx, box.Max.X-dx, box.Min.Y+dy, box.Max.Y-dy
		c.DrawImage(box, enlarged(small.pixels()))
		return
	}
	c.DrawImage(box, enlarged(small.pixels()))
	bar := &Layer{Rows: 256, Cols: 1, Z: make([]float64, 256), Map: l.Map, Range: [2]float64{0, 255}}
	for k := range bar.Z {
		bar.Z[k] = float64(255 - k)
	}
	x0 := c.Max.X + 4*vg.Millimeter
	side := vg.Rectangle{Min: vg.Point{X: x0, Y: c.Min.Y}, Max: vg.Point{X: x0 + 4*vg.Millimeter, Y: c.Max.Y}}
	c.DrawImage(side, bar.pixels())
	frame := vgdraw.LineStyle{Color: color.Black, Width: .5}
	c.StrokeLines(frame, []vg.Point{side.Min, {X: side.Max.X, Y: side.Min.Y}, side.Max, {X: side.Min.X, Y: side.Max.Y}, side.Min})
	style := titleStyle()
	style.Font, style.XAlign, style.YAlign = sans(tickSize), vgdraw.XLeft, vgdraw.YCenter
	lo, hi := l.extent()
	for _, t := range (ticks{false, 5}).Ticks(lo, hi) {
		at := side.Min.Y + vg.Length((t.Value-lo)/(hi-lo))*(side.Max.Y-side.Min.Y)
		c.StrokeLine2(frame, side.Max.X, at, side.Max.X+2, at)
		c.FillText(style, vg.Point{X: side.Max.X + 4, Y: at}, t.Label)
	}
}

// enlarged is a small image with squares for pixels: canvases and viewers smooth what they enlarge.
func enlarged(img *image.NRGBA) *image.NRGBA {
	wide, high := img.Rect.Dx(), img.Rect.Dy()
	scale := mostCells / max(wide, high, 1)
	if scale < 2 {
		return img
	}
	out := image.NewNRGBA(image.Rect(0, 0, wide*scale, high*scale))
	for y := range high * scale {
		for x := range wide * scale {
			out.SetNRGBA(x, y, img.NRGBAAt(x/scale, y/scale))
		}
	}
	return out
}
