package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"flow/kernels/vec"
)

// This file measures memory: its bandwidth, which bounds the pipelines, and the memory of a
// program.

// bandwidth returns the bytes a second that this many threads read, and that they read and write
// when they copy past the caches: the best of several passes over 512 MiB in huge pages.
func bandwidth(threads int) (read, copied float64, err error) {
	if !vec.HaveChain {
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
	all := ^uint64(0)
	pass := func(code func(at int) []vec.Link) float64 {
		const piece = 1 << 20
		var wait sync.WaitGroup
		start := time.Now()
		for w := range threads {
			wait.Go(func() {
				for at := w * piece; at < size; at += threads * piece {
					vec.ChainF64(code(at), piece/8)
				}
				vec.Fence()
			})
		}
		wait.Wait()
		return time.Since(start).Seconds()
	}
	for range passes {
		t := pass(func(at int) []vec.Link {
			return []vec.Link{{Op: vec.LinkLoad, Base: unsafe.Add(areas[0], at), Walk: all}, {Op: vec.LinkEnd}}
		})
		read = max(read, size/t)
		t = pass(func(at int) []vec.Link {
			return []vec.Link{{Op: vec.LinkLoad, Base: unsafe.Add(areas[0], at), Walk: all},
				{Op: vec.LinkStream, Base: unsafe.Add(areas[1], at), Walk: all}, {Op: vec.LinkEnd}}
		})
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
