package local_test

// These tests run plans on the engine and compare every value with the reference evaluator.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/trace"
)

// guard is how long tests wait for what must happen, and tasks before a failed one may take: only
// what hangs takes that long.
const guard = 2 * time.Minute

func parse(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse(text, enginetest.Table())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRandomPlansEqualTheEvaluator(t *testing.T) {
	for _, workers := range []int{1, 3} {
		pool := local.NewPool(workers)
		defer pool.Close()
		buffers := local.NewBufferPool(0)
		for seed := range uint64(20) {
			p := enginetest.Random(seed, 300, 1)
			o, err := enginetest.NewOracle(p)
			if err != nil {
				t.Fatal(err)
			}
			opts := local.EngineOptions{Env: &enginetest.Env{}, Observe: o.Observe, Buffers: buffers}
			if seed%3 == 0 {
				opts.Stats, opts.Trace = true, trace.New(0, workers)
			}
			r, err := local.RunPlan(context.Background(), pool, p, opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Err(); err != nil {
				t.Fatalf("seed %d, %d workers: %v", seed, workers, err)
			}
			if r.Tasks != p.Graph.Len() || r.Edges != p.Graph.NumEdges() || r.BytesReused == 0 || r.BytesLent == 0 {
				t.Errorf("seed %d: report %+v of %d tasks", seed, r, p.Graph.Len())
			}
		}
		if live := buffers.Stats().Live; live != 0 {
			t.Errorf("%d bytes are still lent", live)
		}
	}
}

// A result takes over the memory of what it accumulates into only when nobody else will read that.
func TestAccumulationInPlace(t *testing.T) {
	const chain = `
%0 = fill() {v=1.0} : f64[8,8]
%1 = fill() {v=2.0} : f64[8,8]
%2 = mac(%0, %1, %1) : f64[8,8]
%3 = mac(%2, %1, %1) : f64[8,8]
%4 = mac(%3, %1, %3) : f64[8,8]
%5 = total(%4) : f64
`
	pool := local.NewPool(1)
	defer pool.Close()
	p := parse(t, chain)
	o, err := enginetest.NewOracle(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Observe: o.Observe})
	if err != nil || o.Err() != nil {
		t.Fatal(err, o.Err())
	}
	// %2 and %3 take over; %4 reads %3 twice and copies.
	if want := int64(2 * 512); r.BytesReused != want || r.BytesLent != 3*512 {
		t.Errorf("%d bytes reused, want %d; %d lent, want %d", r.BytesReused, want, r.BytesLent, 3*512)
	}
}

// A view has no memory of its own, and what it is a view of is neither given back nor written
// before the view has had its last reader.
func TestViews(t *testing.T) {
	const text = `
%0 = fill() {v=1.0} : f64[8,8]
%1 = look(%0) : f64[8,8]
%2 = mac(%0, %0, %0) : f64[8,8]
%3 = look(%2) : f64[8,8]
%4 = mac(%2, %1, %1) : f64[8,8]
%5 = add(%1, %3) : f64[8,8]
%6 = look(%5) : f64[8,8]
%7 = total(%4) : f64
`
	for _, workers := range []int{1, 3} {
		pool := local.NewPool(workers)
		defer pool.Close()
		p := parse(t, text)
		o, err := enginetest.NewOracle(p)
		if err != nil {
			t.Fatal(err)
		}
		buffers := local.NewBufferPool(0)
		r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Observe: o.Observe, Buffers: buffers})
		if err != nil || o.Err() != nil {
			t.Fatal(err, o.Err())
		}
		// %0, %2 (of which a view lives), %4 (likewise, unless %5 has ended) and %5 take
		// memory; the views take none.
		if r.BytesLent > 4*512 || r.BytesLent < 3*512 {
			t.Errorf("%d bytes lent", r.BytesLent)
		}
		if live := buffers.Stats().Live; live != 0 {
			t.Errorf("%d bytes are still lent", live)
		}
	}
}

// A column of a matrix that is about to be made in place is a view, if nothing but the maker reads it
// and no other reader of the matrix is left.
func TestColumnsOfTakenMemory(t *testing.T) {
	const text = `
%0 = fill() {v=1.0} : f64[16,8]
%1 = lead(%0) : f64[16,1]
%2 = shift(%0, %1) : f64[16,8]
%3 = lead(%2) : f64[16,1]
%4 = shift(%2, %3) : f64[16,8]
%5 = add(%4, %2) : f64[16,8]
%6 = lead(%5) : f64[16,1]
%7 = shift(%5, %6) : f64[16,8]
%8 = add(%6, %6) : f64[16,1]
%9 = total(%7) : f64
%10 = total(%8) : f64
`
	for _, workers := range []int{1, 3} {
		pool := local.NewPool(workers)
		defer pool.Close()
		p := parse(t, text)
		o, err := enginetest.NewOracle(p)
		if err != nil {
			t.Fatal(err)
		}
		buffers := local.NewBufferPool(0)
		r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Observe: o.Observe, Buffers: buffers})
		if err != nil || o.Err() != nil {
			t.Fatal(err, o.Err())
		}
		// %2, %5 and %7 take over. Memory is lent for %0, %4, and two columns: %6, which another task reads,
		// and %8.
		if want := int64(3 * 1024); r.BytesReused != want || r.BytesLent != 2*1024+2*128 {
			t.Errorf("%d bytes reused, want %d; %d lent, want %d", r.BytesReused, want, r.BytesLent, 2*1024+2*128)
		}
		if live := buffers.Stats().Live; live != 0 {
			t.Errorf("%d bytes are still lent", live)
		}
	}
}

// What a view was a view of is given back when the view has had its last reader, not at the end of
// the run.
func TestViewsGiveBack(t *testing.T) {
	text := "%0 = fill() {v=1.0} : f64[8,8]\n"
	for k := range 20 {
		text += fmt.Sprintf("%%%d = look(%%%d) : f64[8,8]\n%%%d = total(%%%d) : f64\n%%%d = scale(%%%d, %%%d) : f64[8,8]\n",
			3*k+1, 3*k, 3*k+2, 3*k+1, 3*k+3, 3*k+1, 3*k+2)
	}
	pool := local.NewPool(1)
	defer pool.Close()
	buffers := local.NewBufferPool(0)
	if _, err := local.RunPlan(context.Background(), pool, parse(t, text), local.EngineOptions{Buffers: buffers}); err != nil {
		t.Fatal(err)
	}
	if peak := buffers.Stats().Peak; peak > 3*512 {
		t.Errorf("%d bytes at once, want those of two or three matrices", peak)
	}
}

func TestFirstFailureInProgramOrderIsReported(t *testing.T) {
	// The task that fails first on the clock is the last in the program; %1 fails after it, and
	// %2 fails only because it sleeps longest. %8 would fail too, but reads a failed task's
	// neighbour late.
	const text = `
%0 = fill() {v=5.0} : f64[2,2]
%1 = check(%0) {ms=20} : f64[2,2]
%2 = check(%1) {bad=true, ms=20} : f64[2,2] @3:9
%3 = check(%0) {bad=true, ms=10} : f64[2,2]
%4 = check(%0) {bad=true} : f64[2,2]
%5 = add(%4, %2) : f64[2,2]
`
	for _, workers := range []int{1, 2, 4} {
		pool := local.NewPool(workers)
		p := parse(t, text)
		buffers := local.NewBufferPool(0)
		_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Buffers: buffers, Grace: guard})
		var f *local.TaskFailure
		if !errors.As(err, &f) || f.Node != 2 || f.Unsettled {
			t.Fatalf("%d workers: %v, want the failure of task 2, the first for certain", workers, err)
		}
		if want := "check: check of 5 failed"; f.Message(p) != want {
			t.Errorf("message %q, want %q", f.Message(p), want)
		}
		if live := buffers.Stats().Live; live != 0 {
			t.Errorf("%d bytes are still lent after a failure", live)
		}
		pool.Close()
	}
}

// Of twenty seconds of tasks before the failed one no more runs than the grace allows, and what it
// takes to end them.
func TestGraceBoundsTheWaitForTasksBefore(t *testing.T) {
	const tasks = 2000
	var b strings.Builder
	fmt.Fprintln(&b, "%0 = fill() {v=5.0} : f64[2,2]")
	for i := 1; i < tasks; i++ {
		fmt.Fprintf(&b, "%%%d = check(%%%d) {ms=10} : f64[2,2]\n", i, i-1)
	}
	fmt.Fprintf(&b, "%%%d = check(%%0) {bad=true} : f64[2,2]\n", tasks)
	p := parse(t, b.String())
	pool := local.NewPool(2)
	defer pool.Close()
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Grace: 100 * time.Millisecond})
	var f *local.TaskFailure
	if !errors.As(err, &f) || f.Node != tasks || !f.Unsettled {
		t.Fatalf("%v, want the failure of task %d, before which another may exist", err, tasks)
	}
	if r.Tasks > tasks/2 { // about ten, on a machine at rest
		t.Errorf("%d tasks of 10 ms ran in a grace of 0.1 s", r.Tasks)
	}
}

func TestPanicIsABugOfOurs(t *testing.T) {
	p := parse(t, "%0 = fill() {v=5.0} : f64[2,2]\n%1 = crash() : f64[2,2]\n%2 = total(%0) : f64\n")
	pool := local.NewPool(1)
	defer pool.Close()
	_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{})
	var f *local.TaskFailure
	var pan *local.PanicError
	if !errors.As(err, &f) || f.Node != 1 || !errors.As(err, &pan) || !strings.Contains(err.Error(), "BUG") {
		t.Fatalf("%v, want a panic of task 1", err)
	}
}

// A task that gives up by itself is named, because its readers would run without its result.
func TestGivingUpIsABugOfOurs(t *testing.T) {
	p := parse(t, "%0 = fill() {v=5.0} : f64[2,2]\n%1 = quit() : f64[2,2]\n%2 = total(%1) : f64\n")
	pool := local.NewPool(1)
	defer pool.Close()
	_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{})
	var f *local.TaskFailure
	if !errors.As(err, &f) || f.Node != 1 || !strings.Contains(err.Error(), "BUG: quit has given up") {
		t.Fatalf("%v, want the failure of task 1", err)
	}
}

func TestMemoryLimitIsAFailureOfTheTask(t *testing.T) {
	p := parse(t, "%0 = fill() {v=5.0} : f64[2000,2000]\n%1 = total(%0) : f64\n")
	pool := local.NewPool(1)
	defer pool.Close()
	_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Buffers: local.NewBufferPool(1 << 20)})
	var f *local.TaskFailure
	if !errors.As(err, &f) || f.Node != 0 || !strings.Contains(err.Error(), "32 MiB are more than there is (1 MiB, the limit of the pool)") {
		t.Fatalf("%v, want the failure of task 0 for want of memory", err)
	}
}

// An allocation deep in a kernel that finds no memory is a failure of the run, not a bug of ours.
func TestPanicForWantOfMemoryIsAFailure(t *testing.T) {
	p := parse(t, "%0 = fill() {v=5.0} : f64[2,2]\n%1 = starve() : f64[2,2]\n%2 = total(%1) : f64\n")
	pool := local.NewPool(1)
	defer pool.Close()
	_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{})
	var task *local.TaskFailure
	var failure *op.Failure
	if !errors.As(err, &task) || task.Node != 1 || !errors.As(err, &failure) || failure.Code != "E605" ||
		!strings.Contains(failure.Msg, "512 PiB are more than there is (") {
		t.Errorf("%v, want the failure of task 1 for want of memory", err)
	}
}

// The tenth task cancels the run: each worker may begin one more before it looks.
func TestCancellation(t *testing.T) {
	const tasks, workers = 1000, 2
	var b strings.Builder
	for i := range tasks {
		fmt.Fprintf(&b, "%%%d = sleep() {us=1000} : i64\n", i)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pool := local.NewPool(workers)
	defer pool.Close()
	var ran atomic.Int32
	r, err := local.RunPlan(ctx, pool, parse(t, b.String()), local.EngineOptions{Observe: func(ir.ID, value.Value) {
		if ran.Add(1) == 10 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Tasks < 10 || r.Tasks > 10+workers {
		t.Fatalf("%v after %d tasks", err, r.Tasks)
	}
}

// Progress is told while tasks run, and once more at the end.
func TestProgressIsToldMeanwhile(t *testing.T) {
	told := make(chan struct{})
	calls := 0
	pool := local.NewPool(1)
	defer pool.Close()
	_, err := local.RunPlan(context.Background(), pool, parse(t, "%0 = one() : i64\n%1 = one() : i64\n"), local.EngineOptions{
		Observe: func(id ir.ID, _ value.Value) {
			if id == 1 { // ends when the first progress was told
				select {
				case <-told:
				case <-time.After(guard):
				}
			}
		},
		OnProgress: func(p local.Progress) {
			done, total := p.Done, p.Total
			if calls++; calls == 1 {
				if done != 1 || total != 2 {
					t.Errorf("%d of %d in the middle", done, total)
				}
				close(told)
			}
		}})
	if err != nil || calls < 2 {
		t.Errorf("%v, progress was told %d times", err, calls)
	}
}

func TestCallsAndProgress(t *testing.T) {
	p := parse(t, `
call 1 outer @1:5 in 0
call 2 inner @2:3 in 1
%0 = sleep() {us=2000} : i64
%1 = sleep() {us=2000} : i64 call 1
%2 = sleep() {us=4000} : i64 call 2
`)
	pool := local.NewPool(1)
	defer pool.Close()
	last := [2]int{}
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Stats: true,
		OnProgress: func(p local.Progress) { last = [2]int{p.Done, p.Total} }})
	if err != nil {
		t.Fatal(err)
	}
	if last != [2]int{3, 3} {
		t.Errorf("last progress %v", last)
	}
	if len(r.Calls) != 2 || r.Calls[0].Name != "outer" || r.Calls[0].Tasks != 2 || r.Calls[1].Tasks != 1 {
		t.Fatalf("calls %+v", r.Calls)
	}
	outer, inner := r.Calls[0], r.Calls[1]
	if w := outer.Last - outer.First; w < 0.006 || w > r.Seconds || inner.First < outer.First || inner.Last > outer.Last ||
		outer.Flops != 20 || inner.Flops != 10 || r.Flops != 30 || inner.Busy < 0.004 {
		t.Errorf("outer %+v inner %+v run %v s, %v flops", outer, inner, r.Seconds, r.Flops)
	}
}

// A constant is there from the start: it does not make the call that it stands in begin.
func TestConstantsDoNotBeginCalls(t *testing.T) {
	p := parse(t, `
call 1 work @1:5 in 0
%0 = known() : i64 call 1
%1 = sleep() {us=2000} : i64
%2 = sleep() {us=2000} : i64 call 1
`)
	pool := local.NewPool(1)
	defer pool.Close()
	r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Stats: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) != 1 || r.Calls[0].First < 0.002 {
		t.Errorf("the call begins before its work: %+v", r.Calls)
	}
}

// A million tasks must not cost much more than the executor itself.
func BenchmarkEngine(b *testing.B) {
	var s strings.Builder
	s.WriteString("%0 = fill() {v=5.0} : f64[1,1]\n%1 = fill() {v=1.0} : f64[1,1]\n")
	const n = 100000
	for i := 2; i < n; i++ {
		fmt.Fprintf(&s, "%%%d = mac(%%%d, %%1, %%1) : f64[1,1]\n", i, i-1)
	}
	p, err := plan.Parse(s.String(), enginetest.Table())
	if err != nil {
		b.Fatal(err)
	}
	pool := local.NewPool(1)
	defer pool.Close()
	for _, stats := range []bool{false, true} {
		b.Run(fmt.Sprintf("stats=%v", stats), func(b *testing.B) {
			for b.Loop() {
				if _, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Stats: stats}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
	}
}
