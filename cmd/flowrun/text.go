package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"flow/lang/source"
)

// This file finds the program text of a command line: a file, standard input, or -e.

const (
	// stdinName is the name of a program from standard input in diagnostics.
	stdinName = "<stdin>"
	// lineName is the name of a program of -e in diagnostics.
	lineName = "<command line>"
)

// textFlag is -e, for all commands that take a program.
func textFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "e", Usage: "run `TEXT` as the program instead of a FILE; repeat it for several lines"}
}

// program returns the program text of a command line, and its name in diagnostics. Standard input
// is read once and kept.
func (s *session) program(c *cli.Context) (name string, text []byte, err error) {
	if lines := c.StringSlice("e"); len(lines) > 0 {
		if c.NArg() > 0 {
			e := usagef("-e gives the program, and %s is another one", c.Args().First())
			e.help = "give one of them"
			return "", nil, e
		}
		return lineName, []byte(strings.Join(lines, "\n") + "\n"), nil
	}
	if s.fromStdin(c, isTerminal(os.Stdin)) {
		if text, err = s.stdin(); err == nil && c.NArg() == 0 && blank(text) {
			_, err = s.file(c)
		}
		return stdinName, text, err
	}
	if name, err = s.file(c); err != nil {
		return "", nil, err
	}
	text, err = s.read(name)
	return name, text, err
}

// file returns the one program of a command line.
func (s *session) file(c *cli.Context) (string, error) {
	switch c.NArg() {
	case 0:
		e := usagef("flowrun %s needs the FILE of a program", c.Command.Name)
		e.help = "flowrun " + c.Command.Name + " FILE; FILE is - for standard input"
		return "", e
	case 1:
		return c.Args().First(), nil
	}
	e := usagef("flowrun %s takes one FILE, got %q as well", c.Command.Name, c.Args().Get(1))
	e.help = "params are given with --set name=value"
	if second := c.Args().Get(1); strings.Contains(second, "=") {
		e.help = "write --set " + second
	}
	return "", e
}

// read returns the text of a program; "-" is standard input.
func (s *session) read(name string) ([]byte, error) {
	if name == "-" {
		return s.stdin()
	}
	text, err := source.ReadFile(name)
	if err != nil {
		e := usagef("cannot read the program: %v", err)
		if errors.Is(err, os.ErrNotExist) {
			if e = usagef("no program %s here", name); name == "" {
				e = usagef("the name of the program is empty")
			} else {
				e.help = nearFile(name)
			}
		}
		return nil, e
	}
	return text, nil
}

// fromStdin reports a command line whose program comes from standard input: it names the file -, or
// is a run without a file. A terminal is read only for -.
func (s *session) fromStdin(c *cli.Context, terminal bool) bool {
	if len(c.StringSlice("e")) > 0 {
		return false
	}
	return c.NArg() == 0 && c.Command.Name == "run" && !terminal || c.NArg() == 1 && c.Args().First() == "-"
}

// waitsForText is how long standard input may be silent before the command says what it waits for.
const waitsForText = 2 * time.Second

// stdin reads all of standard input as a program text.
func (s *session) stdin() ([]byte, error) {
	if s.text != nil {
		return s.text, nil
	}
	stderr := s.err
	said := time.AfterFunc(waitsForText, func() { fmt.Fprintln(stderr, "flowrun: waiting for a program from standard input") })
	defer said.Stop()
	text, err := source.ReadText(s.in)
	if err != nil {
		return nil, usagef("cannot read the program from standard input: %v", err)
	}
	s.text = append([]byte{}, text...) // not nil
	return s.text, nil
}

// piped reports that standard input, which is no terminal, holds a program.
func (s *session) piped() bool {
	if isTerminal(os.Stdin) {
		return false
	}
	text, err := s.stdin()
	return err != nil || !blank(text)
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
