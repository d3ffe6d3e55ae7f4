// Package calm is a clock for tests of promises in seconds. It runs as fast as the machine lets
// this process run: a stopped or busy machine stops or slows it, while a program that is late by
// its own fault does not. On a machine at rest it shows the time.
package calm

import (
	"runtime"
	"sync"
	"time"
)

const (
	// rest and work make up a tick of the clock: a sleep, and some microseconds of computing.
	rest = 5 * time.Millisecond
	work = 200_000 // additions
	// tick is the most that a tick counts. At rest it takes 5.2 to 6.5 ms; other processes have
	// taken the rest.
	tick = 8 * time.Millisecond
)

// Clock is a running clock. Its methods are safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	counted time.Duration // ticks that are over
	began   time.Time     // the tick under way
	quit    chan struct{}
	once    sync.Once
}

// Start starts a clock at zero. Stop ends it.
func Start() *Clock {
	c := &Clock{began: time.Now(), quit: make(chan struct{})}
	go c.run()
	return c
}

func (c *Clock) run() {
	runtime.LockOSThread() // the thread competes with other processes, not with goroutines
	for x := uint64(1); ; {
		time.Sleep(rest)
		for range work {
			x += x>>7 | 1
		}
		select {
		case <-c.quit:
			return
		default:
			c.over(time.Now(), x)
		}
	}
}

// over ends a tick and begins the next. The sum keeps the compiler from removing the work.
func (c *Clock) over(now time.Time, sum uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sum != 0 {
		c.counted += min(now.Sub(c.began), tick)
	}
	c.began = now
}

// Elapsed returns what the clock shows: at most the time since Start.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counted + min(time.Since(c.began), tick)
}

// Stop ends the clock and returns what it shows. Later calls do nothing more.
func (c *Clock) Stop() time.Duration {
	c.once.Do(func() { close(c.quit) })
	return c.Elapsed()
}

// Sleep returns when a clock that starts now shows d: other processes have had that long to run
// too, unless only they are held up.
func Sleep(d time.Duration) {
	c := Start()
	defer c.Stop()
	for c.Elapsed() < d {
		time.Sleep(rest)
	}
}
