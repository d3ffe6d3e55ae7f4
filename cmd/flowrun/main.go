// Command flowrun runs, checks, explains and formats Flow programs. It holds flags and wiring;
// package flow and the packages below it do the work.
//
// Start at session (session.go), then the file named like the command.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"flow/kernels/loop/launch"
	"flow/memory"
	"flow/runtime/dist"
)

func main() {
	memory.Steady()
	os.Exit(dist.Leave(invoke(os.Args, time.Now())))
}

// invoke runs one command line and returns its exit code.
func invoke(args []string, began time.Time) (code int) {
	stdout := &watched{Writer: os.Stdout}
	s := &session{
		began: began, loaded: beforeMain(), compiling: began, in: os.Stdin, out: stdout, err: os.Stderr, color: wantsColor(os.Stderr),
		width: func() int { return terminalWidth(os.Stdout) },
	}
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
		s.manCommand(s.app),
	}
	for _, c := range list {
		c.HideHelpCommand = true
		c.OnUsageError = func(ctx *cli.Context, err error, _ bool) error { return badFlag(ctx.Command.Flags, err) }
	}
	return list
}
