package compiler_test

// These tests run loops whose rows ranks share, in the words of users, over transports that hold
// messages back, and compare what they print with the definition.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"flow/compiler"
	"flow/ir"
	"flow/ir/plan"
	"flow/kernels"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/schedule"
)

// spreadProgram shares rows in at least so many nodes.
type spreadProgram struct {
	name, text string
	shares     int
	collects   int // gathers of sparse matrices, of which a plan estimates the bytes
}

var spreadPrograms = []spreadProgram{
	{"points", "emit parfor i in 0..13 { i * i + 1 }", 1, 0},
	{"points of two indices, reduced", "img = parfor y in 0..11, x in 0..5 { y * 10 + x }\nemit sum(img)\nemit mean(img > 40)\nemit rowmax(img)", 3, 0},
	{"an index that does not begin at 0", "x = parfor i in 3..17 { i * 0.5 }\nemit sum(x)\nemit x[2, 0]", 1, 0},
	{"rows read as they are made", `A = rand(17, 3, seed = 1)
x = parfor i in 0..17 { sum(A[i, :]) * A[i, 1] }
y = parfor i in 0..17 { x[i, 0] + x[16 - i, 0] }
emit sum(y * x)
emit y`, 3, 0},
	{"bodies that attract each other", `m = rand(9, 1, seed = 1)
iterate P = rand(9, 3, seed = 2), V = zeros(9, 3) times 5 {
  A = parfor i in 0..9 {
    D = P[i, :] - P
    -colsum(D * (m / (rowsum(D ^ 2) + 0.01) ^ 1.5))
  }
  next V = V + 0.01 * A
  next P = P + 0.01 * (V + 0.01 * A)
}
emit P
emit sum(m * rowsum(V ^ 2))`, 4, 0},
	{"until a reduction says so", `iterate x = seq(1, 24) * 1.0, d = 1.0, k = 0 until d < 0.001 or k == 50 {
  y = parfor i in 0..23 { 0.5 * x[i, 0] + 0.25 * x[(i + 1) % 23, 0] }
  next d = max(abs(y - x))
  next x = y
  next k = k + 1
}
emit k
emit x`, 2, 0},
	{"loops in loops, and a branch", `iterate x = seq(0, 12) * 1.0, s = 0.0 times 3 {
  iterate y = x, t = 0.0 times 2 {
    z = parfor i in 0..12 { y[i, 0] * 0.5 + i }
    next y = z
    next t = t + sum(z)
  }
  w = if t > 40.0 { parfor i in 0..12 { y[11 - i, 0] } } else { y * 2 }
  next x = w
  next s = s + t
}
emit x
emit s`, 2, 0},
	{"a graph", `S = rand_graph(300, 900, seed = 4)
G = S or t(S)
iterate c = seq(1, 301), moved = 1 until moved == 0 {
  u = max(c, rowmax(G * t(c)))
  next moved = count(u != c)
  next c = u
}
emit nunique(c)
emit sum(c)
x = rand(300, 1, seed = 9)
iterate r = x times 4 { next r = G @ r / 7 + x }
emit sum(r)`, 3, 0},
	{"asserts before and in a loop", `assert 1 + 1 == 2
iterate x = seq(0, 12) * 1.0, k = 0 until k == 3 {
  y = parfor i in 0..12 { x[11 - i, 0] * 0.5 + i }
  assert sum(y) < 1e6, "large"
  next x = y
  next k = k + 1
}
emit sum(x)
emit k`, 0, 0},
	{"more ranks than rows", "x = parfor i in 0..2 { i + 1 }\nemit x\ny = parfor i in 0..6 { i + x[0, 0] }\nemit sum(y)", 0, 0},
	{"pairs of an index and a smaller one", `P = rand(13, 2, seed = 1)
emit sum(parfor i in 0..13, j in 0..i { norm(P[i, :] - P[j, :]) })
d = parfor i in 1..7, j in 9 - i..-2 by -3 { 10 * i + j }
emit d
emit t(d) @ parfor i in 1..7, j in 9 - i..-2 by -3 { P[i, 0] + j * P[max(j, 0), 1] }
emit parfor i in 0..5, j in 0..=i { cbind(P[i, :], P[j, :] - i) }
iterate x = P[:, 0], k = 0 until k == 3 {
  e = parfor i in 0..13, j in i + 1..13 { x[i, 0] * x[j, 0] }
  next x = x + sum(e) / 100
  next k = k + 1
}
emit x
emit nrow(parfor i in 0..13, j in 0..i // 12 { i + j })`, 10, 0},
}

// apart leaves out the pass that makes one task of a loop over a small state, as all of these are.
var apart = []string{"rounds"}

// sharedIn counts the nodes of g and its regions whose rows ranks share.
func sharedIn(g *ir.Graph) (n int) {
	for i := range g.Nodes {
		if g.Nodes[i].Attrs.Int(plan.Shared) > 0 {
			n++
		}
		for r := g.Nodes[i].Region; r != nil; r = r.Next {
			n += sharedIn(r.Graph)
		}
	}
	return n
}

// slowTransports hold messages back in several ways.
var slowTransports = []mem.Options{
	{},
	{EagerLimit: -1},
	{EagerLimit: -1, Faults: mem.Faults{Seed: 3, MaxDelay: 300 * time.Microsecond}},
	{MaxTag: 200, Faults: mem.Faults{Seed: 5, MaxDelay: 100 * time.Microsecond}},
}

func TestSpread(t *testing.T) {
	spreadAlike(t, spreadPrograms)
	if helpedChunks.Load() == 0 {
		t.Error("no rank has helped another one")
	}
}

// Under COST a rank with more work than others gives rows away before it is asked: with the rows of an
// operand, several times in a round, where two loops may run in any order, and where a loop runs again.
func TestSpreadMoves(t *testing.T) {
	before := movedIterations.Load()
	spreadAlike(t, []spreadProgram{{"uneven rows in rounds", `v = rand(60, 1, seed = 3)
iterate w = v, r = 0 times 6 {
  next w = parfor i in 0..60 with (schedule = "cost") {
    iterate x = w[i, 0], k = 0 until k >= 6000 / (1 + i) {
      next x = 0.5 * (x + v[59 - i, 0] / (x + 1.5))
      next k = k + 1
    }
    x
  }
  next r = r + 1
}
emit w`, 1, 0}, {"two uneven loops", `v = rand(40, 1, seed = 3)
iterate a = v, b = v times 5 {
  next a = parfor i in 0..40 with (schedule = "cost") {
    iterate x = a[i, 0], k = 0 until k >= 4000 / (1 + i) {
      next x = 3.7 * x * (1.0 - x)
      next k = k + 1
    }
    x
  }
  next b = parfor i in 0..40 with (schedule = "cost") {
    iterate x = b[i, 0], k = 0 until k >= 4000 / (40 - i) {
      next x = 3.6 * x * (1.0 - x)
      next k = k + 1
    }
    x
  }
}
emit a
emit b`, 1, 0}})
	if movedIterations.Load() == before {
		t.Error("no rank has given rows away before it was asked")
	}
}

// spreadAlike compares what programs print on ranks with their definition.
func spreadAlike(t *testing.T, list []spreadProgram) {
	table := tinyTable(t)
	for at, p := range list {
		known := meanings{}
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(table, p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if n := sharedIn(c.Plan.Graph); n < p.shares {
				t.Errorf("%s: rows of %d nodes are shared by %d ranks, %d wanted", p.name, n, ranks, p.shares)
			}
			if n := collectsIn(c.Plan.Graph); n < p.collects {
				t.Errorf("%s: %d ranks bring together %d sparse matrices, not %d", p.name, ranks, n, p.collects)
			}
			if len(plan.Layouts(c.Plan)) == 0 {
				t.Errorf("%s, %d ranks: no layouts", p.name, ranks)
			}
			want := known.of("the meaning", c.Program)
			if of := known.of("the plan", c.Plan.Graph); of.out != want.out || of.failed {
				t.Errorf("%s, %d ranks: by its definition the plan prints %s (%v)", p.name, ranks, difference(want.out, of.out), of.err)
			}
			for k, o := range slowTransports {
				if !everyRun && k > 0 && (k+at+ranks)%3 > 0 {
					continue
				}
				out, err := runOver(mem.New(ranks, o), c, 1+k%2)
				if err != nil || out != want.out {
					t.Errorf("%s, %d ranks, transport %d: %v, %s", p.name, ranks, k, err, difference(want.out, out))
				}
			}
		}
	}
}

// compiledFor compiles a program for so many ranks, and verifies the plan after every pass.
func compiledFor(t *testing.T, text string, ranks int) *compiler.Result {
	t.Helper()
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Verify: true})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return r
}

// helpedChunks counts the chunks that ranks have run for others.
var helpedChunks atomic.Int64

// movedIterations counts the iterations that ranks have given to others before their first chunk.
var movedIterations atomic.Int64

// runOver runs a plan over comms and returns what it prints. Ranks claim one row at a time, and help
// each other as soon as their own are done.
func runOver(comms []transport.Comm, c *compiler.Result, workers int) (string, error) {
	p := &printer{}
	ss, err := schedule.Lookup("SS")
	if err != nil {
		return "", err
	}
	report, err := dist.RunGroup(context.Background(), comms, c.Plan, workers, func(int) dist.Options {
		return dist.Options{Env: p, Grace: hangs, HelpFrom: 1, Agree: true, Schedule: schedule.Plan{Technique: ss}}
	})
	if report == nil {
		return p.out.String(), err
	}
	for _, r := range report.Ranks {
		helpedChunks.Add(r.Helped)
		movedIterations.Add(r.Moved)
	}
	return p.out.String(), err
}

// Each rank makes its own rows: together they make each of them once.
func TestSpreadRowsOnce(t *testing.T) {
	c, err := compileTiny(tinyTable(t), "emit sum(parfor i in 0..101 { i * i })", 3, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &printer{}
	report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(int) dist.Options { return dist.Options{Env: p, Stats: true} })
	if err != nil || p.out.String() != "338350\n" {
		t.Fatalf("%v, %q", err, p.out.String())
	}
	var of []string
	for _, r := range report.Ranks {
		for _, l := range r.Loops {
			of = append(of, fmt.Sprintf("%d: %s %d", r.Rank, l.Op, l.N))
		}
	}
	want := "[0: nest 33 1: nest 34 2: nest 34]"
	if got := fmt.Sprint(of); got != want {
		t.Errorf("the ranks ran %s, not %s", got, want)
	}
}

// What a plan predicts of messages is what its run sends.
func TestSpreadMessages(t *testing.T) {
	sendsAsPredicted(t, []spreadProgram{spreadPrograms[3], spreadPrograms[4], spreadPrograms[6]}) // in rounds of a known number
}

// sendsAsPredicted compares the messages of programs whose rounds are known with those predicted.
func sendsAsPredicted(t *testing.T, list []spreadProgram) {
	for _, p := range list {
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			out := &printer{}
			report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(int) dist.Options { return dist.Options{Env: out} })
			if err != nil {
				t.Fatal(err)
			}
			var messages, bytes int64
			for _, r := range report.Ranks {
				messages, bytes = messages+r.MessagesSent, bytes+r.BytesSent
			}
			s := plan.Summarise(c.Plan, nil, 1)
			if int64(s.Messages) != messages || s.Bytes != bytes && p.collects == 0 {
				t.Errorf("%s, %d ranks: %d messages of %d bytes are predicted, %d of %d sent", p.name, ranks, s.Messages, s.Bytes, messages, bytes)
			}
		}
	}
}

// A run takes one side of a branch: what the lighter side would send is in no prediction.
func TestMessagesOfBranches(t *testing.T) {
	sendsAsPredicted(t, []spreadProgram{{name: "a branch that sends more", text: `iterate x = seq(0, 40) * 1.0 times 6 {
  next x = if max(x) < -2 {
    y = parfor i in 0..40 { sin(x[i, 0]) + i / 40 }
    parfor i in 0..40 { sin(y[39 - i, 0]) }
  } else {
    z = parfor i in 0..40 { sin(x[i, 0]) + 2 }
    parfor i in 0..40 { sin(z[max(0, i - 1), 0]) }
  }
}
emit sum(x)`}})
}

// Where the values of a plan lie is told: in a loop, and where it has ended.
func TestLayouts(t *testing.T) {
	const text = `iterate x = seq(0, 12) * 1.0, s = 0.0 until s > 1000 {
  y = parfor i in 0..12 { x[i, 0] + i }
  z = parfor i in 0..12 { y[11 - i, 0] }
  next x = z
  next s = s + sum(y)
}
emit x`
	c, err := compileTiny(tinyTable(t), text, 3, false, apart)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range plan.Layouts(c.Plan) {
		got = append(got, fmt.Sprintf("%s %s %s, %d rounds: %d messages, %v bytes", l.Op, l.Type, l.Where, l.Rounds, l.Messages, l.Bytes))
	}
	want := []string{
		"map f64[12,1] rows, 1 rounds: 0 messages, 0 bytes",
		"part f64[12,1] rows, 10 rounds: 60 messages, 1920 bytes",
		"part i64[1,69] partial, 10 rounds: 60 messages, 33120 bytes",
		"sum.join i64[1,69] replicated, 10 rounds: 0 messages, 0 bytes",
		"parfor f64[12,1] rows, 10 rounds: 0 messages, 0 bytes",
		"part f64[12,1] rows, 1 rounds: 4 messages, 64 bytes", // only rank 0 prints
	}
	if !slices.Equal(got, want) {
		t.Errorf("layouts are\n%s", strings.Join(got, "\n"))
	}
}

// A layout marks the loops that ranks help each other with. All ranks have their operands, or the row
// of an operand goes with the iteration that reads it.
func TestLayoutsTellHelp(t *testing.T) {
	const body = "parfor i in 0..12 {\n iterate w = %s times i { next w = w * 0.5 + 1 }\n %s }"
	for text, want := range map[string]bool{
		"y = " + fmt.Sprintf(body, "0.0", "w") + "\nemit sum(y)":                                                                true,
		"x = seq(0, 12) * 1.5\ny = " + fmt.Sprintf(body, "x[i, 0]", "w + x[i, 0]") + "\nemit sum(y)":                            true,
		"x = seq(0, 12) * 1.5\ny = " + fmt.Sprintf(body, "x[i, 0]", "w + x[max(i - 1, 0), 0]") + "\nemit sum(y) + sum(x)":       false,
		"y = " + strings.Replace(fmt.Sprintf(body, "0.0", "w + j"), " in 0..12 ", " in 0..12, j in 0..i ", 1) + "\nemit sum(y)": true,
	} {
		c, err := compileTiny(tinyTable(t), text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		some := false
		for _, l := range plan.Layouts(c.Plan) {
			loop := l.Op == "parfor" && l.Where == "rows"
			some = some || loop
			if loop && l.Helped != want {
				t.Errorf("%s %s: helped is %t\n%s", l.Op, l.At, l.Helped, text)
			}
		}
		if !some {
			t.Errorf("ranks share nothing\n%s", text)
		}
	}
}

// spreadFailures fail on several ranks. Ranks that share nothing in a round are at different paces:
// the rows of the first one take longer, so another one fails in a later round before.
var spreadFailures = []string{
	// only the first rank fails, and another one waits for its rows
	`emit 1
iterate x = seq(0, 12), k = 0 until k == 9 {
  y = parfor i in 0..12 {
    at = if i < 2 { 5 } else { 100 }
    x[11 - i, 0] + 1 // (at - k)
  }
  next x = y
  next k = k + 1
}
emit x`,
	`x = parfor i in 0..12 { i + 1 }
emit parfor i in 0..12 { 7 // x[i, 0] + 7 // (x[i, 0] - 11) }`,
	`x = rand(7, 7, seed = 49)
emit parfor i in 0..7 {
  iterate z = 0.0, q = i until q >= 7 {
    next z = z + x[2 * q - i, 0]
    next q = q + 1
  }
  z
}`,
	`x = parfor i in 0..12 { 7 // (i - 8) + 7 // (i - 3) }
emit 1
emit sum(x)`,
	"emit 1\nemit sum(parfor i in 0..12, j in 0..i { 7 // (i * j - 77) + 7 // (i - j - 9) })",
	// The rows of the first rank take longer, so others run some of those that fail.
	`emit sum(parfor i in 0..40 {
  iterate w = 0.0 times (if i < 20 { 4000 } else { 1 }) { next w = w * 0.5 + 1 }
  i64(w) + 1 // (if i < 14 { 1 } else { i // 20 })
})`,
	`emit 1
iterate x = seq(0, 12), k = 0 until k == 9 {
  y = parfor i in 0..12 {
    iterate w = 0.0 times (12 - i) * 200 { next w = w * 0.5 + 1 }
    at = if i < 4 { 5 } else { 7 - i // 6 }
    i64(w) * 0 + x[i, 0] + 1 // (at - k)
  }
  next x = y
  next k = k + 1
}
emit x`,
	`iterate x = seq(0, 12), k = 0 until k == 4 {
  iterate y = x, j = 0 until j == 5 {
    z = parfor i in 0..12 {
      iterate w = 0.0 times (12 - i) * 100 { next w = w * 0.5 + 1 }
      at = if i < 6 { 8 } else { 7 }
      y[i, 0] + i64(w) * 0 + 1 // (at - k * 5 - j)
    }
    next y = z
    next j = j + 1
  }
  next x = y
  next k = k + 1
}
emit x`,
	`A = seq(0, 9)
iterate x = A, k = 0 until k == 6 {
  y = parfor i in 0..9 { x[8 - i, 0] + 1 // (3 + i // 8 - k) }
  assert sum(y) < 1000000, "large"
  next x = y
  next k = k + 1
}
emit x`,
}

func TestSpreadFailsAsDefined(t *testing.T) {
	failsAsDefined(t, spreadFailures, sharedIn, spreadPrograms[4].text)
}

// failsAsDefined compares how programs fail on ranks with their definition. count counts what their
// plans must have. Then the ranks run another program, which works: no request may be left.
func failsAsDefined(t *testing.T, list []string, count func(g *ir.Graph) int, then string) {
	t.Helper()
	table, known := tinyTable(t), meanings{}
	for at, ranks := range []int{2, 4} {
		whole, err := compileTiny(table, then, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		after := known.of("the meaning", whole.Program)
		for i, text := range list {
			c, err := compileTiny(table, text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if count(c.Plan.Graph) == 0 {
				t.Errorf("%d ranks share nothing of\n%s", ranks, text)
			}
			want := known.of("the meaning", c.Program)
			for k, o := range slowTransports {
				if !everyRun && k%2 != (at+i)%2 {
					continue
				}
				comms := mem.New(ranks, o)
				out, err := runOver(comms, c, 1)
				if err == nil || !alike(err, want.err) || out != want.out {
					t.Errorf("%d ranks, transport %d: %q and\n%v\nby definition %q and\n%v\nof\n%s",
						ranks, k, out, err, want.out, want.err, text)
				}
				if out, err := runOver(comms, whole, 1); err != nil || out != after.out {
					t.Errorf("%d ranks, transport %d, after a failure: %v, %s", ranks, k, err, difference(after.out, out))
				}
			}
		}
	}
}
