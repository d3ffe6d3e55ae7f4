package main

import (
	"fmt"
	"time"

	"flow/explain"

	"github.com/urfave/cli/v2"
)

// This file defines `flowrun check` and `flowrun eval`.

func (s *session) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "report all mistakes of a program, and what no compiled loop would run, without running it",
		ArgsUsage: "FILE",
		Flags:     append(programFlags(), ranksFlag(), timingFlag()),
		Action: func(c *cli.Context) error {
			o, err := s.compileOptions(c)
			if err != nil {
				return err
			}
			if o.Ranks, err = ranks(c, 1); err != nil {
				return err
			}
			p, err := s.compile(c.Context, c, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s: ok, %s\n", p.Compiled().Files.Files()[0].Name, count(p.Compiled().Plan.Graph.Len(), "task"))
			work, err := explain.InterpretedWork(p.Compiled().Plan.Graph, p.Compiled().Files)
			if err != nil {
				return err
			}
			for _, x := range work {
				fmt.Fprintln(s.out, x.Text())
			}
			if all := explain.Machine(); all != "" {
				fmt.Fprintln(s.out, all)
			}
			if c.Bool("timing") {
				s.timing(p, 0)
			}
			return nil
		},
	}
}

func (s *session) evalCommand() *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "run a program by the definitions of its operators: slow, the reference for all engines",
		ArgsUsage: "FILE",
		Flags:     append(programFlags(), timingFlag()),
		Action: func(c *cli.Context) error {
			o, err := s.compileOptions(c)
			if err != nil {
				return err
			}
			o.PlanOnly, o.Memory.Bytes = false, 0 // no plan is run
			p, err := s.compile(c.Context, c, o)
			if err != nil {
				return err
			}
			start := time.Now()
			err = p.Evaluate(s.out)
			if c.Bool("timing") {
				s.timing(p, time.Since(start).Seconds())
			}
			return err
		},
	}
}
