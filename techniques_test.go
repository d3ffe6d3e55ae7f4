package flow

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"flow/runtime/schedule"
)

// This file checks the promise of Scheduling: a program prints the same bytes under every technique, queue layout and order of
// victims, with and without pre-partitioning, on 1 to 8 threads.

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
G = rand_graph(3000, 20000, seed = 1)
H = G or t(G)
c = seq(1, 3001)
emit sum(max(c, rowmax(H * t(c))))
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
emit sum(v)
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
		if err := p.Evaluate(&out); err != nil {
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
