package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/linalg"
	"flow/kernels/move"
	"flow/kernels/rowtest"
)

func TestMovesEqualTheirDefinition(t *testing.T) {
	rows := append(move.Rows(), linalg.Triangles()...)
	r := rand.New(rand.NewPCG(1, 1))
	elems := []types.Elem{types.F64, types.F32, types.I64, types.Bool}
	for trial := range 60 {
		e := elems[trial%4]
		n, m := someSize(r), someSize(r)
		a := rowtest.RandomDense(r, e, n, m)
		tt := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "t"), nil, a)
		if back := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "t"), nil, tt); !value.Same(back, a) {
			t.Fatal("t(t(a)) is not a")
		}
		for _, name := range []string{"dense", "exchange", "lower", "upper", "diag"} {
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, name), nil, a)
		}
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "lower"), op.MakeAttrs(rowtest.Attr("unit", op.Bool(true))), a)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "lower"), op.MakeAttrs(rowtest.Attr("strict", op.Bool(true))), a)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "upper"), op.MakeAttrs(rowtest.Attr("strict", op.Bool(true))), a)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "diag"), nil, rowtest.RandomDense(r, e, n, 1))
		for k := range n*m + 2 { // of a matrix with gaps between its rows, to every shape, also to one row and one column
			if shape := [2]int{n * m / max(k, 1), k}; shape[0]*k == n*m {
				rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "reshape"), op.MakeAttrs(rowtest.Attr("n", op.Int(shape[0])), rowtest.Attr("m", op.Int(k))), a)
			}
		}
		for _, by := range []string{"", "rows", "cols", "both"} {
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "reverse"), op.MakeAttrs(rowtest.Attr("by", op.Str(by))), a)
		}
		r0, c0 := r.IntN(n+1), r.IntN(m+1)
		w := []int{r0, c0, r.IntN(n - r0 + 1), r.IntN(m - c0 + 1)}
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "slice"), op.MakeAttrs(rowtest.Attr("at", op.Ints(w...))), a)
		if n > 0 && m > 0 {
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "item"), op.MakeAttrs(rowtest.Attr("at", op.Ints(r.IntN(n), r.IntN(m)))), a)
		}
		b := rowtest.RandomDense(r, elems[r.IntN(4)], n, 3)
		if _, ok := types.Widen(a.Elem, b.Elem); ok {
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "cbind"), nil, a, b, a)
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "rbind"), nil, rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "t"), nil, a), rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "t"), nil, b))
		}
	}
}

// TestLayOfSlicesIsTheMatrix cuts a matrix into tiles and lays them out again, all of them and only
// some.
func TestLayOfSlicesIsTheMatrix(t *testing.T) {
	rows := move.Rows()
	r := rand.New(rand.NewPCG(2, 2))
	for _, nb := range []int{1, 3, 4, 7, 20} {
		const n, m = 13, 8
		a := rowtest.RandomDense(r, types.F64, n, m)
		var tiles []value.Value
		var boxes []int
		for i := 0; i < n; i += nb {
			for j := 0; j < m; j += nb {
				h, w := min(nb, n-i), min(nb, m-j)
				tiles = append(tiles, rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "slice"), op.MakeAttrs(rowtest.Attr("at", op.Ints(i, j, h, w))), a))
				boxes = append(boxes, 0, 0, h, w, i, j)
			}
		}
		lay := rowtest.RowNamed(t, rows, "lay")
		attrs := func(b []int) *op.Attrs {
			return op.MakeAttrs(rowtest.Attr("rows", op.Int(n)), rowtest.Attr("cols", op.Int(m)), rowtest.Attr("boxes", op.Ints(b...)))
		}
		if got := rowtest.CheckRow(t, lay, attrs(boxes), tiles...); !value.Same(got, a) {
			t.Fatalf("tiles of %d laid out differ from the matrix", nb)
		}
		last := len(tiles) - 1
		if last == 0 {
			continue
		}
		got := rowtest.CheckRow(t, lay, attrs(boxes[6:]), tiles[1:]...).(*value.Dense)
		if got.At(0, 0).F != 0 || got.At(n-1, m-1).F != a.At(n-1, m-1).F {
			t.Fatal("the place of a missing tile must be zero")
		}
		rowtest.CheckRow(t, lay, attrs(boxes[:6*last]), tiles[:last]...)
	}
}

func TestConst(t *testing.T) {
	d := rowtest.RowNamed(t, move.Rows(), "const")
	for _, c := range []struct {
		attrs []op.Attr
		want  value.Scalar
	}{
		{[]op.Attr{rowtest.Attr("value", op.Int(7))}, value.I64(7)},
		{[]op.Attr{rowtest.Attr("value", op.Float(0.1)), rowtest.Attr("elem", op.Str("f32"))}, value.Scalar{Elem: types.F32, F: float64(float32(0.1))}},
		{[]op.Attr{rowtest.Attr("value", op.Bool(true))}, value.Bool(true)},
		{[]op.Attr{rowtest.Attr("value", op.Str("x"))}, value.Str("x")},
	} {
		if got := rowtest.CheckRow(t, d, op.MakeAttrs(c.attrs...)); !value.Same(got, c.want) {
			t.Errorf("const%v is %v", op.MakeAttrs(c.attrs...), got)
		}
	}
	if _, err := d.Type(&op.Sig{Def: d, Attrs: op.MakeAttrs(rowtest.Attr("value", op.Str("x")), rowtest.Attr("elem", op.Str("f32")))}); err == nil {
		t.Error("a str as f32 must be refused")
	}
}

func TestExchangePassesScalars(t *testing.T) {
	rowtest.CheckRow(t, rowtest.RowNamed(t, move.Rows(), "exchange"), nil, value.Str("x"))
}
