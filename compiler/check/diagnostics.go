package check

import (
	"fmt"
	"slices"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the diagnostics that this package and elaboration share.

// TwiceBound is the diagnostic of a name that is already bound. outer: the first binding is above
// the loop that binds it again. free reports an unused name.
func TwiceBound(id ast.Ident, first source.Span, outer bool, free func(string) bool) source.Diagnostic {
	d := source.Errorf("E115", id.At, "%s is bound twice", id.Name).WithNote(first, "bound here first")
	if outer {
		return d.WithHelp("a name has one value: what changes from round to round is carried, `iterate %s = start times n { next %s = .. }`, and a sum is sum(for i in a..b => e), or sum(parfor i in a..b { e })",
			id.Name, id.Name)
	}
	for i := 2; ; i++ {
		if other := fmt.Sprintf("%s%d", id.Name, i); free(other) {
			return d.WithHelp("a name has one value: choose another one, such as `%s`", other)
		}
	}
}

// ForgottenNext is the diagnostic of x = e where x is carried.
func ForgottenNext(id ast.Ident) source.Diagnostic {
	return source.Errorf("E412", id.At, "%s is carried: its value in the next round is given by `next`", id.Name).WithHelp("write `next %s`", id.Name)
}

// Near returns help for an unknown name: the nearest name of the program or word of the language,
// or the Flow form of the nearest word of another language; "" if nothing is near.
func Near(name string, own, words []string) string {
	slices.Sort(own) // so that equally near names always give the same suggestion
	if s, ok := source.Suggest(name, own); ok {
		return "did you mean `" + s + "`?"
	}
	slices.Sort(words)
	if s, ok := source.SuggestWord(name, words); ok {
		return "did you mean `" + s + "`?"
	}
	if s, ok := source.SuggestWord(name, ForeignNames()); ok {
		return Foreign(s)
	}
	return ""
}

// Unknown returns help for an unknown name: what is near, or how to give the name a meaning.
func Unknown(name string, call bool, own, words []string) string {
	switch near := Near(name, own, words); {
	case near != "":
		return near
	case call:
		return fmt.Sprintf("declare it above: fn %s(x) = .., or look for an operator: flowrun doc --search %s", name, name)
	}
	return fmt.Sprintf("bind it above: %s = ..", name)
}
