package compiler

import (
	"context"
	"time"

	"flow/compiler/lower"
	"flow/lang"
	"flow/lang/source"
)

// Session is the names that entries have bound: see lower.Session.
type Session = lower.Session

// Entry is an entry before its run.
type Entry = lower.Entry

// Variable is a name of a session.
type Variable = lower.Variable

// NewSession returns a session without names.
func NewSession() *Session { return lower.NewSession() }

// CompileEntry compiles an entry of a session. After an error the session is unchanged; else the
// caller calls the entry's Commit after its run, or Abort.
func CompileEntry(ctx context.Context, s *Session, name string, text []byte, o Options) (*Result, *Entry, source.Diagnostics) {
	if o.Ranks == 0 {
		o.Ranks = 1
	}
	r := &Result{Files: s.Files}
	if ds := checkOptions(o); ds.HasErrors() {
		return r, nil, ds
	}
	start := time.Now()
	tree, ds := lang.Parse(s.Files.Add(name, string(text)))
	r.ParseSeconds = time.Since(start).Seconds()
	if ds.HasErrors() {
		return r, nil, ds.Sort()
	}
	start = time.Now()
	defer func() { r.CompileSeconds = time.Since(start).Seconds() }()
	in := inputOf(s.Files, o)
	in.File = tree
	var e *Entry
	ds = r.compile(ctx, o, func() (lower.Output, source.Diagnostics) {
		var ds source.Diagnostics
		if e, ds = s.Enter(ctx, in); e == nil {
			return lower.Output{}, ds
		}
		return e.Output, ds
	})
	if e != nil && ds.HasErrors() {
		e.Abort()
		e = nil
	}
	return r, e, ds
}
