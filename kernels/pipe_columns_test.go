package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
	"flow/kernels/rowtest"
)

// TestColumnsOfPipes: reductions of columns are those of the chain stored, whether rows lie side by
// side, columns are cut into groups, or elements are drawn, transposed or far apart in size.
func TestColumnsOfPipes(t *testing.T) {
	defs, pipe := elementwiseRows(), fused()[1]
	r := rand.New(rand.NewPCG(71, 72))
	shapes := [][2]int{{4000, 1}, {900, 2}, {70, 270}, {1500, 3}, {3, 4700},
		{20, 4200}, {600, 65}, {40, 7}, {1, 90}, {700, 33}}
	for round, ran := 0, 0; ran < 80; round++ {
		s := shapes[round%len(shapes)]
		names := severalNames(r)
		for k, n := range names {
			names[k] = strings.Replace(n, "row", "col", 1)
		}
		c, ok := pipeCall(r, pipe, defs, "count", s[0], s[1])
		if !ok {
			continue
		}
		if c, ok = severalCall(c, names, s[0], s[1]); !ok {
			continue
		}
		ran++
		want := rowtest.Defined(t, c)
		onNests(t, func() { equalsSeveral(t, r, c, names, want) })
	}
}

// TestColumnsLessARow: where rows lie side by side, operands that are one row are repeated as often.
func TestColumnsLessARow(t *testing.T) {
	pipe, r, f := fused()[1], rand.New(rand.NewPCG(75, 76)), types.F64
	var sub *op.Def
	for _, d := range elementwiseRows() {
		if d.Name == "sub" {
			sub = d
		}
	}
	for _, s := range [][2]int{{4000, 5}, {901, 2}, {301, 20}} {
		p := &op.Program{In: []op.Operand{{Elem: f}, {Elem: f, Mode: op.RowVec}}, Steps: []op.Step{{Def: sub, Args: []int{0, 1}, Elem: f}}}
		c := &op.Call{Def: pipe, In: []value.Value{anyDense(r, f, s[0], s[1]), anyDense(r, f, 1, s[1])}, Body: p}
		c.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")},
			op.Attr{Name: "rows", Val: op.Int(s[0])}, op.Attr{Name: "cols", Val: op.Int(s[1])})
		names := []string{stores, "colsum", "colargmin"}
		c, ok := severalCall(c, names, s[0], s[1])
		if !ok {
			t.Fatal(s)
		}
		want := rowtest.Defined(t, c)
		onNests(t, func() { equalsSeveral(t, r, c, names, want) })
	}
}

// TestColumnsOfUnlikeRows: sums of columns are exact where elements grow, where some are no numbers,
// where all columns need sums of more levels, and of integers that floats do not hold.
func TestColumnsOfUnlikeRows(t *testing.T) {
	pipe, r := fused()[1], rand.New(rand.NewPCG(73, 74))
	names := []string{"colsum", "colmean", "colnorm", "colvar", "colargmin", "colmax", "sum"}
	alone := map[string]*op.Def{}
	for _, d := range (&engine{}).folded(append(reduce.Rows(), reduce.Statistics()...)) {
		alone[d.Name] = d
	}
	for _, s := range [][2]int{{20_000, 3}, {9000, 40}, {40, 5000}} {
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			x := value.New(e, s[0], s[1])
			for i := range s[0] {
				for j := range s[1] {
					v := value.F64(r.NormFloat64() * float64(1+i))
					switch k := i % 97; {
					case j == 1 && k == 3:
						v = anyScalar(r, e)
					case j == 2 && k == 5:
						v = value.F64(v.F * 0x1p60)
					case s[1] == 40 && e.IsFloat() && i > 2000:
						v = value.F64(math.Ldexp(v.F, i*29%200-100))
					case e == types.I64:
						v = value.I64(int64(r.Uint64()))
					}
					x.Set(i, j, v.Convert(e))
				}
			}
			c := &op.Call{Def: pipe, In: []value.Value{x}, Body: &op.Program{In: []op.Operand{{Elem: e}}}}
			c.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")},
				op.Attr{Name: "rows", Val: op.Int(s[0])}, op.Attr{Name: "cols", Val: op.Int(s[1])})
			c, ok := severalCall(c, names, s[0], s[1])
			if !ok {
				t.Fatal(names, e)
			}
			onNests(t, func() {
				lendTuple(c)
				n, leaf := c.Def.Loop.Space(c)
				got, err := rowtest.Chunked(r, c, n, leaf, 2)
				if err != nil {
					t.Fatal(err)
				}
				for k, name := range names {
					z := &op.Call{Def: reduce.Named(name).Def, In: c.In, Type: c.Type.Ext.Fields[k].Type}
					rowtest.Lend(z)
					if err := z.Def.Kernel(z); err != nil {
						t.Fatal(err)
					}
					if msg := rowtest.Differ(got.(value.Tuple)[k], z.Out); msg != "" {
						t.Fatalf("%s of %v of %v: %s", name, e, s, msg)
					}
					want := z.Out
					if z.Def = alone[name]; reduce.Named(name).Axis == reduce.OverCols {
						rowtest.Lend(z)
						rowtest.CheckLoop(t, z, want)
					}
				}
			})
		}
	}
}

// TestColumnsOfOneWorker: the column sums of a single worker add its states to the numbers that a
// window has left to another sum because they were in doubt or not finite.
func TestColumnsOfOneWorker(t *testing.T) {
	r, alone := rand.New(rand.NewPCG(77, 78)), map[string]*op.Def{}
	for _, d := range (&engine{}).folded(append(reduce.Rows(), reduce.Statistics()...)) {
		alone[d.Name] = d
	}
	for _, odd := range [][]float64{nil, {0x1p900, 1, -0x1p900}, {0x1p900, 0x1p-300, 0x1p-600}, {math.Inf(1), 2, 3}, {math.NaN(), 0, 1}} {
		x := anyDense(r, types.F64, 500, 200) // four windows
		for k := range x.F64 {
			x.F64[k] = r.NormFloat64()
		}
		for k, v := range odd {
			x.Set(40+k, 150, value.F64(v))
			x.Set(460+k, 150, value.F64(-v))
		}
		for _, name := range []string{"colsum", "colmean", "colnorm", "colvar"} {
			want := rowtest.Defined(t, &op.Call{Def: reduce.Named(name).Def, In: []value.Value{x}, Type: types.DenseOf(types.F64, 1, 200)})
			onNests(t, func() {
				c := &op.Call{Def: alone[name], In: []value.Value{x}, Type: types.DenseOf(types.F64, 1, 200)}
				rowtest.Lend(c)
				if err := c.Def.Kernel(c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(c.Out, want); msg != "" {
					t.Errorf("%s with %v: %s", name, odd, msg)
				}
			})
		}
	}
}
