package lower

import (
	"slices"

	"flow/compiler/check"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the names that a program need not bind, for compiler/check.

// world is an elaboration as a check.World.
type world struct{ l *lowerer }

// Value is a function of the library, as an argument, or what an earlier entry of a session has
// bound.
func (w world) Value(name string) bool {
	if _, ok := w.l.library(name); ok || w.l.session == nil {
		return ok
	}
	_, ok := w.l.top.lookup(name)
	return ok || slices.Contains(w.l.ahead, name)
}

// Callable is an operator, a form, a function of the library or a word to come.
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

// Words is all of them but those to come.
func (w world) Words() []string {
	words := append(w.l.words(), w.l.std.words...)
	if w.l.session != nil {
		words = append(words, w.l.top.names...)
	}
	return words
}

// words is the names of forms and operators that a program calls: sub(x, y) is written x - y.
func (l *lowerer) words() []string {
	words := slices.Clone(formNames)
	for _, word := range l.table.Words() {
		if l.table.Word(word)[0].Infix == "" {
			words = append(words, word)
		}
	}
	return words
}

// checkNames reports what elaboration did not come by: mistakes in functions that nothing
// calls, in branches not taken. What it has reported stays, for it knows the calls and
// the loop indices.
func (l *lowerer) checkNames() {
	for _, f := range l.checked {
		for _, d := range check.Names(f, world{l}) {
			if i := l.unknownAt(d); i >= 0 { // the program binds it further down
				l.diags[i] = d
			} else if !l.reported(d) {
				l.diags = append(l.diags, d)
			}
		}
	}
}

// unknownAt is the diagnostic of elaboration that knows no name where d, which has seen the whole
// file, knows that it is bound too late; -1: there is none.
func (l *lowerer) unknownAt(d source.Diagnostic) int {
	if d.Code != "E117" {
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

// noteFile remembers a file for checkNames.
func (l *lowerer) noteFile(f *ast.File) { l.checked = append(l.checked, f) }
