package flow

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"flow/ir/types"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// This file runs the entries of a session on ranks in processes of their own. Rank 0 has the user
// and the named values. The other ranks compile the same entries and run their part; they know the
// types of those values, which rank 0 sends where a task reads one.

// sessionRanks is a session's link to the other ranks, on rank 0.
type sessionRanks struct {
	comm  transport.Comm
	group *dist.Group
	meet  MeetOptions
	// changes happened since the last entry was run. The other ranks learn of them with the
	// next.
	changes []sessionChange
	// ending is closed when the run of an interrupted entry has ended on all ranks; nil: none
	// was interrupted.
	ending <-chan struct{}
	lost   error // why no entry can run any more
}

// sessionWord is a message of rank 0 to the other ranks.
type sessionWord struct {
	// since the last word; an entry that the first one does not commit was discarded
	Changes []sessionChange
	Entry   *sessionText // what to compile and run; nil: the session ends
}

// sessionText is an entry.
type sessionText struct {
	Name, Text string
	Sets       []Setting
	Next       int  // the slot that is given next
	Runs       bool // the entry has tasks
}

// sessionChange is one of three changes of a session.
type sessionChange struct {
	Commit *sessionCommit
	Drop   string
	Clear  bool
}

// sessionCommit says that the last entry has been added to the session.
type sessionCommit struct {
	Types map[int]types.Type // of the values that were stored
	Small bool               // the value shown last is small (smallResult)
}

// NewSessionOn returns the session of rank 0 of comm. Its entries run on all ranks of comm, which
// call Follow meanwhile, with the same options. Close ends the session on all of them. The error,
// here and in Run, may be a *Refusal or another error that wraps a *dist.Failure: after one that is
// not Clean the job must be aborted.
func NewSessionOn(ctx context.Context, comm transport.Comm, o CompileOptions, m MeetOptions) (*Session, error) {
	o.Ranks, o.apart = comm.Size(), true
	s, err := NewSession(o)
	if err != nil {
		return nil, err
	}
	g, err := dist.Assemble(ctx, comm, m.Notice)
	if err != nil {
		return nil, s.explainRanks(err)
	}
	s.ranks = &sessionRanks{comm: comm, group: g, meet: m}
	return s, nil
}

// explainRanks converts a failure of the ranks for the user.
func (s *Session) explainRanks(err error) error {
	var f *dist.Failure
	if errors.As(err, &f) && f.Code != "" {
		return explainRanks(s.names.Files, f)
	}
	return err
}

// Watch returns a context that ends with ctx, or when a rank ends while nothing runs: Lost then
// says so. stop ends the watch.
func (s *Session) Watch(ctx context.Context) (watched context.Context, stop func()) {
	if s.ranks == nil {
		return context.WithCancel(ctx)
	}
	return s.ranks.group.Watch(ctx)
}

// Lost returns the *Refusal that says which rank has ended, after a context of Watch has ended; nil
// if none has.
func (s *Session) Lost(watched context.Context) error {
	if f := dist.Lost(watched); f != nil {
		return s.explainRanks(f)
	}
	return nil
}

// Close ends a session. The Follow of all other ranks returns nil. It waits for an interrupted
// entry as long as ctx allows; after an error the job must be aborted.
func (s *Session) Close(ctx context.Context) error {
	if s.ranks == nil {
		return nil
	}
	if err := s.ranks.settle(ctx); err != nil {
		return err
	}
	return s.ranks.tell(nil)
}

func (r *sessionRanks) change(c sessionChange) { r.changes = append(r.changes, c) }

// settle waits for the end of an interrupted entry.
func (r *sessionRanks) settle(ctx context.Context) error {
	if r.ending != nil {
		select {
		case <-r.ending:
			r.ending = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return r.lost
}

// tell sends an entry and the changes before it.
func (r *sessionRanks) tell(e *sessionText) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(sessionWord{r.changes, e}); err != nil {
		return err
	}
	r.changes = nil
	return r.group.Tell(b.Bytes())
}

// committed records that an entry has been added to the session.
func (r *sessionRanks) committed(e *SessionEntry, small bool) {
	c := &sessionCommit{Types: map[int]types.Type{}, Small: small}
	for slot := e.next; slot < e.s.names.Next(); slot++ {
		if t, ok := e.s.store.Type(slot); ok {
			c.Types[slot] = t
		}
	}
	r.change(sessionChange{Commit: c})
}

// runOnRanks runs an entry on all ranks. It returns soon after the end of ctx; the run then ends in
// the background.
func (e *SessionEntry) runOnRanks(ctx context.Context, o RunOptions) error {
	r := e.s.ranks
	if err := r.settle(ctx); err != nil {
		return err
	}
	tasks := e.made.Plan.Graph.Len() > 0
	word := &sessionText{Name: e.name, Text: e.Text, Sets: e.sets, Next: e.next, Runs: tasks}
	mine := e.introduction(r.meet)
	run := func() error {
		if !tasks {
			return nil
		}
		_, err := e.runInGroup(ctx, r.comm, r.group, o)
		return err
	}
	var unshared []string
	err := r.await(ctx, func() (err error) {
		if err = r.tell(word); err == nil {
			unshared, err = r.group.Agree(mine)
		}
		return err
	}, run) // after an interruption it stops at once, together with the other ranks
	if err != nil {
		return e.s.explainRanks(err)
	}
	if err := e.again(ctx, unshared); err != nil {
		if lost := r.group.Refuse(err.Error()); lost != nil {
			r.note(lost)
			err = e.s.explainRanks(lost)
		}
		return err
	}
	return r.await(ctx, run, nil)
}

// await calls f and waits for it, at most interrupted after the end of ctx. Then f goes on, and
// rest, which may be nil, follows if f succeeds; settle waits for both.
func (r *sessionRanks) await(ctx context.Context, f, rest func() error) error {
	err, late := soon(ctx, f)
	if late == nil {
		r.note(err)
		if err != nil || rest == nil || ctx.Err() == nil {
			return err
		}
	}
	ending := make(chan struct{})
	r.ending = ending
	go func() {
		defer close(ending)
		if late != nil {
			err = <-late
			r.note(err)
		}
		if err == nil && rest != nil {
			r.note(rest())
		}
	}()
	return context.Cause(ctx)
}

// note stores a failure after which no entry can run.
func (r *sessionRanks) note(err error) {
	var f *dist.Failure
	if errors.As(err, &f) && !f.Clean {
		r.lost = err
	}
}

// introduction is what a rank reports about an entry before it runs.
func (e *SessionEntry) introduction(m MeetOptions) dist.Introduction {
	return dist.Introduction{Items: e.fingerprint(), Inputs: inputs(lookedAt(e.table), m.VerifyInputs), Notice: m.Notice}
}

// again compiles an entry again if ranks have copies of a file instead of sharing it: only rank 0
// then reads it.
func (e *SessionEntry) again(ctx context.Context, unshared []string) error {
	if len(unshared) == 0 {
		return nil
	}
	e.Abort()
	co := e.s.co
	co.Sets, co.Unshared = e.sets, unshared
	e.s.names.SetNext(e.next)
	other, err := e.s.compile(ctx, e.name, e.Text, co)
	if err == nil {
		*e = *other
	}
	return err
}

// runInGroup runs this rank's part of an entry.
func (e *SessionEntry) runInGroup(ctx context.Context, comm transport.Comm, g *dist.Group, o RunOptions) (*Report, error) {
	return e.runRank(comm, o, g.Refuse, func(pool *local.Pool, do dist.Options) (*dist.Report, error) {
		return g.Run(ctx, pool, e.made.Plan, do)
	})
}

// Follow runs a rank other than 0 of a session: see NewSessionOn. It returns nil when the session
// is closed. After an error the job must be aborted.
func Follow(ctx context.Context, comm transport.Comm, o CompileOptions, ro RunOptions, m MeetOptions) error {
	o.Ranks, o.apart = comm.Size(), true
	s, err := NewSession(o)
	if err != nil {
		return err
	}
	g, err := dist.Assemble(ctx, comm, m.Notice)
	if err != nil {
		return s.explainRanks(err)
	}
	var open *SessionEntry // has run, and waits for rank 0's decision
	for {
		b, err := g.Hear(ctx)
		if err != nil {
			return s.explainRanks(err)
		}
		var w sessionWord
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&w); err != nil {
			return fmt.Errorf("BUG: a word of a session cannot be decoded: %w", err)
		}
		if open != nil && (len(w.Changes) == 0 || w.Changes[0].Commit == nil) {
			open.Abort()
			open = nil
		}
		for _, c := range w.Changes {
			switch {
			case c.Clear:
				s.clear()
			case c.Commit == nil:
				s.retain(c.Drop)
			case open == nil:
				return errors.New("BUG: rank 0 commits an entry that this rank has not run")
			default:
				open.commitAs(c.Commit)
				open = nil
			}
		}
		if w.Entry == nil {
			return nil
		}
		if open, err = s.follow(ctx, comm, g, w.Entry, ro, m); err != nil {
			return err
		}
	}
}

// commitAs adds an entry to the session of a rank without values.
func (e *SessionEntry) commitAs(c *sessionCommit) {
	for slot, t := range c.Types {
		e.s.store.Expect(slot, t)
	}
	e.s.store.Retain(e.e.Commit(func(int) bool { return c.Small }))
}

// follow compiles an entry of rank 0 and runs this rank's part. The entry is nil if ranks cannot
// run it. An error is a failure after which no entry can run.
func (s *Session) follow(ctx context.Context, comm transport.Comm, g *dist.Group, w *sessionText, ro RunOptions, m MeetOptions) (*SessionEntry, error) {
	unclean := func(err error) error {
		var f *dist.Failure
		if errors.As(err, &f) && !f.Clean {
			return s.explainRanks(err)
		}
		return nil
	}
	co := s.co
	co.Sets = w.Sets
	s.names.SetNext(w.Next)
	e, err := s.compile(ctx, w.Name, w.Text, co)
	if err != nil {
		return nil, unclean(g.Refuse(err.Error()))
	}
	unshared, err := g.Agree(e.introduction(m))
	if err != nil {
		e.Abort()
		return nil, unclean(err)
	}
	if err := e.again(ctx, unshared); err != nil {
		return nil, unclean(g.Refuse(err.Error()))
	}
	if !w.Runs {
		return e, nil
	}
	_, err = e.runInGroup(ctx, comm, g, ro)
	return e, unclean(err)
}
