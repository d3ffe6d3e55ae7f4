package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// This file reads the REPL's entries: edited on a terminal (repl_edit.go), or plainly from anything
// else.

// lineReader returns entries.
type lineReader interface {
	read() (string, error) // io.EOF at the end, errLineAborted after Ctrl-C
	remember(entry string)
	interactive() bool
	close()
}

// errLineAborted is the error of an abandoned entry.
var errLineAborted = errors.New("aborted")

func (s *session) newLineReader(r *repl) (lineReader, error) {
	if f, ok := s.in.(*os.File); !ok || !isTerminal(f) {
		b := bufio.NewScanner(s.in)
		b.Buffer(nil, 1<<24)
		return &plainLines{Scanner: b}, nil
	}
	if os.Getenv("TERM") == "dumb" { // it knows nothing of the places that an editor asks for and goes to
		return &plainLines{Scanner: bufio.NewScanner(s.in), prompt: s.out}, nil
	}
	return newEditor(r)
}

// complete reports whether a block is an entry: a command, or text with closed brackets that does
// not end in an operator or "\".
func complete(block string) bool {
	text := strings.TrimSpace(block)
	if strings.HasPrefix(text, ":") || strings.HasPrefix(text, "?") {
		return true
	}
	return !strings.HasSuffix(strings.TrimRight(block, " \t"), "\\") && !unfinished(text)
}

// joined returns a block without continuation signs.
func joined(block string) string {
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		if more, ok := strings.CutSuffix(strings.TrimRight(line, " \t\r"), "\\"); ok {
			lines[i] = strings.TrimRight(more, " \t")
		}
	}
	return strings.Join(lines, "\n")
}

// plainLines reads the lines of a file, a pipe or a terminal without an editor.
type plainLines struct {
	*bufio.Scanner
	prompt io.Writer // where a terminal is asked for entries, or nil
}

// read reads lines until they are a complete entry.
func (p *plainLines) read() (string, error) {
	var lines []string
	if p.prompt != nil {
		fmt.Fprint(p.prompt, "flow> ")
	}
	for p.Scan() {
		lines = append(lines, p.Text())
		if block := strings.Join(lines, "\n"); complete(block) {
			return joined(block), nil
		}
	}
	if err := p.Err(); err != nil {
		return "", err
	}
	if len(lines) > 0 {
		return joined(strings.Join(lines, "\n")), nil // incomplete: the compiler says so
	}
	return "", io.EOF
}

func (p *plainLines) remember(string)   {}
func (p *plainLines) interactive() bool { return p.prompt != nil }
func (p *plainLines) close()            {}
