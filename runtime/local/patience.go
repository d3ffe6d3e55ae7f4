package local

import "time"

// This file decides how long a worker looks for work inside a run before it sleeps.
//
// To be woken takes as long as some spinning: 10 us where the system is at rest, 100 us and more in
// a virtual machine, for a sleeping thread's processor is given away. To spin as long as a wake-up
// takes is never worse than twice the best choice (A. Karlin et al., "Empirical studies of
// competitive spinning for a shared-memory multiprocessor", SOSP 1991), and what the last waits
// took tells more: the rounds of a loop have the same gaps again and again. So a worker whose last
// waits were all short spins for as long as such gaps are, else for the pool's time. It gives that
// up as soon as a wait is long, or when it finds that somebody else wants its processor.

const (
	// longSpin is the longest time to spin, and shortWait the longest wait that speaks for it: who
	// slept was woken late.
	longSpin  = 200 * time.Microsecond
	shortWait = 2 * longSpin
	// trust is how many short waits in a row a worker wants to have seen.
	trust = 3
	// taken is a gap between two looks at the clock, a microsecond or two apart, that tells that
	// another thread had the processor.
	taken = 100 * time.Microsecond
	// distrust is how many short waits in a row it takes, besides, after that; twice as many each
	// time, up to mostDistrust.
	distrust, mostDistrust = 64, 1 << 14
	// forgiven is how many it takes for the next time to be the first again.
	forgiven = 1 << 12
)

// patience is what a worker knows of its waits.
type patience struct {
	since time.Time // when the last search began that ended in sleep; zero: none did
	short int       // waits in a row that were short; negative: as many do not count
	times int       // how often others wanted the processor, of late
}

// limit is how long to spin, the pool's time being spin.
func (p *patience) limit(spin time.Duration) time.Duration {
	if spin == defaultSpin && p.short >= trust {
		return longSpin
	}
	return spin
}

// waited notes a wait of that long.
func (p *patience) waited(d time.Duration) {
	if d <= shortWait {
		if p.short = min(p.short+1, forgiven); p.short == forgiven {
			p.times = 0
		}
	} else {
		p.short = min(p.short, 0)
	}
}

// disturbed notes that others want the processor: what is spun away is theirs.
func (p *patience) disturbed() {
	p.short = -min(distrust<<p.times, mostDistrust)
	p.times = min(p.times+1, 16)
}

// slept begins a sleep after a search that began at that time, and woken ends it.
func (p *patience) slept(since time.Time) { p.since = since }

func (p *patience) woken(now time.Time) {
	if !p.since.IsZero() {
		p.waited(now.Sub(p.since))
		p.since = time.Time{}
	}
}
