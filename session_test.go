package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// enter enters a text into a session and returns what it prints.
func enter(t *testing.T, s *Session, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	e, err := s.Compile(context.Background(), "input", text)
	if err == nil {
		err = e.Run(context.Background(), RunOptions{Stdout: &out, Threads: 2})
	}
	return out.String(), err
}

func newSession(t *testing.T, o CompileOptions) *Session {
	t.Helper()
	s, err := NewSession(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answers enters texts and compares what each prints.
func answers(t *testing.T, s *Session, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got, err := enter(t, s, pairs[i]); err != nil || got != pairs[i+1] {
			t.Errorf("%s\nprints %q, %v; want %q", pairs[i], got, err, pairs[i+1])
		}
	}
}

// A program entered statement by statement prints what it prints as a whole, on one rank and on
// several.
func TestSessionIsTheProgram(t *testing.T) {
	texts := map[string]string{}
	sets := map[string][]Setting{}
	for name, all := range exampleSets {
		text, err := os.ReadFile(filepath.Join("examples", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name], sets[name] = string(text), all[0]
	}
	spec, err := os.ReadFile(filepath.Join("lang", "spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range specBlock.FindAllSubmatch(spec, -1) {
		texts[fmt.Sprintf("spec.md, block %d", i)] = string(b[1])
	}
	t.Chdir(t.TempDir()) // some write files
	compared := 0
	for name, text := range texts {
		whole := engine{ranks: 1, threads: 2}.output(name, []byte(text), sets[name])
		if strings.Contains(whole, "FAILED") {
			continue // a program is refused as a whole
		}
		for _, ranks := range []int{1, 3} {
			got, err := byStatements(text, sets[name], ranks)
			if err != nil || got != whole {
				t.Errorf("%s on %d ranks, entered statement by statement, prints\n%s%v\nwant\n%s", name, ranks, clip(got), err, clip(whole))
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d programs", compared)
	}
}

func byStatements(text string, sets []Setting, ranks int) (string, error) {
	ctx := context.Background()
	s, err := NewSession(CompileOptions{Ranks: ranks, Verify: true})
	if err != nil {
		return "", err
	}
	file := source.NewFileSet().Add("p", text)
	tree, ds := lang.Parse(file)
	if ds.HasErrors() {
		return "", ds.Err()
	}
	var out bytes.Buffer
	for _, st := range tree.Stmts {
		co := s.co
		if p, ok := st.(*ast.Param); ok {
			for _, set := range sets {
				if set.Name == p.Name.Name {
					co.Sets = append(co.Sets, set)
				}
			}
		}
		e, err := s.compile(ctx, "p", text[file.Offset(st.Span().From):file.Offset(st.Span().To)], co)
		if err == nil {
			err = e.Run(ctx, RunOptions{Stdout: &out, Threads: 2})
		}
		if err != nil {
			return out.String(), err
		}
	}
	return out.String(), nil
}

// Names are bound again as in Julia and Python; what was made from an old value stays.
func TestSessionBindsAgain(t *testing.T) {
	s := newSession(t, CompileOptions{})
	answers(t, s, "x = 1; y = 2; x = y + 1; x = x + 1", "", "x", "4\n", "y", "2\n",
		"a = ones(2, 2); b = a + 1", "", "a = zeros(1, 1)", "", "sum(b)", "8\n", "sum(a)", "0\n",
		"a = a + 1; a = a + 1", "", "a", "2\n", "_ + 1", "3\n", "_ * 2", "6\n",
		"c = 1; fn f(k) { k + c }", "", "f(1)", "2\n", "c = 10", "", "f(1)", "11\n",
		"(b, 3)", "0:\n2 2\n2 2\n1: 3\n", "p, q = _", "", "sum(p) + q", "11\n",
		"chan t = tiles(ones(2, 2), 1)", "", "t[0, 0] <- t[0, 0] + 1", "", "t[0, 0] <- t[0, 0] + 1", "", "untile(t)", "3 1\n1 1\n",
	)
}

// What has been computed is read: its operators are in no later plan.
func TestSessionComputesOnce(t *testing.T) {
	s := newSession(t, CompileOptions{})
	if err := os.WriteFile(filepath.Join(t.TempDir(), "x.csv"), []byte("1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	answers(t, s, "y = rand(300, 300, seed = 1) @ ones(300, 300)", "", "z = sum(y)", "")
	has := func(text, operator string) bool {
		t.Helper()
		e, err := s.Compile(context.Background(), "input", text)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Abort()
		for i := range e.made.Plan.Graph.Nodes {
			if e.made.Plan.Graph.Nodes[i].Op.Name == operator {
				return true
			}
		}
		return false
	}
	if !has("max(y)", "max") {
		t.Error("what is new is not computed")
	}
	for _, text := range []string{"sum(y)", "sum(y) + 1", "z", "w = sum(y)"} {
		if has(text, "sum") || has(text, "rand") || has(text, "matmul") {
			t.Errorf("%s is computed again", text)
		}
	}
	answers(t, s, "mean(y) > 0", "true\n")
	if has("mean(y) > 0", "gt") {
		t.Error("what was shown is computed again")
	}
}

// A file that is bound is read once; an expression that reads it again reads what is there now.
func TestSessionReadsOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(text string) {
		if err := os.WriteFile("d.csv", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, CompileOptions{})
	put("1,2\n3,4\n")
	answers(t, s, "d = read(\"d.csv\")", "", "sum(read(\"d.csv\"))", "10\n")
	put("1,2\n3,5\n7,7\n")
	answers(t, s, "sum(d)", "10\n", "sum(read(\"d.csv\"))", "25\n")
	if err := os.Remove("d.csv"); err != nil {
		t.Fatal(err)
	}
	answers(t, s, "d.rows + sum(d)", "12\n")
}

// Values that no name means are freed.
func TestSessionFrees(t *testing.T) {
	s := newSession(t, CompileOptions{})
	held := func() (n int64) {
		for slot := range 100 {
			n += s.Bytes(slot)
		}
		return n
	}
	const mib = 1 << 20
	answers(t, s, "a = rand(1024, 1024, seed = 1)", "", "b = a", "")
	if got := held(); got != 8*mib {
		t.Errorf("two names of one matrix hold %d bytes", got)
	}
	answers(t, s, "a = a + 1", "")
	if got := held(); got != 16*mib {
		t.Errorf("%d bytes are held; want two matrices", got)
	}
	answers(t, s, "b = 0", "")
	if got := held(); got > 9*mib {
		t.Errorf("%d bytes are held after the last name was bound again", got)
	}
	if err := s.Drop("a"); err != nil {
		t.Fatal(err)
	}
	if got := held(); got > mib {
		t.Errorf("%d bytes are held after drop", got)
	}
	if s.Drop("a") == nil {
		t.Error("a name is dropped twice")
	}
}

// An entry that fails leaves the session as it was: before the run, in it, and in what it sends.
func TestSessionAfterFailure(t *testing.T) {
	s := newSession(t, CompileOptions{})
	answers(t, s, "x = ones(2, 2); chan c = tiles(x, 1); fn f(a) { a + 1 }", "", "sum(x)", "4\n")
	for _, text := range []string{
		"x = 2; y = nosuch", "x = 3; fn f(a) { a }; assert sum(zeros(1, 1)) > 1", "c[0, 0] <- c[0, 0] + 1; assert sum(zeros(1, 1)) > 1", "x = (", "x = x @ ones(3, 3)",
		"x = cholesky(0 - ones(2, 2))",
	} {
		if out, err := enter(t, s, text); err == nil {
			t.Errorf("%s prints %s", text, out)
		}
	}
	answers(t, s, "sum(x)", "4\n", "f(1)", "2\n", "untile(c)", "1 1\n1 1\n", "_ + 1", "2 2\n2 2\n")
	if _, err := enter(t, s, "y"); err == nil {
		t.Error("a name of an entry that failed is there")
	}
	ctx, cancel := context.WithCancel(context.Background())
	e, err := s.Compile(ctx, "input", "x = rand(2000, 2000, seed = 3) @ rand(2000, 2000, seed = 4)")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := e.Run(ctx, RunOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled entry ends with %v", err)
	}
	answers(t, s, "sum(x)", "4\n")
}

// Variables says what names mean.
func TestSessionVariables(t *testing.T) {
	s := newSession(t, CompileOptions{})
	answers(t, s, "n = 3; x = ones(n, 2); fn f(a, b) { a }; t = (lo = 1, hi = x); param k = 4", "")
	got := map[string]Variable{}
	for _, v := range s.Variables() {
		got[v.Name] = v
	}
	switch {
	case got["n"].Slot >= 0 || got["n"].Const.I != 3:
		t.Errorf("n is %+v", got["n"])
	case got["x"].Type != types.DenseOf(types.F64, 3, 2) || s.Bytes(got["x"].Slot) != 48:
		t.Errorf("x is %+v", got["x"])
	case strings.Join(got["f"].Args, " ") != "a b":
		t.Errorf("f is %+v", got["f"])
	case strings.Join(got["t"].Fields, " ") != "lo hi":
		t.Errorf("t is %+v", got["t"])
	}
	if err := s.Set(context.Background(), "k", "7"); err != nil {
		t.Fatal(err)
	}
	answers(t, s, "k", "7\n")
	if s.Set(context.Background(), "k", "x") == nil || s.Set(context.Background(), "nosuch", "1") == nil {
		t.Error("a param takes what it must not")
	}
	answers(t, s, "k", "7\n")
	if typ, err := s.Type(context.Background(), "input", "x @ t.hi[0..2, :]"); err != nil || typ != "f64[3,2]" {
		t.Errorf("the type is %q, %v", typ, err)
	}
}

// Ctrl-C while an entry is compiled returns at once, however long the compiler needs, and the
// session is as it was.
func TestSessionInterruptedWhileCompiling(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := newSession(t, CompileOptions{Load: func(string) ([]byte, error) {
		close(begun)
		<-release
		return []byte("fn f(x) { x + 1 }"), nil
	}})
	answers(t, s, "x = 2; y = x * 3", "")
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		<-begun
		stop()
	}()
	_, err := s.Compile(ctx, "input", "x = 5\nimport \"slow.flow\" as slow") // the library file is read until the test ends it
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the entry ends with %v", err)
	}
	if names := s.Variables(); len(names) != 2 || names[0].Const.I != 2 {
		t.Errorf("while the compiler still has them the names are %v", names)
	}
	again, stop := context.WithCancel(context.Background())
	stop()
	if _, err := s.Compile(again, "input", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("the next entry, interrupted, ends with %v", err)
	}
	close(release)
	answers(t, s, "x", "2\n", "y + 1", "7\n")
}

// A program whose compilation waits for a pipe can be interrupted, and so can an entry; who reads
// the pipe later gets all of it.
func TestCompileInterruptedAtPipe(t *testing.T) {
	for _, session := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		in := &Input{Stdin: r, Waiting: func(string) { stop() }} // after two seconds without a byte
		if session {
			s := newSession(t, CompileOptions{Input: in})
			if _, err = s.Compile(ctx, "input", "x = read(\"-\")"); !errors.Is(err, context.Canceled) {
				t.Errorf("the entry ends with %v", err)
			}
			if _, err := w.WriteString("1,2\n3,4\n"); err != nil {
				t.Fatal(err)
			}
			w.Close()
			answers(t, s, "x = read(\"-\"); sum(x)", "10\n")
		} else if _, err := Compile(ctx, "p.flow", []byte("emit sum(read(\"-\"))"), CompileOptions{Input: in}); !errors.Is(err, context.Canceled) {
			t.Errorf("the program ends with %v", err)
		}
		stop()
		w.Close()
		r.Close()
	}
}
