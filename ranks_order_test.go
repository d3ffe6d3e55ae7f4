package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestWhatRanksWaitForComesFirst: a round of a stencil finds the largest change, which all ranks
// wait for, before it makes the matrix of the next round, which takes as long. So the message is
// under way meanwhile. A step of fewer operations, or one that has a single place in the next
// matrix, is made in the loop that finds its change: see group/along and group/displaced in
// compiler/testdata.
func TestWhatRanksWaitForComesFirst(t *testing.T) {
	const text = `U0 = rand(1000, 1000, seed = 3)
iterate U = U0, change = 1.0, step = 0 until change <= 0 or step >= 4 {
  inner = U[1..-1, 1..-1]
  new = inner + 0.25 * tanh(U[0..-2, 1..-1] + U[2.., 1..-1] + U[1..-1, 0..-2] + U[1..-1, 2..] - 4 * inner)
  next U = rbind(U[0, :], cbind(new[:, -1], new, new[:, 0]), U[-1, :])
  next change = max(abs(new - inner))
  next step = step + 1
}
emit sum(U)
`
	p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), RunOptions{Threads: 1, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.WriteTrace(&file, p); err != nil {
		t.Fatal(err)
	}
	var all struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(file.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	began := map[string][]float64{} // by rank and kernel
	for _, e := range all.TraceEvents {
		var kernel struct{ Kernel string }
		if e.Ph != "X" || json.Unmarshal(e.Args, &kernel) != nil || !strings.HasPrefix(*e.Name, "iterate") {
			continue
		}
		key := string(rune('0'+*e.Pid)) + kernel.Kernel
		began[key] = append(began[key], *e.Ts)
	}
	for _, rank := range []string{"0", "1"} {
		reduced, made := began[rank+"pipe"], began[rank+"nest"]
		if len(reduced) < 4 || len(made) != len(reduced) {
			t.Fatalf("rank %s: %d reductions and %d matrices of 4 rounds: %v", rank, len(reduced), len(made), began)
		}
		for k := range made {
			if made[k] < reduced[k] {
				t.Errorf("rank %s, round %d: the matrix is made at %g us, the change found at %g us", rank, k, made[k], reduced[k])
			}
		}
	}
}
