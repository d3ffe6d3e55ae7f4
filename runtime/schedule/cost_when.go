package schedule

import "sync/atomic"

// This file decides when COST learns, and who: all workers wait for a lesson between two
// executions, or one worker learns while the others run the next executions.

// The cost of learning in seconds: a lesson, a bin of the profile with its part of the table of
// cuts, a chunk, and a chunk of the first execution (BenchmarkCostRestart).
const (
	oncePrice  = 4e-6
	binPrice   = 20e-9
	chunkPrice = 100e-9
	firstPrice = 10e-9
)

// learningPart is the part of a worker's time spent on learning. The unspent part is saved, so a
// loop too short to learn in each execution learns in some.
const learningPart = 1. / 256

// firstPart is the part of an execution's time spent additionally on learning for the first time,
// which is useful for long. With learning beside others it applies each of the first times, until
// two executions have shown how well one predicts the next.
const (
	firstPart  = 1. / 16
	firstTimes = 3
)

// balanced is the loss, as a part of a worker's time, below which nothing is learned.
const balanced = 0.01

// surely is how many executions must measure the fixed cost of chunks before learning may stop.
const surely = 2

// asideFrom is from how many processors on one worker learns beside the others: of fewer it would
// be a large part.
const asideFrom = 4

// The resolution of a profile. It has no more bins than cutting a worker's share well needs, or
// than matter for the time: where iterations differ much, cuts are off by the differences inside a
// bin. Fewer than coarsest bins a share say too little. Learning beside others affords more bins,
// but a table of cuts beyond the first-level cache slows each claim.
const (
	leastBins    = 1 << 9
	binsPerShare = 1 << 7
	asideBins    = 1 << 8
	maxBins      = 1 << 14
	worthBin     = 5e-5 // seconds of an execution
	coarsest     = 8
	rarely       = 8 // a profile that could be learned only this rarely gets fewer bins
)

// ledger is what learning has cost and may cost, in seconds.
type ledger struct {
	saved  float64 // of all workers
	paid   float64 // of one, who learns beside the others
	spent  float64 // that the last Restart let all wait
	times  int     // that something was learned
	lost   float64 // part of the bound that the last execution lost
	former *former // the plan before, while this one is on trial
	beside bool    // somebody learns
	useful bool    // there was something to learn

	lesson func()      // of the last worker at its next claim, or nil
	begun  atomic.Bool // somebody has taken it
	ready  atomic.Bool // and is through
}

// executed describes an execution, as far as it was reported.
type executed struct {
	busy   float64 // seconds of all workers
	bound  float64 // seconds of an even share, or of the longest iteration
	lost   float64 // seconds that it was longer than that
	single bool    // the longest iteration is the bound
	chunks int
}

func (c *cost) executed() (e executed) {
	longest, single := 0.0, 0.0
	for i := range c.did {
		did := &c.did[i]
		e.busy += did.busy
		longest = max(longest, did.busy+did.asked)
		single = max(single, did.single)
		e.chunks += len(did.chunks)
	}
	even := e.busy / c.procs()
	e.bound, e.single = max(even, single), single > even
	e.lost = max(longest-e.bound, 0)
	return e
}

// Restart learns from the reports if it is worth the time, or adopts what was learned meanwhile.
func (c *cost) Restart() {
	c.spent = 0
	switch e := c.executed(); {
	case c.beside && c.ready.Load():
		c.beside, c.deaf, c.lesson = false, false, nil
		c.present()
		if c.useful {
			c.takeOver()
		}
		c.forget(c.heard)
	case c.beside:
		// the last worker did not come
		if c.lesson != nil && c.begun.CompareAndSwap(false, true) {
			go c.lesson()
		}
		c.lesson = nil
	case e.busy > 0:
		c.judge(e)
		if c.aside() {
			c.restartAside(e)
		} else if bins, price := c.afford(e); bins > 0 {
			c.times++
			c.learnNow(bins, price)
		}
	}
	c.forget(c.did)
	c.begin()
}

// former is a plan that was replaced.
type former struct {
	plan    costPlan
	profile *profile
	lost    float64 // part of the bound that its last execution lost
}

// takeOver makes what was learned the plan, on trial.
func (c *cost) takeOver() {
	c.former = &former{c.costPlan, c.was, c.lost}
	c.costPlan = c.plan
}

// worse is how much more of the bound than its predecessor a new plan may lose.
const worse = 0.02

// judge withdraws a plan whose first execution loses more than the one before did, because of noise
// in one execution or a wrong fixed cost. The costs may have changed instead; the execution can be
// learned from in any case.
func (c *cost) judge(e executed) {
	lost, f := e.lost/e.bound, c.former
	if f == nil {
		c.lost = lost
		return
	}
	c.former = nil
	if lost > f.lost+worse {
		c.table, c.costPlan, c.profile = c.first, f.plan, f.profile
		c.old = c.old[:0]
		return
	}
	c.lost, c.table = lost, f.plan.first
	for _, p := range c.old {
		if p != nil && p != c.by {
			c.spare = append(c.spare, p)
		}
	}
	c.old = c.old[:0]
}

// enough reports that learning gains nothing: the execution took as long as it must. The fixed cost
// of chunks is part of an even share and no loss, so it is learned first where it matters.
func (c *cost) enough(e executed) bool {
	return e.lost < balanced*e.bound && (e.single || c.fixed.asked >= surely)
}

// forget empties logs.
func (c *cost) forget(logs []costLog) {
	for i := range logs {
		l := &logs[i]
		*l = costLog{chunks: l.chunks[:0]}
	}
}

// learnNow learns while all wait.
func (c *cost) learnNow(bins int, price float64) {
	c.did, c.heard = c.heard, c.did
	if c.learn(bins) {
		c.spent = price
		c.takeOver()
	}
	c.forget(c.heard)
}

// aside reports whether one worker can learn beside the others. It is the last worker, which then
// has no initial block and comes late.
func (c *cost) aside() bool { return c.Processors >= asideFrom }

// restartAside is Restart with learning beside others. All wait only for a lesson that costs less
// than the execution has lost: losing as much again would be no better.
func (c *cost) restartAside(e executed) {
	first := c.times < firstTimes
	bins := c.bins(e, asideBins)
	price := c.price(bins, e.chunks)
	have := c.paid + e.busy*learningPart
	if first {
		have += e.lost*c.procs() + firstPart*e.busy
	}
	c.paid = min(have, rarely*price)
	if c.enough(e) {
		return
	}
	if have < price && first {
		bins = max(0, int((have-c.price(0, e.chunks))/binPrice))
		price = c.price(bins, e.chunks)
	}
	if bins < min(c.N, coarsest*c.Processors) || have < price {
		return
	}
	c.times++
	// what was lost at first counts no more
	if c.paid -= price; c.paid < 0 || c.times == firstTimes {
		c.paid = 0
	}
	if price < e.lost {
		c.learnNow(bins, price)
		return
	}
	c.did, c.heard = c.heard, c.did
	c.beside, c.deaf = true, true
	c.ready.Store(false)
	c.begun.Store(false)
	lesson := func() {
		c.useful = c.learn(bins)
		c.ready.Store(true)
	}
	switch {
	case c.Aside != nil:
		c.Aside(price, lesson)
	case price < e.busy/c.procs()/2:
		c.lesson = lesson
	default: // the others would wait for the last worker
		go lesson()
	}
	c.absent()
}

// study runs the last worker's lesson at a claim, if there is one.
func (c *cost) study(worker int) {
	if worker == c.P-1 && c.lesson != nil && c.begun.CompareAndSwap(false, true) {
		c.lesson()
	}
}

// bins returns the number of bins of a profile, at least share for each share.
func (c *cost) bins(e executed, share int) int {
	return min(c.N, min(max(leastBins, c.Bins, share*c.Processors, int(min(e.busy/c.procs()/worthBin, maxBins))), maxBins))
}

// price returns the cost of learning an execution with this many chunks and bins.
func (c *cost) price(bins, chunks int) float64 {
	each := chunkPrice
	if c.profile == nil {
		each = firstPrice
	}
	return oncePrice + float64(chunks)*each + float64(bins)*binPrice
}

// afford returns with how many bins an execution is learned while all wait; 0: not at all. Learning
// starts once the accumulated loss exceeds its cost (ski rental; at most twice the optimal cost).
func (c *cost) afford(e executed) (bins int, price float64) {
	even := e.busy / c.procs()
	income := even * learningPart
	c.saved = min(c.saved+income, rarely*binPrice*maxBins)
	if c.enough(e) {
		return 0, 0
	}
	if c.profile == nil {
		c.saved += e.lost + firstPart*even
	}
	fixed := c.price(0, e.chunks)
	have := int(min((c.saved-fixed)/binPrice, maxBins))
	want := c.bins(e, binsPerShare)
	least := min(want, coarsest*c.Processors)
	if c.profile != nil {
		now := len(c.profile.bins) - 1
		switch {
		case want >= 4*now && have >= 4*now, have < now && have >= least && income*rarely < fixed+float64(now)*binPrice:
		default:
			want, least = now, now
		}
	}
	if have < least {
		return 0, 0
	}
	bins = min(want, have)
	price = c.price(bins, e.chunks)
	c.saved = min(c.saved-price, rarely*price)
	if c.profile == nil {
		c.saved = 0
	}
	return bins, price
}

// learning returns how long the last Restart let all wait, in estimated seconds.
func (c *cost) learning() float64 { return c.spent }
