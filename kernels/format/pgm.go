package format

// This file writes grey images: PGM, the portable graymap of netpbm, in its binary form P5 with 8
// bits an element. What is written has fewer bits than what it was written from, so images are not
// read back as matrices.

import (
	"bufio"
	"fmt"
	"math"

	"flow/ir/value"
)

// readPGM refuses.
func readPGM(in *input, _ Options, _ bool) (Header, *value.Dense, error) {
	return Header{}, nil, failf(UnknownFormat, in.file, "images are written and not read").help("keep numbers as .npy or .csv")
}

// writePGM writes element 0 as black and Options.Max, or else the greatest element, as white; what
// is above is white, what is below 0 or nan is black.
func writePGM(w *bufio.Writer, d *value.Dense, o Options) error {
	white := 0.0
	if o.Max != nil {
		white = *o.Max
	} else {
		for i := range d.Rows {
			for j := range d.Cols {
				white = math.Max(white, finite(d.At(i, j).Float()))
			}
		}
	}
	if !(white > 0) || math.IsInf(white, 1) {
		white = 1
	}
	if _, err := fmt.Fprintf(w, "P5\n%d %d\n255\n", d.Cols, d.Rows); err != nil {
		return err
	}
	for i := range d.Rows {
		for j := range d.Cols {
			if err := w.WriteByte(grey(d.At(i, j).Float() / white)); err != nil {
				return err
			}
		}
	}
	return nil
}

// finite is x, or 0 for what is no number of this world.
func finite(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	return x
}

// grey is the byte of a brightness from 0 to 1.
func grey(x float64) byte {
	switch {
	case x >= 1:
		return 255
	case x > 0:
		return byte(math.RoundToEven(255 * x))
	}
	return 0
}
