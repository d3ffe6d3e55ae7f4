package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/lang/source"
)

// This file defines `flowrun explain`: what a diagnostic code means.

func (s *session) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a diagnostic code means",
		ArgsUsage: "CODE",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("flowrun explain needs one CODE, such as E402")
			}
			return s.explainCode(c.Args().First())
		},
	}
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
		}
		return e
	}
	fmt.Fprintf(s.out, "%s  %s\n\n%s\n", row.Code, row.Title, row.Explain)
	if row.Program != "" {
		fmt.Fprintf(s.out, "\nThe smallest program that is told so:\n\n")
		for _, l := range strings.Split(row.Program, "\n") {
			fmt.Fprintf(s.out, "    %s\n", l)
		}
		if row.Command != "" {
			fmt.Fprintf(s.out, "\nrun with %s\n", row.Command)
		}
	} else if row.Command != "" {
		fmt.Fprintf(s.out, "\nProvoked by %s\n", row.Command)
	}
	return nil
}
