package lower

import (
	"slices"

	"flow/compiler/check"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the names that a program need not bind, for compiler/check.

// world implements check.World for an elaboration.
type world struct{ l *lowerer }

// Value reports a library function, as an argument, or a name of an earlier entry of a session.
func (w world) Value(name string) bool {
	if _, ok := w.l.library(name); ok || w.l.session == nil {
		return ok
	}
	_, ok := w.l.top.lookup(name)
	return ok || slices.Contains(w.l.ahead, name)
}

// Callable reports an operator, a form, a library function or an unbuilt word.
func (w world) Callable(name string) bool {
	if len(w.l.table.Word(name)) > 0 {
		return true
	}
	if slices.Contains(formNames, name) {
		return true
	}
	if _, ok := notBuilt(name, source.Span{}); ok {
		return true
	}
	return w.Value(name)
}

// Words returns all callable names except unbuilt ones.
func (w world) Words() []string {
	words := append(w.l.words(), w.l.std.words...)
	if w.l.session != nil {
		words = append(words, w.l.top.names...)
	}
	return words
}

// words returns the names of forms and operators that programs call: sub(x, y) is written x - y.
func (l *lowerer) words() []string {
	words := slices.Clone(formNames)
	for _, word := range l.table.Words() {
		if l.table.Word(word)[0].Infix == "" {
			words = append(words, word)
		}
	}
	return words
}

// checkNames reports mistakes in text that was not elaborated: uncalled functions, branches not
// taken. Diagnostics of elaboration take precedence, since they know calls and loop indices.
func (l *lowerer) checkNames() {
	for _, f := range l.checked {
		for _, d := range check.Names(f, world{l}) {
			if i := l.unknownAt(d); i >= 0 { // the program binds it elsewhere
				l.diags[i] = d
			} else if !l.reported(d) {
				l.diags = append(l.diags, d)
			}
		}
	}
}

// unknownAt returns elaboration's diagnostic of an unknown name that d, which has seen the whole
// file, knows to be bound too late or in a body that has ended; -1 if there is none.
func (l *lowerer) unknownAt(d source.Diagnostic) int {
	if d.Code != "E117" && (d.Code != "E116" || len(d.Notes) == 0) {
		return -1
	}
	return slices.IndexFunc(l.diags, func(x source.Diagnostic) bool { return x.Span.From == d.Span.From && x.Code == "E116" })
}

func (l *lowerer) reported(d source.Diagnostic) bool {
	for _, x := range l.diags {
		if x.Span.From == d.Span.From && (x.Code == d.Code || x.Code.Severity() == source.Limit || x.Code == "E116" && d.Code == "E117") {
			return true
		}
	}
	return false
}

// noteFile stores a file for checkNames.
func (l *lowerer) noteFile(f *ast.File) { l.checked = append(l.checked, f) }
