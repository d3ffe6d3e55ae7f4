package kernels

// This file assembles the operator table.

import (
	"flow/ir/op"
	"flow/kernels/blas"
)

// Table is the operator table with the kernel set of that name for linear algebra ("" or "auto": the best one on
// this machine). The error names the sets there are. The rows keep scratch memory of their own, so one table for a
// process is enough; it is safe for concurrent use.
func Table(set string) (*op.Table, error) { return TableReading(set, &Input{}) }

// TableReading is Table with the streams that read finds in in, and with rows of the caller's own after those of Flow.
func TableReading(set string, in *Input, own ...*op.Def) (*op.Table, error) {
	kernels, err := blas.Select(set)
	if err != nil {
		return nil, err
	}
	maps := elementwise()
	maps = told(append(append(maps, shorthands()...), texts()))
	return op.NewTable(possible(bounded(resolved(maps), resolved(reduce()), construct(), fused(), loops(), resolved(linalg(kernels)), resolved(move()), inout(in),
		controls(), resolved(stats()), resolved(cumulative()), resolved(reorder()), resolved(encode()), resolved(pairings(maps)), sample(), resolved(decompositions(kernels)),
		resolved(covariances(kernels)), pictures(), resolved(fourier()), resolved(sparseRows(maps)),
		resolved(own))...)...)
}
