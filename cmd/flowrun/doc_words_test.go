package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"flow"
	"flow/kernels"
)

// Every reserved word has a manual, whose section exists and whose example prints what it says.
func TestWords(t *testing.T) {
	b, err := os.ReadFile("../../lang/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	spec := string(b)
	_, list, _ := strings.Cut(spec, "These words are reserved: `")
	list, _, found := strings.Cut(list, "`")
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	reserved := strings.Fields(list)
	if !found || len(reserved) < 20 {
		t.Fatalf("the reference lists %d reserved words", len(reserved))
	}
	for _, name := range reserved {
		if _, ok := wordOf(name); !ok && table.Infix(name) == nil && len(table.Word(name)) == 0 {
			t.Errorf("flowrun doc does not know %s", name)
		}
	}
	for _, w := range words {
		if !strings.Contains(spec, "# "+w.spec+"\n") {
			t.Errorf("%s: the reference has no section %q", w.name, w.spec)
		}
		if len(table.Word(w.name)) > 0 {
			t.Errorf("%s is an operator, too", w.name)
		}
		if w.eg.Program == "" {
			continue
		}
		var out bytes.Buffer
		p, err := flow.Compile(context.Background(), w.name, []byte(w.eg.Program), flow.CompileOptions{})
		if err == nil {
			_, err = p.Run(context.Background(), flow.RunOptions{Stdout: &out, Threads: 2})
		}
		if got := strings.TrimSpace(out.String()); err != nil || got != w.eg.Output {
			t.Errorf("%s: %v\nwant %s\nhave %s", w.name, err, w.eg.Output, got)
		}
	}
}
