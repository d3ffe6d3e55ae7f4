package local_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/local"
)

// TestGathersStartFirst: a rank starts a gather as soon as its rows are there, before other tasks that
// are ready. The one worker also has %2 to %4 to run, which are as urgent as the task that makes the
// rows.
func TestGathersStartFirst(t *testing.T) {
	p := parse(t, "%0 = fill() {v=3.0} : f64[8,2]\n%1 = add(%0, %0) {ranks=2, shared=8} : f64[8,2]\n"+
		"%2 = neg(%0) : f64[8,2]\n%3 = neg(%2) : f64[8,2]\n%4 = neg(%3) : f64[8,2]\n"+
		"%5 = gather(%1) {key=0} : f64[8,2]\n%6 = add(%5, %4) : f64[8,2]\n")
	p.Ranks, p.Owner, p.Prio = 2, slices.Repeat([]int32{plan.Everywhere}, 7), []int32{9, 9, 8, 8, 8, 7, 1}
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	e, err := local.NewEngine(p, local.EngineOptions{
		Remote: &local.Remote{
			Sends:   func(ir.ID) int { return 0 },
			Idle:    func(time.Duration, bool) bool { return false },
			Between: func(int64) {},
			Failed:  func(f *local.TaskFailure) { t.Error(f) },
			Gather: func(_ int, d *value.Dense, finished func()) {
				note("gather")
				d.View(4, 0, 4, 2).CopyFrom(d.View(0, 0, 4, 2))
				finished()
			},
		},
		Observe: func(id ir.ID, _ value.Value) { note(string(rune('0' + id))) },
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := local.NewPool(1)
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	e.Start(ctx, pool)
	if _, err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if at := slices.Index(order, "gather"); at < 0 || at != slices.Index(order, "1")+1 {
		t.Errorf("the order is %q, and the gather starts at %d", order, at)
	}
}
