package flow

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"flow/runtime/replay"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

const loopProgram = `x = rand(4000, 100, seed = 1)
y = sqrt(2.5 * x + 0.5) * 1.5 - 3.0
emit sum(y)
emit sum(t(y) + 1.0)
`

// TestAccount holds the identities of an account on real runs: parts add up, no bound is above what
// was measured.
func TestAccount(t *testing.T) {
	for _, name := range []string{"STATIC", "SS", "GSS", "AWF-C", "COST"} {
		technique, err := schedule.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(t.Context(), "loop.flow", []byte(loopProgram), CompileOptions{Disable: []string{"partition"}})
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Run(t.Context(), RunOptions{Threads: 3, Stats: true, Schedule: Scheduling{Plan: schedule.Plan{Technique: technique}}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Account(report, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Loops) == 0 {
			t.Fatal("the program has no loops any more: the test needs another one")
		}
		for i := range a.Loops {
			l := &a.Loops[i]
			parts := l.Sum.Busy + l.Sum.Sched + l.Sum.Idle + l.Sum.Other
			if want := 3 * l.Sum.Time; math.Abs(parts-want) > 1e-6*want || l.Sum.Busy <= 0 || l.Sum.Chunks == 0 || l.Technique != name {
				t.Errorf("%s: busy, scheduling, idle and other of %s are %g of %g: %+v", name, l.Name, parts, want, l.Sum)
			}
			if l.Sum.Bound > l.Sum.Time || l.Sum.Bound > l.Sum.LPT*(1+1e-9) || l.Sum.LPT > 2*l.Sum.Bound || l.Sum.Bound > l.Sum.BestBlock*(1+1e-9) {
				t.Errorf("%s: bounds of %s are out of order: %+v", name, l.Name, l.Sum)
			}
			if l.Oracle == "" || !l.OracleAll || l.OracleTime < l.Sum.Bound*(1-1e-9) {
				t.Errorf("%s: oracle %s %g, bound %g", name, l.Oracle, l.OracleTime, l.Sum.Bound)
			}
			if !strings.HasPrefix(l.Where, "loop.flow:") {
				t.Errorf("%s stands at %q", l.Name, l.Where)
			}
		}
		r := &a.Run
		if parts, want := r.Busy+r.Sched+r.Idle, 3*r.Time; math.Abs(parts-want) > 1e-6*want || r.Workers != 3 {
			t.Errorf("%s: the parts of the run are %g of %g", name, parts, want)
		}
		if r.CriticalPath <= 0 || r.CriticalPath > r.Time || r.Area > r.Time {
			t.Errorf("%s: the run took %g, area %g, critical path %g", name, r.Time, r.Area, r.CriticalPath)
		}

		// The trace file has the same loops.
		var file bytes.Buffer
		if err := report.WriteTrace(&file, p); err != nil {
			t.Fatal(err)
		}
		ranks, err := trace.ReadLoops(&file)
		if err != nil || len(ranks) != 1 {
			t.Fatal(err)
		}
		back := replay.FromRecords(0, ranks[0].Loops, replay.Quick)
		if len(back) != len(a.Loops) || back[0].Where != a.Loops[0].Where {
			t.Fatalf("%s: %d operators in the trace, %d in the account", name, len(back), len(a.Loops))
		}
		for i := range back {
			if got := back[i].Account(); got != a.Loops[i].Sum {
				t.Errorf("%s: from the trace %+v, from the run %+v", name, got, a.Loops[i].Sum)
			}
		}
	}
}

// TestAccountWithoutLoops: a run of tasks alone has an account too.
func TestAccountWithoutLoops(t *testing.T) {
	p, err := Compile(t.Context(), "tasks.flow", []byte("A = rand_spd(40, seed = 7)\nemit sum(cholesky(A, tile = 8))\n"), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Run(t.Context(), RunOptions{Threads: 2, Stats: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Account(report, true)
	if err != nil {
		t.Fatal(err)
	}
	if bound, which := a.Run.Bound(); a.Run.CriticalPath <= 0 || bound > a.Run.Time || which == "" {
		t.Errorf("%+v", a.Run)
	}
}

// TestAccountOfRanks: what each rank did in tasks, in claims and waiting is the time of the run, and no
// bound exceeds that.
func TestAccountOfRanks(t *testing.T) {
	p, err := Compile(t.Context(), "ranks.flow", []byte(`A = rand_spd(60, seed = 7)
emit sum(cholesky(A, tile = 12))
iterate x = rand(3000, 1, seed = 1) times 5 {
  y = parfor i in 0..3000 {
    iterate z = x[i, 0], k = 0 until k == (if i < 900 { 400 } else { 4 }) {
      next z = sin(z + k)
      next k = k + 1
    }
    z
  }
  next x = y
}
emit sum(x)`), CompileOptions{Ranks: 3})
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Run(t.Context(), RunOptions{Threads: 2, Stats: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Account(report, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &a.Run
	if len(r.Ranks) != 3 {
		t.Fatalf("%d ranks, want 3", len(r.Ranks))
	}
	for _, x := range r.Ranks {
		if parts, want := x.Busy+x.Sched+x.Idle, 2*r.Time; math.Abs(parts-want) > 1e-6*want || x.Busy <= 0 || x.Sched <= 0 || x.Idle <= 0 {
			t.Errorf("rank %d is busy for %g, claims for %g and waits for %g of %g seconds", x.Rank, x.Busy, x.Sched, x.Idle, want)
		}
	}
	if parts, want := r.Busy+r.Sched+r.Idle, 6*r.Time; math.Abs(parts-want) > 1e-6*want {
		t.Errorf("the parts of the run are %g of %g", parts, want)
	}
	if bound, which := r.Bound(); r.CriticalPath <= 0 || bound > r.Time {
		t.Errorf("the run took %g, and its %s is %g", r.Time, which, bound)
	}
}
