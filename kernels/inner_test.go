package kernels

import (
	"math"
	"testing"
	"time"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// gravity is the body of all-pairs gravity over n bodies: D = P - P[i, :], w = c / (r sqrt(r)) with r = rowsum(D ^ 2) + e, and
// colsum(D * w). The arguments are i and P.
func gravity(table *op.Table, n int) *op.Body {
	b := &op.Body{Args: []types.Type{types.ScalarOf(types.I64), types.DenseOf(types.F64, n, 3)}}
	tall, row, column := types.DenseOf(types.F64, n, 3), types.DenseOf(types.F64, 1, 3), types.DenseOf(types.F64, n, 1)
	act := func(name string, t types.Type, attrs *op.Attrs, args ...int) int {
		b.Acts = append(b.Acts, op.Action{Def: table.Must(name), Attrs: attrs, Type: t, Args: args})
		return len(b.Args) + len(b.Acts) - 1
	}
	number := func(t types.Elem, v op.Val) int {
		return act("const", types.ScalarOf(t), op.MakeAttrs(op.Attr{Name: "value", Val: v}))
	}
	zero, two := number(types.I64, op.Int(0)), number(types.I64, op.Int(2))
	eps, c := number(types.F64, op.Float(1e-2)), number(types.F64, op.Float(1/float64(n)))
	here := act("window", row, op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(1)}, op.Attr{Name: "cols", Val: op.Int(3)}), 1, 0, zero)
	d := act("sub", tall, nil, 1, here)
	r := act("add", column, nil, act("rowsum", column, nil, act("pow", tall, nil, d, two)), eps)
	w := act("div", column, nil, c, act("mul", column, nil, r, act("sqrt", column, nil, r)))
	b.Yields = []int{act("colsum", row, nil, act("mul", tall, nil, d, w))}
	return b
}

func beginGravity(t testing.TB, n int) (*parforRun, *innerWorker) {
	t.Helper()
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	p := value.New(types.F64, n, 3)
	vec.Uniform(p.F64, 5, 0)
	c := &op.Call{Def: table.Must("parfor"), Type: types.DenseOf(types.F64, n, 3), In: []value.Value{p}, Bodies: []*op.Body{gravity(table, n)},
		Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(n)}, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "names", Val: op.Str("i")})}
	b, err := beginParfor(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := b.(*parforRun)
	w, is := r.work[0].(*innerWorker)
	if !is {
		t.Fatalf("the body runs as %T", r.work[0])
	}
	return r, w
}

// The machine makes the passes after the first, and its sums are those of the steps.
func TestPassMachineRuns(t *testing.T) {
	if !vec.HavePass {
		t.Skip("this CPU runs no passes")
	}
	for _, n := range []int{16, 64, 100, 2000} {
		r, w := beginGravity(t, n)
		if w.fast == nil {
			t.Fatal("there is no program for the body")
		}
		if err := r.Chunk(0, 0, 3); err != nil {
			t.Fatal(err)
		}
		ran := 0
		for i := range n {
			w.regs[w.in.index[0]].i64[0] = int64(i)
			w.exec(w.in.before, 1)
			fast := [3]float64{}
			ok := w.fast.run(w)
			for j, s := range w.in.sums {
				fast[j] = w.regs[s.to].f64[0]
			}
			if !ok {
				continue
			}
			ran++
			kept := w.fast
			w.fast = nil
			w.pass()
			w.fast = kept
			for j, s := range w.in.sums {
				if x := w.regs[s.to].f64[0]; math.Float64bits(x) != math.Float64bits(fast[j]) {
					t.Fatalf("n = %d, body %d, column %d: %v, the steps say %v", n, i, j, fast[j], x)
				}
			}
		}
		if ran < n-n/8-1 {
			t.Errorf("n = %d: only %d passes by the machine", n, ran)
		}
	}
}

// leastPair reports the least time of a pair of which run does so many: other work on the machine makes it no smaller.
func leastPair(b *testing.B, pairs int, run func() error) {
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least)/float64(pairs), "ns/pair")
}

func BenchmarkPass(b *testing.B) {
	const n, rounds = 2000, 20
	r, w := beginGravity(b, n)
	for _, machine := range []bool{true, false} {
		name := "machine"
		if !machine {
			name, w.fast = "steps", nil
		}
		b.Run(name, func(b *testing.B) {
			leastPair(b, n*rounds, func() error { return r.Chunk(0, 100, 100+rounds) })
		})
	}
}
