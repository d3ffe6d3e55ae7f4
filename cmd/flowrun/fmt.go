package main

import (
	"bytes"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/urfave/cli/v2"

	"flow"
	"flow/lang"
	"flow/lang/source"
)

// This file defines `flowrun fmt`, which prints programs in the standard layout.

func (s *session) fmtCommand() *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "print programs in the standard layout",
		ArgsUsage: "FILE...",
		Flags: []cli.Flag{
			textFlag(),
			&cli.BoolFlag{Name: "w", DisableDefaultText: true, Usage: "write the files instead of printing them"},
			&cli.BoolFlag{Name: "d", DisableDefaultText: true, Usage: "print a diff; exit 1 if there is one"},
		},
		Action: func(c *cli.Context) error {
			if len(c.StringSlice("e")) > 0 {
				return s.formatProgram(c)
			}
			if c.NArg() == 0 {
				return usagef("flowrun fmt needs a FILE; - is standard input")
			}
			if c.Bool("w") && c.Bool("d") {
				return usagef("flowrun fmt: -w and -d exclude each other")
			}
			changed := false
			for _, name := range c.Args().Slice() {
				differs, err := s.format(name, c.Bool("w"), c.Bool("d"))
				if err != nil {
					return err
				}
				changed = changed || differs
			}
			if c.Bool("d") && changed {
				return exit(exitFailed)
			}
			return nil
		},
	}
}

// formatted returns a program in the standard layout.
func formatted(name string, text []byte) ([]byte, error) {
	files := source.NewFileSet()
	tree, ds := lang.Parse(files.Add(name, string(text)))
	if ds.HasErrors() {
		return nil, &flow.Refusal{Files: files, Diagnostics: ds}
	}
	return lang.Format(tree, string(text)), nil
}

// formatProgram prints the program of -e in the standard layout.
func (s *session) formatProgram(c *cli.Context) error {
	if c.Bool("w") || c.Bool("d") {
		return usagef("flowrun fmt: -w and -d are about files, and -e is none")
	}
	name, text, err := s.program(c)
	if err != nil {
		return err
	}
	after, err := formatted(name, text)
	if err == nil {
		_, err = s.out.Write(after)
	}
	return err
}

// format formats one file and reports whether that changes it. It does not touch a file with a
// syntax error.
func (s *session) format(name string, write, compare bool) (changed bool, err error) {
	text, err := s.read(name)
	if err != nil {
		return false, err
	}
	shown := name
	if name == "-" {
		shown = stdinName
	}
	after, err := formatted(shown, text)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(text, after)
	switch {
	case compare:
		_, err = s.out.Write(diff.Diff(name, text, name+" formatted", after))
	case write && name == "-":
		err = usagef("flowrun fmt -w cannot write to standard input")
	case write && changed:
		o := flow.NewOutput(nil)
		defer o.Discard()
		w, err := o.Create(name)
		if err != nil {
			return changed, fmt.Errorf("formatting: %w", err)
		}
		if _, err := w.Write(after); err != nil {
			return changed, err
		}
		return changed, o.Commit()
	case !write:
		_, err = s.out.Write(after)
	}
	return changed, err
}
