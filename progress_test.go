package flow

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
)

// A run tells the rounds of its loop and the iterations of its parfor, with the statements, while
// they run: of an iterate over scalars that is one compiled loop it tells the statement alone. The
// programs would run for minutes: they are stopped when it has been seen, so that no clock decides.
func TestProgressOfLoops(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(p Progress) bool
	}{
		{"times", "iterate x = ones(300, 300), k = 0 times 100000000 { next x = x @ x / 300.0; next k = k + 1 }\nemit sum(x)\n",
			func(p Progress) bool {
				return p.Looping && p.Times == 100000000 && p.Rounds > 0 && strings.HasPrefix(p.What, "iterate x") && strings.Contains(p.What, "(line 1)")
			}},
		{"until", "n = sum(ones(9, 9))\niterate k = ones(100, 100) until max(k) > 1e15 { next k = k + n }\nemit sum(k)\n",
			func(p Progress) bool {
				return p.Looping && p.Times == -1 && p.Rounds > 0 && strings.Contains(p.What, "(line 2)")
			}},
		{"parfor", "R = parfor i in 0..4000000 { iterate s = 0.0 times 20000 { next s = s + sqrt(f64(i)) }; s }\nemit sum(R)\n",
			func(p Progress) bool {
				return p.Of == 4000000 && p.Iterations > 0 && strings.HasPrefix(p.What, "R = parfor i in 0..4000000")
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile(context.Background(), "p.flow", []byte(c.text), CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var mu sync.Mutex
			seen := false
			_, err = p.Run(ctx, RunOptions{Threads: 2, Stdout: &bytes.Buffer{}, Progress: func(now Progress) {
				mu.Lock()
				defer mu.Unlock()
				if c.want(now) {
					seen = true
					cancel() // the run would take minutes
				}
			}})
			if !seen {
				t.Errorf("the run ended with %v and had not told how far it was", err)
			}
		})
	}
}
