package blas

// This file defines which sets a CPU can run, and chooses one by name.

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"flow/kernels/vec/machine"
)

// hardwareFMA reports that math.FMA is one instruction here.
func hardwareFMA() bool {
	return cpu.X86.HasFMA || slices.Contains([]string{"arm64", "loong64", "ppc64", "ppc64le", "riscv64", "s390x"}, runtime.GOARCH)
}

// machineSets lists the sets in machine code that this CPU and its operating system can run, best
// first.
func machineSets() (list []*Set) {
	if !machine.Possible() || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return nil
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
		list = append(list, newAVX512().set())
	}
	return append(list, newAVX2().set())
}

// Features lists the features of this CPU, among those that decide about sets, for a program to report.
func Features() (list []string) {
	for _, f := range []struct {
		has  bool
		name string
	}{
		{hardwareFMA(), "fma"}, {cpu.X86.HasAVX2, "avx2"}, {cpu.X86.HasAVX512F, "avx512f"}, {cpu.X86.HasAVX512DQ, "avx512dq"}, {cpu.X86.HasAVX512VL, "avx512vl"},
	} {
		if f.has {
			list = append(list, f.name)
		}
	}
	return list
}

// simd is a set in machine code.
type simd struct {
	name string
	d    driver[float64]
	s    driver[float32]
}

// newAVX512 needs AVX-512 F, DQ and VL.
func newAVX512() *simd {
	return &simd{
		name: "avx512",
		d:    driver[float64]{kernels: machine.TilesF64, on: machine.AVX512, mr: 8, lanes: 8, nr: 24, group: 4, maxDepth: 384, maxArea: 200 * 256, maxOrder: 384},
		s:    driver[float32]{kernels: machine.TilesF32, on: machine.AVX512, mr: 8, lanes: 16, nr: 48, group: 8, maxDepth: 768, maxArea: 430 * 256, maxOrder: 576},
	}
}

// newAVX2 needs AVX2 and FMA3.
func newAVX2() *simd {
	return &simd{
		name: "avx2",
		d:    driver[float64]{kernels: machine.TilesF64, on: machine.AVX2, mr: 4, lanes: 4, nr: 12, group: 4, maxDepth: 384, maxArea: 200 * 256, maxOrder: 384},
		s:    driver[float32]{kernels: machine.TilesF32, on: machine.AVX2, mr: 4, lanes: 8, nr: 24, group: 8, maxDepth: 768, maxArea: 400 * 256, maxOrder: 384},
	}
}

// set returns the set, which reads s as long as it is in use.
func (s *simd) set() *Set { return &Set{s.name, true, s.d.asKernels(), s.s.asKernels()} }

func (d *driver[T]) asKernels() Kernels[T] {
	return Kernels[T]{
		Gemm: func(ws *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			d.gemmAll(ws, tb, sub, false, m, n, k, operand[T]{a, lda, 1}, b, ldb, c, ldc)
		},
		GemmTN: func(ws *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			d.gemmAll(ws, false, sub, false, m, n, k, operand[T]{a, 1, lda}, b, ldb, c, ldc)
		},
		Syrk: func(ws *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
			d.gemmAll(ws, true, sub, true, n, n, k, operand[T]{a, lda, 1}, a, lda, c, ldc)
		},
		Trsm: d.trsmAll, Potrf: d.potrfAll, Tall: d.tallAll, Pack: d.packAll, GemmPacked: d.gemmPacked,
	}
}

// sets lists what this machine and this build offer, best first. The optional set stands last, so
// that building with it changes no bit of a program that does not ask for it by name.
func sets() []*Set {
	list := machineSets()
	if hardwareFMA() {
		list = append(list, portable(), gonumSet())
	} else {
		// Emulated FMA is slower by a factor of 50: the chain gives way to a program that finishes.
		list = append(list, gonumSet(), portable())
	}
	return append(list, optional()...)
}

// Names lists the sets available on this machine and in this build, best first.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.Name)
	}
	return names
}

// Select returns the set of that name; "" and "auto" mean the best one for this CPU. The error for
// a name that is not available lists those that are.
func Select(name string) (*Set, error) {
	list := sets()
	if name == "" || name == "auto" {
		return list[0], nil
	}
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no kernel set %q here; available: %s", name, strings.Join(Names(), ", "))
}
