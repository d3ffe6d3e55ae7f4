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
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the commands of the REPL.

// replCommands is the table of commands, for :help and completion.
var replCommands = []struct{ name, args, doc string }{
	{"help", "", "this list; also help"},
	{"doc", "[NAME]", "the manual of an operator or library function; also ?NAME"},
	{"type", "EXPRESSION", "the type of an expression, which is not computed"},
	{"who", "", "the names of the session, with their types, sizes and memory"},
	{"plot", "X[, Y]", "draw numbers as a curve; scatter(x, y), hist(x), bar(x) and others are entered as they are"},
	{"time", "[ENTRY]", "run an entry and say how long it took; alone, say so after each, or no longer"},
	{"plan", "[ENTRY]", "what running an entry, or the last one again, would do"},
	{"explain", "PASS [ENTRY] | CODE", "the graph after a compiler pass; or what a diagnostic code means"},
	{"set", "[name=value]", "set a param; alone, list them"},
	{"load", "FILE", "enter what a file holds"},
	{"list", "", "the session as a program"},
	{"save", "FILE", "write it to a file"},
	{"drop", "NAME", "forget a name, and free its value"},
	{"clear", "", "forget everything"},
	{"quit", "", "end; so do exit, quit and Ctrl-D"},
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
		r.s.prose("An expression shows its value, which is then called _.\n"+
			"An entry goes on in the next line within brackets, behind an operator and behind \"\\\".\n"+
			"Each entry runs once, and names keep their values; a name may be bound again, and what was made from it stays as it is.", 0)
		return nil
	case "type":
		if rest == "" {
			return usagef(":type needs an EXPRESSION")
		}
		t, err := r.session.Type(ctx, replName, rest)
		if err == nil {
			_, err = fmt.Fprintln(r.s.out, t)
		}
		return err
	case "who", "vars", "whos":
		return r.who()
	case "plot":
		if rest == "" {
			return usagef(":plot needs an X, or an X and a Y")
		}
		return r.enter(ctx, "plot("+rest+")", r.timed)
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
		if v, ok := r.variable(rest); ok {
			return r.describe(v)
		}
		return r.s.docOf(rest, table, library)
	case "list":
		text, err := r.program(nil)
		if err == nil {
			_, err = fmt.Fprint(r.s.out, text)
		}
		return err
	case "save":
		if rest == "" {
			return usagef(":save needs a FILE")
		}
		text, err := r.program(r.shown)
		if err != nil {
			return err
		}
		return os.WriteFile(rest, []byte(text), 0o666)
	case "load":
		if rest == "" {
			return usagef(":load needs a FILE")
		}
		text, err := r.s.read(rest)
		if err != nil {
			return err
		}
		return r.enter(ctx, string(text), r.timed)
	case "drop":
		return r.drop(rest)
	case "clear":
		r.session.Clear()
		r.entered, r.last, r.shown = nil, "", nil
		return nil
	case "time":
		if rest != "" {
			return r.enter(ctx, rest, true)
		}
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

// compile compiles an entry, or the last one again, without running it.
func (r *repl) compile(ctx context.Context, entry string, dump func(string, *ir.Graph)) (*flow.SessionEntry, error) {
	if entry == "" {
		entry = r.last
	}
	if entry == "" {
		return nil, usagef("nothing has been shown yet: give an expression")
	}
	return r.session.CompileWith(ctx, replName, entry, dump)
}

func (r *repl) plan(ctx context.Context, entry string) error {
	p, err := r.compile(ctx, entry, nil)
	if err != nil {
		return err
	}
	defer p.Abort()
	var rates plan.Rates
	if known := flow.LoadRates(r.options.Kernels); known != nil {
		rates = known
	}
	r.s.printSummary(p.Program, plan.Summarise(p.Compiled().Plan, rates, r.threads), r.threads, false)
	return nil
}

func (r *repl) explain(ctx context.Context, rest string) error {
	pass, entry, _ := strings.Cut(rest, " ")
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
	text := ""
	p, err := r.compile(ctx, entry, func(name string, g *ir.Graph) {
		if name == pass {
			text = g.String()
		}
	})
	if err != nil {
		return err
	}
	p.Abort()
	_, err = fmt.Fprint(r.s.out, text)
	return err
}

// set sets a param, or lists them all.
func (r *repl) set(ctx context.Context, text string) error {
	if text == "" {
		rows := [][]string{}
		for _, p := range r.session.Params() {
			rows = append(rows, []string{p.Name, p.Type, "= " + p.Value, p.Doc})
		}
		r.s.columns(rows)
		return nil
	}
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return usagef(":set %s is not name=value", text)
	}
	return r.session.Set(ctx, name, strings.TrimSpace(value))
}

// drop forgets a name.
func (r *repl) drop(name string) error {
	if err := r.session.Drop(name); err != nil {
		return usagef("%v", err)
	}
	r.entered = slices.DeleteFunc(r.entered, func(st statement) bool {
		return len(st.names) == 1 && st.names[0].Name == name && !r.needed(name)
	})
	return nil
}

// needed reports whether the entries use a name outside its binding.
func (r *repl) needed(name string) bool {
	return slices.ContainsFunc(r.entered, func(st statement) bool {
		return slices.ContainsFunc(st.uses, func(id ast.Ident) bool { return id.Name == name })
	})
}

func (r *repl) variable(name string) (v flow.Variable, ok bool) {
	i := slices.IndexFunc(r.session.Variables(), func(v flow.Variable) bool { return v.Name == name })
	if i < 0 {
		return v, false
	}
	return r.session.Variables()[i], true
}

// describe prints what a name means.
func (r *repl) describe(v flow.Variable) error {
	what := v.What
	switch {
	case what == "":
		what = v.Type.String()
	case what == "function":
		what = "fn " + v.Name + "(" + strings.Join(v.Args, ", ") + ")"
	case len(v.Fields) > 0:
		what += " of " + strings.Join(v.Fields, ", ")
	}
	_, err := fmt.Fprintf(r.s.out, "%s: %s\n", v.Name, what)
	return err
}

// who lists the names of the session.
func (r *repl) who() error {
	var rows [][]string
	for _, v := range r.session.Variables() {
		row := []string{v.Name, v.What, "", ""}
		switch {
		case v.Slot >= 0:
			row[1] = v.Type.String()
			if !v.Type.IsScalar() {
				row[2] = r.session.Size(v.Slot)
			}
		case v.What == "":
			row[1] = v.Type.String()
			row[3] = v.Const.String()
		case v.What == "function":
			row[1] = "fn(" + strings.Join(v.Args, ", ") + ")"
		case len(v.Parts) > 0:
			row[1] += " of " + fmt.Sprint(len(v.Parts))
		}
		if v.Slot >= 0 && v.Type.IsScalar() {
			row[3] = fmt.Sprint(r.session.Value(v.Slot))
		}
		rows = append(rows, row)
	}
	r.s.columns(rows)
	return nil
}
