package figure

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws how techniques scale over the number of workers or ranks: panels that share their
// lines.

// ScalingPanel is one panel. Lines has values for each number, by line.
type ScalingPanel struct {
	Title, Unit string
	Ideal       []float64 // nil: none is drawn
	Lines       [][]float64
	Percent     bool // a linear axis that ends at 100; else both axes are logarithmic
}

// Scalings draws panels over numbers of what, ascending. names are those of the lines.
func Scalings(title, what string, numbers []int, names []string, panels []ScalingPanel) *Page {
	lo, hi := float64(numbers[0]), float64(numbers[len(numbers)-1])
	if lo == hi {
		hi = lo * 2
	}
	var ticks plot.Ticker = counts{2}
	if some := slices.ContainsFunc(numbers, func(n int) bool { return n&(n-1) != 0 }); some && len(numbers) <= 8 {
		var all plot.ConstantTicks
		for _, n := range numbers {
			all = append(all, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
		}
		ticks = all
	}
	legend := plot.NewLegend()
	row := make([]*plot.Plot, len(panels))
	for i, s := range panels {
		p := panel(s.Title, what, s.Unit)
		top, least := 1.0, math.Inf(1)
		line := func(v []float64, style draw.LineStyle) *stroke {
			var out plotter.XYs
			for k, y := range v {
				out = append(out, plotter.XY{X: float64(numbers[k]), Y: y})
				top, least = max(top, y), min(least, y)
			}
			l := &stroke{out, style}
			p.Add(l)
			return l
		}
		if s.Ideal != nil {
			ideal := line(s.Ideal, draw.LineStyle{Color: gray, Width: 2.5})
			if i == 0 {
				legend.Add("ideal", ideal)
			}
		}
		for k, v := range s.Lines {
			l := line(v, lineStyle(k))
			if i == 0 {
				legend.Add(names[k], l)
			}
		}
		p.X.Min, p.X.Max, p.X.Scale, p.X.Tick.Marker = lo, hi, plot.LogScale{}, ticks
		if p.Add(plotter.NewGrid()); s.Percent {
			p.Y.Min, p.Y.Max, p.Y.Tick.Marker = math.Floor(min(least, 100)/10)*10, max(101, math.Ceil(top/10)*10), every{10}
		} else {
			p.Y.Min, p.Y.Max, p.Y.Scale, p.Y.Tick.Marker = max(min(least, 1), 1e-3), top*1.1, plot.LogScale{}, counts{2}
		}
		row[i] = p
	}
	height := max(9*vg.Centimeter, vg.Length(len(names)+1)*4.2*vg.Millimeter+2*vg.Centimeter)
	return &Page{title: title, panels: [][]*plot.Plot{row}, legend: &legend, legendWidth: 36 * vg.Millimeter, width: 25 * vg.Centimeter, height: height}
}

// Scaling is one technique over the numbers of a figure.
type Scaling struct {
	Name             string
	Speedup, Percent []float64
}

// Speedups draws speedup and percent of ideal over numbers of what, ascending. Bound is the speedup
// of the ideal for each.
func Speedups(title, what string, numbers []int, bound []float64, list []Scaling) *Page {
	left := ScalingPanel{Title: "speedup", Unit: "serial time / time", Ideal: bound}
	right := ScalingPanel{Title: "percent of ideal", Unit: "%", Percent: true}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
		left.Lines, right.Lines = append(left.Lines, s.Speedup), append(right.Lines, s.Percent)
	}
	return Scalings(title, what, numbers, names, []ScalingPanel{left, right})
}
