package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"flow/lang"
)

// This file defines the editor of the REPL on a terminal: blocks of several lines, in colours, with completion and history.

// editor edits entries.
type editor struct {
	shell   *readline.Shell
	state   *term.State // of the terminal, to give back
	history *history
}

func newEditor(r *repl) (*editor, error) {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil, err
	}
	e := &editor{shell: readline.NewShell(), state: state, history: openHistory(historyFile())}
	e.shell.Prompt.Primary(func() string { return "flow> " })
	e.shell.Prompt.Secondary(func() string { return "  ... " })
	e.shell.AcceptMultiline = func(block []rune) bool { return complete(string(block)) }
	if r.s.color {
		e.shell.SyntaxHighlighter = func(block []rune) string { return coloured(string(block)) }
	}
	e.shell.Completer = func(block []rune, cursor int) readline.Completions {
		head := string(block[:cursor])
		found, word := r.completions(head)
		var pairs []string
		for _, c := range found {
			pairs = append(pairs, c.text, c.doc)
		}
		out := readline.CompleteValuesDescribed(pairs...).NoSpace().JustifyDescriptions()
		out.PREFIX = word
		return out
	}
	e.shell.History.Add("flow", e.history)
	return e, nil
}

func (e *editor) read() (string, error) {
	block, err := e.shell.Readline()
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errLineAborted
	case err != nil:
		return "", io.EOF
	}
	return joined(block), nil
}

// remember does nothing: the editor writes what it returns into the history.
func (e *editor) remember(string)   {}
func (e *editor) interactive() bool { return true }

// close gives the terminal back.
func (e *editor) close() { _ = term.Restore(int(os.Stdin.Fd()), e.state) }

// paint is the colours of the kinds of words, as sequences of a terminal; what has none is left as it is. They are those
// that are read on light and dark ground.
var paint = map[lang.Kind]string{
	lang.Declaring: "\x1b[35m", lang.Steering: "\x1b[35m", lang.Joining: "\x1b[35m", lang.Constant: "\x1b[36m",
	lang.Number: "\x1b[36m", lang.Text: "\x1b[32m", lang.Comment: "\x1b[2m", lang.Call: "\x1b[34m",
}

// coloured is a block with the colours of its words. A command has none.
func coloured(block string) string {
	if strings.HasPrefix(strings.TrimSpace(block), ":") {
		return block
	}
	var b strings.Builder
	at := 0
	for _, w := range lang.Words(block) {
		if paint[w.Kind] == "" || w.From < at {
			continue
		}
		b.WriteString(block[at:w.From] + paint[w.Kind] + block[w.From:w.To] + "\x1b[0m")
		at = w.To
	}
	return b.String() + block[at:]
}
