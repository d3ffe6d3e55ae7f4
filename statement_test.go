package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// A trace calls tasks by the user's statements, and has at most two rows of communication a rank.
func TestTraceNames(t *testing.T) {
	const text = `X = rand(200, 200, seed = 1)
for k in 0..2 {
  A = t(X) @ X # gram
  emit sum(A); emit max(A)
}
L = cholesky(t(X) @ X + 200 *
  eye(200), tile = 40)
iterate v = 0.0 times 9 {
  next v = v + sum(L) }
emit v
R = parfor i in 0..200 { sqrt(X[i, 0]) }
emit colsum(R)
`
	for _, ranks := range []int{1, 3} {
		p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(context.Background(), RunOptions{Stdout: &bytes.Buffer{}, Threads: 1, Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := r.WriteTrace(&file, p); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			TraceEvents []struct {
				Ph, Name, Cat string
				Pid           int
				Args          map[string]any
			}
		}
		if err := json.Unmarshal(file.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		rows, tasks := map[int]int{}, map[string]bool{}
		for _, e := range doc.TraceEvents {
			name, _ := e.Args["name"].(string)
			switch {
			case e.Ph == "M" && e.Name == "thread_name" && strings.HasPrefix(name, "communication"):
				rows[e.Pid]++
			case e.Ph == "X" && e.Cat == "task":
				tasks[e.Name] = true
				if e.Args["kernel"] == nil || !strings.Contains(e.Name, " (line ") {
					t.Errorf("%d ranks: a task is called %q, with %v", ranks, e.Name, e.Args)
				}
			}
		}
		for pid, n := range rows {
			if n > 2 {
				t.Errorf("%d ranks: rank %d has %d rows of communication", ranks, pid, n)
			}
		}
		if ranks > 1 && len(rows) == 0 {
			t.Error("no rank has a row of communication")
		}
		for _, want := range []string{"X = rand(200, 200, seed = 1) (line 1)", "A = t(X) @ X (line 3)", "emit max(A) (line 4)",
			"L = cholesky(t(X) @ X + 200 * eye(200), tile = 40) (line 6): potrf", "iterate v = 0.0 times 9 { .. } (line 8)", "R = parfor i in 0..200 { .. } (line 11)"} {
			if !tasks[want] {
				t.Errorf("%d ranks: no task is called %q, of %v", ranks, want, tasks)
			}
		}
	}
}
