package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/move"
	"flow/kernels/rowtest"
)

// BenchmarkTile measures the tile kernels of the best set through their rows, as a plan runs them.
func BenchmarkTile(b *testing.B) {
	set, err := blas.Select("")
	if err != nil {
		b.Fatal(err)
	}
	rows := append(denseProducts(set), move.Rows()...)
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{64, 256, 512} {
		a, x := dominant(r, types.F64, n).Clone(), rowtest.RandomDense(r, types.F64, n, n).Clone()
		for _, c := range []struct {
			name string
			in   []value.Value
		}{
			{"gemm", []value.Value{x, x, x}}, {"matmul", []value.Value{x, x}}, {"syrk", []value.Value{x, x}},
			{"potrf", []value.Value{a}}, {"getrf", []value.Value{a}},
			{"trsm", []value.Value{a, x}}, {"trsm_upper", []value.Value{a, x}}, {"trsm_left", []value.Value{a, x}},
			{"trsm_left_t", []value.Value{a, x}}, {"trsm_left_upper", []value.Value{a, x}}, {"t", []value.Value{x}},
		} {
			d := rowtest.RowNamed(b, rows, c.name)
			sig := &op.Sig{Def: d}
			for _, v := range c.in {
				sig.In = append(sig.In, v.Type())
			}
			out := value.New(types.F64, n, n)
			call := &op.Call{Def: d, In: c.in, Type: out.Type(), Out: out}
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					if d.Accum > 0 {
						out.CopyFrom(c.in[d.Accum-1].(*value.Dense))
					}
					if err := d.Kernel(call); err != nil {
						b.Fatal(err)
					}
				}
				w := d.Cost(sig, call.Type)
				seconds := b.Elapsed().Seconds() / float64(b.N)
				if w.Flops > 0 {
					b.ReportMetric(w.Flops/seconds/1e9, "GFLOP/s")
				} else {
					b.ReportMetric(w.Bytes/seconds/1e9, "GB/s")
				}
			})
		}
	}
}
