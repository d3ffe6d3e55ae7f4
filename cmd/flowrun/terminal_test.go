package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// This file defines the script command that uses flowrun on a terminal, as a person does.

// escapes are the sequences that move the cursor or set colours.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]* ?[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b\][^\x07]*\x07`)

// editing is what the editor of the REPL shows when it begins to read an entry: the shape of its
// cursor, a prompt, and the cursor. What is typed before is lost.
var editing = regexp.MustCompile(`(?s)\x1b\[1 q.*?\x1b\[\?25h`)

// terminal FILE ARGS... runs flowrun ARGS on a pseudo terminal and follows the lines of FILE:
//
//	> TEXT     types TEXT, in which \r, \t, \x03 and other escapes of Go stand for keys; behind another
//	           > only if nothing is shown for that: the editor asks the terminal where the cursor is when it
//	           shows a key, and a key that it reads together with the answer is lost
//	< REGEXP   waits until the screen shows REGEXP behind what was waited for before; colours are left out
//	prompt     waits until an entry can be typed
//	kill RANK  kills a rank
//	exit CODE  waits until flowrun ends, and demands the code
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: terminal FILE ARGS...")
	}
	cmd := exec.Command(filepath.Join(binDir(ts), "flowrun"), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "TERM="+cmp.Or(ts.Getenv("TERM"), "xterm"), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "TMPDIR="+ts.Getenv("TMPDIR"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 160})
	ts.Check(err)
	screen := newScreen(file)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit code is looked at below
		close(ended)
	}()
	defer func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		_ = file.Close()
	}()
	for i, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case ">":
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
			ts.Check(err)
			_, err = io.WriteString(file, text)
			ts.Check(err)
		case "<":
			if !screen.await(regexp.MustCompile(rest)) {
				ts.Fatalf("%s:%d: the terminal does not show %s but %q", args[0], i+1, rest, screen.text())
			}
		case "prompt":
			if !screen.awaitRaw(editing) {
				ts.Fatalf("%s:%d: there is no prompt but %q", args[0], i+1, screen.text())
			}
		case "kill":
			pid := rankProcess(ts, rest, args[1])
			if pid == 0 {
				ts.Fatalf("there is no rank %s", rest)
			}
			ts.Check(syscall.Kill(pid, syscall.SIGKILL))
		case "exit":
			select {
			case <-ended:
			case <-time.After(startsWithin):
				ts.Fatalf("flowrun does not end; the terminal shows %q", screen.text())
			}
			if code := strconv.Itoa(cmd.ProcessState.ExitCode()); code != rest {
				ts.Fatalf("exits with %s, want %s; the terminal shows %q", code, rest, screen.text())
			}
		case "#":
		default:
			ts.Fatalf("%s:%d: %s is neither >, <, prompt, kill nor exit", args[0], i+1, what)
		}
	}
}

// screen gathers what a program writes to a terminal, and answers it.
type screen struct {
	mu    sync.Mutex
	shown bytes.Buffer // what has not been waited for
	news  chan struct{}
	over  bool
}

func newScreen(file *os.File) *screen {
	s := &screen{news: make(chan struct{}, 1)}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := file.Read(b)
			s.mu.Lock()
			s.shown.Write(b[:n])
			s.over = err != nil && !errors.Is(err, io.EOF) || n == 0
			over := s.over
			s.mu.Unlock()
			for range bytes.Count(b[:n], []byte("\x1b[6n")) { // where is the cursor?
				_, _ = io.WriteString(file, "\x1b[1;1R")
			}
			select {
			case s.news <- struct{}{}:
			default:
			}
			if over {
				return
			}
		}
	}()
	return s
}

// await waits until the screen shows what, and forgets what was shown up to its end. false: it
// never does.
func (s *screen) await(what *regexp.Regexp) bool {
	return s.find(func(raw []byte) (end int) {
		plain, at := unescaped(raw)
		if found := what.FindIndex(plain); found != nil {
			return at[found[1]]
		}
		return -1
	})
}

// awaitRaw is await of a text with its escape sequences.
func (s *screen) awaitRaw(what *regexp.Regexp) bool {
	return s.find(func(raw []byte) (end int) {
		if found := what.FindIndex(raw); found != nil {
			return found[1]
		}
		return -1
	})
}

// find waits until end says where what is looked for ends; -1 is nowhere yet.
func (s *screen) find(end func(raw []byte) int) bool {
	deadline := time.After(startsWithin)
	for {
		s.mu.Lock()
		at, over := end(s.shown.Bytes()), s.over
		if at >= 0 {
			s.shown.Next(at)
		}
		s.mu.Unlock()
		if at >= 0 || over {
			return at >= 0
		}
		select {
		case <-s.news:
		case <-deadline:
			return false
		}
	}
}

// unescaped is raw without escape sequences, and without progress lines that were erased: a slow
// machine shows them. at has the place in raw of each place in it, its end included.
func unescaped(raw []byte) (plain []byte, at []int) {
	from := 0
	for _, e := range append(escapes.FindAllIndex(raw, -1), []int{len(raw), len(raw)}) {
		for ; from < e[0]; from++ {
			plain, at = append(plain, raw[from]), append(at, from)
		}
		from = e[1]
		line := bytes.LastIndexByte(plain, '\n') + 1
		bar := bytes.Index(plain[line:], []byte("\r["))
		if bar >= 0 && string(raw[e[0]:e[1]]) == "\x1b[K" && bytes.HasSuffix(plain, []byte("\r")) {
			plain, at = plain[:line+bar], at[:line+bar]
		}
	}
	return plain, append(at, len(raw))
}

// text is what is shown.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	plain, _ := unescaped(s.shown.Bytes())
	return string(plain)
}

func TestErasedProgress(t *testing.T) {
	for raw, want := range map[string]string{
		"> x\r\n\r[##..]  50 %  1 of 2 tasks\x1b[K\r[###.]  75 %\x1b[K\r\x1b[K27\r\n": "> x\r\n27\r\n",
		"\r[##..]  50 %\x1b[K27\r\n":  "\r[##..]  50 %27\r\n", // not erased
		"\r[1, 2]\r\n\r\x1b[K> y\r\n": "\r[1, 2]\r\n\r> y\r\n",
	} {
		plain, at := unescaped([]byte(raw))
		if string(plain) != want || len(at) != len(plain)+1 || at[len(plain)] != len(raw) {
			t.Errorf("%q is shown as %q, want %q; places %v", raw, plain, want, at)
		}
	}
}
