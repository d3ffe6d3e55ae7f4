package format

// This file defines writing Matrix Market files: always the array form of a general matrix, with
// the shortest decimals that read back as the same numbers. bool becomes integer 0 and 1.

import (
	"bufio"
	"fmt"
	"strconv"

	"flow/ir/types"
	"flow/ir/value"
)

func writeMatrixMarket(w *bufio.Writer, d *value.Dense, _ Options) error {
	field := "integer"
	if d.Elem.IsFloat() {
		field = "real"
	}
	fmt.Fprintf(w, "%%%%MatrixMarket matrix array %s general\n%d %d\n", field, d.Rows, d.Cols)
	var text []byte
	for j := range d.Cols {
		for i := range d.Rows {
			text = append(appendNumber(text[:0], d, i*d.Stride+j), '\n')
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendNumber appends the element at a place as the shortest decimal that reads back the same;
// bool as 0 or 1.
func appendNumber(text []byte, d *value.Dense, at int) []byte {
	switch d.Elem {
	case types.F64:
		return AppendFloat(text, d.F64[at], 64)
	case types.F32:
		return AppendFloat(text, float64(d.F32[at]), 32)
	case types.Bool:
		return append(text, '0'+d.Bool[at])
	}
	return strconv.AppendInt(text, d.I64[at], 10)
}

// AppendFloat appends a number as value.FormatFloat writes it, without allocating.
func AppendFloat(text []byte, x float64, bits int) []byte {
	if x-x != 0 { // nan or infinite
		return append(text, value.FormatFloat(x, bits)...)
	}
	form := byte('g')
	if value.Counted(x, bits) {
		form = 'f'
	}
	return strconv.AppendFloat(text, x, form, -1, bits)
}
