package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/compiler"
	"flow/explain"
	"flow/ir"
	"flow/ir/plan"
	"flow/lang/source"
)

// This file defines `flowrun explain`: the meaning of a diagnostic code or a rewrite rule, or a
// program after a pass.

// These are no passes. fused prints the groups that fuse made, with the text of the
// program, while fuse prints the whole graph; it includes products that fuse-epilogues made part of a
// chain, as whole matrices even if they are cut. loops and code print what the operators of the plan
// write, and layout where its values lie on ranks.
const (
	fusedPass  = "fused"
	loopsPass  = "loops"
	codePass   = "code"
	layoutPass = "layout"
)

func (s *session) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "explain a diagnostic code or a rewrite rule, or print a program after a compiler pass",
		ArgsUsage: "CODE | RULE | --rules | FILE --pass=NAME",
		Flags: append(programFlags(), ranksFlag(),
			&cli.StringFlag{Name: "pass", Usage: "print the graph after the pass `NAME`, one of: " + passesOf() + "; or fused: the groups of fuse, with places in the text; loops: the loops of the plan; code: loops with their machine code; layout: where values lie on several ranks"},
			&cli.BoolFlag{Name: "rules", DisableDefaultText: true, Usage: "list the rewrite rules"}),
		Action: func(c *cli.Context) error {
			if c.Bool("rules") && c.NArg() == 0 && !c.IsSet("pass") {
				s.listRules()
				return nil
			}
			given := c.NArg()
			if len(c.StringSlice("e")) > 0 && c.IsSet("pass") {
				given++
			}
			if given != 1 || c.Bool("rules") {
				return usagef("flowrun explain needs one CODE, such as E402, one RULE, such as undo-twice, --rules alone, or a FILE and --pass=NAME")
			}
			if !c.IsSet("pass") {
				if s.explainRule(c.Args().First()) {
					return nil
				}
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
	if !c.IsSet("memory") {
		o.Memory.Bytes = 0 // the plan may be for another machine
	}
	if o.Ranks, err = ranks(c, 1); err != nil {
		return err
	}
	inGroups := pass == fusedPass
	if inGroups {
		pass = "fuse"
	}
	text := ""
	var sparse []plan.SparseEdge
	var fused *ir.Graph
	products := map[explain.Epilogue]string{}
	o.Dump = func(name string, g *ir.Graph) {
		if name == pass {
			text = g.String() // now: the next pass may work in place
			if inGroups {
				fused = g.Clone()
			}
			if pass == "represent" {
				sparse = plan.SparseEdges(g)
			}
		}
		if name == "fuse-epilogues" {
			explain.Epilogues(g, products)
		}
	}
	p, err := s.compile(c.Context, c, o)
	if err != nil {
		return err
	}
	if pass == loopsPass || pass == codePass {
		all, err := explain.Loops(p.Compiled().Plan.Graph, func(*ir.Node) bool { return true })
		if err != nil {
			return err
		}
		loops := explain.WriteLoops(s.out, all, p.Compiled().Files, pass == codePass)
		fmt.Fprintln(s.out, count(loops, "loop"))
		return nil
	}
	if pass == layoutPass {
		s.printAllLayouts(p)
		return nil
	}
	if text == "" {
		for _, d := range o.Disable {
			if d == pass {
				return usagef("pass %s was left out by --disable", pass)
			}
		}
		return unknownPass(pass, append(known, fusedPass, loopsPass, codePass, layoutPass))
	}
	if inGroups {
		s.printGroups(explain.Groups(fused, products), p.Compiled().Files)
		return nil
	}
	_, err = fmt.Fprint(s.out, text)
	printSparse(s.out, sparse, func(id ir.ID) string { return fmt.Sprintf("%%%d", id) })
	return err
}

// printGroups prints the groups that fusion made, and counts them.
func (s *session) printGroups(groups []explain.Group, files *source.FileSet) {
	operators := explain.WriteGroups(s.out, groups, files)
	if len(groups) == 0 {
		fmt.Fprintln(s.out, "nothing is fused")
		return
	}
	fmt.Fprintf(s.out, "%s in %s\n", count(operators, "operator"), count(len(groups), "group"))
}

func (s *session) explainCode(name string) error {
	row, ok := source.Lookup(source.Code(strings.ToUpper(name)))
	if !ok {
		var known []string
		for _, r := range source.Codes() {
			known = append(known, string(r.Code))
		}
		for _, r := range compiler.Rules() {
			known = append(known, r.Name)
		}
		e := usagef("there is no diagnostic or rule %s", name)
		near, ok := source.Suggest(strings.ToUpper(name), known)
		if !ok {
			near, ok = source.Suggest(name, known)
		}
		switch {
		case ok:
			e.help = "did you mean " + near + "?"
		case strings.HasSuffix(name, ".flow"):
			e.help = "flowrun explain " + name + " --pass=NAME prints the program after a pass: " + passesOf()
		default:
			e.help = "a diagnostic has its code in brackets, as in error[E116]; flowrun explain --rules lists the rules"
		}
		return e
	}
	s.prose(string(row.Code)+"  "+row.Title+"\n\n"+row.Explain, 0)
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

// listRules prints a line for each rewrite rule, in the order in which they are tried.
func (s *session) listRules() {
	for _, r := range compiler.Rules() {
		fmt.Fprintf(s.out, "%-24s %-9s  %s\n", r.Name, r.Class, r.Rewrites[0])
		for i, w := range r.Rewrites[1:] {
			if i == 2 && len(r.Rewrites) > 4 {
				fmt.Fprintf(s.out, "%36s.. and %d more\n", "", len(r.Rewrites)-3)
				break
			}
			fmt.Fprintf(s.out, "%36s%s\n", "", w)
		}
	}
	fmt.Fprintln(s.out, "\nexact rules keep every bit and can be left out by --disable=RULE; canonical ones define what a program means.")
}

// explainRule prints a rule. It returns false if there is none of that name.
func (s *session) explainRule(name string) bool {
	for _, r := range compiler.Rules() {
		if r.Name != name {
			continue
		}
		fmt.Fprintf(s.out, "%s  %s rule\n\n%s\n\n", r.Name, r.Class, r.Doc)
		for _, w := range r.Rewrites {
			fmt.Fprintf(s.out, "    %s\n", w)
		}
		for _, w := range r.Where {
			fmt.Fprintf(s.out, "    where %s\n", w)
		}
		if len(r.Wrong) > 0 {
			fmt.Fprintf(s.out, "\nwhat is no rule, and why:\n\n")
		}
		for _, w := range r.Wrong {
			fmt.Fprintf(s.out, "    %s\n        %s\n", w.Rewrite, w.Why)
		}
		return true
	}
	return false
}
