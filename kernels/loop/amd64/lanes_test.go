//go:build linux && amd64

package amd64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestLanesFirst: rows of few columns are no rows of lanes; a column in one piece and long rows are.
func TestLanesFirst(t *testing.T) {
	parse := func(text string) *loop.Nest {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	add := parse(`
nest(%0: f64[], %1: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[i, 0]
  v2 = add v0, v1
  store out0[i, j] v2
} : (f64[%0.rows, %0.cols])`)
	call := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = call exp(v0)
  store out0[i, j] v1
} : (f64[%0.rows, %0.cols])`)
	ragged := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..i+1) {
  v0 = load %0[i, j]
  store out0[i, j] v0
} : (f64[%0.rows, %0.cols])`)
	sum := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  reduce out0[i, 0] v0
} : (sum f64[%0.rows, 1])`)
	for _, c := range []struct {
		n          *loop.Nest
		unit       bool
		rows, cols int
		want       bool
	}{{add, false, 100000, 1, true}, {add, false, 100000, 3, false}, {call, false, 100000, 3, true}, {add, true, 100000, 1, true}, {add, false, 100000, 300, false}, {add, false, 2, 100000, false},
		{add, false, 1, 1, false}, {ragged, false, 100000, 2, false}, {sum, false, 100000, 2, false}} {
		unit := Layout{Unit: c.unit}
		if got := LanesFirst(c.n, []Layout{unit, unit}, []Layout{unit}, c.rows, c.cols); got != c.want {
			t.Errorf("%d x %d: the lanes are first is %v, want %v\n%s", c.rows, c.cols, got, c.want, c.n)
		}
	}
}

// TestFlat evaluates whole rows as one row of lanes where the code allows it, and looks which nests do.
func TestFlat(t *testing.T) {
	m := need(t, avx2)
	for _, c := range []struct {
		body string
		flat bool
	}{
		{"v1 = load %1\nv2 = add v0, v1\nstore out0[i, j] v2", true},
		{"v1 = load %0[0, j]\nv2 = add v0, v1\nstore out0[i, j] v2", false}, // read at the point, too
		{"v1 = load %0[i, 0]\nv2 = add v0, v1\nstore out0[i, j] v2", false},
		{"v1 = index j\nv2 = to_f64 v1\nstore out0[i, j] v2", false},
		{"v1 = for q: 0..3 (v2 = v0) {\nv3 = mul v2, v2\nnext v3\n}\nstore out0[i, j] v1", true},
		{"v1 = for q: 0..j (v2 = v0) {\nv3 = mul v2, v2\nnext v3\n}\nstore out0[i, j] v1", false},
	} {
		n, err := loop.Parse("nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[i, j]\n"+c.body+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x := value.New(types.F64, 9, 5)
		for k := range x.F64 {
			x.F64[k] = float64(k)
		}
		in, out := []value.Value{x, value.F64(0.5)}, value.New(types.F64, 9, 5)
		f, err := compile(m, avx2, n, in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		if across, got := Flat(n); got != c.flat || across != 0 {
			t.Errorf("flat is %v, want %v, with operands %b across\n%s", got, c.flat, across, n)
		}
		if !c.flat {
			continue
		}
		f.run(0, 1, 2*5, 8*5) // rows 2 to 7
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			for j := range 5 {
				w := want[0].(*value.Dense).At(i, j)
				if i < 2 || i >= 8 {
					w = value.F64(0)
				}
				if !out.At(i, j).Same(w) {
					t.Errorf("(%d, %d) is %v, want %v\n%s", i, j, out.At(i, j), w, n)
				}
			}
		}
	}
}

// TestBeside compares loads and stores of columns side by side, in the rows of the lanes, with the
// evaluator. It checks that nothing beside the columns is written, and that the code transposes rows
// where it should.
func TestBeside(t *testing.T) {
	const rows = 35
	m := need(t, avx512)
	for _, c := range []struct {
		loads, stores []int
		turned        bool
	}{
		{[]int{0, 1, 2}, []int{1, 0, 2}, true},
		{[]int{1, 8, 3, 1}, []int{2, 3, 4, 5, 6, 7, 8, 9}, true},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []int{3}, true},
		{[]int{2, 11}, []int{0, 1, 2, 3, 4, 5}, true},
		{[]int{0, 9}, []int{0, 2, 5}, false}, // columns between that are not written
		{[]int{5}, []int{0, 1, 1, 2}, false},
		{[]int{7, 6}, []int{3}, true},
	} {
		var body strings.Builder
		for k, col := range c.loads {
			fmt.Fprintf(&body, "  v%d = load %%0[i+1, %d]\n", k, col)
		}
		n := len(c.loads)
		fmt.Fprintf(&body, "  v%d = load %%1[i+1, 0]\n", n)
		for k := range n {
			fmt.Fprintf(&body, "  v%d = add v%d, v%d\n", n+1+k, k, n+k)
		}
		for k, col := range c.stores {
			fmt.Fprintf(&body, "  v%d = add v%d, v%d\n  store out0[i, %d] v%[1]d\n", 2*n+1+k, k%n, 2*n+k, col)
		}
		nest, err := loop.Parse("nest(%0: f64[], %1: f64[]) (i: 0..%0.rows-1) {\n"+body.String()+"} : (f64[%0.rows-1, 10])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x, around := value.New(types.F64, rows+1, 12), value.New(types.F64, rows+2, 14)
		for k := range x.F64 {
			x.F64[k] = float64(k) / 3
		}
		want, err := nest.Eval([]value.Value{x, x}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for together := range maxParts + 1 {
			for k := range around.F64 {
				around.F64[k] = -1
			}
			out := around.View(1, 2, rows, 10)
			f, err := compileAs(Schedule{together: together}, m, avx512, nest, []value.Value{x, x}, []*value.Dense{out}, loop.FastLevels)
			if err != nil {
				t.Fatal(err)
			}
			f.fuel = 2
			f.run(0, rows, 0, rows)
			for i := range around.Rows {
				for j := range around.Cols {
					expected := -1.0
					if i > 0 && i <= rows && slices.Contains(c.stores, j-2) {
						expected = want[0].(*value.Dense).At(i-1, j-2).F
					}
					if got := around.At(i, j).F; got != expected {
						t.Fatalf("loads %v, stores %v, %d together: element (%d, %d) is %v, want %v", c.loads, c.stores, together, i-1, j-2, got, expected)
					}
				}
			}
		}
		list, err := List(AVX512, nest, make([]Layout, 2), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(list.Text, "VUNPCKHPD") != c.turned {
			t.Errorf("loads %v, stores %v: turned is %v", c.loads, c.stores, !c.turned)
		}
	}
}

// TestTiled compares loops along the rows of the lanes with the evaluator: loops that go to the end of
// the row, begin after its beginning, are left early, or end elsewhere in each lane. It checks that
// loads come from tiles where the index goes up.
func TestTiled(t *testing.T) {
	m := need(t, avx512)
	for _, c := range []struct {
		from, to, at, leave string
		gathers             bool
	}{
		{"0", "%0.cols", "k", "", false},
		{"2", "%0.cols", "k-2", "", false},
		{"0", "%0.cols-3", "k+3", "", false},
		{"0", "%0.cols", "k", "    v8 = lt v2, v7\n    break v8\n", false},
		{"0", "v1", "k", "", false},
		{"0", "%0.cols", "%0.cols-1-k", "", true},
	} {
		text := fmt.Sprintf(`nest(%%0: f64[], %%1: i64[], %%2: f64) (i: 0..%%0.rows) {
  v0 = f64 0
  v1 = load %%1[i, 0]
  v2 = load %%2
  v3 = for k: %s..%s (v4 = v0) {
    v5 = load %%0[i, %s]
    v6 = mul v5, v2
    v7 = add v4, v6
%s    next v7
  }
  store out0[i, 0] v3
} : (f64[%%0.rows, 1])`, c.from, c.to, c.at, c.leave)
		nest, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for cols := 1; cols < 40; cols += 3 {
			const rows = 45
			x, ends := value.New(types.F64, rows, cols), value.New(types.I64, rows, 1)
			for k := range x.F64 {
				x.F64[k] = float64(k%17)/3 - 1
			}
			for k := range ends.I64 {
				ends.I64[k] = int64(k * 5 % (cols + 1))
			}
			in := []value.Value{x, ends, value.F64(1.5)}
			want, err := nest.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for together := range maxParts + 1 {
				out := value.New(types.F64, rows, 1)
				f, err := compileAs(Schedule{together: together}, m, avx512, nest, in, []*value.Dense{out}, loop.FastLevels)
				if err != nil {
					t.Fatal(err)
				}
				f.fuel = 5
				f.run(0, rows, 0, rows)
				if err := same(out, want[0].(*value.Dense)); err != nil {
					t.Fatalf("%s, %d columns, %d together: %v", c.at, cols, together, err)
				}
			}
		}
		list, err := List(AVX512, nest, make([]Layout, 3), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(list.Text, "VUNPCKHPD") == c.gathers {
			t.Errorf("%s: gathers is %v", c.at, !c.gathers)
		}
	}
}

// TestIdleLanes: lanes that do not count hold no subnormal numbers after rounds in which a carried
// value decays where x is 0, as it is in these lanes. The registers are those that the code saves
// between two rounds. Those that the code does not use hold what was there before, in all calls.
func TestIdleLanes(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		if !has(target) {
			continue
		}
		m := need(t, target)
		for _, c := range []struct {
			space, place string
			rows         int
		}{{"(i: 0..3)", "i, 0", 3}, {"(i: 0..11)", "i, 0", 11}, {"()", "v1, 0", 1}} {
			nest, err := loop.Parse(fmt.Sprintf("nest(%%0: f64[], %%1: f64, %%2: i64) %s {\nv0 = load %%1\nv1 = load %%2\nv2 = for k: 0..1030 (v3 = v0) {\n"+
				"v4 = load %%0[%s]\nv5 = mul v3, v0\nv6 = add v5, v4\nnext v6\n}\nstore out0[%s, 0] v2\n} : (f64[%d, 1])",
				c.space, c.place, strings.Replace(c.place[:1], "v", "0", 1), c.rows), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			x := value.New(types.F64, 11, 1)
			for k := range x.F64 {
				x.F64[k] = float64(1 + k)
			}
			in := []value.Value{x, value.F64(0.5), value.I64(10)}
			want, err := nest.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			out := value.New(types.F64, c.rows, 1)
			f, err := compile(m, target, nest, in, []*value.Dense{out})
			if err != nil {
				t.Fatal(err)
			}
			f.fuel, f.begun = 1, []byte{}
			f.run(0, 1, 0, c.rows)
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Fatalf("%s, %s: %v", target.name, c.space, err)
			}
			if f.calls < 1030/8 { // rounds are written several times
				t.Fatalf("%s, %s: %d calls", target.name, c.space, f.calls)
			}
			at := f.args[argScratch] - uint64(uintptr(unsafe.Pointer(&f.scratch[0])))
			saved, begun := f.scratch[at:], f.begun[at:]
			for k := range savedMasks / 8 {
				if bytes.Equal(saved[8*k:8*k+8], begun[8*k:8*k+8]) {
					continue
				}
				if word := binary.NativeEndian.Uint64(saved[8*k:]); word >= 1<<43 && word < 1<<52 {
					t.Errorf("%s, %s: register %d has %g in word %d", target.name, c.space, k/(slotBytes/8), math.Float64frombits(word), k%(slotBytes/8))
				}
			}
		}
	}
}

// TestCrosses: a space with an operand that is read across runs in blocks, unless order counts. On
// AVX-512 a reduction reads such an operand in squares, and not element by element.
func TestCrosses(t *testing.T) {
	for _, c := range []struct {
		body    string
		crosses bool
		turns   bool
	}{
		{"v1 = load %0[j, i]\nv2 = sub v0, v1\nreduce out1[0, 0] v2", true, true},
		{"v1 = load %0[j, i+1]\nv2 = mul v0, v1\nreduce out0[0, 0] v2", true, true},
		{"v1 = load %0[j, 3]\nv2 = mul v0, v1\nreduce out0[0, 0] v2\nreduce out1[0, 0] v0", false, false},
		{"v1 = load %0[j, j]\nv2 = mul v0, v1\nreduce out0[0, 0] v2\nreduce out1[0, 0] v0", false, false},
		{"v1 = to_i64 v0\nv2 = load %0[j, v1]\nreduce out0[0, 0] v2\nreduce out1[0, 0] v0", true, false},
		{"v1 = load %0[j, i]\nv2 = sub v0, v1\nreduce out0[0, 0] v2\nreduce out1[0, 0] v2", true, false}, // it would not fit into registers
	} {
		n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.rows-1, j: 0..%0.cols) {\nv0 = load %0[i, j]\n"+c.body+"\n} : (sum f64[1, 1], min f64[1, 1])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		if got := Crosses(n); got != c.crosses {
			t.Errorf("crosses is %v, want %v\n%s", got, c.crosses, n)
		}
		l, err := List(AVX512, n, make([]Layout, 1), make([]Layout, 2), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(l.Text, "VUNPCKHPD"); got != c.turns {
			t.Errorf("squares are turned is %v, want %v\n%s", got, c.turns, n)
		}
	}
	n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[j, i]\nreduce out0[0, 0] v0, v0\n} : (chain f64[1, 1])", loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	if Crosses(n) {
		t.Error("a chain, whose order counts, runs in blocks")
	}
}
