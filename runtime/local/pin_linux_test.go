package local

import (
	"context"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPin reads back where workers may run, and checks that the threads of the process keep their
// freedom after Close.
func TestPin(t *testing.T) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	p := NewPool(2, PoolOptions{Pin: true})
	var both sync.WaitGroup
	both.Add(2)
	where := make([]unix.CPUSet, 2)
	err := p.Start(context.Background(), graph(2, nil, nil), func(w *Worker, _ int32) error {
		both.Done()
		both.Wait() // both workers are here at once
		return unix.SchedGetaffinity(0, &where[w.index])
	}).Wait()
	p.Close()
	if err != nil {
		t.Fatal(err)
	}
	for i := range where {
		if where[i].Count() != 1 {
			t.Errorf("worker %d may run on %d processors", i, where[i].Count())
		}
	}
	if before.Count() > 1 && where[0] == where[1] {
		t.Error("both workers are pinned to one processor")
	}
	for range 20 { // fresh goroutines, on whatever threads are left
		done := make(chan struct{})
		go func() {
			defer close(done)
			if unix.SchedGetaffinity(0, &after) == nil && after != before {
				t.Errorf("a thread of the process is bound to %d processors", after.Count())
			}
		}()
		<-done
	}
}
