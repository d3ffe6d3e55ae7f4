package local

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guard is how long tests wait for what must happen: hundreds of times what it takes on a machine
// at rest, so that it ends only what hangs.
const guard = 2 * time.Minute

// checked returns a Body that verifies what the executor promises: once, and after all
// predecessors.
func checked(t *testing.T, d *DAG) (Body, func()) {
	done := make([]atomic.Int32, d.N)
	preds := make([][]int32, d.N)
	for i := range d.N {
		for _, s := range d.Succ[d.SuccOff[i]:d.SuccOff[i+1]] {
			preds[s] = append(preds[s], int32(i))
		}
	}
	plain := make([]int, d.N) // written without atomics: the race detector checks the happens-before edges
	body := func(w *Worker, k int32) error {
		sum := 1
		for _, p := range preds[k] {
			if done[p].Load() != 1 {
				t.Errorf("task %d ran before its predecessor %d", k, p)
			}
			sum += plain[p] & 1
		}
		plain[k] = sum | 1
		if done[k].Add(1) != 1 {
			t.Errorf("task %d ran twice", k)
		}
		return nil
	}
	return body, func() {
		t.Helper()
		for i := range done {
			if done[i].Load() != 1 {
				t.Fatalf("task %d ran %d times", i, done[i].Load())
			}
		}
	}
}

func TestRandomGraphs(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for workers := 1; workers <= 8; workers++ {
		p := NewPool(workers)
		for i := range rounds {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(workers)))
			n := 1 + rng.IntN(2000)
			d := random(n, rng.IntN(5), 1+rng.IntN(n), i%2 == 0, uint64(i))
			for range 2 { // the second run uses cached data
				body, verify := checked(t, d)
				if err := p.Start(context.Background(), d, body).Wait(); err != nil {
					t.Fatalf("workers=%d round %d: %v", workers, i, err)
				}
				verify()
			}
		}
		p.Close()
	}
}

// TestSatisfy runs graphs whose tasks also wait for inputs from outside, brought by two goroutines
// and by Idle.
func TestSatisfy(t *testing.T) {
	for _, polled := range []bool{false, true} {
		for workers := 1; workers <= 4; workers++ {
			p := NewPool(workers)
			for seed := range uint64(20) {
				d := random(500, 3, 100, seed%2 == 0, seed)
				rng := rand.New(rand.NewPCG(seed, 9))
				var inputs []int32
				for k := range d.N {
					for range rng.IntN(3) {
						d.Waits[k]++
						inputs = append(inputs, int32(k))
					}
				}
				rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
				body, verify := checked(t, d)
				var r *Run
				var o Options
				var next atomic.Int64
				ready := make(chan struct{})
				if polled {
					o.Idle = func(time.Duration, bool) bool {
						<-ready
						if i := next.Add(1) - 1; i < int64(len(inputs)) {
							r.Satisfy(inputs[i])
							return true
						}
						return false
					}
				}
				r = p.Start(context.Background(), d, body, o)
				close(ready)
				var all sync.WaitGroup
				if !polled {
					for h := range 2 {
						all.Go(func() {
							for i := h; i < len(inputs); i += 2 {
								if i%50 == 0 {
									time.Sleep(50 * time.Microsecond) // let workers fall asleep
								}
								r.Satisfy(inputs[i])
							}
						})
					}
				}
				if err := r.Wait(); err != nil {
					t.Fatal(err)
				}
				all.Wait()
				verify()
			}
			p.Close()
		}
	}
}

// TestManySmallRuns looks for lost wake-ups: each run ends before or after workers fall asleep, by
// all ways a run can end.
func TestManySmallRuns(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, spin := range []time.Duration{-1, 20 * time.Microsecond} {
		p := NewPool(4, PoolOptions{Spin: spin})
		graphs := []*DAG{chain(3), fan(6), fan(40), graph(1, nil, nil), random(30, 2, 10, true, 1), wavefront(4)}
		steals := 0
		for i := range rounds {
			d := graphs[i%len(graphs)]
			ctx, cancel := context.WithTimeout(context.Background(), guard)
			var ran atomic.Int32
			r := p.Start(ctx, d, func(_ *Worker, k int32) error {
				if i%5 == 0 {
					runtime.Gosched()
				}
				if i%11 == 0 && k == 2 {
					return errors.New("stop")
				}
				ran.Add(1)
				return nil
			})
			err := r.Wait()
			cancel()
			if i%11 == 0 && d.N > 2 {
				if err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("round %d: %v", i, err)
				}
			} else if err != nil || int(ran.Load()) != d.N || r.Finished() != d.N {
				t.Fatalf("round %d: %v after %d of %d tasks", i, err, ran.Load(), d.N)
			}
			steals += r.Steals()
			if i%100 == 0 {
				time.Sleep(200 * time.Microsecond)
			}
		}
		p.Close()
		if steals == 0 {
			t.Error("nobody ever stole")
		}
	}
}

func TestErrorStopsTheRun(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	cause := errors.New("no such tile")
	var after atomic.Int32
	d := chain(1000)
	err := p.Start(context.Background(), d, func(_ *Worker, k int32) error {
		if k == 500 {
			return cause
		}
		if k > 500 {
			after.Add(1)
		}
		return nil
	}).Wait()
	var te *TaskError
	if !errors.As(err, &te) || te.Task != 500 || !errors.Is(err, cause) {
		t.Errorf("error %v, want task 500: %v", err, cause)
	}
	if after.Load() != 0 {
		t.Errorf("%d tasks ran after their predecessor failed", after.Load())
	}
	// Tasks 0 and 1 are in flight together and both fail; whoever is first, task 0 is reported.
	for round := range 20 {
		var both sync.WaitGroup
		both.Add(2)
		err = p.Start(context.Background(), graph(2, nil, nil), func(_ *Worker, k int32) error {
			both.Done()
			both.Wait()
			if int(k) == round%2 {
				time.Sleep(100 * time.Microsecond)
			}
			return cause
		}).Wait()
		if !errors.As(err, &te) || te.Task != 0 {
			t.Fatalf("error %v, want that of task 0", err)
		}
	}
	body, verify := checked(t, d)
	if err := p.Start(context.Background(), d, body).Wait(); err != nil {
		t.Fatalf("the pool is broken after failed runs: %v", err)
	}
	verify()
}

func TestPanicAndGoexit(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for name, fault := range map[string]func(){
		"panic":  func() { var none []int; none[len(none)]++ },
		"goexit": runtime.Goexit,
	} {
		err := p.Start(context.Background(), chain(100), func(_ *Worker, k int32) error {
			if k == 42 {
				fault()
			}
			return nil
		}).Wait()
		var te *TaskError
		if !errors.As(err, &te) || te.Task != 42 || !strings.Contains(err.Error(), "BUG") {
			t.Errorf("%s: error %v, want a bug in task 42", name, err)
		}
		if name == "panic" && !strings.Contains(err.Error(), "pool_test.go") {
			t.Errorf("the error has no stack: %v", err)
		}
	}
	body, verify := checked(t, fan(1000))
	if err := p.Start(context.Background(), fan(1000), body).Wait(); err != nil {
		t.Fatal(err)
	}
	verify()
}

func TestPanicInIdle(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := p.Start(context.Background(), graph(1, nil, map[int32]int32{0: 1}), func(*Worker, int32) error { return nil },
		Options{Idle: func(time.Duration, bool) bool { panic("poll") }})
	if err := r.Wait(); err == nil || !strings.Contains(err.Error(), "poll") {
		t.Errorf("error %v, want the panic", err)
	}
	if p.searching.Load() != 0 {
		t.Errorf("%d workers still count as searching", p.searching.Load())
	}
}

func TestCancel(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	var ran atomic.Int32
	d := graph(1000, nil, nil)
	err := p.Start(ctx, d, func(*Worker, int32) error {
		if ran.Add(1) == 10 {
			cancel(why)
		}
		time.Sleep(100 * time.Microsecond)
		return nil
	}).Wait()
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	if n := ran.Load(); n > 12 {
		t.Errorf("%d tasks ran, want the 10 before and at most one more for each worker", n)
	}
	if err := p.Start(ctx, d, func(*Worker, int32) error { return nil }).Wait(); !errors.Is(err, why) {
		t.Errorf("a run on a cancelled context: %v", err)
	}
	// Nothing runs and nobody polls: only the context can end it.
	ctx, cancel = context.WithCancelCause(context.Background())
	r := p.Start(ctx, graph(1, nil, map[int32]int32{0: 1}), func(*Worker, int32) error { return nil })
	for p.asleep.Load() < 2 {
		time.Sleep(100 * time.Microsecond)
	}
	cancel(why)
	if err := r.Wait(); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	r.Satisfy(0) // late: must do nothing
	if err := p.Start(context.Background(), fan(100), func(*Worker, int32) error { return nil }).Wait(); err != nil {
		t.Error(err)
	}
}

func TestWrongGraphs(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	few := chain(3)
	few.Waits[2] = 0
	short := chain(3)
	short.Waits = short.Waits[:2]
	away := chain(3)
	away.Succ[1] = 7
	many := graph(2, [][2]int32{{0, 1}, {0, 1}}, nil)
	many.Waits = []int32{1, 1} // task 0 is never enabled; the sum is right
	for want, d := range map[string]*DAG{
		"wait for":         few,
		"counters":         short,
		"leads to task 7":  away,
		"can never run":    graph(3, [][2]int32{{0, 1}, {1, 2}, {2, 1}}, nil),
		"2 tasks can neve": many,
	} {
		err := p.Start(context.Background(), d, func(*Worker, int32) error { return nil }).Wait()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	over := graph(2, nil, map[int32]int32{1: 1})
	hold := make(chan struct{})
	r := p.Start(context.Background(), over, func(*Worker, int32) error { <-hold; return nil })
	r.Satisfy(1)
	r.Satisfy(1)
	close(hold)
	if err := r.Wait(); err == nil || !strings.Contains(err.Error(), "does not expect") {
		t.Errorf("a second input for one: %v", err)
	}
	if err := p.Start(context.Background(), &DAG{SuccOff: []int32{0}}, nil).Wait(); err != nil {
		t.Errorf("an empty graph: %v", err)
	}
}

// TestPriority checks that tasks run in the order of what they matter: exactly on one worker, and
// nearly on two, which take turns (inSteps), so that neither gets ahead while the system does not
// let the other run.
func TestPriority(t *testing.T) {
	const n = 3000
	d := fan(n)
	d.Prio = make([]int32, n)
	for i, k := range rand.New(rand.NewPCG(5, 5)).Perm(n) {
		d.Prio[i] = int32(k)
	}
	for workers, most := range map[int]int32{1: 0, 2: n / 50} {
		var order []int32
		_, err := inSteps(d, workers, func(tasks []int32) {
			slices.SortFunc(tasks, func(a, b int32) int { return int(d.Prio[b] - d.Prio[a]) })
			for _, k := range tasks {
				if k != 0 && k != n-1 {
					order = append(order, d.Prio[k])
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		// slack is by how much a task came after one that mattered less. late counts the tasks of the first
		// half that should have come much later.
		slack, late := int32(0), int32(0)
		for i := 1; i < len(order); i++ {
			slack = max(slack, order[i]-order[i-1])
		}
		for _, k := range order[:n/2] {
			if k < n/2-n/8 {
				late++
			}
		}
		t.Logf("%d workers: %d tasks, slack %d, %d late", workers, len(order), slack, late)
		if slack > 0 && workers == 1 || late > most || len(order) != n-2 {
			t.Errorf("%d workers: of %d tasks one ran after one that mattered %d less; %d of the first half do not belong there", workers, len(order), slack, late)
		}
	}
}

func TestRank(t *testing.T) {
	if rank([]int32{5, 5}) != nil {
		t.Error("equal priorities need no classes")
	}
	got := rank([]int32{-1 << 31, 1<<31 - 1, 0, 0})
	if !(got[0] < got[2] && got[2] == got[3] && got[3] < got[1]) {
		t.Errorf("extreme priorities: classes %v", got)
	}
	many := make([]int32, 100000)
	for i := range many {
		many[i] = int32(i) * int32(i%7+1)
	}
	class := rank(many)
	size := map[uint16]int{}
	for i := range many {
		size[class[i]]++
		if class[i] >= classes {
			t.Fatalf("class %d", class[i])
		}
		if j := (i * 31) % len(many); many[i] < many[j] && class[i] > class[j] {
			t.Fatalf("priorities %d < %d have classes %d > %d", many[i], many[j], class[i], class[j])
		}
	}
	for c, n := range size {
		if n > 4*len(many)/classes+64 {
			t.Errorf("class %d has %d of %d tasks", c, n, len(many))
		}
	}
}

func TestConcurrentStartsTakeTurns(t *testing.T) {
	p := NewPool(2, PoolOptions{Pin: true})
	defer p.Close()
	var inside, total atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				err := p.Start(context.Background(), chain(50), func(*Worker, int32) error {
					if inside.Add(1) != 1 {
						t.Error("two runs at once")
					}
					total.Add(1)
					inside.Add(-1)
					return nil
				}).Wait()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if total.Load() != 8*20*50 {
		t.Errorf("%d tasks ran", total.Load())
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		p := NewPool(4)
		r := p.Start(context.Background(), fan(1000), func(*Worker, int32) error { return nil })
		p.Close()
		p.Close()
		if err := r.Wait(); err != nil {
			t.Errorf("Close broke the run in flight: %v", err)
		}
		if err := p.Start(context.Background(), chain(2), func(*Worker, int32) error { return nil }).Wait(); err != ErrClosed {
			t.Errorf("a run on a closed pool: %v", err)
		}
	}
	for until := time.Now().Add(guard); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
