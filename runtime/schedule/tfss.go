package schedule

// This file defines TFSS, trapezoid factoring: batches of P chunks, each the mean of the P sizes
// that TSS would have handed out.

func newTFSS(p Params) (Calculator, error) {
	t := newTrapezoid(p)
	return newPrefix(p, func(a at) int { return t.mean(a.batch*p.P, p.P) }), nil
}
