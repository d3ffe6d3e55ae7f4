package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flow/lang/source"
)

// This file tests what people are told who write Flow as if it were the language that they know.
//
// Each file of testdata/newcomers is a list of wrong programs. A case has the form
//
//	=== a name
//	the program
//	--- says
//	E116 1:5 nothing is called `np` here
//	  operators need no module: `sum(x)`, `exp(x)`
//	--- repair
//	the program as it should be
//
// The part "says" holds every diagnostic: the code, the place of the caret, the message, and
// indented the help. The part "repair" must compile and run without a word. Two other parts may
// stand in its place:
//
//	--- paste OLD        the first text in backquotes of the help, put in the place of OLD (or of the text over the carets
//	                     if OLD is empty) on the line of the diagnostic, gives the repaired program; so for each diagnostic
//	--- none REASON      no program does what was meant
//
//	go test . -run Newcomers -update      rewrites the parts "says"; the repairs stay as they are, unless the help gives
//	                                      them letter by letter: then they become "paste"

// newcomer is one case.
type newcomer struct {
	name, text, says string
	kind, rest       string // "repair", "paste" or "none", and what stands behind the word
	repair           string
}

func TestNewcomers(t *testing.T) {
	files, err := filepath.Glob("testdata/newcomers/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(newcomersFolder(t))
	total, pasted := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases := newcomers(t, filepath.Base(file), string(data))
		var rewritten strings.Builder
		for _, c := range cases {
			ds, fs, _ := told(c.text)
			says := saying(fs, ds)
			c.check(t, filepath.Base(file), ds, fs)
			if !*update && says != c.says {
				t.Errorf("%s: %s: the program\n%sis told\n%sand the table says\n%s", filepath.Base(file), c.name, c.text, says, c.says)
			}
			if *update && c.kind == "repair" {
				if text, err := c.pasted(ds, fs); err == nil && text == c.repair {
					c.kind = "paste"
				}
			}
			c.says = says
			rewritten.WriteString(c.String())
			if total++; c.kind == "paste" {
				pasted++
			}
		}
		if *update {
			if err := os.WriteFile(file, []byte(rewritten.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if total < 250 {
		t.Errorf("only %d wrong programs are left in the table", total)
	}
	if pasted < 200 {
		t.Errorf("only %d repairs are pasted from the help", pasted)
	}
}

// newcomersFolder is a folder with the files that the programs of the table read.
func newcomersFolder(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"data.csv":         "1,2\n3,4\n",
		"data":             "1,2\n3,4\n",
		"words.csv":        "name,age\nAnna,31\nBob,27\n",
		"ragged.csv":       "1,2,3\n4,5\n",
		"semicolon.csv":    "1;2\n3;4\n",
		"book.xlsx":        "PK\x03\x04\x14\x00",
		"folder/a.csv":     "1\n",
		"tables.csv/b.csv": "1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// newcomers takes a file of the table apart.
func newcomers(t *testing.T, file, data string) []newcomer {
	var out []newcomer
	for _, chunk := range strings.Split("\n"+data, "\n=== ")[1:] {
		name, rest, _ := strings.Cut(chunk, "\n")
		parts := strings.Split("\n"+strings.TrimSuffix(rest, "\n"), "\n--- ")
		c := newcomer{name: name, text: strings.TrimPrefix(parts[0], "\n") + "\n"}
		for _, p := range parts[1:] {
			head, body, _ := strings.Cut(p, "\n")
			word, arg, _ := strings.Cut(head, " ")
			switch word {
			case "says":
				c.says = body + "\n"
			case "repair", "paste", "none":
				c.kind, c.rest, c.repair = word, arg, body+"\n"
			default:
				t.Fatalf("%s: %s: what is --- %s?", file, name, word)
			}
		}
		if c.kind == "" || c.kind == "none" && c.rest == "" {
			t.Errorf("%s: %s: neither a repair nor a reason why there is none", file, name)
		}
		out = append(out, c)
	}
	return out
}

// String is the case as it stands in its file.
func (c newcomer) String() string {
	s := "=== " + c.name + "\n" + c.text + "--- says\n" + c.says + "--- " + strings.TrimSpace(c.kind+" "+c.rest) + "\n"
	if c.kind == "repair" {
		s += c.repair
	}
	return s
}

// told compiles and runs a program and returns what it is told, in the order of the text, and what
// it prints.
func told(text string) (source.Diagnostics, *source.FileSet, string) {
	var out bytes.Buffer
	p, err := Compile(context.Background(), "p.flow", []byte(text), CompileOptions{Verify: true})
	var ds source.Diagnostics
	var fs *source.FileSet
	if err == nil {
		ds, fs = p.made.Warnings, p.made.Files
		_, err = p.Run(context.Background(), RunOptions{Stdout: &out, Threads: 1})
	}
	var refused *Refusal
	if errors.As(err, &refused) {
		ds, fs = append(ds[:len(ds):len(ds)], refused.Diagnostics...), refused.Files
	} else if err != nil {
		ds = append(ds, source.Errorf("B001", source.Span{}, "%v", err))
	}
	return ds.Sort(), fs, out.String()
}

// saying is what the part "says" of a case holds.
func saying(fs *source.FileSet, ds source.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		place := "-"
		if d.Span.IsValid() {
			name, line, col := fs.Position(d.Span.From)
			if place = fmt.Sprintf("%d:%d", line, col); name != "p.flow" {
				place = name
			}
		}
		fmt.Fprintf(&b, "%s %s %s\n", d.Code, place, d.Message)
		if d.Help != "" {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(d.Help, "\n", "\n  "))
		}
	}
	return b.String()
}

// check demands a cause with a caret that lies in the program, and a repair that works.
func (c newcomer) check(t *testing.T, file string, ds source.Diagnostics, fs *source.FileSet) {
	t.Helper()
	wrong := func(format string, args ...any) {
		t.Errorf("%s: %s: "+format, append([]any{file, c.name}, args...)...)
	}
	if len(ds) == 0 {
		wrong("the program runs now")
		return
	}
	for _, d := range ds {
		name, line, col := fs.Position(d.Span.From)
		if !d.Span.IsValid() || name != "p.flow" {
			wrong("%s has no caret in the program", d.Code)
		} else if lines := strings.Split(c.text, "\n"); line > len(lines) || col > len(lines[line-1])+1 {
			wrong("the caret of %s is outside of the program, at %d:%d", d.Code, line, col)
		}
		if d.Help == "" && !speaksForItself[d.Code] {
			wrong("%s has no help: %s", d.Code, d.Message)
		}
		if strings.Contains(d.Message+d.Help, "%!") {
			wrong("%s has a message with a hole: %s", d.Code, d.Message)
		}
	}
	repaired := c.repair
	switch c.kind {
	case "none":
		return
	case "paste":
		var err error
		if repaired, err = c.pasted(ds, fs); err != nil {
			wrong("%v", err)
			return
		}
	}
	if ds, fs, _ := told(repaired); len(ds) > 0 {
		wrong("the repaired program\n%sis told\n%s", repaired, saying(fs, ds))
	}
}

// speaksForItself are the codes whose message is the program's own or a fact about its data.
var speaksForItself = map[source.Code]bool{"E410": true, "E504": true, "E601": true, "E603": true}

// code is the first text in backquotes of a help.
var code = regexp.MustCompile("`([^`]+)`")

// pasted is the program with what the helps propose, from the last diagnostic to the first, so that
// places stay true.
func (c newcomer) pasted(ds source.Diagnostics, fs *source.FileSet) (string, error) {
	text := c.text
	for i := len(ds) - 1; i >= 0; i-- {
		d := ds[i]
		m := code.FindStringSubmatch(d.Help)
		if m == nil || !d.Span.IsValid() {
			return "", fmt.Errorf("the help of %s proposes nothing: %q", d.Code, d.Help)
		}
		f := fs.File(d.Span.From)
		from, to := f.Offset(d.Span.From), f.Offset(d.Span.To)
		if c.rest != "" {
			start := strings.LastIndex(text[:from], "\n") + 1
			line, _, _ := strings.Cut(text[start:], "\n")
			at := strings.Index(line, c.rest)
			if at < 0 || strings.Count(line, c.rest) > 1 {
				return "", fmt.Errorf("%q does not stand once in %q", c.rest, line)
			}
			from, to = start+at, start+at+len(c.rest)
		}
		text = text[:from] + m[1] + text[to:]
	}
	return text, nil
}
