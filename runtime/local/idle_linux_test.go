package local

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestIdlePoolUsesNoProcessor measures the process's own CPU time, between runs and inside a run that waits for an input.
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
		time.Sleep(20 * time.Millisecond) // longer than any spin
		before := cpu()
		time.Sleep(200 * time.Millisecond)
		if used := cpu() - before; used > 20*time.Millisecond {
			t.Errorf("%s: an idle pool used %v of CPU time in 200ms", where, used)
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
