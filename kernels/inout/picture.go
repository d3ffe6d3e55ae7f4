package inout

// This file is the part of emit that draws: pictures on standard output and in files, and matrices
// as images.

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"flow/figure"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// drawnForm is the format of a file that is drawn: "svg", "png" or "html", as its extension or the
// program says; "" for others.
func drawnForm(a *op.Attrs) string {
	form := a.Str("form")
	if form == "" {
		form = strings.ToLower(strings.TrimPrefix(filepath.Ext(a.Str("to")), "."))
	}
	if slices.Contains(figure.PictureFormats, form) {
		return form
	}
	return ""
}

// isDrawn reports an emit that draws: of a picture, or of a matrix to a file of pixels.
func isDrawn(t types.Type, a *op.Attrs) bool {
	return t.Elem == types.Picture || a.Str("to") != "" && drawnForm(a) != ""
}

// drawnSizes are the arguments of a file that is drawn, and the least and greatest number of each.
var drawnSizes = []struct {
	name        string
	least, most int
}{{"width", 100, 20000}, {"height", 100, 20000}, {"dpi", 24, 2400}, {"scale", 1, 100}}

// drawnType is the type rule of an emit that draws; arg is the place of the sink.
func drawnType(s *op.Sig, arg int) error {
	t, form, to := s.In[0], drawnForm(s.Attrs), s.Attrs.Str("to")
	takes := map[string]string{"svg": "width height", "html": "width height", "png": "width height dpi"}[form]
	switch {
	case t.Elem == types.Picture && to == "":
		return nil
	case t.Elem == types.Picture && form == "":
		return op.Faultf(arg, "E502", "%s: a picture is written to .svg, .png or .html", to)
	case t.Elem == types.Picture:
	case form != "png":
		return op.Faultf(arg, "E502", "%s: this is %v and no picture", to, t).WithHelp("emit plot(x, y) to %q draws a line; heatmap(X) draws a matrix; .png takes a matrix, a pixel an element", to)
	case t.IsSparse():
		return op.Faultf(0, define.CodeKind, "a sparse matrix is no image").WithHelp("dense(x) makes it dense")
	case !t.IsDense() || !t.Elem.IsNumeric():
		return op.Faultf(0, define.CodeKind, "an image is made of a matrix of numbers; this is %v", t).
			WithHelp("a number is written to .csv or .npy, [[x]] is a matrix of one pixel")
	case t.Rows == 0 || t.Cols == 0 || max(t.Rows, t.Cols) > 1<<16:
		return op.Faultf(0, define.CodeShape, "an image has 1 to 65536 rows and columns; this is %v", t)
	default:
		takes = "colormap low high scale"
		if err := colorsType(s); err != nil {
			return err
		}
	}
	for _, a := range s.Attrs.List() {
		if slices.Contains([]string{"label", "to", "form", "all"}, a.Name) {
			continue
		}
		if !slices.Contains(strings.Fields(takes), a.Name) {
			return op.Faultf(arg, define.CodeArgument, "%s of a %v has no argument `%s`", form, t, a.Name).
				WithHelp("it has %s", strings.ReplaceAll(takes, " ", ", "))
		}
		for _, r := range drawnSizes {
			if a.Name == r.name && (a.Val.Kind != op.IntVal || a.Val.I < int64(r.least) || a.Val.I > int64(r.most)) {
				return op.Faultf(arg, define.CodeAttr, "%s = %v", a.Name, a.Val).WithHelp("it is an integer from %d to %d", r.least, r.most)
			}
		}
	}
	if w, h, dpi := s.Attrs.Int("width"), s.Attrs.Int("height"), s.Attrs.Int("dpi"); form == "png" && t.Elem == types.Picture &&
		max(w, 1000)*max(h, 1000)/96*max(dpi, 96)/96*max(dpi, 96) > 1<<29 {
		return op.Faultf(arg, define.CodeAttr, "width, height and dpi ask for an image of more than 2^29 pixels")
	}
	return nil
}

// draw writes a picture, or a matrix as an image.
func draw(w io.Writer, v value.Value, a *op.Attrs) error {
	if d, ok := v.(*value.Dense); ok {
		l := colored(a)
		l.Rows, l.Cols, l.Z = d.Rows, d.Cols, numbers(d)
		return l.WritePNG(w, max(1, a.Int("scale")))
	}
	p, err := figure.Decode(v.(value.Scalar).S)
	if err != nil {
		return err
	}
	return p.Write(w, drawnForm(a), figure.Size{Width: a.Int("width"), Height: a.Int("height")}, a.Int("dpi"))
}

// pictureText is a picture as emit prints it.
func pictureText(v value.Value) (string, error) {
	p, err := figure.Decode(v.(value.Scalar).S)
	if err != nil {
		return "", err
	}
	return p.Text(), nil
}
