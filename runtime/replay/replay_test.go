package replay

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"flow/runtime/schedule"
	"flow/runtime/trace"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-300) }

// record is a loop of 10 iterations in leaves of 4 on three workers, of which the third never
// comes. Times in seconds, for reading.
func record(op string, round int32, start int64) trace.LoopRecord {
	const s = 1e9
	at := start * s
	return trace.LoopRecord{Op: op, Where: "a.flow:3:1", Round: round, N: 10, Leaf: 4, MinChunk: 1, Technique: "SS", Workers: 3, Start: at, End: at + 10*s,
		Chunks: []trace.Chunk{
			{Lo: 0, Hi: 4, Worker: 0, Asked: at + 1*s, Start: at + 2*s, End: at + 6*s},
			{Lo: 4, Hi: 8, Worker: 1, Asked: at, Start: at + 1*s, End: at + 9*s},
			{Lo: 8, Hi: 10, Worker: 0, Asked: at + 6*s, Start: at + 7*s, End: at + 8*s},
		}}
}

func TestAccount(t *testing.T) {
	failed := record("map", 1, 50)
	failed.Failed = true
	ops := FromRecords(0, []trace.LoopRecord{record("map", 1, 100), record("sum", 0, 30), record("map", 0, 0), failed}, Fine)
	if len(ops) != 2 || ops[0].Name != "map" || len(ops[0].Loops) != 2 || ops[0].Loops[0].Start != 0 || ops[1].Name != "sum" {
		t.Fatalf("%+v", ops)
	}
	l := &ops[0].Loops[0]
	if got := fmt.Sprint(l.Costs.Costs()); got != "[4 8 1]" {
		t.Errorf("costs %s", got)
	}
	a := l.Account()
	// Worker 0 is busy 5 s, claims 2 s, is late by 1 s, waits 2 s; worker 1 is busy 8, claims
	// 1, waits 1; worker 2 is elsewhere.
	if a.Time != 10 || a.Busy != 13 || a.Sched != 3 || a.Idle != 3 || a.Other != 11 || a.Chunks != 3 {
		t.Errorf("%+v", a)
	}
	if a.Bound != 8 || a.Binds() != "largest job" || a.LPT != 8 || a.BestBlock != 8 || !near(a.Area, 13./3) {
		t.Errorf("%+v", a)
	}
	if ops[0].Overlap() || !FromRecords(0, []trace.LoopRecord{record("map", 0, 0), record("map", 1, 5)}, Fine)[0].Overlap() {
		t.Error("the executions at 0 and 100 overlap, or those at 0 and 5 do not")
	}
	both := ops[0].Account()
	if both.Executions != 2 || both.Bound != 16 || !near(both.Busy+both.Sched+both.Idle+both.Other, 60) {
		t.Errorf("%+v", both)
	}
	if c := Claiming(ops); !near(c, 1) {
		t.Errorf("a claim takes %g s", c)
	}
}

// Rank 1 has run half of the second chunk of rank 0, and had nothing of its own to do but 1 s of work.
func TestTogether(t *testing.T) {
	const s = 1e9
	part := func(workers int32, end int64, chunks ...trace.Chunk) *Operator {
		return &FromRecords(0, []trace.LoopRecord{{Op: "map", N: chunks[len(chunks)-1].Hi, Leaf: 1, Workers: workers, End: end, Chunks: chunks}}, Fine)[0]
	}
	mine := part(2, 10*s, trace.Chunk{Lo: 0, Hi: 4, Asked: 0, Start: 1 * s, End: 9 * s}, trace.Chunk{Lo: 4, Hi: 8, Worker: trace.Elsewhere, Start: 3 * s, End: 7 * s})
	other := part(1, 8*s, trace.Chunk{Lo: 0, Hi: 1, Asked: 0, Start: 0, End: 3 * s})
	a, ok := Together([]*Operator{mine, other})
	if !ok || a.Workers != 3 || a.Time != 10 || a.Busy != 15 || a.Sched != 1 || a.Idle != 14 || a.Chunks != 3 || a.Executions != 1 {
		t.Errorf("%t, %+v", ok, a)
	}
	// The iterations take 4 x 2, 4 x 1 and 3 s, so one worker of three has two of the longest four: 2 + 2.
	if a.Bound != 5 || a.Binds() != "area" || a.Largest != 4 || a.Percent() != 50 {
		t.Errorf("%+v", a)
	}
	other.Loops = append(other.Loops, other.Loops[0])
	if _, ok := Together([]*Operator{mine, other}); ok {
		t.Error("one rank has run the loop once more, and the executions are taken for the same")
	}
	if _, ok := Together([]*Operator{other, mine}); ok {
		t.Error("one rank has run the loop less often, and the executions are taken for the same")
	}
}

// TestCoarse: more units than are kept are taken together, without losing time.
func TestCoarse(t *testing.T) {
	const n = 3*maxUnits + 7
	r := trace.LoopRecord{Op: "map", N: n, Leaf: 1, MinChunk: 1, Workers: 1, End: 2e9,
		Chunks: []trace.Chunk{{Lo: 0, Hi: 1000, End: 1e9}, {Lo: 1000, Hi: n, Asked: 1e9, Start: 1e9, End: 2e9}}}
	l := loopOf(&r, maxUnits)
	if k := len(l.Costs.Costs()); k > maxUnits || k < maxUnits/2 || !near(l.Costs.Total(), 2) {
		t.Errorf("%d units of %g s", k, l.Costs.Total())
	}
}

func costs(t *testing.T, text string) Operator {
	t.Helper()
	o, err := ReadCosts(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSimulate replays costs of which the result can be said beforehand.
func TestSimulate(t *testing.T) {
	o := costs(t, "# ten\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10 # the last\n\n---\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n")
	if len(o.Loops) != 2 || o.Loops[0].Costs.Total() != 55 || o.Loops[1].Costs.Total() != 10 {
		t.Fatalf("%+v", o)
	}
	static, err := schedule.Lookup("STATIC")
	if err != nil {
		t.Fatal(err)
	}
	// Five and five: 40 and 5, no overhead.
	a, err := Simulate(&o, static, Machine{Workers: 2}, 0)
	if err != nil || a.Time != 45 || a.Executions != 2 || a.Chunks != 4 || a.Bound != 27.5+5 || a.BestBlock != 28+5 || a.Sched != 0 {
		t.Errorf("%+v %v", a, err)
	}
	if got := a.Busy + a.Sched + a.Idle + a.Other; !near(got, 90) {
		t.Errorf("parts add up to %g of 90", got)
	}
	r, err := SimulateAll([]Operator{o, o}, static, Machine{Workers: 1, H: .5}, 0)
	if err != nil || r.Time != 2*(65+1) || !near(r.Speedup, 65./66) {
		t.Errorf("%+v %v", r, err)
	}
	name, time, all, err := Oracle(&o)
	if err != nil || !all || time != 65 || name == "" {
		t.Errorf("oracle on one worker: %s %g %v", name, time, err)
	}
}

// TestLearning: COST knows after the first execution where the work is.
func TestLearning(t *testing.T) {
	one := strings.Repeat("1\n", 1000) + strings.Repeat("50\n", 24)
	tech, err := schedule.Lookup("COST")
	if err != nil {
		t.Fatal(err)
	}
	first, err := Simulate(ptr(costs(t, one)), tech, Machine{Workers: 8, H: .5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ten, err := Simulate(ptr(costs(t, strings.Repeat(one+"---\n", 10))), tech, Machine{Workers: 8, H: .5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ten.Executions != 10 || ten.Time >= 10*first.Time {
		t.Errorf("ten executions take %g, one takes %g", ten.Time, first.Time)
	}
}

func ptr[T any](x T) *T { return &x }

func TestReadCostsRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no costs"},
		{"# nothing\n---\n", "no costs"},
		{"1\n2 3\n", `line 2: "2 3" is not a number`},
		{"1\n-2\n", "line 2: a cost is finite and not negative, not -2"},
		{"NaN\n", "line 1: a cost is finite"},
		{"1\n\nInf\n", "line 3: a cost is finite"},
		{"\x7fELF\x02\x01\x01 a program and more than that\n", "line 1"},
		{strings.Repeat("1", 1<<17), "longer"},
	} {
		if _, err := ReadCosts(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.text, err, c.want)
		}
	}
}
