package loop

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

const library = `
func square(v0: f64) (f64) "square is x * x." {
  v1 = mul v0, v0
  yield v1
}

func cube(v0: f64) (f64) "cube is x^3, each product rounded." {
  table t0 f64 [1, 0.5, -inf]
  v1 = call square(v0)
  v2 = mul v1, v0
  v3 = i64 0
  v4 = look t0 v3
  v5 = mul v2, v4
  yield v5
}
`

func testLibrary(t *testing.T) Functions {
	t.Helper()
	lib, err := ParseLibrary(library)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

type example struct{ name, text, in, out string }

func examples(t *testing.T) (list []example) {
	t.Helper()
	data, err := os.ReadFile("testdata/nests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(data), "== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		text, rest, _ := strings.Cut(rest, "-- in --\n")
		in, out, _ := strings.Cut(rest, "-- out --\n")
		list = append(list, example{name, text, in, strings.TrimSpace(out)})
	}
	return list
}

// read makes a value of a line such as `f64 2x2: 1 2 3 4` or `i64 7`.
func read(t *testing.T, line string) value.Value {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	elem, _ := types.ElemNamed(kind)
	number := func(s string) value.Scalar {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value.F64(x).Convert(elem)
	}
	shape, list, dense := strings.Cut(rest, ":")
	if !dense {
		return number(rest)
	}
	var rows, cols int
	if _, err := fmt.Sscanf(shape, "%dx%d", &rows, &cols); err != nil {
		t.Fatal(err)
	}
	d := value.New(elem, rows, cols)
	for k, f := range strings.Fields(list) {
		d.Set(k/cols, k%cols, number(f))
	}
	return d
}

func show(v value.Value) string {
	d := v.(*value.Dense)
	var words []string
	for i := range d.Rows {
		for j := range d.Cols {
			s := d.At(i, j).String()
			if d.Elem == types.Bool {
				s = strconv.FormatInt(d.At(i, j).I, 10)
			}
			words = append(words, s)
		}
	}
	return fmt.Sprintf("%v %dx%d: %s", d.Elem, d.Rows, d.Cols, strings.Join(words, " "))
}

func TestExamples(t *testing.T) {
	lib := testLibrary(t)
	for _, x := range examples(t) {
		t.Run(x.name, func(t *testing.T) {
			n, err := Parse(x.text, lib)
			if err != nil {
				t.Fatal(err)
			}
			if got := n.String(); got != x.text {
				t.Errorf("printed\n%s\nwant\n%s", got, x.text)
			}
			var in []value.Value
			for _, line := range strings.Split(strings.TrimSpace(x.in), "\n") {
				in = append(in, read(t, line))
			}
			out, err := n.Eval(in, Env{})
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, v := range out {
				lines = append(lines, show(v))
			}
			if got := strings.Join(lines, "\n"); got != x.out {
				t.Errorf("got\n%s\nwant\n%s", got, x.out)
			}
		})
	}
}

func TestLibraryReadsBack(t *testing.T) {
	lib := testLibrary(t)
	text := lib["square"].String() + "\n" + lib["cube"].String()
	again, err := ParseLibrary(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range lib {
		if got := again[name].String(); got != f.String() {
			t.Errorf("%s reads back as\n%s", name, got)
		}
	}
	if f := lib["cube"]; math.IsInf(toF64(f.Tables[0].Words[2]), -1) == false {
		t.Errorf("the table of %s lost a word", f.Name)
	}
}

// TestFirstFailure: the failure of the earliest statement is reported, though a later statement
// failed at an earlier point; of one statement the earliest round, then the earliest point.
func TestFirstFailure(t *testing.T) {
	n, err := Parse(`
nest(%0: i64[], %1: i64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = i64 0
  v2 = ne v0, v1
  check 1 v2, v0
  for q: 0..%1.cols {
    v3 = load %1[i, q]
    v4 = ne v3, v1
    check 2 v4, v3
  }
} : ()
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b  string
		site  int
		point int64
	}{
		{"i64 3x1: 1 1 0", "i64 3x2: 0 0 1 1 1 1", 1, 2},
		{"i64 3x1: 1 1 1", "i64 3x2: 1 0 0 1 0 1", 2, 1},
		{"i64 3x1: 0 0 1", "i64 3x2: 1 1 1 1 0 0", 1, 0},
	} {
		_, err := n.Eval([]value.Value{read(t, c.a), read(t, c.b)}, Env{})
		var f *Failure
		if !errors.As(err, &f) || f.Site != c.site || f.Point[0] != c.point {
			t.Errorf("%s, %s: %v, want site %d at %d", c.a, c.b, err, c.site, c.point)
		}
	}
}

func TestStopped(t *testing.T) {
	n, err := Parse("nest() () {\n for k: forever {\n }\n} : ()", nil)
	if err != nil {
		t.Fatal(err)
	}
	left := 10
	_, err = n.Eval(nil, Env{Stopped: func() bool { left--; return left < 0 }})
	if err != ErrStopped {
		t.Errorf("a stopped evaluation gives %v", err)
	}
}

// TestRefused: each text breaks one rule, and the error says which.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"v0 = add v1, v1", "v1 is not defined above"},
		{"v1 = i64 1", "v1 stands where v0 is defined"},
		{"v0 = load %0[i]", "%0 has 2 subscripts, not 1"},
		{"v0 = load %2[i, 0]", "0"},
		{"v0 = i64 1 v1 = f64 1 v2 = add v0, v1", "add of a i64 and a f64"},
		{"v0 = bool true v1 = add v0, v0", "add is not defined on"},
		{"v0 = load %0[k, 0]", `no index "k"`},
		{"v0 = i64 1 store out0[i, 0] v0", "into out0"},
		{"v0 = f64 1 reduce out0[i, 0] v0", "made in another way"},
		{"v0 = f64 1 store out1[i, 0] v0", "made in another way"},
		{"v0 = f64 1 store out7[i, 0] v0", "cannot be stored"},
		{"v0 = bool true if v0 { v1 = f64 1 } else { } store out0[i, 0] v1", "v1 is not visible"},
		{"v0 = bool true v1 = if v0 { v2 = f64 1 yield v2 } else { v3 = i64 1 yield v3 }", "yield different types"},
		{"v0 = bool true break v0", "break outside"},
		{"v0 = i64 1 for q: 0..3 (v1 = v0) { v2 = f64 1 next v2 }", "gives"},
		{"v0 = i64 1 v1 = for q: 0..3 (v2 = v0) { v3 = f64 1 next v3 }", "hands on what it carries"},
		{"for i: 0..3 { }", "two indices are named i"},
		{"for q: 0..3 by 0 { }", "step of q is 0"},
		{"v0 = bool true reduce out1[i, 0] v0", "sum of"},
		{"v0 = f64 1 v1 = i64 1 reduce out2[i, 0] v0, v1", "chain of"},
		{"v0 = call nothing()", `no function "nothing"`},
		{"v0 = call cube()", "takes"},
		{"v0 = f64 1.5.5", "no statement begins with"},
		{"jump", "no statement begins with"},
	} {
		text := "nest(%0: f64[], %1: f64[], %2: f64[]) (i: 0..%0.rows) {\n" + c.body + "\n} : (f64[%0.rows, 1], sum f64[%0.rows, 1], chain f64[%0.rows, 1])"
		if c.want == "0" {
			text = strings.Replace(text, "%2: f64[]", "%2: f64", 1)
			c.want = "%2 has 0 subscripts, not 2"
		}
		_, err := Parse(text, testLibrary(t))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n  %v, want %q", c.body, err, c.want)
		}
	}
	for _, text := range []string{"", "nest", "nest() () {", "nest(%1: f64) () {\n} : ()", "nest() () {\n} : ()\nx", "nest() () {\n} : (f64[3, %0])",
		"nest(%0: str) () {\n} : ()", "nest() (i: 0..3) {\n} : (f64[i, 1])"} {
		if _, err := Parse(text, nil); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	const narrow = "func f(v0: i64) (f32) \"f is one.\" {\n  table t0 f32 [1]\n  v1 = look t0 v0\n  yield v1\n}\n"
	if _, err := ParseLibrary(narrow); err == nil || !strings.Contains(err.Error(), "a table of f32") {
		t.Errorf("a table of f32: %v", err)
	}
}

// TestOperations: every row says what it is defined on, and gives a word of the type that it
// promises.
func TestOperations(t *testing.T) {
	words := map[types.Elem][]Word{types.Bool: {0, 1}, types.I64: {0, 1, 3, ^Word(0), 1 << 63, 1<<63 - 1}}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -2.5, 3e38, math.Inf(1), math.NaN(), 5e-324} {
		words[types.F64] = append(words[types.F64], math.Float64bits(x))
		words[types.F32] = append(words[types.F32], fromF32(float32(x)))
	}
	seen := map[string]bool{}
	for c := firstOp; c < lastOp; c++ {
		o := c.Operation()
		if o.Name == "" || o.Args == 0 || len(o.On) == 0 || o.eval == nil || seen[o.Name] {
			t.Fatalf("operation %d, %q, has no complete row of its own", c, o.Name)
		}
		seen[o.Name] = true
		if again, ok := opNamed(o.Name); !ok || again != c {
			t.Errorf("%s is found as %d", o.Name, again)
		}
		for _, e := range o.On {
			in := slices.Repeat([]types.Elem{e}, o.Args)
			if c == Select {
				in = []types.Elem{types.Bool, types.F32, types.F32}
			}
			out, err := opType(c, in)
			if err != nil {
				t.Errorf("%s on %v: %v", o.Name, e, err)
			}
			for _, a := range words[in[0]] {
				for _, b := range words[in[len(in)-1]] {
					if (c == IDiv || c == Mod) && b == 0 {
						continue
					}
					if x := toFloat(e, a); c == ToI64 && e.IsFloat() && !(x >= -1<<63 && x < 1<<63) {
						continue
					}
					w := c.Eval(in[0], []Word{a, b, b}[:o.Args]...)
					if out == types.Bool && w > 1 || out == types.F32 && w>>32 != 0 {
						t.Errorf("%s of %x and %x gives %x, no %v", o.Name, a, b, w, out)
					}
				}
			}
		}
	}
}

// TestFMA32 compares with exact arithmetic, half of it where a sum in f64 would round twice.
func TestFMA32(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	float := func() float32 {
		x := (1 + float32(random.IntN(1<<23))*0x1p-23) * float32(math.Exp2(float64(random.IntN(60)-30)))
		if random.IntN(2) == 0 {
			x = -x
		}
		return x
	}
	for range 100_000 {
		a, b, c := float(), float(), float()
		if random.IntN(2) == 0 { // c such that the product lies near the middle of two f32
			p := float64(a) * float64(b)
			c = float32(math.Ldexp(p, 24+random.IntN(3)))
		}
		x := new(big.Float).SetPrec(500).SetFloat64(float64(a) * float64(b))
		want, _ := x.Add(x, big.NewFloat(float64(c))).Float32()
		if got := FMA32(a, b, c); got != want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
}

// TestClasses checks the reductions on lists that tell orders and roundings apart.
func TestClasses(t *testing.T) {
	f := func(x ...float64) []Word {
		out := make([]Word, len(x))
		for k, v := range x {
			out[k] = math.Float64bits(v)
		}
		return out
	}
	for _, c := range []struct {
		class Class
		in    []Word
		want  float64
	}{
		{Sum, f(1e300, 1, -1e300), 1},
		{Sum, nil, 0},
		{Sum, f(math.Inf(1), 1), math.Inf(1)},
		{Mean, f(1, 2, 4), 7.0 / 3},
		{Norm, f(3, 4), 5},
		{Norm, f(1e200), math.Inf(1)},
		{Var, f(1, 2, 3), 2.0 / 3},
		{Var, f(1e200, 1), math.Inf(1)},
		{Stddev, f(1, 3), 1},
		{Least, f(1, math.NaN(), 0), math.NaN()},
		{Least, f(0, math.Copysign(0, -1)), math.Copysign(0, -1)},
		{Greatest, nil, math.Inf(-1)},
	} {
		got := c.class.Fold(types.F64, [][]Word{c.in})
		if want := math.Float64bits(c.want); got != want && !(c.want != c.want && toF64(got) != toF64(got)) {
			t.Errorf("%s of %v is %v, want %v", c.class.Info().Name, c.in, toF64(got), c.want)
		}
	}
	for class := Sum; class < lastClass; class++ {
		if i := class.Info(); i.Name == "" || i.Args == 0 || len(i.On) == 0 || i.fold == nil {
			t.Errorf("class %d has no complete row", class)
		}
	}
}

func TestLin(t *testing.T) {
	i, j := Of(IndexSym, 0), Of(IndexSym, 1)
	l := i.Times(2).Plus(j).Plus(Num(-3)).Plus(i.Times(-2))
	if !l.Equal(j.Plus(Num(-3))) || l.Coef(Sym{IndexSym, 0}) != 0 || !l.Affine() || l.Known() {
		t.Errorf("2i + j - 3 - 2i = %v", l)
	}
	if l.Plus(Of(ValSym, 4)).Affine() {
		t.Error("a gather is no affine form")
	}
	if !l.Times(0).Known() {
		t.Error("0 times a form is 0")
	}
}

// TestLinTerms adds drawn forms, and leaves out a symbol: the terms are in ascending order and none is
// 0, and the operands keep theirs.
func TestLinTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() (l Lin) {
		for n := range 5 {
			if c := int64(r.IntN(5) - 2); c != 0 {
				l.Terms = append(l.Terms, Term{c, Sym{SymKind(n / 3), n % 3}})
			}
		}
		l.Const = int64(r.IntN(9) - 4)
		return l
	}
	for range 2000 {
		a, b, s := draw(), draw(), Sym{SymKind(r.IntN(2)), r.IntN(3)}
		before := []Lin{{a.Const, slices.Clone(a.Terms)}, {b.Const, slices.Clone(b.Terms)}}
		sum, rest := a.Plus(b), a.Without(s)
		var want, without Lin
		want.Const, without.Const = a.Const+b.Const, a.Const
		for n := range 6 {
			x := Sym{SymKind(n / 3), n % 3}
			if c := a.Coef(x) + b.Coef(x); c != 0 {
				want.Terms = append(want.Terms, Term{c, x})
			}
			if c := a.Coef(x); c != 0 && x != s {
				without.Terms = append(without.Terms, Term{c, x})
			}
		}
		_, _ = append(sum.Terms, Term{}), append(rest.Terms, Term{}) // which others share
		if !sum.Equal(want) || !rest.Equal(without) || !a.Equal(before[0]) || !b.Equal(before[1]) {
			t.Fatalf("%v + %v is %v, and %v without %v", before[0], before[1], sum, rest, s)
		}
	}
}

// TestStandardReadsBack: every function of the library is read, accepted, and prints as it was
// written.
func TestStandardReadsBack(t *testing.T) {
	names := Standard{}.Names()
	if len(names) < 40 {
		t.Fatalf("%d functions", len(names))
	}
	for _, name := range names {
		f := Standard{}.Function(name)
		if text := f.String(); !strings.Contains(standardText, "\n"+text) {
			t.Errorf("%s prints as\n%.600s", name, text)
		}
	}
	if (Standard{}).Function("nothing") != nil {
		t.Error("a function that is not there is found")
	}
}

// TestRefusedNumbers: texts have no wrong types of values and no numbers out of order, so only passes
// could make them.
func TestRefusedNumbers(t *testing.T) {
	const text = "nest(%0: f64[]) (i: 0..%0.rows) {\n  v0 = load %0[i, 0]\n  v1 = mul v0, v0\n  v2 = add v0, v1\n  store out0[i, 0] v2\n} : (f64[%0.rows, 1])\n"
	for name, change := range map[string]func(n *Nest){
		"v1 is a f64":                        func(n *Nest) { n.Types[1] = types.I64 },
		"v2 is defined where v1 comes":       func(n *Nest) { n.Body.Stmts[1].Dst = 2 },
		"3 values have types and 2":          func(n *Nest) { n.Body.Stmts = n.Body.Stmts[:2] },
		"v2 is not visible where it is read": func(n *Nest) { n.Body.Stmts[1].Args[1] = 2 },
	} {
		n, err := Parse(text, Standard{})
		if err != nil {
			t.Fatal(err)
		}
		change(n)
		if err := n.Verify(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
