package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/peterh/liner"

	"flow/kernels"
)

// This file defines how the REPL gets its lines: edited on a terminal, with history and completion, or plainly from anything else.

// lineReader is where lines come from.
type lineReader interface {
	read(prompt string) (string, error) // io.EOF at the end, errLineAborted after Ctrl-C
	remember(entry string)
	interactive() bool
	close()
}

// errLineAborted is an entry that was given up.
var errLineAborted = errors.New("aborted")

func (s *session) newLineReader(complete func(word string) []string) (lineReader, error) {
	if f, ok := s.in.(*os.File); !ok || !isTerminal(f) {
		b := bufio.NewScanner(s.in)
		b.Buffer(nil, 1<<24)
		return &plainLines{b}, nil
	}
	t := &terminalLines{State: liner.NewLiner(), history: historyFile()}
	t.SetCtrlCAborts(true)
	t.SetTabCompletionStyle(liner.TabPrints)
	t.SetWordCompleter(func(line string, pos int) (head string, completions []string, tail string) {
		at := []rune(line)
		from := pos
		for from > 0 && isWordRune(at[from-1]) {
			from--
		}
		if from == 1 && at[0] == ':' {
			from = 0
		}
		return string(at[:from]), complete(string(at[from:pos])), string(at[pos:])
	})
	if f, err := os.Open(t.history); err == nil { // the first time there is none
		_, _ = t.ReadHistory(f)
		_ = f.Close()
	}
	return t, nil
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// historyFile lies beside the cache of measured costs; "" if there is no place for it.
func historyFile() string {
	dir := os.Getenv("FLOW_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "flow")
	}
	return filepath.Join(dir, "history")
}

// plainLines are the lines of a file or a pipe.
type plainLines struct{ *bufio.Scanner }

func (p *plainLines) read(string) (string, error) {
	if p.Scan() {
		return p.Text(), nil
	}
	if err := p.Err(); err != nil {
		return "", err
	}
	return "", io.EOF
}

func (p *plainLines) remember(string)   {}
func (p *plainLines) interactive() bool { return false }
func (p *plainLines) close()            {}

// terminalLines are lines that somebody types.
type terminalLines struct {
	*liner.State
	history string
}

func (t *terminalLines) read(prompt string) (string, error) {
	line, err := t.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errLineAborted
	}
	return line, err
}

// remember keeps each line of an entry.
func (t *terminalLines) remember(entry string) {
	for line := range strings.SplitSeq(entry, "\n") {
		if strings.TrimSpace(line) != "" {
			t.AppendHistory(line)
		}
	}
}

func (t *terminalLines) interactive() bool { return true }

// close gives the terminal back and keeps the history, if it can.
func (t *terminalLines) close() {
	_ = t.Close()
	if t.history == "" || os.MkdirAll(filepath.Dir(t.history), 0o777) != nil {
		return
	}
	if f, err := os.OpenFile(t.history, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err == nil {
		_, _ = t.WriteHistory(f)
		_ = f.Close()
	}
}

// complete is what may stand for a word that has been begun.
func (r *repl) complete(word string) []string {
	var known []string
	if strings.HasPrefix(word, ":") {
		for _, c := range replCommands {
			known = append(known, ":"+c.name)
		}
	} else {
		known = append(known, "param", "import", "fn", "chan", "for", "parfor", "iterate", "until", "times", "if", "else", "emit", "to", "as", "assert",
			"and", "or", "not", "true", "false", "inf", "nan", "in", "by")
		if table, err := kernels.Table(r.options.Kernels); err == nil {
			known = append(known, table.Words()...)
		}
		if library, err := libraryFunctions(); err == nil {
			for _, f := range library {
				known = append(known, f.name)
			}
		}
		for _, st := range r.kept {
			known = append(known, st.names...)
		}
	}
	var out []string
	for _, k := range known {
		if word != "" && strings.HasPrefix(k, word) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
