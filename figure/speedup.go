package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws how techniques scale: speedup and percent of ideal over the number of workers or ranks.

// Scaling is one technique over the numbers of a figure.
type Scaling struct {
	Name             string
	Speedup, Percent []float64
}

// Speedups draws both panels over numbers of what, ascending. Bound is the speedup of the ideal for each.
func Speedups(title, what string, numbers []int, bound []float64, list []Scaling) *Page {
	lo, hi := float64(numbers[0]), float64(numbers[len(numbers)-1])
	if lo == hi {
		hi = lo * 2
	}
	left := panel("speedup", what, "serial time / time")
	right := panel("percent of ideal", what, "%")
	top, least := 1.0, 100.0
	xy := func(v []float64) plotter.XYs {
		var out plotter.XYs
		for i, y := range v {
			out = append(out, plotter.XY{X: float64(numbers[i]), Y: y})
		}
		return out
	}
	legend := plot.NewLegend()
	ideal := &stroke{xy(bound), draw.LineStyle{Color: gray, Width: 2.5}}
	left.Add(ideal)
	legend.Add("ideal", ideal)
	bottom := math.Inf(1)
	for i, s := range list {
		line := &stroke{xy(s.Speedup), lineStyle(i)}
		left.Add(line)
		right.Add(&stroke{xy(s.Percent), lineStyle(i)})
		legend.Add(s.Name, line)
		for k := range s.Speedup {
			bottom = min(bottom, s.Speedup[k])
			least = min(least, s.Percent[k])
		}
	}
	for _, b := range bound {
		top = max(top, b)
	}
	for _, p := range []*plot.Plot{left, right} {
		p.X.Min, p.X.Max, p.X.Scale, p.X.Tick.Marker = lo, hi, plot.LogScale{}, counts{2}
		p.Add(plotter.NewGrid())
	}
	left.Y.Min, left.Y.Max, left.Y.Scale, left.Y.Tick.Marker = max(min(bottom, 1), 1e-3), top*1.1, plot.LogScale{}, counts{2}
	right.Y.Min, right.Y.Max, right.Y.Tick.Marker = math.Floor(least/10)*10, 101, every{10}
	height := max(9*vg.Centimeter, vg.Length(len(list)+1)*4.2*vg.Millimeter+2*vg.Centimeter)
	return &Page{title: title, panels: [][]*plot.Plot{{left, right}}, legend: &legend, legendWidth: 36 * vg.Millimeter, width: 25 * vg.Centimeter, height: height}
}
