package schedule

import "testing"

func TestReport(t *testing.T) {
	ideal := Ideal{Area: 1.18, Largest: .2, LPT: 1.181, BestBlock: 1.402}
	o := Outcome{Makespan: 1.234, Busy: 2.36, Sched: .01, Idle: .078, Chunks: 208, Finish: []float64{1.2, 1.234}}
	want := "T 1.234 s | ideal 1.18 s (area) -> 95.6 % of ideal | LPT 1.181 s | best block 1.402 s | oracle GSS 1.19 s\n" +
		"idle 3.2 %  scheduling 0.4 %  other 0.8 % | p.i. 2.8 %  c.o.v. 0.014 | 208 chunks\n"
	if got := ideal.Report(o, "GSS", 1.19); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	short := Ideal{Area: 1e-6, Largest: 2.5e-6, LPT: 3e-9, BestBlock: .0042}
	want = "T 0 s | ideal 2.5 us (largest job) -> 100.0 % of ideal | LPT 3 ns | best block 4.2 ms\n" +
		"idle 0.0 %  scheduling 0.0 %  other 0.0 % | p.i. 0.0 %  c.o.v. 0.000 | 0 chunks\n"
	if got := short.Report(Outcome{}, "", 0); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestCostPartialReports: executions of COST that report nothing, or only some chunks, learn nothing wrong.
func TestCostPartialReports(t *testing.T) {
	c := claimer(t, "COST", Params{N: 1000, P: 4})
	c.Reset()
	if c.adaptive.(*cost).Profile() != nil {
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
	for i, v := range c.adaptive.(*cost).Profile() {
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
