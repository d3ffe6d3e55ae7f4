package schedule

// This file defines SS, self-scheduling: one iteration at a time, or MinChunk of them (OpenMP's
// dynamic,c).

// Single reports the technique that claims one iteration at a time. It is a measure for the others,
// so the runtime must not group its iterations.
func (t *Technique) Single() bool { return t.Name == "SS" }

func newSS(p Params) (Calculator, error) { return newFixed(p, 1), nil }
