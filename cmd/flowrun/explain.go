package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/compiler"
	"flow/ir"
	"flow/lang/source"
)

// This file defines `flowrun explain`: what a diagnostic code means, or what a program is after a pass.

func (s *session) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a diagnostic code means, or print a program after a compiler pass",
		ArgsUsage: "CODE | FILE --pass=NAME",
		Flags: append(programFlags(), ranksFlag(),
			&cli.StringFlag{Name: "pass", Usage: "print the graph after the pass `NAME`, one of: " + passesOf()}),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				e := usagef("flowrun explain needs one CODE, such as E402, or a FILE and --pass=NAME")
				return e
			}
			if !c.IsSet("pass") {
				return s.explainCode(c.Args().First())
			}
			return s.explainPass(c, c.String("pass"))
		},
	}
}

// explainPass prints the graph after the last run of a pass.
func (s *session) explainPass(c *cli.Context, pass string) error {
	var known []string
	for _, p := range compiler.Passes() {
		known = append(known, p.Name)
	}
	o, err := s.compileOptions(c)
	if err != nil {
		return err
	}
	if o.Ranks, err = ranks(c, 1); err != nil {
		return err
	}
	text := ""
	o.Dump = func(name string, g *ir.Graph) {
		if name == pass {
			text = g.String() // now: the next pass may work in place
		}
	}
	if _, err := s.compile(c.Context, c, o); err != nil {
		return err
	}
	if text == "" {
		for _, d := range o.Disable {
			if d == pass {
				return usagef("pass %s was left out by --disable", pass)
			}
		}
		return unknownPass(pass, known)
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}

// explainCode prints the row of a code.
func (s *session) explainCode(name string) error {
	row, ok := source.Lookup(source.Code(strings.ToUpper(name)))
	if !ok {
		var known []string
		for _, r := range source.Codes() {
			known = append(known, string(r.Code))
		}
		e := usagef("there is no diagnostic %s", name)
		if near, ok := source.Suggest(strings.ToUpper(name), known); ok {
			e.help = "did you mean " + near + "?"
		} else if strings.HasSuffix(name, ".flow") {
			e.help = "flowrun explain " + name + " --pass=NAME prints the program after a pass: " + passesOf()
		}
		return e
	}
	fmt.Fprintf(s.out, "%s  %s\n\n%s\n", row.Code, row.Title, row.Explain)
	if row.Program != "" {
		fmt.Fprintf(s.out, "\nThe smallest program that is told so:\n\n")
		for _, l := range strings.Split(row.Program, "\n") {
			fmt.Fprintf(s.out, "    %s\n", l)
		}
	}
	if row.Command != "" {
		fmt.Fprintf(s.out, "\nrun with %s\n", row.Command)
	}
	return nil
}
