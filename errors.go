package flow

import (
	"strings"

	"flow/ir/op"
	"flow/lang/source"
)

// This file defines the errors of Compile and Run: the user's mistakes, with their places, and bugs
// in Flow.

// Refusal is an error that the user can correct: in the program, its params, its data or its
// environment, each with a place in the text if there is one.
type Refusal struct {
	Files       *source.FileSet    // the texts that the diagnostics point into
	Diagnostics source.Diagnostics // at least one, in the order of the text
	Ran         bool               // the program is valid and its run failed

	cause  error       // how the ranks ended, where that was it
	looked []op.Looked // the files that type rules have read
}

// Unwrap returns the *dist.Failure that this explains, or nil.
func (r *Refusal) Unwrap() error { return r.cause }

// Error returns the diagnostics as the command prints them, without colour.
func (r *Refusal) Error() string {
	var b strings.Builder
	source.RenderAll(&b, r.Files, r.Diagnostics, false)
	return strings.TrimSuffix(b.String(), "\n")
}

// Bug is a bug in Flow. The text names the pass or the node.
type Bug struct {
	Text  string // what is wrong, with the name of the pass or the node
	Stack []byte // where it was noticed; may be nil
}

// Error returns the text.
func (b *Bug) Error() string { return b.Text }

// codeBug is the diagnostic by which the compiler blames one of its passes.
const codeBug = "B001"

// bugOf returns the Bug of a compiler's diagnostic. The stack is in its note if FLOW_DEBUG asked
// for one.
func bugOf(d source.Diagnostic) *Bug {
	b := &Bug{Text: strings.TrimPrefix(d.Message, "this is a bug in Flow: ")}
	for _, n := range d.Notes {
		b.Stack = append(b.Stack, n.Text...)
	}
	return b
}
