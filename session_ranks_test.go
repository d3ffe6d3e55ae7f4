package flow

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"flow/lang"
	"flow/lang/source"
	"flow/runtime/dist"
	"flow/runtime/dist/transport/mem"
)

// apartSession is a session on ranks that have tables and values of their own. Close, which must be
// called, returns what the other ranks ended with.
func apartSession(t *testing.T, ranks int, o CompileOptions) (s *Session, end func() error) {
	t.Helper()
	comms := mem.New(ranks, mem.Options{})
	errs := make([]error, ranks)
	var others sync.WaitGroup
	for i := 1; i < ranks; i++ {
		others.Go(func() {
			errs[i] = Follow(context.Background(), comms[i], o, RunOptions{Threads: 1}, MeetOptions{})
		})
	}
	s, err := NewSessionOn(context.Background(), comms[0], o, MeetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() error {
		err := s.Close(context.Background())
		others.Wait()
		return errors.Join(append(errs, err)...)
	}
}

// Ranks that share no memory print what a program prints as a whole, entered statement by
// statement.
func TestApartSessionIsTheProgram(t *testing.T) {
	spec, err := os.ReadFile(filepath.Join("lang", "spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name := range exampleSets {
		text, err := os.ReadFile(filepath.Join("examples", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for i, b := range specBlock.FindAllSubmatch(spec, -1) {
		texts["spec.md, block "+string(rune('0'+i%10))+string(rune('a'+i/10))] = string(b[1])
	}
	t.Chdir(t.TempDir()) // some write files
	compared := 0
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		if i%5 != 0 { // TestSessionIsTheProgram has all
			continue
		}
		text := texts[name]
		whole := engine{ranks: 1, threads: 2}.output(name, []byte(text), nil)
		if strings.Contains(whole, "FAILED") {
			continue // also the examples that need a param
		}
		file := source.NewFileSet().Add("p", text)
		tree, ds := lang.Parse(file)
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		s, end := apartSession(t, 3, CompileOptions{Verify: true})
		var got strings.Builder
		for _, st := range tree.Stmts {
			out, err := enter(t, s, text[file.Offset(st.Span().From):file.Offset(st.Span().To)])
			got.WriteString(out)
			if err != nil {
				got.WriteString(err.Error())
				break
			}
		}
		if err := end(); err != nil || got.String() != whole {
			t.Errorf("%s, entered statement by statement, prints\n%s%v\nwant\n%s", name, clip(got.String()), err, clip(whole))
		}
		compared++
	}
	if compared < 8 {
		t.Errorf("only %d programs", compared)
	}
}

// Values lie on rank 0, the other ranks know their types, and all have the same names whatever rank
// 0 tries beside.
func TestApartSessionKeeps(t *testing.T) {
	s, end := apartSession(t, 3, CompileOptions{})
	answers(t, s, "x = rand(200, 200, seed = 1); n = sum(x) > 0; s = \"te\" + \"xt\"", "", "n", "true\n", "s", "text\n")
	if typ, err := s.Type(context.Background(), "input", "x @ x"); err != nil || typ != "f64[200,200]" {
		t.Errorf("the type is %s, %v", typ, err)
	}
	if _, err := enter(t, s, "y = x @ nothere"); err == nil {
		t.Error("an unknown name is none")
	}
	answers(t, s, "y = x[x[:, 0] > 0.5, :]; k = y.rows < 200", "", "k and y.rows > 10", "true\n", "w = x @ x; sum(w == x @ x)", "40000\n",
		"x = ones(300, 300); sum(x)", "90000\n", "param p = 3; p", "3\n")
	if err := s.Set(context.Background(), "p", "4"); err != nil {
		t.Error(err)
	}
	_, err := enter(t, s, "z = ones(300, 300); emit sum(z); assert sum(z) == p")
	if err == nil || !strings.Contains(err.Error(), "E603") {
		t.Errorf("the assert ends with %v", err)
	}
	answers(t, s, "p", "4\n", "sum(x @ x)", "27000000\n", "z = 1; z", "1\n")
	if err := s.Drop("x"); err != nil {
		t.Error(err)
	}
	if _, err := enter(t, s, "x"); err == nil {
		t.Error("x was dropped, and is there")
	}
	answers(t, s, "sum(y) > 0", "true\n")
	s.Clear()
	if _, err := enter(t, s, "y"); err == nil {
		t.Error("y is there after all was cleared")
	}
	answers(t, s, "y = ones(64, 64); sum(y @ y)", "262144\n")
	if err := end(); err != nil {
		t.Error(err)
	}
}

// An interruption returns to the user, and the ranks go on together.
func TestApartSessionIsInterrupted(t *testing.T) {
	s, end := apartSession(t, 3, CompileOptions{})
	answers(t, s, "x = ones(90, 90)", "")
	for _, text := range []string{
		"iterate q = 1.0 times 1000000000000 { next q = sqrt(q + sum(x)) }",
		"emit sum(x @ x)", // already interrupted when it begins
	} {
		e, err := s.Compile(context.Background(), "input", text)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var out bytes.Buffer
		if strings.HasPrefix(text, "emit") {
			stop()
		}
		o := NewOutput(&out)
		started := make(chan struct{}, 1)
		go func() {
			select {
			case <-started:
			case <-time.After(200 * time.Millisecond): // where nothing is told of, whenever
			}
			stop()
		}()
		err = e.Run(ctx, RunOptions{Threads: 1, Output: o, Progress: func(Progress) {
			select {
			case started <- struct{}{}:
			default:
			}
		}})
		o.Discard()
		if err == nil {
			t.Errorf("%s was not interrupted", text)
		}
		answers(t, s, "sum(x)", "8100\n")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// A rank that cannot compile an entry refuses it, and the session goes on.
func TestApartSessionOfDifferentRanks(t *testing.T) {
	comms := mem.New(2, mem.Options{})
	ended := make(chan error, 1)
	go func() {
		// Its files are not those of rank 0.
		o := CompileOptions{Load: func(string) ([]byte, error) { return nil, os.ErrNotExist }}
		ended <- Follow(context.Background(), comms[1], o, RunOptions{Threads: 1}, MeetOptions{})
	}()
	o := CompileOptions{Load: func(string) ([]byte, error) { return []byte("fn f(x) { x + 1 }"), nil }}
	s, err := NewSessionOn(context.Background(), comms[0], o, MeetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var refused *Refusal
	if _, err := enter(t, s, "import \"f.flow\" as f"); !errors.As(err, &refused) || refused.Diagnostics[0].Code != "E701" {
		t.Errorf("the import ends with %v", err)
	}
	answers(t, s, "sum(ones(80, 80))", "6400\n")
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A rank that dies while nothing runs is named, and one that does during an entry.
func TestApartSessionWithoutARank(t *testing.T) {
	for _, midway := range []bool{false, true} {
		ranks := mem.NewGroup(3, mem.Options{})
		var others sync.WaitGroup
		for i := 1; i < 3; i++ {
			others.Go(func() {
				err := Follow(context.Background(), ranks.Comm(i), CompileOptions{}, RunOptions{Threads: 1}, MeetOptions{})
				var f *dist.Failure
				if !errors.As(err, &f) {
					t.Errorf("rank %d ends with %v", i, err)
				}
			})
		}
		s, err := NewSessionOn(context.Background(), ranks.Comm(0), CompileOptions{}, MeetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		answers(t, s, "x = ones(80, 80)", "")
		if midway {
			ranks.Kill(1)
			_, err = enter(t, s, "sum(x @ x)")
		} else {
			watched, stop := s.Watch(context.Background())
			ranks.Kill(1)
			<-watched.Done()
			err = s.Lost(watched)
			stop()
		}
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Diagnostics[0].Code != "E702" || !strings.Contains(err.Error(), "rank 1 died") {
			t.Errorf("the death of rank 1 ends with %v", err)
		}
		ranks.Comm(0).Abort(1)
		others.Wait()
	}
}
