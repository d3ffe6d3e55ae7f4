package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/rowtest"
)

// Claimed laws hold on random data of every element type that the row accepts.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, d := range rows(t) {
		values := 0
		for _, a := range d.Args {
			if !a.Attr {
				values++
			}
		}
		if d.Kernel == nil || d.Laws&(op.Commutes|op.Associates|op.Idempotent|op.Involution) == 0 {
			continue
		}
		tried := 0
		for _, e := range elemsUnderTest {
			for range 25 {
				n, m := 1+r.IntN(5), 1+r.IntN(5)
				a, b, c := anyDense(r, e, n, m), anyDense(r, e, n, m), anyDense(r, e, n, m)
				f := func(in ...value.Value) value.Value {
					v, ok := rowtest.Check(t, d, nil, in)
					if !ok {
						return nil
					}
					return v
				}
				hold := func(law op.Laws, name string, x, y value.Value) {
					if !d.Laws.Has(law) || x == nil || y == nil {
						return
					}
					tried++
					if msg := rowtest.Differ(x, y); msg != "" {
						t.Fatalf("%s does not %s on %v: %s", d.Name, name, e, msg)
					}
				}
				switch values {
				case 1:
					if y := f(a); y != nil && d.Laws.Has(op.Involution) && f(y) != nil {
						if z := f(y); z.Type().Equal(a.Type()) {
							hold(op.Involution, "undo itself", z, a)
						}
					}
				case 2:
					if f(a, b) == nil {
						continue
					}
					hold(op.Commutes, "commute", f(a, b), f(b, a))
					if d.Laws.Has(op.Associates) {
						hold(op.Associates, "associate", f(a, f(b, c)), f(f(a, b), c))
					}
					hold(op.Idempotent, "give x of x and x", f(a, a), a)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s: no law was tried", d.Name)
		}
	}
}

// An elementwise kernel may write over an input of its own type.
func TestAlias(t *testing.T) {
	r, rowsTried := rand.New(rand.NewPCG(23, 24)), 0
	for _, d := range rows(t) {
		if !d.Alias || d.Elt == nil {
			continue
		}
		over := 0
		for _, e := range elemsUnderTest {
			for k := range d.Args {
				var in []value.Value
				for a := range d.Args {
					f := e
					if a == 0 && d.Operands == op.AsChosen {
						f = types.Bool
					}
					x := anyDense(r, f, 7, 99).Clone()
					if a > 0 && f == types.I64 { // or one divisor of 693 would be 0, and nothing be compared
						for i := range x.I64 {
							x.I64[i] = x.I64[i]&3 + 1
						}
					}
					in = append(in, x)
				}
				want, ok := rowtest.Check(t, d, nil, in)
				x := in[k].(*value.Dense)
				if !ok || !x.Type().Equal(want.Type()) {
					continue
				}
				over++
				c := &op.Call{Def: d, In: in, Type: want.Type(), Out: x}
				if err := d.Kernel(c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(x, want); msg != "" {
					t.Fatalf("%s over its argument %d of %v: %s", d.Name, k, e, msg)
				}
			}
		}
		if rowsTried++; over == 0 {
			t.Errorf("%s: no call had its result in the place of an argument", d.Name)
		}
	}
	if rowsTried < 20 {
		t.Errorf("only %d rows take their results in the place of an argument", rowsTried)
	}
}

// What the type rules accept and refuse, and with which words.
func TestTypeRules(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	f64 := func(n, m int) types.Type { return types.DenseOf(types.F64, n, m) }
	s := types.ScalarOf
	two := value.I64(2)
	for _, c := range []struct {
		row    string
		in     []types.Type
		consts []value.Value
		want   string // a type, or a code
	}{
		{"add", []types.Type{s(types.I64), s(types.F64)}, nil, "f64"},
		{"add", []types.Type{s(types.Bool), s(types.Bool)}, nil, "i64"},
		{"add", []types.Type{s(types.Str), s(types.Str)}, nil, "str"},
		{"add", []types.Type{s(types.Str), s(types.I64)}, nil, "E201"},
		{"add", []types.Type{s(types.F32), s(types.F64)}, nil, "E201"},
		{"add", []types.Type{f64(2, 3), f64(1, 3)}, nil, "f64[2,3]"},
		{"add", []types.Type{f64(2, 1), f64(2, 3)}, nil, "f64[2,3]"},
		{"add", []types.Type{f64(1, 1), f64(2, 3)}, nil, "f64[2,3]"},
		{"add", []types.Type{f64(2, 1), f64(1, 3)}, nil, "f64[2,3]"},
		{"add", []types.Type{f64(1, 3), f64(types.Unknown, 1)}, nil, "f64[_,3]"},
		{"ifelse", []types.Type{types.DenseOf(types.Bool, 2, 1), f64(1, 3), f64(2, 2)}, nil, "E211"},
		{"add", []types.Type{f64(2, 3), f64(3, 2)}, nil, "E211"},
		{"add", []types.Type{f64(types.Unknown, 3), f64(2, 3)}, nil, "f64[2,3]"},
		{"add", []types.Type{f64(types.Unknown, 3), f64(1, 3)}, nil, "f64[_,3]"},
		{"add", []types.Type{types.EffectType(), f64(1, 3)}, nil, "E202"},
		{"div", []types.Type{s(types.I64), s(types.I64)}, nil, "f64"},
		{"div", []types.Type{s(types.F32), s(types.F32)}, nil, "f32"},
		{"pow", []types.Type{s(types.I64), s(types.I64)}, []value.Value{nil, two}, "i64"},
		{"pow", []types.Type{s(types.I64), s(types.I64)}, []value.Value{nil, value.I64(-2)}, "f64"},
		{"pow", []types.Type{s(types.I64), s(types.I64)}, nil, "f64"},
		{"lt", []types.Type{s(types.Str), s(types.Str)}, nil, "bool"},
		{"lt", []types.Type{f64(2, 2), s(types.I64)}, nil, "bool[2,2]"},
		{"and", []types.Type{s(types.Bool), s(types.I64)}, nil, "E201"},
		{"not", []types.Type{s(types.F64)}, nil, "E202"},
		{"ifelse", []types.Type{types.DenseOf(types.Bool, 2, 1), f64(2, 3), s(types.I64)}, nil, "f64[2,3]"},
		{"ifelse", []types.Type{s(types.I64), s(types.I64), s(types.I64)}, nil, "E201"},
		{"sqrt", []types.Type{s(types.I64)}, nil, "f64"},
		{"sqrt", []types.Type{s(types.Str)}, nil, "E202"},
		{"floor", []types.Type{s(types.I64)}, nil, "i64"},
		{"sum", []types.Type{types.DenseOf(types.Bool, 2, 2)}, nil, "i64"},
		{"mean", []types.Type{types.DenseOf(types.F32, 2, 2)}, nil, "f32"},
		{"min", []types.Type{f64(0, 3)}, nil, "E211"},
		{"min", []types.Type{f64(types.Unknown, 3)}, nil, "f64"},
		{"rowargmin", []types.Type{f64(4, 3)}, nil, "i64[4,1]"},
		{"colsum", []types.Type{types.DenseOf(types.Bool, 4, 3)}, nil, "i64[1,3]"},
		{"nrow", []types.Type{s(types.F64)}, nil, "E202"},
		{"fmt", []types.Type{s(types.Str), s(types.F64)}, []value.Value{value.Str("{} {}"), nil}, "E201"},
		{"fmt", []types.Type{s(types.Str), f64(2, 2)}, nil, "E202"},
	} {
		d := table.Must(c.row)
		got, err := d.Type(&op.Sig{Def: d, In: c.in, Consts: c.consts})
		text := got.String()
		if f, ok := err.(*op.Fault); ok {
			text = f.Code
		} else if err != nil {
			t.Fatalf("%s: %v", c.row, err)
		}
		if text != c.want {
			t.Errorf("%s of %v: %s (%v), want %s", c.row, c.in, text, err, c.want)
		}
	}
}

// Attributes that make no matrix are refused.
func TestConstructorFaults(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row   string
		attrs []op.Attr
		code  string
	}{
		{"zeros", nil, "E201"},
		{"zeros", []op.Attr{{Name: "n", Val: op.Int(-1)}}, "E203"},
		{"zeros", []op.Attr{{Name: "n", Val: op.Float(2)}}, "E203"},
		{"zeros", []op.Attr{{Name: "n", Val: op.Int(1 << 40)}, {Name: "m", Val: op.Int(1 << 40)}}, "E605"},
		{"fill", []op.Attr{{Name: "x", Val: op.Str("a")}, {Name: "n", Val: op.Int(1)}}, "E203"},
		{"seq", []op.Attr{{Name: "a", Val: op.Int(1)}, {Name: "b", Val: op.Int(2)}, {Name: "step", Val: op.Int(0)}}, "E203"},
		{"seq", []op.Attr{{Name: "a", Val: op.Int(-math.MaxInt64)}, {Name: "b", Val: op.Int(math.MaxInt64)}}, "E203"}, // 2^64 - 2 elements
		{"eye", []op.Attr{{Name: "n", Val: op.Int(4)}, {Name: "at", Val: op.Ints(2, 2, 3, 1)}}, "E212"},
	} {
		d := table.Must(c.row)
		_, err := d.Type(&op.Sig{Def: d, Attrs: op.MakeAttrs(c.attrs...)})
		if f, ok := err.(*op.Fault); !ok || f.Code != c.code {
			t.Errorf("%s %v: %v, want %s", c.row, c.attrs, err, c.code)
		}
	}
}

// Known numbers: the counter of the published formula, powers, ranges.
func TestKnownValues(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	attr := func(list ...op.Attr) *op.Attrs { return op.MakeAttrs(list...) }
	v, _ := rowtest.Check(t, table.Must("rand"), attr(op.Attr{Name: "n", Val: op.Int(2)}, op.Attr{Name: "m", Val: op.Int(2)},
		op.Attr{Name: "seed", Val: op.Int(0)}), nil)
	// The first outputs of SplitMix64 with seed 0, as published with xoshiro: 0xe220a8397b1dcdaf,
	// 0x6e789e6aa1b965f4.
	x := v.(*value.Dense).F64
	if x[0] != float64(0xe220a8397b1dcdaf>>11)*0x1p-53 || x[1] != float64(0x6e789e6aa1b965f4>>11)*0x1p-53 {
		t.Errorf("rand: %v", x)
	}
	v, _ = rowtest.Check(t, table.Must("seq"), attr(op.Attr{Name: "a", Val: op.Int(9)}, op.Attr{Name: "b", Val: op.Int(1)},
		op.Attr{Name: "step", Val: op.Int(-3)}), nil)
	if d := v.(*value.Dense); d.Rows != 3 || d.I64[2] != 3 {
		t.Errorf("seq down: %v", d.I64)
	}
	if n := construct.DefaultTile(types.F64, 100, 30); n != 104 {
		t.Errorf("small tile: %d", n)
	}
	for _, c := range []struct {
		row  string
		a, b value.Scalar
		want string
	}{
		{"pow", value.F64(3), value.F64(2), "9"}, {"pow", value.F64(4), value.F64(1.5), "8"},
		{"idiv", value.I64(-7), value.I64(2), "-4"}, {"mod", value.I64(7), value.I64(-3), "-2"},
		{"mod", value.F64(-7), value.F64(3), "2"}, {"ew.max", value.F64(1), value.I64(2), "2"},
	} {
		v, ok := rowtest.Check(t, table.Must(c.row), nil, []value.Value{c.a, c.b})
		if !ok || v.(value.Scalar).String() != c.want {
			t.Errorf("%s(%v, %v) = %v, want %s", c.row, c.a, c.b, v, c.want)
		}
	}
	d := table.Must("idiv")
	c := &op.Call{Def: d, In: []value.Value{value.I64(1), value.I64(0)}, Type: types.ScalarOf(types.I64)}
	if f, ok := d.Kernel(c).(*op.Failure); !ok || f.Code != "E606" {
		t.Errorf("1 // 0: %v", f)
	}
	m := anyDense(rand.New(rand.NewPCG(1, 1)), types.I64, 3, 3)
	m.Set(1, 1, value.I64(0))
	c = &op.Call{Def: d, In: []value.Value{value.I64(1), m}, Type: m.Type(), Out: value.New(types.I64, 3, 3)}
	if f, ok := d.Kernel(c).(*op.Failure); !ok || f.Code != "E606" {
		t.Errorf("1 // a matrix with a zero: %v", f)
	}
}

// Normal numbers have the moments that they should have, and synthetic data the fit that made them.
func TestRandomMoments(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	const n = 200_000
	d := table.Must("randn")
	attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "m", Val: op.Int(1)}, op.Attr{Name: "seed", Val: op.Int(4)})
	c := &op.Call{Def: d, Attrs: attrs, Type: types.DenseOf(types.F64, n, 1), Out: value.New(types.F64, n, 1)}
	if err := d.Kernel(c); err != nil {
		t.Fatal(err)
	}
	var m [5]float64
	for _, x := range c.Result().F64 {
		for k, p := 1, x; k < len(m); k, p = k+1, p*x {
			m[k] += p / n
		}
	}
	// Standard errors for n = 200000: 0.0022, 0.0032, 0.0087, 0.022.
	for k, want := range [5]float64{0, 0, 1, 0, 3} {
		if k > 0 && (m[k]-want > 0.1 || want-m[k] > 0.1) {
			t.Errorf("moment %d of randn is %v, want about %v", k, m[k], want)
		}
	}
}

func TestFmt(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	d := table.Must("fmt")
	for _, c := range []struct {
		format string
		args   []value.Value
		want   string // "" for a failure
	}{
		{"{} of {}", []value.Value{value.I64(3), value.F64(0.5)}, "3 of 0.5"},
		{"{{{}}}", []value.Value{value.Bool(true)}, "{true}"},
		{"{} {}", []value.Value{value.I64(3)}, ""},
		{"{", []value.Value{value.I64(3)}, ""},
		{"{}", []value.Value{value.Str("{}")}, "{}"},
	} {
		v, ok := rowtest.Check(t, d, nil, append([]value.Value{value.Str(c.format)}, c.args...))
		if ok != (c.want != "") || ok && v.(value.Scalar).S != c.want {
			t.Errorf("fmt(%q): %v, want %q", c.format, v, c.want)
		}
	}
}
