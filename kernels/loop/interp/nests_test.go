package interp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// nests hold every part of the form. Operands are %0: f64, %1: i64 of numbers from 0 to 8, %2: f32,
// %3: bool, %4: the scalar 9, %5: an f64; matrices have one size, 9 rows or more.
var nests = []struct{ name, space, body, results string }{
	{"a stencil with a border", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = index i
  v1 = i64 0
  v2 = eq v0, v1
  v3 = load %0[i, j]
  v4 = if v2 {
    yield v3
  } else {
    v5 = load %0[i-1, j]
    v6 = add v3, v5
    yield v6
  }
  store out0[i, j] v4`, "f64[%0.rows, %0.cols]"},
	{"a transposed result and a gather behind a check", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = lt v0, v0
  v2 = not v1
  check 3 v2, v0
  v3 = load %0[v0, j]
  v4 = load %0[v0, 0]
  v5 = add v3, v4
  store out0[j, i] v5`, "f64[%0.cols, %0.rows]"},
	{"a check that fails somewhere", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = i64 8
  v2 = lt v0, v1
  check 3 v2, v0
  store out0[i, j] v0`, "i64[%0.rows, %0.cols]"},
	{"lanes that part before a local is read", "j: 0..%0.rows", `
  v0 = load %0[j, 0]
  v1 = load w0[0, 1]
  store w0[0, 0] v0
  v2 = index j
  v3 = i64 7
  v4 = and v2, v3
  v5 = for q: 0..v4 (v6 = v1) {
    next v0
  }
  v7 = load w0[0, 0]
  store out0[j, 0] v5
  store out1[j, 0] v7`, "f64[%0.rows, 1], f64[%0.rows, 1]"},
	{"running sums", "j: 0..%0.cols", `
  v0 = f64 0
  v1 = for i: 0..%0.rows (v2 = v0) {
    v3 = load %0[i, j]
    v4 = add v2, v3
    store out0[i, j] v4
    next v4
  }
  store out1[0, j] v1`, "f64[%0.rows, %0.cols], f64[1, %0.cols]"},
	{"descending and stepping indices, and a space of three", "i: %0.rows-1..0 by -2, j: 1..%0.cols by 3, k: 0..%4", `
  v0 = index i
  v1 = index j
  v2 = mul v0, v1
  v3 = index k
  v4 = add v2, v3
  reduce out0[i, j] v4
  reduce out1[j, 0] v4`, "sum i64[%0.rows, %0.cols], max i64[%0.cols, 1]"},
	{"a triangle", "i: 0..%0.rows, j: i..%0.cols by 2", `
  v0 = load %0[i, j]
  reduce out0[0, 0] v0
  reduce out1[i, 0] v0
  v1 = index j
  reduce out2[0, j] v1`, "sum f64[1, 1], mean f64[%0.rows, 1], sum i64[1, %0.cols]"},
	{"every free class by rows", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %0[i, j]
  v1 = load %1[i, j]
  v2 = load %2[i, j]
  v3 = load %3[i, j]
  v4 = index j
  reduce out0[i, 0] v0
  reduce out1[i, 0] v0
  reduce out2[i, 0] v2
  reduce out3[i, 0] v2
  reduce out4[i, 0] v1
  reduce out5[i, 0] v0
  reduce out6[i, 0] v2
  reduce out7[i, 0] v3
  reduce out8[i, 0] v3
  reduce out9[i, 0] v3
  reduce out10[i, 0] v0, v4
  reduce out11[i, 0] v2, v4
  reduce out12[i, 0] v1
  reduce out13[i, 0] v0`, "sum f64[%0.rows, 1], var f64[%0.rows, 1], sum f32[%0.rows, 1], stddev f32[%0.rows, 1], mean f64[%0.rows, 1], norm f64[%0.rows, 1]," +
		"min f32[%0.rows, 1], any bool[%0.rows, 1], all bool[%0.rows, 1], count i64[%0.rows, 1], argmin i64[%0.rows, 1], argmax i64[%0.rows, 1], max i64[%0.rows, 1], stddev f64[%0.rows, 1]"},
	{"classes by keys and over all", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %0[i, j]
  v1 = load %1[i, j]
  v2 = load %2[i, j]
  v3 = load %3[i, j]
  reduce out0[v1, 0] v0
  reduce out1[v1, 0] v2
  reduce out2[v1, j] v1
  reduce out3[0, v1] v3
  reduce out4[0, 0] v3
  reduce out5[0, v1] v0
  reduce out6[0, 0] v2
  reduce out7[0, 0] v1
  reduce out8[v1, 0] v2
  reduce out9[0, 0] v1, v1
  reduce out10[v1, 0] v1
  reduce out11[0, 0] v2`, "sum f64[%4, 1], mean f32[%4, 1], sum i64[%4, %0.cols], max bool[1, %4], min bool[1, 1], min f64[1, %4], max f32[1, 1], prod i64[1, 1], var f32[%4, 1], chain i64[1, 1], mean f64[%4, 1], norm f32[1, 1]"},
	{"ordered classes of columns", "j: 0..%0.cols, i: 0..%0.rows", `
  v0 = load %0[i, j]
  v1 = load %2[i, j]
  reduce out0[j, 0] v0, v0
  reduce out1[j, 0] v1, v1
  for q: 0..3 {
    v2 = load %0[i-i+q, j]
    reduce out2[j, 0] v0, v2
  }`, "chain f64[%0.cols, 1], chain f32[%0.cols, 1], chain f64[%0.cols, 1]"},
	{"phases over a row in a local", "i: 0..%0.rows", `
  v0 = load %0[i, 0]
  v1 = for j: 1..%0.cols (v2 = v0) {
    v3 = load %0[i, j]
    v4 = max v2, v3
    next v4
  }
  v5 = f64 0
  v6 = for k: 0..%0.cols (v7 = v5) {
    v8 = load %0[i, k]
    v9 = sub v8, v1
    store w0[0, k] v9
    v10 = add v7, v9
    next v10
  }
  for q: 0..%0.cols {
    v11 = load w0[0, q]
    v12 = div v11, v6
    store out0[i, q] v12
  }`, "f64[%0.rows, %0.cols]"},
	{"locals at places that differ between lanes", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = i64 1
  for q: 0..v0 {
    v2 = load w1[v0, q]
    v3 = load w1[q, 0]
    v4 = add v2, v1
    v5 = add v4, v3
    store w1[v0, q] v5
    store w1[q, 0] v4
  }
  v6 = load w1[v0, 0]
  v7 = load w1[0, v0]
  v8 = add v6, v7
  v9 = load w1[j-j, i-i]
  v10 = add v8, v9
  store out0[i, j] v10`, "i64[%0.rows, %0.cols]"},
	{"Collatz lengths", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = i64 0
  v2 = i64 1
  v3 = add v0, v2
  v4, v5 = for k: forever (v6 = v3, v7 = v1) {
    v8 = eq v6, v2
    break v8
    v9 = and v6, v2
    v10 = eq v9, v2
    v11 = i64 3
    v12 = mul v6, v11
    v13 = add v12, v2
    v14 = shr v6, v2
    v15 = select v10, v13, v14
    v16 = add v7, v2
    next v15, v16
  }
  store out0[i, j] v5`, "i64[%0.rows, %0.cols]"},
	{"integers that can fail only where they run", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = i64 0
  v2 = ne v0, v1
  v3 = i64 -17
  v4 = if v2 {
    v5 = idiv v3, v0
    v6 = mod v3, v0
    v7 = mulhighu v5, v6
    v8 = add v7, v6
    yield v8
  } else {
    yield v3
  }
  v9 = load %0[i, j]
  v10 = for q: v0..v0+v4 by 1 (v11 = v9) {
    v12 = index q
    v13 = idiv v12, v0
    v14 = to_f64 v13
    v15 = add v11, v14
    next v15
  }
  v16 = not v4
  v17 = and v4, v3
  v18 = add v16, v17
  v19 = to_f64 v18
  v20 = add v10, v19
  store out0[i, j] v20
  v21 = mulhighu v4, v3
  store out1[i, j] v21`, "f64[%0.rows, %0.cols], i64[%0.rows, %0.cols]"},
	{"scaling, and the bits of floats", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %0[i, j]
  v1 = load %1[i, j]
  v2 = to_f64 v1
  v3 = f64 -300
  v4 = mul v2, v3
  v5 = scale v0, v4
  store out0[i, j] v5
  v6 = bits v2
  v7 = f64_bits v6
  v8 = to_f32 v7
  v9 = bits v8
  store out1[i, j] v9
  v10 = to_i64 v2
  store out2[i, j] v10`, "f64[%0.rows, %0.cols], i64[%0.rows, %0.cols], i64[%0.rows, %0.cols]"},
	{"loops in loops, whose lanes leave one by one", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %1[i, j]
  v1 = i64 0
  v2 = i64 1
  v3, v4 = for a: 0..v0 (v5 = v1, v6 = v0) {
    v7 = for b: a..6 (v8 = v5) {
      v9 = index b
      v10 = add v8, v9
      v11 = i64 40
      v12 = lt v11, v10
      break v12
      v13 = load %1[b, j]
      v14 = add v10, v13
      next v14
    }
    v15 = for e: 0..v6 (v16 = v1) {
      v17 = index e
      v18 = mul v17, v7
      v19 = max v16, v18
      next v19
    }
    v20 = i64 200
    v21 = lt v20, v15
    v22 = add v15, v2
    break v21
    v23 = add v6, v2
    v24 = if v21 {
      yield v22
    } else {
      v25 = load %1[0, v5-v5]
      v26 = add v22, v25
      yield v26
    }
    next v24, v23
  }
  store out0[i, j] v3
  store out1[i, j] v4`, "i64[%0.rows, %0.cols], i64[%0.rows, %0.cols]"},
	{"a result in the memory of its operand", "i: 0..%0.rows, j: 0..%0.cols", `
  v0 = load %0[i, j]
  v1 = add v0, v0
  store out0[i, j] v1
  v2 = mul v0, v0
  store out1[i, j] v2`, "f64[%0.rows, %0.cols] over %0, f64[%0.rows, %0.cols]"},
	{"one point", "", `
  v0 = f64 0
  v1 = for i: 0..%0.rows (v2 = v0) {
    v3 = for j: 0..%0.cols (v4 = v2) {
      v5 = load %0[i, j]
      v6 = add v4, v5
      next v6
    }
    next v3
  }
  store out0[0, 0] v1
  v7 = load %4
  v8 = i64 0
  v9 = for q: 0..v7 (v10 = v8) {
    v11 = i64 5
    v12 = lt v11, v10
    break v12
    v13 = i64 2
    v14 = add v10, v13
    next v14
  }
  store out1[0, 0] v9
  v15 = lt v8, v9
  v16 = if v15 {
    yield v7
  } else {
    yield v8
  }
  store out2[0, 0] v16`, "f64[1, 1], i64[1, 1], i64[1, 1]"},
}

const head = "nest(%0: f64[], %1: i64[], %2: f32[], %3: bool[], %4: i64, %5: f64) ("

const locals = `
  local w0 f64[1, %0.cols]
  local w1 i64[9, 9]`

func textOf(space, body, results string) string {
	return head + space + ") {" + locals + body + "\n} : (" + results + ")"
}

// TestNests compares nests that hold every part of the form with the evaluator: on matrices of
// several sizes, by one worker in one window, and by three workers in windows of random size that
// come in the order of the points.
func TestNests(t *testing.T) {
	for _, x := range nests {
		t.Run(x.name, func(t *testing.T) {
			n := parse(t, textOf(x.space, x.body, x.results))
			c := compile(t, n)
			r := rand.New(rand.NewPCG(3, 4))
			flags, rounds := 0, 0
			for _, size := range [][2]int{{9, 9}, {9, 300}, {600, 9}, {40, 70}, {9, 9}, {12, 17}} {
				for part := range 2 {
					rounds++
					rows, cols := size[0], size[1]
					in := []value.Value{drawn(r, types.F64, rows, cols), drawn(r, types.I64, rows, cols), drawn(r, types.F32, rows, cols), drawn(r, types.Bool, rows, cols),
						value.I64(9), value.F64(-2.5)}
					if strings.Contains(x.name, "fails somewhere") && part == 0 {
						for k := range in[1].(*value.Dense).I64 {
							in[1].(*value.Dense).I64[k] %= 8
						}
					}
					if compareWith(t, c, n, in, part == 1, r) {
						flags++
					}
				}
			}
			if want := strings.Contains(x.name, "fails somewhere"); (flags > 0) != want || flags == rounds {
				t.Errorf("%d of %d runs failed", flags, rounds)
			}
		})
	}
}
