package blas

// This file defines the packing scratch of one worker.

import "unsafe"

// Workspace is the packing scratch of one worker. The zero value is ready; it grows on demand, is
// reused and never shrinks. It must not be used by two calls at once.
type Workspace struct {
	f64   []float64
	f32   []float32
	width [8]uint64 // see driver.width, by row
}

// element is what the kernels compute in.
type element interface{ float32 | float64 }

// cacheLine is the alignment of scratch in bytes: a vector load that straddles two lines costs two.
const cacheLine = 64

// scratch returns n elements of ws, aligned to a cache line, with unspecified contents. A later
// call hands out the same memory again, so a kernel asks once and cuts what it gets.
func scratch[T element](ws *Workspace, n int) []T {
	var zero T
	if unsafe.Sizeof(zero) == 8 {
		ws.f64 = grown(ws.f64, n)
		return any(ws.f64[:n]).([]T)
	}
	ws.f32 = grown(ws.f32, n)
	return any(ws.f32[:n]).([]T)
}

// grown returns buf, or a larger aligned one. Growth doubles, so that a worker which meets ever
// larger tiles allocates a handful of times.
func grown[T element](buf []T, n int) []T {
	if len(buf) >= n {
		return buf
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	pad := cacheLine / size
	n = max(n, 2*len(buf))
	buf = make([]T, n+pad)
	skip := 0
	if off := int(uintptr(unsafe.Pointer(&buf[0])) % cacheLine); off != 0 {
		skip = (cacheLine - off) / size
	}
	return buf[skip : skip+n]
}
