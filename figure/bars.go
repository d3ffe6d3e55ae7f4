package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws times as bars with intervals: techniques beside each other, a panel for each
// layout and victim, a colour for each number of threads.

// Bar is a time with an interval; NaN is a time that is not there.
type Bar struct{ Value, Low, High float64 }

// Missing is the bar of a combination that was not measured.
var Missing = Bar{math.NaN(), math.NaN(), math.NaN()}

// BarPanel is one panel: Bars[series][name].
type BarPanel struct {
	Title string
	Bars  [][]Bar
	// Baseline is where a dashed line is drawn for each series; NaN for none.
	Baseline []float64
}

// Bars draws panels below each other, with the same names in the same order.
func Bars(title string, names, series []string, panels []BarPanel) *Page {
	top := 0.0
	for _, p := range panels {
		for _, s := range p.Bars {
			for _, b := range s {
				top = max(top, orZero(b.Value), orZero(b.High))
			}
		}
	}
	unitName, scale := unit(top)
	page := &Page{title: title, width: max(14*vg.Centimeter, vg.Length(len(names))*(.45+.2*vg.Length(len(series)))*vg.Centimeter+4*vg.Centimeter),
		height: vg.Length(len(panels))*5*vg.Centimeter + 4*vg.Centimeter}
	if len(series) > 1 {
		l := plot.NewLegend()
		page.legend, page.legendWidth = &l, 26*vg.Millimeter
		for i, name := range series {
			page.legend.Add(name, swatch{palette[i%len(palette)]})
		}
	}
	for i, b := range panels {
		p := panel(b.Title, "", "time ("+unitName+")")
		p.Add(&bars{b, scale})
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -.6, float64(len(names))-.4, 0, max(top*scale*1.05, 1e-300)
		p.Y.Tick.Marker = every{5}
		p.X.Tick.Length = 0
		ticks := make(plot.ConstantTicks, len(names))
		for k, name := range names {
			ticks[k] = plot.Tick{Value: float64(k)}
			if i == len(panels)-1 {
				ticks[k].Label = name + "  " // clear of the axis
			}
		}
		p.X.Tick.Marker = ticks
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
		page.panels = append(page.panels, []*plot.Plot{p})
	}
	return page
}

func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// swatch is a coloured field in a legend.
type swatch struct{ color color.Color }

// Thumbnail draws it.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// bars draws a panel.
type bars struct {
	BarPanel
	scale float64
}

// Plot draws grid lines, bars, intervals and baselines.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: color.RGBA{225, 225, 225, 255}, Width: .5}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
	n := float64(len(b.Bars))
	for s, list := range b.Bars {
		wide := .8 / n
		for k, v := range list {
			if math.IsNaN(v.Value) {
				continue
			}
			left := x(float64(k) - .4 + float64(s)*wide)
			right := x(float64(k) - .4 + (float64(s)+.9)*wide)
			c.FillPolygon(palette[s%len(palette)], []vg.Point{{X: left, Y: y(0)}, {X: right, Y: y(0)},
				{X: right, Y: y(v.Value * b.scale)}, {X: left, Y: y(v.Value * b.scale)}})
			mid, cap := (left+right)/2, (right-left)/4
			line := draw.LineStyle{Color: color.Black, Width: .7}
			lo, hi := y(v.Low*b.scale), y(v.High*b.scale)
			c.StrokeLine2(line, mid, lo, mid, hi)
			c.StrokeLine2(line, mid-cap, lo, mid+cap, lo)
			c.StrokeLine2(line, mid-cap, hi, mid+cap, hi)
		}
	}
	for s, v := range b.Baseline {
		if !math.IsNaN(v) {
			c.StrokeLine2(draw.LineStyle{Color: palette[s%len(palette)], Width: .8, Dashes: []vg.Length{4, 2}}, c.Min.X, y(v*b.scale), c.Max.X, y(v*b.scale))
		}
	}
}
