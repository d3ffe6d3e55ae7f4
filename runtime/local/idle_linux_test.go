package local

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestIdlePoolUsesNoProcessor measures the process's own CPU time, between runs and inside a run
// that waits for an input. Whatever else the process has to do, a collection of what other tests
// have left above all, it does once: one quiet time of many is enough.
func TestIdlePoolUsesNoProcessor(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	cpu := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	r := p.Start(context.Background(), graph(10, nil, map[int32]int32{3: 1}), func(*Worker, int32) error { return nil })
	for _, where := range []string{"inside a run", "between runs"} {
		for until := time.Now().Add(guard); p.asleep.Load() < 2; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: workers that have nothing to do do not sleep", where)
			}
		}
		least := time.Hour
		for try := 0; try < 50 && least > time.Millisecond; try++ {
			before := cpu()
			time.Sleep(100 * time.Millisecond)
			least = min(least, cpu()-before)
		}
		if least > time.Millisecond {
			t.Errorf("%s: an idle pool uses %v of CPU time in 100ms", where, least)
		}
		if where == "inside a run" {
			if n := r.Finished(); n != 9 {
				t.Errorf("%d tasks finished, want 9", n)
			}
			r.Satisfy(3)
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A pool tells the processor time of its own threads, also of one that a Body has ended.
func TestPoolTellsProcessorTime(t *testing.T) {
	const tasks, each = 6, 20 * time.Millisecond
	mine := func() time.Duration { return threadTime(thisThread()) }
	p, other := NewPool(2), NewPool(2)
	defer p.Close()
	defer other.Close()
	var used atomic.Int64
	ends := false
	body := func(_ *Worker, task int32) error {
		before := mine()
		for mine()-before < each {
		}
		used.Add(int64(mine() - before))
		if ends {
			runtime.Goexit()
		}
		return nil
	}
	for _, ends = range []bool{false, true, false} {
		if err := p.Start(context.Background(), graph(tasks, nil, nil), body).Wait(); (err == nil) == ends {
			t.Fatal(err)
		}
	}
	if told, least := p.ProcessorTime(), time.Duration(used.Load()); told < least || least < 2*tasks*each {
		t.Errorf("the pool tells %v of processor time, and its tasks have used %v", told, least)
	}
	if told := other.ProcessorTime(); told >= each {
		t.Errorf("a pool without tasks tells %v of processor time", told)
	}
}
