package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flow"
	"flow/compiler"
	"flow/ir/op"
	"flow/kernels"
	"flow/lang"
)

// This file completes words in the REPL: commands, names, fields, files in quotes, and named
// arguments of calls.

// completion is a completed word and its description.
type completion struct{ text, doc string }

// completions returns the completions of the word at the end of head.
func (r *repl) completions(head string) (found []completion, word string) {
	known := r.candidates(head, &word)
	for _, c := range known {
		if strings.HasPrefix(c.text, word) && c.text != word {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b completion) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(found, func(a, b completion) bool { return a.text == b.text }), word
}

func (r *repl) candidates(head string, word *string) []completion {
	line := strings.TrimLeft(head[strings.LastIndexByte(head, '\n')+1:], " \t")
	if path, ok := openString(line); ok {
		*word = path
		return files(path, "")
	}
	*word = wordAt(head)
	before := head[:len(head)-len(*word)]
	if command, is := strings.CutPrefix(line, ":"); is {
		name, rest, more := strings.Cut(command, " ")
		switch {
		case !more:
			*word = line
			return commandNames()
		case name == "load" || name == "save":
			*word = rest
			return files(rest, ".flow")
		case name == "set":
			return r.paramNames()
		case name == "drop":
			return r.variableNames()
		case name == "explain" && !strings.Contains(rest, " "):
			return passNames()
		}
	}
	if x, ok := strings.CutSuffix(before, "."); ok {
		return r.fields(wordAt(x))
	}
	out := append(r.arguments(before), r.variableNames()...)
	return append(out, r.words()...)
}

// wordAt returns the word at the end of a text.
func wordAt(text string) string {
	i := len(text)
	for i > 0 && isWordByte(text[i-1]) {
		i--
	}
	return text[i:]
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// openString returns the text after the opening quote of an unclosed string.
func openString(line string) (text string, ok bool) {
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '#' && !ok:
			return "", false
		case line[i] == '\\' && ok:
			i++
		case line[i] == '"':
			ok = !ok
			text = line[i+1:]
		}
	}
	return text, ok
}

// files lists the directories, and the files with the extension ("": all), whose names begin as
// path ends.
func files(path, ext string) (out []completion) {
	dir, _ := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Join(".", dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch hidden := strings.HasPrefix(e.Name(), "."); {
		case hidden && !strings.HasPrefix(filepath.Base(path), "."):
		case e.IsDir():
			out = append(out, completion{dir + e.Name() + "/", "directory"})
		case ext == "" || filepath.Ext(e.Name()) == ext:
			out = append(out, completion{dir + e.Name(), ""})
		}
	}
	return out
}

func commandNames() (out []completion) {
	for _, c := range replCommands {
		out = append(out, completion{":" + c.name, c.doc})
	}
	return out
}

func passNames() (out []completion) {
	for _, p := range compiler.Passes() {
		out = append(out, completion{p.Name, p.Doc})
	}
	return out
}

func (r *repl) paramNames() (out []completion) {
	for _, p := range r.session.Params() {
		out = append(out, completion{p.Name + "=", p.Doc})
	}
	return out
}

func (r *repl) variableNames() (out []completion) {
	for _, v := range r.session.Variables() {
		out = append(out, completion{v.Name, whatIs(v)})
	}
	return out
}

// words returns the words of the language, its operators and its library.
func (r *repl) words() (out []completion) {
	for _, w := range lang.Keywords() {
		out = append(out, completion{w, ""})
	}
	if table, err := kernels.Table(r.options.Kernels); err == nil {
		for _, w := range table.Words() {
			out = append(out, completion{w, sentence(table.Word(w)[0].Doc)})
		}
	}
	if library, err := libraryFunctions(); err == nil {
		for _, f := range library {
			out = append(out, completion{f.name, sentence(f.doc)})
		}
	}
	return out
}

// fields returns the possible fields of a name.
func (r *repl) fields(name string) (out []completion) {
	v, ok := r.variable(name)
	if !ok {
		return nil
	}
	for _, f := range v.Fields {
		out = append(out, completion{f, "of " + name})
	}
	if v.Type.IsMatrix() || v.What == "list" || strings.HasPrefix(v.What, "channels") {
		out = append(out, completion{"rows", "how many rows"}, completion{"cols", "how many columns"})
	}
	return out
}

// arguments returns the named arguments of the call that is open at the end of a text.
func (r *repl) arguments(before string) (out []completion) {
	depth := 0
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ')', ']', '}':
			depth++
		case '[', '{', '\n':
			if depth--; depth < 0 {
				return nil
			}
		case '(':
			if depth--; depth >= 0 {
				continue
			}
			for _, name := range r.argumentsOf(wordAt(before[:i])) {
				out = append(out, completion{name + " = ", "argument"})
			}
			return out
		}
	}
	return nil
}

func (r *repl) argumentsOf(function string) (names []string) {
	if v, ok := r.variable(function); ok {
		return v.Args
	}
	if table, err := kernels.Table(r.options.Kernels); err == nil {
		for _, d := range table.Word(function) {
			names = append(names, named(d)...)
		}
	}
	if library, err := libraryFunctions(); err == nil && len(names) == 0 {
		for _, f := range library {
			if f.name == function {
				names = append(names, f.params...)
			}
		}
	}
	return names
}

// named returns the arguments of an operator that programs pass by name.
func named(d *op.Def) (names []string) {
	for _, a := range d.Args {
		if a.Attr {
			names = append(names, a.Name)
		}
	}
	return names
}

// whatIs describes a name in few words.
func whatIs(v flow.Variable) string {
	switch {
	case v.What == "":
		return v.Type.String()
	case v.What == "function":
		return "fn(" + strings.Join(v.Args, ", ") + ")"
	}
	return v.What
}
