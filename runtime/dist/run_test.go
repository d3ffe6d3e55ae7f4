package dist

// These tests run plans on ranks in one process and compare every value with the reference
// evaluator.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/trace"
)

func parse(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse(text, enginetest.Table())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closeAll(t *testing.T, comms []transport.Comm) {
	t.Helper()
	for i, c := range comms {
		if err := c.Close(); err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// guard is how long a test may take, hundreds of times what it takes on a machine at rest: one that
// takes longer hangs, and has failed.
const guard = 3 * time.Minute

// within fails the test if f takes longer than the guard.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(guard):
		t.Fatalf("not over within %v", guard)
	}
}

func TestRandomPlansEqualTheEvaluator(t *testing.T) {
	faults := []struct {
		name   string
		comm   mem.Options
		budget int64
		posted int
	}{
		{"plain", mem.Options{}, 0, 0},
		{"no buffering", mem.Options{EagerLimit: -1}, 0, 0},
		{"delays", mem.Options{Faults: mem.Faults{Seed: 3, MaxDelay: 300 * time.Microsecond}}, 0, 0},
		{"three tags", mem.Options{MaxTag: 2, Faults: mem.Faults{Seed: 5, MaxDelay: 100 * time.Microsecond}}, 0, 0},
		{"two tags, no buffering", mem.Options{MaxTag: 1, EagerLimit: -1}, 0, 0},
		{"tiny budget", mem.Options{EagerLimit: -1}, 1, 1},
		{"tiny budget, three tags, delays", mem.Options{MaxTag: 2, EagerLimit: -1, Faults: mem.Faults{MaxDelay: 100 * time.Microsecond}}, 1000, 2},
	}
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			for ranks := 1; ranks <= 8; ranks++ {
				p := enginetest.Random(uint64(ranks)*100, 250, ranks)
				o, err := enginetest.NewOracle(p)
				if err != nil {
					t.Fatal(err)
				}
				within(t, func() {
					comms := mem.New(ranks, c.comm)
					buffers := make([]*local.BufferPool, ranks)
					report, err := RunGroup(context.Background(), comms, p, 1+ranks%2, func(rank int) Options {
						buffers[rank] = local.NewBufferPool(0)
						return Options{Env: &enginetest.Env{}, Observe: o.Observe, Budget: c.budget, MaxPosted: c.posted, placed: ranks / 2 % 2, Stats: true,
							Trace: trace.New(rank, 1+ranks%2), Buffers: buffers[rank]}
					})
					if err != nil {
						t.Fatal(err)
					}
					if err := o.Err(); err != nil {
						t.Fatalf("%d ranks: %v", ranks, err)
					}
					checkReport(t, p, report)
					for i, b := range buffers {
						if live := b.Stats().Live; live != 0 {
							t.Errorf("rank %d: %d bytes are still lent", i, live)
						}
					}
					closeAll(t, comms)
				})
			}
		})
	}
}

func checkReport(t *testing.T, p *plan.Plan, report *Report) {
	t.Helper()
	tasks, exchanges, sent, received := 0, 0, int64(0), int64(0)
	for _, r := range report.Ranks {
		tasks += r.Tasks
		sent += r.MessagesSent
		received += r.MessagesReceived
	}
	want := int64(0)
	for i := range p.Graph.Nodes {
		if p.Graph.Nodes[i].Op.Name == "exchange" {
			exchanges++
			for _, to := range p.Graph.Nodes[i].Attrs.Ints("to") {
				if int(to) != p.Rank(nodeID(i)) {
					want++
				}
			}
		}
	}
	if len(report.Ranks) != p.Ranks || len(report.Recordings) != p.Ranks || tasks != p.Graph.Len()-exchanges || sent != want || received != want {
		t.Errorf("%d ranks: report of %d ranks, %d recordings, %d tasks of %d, %d messages sent and %d received of %d", p.Ranks,
			len(report.Ranks), len(report.Recordings), tasks, p.Graph.Len()-exchanges, sent, received, want)
	}
}

// A Comm serves one run after another, also after a run that failed.
func TestRunsOneAfterAnother(t *testing.T) {
	const ranks = 4
	comms := mem.New(ranks, mem.Options{MaxTag: 3, EagerLimit: -1, Faults: mem.Faults{MaxDelay: 200 * time.Microsecond}})
	for round := range 12 {
		p := enginetest.Random(uint64(round), 200, ranks)
		bad := -1
		if round%2 == 0 {
			p, bad = spoiled(uint64(round), 200, ranks, 40+5*round)
		}
		within(t, func() {
			errs := runAll(context.Background(), comms, p, func(int) Options { return Options{Env: &enginetest.Env{}, Budget: 5000, Grace: 2 * guard} })
			for rank, err := range errs {
				var f *local.TaskFailure
				switch {
				case bad < 0 && err != nil:
					t.Fatalf("round %d, rank %d: %v", round, rank, err)
				case bad >= 0 && (!errors.As(err, &f) || int(f.Node) != bad || !err.(*Failure).Clean || err.Error() != errs[0].Error()):
					t.Fatalf("round %d, rank %d: %v, want the clean failure of task %d", round, rank, err, bad)
				}
			}
		})
	}
	closeAll(t, comms)
}

// Each rank of a process has the processor time of its own threads, if the run is measured. Here the
// last rank works, and the others wait for tasks that sleep.
func TestProcessorTimeByRank(t *testing.T) {
	const ranks = 3
	for _, stats := range []bool{true, false} {
		before, last := processorTime(), 0
		report, err := RunInProcess(context.Background(), parse(t, slow(ranks, 2)), 1, func(rank int) Options {
			return Options{Env: &enginetest.Env{}, Stats: stats, Observe: func(ir.ID, value.Value) {
				for range 2e8 * (rank / (ranks - 1)) {
					last++
				}
			}}
		})
		if err != nil || last == 0 {
			t.Fatal(last, err)
		}
		all, sum := (processorTime() - before).Seconds(), 0.
		for _, r := range report.Ranks {
			sum += r.Processor
		}
		if !stats || runtime.GOOS != "linux" {
			if sum != 0 {
				t.Errorf("ranks that nothing measures have used %g s of processor time", sum)
			}
			continue
		}
		if first, most := report.Ranks[0].Processor, report.Ranks[ranks-1].Processor; !(0 < first && first < most && sum <= all) {
			t.Errorf("rank 0 has used %g s of processor time, the one that works %g s, all %g s and the process %g s", first, most, sum, all)
		}
	}
}

// A pool that the caller gives to RunGroup can be used by several runs. Its workers poll without a
// sleep only if it lets them spin.
func TestGivenPools(t *testing.T) {
	const ranks = 3
	var pools []*local.Pool
	for range ranks {
		pools = append(pools, local.NewPool(2, local.PoolOptions{Spin: -1}))
	}
	for seed := range uint64(3) {
		p := enginetest.Random(seed, 200, ranks)
		o, err := enginetest.NewOracle(p)
		if err != nil {
			t.Fatal(err)
		}
		within(t, func() {
			report, err := RunInProcess(context.Background(), p, 1, func(rank int) Options {
				return Options{Env: &enginetest.Env{}, Pool: pools[rank], Observe: o.Observe}
			})
			if err != nil || o.Err() != nil {
				t.Fatal(seed, err, o.Err())
			}
			for _, r := range report.Ranks {
				if r.Workers != 2 {
					t.Errorf("rank %d has %d workers, its pool 2", r.Rank, r.Workers)
				}
			}
		})
	}
	r := &rank{peers: []process{{Host: "a"}}}
	if d := r.keenness(pools[0], 2); d != 0 {
		t.Errorf("workers that never spin poll keenly for %v", d)
	}
	for _, p := range pools {
		p.Close()
	}
	spins := local.NewPool(2)
	defer spins.Close()
	if r.keenness(spins, 2) != keenly || r.keenness(spins, 1) != 0 {
		t.Errorf("two workers poll keenly for %v on two processors, for %v on one", r.keenness(spins, 2), r.keenness(spins, 1))
	}
}

// A large message under way is polled closely for as long as a transport without remote access may
// take, so that its pieces do not wait for a long sleep. Other messages are not.
func TestLargeMessagesArePolledClosely(t *testing.T) {
	const large = 8 << 20
	now := time.Now()
	for _, c := range []struct {
		f       flight
		idle    time.Duration
		closely bool
	}{
		{flight{kind: sending, buf: make([]byte, 8)}, 5 * time.Millisecond, true},
		{flight{kind: sending, buf: make([]byte, 8)}, 50 * time.Millisecond, false},
		{flight{kind: giving, buf: make([]byte, large)}, 50 * time.Millisecond, true},
		{flight{kind: giving, buf: make([]byte, large)}, time.Second, false},
		{flight{kind: taking, buf: make([]byte, large)}, 50 * time.Millisecond, true},
		{flight{kind: taking, buf: make([]byte, 8)}, 5 * time.Millisecond, false},
		{flight{kind: control, buf: make([]byte, large)}, 50 * time.Millisecond, false},
		{flight{kind: receiving, buf: make([]byte, large)}, 50 * time.Millisecond, false}, // may come much later
	} {
		r := &rank{epochOfClock: now.Add(-c.idle)}
		r.fresh = append(r.fresh, c.f)
		r.newFresh.Store(1)
		r.adopt()
		if nap := r.napAt(now, false); nap == firstNap != c.closely {
			t.Errorf("kind %d of %d bytes: after %v the rank sleeps for %v", c.f.kind, len(c.f.buf), c.idle, nap)
		}
	}
}

// spoiled is a random plan of n tasks, or of more where those have none to spoil, and the first
// task that fails.
func spoiled(seed uint64, n, ranks, from int) (*plan.Plan, int) {
	for ; ; n += 100 {
		p := enginetest.Random(seed, n, ranks)
		if bad := spoil(p, from); bad >= 0 {
			return p, bad
		}
	}
}

// spoil makes the first task from some node on that is a check fail, and a few after it, and
// returns the first.
func spoil(p *plan.Plan, from int) int {
	first := -1
	t := enginetest.Table()
	for i := from; i < p.Graph.Len(); i++ {
		n := &p.Graph.Nodes[i]
		if in := p.Graph.In(nodeID(i)); n.Op.Name == "neg" && n.Region == nil && p.Graph.Type(in[0]).Rows > 0 {
			n.Op = t.Must("check")
			n.Attrs = failing()
			if first < 0 {
				first = i
			}
		}
	}
	return first
}

func runAll(ctx context.Context, comms []transport.Comm, p *plan.Plan, o func(rank int) Options) []error {
	errs := make([]error, len(comms))
	var all sync.WaitGroup
	for i, c := range comms {
		all.Go(func() {
			pool := local.NewPool(1)
			defer pool.Close()
			_, errs[i] = Run(ctx, c, pool, p, o(i))
			if f, ok := errs[i].(*Failure); ok && !f.Clean {
				var d *DeathError
				if !errors.As(f, &d) {
					c.Abort(1)
				}
			}
		})
	}
	all.Wait()
	return errs
}

// The ranks stop because they agree to: no time that they have for it is over before the test is.
func TestFailureIsTheSameEverywhere(t *testing.T) {
	for seed := range uint64(10) {
		for _, ranks := range []int{1, 2, 3, 5} {
			p, bad := spoiled(seed, 200, ranks, 30)
			comms := mem.New(ranks, mem.Options{Faults: mem.Faults{Seed: seed, MaxDelay: 200 * time.Microsecond}})
			within(t, func() {
				for rank, err := range runAll(context.Background(), comms, p, func(int) Options {
					return Options{Env: &enginetest.Env{}, Grace: 2 * guard, patience: 6 * guard}
				}) {
					var f *local.TaskFailure
					if !errors.As(err, &f) || int(f.Node) != bad || f.Rank != p.Rank(f.Node) || err.(*Failure).Code != "E603" || !err.(*Failure).Clean || f.Unsettled {
						t.Fatalf("seed %d, rank %d of %d: %v (%+v), want the failure of task %d, the first for certain", seed, rank, ranks, err, err, bad)
					}
				}
			})
			closeAll(t, comms)
		}
	}
}

// What is shown waits for the tasks of other ranks that may fail, also where messages come late and
// receives have little room: a run prints what the definition prints, up to the failure if there is
// one.
func TestShownIsTheSameEverywhere(t *testing.T) {
	printed := 0
	for seed := range uint64(12) {
		for _, ranks := range []int{1, 2, 3, 5} {
			p, bad := enginetest.RandomShown(seed, 200, ranks), -1
			if seed%3 > 0 {
				bad = spoil(p, 60)
			}
			want := enginetest.Printed(p)
			printed += len(want)
			comms := mem.New(ranks, mem.Options{Faults: mem.Faults{Seed: seed, MaxDelay: 200 * time.Microsecond}})
			env := &enginetest.Env{}
			within(t, func() {
				for rank, err := range runAll(context.Background(), comms, p, func(int) Options {
					return Options{Env: env, Budget: 1 << (seed % 16), MaxPosted: 1 + int(seed), Grace: 2 * guard, patience: 6 * guard}
				}) {
					var f *local.TaskFailure
					if failed := errors.As(err, &f); failed != (bad >= 0) || failed && (int(f.Node) != bad || f.Unsettled) {
						t.Fatalf("seed %d, rank %d of %d: %v, want the failure of task %d", seed, rank, ranks, err, bad)
					}
				}
			})
			if got := env.Printed(); got != want {
				t.Fatalf("seed %d on %d ranks, where task %d fails, prints\n%swant\n%s", seed, ranks, bad, got, want)
			}
			closeAll(t, comms)
		}
	}
	if printed < 1000 {
		t.Errorf("only %d bytes are printed in all", printed)
	}
}

// Who interrupts a run that waits for tasks before a failed one is told of the failure, and that an
// earlier one may exist.
func TestInterruptionEndsTheWaitForTasksBefore(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "%0 = fill() {v=5.0} : f64[2,2]")
	for i := 1; i < 3000; i++ {
		fmt.Fprintf(&b, "%%%d = check(%%%d) {ms=10} : f64[2,2]\n", i, i-1)
	}
	fmt.Fprintln(&b, "%3000 = fill() {v=5.0} : f64[2,2]\n%3001 = check(%3000) {bad=true} : f64[2,2]")
	p, err := plan.Parse("plan ranks 2\nown"+strings.Repeat(" 0", 3000)+" 1 1\n"+b.String(), enginetest.Table())
	if err != nil {
		t.Fatal(err)
	}
	for after := 100 * time.Millisecond; ; after *= 2 {
		comms := mem.New(2, mem.Options{})
		ctx, cancel := context.WithTimeout(context.Background(), after)
		errs := runAll(ctx, comms, p, func(int) Options { return Options{Env: &enginetest.Env{}, Grace: 2 * guard, patience: 6 * guard} })
		cancel()
		closeAll(t, comms)
		var f *local.TaskFailure
		if !errors.As(errs[0], &f) {
			continue // the failure was not known yet
		}
		if f.Node != 3001 || !f.Unsettled {
			t.Errorf("after %v: %v, unsettled %v", after, f, f.Unsettled)
		}
		return
	}
}

func nodeID(i int) ir.ID { return ir.ID(i) }

func failing() *op.Attrs { return op.MakeAttrs(op.Attr{Name: "bad", Val: op.Bool(true)}) }
