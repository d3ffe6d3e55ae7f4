package compiler_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/kernels"
	"flow/lang/source"
	"flow/runtime/local"
	"flow/stdlib"
)

// This file compares what programs do with what they did when testdata/baseline.txt was written.
// The oracle compares engines of one commit; the baseline compares commits.
//
// The file holds the first 64 bits of SHA-256 sums: of 5,000 programs that the generator draws from
// seeds, of all examples under their own params, of the programs that operator rows show, and of
// the golden files that hold output. A sum of output covers standard output, written files, the
// exit code, and the first line of the error of a run that fails.
//
// A second sum covers the text of the program. When it differs, the generator draws other programs
// than before and the sums of output say nothing. Then check out the commit before the generator
// changed, apply that change alone, and run
//
//	go test ./compiler -run Baseline -baseline.update
//
// with the engine of that commit. The flag is also for a change of output that is meant: the commit
// then says which output changed and why. It is never for making a failing test pass.

var baselineUpdate = flag.Bool("baseline.update", false, "rewrite testdata/baseline.txt: every program runs, and the sums of what it does are the new baseline")

const (
	baselineFile     = "testdata/baseline.txt"
	baselinePrograms = 5000
)

// sum returns 64 bits of the SHA-256 sum of the parts. A part's length precedes it, so that no two
// lists of parts give the same text.
func sum(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		h.Write(length[:])
		io.WriteString(h, p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:8])
}

// baseline is the content of testdata/baseline.txt. Rows are the operators that the generator
// draws, in order: a new operator must not change the programs that the old ones gave. A sum is
// known by its key, "oracle 17" or "example cc.flow".
type baseline struct {
	rows []string
	keys []string
	sums map[string]recorded
}

// recorded is one line: the sums of a program and of what it does. text is "-" for a golden file.
type recorded struct{ text, output string }

// leftOut is the output of a program that the engine and the definition disagreed about when the
// baseline was written. It is never compared.
const leftOut = "-"

func (b *baseline) put(key string, r recorded) {
	if b.sums == nil {
		b.sums = map[string]recorded{}
	}
	b.keys = append(b.keys, key)
	b.sums[key] = r
}

func readBaseline() (*baseline, error) {
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		return nil, err
	}
	b := &baseline{}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		f := strings.Fields(in.Text())
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "rows":
			b.rows = f[1:]
		case len(f) == 4:
			b.put(f[0]+" "+f[1], recorded{f[2], f[3]})
		default:
			return nil, fmt.Errorf("%s: cannot read %q", baselineFile, in.Text())
		}
	}
	if len(b.rows) == 0 || len(b.keys) < baselinePrograms {
		return nil, fmt.Errorf("%s: %d rows and %d sums; it is cut short", baselineFile, len(b.rows), len(b.keys))
	}
	return b, in.Err()
}

func (b *baseline) write() error {
	var out strings.Builder
	out.WriteString("# Sums of what programs do; baseline_test.go says what they are and when they may change.\n")
	fmt.Fprintf(&out, "rows %s\n", strings.Join(b.rows, " "))
	for _, key := range b.keys {
		fmt.Fprintf(&out, "%s %s %s\n", key, b.sums[key].text, b.sums[key].output)
	}
	return os.WriteFile(baselineFile, []byte(out.String()), 0o666)
}

// filed is an op.Env that keeps what is printed and what is written to files.
type filed struct {
	printer
	names []string
	files map[string]*bytes.Buffer
}

func (f *filed) Create(path string) (io.WriteCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files = map[string]*bytes.Buffer{}
	}
	if f.files[path] == nil {
		f.names, f.files[path] = append(f.names, path), &bytes.Buffer{}
	}
	return struct {
		io.Writer
		io.Closer
	}{f.files[path], io.NopCloser(nil)}, nil
}

// done returns the parts that a run's sum covers.
func (f *filed) done(code int, message string) []string {
	first, _, _ := strings.Cut(message, "\n")
	parts := []string{f.out.String(), fmt.Sprint(code), first}
	for _, name := range slices.Sorted(slices.Values(f.names)) {
		parts = append(parts, name, f.files[name].String())
	}
	return parts
}

// behaviour compiles and runs a program as flowrun does on one rank, by the engine with two
// workers. With defined it also runs the definition, and the error says where the two differ.
func behaviour(table *op.Table, text string, defined bool) (parts []string, err error) {
	env := &filed{}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
	if ds.HasErrors() {
		var b strings.Builder
		source.RenderAll(&b, r.Files, ds, false)
		return env.done(2, b.String()), nil
	}
	pool := local.NewPool(2)
	defer pool.Close()
	_, failure := local.RunPlan(context.Background(), pool, r.Plan, local.EngineOptions{Env: env, Grace: hangs})
	code, message := 0, ""
	if failure != nil {
		code, message = 1, failure.Error()
		if f := (*local.TaskFailure)(nil); errors.As(failure, &f) {
			message = f.Message(r.Plan)
		}
	}
	parts = env.done(code, message)
	if defined {
		err = agrees(r.Program, parts, failure)
	}
	return parts, err
}

// agrees compares what a run did with the definition of its program.
func agrees(program *ir.Graph, parts []string, failure error) (err error) {
	env := &filed{}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the definition panics: %v", r)
		}
	}()
	_, defined := eval.Run(program, env)
	switch meant := env.done(0, ""); {
	case (defined != nil) != (failure != nil), defined != nil && !alike(failure, defined):
		return fmt.Errorf("the engine gives the error %v, the definition %v", failure, defined)
	case parts[0] != meant[0]:
		return fmt.Errorf("the engine prints something else than the definition:\n%s", difference(meant[0], parts[0]))
	case failure == nil && !slices.Equal(parts[3:], meant[3:]):
		return errors.New("the engine writes other files than the definition")
	}
	return nil
}

// compare checks one program against its line, or writes the line under -baseline.update. It
// returns false if the program is another one than the baseline's.
func (b *baseline) compare(t *testing.T, table *op.Table, key, text string, defined bool) (same bool) {
	t.Helper()
	got := recorded{text: sum(text)}
	want, known := b.sums[key]
	if !*baselineUpdate && (!known || got.text != want.text) {
		return false
	}
	parts, err := behaviour(table, text, defined)
	if err != nil && *baselineUpdate {
		t.Logf("%s is left out: %v", key, err)
		b.put(key, recorded{got.text, leftOut})
		return true
	}
	if want.output == leftOut {
		return true
	}
	if err != nil {
		t.Errorf("%s: %v\nin\n%s", key, err, text)
		return true
	}
	got.output = sum(parts...)
	if *baselineUpdate {
		b.put(key, got)
	} else if got.output != want.output {
		t.Errorf("%s does not do what it did when %s was written.\nNow, with exit code %s and error %q, it prints\n%s\nof the program\n%s",
			key, baselineFile, parts[1], parts[2], parts[0], text)
	}
	return true
}

// drawn returns the program of a seed, made of the baseline's operators.
func (b *baseline) drawn(rows []*op.Def, table *op.Table, seed int) string {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	return newProgramOf(rng, table, rows, 6+rng.IntN(20)).text()
}

// named returns the rows of these names.
func named(t *testing.T, rows []*op.Def, names []string) []*op.Def {
	t.Helper()
	var out []*op.Def
	for _, name := range names {
		i := slices.IndexFunc(rows, func(d *op.Def) bool { return d.Name == name })
		if i < 0 {
			t.Fatalf("%s draws the operator %s, which the table no longer has", baselineFile, name)
		}
		out = append(out, rows[i])
	}
	return out
}

// ruledTable is the operator table with the best kernel set here that follows section 11 of the
// language: all of these give the same bytes, so the baseline holds on every processor.
func ruledTable(t *testing.T) *op.Table {
	t.Helper()
	for _, set := range []string{"avx512", "avx2", "portable"} {
		if table, err := kernels.Table(set); err == nil {
			return table
		}
	}
	t.Fatal("no kernel set follows the rules")
	return nil
}

// TestBaseline compares every 20th program of the generator, and all others but two that take long.
func TestBaseline(t *testing.T) {
	if *baselineUpdate {
		checkBaseline(t, 1)
		return
	}
	checkBaseline(t, 20)
}

// TestSoakBaseline compares everything.
func TestSoakBaseline(t *testing.T) {
	if os.Getenv("FLOW_SOAK") == "" {
		t.Skip("FLOW_SOAK is not set")
	}
	checkBaseline(t, 1)
}

// checkBaseline compares every step-th program of the generator, the examples, the programs that
// the operator rows show, and the golden files.
func checkBaseline(t *testing.T, step int) {
	table := ruledTable(t)
	b := &baseline{}
	if *baselineUpdate {
		for _, d := range drawable(table) {
			b.rows = append(b.rows, d.Name)
		}
	} else {
		var err error
		if b, err = readBaseline(); err != nil {
			t.Fatal(err)
		}
	}
	rows := named(t, drawable(table), b.rows)

	changed := 0
	for seed := 1; seed <= baselinePrograms && !t.Failed(); seed += step {
		if !b.compare(t, table, fmt.Sprintf("oracle %d", seed), b.drawn(rows, table, seed), true) {
			changed++
		}
	}
	if changed > 0 {
		t.Errorf("the generator draws other programs than those of %s for %d seeds: a changed generator or a changed type rule says nothing about the engine.\n"+
			"Undo that change, or make the baseline anew from the old engine as the head of baseline_test.go says.", baselineFile, changed)
	}

	examples, err := filepath.Glob("../examples/*.flow")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range examples {
		key := "example " + filepath.Base(path)
		if step > 1 && strings.HasPrefix(filepath.Base(path), "cholesky") { // seconds each
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !b.compare(t, table, key, string(text), false) {
			t.Errorf("%s is not the program of %s; when the change of the program is meant, -baseline.update takes it over", key, baselineFile)
		}
	}
	for _, d := range table.Rows() {
		for i, eg := range d.Eg {
			if d.Name == "read" { // it reads a file that another program writes
				continue
			}
			if key := fmt.Sprintf("operator %s/%d", d.Name, i); !b.compare(t, table, key, eg.Program, true) && b.sums[key].text != "" {
				t.Errorf("%s is not the program of %s; when the change of the program is meant, -baseline.update takes it over", key, baselineFile)
			}
		}
	}
	b.goldens(t)
	if *baselineUpdate && !t.Failed() {
		if err := b.write(); err != nil {
			t.Fatal(err)
		}
	}
}

// goldens compares the golden files that hold output. Other tests compare programs with them; this
// one notices when a golden file itself was rewritten.
func (b *baseline) goldens(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"../testdata/examples/*.txt", "../examples/testdata/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no golden files %s: %v", pattern, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			key, got := "golden "+strings.TrimPrefix(path, "../"), sum(string(text))
			if *baselineUpdate {
				b.put(key, recorded{"-", got})
			} else if want, ok := b.sums[key]; ok && want.output != got {
				t.Errorf("%s was rewritten: the output of a program changed; -baseline.update takes it over if that is meant", path)
			}
		}
	}
}
