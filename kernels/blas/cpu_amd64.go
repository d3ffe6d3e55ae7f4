package blas

// This file defines which sets an amd64 CPU can run.

import "golang.org/x/sys/cpu"

// hardwareFMA reports that math.FMA is one instruction here.
func hardwareFMA() bool { return cpu.X86.HasFMA }

// assembly lists the assembly sets this CPU can run, best first.
func assembly() []Set { return nil }
