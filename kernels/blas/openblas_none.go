//go:build !openblas || !cgo

package blas

// This file stands for the openblas set in builds without it.

// optional lists the sets that a build tag adds: none here.
func optional() []*Set { return nil }

// Libraries describes the C libraries that kernels of this build call: none here.
func Libraries() []string { return nil }
