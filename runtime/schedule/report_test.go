package schedule

import "testing"

func TestAccount(t *testing.T) {
	ideal := Ideal{Area: 1.18, Largest: .2, LPT: 1.181, BestBlock: 1.402}
	o := Outcome{Makespan: 1.234, Busy: 2.36, Sched: .01, Idle: .078, Chunks: 208, Finish: []float64{1.2, 1.234}}
	want := "T 1.234 s | ideal 1.18 s (area) -> 95.6 % of ideal | LPT 1.181 s | best block 1.402 s | oracle GSS 1.19 s\n" +
		"busy 95.6 %  scheduling 0.4 %  idle 3.2 %  other 0.8 % | p.i. 2.8 %  c.o.v. 0.014 | 208 chunks\n"
	a := ideal.Account(o)
	if got := a.Text("oracle GSS 1.19 s"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	short := Ideal{Area: 1e-6, Largest: 2.5e-6, LPT: 3e-9, BestBlock: .0042}
	want = "T 0 s | ideal 2.5 us (largest job) -> 100.0 % of ideal | LPT 3 ns | best block 4.2 ms\n" +
		"busy 0.0 %  scheduling 0.0 %  idle 0.0 %  other 0.0 % | p.i. 0.0 %  c.o.v. 0.000 | 0 chunks\n"
	if got := short.Account(Outcome{}).Text(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// Two in a row: the identity holds for the sum, and the bound is named after what most of
	// it is.
	b := Ideal{Area: .1, Largest: .5}.Account(Outcome{Makespan: 1, Busy: .2, Sched: .3, Idle: 3.5, Chunks: 2, Finish: []float64{1, 0, 0, 0}})
	sum := a.Plus(b)
	if got := sum.Busy + sum.Sched + sum.Idle + sum.Other; !near(got, 2*1.234+4*1, 1e-12) || !near(sum.Share(got), 100, 1e-12) {
		t.Errorf("busy, scheduling, idle and other are %g, %g %%", got, sum.Share(got))
	}
	if sum.Executions != 2 || sum.Workers != 4 || sum.Bound != 1.68 || sum.Binds() != "area" || b.Plus(b).Binds() != "largest job" {
		t.Errorf("%+v", sum)
	}
	if want := (1.234*a.Imbalance + 100) / 2.234; !near(sum.Imbalance, want, 1e-12) {
		t.Errorf("p.i. %g, want %g", sum.Imbalance, want)
	}
}

// TestCostPartialReports: executions of COST that report nothing, or only some chunks, learn
// nothing wrong.
func TestCostPartialReports(t *testing.T) {
	c := claimer(t, "COST", Params{N: 1000, P: 4})
	c.Reset()
	if c.cost.Profile() != nil {
		t.Fatal("a profile from nothing")
	}
	for {
		start, n, ok := c.Claim(0)
		if !ok {
			break
		}
		if start < 500 { // the second half is never reported
			c.Report(0, start, n, float64(n)*2, 0)
		}
	}
	c.Reset()
	for i, v := range c.cost.Profile() {
		if !near(v, 2, 1e-9) {
			t.Fatalf("iteration %d is expected to cost %g, want 2, the mean of what is known", i, v)
		}
	}
	sum := 0
	for {
		_, n, ok := c.Claim(1)
		if !ok {
			break
		}
		sum += n
	}
	if sum != 1000 {
		t.Errorf("%d iterations", sum)
	}
}
