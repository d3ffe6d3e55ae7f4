package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"flow/examples"
	"flow/ir/op"
)

// This file defines the examples and the search of `flowrun doc`.

// example is an example program.
type example struct{ name, about, text string }

// examplePrograms are the example programs by name.
func examplePrograms() (all []example, err error) {
	files, err := fs.Glob(examples.Files, "*.flow")
	for _, name := range files {
		text, err := fs.ReadFile(examples.Files, name)
		if err != nil {
			return nil, err
		}
		var head []string
		for line := range strings.Lines(string(text)) {
			comment, ok := strings.CutPrefix(line, "#")
			if !ok {
				break
			}
			head = append(head, strings.TrimSpace(comment))
		}
		all = append(all, example{name, sentence(strings.Join(head, " ")), string(text)})
	}
	return all, err
}

// docExamples lists the example programs.
func (s *session) docExamples() error {
	programs, err := examplePrograms()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, e := range programs {
		rows = append(rows, []string{e.name, e.about})
	}
	fmt.Fprintln(s.out, "\nexamples:")
	s.columns(rows)
	return nil
}

// docExampleNamed prints the example program of that name. It returns false if there is none.
func (s *session) docExampleNamed(name string) (bool, error) {
	programs, err := examplePrograms()
	for _, e := range programs {
		if e.name == name {
			fmt.Fprint(s.out, e.text)
			return true, nil
		}
	}
	return false, err
}

// docSearch lists the parts of the manual that contain all words of text, those with the words in
// the name first. Case does not count.
func (s *session) docSearch(text string, table *op.Table, library []function) error {
	sought := strings.Fields(strings.ToLower(text))
	if len(sought) == 0 {
		return usagef("--search wants a word to look for")
	}
	hasAll := func(text string) bool {
		text = strings.ToLower(text)
		return !slices.ContainsFunc(sought, func(w string) bool { return !strings.Contains(text, w) })
	}
	var named, spoken [][]string
	add := func(name, about, whole string) {
		switch {
		case hasAll(name):
			named = append(named, []string{name, about})
		case hasAll(name + " " + whole):
			spoken = append(spoken, []string{name, about})
		}
	}
	for _, word := range table.Words() {
		rows := table.Word(word)
		var whole strings.Builder
		for _, d := range rows {
			fmt.Fprintln(&whole, d.Infix, d.Doc)
			for _, a := range d.Args {
				fmt.Fprintln(&whole, a.Name, a.Doc)
			}
			for _, eg := range d.Eg {
				fmt.Fprintln(&whole, eg.Program)
			}
		}
		add(title(rows[0]), sentence(rows[0].Doc), whole.String())
	}
	for _, f := range library {
		add(f.name, sentence(f.doc), f.signature+" "+f.doc)
	}
	for _, w := range words {
		add(w.name, sentence(w.doc), w.form+" "+w.doc+" "+w.eg.Program)
	}
	programs, err := examplePrograms()
	if err != nil {
		return err
	}
	for _, e := range programs {
		add(e.name, e.about, e.text)
	}
	if len(named)+len(spoken) == 0 {
		e := usagef("nothing in the manual speaks of %s", text)
		e.help = "search for one word, or for a part of it; flowrun doc lists everything"
		return e
	}
	s.columns(append(named, spoken...))
	return nil
}
