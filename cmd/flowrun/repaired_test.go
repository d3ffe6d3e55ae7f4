package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// repaired MESSAGE flowrun ARGS... demands that a command line is refused with exit code 2 and a
// message that matches, that a help line follows, and that the line with what the help proposes in
// the place of what it is about exits with 0.
func repaired(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "flowrun" {
		ts.Fatalf("usage: repaired MESSAGE flowrun ARGS...")
	}
	said, code := told(ts, args[2:])
	if code != exitProgram {
		ts.Fatalf("exits with %d, want %d:\n%s", code, exitProgram, said)
	}
	if !regexp.MustCompile("(?m)" + args[0]).MatchString(said) {
		ts.Fatalf("%q does not match\n%s", args[0], said)
	}
	fixed, ok := applied(args[2:], said)
	if !ok {
		ts.Fatalf("the help proposes nothing:\n%s", said)
	}
	if said, code := told(ts, fixed); code != exitOK {
		ts.Fatalf("flowrun %s exits with %d:\n%s", strings.Join(fixed, " "), code, said)
	}
	ts.Logf("flowrun %s", strings.Join(fixed, " "))
}

// told runs flowrun and returns what it says on stderr, and its exit code.
func told(ts *testscript.TestScript, args []string) (string, int) {
	cmd := exec.Command(ts.Getenv("FLOWRUN"), args...)
	var said bytes.Buffer
	cmd.Stderr, cmd.Dir = &said, ts.MkAbs(".")
	cmd.Env = append(cmd.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"))
	err := cmd.Run()
	if cmd.ProcessState == nil {
		ts.Fatalf("%v", err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

var (
	anotherLine = regexp.MustCompile(`did you mean flowrun (.*)\?`)
	anotherFlag = regexp.MustCompile(`no flag (--[\w-]+)\n.*did you mean (--[\w-]+)\?`)
	anotherFile = regexp.MustCompile(`no (?:program|pass|technique|param|operator, library function or word of the language|diagnostic or rule|kernel set|victim order|queue layout) ["` + "`" + `]?([\w./]+).*\n.*did you mean [` + "`" + `"]?((?:--\w+=)?[\w./-]+)`)
	anotherSet  = regexp.MustCompile(`((?: ?--set \S+)+)\n?$`)
	added       = regexp.MustCompile(`help: add (--\S+)`)
)

// applied is the command line with what the help proposes.
func applied(args []string, said string) ([]string, bool) {
	if m := anotherLine.FindStringSubmatch(said); m != nil {
		return strings.Fields(m[1]), true
	}
	out := slices.Clone(args)
	if m := anotherFlag.FindStringSubmatch(said); m != nil {
		for i, a := range out {
			if name, value, valued := strings.Cut(a, "="); "--"+strings.TrimLeft(name, "-") == m[1] {
				if out[i] = m[2]; valued {
					out[i] += "=" + value
				}
				return out, true
			}
		}
	}
	if m := anotherFile.FindStringSubmatch(said); m != nil {
		for i, a := range out {
			if strings.Contains(a, m[1]) {
				_, word, _ := strings.Cut("="+m[2], "=")
				if k := strings.LastIndex(word, "="); k >= 0 {
					word = word[k+1:]
				}
				out[i] = strings.Replace(a, m[1], word, 1)
				return out, true
			}
		}
	}
	if m := added.FindStringSubmatch(said); m != nil {
		return append(out, m[1]), true
	}
	if m := anotherSet.FindStringSubmatch(said); m != nil { // in the place of all that stands behind --set, or is no file
		out = nil
		for _, a := range args {
			if strings.HasSuffix(a, ".flow") || a == "check" || a == "plan" {
				out = append(out, a)
			}
		}
		return append(out, strings.Fields(m[1])...), true
	}
	return nil, false
}
