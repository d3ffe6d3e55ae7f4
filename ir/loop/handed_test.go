package loop_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestHandOn compares random nests whose inner loops read neighbours with what HandOn makes of them.
func TestHandOn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	x := value.New(types.F64, 4, 60)
	for i := range x.F64 {
		x.F64[i] = r.NormFloat64()
	}
	changed := 0
	for range 300 {
		by, from := []int{1, 2, -1}[r.IntN(3)], 12+r.IntN(3)
		to := from + by*(1+r.IntN(9))
		body := []string{fmt.Sprintf("v3 = for r: %d..%d%s (v4 = v1) {", from, to, map[int]string{1: "", 2: " by 2", -1: " by -1"}[by])}
		n := 5
		some := func() int { return []int{0, 1, 4, 5 + r.IntN(n-5)}[r.IntN(4)] }
		add := func(format string, args ...any) {
			body = append(body, fmt.Sprintf("v%d = ", n)+fmt.Sprintf(format, args...))
			n++
		}
		for range 3 + r.IntN(5) {
			add("load %%0[%s, r+%d]", []string{"i", "0", "i+1"}[r.IntN(3)], r.IntN(6))
		}
		loads := n
		for k := range 4 + r.IntN(12) {
			a, b := some(), some()
			if k%2 == 0 { // the same of neighbours
				a, b = 5+r.IntN(loads-5), r.IntN(2)
			}
			add("%s v%d, v%d", []string{"add", "mul", "sub", "max"}[r.IntN(4)], a, b)
			if r.IntN(12) == 0 {
				body = append(body, "check 3 v2")
			}
		}
		text := "nest(%0: f64[]) (i: 0..3) {\nv0 = f64 0.5\nv1 = f64 0\nv2 = le v1, v0\n" + strings.Join(body, "\n") + fmt.Sprintf("\nnext v%d\n}\nstore out0[i, 0] v3\n} : (f64[3, 1])", n-1)
		nest, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		with := loop.HandOn(nest)
		want, err := nest.Eval([]value.Value{x}, loop.Env{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := with.Eval([]value.Value{x}, loop.Env{})
		if err != nil {
			t.Fatalf("%v\n%s", err, with)
		}
		for i := range 3 {
			if a, b := got[0].(*value.Dense).At(i, 0), want[0].(*value.Dense).At(i, 0); !a.Same(b) {
				t.Fatalf("point %d gives %v, want %v\n%s\n%s", i, a, b, nest, with)
			}
		}
		if with != nest {
			changed++
		}
	}
	if changed < 50 {
		t.Errorf("%d of 300 nests were changed", changed)
	}
}

// TestHandOnFlows hands on the flow through a side of a cell, and loads each element once.
func TestHandOnFlows(t *testing.T) {
	nest, err := loop.Parse(`nest(%0: f64[]) (i: 0..3) {
  v0 = f64 0.5
  v1 = for r: 0..90 (v2 = v0) {
    v3 = load %0[i, r]
    v4 = load %0[i, r+1]
    v5 = sub v4, v3
    v6 = div v5, v0
    v7 = load %0[i, r+2]
    v8 = sub v7, v4
    v9 = div v8, v0
    v10 = mul v6, v9
    v11 = add v2, v10
    next v11
  }
  store out0[i, 0] v1
} : (f64[3, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	var body *loop.Block
	loop.EachStmt(&loop.HandOn(nest).Body, func(s *loop.Stmt) {
		if s.Code == loop.For {
			body = &s.Loop.Body
		}
	})
	count := map[loop.Code]int{}
	for _, s := range body.Stmts {
		count[s.Code]++
	}
	if count[loop.Load] != 1 || count[loop.Div] != 1 || len(body.Yield) != 3 {
		t.Errorf("a round has %d loads, %d divisions and hands on %d values, want 1, 1, 3", count[loop.Load], count[loop.Div], len(body.Yield))
	}
}

// TestHandOnScalars hands nothing on in a loop that loads a scalar twice.
func TestHandOnScalars(t *testing.T) {
	nest, err := loop.Parse(`nest(%0: f64[], %1: f64) (i: 0..3) {
  v0 = f64 0.5
  v1 = for r: 0..90 (v2 = v0) {
    v3 = load %1
    v4 = load %1
    v5 = add v3, v4
    v6 = add v2, v5
    next v6
  }
  store out0[i, 0] v1
} : (f64[3, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	if loop.HandOn(nest) != nest {
		t.Error("the nest was changed")
	}
}
