package local

import (
	"context"
	"testing"
	"time"
)

// The clock is the test's.
func TestPatience(t *testing.T) {
	var p patience
	now := time.Now()
	want := func(what string, limit time.Duration) {
		t.Helper()
		if got := p.limit(defaultSpin); got != limit {
			t.Errorf("%s: spins for %v, want %v", what, got, limit)
		}
	}
	want("a new worker", defaultSpin)
	for range trust - 1 {
		p.waited(shortWait)
	}
	want("after a few short waits", defaultSpin)
	p.slept(now)
	now = now.Add(shortWait)
	p.woken(now)
	want("after as many as it takes, of which the last ended in sleep", longSpin)
	now = now.Add(time.Hour)
	p.woken(now)
	want("woken without having searched", longSpin)
	if got := p.limit(2 * defaultSpin); got != 2*defaultSpin {
		t.Errorf("a time that the user set became %v", got)
	}
	if got := p.limit(0); got != 0 {
		t.Errorf("a worker that must not spin does, for %v", got)
	}
	p.slept(now)
	p.woken(now.Add(shortWait + 1))
	want("after a long wait", defaultSpin)
	for range trust {
		p.waited(0)
	}
	want("after short waits again", longSpin)
	p.disturbed()
	want("when others want the processor", defaultSpin)
	for range trust {
		p.waited(0)
	}
	want("a few short waits after that", defaultSpin)
	for range distrust {
		p.waited(0)
	}
	want("many short waits after that", longSpin)
	p.disturbed()
	for range distrust + trust {
		p.waited(0)
	}
	want("as many when it happened again", defaultSpin)
	for range distrust {
		p.waited(0)
	}
	want("twice as many", longSpin)
	for range forgiven {
		p.waited(0)
	}
	p.disturbed()
	for range distrust + trust {
		p.waited(0)
	}
	want("when it is long ago", longSpin)
}

// Workers that trust in short waits sleep in one without end.
func TestPatienceEnds(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for _, w := range p.workers {
		w.waits.short = trust
	}
	r := p.Start(context.Background(), graph(2, nil, map[int32]int32{1: 1}), func(*Worker, int32) error { return nil })
	for until := time.Now().Add(guard); p.asleep.Load() < 2 || r.Finished() < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a worker that has nothing to do does not sleep")
		}
	}
	time.Sleep(2 * shortWait)
	r.Satisfy(1)
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
}
