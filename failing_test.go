package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels"
	"flow/runtime/local"
	"flow/runtime/schedule"
	"flow/stdlib"
)

// This file tests that a program that fails prints the same on every engine, byte for byte, and
// tells the same failure: what the definition prints before it, and the first failure in the text.
// The programs are random; failing_program_test.go draws them.

// patient is a grace that no machine is slow enough to use up.
const patient = time.Hour

// way is a way to compile a program, and the ways to run the plan.
type way struct {
	ranks   int
	blocks  bool // matrices are cut on one rank, too
	disable []string
	runs    []engineWay
}

type engineWay struct {
	threads   int
	technique string
}

// drawWays draws n ways: one, two and four threads and up to three ranks, any technique, any passes
// and exact rules left out.
func drawWays(rng *rand.Rand, n int) []way {
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
	techniques := schedule.Techniques()
	out := make([]way, n)
	for i := range out {
		w := &out[i]
		if w.ranks = 1; i%3 == 2 {
			w.ranks = 2 + rng.IntN(2)
		} else if rng.IntN(3) == 0 {
			w.blocks = true
		}
		for _, threads := range []int{1, 4, 2} {
			if w.ranks > 1 && threads != 1+i%2 {
				continue
			}
			e := engineWay{threads: threads}
			if rng.IntN(3) > 0 {
				e.technique = techniques[rng.IntN(len(techniques))].Name
			}
			w.runs = append(w.runs, e)
		}
		switch rng.IntN(3) {
		case 0:
			w.disable = []string{"fuse"} // --no-fuse
		case 1:
			for _, p := range optional {
				if rng.IntN(3) == 0 {
					w.disable = append(w.disable, p)
				}
			}
		}
	}
	return out
}

// smallTiles is the operator table with a default tile edge of 4, so that matrices of a few
// elements are cut.
func smallTiles(t *testing.T) *op.Table {
	t.Helper()
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	rows := append([]*op.Def(nil), table.Rows()...)
	for i, d := range rows {
		if d.Name == "auto_tile" {
			small := *d
			small.Shape = func([]types.Type) (value.Value, error) { return value.I64(4), nil }
			rows[i] = &small
		}
	}
	if table, err = op.NewTable(rows); err != nil {
		t.Fatal(err)
	}
	return table
}

// compileSmall compiles for a way, with blocks of a few elements.
func compileSmall(table *op.Table, text string, w way) (*Program, error) {
	r, ds := compiler.Compile(context.Background(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: w.ranks,
		Disable: w.disable, Sizes: nodes.Sizes{Block: 16, Panel: 8, Spread: 1}, Blocks: w.blocks, Std: stdlib.Files})
	if ds.HasErrors() {
		return nil, &Refusal{Files: r.Files, Diagnostics: ds}
	}
	return &Program{made: r, table: table}, nil
}

// toldBy is what a run prints, and its whole diagnostic but for the rank.
func toldBy(out *bytes.Buffer, err error) string {
	if r := (*Refusal)(nil); err != nil && errors.As(err, &r) && r.Ran {
		fmt.Fprintf(out, "FAILED: %s\n", onRank.ReplaceAllString(err.Error(), ""))
	} else if err != nil {
		fmt.Fprintf(out, "NO RUN: %v\n", err)
	}
	return out.String()
}

// defined is what the definition tells of a program.
func defined(table *op.Table, text string) string {
	var out bytes.Buffer
	p, err := compileSmall(table, text, way{ranks: 1})
	if err == nil {
		err = p.Evaluate(&out)
	}
	_ = taken()
	return toldBy(&out, err)
}

// taken lists the files that a run has left, temporary ones too, and removes them.
func taken() []string {
	files, _ := filepath.Glob("out*")
	hidden, _ := filepath.Glob(".out*")
	files = append(files, hidden...)
	for _, f := range files {
		_ = os.Remove(f)
	}
	return files
}

// pools are pools of so many threads. One that serves many runs costs less than one for each.
type pools map[int]*local.Pool

func newPools(t *testing.T) pools {
	out := pools{}
	for _, n := range []int{1, 2, 4} {
		out[n] = local.NewPool(n, local.PoolOptions{Spin: -1}) // or idle workers would poll for most of a small run
		t.Cleanup(func() { out[n].Close() })
	}
	return out
}

// tells is what a run of a plan tells, and the files that it leaves, which are removed.
func (by pools) tells(p *Program, e engineWay) (string, []string) {
	var printed bytes.Buffer
	o := RunOptions{Stdout: &printed, Threads: e.threads, Grace: patient}
	if e.technique != "" {
		t, err := schedule.Lookup(e.technique)
		if err != nil {
			return err.Error(), nil
		}
		o.Schedule = Scheduling{Plan: schedule.Plan{Technique: t, Grain: 1}, Forget: true}
	}
	var err error
	if p.made.Plan.Ranks > 1 {
		_, err = p.Run(context.Background(), o)
	} else {
		out := NewOutput(&printed)
		_, err = local.RunPlan(context.Background(), by[e.threads], p.made.Plan, local.EngineOptions{Env: out, Schedule: o.Schedule.Plan, Grace: patient})
		err = finish(out, true, p, err)
	}
	return toldBy(&printed, err), taken()
}

// failsEverywhere runs the program of a seed in n ways and demands that they tell the same. failed:
// the run has, at a statement.
func failsEverywhere(t *testing.T, table *op.Table, by pools, seed uint64, n int) (failed bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 41))
	p := newFailing(rng)
	ways := drawWays(rng, n)
	want := defined(table, p.text())
	if strings.Contains(want, "NO RUN: ") {
		t.Fatalf("seed %d is no program:\n%s\n%s", seed, want, p.text())
	}
	failed = strings.Contains(want, "FAILED")
	files := !failed && strings.Contains(p.text(), "to \"out")
	for _, w := range ways {
		c, err := compileSmall(table, p.text(), w)
		if err != nil {
			t.Fatalf("seed %d, %v:\n%v", seed, w, err)
		}
		for _, e := range w.runs {
			got, left := by.tells(c, e)
			if got != want {
				q := p.smaller(func(q failing) bool {
					c, err := compileSmall(table, q.text(), w)
					if err != nil {
						return false
					}
					got, _ := by.tells(c, e)
					return got != defined(table, q.text())
				})
				t.Fatalf("seed %d, %v, %v:\n%swant\n%sof\n%smade smaller\n%s", seed, w, e, got, want, p.text(), q.text())
			}
			if (len(left) > 0) != files {
				t.Fatalf("seed %d, %v, %v: failed %v, and there are the files %v of\n%s", seed, w, e, failed, left, p.text())
			}
		}
	}
	return failed
}

// inOrder are programs below failingHead, with what they print and the statement that fails; "" for
// one that succeeds.
var inOrder = []struct{ text, out, fails string }{
	// What is printed below a failure that is known late, of another rank too, is not printed; what
	// is above is.
	{"emit 1\nx = sum(M0 @ t(M0)) * 0\ny = 7 // i64(x)\nemit 2\nemit y", "1\n", "7 // i64(x)"},
	{"chan c = tiles(M0, 4)\nfor i in 0..3, j in 0..3 { c[i, j] <- c[i, j] * f64(7 // (k - 8 - j)) }\nemit 1\nemit sum(untile(c))", "", "7 // (k - 8 - j)"},
	{"chan c = tiles(M0, 4)\nemit 1\nfor i in 0..3, j in 0..3 { c[i, j] <- c[i, j] + C0[k * j, 0] }\nemit 2\nemit sum(c[2, 1])", "1\n", "C0[k * j, 0]"},
	{"p = parfor i in 0..5 { C0[i + k, 0] }\nif z == 0 { emit 1 }\nemit p", "", "C0[i + k, 0]"},
	{"emit 1\nif z == 0 { emit 2; emit 3 // z; emit 4 } else { emit 5 }\nemit 6", "1\n2\n", "3 // z"},
	{"emit 1\nA = potrf(S - k * eye(8))\nif z == 0 { emit 2 }\nemit A", "1\n", "potrf(S - k * eye(8))"},
	// What fails in a tile that nothing reads fails the matrix that it is a part of.
	{"chan c = tiles(M0, 4)\nfor i in 0..3, j in 0..3 { c[i, j] <- c[i, j] * f64(7 // (z + i)) }\nemit 1\nx = untile(c)\nemit sum(x[4..8, 0..4])", "", "7 // (z + i)"},
	// Of two failures the first in the text is told, whichever is quicker, also in one branch.
	{"emit 1\nif z == 0 { a = 1 // i64(sum(M0 @ t(M0) @ M0) * 0); b = 12 // z; emit b; emit a }", "1\n", "1 // i64(sum(M0 @ t(M0) @ M0) * 0)"},
	{"emit 1\nif z == 0 { emit 1 // i64(sum(M0 @ t(M0) @ M0) * 0); emit 12 // z }", "1\n", "1 // i64(sum(M0 @ t(M0) @ M0) * 0)"},
	{"x = sum(M0 @ t(M0) @ M0) * 0\nB1 = B // i64(x)\ny = 1 // z\nemit y\nemit B1", "", "B // i64(x)"},
	{"iterate x = C0, n = 0 until n == 6 { next x = x + C0[n * k, 0]; next n = n + 1 }\nassert z > 0, \"second\"\nemit x", "", "C0[n * k, 0]"},
	// The same holds for positions that are computed from others, and for operators of one loop.
	{"emit B[B[ifelse(B == 4, k, B)] * k]", "", "B[ifelse(B == 4, k, B)]"},
	{"a = 7 // (B - 3)\nb = B[ifelse(B == 0, k, B)]\nemit a + b", "", "7 // (B - 3)"},
	{"a = B[ifelse(B == 4, k, B)]\nc = 12 // z\nb = B[ifelse(a == 0, k, a)]\nemit b + 1\nemit c", "", "B[ifelse(B == 4, k, B)]"},
	{"a = 7 // (B - 3)\nc = 12 // z\nb = B[(a + 1) % 4]\nemit b + 1\nemit c", "", "7 // (B - 3)"},
	// Of a loop the first index that fails, and there the first statement.
	{"emit parfor i in 0..5 { a = 1 // (B[i, 0] - 3); b = 1 // (B[i, 0] - 2); a + b }", "", "1 // (B[i, 0] - 2)"},
	{"emit parfor i in 0..5 { a = 1 // (B[i, 0] - 2); b = 12 // (B[i, 0] - 2); a + b }", "", "1 // (B[i, 0] - 2)"},
	// A file is no output of a run that fails, and what nothing reads is not run.
	{"emit C0 to \"out.csv\"\nx = 1 // z\nassert k == 9, \"k\"\nemit z", "0\n", ""},
	{"emit C0 to \"out.csv\"\nemit 1\nassert z > 0, \"z\"\nemit 2", "1\n", "assert z > 0, \"z\""},
}

func TestFailuresInOrder(t *testing.T) {
	table, by := smallTiles(t), newPools(t)
	t.Chdir(t.TempDir())
	for _, p := range inOrder {
		text := strings.Join(failingHead, "\n") + "\n" + p.text + "\n"
		want := defined(table, text)
		out, diagnostic, failed := strings.Cut(want, "FAILED: ")
		if out != p.out || failed != (p.fails != "") || failed && !marked(diagnostic, p.fails) {
			t.Errorf("the definition says\n%swant %q and a failure at %s of\n%s", want, p.out, p.fails, p.text)
		}
		for _, w := range drawWays(rand.New(rand.NewPCG(5, 43)), 9) {
			c, err := compileSmall(table, text, w)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range w.runs {
				if got, _ := by.tells(c, e); got != want {
					t.Errorf("%v, %v:\n%swant\n%sof\n%s", w, e, got, want, p.text)
				}
			}
		}
	}
}

// marked reports that a diagnostic points at a piece of the text.
func marked(diagnostic, text string) bool {
	lines := strings.Split(diagnostic, "\n")
	for i, l := range lines[1:] {
		if at := strings.Index(l, "^"); at >= 0 {
			above := lines[i]
			return strings.HasPrefix(above[min(at, len(above)):], text) && strings.Count(l, "^") == len(text)
		}
	}
	return false
}

func TestFailuresAreTheSameEverywhere(t *testing.T) {
	table := smallTiles(t)
	t.Chdir(t.TempDir())
	writeBroken(t)
	by := newPools(t)
	programs, failures := uint64(120), uint64(0)
	if testing.Short() {
		programs = 25
	}
	for seed := range programs {
		if failsEverywhere(t, table, by, seed, 3) {
			failures++
		}
	}
	if failures < programs/2 || failures > programs*19/20 {
		t.Errorf("%d of %d programs fail", failures, programs)
	}
}

// The same for FLOW_SOAK seconds, with other programs.
func TestSoakFailures(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	table := smallTiles(t)
	t.Chdir(t.TempDir())
	writeBroken(t)
	by := newPools(t)
	stop := time.Now().Add(time.Duration(seconds) * time.Second)
	seed, failures := uint64(time.Now().UnixNano()), 0
	n := 0
	for ; time.Now().Before(stop); n++ {
		if failsEverywhere(t, table, by, seed+uint64(n), 9) {
			failures++
		}
	}
	t.Logf("%d programs from seed %d on, %d fail", n, seed, failures)
}
