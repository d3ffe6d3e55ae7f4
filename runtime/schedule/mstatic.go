package schedule

// This file defines MSTATIC: four static blocks a worker, claimed when free.

func newMStatic(p Params) (Calculator, error) { return newFixed(p, ceilDiv(p.N, 4*p.P)), nil }
