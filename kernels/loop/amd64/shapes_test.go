//go:build linux && amd64

package amd64

import (
	"math"
	"slices"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestShapes compares the code of every shape with the evaluator, for all numbers of vectors that
// are lowered together.
func TestShapes(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		if !has(target) {
			continue
		}
		m := need(t, target)
		for _, s := range append(slices.Clone(shapes), odd...) {
			n, err := loop.Parse(s.nest(), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			for k := range 2 * (maxParts + 1) {
				together := k / 2
				in, out := s.operands(2, 75)
				f, err := compileAs(Schedule{together: together, First: k%2 == 1, Stream: k%4 == 2}, m, target, n, in, out, loop.FastLevels)
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				f.fuel = uint64(together) * 3
				f.run(0, out[0].Rows, 0, out[0].Cols)
				want, err := n.Eval(in, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				for k, d := range out {
					if err := same(d, want[k].(*value.Dense)); err != nil {
						t.Errorf("%s of %s, %d together, lanes first %v: result %d: %v", s.name, target.name, together, f.first, k, err)
					}
				}
			}
		}
	}
}

// shape is a loop in nobody's program: the statements of its body and its results.
type shape struct {
	name, body string
	results    string
	// few says that rows have three elements.
	few bool
}

const (
	shapeRows, shapeCols = 16, 1024
	plain                = "f64[%0.rows, %0.cols-2]"
)

// nest is the text of the shape: operands are two matrices with a border of f64, one of f32, one of
// i64, and two numbers.
func (s shape) nest() string {
	results := s.results
	if results == "" {
		results = plain
	}
	return "nest(%0: f64[], %1: f64, %2: f64, %3: f64[], %4: f32[], %5: i64[], %6: f32, %7: f32) (i: 0..%0.rows, j: 0..%0.cols-2) {" + s.body + "\n} : (" + results + ")"
}

// operands makes the operands and the results of a window of about this size.
func (s shape) operands(rows, cols int) ([]value.Value, []*value.Dense) {
	if s.few {
		rows, cols = rows*cols/3, 3
	}
	if strings.HasPrefix(s.name, "turned") {
		rows = cols
	}
	rows, cols = rows+2, cols+2
	x, y := value.New(types.F64, rows, cols), value.New(types.F64, rows, cols)
	narrow, ints := value.New(types.F32, rows, cols), value.New(types.I64, rows, cols)
	for k := range x.F64 {
		x.F64[k], y.F64[k] = math.Mod(float64(k)*0.618, 2)-1, math.Mod(float64(k)*0.414, 2)-1
		narrow.F32[k], ints.I64[k] = float32(x.F64[k]), int64(k)
	}
	window := x.View(0, 0, rows-2, cols)
	var out []*value.Dense
	for _, text := range strings.Split(s.results+" ", "], ") {
		e := types.F64
		switch {
		case strings.HasPrefix(text, "f32"):
			e = types.F32
		case strings.HasPrefix(text, "i64"):
			e = types.I64
		}
		out = append(out, value.New(e, window.Rows, window.Cols-2))
	}
	return []value.Value{window, value.F64(1.5), value.F64(2.5), y, narrow, ints, value.F64(1.5).Convert(types.F32), value.F64(2.5).Convert(types.F32)}, out
}

var shapes = []shape{
	{name: "chain", body: `
  v0 = load %0[i, j]
  v1 = load %1
  v2 = mul v0, v1
  v3 = load %2
  v4 = add v2, v3
  v5 = sqrt v4
  v6 = mul v5, v3
  v7 = sub v6, v1
  store out0[i, j] v7`},
	{name: "exp", body: `
  v0 = load %0[i, j]
  v1 = call exp(v0)
  store out0[i, j] v1`},
	{name: "stencil", body: `
  v0 = load %0[i, j]
  v1 = load %0[i, j+1]
  v2 = load %0[i, j+2]
  v3 = add v0, v2
  v4 = f64 0.25
  v5 = mul v3, v4
  v6 = f64 0.5
  v7 = mul v1, v6
  v8 = add v5, v7
  store out0[i, j] v8`},
	{name: "escape", body: `
  v0 = load %0[i, j]
  v1 = f64 0
  v2, v3 = for k: 0..200 (v4 = v1, v5 = v1) {
    v6 = mul v4, v4
    v7 = f64 4
    v8 = lt v7, v6
    break v8
    v9 = mul v6, v4
    v10 = add v9, v0
    v11 = f64 1
    v12 = add v5, v11
    next v10, v12
  }
  store out0[i, j] v3`},
	{name: "hinge", body: `
  v0 = load %0[i, j]
  v1 = abs v0
  v2 = load %1
  v3 = sub v1, v2
  v4 = f64 0
  v5 = lt v3, v4
  v6 = f64 0.5
  v7 = mul v6, v0
  v8 = mul v7, v0
  v9 = mul v2, v3
  v10 = load %2
  v11 = sub v9, v10
  v12 = add v9, v10
  v13 = lt v0, v4
  v14 = select v13, v11, v12
  v15 = select v5, v8, v14
  store out0[i, j] v15`},
	{name: "rotate", results: plain + ", " + plain, body: `
  v0 = load %0[i, j]
  v1 = load %3[i, j]
  v2 = load %1
  v3 = load %2
  v4 = mul v0, v2
  v5 = mul v1, v3
  v6 = sub v4, v5
  store out0[i, j] v6
  v7 = mul v0, v3
  v8 = mul v1, v2
  v9 = add v7, v8
  store out1[i, j] v9`},
	{name: "scale_shift", body: `
  v0 = load %0[i, j]
  v1 = load %3[0, j]
  v2 = load %3[i, 0]
  v3 = mul v0, v1
  v4 = add v3, v2
  store out0[i, j] v4`},
	{name: "cross", body: `
  v0 = load %3[i, j+1]
  v1 = load %3[i+1, j]
  v2 = load %3[i+1, j+2]
  v3 = load %3[i+2, j+1]
  v4 = load %3[i+1, j+1]
  v5 = add v0, v1
  v6 = add v5, v2
  v7 = add v6, v3
  v8 = load %1
  v9 = mul v8, v7
  v10 = load %2
  v11 = mul v10, v4
  v12 = add v9, v11
  store out0[i, j] v12`},
	{name: "softplus", body: `
  v0 = load %0[i, j]
  v1 = abs v0
  v2 = neg v1
  v3 = call exp(v2)
  v4 = call log1p(v3)
  v5 = f64 0
  v6 = max v0, v5
  v7 = add v4, v6
  store out0[i, j] v7`},
	{name: "newton", body: `
  v0 = load %0[i, j]
  v1 = abs v0
  v2 = f64 1
  v3 = add v1, v2
  v4 = for k: 0..60 (v5 = v3) {
    v6 = mul v5, v5
    v7 = mul v6, v5
    v8 = sub v7, v3
    v9 = f64 3
    v10 = mul v9, v6
    v11 = div v8, v10
    v12 = sub v5, v11
    v13 = sub v12, v5
    v14 = abs v13
    v15 = f64 1e-12
    v16 = lt v14, v15
    break v16
    next v12
  }
  store out0[i, j] v4`},
	{name: "scramble", results: "i64[%0.rows, %0.cols-2]", body: `
  v0 = load %5[i, j]
  v1 = for k: 0..12 (v2 = v0) {
    v3 = i64 13
    v4 = shl v2, v3
    v5 = xor v2, v4
    v6 = i64 7
    v7 = shr v5, v6
    v8 = xor v5, v7
    v9 = i64 17
    v10 = shl v8, v9
    v11 = xor v8, v10
    next v11
  }
  store out0[i, j] v1`},
	{name: "poly32", results: "f32[%0.rows, %0.cols-2]", body: `
  v0 = load %4[i, j]
  v1 = load %6
  v2 = load %7
  v3 = mul v0, v1
  v4 = add v3, v2
  v5 = mul v4, v0
  v6 = add v5, v1
  v7 = mul v6, v0
  v8 = add v7, v2
  v9 = mul v8, v0
  v10 = add v9, v1
  v11 = mul v10, v0
  v12 = add v11, v2
  store out0[i, j] v12`},
	{name: "turned", body: `
  v0 = load %0[i, j]
  v1 = load %3[j, i]
  v2 = add v0, v1
  store out0[i, j] v2`},
	{name: "narrow", few: true, body: `
  v0 = load %0[i, j]
  v1 = load %1
  v2 = mul v0, v1
  v3 = load %2
  v4 = add v2, v3
  store out0[i, j] v4`},
}

// odd are shapes without a program in C.
var odd = []shape{
	{name: "clamp", results: plain + ", " + plain, body: `
  v0 = load %0[i, j]
  v1 = load %3[i, j]
  v2 = f64 0
  v3 = div v0, v2
  v4 = sqrt v1
  v5 = lt v3, v4
  v6 = select v5, v3, v4
  store out0[i, j] v6
  v7 = lt v4, v3
  v8 = select v7, v3, v4
  v9 = add v8, v6
  store out1[i, j] v9`},
	{name: "steps", body: `
  v0 = load %0[i, j]
  v1 = f64 1
  v2, v3 = for k: 0..9 (v4 = v0, v5 = v1) {
    v6 = index k
    v7 = to_f64 v6
    v8 = add v4, v7
    v9 = lt v1, v8
    break v9
    next v5, v8
  }
  v10 = add v2, v3
  store out0[i, j] v10`},
	{name: "turned twice", body: `
  v0 = load %3[j+1, i+2]
  v1 = load %5[j, i+1]
  v2 = to_f64 v1
  v3 = add v0, v2
  v4 = index i
  v5 = to_f64 v4
  v6 = mul v3, v5
  v7 = load %0[i, 0]
  v8 = add v6, v7
  store out0[i, j] v8`},
}
