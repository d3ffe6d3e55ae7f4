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

// Value is a function of the library, as an argument.
func (w world) Value(name string) bool {
	_, ok := w.l.library(name)
	return ok
}

// Callable is an operator, a form, a function of the library or a word to come.
func (w world) Callable(name string) bool {
	if len(w.l.table.Word(name)) > 0 {
		return true
	}
	if slices.Contains(formNames, name) {
		return true
	}
	if _, _, ok := notBuilt(name); ok {
		return true
	}
	return w.Value(name)
}

// Words is all of them but those to come.
func (w world) Words() []string {
	return append(append(append([]string(nil), w.l.table.Words()...), formNames...), w.l.std.names...)
}

// checkNames reports what elaboration did not come by: mistakes in functions that nothing
// calls, in branches not taken. What it has reported stays, for it knows the calls and
// the loop indices.
func (l *lowerer) checkNames() {
	for _, f := range l.checked {
		for _, d := range check.Names(f, world{l}) {
			if !l.reported(d) {
				l.diags = append(l.diags, d)
			}
		}
	}
}

func (l *lowerer) reported(d source.Diagnostic) bool {
	for _, x := range l.diags {
		if x.Span.From == d.Span.From && (x.Code == d.Code || x.Code.Severity() == source.Limit) {
			return true
		}
	}
	return false
}

// noteFile remembers a file for checkNames.
func (l *lowerer) noteFile(f *ast.File) { l.checked = append(l.checked, f) }
