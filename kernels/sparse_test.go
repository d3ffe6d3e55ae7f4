package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// anySparse is a sparse matrix of random density, half of the time a range of rows of another: rows
// without entries, full rows and numbers that are no numbers all occur.
func anySparse(r *rand.Rand, e types.Elem, rows, cols int) *value.CSR {
	d := anyDense(r, e, rows+2, cols)
	keep := r.Float64()
	for i := range d.Rows {
		share := keep
		switch r.IntN(6) {
		case 0:
			share = 0
		case 1:
			share = 1
		}
		for j := range d.Cols {
			if r.Float64() >= share {
				d.Set(i, j, value.Scalar{Elem: e})
			}
		}
	}
	if r.IntN(2) == 0 {
		return define.KeptRef(d).View(1, rows)
	}
	return define.KeptRef(d.View(0, 0, rows, cols))
}

// checkSparse is check, and a look at the form of a sparse result.
func checkSparse(t *testing.T, d *op.Def, attrs *op.Attrs, in []value.Value) (value.Value, bool) {
	t.Helper()
	v, ok := rowtest.Check(t, d, attrs, in)
	if m, is := v.(*value.CSR); ok && is {
		if err := m.Check(); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
	}
	return v, ok
}

// Every row of the family equals its definition: all elementwise rows with sparse, dense, vector
// and scalar arguments in every place, reductions, moves and products.
func TestSparseRowsEqualTheirDefinitions(t *testing.T) {
	r, tried := rand.New(rand.NewPCG(41, 42)), 0
	for _, d := range rows(t) {
		if d.For == "" {
			continue
		}
		tried++
		accepted, sparse := 0, 0
		for trial := range 160 {
			n, m := r.IntN(7), r.IntN(9)
			if trial%40 == 0 {
				n, m = 300, 5
			}
			in, attrs := sparseCall(r, d, n, m)
			if v, ok := checkSparse(t, d, attrs, in); ok {
				accepted++
				if _, is := v.(*value.CSR); is {
					sparse++
				}
			}
		}
		if accepted < 10 {
			t.Errorf("%s: only %d random calls were accepted", d.Name, accepted)
		}
		if name := strings.TrimPrefix(d.Name, "sp."); (name == "mul" || name == "add" || name == "t" || name == "or" || name == "sqrt") && sparse < 5 {
			t.Errorf("%s: only %d results were sparse", d.Name, sparse)
		}
	}
	if tried < 20 {
		t.Errorf("only %d rows are for sparse matrices", tried)
	}
}

// sparseSubscripts is arguments of row d of subscripts of x, an n x m matrix. Some are out of range.
func sparseSubscripts(r *rand.Rand, d *op.Def, x value.Value, n, m int) ([]value.Value, *op.Attrs) {
	some := func(n int) value.Value { return value.I64(int64(r.IntN(2*n+2) - n)) }
	switch d.For {
	case "element":
		return []value.Value{x, some(n), some(m)}, nil
	case "window":
		return []value.Value{x, some(n), some(m)}, op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(r.IntN(n+1), []int{m, r.IntN(m + 1)}[r.IntN(2)])})
	case "cut":
		size, through := op.Ints(-1, -1), op.Ints([]int{0, 1, 2}[r.IntN(3)], []int{0, 1, 2}[r.IntN(3)])
		return []value.Value{x, some(n), some(n), some(m), some(m)}, op.MakeAttrs(op.Attr{Name: "size", Val: size}, op.Attr{Name: "through", Val: through})
	case "stride":
		step := func() int { return []int{1, 2, 3, -1, -2}[r.IntN(5)] }
		return []value.Value{x}, op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(step())}, op.Attr{Name: "cols", Val: op.Int(step())})
	}
	length := n
	if d.For == "pick.cols" {
		length = m
	}
	at := value.New(types.I64, r.IntN(length+3), 1)
	for i := range at.Rows {
		at.I64[i*at.Stride] = int64(r.IntN(max(1, length)))
		if d.For != "take" && r.IntN(4) == 0 {
			at.I64[i*at.Stride] -= int64(length)
		}
	}
	if r.IntN(2) == 0 {
		slices.Sort(at.I64[:at.Rows])
	}
	return []value.Value{x, at}, nil
}

// sparseCall is arguments for a row of the family, at least one of them sparse.
func sparseCall(r *rand.Rand, d *op.Def, n, m int) ([]value.Value, *op.Attrs) {
	e := elemsUnderTest[r.IntN(4)]
	switch d.For {
	case "slice":
		r0, c0 := r.IntN(n+1), r.IntN(m+1)
		return []value.Value{anySparse(r, e, n, m)}, op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0, r.IntN(n-r0+1), r.IntN(m-c0+1))})
	case "item":
		return []value.Value{anySparse(r, e, n+1, m+1)}, op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r.IntN(n+1), r.IntN(m+1))})
	case "element", "window", "cut", "pick.rows", "take", "pick.cols", "stride":
		return sparseSubscripts(r, d, anySparse(r, e, n, m), n, m)
	case "lower", "upper":
		return []value.Value{anySparse(r, e, n, m)}, op.MakeAttrs(op.Attr{Name: "strict", Val: op.Bool(r.IntN(2) == 0)})
	case "rbind", "cbind":
		in := []value.Value{anySparse(r, e, n, m)}
		for range r.IntN(4) {
			n, m, other := n, m, e
			if d.For == "rbind" {
				n = r.IntN(300)
			} else {
				m = r.IntN(9)
			}
			if r.IntN(3) == 0 {
				other = elemsUnderTest[r.IntN(4)]
			}
			in = append(in, anySparse(r, other, n, m))
		}
		return in, nil
	case "matmul":
		k := r.IntN(8)
		other := e
		if r.IntN(3) == 0 {
			other = elemsUnderTest[r.IntN(4)]
		}
		if r.IntN(3) == 0 {
			m = 1
		}
		in := []value.Value{anySparse(r, e, n, k), anySparse(r, other, k, m)}
		if p := r.IntN(4); p < 2 {
			in[p] = define.EveryElement(in[p])
		}
		return in, nil
	}
	logic := d.For == "and" || d.For == "or" || d.For == "not" || d.For == "xor"
	must := r.IntN(len(d.Args))
	var in []value.Value
	for k := range d.Args {
		f := e
		if r.IntN(3) == 0 {
			f = elemsUnderTest[r.IntN(4)]
		}
		if logic || d.For == "ifelse" && k == 0 {
			f = types.Bool
		}
		switch {
		case k == must || r.IntN(2) == 0:
			in = append(in, anySparse(r, f, n, m))
		case r.IntN(8) == 0:
			in = append(in, anySparse(r, f, 1, m))
		default:
			in = append(in, operands(r, f, n, m))
		}
	}
	return in, nil
}

// The rows that are not derived from dense ones.
func TestSparseWords(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(43, 44))
	accepted := map[string]int{}
	try := func(name string, attrs []op.Attr, in ...value.Value) {
		t.Helper()
		if _, ok := checkSparse(t, table.Must(name), op.MakeAttrs(attrs...), in); ok {
			accepted[name]++
		}
	}
	for trial := range 200 {
		n, m := r.IntN(8), r.IntN(8)
		if trial%20 == 0 {
			n = 400
		}
		e, f := elemsUnderTest[r.IntN(4)], elemsUnderTest[r.IntN(4)]
		a := anySparse(r, e, n, m)
		try("sparse", nil, a)
		try("sparse", nil, define.EveryElement(a))
		try("nnz", nil, a)
		try("nnz", nil, define.EveryElement(a))
		for _, ring := range []string{"max *", "min *", "min +", "max +", "or and"} {
			try("semiring", []op.Attr{rowtest.Attr("ring", op.Str(ring))}, a, anyDense(r, f, m, 1))
		}
		for _, of := range []string{"max", "min", "sum", "any"} {
			x := anyDense(r, f, m, 1)
			if r.IntN(2) == 0 {
				x = anyDense(r, f, 1, m)
			}
			try("sp.rowfold", []op.Attr{rowtest.Attr("of", op.Str(of))}, a, x)
			if e == f && e != types.Bool {
				try("sp.rowfold", []op.Attr{rowtest.Attr("of", op.Str(of))}, a, x, anyDense(r, e, n, 1))
			}
		}
		if n < 100 {
			try("sp.product", nil, a, anySparse(r, f, m, 1+r.IntN(6)))
			k, g := r.IntN(7), elemsUnderTest[r.IntN(4)]
			x, y, ta, tb := anyDense(r, f, n, k), anyDense(r, g, k, m), r.IntN(2) == 0, r.IntN(2) == 0
			if ta {
				x = anyDense(r, f, k, n)
			}
			if tb {
				y = anyDense(r, g, m, k)
			}
			try("sp.times", []op.Attr{rowtest.Attr("ta", op.Bool(ta)), rowtest.Attr("tb", op.Bool(tb))}, a, x, y)
			try("sp.times", nil, a, anySparse(r, f, n, k), anySparse(r, g, k, m))
			try("sp.tmatmul", nil, a, anyDense(r, f, n, []int{0, 1, 1, 2, 5, 9}[r.IntN(6)]))
		}
		some := define.EveryElement(a) // zeros come up at some entries
		for i := range some.Rows {
			for j := range some.Cols {
				if r.IntN(3) == 0 {
					some.Set(i, j, value.Scalar{Elem: e})
				}
			}
		}
		z := anyScalar(r, e)
		if r.IntN(6) == 0 {
			z = value.F64([]float64{1e308, -1e308, 5e-324, math.Inf(1)}[r.IntN(4)]).Convert(types.F64)
		}
		for _, of := range besideEntries {
			try("sp."+of+".beside", nil, define.KeptRef(some), a, z)
		}
		seed := rowtest.Attr("seed", op.Int(trial))
		if n < 100 {
			try("rand_graph", []op.Attr{rowtest.Attr("n", op.Int(n+1)), rowtest.Attr("e", op.Int(r.IntN(30))), seed})
			try("rand_sparse", []op.Attr{rowtest.Attr("n", op.Int(n)), rowtest.Attr("m", op.Int(m)), rowtest.Attr("density", op.Float(r.Float64())), seed})
			try("eye_sparse", []op.Attr{rowtest.Attr("n", op.Int(n))})
		}
	}
	for _, of := range besideEntries {
		if accepted["sp."+of+".beside"] < 50 {
			t.Errorf("sp.%s.beside: only %d calls were accepted", of, accepted["sp."+of+".beside"])
		}
	}
	for _, name := range []string{"sparse", "nnz", "semiring", "sp.rowfold", "rand_graph", "rand_sparse", "eye_sparse", "sp.product", "sp.tmatmul", "sp.times"} {
		if accepted[name] < 50 {
			t.Errorf("%s: only %d calls were accepted", name, accepted[name])
		}
	}
}

// besideEntries lists reductions of a matrix that is a number beside the entries of a sparse one.
var besideEntries = []string{"sum", "mean", "norm", "count", "any", "all", "min", "max"}

// A reduction of the rows of a product that is not built has the bits of one that is.
func TestRowfoldIsTheReductionOfTheProduct(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(45, 46))
	tried := 0
	for range 300 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		a := anySparse(r, elemsUnderTest[r.IntN(4)], n, m)
		x := anyDense(r, elemsUnderTest[r.IntN(4)], 1, m)
		for of, by := range map[string]string{"max": "mul", "min": "mul", "sum": "mul", "any": "and"} {
			product, ok := rowtest.Check(t, table.Must("sp."+by), nil, []value.Value{a, x})
			if !ok {
				continue
			}
			want, ok := rowtest.Check(t, table.Must("sp.row"+of), nil, []value.Value{product})
			got, ok2 := rowtest.Check(t, table.Must("sp.rowfold"), op.MakeAttrs(rowtest.Attr("of", op.Str(of))), []value.Value{a, x})
			if !ok || !ok2 {
				t.Fatalf("%s of %v and %v: refused (%v, %v)", of, a.Type(), x.Type(), ok, ok2)
			}
			tried++
			if !value.Same(got, want) && !holdsNaN(got) {
				t.Fatalf("%s of %v and %v: %s", of, a.Type(), x.Type(), rowtest.Differ(got, want))
			}
			if msg := rowtest.Differ(got, want); msg != "" {
				t.Fatalf("%s of %v and %v: %s", of, a.Type(), x.Type(), msg)
			}
		}
	}
	if tried < 400 {
		t.Errorf("only %d calls", tried)
	}
}

func holdsNaN(v value.Value) bool {
	for _, x := range define.Elements(v) {
		if math.IsNaN(x.F) {
			return true
		}
	}
	return false
}

// What the type rules of sparse arguments accept and refuse.
func TestSparseTypeRules(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	s := func(e types.Elem, n, m int) types.Type { return types.SparseOf(e, n, m) }
	d := func(e types.Elem, n, m int) types.Type { return types.DenseOf(e, n, m) }
	const big = 10_000_000
	for _, c := range []struct {
		row  string
		in   []types.Type
		want string // a type, or a code
		msg  string
	}{
		{"sp.add", []types.Type{s(types.Bool, 3, 4), s(types.F64, 3, 4)}, "sparse f64[3,4]", ""},
		{"sp.or", []types.Type{s(types.Bool, 3, 4), s(types.Bool, 3, 4)}, "sparse bool[3,4]", ""},
		{"sp.add", []types.Type{s(types.F64, 3, 4), d(types.F64, 1, 4)}, "f64[3,4]", ""},
		{"sp.mul", []types.Type{s(types.Bool, 3, 4), d(types.I64, 1, 4)}, "sparse i64[3,4]", ""},
		{"sp.mul", []types.Type{s(types.F64, big, big), d(types.F64, big, 1)}, "sparse f64[10000000,10000000]", ""},
		{"sp.mul", []types.Type{types.ScalarOf(types.I64), s(types.F64, 3, 4)}, "sparse f64[3,4]", ""},
		{"sp.mul", []types.Type{s(types.F64, 1, 4), d(types.F64, 3, 4)}, "f64[3,4]", ""},
		{"sp.mul", []types.Type{s(types.F64, 3, 4), s(types.F64, 4, 3)}, "E211", "shapes of `*` do not agree"},
		{"sp.div", []types.Type{s(types.I64, 3, 4), types.ScalarOf(types.I64)}, "sparse f64[3,4]", ""},
		{"sp.div", []types.Type{types.ScalarOf(types.I64), s(types.I64, 3, 4)}, "f64[3,4]", ""},
		{"sp.eq", []types.Type{s(types.I64, 3, 4), s(types.I64, 3, 4)}, "bool[3,4]", ""},
		{"sp.ne", []types.Type{s(types.I64, 3, 4), s(types.I64, 3, 4)}, "sparse bool[3,4]", ""},
		{"sp.sqrt", []types.Type{s(types.I64, 3, 4)}, "sparse f64[3,4]", ""},
		{"sp.exp", []types.Type{s(types.F64, 3, 4)}, "f64[3,4]", ""},
		{"sp.exp", []types.Type{s(types.F64, big, big)}, "E605", "a f64[10000000,10000000] takes 728 TiB, more than there is"},
		{"sp.add", []types.Type{s(types.F64, big, big), types.ScalarOf(types.F64)}, "E605", "the result of `+` is dense"},
		{"sp.dense", []types.Type{s(types.Bool, big, big)}, "E605", "takes 90.9 TiB"},
		{"sp.matmul", []types.Type{s(types.F64, 3, 4), d(types.F64, 4, 2)}, "f64[3,2]", ""},
		{"sp.matmul", []types.Type{s(types.Bool, 3, 4), s(types.Bool, 4, 2)}, "sparse i64[3,2]", ""},
		{"sp.matmul", []types.Type{d(types.F64, 3, 4), s(types.F64, 4, 2)}, "f64[3,2]", ""},
		{"sp.matmul", []types.Type{s(types.F64, 3, 4), d(types.F64, 3, 2)}, "E210", "inner sizes"},
		{"sp.rbind", []types.Type{s(types.Bool, 2, 4), s(types.I64, 3, 4)}, "sparse i64[5,4]", ""},
		{"sp.rbind", []types.Type{s(types.F64, 2, 4), s(types.F64, 3, 5)}, "E211", "4 and 5 columns"},
		{"sp.cbind", []types.Type{s(types.F64, 2, 4), d(types.F64, 2, 1)}, "E202", "sparse matrices or dense ones, not both"},
		{"sp.cbind", []types.Type{s(types.F64, 2, 1<<30), s(types.F64, 2, 1<<30)}, "L003", "at most 2147483647 columns"},
		{"sp.t", []types.Type{s(types.F64, 1<<33, 4)}, "L003", "at most 2147483647 columns"},
		{"sparse", []types.Type{d(types.F64, 1, 1<<31)}, "L003", "at most 2147483647 columns"},
		{"sparse", []types.Type{types.ScalarOf(types.F64)}, "E202", ""},
		{"sp.rowmax", []types.Type{s(types.F64, 3, 0)}, "E211", ""},
	} {
		row := table.Must(c.row)
		got, err := row.Type(&op.Sig{Def: row, In: c.in})
		text, msg := got.String(), ""
		if f, ok := err.(*op.Fault); ok {
			text, msg = f.Code, f.Msg
		} else if err != nil {
			t.Fatalf("%s: %v", c.row, err)
		}
		if text != c.want || !strings.Contains(msg, c.msg) {
			t.Errorf("%s of %v: %s %q, want %s %q", c.row, c.in, text, msg, c.want, c.msg)
		}
	}
}

// Two sparse matrices are identical if the same places are stored with the same values, of which
// all nans are one.
func TestIdenticalOfSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	all, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	d := all.Must("identical")
	same := map[bool]int{}
	for range 300 {
		e := []types.Elem{types.F64, types.F32, types.I64, types.Bool}[r.IntN(4)]
		n, m := r.IntN(6), 1+r.IntN(6)
		a := anySparse(r, e, n, m)
		b := define.KeptRef(define.EveryElement(a))
		for at := range b.NNZ() {
			if x := b.Entry(at); x.F != x.F {
				b.SetEntry(at, value.Scalar{Elem: e, F: math.Float64frombits(0xfff8<<48 | 1<<40)})
			}
		}
		want := r.IntN(3) > 0 || b.NNZ() == 0
		if !want {
			at := r.IntN(b.NNZ())
			if e == types.Bool {
				b = anySparse(r, e, n, m)
				want = value.Same(define.EveryElement(a), define.EveryElement(b))
			} else {
				b.SetEntry(at, value.I64(77))
				want = value.Same(define.EveryElement(a), define.EveryElement(b))
			}
		}
		v, ok := rowtest.Check(t, d, nil, []value.Value{a, b})
		if !ok || v.(value.Scalar).I != 0 != want {
			t.Fatalf("identical is %v, %v, not %v, of\n%v\n%v", v, ok, want, a, b)
		}
		same[want]++
	}
	if same[true] < 20 || same[false] < 20 {
		t.Errorf("only %v were compared", same)
	}
}

// A rank that makes the sparse form of its own rows does not read the rows of other ranks.
func TestSparseOfOwnRows(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	x := value.New(types.F64, 300, 4)
	for i := range x.F64 {
		x.F64[i] = float64(i%3) + 1
	}
	c := &op.Call{Def: table.Must("sparse"), In: []value.Value{x}, Type: types.SparseOf(types.F64, 300, 4), Lo: 90, Hi: 210}
	if err := c.Def.Loop.Alone(c); err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		if n := c.Out.(*value.CSR).Ptr[i+1] - c.Out.(*value.CSR).Ptr[i]; (n == 4) != (i >= 90 && i < 210) || n%4 != 0 {
			t.Fatalf("row %d has %d entries", i, n)
		}
	}
}
