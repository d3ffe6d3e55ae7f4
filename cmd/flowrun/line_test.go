package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// A flag that two commands share takes a value in both or in neither: readLine tells values from
// files by that.
func TestFlagsAgree(t *testing.T) {
	valued := map[string]string{}
	for _, c := range (&session{}).app().Commands {
		for _, f := range c.Flags {
			_, isBool := f.(*cli.BoolFlag)
			for _, name := range f.Names() {
				kind := fmt.Sprint(!isBool)
				if before, ok := valued[name]; ok && before != kind {
					t.Errorf("--%s takes a value in one command and none in another", name)
				}
				valued[name] = kind
			}
		}
	}
	if len(valued) < 15 {
		t.Errorf("only %d flags were found", len(valued))
	}
}

func TestReadLine(t *testing.T) {
	app := (&session{}).app()
	for _, tt := range []struct{ in, want string }{
		{"p.flow", "run [] [p.flow]"},
		{"run p.flow", "run [] [p.flow]"},
		{"p.flow --set n=3", "run [--set=n=3] [p.flow]"},
		{"--threads 2 p.flow --no-fuse", "run [--threads=2 --no-fuse] [p.flow]"},
		{"--stats p.flow", "run [--stats=text] [p.flow]"},
		{"p.flow --stats=json", "run [--stats=json] [p.flow]"},
		{"plan --json p.flow --ranks=4", "plan [--json --ranks=4] [p.flow]"},
		{"--json plan p.flow", "plan [--json] [p.flow]"},
		{"fmt -w a.flow b.flow", "fmt [--w] [a.flow b.flow]"},
		{"-", "run [] [-]"},
		{"run -- --odd.flow", "run [] [--odd.flow]"},
		{"run plan", "run [] [plan]"}, // a file named like a command
		{"version", "version [] []"},
		{"", " [] []"},
	} {
		l, err := readLine(app, strings.Fields(tt.in))
		if got := fmt.Sprintf("%s %v %v", l.command, l.flags, l.files); err != nil || got != tt.want {
			t.Errorf("%q is read as %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	for in, help := range map[string]string{
		"p.flow --thread 2":  "did you mean --threads?",
		"p.flow --json":      "--json belongs to flowrun plan",
		"p.flow --xyzzyx":    "flowrun run --help lists the flags",
		"p.flow --threads":   "--threads N: run on N threads, in each rank",
		"version --threads=": "--threads belongs to flowrun run",
	} {
		_, err := readLine(app, strings.Fields(in))
		u, ok := err.(*usageError)
		if !ok || u.help != help {
			t.Errorf("%q: %v; want the help %q", in, err, help)
		}
	}
}
