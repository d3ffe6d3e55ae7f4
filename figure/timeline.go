package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws what each worker did over time.

// Span is a chunk: it was asked for, then executed. Times are seconds from the loop's start.
type Span struct {
	Worker            int
	Asked, Start, End float64
	Stolen            bool
}

// Timeline is one execution of a loop.
type Timeline struct {
	Title   string
	Workers int
	End     float64
	Spans   []Span // of each worker in order of time
}

// The colours of a timeline. Neighbouring chunks differ, so that their borders are seen.
var (
	chunkColors  = [2]color.Color{color.RGBA{0, 114, 178, 255}, color.RGBA{86, 180, 233, 255}}
	stolenColors = [2]color.Color{color.RGBA{0, 158, 115, 255}, color.RGBA{120, 200, 170, 255}}
	claimColor   = color.RGBA{213, 94, 0, 255}
)

// Timelines draws a panel for each, all on one scale of time.
func Timelines(title string, list []Timeline) *Page {
	columns := min(3, len(list))
	end := 0.0
	rows := 1
	for _, t := range list {
		end = max(end, t.End)
		rows = max(rows, t.Workers)
	}
	name, scale := unit(end)
	var panels []*plot.Plot
	for i, t := range list {
		x, y := "", ""
		if i >= len(list)-columns {
			x = "time (" + name + ")"
		}
		if i%columns == 0 {
			y = "worker"
		}
		p := panel(fmt.Sprintf("%s: %.4g %s", t.Title, t.End*scale, name), x, y)
		p.Add(&timeline{t, scale})
		p.X.Min, p.X.Max = 0, max(end*scale*1.01, 1e-300)
		p.Y.Min, p.Y.Max = -.5, float64(max(t.Workers, 1))-.5
		p.X.Tick.Marker = every{5}
		p.Y.Tick.Marker = workers{t.Workers}
		panels = append(panels, p)
	}
	g := grid(panels, columns)
	l := plot.NewLegend()
	l.Add("chunk", swatch{chunkColors[0]})
	l.Add("next chunk", swatch{chunkColors[1]})
	l.Add("stolen chunk", swatch{stolenColors[0]})
	l.Add("claiming", swatch{claimColor})
	l.Add("idle", swatch{lightGray})
	high := min(max(3.2*vg.Centimeter, vg.Length(rows)*4*vg.Millimeter+2.2*vg.Centimeter), 10*vg.Centimeter)
	return &Page{title: title, panels: g, legend: &l, legendWidth: 30 * vg.Millimeter,
		width: vg.Length(columns)*7*vg.Centimeter + 4*vg.Centimeter, height: max(vg.Length(len(g))*high+1.5*vg.Centimeter, 5*vg.Centimeter)}
}

// workers is ticks at some of the workers, from the first.
type workers struct{ n int }

// Ticks are at whole numbers; which ones depends on how many there are.
func (k workers) Ticks(float64, float64) []plot.Tick {
	step := 1
	for k.n/step > 16 {
		step *= 2
	}
	var out []plot.Tick
	for i := 0; i < k.n; i += step {
		out = append(out, plot.Tick{Value: float64(i), Label: fmt.Sprint(i)})
	}
	return out
}

// timeline draws a panel.
type timeline struct {
	Timeline
	scale float64
}

// Plot draws each worker's row. Chunks too thin to be seen are drawn together up to the width of a
// hair, with their claims lost in it.
func (t *timeline) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	box := func(worker int, from, to float64, high float64, fill color.Color) {
		lo, hi := y(float64(worker)-high), y(float64(worker)+high)
		c.FillPolygon(fill, []vg.Point{{X: x(from * t.scale), Y: lo}, {X: x(to * t.scale), Y: lo}, {X: x(to * t.scale), Y: hi}, {X: x(from * t.scale), Y: hi}})
	}
	for w := range t.Workers {
		box(w, 0, t.End, .4, lightGray)
	}
	hair := float64(.3*vg.Millimeter/max(x(1)-x(0), 1e-9)) / t.scale
	type open struct {
		from, to    float64
		shade       int
		own, stolen float64 // seconds
		any         bool
	}
	rows := make([]open, t.Workers)
	flush := func(w int) {
		r := &rows[w]
		if r.any {
			colors := chunkColors
			if r.stolen > r.own {
				colors = stolenColors
			}
			box(w, r.from, r.to, .4, colors[r.shade])
			*r = open{shade: 1 - r.shade}
		}
	}
	for _, s := range t.Spans {
		r := &rows[s.Worker]
		if r.any && (r.to-r.from > hair || s.Start-r.to > hair) {
			flush(s.Worker)
		}
		if s.Start-s.Asked > hair {
			box(s.Worker, s.Asked, s.Start, .4, claimColor)
		}
		if !r.any {
			r.from, r.any = s.Start, true
		}
		if s.Stolen {
			r.stolen += s.End - s.Start
		} else {
			r.own += s.End - s.Start
		}
		r.to = s.End
	}
	for w := range rows {
		flush(w)
	}
}
