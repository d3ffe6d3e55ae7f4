package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// Every row of the family that has a loop gives the bits of its kernel on matrices that the loop
// cuts, whatever the cut; and those of the definition where columns need several words of the bits
// that say which are touched.
func TestSparseLoopsOnUnevenRows(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(47, 48))
	cut := map[string]int{}
	run := func(d *op.Def, attrs *op.Attrs, in ...value.Value) {
		t.Helper()
		sig := &op.Sig{Def: d, Attrs: attrs}
		for _, v := range in {
			sig.In = append(sig.In, v.Type())
		}
		typ, err := d.Type(sig)
		if err != nil {
			return
		}
		c := &op.Call{Def: d, Attrs: attrs, In: in, Type: typ}
		rowtest.Lend(c)
		if err := d.Kernel(c); err != nil {
			return
		}
		if m, ok := c.Out.(*value.CSR); ok {
			if err := m.Check(); err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
		}
		if n, leaf := d.Loop.Space(c); n > leaf {
			cut[d.Name]++
		}
		rowtest.CheckLoop(t, c, c.Out)
	}
	loops := 0
	for _, d := range table.Rows() {
		if d.Loop == nil || d.For == "" && d.Name != "sparse" && d.Name != "sp.product" && d.Name != "sp.tmatmul" && d.Name != "sp.times" {
			continue
		}
		loops++
		for trial := range 2 {
			e := elemsUnderTest[(trial+r.IntN(2))%4]
			a := rowtest.UnevenSparse(r, e, 400+r.IntN(200), 200+r.IntN(200))
			switch d.For {
			case "":
				switch d.Name {
				case "sp.product":
					run(d, nil, a, rowtest.UnevenSparse(r, elemsUnderTest[r.IntN(4)], a.Cols, 200))
				case "sp.times":
					run(d, nil, a, anyDense(r, e, a.Rows, 5), anyDense(r, e, 5, a.Cols))
					run(d, nil, a, rowtest.UnevenSparse(r, e, a.Rows, 300), rowtest.UnevenSparse(r, e, 300, a.Cols))
				case "sp.tmatmul":
					for _, width := range []int{1, 3, 40} {
						for _, f := range []types.Elem{e, types.F64} {
							run(d, nil, rowtest.UnevenSparse(r, e, 400, 300), anyDense(r, f, 400, width))
						}
					}
				default:
					run(d, nil, define.EveryElement(a))
				}
			case "dense", "t":
				run(d, nil, a)
			case "slice":
				run(d, op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(3, 40, a.Rows-5, 200)}), a)
			case "window", "cut", "pick.rows", "take", "pick.cols", "stride":
				for range 6 {
					in, attrs := sparseSubscripts(r, d, a, a.Rows, a.Cols)
					run(d, attrs, in...)
				}
			case "lower", "upper":
				run(d, op.MakeAttrs(op.Attr{Name: "strict", Val: op.Bool(trial == 0)}), a)
			case "rbind":
				run(d, nil, a, rowtest.UnevenSparse(r, e, 300, a.Cols), rowtest.UnevenSparse(r, elemsUnderTest[trial], 1, a.Cols))
			case "cbind":
				run(d, nil, a, rowtest.UnevenSparse(r, e, a.Rows, 30), rowtest.UnevenSparse(r, elemsUnderTest[trial], a.Rows, 300))
			case "matmul":
				b := rowtest.UnevenSparse(r, elemsUnderTest[r.IntN(4)], a.Cols, 200)
				run(d, nil, a, b)
				run(d, nil, a, define.EveryElement(b.View(0, b.Rows)))
				run(d, nil, define.EveryElement(a), b)
				run(d, nil, anyDense(r, e, 1, a.Rows), rowtest.UnevenSparse(r, e, a.Rows, 300))
			default:
				in := []value.Value{a}
				for range len(d.Args) - 1 {
					switch r.IntN(3) {
					case 0:
						in = append(in, anyDense(r, e, 1, a.Cols))
					case 1:
						in = append(in, anyDense(r, e, a.Rows, a.Cols))
					default:
						in = append(in, rowtest.UnevenSparse(r, e, a.Rows, a.Cols))
					}
				}
				if d.For == "ifelse" || d.For == "and" || d.For == "or" || d.For == "not" || d.For == "xor" {
					in[0] = rowtest.UnevenSparse(r, types.Bool, a.Rows, a.Cols)
				}
				if d.For == "and" || d.For == "or" || d.For == "xor" {
					in[1] = rowtest.UnevenSparse(r, types.Bool, a.Rows, a.Cols)
				}
				run(d, nil, in...)
			}
		}
	}
	if loops < 60 || len(cut) < loops-5 {
		t.Errorf("%d rows have loops, %d were cut", loops, len(cut))
	}
	product, transpose := table.Must("sp.matmul"), table.Must("sp.t")
	for _, e := range elemsUnderTest {
		a, b := rowtest.UnevenSparse(r, e, 12, 30), rowtest.UnevenSparse(r, e, 30, 9000)
		rowtest.Check(t, product, nil, []value.Value{a, b})
		rowtest.Check(t, transpose, nil, []value.Value{rowtest.UnevenSparse(r, e, 300, 700)})
	}
}
