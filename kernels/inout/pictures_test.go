package inout

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"flow/figure"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// pictureOf calls a row of pictures and decodes what it makes.
func pictureOf(t *testing.T, name string, attrs *op.Attrs, in ...value.Value) *figure.Picture {
	t.Helper()
	out, ok := rowtest.Check(t, rowtest.RowNamed(t, Pictures(), name), attrs, in)
	if !ok {
		t.Fatalf("%s refuses its arguments", name)
	}
	p, err := figure.Decode(out.(value.Scalar).S)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func matrixOf(rows, cols int, x ...float64) *value.Dense {
	d := value.New(types.F64, rows, cols)
	copy(d.F64, x)
	return d
}

// TestPictureData: columns become curves with labels, integers numbers, views their part alone, and
// joined pictures keep all layers.
func TestPictureData(t *testing.T) {
	x := value.New(types.I64, 3, 1)
	copy(x.I64, []int64{10, 20, 30})
	y := matrixOf(3, 2, 1, 2, 3, 4, 5, 6)
	p := pictureOf(t, "plot", op.MakeAttrs(rowtest.Attr("label", op.Str("a, b")), rowtest.Attr("title", op.Str("two\nlines"))), x, y)
	f := p.Fields[0]
	if len(f.Layers) != 2 || f.Layers[1].Label != "b" || f.Title != "two lines" || f.Layers[0].X[2] != 30 || f.Layers[1].Y[0] != 2 || f.Layers[0].Y[2] != 5 {
		t.Errorf("plot of two columns: %+v", f)
	}
	p = pictureOf(t, "plot.y", nil, y.View(1, 1, 2, 1))
	if l := p.Fields[0].Layers[0]; len(l.Y) != 2 || l.Y[0] != 4 || l.Y[1] != 6 || l.X[1] != 1 {
		t.Errorf("plot of a view: %+v", l)
	}
	row := pictureOf(t, "plot.y", nil, matrixOf(1, 3, 7, 8, 9))
	if l := row.Fields[0].Layers; len(l) != 1 || len(l[0].Y) != 3 {
		t.Errorf("plot of a row: %+v", l)
	}
	both := pictureOf(t, "figure", op.MakeAttrs(rowtest.Attr("log", op.Str("y")), rowtest.Attr("ylabel", op.Str("v"))), pictureValue(p), pictureValue(row))
	if f := both.Fields[0]; len(f.Layers) != 2 || !f.LogY || f.LogX || f.YLabel != "v" {
		t.Errorf("figure: %+v", f)
	}
	if four := pictureOf(t, "panels", nil, pictureValue(both), pictureValue(p)); len(four.Fields) != 2 || len(four.Fields[0].Layers) != 2 {
		t.Errorf("panels: %+v", four)
	}
	bins := pictureOf(t, "hist", op.MakeAttrs(rowtest.Attr("bins", op.Int(2))), matrixOf(2, 2, 0, 1, 2, math.NaN()))
	if l := bins.Fields[0].Layers[0]; l.Y[0] != 1 || l.Y[1] != 2 {
		t.Errorf("hist: %+v", l)
	}
}

// TestMatrixImage: an element is scale pixels along, the least has the first colour of the map, the
// greatest the last, and a missing one none.
func TestMatrixImage(t *testing.T) {
	d := rowtest.RowNamed(t, Rows(&Input{}), "emit")
	image := func(attrs *op.Attrs, x value.Value) *bytes.Buffer {
		if _, err := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}, Attrs: attrs}); err != nil {
			t.Fatal(err)
		}
		e := &memoryEnv{files: map[string]*bytes.Buffer{}}
		if err := d.Kernel(&op.Call{Def: d, In: []value.Value{x}, Attrs: attrs, Env: e, Type: types.EffectType()}); err != nil {
			t.Fatal(err)
		}
		return e.files[attrs.Str("to")]
	}
	x := matrixOf(2, 3, 0, .5, 1, math.NaN(), -7, math.Inf(1))
	for _, c := range []struct {
		attrs *op.Attrs
		scale int
		want  [6]color.NRGBA
	}{
		{op.MakeAttrs(rowtest.Attr("to", op.Str("a.png")), rowtest.Attr("colormap", op.Str("grey")), rowtest.Attr("low", op.Int(0)), rowtest.Attr("scale", op.Int(3))), 3,
			[6]color.NRGBA{{0, 0, 0, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}, {}, {0, 0, 0, 255}, {255, 255, 255, 255}}},
		{op.MakeAttrs(rowtest.Attr("to", op.Str("b.dat")), rowtest.Attr("form", op.Str("png")), rowtest.Attr("low", op.Float(0)), rowtest.Attr("high", op.Float(1))), 1,
			[6]color.NRGBA{{68, 1, 84, 255}, {34, 144, 139, 255}, {253, 231, 37, 255}, {}, {68, 1, 84, 255}, {253, 231, 37, 255}}},
	} {
		img, err := png.Decode(image(c.attrs, x))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != 3*c.scale || b.Dy() != 2*c.scale {
			t.Fatalf("the image is %v", b)
		}
		for i, want := range c.want {
			for _, at := range [][2]int{{0, 0}, {c.scale - 1, c.scale - 1}} {
				if got := color.NRGBAModel.Convert(img.At(i%3*c.scale+at[0], i/3*c.scale+at[1])); got != want {
					t.Errorf("%v: element %d is %v, want %v", c.attrs, i, got, want)
				}
			}
		}
	}
}

// TestPictureText: emit prints a picture as its rows of characters, after a label.
func TestPictureText(t *testing.T) {
	p := pictureOf(t, "heatmap", nil, matrixOf(1, 2, 0, 1))
	if got := emitted(t, pictureValue(p), op.MakeAttrs(rowtest.Attr("label", op.Str("X")))); !strings.HasPrefix(got, "X:\n  ┌──") || !strings.Contains(got, "│        ████████│") {
		t.Errorf("%s", got)
	}
}

// TestPictureSizes: data of a shape that only the run tells is checked in the run.
func TestPictureSizes(t *testing.T) {
	d := rowtest.RowNamed(t, Pictures(), "plot")
	open := types.DenseOf(types.F64, types.Unknown, 1)
	out, err := d.Type(&op.Sig{Def: d, In: []types.Type{open, open}})
	if err != nil || out != types.ScalarOf(types.Picture) {
		t.Fatalf("%v, %v", out, err)
	}
	for _, c := range []struct {
		x, y int
		want string
	}{{3, 2, "has 3 numbers, `y` has 2"}, {0, 0, "is empty"}} {
		err := d.Kernel(&op.Call{Def: d, In: []value.Value{matrixOf(c.x, 1), matrixOf(c.y, 1)}, Type: out})
		if f, ok := err.(*op.Failure); !ok || f.Code != define.CodeShape || !strings.Contains(f.Msg, c.want) {
			t.Errorf("%d and %d: %v", c.x, c.y, err)
		}
	}
}
