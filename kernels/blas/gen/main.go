// Command gen writes the assembly of package blas: for each instruction set and element type one
// _amd64.s file and the Go declarations beside it. Run it with `go generate flow/kernels/blas`; a
// test of that package fails when what is committed is not what it writes.
//
// The kernels and the registers they use are described at each emitter: gemm.go, narrow.go,
// solve.go, potf.go, pack.go.
package main

// generate writes all files into dir.
func generate(dir string) error {
	for _, t := range targets {
		e := newEmitter(t)
		e.gemmKernels()
		e.packingKernels()
		e.narrowKernels()
		e.solveKernels()
		e.potf()
		if err := write(dir, t.stem(), e.Context); err != nil {
			return err
		}
	}
	// Packing needs no wide registers: one version serves both instruction sets.
	e := newEmitter(targets[0])
	e.packKernels()
	e.dots()
	return write(dir, "pack", e.Context)
}
