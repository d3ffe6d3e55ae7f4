package local

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/local/enginetest"
	"flow/runtime/schedule"
)

// rounds is a plan that goes through kinds loops of different lengths, two of each, again and
// again.
func rounds(t *testing.T, kinds, times int) *plan.Plan {
	t.Helper()
	var s, body strings.Builder
	var in, args, types []string
	n := 0
	for k := range kinds {
		typ := fmt.Sprintf("f64[1,%d]", 20+7*k)
		fmt.Fprintf(&s, "%%%d = fill() {v=%d.0} : %s\n", k, k, typ)
		fmt.Fprintf(&body, "    %%%d = arg() : %s\n", k, typ)
		in, args, types = append(in, fmt.Sprintf("%%%d", k)), append(args, fmt.Sprintf("%%%d", k)), append(types, typ)
		n++
	}
	var yields []string
	for k := range kinds {
		fmt.Fprintf(&body, "    %%%d = add(%%%d, %%%d) : %s\n    %%%d = add(%%%d, %%%d) : %s\n", n, k, k, types[k], n+1, n, k, types[k])
		yields = append(yields, fmt.Sprintf("%%%d", n+1))
		n += 2
	}
	fmt.Fprintf(&s, "%%%d = iterate(%s) {carry=%d, times=%d} : (%s)\n  region {\n%s    args %s\n    yield %s\n  }\n", kinds, strings.Join(in, ", "), kinds, times,
		strings.Join(types, ", "), body.String(), strings.Join(args, " "), strings.Join(yields, " "))
	for k := range kinds {
		fmt.Fprintf(&s, "%%%d = part(%%%d) {at=%d} : %s\n", kinds+1+2*k, kinds, k, types[k])
		fmt.Fprintf(&s, "%%%d = total(%%%d) : f64\n", kinds+2+2*k, kinds+1+2*k)
	}
	p, err := plan.Parse(s.String(), enginetest.Table())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Loops that learn nothing take over what others have used that are cut alike, more kinds of them
// than a worker keeps too; those that learn keep their own. The results are the evaluator's, and
// each task's executions are numbered by themselves.
func TestLoopsUseStatesAgain(t *testing.T) {
	const kinds, times = idleLoops + 4, 9 // all numbers stay exact
	p := rounds(t, kinds, times)
	for _, workers := range []int{1, 4} {
		pool := NewPool(workers)
		defer pool.Close()
		for _, name := range []string{"GSS", "SS", "StaticSteal", "AWF-C", "COST", "FSC", "AUTO"} {
			for _, stats := range []bool{true, false} {
				tech, err := schedule.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				o, err := enginetest.NewOracle(p)
				if err != nil {
					t.Fatal(err)
				}
				e, err := NewEngine(p, EngineOptions{Env: &enginetest.Env{}, Observe: o.Observe, Schedule: schedule.Plan{Technique: tech, Layout: schedule.Layout(workers % 3)}, Stats: stats})
				if err != nil {
					t.Fatal(err)
				}
				e.Start(context.Background(), pool)
				r, err := e.Wait()
				if err == nil {
					err = o.Err()
				}
				if err != nil {
					t.Fatalf("%s on %d workers: %v", name, workers, err)
				}
				statesOf(t, e, name, kinds, workers)
				if stats {
					numbered(t, r, kinds, times)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Of loops that have another length each time few states are kept, of the last ones.
func TestFewStatesAreKept(t *testing.T) {
	e := &Engine{scratch: make([]workerState, 1)}
	s := &e.scratch[0]
	for units := range 10 * spareLoops {
		l := &nodeLoop{cut: cut{units: units}}
		e.rest(s, l)
		if e.unused(s, cut{units: units}) != l || e.unused(s, cut{units: units}) != nil {
			t.Fatalf("the state of %d units is not there once", units)
		}
		e.rest(s, l)
		if n := int(e.spares.Load()); n > spareLoops || len(s.idle) > idleLoops {
			t.Fatalf("%d states are spare, %d idle", n, len(s.idle))
		}
	}
	last := 10*spareLoops - 1
	if l := e.unused(s, cut{units: last - idleLoops}); l == nil || e.unused(s, cut{units: 0}) != nil {
		t.Error("what was put aside last is not there, or what was put aside first is")
	}
}

// statesOf checks which states an engine has made: of each task its own, or few in all, none of
// them twice.
func statesOf(t *testing.T, e *Engine, name string, kinds, workers int) {
	t.Helper()
	seen := map[*nodeLoop]bool{}
	note := func(l *nodeLoop) {
		if seen[l] {
			t.Fatalf("%s: a state is unused twice", name)
		}
		seen[l] = true
	}
	own, spare := 0, 0
	for _, l := range e.loops {
		if l != nil {
			own++
		}
	}
	for i := range e.scratch {
		for _, l := range e.scratch[i].idle {
			note(l)
		}
	}
	for _, list := range e.spare {
		for _, l := range list {
			spare++
			note(l)
		}
	}
	if int(e.spares.Load()) != spare {
		t.Errorf("%s: %d spare, %d counted", name, spare, e.spares.Load())
	}
	switch name {
	case "GSS", "SS", "StaticSteal":
		// Of each kind one for each worker that has one under way, and what the others keep
		// meanwhile.
		if own != 0 || len(seen) < kinds || len(seen) > kinds*workers+idleLoops*workers {
			t.Errorf("%s on %d workers: %d own states, %d others", name, workers, own, len(seen))
		}
	default:
		if own < 2*kinds || len(seen) != 0 {
			t.Errorf("%s on %d workers: %d own states, %d others", name, workers, own, len(seen))
		}
	}
}

// numbered checks that the executions of each task are 0, 1, 2 and so on: in all rounds two
// additions of a length, and one sum at the end.
func numbered(t *testing.T, r *Report, kinds, times int) {
	t.Helper()
	type execution struct {
		op    string
		n     int64
		round int32
	}
	count := map[execution]int{}
	for i := range r.Loops {
		l := &r.Loops[i]
		count[execution{l.Op, l.N, l.Round}]++
	}
	for k := range kinds {
		n := int64(20 + 7*k)
		for round := range times {
			if c := count[execution{"add", n, int32(round)}]; c != 2 {
				t.Errorf("%d additions of %d elements are of round %d, want 2", c, n, round)
			}
		}
		if c := count[execution{"total", n, 0}]; c != 1 {
			t.Errorf("%d sums of %d elements, want 1", c, n)
		}
	}
	if want := kinds * (2*times + 1); len(r.Loops) != want {
		t.Errorf("%d loops on record, want %d", len(r.Loops), want)
	}
}

// Runs that follow each other do not each begin a collection, though each has a pool of its own.
func TestRunsShareTheBallast(t *testing.T) {
	p := rounds(t, 2, 2)
	run := func() {
		pool := NewPool(1)
		defer pool.Close()
		if _, err := RunPlan(context.Background(), pool, p, EngineOptions{Env: &enginetest.Env{}}); err != nil {
			t.Fatal(err)
		}
	}
	run()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		run()
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("100 small runs allocate %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestGrouped: a leaf becomes whole groups if each worker gets enough of them, or if there is only one.
// Otherwise it becomes whole leasts.
func TestGrouped(t *testing.T) {
	c := &op.Call{Def: &op.Def{Loop: &op.Loop{Group: func(*op.Call) (int, int) { return 24, 8 }}}}
	for _, x := range []struct{ n, leaf, workers, want int }{{1000, 15, 2, 24}, {1000, 30, 2, 48}, {1000, 15, 6, 16}, {1000, 15, 64, 16}, {60, 15, 1, 24}, {60, 15, 2, 16}} {
		if got := grouped(c, x.n, x.leaf, x.workers); got != x.want {
			t.Errorf("leaves of %d for %d workers are %d, not %d", x.leaf, x.workers, got, x.want)
		}
	}
}
