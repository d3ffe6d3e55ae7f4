package compiler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir/plan"
	"flow/runtime/dist"
	"flow/stdlib"
)

// A sparse matrix that a round makes of one outside is made once, by all ranks, if it cannot fail. Its
// rows touch as few rows of the vector as those of one that stands before the loop.
func TestFetchByInvariants(t *testing.T) {
	const text = `W = rand_sparse(60, 60, density = 0.02, seed = 3)
G = rand_graph(60, 90, seed = 4)
%s
iterate x = rand(60, 1, seed = 5), y = seq(0, 60) times 6 {
  next x = %s @ x + 1
  next y = (%s @ y) %% 100
}
emit x
emit y`
	var printed [2]string
	var sent [2]int64
	for k, x := range [][3]string{{"A = t(W)\nB = i64(G)", "A", "B"}, {"", "t(W)", "i64(G)"}} {
		c, err := compileTiny(tinyTable(t), fmt.Sprintf(text, x[0], x[1], x[2]), 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		out := &printer{}
		report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(rank int) dist.Options {
			if rank > 0 {
				return dist.Options{Env: &printer{}}
			}
			return dist.Options{Env: out}
		})
		if err != nil {
			t.Fatal(err)
		}
		printed[k] = out.out.String()
		for _, r := range report.Ranks {
			sent[k] += r.BytesSent
		}
	}
	if printed[0] != printed[1] || printed[0] == "" || sent[0] != sent[1] {
		t.Errorf("matrices made in the loop: %d bytes are sent, not %d, for %q and %q", sent[1], sent[0], printed[1], printed[0])
	}
}

// What may fail stays in its loop: one without rounds does not fail.
func TestInvariantsThatFail(t *testing.T) {
	const text = `S = i64(rand_graph(30, 40, seed = 4))
z = count(seq(0, 3) > 5)
iterate x = 1, k = 0 until k >= %s {
  next x = x + sum(S // z)
  next k = k + 1
}
emit x`
	rounds := map[string]string{"z": "1\n", "1 + z": ""}
	for n, want := range rounds {
		for _, ranks := range []int{1, 3} {
			c, err := compileTiny(tinyTable(t), fmt.Sprintf(text, n), ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			out := &printer{}
			_, err = dist.RunInProcess(context.Background(), c.Plan, 1, func(rank int) dist.Options { return dist.Options{Env: out} })
			if out.out.String() != want || (err != nil) != (want == "") {
				t.Errorf("%s rounds on %d ranks: %q, not %q (%v)", n, ranks, out.out.String(), want, err)
			}
		}
	}
}

// Rows stay where they arrive unless the matrix has so many entries that to number its columns by them
// takes longer than to put the rows in their places.
func TestPackedByEntries(t *testing.T) {
	for _, x := range []struct{ entries, packed int }{{100_000, 1}, {3_000_000, 0}} {
		text := fmt.Sprintf("S = f64(rand_graph(20000, %d, seed = 3))\niterate x = rand(20000, 1, seed = 5) times 6 { next x = S @ x }\nemit max(x)", x.entries)
		c, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 2, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if n := gathersWith(c.Plan.Graph, plan.Packed); n != x.packed || fetchesIn(c.Plan.Graph) != 1 {
			t.Errorf("%d entries: %d of %d gathers with lists keep rows where they arrive, not %d", x.entries, n, fetchesIn(c.Plan.Graph), x.packed)
		}
	}
}

// Ranks share the random numbers of a seed that the run tells, as those of a seed that the program has.
func TestSpreadSeeded(t *testing.T) {
	for _, draw := range []string{"rand(90, 7, seed = k)", "randn(90, 7, seed = 3 * k)", "randint(90, 7, 0, 99, seed = k - 5)", "randexp(90, 7, seed = k)"} {
		text := "iterate s = ones(90, 7), k = 0 times 3 { next s = 0.5 * s + " + draw + "; next k = k + 1 }\nemit s"
		c, err := compileTiny(tinyTable(t), text, 3, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		shared := false
		for _, line := range strings.Split(c.Plan.Graph.String(), "\n") {
			shared = shared || strings.Contains(line, ".seeded(") && strings.Contains(line, plan.Shared+"=3")
		}
		if !shared {
			t.Errorf("%s: each rank draws all numbers", draw)
		}
		if _, err := (runs{{1, 2, nil, false, "SS"}, {2, 1, nil, false, ""}, {3, 2, nil, false, ""}}).differ(tinyTable(t), text); err != nil {
			t.Errorf("%s: %v", draw, err)
		}
	}
}
