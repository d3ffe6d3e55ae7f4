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

// clipped writes a nest that adds up a window of a row, clipped at the borders of the matrix. The
// rounds are counted up or down until a break, or by a range.
func (c *conditional) clipped(index []string, cols int) string {
	num := func(x int64) string { return c.line("i64 %d", x) }
	reach := c.Int64N(9)
	x := c.line("add %s, %s", index[1], c.line("load %%1"))
	lo := c.line("max %s, %s", c.line("sub %s, %s", x, num(reach)), num(0))
	hi := c.line("min %s, %s", num(int64(cols)), c.line("add %s, %s", x, num(reach+c.Int64N(3))))
	sum, by := c.line("f64 0"), 1+c.Int64N(2)
	if c.IntN(4) == 0 {
		hi = c.line("max %s, %s", lo, hi)
		v := c.next
		c.next += 2
		fmt.Fprintf(&c.text, "  v%d = for c: 0..-%s+%s (v%d = %s) {\n", v, lo, hi, v+1, sum)
		fmt.Fprintf(&c.text, "  next %s\n  }\n", c.line("add v%d, %s", v+1, c.line("load %%0[i, c+%s]", lo)))
		return fmt.Sprintf("v%d", v)
	}
	from, to, grows := lo, hi, "add"
	if c.IntN(2) == 0 {
		from, to, grows = c.line("sub %s, %s", hi, num(1)), lo, "sub"
	}
	v := c.next
	c.next += 4
	q := fmt.Sprintf("v%d", v+3)
	fmt.Fprintf(&c.text, "  v%d, v%d = for round: forever (v%d = %s, %s = %s) {\n", v, v+1, v+2, sum, q, from)
	switch {
	case grows == "sub":
		fmt.Fprintf(&c.text, "  break %s\n", c.line("lt %s, %s", q, to))
	case c.IntN(2) == 0:
		fmt.Fprintf(&c.text, "  break %s\n", c.line("le %s, %s", to, q))
	default:
		fmt.Fprintf(&c.text, "  break %s\n", c.line("lt %s, %s", c.line("sub %s, %s", to, num(1)), q))
	}
	fmt.Fprintf(&c.text, "  check 0 %s, %s\n", c.line("and %s, %s", c.line("le %s, %s", num(0), q), c.line("lt %s, %s", q, num(int64(cols)))), q)
	next := c.line("add v%d, %s", v+2, c.line("load %%0[i, %s]", q))
	fmt.Fprintf(&c.text, "  next %s, %s\n  }\n", next, c.line("%s %s, %s", grows, q, num(by)))
	if c.IntN(3) > 0 {
		return fmt.Sprintf("v%d", v)
	}
	return c.line("add v%d, %s", v, c.line("to_f64 v%d", v+1)) // the counter is read behind the loop
}

// TestClippedWindows: inside, clipped windows have a known number of rounds, and no comparison is
// left. All points have the bytes of the definition, also for numbers that wrap.
func TestClippedWindows(t *testing.T) {
	if x, err := Target(); err != nil || x == Interp {
		t.Skip("machine code alone is cut at borders, and there is none here")
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	straight, failing := 0, 0
	for seed := range uint64(200) {
		c := &conditional{Rand: rand.New(rand.NewPCG(seed, 3))}
		rows, cols := 6, 150+c.IntN(80)
		result := c.clipped([]string{c.line("index i"), c.line("index j")}, cols)
		n, err := loop.Parse("nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {\n"+c.text.String()+"  store out0[i, j] "+result+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err, c.text.String())
		}
		x := value.New(types.F64, rows, cols)
		for k := range x.F64 {
			x.F64[k] = float64(k % 101)
		}
		l := New(n)
		for _, shift := range []int64{0, -1, 3, 1 << 45, -1<<45 - 3, 1<<63 - 100, -1 << 63} {
			in := []value.Value{x, value.I64(shift)}
			want, failed := n.Eval(in, loop.Env{})
			out := value.New(types.F64, rows, cols)
			var r Run
			if flagged, err := l.Alone(&r, in, []*value.Dense{out}, rows, cols); err != nil || flagged != (failed != nil) {
				t.Fatalf("seed %d: flagged is %t with %d: %v, %v\n%s", seed, flagged, shift, err, failed, n)
			}
			if failed != nil {
				failing++
			} else if !same(out, want[0].(*value.Dense)) {
				t.Fatalf("seed %d: a wrong result with %d of\n%s", seed, shift, n)
			}
			if r.cuts != nil && shift == 0 {
				text := r.cuts.core.nest.String()
				if gather.MatchString(text) || strings.Contains(text, "forever") || strings.Contains(text, " min ") || strings.Contains(text, " max ") || strings.Contains(text, "check") {
					continue
				}
				straight++
			}
		}
	}
	if straight < 150 || failing < 5 {
		t.Errorf("%d of 200 windows are straight within, %d fail", straight, failing)
	}
}

// TestLoopsAtLargeNumbers: a border that does not depend on an operand says nothing of its size. A
// loop that counts from this operand is left as it is, because the count may wrap.
func TestLoopsAtLargeNumbers(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %1
  v1 = index j
  v2 = i64 1
  v3 = max v1, v2
  v4 = i64 20
  v5 = add v0, v4
  v6 = load %0[i, j]
  v7, v8 = for round: forever (v9 = v6, v10 = v0) {
    v11 = le v5, v10
    break v11
    v12 = to_f64 v3
    v13 = add v9, v12
    v14 = add v10, v2
    next v13, v14
  }
  store out0[i, j] v7
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	x, out := value.New(types.F64, 4, 400), value.New(types.F64, 4, 400)
	for _, v := range []int64{0, 7, 1<<63 - 10, -1 << 63} {
		in := []value.Value{x, value.I64(v)}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		var r Run
		if flagged, err := New(n).Alone(&r, in, []*value.Dense{out}, 4, 400); err != nil || flagged {
			t.Fatal(err, flagged)
		}
		if !same(out, want[0].(*value.Dense)) {
			t.Errorf("a wrong result with %d", v)
		}
	}
}

// TestBordersFollow: if a worker is told other numbers, the code for most points runs where these
// numbers say.
func TestBordersFollow(t *testing.T) {
	if x, err := Target(); err != nil || x == Interp {
		t.Skip("machine code alone is cut at borders, and there is none here")
	}
	n, err := loop.Parse(`
nest(%0: f64[], %1: i64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = index j
  v2 = load %1
  v3 = i64 0
  v4 = sub v1, v2
  v5 = max v4, v3
  v6 = i64 199
  v7 = min v5, v6
  v8 = load %0[i, v7]
  v9 = add v0, v8
  store out0[i, j] v9
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 1
	x, out := value.New(types.F64, 20, 200), value.New(types.F64, 20, 200)
	for k := range x.F64 {
		x.F64[k] = float64(k % 101)
	}
	in := []value.Value{x, value.I64(3)}
	run, err := New(n).Begin(in, []*value.Dense{out})
	if err != nil {
		t.Fatal(err)
	}
	w := run.Worker()
	defer w.Free()
	cuts := map[string]bool{}
	for _, v := range []int64{3, 4, 4, 150, 250, -3, 0, 17, 1<<45 + 1, 5} {
		in[1] = value.I64(v)
		w.Scalar(1, value.I64(v))
		if !w.Told() {
			t.Fatal("an access is outside")
		}
		if flagged, err := w.Window(0, 20, 0, 200, nil); err != nil || flagged {
			t.Fatal(err, flagged)
		}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if !same(out, want[0].(*value.Dense)) {
			t.Fatalf("a wrong result with %d", v)
		}
		switch within := run.cuts != nil && w.core != nil && !w.moved; {
		case !within && v < 20:
			t.Errorf("with %d no code for most points runs", v)
		case within && v < 20:
			cuts[fmt.Sprint(run.cuts.cols)] = true
		}
	}
	if len(cuts) != 6 {
		t.Errorf("the cuts are %v", cuts)
	}
}
