package nest

// This file shares the loops of stages among workers. A round of a loop over matrices that fit in a
// cache lasts microseconds, and a task for each round costs as much. So one worker runs all rounds, and
// the others wait for parts of its loops.

import (
	"runtime"
	"sync/atomic"
	"time"

	"flow/ir/op"
	"flow/kernels/loop/launch"
)

const (
	// TeamFrom is the least number of operations of a stage that is shared: some 5 us of one worker.
	// Handing over a part and waiting for its end takes about 1 us, so a part has at least TeamFrom/4.
	TeamFrom = 1 << 17
	// teamParts is the most parts for each worker.
	teamParts = 4
	// teamSpins is how often a worker looks for a part before it asks whether other tasks wait.
	teamSpins = 256
	// teamNaps is how often a worker asks before it sleeps between looks.
	teamNaps = 64
	// teamNap is how long a worker sleeps.
	teamNap = 20 * time.Microsecond
	// teamTries is how often a loop runs by one worker, and then in parts, to measure both ways. Parts
	// that read what another worker has written may take longer than one worker.
	teamTries = 6
	// teamLate is the most runs in parts that are not counted because no other worker took part: it may
	// still be on its way, or asleep.
	teamLate = 200
	// teamKeeps is the number of runs after which both ways are measured again.
	teamKeeps = 1000
	// teamStall is how long the owner waits for a part before it assumes that another process has the
	// processor of that worker.
	teamStall = 300 * time.Microsecond
	// teamAlone is the number of loops that the owner runs alone after a stall.
	teamAlone = 1000
)

// teamFrom is TeamFrom, except in tests.
var teamFrom atomic.Int64

func init() { teamFrom.Store(TeamFrom) }

// ShareFrom sets the least number of operations of a stage that workers share, for tests.
func ShareFrom(ops int64) { teamFrom.Store(ops) }

// Shared counts the loops that were run in parts, for tests.
var Shared atomic.Int64

// Team is the workers of one call that runs rounds. One of them is the owner: it alone calls Each and
// End. The others call Help.
type Team struct {
	seats []seat
	epoch uint64
	parts int
	f     func(worker, part int)
	alone int // the next so many loops are run by the owner alone
	_     [64]byte
	done  atomic.Int64 // parts that others have run
	_     [64]byte
	ended atomic.Bool
}

// seat is the share of a worker in the current job. The lower half of left counts the parts that no
// worker has claimed, and the upper half is the number of the job: a claim for an earlier job fails.
type seat struct {
	left   atomic.Uint64
	waited time.Duration
	_      [48]byte
}

// NewTeam makes a team of so many workers, numbered from 0.
func NewTeam(workers int) *Team { return &Team{seats: make([]seat, workers)} }

// Workers returns the most workers that may take part.
func (t *Team) Workers() int { return len(t.seats) }

// Each calls f once for each of so many parts, and returns when all calls have returned. Each worker
// has a share of the parts. It runs these first, and then steals parts of other workers: no part waits
// for a worker that is late. Only the owner calls Each.
func (t *Team) Each(worker, parts int, f func(worker, part int)) {
	t.parts, t.f = parts, f
	t.done.Store(0)
	t.epoch++
	for k := range t.seats {
		lo, hi := t.share(k)
		t.seats[k].left.Store(t.epoch<<32 | uint64(hi-lo))
	}
	own := 0
	for part := t.claim(worker); part >= 0; part = t.claim(worker) {
		f(worker, part)
		own++
	}
	since := time.Time{}
	for n := 1; int(t.done.Load()) < parts-own; n++ {
		pause()
		if n%teamSpins == 0 {
			if since.IsZero() {
				since = time.Now()
			} else if time.Since(since) > teamStall {
				t.alone = teamAlone
			}
			runtime.Gosched()
		}
	}
}

// share returns the parts lo..hi-1 of worker k.
func (t *Team) share(k int) (lo, hi int) {
	n := len(t.seats)
	return k * t.parts / n, (k + 1) * t.parts / n
}

// claim takes a part that no worker has claimed, from the worker's own share first; -1: there is none.
// The parts and the function of a job do not change until each claimed part has been run.
func (t *Team) claim(worker int) int {
	for i := range t.seats {
		k := (worker + i) % len(t.seats)
		s := &t.seats[k]
		for v := s.left.Load(); uint32(v) > 0; v = s.left.Load() {
			if s.left.CompareAndSwap(v, v-1) {
				_, hi := t.share(k)
				return hi - int(uint32(v))
			}
		}
	}
	return -1
}

// Help runs parts until the owner calls End, or until wanted reports that other tasks wait.
func (t *Team) Help(worker int, wanted func() bool) {
	s := &t.seats[worker]
	since := time.Now()
	for n := 1; !t.ended.Load(); n++ {
		pause()
		if uint32(s.left.Load()) > 0 {
			if part := t.claim(worker); part >= 0 {
				s.waited += time.Since(since)
				for ; part >= 0; part = t.claim(worker) {
					t.run(worker, part)
				}
				since, n = time.Now(), 1
			}
		}
		if n%teamSpins == 0 {
			if wanted() {
				break
			}
			if n > teamSpins*teamNaps {
				time.Sleep(teamNap)
			}
		}
	}
	s.waited += time.Since(since)
}

// pause waits some nanoseconds between two looks at memory that other workers write.
func pause() {
	for range 10 {
	}
}

// run runs a part. A part that panics counts as done, too, since the owner waits for it.
func (t *Team) run(worker, part int) {
	defer t.done.Add(1)
	t.f(worker, part)
}

// End makes the calls of Help return.
func (t *Team) End() { t.ended.Store(true) }

// Waited returns how long a worker has waited for parts in Help.
func (t *Team) Waited(worker int) time.Duration { return t.seats[worker].waited }

// teamLoop is the state of a stage's loop that the workers of a team share.
type teamLoop struct {
	workers []teamWorker
	each    func(worker, part int) // made once
	job     int                    // counts executions in parts
	parts   int                    // of the current job
	columns bool                   // parts are ranges of columns, not of rows
	runs    int                    // since both ways were measured last
	late    int                    // runs in parts since then that are not counted
	helped  bool                   // another worker took part in the last run in parts
	least   [2]time.Duration       // the least time of a measured run by one worker, and in parts
	// the arguments of run for the current job
	of      *launch.Run
	on      *launch.Worker
	window  [2][2]int
	sums    bool
	stopped func() bool
}

// teamWorker is the state of one worker in a teamLoop. flagged and err are of the last job.
type teamWorker struct {
	on      *launch.Worker // nil before its first job
	job     int            // the last one in which it took part
	flagged bool
	err     error
	_       [24]byte
}

// tries tells whether a loop of so many parts runs by one worker (way 0) or in parts (1). It takes the
// way that took less time when both were measured. Less than a tenth is not worth another worker. begun
// is when a measured run begins, and zero for others.
func (x *teamLoop) tries(parts int) (begun time.Time, way int) {
	switch {
	case parts <= 1:
		return begun, 0
	case teamFrom.Load() < TeamFrom: // tests share all
		return begun, 1
	}
	if x.runs++; x.runs > teamKeeps {
		x.runs, x.late, x.least = 1, 0, [2]time.Duration{}
	}
	if x.runs > 2*teamTries {
		if x.least[1] < x.least[0]*9/10 {
			way = 1
		}
		return begun, way
	}
	return time.Now(), (x.runs - 1) / teamTries
}

// took notes how long a run took that tries has told to measure.
func (x *teamLoop) took(begun time.Time, way int) {
	if begun.IsZero() {
		return
	}
	if way == 1 && !x.helped && x.late < teamLate {
		x.late++
		x.runs--
		return
	}
	if took := time.Since(begun); x.least[way] == 0 || took < x.least[way] {
		x.least[way] = took
	}
}

// run runs a window of a loop in x.parts parts on t. owner is the worker that calls, and on is its
// worker of the run. sums: the loop reduces all elements, and on gets the merged results.
func (x *teamLoop) run(t *Team, owner int, of *launch.Run, on *launch.Worker, window [2][2]int, sums bool, stopped func() bool) (flagged bool, err error) {
	if len(x.workers) < t.Workers() {
		x.workers = make([]teamWorker, t.Workers())
	}
	x.job++
	x.of, x.on, x.window, x.sums, x.stopped = of, on, window, sums, stopped
	if x.each == nil {
		x.each = x.runPart
	}
	t.Each(owner, x.parts, x.each)
	x.helped = false
	for k := range x.workers {
		w := &x.workers[k]
		if w.job != x.job {
			continue
		}
		x.helped = x.helped || k != owner
		flagged = flagged || w.flagged
		if w.err != nil {
			err = w.err
		}
		if sums {
			on.Merge(w.on)
		}
	}
	if err == nil {
		Shared.Add(1)
	}
	return flagged, err
}

// inParts runs the loop of a call's row in parts on the team, if that takes less time than the kernel.
// The caller is worker owner. It reports false if the kernel has to run: in a trial without parts, or
// after a part has failed.
func (x *teamLoop) inParts(t *Team, owner int, c *op.Call) bool {
	n, leaf := c.Def.Loop.Space(c)
	units := (n + leaf - 1) / max(1, leaf)
	parts := min(t.Workers()*teamParts, units)
	if t.alone > 0 {
		t.alone, parts = t.alone-1, 1
	}
	begun, way := x.tries(parts)
	if way == 0 {
		if !begun.IsZero() {
			defer x.took(begun, way)
			return c.Def.Kernel(c) == nil
		}
		return false
	}
	run, err := c.Def.Loop.Begin(c, t.Workers())
	if err != nil {
		return false
	}
	var failed atomic.Bool
	x.helped = false
	for again := true; again && !failed.Load(); {
		t.Each(owner, parts, func(worker, part int) {
			lo, hi := part*units/parts*leaf, min((part+1)*units/parts*leaf, n)
			if run.Chunk(worker, lo, hi) != nil {
				failed.Store(true)
			}
		})
		x.helped = x.helped || t.done.Load() > 0
		passes, is := run.(op.Passes)
		if again = is; is && !failed.Load() {
			if again, err = passes.Next(); err != nil {
				failed.Store(true)
			}
		}
	}
	if failed.Load() {
		op.Quit(run)
		return false
	}
	if run.End() != nil {
		return false
	}
	Shared.Add(1)
	x.took(begun, way)
	return true
}

// runPart runs one part of the current job.
func (x *teamLoop) runPart(worker, part int) {
	w := &x.workers[worker]
	if w.job != x.job {
		w.job, w.flagged, w.err = x.job, false, nil
		if w.on == nil {
			w.on = x.of.Worker()
		}
		w.on.Follow(x.on)
		if x.sums {
			w.on.Forget()
		}
	}
	at, axis, unit := x.window, 0, 1
	switch {
	case x.columns:
		axis, unit = 1, launch.Lanes()
	case at[1][1]-at[1][0] < launch.FewColumns: // rows are the lanes
		unit = launch.Lanes()
	}
	from, n := at[axis][0], at[axis][1]-at[axis][0]
	lo, hi := part*n/x.parts/unit*unit, n
	if part+1 < x.parts {
		hi = (part + 1) * n / x.parts / unit * unit
	}
	at[axis] = [2]int{from + lo, from + hi}
	f, err := w.on.Window(at[0][0], at[0][1], at[1][0], at[1][1], x.stopped)
	w.flagged = w.flagged || f
	if err != nil {
		w.err = err
	}
}

// free frees the workers of the loop.
func (x *teamLoop) free() {
	for k := range x.workers {
		if w := &x.workers[k]; w.on != nil {
			w.on.Free()
			w.on = nil
		}
	}
}
