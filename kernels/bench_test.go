package kernels

import (
	"fmt"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/rowtest"
)

// BenchmarkRows measures rows of one operand class on square f64 and f32 matrices; bytes are those
// of the operands.
func BenchmarkRows(b *testing.B) {
	table, err := Table("")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"add", "div", "sqrt", "exp", "lt", "sum", "sum.part", "norm.part", "min", "count", "rowsum", "colsum", "rownorm", "rowargmin"} {
		for _, e := range []types.Elem{types.F64, types.F32} {
			for _, n := range []int{256} {
				d := table.Must(name)
				var in []value.Value
				var ts []types.Type
				for range d.Args {
					x := value.New(e, n, n)
					for i := range n * n {
						x.Set(i/n, i%n, value.F64(construct.U01(1, uint64(i))+0.5))
					}
					in, ts = append(in, x), append(ts, x.Type())
				}
				t, err := d.Type(&op.Sig{Def: d, In: ts})
				if err != nil {
					b.Fatal(err)
				}
				c := &op.Call{Def: d, In: in, Type: t}
				rowtest.Lend(c)
				b.Run(fmt.Sprintf("%s/%v/%d", name, e, n), func(b *testing.B) {
					for b.Loop() {
						if err := d.Kernel(c); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*n), "ns/elem")
				})
			}
		}
	}
}

// BenchmarkConstructors measures the rows that make matrices.
func BenchmarkConstructors(b *testing.B) {
	for _, d := range construct.Rows() {
		if d.Shard.Kind != op.ShardGenerate {
			continue
		}
		attrs := op.MakeAttrs(constructors[d.Name]...).With("n", op.Int(256)).With("m", op.Int(256)).With("d", op.Int(50)).With("b", op.Int(20000))
		t, err := d.Type(&op.Sig{Def: d, Attrs: attrs})
		if err != nil {
			b.Fatal(err)
		}
		c := &op.Call{Def: d, Attrs: attrs, Type: t}
		rowtest.Lend(c)
		b.Run(d.Name, func(b *testing.B) {
			for b.Loop() {
				if err := d.Kernel(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(t.Count()), "ns/elem")
		})
	}
}
