//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// climbing are subscripts below 91 that go up by one in most vectors of lanes. They are made of the
// index of the lanes, a number and a column of numbers. flags says that a subscript may also lie
// outside.
var climbing = []struct {
	text  string
	flags bool
}{
	{"v9 = max v3, v1", true},
	{"v8 = max v3, v1\nv9 = min v8, v2", false},
	{"v8 = min v3, v2\nv9 = max v8, v1", false},
	{"v7 = i64 91\nv9 = mod v3, v7", false},
	{"v6 = lt v3, v1\nv7 = i64 91\nv8 = add v3, v7\nv9 = select v6, v8, v3", true},
	{"v7 = load %2[i, 0]\nv8 = max v3, v7\nv9 = min v8, v2", true},
	{"v7 = load %2[i, 0]\nv8 = add v3, v7\nv9 = max v8, v1", true},
	{"v7 = i64 2\nv8 = mul v3, v7\nv9 = max v8, v1", true},
}

// climbingNests returns nests that load elements at such subscripts: all lanes, or some of them.
func climbingNests(k int, row bool) (list []string) {
	lanes, at, space, size, store := "i", "v9, 0", "(i: 0..91)", "91, 1", "store out0[i, 0] v15"
	if row {
		lanes, at, space, size, store = "j", "i, v9", "(i: 0..5, j: 0..91)", "5, 91", "store out0[i, j] v15"
	}
	head := fmt.Sprintf("v0 = load %%1\nv1 = i64 0\nv2 = i64 90\nv4 = index %s\nv3 = add v4, v0\n%s\nv10 = le v1, v9\nv11 = le v9, v2\nv12 = and v10, v11\n", lanes, climbing[k].text)
	for _, body := range []string{
		"check 0 v12\nv15 = load %%0[%s]\n",
		"v13 = load %%2[i, 0]\nv14 = lt v13, v1\nv16 = and v12, v14\nv15 = if v16 {\nv17 = load %%0[%s]\nyield v17\n} else {\nv18 = f64 -1\nyield v18\n}\n",
	} {
		text := head + fmt.Sprintf(body, at) + store
		list = append(list, renumbered(fmt.Sprintf("nest(%%0: f64[], %%1: i64, %%2: i64[]) %s {\n%s\n} : (f64[%s])", space, text, size)))
	}
	return list
}

var valueName = regexp.MustCompile(`v\d+`)

// renumbered returns a text with its values numbered in order.
func renumbered(text string) string {
	now := map[string]string{}
	return valueName.ReplaceAllStringFunc(text, func(v string) string {
		if now[v] == "" {
			now[v] = fmt.Sprintf("v%d", len(now))
		}
		return now[v]
	})
}

// TestSubscriptsThatClimb: elements are loaded side by side except where a bound, the end of a circle
// or a choice lies. The results are those of the definition, and no lane reads what it may not.
func TestSubscriptsThatClimb(t *testing.T) {
	for _, target := range those(avx512, halved(avx512), avx2, starved(avx512), starved(avx2)) {
		m := need(t, target)
		r := rand.New(rand.NewPCG(7, 1))
		failed := 0
		for k := range climbing {
			for _, row := range []bool{false, true} {
				for _, text := range climbingNests(k, row) {
					n, err := loop.Parse(text, loop.Standard{})
					if err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
					rows, x, some := 1, value.New(types.F64, 91, 1), value.New(types.I64, 91, 1)
					if row {
						rows, x = 5, value.New(types.F64, 5, 91)
					}
					for i := range x.F64 {
						x.F64[i] = r.Float64()
					}
					for _, by := range []int64{0, 1, -1, 8, -17, 40, -90, 90, 91, -200, 1 << 40, -1 << 62} {
						for i := range some.I64 {
							some.I64[i] = int64(r.IntN(8) - 4)
							if by%2 == 0 { // the same in a few lanes after each other
								some.I64[i] = int64(i/20%3 - 1)
							}
						}
						in := []value.Value{x, value.I64(by), some}
						out := value.New(types.F64, x.Rows, x.Cols)
						f, err := compile(m, target, n, in, []*value.Dense{out})
						if err != nil {
							t.Fatalf("%v\n%s", err, text)
						}
						flagged := f.run(0, rows, 0, 91)
						want, err := n.Eval(in, loop.Env{})
						if flagged != (err != nil) {
							t.Fatalf("flagged: %v, but the definition says %v\n%s", flagged, err, text)
						}
						if err != nil {
							failed++
							continue
						}
						if err := same(out, want[0].(*value.Dense)); err != nil {
							t.Fatalf("%v for %d\n%s", err, by, text)
						}
					}
				}
			}
		}
		if failed < 20 {
			t.Errorf("%d runs failed, want more", failed)
		}
	}
}

// TestBoundedSubscripts: a subscript that bounds keep inside the matrix is not checked. One that
// climbs is compared with the places of lanes side by side before it is gathered.
func TestBoundedSubscripts(t *testing.T) {
	for k, c := range climbing {
		n, err := loop.Parse(climbingNests(k, true)[0], loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := List(AVX512, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if checks := strings.Contains(l.Text, "VPCMPQ $2"); checks != c.flags {
			t.Errorf("compares with bounds: %v, want %v\n%s\n%s", checks, c.flags, n, l.Text)
		}
		if side := strings.Contains(l.Text, "VPCMPQ $0"); side != !strings.Contains(c.text, "mul") {
			t.Errorf("compares places: %v\n%s\n%s", side, n, l.Text)
		}
	}
}

// TestGatheredRows: lanes that gather elements of one row share its address, so no vector is multiplied
// by the stride. On AVX2 each loads its own word where all lanes count.
func TestGatheredRows(t *testing.T) {
	const rows, cols = 9, 61
	x, at, r := value.New(types.F64, rows, cols), value.New(types.I64, rows, cols), rand.New(rand.NewPCG(3, 5))
	for i := range rows {
		for j, p := range r.Perm(cols) {
			x.F64[i*cols+j], at.I64[i*cols+j] = r.Float64(), int64(p)
		}
	}
	in := []value.Value{x, at}
	for _, body := range []string{
		"v0 = load %1[i, j]\nv1 = load %0[i, v0]\nstore out0[i, j] v1",
		"v0 = load %1[8-i, j]\nv1 = i64 20\nv2 = lt v0, v1\nv3 = if v2 {\nv4 = load %0[8-i, v0]\nyield v4\n} else {\nv5 = f64 -1\nyield v5\n}\nstore out0[i, j] v3",
		"v0 = f64 0\nv1 = for round: 0..9 (v2 = v0) {\nv3 = load %1[i, j]\nv4 = load %0[round, v3]\nv5 = add v2, v4\nnext v5\n}\nstore out0[i, j] v1",
		"v0 = load %1[i, j]\nv1 = load %0[i, j]\nstore out0[i, v0] v1",
	} {
		text := fmt.Sprintf("nest(%%0: f64[], %%1: i64[]) (i: 0..%d, j: 0..%d) {\n%s\n} : (f64[%d, %d])", rows, cols, body, rows, cols)
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range those(avx512, halved(avx512), avx2, starved(avx512), starved(avx2)) {
			m, out := need(t, target), value.New(types.F64, rows, cols)
			f, err := compile(m, target, n, in, []*value.Dense{out})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f.run(0, rows, 0, cols)
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Fatalf("%s: %v\n%s", target.name, err, text)
			}
		}
		for _, target := range []Target{AVX512, AVX2} {
			l, err := List(target, n, make([]Layout, len(in)), make([]Layout, 1), Schedule{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(l.Text, "VPMUL") {
				t.Errorf("target %v multiplies a row that all lanes share:\n%s\n%s", target, n, l.Text)
			}
			if words := strings.Contains(l.Text, "VPEXTRQ"); words != (target == AVX2 && strings.Contains(l.Text, "GATHER")) {
				t.Errorf("target %v: loads words alone: %v\n%s\n%s", target, words, n, l.Text)
			}
		}
	}
}

// TestGathersShareDistances: two elements of a row need its distance from the first row once.
func TestGathersShareDistances(t *testing.T) {
	n, err := loop.Parse("nest(%0: f64[], %1: i64[]) (i: 0..%1.rows) {\nv0 = load %1[i, 0]\nv1 = load %1[i, 1]\nv2 = i64 1\nv3 = add v1, v2\nv4 = load %0[v0, v1]\nv5 = load %0[v0, v3]\nv6 = add v4, v5\nstore out0[i, 0] v6\n} : (f64[%1.rows, 1])", loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := List(AVX512, n, make([]Layout, 2), []Layout{{Unit: true}}, Schedule{together: 1})
	if err != nil {
		t.Fatal(err)
	}
	if count := strings.Count(l.Text, "VPMULLQ.BCST 72(DI)"); count != 2 { // over whole vectors, and over the rest
		t.Errorf("%d products with the distance of rows, want 2:\n%s", count, l.Text)
	}
}

// TestSubscriptsUnderConditions: what a condition tells of an integer bounds the subscripts of its
// branch, and no others.
func TestSubscriptsUnderConditions(t *testing.T) {
	const rows, cols, head = 9, 61, "v0 = load %1[i, j]\nv1 = i64 0\nv2 = i64 60\nv3 = i64 61\nv4 = i64 1\n"
	// read loads x[v] if v is inside of the matrix, which it checks.
	read := func(v string) string {
		return strings.ReplaceAll("V0 = le v1, V\nV1 = le V, v2\nV2 = and V0, V1\ncheck 0 V2\nV3 = load %0[i, V]\nyield V3\n", "V", v)
	}
	const none, end = "v99 = f64 -1\nyield v99\n", "}\nstore out0[i, j] v9"
	x, r := value.New(types.F64, rows, cols), rand.New(rand.NewPCG(3, 5))
	for i := range x.F64 {
		x.F64[i] = r.Float64()
	}
	for _, c := range []struct {
		text   string
		checks bool
	}{
		{"v5 = i64 -1\nv6 = lt v5, v0\nv7 = lt v0, v3\nv8 = and v6, v7\nv9 = if v8 {\n" + read("v0") + "} else {\n" + none, false},
		{"v6 = lt v0, v1\nv7 = lt v2, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\n" + read("v0"), false},
		{"v5 = i64 -1\nv6 = lt v5, v0\nv7 = lt v0, v2\nv8 = and v6, v7\nv9 = if v8 {\nv10 = add v0, v4\n" + read("v10") + "} else {\n" + none, false},
		{"v6 = lt v1, v0\nv7 = lt v0, v3\nv8 = and v6, v7\nv9 = if v8 {\nv10 = sub v0, v4\n" + read("v10") + "} else {\n" + none, false},
		{"v6 = lt v1, v0\nv8 = not v6\nv9 = if v8 {\nv10 = sub v1, v0\n" + read("v10") + "} else {\n" + read("v0"), true},
		{"v6 = le v1, v0\nv7 = le v0, v2\nv8 = and v6, v7\nv9 = if v8 {\n" + read("v0") + "} else {\n" + none, false},
		{"v6 = le v1, v0\nv7 = le v0, v2\nv8 = and v6, v7\nv9 = if v8 {\nv10 = sub v0, v4\n" + read("v10") + "} else {\n" + none, true},
		{"v6 = le v1, v0\nv7 = le v0, v2\nv8 = and v6, v7\nv9 = if v8 {\nv10 = add v0, v4\n" + read("v10") + "} else {\n" + none, true},
		{"v5 = i64 -1\nv6 = le v0, v5\nv7 = le v3, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\n" + read("v0"), false},
		{"v5 = i64 -1\nv6 = le v0, v5\nv7 = le v3, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\nv10 = sub v0, v4\n" + read("v10"), true},
		{"v5 = i64 -1\nv6 = le v0, v5\nv7 = le v3, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\nv10 = add v0, v4\n" + read("v10"), true},
		{"v6 = lt v0, v1\nv7 = lt v2, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\nv10 = sub v0, v4\n" + read("v10"), true},
		{"v6 = lt v0, v1\nv7 = lt v2, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + none + "} else {\nv10 = add v0, v4\n" + read("v10"), true},
		{"v6 = lt v0, v1\nv7 = lt v2, v0\nv8 = or v6, v7\nv9 = if v8 {\n" + read("v0") + "} else {\nv10 = add v0, v1\n" + read("v10"), true}, // what comes second
		{"v8 = lt v0, v3\nv9 = if v8 {\n" + read("v0") + "} else {\n" + none, true},
		{"v6 = lt v1, v0\nv7 = lt v0, v3\nv8 = and v6, v7\nv9 = if v8 {\nv10 = add v0, v4\n" + read("v10") + "} else {\n" + none, true},
		{"v6 = lt v1, v0\nv7 = lt v0, v3\nv8 = or v6, v7\nv9 = if v8 {\n" + read("v0") + "} else {\n" + none, true},
		{"v6 = lt v1, v0\nv7 = lt v0, v3\nv8 = and v6, v7\nv9 = if v8 {\n" + none + "} else {\n" + read("v0"), true},
	} {
		text := renumbered(fmt.Sprintf("nest(%%0: f64[], %%1: i64[]) (i: 0..%d, j: 0..%d) {\n%s\n} : (f64[%d, %d])", rows, cols, head+c.text+end, rows, cols))
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		l := lowered(avx512, n, make([]Layout, 2), make([]Layout, 1), loop.FastLevels, Schedule{}, &workshop{})
		if _, err := l.code(); err != nil || l.asm.checks != c.checks {
			t.Errorf("checks: %v, want %v; %v\n%s", l.asm.checks, c.checks, err, n)
		}
		for _, wide := range []int{1, 61, 70, 1 << 40} {
			at := value.New(types.I64, rows, cols)
			for i := range at.I64 {
				at.I64[i] = int64(r.IntN(wide) - wide/8)
			}
			at.I64[r.IntN(len(at.I64))] = []int64{math.MinInt64, math.MaxInt64, -1, 61}[r.IntN(4)]
			want, err := n.Eval([]value.Value{x, at}, loop.Env{})
			for _, target := range those(avx2, starved(avx2), avx512, halved(avx512), starved(avx512)) {
				m, out := need(t, target), value.New(types.F64, rows, cols)
				f, err2 := compile(m, target, n, []value.Value{x, at}, []*value.Dense{out})
				if err2 != nil {
					t.Fatalf("%v\n%s", err2, text)
				}
				if flagged := f.run(0, rows, 0, cols); flagged != (err != nil) {
					t.Fatalf("%s: flagged: %v, but the definition says %v\n%s", target.name, flagged, err, text)
				} else if !flagged {
					if err := same(out, want[0].(*value.Dense)); err != nil {
						t.Fatalf("%s: %v\n%s", target.name, err, text)
					}
				}
			}
		}
	}
}

// TestDecidedComparisons: a comparison is a constant exactly if the spans of its integers tell it. The
// results are those of the definition at all bounds and beside them.
func TestDecidedComparisons(t *testing.T) {
	const head = "v0 = load %0[i, 0]\nv1 = load %1[i, 0]\n"
	clamped := func(to, from string, least, most int64) string {
		return strings.NewReplacer("TO", to, "FROM", from, "LEAST", fmt.Sprint(least), "MOST", fmt.Sprint(most)).
			Replace("v10TO = i64 LEAST\nv11TO = i64 MOST\nv12TO = max vFROM, v10TO\nvTO = min v12TO, v11TO\n")
	}
	const half = int64(1) << 62 // sums of two of -half..half-1 do not wrap
	some, few := clamped("2", "0", -7, 900), clamped("3", "1", -3, 5)
	all := span{math.MinInt64, math.MaxInt64}
	values := []struct {
		text string
		is   span
	}{
		{some + "v4 = min v2, v112\n", span{-7, 900}},
		{some + few + "v4 = add v2, v3\n", span{-10, 905}},
		{some + few + "v4 = sub v2, v3\n", span{-12, 903}},
		{some + few + "v4 = min v2, v3\n", span{-7, 5}},
		{some + few + "v4 = max v3, v2\n", span{-3, 900}},
		{some + few + "v5 = lt v0, v1\nv4 = select v5, v3, v2\n", span{-7, 900}},
		{"v2 = i64 908\nv4 = mod v0, v2\n", span{0, 907}},
		{"v2 = i64 -908\nv4 = mod v0, v2\n", all},
		{clamped("2", "1", 1, 6) + "v4 = mod v0, v2\n", span{0, 5}},
		{"v2 = i64 6\nv3 = i64 -6\nv5 = lt v0, v1\nv9 = select v5, v3, v2\nv4 = mod v0, v9\n", all},
		{few + "v4 = add v3, v0\n", all},
		{few + "v4 = sub v0, v3\n", all},
		{few + "v4 = sub v3, v0\n", all},
		{clamped("2", "0", -half, half-1) + clamped("3", "1", -half, half-1) + "v4 = add v2, v3\n", span{math.MinInt64, math.MaxInt64 - 1}},
		{clamped("2", "0", -half, half-1) + clamped("3", "1", -half, half-1) + "v4 = sub v2, v3\n", span{math.MinInt64 + 1, math.MaxInt64}},
		{clamped("2", "0", 0, half) + clamped("3", "1", 0, half) + "v4 = add v2, v3\n", all},
		{clamped("2", "0", 0, 9) + clamped("3", "1", 0, half) + "v4 = add v2, v3\n", all},
		{clamped("2", "0", -half-1, 0) + clamped("3", "1", -half-1, 0) + "v4 = add v2, v3\n", all},
		{clamped("2", "0", -half-1, 0) + clamped("3", "1", 0, half) + "v4 = sub v2, v3\n", all},
		{clamped("2", "0", 0, half) + clamped("3", "1", -half-1, 0) + "v4 = sub v2, v3\n", all},
	}
	edges := []int64{math.MinInt64, -half - 1, -half, -8, -7, -6, -4, -3, -1, 0, 1, 4, 5, 6, 899, 900, 901, half - 1, half, math.MaxInt64}
	n := len(edges) * len(edges)
	x, y := value.New(types.I64, n, 1), value.New(types.I64, n, 1)
	for k := range n {
		x.I64[k], y.I64[k] = edges[k/len(edges)], edges[k%len(edges)]
	}
	nest := func(body string, cols int) *loop.Nest {
		text := fmt.Sprintf("nest(%%0: i64[], %%1: i64[]) (i: 0..%d) {\n%s\n} : (bool[%d, %d])", n, head+body, n, cols)
		made, err := loop.Parse(renumbered(text), loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return made
	}
	compares := func(body string) int {
		l, err := List(AVX512, nest(body, 1), make([]Layout, 2), make([]Layout, 1), Schedule{together: 1})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(l.Text, "VPCMPQ")
	}
	for _, c := range values {
		undecided := compares(c.text + "v7 = i64 0\nv8 = lt v0, v7\nstore out0[i, 0] v8")
		text, cols := c.text, 0
		compare := func(other span) {
			for _, order := range []string{"lt v4, K", "le v4, K", "lt K, v4", "le K, v4"} {
				a, b := c.is, other
				if order[3] == 'K' {
					a, b = b, a
				}
				decided := a.most < b.least || a.least > b.most || order[1] == 'e' && a.most == b.least || order[1] == 't' && a.least == b.most
				k, y := fmt.Sprint(300+cols), fmt.Sprint("v", 600+cols)
				body := fmt.Sprintf("v%s = i64 %d\n", k, other.least)
				if other.least < other.most {
					body = clamped(k, "1", other.least, other.most)
				}
				body += y + " = " + strings.ReplaceAll(order, "K", "v"+k) + "\n"
				if got := compares(c.text+body+"store out0[i, 0] "+y) < undecided; got != decided {
					t.Errorf("%s of %v and %v: decided is %v\n%s", order, c.is, other, got, c.text)
				}
				text += fmt.Sprintf("%sstore out0[i, %d] %s\n", body, cols, y)
				cols++
			}
		}
		for _, at := range []int64{c.is.least, c.is.most} {
			for _, k := range []int64{at - 1, at, at + 1} {
				for _, other := range []span{{k, k}, {k - 9, k}, {k, k + 9}} {
					if other.least <= other.most {
						compare(other)
					}
				}
			}
		}
		all, in := nest(text, cols), []value.Value{x, y}
		want, err := all.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range those(avx512, halved(avx512), avx2, starved(avx512), starved(avx2)) {
			m, out := need(t, target), value.New(types.Bool, n, cols)
			f, err := compile(m, target, all, in, []*value.Dense{out})
			if err != nil {
				t.Fatal(err)
			}
			f.run(0, 1, 0, n)
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Errorf("%s of %d lanes: %v\n%s", target.name, target.lanes, err, all)
			}
		}
	}
}
