package flow

import (
	"strings"

	"flow/ir/op"
	"flow/lang/source"
)

// This file defines the two errors that Compile and Run return: the user's mistakes, with their
// places, and Flow's own.

// Refusal is an error that the user can do something about: what is wrong with the program, its
// params, its data or its surroundings, each with a place in the text where there is one.
type Refusal struct {
	Files       *source.FileSet    // the texts that the diagnostics point into
	Diagnostics source.Diagnostics // at least one, in the order of the text
	Ran         bool               // the program was right and its run failed

	cause  error       // how the ranks ended, where that was it
	looked []op.Looked // the files that the program has had looked at
}

// Unwrap returns the *dist.Failure that this puts into the user's terms, nil if it is none.
func (r *Refusal) Unwrap() error { return r.cause }

// Error is the diagnostics as the command prints them, without colour.
func (r *Refusal) Error() string {
	var b strings.Builder
	source.RenderAll(&b, r.Files, r.Diagnostics, false)
	return strings.TrimSuffix(b.String(), "\n")
}

// Bug is an error of Flow itself. The text names the pass or the node.
type Bug struct {
	Text  string // what is wrong, with the name of the pass or the node
	Stack []byte // where it was noticed; may be nil
}

// Error is the text.
func (b *Bug) Error() string { return b.Text }

// codeBug is the diagnostic by which the compiler blames one of its passes.
const codeBug = "B001"

// bugOf is the Bug that the compiler's diagnostic is about; the stack is in its note where
// FLOW_DEBUG asked for one.
func bugOf(d source.Diagnostic) *Bug {
	b := &Bug{Text: strings.TrimPrefix(d.Message, "this is a bug in Flow: ")}
	for _, n := range d.Notes {
		b.Stack = append(b.Stack, n.Text...)
	}
	return b
}
