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

// This file defines the editor of the REPL on a terminal: blocks of lines, in colours, with
// completion and history.

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
		stem := "" // after a dot or bracket: the library takes no empty word
		if word == "" {
			stem = head[strings.LastIndexAny(head, " \t\n")+1:]
		}
		var pairs []string
		for _, c := range found {
			pairs = append(pairs, stem+c.text, c.doc)
		}
		// NoSpace would let the key after a completion delete the last character of the
		// word.
		out := readline.CompleteValuesDescribed(pairs...).JustifyDescriptions()
		out.PREFIX = stem + word
		return out
	}
	e.shell.Keymap.Register(map[string]func(){"block-up": e.up, "block-down": e.down})
	// An inputrc writes a key as escape or as meta, a rune with 128 added; the library has
	// defaults for both.
	for _, keymap := range []string{"emacs", "emacs-standard", "vi-insert"} {
		for _, before := range []string{"\x1b[", "\x1bO", "\u00db", "\u00cf"} {
			for key, action := range map[string]string{"A": "block-up", "B": "block-down"} {
				if err := e.shell.Config.Bind(keymap, before+key, action, false); err != nil {
					return nil, err
				}
			}
		}
	}
	e.shell.History.Add("flow", e.history)
	return e, nil
}

// up moves to the line above in the block, or from the first to the previous entry.
func (e *editor) up() {
	block, at := []rune(*e.shell.Line()), e.shell.Cursor().Pos()
	to, ok := above(block, at)
	if !ok {
		e.shell.History.Walk(1)
		return
	}
	e.shell.Cursor().Set(to)
}

// down moves to the line below in the block, or from the last to the next entry.
func (e *editor) down() {
	block, at := []rune(*e.shell.Line()), e.shell.Cursor().Pos()
	to, ok := below(block, at)
	if !ok {
		e.shell.History.Walk(-1)
		return
	}
	e.shell.Cursor().Set(to)
}

// lineAt returns the start of the line of a block that contains a position.
func lineAt(block []rune, at int) int {
	for at > 0 && block[at-1] != '\n' {
		at--
	}
	return at
}

// above returns the position in the line above. ok is false in the first line.
func above(block []rune, at int) (to int, ok bool) {
	start := lineAt(block, at)
	if start == 0 {
		return at, false
	}
	return min(lineAt(block, start-1)+at-start, start-1), true
}

// below returns the position in the line below. ok is false in the last line.
func below(block []rune, at int) (to int, ok bool) {
	next := at
	for next < len(block) && block[next] != '\n' {
		next++
	}
	if next == len(block) {
		return at, false
	}
	next++
	end := next
	for end < len(block) && block[end] != '\n' {
		end++
	}
	return min(next+at-lineAt(block, at), end), true
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

// remember does nothing: the editor writes its results to the history.
func (e *editor) remember(string)   {}
func (e *editor) interactive() bool { return true }

// close restores the terminal.
func (e *editor) close() { _ = term.Restore(int(os.Stdin.Fd()), e.state) }

// paint maps kinds of words to terminal colours that are readable on light and dark backgrounds.
var paint = map[lang.Kind]string{
	lang.Declaring: "\x1b[35m", lang.Steering: "\x1b[35m", lang.Joining: "\x1b[35m", lang.Constant: "\x1b[36m",
	lang.Number: "\x1b[36m", lang.Text: "\x1b[32m", lang.Comment: "\x1b[2m", lang.Call: "\x1b[34m",
}

// coloured returns a block with coloured words. A command has none.
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
