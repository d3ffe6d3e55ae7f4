package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file lays a Picture out as a Page: a panel a field, with axes, ticks and a legend.

// Size is the size of a page in pixels of 1/96 inch; 0 means the default.
type Size struct{ Width, Height int }

const pixel = vg.Inch / 96

// Draw is the picture as a page: 760 pixels wide for one field, 460 a field for several side by side.
func (p *Picture) Draw(size Size) *Page {
	columns := p.columns()
	page := &Page{title: p.Title, room: 7 * vg.Millimeter}
	var panels []*plot.Plot
	for i := range p.Fields {
		panels = append(panels, p.Fields[i].panel())
	}
	width := vg.Length(760) * pixel
	if columns > 1 {
		width = vg.Length(460*columns) * pixel
	}
	if size.Width > 0 {
		width = vg.Length(size.Width) * pixel
	}
	field := width/vg.Length(columns) - 2*margin
	rows := 0
	for i := range p.Fields {
		rows = max(rows, len(legendRows(p.Fields[i].legend(), field-40)))
	}
	page.room += vg.Length(rows) * legendRow
	page.panels = grid(panels, columns)
	page.width = width
	if page.height = vg.Length(len(page.panels)) * (page.room + 270); size.Height > 0 {
		page.height = vg.Length(size.Height) * pixel
	}
	if page.title != "" && size.Height == 0 {
		page.height += 2 * titleSize
	}
	return page
}

// columns is how many fields stand side by side.
func (p *Picture) columns() int {
	n := p.Columns
	if n < 1 {
		n = int(math.Ceil(math.Sqrt(float64(len(p.Fields)))))
	}
	return max(1, min(n, len(p.Fields)))
}

// panel is the field as a plot.
func (f *Field) panel() *plot.Plot {
	p := panel("", f.XLabel, f.YLabel) // marks draws the title: above the legend
	x, y, ok := f.limits()
	if f.LogX {
		p.X.Scale = plot.LogScale{}
	}
	if f.LogY {
		p.Y.Scale = plot.LogScale{}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{f.LogX, 7}, ticks{f.LogY, 6}
	if g := f.grid(); g != nil {
		p.Y.Tick.Marker, p.X.Tick.Marker = downward{}, whole{8}
		if g.Kind == ImageLayer {
			p.HideAxes()
		}
	}
	for i := range f.Layers {
		if l := &f.Layers[i]; len(l.Names) > 0 {
			p.X.Tick.Marker, p.X.Tick.Length = l.named(), 0
		}
	}
	p.Add(&marks{f})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x[0], x[1], y[0], y[1]
	if !ok {
		p.HideAxes()
	}
	return p
}

// named is the names of bars below them.
func (l *Layer) named() plot.ConstantTicks {
	var t plot.ConstantTicks
	for k, s := range l.Names {
		if k < len(l.X) {
			t = append(t, plot.Tick{Value: l.X[k], Label: s})
		}
	}
	return t
}

// ticks are round numbers on an axis, about so many.
type ticks struct {
	log   bool
	about int
}

// Ticks are the ticks from lo to hi.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	if t.log {
		if out := (counts{10}).Ticks(lo, hi); len(out) > 1 {
			for i := range out {
				if out[i].Label != "" {
					out[i].Label = shortest(out[i].Value)
				}
			}
			return out
		}
	}
	out := every{t.about}.Ticks(lo, hi)
	if len(out) < 2 {
		return out
	}
	// As many digits as tell neighbours apart.
	step := math.Abs(out[1].Value - out[0].Value)
	digits := 6
	if largest := max(math.Abs(lo), math.Abs(hi)); step > 0 {
		digits = min(17, max(6, int(math.Ceil(math.Log10(largest/step)))+1))
	}
	for i := range out {
		out[i].Label = strconv.FormatFloat(out[i].Value, 'g', digits, 64)
		if out[i].Value == 0 {
			out[i].Label = "0"
		}
	}
	return out
}

// shortest is a power of ten as people write it.
func shortest(v float64) string {
	if v >= 1e-4 && v < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprintf("%.0e", v)
}

// downward are ticks at rows of a matrix: row i lies at -i.
type downward struct{}

// Ticks are the ticks from lo to hi.
func (downward) Ticks(lo, hi float64) []plot.Tick {
	out := whole{8}.Ticks(0, -lo)
	for i := range out {
		out[i].Value = -out[i].Value
	}
	return out
}

// A legend is a row of entries above its field, or several where one is too short.
const (
	legendRow  = 5 * vg.Millimeter
	swatchWide = 7 * vg.Millimeter
	legendGap  = 5 * vg.Millimeter
)

// entry is one label in a legend, and the place of its layer in the field.
type entry struct {
	label string
	layer int
}

func (f *Field) legend() []entry {
	var out []entry
	for i := range f.Layers {
		if l := &f.Layers[i]; l.Label != "" && l.Kind != HeatLayer && l.Kind != ImageLayer {
			out = append(out, entry{l.Label, i})
		}
	}
	return out
}

func legendRows(list []entry, width vg.Length) [][]entry {
	style := titleStyle()
	style.Font = sans(tickSize)
	var rows [][]entry
	at := vg.Length(0)
	for _, e := range list {
		w := swatchWide + 3 + style.Width(e.label) + legendGap
		if len(rows) == 0 || at+w > width {
			rows, at = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		at += w
	}
	return rows
}

// drawLegend draws the title and, below it, the rows of the legend, the last right above the field.
func (f *Field) drawLegend(c draw.Canvas) {
	style := titleStyle()
	style.Font, style.XAlign, style.YAlign = sans(tickSize), draw.XLeft, draw.YCenter
	rows := legendRows(f.legend(), c.Max.X-c.Min.X)
	title := style
	title.Font, title.YAlign = sans(labelSize), draw.YBottom
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y + 3 + legendRow*vg.Length(len(rows))}, f.Title)
	for k, row := range rows {
		y := c.Max.Y + 3 + legendRow*(vg.Length(len(rows)-1-k)+.5)
		x := c.Min.X
		for _, e := range row {
			s := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - 3}, Max: vg.Point{X: x + swatchWide, Y: y + 3}}}
			f.swatch(s, e.layer)
			c.FillText(style, vg.Point{X: x + swatchWide + 3, Y: y}, e.label)
			x += swatchWide + 3 + style.Width(e.label) + legendGap
		}
	}
}

// swatch draws what a layer looks like.
func (f *Field) swatch(c draw.Canvas, i int) {
	switch f.Layers[i].Kind {
	case LineLayer:
		c.StrokeLine2(f.style(i), c.Min.X, (c.Min.Y+c.Max.Y)/2, c.Max.X, (c.Min.Y+c.Max.Y)/2)
	case PointLayer:
		c.DrawGlyph(f.glyph(i), vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y + c.Max.Y) / 2})
	default:
		swatch{f.style(i).Color}.Thumbnail(&c)
	}
}

// style is the line style of layer i: layers have colours in order, matrices none.
func (f *Field) style(i int) draw.LineStyle {
	n := 0
	for k := range i {
		if kind := f.Layers[k].Kind; kind != HeatLayer && kind != ImageLayer {
			n++
		}
	}
	return lineStyle(n)
}

// glyph is the mark of layer i: its shape tells layers apart where its colour does not.
func (f *Field) glyph(i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}}
	n := 0
	for k := range i {
		if f.Layers[k].Kind == PointLayer {
			n++
		}
	}
	radius := vg.Length(2)
	if len(f.Layers[i].X) > 2000 {
		radius = 1.2
	}
	return draw.GlyphStyle{Color: f.style(i).Color, Radius: radius, Shape: shapes[n%len(shapes)]}
}
