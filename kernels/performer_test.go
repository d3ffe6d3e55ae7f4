package kernels

import (
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// beginMatrices is a parfor over 8 iterations of which each runs 20 rounds of X' = sqrt(X * X + A),
// on matrices of 16 x 16 from X = A + i, and gives the sum of X.
func beginMatrices(t testing.TB) *parforRun {
	t.Helper()
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	square, f64 := types.DenseOf(types.F64, 16, 16), types.ScalarOf(types.F64)
	round := &op.Body{Args: []types.Type{square, square}, Acts: []op.Action{
		{Def: table.Must("mul"), Type: square, Args: []int{0, 0}},
		{Def: table.Must("add"), Type: square, Args: []int{2, 1}},
		{Def: table.Must("sqrt"), Type: square, Args: []int{3}},
	}, Yields: []int{4}}
	body := &op.Body{Args: []types.Type{types.ScalarOf(types.I64), square}, Acts: []op.Action{
		{Def: table.Must("add"), Type: square, Args: []int{1, 0}},
		{Def: table.Must("iterate"), Type: types.TupleOf(square), Args: []int{2, 1}, Bodies: []*op.Body{round},
			Attrs: op.MakeAttrs(op.Attr{Name: "carry", Val: op.Int(1)}, op.Attr{Name: "times", Val: op.Int(20)})},
		{Def: table.Must("part"), Type: square, Args: []int{3}, Attrs: op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(0)})},
		{Def: table.Must("sum"), Type: f64, Args: []int{4}},
	}, Yields: []int{5}}
	a := value.New(types.F64, 16, 16)
	for i := range a.F64 {
		a.F64[i] = float64(i)
	}
	c := &op.Call{Def: table.Must("parfor"), Type: types.DenseOf(types.F64, 8, 1), In: []value.Value{a}, Bodies: []*op.Body{body},
		Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(8)}, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "names", Val: op.Str("i")})}
	b, err := beginParfor(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*parforRun)
}

// An iteration takes no memory but for the numbers that it makes, its index and the sum, and what
// the kernels of its 61 elementwise actions take: two each, for their chain.
func TestIterationsUseMemoryAgain(t *testing.T) {
	r := beginMatrices(t)
	r.work[0].brief = false // or it would go on with machine code
	n := testing.AllocsPerRun(10, func() {
		if err := r.Chunk(0, 0, 8); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations an iteration", n/8)
	if limit := 4.0 + 2*61; n/8 > limit {
		t.Errorf("%v allocations an iteration of 20 rounds, want at most %v", n/8, limit)
	}
}

func BenchmarkIterationsOfMatrices(b *testing.B) {
	r := beginMatrices(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Chunk(0, 0, 8); err != nil {
			b.Fatal(err)
		}
	}
}
