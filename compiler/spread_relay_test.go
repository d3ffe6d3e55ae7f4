package compiler_test

// These tests run rounds that read a few rows of a matrix that ranks share. The rank with the rows of a
// round runs it.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
)

// relayPrograms have at least so many tasks of rounds on three ranks.
var relayPrograms = []spreadProgram{
	{"minibatches, again and again", `X = rand(24, 3, seed = 1)
y = rowsum(X)
iterate w = zeros(3, 1), k = 0 times 18 {
  s = (k % 6) * 4
  A = X[s..s+4, :]
  next w = w - 0.1 * t(A) @ (A @ w - y[s..s+4, :])
  next k = k + 1
}
emit w`, 9, 0},
	{"a pass over rows, with numbers", `X = rand(29, 3, seed = 1)
y = cumsum(rand(29, 1, seed = 2))
iterate w = zeros(3, 1), k = 0, loss = 0.5 until k == 29 {
  x = X[k, :]
  e = y[k] - x @ w
  next w = w + 0.1 * t(x) * e
  next loss = loss + sum(e ^ 2)
  next k = k + 1
}
emit w
emit loss
emit k`, 3, 0},
	{"two numbers and a maximum", `x = cumsum(rand(31, 1, seed = 1) - 0.5)
iterate s = 0.0, m = -1.0, k = 3 until 27 < k {
  next s = 0.9 * s + 0.1 * x[k]
  next m = max(m, abs(s - x[k + 1] * x[k - 3]))
  next k = k + 2
}
emit s + m`, 3, 0},
	{"the most likely path", `E = log(rand(26, 4, seed = 3))
A = log(rand(4, 4, seed = 4))
iterate d = E[0, :], k = 1 times 25 {
  next d = t(rowmax(t(A) + d)) + E[k, :]
  next k = k + 1
}
emit max(d)
emit colsum(E)`, 3, 0},
	{"windows that overlap, with steps", `X = cumsum(rand(40, 2, seed = 5))
iterate a = zeros(5, 2), k = 0 until k >= 33 {
  next a = 0.5 * a + X[k..k+5, :] + X[k // 2, 1]
  next k = k + 3
}
emit a`, 3, 0},
	{"branches and integers", `c = cumsum(randint(33, 1, 0, 9, seed = 7))
iterate s = 0, t = 1, k = 0 times 33 {
  v = c[k, 0]
  next s = if v % 3 == 0 { s + v } else { s - t }
  next t = (t * 3 + v) % 1000
  next k = k + 1
}
emit s
emit t`, 3, 0},
	{"rows by a list, and points", `X = rand(24, 3, seed = 1)
y = rowsum(X)
iterate w = zeros(3, 1), k = 0 times 12 {
  s = (k % 6) * 4
  rows = s + seq(0, 4)
  r = parfor i in 0..4 { sum(t(X[s + i, :]) * w) - y[s + i] }
  g = parfor j in 0..3 { sum(X[s..s+4, j] * r) }
  next w = w - 0.1 * g + 0.01 * t(take(X, rows)) @ take(y, rows)
  next k = k + 1
}
emit w`, 6, 0},
	{"neighbours of points", `X = cumsum(rand(26, 3, seed = 1))
iterate a = zeros(2, 3), k = 1 until k == 23 {
  next a = 0.5 * a + parfor i in 0..2, j in 0..3 { X[k + i, j] - X[k - 1, 2 - j] * X[k + 2 * i, 0] }
  next k = k + 1
}
emit a`, 3, 0},
	{"from the last rows on", `X = cumsum(rand(26, 3, seed = 1))
iterate s = 0.0, k = 25 until k < 1 {
  next s = 0.5 * s + sum(X[k, :]) - X[k - 1, 0]
  next k = k - 2
}
emit s`, 3, 0},
	{"minibatches from the last one on", `X = rand(24, 3, seed = 1)
iterate w = zeros(3, 1), k = 16 times 17 {
  s = (k % 6) * 4
  A = X[s..s+4, :]
  next w = w - 0.1 * t(A) @ (A @ w - 1) + 0.01 * w
  next k = k - 1
}
emit w`, 9, 0},
	{"all of another matrix, and what is read again", `X = cumsum(rand(23, 3, seed = 1))
Y = cumsum(rand(19, 3, seed = 2))
iterate s = 0.0, k = 0 times 23 {
  next s = 0.5 * s + sum(X[k, :] * Y[(k * k) % 19, :])
  next k = k + 1
}
emit s * colsum(X) + Y[3, :]`, 3, 0},
	{"epochs of minibatches", `X = rand(24, 3, seed = 1)
y = rowsum(X)
iterate w = zeros(3, 1) times 9 {
  iterate v = w, k = 0 times 6 {
    s = k * 4
    A = X[s..s+4, :]
    next v = v - 0.1 * t(A) @ (A @ v - y[s..s+4, :])
    next k = k + 1
  }
  next w = v
}
emit w`, 27, 0},
	{"epochs until a number, with two values in another order", `X = cumsum(rand(29, 3, seed = 1))
iterate a = zeros(1, 3), q = 1 times 9 {
  iterate k = 2, p = q, b = a until k >= 28 {
    next b = 0.5 * b + X[k, :] - X[k - 1, 0] * p
    next p = (p * 5 + k) % 101
    next k = k + 2
  }
  next a = b
  next q = p
}
emit a
emit q`, 27, 0},
}

// stayingPrograms read rows in an order that is not known, or that changes ranks too often, or carry
// the matrix: all ranks run all rounds.
var stayingPrograms = []spreadProgram{
	{"an order that is not followed", `X = cumsum(rand(23, 3, seed = 1))
iterate s = 0.0, k = 0 times 23 {
  next s = 0.5 * s + sum(X[(k * k) % 23, :])
  next k = k + 1
}
emit s`, 1, 0},
	{"two counters, one of them down", `x = cumsum(rand(23, 1, seed = 1))
iterate s = 0.0, k = 22, j = 0 times 23 {
  next s = 0.5 * s + x[k] - x[j]
  next k = k - 1
  next j = j + 1
}
emit s`, 1, 0},
	{"a step of the run", `x = cumsum(rand(23, 1, seed = 1))
iterate s = 0.0, k = 0 until k >= 20 {
  next s = 0.5 * s + x[k]
  next k = k + 1 + i64(s > 3)
}
emit s`, 1, 0},
	{"an end of the run", `x = cumsum(rand(23, 1, seed = 1))
iterate s = 0.0, k = 0 until k == 23 or s > 4 {
  next s = 0.5 * s + x[k]
  next k = k + 1
}
emit s
emit k`, 1, 0},
	{"rows by a list that goes round", `X = cumsum(rand(23, 3, seed = 1))
iterate s = zeros(4, 3), k = 0 times 23 {
  next s = 0.5 * s + take(X, (k + seq(0, 4)) % 23)
  next k = k + 1
}
emit s`, 1, 0},
	{"points that count from the end", `x = cumsum(rand(23, 1, seed = 1))
iterate s = zeros(4, 1), k = -3 times 20 {
  next s = 0.5 * s + parfor i in 0..4 { x[k + i] }
  next k = k + 1
}
emit s`, 1, 0},
	{"often", `x = cumsum(rand(64, 1, seed = 1))
iterate s = 0.0, k = 0 times 512 {
  next s = 0.5 * s + x[(k * 32) % 64]
  next k = k + 1
}
emit s`, 1, 0},
	{"epochs that differ", `x = cumsum(rand(23, 1, seed = 1))
iterate w = 0.0, e = 1.0 times 9 {
  iterate v = w, k = 0 times 23 {
    next v = 0.5 * v + x[k] * e
    next k = k + 1
  }
  next w = v
  next e = e * 0.5
}
emit w`, 1, 0},
	{"a counter that all epochs share", `x = cumsum(rand(23, 1, seed = 1))
iterate w = 0.0, j = 0 times 9 {
  iterate v = w, k = j times 2 {
    next v = 0.5 * v + x[k]
    next k = k + 1
  }
  next w = v
  next j = k
}
emit w + j`, 1, 0},
	{"each round reads what the epoch begins with", `x = cumsum(rand(23, 1, seed = 1))
iterate w = 0.0 times 9 {
  iterate v = w, k = 0 times 23 {
    next v = 0.5 * v + x[k] * w + 0.1
    next k = k + 1
  }
  next w = v
}
emit w`, 1, 0},
	{"two values begin with one", `x = cumsum(rand(23, 1, seed = 1))
iterate w = 0.0 times 9 {
  iterate u = w, v = w, k = 0 times 23 {
    next u = u * 0.3 + 1
    next v = 0.5 * v + x[k] - u
    next k = k + 1
  }
  next w = v
}
emit w`, 1, 0},
	{"too many epochs", `x = cumsum(rand(23, 1, seed = 1))
iterate w = 0.0 times 40 {
  iterate v = w, k = 0 times 23 {
    next v = 0.5 * v + x[k]
    next k = k + 1
  }
  next w = v
}
emit w`, 1, 0},
	{"all of the matrix at the end", `iterate x = cumsum(rand(23, 1, seed = 1)), k = 0 times 9 {
  next x = x * 0.5 + x[k]
  next k = k + 1
}
emit x`, 1, 0},
}

// relayFailures have no such row in some round.
var relayFailures = []string{
	`emit 1
x = cumsum(rand(23, 1, seed = 1))
iterate s = 0.0, k = 0 times 40 {
  next s = 0.5 * s + x[k]
  next k = k + 1
}
emit s`,
	`x = cumsum(i64(ones(23, 1)))
iterate s = 0, k = 0 until k == 23 {
  next s = s + 100 // (x[k, 0] - 17)
  next k = k + 1
}
emit s`,
	`x = cumsum(i64(ones(23, 1)))
iterate s = 0 times 9 {
  iterate v = s, k = 0 times 23 {
    next v = v + min(x[k, 0], 1) + min(abs(100 // (v - 40)), 0)
    next k = k + 1
  }
  next s = v
}
emit s`,
}

// roundsIn counts the tasks of rounds of g.
func roundsIn(g *ir.Graph) (n int) {
	for i := range g.Nodes {
		if g.Nodes[i].Op.Role == op.Rounds {
			n++
		}
	}
	return n
}

// withRounds makes the functions that run programs on ranks make loops one task.
func withRounds(t *testing.T) {
	before := apart
	apart = nil
	t.Cleanup(func() { apart = before })
}

func TestRelays(t *testing.T) {
	withRounds(t)
	for k, p := range append(relayPrograms, stayingPrograms...) {
		c, err := compileTiny(tinyTable(t), p.text, 3, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := roundsIn(c.Plan.Graph); n != p.shares {
			t.Errorf("%s: %d tasks of rounds on three ranks, not %d", p.name, n, p.shares)
		}
		for i := range c.Plan.Graph.Nodes {
			if n := &c.Plan.Graph.Nodes[i]; plan.IsGather(n) && !plan.Reaches(n) && c.Plan.Graph.Type(ir.ID(i)).Rows > 20 && k < len(relayPrograms)-1 {
				t.Errorf("%s: %%%d is gathered whole in\n%s", p.name, i, c.Plan.Graph)
			}
		}
		p.shares = 0
		spreadAlike(t, []spreadProgram{p})
	}
}

func TestRelayMessages(t *testing.T) {
	withRounds(t)
	sendsAsPredicted(t, relayPrograms[:3])
}

func TestRelayFails(t *testing.T) {
	withRounds(t)
	failsAsDefined(t, relayFailures, roundsIn, relayPrograms[0].text)
}

// A failure tells the number of the round in each loop, and not among those that its rank has run.
func TestRelaysCountRounds(t *testing.T) {
	withRounds(t)
	for k, want := range map[int][]int64{0: {23}, 2: {1, 17}} {
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), relayFailures[k], ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			_, err = runOver(mem.New(ranks, mem.Options{}), c, 1)
			var f *local.TaskFailure
			if !errors.As(err, &f) || len(f.Within) <= len(want) || roundsIn(c.Plan.Graph) < ranks*len(want) {
				t.Errorf("%d ranks, %d tasks of rounds: %+v, not in rounds %d", ranks, roundsIn(c.Plan.Graph), f, want)
				continue
			}
			for i, round := range want {
				if f.Within[1+i].Round != round {
					t.Errorf("%d ranks: %+v, not in rounds %d", ranks, f, want)
				}
			}
		}
	}
}

func TestRelaysDrawn(t *testing.T) {
	table, relays, within := tinyTable(t), 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 97))
		pick := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
		n, first, step := 11+rng.IntN(30), rng.IntN(3), 1+rng.IntN(3)
		last := first + step*(1+(n-3-first)/step/(1+rng.IntN(2)))
		row := func() string {
			return pick("k", "k", "k // 2", "max(k - 2, 0)", "(k * 2) % 7", "min(k + 1, 5)", "k - 1", "3", "p")
		}
		read := func() string {
			at := row()
			return pick("X["+at+", :]", "colsum(take(X, "+at+" + seq(0, 2)))", "t(parfor i in 0..2 { sum(X["+at+" + i, :]) })", "X["+at+", 0] * X["+row()+", :]", "colsum(X[k % 5..k % 5 + 3, :])", "Y["+at+", 1]", "colmax(X["+at+", :] + Y[k, :])")
		}
		end := pick(fmt.Sprintf("times %d", (last-first)/step), fmt.Sprintf("until k == %d", last), fmt.Sprintf("until k > %d", last-1), fmt.Sprintf("until %d <= k", last-1))
		text := fmt.Sprintf("X = cumsum(rand(%d, 2, seed = %d))\nY = cumsum(rand(%d, 2, seed = 9))\niterate a = zeros(1, 2), q = 1, k = %d %s {\n  p = q %% 9\n", n, seed, n, first, end)
		text += fmt.Sprintf("  b = 0.5 * a + %s - %s\n  next a = b\n  next q = (q * 5 + k + i64(sum(abs(b)))) %% 1000\n  next k = k + %d\n}\nemit a\nemit q * k\n", read(), read(), step)
		if seed%3 == 0 {
			text = strings.Replace(text, "iterate a = zeros(1, 2), q = 1,", "iterate A = zeros(1, 2), Q = 1 times 9 {\niterate a = A, q = Q,", 1)
			text = strings.Replace(text, "emit a\nemit q * k\n", "next A = a\nnext Q = q\n}\nemit A\nemit Q\n", 1)
		}
		c, err := compiledOnce(table, text, 3, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if n := roundsIn(c.Plan.Graph); n > 1 {
			relays++
			if seed%3 == 0 {
				within++
			}
		}
		if _, err := (runs{{3, 1, nil, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, []string{"hoist", "keep"}, false, "SS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if relays < 12 || within < 4 {
		t.Errorf("only %d loops go from rank to rank, and %d loops in loops", relays, within)
	}
}
