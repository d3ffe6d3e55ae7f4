package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	form "flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	machine "flow/kernels/loop/launch"
)

// This file measures memory: its bandwidth, which bounds the pipelines, and the memory of a
// program.

// bandwidth returns the bytes a second that this many threads read, and that they read and write
// when they copy past the caches: the best of several passes over 512 MiB in huge pages.
func bandwidth(threads int) (read, copied float64, err error) {
	if target, err := machine.Target(); err != nil || target == machine.Interp {
		return 0, 0, fmt.Errorf("no loops for this processor to measure its memory with")
	}
	const size, passes = 512 << 20, 15
	var areas [2]unsafe.Pointer
	for k := range areas {
		m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			return 0, 0, err
		}
		defer func() { _ = syscall.Munmap(m) }()
		_ = syscall.Madvise(m, 14) // MADV_HUGEPAGE: advice only
		for i := 0; i < size; i += 4096 {
			m[i] = 1
		}
		areas[k] = unsafe.Pointer(unsafe.SliceData(m))
	}
	matrix := func(k int) *value.Dense {
		return &value.Dense{Elem: types.I64, Rows: 1, Cols: size / 8, Stride: size / 8, I64: unsafe.Slice((*int64)(areas[k]), size/8)}
	}
	pass := func(text string, out *value.Dense) (float64, error) {
		const piece = 1 << 17
		n, err := form.Parse(text, form.Standard{})
		if err != nil {
			return 0, err
		}
		r, err := machine.New(n).Begin([]value.Value{matrix(0)}, []*value.Dense{out})
		if err != nil {
			return 0, err
		}
		var wait sync.WaitGroup
		start := time.Now()
		for k := range threads {
			wait.Go(func() {
				w := r.Worker()
				for at := k * piece; at < size/8; at += threads * piece {
					_, _ = w.Window(0, 1, at, at+piece, nil) // the loop has no check
				}
			})
		}
		wait.Wait()
		return time.Since(start).Seconds(), nil
	}
	const space = "nest(%0: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n "
	for range passes {
		t, err := pass(space+"reduce out0[0, 0] v0\n} : (max i64[1, 1])", value.New(types.I64, 1, 1))
		if err != nil {
			return 0, 0, err
		}
		read = max(read, size/t)
		if t, err = pass(space+"store out0[i, j] v0\n} : (i64[%0.rows, %0.cols])", matrix(1)); err != nil {
			return 0, 0, err
		}
		copied = max(copied, 2*size/t)
	}
	return read, copied, nil
}

// shares prints which part of the memory's bandwidth each contestant reached with its median and
// its best time, moving this many bytes.
func (b *bench) shares(bytes, most float64, results []*result) {
	var parts []string
	for _, r := range results {
		if r.err == nil {
			parts = append(parts, fmt.Sprintf("%s %.2f (%.2f)", r.name, bytes/r.median()/most, bytes/slices.Min(r.seconds)/most))
		}
	}
	fmt.Fprintf(b.out, "Of the memory's bandwidth, median (best): %s.\n\n", strings.Join(parts, ", "))
}

// twenty runs twenty elementwise operators on a matrix of 1 GiB, fused and one at a time.
func twenty(b *bench) error {
	fmt.Fprintf(b.out, "| twenty elementwise operators on 1 GiB | memory of the process, GiB | target |\n|---|---|---|\n")
	for _, way := range []struct{ label, flag string }{{"fused", "--threads=2"}, {"operator by operator", "--disable=fuse"}} {
		o, err := launch(nil, b.flowrun, b.program("chain.flow"), "--threads=2", way.flag)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| %s | %.2f | 2.2 |\n", way.label, float64(o.maxRSS)/(1<<30))
	}
	fmt.Fprintln(b.out)
	return nil
}
