package compiler_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"flow/compiler"
	"flow/ir/op"
)

// This file tests the pass keep: what it marks is computed at most once, only when it is needed,
// and changes neither a byte nor a failure.

// same is expressions of one f64 that are the same wherever they stand, the last ones failing.
var sameEverywhere = []string{"f64(rowargmax(A)[1,0])", "sum(A @ B)", "norm(A[0..2, :] @ B[:, 1..3])", "f64(count(A > B))", "sum(potrf(S))",
	"max(exp(A) - colsum(B))", "sum(sparse(A > 0.2) @ B)", "sum(cumsum(B))", "f64(A.rows) * mean(B ^ 2)", "sum(if s > 0.0 { A } else { t(B) })",
	"sum(potrf(A - 9))", "f64(7 // i64(s - s))"}

// keepBody draws a block with a value of the run, where i is an index and x changes from round to
// round.
func keepBody(rng *rand.Rand, depth int, fails int) string {
	same := func() string { return sameEverywhere[rng.IntN(len(sameEverywhere)-2+fails)] }
	var value func(depth int) string
	names := 0
	value = func(depth int) string {
		names++
		n := names
		switch k := rng.IntN(7); {
		case depth <= 0 || k == 0:
			return []string{"x", "f64(i)", "x * f64(i)"}[rng.IntN(3)]
		case k < 3:
			return "(" + value(depth-1) + " + " + same() + ")"
		case k < 5:
			cond := []string{"i % 3 == 1", "x > 2.0", "i == 0", "s > 0.5", "x < -1e300"}[rng.IntN(5)]
			return "(if " + cond + " { " + value(depth-1) + " } else { y" + fmt.Sprint(n) + " = " + same() + "\n y" + fmt.Sprint(n) + " - " + value(depth-1) + " })"
		case k < 6:
			return "sum(A * " + value(depth-1) + ")"
		}
		return "(if s > -1.0 { z" + fmt.Sprint(n) + " = B + f64(i)\n iterate w" + fmt.Sprint(n) + " = x, k" + fmt.Sprint(n) + " = 0 until k" + fmt.Sprint(n) + " == 3 { next w" + fmt.Sprint(n) +
			" = w" + fmt.Sprint(n) + " / 2 + " + same() + " + sum(z" + fmt.Sprint(n) + " @ A) + " + value(depth-1) + "; next k" + fmt.Sprint(n) + " = k" + fmt.Sprint(n) + " + 1 }\n w" + fmt.Sprint(n) + " } else { x })"
	}
	return value(depth)
}

func TestKeep(t *testing.T) {
	table := tinyTable(t)
	failed, marked := 0, 0
	for seed := range uint64(80) {
		f, m := keepAgrees(t, table, seed+1)
		if f {
			failed++
		}
		if m {
			marked++
		}
	}
	if failed < 5 || marked < 20 {
		t.Errorf("%d programs have marks and %d fail: too few for a test", marked, failed)
	}
}

// keepAgrees runs the loop of a seed in several ways, and reports whether it fails, and has values
// that are kept.
func keepAgrees(t *testing.T, table *op.Table, seed uint64) (failed, marked bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	body := keepBody(rng, 4, 2*int(seed%2))
	loop := "v = parfor i in 0..7 { x = f64(i) / 2\n " + body + " }"
	if seed%3 == 0 {
		loop = "iterate v = 1.5, i = 0 until i == 6 { x = v\n next v = " + body + "; next i = i + 1 }"
	}
	text := "A = rand(4, 4, seed = 1)\nB = randn(4, 4, seed = 2)\nS = rand_spd(4, seed = 3)\ns = sum(A) / 8\n" + loop + "\nemit v\n"
	o, err := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {1, 2, []string{"keep"}, false, ""}, {2, 1, []string{"hoist"}, false, ""}, {1, 2, []string{"fuse", "hoist"}, false, ""}}.some(seed).differ(table, text)
	if err != nil {
		t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
	}
	c, _ := compiledOnce(table, text, 1, false, nil)
	if strings.Contains(c.Plan.Graph.String(), "keep=") {
		marked = true
	}
	if !o.failed {
		return false, marked
	}
	var want, have *op.Failure
	if got := ran(c, 3); !errors.As(o.err, &want) || !errors.As(got.err, &have) || want.Msg != have.Msg || want.Code != have.Code {
		t.Fatalf("seed %d: by definition it fails so:\n%+v\nand in a run\n%+v\nin\n%s", seed, want, have, text)
	}
	return true, marked
}

// countCalls counts the executions of a row from now on; each is one call of its kernel, never a
// loop.
func countCalls(row *op.Def) *atomic.Int64 {
	calls, kernel := new(atomic.Int64), row.Kernel
	row.Loop = nil
	row.Kernel = func(c *op.Call) error { calls.Add(1); return kernel(c) }
	return calls
}

// A value that is the same in all rounds is computed once however many workers need it, and not at
// all where no round does.
func TestKeptOnce(t *testing.T) {
	for _, c := range []struct {
		text  string
		calls int64
	}{
		{"parfor i in 0..500 { if u[i % 9, 0] > 1.0 { 1.0 } else { potrf(u)[i % 9, 0] } }", 1},
		{"parfor i in 0..500 { if u[i % 9, 0] > 1e9 { potrf(u)[i % 9, 0] } else { 1.0 } }", 0},
		{"parfor i in 0..500 { if i % 2 == 0 { u[0, :] } else { u[1, :] + potrf(u)[i % 9, 0] } }", 1},
		{"parfor i in 0..9 { if i == 3 { iterate z = u, k = 0 until k == 5 { next z = z + potrf(u + f64(i)); next k = k + 1 }\n sum(z) } else { 0.0 } }", 1},
		{"parfor i in 0..9 { iterate z = 0.0, k = 0 until k == i { next z = z + potrf(u)[1, 0]; next k = k + 1 }\n z }", 1},
	} {
		table := tinyTable(t)
		calls := countCalls(table.Must("potrf"))
		r, err := compileTiny(table, "u = rand_spd(9, seed = 1)\nv = "+c.text+"\nemit sum(v)\n", 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := ran(r, 3); o.failed {
			t.Fatal(o.err)
		}
		if n := calls.Load(); n != c.calls {
			t.Errorf("potrf ran %d times, not %d, in\n%s", n, c.calls, c.text)
		}
	}
}

// The same in iterate, whose rounds are tasks: a loop in a loop keeps what changes with the outer
// one for as long as it does not.
func TestKeptRounds(t *testing.T) {
	for _, c := range []struct {
		text  string
		calls int64
	}{
		{"iterate x = 1.0, k = 0 until k == 40 { next x = if k % 2 == 1 { x + sum(potrf(A)) } else { x / 2 }; next k = k + 1 }", 1},
		{"iterate x = 1.0, k = 0 until k == 40 { next x = if k < 0 { x + sum(potrf(A)) } else { x / 2 }; next k = k + 1 }", 0},
		{"iterate x = 1.0, k = 0 until x > 1e300 or k == 0 { next x = sum(potrf(A)); next k = k + 1 }", 0},
		{"iterate x = 1.0, k = 0 until k == 4 { B = A + f64(k) * eye(9)\n iterate y = x, j = 0 until j == 5 { next y = y / 2 + sum(potrf(B)); next j = j + 1 }\n next x = y; next k = k + 1 }", 4},
		{"iterate x = A, k = 0 until k == 4 { next x = x + potrf(potrf(A) @ t(potrf(A))); next k = k + 1 }", 2},
		{"iterate x = A, k = 0 until k == 4 { next x = potrf(A); next k = k + 1 }", 1},
	} {
		table := tinyTable(t)
		calls := countCalls(table.Must("potrf"))
		text := "A = rand_spd(9, seed = 1)\n" + c.text + "\nemit x\n"
		for _, disable := range [][]string{nil, {"keep"}} {
			r, err := compileTiny(table, text, 1, false, disable)
			if err != nil {
				t.Fatal(err)
			}
			meant := evaluated("the meaning", r.Program)
			calls.Store(0)
			if o := ran(r, 3); o.failed || o.out != meant.out {
				t.Fatalf("%v, or not the bytes of the definition", o.err)
			}
			if n := calls.Load(); disable == nil && n != c.calls || disable != nil && n < c.calls {
				t.Errorf("without %v potrf ran %d times, not %d, in\n%s", disable, n, c.calls, c.text)
			}
		}
	}
}

// The pass marks a copy: the graph that it gets may be that of the program, which defines what the
// program means.
func TestKeepMarksACopy(t *testing.T) {
	var off []string // without the other passes the plan is the program, marked
	for _, p := range compiler.Passes() {
		if !p.Required && p.Name != "keep" {
			off = append(off, p.Name)
		}
	}
	for _, text := range []string{
		"u = rand_spd(9, seed = 1)\nemit sum(parfor i in 0..9 { if u[i, 0] > 1.0 { 1.0 } else { potrf(u)[i, 0] } })\n",
		"u = rand_spd(9, seed = 1)\nemit if sum(u) > 1 { sum(parfor i in 0..9 { if i > 3 { 1.0 } else { potrf(u)[i, 0] } }) } else { 0.0 }\n",
		"A = rand_spd(9, seed = 1)\niterate x = A, k = 0 until k == 4 { next x = potrf(A); next k = k + 1 }\nemit x\n",
	} {
		c, err := compileTiny(tinyTable(t), text, 1, false, off)
		if err != nil {
			t.Fatal(err)
		}
		const mark = "keep="
		if program, marked := c.Program.String(), c.Plan.Graph.String(); strings.Contains(program, mark) || !strings.Contains(marked, mark) {
			t.Errorf("the program is\n%s\nand its plan\n%s", program, marked)
		}
	}
}
