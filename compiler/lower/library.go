package lower

import (
	"io/fs"
	"strings"

	"flow/lang"
	"flow/lang/ast"
)

// This file reads the embedded library. Parsing all of it takes longer than compiling most
// programs, so a declaration is parsed when a program first uses it, with those that it mentions.

// library returns a library function. Programs find them after their own names and the operators.
func (l *lowerer) library(name string) (val, bool) {
	if l.std == nil {
		l.std = &library{scope: &scope{}, rest: map[string]declaration{}}
		if l.in.Std != nil {
			l.indexLibrary()
		}
	}
	l.need(name)
	if v, ok := l.std.scope.lookup(name); ok {
		return *v, true
	}
	return val{}, false
}

// indexLibrary finds the declarations: "fn NAME" or "NAME =" at the beginning of a line.
func (l *lowerer) indexLibrary() {
	paths, err := fs.Glob(l.in.Std, "*.flow")
	if err != nil {
		return
	}
	for _, p := range paths {
		text, err := fs.ReadFile(l.in.Std, p)
		if err != nil {
			continue
		}
		f := l.in.Files.Add("std/"+p, string(text))
		f.Library = true
		name, from, to, at := "", 0, 0, 0
		end := func() {
			if name != "" {
				l.std.rest[name] = declaration{f, from, to}
				l.std.words = append(l.std.words, name)
			}
		}
		for line := range strings.Lines(f.Text) {
			if next := declared(line); next != "" {
				end()
				name, from = next, at
			}
			// or it is about what comes next
			if at += len(line); line != "\n" && line[0] != '#' {
				to = at
			}
		}
		end()
	}
}

// declared returns the name that a line begins to declare, or "".
func declared(line string) string {
	rest, function := strings.CutPrefix(line, "fn ")
	n := 0
	for n < len(rest) && nameByte(rest[n]) {
		n++
	}
	if n > 0 && (function || strings.HasPrefix(rest[n:], " = ")) {
		return rest[:n]
	}
	return ""
}

func nameByte(c byte) bool {
	return c == '_' || 'a' <= c|' ' && c|' ' <= 'z' || '0' <= c && c <= '9'
}

// need parses an unparsed declaration and all that it mentions.
func (l *lowerer) need(name string) {
	d, ok := l.std.rest[name]
	if !ok {
		return
	}
	delete(l.std.rest, name)
	tree, ds := lang.ParseRange(d.file, d.from, d.to)
	if ds.HasErrors() {
		l.diags = append(l.diags, ds...)
		panic(bail{})
	}
	std := l.std.scope
	for _, s := range tree.Stmts {
		switch s := s.(type) {
		case *ast.FnDecl:
			std.bind(s.Name.Name, funVal(&fun{name: s.Name.Name, params: s.Params, result: s.Result,
				expr: s.Expr, body: s.Body, env: std, span: s.Name.At}), s.Name.At)
		case *ast.Bind: // a number
			std.bind(s.Names[0].Name, l.expr(s.Expr), s.Names[0].At)
		}
	}
	other := func(r rune) bool { return r >= 0x80 || !nameByte(byte(r)) }
	for word := range strings.FieldsFuncSeq(d.file.Text[d.from:d.to], other) {
		l.need(word)
	}
}
