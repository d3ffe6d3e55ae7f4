package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"flow/runtime/schedule"
)

// This file checks the promise of Scheduling: a program prints the same bytes under every
// technique, queue layout and order of victims, with and without pre-partitioning, on 1 to 8
// threads.

// scheduledPrograms have loops of every kind, large enough for several chunks.
var scheduledPrograms = map[string]string{
	"elementwise": `
X = rand(400, 300, seed = 1)
Y = sqrt(abs(X - 0.5)) * 3.0 + clamp(X, 0.2, 0.7)
emit sum(Y)
emit max(Y) - min(Y)
emit norm(Y[10..390, 5..])
emit count(Y > 1.0)
`,
	"transpose": `
X = randn(300, 300, seed = 2)
Y = X + t(X)
emit sum(t(Y * 2.0) - X)
emit colmax(Y)[:, 0..5]
emit sum(rowsum(Y) * t(colmean(X)))
emit all(Y == t(Y))
`,
	"columns": `
x = seq(0.0, 60000.0)
y = x / 7.0 - floor(x / 7.0)
emit sum(y)
emit colsum(cbind(x, y, y * y))
emit rownorm(rbind(x, y)[59990..60010, :])
`,
	"rounds": `
X = rand(9000, 8, seed = 3)
iterate v = colmean(X), k = 0 times 6 {
  next v = colmax(abs(X - v)) * 0.5
  next k = k + 1
}
emit v
`,
	"sparse": `
G = rand_graph(900, 6000, seed = 1)
H = G or t(G)
c = seq(1, 901)
emit sum(max(c, rowmax(H * t(c))))
`,
	"sparse passes": `
G = rand_graph(300, 1200, seed = 4)
S = rand_sparse(300, 260, density = 0.03, seed = 5) - rand_sparse(300, 260, density = 0.03, seed = 5) * (rand(300, 1, seed = 6) > 0.3)
P = t(S) @ (G or t(G)) @ S
emit P[:, 3..9]
emit colsum(S)
emit colmax(P)
emit count(colsum(i64(G)) > 4)
emit sum(S[:, 100..200] > 0.5)
emit norm(sqrt(abs(S)) + 1.0)
emit mean(max(S, S * 2.0))
emit sum(ones(30, 300) @ S)
emit nnz(sparse(dense(S) * rand(1, 260, seed = 7)) * t(seq(1, 261)))
`,
	"escape times": `
img = parfor y in 0..60, x in 0..90 {
  cr = -2.5 + 3.5 * x / 90
  ci = -1.0 + 2.0 * y / 60
  iterate zr = 0.0, zi = 0.0, it = 0
  until zr * zr + zi * zi > 4.0 or it == 40 {
    next zr = zr * zr - zi * zi + cr
    next zi = 2.0 * zr * zi + ci
    next it = it + 1
  }
  it
}
emit colsum(img)
`,
	"rows": `
P = rand(150, 3, seed = 2)
emit parfor i in 0..150 {
  D = P - P[i, :]
  colsum(D / (rowsum(D ^ 2) + 0.01) ^ 1.5)
}
emit parfor i in 0..150 with (schedule = "tss", grain = 2) { sort(t(P[i, :]))[1, 0] }
`,
	"lanes": `
v = parfor i in 0..20_000 {
  if i % 3 == 0 { sqrt(f64(i)) } else { f64(i) / 2.0 }
}
emit colsum(v)
`,
}

func TestSchedulesChangeNoByte(t *testing.T) {
	var programs []*Program
	var names, want []string
	for name, text := range scheduledPrograms {
		p, err := Compile(context.Background(), name, []byte(text), CompileOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var out bytes.Buffer
		if testing.Short() { // under the race detector: the evaluator has one goroutine and cannot race
			_, err = p.Run(context.Background(), RunOptions{Stdout: &out, Threads: 1})
		} else {
			err = p.Evaluate(&out)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		programs, names, want = append(programs, p), append(names, name), append(want, out.String())
	}
	techniques := schedule.Techniques()
	for _, name := range []string{"expr: ceil(R/(1.5*P))", "expr: 1 + i % 3"} {
		x, err := schedule.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		techniques = append(techniques, *x)
	}
	run := 0
	try := func(plan schedule.Plan) {
		k := run % len(programs)
		threads := 1 + run/len(programs)%8
		run++
		if every := map[bool]int{false: 5, true: 17}[testing.Short()]; run%every != 0 { // coprime to all that goes round
			return
		}
		how := fmt.Sprintf("%s under %s %v %v, pre-partitioned %v, grain %d, %d threads", names[k], plan.Technique.Name, plan.Layout, plan.Victim,
			plan.PrePartition, plan.Grain, threads)
		var out bytes.Buffer
		r, err := programs[k].Run(context.Background(), RunOptions{Stdout: &out, Threads: threads, Schedule: Scheduling{Plan: plan}, Stats: true})
		switch {
		case err != nil:
			t.Errorf("%s: %v", how, err)
		case out.String() != want[k]:
			t.Errorf("%s prints\n%s\nwant\n%s", how, out.String(), want[k])
		case len(r.Ranks[0].Loops) == 0:
			t.Errorf("%s: no loop ran in chunks", how)
		}
	}
	for i := range techniques {
		for layout := range schedule.Layout(3) {
			for victim := range schedule.Victim(4) {
				if layout == schedule.Centralized && victim > 0 {
					continue
				}
				for pre := range 2 {
					try(schedule.Plan{Technique: &techniques[i], Layout: layout, Victim: victim, PrePartition: pre > 0, Grain: (i + pre) % 3, Seed: uint64(run)})
				}
			}
		}
	}
}

// unevenProgram has loops over points whose first rows take most of the time, so that ranks help the
// first, once and in rounds.
const unevenProgram = `
n = 240
v = parfor i in 0..n {
  iterate x = 0.5, k = 0 until k >= 30000 / (1 + i) {
    next x = 3.7 * x * (1.0 - x)
    next k = k + 1
  }
  x
}
emit sum(v)
emit v[0..5, :]
iterate w = v, r = 0 times 3 {
  next w = parfor i in 0..n {
    iterate x = w[i, 0], k = 0 until k >= 9000 / (1 + i) {
      next x = 0.5 * (x + v[n - 1 - i, 0] / (x + 1.5))
      next k = k + 1
    }
    x + sum(w) / 1e6
  }
  next r = r + 1
}
emit sum(w)
emit w[235.., :]
M = parfor y in 0..30, x in 0..20 { f64(y * x) / 7.0 - floor(f64(y * x) / 7.0) }
emit sum(M)
`

// TestTechniquesOnRanks: three ranks print the same bytes under every technique, and help each other.
func TestTechniquesOnRanks(t *testing.T) {
	p, err := Compile(context.Background(), "uneven.flow", []byte(unevenProgram), CompileOptions{Ranks: 3})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := p.Evaluate(&want); err != nil {
		t.Fatal(err)
	}
	techniques := append(schedule.Techniques(), *schedule.Auto)
	for _, name := range []string{"expr: ceil(R/(1.5*P))", "expr: 1 + i % 3"} {
		x, err := schedule.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		techniques = append(techniques, *x)
	}
	helped := int64(0)
	for i := range techniques {
		plan := schedule.Plan{Technique: &techniques[i]}
		if techniques[i].Name == schedule.Auto.Name {
			plan.Technique = schedule.Auto
		}
		threads := 1 + i%2
		var out bytes.Buffer
		r, err := p.Run(context.Background(), RunOptions{Stdout: &out, Threads: threads, Schedule: Scheduling{Plan: plan, Forget: true}, Stats: true})
		if err != nil {
			t.Fatalf("%s: %v", techniques[i].Name, err)
		}
		if out.String() != want.String() {
			t.Errorf("%s on three ranks of %d threads prints\n%s\nwant\n%s", techniques[i].Name, threads, out.String(), want.String())
		}
		for k := range r.Ranks {
			helped += r.Ranks[k].Helped
			if techniques[i].Static() && r.Ranks[k].Helped > 0 {
				t.Errorf("%s: rank %d runs %d chunks of others", techniques[i].Name, k, r.Ranks[k].Helped)
			}
		}
	}
	if helped == 0 {
		t.Errorf("in %d runs no rank has helped another", len(techniques))
	}
}

// AUTO tries techniques over the executions of a loop, chooses one, and the next run begins with
// it.
func TestAutoChoosesAndRemembers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FLOW_CACHE", dir)
	const text = `
X = rand(3000, 400, seed = 3)
iterate v = 0.5, k = 0 times 30 {
  next v = sum(exp(sqrt(X + v) * 0.01)) / 2000000.0
  next k = k + 1
}
emit v
`
	p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(s Scheduling) (tried map[string]int, first string) {
		t.Helper()
		var out bytes.Buffer
		r, err := p.Run(context.Background(), RunOptions{Stdout: &out, Threads: 2, Schedule: s, Stats: true})
		if err != nil {
			t.Fatal(err)
		}
		tried = map[string]int{}
		longest := int64(0)
		for _, l := range r.Ranks[0].Loops {
			longest = max(longest, l.N)
			if l.Round == 0 && l.Op != "rand" && first == "" {
				first = l.Technique
			}
			if l.Op == "rand" {
				continue
			}
			tried[l.Technique]++
			if !l.Chosen {
				t.Errorf("%s under %s was not chosen", l.Op, l.Technique)
			}
		}
		return tried, first
	}
	auto := Scheduling{Plan: schedule.Plan{Technique: schedule.Auto}}
	tried, first := run(auto)
	if len(tried) < 3 || first != "AUTO_CHUNK" {
		t.Errorf("the first run tried %v, first %s", tried, first)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "auto-v*.json")); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	// What is chosen in the end depends on how busy the machine is, so the file is told.
	chosen := schedule.NewSelector()
	if err := chosen.UnmarshalJSON([]byte(`[{"op":"x","bucket":5,"p":2,"technique":"GSS","seconds_per_unit":0.001}]`)); err != nil {
		t.Fatal(err)
	}
	if err := saveChoices(chosen); err != nil {
		t.Fatal(err)
	}
	if got, record := loadChoices().Choose(schedule.KeyOf("x", 32, 2)); record || got.Name != "GSS" {
		t.Errorf("%s was kept", got.Name)
	}
	auto.Forget = true
	if _, first := run(auto); first != "AUTO_CHUNK" {
		t.Errorf("a run that is to forget began with %s", first)
	}
}

// A program that runs each loop once explores over its runs. No state of the cache makes a run
// fail: a damaged file is replaced, one that cannot be read or written is as good as none, and what
// runs at once write is one file or another's.
func TestAutoOverRuns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FLOW_CACHE", dir)
	path, err := choicesPath()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(context.Background(), "x.flow", []byte("emit sum(exp(sqrt(rand(6000, 1000, seed = 3))))"), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func() (tried string) {
		t.Helper()
		var out bytes.Buffer
		r, err := p.Run(context.Background(), RunOptions{Stdout: &out, Threads: 2, Schedule: Scheduling{Plan: schedule.Plan{Technique: schedule.Auto}}, Stats: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.Ranks[0].Loops {
			tried += l.Technique + " "
		}
		return tried
	}
	all := map[string]bool{}
	for range 12 {
		all[run()] = true
	}
	if len(all) < 3 {
		t.Errorf("12 runs tried %v", all)
	}
	if err := os.WriteFile(path, []byte(`[{"op":`), 0o666); err != nil {
		t.Fatal(err)
	}
	run()
	if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
		t.Errorf("the damaged file is now %q, %v", text, err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { run() })
	}
	wg.Wait()
	if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
		t.Errorf("runs at once left %q, %v", text, err)
	}
	// A program may ask for a choice itself; that is kept too, and not if the run is to forget.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	const own = "emit sum(parfor i in 0..3000 with (schedule = \"auto\") { sum(sin(rand(1, 300, seed = 4)) * i) })"
	if p, err = Compile(context.Background(), "x.flow", []byte(own), CompileOptions{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := p.Run(context.Background(), RunOptions{Stdout: &out, Schedule: Scheduling{Forget: true}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a run that was to forget wrote what it chose")
	}
	if _, err := p.Run(context.Background(), RunOptions{Stdout: &out, Schedule: Scheduling{}}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
		t.Errorf("a program that asks for AUTO left %q, %v", text, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if p, err = Compile(context.Background(), "x.flow", []byte("emit sum(exp(sqrt(rand(6000, 1000, seed = 3))))"), CompileOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o666); err != nil { // there is no folder, and none can be made
		t.Fatal(err)
	}
	run()
}

// COST cuts later rounds of a loop by what the first one cost: most of a loop whose first
// iterations are dear goes to one worker.
func TestCostLearnsOverRounds(t *testing.T) {
	const text = `
iterate s = 0.0, k = 0 times 5 {
  w = parfor i in 0..512 {
    iterate z = s * 0.0 + 0.3, j = 0 until j >= max(3, 6000 - i * 60) {
      next z = z * z - 0.7
      next j = j + 1
    }
    z
  }
  next s = sum(w)
  next k = k + 1
}
emit s
`
	p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cost, err := schedule.Lookup("COST")
	if err != nil {
		t.Fatal(err)
	}
	// Other work on the machine can make some chunk of an execution look dear, but hardly in a hundred
	// programs over seconds.
	for try := 1; ; try++ {
		r, err := p.Run(context.Background(), RunOptions{Threads: 2, Schedule: Scheduling{Plan: schedule.Plan{Technique: cost}}, Stats: true})
		if err != nil {
			t.Fatal(err)
		}
		rounds, cut := 0, 0
		for _, l := range r.Ranks[0].Loops {
			if l.Op != "parfor" {
				continue
			}
			least, most, small, large := l.N, int64(0), int64(0), int64(0)
			for _, c := range l.Chunks {
				if n := c.Hi - c.Lo; c.Hi < l.N { // the last one is what is left
					if n < least {
						least, small = n, c.Lo
					}
					if n > most {
						most, large = n, c.Lo
					}
				}
			}
			if l.Round == 0 && least != most {
				t.Errorf("before anything is known there are chunks of %d to %d iterations", least, most)
			}
			// The last chunks cover iterations that cost next to nothing; under factoring of
			// iterations the last would be small.
			if l.Round > 0 && most >= 4*least && large > small {
				cut++
			}
			rounds++
		}
		switch {
		case rounds != 5:
			t.Fatalf("%d rounds were recorded", rounds)
		case cut >= 3: // one may have learned from a disturbed one
			return
		case try == 100:
			t.Fatalf("%d rounds of 4 had large chunks where iterations cost little, small ones where they cost much", cut)
		}
		time.Sleep(time.Duration(min(try, 50)) * time.Millisecond)
	}
}
