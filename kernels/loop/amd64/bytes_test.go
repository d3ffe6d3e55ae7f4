//go:build linux && amd64

package amd64

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// byteNest draws a nest on bools and small integers: operations, a branch, a loop that some lanes
// leave, and reductions. Integers grow to 127 at most.
func byteNest(r *rand.Rand) string {
	var b strings.Builder
	count := 0
	var bools, ints []int
	size := map[int]int{} // the largest magnitude
	say := func(format string, args ...any) int {
		fmt.Fprintf(&b, "v%d = %s\n", count, fmt.Sprintf(format, args...))
		count++
		return count - 1
	}
	of := func(list []int) int { return list[r.IntN(len(list))] }
	for _, at := range []string{"%0[i, j]", "%0[i, j+1]", "%0[i, 0]", "%0[0, j]", "%1[i, j]", "%2"} {
		bools = append(bools, say("load %s", at))
	}
	bools = append(bools, say("bool %v", r.IntN(2) == 0))
	ints = append(ints, say("i64 %d", r.IntN(9)-4))
	size[ints[0]] = 4
	operations := func(n int) {
		for range n {
			x, y := of(ints), of(ints)
			p, q := of(bools), of(bools)
			switch r.IntN(6) {
			case 0:
				v := say("to_i64 v%d", p)
				ints, size[v] = append(ints, v), 1
			case 1:
				op := []string{"add", "sub", "min", "max"}[r.IntN(4)]
				most := size[x] + size[y]
				if op == "min" || op == "max" {
					most = max(size[x], size[y])
				}
				if most > 127 {
					continue
				}
				v := say("%s v%d, v%d", op, x, y)
				ints, size[v] = append(ints, v), most
			case 2:
				bools = append(bools, say("%s v%d, v%d", []string{"eq", "ne", "lt", "le"}[r.IntN(4)], x, y))
			case 3:
				if r.IntN(2) == 0 {
					v := say("select v%d, v%d, v%d", p, x, y)
					ints, size[v] = append(ints, v), max(size[x], size[y])
				} else {
					bools = append(bools, say("select v%d, v%d, v%d", p, q, of(bools)))
				}
			case 4:
				bools = append(bools, say("not v%d", p))
			default:
				bools = append(bools, say("%s v%d, v%d", []string{"and", "or", "xor", "eq", "ne", "lt", "le"}[r.IntN(7)], p, q))
			}
		}
	}
	within := func(f func()) {
		x, y := len(bools), len(ints)
		f()
		bools, ints = bools[:x], ints[:y]
	}
	operations(8)
	result := count
	count++
	fmt.Fprintf(&b, "v%d = if v%d {\n", result, of(bools))
	for _, end := range []string{"} else {", "}"} {
		within(func() {
			operations(4)
			fmt.Fprintf(&b, "yield v%d\n%s\n", of(bools), end)
		})
	}
	bools = append(bools, result)
	result, count = count, count+2
	fmt.Fprintf(&b, "v%d = for q: 0..%d (v%d = v%d) {\n", result, r.IntN(9), result+1, of(bools))
	within(func() {
		bools = append(bools, result+1, say("load %%1[i, j]"))
		operations(3)
		fmt.Fprintf(&b, "break v%d\n", of(bools))
		operations(3)
		fmt.Fprintf(&b, "next v%d\n}\n", of(bools))
	})
	bools = append(bools, result)
	operations(6)
	say("load %%3") // nothing reads it
	say("index j")
	late := func() int { return bools[len(bools)-1-r.IntN(4)] }
	if r.IntN(4) == 0 {
		fmt.Fprintf(&b, "v%d = or v%d, v%d\ncheck 1 v%d\n", count, late(), bools[0], count)
		count++
	}
	row := []string{"0", "i"}[r.IntN(2)]
	rows := map[string]string{"0": "1", "i": "%0.rows"}[row]
	fmt.Fprintf(&b, "store out0[i, j] v%d\nreduce out1[0, 0] v%d\n", late(), late())
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "if v%d {\nreduce out2[%s, 0] v%d\n} else {\n}\n", of(bools), row, late())
	} else {
		fmt.Fprintf(&b, "reduce out2[%s, 0] v%d\n", row, late())
	}
	second := []string{"any bool", "all bool", "min bool", "max bool", "count i64"}[r.IntN(5)]
	return fmt.Sprintf("nest(%%0: bool[], %%1: bool[], %%2: bool, %%3: f64) (i: 0..%%0.rows, j: 0..%%0.cols-1) {\n%s} : (bool[%%0.rows, %%0.cols-1], count i64[1, 1], %s[%s, 1])",
		b.String(), second, rows)
}

// TestBytes compares the code of nests on bools, whose vectors have 64 lanes, with the evaluator. A
// nest runs in two windows. The second begins anywhere in the rows.
func TestBytes(t *testing.T) {
	m := need(t, avx512)
	cases := 700
	if testing.Short() {
		cases = 150
	}
	for seed := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		text := byteNest(r)
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		rows, cols := 1+r.IntN(3), []int{r.IntN(71), 127 + r.IntN(4), r.IntN(1400)}[r.IntN(3)]
		x, y := value.New(types.Bool, rows, cols+1), value.New(types.Bool, rows, cols)
		for _, d := range []*value.Dense{x, y} {
			odds := 1 + r.IntN(40)
			for k := range d.Bool {
				if r.IntN(odds) == 0 {
					d.Bool[k] = 1
				}
			}
		}
		in := []value.Value{x, y, value.Bool(r.IntN(2) == 0), value.F64(1)}
		out := []*value.Dense{value.New(types.Bool, rows, cols), value.New(types.I64, 1, 1), value.New(n.Results[2].Elem, 1, 1)}
		if n.Results[2].Rows.Known() == false {
			out[2] = value.New(n.Results[2].Elem, rows, 1)
		}
		target := avx512
		if seed%3 == 0 {
			target = starved(avx512)
		}
		plan := Schedule{together: seed % (maxParts + 1), Stream: seed%5 == 0, Keep: seed%7 == 0}
		if got := lowered(target, n, make([]Layout, 4), make([]Layout, 3), loop.FastLevels, plan, &workshop{}).target.lanes; got != 64 {
			t.Fatalf("vectors of %d lanes\n%s", got, text)
		}
		f, err := compileAs(plan, m, target, n, in, out, loop.FastLevels)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f.fuel = uint64(seed % 4)
		at := r.IntN(cols + 1)
		failed := f.run(0, rows, 0, at) || f.run(0, rows, at, cols)
		f.finish()
		want, err := n.Eval(in, loop.Env{})
		if failed != (err != nil) {
			t.Fatalf("seed %d: failed is %v, and the evaluator says %v\n%s", seed, failed, err, text)
		}
		if failed {
			continue
		}
		for k, d := range out {
			if err := same(d, want[k].(*value.Dense)); err != nil {
				t.Fatalf("seed %d, result %d of %d x %d: %v\n%s", seed, k, rows, cols, err, text)
			}
		}
	}
}

// TestBytesRefuse: nests that need other values than bools and small integers, or lanes that are not
// adjacent in memory, have no lanes of bytes.
func TestBytesRefuse(t *testing.T) {
	for _, text := range []string{
		"nest(%0: bool[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n v1 = to_i64 v0\n v2 = i64 127\n v3 = add v1, v2\n v4 = eq v3, v2\n store out0[i, j] v4\n} : (bool[%0.rows, %0.cols])",
		"nest(%0: bool[], %1: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n v1 = load %1[i, j]\n v2 = to_bool v1\n v3 = and v0, v2\n store out0[i, j] v3\n} : (bool[%0.rows, %0.cols])",
		"nest(%0: bool[]) (i: 0..%0.rows, j: 0..%0.rows) {\n v0 = load %0[j, i]\n v1 = not v0\n store out0[i, j] v1\n} : (bool[%0.rows, %0.rows])",
		"nest(%0: bool[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n reduce out0[0, j] v0\n} : (count i64[1, %0.cols])",
		"nest(%0: bool[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n v1 = to_i64 v0\n store out0[i, j] v1\n} : (i64[%0.rows, %0.cols])",
	} {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := lowered(avx512, n, make([]Layout, 2), make([]Layout, 1), loop.FastLevels, Schedule{}, &workshop{}).target.lanes; got != 8 {
			t.Errorf("vectors of %d lanes\n%s", got, text)
		}
	}
}

// packedNest draws a nest with a loop that counts bools of consecutive elements: of rows of the
// lanes, of the row of the point, of a column, and of windows of the lanes. The loop is perhaps in
// a branch, or in another loop.
func packedNest(r *rand.Rand) string {
	var body strings.Builder
	from, to := r.IntN(3), []string{"%0.cols-3", fmt.Sprint(40 + r.IntN(6))}[r.IntN(2)]
	if to != "%0.cols-3" {
		from = 0
	}
	count := 20
	bools := []int{3, 4}
	across := fmt.Sprintf("%%0[j, c+%d]", r.IntN(3))
	for _, at := range []string{across, "%0[i, c]", "%1[c, 0]", "%1[c+j, 0]"} {
		if r.IntN(3) > 0 {
			fmt.Fprintf(&body, "v%d = load %s\n", count, at)
			bools = append(bools, count)
			count++
		}
	}
	for range 1 + r.IntN(6) {
		a, b := bools[r.IntN(len(bools))], bools[len(bools)-1]
		if op := []string{"and", "or", "xor", "eq", "ne", "not"}[r.IntN(6)]; op == "not" {
			fmt.Fprintf(&body, "v%d = not v%d\n", count, a)
		} else {
			fmt.Fprintf(&body, "v%d = %s v%d, v%d\n", count, op, a, b)
		}
		bools = append(bools, count)
		count++
	}
	fmt.Fprintf(&body, "v%d = to_i64 v%d\nv%d = add v12, v%d\n", count, bools[len(bools)-1], count+1, count)
	fmt.Fprintf(&body, "v%d = select v%d, v6, v5\nv%d = add v%d, v13\nnext v%d, v%d\n", count+2, bools[len(bools)-2], count+3, count+2, count+1, count+3)
	text := fmt.Sprintf("v10, v11 = for c: %d..%s (v12 = v7, v13 = v5) {\n%s}\nv14 = i64 1000\nv15 = mul v10, v14\nv16 = add v15, v11\n", from, to, body.String())
	result := 16
	switch r.IntN(3) {
	case 0:
		text, result = "v17 = if v3 {\n"+text+"yield v16\n} else {\nyield v7\n}\n", 17
	case 1:
		text, result = "v17 = for d: 0..2 (v18 = v5) {\n"+text+"v19 = add v18, v16\nnext v19\n}\n", 17
	}
	text = "nest(%0: bool[], %1: bool[]) (i: 0..%0.rows, j: 0..%0.rows) {\nv3 = load %0[i, j]\nv4 = load %0[j, i]\nv5 = i64 0\nv6 = i64 1\nv7 = index j\n" + text +
		fmt.Sprintf("store out0[i, j] v%d\n} : (i64[%%0.rows, %%0.rows])", result)
	numbers := map[string]string{} // values are numbered in order
	return regexp.MustCompile(`\bv\d+`).ReplaceAllStringFunc(text, func(v string) string {
		if numbers[v] == "" {
			numbers[v] = fmt.Sprintf("v%d", len(numbers))
		}
		return numbers[v]
	})
}

// TestPacked compares the code of loops that count bools, eight at a time, with the evaluator.
func TestPacked(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		if !has(target) {
			continue
		}
		m := need(t, target)
		for seed := range 150 {
			r := rand.New(rand.NewPCG(uint64(seed), 9))
			text := packedNest(r)
			n, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			rows := 1 + r.IntN(20)
			cols := 48 + r.IntN(40)
			x, y := value.New(types.Bool, rows, cols), value.New(types.Bool, 200, 1)
			for _, d := range []*value.Dense{x, y} {
				odds := 1 + r.IntN(4)
				for k := range d.Bool {
					if r.IntN(odds) == 0 {
						d.Bool[k] = 1
					}
				}
			}
			in, out := []value.Value{x, y}, []*value.Dense{value.New(types.I64, rows, rows)}
			of := target
			if seed%3 == 0 {
				of = starved(target)
			}
			plan := Schedule{together: seed % (maxParts + 1)}
			l := lowered(of, n, []Layout{{}, {Unit: true}}, make([]Layout, 1), loop.FastLevels, plan, &workshop{})
			if len(l.nest.Names) <= len(n.Names) {
				t.Fatalf("the loop is not packed\n%s", text)
			}
			f, err := compileAs(plan, m, of, n, in, out, loop.FastLevels)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f.fuel = uint64(seed % 4)
			f.run(0, rows, 0, rows)
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if err := same(out[0], want[0].(*value.Dense)); err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", target.name, seed, err, text)
			}
		}
	}
}

// TestPackedRefuses: loops that count comparisons of integers are not packed. Neither are loops that
// add floats with the words 1 and 0.
func TestPackedRefuses(t *testing.T) {
	for _, text := range []string{
		"nest(%0: bool[], %1: i64[]) (i: 0..%0.rows) {\nv0 = i64 0\nv1 = load %1[i, 0]\nv2 = for c: 0..%0.cols (v3 = v0) {\nv4 = load %0[i, c]\nv5 = eq v1, v0\nv6 = and v4, v5\nv7 = to_i64 v6\nv8 = add v3, v7\nnext v8\n}\nstore out0[i, 0] v2\n} : (i64[%0.rows, 1])",
		"nest(%0: bool[], %1: f64) (i: 0..%0.rows) {\nv0 = load %1\nv1 = f64 5e-324\nv2 = f64 0\nv3 = for c: 0..%0.cols (v4 = v0) {\nv5 = load %0[i, c]\nv6 = select v5, v1, v2\nv7 = add v4, v6\nnext v7\n}\nstore out0[i, 0] v3\n} : (f64[%0.rows, 1])",
		"nest(%0: bool[], %1: i64[]) (i: 0..%0.rows) {\nv0 = i64 0\nv1 = for c: 0..%0.cols (v2 = v0) {\nv3 = load %1[c, 0]\nv4 = load %0[v3, c]\nv5 = to_i64 v4\nv6 = add v2, v5\nnext v6\n}\nstore out0[i, 0] v1\n} : (i64[%0.rows, 1])",
	} {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		l := lowered(avx512, n, make([]Layout, 2), make([]Layout, 1), loop.FastLevels, Schedule{}, &workshop{})
		if len(l.nest.Names) > len(n.Names) {
			t.Fatalf("the loop is packed\n%s", n)
		}
	}
}
