package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestThrough: a loop takes the values of the one before from registers where each of its rounds reads
// what a round has stored, and from the local elsewhere. The results stay.
func TestThrough(t *testing.T) {
	const scan = `
  v0 = load %0[0, i]
  store w0[0, 0] v0
  v1 = for k: 0..9 (v2 = v0) {
    v3 = load %0[k+1, i]
    v4 = add v2, v3
    store w0[k+1, 0] v4
    next v4
  }`
	const most = `
  v5 = f64 -inf
  v6 = for r: 0..10 (v7 = v5) {
    v8 = index r
    v9 = load w0[r, 0]
    v10 = to_f64 v8
    v11 = mul v9, v10
    v12 = max v7, v11
    next v12
  }
  store out0[i, 0] v6`
	const fill = `
  for k: 0..10 {
    v0 = load %0[k, i]
    v1 = mul v0, v0
    store w0[0, k] v1
  }`
	read := func(from, to, at string) string {
		return `
  v2 = f64 0
  v3 = for r: ` + from + `..` + to + ` (v4 = v2) {
    v5 = load w0[` + at + `]
    v6 = sub v5, v4
    next v6
  }
  store out0[i, 0] v3`
	}
	const peak = `
  v5 = load w0[0, 0]
  store w1[0, 0] v5
  v6 = for q: 0..9 (v7 = v5) {
    v8 = load w0[q+1, 0]
    v9 = max v7, v8
    store w1[q+1, 0] v9
    next v9
  }`
	const fall = `
  v10 = f64 -inf
  v11 = for r: 0..10 (v12 = v10) {
    v13 = load w0[r, 0]
    v14 = load w1[r, 0]
    v15 = sub v14, v13
    v16 = max v12, v15
    next v16
  }
  store out0[i, 0] v11`
	for k, c := range []struct {
		body  string
		loops int
		local bool
	}{
		{scan + most, 1, false},
		{scan + strings.Replace(most, "0..10", "0..9", 1), 2, true},
		{scan + strings.Replace(most, "w0[r, 0]", "w0[9-r, 0]", 1), 2, true},
		{scan + strings.Replace(most, "max v7, v11", "add v1, v11", 1), 2, true}, // it needs the last round
		{scan + most + "\n  v13 = load w0[3, 0]\n  store out0[i, 1] v13", 1, true},
		{scan + "\n  store w0[4, 0] v1" + most, 2, true},
		{scan + peak + fall, 1, false},
		{scan + peak + strings.Replace(fall, "w1[r, 0]", "w1[9-r, 0]", 1), 2, true},
		{fill + read("0", "10", "0, r"), 1, false},
		{fill + read("3", "13", "0, r-3"), 1, false},
		{fill + read("3", "12", "0, r-3"), 2, true},
		{fill + read("0", "10", "1, r"), 2, true},
	} {
		n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.cols) {\n  local w0 f64[12, 12]\n  local w1 f64[12, 12]"+c.body+"\n} : (f64[%0.cols, 2])", loop.Standard{})
		if err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		x := value.New(types.F64, 10, 3)
		for i := range x.F64 {
			x.F64[i] = float64(i*7%11) - 5
		}
		m := loop.Through(n)
		sameResults(t, n, m, []value.Value{x})
		if loops := strings.Count(m.String(), " = for "); loops+strings.Count(m.String(), "\n  for ") != c.loops || len(m.Locals) > 0 != c.local {
			t.Errorf("%d: want %d loops, a local %v\n%s", k, c.loops, c.local, m)
		}
	}
}

// TestForward: a load of a local gets what the body has stored at its place, unless a statement between may
// have stored there too.
func TestForward(t *testing.T) {
	const store = `
  v0 = load %0[0, i]
  store w0[0, 2] v0`
	for k, c := range []struct {
		between string
		local   bool
	}{
		{"", false},
		{"\n  v1 = load %0[1, i]\n  store w0[0, 3] v1", false},
		{"\n  v1 = load %0[1, i]\n  store w0[0, 2] v1", false},
		{"\n  for k: 0..10 {\n    v1 = load %0[k, i]\n    store w0[0, k] v1\n  }", true},
		{"\n  for k: 0..2 {\n    v1 = load %0[k, i]\n    store w0[0, 2] v1\n  }", true},
	} {
		read := fmt.Sprintf("\n  v%[1]d = load w0[0, 2]\n  store out0[i, 0] v%[1]d", 1+strings.Count(c.between, " = "))
		n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.cols) {\n  local w0 f64[12, 12]"+store+c.between+read+"\n} : (f64[%0.cols, 1])", loop.Standard{})
		if err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		x := value.New(types.F64, 10, 3)
		for i := range x.F64 {
			x.F64[i] = float64(i*7%11) - 5
		}
		m := loop.Forward(n)
		sameResults(t, n, m, []value.Value{x})
		if loads := strings.Contains(m.String(), "load w0"); loads != c.local || len(m.Locals) > 0 != c.local {
			t.Errorf("%d: want a local %v\n%s", k, c.local, m)
		}
	}
}
