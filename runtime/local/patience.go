package local

import "time"

// This file decides how long a worker spins for work inside a run before it sleeps.
//
// A wake-up takes 10 us on a system at rest and 100 us and more in a virtual machine, where a
// sleeping thread's processor is given away. Spinning for the time of a wake-up costs at most twice
// the best choice (A. Karlin et al., "Empirical studies of competitive spinning for a shared-memory
// multiprocessor", SOSP 1991). Recent waits predict more: the rounds of a loop have the same gaps
// again and again. So a worker whose last waits were all short spins as long as such gaps last,
// else for the pool's time. It stops doing so after a long wait, or when another thread wants its
// processor.

const (
	// longSpin is the longest spin. shortWait is the longest wait that supports it, longer
	// because a sleeper is woken late.
	longSpin  = 200 * time.Microsecond
	shortWait = 2 * longSpin
	// trust is how many short waits in a row allow a long spin.
	trust = 3
	// taken is a gap between two clock reads, normally a microsecond or two apart, that shows
	// that another thread had the processor.
	taken = 100 * time.Microsecond
	// distrust is how many additional short waits in a row are needed after that, doubled each
	// time up to mostDistrust.
	distrust, mostDistrust = 64, 1 << 14
	// forgiven is how many short waits reset the doubling.
	forgiven = 1 << 12
)

// patience is the history of a worker's waits.
type patience struct {
	since time.Time // when the last search began that ended in sleep; zero: none
	short int       // short waits in a row; negative: as many do not count
	times int       // recent times that others wanted the processor
}

// limit returns how long to spin if the pool's time is spin.
func (p *patience) limit(spin time.Duration) time.Duration {
	if spin == defaultSpin && p.short >= trust {
		return longSpin
	}
	return spin
}

// waited records a wait.
func (p *patience) waited(d time.Duration) {
	if d <= shortWait {
		if p.short = min(p.short+1, forgiven); p.short == forgiven {
			p.times = 0
		}
	} else {
		p.short = min(p.short, 0)
	}
}

// disturbed records that others want the processor.
func (p *patience) disturbed() {
	p.short = -min(distrust<<p.times, mostDistrust)
	p.times = min(p.times+1, 16)
}

// slept records a sleep after a search that began at since. woken ends it.
func (p *patience) slept(since time.Time) { p.since = since }

func (p *patience) woken(now time.Time) {
	if !p.since.IsZero() {
		p.waited(now.Sub(p.since))
		p.since = time.Time{}
	}
}
