//go:build linux && amd64

package amd64

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// byteNest draws a nest on bools and small integers: operations, a branch, a loop that some lanes leave,
// and reductions. Integers grow to 127 at most.
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

// TestBytes compares the code of nests on bools, whose vectors have 64 lanes, with the evaluator: in two
// windows, of which the second begins anywhere in the rows.
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

// TestBytesRefuse: lanes of nests that need more than bools and small integers side by side are no bytes.
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
