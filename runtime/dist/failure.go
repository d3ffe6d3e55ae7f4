package dist

// This file defines how a run can go wrong, as the caller sees it and as ranks tell each other.

import (
	"context"
	"errors"
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// Failure is how a run ended badly. It is the same on every rank that is alive.
type Failure struct {
	// Code is that of the diagnostics table; "" for an interruption.
	Code string
	// Err is a *local.TaskFailure, *DeathError, *MismatchError, *InterruptError, or the transport's
	// error.
	Err error
	// Clean says that no request is left: the Comm can be closed, or used for another run. If not,
	// the caller should print what there is to print and then Abort.
	Clean bool
	// Speaker is the rank that should print it: 0 unless 0 is dead.
	Speaker int
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Message is the failure as a user reads it, with the place in the program if a task failed.
func (f *Failure) Message(p *plan.Plan) string {
	var t *local.TaskFailure
	if errors.As(f.Err, &t) {
		s := t.Message(p)
		if p.Ranks > 1 {
			s += fmt.Sprintf(", on rank %d", t.Rank)
		}
		return s
	}
	return f.Err.Error()
}

// DeathError says that the process of a rank is gone.
type DeathError struct {
	Rank  int
	Where string // host and process, if known
	Last  string // what it was last known to do, if anything
	// Killed says that the kernel may have killed it for want of memory; empty if not.
	Killed string
}

func (e *DeathError) Error() string {
	s := fmt.Sprintf("rank %d died", e.Rank)
	if e.Where != "" {
		s += " (" + e.Where + ")"
	}
	if e.Last != "" {
		s += "; " + e.Last
	}
	return s + e.Killed
}

// MismatchError says what differs between ranks that should be the same.
type MismatchError struct {
	Msg   string
	Files bool // it is about a file that ranks read
}

func (e *MismatchError) Error() string { return e.Msg }

// InterruptError says that a rank was told to stop. Cause is its context's, on that rank alone.
type InterruptError struct {
	Rank  int
	Cause error
}

func (e *InterruptError) Error() string { return "interrupted" }

// Unwrap returns the cause, so that errors.Is finds context.Canceled.
func (e *InterruptError) Unwrap() error {
	if e.Cause == nil {
		return context.Canceled
	}
	return e.Cause
}

// severity orders failures of different sorts: the larger one is reported.
type severity uint8

const (
	interrupted severity = iota + 1
	taskFailed
	transportFailed
	rankDied
)

// failure is a Failure on the wire.
type failure struct {
	Severity  severity
	Node      int32
	Within    []ir.Step
	Place     int64 // of a task: orders the failures of one node, all on one rank
	Unsettled bool  // of a task: local.TaskFailure's
	Rank      int   // where the task failed, who was interrupted, or who died
	Bug       bool  // of a task: Flow is to blame, and there was no *op.Failure to take Code and Help from
	Code      string
	Msg       string
	Help      string
	At        op.Place
	Where     string // of a death
	Last      string
}

func failureOf(f *local.TaskFailure) *failure {
	w := &failure{Severity: taskFailed, Node: int32(f.Node), Within: f.Within, Place: f.Place(), Rank: f.Rank, Bug: true, Code: "B001", Msg: f.Err.Error()}
	var u *op.Failure
	if errors.As(f.Err, &u) {
		w.Bug, w.Code, w.Msg, w.Help, w.At = false, u.Code, u.Msg, u.Help, u.At
	}
	return w
}

// failureOfTransport is a death if the transport knows of one.
func failureOfTransport(err error) *failure {
	var d *transport.DeadError
	if errors.As(err, &d) {
		return &failure{Severity: rankDied, Rank: d.Rank}
	}
	return &failure{Severity: transportFailed, Msg: err.Error()}
}

// before reports whether w is to be reported rather than o.
func (w *failure) before(o *failure) bool {
	if o == nil || w.Severity != o.Severity {
		return o == nil || w.Severity > o.Severity
	}
	switch w.Severity {
	case taskFailed:
		return w.Node < o.Node || w.Node == o.Node && w.Place < o.Place
	case interrupted:
		return w.Rank < o.Rank
	}
	return false // the first death that was noticed; those after it may be its consequences
}

// task is w as a failure of a task.
func (w *failure) task() *local.TaskFailure {
	var err error = &op.Failure{Code: w.Code, Msg: w.Msg, Help: w.Help, At: w.At}
	if w.Bug {
		err = errors.New(w.Msg)
	}
	return &local.TaskFailure{Node: ir.ID(w.Node), Rank: w.Rank, Err: err, Within: w.Within, Unsettled: w.Unsettled}
}

// public is w for the caller.
func (w *failure) public() *Failure {
	switch w.Severity {
	case taskFailed:
		return &Failure{Code: w.Code, Err: w.task(), Clean: true}
	case interrupted:
		return &Failure{Err: &InterruptError{Rank: w.Rank}, Clean: true}
	case rankDied:
		f := &Failure{Code: "E702", Err: &DeathError{w.Rank, w.Where, w.Last, ofKernel.suspected()}}
		if w.Rank == 0 {
			f.Speaker = 1
		}
		return f
	}
	return &Failure{Code: "E705", Err: errors.New(w.Msg)}
}
