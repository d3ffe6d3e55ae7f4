package blas

// This file measures what the micro-kernel does when all its operands stay in L1 for good: the
// ceiling that packing, caches and edges are measured against.

import (
	"slices"
	"testing"
	"unsafe"
)

func BenchmarkCeiling(b *testing.B) {
	const k = 2000
	for _, s := range []*simd{newAVX512(), newAVX2()} {
		if slices.Contains(Names(), s.name) {
			b.Run(s.name+"/f64", func(b *testing.B) { ceiling(b, &s.d, k) })
			b.Run(s.name+"/f32", func(b *testing.B) { ceiling(b, &s.s, k) })
		}
	}
}

func ceiling[T element](b *testing.B, d *driver[T], k int) {
	x := scratch[T](new(Workspace), 64*64)
	for b.Loop() {
		d.run(d.kernels.Gemm[0][2], &call[T]{k: k, a: &x[0], rs: 8, b: &x[512], c: &x[1024], cs: d.nr, next: uintptr(unsafe.Pointer(&x[0]))}) // no step in k: the same vectors again and again
	}
	b.ReportMetric(2*float64(d.mr*d.nr*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
