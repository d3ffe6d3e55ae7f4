package figure

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// wave is n points of a damped sine, with a gap of missing values.
func wave(n int, shift float64) (x, y []float64) {
	for i := range n {
		t := float64(i) / float64(n) * 10
		x, y = append(x, t), append(y, math.Exp(-t/4)*math.Sin(3*t+shift))
	}
	for i := n / 2; i < n/2+n/20; i++ {
		y[i] = math.NaN()
	}
	return x, y
}

func layered(layers ...Layer) *Picture {
	return &Picture{Fields: []Field{{Title: "a title", XLabel: "time (s)", YLabel: "amplitude", Layers: layers}}}
}

// kinds has a picture of every kind, and those at the edges.
func kinds() map[string]*Picture {
	x, y := wave(200, 0)
	_, z := wave(200, 1)
	many, much := wave(1_000_000, 0)
	for i := range much {
		much[i] += .1 * float64(i*7919%1000) / 1000
	}
	edges, counts := Bins(much, 0)
	power := make([]float64, len(x))
	for i := range x {
		power[i] = math.Pow(10, x[i]-3)
	}
	heat := make([]float64, 24*40)
	for i := range heat {
		heat[i] = math.Sin(float64(i/40)/5) * math.Cos(float64(i%40)/6)
	}
	heat[45] = math.NaN()
	rgb := make([]float64, 3*60*90)
	for i := range 60 * 90 {
		r, c := float64(i/90)/60, float64(i%90)/90
		rgb[i], rgb[60*90+i], rgb[2*60*90+i] = r, c, 1-r
	}
	line, dots := Layer{Kind: LineLayer, X: x, Y: y, Label: "sine"}, Layer{Kind: PointLayer, X: x, Y: z, Label: "shifted"}
	bars := func(label string, y ...float64) Layer {
		return Layer{Kind: BarLayer, X: positions(nil, len(y)), Y: y, Label: label, Names: []string{"north", "east", "south", "west"}}
	}
	grey := Layer{Kind: ImageLayer, Rows: 24, Cols: 40, Z: heat, Map: "grey", Range: fromData()}
	warm := Layer{Kind: HeatLayer, Rows: 24, Cols: 40, Z: heat, Map: diverging, Range: fromData()}
	logs := layered(Layer{Kind: LineLayer, X: power, Y: power, Label: "y = x"}, Layer{Kind: PointLayer, X: power, Y: z, Label: "with values that have no logarithm"})
	logs.Fields[0].LogX, logs.Fields[0].LogY = true, true
	list := map[string]*Picture{
		"line": plotOf(x, y), "line_many": plotOf(many, much), "overlay": layered(line, dots),
		"scatter": layered(Layer{Kind: PointLayer, X: x, Y: y}), "scatter_many": layered(Layer{Kind: PointLayer, X: many, Y: much}),
		"bar": layered(bars("", 3, -1, 4, 1.5)), "bar_groups": layered(bars("2024", 3, -1, 4, 1.5), bars("2025", 2, 2, math.NaN(), 1)),
		"hist": layered(Layer{Kind: HistogramLayer, X: edges, Y: counts}), "log": logs,
		"heatmap": heatmapOf(24, 40, heat), "diverging": layered(warm), "image": layered(grey),
		"rgb":      single(Layer{Kind: ImageLayer, Rows: 60, Cols: 90, Z: rgb, Range: fromData()}),
		"heat_big": heatmapOf(1500, 20, make([]float64, 30000)), "one": plotOf(nil, []float64{3}), "flat": plotOf(nil, []float64{1e15, 1e15 + 1, 1e15 + 2}),
		"nothing": plotOf(nil, []float64{math.NaN(), math.Inf(1)}), "huge": plotOf(nil, []float64{-1e300, 1e300, 1e308}), "tiny": plotOf(nil, []float64{0, 5e-324, 1e-310}),
	}
	over := layered(warm, Layer{Kind: LineLayer, X: []float64{0, 10, 39}, Y: []float64{0, 10, 23}, Label: "on it"})
	list["over"] = over
	crowd := layered()
	for i := range 12 {
		crowd.Fields[0].Layers = append(crowd.Fields[0].Layers, Layer{Kind: LineLayer, X: x, Y: y, Label: fmt.Sprint("a label of curve ", i)})
	}
	list["crowd"] = crowd
	list["panels"] = Beside([]*Picture{list["line"], list["overlay"], list["heatmap"], list["bar"]}, 0)
	list["panels"].Title = "four in one"
	return list
}

// TestKinds draws every kind in every format, twice. FIGURES=dir keeps the files, to be looked at.
func TestKinds(t *testing.T) {
	dir := os.Getenv("FIGURES")
	again := kinds()
	for name, p := range kinds() {
		back, err := Decode(p.Encode())
		if err != nil || back.Encode() != p.Encode() || name != "one" && len(back.Fields) != len(p.Fields) {
			t.Errorf("%s does not come back: %v", name, err)
		}
		for _, format := range PictureFormats {
			var a, b bytes.Buffer
			if err := p.Write(&a, format, Size{}, 0); err != nil {
				t.Errorf("%s.%s: %v", name, format, err)
			}
			if _ = again[name].Write(&b, format, Size{}, 0); !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s.%s is drawn in two ways", name, format)
			}
			if format != "png" && (strings.Contains(a.String(), "NaN") || strings.Contains(a.String(), "Inf")) {
				t.Errorf("%s.%s has a coordinate that is no number", name, format)
			}
			if a.Len() > 600_000 {
				t.Errorf("%s.%s has %d bytes", name, format, a.Len())
			}
			if dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+"."+format), a.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		text := p.Text()
		for _, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > textWidth || strings.HasSuffix(line, " ") {
				t.Errorf("%s: a line of %d characters: %q", name, n, line)
			}
		}
		if dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestText: what stands where in pictures that are small enough to count.
func TestText(t *testing.T) {
	lines := func(p *Picture) []string { return strings.Split(p.Text(), "\n") }
	bars := lines(single(Layer{Kind: BarLayer, X: []float64{0, 1}, Y: []float64{1, 2}}))
	full := func(s string) int { return strings.Count(s, "█") }
	if bottom, top := full(bars[textRows-1]), full(bars[2]); bottom != 2*top || top == 0 {
		t.Errorf("a bar twice as high as another: %d blocks at the bottom, %d at the top\n%s", bottom, top, strings.Join(bars, "\n"))
	}
	over := kinds()["over"].Text()
	if n := strings.Count(over, "●"); n != 1+3 { // the legend's, and three points
		t.Errorf("%d marks over a matrix\n%s", n, over)
	}
	rising := lines(plotOf(nil, []float64{0, 1}))
	if first, last := strings.IndexFunc(rising[0], braille), strings.IndexFunc(rising[textRows-1], braille); first <= last || last < 0 {
		t.Errorf("a line that rises begins at %d at the bottom and ends at %d at the top", last, first)
	}
	gap := plotOf(nil, []float64{0, 0, math.NaN(), 0, 0}).Text()
	if solid := plotOf(nil, []float64{0, 0, 0, 0, 0}).Text(); count(gap, braille) >= count(solid, braille) {
		t.Error("a missing value leaves no gap")
	}
}

func braille(r rune) bool { return r > 0x2800 && r <= 0x28ff }

func count(s string, is func(rune) bool) (n int) {
	for _, r := range s {
		if is(r) {
			n++
		}
	}
	return n
}

func TestDecodeDamaged(t *testing.T) {
	whole := kinds()["bar"].Encode()
	for n := range len(whole) {
		if _, err := Decode(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are a picture", n, len(whole))
		}
	}
	if _, err := Decode(whole + "x"); err == nil {
		t.Error("a picture with more behind it is one")
	}
}

func TestBins(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		data          []float64
		n             int
		edges, counts []float64
	}{
		{[]float64{0, 1, 2, 3, 4}, 4, []float64{0, 1, 2, 3, 4}, []float64{1, 1, 1, 2}},
		{[]float64{0, 0.1, nan, inf, 1}, 2, []float64{0, .5, 1}, []float64{2, 1}},
		{[]float64{7, 7}, 1, []float64{6.5, 7.5}, []float64{2}},
		{[]float64{nan}, 3, []float64{0, 1}, []float64{0}},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 0, []float64{1, 2.75, 4.5, 6.25, 8}, []float64{2, 2, 2, 2}},
	} {
		edges, counts := Bins(c.data, c.n)
		if !reflect.DeepEqual(edges, c.edges) || !reflect.DeepEqual(counts, c.counts) {
			t.Errorf("%v in %d bins: %v %v, want %v %v", c.data, c.n, edges, counts, c.edges, c.counts)
		}
	}
}

// TestThinned: of a line no column of half a point loses its least or greatest y, and gaps stay.
func TestThinned(t *testing.T) {
	_, much := wave(100_000, 0)
	runs, whole := drawnRuns(much, 500)
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2: one gap", len(runs))
	}
	n := 0
	got := map[int][2]float64{}
	for _, r := range runs {
		n += len(r)
		for _, q := range r {
			stretch(got, float64(q.X), float64(q.Y))
		}
	}
	if n > 4*500*resolution+8 {
		t.Errorf("%d points are left", n)
	}
	if !reflect.DeepEqual(got, whole) {
		t.Error("a column has lost its least or greatest y")
	}
}

func stretch(m map[int][2]float64, x, y float64) {
	k := int(math.Floor(x * resolution))
	r, ok := m[k]
	if !ok {
		r = [2]float64{y, y}
	}
	m[k] = [2]float64{min(r[0], y), max(r[1], y)}
}

// drawnRuns thins y over so many points of width; whole is the least and greatest y of every column
// before.
func drawnRuns(y []float64, wide float64) (runs [][]vg.Point, whole map[int][2]float64) {
	whole = map[int][2]float64{}
	at := func(k int) (vg.Point, bool) {
		if math.IsNaN(y[k]) {
			return vg.Point{}, false
		}
		q := vg.Point{X: vg.Length(float64(k) / float64(len(y)) * wide), Y: vg.Length(100 * y[k])}
		stretch(whole, float64(q.X), float64(q.Y))
		return q, true
	}
	return thinned(len(y), at), whole
}

// plotOf is a picture of one line: y over x, or over 0, 1, ... where x is nil.
func plotOf(x, y []float64) *Picture {
	return single(Layer{Kind: LineLayer, X: positions(x, len(y)), Y: y})
}

// heatmapOf is a picture of a matrix by rows.
func heatmapOf(rows, cols int, z []float64) *Picture {
	return single(Layer{Kind: HeatLayer, Rows: rows, Cols: cols, Z: z, Map: Maps[0], Range: fromData()})
}

func single(l Layer) *Picture { return &Picture{Fields: []Field{{Layers: []Layer{l}}}} }

func positions(x []float64, n int) []float64 {
	if x != nil {
		return x
	}
	x = make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

func fromData() [2]float64 { return [2]float64{math.NaN(), math.NaN()} }
