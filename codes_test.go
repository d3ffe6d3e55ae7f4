package flow

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"flow/lang/source"
)

// This file tests the table of diagnostics: the program in a row is told the row's code.

// elsewhere lists the codes whose program is told something else today, and why. A row that is told
// its code again must leave this list.
var elsewhere = map[source.Code]string{
	"E131": "frames are a limit, L002",
	"E310": "streams are a limit, L001",
	"E331": "streams are a limit, L001",
	"E340": "streams are a limit, L001",
}

func TestCodesAreProvoked(t *testing.T) {
	t.Chdir(t.TempDir()) // programs name files that are not there
	provoked := 0
	for _, row := range source.Codes() {
		if row.Program == "" || strings.HasPrefix(row.Command, "--distributed") {
			continue
		}
		var sets []Setting
		o := CompileOptions{Verify: true}
		switch words := strings.Fields(row.Command); {
		case len(words) == 2 && words[0] == "--set":
			name, text, _ := strings.Cut(words[1], "=")
			sets = []Setting{{Name: name, Text: text}}
		case row.Command == "--max-tasks 1":
			o.MaxTasks = 1
		case len(words) > 0:
			t.Errorf("%s: the test does not know the command line %q", row.Code, row.Command)
			continue
		}
		o.Set = sets
		got := codesOf(row.Program, o)
		if _, other := elsewhere[row.Code]; got[row.Code] == other {
			t.Errorf("%s (%s): the program\n%s\nis told %v; the list elsewhere says %q", row.Code, row.Title, row.Program, got, elsewhere[row.Code])
		} else if !other && len(got) > 1 {
			t.Errorf("%s (%s): the program\n%s\nis told more: %v", row.Code, row.Title, row.Program, got)
		}
		provoked++
	}
	if provoked < 60 {
		t.Errorf("only %d rows have a program", provoked)
	}
}

// codesOf is every code that a program is told, warnings too, when it is compiled and, if that goes
// well, run.
func codesOf(text string, o CompileOptions) map[source.Code]bool {
	codes := map[source.Code]bool{}
	p, err := Compile(context.Background(), "p.flow", []byte(text), o)
	if err == nil {
		for _, d := range p.made.Warnings {
			codes[d.Code] = true
		}
		_, err = p.Run(context.Background(), RunOptions{Stdout: io.Discard, Threads: 1})
	}
	var refused *Refusal
	if errors.As(err, &refused) {
		for _, d := range refused.Diagnostics {
			codes[d.Code] = true
		}
	}
	return codes
}
