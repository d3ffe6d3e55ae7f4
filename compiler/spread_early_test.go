package compiler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/runtime/dist"
	"flow/runtime/dist/transport/mem"
)

// earlyPrograms have loops that carry a value to gathers of the next round, with conditions, inside of
// other loops, and where transfers must not begin early. %s is a file of edges.
var earlyPrograms = []struct{ name, text string }{
	{"halos in a loop that is entered again", `iterate s = 0.0, k = 0 until k == 3 {
  iterate x = seq(0, 29) * 1.0 + k, d = 9.0, r = 0 until d < 0.5 or r == 12 {
    y = parfor i in 0..29 { 0.5 * x[i, 0] + 0.25 * x[max(0, i - 1), 0] + 0.25 * x[min(28, i + 1), 0] }
    next d = max(abs(y - x))
    next x = y
    next r = r + 1
  }
  next s = s + sum(x) + x[13, 0]
  next k = k + 1
}
emit s`},
	{"lists in a loop that goes on where it ended", `G = read_graph("%s")
iterate s = f64(seq(0, G.rows) % 40 == 7), k = 0 until k == 3 {
  iterate c = s, r = 0 until r == 5 {
    next c = max(c, rowmax(G * t(c)))
    next r = r + 1
  }
  next s = c
  next k = k + 1
}
emit sum(s)
emit s[200, 0]`},
	{"a counted loop", `iterate x = seq(0, 29) * 1.0 times 9 {
  next x = parfor i in 0..29 { sin(x[i, 0]) + x[28 - i, 0] }
}
emit x`},
	{"the value is brought together in its round, too", `iterate x = seq(0, 29) * 1.0, v = ones(29, 1), k = 0 until k == 8 {
  w = parfor i in 0..29 { v[i, 0] - 0.1 * x[28 - i, 0] }
  y = parfor i in 0..29 { x[i, 0] + 0.1 * w[(i + 3) % 29, 0] }
  next v = w
  next x = y
  next k = k + 1
}
emit x
emit v`},
	{"a view of the value is carried, too", `iterate X = rand(29, 4, seed = 1), a = zeros(29, 2), k = 0 until k == 8 {
  Y = parfor i in 0..29 { X[i, :] * 0.5 + X[28 - i, :] }
  next a = Y[:, 0..2]
  next X = Y
  next k = k + 1 + count(a > 1e9)
}
emit X
emit a`},
	{"two gathers of one value, and the condition reads it", `iterate x = seq(0, 29) * 1.0, k = 0 until k == 8 or x[28, 0] > 1e9 {
  y = parfor i in 0..29 { 0.5 * x[28 - i, 0] + 0.25 * x[i, 0] }
  z = parfor i in 0..29 { x[max(0, i - 2), 0] }
  next x = y + z
  next k = k + 1
}
emit x`},
	{"the value does not depend on what its round brings", `iterate x = seq(0, 29) * 1.0, s = 0.0, k = 0 until k == 8 {
  w = parfor i in 0..29 { x[28 - i, 0] * (i + 1) }
  next s = s + sum(w) + w[3, 0]
  next x = parfor i in 0..29 { x[i, 0] * 1.25 + k }
  next k = k + 1
}
emit s
emit x`},
	{"a failure on one rank in the last round", `iterate x = seq(0, 29) * 1.0, k = 0 until k == 6 {
  y = parfor i in 0..29 {
    iterate z = x[28 - i, 0] * 0.25, m = 0 until m == 4000 * ifelse(i < 8, 1, 0) { next z = sin(z); next m = m + 1 }
    z + f64(7 // (5 - k + ifelse(i == 25, 0, 1)))
  }
  next x = y
  next k = k + 1
}
emit x`},
	{"a failure in a late round", `iterate x = seq(0, 29) * 1.0, k = 0 until k == 9 {
  y = parfor i in 0..29 { 0.5 * x[28 - i, 0] + 0.25 * x[i, 0] }
  assert k < 6 or y[20, 0] < 0, fmt("round {}", k)
  next x = y
  next k = k + 1
}
emit x`},
}

// TestEarlyGathers: transfers for the next round begin before a loop's condition is known. What is
// gathered and printed is the same as by the definition, on slow transports, too.
func TestEarlyGathers(t *testing.T) {
	var edges strings.Builder
	for i := range 701 {
		fmt.Fprintln(&edges, i, (i*7+3)%701)
	}
	path := filepath.Join(t.TempDir(), "edges.txt")
	if err := os.WriteFile(path, []byte(edges.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, p := range earlyPrograms {
		text := strings.Replace(p.text, "%s", path, 1)
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), text, ranks, false, apart)
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			want := evaluated("the meaning", c.Program)
			for k, o := range slowTransports {
				out, err := runOver(mem.New(ranks, o), c, 1+k%2)
				if (err == nil) != (want.err == nil) || out != want.out {
					t.Errorf("%s, %d ranks: %v, by definition %v, %s", p.name, ranks, err, want.err, difference(want.out, out))
				}
			}
		}
	}
}

// TestEarlyGathersAreCounted: a loop with a condition begins the transfers of one round more than it
// has, from earlyRounds rounds on. A counted loop knows its last round.
func TestEarlyGathersAreCounted(t *testing.T) {
	sent := func(end string) (n int64) {
		text := "iterate x = seq(0, 29) * 1.0, k = 0 " + end + ` {
  next x = parfor i in 0..29 { 0.5 * x[max(0, i - 1), 0] + 0.25 * x[i, 0] }
  next k = k + 1
}
emit sum(x)`
		c, err := compileTiny(tinyTable(t), text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(int) dist.Options { return dist.Options{Env: &printer{}} })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Ranks {
			n += r.MessagesSent
		}
		return n
	}
	round := (sent("times 7") - sent("times 5")) / 2
	if few, many := sent("until k == 3")-sent("times 3"), sent("until k == 7")-sent("times 7"); round == 0 || few != 0 || many != round {
		t.Errorf("a round has %d messages, a loop of 3 rounds %d more than one of a known number, of 7 rounds %d", round, few, many)
	}
}
