package nest

// This file estimates the work of bodies.

import "flow/ir/op"

const (
	// someRounds is the estimated number of rounds of a loop in a body if it is not known.
	someRounds = 64
	// countedRounds is the most rounds of a loop, and the most points of a parfor, that are counted.
	countedRounds = 1 << 16
)

// ActionsOf estimates the number of actions of one run of body b. An element of a matrix counts as one
// action.
func ActionsOf(b *op.Body) int {
	n, elements := 0, elementsOf(b)
	for k := range b.Acts {
		n++
		rounds := 1
		switch a := &b.Acts[k]; {
		case a.Def.Control == op.Iterate:
			rounds = someRounds
			if times, ok := a.Attrs.Get("times"); ok {
				rounds = int(min(max(times.I, 1), countedRounds))
			}
		case a.Def.Role == op.Points: // the body runs for each number of the result, or for each row
			rounds = elements[len(b.Args)+k]
			if y := a.Bodies[0].Type(); y.IsDense() {
				rounds /= max(1, y.Count())
			}
			rounds = min(max(rounds, 1), countedRounds)
		}
		for _, inner := range b.Acts[k].Bodies {
			n += min(rounds*ActionsOf(inner), 1<<30)
		}
		n += elements[len(b.Args)+k]
	}
	return n
}

// elementsOf estimates the number of elements of each register of a body. A matrix of unknown size is taken
// to have half of the elements of the largest operand that it is computed from.
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
