package launch

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

// conditional writes a nest whose body chooses by conditions on its indices and on a scalar operand.
type conditional struct {
	*rand.Rand
	text strings.Builder
	next int
}

func (c *conditional) line(format string, args ...any) string {
	v := fmt.Sprintf("v%d", c.next)
	c.next++
	fmt.Fprintf(&c.text, "  %s = %s\n", v, fmt.Sprintf(format, args...))
	return v
}

// condition writes a condition of so many comparisons.
func (c *conditional) condition(n int, index []string) string {
	if n > 1 {
		k := 1 + c.IntN(n-1)
		return c.line("%s %s, %s", []string{"and", "or"}[c.IntN(2)], c.condition(k, index), c.condition(n-k, index))
	}
	x := index[c.IntN(len(index))]
	if c.IntN(3) == 0 {
		x = c.line("mul %s, %s", x, c.line("i64 %d", []int{-2, -1, 2, 3}[c.IntN(4)]))
	}
	if c.IntN(4) == 0 {
		x = c.line("add %s, %s", x, c.line("load %%1"))
	}
	k := c.line("i64 %d", []int{0, 1, 2, 25, 30, 38, 39, 58, 59, 60, 116, -3, -40}[c.IntN(13)])
	if c.IntN(2) == 0 {
		x, k = k, x
	}
	v := c.line("%s %s, %s", []string{"lt", "le", "eq", "ne"}[c.IntN(4)], x, k)
	if c.IntN(4) == 0 {
		v = c.line("not %s", v)
	}
	return v
}

// place writes a place among size, a value of the text: a form of an index and of a scalar operand,
// that comes back on the other side of a border by a remainder or a choice.
func (c *conditional) place(index []string, n int, size string) string {
	num := func(x int64) string { return c.line("i64 %d", x) }
	pick := func(list ...int64) int64 { return list[c.IntN(len(list))] }
	f, m := index[c.IntN(len(index))], int64(n)
	if c.IntN(4) == 0 {
		f = c.line("mul %s, %s", f, num(pick(-1, 2, -3)))
	}
	if c.IntN(3) == 0 {
		f = c.line("add %s, %s", f, c.line("load %%1"))
	}
	f = c.line("add %s, %s", f, num(pick(-1, 1, m-1, m+1, -m, 0, 2*m-3, -17, 5, 1<<45-1, -1<<45+2)))
	switch c.IntN(5) {
	case 0:
		f = c.line("select %s, %s, %s", c.line("eq %s, %s", index[0], num(pick(0, 1, m-1))), num(m-1), c.line("sub %s, %s", f, num(1)))
	case 1:
		f = c.line("add %s, %s", f, c.line("idiv %s, %s", f, num(pick(m, 7, -3))))
	}
	by := size
	if c.IntN(3) == 0 {
		by = num(pick(1, 2, 12, m+1, -m, -2, -1))
	} else if c.IntN(4) == 0 {
		by = c.line("load %%2")
	}
	v := c.line("mod %s, %s", f, by)
	v = c.line("select %s, %s, %s", c.line("lt %s, %s", v, num(0)), c.line("add %s, %s", v, size), v)
	inside := c.line("and %s, %s", c.line("le %s, %s", num(0), v), c.line("lt %s, %s", v, size))
	if c.IntN(8) > 0 {
		fmt.Fprintf(&c.text, "  check 0 %s, %s\n", inside, v)
		return v
	}
	return c.line("select %s, %s, %s", inside, v, num(0))
}

// near writes a sum of elements at places, some in an inner loop.
func (c *conditional) near(index []string, rows, cols int) string {
	sum, r, k := c.line("load %%0[i, j]"), c.line("i64 %d", rows), c.line("i64 %d", cols)
	for range 1 + c.IntN(4) {
		at := [2]string{"i", "j"}
		x := func(index []string) {
			if c.IntN(3) > 0 {
				at[0] = c.place(index, rows, r)
			}
			if c.IntN(3) > 0 {
				at[1] = c.place(index, cols, k)
			}
		}
		if c.IntN(3) > 0 {
			x(index)
			sum = c.line("add %s, %s", c.line("load %%0[%s, %s]", at[0], at[1]), c.line("mul %s, %s", sum, c.line("f64 2")))
			continue
		}
		out, carried := c.next, c.next+1
		c.next += 2
		fmt.Fprintf(&c.text, "  v%d = for q%d: %s (v%d = %s) {\n", out, out, []string{"-1..2", "0..3", "2..2", "-1..i-i+1"}[c.IntN(4)], carried, sum)
		q := c.line("index q%d", out)
		x([]string{c.line("add %s, %s", index[c.IntN(2)], q), index[1]})
		fmt.Fprintf(&c.text, "  next %s\n }\n", c.line("add %s, %s", c.line("load %%0[%s, %s]", at[0], at[1]), fmt.Sprintf("v%d", carried)))
		sum = fmt.Sprintf("v%d", out)
	}
	return sum
}

// body writes choices on top of one another, and a loop whose rounds choose by the indices of the
// space.
func (c *conditional) body(index []string) string {
	now := c.line("load %%0[i, j]")
	for range 1 + c.IntN(3) {
		if v := c.condition(1+c.IntN(4), index); c.IntN(2) == 0 {
			now = c.line("select %s, %s, %s", v, c.line("mul %s, %s", now, c.line("f64 %d", c.IntN(9))), now)
		} else {
			out := c.next
			c.next++
			fmt.Fprintf(&c.text, "  v%d = if %s {\n", out, v)
			fmt.Fprintf(&c.text, "  yield %s\n  } else {\n", c.line("add %s, %s", now, c.line("f64 %d", c.IntN(9))))
			fmt.Fprintf(&c.text, "  yield %s\n  }\n", now)
			now = fmt.Sprintf("v%d", out)
		}
	}
	return now
}

// TestBorders: windows of nests with conditions on the indices have the bytes of the definition where
// the points within run by code of their own.
func TestBorders(t *testing.T) {
	if x, err := Target(); err != nil || x == Interp {
		t.Skip("machine code alone is cut at borders, and there is none here")
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	cored, cutOff, linear, failing := 0, 0, 0, 0
	for seed := range uint64(400) {
		c := &conditional{Rand: rand.New(rand.NewPCG(seed, 7))}
		near := seed >= 200
		rows, cols := 60, 40+c.IntN(80)
		switch {
		case seed%8 == 0:
			rows, cols = 400, 1+c.IntN(3) // the lanes are the rows
		case near && seed%8 == 1:
			rows, cols = 1+c.IntN(2), 400
		case near:
			rows = 20
		}
		head := "nest(%0: f64[], %1: i64, %2: i64) (i: 0..%0.rows, j: 0..%0.cols) {\n"
		index, result := []string{c.line("index i"), c.line("index j")}, ""
		if near {
			result = c.near(index, rows, cols)
		} else {
			result = c.body(index)
		}
		n, err := loop.Parse(head+c.text.String()+"  store out0[i, j] "+result+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err, c.text.String())
		}
		x := value.New(types.F64, rows, cols)
		for k := range x.F64 {
			x.F64[k] = float64(k % 101)
		}
		in := []value.Value{x, value.I64(c.Int64N(5) - 2), value.I64(int64(rows))}
		l := New(n)
		if seed%3 == 0 { // what another launch was told is no longer so
			out := value.New(types.F64, rows, cols)
			if _, err := l.Begin(in, []*value.Dense{out}); err != nil {
				t.Fatal(err)
			}
			in[1] = value.I64([]int64{1, 70, 1 << 45, -1<<45 - 3, 1<<63 - 10, -1 << 63}[c.IntN(6)])
			in[2] = value.I64([]int64{1, -3, int64(cols), 1 << 45, 1<<63 - 1}[c.IntN(5)])
		}
		want, failed := n.Eval(in, loop.Env{})
		out := value.New(types.F64, rows, cols)
		run, err := l.Begin(in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		w, flagged := run.Worker(), false
		for i := 0; i < rows; {
			i1 := min(rows, i+1+c.IntN(rows))
			for j := 0; j < cols; {
				j1 := min(cols, j+1+c.IntN(cols))
				flag, err := w.Window(i, i1, j, j1, nil)
				if err != nil {
					t.Fatal(err)
				}
				j, flagged = j1, flagged || flag
			}
			i = i1
		}
		if w.core != nil {
			cored++
			if p := run.cuts; len(p.rows) > 1 && len(p.cols) > 1 {
				cutOff++
			}
			if near && !strings.Contains(run.cuts.core.nest.String(), "mod") {
				linear++
			}
		}
		w.Free()
		if flagged != (failed != nil) {
			t.Fatalf("seed %d: flagged is %t, and the definition says %v\n%s", seed, flagged, failed, n)
		}
		if failed != nil {
			failing++
		} else if !same(out, want[0].(*value.Dense)) {
			t.Fatalf("seed %d: a wrong result of\n%s", seed, n)
		}
	}
	if cored < 250 || cutOff < 50 || linear < 10 || failing < 15 {
		t.Errorf("code for points within ran in %d of 400 nests, borders of both indices were cut off in %d; %d had no remainders left, %d fail", cored, cutOff, linear, failing)
	}
}

var gather = regexp.MustCompile(`load %0\[.*v`)

// torus is a nest that reads neighbours on the other side of borders: by remainders, by a choice, by a
// negative subscript that counts from the end, and in an inner loop.
const torus = `
nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = index i
  v1 = index j
  v2 = load %1
  v3 = i64 1
  v4 = i64 0
  v5 = add v0, v2
  v6 = sub v5, v3
  v7 = mod v6, v2
  v8 = eq v1, v4
  v9 = i64 399
  v10 = sub v1, v3
  v11 = select v8, v9, v10
  v12 = lt v11, v4
  v13 = i64 400
  v14 = add v11, v13
  v15 = select v12, v14, v11
  v16 = le v4, v15
  v17 = lt v15, v13
  v18 = and v16, v17
  check 0 v18, v15
  v19 = load %0[v7, v15]
  v20 = sub v0, v3
  v21 = lt v20, v4
  v22 = add v20, v2
  v23 = select v21, v22, v20
  v24 = le v4, v23
  check 1 v24, v23
  v25 = load %0[v23, j]
  v26 = sub v19, v25
  v27 = for q: -1..2 (v28 = v26) {
    v29 = index q
    v30 = add v1, v29
    v31 = mod v30, v13
    v32 = load %0[i, v31]
    v33 = add v28, v32
    next v33
  }
  store out0[i, j] v27
} : (f64[%0.rows, %0.cols])`

// TestBordersOfTorus: within, neighbours on a torus are read at linear places, without remainders or
// checks. Rows and columns at a border read them as the body says, also where there are no others.
func TestBordersOfTorus(t *testing.T) {
	if x, err := Target(); err != nil || x == Interp {
		t.Skip("machine code alone is cut at borders, and there is none here")
	}
	n, err := loop.Parse(torus, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	for _, rows := range []int{1, 2, 3, 50} {
		x, out := value.New(types.F64, rows, 400), value.New(types.F64, rows, 400)
		for k := range x.F64 {
			x.F64[k] = float64(k * k % 103)
		}
		in := []value.Value{x, value.I64(int64(rows))}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		var r Run
		if flagged, err := New(n).Alone(&r, in, []*value.Dense{out}, rows, 400); err != nil || flagged {
			t.Fatal(err, flagged)
		}
		if !same(out, want[0].(*value.Dense)) {
			t.Fatalf("a wrong result of %d rows", rows)
		}
		if rows < 50 {
			continue
		}
		if text := r.cuts.core.nest.String(); strings.Contains(text, " mod ") || strings.Contains(text, "check") || gather.MatchString(text) {
			t.Errorf("within there is\n%s", text)
		}
		if got, want := fmt.Sprint(r.cuts.rows, r.cuts.cols), "[{0 1 false 1} {1 50 true 0}] [{0 1 false 2} {1 399 true 0} {399 400 false 3}]"; got != want {
			t.Errorf("the cuts are %s, not %s", got, want)
		}
	}
}

// TestBordersThatMove: a worker that is told another number for a condition does not use what was
// decided by the old one.
func TestBordersThatMove(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = index j
  v2 = load %1
  v3 = lt v1, v2
  v4 = f64 2
  v5 = mul v0, v4
  v6 = select v3, v5, v0
  store out0[i, j] v6
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	x := value.New(types.F64, 20, 100)
	for k := range x.F64 {
		x.F64[k] = float64(k)
	}
	out := value.New(types.F64, 20, 100)
	run, err := New(n).Begin([]value.Value{x, value.I64(3)}, []*value.Dense{out})
	if err != nil {
		t.Fatal(err)
	}
	w := run.Worker()
	defer w.Free()
	for _, end := range []int64{3, 60, 0} {
		if end != 3 {
			w.Scalar(1, value.I64(end))
		}
		if _, err := w.Window(0, 20, 0, 100, nil); err != nil {
			t.Fatal(err)
		}
		if !w.Direct() {
			return // what Begin was told
		}
		for k, v := range out.F64 {
			if want := x.F64[k]; int64(k%100) < end && v != 2*want || int64(k%100) >= end && v != want {
				t.Fatalf("with %d: element %d is %v", end, k, v)
			}
		}
	}
}
