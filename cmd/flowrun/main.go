// Command flowrun runs, checks, explains and formats Flow programs. It holds flags and wiring;
// package flow and the packages below it do the work.
//
// Start at session (main.go), then the file named like the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/kernels/loop/launch"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/dist"
)

// The exit codes of the command; 128 + signal for a run that a signal ended.
const (
	exitOK      = 0
	exitFailed  = 1 // the run failed
	exitProgram = 2 // the program, a param or the command line is wrong
)

// exit ends the command with a code, silently.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// session is one invocation of the command.
type session struct {
	began     time.Time     // when main began
	loaded    time.Duration // the time until main began
	compiling time.Time     // when the compiler began
	in        io.Reader
	text      []byte // a program read from in, or nil
	out       io.Writer
	err       io.Writer
	color     bool // on err
	signal    *interruption
}

func main() {
	memory.Steady()
	os.Exit(dist.Leave(invoke(os.Args, time.Now())))
}

// invoke runs one command line and returns its exit code.
func invoke(args []string, began time.Time) (code int) {
	stdout := &watched{Writer: os.Stdout}
	s := &session{began: began, loaded: beforeMain(), compiling: began, in: os.Stdin, out: stdout, err: os.Stderr, color: wantsColor(os.Stderr)}
	defer func() {
		if v := recover(); v != nil {
			code = s.bug(fmt.Errorf("%v", v), debug.Stack())
		}
	}()
	app := s.app()
	if last := args[len(args)-1]; len(args) > 1 && last == completionFlag {
		_ = app.Run(args) // a shell asks for completions; errors are useless to it
		return exitOK
	}
	l, err := readLine(app, args[1:])
	if err != nil {
		return s.tell(err)
	}
	if _, err := launch.Target(); err != nil {
		return s.tell(usagef("%v", err))
	}
	if err := launch.CheckError(); err != nil {
		return s.tell(usagef("%v", err))
	}
	ctx, stop := s.watchSignals()
	defer stop()
	switch {
	case l.help && len(l.files) > 0 && (l.command == "" || l.command == "run"):
		err = s.describe(l.files[0])
	case l.help && l.command != "":
		err = app.RunContext(ctx, []string{args[0], l.command, "--help"})
	case l.help:
		err = app.RunContext(ctx, []string{args[0], "--help"})
	case l.command == "" && isTerminal(os.Stdin) && isTerminal(os.Stdout):
		err = app.RunContext(ctx, []string{args[0], "repl"})
	case l.command == "" && s.piped():
		err = app.RunContext(ctx, []string{args[0], "run"})
	case l.command == "":
		_ = app.RunContext(ctx, []string{args[0], "--help"}) // printing help does not fail
		err = exit(exitProgram)
	default:
		err = app.RunContext(ctx, l.args(args[0]))
	}
	if err == nil {
		err = stdout.failed
	}
	return s.tell(err)
}

// tell prints an error and returns the exit code it means.
func (s *session) tell(err error) int {
	s.signal.wait()
	var code exit
	var usage *usageError
	var refused *flow.Refusal
	var bug *flow.Bug
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	// A failure with a reason of its own takes precedence over the signal: a launcher signals
	// all ranks when one is lost.
	case s.signal.caught() && !errors.As(err, &refused):
		return s.signal.report(s.err)
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "flowrun: %s\n", usage.text)
		if usage.help != "" {
			fmt.Fprintf(s.err, "  = help: %s\n", usage.help)
		}
		return exitProgram
	case errors.As(err, &bug):
		return s.bug(bug, bug.Stack)
	case errors.As(err, &refused):
		source.RenderAll(s.err, refused.Files, refused.Diagnostics, s.color)
		if refused.Ran {
			return exitFailed
		}
		return exitProgram
	case errors.Is(err, context.Canceled):
		return exitFailed
	}
	fmt.Fprintf(s.err, "flowrun: %v\n", err)
	return exitFailed
}

// bug reports a bug in Flow, with stack traces only if FLOW_DEBUG is set.
func (s *session) bug(err error, stack []byte) int {
	fmt.Fprintf(s.err, "flowrun: this is a bug in Flow: %v\n", err)
	if os.Getenv("FLOW_DEBUG") != "" {
		_, _ = s.err.Write(stack) // stderr may be closed; then nothing can be reported
	} else {
		fmt.Fprintln(s.err, "  = help: please report it with the program and its params; FLOW_DEBUG=1 adds a stack trace")
	}
	return exitFailed
}

// app is the command with all its subcommands.
func (s *session) app() *cli.App {
	return &cli.App{
		Name:                      "flowrun",
		Usage:                     "run programs in the dataflow language Flow",
		UsageText:                 "flowrun FILE [--set name=value ...] [flags]      same as: flowrun run FILE\nflowrun -e 'emit 1 + 1'                           a program on the command line; flowrun < FILE runs standard input\nflowrun COMMAND [arguments]\nflowrun                                           the REPL: flowrun repl\nflowrun FILE --help                               the params of a program",
		Writer:                    s.out,
		ErrWriter:                 s.err,
		HideVersion:               true,
		HideHelpCommand:           true,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true, // --set x=1,2 is one setting
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError: func(c *cli.Context, err error, _ bool) error {
			return badFlag(c.App.Flags, err)
		},
		Commands: s.commands(),
	}
}

// commands is the table of commands, in the order of the manual.
func (s *session) commands() []*cli.Command {
	list := []*cli.Command{
		s.runCommand(),
		s.checkCommand(),
		s.planCommand(),
		s.explainCommand(),
		s.evalCommand(),
		s.fmtCommand(),
		s.docCommand(),
		s.chunksCommand(),
		s.sweepCommand(),
		s.simulateCommand(),
		s.replCommand(),
		s.versionCommand(),
		s.completionCommand(),
		s.manCommand(),
	}
	for _, c := range list {
		c.HideHelpCommand = true
		c.OnUsageError = func(ctx *cli.Context, err error, _ bool) error { return badFlag(ctx.Command.Flags, err) }
	}
	return list
}

// file returns the one program of a command line.
func (s *session) file(c *cli.Context) (string, error) {
	switch c.NArg() {
	case 0:
		e := usagef("flowrun %s needs the FILE of a program", c.Command.Name)
		e.help = "flowrun " + c.Command.Name + " FILE; FILE is - for standard input"
		return "", e
	case 1:
		return c.Args().First(), nil
	}
	e := usagef("flowrun %s takes one FILE, got %q as well", c.Command.Name, c.Args().Get(1))
	e.help = "params are given with --set name=value"
	if second := c.Args().Get(1); strings.Contains(second, "=") {
		e.help = "write --set " + second
	}
	return "", e
}

// read returns the text of a program; "-" is standard input.
func (s *session) read(name string) ([]byte, error) {
	if name == "-" {
		return s.stdin()
	}
	text, err := source.ReadFile(name)
	if err != nil {
		e := usagef("cannot read the program: %v", err)
		if errors.Is(err, os.ErrNotExist) {
			if e = usagef("no program %s here", name); name == "" {
				e = usagef("the name of the program is empty")
			} else {
				e.help = nearFile(name)
			}
		}
		return nil, e
	}
	return text, nil
}
