package inout

// This file defines the rows that make pictures of data: plot, scatter, bar, hist, heatmap, image,
// and figure and panels, which put several into one. A picture is a scalar whose text is figure's
// code of it. Every row copies its data, so that a picture is drawn from what they were.

import (
	"math"
	"slices"
	"strings"

	"flow/figure"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// mostDrawn is the number of elements of the largest argument of a picture.
const mostDrawn = 1 << 26

// pictureRow describes a row that makes a picture of matrices.
type pictureRow struct {
	name, word, doc string
	data            []op.Arg // matrices
	attrs           []op.Arg // beside title, xlabel and ylabel
	program         string   // an example
	// layers makes layers of the data, which check has accepted.
	layers func(c *op.Call, data []*value.Dense) []figure.Layer
	// check looks at the types of the data beyond what dataType asks; nil: nothing else is asked.
	check func(s *op.Sig) error
}

func textAttr(name, doc string) op.Arg {
	return op.Arg{Name: name, Attr: true, Kind: op.StrVal, Optional: true, Doc: doc}
}

func numberAttr(name, doc string) op.Arg {
	return op.Arg{Name: name, Attr: true, Kind: op.FloatVal, Optional: true, Doc: doc}
}

// titles are the attributes of all pictures.
func titles() []op.Arg {
	return []op.Arg{textAttr("title", "above the picture"), textAttr("xlabel", "below the horizontal axis"), textAttr("ylabel", "beside the vertical axis")}
}

func logAttr() op.Arg {
	return textAttr("log", "\"x\", \"y\" or \"xy\": axes that are logarithmic; what is not positive is missing there")
}

func colorAttrs() []op.Arg {
	return []op.Arg{textAttr("colormap", "\"viridis\" unless given, or \"cividis\", \"grey\", \"diverging\" (0 in the middle)"),
		numberAttr("low", "the value at the lower end of the colour map; the least unless given"),
		numberAttr("high", "the value at its upper end; the greatest unless given")}
}

// Pictures is the rows that draw.
func Pictures() []*op.Def {
	x, y := op.Arg{Name: "x", Doc: "column or row of numbers"}, op.Arg{Name: "y", Doc: "as many numbers; a matrix: a column each"}
	curve := []op.Arg{textAttr("label", "in the legend; of several columns their labels, separated by commas"), logAttr()}
	const missing = " Missing values (nan, infinities) leave gaps."
	rows := []pictureRow{
		{name: "plot", data: []op.Arg{x, y}, attrs: curve, layers: curves(figure.LineLayer), check: curveType,
			doc:     "plot is a picture of y over x as a line, which emit draws: in the terminal, or to a file .svg, .png or .html." + missing,
			program: "x = seq(0, 10, 0.05)\nemit plot(x, sin(x), title = \"a wave\", xlabel = \"t\", label = \"sin\") to \"wave.svg\""},
		{name: "plot.y", word: "plot", data: []op.Arg{y}, attrs: curve, layers: curves(figure.LineLayer), check: curveType,
			doc:     "plot of one argument is a picture of it over 0, 1, 2 and so on.",
			program: "emit plot(cumsum(randn(100, 1, seed = 1))) to \"walk.png\""},
		{name: "scatter", data: []op.Arg{x, y}, attrs: curve, layers: curves(figure.PointLayer), check: curveType,
			doc:     "scatter is a picture of points (x, y)." + missing,
			program: "emit scatter(randn(50, 1, seed = 1), randn(50, 1, seed = 2)) to \"points.svg\""},
		{name: "bar", data: []op.Arg{x, y}, attrs: append(curve[:2:2], textAttr("names", "below the bars, separated by commas")),
			layers: curves(figure.BarLayer), check: curveType,
			doc:     "bar is a picture of y as bars at x; several columns stand side by side.",
			program: "emit bar([2023, 2024, 2025], [[1, 2], [3, 4], [2, 5]], label = \"in, out\") to \"years.svg\""},
		{name: "bar.y", word: "bar", data: []op.Arg{y}, attrs: append(curve[:2:2], textAttr("names", "below the bars, separated by commas")),
			layers: curves(figure.BarLayer), check: curveType,
			doc:     "bar of one argument has its bars at 0, 1, 2 and so on.",
			program: "emit bar([3, 1, 2], names = \"a, b, c\") to \"bars.html\""},
		{name: "hist", data: []op.Arg{{Name: "x", Doc: "numbers in any shape"}}, layers: histogramLayer, check: binsType,
			attrs: []op.Arg{{Name: "bins", Attr: true, Kind: op.IntVal, Optional: true, Doc: "how many; 2 cbrt(count), at most 200, unless given"}, textAttr("label", "in the legend"), logAttr()},
			doc: "hist is a picture of how many numbers lie in each of some bins of equal width between the least and the greatest; a number on an inner " +
				"edge counts to the right. Missing values are left out.",
			program: "emit hist(randn(1000, 1, seed = 1), bins = 20) to \"normal.svg\""},
		{name: "heatmap", data: []op.Arg{{Name: "X", Doc: "matrix"}}, attrs: colorAttrs(), layers: matrixLayer(figure.HeatLayer), check: colorsType,
			doc:     "heatmap is a picture of a matrix by colours, row 0 at the top, with axes and a colour bar. Missing values are blank. Above 1024 rows or columns the means of blocks are drawn.",
			program: "emit heatmap(outer(seq(1, 9), seq(1, 9), \"*\"), colormap = \"cividis\") to \"times.svg\""},
		{name: "image.rgb", word: "image", data: []op.Arg{{Name: "R", Doc: "red, from 0 to 1, or to 255 if any number is above 1"}, {Name: "G", Doc: "green"}, {Name: "B", Doc: "blue"}},
			attrs: colorAttrs()[1:], layers: matrixLayer(figure.ImageLayer), check: sameShapes,
			doc:     "image of three matrices is an image in colour.",
			program: "emit image(rand(8, 8, seed = 1), rand(8, 8, seed = 2), rand(8, 8, seed = 3)) to \"noise.png\""},
		{name: "image", data: []op.Arg{{Name: "X", Doc: "matrix"}}, attrs: colorAttrs(), layers: matrixLayer(figure.ImageLayer), check: colorsType,
			doc:     "image is a picture of a matrix without axes, in grey unless colormap is given. `emit X to \"x.png\"` writes a file with a pixel an element.",
			program: "emit image(rand(8, 8, seed = 1)) to \"noise.png\""},
	}
	var out []*op.Def
	for _, r := range rows {
		out = append(out, r.def())
	}
	return append(out, figureRow(), panelsRow())
}

func (r pictureRow) def() *op.Def {
	build := func(c *op.Call) (value.Value, error) {
		if err := c.Settle(); err != nil { // of shapes that were not known before the run
			return nil, err
		}
		data := make([]*value.Dense, len(c.In))
		for i := range data {
			data[i] = c.Dense(i)
		}
		f := figure.Field{Layers: r.layers(c, data)}
		titled(&f, c.Attrs)
		return pictureValue(&figure.Picture{Fields: []figure.Field{f}}), nil
	}
	return &op.Def{
		Name: r.name, Word: r.word, Doc: r.doc, Args: slices.Concat(r.data, titles(), r.attrs),
		Eg: []op.Example{{Program: r.program}},
		Type: func(s *op.Sig) (types.Type, error) {
			for i, t := range s.In {
				if err := dataType(s, i, t); err != nil {
					return types.Type{}, err
				}
			}
			if log := s.Attrs.Str("log"); !slices.Contains([]string{"", "x", "y", "xy"}, log) {
				return types.Type{}, op.Faultf(-1, define.CodeAttr, "log = %q", log).WithHelp("it is \"x\", \"y\" or \"xy\"")
			}
			return types.ScalarOf(types.Picture), r.check(s)
		},
		Ref:  build,
		Laws: op.Pure, Cost: define.CopyWork,
		Kernel: func(c *op.Call) (err error) { c.Out, err = build(c); return err },
	}
}

func pictureValue(p *figure.Picture) value.Scalar {
	return value.Scalar{Elem: types.Picture, S: p.Encode()}
}

// titled puts a call's attributes into a field; those that it does not have leave it as it is.
func titled(f *figure.Field, a *op.Attrs) {
	for _, x := range []struct {
		name string
		to   *string
	}{{"title", &f.Title}, {"xlabel", &f.XLabel}, {"ylabel", &f.YLabel}} {
		if s := a.Str(x.name); s != "" {
			*x.to = printable(s)
		}
	}
	log := a.Str("log")
	f.LogX, f.LogY = f.LogX || strings.Contains(log, "x"), f.LogY || strings.Contains(log, "y")
}

// printable is a text in one line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// dataType refuses what cannot be drawn.
func dataType(s *op.Sig, i int, t types.Type) error {
	name := s.Def.Args[i].Name
	switch {
	case t.IsSparse():
		return op.Faultf(i, define.CodeKind, "`%s` does not take a sparse matrix", s.Def.Source()).WithHelp("dense(x) makes it dense")
	case !t.IsDense() || !t.Elem.IsNumeric():
		return op.Faultf(i, define.CodeKind, "`%s` of `%s` is a matrix of numbers; this is %v", name, s.Def.Source(), t)
	case t.Rows == 0 || t.Cols == 0:
		return op.Faultf(i, define.CodeShape, "`%s` of `%s` is empty: %v", name, s.Def.Source(), t)
	case t.Known() && t.Count() > mostDrawn:
		return op.Faultf(i, define.CodeSize, "`%s` of `%s` has %d elements, and a picture has room for %d", name, s.Def.Source(), t.Count(), mostDrawn).
			WithHelp("take every so many: X[0.. by 10, :]")
	}
	return nil
}

// length is the number of points and of curves in a matrix: a row is a curve like a column.
func length(t types.Type) (points, curves int) {
	if t.Rows == 1 && t.Cols != 1 {
		return t.Cols, 1
	}
	return t.Rows, t.Cols
}

// curveType checks x and y, or y alone.
func curveType(s *op.Sig) error {
	y := s.In[len(s.In)-1]
	points, columns := length(y)
	if len(s.In) == 2 {
		x := s.In[0]
		if x.Known() && x.Rows != 1 && x.Cols != 1 {
			return op.Faultf(0, define.CodeShape, "`x` of `%s` is a column or a row; this is %v", s.Def.Source(), x)
		}
		if n, _ := length(x); x.Known() && y.Known() && n != points {
			f := op.Faultf(1, define.CodeShape, "`x` of `%s` has %d numbers, `y` has %d", s.Def.Source(), n, points)
			if y.Cols == n && columns > 1 {
				f.WithHelp("a column of y is a curve: t(y) has rows as columns")
			} else {
				f.WithHelp("each number of x has one of y: seq(0, %d) numbers the points", points)
			}
			return f
		}
	}
	if !y.Known() {
		return nil
	}
	if columns > 64 {
		return op.Faultf(len(s.In)-1, define.CodeShape, "`y` of `%s` has %d columns, and each would be a curve of its own", s.Def.Source(), columns).
			WithHelp("heatmap(X) draws a matrix; a column is X[:, j]")
	}
	if labels := parts(s.Attrs.Str("label")); columns > 1 && len(labels) > 0 && len(labels) != columns {
		return op.Faultf(-1, define.CodeAttr, "label has %d parts, and y %d columns", len(labels), columns).
			WithHelp("a label a column, separated by commas")
	}
	if names := parts(s.Attrs.Str("names")); len(names) > 0 && len(names) != points {
		return op.Faultf(-1, define.CodeAttr, "names has %d parts, and there are %d bars", len(names), points).
			WithHelp("a name a bar, separated by commas")
	}
	return nil
}

// parts is the parts of a text between commas.
func parts(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	list := strings.Split(printable(s), ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// curves makes a layer a column of y.
func curves(kind figure.Kind) func(c *op.Call, data []*value.Dense) []figure.Layer {
	return func(c *op.Call, data []*value.Dense) []figure.Layer {
		y := data[len(data)-1]
		points, columns := length(y.Type())
		var x []float64
		if len(data) == 2 {
			x = numbers(data[0])
		} else {
			for i := range points {
				x = append(x, float64(i))
			}
		}
		label := c.Attrs.Str("label")
		labels := []string{printable(label)}
		if columns > 1 {
			if labels = parts(label); labels == nil {
				for j := range columns {
					labels = append(labels, value.I64(int64(j)).String())
				}
			}
		}
		all := numbers(y)
		var out []figure.Layer
		for j := range columns {
			l := figure.Layer{Kind: kind, X: x, Y: make([]float64, points), Label: labels[j], Names: parts(c.Attrs.Str("names"))}
			for i := range l.Y {
				l.Y[i] = all[i*columns+j]
			}
			out = append(out, l)
		}
		return out
	}
}

// numbers are the elements of a matrix, row by row.
func numbers(d *value.Dense) []float64 {
	out := make([]float64, 0, d.Rows*d.Cols)
	for i := range d.Rows {
		if d.Elem == types.F64 {
			out = append(out, d.F64[i*d.Stride:i*d.Stride+d.Cols]...)
			continue
		}
		for j := range d.Cols {
			out = append(out, d.At(i, j).Float())
		}
	}
	return out
}

func binsType(s *op.Sig) error {
	if v, ok := s.Attrs.Get("bins"); ok && (v.I < 1 || v.I > 10000) {
		return op.Faultf(-1, define.CodeAttr, "bins = %v", v).WithHelp("there are 1 to 10000 bins")
	}
	return nil
}

func histogramLayer(c *op.Call, data []*value.Dense) []figure.Layer {
	edges, counts := figure.Bins(numbers(data[0]), c.Attrs.Int("bins"))
	return []figure.Layer{{Kind: figure.HistogramLayer, X: edges, Y: counts, Label: printable(c.Attrs.Str("label"))}}
}

// colorsType checks a colour map and its ends.
func colorsType(s *op.Sig) error {
	if name := s.Attrs.Str("colormap"); name != "" && !slices.Contains(figure.Maps, name) {
		return op.Faultf(-1, define.CodeAttr, "colormap = %q", name).WithHelp("there are %s", strings.Join(figure.Maps, ", "))
	}
	low, hasLow := s.Attrs.Get("low")
	high, hasHigh := s.Attrs.Get("high")
	for _, v := range []op.Val{low, high} {
		if v.Kind == op.FloatVal && !(math.Abs(v.F) <= 1e300) || v.Kind == op.StrVal || v.Kind == op.BoolVal || v.Kind == op.IntsVal {
			return op.Faultf(-1, define.CodeAttr, "an end of the colour map is %v", v).WithHelp("low and high are finite numbers")
		}
	}
	if hasLow && hasHigh && !(s.Attrs.Float("low") < s.Attrs.Float("high")) {
		return op.Faultf(-1, define.CodeAttr, "low = %v is not below high = %v", low, high)
	}
	return nil
}

func sameShapes(s *op.Sig) error {
	for i, t := range s.In[1:] {
		if t.Known() && s.In[0].Known() && (t.Rows != s.In[0].Rows || t.Cols != s.In[0].Cols) {
			return op.Faultf(i+1, define.CodeShape, "the three matrices of `image` have one shape; these are %s", define.Shapes(s.In))
		}
	}
	return colorsType(s)
}

// matrixLayer makes a layer of one matrix, or of three as one image.
func matrixLayer(kind figure.Kind) func(c *op.Call, data []*value.Dense) []figure.Layer {
	return func(c *op.Call, data []*value.Dense) []figure.Layer {
		l := colored(c.Attrs)
		if l.Kind = kind; kind == figure.ImageLayer && l.Map == "" {
			l.Map = "grey"
		}
		for _, d := range data {
			l.Rows, l.Cols, l.Z = d.Rows, d.Cols, append(l.Z, numbers(d)...)
		}
		return []figure.Layer{l}
	}
}

// colored is a layer without data, with the colour map of a call.
func colored(a *op.Attrs) figure.Layer {
	l := figure.Layer{Kind: figure.HeatLayer, Map: a.Str("colormap"), Range: [2]float64{math.NaN(), math.NaN()}}
	for i, name := range []string{"low", "high"} {
		if v, ok := a.Get(name); ok && v.Kind != op.NoVal {
			l.Range[i] = a.Float(name)
		}
	}
	return l
}

// joinRow is a row over pictures; join makes one of at least one.
func joinRow(d op.Def, join func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error)) *op.Def {
	build := func(c *op.Call) (value.Value, error) {
		var list []*figure.Picture
		for i := range c.In {
			p, err := figure.Decode(c.Scalar(i).S)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		p, err := join(c.Attrs, list)
		if err != nil {
			return nil, err
		}
		return pictureValue(p), nil
	}
	d.Type = func(s *op.Sig) (types.Type, error) {
		for i, t := range s.In {
			if t != types.ScalarOf(types.Picture) {
				return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` takes pictures, not %v", s.Def.Source(), t).WithHelp("plot(x, y) is a picture of y over x")
			}
		}
		if n, ok := s.Attrs.Get("columns"); ok && (n.I < 1 || n.I > 100) {
			return types.Type{}, op.Faultf(-1, define.CodeAttr, "columns = %v", n)
		}
		return types.ScalarOf(types.Picture), nil
	}
	d.Ref, d.Laws, d.Cost = build, op.Pure, define.CopyWork
	d.Kernel = func(c *op.Call) (err error) { c.Out, err = build(c); return err }
	return &d
}

func figureRow() *op.Def {
	return joinRow(op.Def{
		Name: "figure",
		Doc: "figure draws several pictures over each other on the same axes, each with a colour of its own; their labels are the legend. " +
			"Titles of its own come before theirs.",
		Args: append(append([]op.Arg{{Name: "pictures", Rest: true, Doc: "plot(..), scatter(..) and so on"}}, titles()...), logAttr()),
		Eg: []op.Example{{Program: "x = seq(0, 10)\ny = 2 * x + randn(10, 1, seed = 1)\n" +
			"emit figure(scatter(x, y, label = \"data\"), plot(x, 2 * x, label = \"model\"), title = \"a fit\") to \"fit.svg\""}},
	}, func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error) {
		p, at, ok := figure.Overlay(list)
		if !ok {
			return nil, op.Failf(define.CodeData, "figure: argument %d is panels, and figure has one pair of axes", at+1).
				WithHelp("panels(..) puts pictures beside each other")
		}
		titled(&p.Fields[0], a)
		return p, nil
	})
}

func panelsRow() *op.Def {
	return joinRow(op.Def{
		Name: "panels",
		Doc:  "panels puts pictures beside and below each other, each with its own axes.",
		Args: []op.Arg{{Name: "pictures", Rest: true, Doc: "plot(..), figure(..) and so on"}, textAttr("title", "above all"),
			{Name: "columns", Attr: true, Kind: op.IntVal, Optional: true, Doc: "how many beside each other; about as many as there are rows unless given"}},
		Eg: []op.Example{{Program: "x = randn(500, 1, seed = 1)\nemit panels(plot(x), hist(x), columns = 2, title = \"noise\") to \"noise.html\""}},
	}, func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error) {
		p := figure.Beside(list, a.Int("columns"))
		p.Title = printable(a.Str("title"))
		return p, nil
	})
}
