//go:build !openblas || !cgo

// Package openblas is empty without the build tag openblas and cgo.
package openblas
