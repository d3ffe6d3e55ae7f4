package main

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"flow"
)

// testRepl is a session whose output is gathered.
func testRepl(t *testing.T) (r *repl, out *bytes.Buffer) {
	t.Helper()
	out = &bytes.Buffer{}
	r = &repl{s: &session{out: out, err: out}, threads: 2}
	var err error
	if r.session, err = flow.NewSession(r.options); err != nil {
		t.Fatal(err)
	}
	return r, out
}

func mustEnter(t *testing.T, r *repl, entries ...string) {
	t.Helper()
	for _, e := range entries {
		if err := r.one(context.Background(), e); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
}

// Words, fields, files, arguments and commands are completed.
func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"people.csv", "prog.flow"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	r, _ := testRepl(t)
	mustEnter(t, r, "heights = ones(2, 2); fn area(width, height) { width * height }; both = (low = 1, high = 2); param size = 3")
	for _, c := range []struct {
		head string
		want []string // are among them
		not  []string // are not
	}{
		{"x = hei", []string{"heights"}, []string{"height = ", "high"}},
		{"chole", []string{"cholesky"}, nil},
		{"par", []string{"param", "parfor"}, nil},
		{"heights.", []string{"rows", "cols"}, []string{"heights"}},
		{"sum(heights.ro", []string{"rows"}, nil},
		{"both.", []string{"low", "high"}, []string{"rows"}},
		{"read(\"pe", []string{"people.csv"}, []string{"prog.flow"}},
		{"read(\"p", []string{"people.csv", "prog.flow", "parts/"}, nil},
		{":load p", []string{"prog.flow", "parts/"}, []string{"people.csv"}},
		{"area(1, hei", []string{"height = ", "heights"}, nil},
		{"rand(2, 2, se", []string{"seed = "}, nil},
		{":ti", []string{":time"}, []string{"times"}},
		{":set si", []string{"size="}, nil},
		{":explain fus", []string{"fuse"}, nil},
		{"\"text\" + hei", []string{"heights"}, nil},
	} {
		found, _ := r.completions(c.head)
		var got []string
		for _, f := range found {
			got = append(got, f.text)
		}
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q is not completed to %s; there are %s", c.head, w, strings.Join(got, " "))
			}
		}
		for _, w := range c.not {
			if slices.Contains(got, w) {
				t.Errorf("%q is completed to %s", c.head, w)
			}
		}
	}
}

// Ctrl-C ends an entry, and the session has what it had.
func TestInterruptedEntry(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // those that come after the entry end nothing
	defer signal.Stop(signals)
	r, out := testRepl(t)
	mustEnter(t, r, "x = ones(2, 2)")
	ended := make(chan error, 1)
	go func() {
		ended <- r.one(context.Background(), "iterate x = 1.0 times 1000000000000 { next x = sqrt(x + sum(ones(30, 30))) }")
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "stopped") {
				t.Fatalf("the entry ends with %v", err)
			}
			mustEnter(t, r, "sum(x)")
			if got := out.String(); got != "4\n" {
				t.Errorf("afterwards the session prints %q", got)
			}
			return
		case <-tick.C:
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Blocks go into the history as one entry each, and come back in the next session.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow", "history")
	h := openHistory(path)
	for _, e := range []string{"x = 1", "fn f(a) {\n  a\n}", "fn f(a) {\n  a\n}", "x\n"} {
		if _, err := h.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	again := openHistory(path)
	want := []string{"x = 1", "fn f(a) {\n  a\n}", "x"}
	if !slices.Equal(again.entries, want) {
		t.Errorf("the history is %q, want %q", again.entries, want)
	}
	if last, err := again.GetLine(again.Len() - 1); err != nil || last != "x" {
		t.Errorf("the last entry is %q, %v", last, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the history: %v, %v", info, err)
	}
}

// Colours change no character, and a text that does not parse has them, too.
func TestColoured(t *testing.T) {
	for _, text := range []string{"emit sum(x) # all", "fn f(a) {\n  \"te", ") (", "x = 1.5 + nan", ":load x"} {
		got := coloured(text)
		for _, code := range paint {
			got = strings.ReplaceAll(got, code, "")
		}
		if got = strings.ReplaceAll(got, "\x1b[0m", ""); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := coloured("emit 1"); got != "\x1b[35memit\x1b[0m \x1b[36m1\x1b[0m" {
		t.Errorf("emit 1 is %q", got)
	}
}

// Keys go up and down between the lines of a block, and leave it at its ends.
func TestBlockLines(t *testing.T) {
	block := []rune("abcd\nx\n\nlast")
	for _, c := range []struct{ at, up, down int }{
		{2, -1, 6}, {0, -1, 5}, {5, 0, 7}, {6, 1, 7}, {7, 5, 8}, {8, 7, -1}, {12, 7, -1},
	} {
		up, ok := above(block, c.at)
		if ok != (c.up >= 0) || ok && up != c.up {
			t.Errorf("up from %d is %d, %v; want %d", c.at, up, ok, c.up)
		}
		down, ok := below(block, c.at)
		if ok != (c.down >= 0) || ok && down != c.down {
			t.Errorf("down from %d is %d, %v; want %d", c.at, down, ok, c.down)
		}
	}
}

// TestProse: on a terminal lines end between words, and what goes on stands under its column.
func TestProse(t *testing.T) {
	for _, c := range []struct {
		width, indent int
		text, want    string
	}{
		{0, 0, strings.Repeat("word ", 50) + "end", strings.Repeat("word ", 50) + "end\n"},
		{34, 0, "the first line is short\nbut the second has more words than a line holds", "the first line is short\nbut the second has more words than\na line holds\n"},
		{40, 8, "  name  a text that stands in a column of its own", "  name  a text that stands in a column\n        of its own\n"},
		{40, 0, strings.Repeat("x", 60), strings.Repeat("x", 60) + "\n"},
		{40, 20, "  a long name         and little room for what it is", "  a long name         and little room for what it is\n"},
	} {
		var out strings.Builder
		s := &session{out: &out, width: func() int { return c.width }}
		if s.prose(c.text, c.indent); out.String() != c.want {
			t.Errorf("%d columns:\n%swant\n%s", c.width, out.String(), c.want)
		}
	}
}
