//go:build !amd64

package vec

// This file stands in for forces_amd64.go where there is no assembly.

// Lanes is the f64 lanes of a vector.
func Lanes() int { return 8 }

// HaveForces reports that this CPU has passes of forces.
func HaveForces() bool { return false }

// Run runs nothing here: HaveForces is false.
func (f *Forces) Run(rows int) bool { panic("BUG: this CPU has no passes of forces") }
