package figure

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
)

// This file defines colour maps and the images that they make of matrices.

// Maps names the colour maps; the first is used unless another is asked for.
var Maps = []string{"viridis", "cividis", "grey", diverging}

// diverging is the map whose middle is neutral.
const diverging = "diverging"

// anchors are colours at equal distances; between them a map is linear in sRGB. viridis is by S.
// van der Walt and N. Smith (2015), cividis by J. Nunez, C. Anderton and R. Renslow (2018), both
// readable with any colour vision and in grey; diverging is the cool-warm map of K. Moreland
// (2009).
func anchors(name string) []uint32 {
	switch name {
	case "cividis":
		return []uint32{0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838}
	case "grey":
		return []uint32{0x000000, 0xffffff}
	case diverging:
		return []uint32{0x3b4cc0, 0x8db0fe, 0xdddddd, 0xf49a7b, 0xb40426}
	}
	return []uint32{0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725}
}

// shades is a colour map in 256 steps.
func shades(name string) (out [256]color.NRGBA) {
	list := anchors(name)
	for i := range out {
		at := float64(i) / 255 * float64(len(list)-1)
		k := min(int(at), len(list)-2)
		mix := func(shift uint) uint8 {
			a, b := float64(list[k]>>shift&255), float64(list[k+1]>>shift&255)
			return uint8(math.Round(a + (b-a)*(at-float64(k))))
		}
		out[i] = color.NRGBA{mix(16), mix(8), mix(0), 255}
	}
	return out
}

// pixels is a matrix as an image, an element a pixel. A missing element is transparent. Of three
// planes, red, green and blue, 0 is none and Range[1] all of a colour: 255, or 1 where no element
// is above it, unless given.
func (l *Layer) pixels() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, l.Cols, l.Rows))
	n := l.Rows * l.Cols
	if len(l.Z) == 3*n {
		l.mixed(img, n)
		return img
	}
	lo, hi := l.extent()
	colors := shades(l.Map)
	for i, v := range l.Z[:n] {
		if v != v {
			continue
		}
		img.SetNRGBA(i%l.Cols, i/l.Cols, colors[level((v-lo)/(hi-lo))])
	}
	return img
}

// level is the step out of 256 of a share; what is outside 0 to 1 is cut off.
func level(share float64) uint8 {
	switch {
	case share >= 1:
		return 255
	case share > 0:
		return uint8(255*share + .5)
	}
	return 0
}

func (l *Layer) mixed(img *image.NRGBA, n int) {
	lo, hi := 0.0, 1.0
	for _, v := range l.Z {
		if v > 1 && there(v, false) {
			hi = 255
		}
	}
	if !math.IsNaN(l.Range[0]) {
		lo = l.Range[0]
	}
	if !math.IsNaN(l.Range[1]) {
		hi = l.Range[1]
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	for i := range n {
		r, g, b := l.Z[i], l.Z[n+i], l.Z[2*n+i]
		if r != r || g != g || b != b {
			continue
		}
		part := func(v float64) uint8 { return level((v - lo) / (hi - lo)) }
		img.SetNRGBA(i%l.Cols, i/l.Cols, color.NRGBA{part(r), part(g), part(b), 255})
	}
}

// WritePNG writes the matrix of a layer as a PNG; an element is a square of scale pixels.
func (l *Layer) WritePNG(w io.Writer, scale int) error {
	img := l.pixels()
	if scale > 1 {
		big := image.NewNRGBA(image.Rect(0, 0, l.Cols*scale, l.Rows*scale))
		for y := range l.Rows * scale {
			for x := range l.Cols * scale {
				big.SetNRGBA(x, y, img.NRGBAAt(x/scale, y/scale))
			}
		}
		img = big
	}
	return png.Encode(w, img)
}

// Cells is the layer with at most so many rows and columns: each is the mean of a block. Missing
// elements do not count.
func (l *Layer) cells(rows, cols int) *Layer {
	if l.Rows <= rows && l.Cols <= cols {
		return l
	}
	rows, cols = min(rows, l.Rows), min(cols, l.Cols)
	out := *l
	out.Rows, out.Cols = rows, cols
	planes := len(l.Z) / max(1, l.Rows*l.Cols)
	out.Z = make([]float64, 0, planes*rows*cols)
	lo, hi := l.extent() // means lie closer together
	if planes == 1 {
		out.Range = [2]float64{lo, hi}
	}
	for p := range planes {
		z := l.Z[p*l.Rows*l.Cols:]
		for i := range rows {
			for j := range cols {
				sum, n := 0.0, 0
				for r := i * l.Rows / rows; r < (i+1)*l.Rows/rows; r++ {
					for c := j * l.Cols / cols; c < (j+1)*l.Cols/cols; c++ {
						if v := z[r*l.Cols+c]; there(v, false) {
							sum, n = sum+v, n+1
						}
					}
				}
				if n == 0 {
					sum = math.NaN()
				}
				out.Z = append(out.Z, sum/float64(max(n, 1)))
			}
		}
	}
	return &out
}
