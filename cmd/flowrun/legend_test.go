package main

import (
	"strings"
	"testing"

	"flow/kernels"
)

// Every kernel that the compiler makes of others has a line in the legend, of one sentence, that
// says more than its name.
func TestKernelLegend(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range table.Rows() {
		var b strings.Builder
		kernelLegend(&b, []string{d.Name})
		line := strings.TrimSuffix(b.String(), "\n")
		switch {
		case !d.Hidden || d.Name == "const":
			if line != "" {
				t.Errorf("%s is in the manual and in the legend: %s", d.Name, line)
			}
		case !strings.HasPrefix(line, "  "+d.Name+": ") || len(line) < len(d.Name)+10 || strings.ContainsAny(line, "\n;"):
			t.Errorf("%s: %q", d.Name, line)
		default:
			seen++
		}
	}
	if seen < 50 {
		t.Errorf("only %d kernels have a legend", seen)
	}
}

// A run may be faster than its plan holds for possible. It says so and why, and prints no share of
// it.
func TestFasterThanThePlan(t *testing.T) {
	for _, c := range []struct {
		st   runStats
		want string
	}{
		{runStats{Execution: 1, Bound: 2, assumed: true}, "in 1 s: 0.0 GFLOP/s; the plan expected at least 2 s, for more rounds of its loops than there were\n"},
		{runStats{Execution: 1, Bound: 2}, "in 1 s: 0.0 GFLOP/s; the plan expected at least 2 s, at costs of kernels"},
		{runStats{Execution: 2, Bound: 1}, "in 2 s: 0.0 GFLOP/s; the plan expected at least 1 s\n"},
	} {
		if got := c.st.headline(); !strings.Contains(got, c.want) || strings.Contains(got, "%") {
			t.Errorf("%+v: %s", c.st, got)
		}
	}
}

// TestLoopTimes: work that has no loop runs outside of the chunks, and counts by the time of its
// executions.
func TestLoopTimes(t *testing.T) {
	times := loopTimes([]loopStats{
		{Name: "nest", Where: "p.flow:2:5", Busy: 0.001, Seconds: 0.5},
		{Name: "nest", Where: "p.flow:2:5", Busy: 0.5, Seconds: 0.25},
		{Name: "map", Where: "p.flow:3:5", Busy: 2, Seconds: 1},
	})
	if times["nest p.flow:2:5"] != 1 || times["map p.flow:3:5"] != 2 || len(times) != 2 {
		t.Error(times)
	}
}
