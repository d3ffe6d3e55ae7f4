// Package sweep compares ways to schedule one program: it runs them in random order, and says how
// much faster or slower each was than a baseline, with confidence intervals.
//
//	Cross -> []Config -> Run (rounds, each config once a round, in random order) -> Table -> text, CSV, JSON
//
// Start at Run. The design is a randomised complete block design: a round is a block, so a machine
// that becomes slower over time slows all configs alike, and a config is compared with the baseline
// of its own round.
//
// The package does not know how a program is run: the caller passes a function.
package sweep
