package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/lang/source"
)

// This file maps flags and commands of other programs to Flow's, and guesses what a name on the
// command line was meant to be.

// otherFlags maps flags of launchers, other languages and DAPHNE to Flow's; "" if otherHelp has a
// sentence.
var otherFlags = map[string]string{
	"np": "ranks", "n": "ranks", "ntasks": "ranks", "num-ranks": "ranks", "nprocs": "ranks", "workers": "threads", "j": "threads", "jobs": "threads", "t": "threads",
	"nthreads": "threads", "cores": "threads", "dist-backend": "backend", "distributed-backend": "backend", "schedule": "partitioning", "scheduler": "partitioning",
	"technique": "partitioning", "victim-selection": "victim", "task-partitioning": "partitioning", "arg": "set", "args": "set", "param": "set", "params": "set-file",
	"define": "set", "D": "set", "config": "set-file", "statistics": "stats", "profile": "stats", "time": "timing", "no-fusion": "no-fuse", "chunk-size": "grain-size", "kernel": "kernels",
}

// otherHelp is help for flags without an equivalent.
var otherHelp = map[string]string{
	"o": "what a program writes, it says itself: emit e to \"f.csv\"", "output": "what a program writes, it says itself: emit e to \"f.csv\"",
	"debug": "the environment variable FLOW_DEBUG=1 verifies after every pass", "log": "--trace FILE writes when each task ran, --stats what the run did",
	"v": "flowrun version says what is in this build; --stats says what a run did", "verbose": "--stats says what a run did, flowrun plan what it will do", "q": "only what the program emits is printed", "quiet": "only what the program emits is printed",
	"cuda": "there are no kernels for accelerators", "gpu": "there are no kernels for accelerators", "vec": "loops are fused and vectorised unless --no-fuse is given",
	"e": "a program comes from standard input as flowrun -", "c": "a program comes from standard input as flowrun -", "i": "flowrun without a FILE reads line by line",
}

// flagHelp returns help for a flag that a command does not have. value is the text after its =.
func flagHelp(app *cli.App, command, given, value string, known []string) string {
	name := strings.ReplaceAll(given, "_", "-")
	if low := strings.ToLower(name); slices.Contains(known, name) || slices.Contains(known, low) {
		if !slices.Contains(known, name) {
			name = low
		}
		return "did you mean --" + name + "?"
	}
	if own := otherFlags[name]; own != "" && slices.Contains(known, own) {
		return "did you mean --" + own + "?"
	}
	if s, ok := source.Suggest(name, known); ok && len(name) > 2 {
		return "did you mean --" + s + "?"
	}
	if owner := flagOwner(app, name); owner != "" {
		return "--" + name + " belongs to flowrun " + owner
	}
	if h := otherHelp[name]; h != "" {
		return h
	}
	if value != "" {
		return "a param of the program is set by --set " + given + "=" + value
	}
	return strings.TrimSpace("flowrun "+command) + " --help lists the flags"
}

// otherCommands maps other tools' names of commands.
var otherCommands = map[string]string{"lint": "check", "vet": "check", "validate": "check", "compile": "plan", "build": "plan", "format": "fmt", "exec": "run", "execute": "run", "bench": "sweep",
	"benchmark": "sweep", "man": "doc", "docs": "doc", "methods": "chunks", "techniques": "chunks", "interactive": "repl", "shell": "repl", "graph": "plan", "tune": "sweep"}

// misspeltCommand refuses a first word that is no file and is similar to a command, or has a program
// behind it.
func misspeltCommand(app *cli.App, files []string) *usageError {
	if len(files) == 0 || files[0] == "" || strings.ContainsAny(files[0], "./\\ ") {
		return nil
	}
	word := files[0]
	if _, err := os.Stat(word); err == nil {
		return nil
	}
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Names()...)
	}
	own, ok := otherCommands[word]
	if !ok {
		own, ok = source.Suggest(word, names)
	}
	e := usagef("there is no command %s", word)
	if !ok && len(files) > 1 && strings.HasSuffix(files[1], ".flow") {
		e.help = "flowrun help lists the commands; flowrun " + files[1] + " runs the program"
		return e
	}
	if !ok {
		return nil
	}
	e.help = strings.TrimSpace("did you mean flowrun " + own + " " + strings.Join(files[1:], " ") + "?")
	e.help = strings.Replace(e.help, " ?", "?", 1)
	return e
}

// nearFile returns help for a program file that does not exist.
func nearFile(name string) string {
	dir := filepath.Dir(name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "the directory " + dir + " does not exist"
	}
	var names []string
	for _, d := range entries {
		if strings.HasSuffix(d.Name(), ".flow") {
			names = append(names, d.Name())
		}
	}
	base := filepath.Base(name)
	if slices.Contains(names, base+".flow") {
		return "did you mean " + name + ".flow?"
	}
	if near, ok := source.Suggest(base, names); ok {
		return "did you mean " + filepath.Join(dir, near) + "?"
	}
	return ""
}

// setHelp returns help for a --set that is no name=value. next is the following word.
func setHelp(text, next string) string {
	for _, sign := range []string{":", " "} {
		if name, value, ok := strings.Cut(text, sign); ok && name != "" && value != "" {
			return "write --set " + name + "=" + value
		}
	}
	if next != "" {
		return "write --set " + text + "=" + strings.TrimPrefix(next, "=")
	}
	return "write --set " + text + "=VALUE"
}
