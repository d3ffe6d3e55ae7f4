package schedule

// This file defines SS, self-scheduling: one iteration at a time, or MinChunk of them (OpenMP's dynamic,c).

// Single reports the technique that claims one iteration at a time: it is a measure of the others, so what is fast is none of its business.
func (t *Technique) Single() bool { return t.Name == "SS" }

func newSS(p Params) (Calculator, error) { return newFixed(p, 1), nil }
