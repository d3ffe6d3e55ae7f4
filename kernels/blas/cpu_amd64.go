package blas

// This file defines which sets an amd64 CPU can run.

import "golang.org/x/sys/cpu"

// hardwareFMA reports that math.FMA is one instruction here.
func hardwareFMA() bool { return cpu.X86.HasFMA }

// assembly lists the assembly sets this CPU and its operating system can run, best first.
func assembly() []*Set {
	var list []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasFMA && cpu.X86.HasAVX2 {
		list = append(list, newAVX512().set())
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, newAVX2().set())
	}
	return list
}

// Features lists the features of this CPU, among those that decide about sets, for a program to report.
func Features() []string {
	var list []string
	for _, f := range []struct {
		has  bool
		name string
	}{
		{cpu.X86.HasFMA, "fma"}, {cpu.X86.HasAVX2, "avx2"}, {cpu.X86.HasAVX512F, "avx512f"}, {cpu.X86.HasAVX512DQ, "avx512dq"}, {cpu.X86.HasAVX512VL, "avx512vl"},
	} {
		if f.has {
			list = append(list, f.name)
		}
	}
	return list
}
