//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// singleNest draws a nest on f32 and bools: operations, a branch and a loop that some lanes leave.
func singleNest(r *rand.Rand) string {
	var b strings.Builder
	count := 0
	visible := map[types.Elem][]int{}
	fresh := func(e types.Elem) int {
		visible[e] = append(visible[e], count)
		count++
		return count - 1
	}
	of := func(e types.Elem) string { return fmt.Sprintf("v%d", visible[e][r.IntN(len(visible[e]))]) }
	fmt.Fprintf(&b, "v%d = load %%0[i, j]\nv%d = load %%0[i, j+1]\nv%d = load %%0[i, 0]\nv%d = load %%1\nv%d = load %%2[i, j]\n",
		fresh(types.F32), fresh(types.F32), fresh(types.F32), fresh(types.F32), fresh(types.Bool))
	operations := func(n int) {
		for n > 0 {
			c := loop.Add + loop.Code(r.IntN(int(loop.F64Bits-loop.Add)+1))
			o := c.Operation()
			e := []types.Elem{types.F32, types.Bool}[r.IntN(2)]
			gives := o.Gives
			if gives == types.NoElem {
				gives = e
			}
			if ok := fmt.Sprint(o.On); !strings.Contains(ok, e.String()) || gives != types.F32 && gives != types.Bool {
				continue
			}
			args := []string{}
			for range o.Args {
				args = append(args, of(e))
			}
			if c == loop.Select {
				args, gives = []string{of(types.Bool), of(types.F32), of(types.F32)}, types.F32
			}
			fmt.Fprintf(&b, "v%d = %s %s\n", count, o.Name, strings.Join(args, ", "))
			fresh(gives)
			n--
		}
	}
	within := func(f func()) {
		outer := map[types.Elem]int{types.F32: len(visible[types.F32]), types.Bool: len(visible[types.Bool])}
		f()
		for e, n := range outer {
			visible[e] = visible[e][:n]
		}
	}
	operations(4)
	result, c := count, of(types.Bool)
	count++
	fmt.Fprintf(&b, "v%d = if %s {\n", result, c)
	for _, end := range []string{"} else {", "}"} {
		within(func() {
			operations(3)
			fmt.Fprintf(&b, "yield %s\n%s\n", of(types.F32), end)
		})
	}
	visible[types.F32] = append(visible[types.F32], result)
	result = count
	count++
	from := of(types.F32)
	within(func() {
		fmt.Fprintf(&b, "v%d = for q: 0..%d (v%d = %s) {\n", result, r.IntN(9), fresh(types.F32), from)
		operations(3)
		fmt.Fprintf(&b, "break %s\n", of(types.Bool))
		operations(2)
		fmt.Fprintf(&b, "next %s\n}\n", of(types.F32))
	})
	visible[types.F32] = append(visible[types.F32], result)
	operations(3)
	return fmt.Sprintf("nest(%%0: f32[], %%1: f32, %%2: bool[]) (i: 0..%%0.rows, j: 0..%%0.cols-1) {\n%sstore out0[i, j] %s\nstore out1[i, j] %s\n} : (f32[%%0.rows, %%0.cols-1], bool[%%0.rows, %%0.cols-1])",
		b.String(), of(types.F32), of(types.Bool))
}

// TestSingles compares the code of nests on f32 alone, of which a vector holds 16, with the evaluator.
func TestSingles(t *testing.T) {
	m := need(t, avx512)
	cases := 400
	if testing.Short() {
		cases = 80
	}
	for seed := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		text := singleNest(r)
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		rows, cols := 1+r.IntN(3), r.IntN(90)
		x, b := value.New(types.F32, rows, cols+1), value.New(types.Bool, rows, cols)
		for k := range x.F32 {
			x.F32[k] = [...]float32{float32(r.NormFloat64()), float32(r.IntN(5) - 2), float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1)), 1e-40}[r.IntN(6)]
		}
		for i := range rows {
			for j := range cols {
				b.Set(i, j, value.Bool(r.IntN(2) == 0))
			}
		}
		in := []value.Value{x, value.F64(0.75).Convert(types.F32), b}
		out := []*value.Dense{value.New(types.F32, rows, cols), value.New(types.Bool, rows, cols)}
		target := avx512
		if seed%3 == 0 {
			target = starved(avx512)
		}
		plan := Schedule{together: seed % (maxParts + 1)}
		if got := lowered(target, n, make([]Layout, 3), make([]Layout, 2), loop.FastLevels, plan, &workshop{}).target.lanes; got != 16 {
			t.Fatalf("vectors of %d lanes\n%s", got, text)
		}
		f, err := compileAs(plan, m, target, n, in, out, loop.FastLevels)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f.fuel = uint64(seed % 4)
		f.run(0, rows, 0, cols)
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range out {
			if err := same(d, want[k].(*value.Dense)); err != nil {
				t.Fatalf("seed %d, result %d: %v\n%s", seed, k, err, text)
			}
		}
	}
}
