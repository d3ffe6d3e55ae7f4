package sparse

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// Sums of columns that workers add to apart, of views that do not begin at entry 0 too, are those
// of plain loops; where a matrix has few entries they are made by its transpose.
func TestSumsOfColumns(t *testing.T) {
	rows := define.Resolved(sparseReductions())
	r := rand.New(rand.NewPCG(81, 82))
	apart := 0
	for trial := range 16 {
		e := []types.Elem{types.Bool, types.I64}[trial%2]
		cols := 100 + r.IntN(200)
		height, whole := 300, rowtest.UnevenSparse(r, e, 400, cols)
		if trial%8 >= 6 {
			whole = eyeOf(e, 1000)
			height = 900
		}
		m := whole.View(37, height)
		if worthStates(m, 2) {
			apart++
		}
		for k := range m.I64 {
			if r.IntN(4) == 0 {
				m.I64[k] = r.Int64() // sums wrap around
			}
		}
		for _, name := range []string{"sp.colsum", "sp.colcount"} {
			d := rowtest.RowNamed(t, rows, name)
			typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{m.Type()}})
			if err != nil {
				t.Fatal(err)
			}
			want := value.New(typ.Elem, typ.Rows, typ.Cols)
			for k := m.Ptr[0]; k < m.Ptr[m.Rows]; k++ {
				v := int64(1)
				if e == types.I64 && name == "sp.colsum" {
					v = m.I64[k]
				}
				want.I64[m.Col[k]] += v
			}
			c := &op.Call{Def: d, In: []value.Value{m}, Type: typ}
			rowtest.Lend(c)
			if err := d.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Fatalf("%s of %v: %s", name, m.Type(), msg)
			}
			rowtest.CheckLoop(t, c, want)
		}
	}
	if apart == 0 || apart == 16 {
		t.Errorf("%d of 16 matrices were worth sums of each worker", apart)
	}
}

// eyeOf is a matrix with one entry a row.
func eyeOf(e types.Elem, n int) *value.CSR {
	m := value.NewCSR(e, n, n, n)
	for i := range n {
		m.Col[i], m.Ptr[i+1] = int32(i), int64(i+1)
	}
	for i := range m.I64 {
		m.I64[i] = int64(i) - 500
		if i == 500 {
			m.I64[i] = 1
		}
	}
	return m
}

// Sums and means of columns of floats, of which two floats do not hold all, are the definition's.
func TestScatteredColumns(t *testing.T) {
	rows := define.Resolved(sparseReductions())
	r := rand.New(rand.NewPCG(83, 84))
	for trial := range 12 {
		e := []types.Elem{types.F64, types.F32}[trial%2]
		m := rowtest.UnevenSparse(r, e, 400, 60+r.IntN(40)).View(21, 320)
		for k := range max(len(m.F64), len(m.F32)) {
			v := math.Ldexp(r.NormFloat64(), r.IntN(1+trial*20)-trial*10)
			if trial > 9 && r.IntN(900) == 0 {
				v = []float64{math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(3)]
			}
			switch {
			case v == 0:
			case e == types.F64:
				m.F64[k] = v
			case float32(v) != 0:
				m.F32[k] = float32(v)
			}
		}
		for _, name := range []string{"sp.colsum", "sp.colmean"} {
			d := rowtest.RowNamed(t, rows, name)
			typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{m.Type()}})
			if err != nil {
				t.Fatal(err)
			}
			c := &op.Call{Def: d, In: []value.Value{m}, Type: typ}
			want, err := d.Ref(c)
			if err != nil {
				t.Fatal(err)
			}
			rowtest.Lend(c)
			if err := d.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Fatalf("%s of %v, trial %d: %s", name, m.Type(), trial, msg)
			}
			rowtest.CheckLoop(t, c, want)
		}
	}
}
