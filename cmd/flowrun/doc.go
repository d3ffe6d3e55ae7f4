package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/compiler"
	"flow/ir/op"
	"flow/kernels"
	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
	"flow/stdlib"
)

// This file defines `flowrun doc`: the manual, from the rows of the operator table and the comments
// of the standard library.

func (s *session) docCommand() *cli.Command {
	return &cli.Command{
		Name:      "doc",
		Usage:     "print the manual of an operator or library function; without NAME, list them",
		ArgsUsage: "[NAME]",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "search", Usage: "list entries with all words of `TEXT` in name, manual or examples"}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("flowrun doc takes one NAME")
			}
			table, err := kernels.Table("")
			if err != nil {
				return err
			}
			library, err := libraryFunctions()
			if err != nil {
				return err
			}
			if c.IsSet("search") {
				if c.NArg() > 0 {
					return usagef("flowrun doc takes --search or NAME, not both")
				}
				return s.docSearch(c.String("search"), table, library)
			}
			if c.NArg() == 0 {
				return s.docList(table, library)
			}
			return s.docOf(c.Args().First(), table, library)
		},
	}
}

// function is a function or a number of the standard library.
type function struct {
	name, signature, doc, file string
	params                     []string
}

// libraryFunctions reads the standard library. A function's manual is the comment right above it.
func libraryFunctions() ([]function, error) {
	var out []function
	err := fs.WalkDir(stdlib.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".flow" {
			return err
		}
		text, err := fs.ReadFile(stdlib.Files, file)
		if err != nil {
			return err
		}
		src := source.NewFileSet().Add(file, string(text))
		tree, ds := lang.Parse(src)
		if err := ds.Err(); err != nil {
			return fmt.Errorf("BUG: stdlib/%s: %w", file, err)
		}
		for _, st := range tree.Stmts {
			name, params := "", []string(nil)
			switch st := st.(type) {
			case *ast.FnDecl:
				name = st.Name.Name
				for _, p := range st.Params {
					params = append(params, p.Name.Name)
				}
			case *ast.Bind:
				name = st.Names[0].Name
			}
			if name != "" {
				from := src.Offset(st.Span().From)
				head, _, _ := strings.Cut(src.Text[from:], "\n")
				out = append(out, function{
					params: params,
					name:   name, signature: strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(head), "{")),
					doc: commentAbove(src.Text[:from]), file: file,
				})
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b function) int { return strings.Compare(a.name, b.name) })
	return out, err
}

// commentAbove returns the block of comment lines at the end of a text.
func commentAbove(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	for i := len(lines) - 1; i >= 0 && strings.HasPrefix(lines[i], "#"); i-- {
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(lines[i], "#"), " "))
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}

// sentence returns the first sentence of a text, in one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

func (s *session) docList(table *op.Table, library []function) error {
	rows := [][]string{}
	for _, w := range table.Words() {
		rows = append(rows, []string{title(table.Word(w)[0]), sentence(table.Word(w)[0].Doc)})
	}
	fmt.Fprintln(s.out, "operators:")
	s.columns(rows)
	if len(library) > 0 {
		fmt.Fprintln(s.out, "\nstandard library:")
		rows = rows[:0]
		for _, f := range library {
			rows = append(rows, []string{f.name, sentence(f.doc)})
		}
		s.columns(rows)
	}
	var names []string
	for _, w := range words {
		names = append(names, w.name)
	}
	fmt.Fprintln(s.out, "\nwords of the language:")
	s.prose("  "+strings.Join(names, " "), 2)
	if err := s.docExamples(); err != nil {
		return err
	}
	s.prose("\nflowrun doc NAME prints one of them, flowrun doc --search TEXT lists those that speak of it; flowrun explain CODE explains a diagnostic.", 0)
	return nil
}

// title returns the word of a row and its sign, if any.
func title(d *op.Def) string {
	if d.Infix != "" && d.Infix != d.Source() {
		return d.Source() + "  " + d.Infix
	}
	return d.Source()
}

func (s *session) docOf(name string, table *op.Table, library []function) error {
	found := false
	rows := table.Word(name)
	if d := table.Infix(name); d != nil && len(rows) == 0 {
		rows = []*op.Def{d}
	}
	for _, d := range rows {
		s.docRow(d, found)
		found = true
	}
	for _, f := range library {
		if f.name == name {
			if found {
				fmt.Fprintln(s.out)
			}
			s.prose(f.signature+"\n\n"+f.doc+"\n\nin the standard library, "+f.file, 0)
			found = true
		}
	}
	if found {
		return nil
	}
	if w, ok := wordOf(name); ok {
		s.docWord(w)
		return nil
	}
	if found, err := s.docExampleNamed(name); found || err != nil {
		return err
	}
	names := table.Words()
	for _, w := range words {
		names = append(names, w.name)
	}
	for _, f := range library {
		names = append(names, f.name)
	}
	e := usagef("there is no operator, library function or word of the language %s", name)
	if _, word, ok := strings.Cut(name, "."); ok && slices.Contains(names, word) {
		e.help = "did you mean " + word + "?"
	} else if h := compiler.Foreign(name); h != "" {
		e.help = h
	} else if near, ok := source.SuggestWord(name, names); ok {
		e.help = "did you mean " + near + "?"
	} else {
		e.help = "flowrun doc lists them all"
	}
	return e
}

// docRow prints one row of the operator table.
func (s *session) docRow(d *op.Def, more bool) {
	if more {
		fmt.Fprintln(s.out)
	}
	s.prose(signature(d)+"\n\n"+d.Doc, 0)
	var args [][]string
	for _, a := range d.Args {
		if a.Doc != "" {
			args = append(args, []string{a.Name, a.Doc})
		}
	}
	if len(args) > 0 {
		fmt.Fprintln(s.out)
		s.columns(args)
	}
	for _, eg := range d.Eg {
		s.docExample(eg)
	}
}

// docExample prints an example and its output, if any.
func (s *session) docExample(eg op.Example) {
	fmt.Fprintln(s.out)
	for _, l := range strings.Split(strings.TrimRight(eg.Program, "\n"), "\n") {
		fmt.Fprintf(s.out, "    %s\n", l)
	}
	if eg.Output == "" {
		return
	}
	for _, l := range strings.Split(strings.TrimRight(eg.Output, "\n"), "\n") {
		fmt.Fprintf(s.out, "    # %s\n", l)
	}
}

// signature returns how a row is called.
func signature(d *op.Def) string {
	var args []string
	for _, a := range d.Args {
		t := a.Name
		switch {
		case a.Rest:
			t += ", ..."
		case a.Default != nil:
			t += " = " + a.Default.String()
		case a.Optional:
			t = "[" + t + "]"
		}
		args = append(args, t)
	}
	call := d.Source() + "(" + strings.Join(args, ", ") + ")"
	if d.Infix == "" {
		return call
	}
	if len(d.Args) > 1 && !d.Args[1].Attr {
		return fmt.Sprintf("%s %s %s", d.Args[0].Name, d.Infix, d.Args[1].Name)
	}
	return d.Infix + " " + d.Args[0].Name
}
