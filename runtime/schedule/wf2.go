package schedule

// This file defines WF2, weighted factoring: the chunks of FAC2 times the weight of the asking
// worker.

type wf2 struct {
	loop
	base []float64 // chunk of FAC2 in each batch, down to 1
}

func newWF2(p Params) (Calculator, error) {
	c := &wf2{loop: loop{p}}
	for k := 0; k == 0 || c.base[k-1] > 1; k++ {
		c.base = append(c.base, float64(fac2(p.N, p.P, k)))
	}
	return c, nil
}

func (c *wf2) Next(worker, step, remaining int) int {
	base := c.base[min(step/c.P, len(c.base)-1)]
	return c.clip(ceil(c.Weights[worker]*base), remaining)
}

// Report does nothing: the weights are given.
func (c *wf2) Report(_, _, _ int, _, _ float64) {}

// Restart does nothing.
func (c *wf2) Restart() {}
