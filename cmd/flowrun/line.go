package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// This file parses a command line before urfave/cli sees it: flags may be anywhere, also after
// FILE; a line without a command means run; an unknown flag gets a suggestion; --help beside a file
// describes the file.

// line is a parsed command line.
type line struct {
	command string   // the command's name, or ""
	flags   []string // as cli wants them
	files   []string // positional arguments without the command's name
	help    bool
}

// usageError is a mistake on the command line: exit code 2.
type usageError struct{ text, help string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) *usageError {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// badValue matches package flag's message about a value: the quoted value, the flag, the reason.
var badValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-([\w-]+): (.*)$`)

// badFlag returns an error of the flag library in our words if it concerns a value. flags are the
// command's.
func badFlag(flags []cli.Flag, err error) error {
	m := badValue.FindStringSubmatch(err.Error())
	if m == nil {
		return usagef("%v", err)
	}
	value, name, why := m[1], m[2], m[3]
	if unquoted, err := strconv.Unquote(value); err == nil {
		value = unquoted
	}
	if why != "parse error" {
		return usagef("--%s %s: %s", name, value, why)
	}
	e := usagef("--%s %s: that is no value of the kind it takes", name, value)
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			e.text, e.help = fmt.Sprintf("--%s takes %s, not %q", name, kindOf(f), value), usageOf(f, name)
		}
	}
	return e
}

// kindOf says what a flag takes.
func kindOf(f cli.Flag) string {
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag, *cli.UintFlag:
		return "a whole number"
	case *cli.Float64Flag:
		return "a number"
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a duration such as 10s"
	}
	return "another kind of value"
}

// usageOf returns a flag's line of help: --threads N: run on N threads.
func usageOf(f cli.Flag, name string) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage := d.GetUsage()
	if i := strings.Index(usage, "`"); i >= 0 {
		if j := strings.Index(usage[i+1:], "`"); j >= 0 {
			name += " " + usage[i+1:i+1+j]
		}
	}
	dashes := "--"
	if len(f.Names()[0]) == 1 { // a flag that has no longer name
		dashes = "-"
	}
	return dashes + name + ": " + strings.ReplaceAll(usage, "`", "")
}

// readLine takes args (without the program's name) apart. A flag's value is told from a file by the
// flags of all commands together, so a flag that two commands share must take a value in
// both or in neither; TestFlagsAgree holds that.
func readLine(app *cli.App, args []string) (line, error) {
	takesValue, flags := map[string]bool{}, map[string]cli.Flag{}
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				_, isBool := f.(*cli.BoolFlag)
				takesValue[name], flags[name] = !isBool, f
			}
		}
	}
	var l line
	var names []string // the flags given, in order, to be looked up in the command's once it is known
	values := map[string]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			l.files = append(l.files, args[i+1:]...)
			i = len(args)
		case a == "-h" || a == "--help" || a == "-help" || a == "help" && l.command == "" && len(l.files) == 0 && !exists(a):
			l.help = true
		case a == "-" || !strings.HasPrefix(a, "-"):
			if l.command == "" && len(l.files) == 0 && slices.ContainsFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(a) }) {
				l.command = a
				continue
			}
			l.files = append(l.files, a)
		default:
			name, value, valued := strings.Cut(strings.TrimLeft(a, "-"), "=")
			if name == "version" {
				l.command = name
				continue
			}
			names = append(names, name)
			values[name] = value
			switch optional, isOptional := valueWhenBare(name); {
			case valued:
				l.flags = append(l.flags, "--"+name+"="+value)
			case isOptional:
				l.flags = append(l.flags, "--"+name+"="+optional)
			case takesValue[name]:
				if i+1 == len(args) {
					e := usagef("flag %s needs a value", a)
					e.help = usageOf(flags[name], name)
					return l, e
				}
				i++
				if name == "set" && !strings.Contains(args[i], "=") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !exists(args[i+1]) {
					e := usagef("--set %s is not name=value", args[i])
					if e.help = setHelp(args[i], args[i+1]); args[i+1] == "=" && i+2 < len(args) {
						e.help = setHelp(args[i], args[i+2])
					}
					return l, e
				}
				l.flags = append(l.flags, "--"+name+"="+args[i])
			default:
				l.flags = append(l.flags, "--"+name)
			}
		}
	}
	if l.command == "" && (len(l.files) > 0 || len(names) > 0) && !l.help {
		l.command = "run"
	}
	if e := misspeltCommand(app, l.files); e != nil && l.command == "run" && args[0] != "run" {
		return l, e
	}
	return l, checkFlags(app, l.command, names, values)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// valueWhenBare is the value of a flag that may stand without one: `--stats` is `--stats=text`.
func valueWhenBare(name string) (string, bool) {
	if name == "stats" {
		return "text", true
	}
	return "", false
}

// checkFlags refuses flags that the command does not have. Without a command (help) any command's
// will do.
func checkFlags(app *cli.App, command string, given []string, values map[string]string) error {
	var known []string
	for _, c := range app.Commands {
		if command == "" || c.HasName(command) {
			for _, f := range c.Flags {
				known = append(known, f.Names()...)
			}
		}
	}
	for _, g := range given {
		if slices.Contains(known, g) {
			continue
		}
		e := usagef("%s has no flag --%s", strings.TrimSpace("flowrun "+command), g)
		e.help = flagHelp(app, command, g, values[g], known)
		return e
	}
	return nil
}

// flagOwner is the first command that has the flag.
func flagOwner(app *cli.App, flag string) string {
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			if slices.Contains(f.Names(), flag) {
				return c.Name
			}
		}
	}
	return ""
}

// args is the line as urfave/cli reads it: everything in the order that it insists on.
func (l line) args(program string) []string {
	out := append([]string{program, l.command}, l.flags...)
	return append(append(out, "--"), l.files...)
}
