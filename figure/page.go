package figure

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// This file defines Page: panels in rows and columns under a title, their axes in line, with a
// legend beside them.

// Page is a drawing that is ready to be written. Some places of the grid may be nil.
type Page struct {
	title         string
	panels        [][]*plot.Plot
	legend        *plot.Legend // nil: none
	legendWidth   vg.Length
	width, height vg.Length
	room          vg.Length // above each panel, for captions and legends; 0: captionRoom
	dpi           int       // of a PNG; 0: dotsPerInch
}

// captionRoom is the room above a panel for its caption.
const captionRoom = 7 * vg.Millimeter

// Formats are the endings of files that a page can be written to.
var Formats = []string{"svg", "png"}

// Format is the format for a file by its ending; ok is false if there is none.
func Format(file string) (format string, ok bool) {
	format = strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	return format, format == "svg" || format == "png"
}

// dotsPerInch of a PNG.
const dotsPerInch = 120

// titleStyle is how the title is written.
func titleStyle() text.Style {
	s := plot.New().Title.TextStyle
	s.Font, s.XAlign = sans(titleSize), draw.XLeft
	return s
}

// Write writes the page in one of Formats.
func (p *Page) Write(w io.Writer, format string) error {
	// A fifth of room: a viewer that has none of the fonts writes an SVG in a wider one (DejaVu Sans).
	p.width = max(p.width, titleStyle().Width(p.title)*6/5+2*margin)
	if format == "svg" {
		c := vgsvg.New(p.width, p.height)
		p.draw(draw.New(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		// The font is as wide as these, which are there where it is not.
		text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
		// An image fills its rectangle; vgsvg calls it a JPEG.
		text = bytes.ReplaceAll(text, []byte("<image "), []byte(`<image preserveAspectRatio="none" style="image-rendering:pixelated" `))
		text = bytes.ReplaceAll(text, []byte("data:image/jpg;"), []byte("data:image/png;"))
		_, err := w.Write(svgText.ReplaceAllFunc(text, withLength))
		return err
	}
	if format != "png" {
		return fmt.Errorf("BUG: a figure in format %q", format)
	}
	if p.dpi == 0 {
		p.dpi = dotsPerInch
	}
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(p.dpi), vgimg.UseBackgroundColor(color.White))
	p.draw(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// svgText is a text as vgsvg writes it: attributes, size, and what it says.
var svgText = regexp.MustCompile(`<text ([^>]*font-size:([0-9.]+)px)">([^<]*)</text>`)

// withLength says how long a text is, which a viewer without the font then makes it: labels stand
// clear of each other in any font.
func withLength(text []byte) []byte {
	m := svgText.FindSubmatch(text)
	size, err := strconv.ParseFloat(string(m[2]), 64)
	s := strings.TrimSpace(html.UnescapeString(string(m[3]))) // as viewers do
	if err != nil || s == "" {
		return text
	}
	style := titleStyle()
	style.Font = sans(size)
	return fmt.Appendf(nil, `<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s">%s</text>`, style.Width(s).Points(), m[1], m[3])
}

const (
	margin    = 4 * vg.Millimeter
	titleSize = 12 // points
	labelSize = 10
	tickSize  = 8
)

func sans(size float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size))
}

func (p *Page) draw(c draw.Canvas) {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if p.title != "" {
		c.FillText(titleStyle(), vg.Point{X: c.Min.X, Y: c.Max.Y}, p.title)
		c = draw.Crop(c, 0, 0, 0, -2*titleSize)
	}
	if p.legend != nil {
		p.legend.Top, p.legend.Left = true, true
		p.legend.TextStyle.Font = sans(tickSize)
		p.legend.ThumbnailWidth, p.legend.Padding = 7*vg.Millimeter, 1*vg.Millimeter
		at := c
		at.Min.X = at.Max.X - p.legendWidth
		p.legend.Draw(at)
		c = draw.Crop(c, 0, -p.legendWidth-margin, 0, 0)
	}
	room := max(p.room, captionRoom)
	c = draw.Crop(c, 0, 0, 0, -room)
	tiles := draw.Tiles{Rows: len(p.panels), Cols: len(p.panels[0]), PadX: 4 * vg.Millimeter, PadY: room + 2*vg.Millimeter}
	for i, row := range plot.Align(p.panels, tiles, c) {
		for j, at := range row {
			if p.panels[i][j] != nil {
				p.panels[i][j].Draw(at)
			}
		}
	}
}

// panel is an empty plot in our style.
func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Add(&caption{title})
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(labelSize)
		a.Tick.Label.Font = sans(tickSize)
		a.Padding = 0
		a.Tick.LineStyle.Width, a.LineStyle.Width = .5, .5
		a.Tick.Length = 3
	}
	return p
}

// caption is the title of a panel, right above its field. A plot's own title stands above its axes'
// labels too, and so not in line with those of its neighbours.
type caption struct{ text string }

// Plot draws it.
func (t *caption) Plot(c draw.Canvas, p *plot.Plot) {
	style := p.Title.TextStyle
	style.Font, style.XAlign, style.YAlign = sans(labelSize), draw.XLeft, draw.YBottom
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y + 3}, t.text)
}

// grid arranges panels in rows of so many columns.
func grid(panels []*plot.Plot, columns int) [][]*plot.Plot {
	var out [][]*plot.Plot
	for len(panels) > 0 {
		row := make([]*plot.Plot, columns)
		n := copy(row, panels)
		panels = panels[n:]
		out = append(out, row)
	}
	return out
}

// palette is the colours of Okabe and Ito (2008), which people with any colour vision tell apart;
// yellow is left out as too light on white.
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
	color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{70, 70, 70, 255},
}

// dashes tell lines of one colour apart.
var dashes = [][]vg.Length{nil, {4, 2}, {1, 2}, {6, 2, 1, 2}, {8, 3}}

func lineStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: 1.3, Dashes: dashes[i/len(palette)%len(dashes)]}
}

var gray = color.RGBA{150, 150, 150, 255}

// unit is the unit in which times up to the largest are written, and how many of it are a second.
func unit(largest float64) (name string, perSecond float64) {
	switch {
	case largest >= 1:
		return "s", 1
	case largest >= 1e-3:
		return "ms", 1e3
	case largest >= 1e-6:
		return "us", 1e6
	}
	return "ns", 1e9
}

// counts are ticks at whole numbers of a logarithmic axis: powers of the base, thinned out so that
// they fit.
type counts struct{ base float64 }

// Ticks are the ticks between two positive numbers.
func (k counts) Ticks(lo, hi float64) []plot.Tick {
	from, to := math.Ceil(math.Log(lo)/math.Log(k.base)-1e-9), math.Floor(math.Log(hi)/math.Log(k.base)+1e-9)
	step := max(1, math.Ceil((to-from)/6))
	if k.base == 2 {
		step = max(1, math.Ceil((to-from)/11))
	}
	var out []plot.Tick
	for e := from; e <= to; e++ {
		v := math.Pow(k.base, e)
		t := plot.Tick{Value: v}
		if math.Mod(e-from, step) == 0 {
			t.Label = number(v)
		}
		out = append(out, t)
	}
	return out
}

// number is a power as people write it.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g", v)
	case v >= 1:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// every is ticks at round numbers, about so many.
type every struct{ about int }

// Ticks are the ticks from lo to hi.
func (k every) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: fmt.Sprintf("%.6g", lo)}}
	}
	raw := (hi - lo) / float64(k.about)
	ten := math.Pow(10, math.Floor(math.Log10(raw)))
	step := ten
	for _, f := range []float64{1, 2, 5, 10} {
		if step = f * ten; step >= raw {
			break
		}
	}
	var out []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi*(1+1e-9); i++ {
		v := i*step + 0 // no -0
		out = append(out, plot.Tick{Value: v, Label: fmt.Sprintf("%.6g", v)})
	}
	return out
}

// whole is every at whole numbers only.
type whole struct{ about int }

// Ticks are the ticks from lo, a whole number, to hi.
func (k whole) Ticks(lo, hi float64) []plot.Tick {
	hi = math.Floor(hi)
	return every{min(k.about, max(1, int(hi-lo)))}.Ticks(lo, hi)
}
