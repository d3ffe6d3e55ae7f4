package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/move"
	"flow/kernels/rowtest"
)

// chainSets are the kernel sets of this machine whose results are defined to the bit.
func chainSets(t testing.TB) []*blas.Set {
	var sets []*blas.Set
	for _, name := range blas.Names() {
		s, err := blas.Select(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Chain {
			sets = append(sets, s)
		}
	}
	return sets
}

// dominant is a random square matrix with a heavy diagonal: positive definite, and no elimination
// of it is unstable.
func dominant(r *rand.Rand, e types.Elem, n int) *value.Dense {
	d := rowtest.RandomDense(r, e, n, n)
	for i := range n {
		for j := range i {
			d.Set(j, i, d.At(i, j))
		}
		d.Set(i, i, value.F64(float64(n)+r.Float64()))
	}
	return d
}

// sizes that cross the edges of vectors, register tiles and blocks.
func someSize(r *rand.Rand) int { return []int{0, 1, 2, 7, 24, 31, 33, 50, 65}[r.IntN(9)] }

func TestProductsEqualTheirDefinition(t *testing.T) {
	elems := []types.Elem{types.F64, types.F32, types.I64}
	for _, set := range chainSets(t) {
		rows := denseProducts(set)
		r := rand.New(rand.NewPCG(1, 2))
		for trial := range 72 {
			e := elems[trial%3]
			ta, tb, sub := trial&4 != 0, trial&8 != 0, trial&16 != 0
			n, m, k := someSize(r), someSize(r), someSize(r)
			an, am := n, k
			if ta {
				an, am = k, n
			}
			bn, bm := k, m
			if tb {
				bn, bm = m, k
			}
			a, b, c := rowtest.RandomDense(r, e, an, am), rowtest.RandomDense(r, e, bn, bm), rowtest.RandomDense(r, e, n, m)
			turns := []op.Attr{rowtest.Attr("ta", op.Bool(ta)), rowtest.Attr("tb", op.Bool(tb))}
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "matmul"), op.MakeAttrs(turns...), a, b)
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "gemm"), op.MakeAttrs(append(turns, rowtest.Attr("sub", op.Bool(sub)))...), c, a, b)
			square := rowtest.RandomDense(r, e, n, n)
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "syrk"), op.MakeAttrs(rowtest.Attr("sub", op.Bool(sub)), rowtest.Attr("ta", op.Bool(ta))), square, a)
		}
	}
}

func TestProductsWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := rowtest.RowNamed(t, denseProducts(chainSets(t)[0]), "matmul")
	for _, c := range []struct{ a, b, want types.Elem }{
		{types.Bool, types.Bool, types.I64}, {types.Bool, types.F64, types.F64}, {types.I64, types.F64, types.F64}, {types.I64, types.Bool, types.I64},
	} {
		got := rowtest.CheckRow(t, d, nil, rowtest.RandomDense(r, c.a, 5, 6), rowtest.RandomDense(r, c.b, 6, 7))
		if got.Type().Elem != c.want {
			t.Errorf("%v @ %v is %v", c.a, c.b, got.Type())
		}
	}
	huge := value.New(types.I64, 1, 2)
	huge.I64[0], huge.I64[1] = math.MaxInt64, 2
	if got := rowtest.CheckRow(t, d, op.MakeAttrs(rowtest.Attr("tb", op.Bool(true))), huge, huge).(*value.Dense); got.I64[0] != 5 {
		t.Errorf("integers must wrap: %d", got.I64[0])
	}
}

// TestIntegerProductsAroundTheBitsOfAFloat: products of integers are computed in floats where no sum
// needs more than 53 bits, and must be exact on both sides of that bound.
func TestIntegerProductsAroundTheBitsOfAFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	rows := denseProducts(chainSets(t)[0])
	for width := 20; width <= 32; width++ {
		random := func(n, m int) *value.Dense {
			d := value.New(types.I64, n, m)
			for k := range d.I64 {
				d.I64[k] = (1<<width - 1 - r.Int64N(8)) * (1 - 2*r.Int64N(2)*int64(width%2)) // all of one sign, or of both
			}
			return d
		}
		a, b, c := random(17, 33), random(33, 9), random(17, 9)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "matmul"), nil, a, b)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "gemm"), op.MakeAttrs(rowtest.Attr("sub", op.Bool(true))), c, a, b)
		rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "syrk"), op.MakeAttrs(rowtest.Attr("ta", op.Bool(true))), random(33, 33), a)
	}
}

func TestFactorsAndSolvesEqualTheirDefinition(t *testing.T) {
	for _, set := range chainSets(t) {
		rows := denseProducts(set)
		r := rand.New(rand.NewPCG(5, 6))
		for trial := range 20 {
			e := []types.Elem{types.F64, types.F32}[trial%2]
			n, m := someSize(r), someSize(r)
			a := dominant(r, e, n)
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "potrf"), nil, a)
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "getrf"), nil, a)
			for _, name := range []string{"trsm", "trsm_upper"} {
				rowtest.CheckRow(t, rowtest.RowNamed(t, rows, name), nil, a, rowtest.RandomDense(r, e, m, n))
			}
			for _, name := range []string{"trsm_left", "trsm_left_t", "trsm_left_upper"} {
				rowtest.CheckRow(t, rowtest.RowNamed(t, rows, name), nil, a, rowtest.RandomDense(r, e, n, m))
			}
			rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "trsm_left"), op.MakeAttrs(rowtest.Attr("unit", op.Bool(true))), a, rowtest.RandomDense(r, e, n, m))
		}
	}
}

// TestFactorsMultiplyBack holds for every set, the ones without a chain too.
func TestFactorsMultiplyBack(t *testing.T) {
	for _, name := range blas.Names() {
		set, _ := blas.Select(name)
		rows := append(denseProducts(set), move.Rows()...)
		run := func(name string, attrs *op.Attrs, in ...value.Value) *value.Dense {
			got, _, err := rowtest.RunRow(t, rowtest.RowNamed(t, rows, name), attrs, in...)
			if err != nil {
				t.Fatal(err)
			}
			return got.(*value.Dense)
		}
		r := rand.New(rand.NewPCG(7, 8))
		const n = 70
		a := dominant(r, types.F64, n)
		l := run("potrf", nil, a)
		lu := run("getrf", nil, a)
		b := rowtest.RandomDense(r, types.F64, n, 5)
		x := run("trsm_left_t", nil, l, run("trsm_left", nil, l, b))
		y := run("trsm_left_upper", nil, lu, run("trsm_left", op.MakeAttrs(rowtest.Attr("unit", op.Bool(true))), lu, b))
		z := run("trsm", nil, l, run("t", nil, b).Clone())
		for what, pair := range map[string][2]*value.Dense{
			"L t(L)":     {run("matmul", op.MakeAttrs(rowtest.Attr("tb", op.Bool(true))), l, l), a},
			"L U":        {run("matmul", nil, run("lower", op.MakeAttrs(rowtest.Attr("unit", op.Bool(true))), lu), run("upper", nil, lu)), a},
			"A x (chol)": {run("matmul", nil, a, x), b},
			"A x (lu)":   {run("matmul", nil, a, y), b},
			"z t(L)":     {run("matmul", op.MakeAttrs(rowtest.Attr("tb", op.Bool(true))), z, l), run("t", nil, b)},
		} {
			for i := range pair[1].Rows {
				for j := range pair[1].Cols {
					if d := math.Abs(pair[0].At(i, j).F - pair[1].At(i, j).F); !(d < 1e-11) {
						t.Fatalf("%s: %s is off by %g at [%d,%d]", name, what, d, i, j)
					}
				}
			}
		}
	}
}

func TestFailuresNameTheMinor(t *testing.T) {
	for _, name := range blas.Names() {
		set, _ := blas.Select(name)
		rows := denseProducts(set)
		for _, e := range []types.Elem{types.F64, types.F32} {
			r := rand.New(rand.NewPCG(9, 10))
			for _, minor := range []int{1, 17, 60, 90} {
				a := dominant(r, e, 90)
				for j := range minor - 1 { // the row before has no influence, so the pivot is what we put there
					a.Set(minor-1, j, value.F64(0))
				}
				a.Set(minor-1, minor-1, value.F64(-3.5))
				out := a.Clone()
				err := rowtest.RowNamed(t, rows, "potrf").Kernel(&op.Call{In: []value.Value{a}, Type: a.Type(), Out: out})
				want := fmt.Sprintf("leading minor %d is not positive definite (pivot -3.5)", minor)
				if f, ok := err.(*op.Failure); !ok || f.Code != "E601" || f.Msg != want {
					t.Errorf("%s %v: %v, want %s", name, e, err, want)
				}
				a.Set(minor-1, minor-1, value.F64(math.NaN()))
				out = a.Clone()
				err = rowtest.RowNamed(t, rows, "potrf").Kernel(&op.Call{In: []value.Value{a}, Type: a.Type(), Out: out})
				if want = fmt.Sprintf("leading minor %d is NaN", minor); err == nil || err.Error() != want {
					t.Errorf("%s %v: %v, want %s", name, e, err, want)
				}
			}
			z := dominant(r, e, 40)
			for j := range 40 {
				z.Set(36, j, value.F64(0))
			}
			err := rowtest.RowNamed(t, rows, "getrf").Kernel(&op.Call{In: []value.Value{z}, Type: z.Type(), Out: z.Clone()})
			if f, ok := err.(*op.Failure); !ok || f.Code != "E602" || f.Msg != "pivot 37 of LU without pivoting is zero" {
				t.Errorf("%s %v: %v", name, e, err)
			}
		}
	}
}

// The pivot in the message is the one that the definition meets, wherever in a block of the kernel it
// is.
func TestFailuresNameThePivot(t *testing.T) {
	for _, e := range []types.Elem{types.F64, types.F32} {
		r := rand.New(rand.NewPCG(11, 12))
		for minor := 1; minor <= 200; minor += 1 + minor/6 {
			n := minor + minor%3*5
			a := dominant(r, e, n)
			a.Set(minor-1, minor-1, value.F64(-3.5))
			want := ""
			for _, set := range chainSets(t) {
				potrf, call := rowtest.RowNamed(t, denseProducts(set), "potrf"), &op.Call{In: []value.Value{a}, Type: a.Type(), Out: a.Clone()}
				if want == "" {
					_, err := potrf.Ref(call)
					want = fmt.Sprint(err)
				}
				if err := potrf.Kernel(call); fmt.Sprint(err) != want {
					t.Errorf("%s %v, %d rows: %v, the definition says %s", set.Name, e, n, err, want)
				}
			}
		}
	}
}

func TestTypeFaults(t *testing.T) {
	rows := append(denseProducts(chainSets(t)[0]), move.Rows()...)
	d := types.DenseOf
	for _, c := range []struct {
		row   string
		attrs *op.Attrs
		in    []types.Type
		code  string
		arg   int
		msg   string
	}{
		{"matmul", nil, []types.Type{d(types.F64, 20, 21), d(types.F64, 20, 3)}, "E210", 1, "inner sizes of `@` differ: 21 columns, 20 rows"},
		{"matmul", nil, []types.Type{d(types.F64, 2, 2), d(types.F32, 2, 2)}, "E201", 1, "`@` of f64 and f32"},
		{"matmul", nil, []types.Type{types.ScalarOf(types.F64), d(types.F32, 2, 2)}, "E202", 0, "`@` takes matrices of numbers; this is f64"},
		{"gemm", nil, []types.Type{d(types.F64, 2, 3), d(types.F64, 2, 2), d(types.F64, 2, 2)}, "E211", 0, ""},
		{"gemm", nil, []types.Type{d(types.F64, 2, 2), d(types.I64, 2, 2), d(types.I64, 2, 2)}, "E201", 0, ""},
		{"potrf", nil, []types.Type{d(types.F64, 3, 4)}, "E213", 0, "potrf takes a square matrix; this has 3 rows and 4 columns"},
		{"potrf", nil, []types.Type{d(types.I64, 3, 3)}, "E202", 0, "potrf takes a matrix of f64 or f32; this is i64[3,3]"},
		{"trsm", nil, []types.Type{d(types.F64, 3, 3), d(types.F64, 4, 4)}, "E211", 1, "trsm: the triangle has order 3, the left side 4 columns"},
		{"trsm_left", nil, []types.Type{d(types.F64, 3, 3), d(types.F32, 3, 4)}, "E201", 1, ""},
		{"slice", op.MakeAttrs(rowtest.Attr("at", op.Ints(1, 1, 3, 1))), []types.Type{d(types.F64, 3, 3)}, "E212", 1, "rows 1..4, columns 1..2 of a f64[3,3]"},
		{"item", op.MakeAttrs(rowtest.Attr("at", op.Ints(3, 0))), []types.Type{d(types.F64, 3, 3)}, "E212", 1, "element [3, 0] of a f64[3,3]"},
		{"reshape", op.MakeAttrs(rowtest.Attr("n", op.Int(2)), rowtest.Attr("m", op.Int(4))), []types.Type{d(types.F64, 3, 3)}, "E211", 0, "3 x 3 has 9 elements, 2 x 4 has 8"},
		{"cbind", nil, []types.Type{d(types.F64, 3, 3), d(types.F64, 4, 3)}, "E211", 1, "cbind: 3 and 4 rows"},
		{"rbind", nil, []types.Type{d(types.F64, 3, 3), d(types.F32, 3, 3)}, "E201", 1, "rbind of f64 and f32"},
		{"reverse", op.MakeAttrs(rowtest.Attr("by", op.Str("row"))), []types.Type{d(types.F64, 3, 3)}, "E203", 1, `by is "row"`},
		{"lay", op.MakeAttrs(rowtest.Attr("rows", op.Int(3)), rowtest.Attr("cols", op.Int(3)), rowtest.Attr("boxes", op.Ints(0, 0, 2, 2, 2, 0))), []types.Type{d(types.F64, 3, 3)}, "E212", 0, ""},
		{"diag", nil, []types.Type{types.ScalarOf(types.I64)}, "E202", 0, "diag takes a dense matrix; this is i64"},
	} {
		row := rowtest.RowNamed(t, rows, c.row)
		_, err := row.Type(&op.Sig{Def: row, In: c.in, Attrs: c.attrs})
		f, ok := err.(*op.Fault)
		if !ok || f.Code != c.code || f.Arg != c.arg || c.msg != "" && f.Msg != c.msg {
			t.Errorf("%s of %v: %#v, want %s at argument %d: %s", c.row, c.in, err, c.code, c.arg, c.msg)
		}
	}
}

func TestFMA32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 200000 {
		x, y := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		z := float32(float64(x) * float64(y) * (r.Float64()*4 - 2)) // often close to -x*y, often far
		if r.IntN(2) == 0 {
			z = math.Float32frombits(r.Uint32())
		}
		got, want := loop.FMA32(x, y, z), fma32Exact(x, y, z)
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("fma32(%g, %g, %g) = %g, want %g", x, y, z, got, want)
		}
	}
}

// TestPartsOfLargeProducts: a rank's part of a product is cut into chunks of many rows, because each
// packs the right factor anew. A small one may be cut finely.
func TestPartsOfLargeProducts(t *testing.T) {
	for _, name := range []string{"matmul", "gemm"} {
		d := rowtest.RowNamed(t, rows(t), name)
		for _, inner := range []int{4, 200} {
			in := []value.Value{value.New(types.F64, 700, inner), value.New(types.F64, inner, 1300)}
			if name == "gemm" {
				in = append([]value.Value{value.New(types.F64, 700, 1300)}, in...)
			}
			n, leaf := d.Loop.Space(&op.Call{Def: d, In: in, Type: types.DenseOf(types.F64, 700, 1300), Part: true})
			if large := inner > 100; n != 700 || large != (leaf >= 100) {
				t.Errorf("%s of %d terms: %d rows in leaves of %d", name, inner, n, leaf)
			}
		}
	}
}

// TestStripsOfPanels: strips of a panel are computed together, up to 128 rows, because each chunk reads
// all of the other factor. More rows would leave workers without a chunk.
func TestStripsOfPanels(t *testing.T) {
	d := rowtest.RowNamed(t, rows(t), "matmul.panels")
	attrs := op.MakeAttrs(rowtest.Attr("panel", op.Int(50)), rowtest.Attr("ta", op.Bool(true)))
	for _, n := range []int{400, 90} {
		c := &op.Call{Def: d, Attrs: attrs, In: []value.Value{value.New(types.F64, 100, n), value.New(types.F64, 100, 9)}, Type: types.DenseOf(types.F64, n, 9)}
		count, _ := d.Loop.Space(c)
		strips := count / 2 // of each of the two panels
		together, _ := d.Loop.Group(c)
		if rows := together * ((n + strips - 1) / strips); rows > 128 || rows <= min(n, 128)/2 {
			t.Errorf("of %d rows in %d strips %d go together", n, strips, rows)
		}
	}
}
