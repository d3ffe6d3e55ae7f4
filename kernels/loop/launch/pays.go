package launch

// This file tells when machine code pays.

import "sync/atomic"

// PaysFrom is how many steps on elements of a program justify machine code: they take about as long
// as it takes to make it, 0.1 to 1.5 ms, where a step takes some 0.8 ns. Tests set it.
var PaysFrom int64 = 1 << 19

// Steps counts the steps on elements that a program has taken. It is safe for concurrent use.
type Steps struct{ n atomic.Int64 }

// Pay adds steps and reports whether there have been enough for machine code.
func (s *Steps) Pay(steps int64) bool {
	return s.n.Load() >= PaysFrom || s.n.Add(steps) >= PaysFrom
}

// Begun counts the executions that ran as loops instead of by operators, for tests.
var Begun atomic.Int64
