package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"flow"
	"flow/compiler"
	"flow/ir"
	"flow/ir/plan"
	"flow/kernels"
	"flow/lang/source"
)

// This file defines the commands of the REPL.

// replCommands is the table of them, for :help and completion.
var replCommands = []struct{ name, args, doc string }{
	{"help", "", "this list"},
	{"plan", "[EXPRESSION]", "what running the expression, or the last entry again, would do"},
	{"explain", "PASS [EXPRESSION] | CODE", "the graph after a compiler pass; or what a diagnostic code means"},
	{"set", "[name=value]", "give a param its value; alone, list them"},
	{"doc", "[NAME]", "the manual of an operator or library function"},
	{"list", "", "the program so far"},
	{"save", "FILE", "write it to a file"},
	{"load", "FILE", "enter what a file holds"},
	{"drop", "NAME", "forget a name"},
	{"clear", "", "forget everything"},
	{"time", "", "say after each run how long it took, or no longer"},
	{"quit", "", "end; so does Ctrl-D"},
}

// command executes a line that began with a colon.
func (r *repl) command(ctx context.Context, line string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "help", "h", "?":
		rows := [][]string{}
		for _, c := range replCommands {
			rows = append(rows, []string{strings.TrimSpace(":" + c.name + " " + c.args), c.doc})
		}
		r.s.columns(rows)
		fmt.Fprintln(r.s.out, "An entry goes on in the next line within brackets, behind an operator and behind \"\\\". A name that is bound again\n"+
			"takes the place of the old one, and what was made from it follows. Values are computed anew for each entry that needs them.")
		return nil
	case "plan":
		return r.plan(ctx, rest)
	case "explain":
		return r.explain(ctx, rest)
	case "set":
		return r.set(ctx, rest)
	case "doc":
		table, err := kernels.Table(r.options.Kernels)
		if err != nil {
			return err
		}
		library, err := libraryFunctions()
		if err != nil {
			return err
		}
		if rest == "" {
			return r.s.docList(table, library)
		}
		return r.s.docOf(rest, table, library)
	case "list":
		_, err := fmt.Fprint(r.s.out, strings.TrimPrefix(listing(r.kept, nil), "\n"))
		return err
	case "save":
		if rest == "" {
			return usagef(":save needs a FILE")
		}
		return os.WriteFile(rest, []byte(strings.ReplaceAll(listing(r.kept, r.shown), shows, "emit ")), 0o666)
	case "load":
		if rest == "" {
			return usagef(":load needs a FILE")
		}
		text, err := r.s.read(rest)
		if err != nil {
			return err
		}
		return r.enter(ctx, string(text))
	case "drop":
		return r.drop(ctx, rest)
	case "clear":
		r.kept, r.shown, r.options.Set = nil, nil, nil
		return nil
	case "time":
		r.timed = !r.timed
		return nil
	case "quit", "q", "exit":
		return exit(exitOK)
	}
	e := usagef("there is no command :%s", name)
	e.help = ":help lists the commands"
	var known []string
	for _, c := range replCommands {
		known = append(known, c.name)
	}
	if near, ok := source.Suggest(name, known); ok {
		e.help = "did you mean :" + near + "?"
	}
	return e
}

// compile compiles the program so far with an expression, or with what the last entry ran.
func (r *repl) compile(ctx context.Context, expression string, o flow.CompileOptions) (*flow.Program, error) {
	run := r.shown
	if expression != "" {
		run = []string{shows + expression}
	}
	if len(run) == 0 {
		return nil, usagef("nothing has been shown yet: give an expression")
	}
	return flow.Compile(ctx, replName, []byte(join(r.kept, run)), o)
}

func (r *repl) plan(ctx context.Context, expression string) error {
	o := r.options
	if rates := flow.LoadRates(o.Kernels); rates != nil {
		o.Rates = rates
	}
	p, err := r.compile(ctx, expression, o)
	if err != nil {
		return err
	}
	r.s.printSummary(p, plan.Summarise(p.Plan, o.Rates, r.threads), r.threads, false)
	return nil
}

func (r *repl) explain(ctx context.Context, rest string) error {
	pass, expression, _ := strings.Cut(rest, " ")
	var known []string
	for _, p := range compiler.Passes() {
		known = append(known, p.Name)
	}
	switch _, isCode := source.Lookup(source.Code(strings.ToUpper(pass))); {
	case pass == "":
		return usagef(":explain needs a pass or a code; passes are %s", passesOf())
	case isCode:
		return r.s.explainCode(pass)
	case !slices.Contains(known, pass):
		return unknownPass(pass, known)
	}
	o := r.options
	text := ""
	o.Dump = func(name string, g *ir.Graph) {
		if name == pass {
			text = g.String()
		}
	}
	if _, err := r.compile(ctx, strings.TrimSpace(expression), o); err != nil {
		return err
	}
	_, err := fmt.Fprint(r.s.out, text)
	return err
}

// set gives a param a value, if the program so far takes it.
func (r *repl) set(ctx context.Context, text string) error {
	if text == "" {
		params, err := flow.Params(replName, []byte(join(r.kept, nil)), r.options)
		if err != nil {
			return err
		}
		rows := [][]string{}
		for _, p := range params {
			value := p.Default
			for _, s := range r.options.Set {
				if s.Name == p.Name {
					value = s.Text
				}
			}
			rows = append(rows, []string{p.Name, p.Type, "= " + value, p.Doc})
		}
		r.s.columns(rows)
		return nil
	}
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return usagef(":set %s is not name=value", text)
	}
	o := r.options
	o.Set = slices.DeleteFunc(slices.Clone(o.Set), func(s flow.Setting) bool { return s.Name == name })
	o.Set = append(o.Set, flow.Setting{Name: name, Text: strings.TrimSpace(value)})
	if _, err := flow.Compile(ctx, replName, []byte(join(r.kept, nil)), o); err != nil {
		return err
	}
	r.options = o
	return nil
}

// drop forgets a name, unless something needs it.
func (r *repl) drop(ctx context.Context, name string) error {
	rest := slices.DeleteFunc(slices.Clone(r.kept), func(st statement) bool { return slices.Contains(st.names, name) })
	if len(rest) == len(r.kept) {
		return usagef("nothing is called %q here", name)
	}
	o := r.options
	o.Set = slices.DeleteFunc(slices.Clone(o.Set), func(s flow.Setting) bool { return s.Name == name })
	if _, err := flow.Compile(ctx, replName, []byte(join(rest, nil)), o); err != nil {
		return err
	}
	r.kept, r.options = rest, o
	return nil
}
