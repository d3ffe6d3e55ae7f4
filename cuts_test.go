package flow

// This file checks where loops are cut: between groups of rows, and one iteration at a time by SS.

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"flow/runtime/schedule"
)

// TestLoopsAreCutBetweenGroups: chunks of a loop over rows of 12 points, whose lanes may be along
// its rows, have whole vectors of rows where every worker has some of them; with more workers, and
// where rows are wide enough to have lanes of their own, they have any number of rows. Outputs are
// the same bytes.
func TestLoopsAreCutBetweenGroups(t *testing.T) {
	for _, space := range []struct{ rows, width, group int }{{384, 12, 16}, {96, 192, 1}} {
		cutBetweenGroups(t, space.rows, space.width, space.group)
	}
}

func cutBetweenGroups(t *testing.T, rows, width, together int) {
	text := fmt.Sprintf(`
a = parfor y in 0..%d, x in 0..%d {
  iterate z = 0.0, j = 0 until z * z > 4.0 or j == 40 {
    next z = z * z - 2.0 + 0.002 * x + 0.001 * y
    next j = j + 1
  }
  j
}
emit sum(a * seq(0, %[1]d))
`, rows, width)
	p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, threads := range []int{1, 2, 4, 8} {
		group := int64(together)
		if rows/together < 8*min(threads, runtime.GOMAXPROCS(0)) {
			group = 1
		}
		for _, name := range []string{"FAC2", "SS", "COST"} {
			technique, err := schedule.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r, err := p.Run(context.Background(), RunOptions{Threads: threads, Schedule: Scheduling{Plan: schedule.Plan{Technique: technique}}, Stats: true, Stdout: &out})
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = out.String()
			}
			if out.String() != first {
				t.Errorf("%s, %d threads: %q, want %q", name, threads, out.String(), first)
			}
			found := false
			for _, l := range r.Ranks[0].Loops {
				if l.Op != "parfor" {
					continue
				}
				found = true
				group := group
				if technique.Single() {
					group = 1
				}
				if l.Leaf != group {
					t.Errorf("%s, %d threads: units of %d rows, want %d", name, threads, l.Leaf, group)
				}
				for _, c := range l.Chunks {
					if c.Lo%group != 0 || c.Hi%group != 0 {
						t.Errorf("%s, %d threads: a chunk of rows %d to %d", name, threads, c.Lo, c.Hi)
					}
				}
			}
			if !found {
				t.Fatalf("%s, %d threads: no loop", name, threads)
			}
		}
	}
}

// TestSSClaimsOneIteration: SS claims one iteration at a time, as published, or as many as its
// grain says, whatever lanes would like; outputs are the bytes of others.
func TestSSClaimsOneIteration(t *testing.T) {
	for _, text := range []string{
		"emit t(parfor i in 0..700 { sqrt(i) * 0.5 + 1 })",
		"emit t(parfor i in 0..300 { iterate x = 0.5, n = 0 until n > i { next x = x * 0.9 + 0.1; next n = n + 1 }; x })",
		"x = rand(90, 3, seed = 2)\nemit t(parfor i in 0..90 { sum((x - x[i, :]) ^ 2) })",
		"x = rand(640, 8, seed = 2)\nw = rand(8, 1, seed = 3)\nemit t(parfor i in 0..640 { (x[i, :] @ w)[0, 0] })",
		"emit parfor i in 3..203 by 4, j in 0..7 { i // (j + 1) }",
		"emit parfor i in 0..130 with (schedule = \"ss\") { i % 3 == 1 }",
	} {
		p, err := Compile(context.Background(), "x.flow", []byte(text+"\n"), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(name string, grain, size int64) (out string) {
			technique, err := schedule.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			plan := schedule.Plan{Technique: technique, Grain: int(grain)}
			r, err := p.Run(context.Background(), RunOptions{Threads: 3, Schedule: Scheduling{Plan: plan}, Stats: true, Stdout: &b})
			if err != nil {
				t.Fatal(err)
			}
			loops := 0
			for _, l := range r.Ranks[0].Loops {
				if l.Op != "parfor" || size == 0 {
					continue
				}
				loops++
				for _, c := range l.Chunks {
					if c.Hi-c.Lo != size && c.Hi != l.N {
						t.Errorf("%s, grain %d: a chunk from %d to %d of\n%s", name, grain, c.Lo, c.Hi, text)
						break
					}
				}
			}
			if loops == 0 && size > 0 {
				t.Errorf("no loop in\n%s", text)
			}
			return b.String()
		}
		want := run("STATIC", 0, 0)
		if got := run("SS", 0, 1); got != want {
			t.Errorf("SS: %q, STATIC: %q of\n%s", got, want, text)
		}
		if got := run("SS", 17, 17); got != want {
			t.Errorf("SS by 17: %q, STATIC: %q of\n%s", got, want, text)
		}
	}
}

// TestFewLongLeavesAreShared: a loop of few leaves is shared if they are long rows, or columns of many
// rows, and a sort of few rows if they are long. They are not if there is little work.
func TestFewLongLeavesAreShared(t *testing.T) {
	for text, want := range map[string]bool{
		"x = rand(8, 30000, seed = 2)\nemit sum(materialize(rowcumsum(x)))": true,
		"x = rand(8, 4000, seed = 2)\nemit sum(materialize(rowcumsum(x)))":  false,
		"x = rand(2000, 400, seed = 2)\nemit sum(materialize(cumsum(x)))":   true,
		"x = rand(8192, 520, seed = 2)\nemit sum(materialize(sort(x)))":     true,
		"x = rand(8192, 20, seed = 2)\nemit sum(materialize(sort(x)))":      false,
	} {
		p, err := Compile(context.Background(), "x.flow", []byte(text+"\n"), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(context.Background(), RunOptions{Threads: 2, Stats: true, Stdout: new(strings.Builder)})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, l := range r.Ranks[0].Loops {
			got = got || strings.HasSuffix(l.Op, "cumsum") || strings.HasPrefix(l.Op, "sort")
		}
		if got != want {
			t.Errorf("shared: %v, want %v, of\n%s", got, want, text)
		}
	}
}
