package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/kernels/blas"
	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the REPL: what is entered becomes part of a program, which is compiled again with each entry. repl_commands.go has
// the commands that begin with a colon, repl_line.go the editing of lines.

func (s *session) replCommand() *cli.Command {
	return &cli.Command{
		Name:  "repl",
		Usage: "enter a program line by line and see values at once (also meant by flowrun alone on a terminal)",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kernels", Usage: "use the kernel set `NAME` (flowrun version lists them)"},
			&cli.IntFlag{Name: "threads", Aliases: []string{"num-threads"}, Usage: "run on `N` threads", DefaultText: "one a processor"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("flowrun repl takes no FILE; :load FILE brings one in")
			}
			r := &repl{s: s, options: flow.CompileOptions{Kernels: c.String("kernels"), Input: s.input()}}
			r.options.Input.NoStdin = "entries are read from it"
			if _, err := blas.Select(r.options.Kernels); err != nil {
				return kernelError(r.options.Kernels)
			}
			var err error
			if r.threads, err = threads(c); err != nil {
				return err
			}
			return r.loop(c.Context)
		},
	}
}

// repl is one session of entries.
type repl struct {
	s       *session
	in      lineReader
	options flow.CompileOptions
	threads int
	timed   bool
	kept    []statement // the program so far
	shown   []string    // the statements that the last entry ran, for :plan and :explain
	code    int         // what a session without a terminal exits with
}

// statement is one statement of the program so far.
type statement struct {
	text  string
	quiet string   // the text without its emits and asserts, which were run when it was entered; "" if it has none
	names []string // that it binds
}

// replName is what diagnostics call the program.
const replName = "input"

// loop reads entries until the end of the input.
func (r *repl) loop(ctx context.Context) error {
	r.s.signal.leave() // Ctrl-C ends an entry or a run here, not the command
	in, err := r.s.newLineReader(r.complete)
	if err != nil {
		return err
	}
	r.in = in
	defer in.close()
	r.s.signal.endAtOnce(in.close)
	if in.interactive() {
		fmt.Fprintf(r.s.out, "flowrun %s. An expression shows its value; :help lists the commands, Ctrl-D ends.\n", buildVersion())
	}
	for {
		entry, err := r.entry()
		switch {
		case errors.Is(err, errLineAborted):
			continue
		case errors.Is(err, io.EOF):
			if in.interactive() {
				fmt.Fprintln(r.s.out)
				return nil
			}
			if r.code != 0 {
				return exit(r.code)
			}
			return nil
		case err != nil:
			return err
		}
		if strings.TrimSpace(entry) == "" {
			continue
		}
		in.remember(entry)
		if rest, ok := strings.CutPrefix(strings.TrimSpace(entry), ":"); ok {
			err = r.command(ctx, rest)
		} else {
			err = r.enter(ctx, entry)
		}
		var end exit
		if errors.As(err, &end) {
			return nil
		}
		if err != nil {
			r.code = r.s.tell(err)
		}
	}
}

// entry reads lines until what they say is complete: brackets closed, no operator at the end, no "\" at the end.
func (r *repl) entry() (string, error) {
	var lines []string
	for {
		prompt := "flow> "
		if len(lines) > 0 {
			prompt = "  ... "
		}
		line, err := r.in.read(prompt)
		if err != nil {
			if errors.Is(err, io.EOF) && len(lines) > 0 {
				return strings.Join(lines, "\n"), nil // incomplete: the compiler says so
			}
			return "", err
		}
		more, backslash := strings.CutSuffix(strings.TrimRight(line, " \t"), "\\")
		if backslash {
			line = strings.TrimRight(more, " \t")
		}
		lines = append(lines, line)
		text := strings.Join(lines, "\n")
		if !backslash && (strings.HasPrefix(strings.TrimSpace(text), ":") || !unfinished(text)) {
			return text, nil
		}
	}
}

// unfinished tells whether a text must go on: in a bracket, or behind an operator or a comma. Text in quotes and comments does not count.
func unfinished(text string) bool {
	depth := 0
	last := ""
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			last = `"`
		case '(', '[', '{':
			depth++
			last = string(c)
		case ')', ']', '}':
			depth--
			last = string(c)
		case ' ', '\t', '\n', '\r':
		default:
			last = string(c)
		}
	}
	return depth > 0 || last != "" && strings.Contains("=+-*/@,<>|&^%.", last)
}

// enter makes an entry part of the program, and runs what of it has an effect.
func (r *repl) enter(ctx context.Context, entry string) error {
	list := cut(entry)
	var keep []statement
	var run []string
	for _, st := range list {
		if st.effect {
			run = append(run, st.text)
		} else {
			keep = append(keep, st.statement)
		}
	}
	program := r.with(keep)
	fresh := slices.Clone(keep) // as entered, with what they emit
	for i := range fresh {
		fresh[i].quiet = ""
	}
	if len(list) == 0 { // it does not parse, or says nothing: the compiler knows
		run = []string{entry}
	}
	text := join(r.with(fresh), run)
	p, err := flow.Compile(ctx, replName, []byte(text), r.options)
	if err != nil {
		return err
	}
	r.kept = program
	if len(run) == 0 && !slices.ContainsFunc(keep, func(st statement) bool { return st.quiet != "" }) {
		return nil
	}
	r.shown = run
	return r.run(ctx, p)
}

// run executes a program whose bindings have been there before and whose effects are new. Ctrl-C ends it.
func (r *repl) run(ctx context.Context, p *flow.Program) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	line := r.s.progress()
	out := flow.NewOutput(line.above(r.s.out))
	defer out.Discard()
	r.s.signal.onExit(out.Discard)
	start := time.Now()
	_, err := p.Run(ctx, flow.RunOptions{Threads: r.threads, Output: out, Progress: line.report()})
	line.hide()
	if err == nil {
		err = p.Explain(out.Commit())
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("stopped")
	}
	if r.timed && err == nil {
		fmt.Fprintf(r.s.err, "compilation %.3g s, execution %.3g s\n", p.CompileSeconds, time.Since(start).Seconds())
	}
	return err
}

// with is the program with new statements. What they bind replaces what was bound by these names before, in its place, so that what
// was made from it follows; names that are new come last.
func (r *repl) with(add []statement) []statement {
	program := slices.Clone(r.kept)
	for _, st := range add {
		at := -1
		for i := len(program) - 1; i >= 0; i-- {
			if slices.ContainsFunc(program[i].names, func(n string) bool { return slices.Contains(st.names, n) }) {
				program = slices.Delete(program, i, i+1)
				at = i
			}
		}
		if at < 0 {
			at = len(program)
		}
		program = slices.Insert(program, at, st)
	}
	return program
}

// join is the text of a program whose statements have been run before.
func join(program []statement, run []string) string {
	again := slices.Clone(program)
	for i, st := range again {
		if st.quiet != "" {
			again[i].text = st.quiet
		}
	}
	return listing(again, run)
}

// listing is the text of a program as it was entered.
func listing(program []statement, run []string) string {
	var lines []string
	for _, st := range program {
		lines = append(lines, st.text)
	}
	return strings.Join(append(lines, run...), "\n") + "\n"
}

// cutStatement is a statement of an entry.
type cutStatement struct {
	statement
	effect bool // it is run once, and then forgotten
}

// shows is what an expression that stands alone is given to be seen. Its line ends there, so that diagnostics show what was entered.
const shows = "emit\n"

// cut takes an entry apart; nil if it does not parse. An expression that stands alone is emitted.
func cut(entry string) []cutStatement {
	if e, ds := lang.ParseExpr(source.NewFileSet().Add(replName, entry)); !ds.HasErrors() && !isStatement(e) {
		return []cutStatement{{statement{text: shows + strings.TrimSpace(entry)}, true}}
	}
	file := source.NewFileSet().Add(replName, entry)
	tree, _ := lang.Parse(file)
	var out []cutStatement
	for _, st := range tree.Stmts {
		from, to := file.Offset(st.Span().From), file.Offset(st.Span().To)
		c := cutStatement{statement: statement{text: entry[from:to]}}
		switch st := st.(type) {
		case *ast.Bad:
			return nil
		case *ast.ExprStmt:
			if isStatement(st.Expr) {
				c.within(file, st)
				break
			}
			c.text, c.effect = shows+c.text, true
		case *ast.Emit, *ast.Assert:
			c.effect = true
		case *ast.For:
			c.within(file, st)
		default:
			c.names = bound(st)
		}
		out = append(out, c)
	}
	return out
}

// isStatement tells an `if` that does something, or may do nothing, from an expression that has a value to show.
func isStatement(e ast.Expr) bool {
	top, is := e.(*ast.If)
	if !is {
		return false
	}
	last := top
	for last.ElseIf != nil {
		last = last.ElseIf
	}
	does := last.Else == nil
	ast.Walk(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Emit, *ast.Assert, *ast.Send:
			does = true
		}
		return !does
	})
	return does
}

// within looks for effects in the body of a loop or a branch. One that sends nothing is run once. Of one that sends, the sends belong to
// the program from now on, and the effects do not.
func (c *cutStatement) within(file *source.File, st ast.Stmt) {
	var quiet strings.Builder
	from := file.Offset(st.Span().From)
	at, sends := from, false
	ast.Walk(st, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Send:
			sends = true
		case *ast.Emit, *ast.Assert:
			quiet.WriteString(file.Text[at:file.Offset(n.Span().From)] + "assert true")
			at = file.Offset(n.Span().To)
			return false
		}
		return true
	})
	switch {
	case !sends:
		c.effect = true
	case at > from:
		c.quiet = quiet.String() + file.Text[at:file.Offset(st.Span().To)]
	}
}

// bound is what a statement gives a name.
func bound(st ast.Stmt) []string {
	var ids []ast.Ident
	switch st := st.(type) {
	case *ast.Bind:
		ids = st.Names
	case *ast.Param:
		ids = []ast.Ident{st.Name}
	case *ast.FnDecl:
		ids = []ast.Ident{st.Name}
	case *ast.Stage:
		ids = []ast.Ident{st.Name}
	case *ast.TypeDef:
		ids = []ast.Ident{st.Name}
	case *ast.Chan:
		ids = []ast.Ident{st.Name}
	case *ast.Import:
		if st.As != nil {
			ids = []ast.Ident{*st.As}
		}
	case *ast.Iterate:
		for _, c := range st.Carry {
			ids = append(ids, c.Name)
		}
	}
	var names []string
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return names
}
