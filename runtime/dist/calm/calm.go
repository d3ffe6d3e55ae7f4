// Package calm is a clock for tests of promises that are made in seconds: it runs as fast as the machine lets this process get on. A machine
// that stops, or has much else to do, stops and slows it as well; a program that is late by its own fault does not. On a machine at rest it
// shows the time.
package calm

import (
	"runtime"
	"sync"
	"time"
)

const (
	// rest and work are what a tick of the clock consists of: a sleep, and some microseconds of computing.
	rest = 5 * time.Millisecond
	work = 200_000 // additions
	// tick is the most that a tick counts for; at rest it takes 5.2 to 6.5 ms. What it takes beyond that others have taken from it.
	tick = 8 * time.Millisecond
)

// Clock is a clock that was started. Its methods are safe for concurrent use.
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

// over ends a tick and begins the next. The sum keeps the compiler from leaving the work out.
func (c *Clock) over(now time.Time, sum uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sum != 0 {
		c.counted += min(now.Sub(c.began), tick)
	}
	c.began = now
}

// Elapsed is what the clock shows: at most the time since Start.
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

// Sleep returns when a clock that starts now shows d: the processes beside this one have had that long to get on, too, unless only they are held up.
func Sleep(d time.Duration) {
	c := Start()
	defer c.Stop()
	for c.Elapsed() < d {
		time.Sleep(rest)
	}
}
