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
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/kernels/blas"
	"flow/lang/source"
)

// This file defines the REPL: each entry runs once, and its names keep their values (flow.Session).
// repl_commands.go has the commands, repl_program.go the text that was entered, repl_line.go and
// repl_edit.go the editing of blocks.

func (s *session) replCommand() *cli.Command {
	return &cli.Command{
		Name:  "repl",
		Usage: "enter a program line by line and see values at once (flowrun alone on a terminal does the same)",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kernels", Usage: "use the kernel set `NAME` (flowrun version lists them)"},
			&cli.IntFlag{Name: "threads", Aliases: []string{"num-threads"}, Usage: "run on `N` threads, in each rank", DefaultText: "one a processor"},
			&cli.BoolFlag{Name: "distributed", DisableDefaultText: true, Usage: "run entries on several ranks"},
			&cli.StringFlag{Name: "backend", Usage: "transport between ranks: mem (all ranks in this process), or mpi", Value: "mem"},
			&cli.IntFlag{Name: "ranks", Usage: "run on `N` ranks", DefaultText: "2"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("flowrun repl takes no FILE; :load FILE brings one in")
			}
			r := &repl{s: s, options: flow.CompileOptions{Kernels: c.String("kernels"), Input: s.input(), Memory: flow.MostMemory()}}
			r.options.Input.NoStdin = "entries are read from it"
			if _, err := blas.Select(r.options.Kernels); err != nil {
				return kernelError(r.options.Kernels)
			}
			var err error
			if r.threads, err = threads(c); err != nil {
				return err
			}
			if r.options.Ranks, err = sessionRanks(c); err != nil {
				return err
			}
			if c.Bool("distributed") && !c.IsSet("threads") {
				r.threads = 0 // the ranks share the processors
			}
			if strings.EqualFold(c.String("backend"), "mpi") {
				return r.overMPI(c)
			}
			if r.session, err = flow.NewSession(r.options); err != nil {
				return err
			}
			return r.loop(c.Context)
		},
	}
}

// sessionRanks returns the number of ranks; 0 leaves it to the launcher.
func sessionRanks(c *cli.Context) (int, error) {
	switch backend := strings.ToLower(c.String("backend")); {
	case !c.Bool("distributed") && (c.IsSet("ranks") || c.IsSet("backend")):
		e := usagef("--ranks and --backend are about distributed sessions")
		e.help = "add --distributed"
		return 0, e
	case !c.Bool("distributed"):
		return 1, nil
	case backend == "mpi":
		return ranks(c, 0)
	case backend != "mem":
		return 0, usagef("--backend=%s: there are mem and mpi", backend)
	}
	return ranks(c, defaultMemRanks)
}

// repl is one session of entries.
type repl struct {
	s       *session
	in      lineReader
	options flow.CompileOptions
	session *flow.Session
	ranks   *replRanks // nil: this process is all
	threads int
	timed   bool
	entered []statement // what became part of the session
	last    string      // the last entry that showed something, for :plan and :explain
	shown   []string    // its statements that did, for :save
	code    int         // exit code of a session without a terminal
}

// replName is the name of an entry in diagnostics.
const replName = "input"

// loop reads entries until the end of the input.
func (r *repl) loop(ctx context.Context) error {
	r.s.signal.leave() // Ctrl-C ends an entry or a run, not the command
	in, err := r.s.newLineReader(r)
	if err != nil {
		return err
	}
	r.in = in
	defer in.close()
	if r.ranks != nil {
		ctx = r.ranks.endInOrder(ctx, r)
	} else {
		r.s.signal.endAtOnce(in.close)
	}
	if in.interactive() {
		r.s.prose("flowrun "+buildVersion()+". An expression shows its value, and `_` is the last one. help tells more, exit or Ctrl-D ends.", 0)
	}
	for {
		entry, err := r.read(ctx)
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
		if r.ranks != nil {
			err = r.ranks.one(ctx, r, entry)
		} else {
			err = r.one(ctx, entry)
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

// read reads the next entry.
func (r *repl) read(ctx context.Context) (string, error) {
	if r.ranks != nil {
		defer r.ranks.watch(ctx, r)()
	}
	return r.in.read()
}

// one executes an entry: a command, or statements.
func (r *repl) one(ctx context.Context, entry string) error {
	text := strings.TrimSpace(entry)
	if command, ok := r.commandOf(text); ok {
		return r.command(ctx, command)
	}
	return r.enter(ctx, entry, r.timed)
}

// wordCommands maps commands in the spelling of Python, Julia and shells.
var wordCommands = map[string]string{
	"exit": "quit", "exit()": "quit", "quit": "quit", "quit()": "quit", "help": "help", "help()": "help", "?": "help", "who": "who", "clear": "clear",
}

// commandOf returns the command of an entry: a line that begins with a colon or a question mark, or
// a word such as exit that is not bound.
func (r *repl) commandOf(text string) (command string, ok bool) {
	if rest, ok := strings.CutPrefix(text, ":"); ok {
		return rest, true
	}
	if rest, ok := strings.CutPrefix(text, "?"); ok {
		return "doc " + strings.TrimSpace(rest), true
	}
	if rest, ok := strings.CutSuffix(text, "?"); ok && !strings.ContainsAny(rest, " \n#\"") {
		return "doc " + rest, true
	}
	if name, ok := strings.CutPrefix(text, "help("); ok && strings.HasSuffix(name, ")") {
		return "doc " + strings.TrimSuffix(name, ")"), true
	}
	command, ok = wordCommands[text]
	if ok && slices.ContainsFunc(r.session.Variables(), func(v flow.Variable) bool { return v.Name == text }) {
		return "", false
	}
	return command, ok
}

// unfinished reports whether a text must continue: inside a bracket, or after an operator or a
// comma. Quoted text and comments do not count.
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

// enter runs an entry and adds it to the session. Ctrl-C ends it, and the session is then
// unchanged.
func (r *repl) enter(ctx context.Context, entry string, timed bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	err := r.execute(ctx, entry, timed)
	if ctx.Err() != nil && err != nil {
		return errors.New("stopped; the session is as it was before this entry")
	}
	return err
}

func (r *repl) execute(ctx context.Context, entry string, timed bool) error {
	e, err := r.session.Compile(ctx, replName, entry)
	if err != nil {
		return err
	}
	line := r.s.progress()
	gate := &gate{to: line.above(r.s.out)}
	out := flow.NewOutput(gate)
	defer out.Discard()
	r.s.signal.onExit(out.Discard)
	// an entry need not keep all ranks busy
	warnings := slices.DeleteFunc(e.Compiled().Warnings, func(d source.Diagnostic) bool { return d.Code == "W002" })
	source.RenderAll(r.s.err, e.Compiled().Files, warnings, r.s.color)
	start := time.Now()
	err = e.Run(ctx, flow.RunOptions{Threads: r.threads, Output: out, Progress: line.report()})
	gate.closed.Store(err != nil)
	line.hide()
	if err == nil {
		err = e.Explain(out.Commit())
	}
	if err != nil {
		return err
	}
	if timed {
		fmt.Fprintf(r.s.err, "compilation %.3g s, execution %.3g s\n", e.Compiled().CompileSeconds, time.Since(start).Seconds())
	}
	r.note(entry)
	return nil
}

// gate passes on the output of a run until the run is abandoned.
type gate struct {
	to     io.Writer
	closed atomic.Bool
}

func (g *gate) Write(b []byte) (int, error) {
	if g.closed.Load() {
		return 0, errors.New("the run was stopped")
	}
	return g.to.Write(b)
}
