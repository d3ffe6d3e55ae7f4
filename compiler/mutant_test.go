package compiler_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"flow/compiler"
	"flow/ir/op"
	"flow/kernels"
	"flow/lang/source"
	"flow/runtime/dist/calm"
	"flow/stdlib"
)

// This file defines the test of programs that are nearly right: words of real ones
// exchanged, dropped and doubled. Unlike random bytes most of them parse.

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9_.e]*|"[^"\n]*"|\|>|<-|\.\.=?|[=!<>]=|=>|->|//|#[^\n]*|\n|[ \t]+|.`)

// textsInTree is where the programs of this tree lie; those of the first pattern are without
// mistakes.
var textsInTree = []string{"../examples/*.flow", "../lang/testdata/programs/*.flow", "testdata/errors/*.flow", "../stdlib/*.flow"}

// eachText gives do every program in the files that match, made small.
func eachText(tb testing.TB, patterns []string, do func(text string)) {
	tb.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			for _, chunk := range strings.Split(string(text), "\n---\n") {
				do(small.Replace(chunk))
			}
		}
	}
}

// corpus is the programs to mutate, as words; the first ones are without mistakes.
func corpus(tb testing.TB) (out [][]string, sound int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	table, err := kernels.Table("")
	if err != nil {
		tb.Fatal(err)
	}
	for range 30 {
		out = append(out, word.FindAllString(newProgram(rng, table, 8).text(), -1))
	}
	eachText(tb, textsInTree[:1], func(text string) { out = append(out, word.FindAllString(text, -1)) })
	sound = len(out)
	eachText(tb, textsInTree[1:], func(text string) { out = append(out, word.FindAllString(text, -1)) })
	for _, r := range source.Codes() {
		if r.Program != "" && len(r.Program) < 1000 {
			out = append(out, word.FindAllString(r.Program, -1))
		}
	}
	return out, sound
}

// odd are words that mistakes like.
var odd = []string{"0", "-1", "1", "9_223_372_036_854_775_807", "0.5", `""`, "true", "eye(3)", "zeros(0, 2)", "ones(1, 1)", "nan", "f32(ones(2, 2))", "t", "sum", "L", "k", "@", "fn(x) => x", "[1, 2]", "(1, 2)", "1..2", "i64", ".rows"}

func mutate(rng *rand.Rand, all [][]string, sound int) string {
	w := all[rng.IntN(len(all))]
	if rng.IntN(3) > 0 {
		w = all[rng.IntN(sound)]
	}
	w = append([]string(nil), w...)
	for range 1 + rng.IntN(1+rng.IntN(4)) {
		if len(w) == 0 {
			break
		}
		i, j := rng.IntN(len(w)), rng.IntN(len(w))
		switch rng.IntN(6) {
		case 0:
			w[i], w[j] = w[j], w[i]
		case 1:
			w = append(w[:i:i], w[i+1:]...)
		case 2:
			w[i] = w[j]
		case 3:
			w[i] = odd[rng.IntN(len(odd))]
		case 4: // a piece of another program
			o := all[rng.IntN(len(all))]
			if len(o) == 0 {
				continue
			}
			a := rng.IntN(len(o))
			w = append(w[:i:i], append(append([]string(nil), o[a:min(len(o), a+1+rng.IntN(20))]...), w[i:]...)...)
		default:
			w = append(w[:i:i], append([]string{w[j]}, w[i:]...)...)
		}
	}
	return strings.Join(w, "")
}

// TestMutants compiles programs that are nearly right: each gives a plan or diagnostics, in little
// time of the machine's (package calm; of several tries one is undisturbed), and Flow never finds a
// bug in itself.
func TestMutants(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	all, sound := corpus(t)
	programs, planned := 300, 0
	if *oracleSeed != 0 {
		programs = 1
	}
	for k := range programs {
		if mutantEnds(t, table, all, sound, max(*oracleSeed, 1)+uint64(k)) {
			planned++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d programs, %d with a plan", programs, planned)
}

// mutantEnds compiles the mutant of a seed, and reports whether there is a plan.
func mutantEnds(t *testing.T, table *op.Table, all [][]string, sound int, seed uint64) (planned bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	text := mutate(rng, all, sound)
	watch := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("seed %d does not end:\n%s", seed, text)) })
	ranks := 1 + rng.IntN(4)
	var r *compiler.Result
	var ds source.Diagnostics
	least := time.Hour
	for try := 0; try < 8 && least > 3*time.Second; try++ {
		clock := calm.Start()
		r, ds = compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Verify: true, Std: stdlib.Files,
			Ranks: ranks, Sizes: tinySizes, MaxTasks: 2000, Load: load})
		source.RenderAll(io.Discard, r.Files, ds, false) // every span must be one that can be shown
		least = min(least, clock.Stop())
	}
	watch.Stop()
	for _, d := range ds {
		if d.Code == "B001" {
			t.Errorf("seed %d: %s\nin\n%s", seed, d.Message, text)
		}
		if _, ok := source.Lookup(d.Code); !ok && d.Code != "B001" {
			t.Errorf("seed %d: code %s is not in the table", seed, d.Code)
		}
	}
	switch {
	case !ds.HasErrors() && r.Plan == nil:
		t.Errorf("seed %d: neither a plan nor a diagnostic for\n%s", seed, text)
	case !ds.HasErrors():
		planned = true
	}
	if least > 3*time.Second {
		t.Errorf("seed %d: %v for\n%s", seed, least, text)
	}
	return planned
}
