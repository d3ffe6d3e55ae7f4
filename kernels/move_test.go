package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

func TestMovesEqualTheirDefinition(t *testing.T) {
	rows := append(move(), triangles()...)
	r := rand.New(rand.NewPCG(1, 1))
	elems := []types.Elem{types.F64, types.F32, types.I64, types.Bool}
	for trial := range 60 {
		e := elems[trial%4]
		n, m := someSize(r), someSize(r)
		a := randomDense(r, e, n, m)
		tt := checkRow(t, rowNamed(t, rows, "t"), nil, a)
		if back := checkRow(t, rowNamed(t, rows, "t"), nil, tt); !value.Same(back, a) {
			t.Fatal("t(t(a)) is not a")
		}
		for _, name := range []string{"dense", "exchange", "lower", "upper", "diag"} {
			checkRow(t, rowNamed(t, rows, name), nil, a)
		}
		checkRow(t, rowNamed(t, rows, "lower"), op.MakeAttrs(attr("unit", op.Bool(true))), a)
		checkRow(t, rowNamed(t, rows, "lower"), op.MakeAttrs(attr("strict", op.Bool(true))), a)
		checkRow(t, rowNamed(t, rows, "upper"), op.MakeAttrs(attr("strict", op.Bool(true))), a)
		checkRow(t, rowNamed(t, rows, "diag"), nil, randomDense(r, e, n, 1))
		checkRow(t, rowNamed(t, rows, "reshape"), op.MakeAttrs(attr("n", op.Int(m)), attr("m", op.Int(n))), a)
		for _, by := range []string{"", "rows", "cols", "both"} {
			checkRow(t, rowNamed(t, rows, "reverse"), op.MakeAttrs(attr("by", op.Str(by))), a)
		}
		r0, c0 := r.IntN(n+1), r.IntN(m+1)
		w := []int{r0, c0, r.IntN(n - r0 + 1), r.IntN(m - c0 + 1)}
		checkRow(t, rowNamed(t, rows, "slice"), op.MakeAttrs(attr("at", op.Ints(w...))), a)
		if n > 0 && m > 0 {
			checkRow(t, rowNamed(t, rows, "item"), op.MakeAttrs(attr("at", op.Ints(r.IntN(n), r.IntN(m)))), a)
		}
		b := randomDense(r, elems[r.IntN(4)], n, 3)
		if _, ok := types.Widen(a.Elem, b.Elem); ok {
			checkRow(t, rowNamed(t, rows, "cbind"), nil, a, b, a)
			checkRow(t, rowNamed(t, rows, "rbind"), nil, checkRow(t, rowNamed(t, rows, "t"), nil, a), checkRow(t, rowNamed(t, rows, "t"), nil, b))
		}
	}
}

// TestLayOfSlicesIsTheMatrix cuts a matrix into tiles and lays them out again, all of them and only some.
func TestLayOfSlicesIsTheMatrix(t *testing.T) {
	rows := move()
	r := rand.New(rand.NewPCG(2, 2))
	for _, nb := range []int{1, 3, 4, 7, 20} {
		const n, m = 13, 8
		a := randomDense(r, types.F64, n, m)
		var tiles []value.Value
		var boxes []int
		for i := 0; i < n; i += nb {
			for j := 0; j < m; j += nb {
				h, w := min(nb, n-i), min(nb, m-j)
				tiles = append(tiles, checkRow(t, rowNamed(t, rows, "slice"), op.MakeAttrs(attr("at", op.Ints(i, j, h, w))), a))
				boxes = append(boxes, 0, 0, h, w, i, j)
			}
		}
		lay := rowNamed(t, rows, "lay")
		attrs := func(b []int) *op.Attrs {
			return op.MakeAttrs(attr("rows", op.Int(n)), attr("cols", op.Int(m)), attr("boxes", op.Ints(b...)))
		}
		if got := checkRow(t, lay, attrs(boxes), tiles...); !value.Same(got, a) {
			t.Fatalf("tiles of %d laid out differ from the matrix", nb)
		}
		last := len(tiles) - 1
		if last == 0 {
			continue
		}
		got := checkRow(t, lay, attrs(boxes[6:]), tiles[1:]...).(*value.Dense)
		if got.At(0, 0).F != 0 || got.At(n-1, m-1).F != a.At(n-1, m-1).F {
			t.Fatal("the place of a missing tile must be zero")
		}
		checkRow(t, lay, attrs(boxes[:6*last]), tiles[:last]...)
	}
}

func TestConst(t *testing.T) {
	d := rowNamed(t, move(), "const")
	for _, c := range []struct {
		attrs []op.Attr
		want  value.Scalar
	}{
		{[]op.Attr{attr("value", op.Int(7))}, value.I64(7)},
		{[]op.Attr{attr("value", op.Float(0.1)), attr("elem", op.Str("f32"))}, value.Scalar{Elem: types.F32, F: float64(float32(0.1))}},
		{[]op.Attr{attr("value", op.Bool(true))}, value.Bool(true)},
		{[]op.Attr{attr("value", op.Str("x"))}, value.Str("x")},
	} {
		if got := checkRow(t, d, op.MakeAttrs(c.attrs...)); !value.Same(got, c.want) {
			t.Errorf("const%v is %v", op.MakeAttrs(c.attrs...), got)
		}
	}
	if _, err := d.Type(&op.Sig{Def: d, Attrs: op.MakeAttrs(attr("value", op.Str("x")), attr("elem", op.Str("f32")))}); err == nil {
		t.Error("a str as f32 must be refused")
	}
}

func TestExchangePassesScalars(t *testing.T) {
	checkRow(t, rowNamed(t, move(), "exchange"), nil, value.Str("x"))
}
