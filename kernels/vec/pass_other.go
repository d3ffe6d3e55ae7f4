//go:build !amd64

package vec

// This file stands in for pass_amd64.go where there is no assembly.

// HavePass reports that this CPU runs passes.
const HavePass = false

// PassLanes is the lanes of a vector.
func PassLanes() int { return 8 }

// PassGroup is the rows of a group.
func PassGroup() int { return PassRows }

// Pass runs nothing here: HavePass is false.
func Pass(code []PassStep, s *PassState, groups int) { panic("BUG: this CPU runs no passes") }

// PassRoot is the operation for roots.
func PassRoot() uint64 { return PassSqrt }

// HaveForces reports that this CPU has passes of forces.
func HaveForces() bool { return false }

// Run runs nothing here: HaveForces is false.
func (f *Forces) Run(rows int) bool { panic("BUG: this CPU runs no passes") }
