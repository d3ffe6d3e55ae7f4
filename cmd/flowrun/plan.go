package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/compiler"
	"flow/ir"
	"flow/ir/plan"
)

// This file defines `flowrun plan`: what a run would do, without doing it.

func (s *session) planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "predict a run: tasks, critical path, parallelism, bytes between ranks",
		ArgsUsage: "FILE",
		Flags: append(programFlags(), ranksFlag(), timingFlag(),
			&cli.IntFlag{Name: "threads", Usage: "predict for `N` threads a rank", DefaultText: "one a processor"},
			&cli.BoolFlag{Name: "verbose", DisableDefaultText: true, Usage: "also print the passes of the compiler and how long they took"},
			&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print the summary as JSON"},
			&cli.BoolFlag{Name: "dot", DisableDefaultText: true, Usage: "print the tasks as a graph for Graphviz"}),
		Action: func(c *cli.Context) error {
			o, err := s.compileOptions(c)
			if err != nil {
				return err
			}
			if !c.IsSet("memory") {
				o.Memory.Bytes = 0 // the plan may be for another machine
			}
			if o.Ranks, err = ranks(c, 1); err != nil {
				return err
			}
			threads, err := threads(c)
			if err != nil {
				return err
			}
			if c.Bool("json") && c.Bool("dot") {
				return usagef("flowrun plan: --json and --dot exclude each other")
			}
			// A prediction is worth a measurement; a run does not wait for one.
			if o.Rates == nil && !c.Bool("dot") {
				if r, err := flow.MeasureRates(o.Kernels); err == nil {
					_ = r.Save() // the next run does without
					o.Rates = r
				}
			}
			p, err := s.compile(c.Context, c, o)
			if err != nil {
				return err
			}
			switch {
			case c.Bool("dot"):
				err = writeDot(s.out, p)
			case c.Bool("json"):
				err = json.NewEncoder(s.out).Encode(plan.Summarise(p.Compiled().Plan, o.Rates, threads))
			default:
				s.printSummary(p, plan.Summarise(p.Compiled().Plan, o.Rates, threads), threads, c.Bool("verbose"))
			}
			if c.Bool("timing") {
				s.timing(p, 0)
			}
			return err
		},
	}
}

// dotLimit is the largest graph that Graphviz lays out in reasonable time.
const dotLimit = 5000

// writeDot prints the tasks of a plan as a graph, one colour a rank.
func writeDot(w io.Writer, p *flow.Program) error {
	g := p.Compiled().Plan.Graph
	if g.Len() > dotLimit {
		e := usagef("a picture of %d tasks helps nobody", g.Len())
		e.help = "use a larger tile or a smaller matrix; flowrun plan FILE counts any size"
		return e
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph plan {\n  rankdir=TB; node [shape=box, style=filled, colorscheme=set312];\n")
	for i := range g.Nodes {
		id := ir.ID(i)
		label := g.Nodes[i].Op.Name
		if where := p.Compiled().Plan.Where(id); where != "" {
			label += "\n" + where
		}
		fmt.Fprintf(b, "  n%d [label=%s, fillcolor=%d];\n", i, strconv.Quote(label), 1+p.Compiled().Plan.Home(id)%12)
		for _, in := range g.In(id) {
			fmt.Fprintf(b, "  n%d -> n%d;\n", in, i)
		}
	}
	fmt.Fprintln(b, "}")
	return b.Flush()
}

// passesOf lists the passes for the help of explain.
func passesOf() string {
	var names []string
	for _, p := range compiler.Passes() {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}
