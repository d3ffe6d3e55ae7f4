//go:build linux && amd64

package amd64

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestRows compares nests whose rows have lanes of their own with the evaluator: matrices,
// triangles, one point.
func TestRows(t *testing.T) {
	nests := map[string]string{
		"matrix times vector": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..%1.cols) {
  v0 = load %1[i, j]
  v1 = load %0[j, 0]
  v2 = mul v0, v1
  reduce out0[i, 0] v2
} : (sum f64[%1.rows, 1])`,
		"columns": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..%1.cols) {
  v0 = load %1[i, j]
  reduce out0[j, 0] v0
  v1 = load %0[i, 0]
  v2 = mul v0, v1
  store out1[i, j] v2
} : (max f64[%1.cols, 1], f64[%1.rows, %1.cols])`,
		"columns in a loop": `
nest(%0: f64[], %1: f64[]) (j: 0..%1.rows) {
  v0 = load %0[j, 1]
  for i: 0..%1.rows {
    v1 = load %1[i, j]
    v2 = mul v0, v1
    reduce out0[0, j] v2
    v3 = index i
    reduce out1[0, j] v1, v3
    reduce out2[0, j] v2
    v4 = lt v1, v0
    reduce out3[0, j] v4
    reduce out3[0, j] v4
  }
} : (sum f64[1, %1.rows], argmin i64[1, %1.rows], var f64[1, %1.rows], count i64[1, %1.rows])`,
		"triangle": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: i+1..2*i) {
  v0 = load %0[i, 0]
  v1 = load %0[j, 0]
  v2 = sub v0, v1
  store out0[i, j] v2
  reduce out1[i, 0] v2
} : (f64[%1.rows, %0.rows], sum f64[%1.rows, 1])`,
		"matrix times matrix": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..3) {
  v0 = f64 0
  v1 = for p: 0..%1.cols (v2 = v0) {
    v3 = load %1[i, p]
    v4 = load %0[p, j]
    v5 = fma v3, v4, v2
    next v5
  }
  store out0[i, j] v1
} : (f64[%1.rows, 3])`,
		"one point": `
nest(%0: f64[], %1: f64[]) () {
  v0 = f64 0
  v1 = for q: 0..%0.rows (v2 = v0) {
    v3 = load %0[q, 0]
    v4 = add v2, v3
    next v4
  }
  store out0[0, 0] v1
} : (f64[1, 1])`,
		"one point, places that the run tells": `
nest(%0: f64[], %1: f64[]) () {
  local w0 f64[3, 4]
  local w1 bool[4, 1]
  local w2 f32[4, 1]
  v0 = load %1[0, 3]
  v1 = to_i64 v0
  v2 = for q: 0..12 (v3 = v1) {
    v4 = load %0[v3+q, v3]
    v5 = load %1[q, v3]
    v6 = lt v4, v5
    v7 = to_f32 v4
    store w0[v3, q-q+1] v4
    store w1[v3+1, 0] v6
    store w2[v3, 0] v7
    v8 = to_i64 v5
    v9 = load w0[v8, 1]
    v10 = load w1[v8+1, 0]
    v11 = load w2[v8, 0]
    v12 = to_f64 v11
    v13 = add v9, v12
    store out0[0, q] v13
    store out1[0, q] v10
    next v8
  }
} : (f64[1, 12], bool[1, 12])`,
	}
	const rows, cols = 21, 60
	r := rand.New(rand.NewPCG(1, 9))
	x := value.New(types.F64, cols, 3)
	for k := range x.F64 {
		x.F64[k] = float64(r.IntN(100)) / 8
	}
	a := value.New(types.F64, rows, cols)
	for k := range a.F64 {
		a.F64[k] = float64(r.IntN(9)) / 4
	}
	in := []value.Value{x, a}
	for _, target := range those(avx512, avx2) {
		m := need(t, target)
		for name, text := range nests {
			nest, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := nest.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for _, fuel := range []uint64{0, 3} {
				var out []*value.Dense
				for _, w := range want {
					out = append(out, value.New(w.Type().Elem, w.Type().Rows, w.Type().Cols))
				}
				c, err := compile(m, target, nest, in, out)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				c.fuel = fuel
				last := rows
				if len(nest.Space) < 2 {
					last = 1
				}
				lanes := cols
				switch {
				case len(nest.Space) == 1:
					lanes = rows
				case name == "matrix times matrix":
					lanes = 3
				}
				c.run(0, last/2, 0, lanes)
				c.run(last/2, last, 0, lanes)
				if !c.finish() {
					t.Errorf("%s: a sum lost something", name)
				}
				for k := range out {
					if err := same(out[k], want[k].(*value.Dense)); err != nil {
						t.Errorf("%s, %s, result %d: %v", target.name, name, k, err)
					}
				}
			}
		}
	}
}

// TestColumnsSideBySide: AVX2 reads and writes four columns of four rows as vectors, and those of a
// table by key. It takes columns that are fewer one by one.
func TestColumnsSideBySide(t *testing.T) {
	const four = `nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 1]
  v1 = load %0[i, 2]
  v2 = load %0[i, 3]
  v3 = load %0[i, COLUMN]
  v4 = mul v0, v1
  v5 = mul v2, v3
  store out0[i, 2] v3
  store out0[i, 3] v4
  store out0[i, 1] v5
  store out0[i, 0] v0
} : (f64[%0.rows, 4])`
	for column, want := range map[string][2]int{"4": {8, 0}, "6": {4, 6}} { // in the code of two vectors
		n, err := loop.Parse(strings.ReplaceAll(four, "COLUMN", column), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := List(AVX2, n, make([]Layout, 1), make([]Layout, 1), Schedule{together: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{strings.Count(l.Text, "VUNPCK"), strings.Count(l.Text, "VMOVHPD")}; got[0] != want[0] || got[1] < want[1] {
			t.Errorf("column %s: %d instructions that turn a square, %d moves of an element, want %v:\n%s", column, got[0], got[1], want, l.Text)
		}
		if got := strings.Count(l.Text, "0x48(DI)"); column == "4" && got > 3 { // the bytes of a row, of three, and of the first rows
			t.Errorf("%d loads of the distance of two rows:\n%s", got, l.Text)
		}
		if !has(avx2) {
			continue
		}
		x := value.New(types.F64, 45, 9)
		for k := range x.F64 {
			x.F64[k] = float64(k*k%97) - 40
		}
		in, out := []value.Value{x}, value.New(types.F64, x.Rows, 4)
		f, err := compile(need(t, avx2), avx2, n, in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		f.run(0, 1, 0, x.Rows)
		all, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := same(out, all[0].(*value.Dense)); err != nil {
			t.Errorf("column %s: %v", column, err)
		}
	}
}

// TestRowsFromLines: rows that begin within a line of a cache have a first vector of fewer lanes, which
// touches nothing before them. All starts in a line and windows of all lengths near the shortest give
// what Eval gives.
func TestRowsFromLines(t *testing.T) {
	m := need(t, avx512)
	for e, index := range map[types.Elem]string{
		types.F64: "v1 = index j\nv2 = load %1[i, 0]\nv3 = mul v1, v2\nv4 = to_f64 v3",
		types.F32: "v1 = mul v0, v0\nv2 = add v1, v0\nv3 = add v2, v2\nv4 = mul v3, v1",
	} {
		text := strings.ReplaceAll(`nest(%0: E[], %1: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  INDEX
  v5 = add v0, v4
  v6 = load %0[i, 0]
  v7 = lt v6, v0
  store out0[i, j] v5
  store out1[i, j] v7
} : (E[%0.rows, %0.cols], bool[%0.rows, %0.cols])`, "E[", e.String()+"[")
		n, err := loop.Parse(strings.ReplaceAll(text, "INDEX", index), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		lanes := 64 / e.Size()
		x := value.New(e, 2*lanes+1, (avx512.line+3)*lanes+5)
		for i := range x.Rows {
			for j := range x.Cols {
				x.Set(i, j, value.F64(float64((i*7+j)%11)).Convert(e))
			}
		}
		by := value.New(types.I64, x.Rows, 1)
		for i := range x.Rows {
			by.Set(i, 0, value.I64(int64(i)))
		}
		in := []value.Value{x, by}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range []Schedule{{}, {Stream: true}, {together: 1}} {
			out := []*value.Dense{value.New(e, x.Rows, x.Cols), value.New(types.Bool, x.Rows, x.Cols)}
			f, err := compileAs(plan, m, avx512, n, in, out, loop.FastLevels)
			if err != nil {
				t.Fatal(err)
			}
			for from := range lanes {
				for _, fuel := range []uint64{0, 3} {
					f.fuel = fuel
					for _, d := range out {
						fill(d, 0)
					}
					to := min(x.Cols, from+avx512.line*lanes+5*from-3)
					f.run(0, x.Rows, from, to)
					for k, d := range out {
						w := want[k].(*value.Dense)
						for i := range d.Rows {
							for j := range d.Cols {
								y := value.F64(0).Convert(d.Elem)
								if j >= from && j < to {
									y = w.At(i, j)
								}
								if !d.At(i, j).Same(y) {
									t.Fatalf("%v, %+v, window of %d to %d, result %d: element (%d, %d) is %v, want %v", e, plan, from, to, k, i, j, d.At(i, j), y)
								}
							}
						}
					}
				}
			}
		}
		l, err := List(AVX512, n, make([]Layout, 2), make([]Layout, 2), Schedule{})
		if err != nil || !strings.Contains(l.Text, "ANDQ $0x3f") {
			t.Errorf("%v: rows begin where they are: %v\n%s", e, err, l.Text)
		}
		if strings.Contains(l.Text, "SUBQ AX, SI") {
			t.Errorf("%v: the first vector of a row holds masked lanes before the row, which may be in no page\n%s", e, l.Text)
		}
	}
}

// TestSumsOfAPoint: rounds of a nest of one point that only add to states of reductions are lanes,
// whose states merge: for all classes, also behind contributions before the loop. A sum that the lanes
// are not sure of fails.
func TestSumsOfAPoint(t *testing.T) {
	kinds := []struct {
		class   loop.Class
		elem    types.Elem
		levels  int
		bounded bool
	}{{loop.Sum, types.F64, 2, true}, {loop.Sum, types.F64, 3, true}, {loop.Sum, types.F64, 2, false}, {loop.Mean, types.F64, 3, false},
		{loop.Sum, types.F32, 2, true}, {loop.Sum, types.I64, 2, false}, {loop.Norm, types.F64, 2, false}, {loop.Least, types.F64, 2, false},
		{loop.Greatest, types.F64, 2, false}, {loop.ArgLeast, types.F64, 2, false}, {loop.ArgGreatest, types.I64, 2, false},
		{loop.Any, types.Bool, 2, false}, {loop.All, types.Bool, 2, false}, {loop.Product, types.I64, 2, false}}
	r, targets := rand.New(rand.NewPCG(1, 7)), those(avx512, avx2, starved(avx512), starved(avx2))
	lanes, unsure := 0, 0
	for seed := range 112 {
		kind, n, before := kinds[seed%len(kinds)], int64(14+r.IntN(24)), seed%3 == 0
		b := loop.New()
		b.Param(loop.DenseParam, types.F64)
		terms := loop.TermsOf(kind.class, kind.elem, kind.levels)
		if kind.bounded {
			terms.Bounded(n, false)
		}
		add := func(at loop.Lin, s []loop.Val) []loop.Val {
			v := b.Load(loop.Mem{Kind: loop.ParamMem}, at, loop.Num(0))
			switch kind.elem {
			case types.F32:
				v = b.Op(loop.ToF32, v)
			case types.I64:
				v = b.Op(loop.ToI64, b.Op(loop.Mul, v, b.Const(types.F64, 0x4010<<48)))
			case types.Bool:
				v = b.Op(loop.Lt, v, b.Const(types.F64, 0x3fe8<<48))
			}
			return terms.Add(b, s, []loop.Val{v, b.Number(at)}[:kind.class.Info().Args])
		}
		state := terms.Begin(b)
		if before {
			state = add(loop.Num(0), add(loop.Num(1), state))
		}
		index := loop.Index{Name: b.Name("k"), Range: loop.Range{Kind: loop.Steps, From: loop.Num(2), To: loop.Num(2 + n), By: 1}}
		state = b.For(index, state, func(s []loop.Val) []loop.Val { return add(loop.Of(loop.IndexSym, index.Name), s) })
		b.Adds(terms, state)
		end := loop.NoVal
		if kind.bounded {
			end = terms.EndBounded(b, state, b.Const(types.F64, 0x4060<<48))
		} else {
			end = terms.End(b, state)
		}
		if kind.bounded { // all lanes hold the same word
			each := loop.Index{Name: b.Name("q"), Range: loop.Range{Kind: loop.Steps, To: loop.Num(8), By: 1}}
			words := b.Result(types.F64, loop.Num(1), loop.Num(8))
			b.For(each, nil, func([]loop.Val) []loop.Val {
				b.Store(loop.Mem{Kind: loop.ResultMem, N: words}, loop.Num(0), loop.Of(loop.IndexSym, each.Name), state[1])
				return nil
			})
		}
		e := b.Type(end)
		b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(e, loop.Num(1), loop.Num(1))}, loop.Num(0), loop.Num(0), end)
		nest, err := loop.Parse(b.Done().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		in := value.New(types.F64, int(n)+2, 1)
		for k := range in.F64 {
			in.F64[k] = float64(r.IntN(5)) / 4
			if seed%5 > 2 {
				in.F64[k] = math.Ldexp(r.Float64()-0.5, r.IntN(30))
			}
		}
		want, fails := nest.Eval([]value.Value{in}, loop.Env{})
		for k, on := range targets {
			out, words := value.New(e, 1, 1), value.New(types.F64, 1, 8)
			all := []*value.Dense{words, out}
			f, err := compile(need(t, on), on, nest, []value.Value{in}, all[2-len(nest.Results):])
			if err != nil {
				t.Fatal(err)
			}
			f.fuel = []uint64{0, 1, 2}[(seed+k)%3]
			if flagged := f.run(0, 1, 0, 1); flagged || fails != nil {
				unsure++
				continue
			}
			if err := same(out, want[len(want)-1].(*value.Dense)); err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", on.name, seed, err, nest)
			}
			for _, x := range words.F64 {
				if x != words.F64[0] {
					t.Fatalf("%s, seed %d: lanes hold %v\n%s", on.name, seed, words.F64, nest)
				}
			}
		}
		l := &lowering{nest: nest}
		l.findAlong()
		if lanes += len(l.alongBody); (len(l.alongBody) > len(nest.Results)-1) != (n >= 16) {
			t.Fatalf("seed %d: rounds are lanes of %d loops\n%s", seed, len(l.alongBody), nest)
		}
	}
	if lanes < 110 || unsure > 100 {
		t.Errorf("the rounds of %d loops are lanes, %d runs are not sure", lanes, unsure)
	}
}
