package schedule

// This file defines TFSS, trapezoid factoring: batches of P chunks, each the mean of the P sizes that TSS would have handed out.

func newTFSS(p Params) (Calculator, error) {
	t := newTrapezoid(p)
	return newPrefix(p, func(a at) int {
		sum := 0
		for i := range p.P {
			sum += t.size(a.batch*p.P + i)
		}
		return sum / p.P
	}), nil
}
