package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// table has rows of stated cost: the attribute s of a task is its seconds.
var table = func() *op.Table {
	any := func(s *op.Sig) (types.Type, error) { return types.ScalarOf(types.F64), nil }
	cost := func(s *op.Sig, _ types.Type) op.Work { return op.Work{Flops: s.Attrs.Float("s")} }
	t, err := op.NewTable([]*op.Def{
		{Name: "task", Type: any, Cost: cost},
		{Name: "tile", Cost: cost},
		{Name: "over", Cost: cost, Alias: true},
		{Name: "keys", Cost: cost, Beside: func(s *op.Sig, out types.Type) float64 { return 100 * float64(s.In[0].Rows) }},
		{Name: "rated", Type: any, Rate: "gemm", Cost: cost},
		{Name: "exchange", Role: op.Exchange},
		{Name: "gather", Type: any, Role: op.Gathers},
		{Name: "yes", Type: func(*op.Sig) (types.Type, error) { return types.ScalarOf(types.Bool), nil }},
		{Name: "select", Control: op.Select},
		{Name: "free", Type: any},
		{Name: "map", Type: any},
		{Name: "arg", Role: op.Argument},
	})
	if err != nil {
		panic(err)
	}
	return t
}()

// exact turns the attribute into seconds.
type exact struct{}

func (exact) Seconds(rate string, w op.Work) float64 {
	if rate == "gemm" {
		return 2 * w.Flops
	}
	return w.Flops
}

func parse(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse(text, table)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const diamond = `plan ranks 1
%0 = task() {s=1} : f64
%1 = task(%0) {s=2} : f64
%2 = task(%0) {s=3} : f64
%3 = task(%1, %2) {s=1} : f64
`

const crossing = `plan ranks 3
own 0 0 1 2 1 0
prio 6 5 4 3 2 1
%0 = tile() {s=2} : f64[10,10]
%1 = exchange(%0) {to=[1,2]} : f64[10,10]
%2 = task(%1) {s=1} : f64
%3 = task(%1) {s=1} : f64
%4 = exchange(%2) {to=[0]} : f64
%5 = task(%4, %0) {s=4} : f64
`

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{diamond, crossing} {
		p := parse(t, text)
		var b strings.Builder
		if err := p.Print(&b); err != nil || b.String() != text {
			t.Errorf("%v, printed\n%s\nwant\n%s", err, b.String(), text)
		}
	}
	p := parse(t, crossing)
	if p.Ranks != 3 || p.Rank(2) != 1 || p.Prio[5] != 1 || p.Uses[1] != 2 || p.Uses[0] != 2 {
		t.Errorf("%+v", p)
	}
	if to, ok := p.Exchange(1); !ok || len(to) != 2 || to[1] != 2 {
		t.Errorf("exchange to %v, %v", to, ok)
	}
}

// Each kind of damage to a plan is found, in its text or by Verify.
func TestDamage(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"no nodes", diamond[13:], "", "no nodes"},
		{"not a number", "own 0", "own x", "plan text"},
		{"ranks", "ranks 3", "ranks x", "plan text"},
		{"zero ranks", "plan ranks 3\nown 0 0 1 2 1 0\nprio 6 5 4 3 2 1", "plan ranks 0", "tables of other lengths"},
		{"owners too few", "own 0 0 1 2 1 0", "own 0 0 1", "tables of other lengths"},
		{"priorities too few", "prio 6 5 4 3 2 1", "prio 6", "tables of other lengths"},
		{"owner beyond the ranks", "own 0 0 1 2 1 0", "own 0 0 1 3 1 0", "is on rank 3 of 3"},
		{"negative owner", "own 0 0 1 2 1 0", "own 0 0 1 -2 1 0", "is on rank -2 of 3"},
		{"no exchange", "task(%1) {s=1} : f64\n%4", "task(%0) {s=1} : f64\n%4", "reads %0 of rank 0 without an exchange"},
		{"exchange to others", "to=[1,2]", "to=[1]", "reads an exchange that does not reach it"},
		{"exchange of another rank", "own 0 0", "own 0 1", "without an exchange"},
		{"a cycle", "task(%4, %0)", "task(%5, %0)", "no node above"},
	} {
		text := crossing
		if c.name == "no nodes" {
			text = diamond
		}
		damaged := strings.Replace(text, c.from, c.to, 1)
		if damaged == text {
			t.Fatalf("%s damages nothing", c.name)
		}
		p, err := plan.Parse(damaged, table)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, p, err, c.want)
		}
	}
	p := parse(t, diamond)
	p.Uses = p.Uses[:2]
	if err := p.Verify(); err == nil {
		t.Error("a short table of uses passes")
	}
}

// The hash changes with everything that is run, and with nothing else.
func TestHash(t *testing.T) {
	base := parse(t, crossing).Hash()
	for _, c := range []struct {
		from, to string
		same     bool
	}{
		{"prio 6", "prio 9", true},
		{"prio 6 5 4 3 2 1\n", "", true},
		{"{s=4} : f64", "{s=4} : f64 @3:4", true},
		{"%5 = task", "%5 = rated", false},
		{"{s=4}", "{s=5}", false},
		{"[10,10]\n%1", "[10,11]\n%1", false},
		{"task(%4, %0)", "task(%0, %4)", false},
		{"own 0 0 1 2 1 0", "own 0 0 1 1 1 0", false},
		{"ranks 3", "ranks 4", false},
	} {
		text := strings.Replace(crossing, c.from, c.to, 1)
		if text == crossing {
			t.Fatalf("%q changes nothing", c.from)
		}
		if h := parse(t, text).Hash(); (h == base) != c.same {
			t.Errorf("%q for %q: same hash %v", c.to, c.from, h == base)
		}
	}
	region := "%0 = task() {s=1} : f64\n%1 = map(%0) : f64\n  region {\n    %0 = arg() : f64\n    %1 = free(%0) : f64\n    args %0\n    yield %1\n  }\n"
	other := strings.Replace(region, "free", "task", 1)
	if parse(t, region).Hash() == parse(t, other).Hash() {
		t.Error("plans that differ in a region have one hash")
	}
	kept := parse(t, crossing)
	if n := testing.AllocsPerRun(5, func() { kept.Hash() }); n > 0 {
		t.Errorf("a hash that is known takes %v allocations", n)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

func TestSummarise(t *testing.T) {
	s := plan.Summarise(parse(t, diamond), exact{}, 1)
	if s.Tasks != 4 || !near(s.TotalSeconds, 7) || !near(s.CriticalPath, 5) || s.CriticalLen != 3 || !near(s.Parallelism, 1.4) || !near(s.Makespan, 7) || s.Bytes != 0 {
		t.Errorf("one worker: %+v", s)
	}
	if s := plan.Summarise(parse(t, diamond), exact{}, 2); !near(s.Makespan, 5) || !near(s.Bound, 5) {
		t.Errorf("two workers: %+v", s)
	}
	// Greedy scheduling starts the longer of the two first: 1 + max(3, 2 + 2) with the short
	// ones after each other.
	fan := diamond + "%4 = task(%0) {s=2} : f64\n"
	if s := plan.Summarise(parse(t, fan), exact{}, 2); !near(s.Makespan, 5) || !near(s.TotalSeconds, 9) {
		t.Errorf("a fan of three on two workers: %+v", s)
	}
	s = plan.Summarise(parse(t, crossing), exact{}, 1)
	// 2 on rank 0, across, 1 on ranks 1 and 2, back, 4 on rank 0; 800 bytes to two ranks, and a
	// number to one.
	if s.Tasks != 4 || s.Messages != 3 || s.Bytes != 2*800+16 || !near(s.Makespan, 7) || !near(s.CriticalPath, 7) || s.BusyRanks != 3 || !near(s.LoadRatio, 6*3/8.0) {
		t.Errorf("three ranks: %+v", s)
	}
	if s.Kernels[0].Name != "task" || s.Kernels[0].Tasks != 3 || !near(s.Kernels[0].Seconds, 6) {
		t.Errorf("kernels: %+v", s.Kernels)
	}
	if s := plan.Summarise(parse(t, "%0 = rated() {s=3} : f64\n"), exact{}, 4); !near(s.TotalSeconds, 6) {
		t.Errorf("a rate class of its own: %+v", s)
	}
	if s := plan.Summarise(parse(t, "%0 = free() : f64\n"), nil, 1); s.Tasks != 1 || s.TotalSeconds != 0 || s.Makespan != 0 {
		t.Errorf("a task that costs nothing: %+v", s)
	}
}

// A chain, a fan and a comb have makespans that can be told.
func TestMakespan(t *testing.T) {
	var chain, fan strings.Builder
	for i := range 10 {
		in := ""
		if i > 0 {
			in = fmt.Sprintf("%%%d", i-1)
		}
		fmt.Fprintf(&chain, "%%%d = task(%s) {s=1} : f64\n", i, in)
		fmt.Fprintf(&fan, "%%%d = task() {s=1} : f64\n", i)
	}
	for _, c := range []struct {
		text    string
		workers int
		want    float64
	}{{chain.String(), 4, 10}, {fan.String(), 1, 10}, {fan.String(), 4, 3}, {fan.String(), 10, 1}, {fan.String(), 100, 1}} {
		if s := plan.Summarise(parse(t, c.text), exact{}, c.workers); !near(s.Makespan, c.want) {
			t.Errorf("%d workers: makespan %v, want %v", c.workers, s.Makespan, c.want)
		}
	}
}

func TestCosts(t *testing.T) {
	p := parse(t, diamond)
	tail := plan.Critical(p.Graph, plan.Costs(p.Graph, exact{}))
	for i, want := range []float64{5, 3, 4, 1} {
		if !near(tail[i], want) {
			t.Errorf("from task %d to the end %v, want %v", i, tail[i], want)
		}
	}
	g := plan.Guess{}
	if g.Seconds("gemm", op.Work{Flops: 20e9}) != 1 || g.Seconds("other", op.Work{Flops: 20e9}) != 10 || g.Seconds("x", op.Work{Bytes: 5e9}) != 1 || g.Seconds("x", op.Work{}) != 1e-6 {
		t.Error("guessed rates")
	}
}

// TestUrgency: what leads to a gather comes first, also to one in a branch. Without a gather only the
// time counts.
func TestUrgency(t *testing.T) {
	for _, c := range []struct {
		name, meets string
		first       bool // %2 comes before %1
	}{
		{"gather", "%3 = gather(%2) : f64", true},
		{"branch", "%3 = yes() : bool\n%4 = select(%3, %2) : (f64)\n  region {\n    %0 = arg() : f64\n    %1 = gather(%0) : f64\n    args %0\n    yield %1\n  }\n  region {\n    %0 = arg() : f64\n    args %0\n    yield %0\n  }", true},
		{"neither", "%3 = task(%2) {s=1} : f64", false},
	} {
		p := parse(t, "plan ranks 2\n%0 = task() {s=1} : f64\n%1 = task(%0) {s=9} : f64\n%2 = task(%0) {s=2} : f64\n"+c.meets+"\n")
		costs := plan.Costs(p.Graph, exact{})
		tail := plan.Urgency(p.Graph, costs)
		if first := tail[2] > tail[1]; first != c.first || tail[0] <= max(tail[1], tail[2]) {
			t.Errorf("%s: urgency %v of costs %v", c.name, tail, costs)
		}
	}
}

func TestWhere(t *testing.T) {
	p := parse(t, "scope 0 k i\ngrid 0 L[4,4]\n%0 = task() {s=1} : f64 loop 0(1,2) dest 0(3,2)v5\n%1 = task() : f64\n")
	if s := p.Where(0); s != "L[3,2] version 5 (k = 1, i = 2)" {
		t.Errorf("where: %q", s)
	}
	if s := p.Where(ir.ID(1)); s != "" {
		t.Errorf("where of what is nowhere: %q", s)
	}
}

// FuzzParse: no text panics.
func FuzzParse(f *testing.F) {
	f.Add(diamond)
	f.Add(crossing)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Parse(text, table)
		if err != nil {
			return
		}
		var b strings.Builder
		p.Print(&b)
		q, err := plan.Parse(b.String(), table)
		if err != nil || q.Hash() != p.Hash() {
			t.Fatalf("%q prints as %q, which gives %v", text, b.String(), err)
		}
	})
}
