package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"flow/compiler"
	"flow/ir"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/inout"
	"flow/lang/source"
)

// This file defines Session, a program that grows by entries and keeps its values: the base of the
// REPL.

// Session is a program that is entered piece by piece. Each entry is compiled and run once. Names
// keep their values, which later entries read in place, and an expression whose value still exists
// is not computed again. A name may be bound again; results of its old value stay. Unnamed values
// are freed, except the last small ones. It is not safe for concurrent use.
type Session struct {
	names   *compiler.Session
	options CompileOptions
	co      compiler.Options
	store   inout.Store
	ranks   *sessionRanks // nil: all is done in this process
	// compiling is closed when an interrupted compilation, which uses the names until then, has
	// ended; nil: none was.
	compiling <-chan struct{}
	variables []Variable // before the last compilation began
}

// Variable is a name of a session: see Session.Variables.
type Variable = compiler.Variable

// NewSession returns an empty session. With Ranks other than 1 its entries run on that many ranks.
// Set and Values are ignored, see Session.Set.
func NewSession(o CompileOptions) (*Session, error) {
	s := &Session{names: compiler.NewSession()}
	o.PlanOnly, o.Set, o.Values, o.store = true, nil, nil, &s.store
	if o.Input == nil {
		o.Input = &Input{}
	}
	var err error
	s.co, _, err = o.options()
	s.options = o
	return s, err
}

// SessionEntry is a compiled entry that has not run. Run or Abort must be called before the next is
// compiled.
type SessionEntry struct {
	*Program
	s *Session
	e *compiler.Entry
	// Text is the text of the entry.
	Text string
	name string // of the text, in messages
	sets []Setting
	next int // the next slot before the entry
}

// Compile compiles an entry. name is for messages. A lone expression is shown, and then called `_`.
// After an error, which is as in Compile, the session is unchanged.
func (s *Session) Compile(ctx context.Context, name, text string) (*SessionEntry, error) {
	return s.compile(ctx, name, text, s.co)
}

// CompileWith is Compile for showing a plan: with measured costs, and the graph after each pass.
func (s *Session) CompileWith(ctx context.Context, name, text string, dump func(pass string, g *ir.Graph)) (*SessionEntry, error) {
	co := s.co
	co.Dump = dump
	if rates := LoadRates(s.options.Kernels); rates != nil {
		co.Rates = rates
	}
	return s.compile(ctx, name, text, co)
}

// compile compiles an entry. It returns soon after the end of ctx.
func (s *Session) compile(ctx context.Context, name, text string, co compiler.Options) (*SessionEntry, error) {
	if s.compiling != nil {
		select {
		case <-s.compiling:
			s.compiling = nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	s.variables = s.namesNow()
	s.options.Input.Until(ctx.Done())
	type compiled struct {
		entry *SessionEntry
		err   error
	}
	c, late := soon(ctx, func() (c compiled) {
		c.entry, c.err = s.compileNow(ctx, name, text, co)
		return c
	})
	if late == nil {
		return c.entry, c.err
	}
	over := make(chan struct{})
	s.compiling = over
	go func() {
		defer close(over)
		if c := <-late; c.entry != nil {
			c.entry.Abort()
		}
	}()
	return nil, context.Cause(ctx)
}

// settled waits for an interrupted compilation.
func (s *Session) settled() {
	if s.compiling != nil {
		<-s.compiling
		s.compiling = nil
	}
}

func (s *Session) compileNow(ctx context.Context, name, text string, co compiler.Options) (entry *SessionEntry, err error) {
	var e *compiler.Entry
	next, earlier := s.names.Next(), len(s.names.Files.Files())
	defer func() {
		if v := recover(); v != nil {
			if e != nil {
				e.Abort()
			}
			entry, err = nil, &Bug{Text: fmt.Sprintf("compiling %s: %v", name, v), Stack: debug.Stack()}
		}
	}()
	r, e, ds := compiler.CompileEntry(ctx, s.names, name, []byte(text), co)
	if ctx.Err() != nil {
		if e != nil {
			e.Abort()
		}
		return nil, context.Cause(ctx)
	}
	if err := refused(r.Files, ds, co.Table); err != nil {
		return nil, err
	}
	p := &Program{made: r, table: co.Table, kernels: s.options.Kernels, name: name, text: []byte(text), options: s.options, earlier: earlier}
	return &SessionEntry{Program: p, s: s, e: e, Text: text, name: name, sets: co.Sets, next: next}, nil
}

// smallResult is the greatest size of a value that is kept for a while because it was shown.
const smallResult = 64 << 10

// Run runs an entry as Program.Run does, and adds it to the session. After an error the session is
// unchanged. It returns soon after the end of ctx, whatever is being computed.
func (e *SessionEntry) Run(ctx context.Context, o RunOptions) error {
	run := e.run
	if e.s.ranks != nil {
		run = e.runOnRanks
	}
	if e.made.Plan.Graph.Len() > 0 || e.s.ranks != nil {
		if err := run(ctx, o); err != nil {
			e.Abort()
			return err
		}
	}
	small := false
	needed := e.e.Commit(func(slot int) bool {
		small = bytesOf(e.s.store.Get(slot)) <= smallResult
		return small
	})
	if e.s.ranks != nil {
		e.s.ranks.committed(e, small)
	}
	e.s.store.Retain(needed)
	return nil
}

func (e *SessionEntry) run(ctx context.Context, o RunOptions) error {
	err, late := soon(ctx, func() error {
		_, err := e.Program.Run(ctx, o)
		return err
	})
	if late != nil {
		return context.Cause(ctx)
	}
	return err
}

// Abort discards an entry that was not run.
func (e *SessionEntry) Abort() {
	e.e.Abort()
	e.s.retain("")
}

// retain frees unneeded values after a name was dropped. No compilation may be using the names.
func (s *Session) retain(drop string) (found bool) {
	needed, found := s.names.Drop(drop)
	s.store.Retain(needed)
	return found
}

// Variables returns the names of the session with their values, in the order in which they were
// first bound.
func (s *Session) Variables() []Variable {
	if s.compiling != nil {
		select {
		case <-s.compiling:
			s.compiling = nil
		default:
			return s.variables // an interrupted entry has bound nothing
		}
	}
	return s.namesNow()
}

func (s *Session) namesNow() []Variable {
	return s.names.Variables(func(slot int) types.Type {
		if v := s.store.Get(slot); v != nil {
			return v.Type()
		}
		return types.Type{}
	})
}

// Value returns the value in a slot of a Variable. It must not be modified.
func (s *Session) Value(slot int) value.Value { return s.store.Get(slot) }

// Bytes returns the memory of the value in a slot.
func (s *Session) Bytes(slot int) int64 { return bytesOf(s.store.Get(slot)) }

// Size returns Bytes as text.
func (s *Session) Size(slot int) string { return types.InBytes(float64(s.Bytes(slot))) }

func bytesOf(v value.Value) int64 {
	switch v := v.(type) {
	case *value.Dense:
		return int64(v.Rows) * int64(v.Cols) * int64(v.Elem.Size())
	case *value.CSR:
		return int64(v.Rows+1)*8 + int64(v.NNZ())*int64(8+v.Elem.Size())
	case value.Scalar:
		return int64(len(v.S)) + 8
	}
	return 0
}

// Params returns the params of the session with their values.
func (s *Session) Params() []Param {
	s.settled()
	return s.names.Params()
}

// Set changes a param of the session. Results of the old value stay.
func (s *Session) Set(ctx context.Context, name, value string) error {
	s.settled()
	text := s.names.ParamText(name)
	if text == "" {
		d := source.Errorf("E120", source.Span{}, "no param `%s`  (--set %s=%s)", name, name, value)
		var known []string
		for _, p := range s.Params() {
			known = append(known, p.Name)
		}
		if near, ok := source.Suggest(name, known); ok {
			d = d.WithHelp("did you mean `%s`?", near)
		} else if len(known) > 0 {
			d = d.WithHelp("the session's params are %s", strings.Join(known, ", "))
		} else {
			d = d.WithHelp("the session has no params; `param %s = %s` declares one", name, value)
		}
		return &Refusal{Files: s.names.Files, Diagnostics: source.Diagnostics{d}}
	}
	co := s.co
	co.Sets = []Setting{{Name: name, Text: value}}
	e, err := s.compile(ctx, "input", text, co)
	if err != nil {
		return err
	}
	return e.Run(ctx, RunOptions{})
}

// Drop forgets a name. What was computed from it stays.
func (s *Session) Drop(name string) error {
	s.settled()
	if !s.retain(name) {
		return errors.New("nothing is called " + fmt.Sprintf("%q", name) + " here")
	}
	if s.ranks != nil {
		s.ranks.change(sessionChange{Drop: name})
	}
	return nil
}

// Clear forgets all names and values.
func (s *Session) Clear() {
	s.settled()
	s.clear()
	if s.ranks != nil {
		s.ranks.change(sessionChange{Clear: true})
	}
}

func (s *Session) clear() {
	next := s.names.Next() // an interrupted run may still store a value under an older number
	s.names = compiler.NewSession()
	s.names.SetNext(next)
	s.store.Retain(nil)
}

// Type returns the type of an expression as text, without computing it.
func (s *Session) Type(ctx context.Context, name, expression string) (string, error) {
	e, err := s.Compile(ctx, name, expression)
	if err != nil {
		return "", err
	}
	defer e.Abort()
	return e.e.Shown(), nil
}
