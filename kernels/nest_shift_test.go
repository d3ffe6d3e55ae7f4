package kernels

import (
	"runtime"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/loop/launch"
)

// TestBodiesStayBound: executions of a body bind it in the memory of the one before, also if operands,
// integers or the size of a matrix are others.
func TestBodiesStayBound(t *testing.T) {
	needCode(t)
	table := compiledFromTheStart(t)
	const n = 64
	matrix, f64, i64 := types.DenseOf(types.F64, n, n), types.ScalarOf(types.F64), types.ScalarOf(types.I64)
	b := &bodyOf{Body: &op.Body{Args: []types.Type{i64, i64, matrix, types.DenseOf(types.F64, n, types.Unknown), i64, f64}}, table: table}
	item := func(m, i, j int) int { return b.act("element", f64, nil, m, i, j) }
	b.Yields = []int{b.act("add", f64, nil, b.act("mul", f64, nil, item(2, 0, 1), 5), item(3, 0, 4))}
	random := func(rows, cols int) *value.Dense {
		x := value.New(types.F64, rows, cols)
		for k := range x.F64 {
			x.F64[k] = construct.U01(7, uint64(k+rows*cols))
		}
		return x
	}
	c := &op.Call{Def: table.Must("parfor"), Type: matrix, Bodies: []*op.Body{b.Body},
		Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0, 0)}, op.Attr{Name: "n", Val: op.Ints(n, n)}, op.Attr{Name: "by", Val: op.Ints(1, 1)}, op.Attr{Name: "names", Val: op.Str("i j")})}
	run := func() *parforRun {
		c.Out = random(n, n)
		made, err := beginParfor(c, 2)
		if err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < n; lo += n / 4 {
			if err := made.Chunk(lo/(n/4)%2, lo, lo+n/4); err != nil {
				t.Fatal(err)
			}
		}
		if err := made.End(); err != nil {
			t.Fatal(err)
		}
		return made.(*parforRun)
	}
	for k := range 12 {
		c.In = []value.Value{random(n, n), random(n, 5+k/4), value.I64(int64(k % 4)), value.F64(float64(k))}
		want, err := parforRef(c)
		if err != nil {
			t.Fatal(err)
		}
		r := run()
		if _, is := r.of.(*nestRun); !is {
			t.Fatalf("the body runs as a %T", r.of)
		}
		if !value.Same(c.Out, want) {
			t.Errorf("execution %d gives another value than the definition", k)
		}
	}
	if launch.Checks() {
		return // checks take memory
	}
	const most = 2000
	least := uint64(1 << 30) // the pools lose a binding now and then
	for range 100 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc-n*n*8)
	}
	if least > most {
		t.Errorf("an execution takes %d bytes, want at most %d", least, most)
	}
}

// TestNestsShift: an execution of a nest whose matrices lie elsewhere shifts the loops of the one
// before. Another number, and other distances between rows, bind them anew. All give what the
// definition does.
func TestNestsShift(t *testing.T) {
	needCode(t)
	table := compiledFromTheStart(t)
	const n = 40
	m := types.DenseOf(types.F64, n, n)
	b := &bodyOf{Body: &op.Body{Args: []types.Type{m, types.DenseOf(types.F64, 1, n), types.ScalarOf(types.F64)}}, table: table}
	slice := func(x, row, rows int) int {
		return b.act("slice", types.DenseOf(types.F64, rows, n), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(row, 0, rows, n)}), x)
	}
	down, up := b.act("rbind", m, nil, slice(0, 1, n-1), 1), b.act("rbind", m, nil, 1, slice(0, 0, n-1))
	b.Yields = []int{b.act("add", m, nil, b.act("mul", m, nil, down, 2), up)}
	wide := make([]*value.Dense, 3) // matrices of different distances between rows, apart
	for k := range wide {
		wide[k] = value.New(types.F64, 3*n, n+8*(k%2))
		for i := range wide[k].F64 {
			wide[k].F64[i] = construct.U01(uint64(k), uint64(i))
		}
	}
	row := func(k int) *value.Dense { return wide[k].View(1, 0, 1, n) }
	number := value.F64(1.5)
	executions := [][]value.Value{
		{wide[0].View(0, 0, n, n), row(1), number},
		{wide[0].View(5, 0, n, n), row(1), number},
		{wide[2].View(n, 0, n, n), row(0), number}, // the row is of a matrix with another distance
		{wide[0].View(n+3, 0, n, n), row(2), number},
		{wide[1].View(0, 0, n, n), row(2), number},
		{wide[1].View(0, 0, n, n), row(2), value.F64(2.5)},
		{wide[1].View(7, 0, n, n), row(0), value.F64(2.5)},
	}
	shifts := 0 // the pools lose an execution now and then
	for k := range 10 * len(executions) {
		in := executions[k%len(executions)]
		c := &op.Call{Def: table.Must("nest"), Attrs: op.MakeAttrs(), Type: m, In: in, Bodies: []*op.Body{b.Body}, Out: value.New(types.F64, n, n)}
		want, err := b.Body.Eval(in, c)
		if err != nil {
			t.Fatal(err)
		}
		body, err := beginNest(c, 1, table.Must("map"))
		if err != nil {
			t.Fatal(err)
		}
		run := body.(*nestSpace)
		if len(run.rects) < 3 {
			t.Fatalf("%d rectangles", len(run.rects))
		}
		if run.shifted {
			shifts++
		}
		if err := run.Chunk(0, 0, run.N); err != nil {
			t.Fatal(err)
		}
		if err := run.End(); err != nil {
			t.Fatal(err)
		}
		if !value.Same(c.Out, want[0]) {
			t.Errorf("execution %d gives another value than the definition", k)
		}
	}
	if shifts == 0 {
		t.Error("no execution was shifted")
	}
}
