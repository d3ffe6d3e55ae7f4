package figure

import "math"

// This file defines Picture: what a program draws, as data. Draw (SVG, PNG, HTML) and Text (a terminal)
// make marks of it.

// Kind says how the data of a layer become marks.
type Kind uint8

// The kinds of layers.
const (
	LineLayer      Kind = iota // X, Y: points joined in their order
	PointLayer                 // X, Y: a disc a point
	BarLayer                   // X, Y: a bar a point, from 0 to Y
	HistogramLayer             // X: the n + 1 edges of bins, Y: their n counts
	HeatLayer                  // Z: Rows x Cols, by a colour map, with axes and a colour bar
	ImageLayer                 // Z: Rows x Cols once (colour map) or three times (red, green, blue); no axes
)

// Layer is data of one kind. PointLayer with a coordinate that is missing are not drawn: see there.
type Layer struct {
	Kind       Kind
	Label      string   // in the legend; "" for none
	Names      []string // of BarLayer: below the axis, in place of numbers
	X, Y, Z    []float64
	Rows, Cols int        // of Z, row by row
	Map        string     // colour map of Z: one of Maps
	Range      [2]float64 // the values at both ends of the colour map; NaN: as the data
}

// Field is a pair of axes with layers on top of each other, the first below.
type Field struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	Layers                []Layer
}

// Picture is fields in rows of Columns; 0 means as many columns as look well.
type Picture struct {
	Title   string
	Columns int
	Fields  []Field
}

// mostDrawn is the largest magnitude that is drawn: the difference of two such numbers is finite.
const mostDrawn = 1e300

// there reports a coordinate that has a place on an axis: nan, infinities, magnitudes above
// mostDrawn and, on a logarithmic axis, what is not positive have none. A line has a gap there.
func there(v float64, log bool) bool {
	return math.Abs(v) <= mostDrawn && (!log || v > 1/mostDrawn)
}

// Bins counts finite numbers in n bins of equal width from the least to the greatest. A number on an
// inner edge counts to the right. n < 1 means 2 cbrt(count) bins (the Rice rule), at most 200.
func Bins(data []float64, n int) (edges, counts []float64) {
	lo, hi, count := math.Inf(1), math.Inf(-1), 0
	for _, v := range data {
		if there(v, false) {
			lo, hi, count = min(lo, v), max(hi, v), count+1
		}
	}
	if count == 0 {
		return []float64{0, 1}, []float64{0}
	}
	if n < 1 {
		n = min(200, int(math.Ceil(2*math.Cbrt(float64(count))-1e-9)))
	}
	if !(hi > lo) { // one bin's width around the only value
		half := max(.5, math.Abs(lo)*1e-6)
		lo, hi = lo-half, hi+half
	}
	edges, counts = make([]float64, n+1), make([]float64, n)
	for i := range edges {
		edges[i] = lo + (hi-lo)*(float64(i)/float64(n))
	}
	edges[n] = hi
	for _, v := range data {
		if !there(v, false) {
			continue
		}
		k := min(n-1, max(0, int(float64(n)*((v-lo)/(hi-lo)))))
		for k > 0 && v < edges[k] { // the quotient is rounded; the edges decide
			k--
		}
		for k < n-1 && v >= edges[k+1] {
			k++
		}
		counts[k]++
	}
	return edges, counts
}

// Overlay puts the layers of all pictures into one field, in order. The first title and labels that
// are not empty hold; an axis is logarithmic if it is in any. ok is false, and at the picture that
// is to blame, where a picture has several fields.
func Overlay(list []*Picture) (p *Picture, at int, ok bool) {
	out := Field{}
	for i, q := range list {
		if len(q.Fields) != 1 {
			return nil, i, false
		}
		f := q.Fields[0]
		out.Title, out.XLabel, out.YLabel = either(out.Title, f.Title), either(out.XLabel, f.XLabel), either(out.YLabel, f.YLabel)
		out.LogX, out.LogY = out.LogX || f.LogX, out.LogY || f.LogY
		out.Layers = append(out.Layers, f.Layers...)
	}
	return &Picture{Fields: []Field{out}}, 0, true
}

// Beside puts the fields of all pictures beside and below each other.
func Beside(list []*Picture, columns int) *Picture {
	p := &Picture{Columns: columns}
	for _, q := range list {
		p.Fields = append(p.Fields, q.Fields...)
	}
	return p
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// limits is the range of both axes. ok is false where no mark has a place.
func (f *Field) limits() (x, y [2]float64, ok bool) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	flat := func(r *[2]float64, v float64) { r[0], r[1] = min(r[0], v), max(r[1], v) }
	room, grounded := true, false
	for i := range f.Layers {
		l := &f.Layers[i]
		switch l.Kind {
		case HeatLayer, ImageLayer:
			flat(&x, -.5)
			flat(&x, float64(l.Cols)-.5)
			flat(&y, .5)
			flat(&y, .5-float64(l.Rows))
			room = false
		case HistogramLayer:
			for k, n := range l.Y {
				if there(l.X[k], f.LogX) && there(l.X[k+1], f.LogX) && there(n, f.LogY) {
					flat(&x, l.X[k])
					flat(&x, l.X[k+1])
					flat(&y, n)
				}
			}
			grounded = true
		case BarLayer:
			half := l.spacing() / 2
			for k, v := range l.Y {
				if there(l.X[k], f.LogX) && there(v, f.LogY) {
					if !f.LogX {
						flat(&x, l.X[k]-half)
						flat(&x, l.X[k]+half)
					}
					flat(&x, l.X[k])
					flat(&y, v)
				}
			}
			grounded = true
		default:
			for k, v := range l.Y {
				if there(l.X[k], f.LogX) && there(v, f.LogY) {
					flat(&x, l.X[k])
					flat(&y, f.up(v))
				}
			}
		}
	}
	if x[0] > x[1] || y[0] > y[1] {
		return [2]float64{.1, 1}, [2]float64{.1, 1}, false
	}
	if !room {
		return x, y, true
	}
	if grounded && !f.LogY {
		flat(&y, 0)
	}
	zero := y[0] == 0 && grounded
	top := y[1] == 0 && grounded
	if grounded {
		widen(&x, f.LogX, 0)
	} else {
		widen(&x, f.LogX, .02)
	}
	widen(&y, f.LogY, .05)
	if zero && y[1] > 0 {
		y[0] = 0
	}
	if top && y[0] < 0 {
		y[1] = 0
	}
	return x, y, true
}

// widen adds a share of the range at both ends, and makes a range of a single number.
func widen(r *[2]float64, log bool, share float64) {
	if log {
		l := [2]float64{math.Log10(r[0]), math.Log10(r[1])}
		if l[1]-l[0] < 1e-9 {
			share, l = 0, [2]float64{l[0] - .5, l[1] + .5}
		}
		d := share * (l[1] - l[0])
		r[0], r[1] = math.Pow(10, l[0]-d), math.Pow(10, l[1]+d)
		return
	}
	if d := r[1] - r[0]; d > 1e-12*max(math.Abs(r[0]), math.Abs(r[1])) && d > 1e-300 {
		r[0], r[1] = r[0]-share*d, r[1]+share*d
		return
	}
	half := max(.5*math.Abs(r[0]), 1e-290)
	if r[0] == 0 {
		half = .5
	} else if math.Abs(r[0]) >= 1 {
		half = max(.5, 1e-9*math.Abs(r[0]))
	}
	r[0], r[1] = r[0]-half, r[1]+half
}

// up is where y is drawn: rows of a matrix count downward, so that y turns around in a field with one.
func (f *Field) up(y float64) float64 {
	if f.grid() != nil {
		return -y
	}
	return y
}

// grid is the field's first matrix; nil where it has none.
func (f *Field) grid() *Layer {
	for i := range f.Layers {
		if k := f.Layers[i].Kind; k == HeatLayer || k == ImageLayer {
			return &f.Layers[i]
		}
	}
	return nil
}

// spacing is the least distance of two neighbouring bars; 1 of a single one.
func (l *Layer) spacing() float64 {
	d := math.Inf(1)
	for k := 1; k < len(l.X); k++ {
		if s := math.Abs(l.X[k] - l.X[k-1]); s > 0 && s < d {
			d = s
		}
	}
	if math.IsInf(d, 1) {
		return 1
	}
	return d
}

// extent is the values at both ends of the colour map of a matrix. A diverging map has 0 in its middle.
func (l *Layer) extent() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range l.Z {
		if there(v, false) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	if l.Map == diverging {
		hi = max(hi, -lo)
		lo = -hi
	}
	if !math.IsNaN(l.Range[0]) {
		lo = l.Range[0]
	}
	if !math.IsNaN(l.Range[1]) {
		hi = l.Range[1]
	}
	if !(hi > lo) {
		hi = lo + max(1, math.Abs(lo)*1e-6)
	}
	return lo, hi
}
