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

// TestRowsOfAPoint: a nest of one point loads elements of rows whose numbers it computes. The columns
// are known or those of inner loops. In a branch that is not taken the row may be anywhere.
func TestRowsOfAPoint(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[], %1: i64[], %2: bool[]) () {
  v0 = f64 0
  v1 = i64 1
  v2 = i64 99
  v3 = for k: 0..%1.rows (v4 = v0) {
    v5 = load %1[k, 0]
    v6 = load %0[v5, 3]
    v7 = load %0[v5+1, 0]
    v8 = load %0[2*v5, 8]
    v9 = sub v6, v7
    v10 = sub v9, v8
    v11 = for j: 0..%2.cols (v12 = v10) {
      v13 = load %0[v5, j+2]
      v14 = load %0[v5, -1*j+7]
      v15 = mul v13, v12
      v16 = sub v15, v14
      next v16
    }
    v17 = load %2[v5, 1]
    v18 = if v17 {
      v19 = load %0[v5, 4]
      yield v19
    } else {
      v20 = mul v5, v1
      v21 = load %2[v5, 2]
      v22 = select v21, v2, v20
      v23 = lt v22, v2
      v24 = if v23 {
        v25 = load %0[v22, 5]
        yield v25
      } else {
        yield v0
      }
      yield v24
    }
    v26 = add v11, v18
    v27 = sub v26, v4
    next v27
  }
  store out0[0, 0] v3
} : (f64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []*target{avx512, avx2} {
		t.Run(string(on.name), func(t *testing.T) {
			m := need(t, on)
			r := rand.New(rand.NewPCG(1, 1))
			all, rows, chosen := value.New(types.F64, 12, 13), value.New(types.I64, 9, 1), value.New(types.Bool, 12, 3)
			for range 20 {
				for i := range all.F64 {
					all.F64[i] = r.Float64()
				}
				for i := range rows.I64 {
					rows.I64[i] = r.Int64N(6)
				}
				for i := range chosen.Bool {
					chosen.Bool[i] = uint8(r.IntN(2))
				}
				x := *all
				x.F64, x.Rows, x.Cols = all.F64[13+2:], 11, 9
				in, out := []value.Value{&x, rows, chosen}, value.New(types.F64, 1, 1)
				f, err := compile(m, on, n, in, []*value.Dense{out})
				if err != nil {
					t.Fatal(err)
				}
				f.run(0, 1, 0, 1)
				want, err := n.Eval(in, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				if err := same(out, want[0].(*value.Dense)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestNumbersHaveHalfAVector: a nest of one point has short vectors unless loops in its rounds have
// vectors. Loops around the rounds, which copy, make no difference.
func TestNumbersHaveHalfAVector(t *testing.T) {
	const copied = `
  for c: 0..12 {
    v1 = load %1[0, c]
    store w0[0, c] v1
  }`
	rounds := func(within string) string {
		return `
  v2 = for round: 0..%0 (v3 = v0) {
    v4 = index round
    v5 = load w0[0, 3]
    v6 = add v3, v5` + within + `
    next v6
  }`
	}
	for body, lanes := range map[string]int{
		copied + rounds(""): 4,
		copied + rounds("\n    for q: 0..12 {\n      v7 = load w0[0, q]\n      v8 = mul v7, v6\n      store w0[0, q] v8\n    }"): 8,
		copied + "\n  v2 = load w0[0, 1]": 8, // there are no rounds
	} {
		n, err := loop.Parse("nest(%0: i64, %1: f64[]) () {\n  local w0 f64[1, 12]\n  v0 = f64 0"+body+"\n  store out0[0, 0] v2\n} : (f64[1, 1])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := List(AVX512, n, make([]Layout, 2), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if list.Lanes != lanes {
			t.Errorf("%d lanes, want %d, of\n%s", list.Lanes, lanes, n)
		}
	}
}
