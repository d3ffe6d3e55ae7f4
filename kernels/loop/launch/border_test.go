package launch

import (
	"fmt"
	"math/rand/v2"
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

// body writes choices on top of one another, and a loop whose rounds choose by the indices of the space.
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

// TestBorders: windows of nests with conditions on the indices have the bytes of the definition where the
// points within run by code of their own.
func TestBorders(t *testing.T) {
	if x, err := Target(); err != nil || x == Interp {
		t.Skip("no machine code")
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	cored, cutOff := 0, 0
	for seed := range uint64(400) {
		c := &conditional{Rand: rand.New(rand.NewPCG(seed, 7))}
		head := "nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {\n"
		result := c.body([]string{c.line("index i"), c.line("index j")})
		n, err := loop.Parse(head+c.text.String()+"  store out0[i, j] "+result+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err, c.text.String())
		}
		rows, cols := 60, 40+c.IntN(80)
		if seed%8 == 0 {
			rows, cols = 400, 1+c.IntN(3) // the lanes are the rows
		}
		x := value.New(types.F64, rows, cols)
		for k := range x.F64 {
			x.F64[k] = float64(k % 101)
		}
		in := []value.Value{x, value.I64(c.Int64N(5) - 2)}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		out := value.New(types.F64, rows, cols)
		run, err := New(n).Begin(in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		w := run.Worker()
		for i := 0; i < rows; {
			i1 := min(rows, i+1+c.IntN(rows))
			for j := 0; j < cols; {
				j1 := min(cols, j+1+c.IntN(cols))
				if _, err := w.Window(i, i1, j, j1, nil); err != nil {
					t.Fatal(err)
				}
				j = j1
			}
			i = i1
		}
		if w.core != nil {
			cored++
			if p := run.cuts; len(p.rows) > 1 && len(p.cols) > 1 {
				cutOff++
			}
		}
		w.Free()
		if !same(out, want[0].(*value.Dense)) {
			t.Fatalf("seed %d: a wrong result of\n%s", seed, n)
		}
	}
	if cored < 150 || cutOff < 20 {
		t.Errorf("code for points within ran in %d of 400 nests, borders of both indices were cut off in %d", cored, cutOff)
	}
}

// TestBordersThatMove: a worker that is told another number for a condition does not use what was decided by
// the old one.
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
