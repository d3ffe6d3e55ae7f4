package compiler_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels"
	"flow/lang/source"
	"flow/runtime/dist"
	"flow/runtime/local"
	"flow/runtime/schedule"
	"flow/stdlib"
)

// This file defines the oracle: random programs print the same bytes by the reference
// evaluator on the program's meaning, by the evaluator on its plan, by the local
// engine, and on ranks, whatever passes are switched off.

var oracleSeed = flag.Uint64("oracle.seed", 0, "draw the program of this seed alone; 0: from 1 on")

// tinyTable is the operator table with a default tile edge of 4, so that matrices of a
// few elements are cut. It is one table for all tests, as it is one for a process.
func tinyTable(testing.TB) *op.Table { return theTinyTable() }

var theTinyTable = sync.OnceValue(func() *op.Table {
	table, err := kernels.Table("")
	if err != nil {
		panic(err)
	}
	rows := slices.Clone(table.Rows())
	for i, d := range rows {
		if d.Name == "auto_tile" {
			tiny := *d
			tiny.Shape = func([]types.Type) (value.Value, error) { return value.I64(4), nil }
			rows[i] = &tiny
		}
	}
	table, err = op.NewTable(rows)
	if err != nil {
		panic(err)
	}
	return table
})

var tinySizes = nodes.Sizes{Block: 16, Panel: 8, Spread: 1}

// printer is an op.Env that keeps what is printed and has no files.
type printer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *printer) Stdout() io.Writer { return p }
func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}
func (p *printer) Create(path string) (io.WriteCloser, error) {
	return nil, fmt.Errorf("no files here: %s", path)
}
func (p *printer) Path(path string) string { return path }

// compileTiny compiles with tiny blocks, verifying after every pass. Every task over rows must have a
// loop.
func compileTiny(table *op.Table, text string, ranks int, blocks bool, disable []string, sets ...compiler.Setting) (*compiler.Result, error) {
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{
		Table: table, Ranks: ranks, Disable: disable, Verify: true, Sizes: tinySizes, Blocks: blocks, Std: stdlib.Files, Sets: sets})
	if ds.HasErrors() {
		var b strings.Builder
		source.RenderAll(&b, r.Files, ds, false)
		return r, fmt.Errorf("%d ranks, without %v:\n%s", ranks, disable, b.String())
	}
	return r, loopless(table, r.Plan.Graph)
}

// outcome is what an engine printed, and whether it failed.
type outcome struct {
	how    string
	out    string
	failed bool
	err    error
}

func evaluated(how string, g *ir.Graph) (o outcome) {
	p := &printer{}
	defer func() {
		if r := recover(); r != nil {
			o = outcome{how, p.out.String(), true, fmt.Errorf("panic: %v", r)}
		}
	}()
	_, err := eval.Run(g, p)
	return outcome{how, p.out.String(), err != nil, err}
}

// meanings are the outcomes of graphs of one program by their text, which is all of a graph: what is
// compiled in many ways has the same graph by most of them, and the evaluator runs each once.
type meanings map[string]outcome

// latest holds the meanings of the program that was compared last. Some tests compare one program
// several times, as machine code and in the interpreter. The evaluator uses neither.
var latest struct {
	table *op.Table
	text  string
	known meanings
}

// meaningsOf returns the meanings of a program that are known so far.
func meaningsOf(table *op.Table, text string) meanings {
	if latest.table != table || latest.text != text {
		latest.table, latest.text, latest.known = table, text, meanings{}
	}
	return latest.known
}

func (m meanings) of(how string, g *ir.Graph) outcome {
	text := g.String()
	o, known := m[text]
	if !known {
		o = evaluated(how, g)
		m[text] = o
	}
	o.how = how
	return o
}

func ran(r *compiler.Result, workers int) outcome { return scheduled(r, workers, "") }

// scheduled runs a plan with the chunks of a technique, those of every other in queues of the
// workers' own; "" is the default.
func scheduled(r *compiler.Result, workers int, technique string) outcome {
	p := &printer{}
	how := fmt.Sprintf("%d ranks of %d workers", r.Plan.Ranks, workers)
	var chunks schedule.Plan
	if technique != "" {
		t, err := schedule.Lookup(technique)
		if err != nil {
			return outcome{how, "", true, err}
		}
		how += " by " + technique
		chunks = schedule.Plan{Technique: t, Grain: 1 + len(technique)%2, Seed: uint64(workers)}
		if len(technique)%2 == 0 {
			chunks.Layout, chunks.Victim = schedule.PerCPU, schedule.Random
		}
	}
	if r.Plan.Ranks > 1 {
		if err := lendings(r.Plan); err != nil {
			return outcome{how, "", true, err}
		}
		_, err := dist.RunInProcess(context.Background(), r.Plan, workers, func(rank int) dist.Options {
			return dist.Options{Env: p, Pool: poolOf(rank, workers), Schedule: chunks, Grace: hangs, HelpFrom: 1, Agree: true}
		})
		return outcome{how, p.out.String(), err != nil, err}
	}
	_, err := local.RunPlan(context.Background(), poolOf(0, workers), r.Plan, local.EngineOptions{Env: p, Schedule: chunks, Grace: hangs})
	return outcome{how, p.out.String(), err != nil, err}
}

// poolOf returns the pool of a rank with the given number of workers. All runs of these tests use it,
// because a small run takes less time than starting threads. Its workers sleep at once: they would poll
// for most of a run, on processors that other tests need. Tests of the runtimes have pools whose
// workers spin.
func poolOf(rank, workers int) *local.Pool {
	pools.Lock()
	defer pools.Unlock()
	key := [2]int{rank, workers}
	if pools.of[key] == nil {
		pools.of[key] = local.NewPool(workers, local.PoolOptions{Spin: -1})
	}
	return pools.of[key]
}

var pools = struct {
	sync.Mutex
	of map[[2]int]*local.Pool
}{of: map[[2]int]*local.Pool{}}

// lendings follows what each rank's memory is lent for. All of it must come back, once.
func lendings(p *plan.Plan) (err error) {
	for rank := range p.Ranks {
		var out []bool // of each piece
		plan.Lend(p, rank, plan.Lender[int]{
			Lend: func(t types.Type, lo, hi int) int {
				if lo < 0 || lo > hi || hi > t.Rows {
					err = fmt.Errorf("rank %d: rows %d to %d of %v are lent", rank, lo, hi, t)
				}
				out = append(out, true)
				return len(out)
			},
			Back: func(m int) {
				if !out[m-1] {
					err = fmt.Errorf("rank %d: piece %d comes back twice", rank, m)
				}
				out[m-1] = false
			},
			Stop: func() bool { return err != nil },
		})
		if m := slices.Index(out, true); m >= 0 && err == nil {
			err = fmt.Errorf("rank %d: piece %d does not come back", rank, m+1)
		}
	}
	return err
}

// runs says how a program is run: ranks, workers, passes and exact rules left out, whether one
// rank's plan is cut into blocks too, and by which technique loops are handed out.
type runs []struct {
	ranks, workers int
	disable        []string
	blocks         bool
	technique      string
}

func drawRuns(rng *rand.Rand) runs {
	var optional []string
	for _, p := range compiler.Passes() {
		if !p.Required {
			optional = append(optional, p.Name)
		}
	}
	for _, r := range compiler.Rules() {
		if r.Class.String() == "exact" {
			optional = append(optional, r.Name)
		}
	}
	out := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {2, 1, nil, false, ""}, {3, 1, nil, false, ""}, {1, 2, nil, false, ""}, {4, 2, nil, false, ""}, {5, 1, nil, false, ""}}
	techniques := schedule.Techniques()
	for i := range out {
		if out[i].workers > 1 && rng.IntN(3) > 0 {
			out[i].technique = techniques[rng.IntN(len(techniques))].Name
		}
		for _, p := range optional {
			if rng.IntN(3) == 0 {
				out[i].disable = append(out[i].disable, p)
			}
		}
	}
	return out
}

// differ runs a program in all ways; the error says which two differ. meant is what it prints. The
// definition evaluates the plan of one way, which is another one for other programs: it takes as long
// as all the rest. make soak demands the plans of all ways.
func (rs runs) differ(table *op.Table, text string) (meant outcome, err error) {
	known := meaningsOf(table, text)
	for i, r := range rs {
		c, err := compiledOnce(table, text, r.ranks, r.blocks, r.disable)
		if err != nil {
			return meant, err
		}
		if r.ranks == 3 { // every rank compiles for itself and must come to the same plan
			again, err := compileTiny(table, text, r.ranks, r.blocks, r.disable)
			if err != nil || again.Plan.Hash() != c.Plan.Hash() {
				return meant, fmt.Errorf("compiled twice for %d ranks without %v, the plans differ (%v)", r.ranks, r.disable, err)
			}
		}
		m := known.of("the meaning", c.Program)
		if m.err != nil && strings.HasPrefix(m.err.Error(), "panic") {
			return m, m.err
		}
		if i == 0 {
			meant = m
		} else if m.out != meant.out {
			return meant, fmt.Errorf("the meaning differs without %v:\n%s", r.disable, difference(meant.out, m.out))
		}
		outcomes := []outcome{scheduled(c, r.workers, r.technique)}
		if everyRun || i == len(text)%len(rs) {
			outcomes = append(outcomes, known.of("the plan", c.Plan.Graph))
		}
		for _, o := range outcomes {
			switch {
			case o.failed != meant.failed:
				return meant, fmt.Errorf("%d ranks, without %v: %s gives error %v, the meaning %v", r.ranks, r.disable, o.how, o.err, meant.err)
			case o.failed && !alike(o.err, meant.err):
				return meant, fmt.Errorf("%d ranks, without %v: %s fails so:\n%v\nthe meaning so:\n%v", r.ranks, r.disable, o.how, o.err, meant.err)
			case o.out != meant.out:
				return meant, fmt.Errorf("%d ranks, without %v: %s prints something else:\n%s", r.ranks, r.disable, o.how, difference(meant.out, o.out))
			}
		}
	}
	return meant, nil
}

// alike reports that two runs failed for the same reason at the same place: the first in the order
// of the program.
func alike(a, b error) bool {
	var x, y *op.Failure
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return false
	}
	f, g := *x, *y
	if f.At == (op.Place{}) || g.At == (op.Place{}) { // the node is the place, and steps lead to it
		f.At, g.At = op.Place{}, op.Place{}
	}
	return f == g
}

// FuzzOracle draws a program by one number, and by another what is left out of which run.
func FuzzOracle(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, seed+1)
	}
	table := tinyTable(f)
	f.Fuzz(func(t *testing.T, program, left uint64) {
		rng := rand.New(rand.NewPCG(program, 1))
		p := newProgram(rng, table, 6+rng.IntN(14))
		if _, err := drawRuns(rand.New(rand.NewPCG(left, 2)))[:4].differ(table, p.text()); err != nil {
			t.Fatalf("%v\nin\n%s", err, p.text())
		}
	})
}

// difference is the first line that differs.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			have := "(nothing)"
			if i < len(g) {
				have = g[i]
			}
			return fmt.Sprintf("line %d\n want %s\n have %s", i+1, w[i], have)
		}
	}
	return "more lines than wanted"
}

// TestOracle draws programs; every seed's program is the same on every machine. TestSoakPrograms
// draws others.
func TestOracle(t *testing.T) {
	table := tinyTable(t)
	if *oracleSeed != 0 {
		text, o := drawnAgrees(t, table, *oracleSeed)
		t.Log(text, o.out, o.err)
		return
	}
	const programs = 150
	printed := 0
	for seed := range uint64(programs) {
		if _, o := drawnAgreesIn(t, table, seed+1, runs.some); !o.failed {
			printed++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d programs, %d ran to their end", programs, printed)
	if printed < programs*2/3 {
		t.Errorf("only %d of %d programs ran to their end: the generator draws too many that fail", printed, programs)
	}
}

// drawnAgrees draws the program of a seed and demands that it does the same in all ways.
func drawnAgrees(t *testing.T, table *op.Table, seed uint64) (text string, o outcome) {
	t.Helper()
	return drawnAgreesIn(t, table, seed, func(rs runs, _ uint64) runs { return rs })
}

// drawnAgreesIn is drawnAgrees in some of the ways.
func drawnAgreesIn(t *testing.T, table *op.Table, seed uint64, some func(runs, uint64) runs) (text string, o outcome) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	p := newProgram(rng, table, 6+rng.IntN(20))
	rs := some(drawRuns(rng), seed)
	o, err := rs.differ(table, p.text())
	if p.open && err != nil {
		// The compiler may know a size that the generator takes for 0. Then the shapes do not agree.
		if _, refused := compileTiny(table, p.text(), rs[0].ranks, rs[0].blocks, nil); refused != nil && strings.Contains(refused.Error(), "E211") {
			return p.text(), outcome{failed: true}
		}
	}
	if err != nil {
		p = smaller(p, func(q generated) bool { _, err := rs.differ(table, q.text()); return err != nil && !unbound(err) })
		_, less := rs.differ(table, p.text())
		t.Errorf("seed %d: %v\nwith fewer lines: %v\nin\n%s", seed, err, less, p.text())
	}
	return p.text(), o
}

// unbound is the error of a program from which a line too many was taken.
func unbound(err error) bool {
	return strings.Contains(err.Error(), "E116") || strings.Contains(err.Error(), "E401")
}

// smaller leaves out lines while the program still fails.
func smaller(p generated, fails func(generated) bool) generated {
	for i := len(p.lines) - 1; i >= 0; i-- {
		q := generated{slices.Delete(slices.Clone(p.lines), i, i+1), p.open}
		if fails(q) {
			p = q
		}
	}
	return p
}
