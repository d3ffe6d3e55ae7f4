package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/compiler"
	"flow/kernels/blas"
	"flow/lang/source"
)

// This file defines the flags that all commands about a program share: params, passes and kernels.

// programFlags are the flags that change what a program is compiled to.
func programFlags() []cli.Flag {
	return []cli.Flag{
		textFlag(),
		&cli.StringSliceFlag{Name: "set", Usage: "set a param: `name=value`; repeatable"},
		&cli.StringFlag{Name: "set-file", Usage: "read params from a JSON object in `FILE`; --set overrides it"},
		&cli.StringFlag{Name: "kernels", Usage: "use the kernel set `NAME` (flowrun version lists them)"},
		&cli.StringSliceFlag{Name: "disable", Usage: "disable the `PASS` or rewrite rule, or a comma-separated list; repeatable, the output stays the same"},
		&cli.BoolFlag{Name: "no-fuse", DisableDefaultText: true, Usage: "same as --disable=fuse"},
		&cli.StringFlag{Name: "memory", Usage: "refuse programs whose values take more than `SIZE` on this machine, as 800M or 16GiB", DefaultText: "the limit of the control group, or the machine's memory"},
		&cli.IntFlag{Name: "max-tasks", Usage: "refuse programs that unroll to more than `N` tasks", Value: 2_000_000},
	}
}

// ranksFlag is the number of ranks of a plan.
func ranksFlag() cli.Flag {
	return &cli.IntFlag{Name: "ranks", Usage: "plan for `N` ranks", DefaultText: "1"}
}

// compileOptions reads the flags of programFlags.
func (s *session) compileOptions(c *cli.Context) (flow.CompileOptions, error) {
	o := flow.CompileOptions{Kernels: c.String("kernels"), MaxTasks: c.Int("max-tasks"), Disable: listed(c.StringSlice("disable")), PlanOnly: true,
		Verify: os.Getenv("FLOW_DEBUG") != "", Input: s.input(), Memory: flow.MostMemory()}
	if c.IsSet("memory") {
		var err error
		if o.Memory, err = flow.MemoryOf(c.String("memory"), "--memory"); err != nil {
			e := usagef("--memory: %v", err)
			e.help = "a number with K, M, G or T, as --memory 16G"
			return o, e
		}
	}
	if o.MaxTasks < 1 {
		return o, usagef("--max-tasks is at least 1")
	}
	if _, err := blas.Select(o.Kernels); err != nil {
		return o, kernelError(o.Kernels)
	}
	if c.Bool("no-fuse") {
		o.Disable = append(o.Disable, "fuse")
	}
	if err := checkPasses(o.Disable); err != nil {
		return o, err
	}
	for _, text := range c.StringSlice("set") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			e := usagef("--set %s is not name=value", text)
			if e.help = setHelp(text, ""); ok {
				e.help = "a param's name stands before the =; flowrun FILE --help lists them"
			}
			return o, e
		}
		o.Set = append(o.Set, flow.Setting{Name: name, Text: value})
	}
	if path := c.String("set-file"); path != "" {
		more, err := settingsOf(path, o.Set)
		if err != nil {
			return o, err
		}
		o.Set = append(more, o.Set...)
	}
	// a nil *Rates in the interface would not be nil
	if r := flow.LoadRates(o.Kernels); r != nil {
		o.Rates = r
	}
	return o, nil
}

func kernelError(name string) error {
	e := usagef("there is no kernel set %q here; there are %s", name, strings.Join(blas.Names(), ", "))
	if near, ok := source.Suggest(name, blas.Names()); ok {
		e.help = "did you mean --kernels=" + near + "?"
	} else if name == "openblas" {
		e.help = "build with -tags openblas"
	}
	return e
}

// checkPasses refuses to disable unknown and required passes and rules.
func checkPasses(names []string) error {
	var known, rules []string
	required, canonical := map[string]bool{}, map[string]bool{}
	for _, p := range compiler.Passes() {
		known = append(known, p.Name)
		required[p.Name] = p.Required
	}
	for _, r := range compiler.Rules() {
		rules = append(rules, r.Name)
		canonical[r.Name] = r.Class.String() == "canonical"
	}
	for _, n := range names {
		switch {
		case required[n]:
			return usagef("pass %s cannot be left out: without it there is no plan", n)
		case canonical[n]:
			e := usagef("rule %s cannot be left out: it defines what a program means", n)
			e.help = "flowrun explain " + n + " says what it does"
			return e
		case slices.Contains(rules, n) || slices.Contains(known, n):
			continue
		}
		e := unknownPass(n, known)
		if near, ok := source.Suggest(n, append(rules, known...)); ok {
			e.help = "did you mean " + near + "?"
		} else {
			e.help = "or a rewrite rule: flowrun explain --rules"
		}
		return e
	}
	return nil
}

func unknownPass(name string, known []string) *usageError {
	e := usagef("there is no pass %q; there are %s", name, strings.Join(known, ", "))
	if near, ok := source.Suggest(name, known); ok {
		e.help = "did you mean " + near + "?"
	}
	return e
}

// notSettings is the error of a file that is no JSON object.
func notSettings(path string, err error) error {
	why := fmt.Sprintf(": %v", err)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		why = ", but " + map[string]string{"array": "a list", "string": "a text", "bool": "a truth value", "number": "a number"}[kind.Value]
	case errors.Is(err, io.EOF):
		why = ": it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = ": it ends too early"
	}
	e := usagef("--set-file %s: not a JSON object%s", path, why)
	e.help = `it has a value for each param: {"n": 4096, "graph": "g.mtx"}`
	return e
}

// settingsOf reads a JSON object of params, without those that are already given.
func settingsOf(path string, given []flow.Setting) ([]flow.Setting, error) {
	text, err := source.ReadFile(path)
	if err != nil {
		return nil, usagef("--set-file %s: %v", path, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // keep 4096 an integer and 1e-7 as written
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, notSettings(path, err)
	}
	if d.More() {
		return nil, usagef("--set-file %s: there is more after the JSON object", path)
	}
	var out []flow.Setting
	for name, v := range object {
		if slices.ContainsFunc(given, func(s flow.Setting) bool { return s.Name == name }) {
			continue
		}
		switch v := v.(type) {
		case string, bool, json.Number:
			out = append(out, flow.Setting{Name: name, Text: fmt.Sprint(v)})
		default:
			return nil, usagef("--set-file %s: %s is neither a number, a string, nor true or false", path, name)
		}
	}
	slices.SortFunc(out, func(a, b flow.Setting) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// compile compiles the program of the command line and prints its warnings.
func (s *session) compile(ctx context.Context, c *cli.Context, o flow.CompileOptions) (*flow.Program, error) {
	name, text, err := s.program(c)
	if err != nil {
		return nil, err
	}
	if name == stdinName && o.Input != nil {
		o.Input.NoStdin = "the program itself is read from it"
	}
	s.compiling = time.Now()
	p, err := flow.Compile(ctx, name, text, o)
	if err != nil {
		return nil, err
	}
	s.warnOf(c, p)
	return p, nil
}

// warnOf prints the warnings of p that are due before a run.
func (s *session) warnOf(c *cli.Context, p *flow.Program) {
	s.warn(p, func(d source.Diagnostic) bool { return !idleRanks(d) || !c.Bool("distributed") })
}

// idleRanks reports whether d warns of ranks without work. A run prints this warning at its end. A
// failed run does not print it, because one rank reads a file with a mistake.
func idleRanks(d source.Diagnostic) bool { return d.Code == "W002" }

// warn prints the warnings of p for which say returns true.
func (s *session) warn(p *flow.Program, say func(source.Diagnostic) bool) {
	all := slices.DeleteFunc(slices.Clone(p.Compiled().Warnings), func(d source.Diagnostic) bool { return !say(d) })
	source.RenderAll(s.err, p.Compiled().Files, all, s.color)
}

// describe lists the params of a program: `flowrun FILE --help`.
func (s *session) describe(name string) error {
	text, err := s.read(name)
	if err != nil {
		return err
	}
	if name == "-" {
		name = stdinName
	}
	params, err := flow.Params(name, text, flow.CompileOptions{})
	if err != nil {
		return err
	}
	if head := headComment(string(text)); head != "" {
		fmt.Fprintf(s.out, "%s\n\n", head)
	}
	fmt.Fprintf(s.out, "usage: flowrun %s [--set name=value ...]\n", name)
	if len(params) == 0 {
		fmt.Fprintln(s.out, "\nIt has no params.")
		return nil
	}
	rows := [][]string{}
	for _, p := range params {
		value := "= " + p.Default
		if p.Required {
			value = "required"
		}
		if p.In != "" {
			value += " in " + p.In
		}
		rows = append(rows, []string{p.Name, p.Type, value, p.Doc})
	}
	fmt.Fprintf(s.out, "\nparams:\n")
	s.columns(rows)
	return nil
}

// headComment returns the comment at the beginning of a text, without its marks.
func headComment(text string) string {
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		after, ok := strings.CutPrefix(l, "#")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(after, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// columns prints rows on standard output, indented and aligned.
func (s *session) columns(rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, r := range rows {
		line, last := "  ", 0
		for i, cell := range r {
			last = len([]rune(line))
			line += cell + strings.Repeat(" ", width[i]-len([]rune(cell))+2)
		}
		s.prose(strings.TrimRight(line, " "), last)
	}
}

// prose prints text. On a terminal it breaks long lines between words. What goes on begins with indent
// blanks. Lines stay whole on a terminal that is too narrow for text behind the blanks.
func (s *session) prose(text string, indent int) {
	const least = 30 // characters of text behind the blanks
	width := 0
	if s.width != nil {
		width = s.width()
	}
	for line := range strings.SplitSeq(text, "\n") {
		rest := []rune(line)
		for width >= indent+least && len(rest) > width {
			at := width
			for at > indent && rest[at] != ' ' {
				at--
			}
			if at == indent { // one long word
				break
			}
			fmt.Fprintln(s.out, string(rest[:at]))
			rest = append([]rune(strings.Repeat(" ", indent)), rest[at+1:]...)
		}
		fmt.Fprintln(s.out, string(rest))
	}
}

// listed returns the names in the values of a repeatable, comma-separated flag.
func listed(values []string) []string {
	var names []string
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
