package schedule

import (
	"sync"
	"sync/atomic"
)

// This file defines the five AWF techniques, adaptive weighted factoring: one rule for weights
// (rates.go) and five settings.

// awf returns R/2P, factoring's share of R, times the weight of the asking worker.
//
// R is what is really left when a batch begins. Halving N/2P batch by batch instead ends before the
// loop does once weights fluctuate, and the rest goes out one by one: 22776 chunks against 248 in a
// simulation.
type awf struct {
	loop
	rates
	awfSetting
	by2P divisor

	batch atomic.Pointer[weighting] // read without a lock; nil before the first batch
	turn  sync.Mutex                // taken to begin a batch; guards the fields below
	ready []*weighting              // memory for batches of this execution and the next ones
	// how many of them are in use; a published one does not change within an execution
	begun int

	did []timeStep // AWF: what each worker did in this execution
}

// weighting holds the sizes of one batch. It does not change.
type weighting struct {
	batch int
	end   int   // step at which the next begins
	size  []int // ceil(w * base) of each worker
}

// awfSetting distinguishes the five.
type awfSetting struct {
	// C, E: new base and weights for each request; otherwise per batch of P requests
	perRequest bool
	overhead   bool // D, E: a record includes the time of claiming
	timeStep   bool // AWF: a record is a whole execution, weights come from earlier executions
}

// timeStep is written by its worker alone.
type timeStep struct {
	n int
	t float64
	_ [112]byte
}

func newAWF(p Params) (Calculator, error)  { return makeAWF(p, awfSetting{timeStep: true}) }
func newAWFB(p Params) (Calculator, error) { return makeAWF(p, awfSetting{}) }
func newAWFC(p Params) (Calculator, error) { return makeAWF(p, awfSetting{perRequest: true}) }
func newAWFD(p Params) (Calculator, error) { return makeAWF(p, awfSetting{overhead: true}) }
func newAWFE(p Params) (Calculator, error) {
	return makeAWF(p, awfSetting{perRequest: true, overhead: true})
}

func makeAWF(p Params, setting awfSetting) (Calculator, error) {
	c := &awf{loop: loop{p}, awfSetting: setting, by2P: newDivisor(2 * p.P)}
	c.rates.begin(p)
	if setting.timeStep {
		c.did = make([]timeStep, p.P)
	}
	return c, nil
}

func (c *awf) Next(worker, step, remaining int) int {
	if c.perRequest {
		return c.clip(ceil(c.weight(worker)*float64(c.by2P.ceil(remaining))), remaining)
	}
	now := c.batch.Load()
	if now == nil || step >= now.end {
		now = c.nextBatch(step/c.P, remaining)
	}
	return c.clip(now.size[worker], remaining)
}

// nextBatch computes the sizes of a batch, unless another worker has just done so.
func (c *awf) nextBatch(batch, remaining int) *weighting {
	c.turn.Lock()
	defer c.turn.Unlock()
	now := c.batch.Load()
	if now == nil || batch > now.batch {
		if c.begun == len(c.ready) {
			c.ready = append(c.ready, &weighting{size: make([]int, c.P)})
		}
		now = c.ready[c.begun]
		c.begun++
		now.batch, now.end = batch, (batch+1)*c.P
		base := float64(c.by2P.ceil(remaining))
		if !c.timeStep {
			c.rescaleAll()
		}
		for i := range now.size {
			now.size[i] = ceil(c.weight(i) * base)
		}
		c.batch.Store(now)
	}
	return now
}

// Report adds a record, or for AWF a part of one.
func (c *awf) Report(worker, _, n int, seconds, overhead float64) {
	if c.overhead {
		seconds += overhead
	}
	if c.timeStep {
		c.did[worker].n += n
		c.did[worker].t += seconds
		return
	}
	c.record(worker, n, seconds)
	if c.perRequest {
		c.rescale(worker)
	}
}

// stepless: techniques that compute sizes for each request ignore the step.
func (c *awf) stepless() bool { return c.perRequest }

// Restart closes the record of an execution. The other techniques begin with the last execution as
// their first record, because they lose most in the first batch.
func (c *awf) Restart() {
	c.batch.Store(nil)
	c.begun = 0
	for i := range c.did {
		c.record(i, c.did[i].n, c.did[i].t)
		c.did[i].n, c.did[i].t = 0, 0
	}
	if !c.timeStep {
		c.condense()
	}
	c.rescaleAll()
}
