package nest

// This file estimates the work of bodies.

import "flow/ir/op"

const (
	// someRounds is how many rounds a loop in a body is taken to make where that is not known.
	someRounds = 64
	// countedRounds is up to how many rounds count.
	countedRounds = 1 << 16
)

// ActionsOf is how many actions an iteration runs, about.
func ActionsOf(b *op.Body) int {
	n, elements := 0, elementsOf(b)
	for k := range b.Acts {
		n++
		rounds := 1
		if b.Acts[k].Def.Control == op.Iterate {
			rounds = someRounds
			if times, ok := b.Acts[k].Attrs.Get("times"); ok {
				rounds = int(min(max(times.I, 1), countedRounds))
			}
		}
		for _, inner := range b.Acts[k].Bodies {
			n += min(rounds*ActionsOf(inner), 1<<30)
		}
		n += elements[len(b.Args)+k]
	}
	return n
}

// elementsOf is how many elements the registers of a body have, about: a matrix of a size that the
// run tells is taken to have half of those of the largest one that it is made of.
func elementsOf(b *op.Body) []int {
	n := make([]int, len(b.Args)+len(b.Acts))
	for r := range n {
		t := b.Register(r)
		switch k := r - len(b.Args); {
		case !t.IsDense():
		case t.Known():
			n[r] = t.Count()
		case k >= 0:
			for _, from := range b.Acts[k].Args {
				n[r] = max(n[r], n[from]/2)
			}
		}
	}
	return n
}
