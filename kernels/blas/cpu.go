package blas

// This file defines which sets a CPU can run.

import (
	"runtime"
	"slices"

	"golang.org/x/sys/cpu"

	"flow/kernels/vec/machine"
)

// hardwareFMA reports that math.FMA is one instruction here.
func hardwareFMA() bool {
	return cpu.X86.HasFMA || slices.Contains([]string{"arm64", "loong64", "ppc64", "ppc64le", "riscv64", "s390x"}, runtime.GOARCH)
}

// machineSets lists the sets in machine code that this CPU and its operating system can run, best first.
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
