package local

import (
	"context"
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	var p patience
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
	p.slept(time.Now())
	p.woken()
	want("after as many as it takes, of which the last ended in sleep", shortWait)
	p.woken()
	want("woken without having searched", shortWait)
	if got := p.limit(2 * defaultSpin); got != 2*defaultSpin {
		t.Errorf("a time that the user set became %v", got)
	}
	if got := p.limit(0); got != 0 {
		t.Errorf("a worker that must not spin does, for %v", got)
	}
	p.slept(time.Now().Add(-shortWait - 1))
	p.woken()
	want("after a long wait", defaultSpin)
	for range trust {
		p.waited(0)
	}
	want("after short waits again", shortWait)
	p.disturbed()
	want("when others want the processor", defaultSpin)
}

// Workers that trust in short waits sleep in one without end.
func TestPatienceEnds(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for _, w := range p.workers {
		w.waits.short = trust
	}
	r := p.Start(context.Background(), graph(2, nil, map[int32]int32{1: 1}), func(*Worker, int32) error { return nil })
	for until := time.Now().Add(5 * time.Second); p.asleep.Load() < 2 || r.Finished() < 1; time.Sleep(time.Millisecond) {
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
