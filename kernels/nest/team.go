package nest

// This file shares the loops of stages among workers. The rounds of a loop over matrices that fit in a
// cache last microseconds. A task a round costs as much, so one worker runs the rounds, and the others wait
// for parts of its loops.

import (
	"runtime"
	"sync/atomic"
	"time"

	"flow/ir/op"
	"flow/kernels/loop/launch"
)

const (
	// TeamFrom is from how many operations on a stage is shared, some 5 us. Handing a part over and waiting
	// for its end takes about 1 us. A part has at least the fourth part of it, and teamParts is the most
	// parts of a worker.
	TeamFrom, teamParts = 1 << 17, 4
	// teamSpins is how often a worker looks for a part before it asks whether other tasks wait, and
	// teamNaps how often it asks before it sleeps between looks.
	teamSpins, teamNaps = 256, 64
	// teamNap is how long it sleeps.
	teamNap = 20 * time.Microsecond
	// teamStall is how long the owner waits for a part until it takes the worker for one without a
	// processor, as another process may have it. It runs the next teamAlone loops alone then.
	teamStall, teamAlone = 300 * time.Microsecond, 1000
)

// teamFrom is TeamFrom, but for tests.
var teamFrom atomic.Int64

func init() { teamFrom.Store(TeamFrom) }

// ShareFrom makes workers share stages from so many operations on.
func ShareFrom(ops int64) { teamFrom.Store(ops) }

// Shared counts the loops that were run in parts, for tests.
var Shared atomic.Int64

// Team is the workers of one call that runs rounds. One of them, the owner, calls Each and End, the others
// call Help.
type Team struct {
	seats []seat
	epoch uint64
	parts int
	f     func(worker, part int)
	alone int // loops that the owner runs alone
	_     [64]byte
	done  atomic.Int64 // parts that others have run
	_     [64]byte
	ended atomic.Bool
}

// seat is what a worker has of the current job: the parts whose turn comes last. left counts those that
// nobody has begun, in its lower half. The upper half is the number of the job.
type seat struct {
	left   atomic.Uint64
	waited time.Duration
	_      [48]byte
}

// NewTeam makes a team of so many workers, which are numbered from 0 on.
func NewTeam(workers int) *Team { return &Team{seats: make([]seat, workers)} }

// Workers returns how many workers there may be.
func (t *Team) Workers() int { return len(t.seats) }

// Each calls f for each of some parts, and returns when all calls have returned. Workers that help call it
// for parts of theirs, and who has none left takes parts of others. No part waits for a worker.
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

// share returns the parts of worker k.
func (t *Team) share(k int) (lo, hi int) {
	n := len(t.seats)
	return k * t.parts / n, (k + 1) * t.parts / n
}

// claim takes a part that nobody has begun, of the worker's own ones first; -1: there is none. The parts and
// the function of a job stay as they are until each claimed part has been run.
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

// Help runs parts until the team ends, or until wanted says that other tasks wait.
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

// pause leaves the memory bus alone for some nanoseconds.
func pause() {
	for range 10 {
	}
}

// run runs a part. It counts also if it panics, since the owner waits for it.
func (t *Team) run(worker, part int) {
	defer t.done.Add(1)
	t.f(worker, part)
}

// End sends the helpers home.
func (t *Team) End() { t.ended.Store(true) }

// Waited returns how long a worker has waited for parts.
func (t *Team) Waited(worker int) time.Duration { return t.seats[worker].waited }

// teamLoop is the loop of a stage among the workers of a team.
type teamLoop struct {
	workers []teamWorker
	each    func(worker, part int)
	job     int
	parts   int
	columns bool // parts are columns
}

// teamWorker is what a worker has of it.
type teamWorker struct {
	on      *launch.Worker
	job     int // that it has taken part in last
	flagged bool
	err     error
	_       [24]byte
}

// Share makes t run large stages of p and of the bodies within. owner is the worker that runs p.
func (p *Interpreter) Share(t *Team, owner int) {
	p.team, p.owner = t, owner
	for k := range p.inner {
		for _, q := range p.inner[k].all() {
			if q != nil {
				q.Share(t, owner)
			}
		}
	}
}

// Large reports whether a stage of a body within b, which has been planned, has work for several workers.
func Large(b *op.Body) bool {
	for k := range b.Acts {
		if c := b.Acts[k].Def.Control; c != op.Select && c != op.Iterate {
			continue
		}
		for _, in := range b.Acts[k].Bodies {
			if Large(in) {
				return true
			}
			if s := planOf(in).stages; s != nil {
				for h := range s.members {
					if s.ops(h) >= float64(teamFrom.Load()) {
						return true
					}
				}
			}
		}
	}
	return false
}

// ops is about how many operations the stage of action h has.
func (s *Stages) ops(h int) (sum float64) {
	for _, i := range s.members[h] {
		sum += float64(s.body.Acts[i].Type.Count()) * max(1, s.cost(i))
	}
	return sum
}

// partsOf returns in how many parts the loop of a stage is shared; 1: it is not.
func (p *Interpreter) partsOf(s *stageRun, r *stageRect) int {
	rows, cols := r.part[0][1]-r.part[0][0], r.part[1][1]-r.part[1][0]
	if p.team == nil || r.place != nil || rows*cols == 0 || !r.worker.Direct() || s.number == nil && r.run.Reduces() {
		return 1
	}
	ops := s.ops * float64(rows*cols) / float64(max(1, r.Rows*r.Cols))
	from := float64(teamFrom.Load())
	if ops < from {
		return 1
	}
	if p.team.alone > 0 {
		p.team.alone--
		return 1
	}
	n := p.team.Workers()
	parts := min(n*teamParts, int(ops/(from/4))/n*n)
	if r.columns = rows < parts; r.columns {
		parts = min(parts, cols/launch.Lanes())
	}
	return parts
}

// onTeam runs the loop of a bound stage in parts. sums: it reduces all elements.
func (r *stageRect) onTeam(p *Interpreter, parts int, sums bool) (flagged bool, err error) {
	if r.each == nil {
		r.workers = make([]teamWorker, p.team.Workers())
		r.each = func(worker, part int) {
			w := &r.workers[worker]
			if w.job != r.job {
				w.job, w.flagged, w.err = r.job, false, nil
				if w.on == nil {
					w.on = r.run.Worker()
				}
				w.on.Follow(r.worker)
				if sums {
					w.on.Forget()
				}
			}
			at := r.part
			axis := 0
			if r.columns {
				axis = 1
			}
			from, n := at[axis][0], at[axis][1]-at[axis][0]
			lo, hi := part*n/r.parts, (part+1)*n/r.parts
			if unit := launch.Lanes(); r.columns {
				lo = lo / unit * unit
				if hi < n {
					hi = hi / unit * unit
				}
			}
			at[axis] = [2]int{from + lo, from + hi}
			if f, err := w.on.Window(at[0][0], at[0][1], at[1][0], at[1][1], p.stopped); f || err != nil {
				w.flagged = w.flagged || f
				w.err = err
			}
		}
	}
	r.job, r.parts = r.job+1, parts
	Shared.Add(1)
	p.team.Each(p.owner, parts, r.each)
	for k := range r.workers {
		w := &r.workers[k]
		if w.job != r.job {
			continue
		}
		flagged = flagged || w.flagged
		if w.err != nil {
			err = w.err
		}
		if sums {
			r.worker.Merge(w.on)
		}
	}
	return flagged, err
}

// freeShared frees what workers have of the loop.
func (r *stageRect) freeShared() {
	for k := range r.workers {
		if w := &r.workers[k]; w.on != nil {
			w.on.Free()
			w.on = nil
		}
	}
}
