package sparse

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// TestFoldsOfManyWorkers: folds of a large matrix give the same with several concurrent workers as with
// one.
func TestFoldsOfManyWorkers(t *testing.T) {
	rows := define.Resolved(sparseProducts())
	r := rand.New(rand.NewPCG(91, 92))
	const n = 20000
	m := value.NewCSR(types.F64, n, n, 0)
	for i := range n {
		for j := r.IntN(n / 5); j < n; j += 1 + r.IntN(n/5) {
			m.Col, m.F64 = append(m.Col, int32(j)), append(m.F64, r.NormFloat64())
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	x, wide, row := value.New(types.F64, n, 1), value.New(types.F64, n, 3), value.New(types.F64, 3, n)
	for _, d := range []*value.Dense{x, wide, row} {
		for k := range d.F64 {
			d.F64[k] = r.NormFloat64()
		}
	}
	str := func(name, v string) *op.Attrs { return op.MakeAttrs(rowtest.Attr(name, op.Str(v))) }
	for _, c := range []*op.Call{
		{Def: rowtest.RowNamed(t, rows, "sp.matmul"), In: []value.Value{m, x}},
		{Def: rowtest.RowNamed(t, rows, "sp.matmul"), In: []value.Value{m, wide}},
		{Def: rowtest.RowNamed(t, rows, "sp.matmul"), In: []value.Value{row, m}},
		{Def: rowtest.RowNamed(t, rows, "sp.tmatmul"), In: []value.Value{m, wide}},
		{Def: rowtest.RowNamed(t, rows, "semiring"), In: []value.Value{m, x}, Attrs: str("ring", "min +")},
		{Def: rowtest.RowNamed(t, rows, "sp.rowfold"), In: []value.Value{m, x, x}, Attrs: str("of", "max")},
		{Def: rowtest.RowNamed(t, rows, "sp.rowfold"), In: []value.Value{m, x}, Attrs: str("of", "sum")},
	} {
		sig := &op.Sig{Def: c.Def, Attrs: c.Attrs}
		for _, v := range c.In {
			sig.In = append(sig.In, v.Type())
		}
		var err error
		if c.Type, err = c.Def.Type(sig); err != nil {
			t.Fatal(err)
		}
		one := *c
		rowtest.Lend(&one)
		if err := c.Def.Kernel(&one); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			many := *c
			rowtest.Lend(&many)
			n, leaf := c.Def.Loop.Space(&many)
			const workers = 4
			body, err := c.Def.Loop.Begin(&many, workers)
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for lo := w * leaf; lo < n; lo += workers * leaf {
						_ = body.Chunk(w, lo, min(lo+leaf, n))
					}
				})
			}
			all.Wait()
			if msg := rowtest.Differ(many.Out, one.Out); msg != "" {
				t.Fatalf("%s: %s", c.Def.Name, msg)
			}
		}
	}
}

// TestFoldsConvertInPlace: folds of a matrix of integers with floats give what folds of its floats
// give, and make no copy of its values.
func TestFoldsConvertInPlace(t *testing.T) {
	rows := define.Resolved(sparseProducts())
	r := rand.New(rand.NewPCG(93, 94))
	const n, most = 3000, 400
	m := value.NewCSR(types.I64, n, n, 0)
	for i := range n {
		for j := r.IntN(n); j < n && int64(len(m.Col)) < m.Ptr[i]+most; j += 1 + r.IntN(10) {
			m.Col, m.I64 = append(m.Col, int32(j)), append(m.I64, r.Int64N(2000)-1000)
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	floats := *m
	floats.Elem, floats.I64, floats.F64 = types.F64, nil, make([]float64, m.NNZ())
	for k, v := range m.I64 {
		floats.F64[k] = float64(v)
	}
	x, wide := value.New(types.F64, n, 1), value.New(types.F64, n, 3)
	for _, d := range []*value.Dense{x, wide} {
		for k := range d.F64 {
			d.F64[k] = r.NormFloat64()
		}
	}
	str := func(name, v string) *op.Attrs { return op.MakeAttrs(rowtest.Attr(name, op.Str(v))) }
	for _, c := range []*op.Call{
		{Def: rowtest.RowNamed(t, rows, "sp.matmul"), In: []value.Value{m, x}},
		{Def: rowtest.RowNamed(t, rows, "sp.matmul"), In: []value.Value{m, wide}},
		{Def: rowtest.RowNamed(t, rows, "semiring"), In: []value.Value{m, x}, Attrs: str("ring", "min +")},
		{Def: rowtest.RowNamed(t, rows, "semiring"), In: []value.Value{m, x}, Attrs: str("ring", "max *")},
		{Def: rowtest.RowNamed(t, rows, "sp.rowfold"), In: []value.Value{m, x}, Attrs: str("of", "min")},
		{Def: rowtest.RowNamed(t, rows, "sp.rowfold"), In: []value.Value{m, x}, Attrs: str("of", "sum")},
	} {
		c.Type = value.New(types.F64, n, c.In[1].Type().Cols).Type()
		want := *c
		want.In = append([]value.Value{&floats}, c.In[1:]...)
		for _, call := range []*op.Call{&want, c} {
			rowtest.Lend(call)
			if err := c.Def.Kernel(call); err != nil {
				t.Fatal(err)
			}
		}
		if msg := rowtest.Differ(c.Out, want.Out); msg != "" {
			t.Errorf("%s: %s", c.Def.Name, msg)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Def.Loop.Begin(c, 1); err != nil {
			t.Fatal(err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > uint64(8*m.NNZ()/2) {
			t.Errorf("%s allocates %d bytes for %d entries", c.Def.Name, after.TotalAlloc-before.TotalAlloc, m.NNZ())
		}
	}
}

// TestAnyOfNone: no entry is read to know which rows meet an empty set.
func TestAnyOfNone(t *testing.T) {
	m := value.NewCSR(types.Bool, 2, 5, 0)
	m.Col, m.Ptr = []int32{7, 9, 8}, []int64{0, 1, 3} // columns that x does not have: to read them would panic
	out := []uint8{1, 1}
	if anyRows(out, m, make([]uint8, 5))(0, 2); out[0] != 0 || out[1] != 0 {
		t.Errorf("rows %v meet nothing", out)
	}
	m.Col, m.Ptr = []int32{0, 1, 2, 3, 4, 0, 1, 2}, []int64{0, 5, 8}
	for j := range 5 {
		x := make([]uint8, 5)
		x[j] = 1
		if anyRows(out, m, x)(0, 2); out[0] != 1 || (out[1] == 1) != (j < 3) {
			t.Errorf("rows %v meet column %d", out, j)
		}
	}
}
