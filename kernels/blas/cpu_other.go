//go:build !amd64

package blas

// This file defines which sets a CPU other than amd64 can run.

import "runtime"

// hardwareFMA reports that math.FMA is one instruction here.
func hardwareFMA() bool {
	switch runtime.GOARCH {
	case "arm64", "loong64", "ppc64", "ppc64le", "riscv64", "s390x":
		return true
	}
	return false
}

// assembly lists the assembly sets this CPU can run: none, they are written for amd64.
func assembly() []*Set { return nil }

// Features lists the features of this CPU, among those that decide about sets, for a program to report.
func Features() []string {
	if hardwareFMA() {
		return []string{"fma"}
	}
	return nil
}
