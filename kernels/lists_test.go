package kernels

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/order"
	"flow/kernels/rowtest"
	"flow/kernels/window"
)

// calls are arguments for rows that the loops over the table do not reach: matrices of element type
// e, and attributes.
func calls(r *rand.Rand, e types.Elem, n, m int) map[string][]call {
	a, b := anyDense(r, e, n, m), anyDense(r, e, m, n)
	col := anyDense(r, e, n, 1)
	codes := func(k int) *value.Dense {
		d := value.New(types.I64, n, 1)
		for i := range n {
			d.Set(i, 0, value.I64(int64(r.IntN(k))))
		}
		return d
	}
	edges := value.New(types.F64, r.IntN(5), 1)
	for i := range edges.Rows {
		edges.Set(i, 0, value.F64(float64(i)-1.5+r.Float64()))
	}
	from, to := anyDense(r, e, 1, 5), anyDense(r, e, 5, 1)
	by := rowtest.Attr("by", op.Int(r.IntN(2*m+1)-m))
	desc := rowtest.Attr("desc", op.Bool(r.IntN(2) == 0))
	one := func(in ...value.Value) []call { return []call{{in: in}} }
	with := func(attrs []op.Attr, in ...value.Value) call { return call{op.MakeAttrs(attrs...), in} }
	k := rowtest.Attr("k", op.Int(1+r.IntN(6)))
	w := r.IntN(8)
	c := map[string][]call{
		"nunique": one(a), "median": one(a), "argmin": one(a), "argmax": one(a), "unique": one(a), "kron": one(a, b),
		"quantile":    {with([]op.Attr{rowtest.Attr("q", op.Float(r.Float64()))}, a)},
		"rowquantile": {with([]op.Attr{rowtest.Attr("q", op.Float(r.Float64()))}, a)},
		"colquantile": {with([]op.Attr{rowtest.Attr("q", op.Float(1))}, a)},
		"sort":        {with([]op.Attr{by, desc}, a), with([]op.Attr{desc}, col)},
		"argsort":     {with([]op.Attr{by, desc}, a), with([]op.Attr{desc}, col)},
		"take":        one(a, codes(max(n, 1))),
		"pick.rows":   one(a, codes(max(n, 1))),
		"pick.cols":   one(anyDense(r, e, m, max(n, 1)), codes(max(n, 1))),
		"pick.turned": one(anyDense(r, e, m, max(n, 1)), codes(max(n, 1))),
		"take.turned": one(anyDense(r, e, m, max(n, 1)), codes(max(n, 1))),
		"places":      {with([]op.Attr{rowtest.Attr("axis", op.Int(0))}, anyDense(r, types.Bool, n, 1), value.I64(int64(n))), with([]op.Attr{rowtest.Attr("axis", op.Int(1))}, anyDense(r, types.Bool, 1, m), value.I64(int64(m)))},
		"onehot": {with([]op.Attr{k}, codes(4)), with([]op.Attr{k}, col), with([]op.Attr{k, rowtest.Attr("sparse", op.Bool(true))}, codes(4)),
			with([]op.Attr{k, rowtest.Attr("sparse", op.Bool(true))}, col)},
		"onehot.code": {with([]op.Attr{k}, codes(4)), with([]op.Attr{k}, col)},
		"onehot.of":   {with([]op.Attr{k}, codes(4))},
		"onehot.each": {with(nil, a), with([]op.Attr{rowtest.Attr("start", op.Str("add"))}, a), with([]op.Attr{rowtest.Attr("start", op.Str("sub"))}, a)},
		"onehot.take": one(anyDense(r, types.F64, 1+w, m), codes(5)),
		"ctable": {with(nil, codes(4), codes(5)), with(nil, col, codes(3)), with([]op.Attr{rowtest.Attr("n", op.Int(w)), rowtest.Attr("m", op.Int(7))}, codes(4), codes(5)),
			with([]op.Attr{rowtest.Attr("m", op.Int(w))}, codes(2), codes(6)), with([]op.Attr{rowtest.Attr("n", op.Int(9)), rowtest.Attr("m", op.Int(9)), rowtest.Attr("sparse", op.Bool(true))}, codes(4), codes(5)),
			with([]op.Attr{rowtest.Attr("n", op.Int(w)), rowtest.Attr("m", op.Int(7)), rowtest.Attr("sparse", op.Bool(true))}, codes(4), codes(5))},
		"ctable.weights": {with(nil, codes(4), codes(5), anyDense(r, e, codes(4).Rows, 1)), with([]op.Attr{rowtest.Attr("crop", op.Bool(true)), rowtest.Attr("n", op.Int(w)), rowtest.Attr("m", op.Int(2))}, codes(4), codes(5)),
			with([]op.Attr{rowtest.Attr("crop", op.Bool(true)), rowtest.Attr("n", op.Int(3))}, col, codes(3)),
			with([]op.Attr{rowtest.Attr("crop", op.Bool(true)), rowtest.Attr("n", op.Int(3)), rowtest.Attr("m", op.Int(3)), rowtest.Attr("sparse", op.Bool(true))}, codes(4), codes(5), anyDense(r, e, codes(4).Rows, 1)),
			with([]op.Attr{rowtest.Attr("n", op.Int(w)), rowtest.Attr("m", op.Int(7))}, codes(4), codes(5), anyDense(r, types.F64, codes(4).Rows, 1))},
		"ctable.rows": {with([]op.Attr{rowtest.Attr("n", op.Int(w)), rowtest.Attr("m", op.Int(7))}, codes(4), codes(5)),
			with([]op.Attr{rowtest.Attr("n", op.Int(3)), rowtest.Attr("m", op.Int(4)), rowtest.Attr("crop", op.Bool(true))}, codes(4), codes(5), anyDense(r, e, codes(4).Rows, 1))},
		"bin": {with(nil, a, edges), with([]op.Attr{rowtest.Attr("closed", op.Str("right"))}, a, edges), with([]op.Attr{rowtest.Attr("closed", op.Str("left"))}, a, edges)},
		"bin.even": {with([]op.Attr{k}, a, value.F64(-1.5), value.I64(3)), with([]op.Attr{k}, a, value.F64(1), value.F64(1)),
			with([]op.Attr{k, rowtest.Attr("closed", op.Str("right"))}, a, value.F64(-1.5), value.I64(3)), with([]op.Attr{k, rowtest.Attr("closed", op.Str("right"))}, anyScalar(r, e), value.F64(0), value.F64(1)),
			with([]op.Attr{k}, anyScalar(r, e), value.F64(0), value.F64(1))},
		"recode":  one(a, from, to),
		"trace":   one(anyDense(r, e, n, n)),
		"svdvals": one(a), "svdu": one(a), "svdv": one(a), "rank": one(a), "pinv": one(a), "eigvals": one(anyDense(r, e, n, n)), "eigvecs": one(anyDense(r, e, n, n)),
	}
	for _, name := range []string{"sum", "prod", "min", "max"} {
		c["cum"+name], c["rowcum"+name] = one(a), one(a)
	}
	return c
}

type call struct {
	attrs *op.Attrs
	in    []value.Value
}

// Kernels of the rows on whole matrices equal their definitions, failures included.
func TestWholeRowsEqualTheirDefinitions(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(31, 32))
	accepted := map[string]int{}
	for trial := range 120 {
		n, m := r.IntN(12), r.IntN(8)
		if trial%10 == 0 {
			n, m = 300, 3
		} else if trial%10 == 5 {
			n, m = 3, 300
		}
		for name, list := range calls(r, elemsUnderTest[trial%4], n, m) {
			for _, c := range list {
				if name == "kron" && n*m > 100 || n*m > 100 && (name == "svdu" || name == "svdv") {
					continue
				}
				if _, ok := rowtest.Check(t, table.Must(name), c.attrs, c.in); ok {
					accepted[name]++
				}
			}
		}
	}
	for name := range calls(r, types.F64, 2, 2) {
		if accepted[name] < 5 {
			t.Errorf("%s: only %d calls were accepted", name, accepted[name])
		}
	}
}

// largeLists is a call of a row of lists that is long enough for a loop; n x m is a size for those
// that need no more.
func largeLists(r *rand.Rand, d *op.Def, e types.Elem, n, m int) (*op.Attrs, []value.Value) {
	x := anyDense(r, e, order.SortLeast+r.IntN(30000), 1+m%3)
	switch r.IntN(4) {
	case 0: // with nan and infinities, many of them equal
	case 1: // few different elements
		for i := range x.Rows {
			for j := range x.Cols {
				x.Set(i, j, value.I64(int64(r.IntN(5))-2).Convert(e))
			}
		}
	case 2: // most of them in a narrow range, as most of them differ
		for i := range x.Rows {
			for j := range x.Cols {
				x.Set(i, j, value.F64(1+r.Float64()*float64(int(1)<<r.IntN(12))).Convert(e))
			}
		}
	default:
		calm(x)
	}
	q := op.MakeAttrs(op.Attr{Name: "q", Val: op.Float([]float64{0, 1, 0.5, r.Float64()}[r.IntN(4)])})
	switch d.Name {
	case "pick.cols", "pick.turned", "take.turned":
		at := value.New(types.I64, 3, 1)
		for i := range at.I64 {
			if at.I64[i] = r.Int64N(int64(x.Cols)); d.Name != "take.turned" && r.IntN(2) == 0 {
				at.I64[i] -= int64(x.Cols)
			}
		}
		return nil, []value.Value{x, at}
	case "take", "pick.rows":
		at := value.New(types.I64, 2*n, 1)
		for i := range at.I64 {
			at.I64[i] = r.Int64N(int64(x.Rows))
		}
		return nil, []value.Value{x, at}
	case "sort", "argsort", "sort.part", "argsort.part": // all rows: TestPartsOfSorts has parts
		return op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(-1)}, op.Attr{Name: "desc", Val: op.Bool(r.IntN(2) == 0)},
			op.Attr{Name: "spans", Val: op.Ints(0, 0, x.Rows, 0)}), []value.Value{x}
	case "quantile":
		return q, []value.Value{x}
	case "rowquantile", "colquantile":
		y := anyDense(r, e, n, m)
		calm(y)
		return q, []value.Value{y}
	}
	return nil, []value.Value{x}
}

// Long columns go by digits, short ones by comparisons: both give the order of the definition, to
// the place.
func TestSortIsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{0, 1, 2, order.FewKeys, order.FewKeys + 1, 5000, 70000} {
		for spread := range 7 {
			type pair struct {
				key uint64
				at  int64
			}
			want, keys, at := make([]pair, n), make([]uint64, n), make([]int64, n)
			for i := range want {
				switch spread {
				case 0: // few keys
					keys[i] = uint64(r.IntN(50)) << uint(8*r.IntN(8))
				case 1:
					keys[i] = r.Uint64()
				case 2: // most keys share all but the lowest bits
					keys[i] = uint64(r.IntN(300)) | uint64(r.IntN(100)/99)<<63
				case 3: // a digit that all but one share
					if keys[i] = 1 + uint64(r.IntN(200)); i == n/3 {
						keys[i] = 1<<8 | 100
					}
				case 4, 5: // integers around 0, at most two values a key, and one more
					switch keys[i] = order.SignBit + uint64(r.IntN(2*n)-n); i {
					case n / 2:
						keys[i] = order.SignBit - uint64(n)
					case n / 3:
						keys[i] = order.SignBit + uint64(n+spread-5)
					}
				default: // runs that differ above and below what tells most apart
					keys[i] = uint64(r.IntN(3))<<60 | uint64(r.IntN(500))
				}
				at[i] = int64(i)
				want[i] = pair{keys[i], int64(i)}
			}
			slices.SortStableFunc(want, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
			alone := slices.Clone(keys)
			order.SortKeys(alone)
			for range min(n, 3) {
				p := r.IntN(n)
				k, next := order.SelectKeys(slices.Clone(keys), p, make([]uint64, n))
				after := uint64(order.NanKey)
				if p+1 < n {
					after = want[p+1].key
				}
				if k != want[p].key || next != after {
					t.Fatalf("of %d keys, spread %d, number %d is %x before %x, want %x before %x", n, spread, p, k, next, want[p].key, after)
				}
			}
			order.SortPairs(keys, at, make([]uint64, n), make([]int64, n))
			for i, w := range want {
				if keys[i] != w.key || at[i] != w.at || alone[i] != w.key {
					t.Fatalf("%d keys, spread %d, are not in stable order at %d", n, spread, i)
				}
			}
		}
	}
}

// A key among so many elements that several workers look for it: the greatest integer, whose key is
// that of nan; many equal elements, which are counted; neighbours that differ in the lowest
// bit alone; and the places where the equal ones begin and end.
func TestQuantilesOfLongLists(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	n := 4*window.LeafElements + 1 // so that every quantile k / (n-1) is an element
	equal := 1<<16 + n%7
	for _, c := range []struct {
		what string
		e    types.Elem
		at   func(i int) value.Scalar
	}{
		{"integers", types.I64, func(i int) value.Scalar { return value.I64([]int64{math.MaxInt64, math.MinInt64, int64(i)}[i%3]) }},
		{"truth values", types.Bool, func(i int) value.Scalar { return value.Bool(i%3 > 0) }},
		{"equal numbers", types.F64, func(i int) value.Scalar {
			if i < equal {
				return value.F64(1.5)
			}
			return value.F64(1.5 + float64(i%5) - 2)
		}},
		{"neighbours", types.F64, func(i int) value.Scalar { return value.F64(math.Float64frombits(math.Float64bits(1.5) + uint64(i&1))) }},
		{"one nan", types.F64, func(i int) value.Scalar {
			if i == n/2 {
				return value.F64(math.NaN())
			}
			return value.F64(float64(i))
		}},
	} {
		x := value.New(c.e, n, 1)
		below := 0
		for i := range n {
			x.Set(i*31%n, 0, c.at(i))
			if c.at(i).Convert(types.F64).F < 1.5 {
				below++
			}
		}
		for _, k := range []float64{0, 1, float64(below - 1), float64(below), float64(below) + 0.5, float64(n / 2), float64(n/2) + 0.25, float64(n - 2), float64(n - 1)} {
			q := op.MakeAttrs(op.Attr{Name: "q", Val: op.Float(max(0, min(1, k/float64(n-1))))})
			d := table.Must("quantile")
			own := &op.Call{Def: d, Attrs: q, In: []value.Value{x}, Type: types.ScalarOf(types.F64)}
			if err := d.Kernel(own); err != nil {
				t.Fatal(err)
			}
			if n, _ := d.Loop.Space(own); n == 0 {
				t.Fatal("no loop looks for it")
			}
			rowtest.CheckLoop(t, own, own.Out)
		}
	}
}

// Keys order as the elements do, and come back.
func TestKeysOrder(t *testing.T) {
	list := []float64{math.Inf(-1), -1e300, -1.5, -5e-324, 0, 5e-324, 1, 1e300, math.Inf(1), math.NaN()}
	for i := range list {
		if i > 0 && order.FloatKey(list[i-1]) >= order.FloatKey(list[i]) {
			t.Errorf("the key of %v is not below that of %v", list[i-1], list[i])
		}
		if got := order.Keyed(types.F64, order.FloatKey(list[i])).F; got != list[i] && list[i] == list[i] {
			t.Errorf("%v comes back as %v", list[i], got)
		}
	}
	if order.FloatKey(math.Copysign(0, -1)) != order.FloatKey(0) {
		t.Error("-0 and 0 have different keys")
	}
	for _, v := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		if got := order.Keyed(types.I64, order.IntKey(v)).I; got != v {
			t.Errorf("%d comes back as %d", v, got)
		}
	}
}

// The exact variance is near the textbook's, where that is accurate, and right where it is not.
func TestVarianceIsAccurate(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(35, 36))
	x := value.New(types.F64, 1000, 1)
	mean, want := 0.0, 0.0
	for i := range x.F64 {
		x.F64[i] = r.NormFloat64()
		mean += x.F64[i] / 1000
	}
	for _, v := range x.F64 {
		want += (v - mean) * (v - mean) / 1000
	}
	got, _ := rowtest.Check(t, table.Must("var"), nil, []value.Value{x})
	if g := got.(value.Scalar).F; math.Abs(g-want) > 1e-12 {
		t.Errorf("var %v, want about %v", g, want)
	}
	for i := range x.F64 { // a large mean, a small spread: 2^40 and 2^40 + 1
		x.F64[i] = 0x1p40 + float64(i%2)
	}
	got, _ = rowtest.Check(t, table.Must("var"), nil, []value.Value{x})
	if g := got.(value.Scalar).F; g != 0.25 {
		t.Errorf("var of a large mean is %v, want 0.25", g)
	}
}

// A sample without replacement has no number twice and leaves none out; one with replacement is
// uniform.
func TestSample(t *testing.T) {
	draw := func(n, k, seed int, replace bool) []int64 {
		a := op.MakeAttrs(rowtest.Attr("n", op.Int(n)), rowtest.Attr("k", op.Int(k)), rowtest.Attr("seed", op.Int(seed)), rowtest.Attr("replace", op.Bool(replace)))
		out := make([]int64, k)
		for i := range out {
			out[i] = construct.Drawn(a, i)
		}
		return out
	}
	for _, n := range []int{1, 2, 3, 5, 16, 17, 1000} {
		x := draw(n, n, 7, false)
		slices.Sort(x)
		for i, v := range x {
			if v != int64(i) {
				t.Fatalf("a sample of all of %d numbers: %v", n, x)
			}
		}
	}
	first, replaced := make([]float64, 5), make([]float64, 5)
	for seed := range 5000 {
		first[draw(5, 1, seed, false)[0]]++
		replaced[draw(5, 1, seed, true)[0]]++
	}
	for v := range 5 { // 1000 each, standard deviation 28
		if math.Abs(first[v]-1000) > 150 || math.Abs(replaced[v]-1000) > 150 {
			t.Errorf("%d is drawn %v and %v times of 5000, want about 1000", v, first[v], replaced[v])
		}
	}
}

// Values that can be looked up.
func TestKnownStatistics(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	column := func(x ...float64) *value.Dense {
		d := value.New(types.F64, len(x), 1)
		copy(d.F64, x)
		return d
	}
	nan := math.NaN()
	for _, c := range []struct {
		row   string
		attrs []op.Attr
		in    []value.Value
		want  *value.Dense
	}{
		{"sort", nil, []value.Value{column(3, nan, -1, 2)}, column(-1, 2, 3, nan)},
		{"sort", []op.Attr{rowtest.Attr("desc", op.Bool(true))}, []value.Value{column(3, nan, -1, 2)}, column(3, 2, -1, nan)},
		{"unique", nil, []value.Value{column(2, nan, 2, -0.5, nan)}, column(-0.5, 2, nan)},
		{"cumsum", nil, []value.Value{column(1, 2, nan, 4)}, column(1, 3, nan, nan)},
		{"cummin", nil, []value.Value{column(3, 1, 2, nan, 0)}, column(3, 1, 1, nan, nan)},
		{"recode", nil, []value.Value{column(1, nan, 3), column(nan, 1, 1), column(0, 7, 8)}, column(7, 0, 3)},
		{"replace", nil, []value.Value{column(1, nan, 3), value.F64(nan), value.F64(0)}, column(1, 0, 3)},
		{"clamp", nil, []value.Value{column(-5, nan, 5), value.F64(-1), value.F64(1)}, column(-1, nan, 1)},
		{"relu", nil, []value.Value{column(-5, nan, 5, math.Inf(-1))}, column(0, nan, 5, 0)},
		{"rowcumprod", nil, []value.Value{column(2, 3)}, column(2, 3)},
		{"sigmoid", nil, []value.Value{column(math.Inf(-1), 0, math.Inf(1))}, column(0, 0.5, 1)},
	} {
		got, ok := rowtest.Check(t, table.Must(c.row), op.MakeAttrs(c.attrs...), c.in)
		if !ok || rowtest.Differ(got, c.want) != "" {
			t.Errorf("%s%v is %v, want %v", c.row, c.attrs, rowtest.ShowValue(got), rowtest.ShowValue(c.want))
		}
	}
	for _, c := range []struct {
		row  string
		in   []value.Value
		want string
	}{
		{"median", []value.Value{column(5, 1, 4, 2)}, "3"}, {"median", []value.Value{column(5, 1, nan)}, "nan"},
		{"nunique", []value.Value{column(0, math.Copysign(0, -1), nan, nan, 1)}, "3"}, {"argmax", []value.Value{column(1, nan, 9)}, "1"},
		{"stddev", []value.Value{column(2, 4, 4, 4, 5, 5, 7, 9)}, "2"}, {"var", []value.Value{column(1, math.Inf(1))}, "nan"},
	} {
		got, ok := rowtest.Check(t, table.Must(c.row), nil, c.in)
		if !ok || got.(value.Scalar).String() != c.want {
			t.Errorf("%s is %v, want %s", c.row, got, c.want)
		}
	}
}

// Mistakes in arguments are refused with the code that says what is wrong; those in data fail the
// run.
func TestListFaults(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	m := func(e types.Elem, n, k int) types.Type { return types.DenseOf(e, n, k) }
	for _, c := range []struct {
		row   string
		attrs []op.Attr
		in    []types.Type
		code  string
	}{
		{"quantile", nil, []types.Type{m(types.F64, 2, 2)}, "E203"},
		{"quantile", []op.Attr{rowtest.Attr("q", op.Float(1.5))}, []types.Type{m(types.F64, 2, 2)}, "E203"},
		{"median", nil, []types.Type{m(types.F64, 0, 2)}, "E211"},
		{"sort", []op.Attr{rowtest.Attr("by", op.Int(2))}, []types.Type{m(types.F64, 3, 2)}, "E212"},
		{"sort", nil, []types.Type{types.ScalarOf(types.F64)}, "E202"},
		{"take", nil, []types.Type{m(types.F64, 3, 2), m(types.F64, 3, 1)}, "E202"},
		{"take", nil, []types.Type{m(types.F64, 3, 2), m(types.I64, 3, 2)}, "E211"},
		{"onehot", []op.Attr{rowtest.Attr("k", op.Int(-1))}, []types.Type{m(types.I64, 3, 1)}, "E203"},
		{"ctable", nil, []types.Type{m(types.I64, 3, 1), m(types.I64, 4, 1)}, "E211"},
		{"ctable", []op.Attr{rowtest.Attr("n", op.Int(3)), rowtest.Attr("sparse", op.Bool(true))}, []types.Type{m(types.I64, 3, 1), m(types.I64, 3, 1)}, "E203"},
		{"recode", nil, []types.Type{m(types.I64, 3, 1), m(types.I64, 4, 1), m(types.I64, 3, 1)}, "E211"},
		{"recode", nil, []types.Type{m(types.F64, 3, 1), m(types.F32, 4, 1), m(types.F64, 4, 1)}, "E201"},
		{"bin.even", []op.Attr{rowtest.Attr("k", op.Int(0))}, []types.Type{m(types.F64, 3, 1), types.ScalarOf(types.F64), types.ScalarOf(types.F64)}, "E203"},
		{"outer", []op.Attr{rowtest.Attr("op", op.Str("nosuch"))}, []types.Type{m(types.F64, 3, 1), m(types.F64, 3, 1)}, "E203"},
		{"outer", []op.Attr{rowtest.Attr("op", op.Str("+"))}, []types.Type{m(types.F64, 3, 2), m(types.F64, 3, 1)}, "E211"},
		{"outer", []op.Attr{rowtest.Attr("op", op.Str("and"))}, []types.Type{m(types.F64, 3, 1), m(types.F64, 3, 1)}, "E201"},
		{"eigvals", nil, []types.Type{m(types.F64, 3, 2)}, "E213"}, {"eigvals", nil, []types.Type{m(types.I64, 3, 3)}, "E202"},
		{"trace", nil, []types.Type{m(types.F64, 3, 2)}, "E213"},
		{"sample", []op.Attr{rowtest.Attr("n", op.Int(3)), rowtest.Attr("k", op.Int(4))}, nil, "E203"},
	} {
		d := table.Must(c.row)
		_, err := d.Type(&op.Sig{Def: d, Attrs: op.MakeAttrs(c.attrs...), In: c.in})
		if f, ok := err.(*op.Fault); !ok || f.Code != c.code {
			t.Errorf("%s%v of %v: %v, want %s", c.row, c.attrs, c.in, err, c.code)
		}
	}
	one := value.New(types.I64, 1, 1)
	one.Set(0, 0, value.I64(5))
	below := value.New(types.I64, 1, 1)
	below.Set(0, 0, value.I64(-1))
	half := value.New(types.F64, 1, 1)
	half.Set(0, 0, value.F64(0.5))
	nan := value.New(types.F64, 1, 1)
	nan.Set(0, 0, value.F64(math.NaN()))
	for _, c := range []struct {
		row   string
		attrs []op.Attr
		in    []value.Value
		code  string
	}{
		{"take", nil, []value.Value{half, one}, "E607"},
		{"pick.rows", nil, []value.Value{half, one}, "E607"},
		{"pick.cols", nil, []value.Value{half, one}, "E607"},
		{"pick.turned", nil, []value.Value{half, one}, "E607"},
		{"take.turned", nil, []value.Value{half, one}, "E607"},
		{"take.turned", nil, []value.Value{value.New(types.F64, 2, 9), below}, "E607"},
		{"places", []op.Attr{{Name: "axis", Val: op.Int(1)}}, []value.Value{value.New(types.Bool, 3, 1), value.I64(2)}, "E211"},
		{"onehot", []op.Attr{rowtest.Attr("k", op.Int(3))}, []value.Value{one}, "E606"},
		{"ctable", nil, []value.Value{one, half}, "E606"},
		{"bin", nil, []value.Value{half, nan}, "E606"},
		{"eigvals", nil, []value.Value{nan}, "E508"}, {"svdvals", nil, []value.Value{nan}, "E508"},
	} {
		d := table.Must(c.row)
		sig := &op.Sig{Def: d, Attrs: op.MakeAttrs(c.attrs...)}
		for _, v := range c.in {
			sig.In = append(sig.In, v.Type())
		}
		typ, err := d.Type(sig)
		if err != nil {
			t.Fatalf("%s: %v", c.row, err)
		}
		k := &op.Call{Def: d, Attrs: sig.Attrs, In: c.in, Type: typ}
		rowtest.Lend(k)
		if f, ok := d.Kernel(k).(*op.Failure); !ok || f.Code != c.code {
			t.Errorf("%s%v: %v, want %s", c.row, c.attrs, f, c.code)
		}
	}
}
