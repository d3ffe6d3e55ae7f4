package dist

// This file watches the ranks of a job that this process has launched: see Note [Exit codes].

import (
	"fmt"
	"time"

	"flow/ir/op"
)

const (
	// lookAtRanks is the period of looking at the processes of the ranks, searchRanks while
	// they are unknown: a look costs 0.1 ms, a search little more by the kernel's lists.
	lookAtRanks = 100 * time.Millisecond
	searchRanks = 25 * time.Millisecond
	// othersNotice is how long after a death the other ranks may take to end by themselves:
	// they look for each other every lookEvery, twice, and then report and clean up. The
	// contract gives them 5 s in all.
	othersNotice = 2500 * time.Millisecond
	// othersStay is how much longer they may take after they have been told.
	othersStay = 1700 * time.Millisecond
	// launcherStays is how long the launcher of a failed job may be idle after the last rank.
	launcherStays = 300 * time.Millisecond
	// launcherStaysAfterSuccess is the same if all ranks have left their codes. This is not
	// known to happen.
	launcherStaysAfterSuccess = 5 * time.Second
	// launcherStaysFromStart is the same if no rank was ever seen: all died between two looks,
	// or none has been started yet.
	launcherStaysFromStart = 10 * time.Second
)

// watch knows which ranks run. All are children of the launcher, as with Open MPI; elsewhere
// LaunchOptions.Leaves does not help.
type watch struct {
	launcher, ranks int
	status          string
	seen            map[int]watched // by process
	known           bool            // all of them, with their numbers
	newest          time.Time       // when one was first seen, or the launcher was last busy
	lost            *lostRank       // the first that was found gone without an exit code
	told            bool            // the others, of it
	// at the last look a rank had recorded that it was told to stop
	stopping bool
	// since when the launcher has no ranks and is idle; zero: it is not
	alone time.Time
	ended bool // the launcher, by advice
}

type watched struct {
	rank  int
	start string // of the process, see processStart
	gone  bool
}

// lostRank is a dead rank: -1 if its number is unknown, process 0 if it was never seen.
type lostRank struct {
	rank, pid int
	found     time.Time
	stopped   bool   // ranks had been told to stop before
	killed    string // that the kernel may have killed it, see killings.suspected
}

func (l *lostRank) failure() *op.Failure {
	who, process := "a rank", "at its start"
	if l.rank >= 0 {
		who = fmt.Sprintf("rank %d", l.rank)
	}
	if l.pid > 0 {
		process = fmt.Sprintf("(process %d)", l.pid)
	}
	return &op.Failure{Code: "E702", Msg: who + " died " + process + l.killed}
}

// advice is the action that a look recommends.
type advice int

const (
	carryOn advice = iota
	stopTheOthers
	endLauncher
)

// period returns the time until the next look.
func (w *watch) period() time.Duration {
	if w.known {
		return lookAtRanks
	}
	return searchRanks
}

func newWatch(launcher, ranks int, status string) *watch {
	return &watch{launcher: launcher, ranks: ranks, status: status, seen: map[int]watched{}}
}

// look checks the ranks once. stopped: the job is being stopped. silent: no output is under way.
//
// Ranks that end after their launcher end because of it, so nothing is checked after its end.
func (w *watch) look(now time.Time, stopped, silent bool) advice {
	if _, runs := processStart(w.launcher); !runs {
		return carryOn
	}
	if !w.known {
		w.meet(now)
	}
	alive := w.count(now)
	w.stopping = collect(w.status, w.ranks) > 128
	if alive > 0 {
		if w.lost != nil && !w.told && !stopped && now.Sub(w.lost.found) > othersNotice {
			w.told = true
			return stopTheOthers
		}
		return carryOn
	}
	return w.withoutRanks(now, stopped, silent)
}

// meet looks for the ranks' processes until all are known with their numbers.
func (w *watch) meet(now time.Time) {
	for pid, rank := range ranksOf(w.launcher) {
		x, again := w.seen[pid]
		if !again {
			x.start, _ = processStart(pid)
			w.newest = now
		}
		x.rank = rank
		w.seen[pid] = x
	}
	w.known = len(w.seen) == w.ranks
	for _, x := range w.seen {
		w.known = w.known && x.rank >= 0
	}
	// The launcher starts them one right after the other, once it has a processor.
	if !asleep(w.launcher) {
		w.newest = now
	}
	if len(w.seen) > 0 && len(w.seen) < w.ranks && w.lost == nil && now.Sub(w.newest) > othersNotice-time.Second {
		w.lost = &lostRank{w.missing(), 0, w.newest, w.stopping, ofKernel.suspected()}
	}
}

// missing returns the only rank that was never seen, -1 if there are several.
func (w *watch) missing() int {
	rest := w.ranks * (w.ranks - 1) / 2
	for _, x := range w.seen {
		rest -= x.rank
	}
	if len(w.seen) < w.ranks-1 || rest < 0 || rest >= w.ranks {
		return -1
	}
	return rest
}

// count counts the running ranks, and records a lost one: the lowest, if several are found at once.
func (w *watch) count(now time.Time) (alive int) {
	var lost *lostRank
	for pid, x := range w.seen {
		if x.gone {
			continue
		}
		if stillRuns(pid, x.start) {
			alive++
			continue
		}
		x.gone = true
		w.seen[pid] = x
		if !hasLeft(w.status, pid) && (lost == nil || x.rank < lost.rank) {
			lost = &lostRank{x.rank, pid, now, w.stopping, ofKernel.suspected()}
		}
	}
	if w.lost == nil {
		w.lost = lost
	}
	return alive
}

// hasLeft reports whether a rank has recorded its exit code.
func (w *watch) hasLeft(rank int) bool {
	for pid, x := range w.seen {
		if x.rank == rank && hasLeft(w.status, pid) {
			return true
		}
	}
	return false
}

// atEnd returns the rank that was lost first, once the launcher has ended; nil if all have left
// their codes, or the launcher ended by itself before one was seen.
func (w *watch) atEnd() *lostRank {
	w.count(time.Now())
	if w.ended && w.lost == nil && len(w.seen) == 0 {
		return &lostRank{rank: -1, killed: ofKernel.suspected()}
	}
	return w.lost
}

// patientClock is a clock for looks that skips delays: a machine that stalls has stopped the
// watched processes as well.
type patientClock struct{ last, shown time.Time }

// at returns the clock's time at a look that was due after period.
func (c *patientClock) at(now time.Time, period time.Duration) time.Time {
	if c.shown.IsZero() {
		c.shown = now
	} else {
		c.shown = c.shown.Add(min(now.Sub(c.last), 2*period))
	}
	c.last = now
	return c.shown
}

// withoutRanks is the part of look if all ranks that were seen are gone, or none was seen.
func (w *watch) withoutRanks(now time.Time, stopped, silent bool) advice {
	if !silent || !asleep(w.launcher) { // it passes on what the ranks have said
		w.alone = time.Time{}
		return carryOn
	}
	if w.alone.IsZero() {
		w.alone = now
	}
	limit := launcherStaysAfterSuccess
	switch {
	case stopped || w.lost != nil:
		limit = launcherStays
	case len(w.seen) == 0:
		limit = launcherStaysFromStart
	}
	if w.ended || now.Sub(w.alone) < limit {
		return carryOn
	}
	w.ended = true
	return endLauncher
}
