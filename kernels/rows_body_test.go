package kernels

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/interp"
	"flow/kernels/nest"
)

// special are numbers at which functions change their way, overflow, or have no value.
var special = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -2, 1.5, 7, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e300, -1e300, 0x1p63, -0x1p63, 710, -745.2}

var specialWords = []int64{0, 1, -1, 2, 3, 7, -7, 63, 64, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 53, 1<<53 + 1, -1 << 31}

// drawnPoints is the number of random operands of a row; the special ones come before them.
const drawnPoints = 500

// TestBodies: the body of every elementwise row gives the bits of Elt, and has no value where the
// row has none, for all combinations of element types that the row takes, on special numbers in all
// pairs and on random ones.
func TestBodies(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	with, without, combinations := 0, 0, 0
	for _, d := range table.Rows() {
		if !d.Laws.Has(op.Elementwise) || d.Elt == nil {
			continue
		}
		if d.Body == nil {
			without++
			t.Logf("%s has no body", d.Name)
			continue
		}
		with++
		tried := 0
		for _, in := range elemCombinations(len(d.Args)) {
			list := make([]types.Type, len(in))
			for k, e := range in {
				list[k] = types.ScalarOf(e)
			}
			sig := &op.Sig{Def: d, In: list}
			if len(in) == 2 && in[1] == types.I64 { // an integer to the power of one is an integer where the plan knows that it is not negative
				sig.Consts = []value.Value{nil, value.I64(3)}
			}
			out, err := d.Type(sig)
			if err != nil {
				continue
			}
			tried++
			if err := compareBody(d, in, out.Elem); err != nil {
				t.Errorf("%s of %v: %v", d.Name, in, err)
			}
		}
		if tried == 0 {
			t.Errorf("%s takes no operands", d.Name)
		}
		combinations += tried
	}
	if without > 20 || with < 40 || combinations < 4*with {
		t.Errorf("%d rows have bodies, for %d combinations of element types; %d have none", with, combinations, without)
	}
}

// elemCombinations lists n element types in all ways.
func elemCombinations(n int) [][]types.Elem {
	list := [][]types.Elem{nil}
	for range n {
		var longer [][]types.Elem
		for _, l := range list {
			for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
				longer = append(longer, append(append([]types.Elem(nil), l...), e))
			}
		}
		list = longer
	}
	return list
}

// bodyOperands are the special numbers of the operands in all pairs, and random ones.
func bodyOperands(d *op.Def, in []types.Elem, out types.Elem) (list [][]value.Scalar) {
	random := rand.New(rand.NewPCG(31, uint64(len(d.Name))))
	one := func(k int, e types.Elem, number func() float64, word func() int64) value.Scalar {
		switch {
		case e == types.Bool:
			return value.Bool(word()&1 != 0)
		case e == types.I64 && k == 1 && d.Infix == "^" && out == types.I64:
			return value.I64(word() & 127) // exponents that are not negative
		case e == types.I64:
			return value.I64(word())
		}
		return value.F64(number()).Convert(e)
	}
	point := func(number func(k int) float64, word func(k int) int64) {
		x := make([]value.Scalar, len(in))
		for k, e := range in {
			x[k] = one(k, e, func() float64 { return number(k) }, func() int64 { return word(k) })
		}
		list = append(list, x)
	}
	for a := range special {
		for b := range special {
			at := func(k int) int { return []int{a, b, a + b}[k] }
			point(func(k int) float64 { return special[at(k)%len(special)] }, func(k int) int64 { return specialWords[at(k)%len(specialWords)] })
			if len(in) == 1 {
				break
			}
		}
	}
	for range drawnPoints {
		point(func(int) float64 {
			switch random.IntN(4) {
			case 0:
				return math.Float64frombits(random.Uint64())
			case 1:
				return float64(random.IntN(64)-32) / 4
			case 2:
				return math.Ldexp(random.NormFloat64(), random.IntN(280)-140)
			}
			return random.NormFloat64()
		}, func(int) int64 {
			switch random.IntN(3) {
			case 0:
				return int64(random.Uint64())
			case 1:
				return int64(random.Uint64()) >> random.IntN(64)
			}
			return int64(random.IntN(40) - 20)
		})
	}
	return list
}

// compareBody evaluates a row's body by the definition of loops, point by point, and by the
// interpreter, on all points of which the row has a value, beside Elt.
func compareBody(d *op.Def, in []types.Elem, out types.Elem) error {
	points := bodyOperands(d, in, out)
	single := bodyNest(d, in, out, loop.ScalarParam)
	if err := single.Verify(); err != nil {
		return fmt.Errorf("%w\n%s", err, single)
	}
	var with [][]value.Scalar
	var want []value.Scalar
	for _, x := range points {
		args := make([]value.Value, len(x))
		for k, v := range x {
			args[k] = v
		}
		y, failed := define.ApplyElt(d, out, slices.Clone(x))
		got, err := single.Eval(args, loop.Env{})
		if f := (*loop.Failure)(nil); (failed != nil) != errors.As(err, &f) {
			return fmt.Errorf("of %v the row says %v, the body %v\n%s", x, failed, err, single)
		}
		if failed != nil {
			continue
		}
		if z := got[0].(*value.Dense).At(0, 0); !z.Same(y) {
			return fmt.Errorf("%v give %v, want %v\n%s", x, z, y, single)
		}
		with, want = append(with, x), append(want, y)
	}
	column := bodyNest(d, in, out, loop.DenseParam)
	code, err := interp.Compile(column)
	if err != nil {
		return err
	}
	result := value.New(out, len(with), 1)
	var args []value.Value
	for k, e := range in {
		c := value.New(e, len(with), 1)
		for i, x := range with {
			c.Set(i, 0, x[k])
		}
		args = append(args, c)
	}
	if flagged, err := code.Begin(args, []*value.Dense{result}).Window(0, 1, 0, len(with), nil); flagged || err != nil {
		return fmt.Errorf("the interpreter fails: %v, %v\n%s", flagged, err, column)
	}
	for i, y := range want {
		if z := result.At(i, 0); !z.Same(y) {
			return fmt.Errorf("the interpreter gives %v of %v, want %v\n%s", z, with[i], y, column)
		}
	}
	return nil
}

// bodyNest is the row on scalars, or on the rows of columns.
func bodyNest(d *op.Def, in []types.Elem, out types.Elem, kind loop.ParamKind) *loop.Nest {
	b := loop.New()
	for _, e := range in {
		b.Param(kind, e)
	}
	rows, at, subscripts := loop.Num(1), loop.Num(0), []loop.Lin(nil)
	if kind == loop.DenseParam {
		rows = loop.Of(loop.RowsSym, 0)
		at = loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
		subscripts = []loop.Lin{at, loop.Num(0)}
	}
	var list []loop.Val
	for k := range in {
		list = append(list, b.Load(loop.Mem{Kind: loop.ParamMem, N: k}, subscripts...))
	}
	r := b.Result(out, rows, loop.Num(1))
	b.Store(loop.Mem{Kind: loop.ResultMem, N: r}, at, loop.Num(0), nest.Step(b, d, out, list, in, 0, false))
	return b.Nest
}
