package compiler_test

import (
	"testing"

	"flow/ir/plan"
)

// TestCountedRounds: the prediction has the number of rounds that the condition of a loop tells, and no
// more than that where other values may end the loop before.
func TestCountedRounds(t *testing.T) {
	for _, c := range []struct {
		loop    string
		rounds  int64
		assumed bool
	}{
		{"k = 0 until k == 60 { next k = k + 1", 60, false},
		{"k = 7 until k <= -20 { next k = k - 3", 9, false},
		{"k = 0, h = 1.0 until h < 0.01 or k >= 50 { next k = k + 1; next h = h / 2", 7, false},
		{"k = 0 until k >= 6 or max(v) < 1e-9 { next k = k + 1", 6, true},
		{"k = 0 until not (k < 7 and max(v) > 1e-9) { next k = k + 1", 7, true},
		{"k = 0 until max(v) < 0.5 or k == 4000 { next k = k + 1", 10, true},
		{"k = 0 until k == 3000 { next k = k + 1", 3000, false},
		{"k = 0 until k == 30 { next k = k + i64(max(v) < 2)", 10, true},
		{"k = 0 until k == 5 { next k = 1 - k", 43691, true}, // as far as it is followed
		{"k = 0 until max(v) < 0.5 { next k = k + 1", 10, true},
	} {
		text := "x = materialize(rand(50, 50, seed = 1))\niterate v = x, " + c.loop + "; next v = sort(v @ x) / (50 + k) }\nemit sum(v) + k"
		r, err := compileTiny(tinyTable(t), text, 1, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		loops := plan.Summarise(r.Plan, nil, 1).Loops
		if len(loops) != 1 || loops[0].Rounds != c.rounds || loops[0].Assumed != c.assumed {
			t.Errorf("%s: %+v, want %d rounds, assumed %v", c.loop, loops, c.rounds, c.assumed)
		}
		if placed, known := plan.Rounds(r.Plan.Graph, loops[0].Node); c.rounds < 100 && (placed != c.rounds || known == c.assumed) || placed < min(100, c.rounds) {
			t.Errorf("%s: placed for %d rounds", c.loop, placed)
		}
	}
}

// TestCountedRoundsInPredictions: all figures of a prediction have the same rounds.
func TestCountedRoundsInPredictions(t *testing.T) {
	predicted := func(rounds string) plan.Summary {
		r, err := compileTiny(tinyTable(t), "x = materialize(rand(50, 50, seed = 1))\niterate v = x, k = 0 until k == "+rounds+
			" { next v = sort(v @ x) / 50; next k = k + 1 }\nemit sum(v)", 1, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		s := plan.Summarise(r.Plan, nil, 1)
		if s.Makespan < 0.999*s.Bound || s.CriticalPath > 1.001*s.TotalSeconds {
			t.Errorf("%s rounds: a makespan of %g, bound %g; a critical path of %g in %g", rounds, s.Makespan, s.Bound, s.CriticalPath, s.TotalSeconds)
		}
		return s
	}
	few, many := predicted("4"), predicted("80")
	if x := many.CriticalPath / few.CriticalPath; x < 10 || many.TotalSeconds < 10*few.TotalSeconds {
		t.Errorf("80 rounds take %g of the path and %g of the work of 4", x, many.TotalSeconds/few.TotalSeconds)
	}
}
