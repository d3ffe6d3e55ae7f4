package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/types"
	"flow/ir/value"
)

// sameResults compares what two nests give, or that both fail.
func sameResults(t *testing.T, n, m *loop.Nest, in []value.Value) {
	t.Helper()
	want, err := n.Eval(in, loop.Env{})
	got, failed := m.Eval(in, loop.Env{})
	if (err != nil) != (failed != nil) {
		t.Fatalf("%v, rewritten %v\n%s\nrewritten\n%s", err, failed, n, m)
	}
	for k := range want {
		a, b := want[k].(*value.Dense), got[k].(*value.Dense)
		for i := range a.Rows {
			for j := range a.Cols {
				if !a.At(i, j).Same(b.At(i, j)) {
					t.Fatalf("result %d: element (%d, %d) is %v, want %v\n%s\nrewritten\n%s", k, i, j, b.At(i, j), a.At(i, j), n, m)
				}
			}
		}
	}
}

// TestSplit: loops are cut where conditions on their index change, so that none of these is left,
// and give what they gave.
func TestSplit(t *testing.T) {
	number := func(b *loop.Builder, x int64) loop.Val { return b.Const(types.I64, uint64(x)) }
	for k, c := range []struct {
		condition func(b *loop.Builder, i, j loop.Val) loop.Val
		pieces    int // 0: the condition stays
	}{
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Lt, j, number(b, 5)) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Le, j, number(b, 5)) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Lt, number(b, 5), j) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Not, b.Op(loop.Le, number(b, 5), j)) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Eq, j, number(b, 5)) }, 3},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Ne, j, number(b, 0)) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Ne, j, number(b, 11)) }, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Lt, number(b, 12), j) }, 1},
		{func(b *loop.Builder, _, j loop.Val) loop.Val { return b.Op(loop.Lt, b.Op(loop.Neg, j), number(b, 1)) }, 1},
		{func(b *loop.Builder, _, j loop.Val) loop.Val {
			return b.Op(loop.Le, b.Op(loop.Mul, number(b, 3), j), number(b, 16))
		}, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val {
			return b.Op(loop.Lt, b.Op(loop.Mul, b.Op(loop.Sub, number(b, 4), j), number(b, 7)), number(b, -20))
		}, 2},
		{func(b *loop.Builder, _, j loop.Val) loop.Val {
			return b.Op(loop.Or, b.Op(loop.Lt, j, number(b, 3)), b.Op(loop.Lt, number(b, 9), j))
		}, 3},
		{func(b *loop.Builder, _, j loop.Val) loop.Val {
			return b.Op(loop.And, b.Op(loop.Lt, j, number(b, 9)), b.Op(loop.Lt, number(b, 3), j))
		}, 3},
		{func(b *loop.Builder, i, j loop.Val) loop.Val { return b.Op(loop.Lt, i, j) }, 0},
		{func(b *loop.Builder, i, j loop.Val) loop.Val {
			return b.Op(loop.And, b.Op(loop.Lt, i, number(b, 2)), b.Op(loop.Lt, j, number(b, 6)))
		}, -1},
	} {
		b := loop.New()
		p := b.Param(loop.DenseParam, types.F64)
		i := b.Index("i", loop.Range{Kind: loop.Steps, To: loop.Of(loop.RowsSym, p), By: 1})
		at := loop.Of(loop.IndexSym, i)
		iv := b.IndexValue(i)
		zero := b.Const(types.F64, 0)
		x := loop.Index{Name: b.Name("j"), Range: loop.Range{Kind: loop.Steps, To: loop.Num(12), By: 1}}
		out := b.For(x, []loop.Val{zero}, func(sum []loop.Val) []loop.Val {
			one := b.If(c.condition(b, iv, b.IndexValue(x.Name)), []types.Elem{types.F64}, func() []loop.Val {
				return []loop.Val{b.Load(loop.Mem{Kind: loop.ParamMem, N: p}, at, loop.Num(0))}
			}, func() []loop.Val { return []loop.Val{b.Op(loop.ToF64, b.IndexValue(x.Name))} })
			return []loop.Val{b.Op(loop.Add, b.Op(loop.Mul, sum[0], one[0]), one[0])}
		})
		r := b.Result(types.F64, loop.Of(loop.RowsSym, p), loop.Num(1))
		b.Store(loop.Mem{Kind: loop.ResultMem, N: r}, at, loop.Num(0), out[0])
		if err := b.Nest.Verify(); err != nil {
			t.Fatal(err)
		}
		m := loop.Split(b.Nest)
		loops, ifs := strings.Count(m.String(), "for "), strings.Contains(m.String(), "if ")
		if c.pieces > 0 && (loops != c.pieces || ifs) || c.pieces == 0 && loops != 1 || c.pieces < 0 && loops != 2 {
			t.Errorf("case %d gives %d loops:\n%s", k, loops, m)
		}
		d := value.New(types.F64, 4, 1)
		copy(d.F64, []float64{0.5, -1, 7, 0})
		sameResults(t, b.Nest, m, []value.Value{d})
	}
	for seed := range 500 {
		x := looptest.Draw(uint64(seed))
		sameResults(t, x.Nest, loop.Split(x.Nest), x.In)
	}
}

// TestSplitChecks: a check that always holds disappears. One that fails somewhere, or everywhere,
// stays.
func TestSplitChecks(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: i64) () {
  v0 = i64 0
  v1 = load %0
  for j: 0..12 {
    v2 = index j
    v3 = i64 12
    v4 = lt v2, v3
    v5 = le v0, v2
    v6 = and v4, v5
    check 0 v6, v2
    v7 = i64 11
    v8 = lt v2, v7
    check 1 v8, v2
    v9 = lt v3, v2
    check 2 v9, v2
    v10 = lt v2, v1
    check 3 v10, v2
  }
} : ()
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := loop.Split(n).String()
	for site, stays := range []bool{false, true, true, true} {
		if strings.Contains(m, fmt.Sprintf("check %d ", site)) != stays {
			t.Errorf("check %d: expected to stay: %v\n%s", site, stays, m)
		}
	}
}

// TestWhere: a form is not negative exactly where its condition holds, if it is the only one.
func TestWhere(t *testing.T) {
	for _, op := range []string{"lt", "le", "eq", "ne"} {
		n, err := loop.Parse(fmt.Sprintf(`
nest(%%0: i64) (i: 0..9) {
  v0 = index i
  v1 = load %%0
  v2 = sub v0, v1
  v3 = i64 4
  v4 = %s v2, v3
  v5 = to_i64 v4
  store out0[i, 0] v5
} : (i64[9, 1])`, op), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.Eval([]value.Value{value.I64(-2)}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		facts := loop.FactsOf(n)
		for i := range int64(9) {
			holds := got[0].(*value.Dense).I64[i] == 1
			forms := facts.Where(4, holds)
			want := 1
			if op == "eq" || op == "ne" {
				want = map[bool]int{true: 2}[holds == (op == "eq")]
			}
			if len(forms) != want {
				t.Errorf("%s is %v: %d forms", op, holds, len(forms))
			}
			for _, f := range forms {
				if x := f.Const + f.Coef(loop.Sym{Kind: loop.IndexSym})*i - 2*f.Coef(loop.Sym{Kind: loop.ParamSym}); x < 0 {
					t.Errorf("%s of %d is %v, where a form is %d", op, i, holds, x)
				}
			}
		}
	}
}
