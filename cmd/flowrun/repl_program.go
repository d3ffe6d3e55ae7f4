package main

import (
	"slices"
	"strconv"
	"strings"

	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file keeps the entries as the text of a program, for :list and :save. A name that was bound
// again gets another name before that, because in a program a name has one value. A function reads
// a name when it is called, so a function declared before such a rebinding would change its meaning
// in a program: that session has no program text.

// statement is a statement of the session.
type statement struct {
	text  string
	fn    bool
	names []ast.Ident // that it binds; their places are in text
	uses  []ast.Ident // the names that it mentions, in order
}

// note records an entry that has run.
func (r *repl) note(entry string) {
	file := source.NewFileSet().Add(replName, entry)
	tree, _ := lang.Parse(file)
	var shown []string
	for _, st := range tree.Stmts {
		from, to := file.Offset(st.Span().From), file.Offset(st.Span().To)
		text := entry[from:to]
		switch st := st.(type) {
		case *ast.Emit, *ast.Assert, *ast.For:
			if !sends(st) {
				shown = append(shown, text)
				continue
			}
		case *ast.ExprStmt:
			if _, branch := st.Expr.(*ast.If); !branch {
				text = "emit " + text
			}
			if !sends(st) {
				shown = append(shown, text)
				continue
			}
		}
		r.entered = append(r.entered, located(file, st, text))
	}
	if len(shown) > 0 {
		r.last, r.shown = entry, shown
	}
}

// sends reports a statement that sends to channels.
func sends(st ast.Stmt) (found bool) {
	ast.Walk(st, func(n ast.Node) bool {
		_, is := n.(*ast.Send)
		found = found || is
		return !found
	})
	return found
}

// located returns a statement with the places of its names.
func located(file *source.File, st ast.Stmt, text string) statement {
	out := statement{text: text}
	_, out.fn = st.(*ast.FnDecl)
	base := st.Span().From
	moved := func(id ast.Ident) ast.Ident {
		id.At.From, id.At.To = id.At.From-base, id.At.To-base
		return id
	}
	for _, id := range bound(st) {
		out.names = append(out.names, moved(id))
	}
	ast.Walk(st, func(n ast.Node) bool {
		if n, ok := n.(*ast.Name); ok {
			out.uses = append(out.uses, moved(ast.Ident{Src: n.Src, Name: n.Name}))
		}
		return true
	})
	return out
}

// program returns the statements of the session as a program. Shown values come last.
func (r *repl) program(shown []string) (string, error) {
	if f, x, ok := r.outdated(); ok {
		e := usagef("%s was declared before %s was bound again, and reads the new value: no program says that", f, x)
		e.help = "declare " + f + " again"
		return "", e
	}
	left := map[string]int{} // how often a name is bound from here on
	for _, st := range r.entered {
		for _, id := range st.names {
			left[id.Name]++
		}
	}
	times, now := map[string]int{}, map[string]string{}
	taken := func(name string) bool { _, ok := left[name]; return ok }
	var lines []string
	for _, st := range r.entered {
		type edit struct {
			at  source.Span
			new string
		}
		var edits []edit
		for _, id := range st.uses {
			if to, ok := now[id.Name]; ok && to != id.Name {
				edits = append(edits, edit{id.At, to})
			}
		}
		for _, id := range st.names {
			if left[id.Name]--; left[id.Name] == 0 {
				now[id.Name] = id.Name
				continue
			}
			to := ""
			for to == "" || taken(to) {
				times[id.Name]++
				to = id.Name + "_" + strconv.Itoa(times[id.Name])
			}
			now[id.Name] = to
			edits = append(edits, edit{id.At, to})
		}
		slices.SortFunc(edits, func(a, b edit) int { return int(b.at.From - a.at.From) })
		text := st.text
		for _, e := range edits {
			text = text[:e.at.From] + e.new + text[e.at.To:]
		}
		lines = append(lines, text)
	}
	lines = append(lines, shown...)
	if len(lines) == 0 {
		return "", nil
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// outdated finds a current function that uses a name which was bound again after its declaration.
func (r *repl) outdated() (fn, name string, ok bool) {
	binds := func(st statement, name string) bool {
		return slices.ContainsFunc(st.names, func(id ast.Ident) bool { return id.Name == name })
	}
	for i, st := range r.entered {
		after := r.entered[i+1:]
		if !st.fn || slices.ContainsFunc(after, func(o statement) bool { return binds(o, st.names[0].Name) }) {
			continue
		}
		for _, id := range st.uses {
			there := func(o statement) bool { return binds(o, id.Name) }
			if slices.ContainsFunc(r.entered[:i], there) && slices.ContainsFunc(after, there) {
				return st.names[0].Name, id.Name, true
			}
		}
	}
	return "", "", false
}

// bound returns the names that a statement binds, including those of imports.
func bound(st ast.Stmt) []ast.Ident {
	if imported, ok := st.(*ast.Import); ok && imported.As != nil {
		return []ast.Ident{*imported.As}
	}
	return ast.Bound(st)
}
