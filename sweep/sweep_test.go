package sweep

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEstimate compares with the table of binomial intervals for a median (Le Boudec, Performance
// Evaluation, 2010, appendix A).
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		n, low, high int // 1-based order statistics
		coverage     float64
	}{
		{5, 1, 5, .9375}, {6, 1, 6, .96875}, {7, 1, 7, .984375}, {8, 1, 8, .9921875},
		{9, 2, 8, .9609375}, {10, 2, 9, .978515625}, {20, 6, 15, .958610534667969},
		{1, 1, 1, 0}, {2, 1, 2, .5}, {3, 1, 3, .75},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64((i*7)%c.n + 1) // each of 1..n once if 7 does not divide n
		}
		if c.n == 7 {
			x = []float64{3, 1, 2, 7, 6, 5, 4}
		}
		e := Estimated(x, .95)
		if e.Low != float64(c.low) || e.High != float64(c.high) || math.Abs(e.Coverage-c.coverage) > 1e-12 || e.Median != float64(c.n+1)/2 {
			t.Errorf("of %d: %+v, want %d..%d with %g", c.n, e, c.low, c.high, c.coverage)
		}
	}
	if e := Estimated(nil, .95); e != (Estimate{}) {
		t.Errorf("of nothing: %+v", e)
	}
	if e := Estimated(make([]float64, 2000), .95); !(e.Coverage >= .95 && e.Coverage < .97) {
		t.Errorf("of 2000: %+v", e)
	}
}

// TestCoverage draws from a skewed distribution whose median is known and counts how often the
// interval has it.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 2))
	const tries = 20000
	for _, n := range []int{5, 11, 30} {
		hits := 0
		var e Estimate
		for range tries {
			x := make([]float64, n)
			for i := range x {
				x[i] = random.ExpFloat64()
			}
			if e = Estimated(x, .95); e.Low <= math.Ln2 && math.Ln2 <= e.High {
				hits++
			}
		}
		if got := float64(hits) / tries; math.Abs(got-e.Coverage) > 4*math.Sqrt(e.Coverage*(1-e.Coverage)/tries) {
			t.Errorf("%d values: the interval has the median in %.4f of all cases and says %.4f", n, got, e.Coverage)
		}
	}
}

func TestCross(t *testing.T) {
	got := Cross([]string{"STATIC", "SS"}, []string{"CENTRALIZED", "PERCPU"}, []string{"SEQ", "RANDOM"}, []int{1, 2})
	if len(got) != 2*2*(1+2) {
		t.Errorf("%d configs: %v", len(got), got)
	}
	for _, c := range got {
		if (c.Victim == "") != (c.Layout == "CENTRALIZED") {
			t.Errorf("%v", c)
		}
	}
}

// fake is a machine that becomes 10 % slower with each run.
type fake struct {
	slow float64
	seen []string
}

func (f *fake) run(_ context.Context, c Config) (Measurement, error) {
	f.slow *= 1.01
	f.seen = append(f.seen, c.Technique)
	return Measurement{Seconds: f.slow * map[string]float64{"STATIC": 1, "FAST": .8, "SLOW": 1.3, "SAME": 1}[c.Technique], Output: "x"}, nil
}

func base(Config) int { return 0 }

func TestRun(t *testing.T) {
	configs := Cross([]string{"STATIC", "FAST", "SLOW", "SAME"}, []string{Centralized}, []string{"SEQ"}, []int{2})
	f := &fake{slow: 1}
	table, err := Run(t.Context(), configs, base, Options{Repeat: 7, Warmup: 2, Seed: 3}, f.run)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 9 { // each round has every config once
		if round := slices.Sorted(slices.Values(f.seen[4*r : 4*r+4])); !slices.Equal(round, []string{"FAST", "SAME", "SLOW", "STATIC"}) {
			t.Errorf("round %d ran %v", r, round)
		}
	}
	if slices.Equal(f.seen[:16], slices.Repeat(f.seen[:4], 4)) {
		t.Error("all rounds have one order")
	}
	if table.Rounds != 7 || !table.Ended || len(table.Rows[0].Seconds) != 7 || len(table.Outputs) != 1 {
		t.Errorf("%+v", table)
	}
	for i, want := range []struct{ base, faster, slower bool }{{true, false, false}, {false, true, false}, {false, false, true}, {false, false, false}} {
		r := &table.Rows[i]
		if r.Base != want.base || r.Faster() != want.faster || r.Slower() != want.slower {
			t.Errorf("%s: change %+v", r.Technique, r.Change)
		}
	}
	if table.Best().Technique != "FAST" {
		t.Errorf("best is %v", table.Best())
	}
	again := &fake{slow: 1}
	if _, err := Run(t.Context(), configs, base, Options{Repeat: 7, Warmup: 2, Seed: 3}, again.run); err != nil || !slices.Equal(f.seen, again.seen) {
		t.Errorf("one seed gives two orders (%v)", err)
	}
	var text, lines bytes.Buffer
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"baseline", "98.4 %", "seed 3", "7 rounds", "faster", "slower"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	if err := table.WriteCSV(&lines); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(lines.String(), "\n"); n != 1+4*7 {
		t.Errorf("%d lines of CSV:\n%s", n, lines.String())
	}
}

// TestRunEnds: an error ends a sweep, a context leaves what is complete, and outputs are told
// apart.
func TestRunEnds(t *testing.T) {
	configs := Cross([]string{"STATIC", "SS"}, []string{Centralized}, []string{"SEQ"}, []int{1})
	broken := errors.New("broken")
	if _, err := Run(t.Context(), configs, base, Options{Repeat: 2}, func(context.Context, Config) (Measurement, error) {
		return Measurement{}, broken
	}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	table, err := Run(ctx, configs, base, Options{Repeat: 50}, func(ctx context.Context, c Config) (Measurement, error) {
		if n++; n == 6 {
			cancel()
			return Measurement{}, ctx.Err()
		}
		return Measurement{1, c.Technique}, nil
	})
	if err != nil || table.Rounds != 2 || table.Ended || len(table.Outputs) != 2 {
		t.Errorf("%v %+v", err, table)
	}
	n = 5
	ctx, cancel = context.WithCancel(t.Context())
	if _, err := Run(ctx, configs, base, Options{Repeat: 2}, func(ctx context.Context, c Config) (Measurement, error) {
		cancel()
		return Measurement{}, ctx.Err()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("a sweep that was ended at once: %v", err)
	}
}
