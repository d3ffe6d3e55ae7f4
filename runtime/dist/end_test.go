package dist

// These tests end runs early: by an interruption, the death of a rank, a lost message.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/trace"
)

// slow is a plan of which every rank does something for so many hundredths of a second.
func slow(ranks, tasks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan ranks %d\nown", ranks)
	for i := range tasks * ranks {
		fmt.Fprintf(&b, " %d", i%ranks)
	}
	b.WriteString("\n")
	for i := range tasks * ranks {
		fmt.Fprintf(&b, "%%%d = sleep() {us=10000} : i64\n", i)
	}
	return b.String()
}

// onceAllRun is what each of so many ranks observes: f is called when all have finished a task, and
// tasks counts them.
func onceAllRun(ranks int, tasks *atomic.Int32, f func()) func(rank int) func(ir.ID, value.Value) {
	var begun atomic.Int32
	return func(int) func(ir.ID, value.Value) {
		var first sync.Once
		return func(ir.ID, value.Value) {
			tasks.Add(1)
			first.Do(func() {
				if begun.Add(1) == int32(ranks) {
					f()
				}
			})
		}
	}
}

// Of ten seconds of tasks little runs after the interruption, and the ranks end together however
// long it takes.
func TestInterruptionEndsAllRanks(t *testing.T) {
	const ranks, tasks = 4, 1000
	comms := mem.New(ranks, mem.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int32
	observe := onceAllRun(ranks, &ran, cancel)
	report, err := RunGroup(ctx, comms, parse(t, slow(ranks, tasks)), 1, func(rank int) Options {
		return Options{Trace: trace.New(rank, 1), Observe: observe(rank), patience: 2 * guard}
	})
	if f, ok := err.(*Failure); !ok || !errors.Is(err, context.Canceled) || !f.Clean {
		t.Errorf("the error is %v", err)
	}
	if n := ran.Load(); n > ranks*tasks/2 {
		t.Errorf("%d of %d tasks ran", n, ranks*tasks)
	}
	if report == nil || len(report.Recordings) != ranks || len(report.Ranks) != ranks {
		t.Errorf("not all ranks report what they have done until then: %+v", report)
	}
	closeAll(t, comms)
}

// TestStoppedEngineIsABug: an engine that stops in the middle of a task reports nothing. It ends the
// run of all ranks as a bug in Flow.
func TestStoppedEngineIsABug(t *testing.T) {
	const ranks = 3
	comms := mem.New(ranks, mem.Options{})
	within(t, func() {
		_, err := RunGroup(context.Background(), comms, parse(t, slow(ranks, 3)), 1, func(rank int) Options {
			return Options{Observe: func(ir.ID, value.Value) {
				if rank == 1 {
					panic("BUG: nobody observes")
				}
			}}
		})
		if f, ok := err.(*Failure); !ok || f.Code != "B001" || !strings.Contains(f.Error(), "BUG: nobody observes") {
			t.Errorf("the error is %v", err)
		}
	})
}

// deaf loses the control messages that its rank sends once lost is set.
type deaf struct {
	transport.Comm
	lost *atomic.Bool
}

func (d *deaf) Isend(ch transport.Channel, to, tag int, buf []byte) transport.Request {
	if ch == transport.Control && d.lost.Load() {
		ch, tag = transport.Data, 32000 // nobody receives that
	}
	return d.Comm.Isend(ch, to, tag, buf)
}

// The other ranks do not wait for ever for a rank that ends unheard: the error says what they wait
// for, and which rank has ended.
func TestUnheardRankIsAStandstill(t *testing.T) {
	for _, c := range []struct {
		bad  int
		want string
	}{
		{0, "rank 1 has left the run"}, // its engine stops
		{1, "the engine of rank 1 has stopped"},
	} {
		text := fmt.Sprintf(`plan ranks 2
own 1 1 1 0
%%0 = fill() {v=1} : f64[2,2]
%%1 = check(%%0) {bad=%d} : f64[2,2]
%%2 = exchange(%%1) {to=[0]} : f64[2,2]
%%3 = check(%%2) : f64[2,2]
`, c.bad)
		comms, lost := mem.New(2, mem.Options{}), new(atomic.Bool)
		comms[1] = &deaf{Comm: comms[1], lost: lost}
		within(t, func() {
			_, err := RunGroup(context.Background(), comms, parse(t, text), 1, func(rank int) Options {
				return Options{Observe: func(ir.ID, value.Value) {
					if rank == 1 {
						if lost.Store(true); c.bad == 0 {
							panic("BUG: nobody observes")
						}
					}
				}}
			})
			if err == nil || !strings.Contains(err.Error(), "all ranks are idle, "+c.want+", and these receives are open: rank 0: %2") {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

// The others know of a death long before their ten seconds of tasks are over.
func TestDeathIsNamed(t *testing.T) {
	const ranks, tasks = 4, 1000
	for _, dead := range []int{0, 2} {
		g := mem.NewGroup(ranks, mem.Options{Faults: mem.Faults{Notice: 5 * time.Millisecond}})
		comms := make([]transport.Comm, ranks)
		for i := range comms {
			comms[i] = g.Comm(i)
		}
		var ran atomic.Int32
		observe := onceAllRun(ranks, &ran, func() { go g.Kill(dead) })
		for rank, err := range runAll(context.Background(), comms, parse(t, slow(ranks, tasks)), func(rank int) Options {
			return Options{Observe: observe(rank)}
		}) {
			var d *DeathError
			if !errors.As(err, &d) || d.Rank != dead || err.(*Failure).Clean || err.(*Failure).Code != "E702" {
				t.Errorf("rank %d: %v, want the death of rank %d", rank, err, dead)
			}
		}
		if n := ran.Load(); n > ranks*tasks/2 {
			t.Errorf("%d of %d tasks ran", n, ranks*tasks)
		}
	}
}

// Of a run that a rank's death has ended, rank 0 has what it recorded itself.
func TestDeathLeavesTheTraceOfRankZero(t *testing.T) {
	g := mem.NewGroup(2, mem.Options{Faults: mem.Faults{Notice: 5 * time.Millisecond}})
	var reports [2]*Report
	var all sync.WaitGroup
	var kill sync.Once
	for rank := range 2 {
		all.Go(func() {
			pool := local.NewPool(1)
			defer pool.Close()
			reports[rank], _ = Run(context.Background(), g.Comm(rank), pool, parse(t, slow(2, 1000)), Options{Trace: trace.New(rank, 1),
				Observe: func(ir.ID, value.Value) {
					if rank == 0 {
						kill.Do(func() { g.Kill(1) })
					}
				}})
		})
	}
	all.Wait()
	if r := reports[0]; r == nil || len(r.Recordings) != 1 || r.Recordings[0].Rank != 0 || !recorded(r.Recordings[0]) {
		t.Errorf("rank 0 reports %+v", r)
	}
}

// recorded reports whether there is an event in rec.
func recorded(rec *trace.Recording) bool {
	for i := range rec.Tracks {
		for range rec.Tracks[i].Events() {
			return true
		}
	}
	return false
}

func TestLostMessageEndsTheRun(t *testing.T) {
	comms := mem.New(3, mem.Options{Faults: mem.Faults{Seed: 1, Loss: 0.2}})
	within(t, func() {
		failed := false
		for _, err := range runAll(context.Background(), comms, enginetest.Random(9, 300, 3), func(int) Options {
			return Options{Env: &enginetest.Env{}}
		}) {
			failed = failed || err != nil
		}
		if !failed {
			t.Error("no rank noticed")
		}
	})
}
