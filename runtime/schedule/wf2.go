package schedule

// This file defines WF2, weighted factoring: the chunks of FAC2 times the weight of the worker that asks.

type wf2 struct{ loop }

func newWF2(p Params) (Calculator, error) { return &wf2{loop{p}}, nil }

func (c *wf2) Next(worker, step, remaining int) int {
	return c.clip(ceil(c.Weights[worker]*float64(fac2(c.N, c.P, step/c.P))), remaining)
}

// Report is not needed: the weights are given.
func (c *wf2) Report(_, _, _ int, _, _ float64) {}

// Restart has nothing to forget.
func (c *wf2) Restart() {}

// Expected is the given weights.
func (c *wf2) Expected() []float64 { return c.Weights }
