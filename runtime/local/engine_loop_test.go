package local_test

// These tests run plans whose rows have loops, under every technique, layout and victim.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// TestLoopsEqualTheEvaluator runs random plans; each technique gets other layouts, victims and
// grains in turn.
func TestLoopsEqualTheEvaluator(t *testing.T) {
	techniques := append(schedule.Techniques(), *lookup(t, "expr: max(1, R/(2*P) - i % 3)"))
	for workers := 1; workers <= 8; workers++ {
		pool := local.NewPool(workers)
		defer pool.Close()
		for k := range techniques {
			if testing.Short() && (k+workers)%4 != 0 {
				continue
			}
			i := k + 3*workers
			plan := schedule.Plan{Technique: &techniques[k], Layout: schedule.Layout(i % 3), Victim: schedule.Victim(i / 3 % 4),
				PrePartition: i/12%2 == 0, Grain: i % 3, Seed: uint64(i)}
			p := enginetest.Random(uint64(i), 150, 1)
			o, err := enginetest.NewOracle(p)
			if err != nil {
				t.Fatal(err)
			}
			opts := local.EngineOptions{Env: &enginetest.Env{}, Observe: o.Observe, Schedule: plan, Stats: i%2 == 0}
			r, err := local.RunPlan(context.Background(), pool, p, opts)
			if err == nil {
				err = o.Err()
			}
			if err != nil {
				t.Fatalf("%s %v %v on %d workers: %v", plan.Technique.Name, plan.Layout, plan.Victim, workers, err)
			}
			if opts.Stats && len(r.Loops) == 0 {
				t.Error("no loop was recorded")
			}
			for i := range r.Loops {
				covered(t, &r.Loops[i])
			}
		}
	}
}

func lookup(t *testing.T, name string) *schedule.Technique {
	t.Helper()
	tech, err := schedule.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return tech
}

// covered checks that the chunks of a loop cover it once, in leaves, and that times are in order.
func covered(t *testing.T, l *trace.LoopRecord) {
	t.Helper()
	seen := make([]bool, l.N)
	last := map[int32]int64{}
	for _, c := range l.Chunks {
		for i := c.Lo; i < c.Hi; i++ {
			if seen[i] {
				t.Fatalf("iteration %d was done twice: %+v", i, l)
			}
			seen[i] = true
		}
		if c.Lo%l.Leaf != 0 || c.Hi%l.Leaf != 0 && c.Hi != l.N {
			t.Errorf("chunk %+v divides a leaf of %d", c, l.Leaf)
		}
		if c.Asked > c.Start || c.Start > c.End || c.Asked < last[c.Worker] || c.Asked < l.Start || c.End > l.End {
			t.Errorf("chunk %+v after %d, loop %d to %d", c, last[c.Worker], l.Start, l.End)
		}
		last[c.Worker] = c.End
	}
	for i, s := range seen {
		if !s && !l.Failed {
			t.Fatalf("iteration %d was not done: %+v", i, l)
		}
	}
}

const big = "%0 = fill() {v=0.0} : f64[1000,70]\n"

// Of all chunks that fail the first in the order of iterations is reported, whoever ran it when.
func TestFirstFailingChunk(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		pool := local.NewPool(workers)
		for _, name := range []string{"SS", "STATIC", "StaticSteal", "GSS"} {
			for layout := range schedule.Layout(3) {
				p := parse(t, big+"%1 = picky(%0) {bad=50001.0, worse=[20000,60000,69999]} : f64[1000,70]\n%2 = total(%1) : f64\n")
				_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Schedule: schedule.Plan{Technique: lookup(t, name), Layout: layout}, Grace: guard})
				if err == nil || !strings.Contains(err.Error(), "element 20000 is worse") {
					t.Errorf("%s %v on %d workers: %v", name, layout, workers, err)
				}
			}
		}
		pool.Close()
	}
}

// Chunks after the bad one take a millisecond each, ten seconds together: time for the worker of
// the bad one to tell, should the system not let it run.
func TestLoopStopsAtTheNextChunk(t *testing.T) {
	pool := local.NewPool(2)
	defer pool.Close()
	opts := local.EngineOptions{Schedule: schedule.Plan{Technique: lookup(t, "SS")}}
	enginetest.Chunks.Store(0)
	_, err := local.RunPlan(context.Background(), pool, parse(t, big+"%1 = picky(%0) {bad=70.0, after=1000} : f64[1000,70]\n%2 = total(%1) : f64\n"), opts)
	if n := enginetest.Chunks.Load(); err == nil || n > 5000 {
		t.Errorf("%v after %d of 10000 chunks", err, n)
	}
	_, err = local.RunPlan(context.Background(), pool, parse(t, big+"%1 = picky(%0) {terrible=70.0} : f64[1000,70]\n%2 = total(%1) : f64\n"), opts)
	var pan *local.PanicError
	if !errors.As(err, &pan) || !strings.Contains(err.Error(), "BUG: panic: terrible") {
		t.Errorf("%v, want the panic", err)
	}
}

// An expression that fails late in a loop fails the task.
func TestExpressionThatEnds(t *testing.T) {
	pool := local.NewPool(2)
	defer pool.Close()
	for _, expr := range []string{"expr: 5000 - i", "expr: R - 100", "expr: log(i - 1)"} {
		opts := local.EngineOptions{Schedule: schedule.Plan{Technique: lookup(t, expr)}, Grace: guard}
		r, err := local.RunPlan(context.Background(), pool, parse(t, "%0 = fill() {v=0.0} : f64[100,8000]\n%1 = add(%0, %0) : f64[100,8000]\n%2 = total(%1) : f64\n"), opts)
		if expr == "expr: 5000 - i" { // long enough a loop ends before the expression does
			if err != nil {
				t.Errorf("%s: %v", expr, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "expr") || r.Tasks > 1 {
			t.Errorf("%s: %v, %d tasks", expr, err, r.Tasks)
		}
	}
}

// A node's own schedule and grain go before those of the run.
func TestScheduleOfANode(t *testing.T) {
	pool := local.NewPool(2)
	defer pool.Close()
	p := parse(t, big+"%1 = add(%0, %0) : f64[1000,70]\n%2 = add(%0, %0) {grain=15, schedule=\"ss\"} : f64[1000,70]\n%3 = total(%1) : f64\n%4 = total(%2) : f64\n")
	rec := trace.New(0, 2)
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Schedule: schedule.Plan{Technique: lookup(t, "GSS")}, Trace: rec, Stats: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[int32]string{}
	for i := range r.Loops {
		l := &r.Loops[i]
		covered(t, l)
		first := l.Chunks[0] // of those recorded; which worker's comes first is chance
		for _, c := range l.Chunks {
			if c.Lo < first.Lo {
				first = c
			}
		}
		got[l.Node] = fmt.Sprint(l.Technique, " ", first.Hi-first.Lo)
	}
	if got[1] != "GSS 35000" || got[2] != "SS 21" {
		t.Errorf("%v", got)
	}
	if n := len(rec.Recording().Loops); n != len(r.Loops) {
		t.Errorf("%d loops in the trace, %d in the report", n, len(r.Loops))
	}
	s := trace.Summarise(rec.Recording())
	if s.Total.Tasks != 5 {
		t.Errorf("%d tasks in the trace", s.Total.Tasks)
	}
}

// The groups of the pool are those of the queues: of two groups each has a half of the loop, so its
// first chunk is half as large.
func TestGroupsOfThePool(t *testing.T) {
	pool := local.NewPool(2)
	defer pool.Close()
	p := parse(t, big+"%1 = add(%0, %0) : f64[1000,70]\n%2 = total(%1) : f64\n")
	first := func(groups ...int) int64 {
		local.Regroup(pool, groups...)
		plan := schedule.Plan{Technique: lookup(t, "AWF"), Layout: schedule.PerGroup}
		r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Schedule: plan, Stats: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Loops {
			if l := &r.Loops[i]; l.Node == 1 {
				covered(t, l)
				for _, c := range l.Chunks {
					if c.Lo == 0 {
						return (c.Hi + l.Leaf - 1) / l.Leaf
					}
				}
			}
		}
		t.Fatal("no chunk begins the loop")
		return 0
	}
	if one, two := first(0, 0), first(0, 1); two != (one+1)/2 {
		t.Errorf("the first chunk has %d leaves with one group, %d with two", one, two)
	}
}
