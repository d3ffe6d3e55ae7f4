package schedule

// This file defines SS, self-scheduling: one iteration at a time, or MinChunk of them (OpenMP's
// dynamic,c).

func newSS(p Params) (Calculator, error) { return newFixed(p, 1), nil }
