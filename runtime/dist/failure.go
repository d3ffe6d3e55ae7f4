package dist

// This file defines the failures of a run, for the caller and for messages between ranks.

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// Failure says how a run failed. It is the same on every living rank.
type Failure struct {
	// Code is a code of the diagnostics table; "" for an interruption.
	Code string
	// Err is a *local.TaskFailure, *DeathError, *MismatchError, *InterruptError, or the
	// transport's error.
	Err error
	// Clean: no request is left, so the Comm can be closed or reused. Otherwise the caller
	// should print its messages and then Abort.
	Clean bool
	// Speaker is the rank that should print it: 0 unless 0 is dead.
	Speaker int
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Message returns the failure as users read it, with the place in the program if a task failed.
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
	Last  string // its last known activity, if any
	// Killed says that the kernel may have killed it for lack of memory, or is empty.
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

// MismatchError says what differs between ranks and must not.
type MismatchError struct {
	Msg   string
	Files bool // it is about a file that ranks read
}

func (e *MismatchError) Error() string { return e.Msg }

// InterruptError says that a rank was told to stop. Cause is its context's, on that rank only.
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
	Depth     int   // of a task: local.TaskFailure's
	Place     int64 // of a task: orders the failures of one node, all on one rank
	Act       int32 // of a task: local.TaskFailure's
	Unsettled bool  // of a task: local.TaskFailure's
	Rank      int   // where the task failed, or who was interrupted or died
	Bug       bool  // a bug in Flow, without an *op.Failure for Code and Help: of a task, or of the engine
	Code      string
	Msg       string
	Help      string
	At        op.Place
	Where     string // of a death
	Last      string
}

func failureOf(f *local.TaskFailure) *failure {
	w := &failure{Severity: taskFailed, Node: int32(f.Node), Within: f.Within, Depth: f.Depth, Place: f.Place(), Act: int32(f.Act), Rank: f.Rank, Bug: true, Code: "B001", Msg: f.Err.Error()}
	var u *op.Failure
	if errors.As(f.Err, &u) {
		w.Bug, w.Code, w.Msg, w.Help, w.At = false, u.Code, u.Msg, u.Help, u.At
	}
	return w
}

// failureOfTransport returns a death if the transport knows of one.
func failureOfTransport(err error) *failure {
	var d *transport.DeadError
	if errors.As(err, &d) {
		return &failure{Severity: rankDied, Rank: d.Rank}
	}
	return &failure{Severity: transportFailed, Msg: err.Error()}
}

// before reports whether w takes precedence over o.
func (w *failure) before(o *failure) bool {
	if o == nil || w.Severity != o.Severity {
		return o == nil || w.Severity > o.Severity
	}
	switch w.Severity {
	case taskFailed:
		if w.Node != o.Node {
			return w.Node < o.Node
		}
		if c := compareRounds(w.Within[:w.Depth], o.Within[:o.Depth]); c != 0 {
			return c < 0
		}
		// Ranks share the rows of one node in their order: the first rank has the first rows.
		return cmp.Or(cmp.Compare(w.Place, o.Place), cmp.Compare(w.Act, o.Act), cmp.Compare(w.Rank, o.Rank)) < 0
	case interrupted:
		return w.Rank < o.Rank
	}
	return false // the first death noticed; later ones may be its consequences
}

// compareRounds orders two places in one loop by the rounds in which they are, as far as they are
// in the same loops; places in one round are 0.
func compareRounds(a, b []ir.Step) int {
	for k := range min(len(a), len(b)) {
		if a[k].Round != b[k].Round {
			return cmp.Compare(a[k].Round, b[k].Round)
		}
		if a[k].Region != b[k].Region || a[k].Node != b[k].Node {
			break
		}
	}
	return 0
}

// task is w as a failure of a task.
func (w *failure) task() *local.TaskFailure {
	var err error = &op.Failure{Code: w.Code, Msg: w.Msg, Help: w.Help, At: w.At}
	if w.Bug {
		err = errors.New(w.Msg)
	}
	return &local.TaskFailure{Node: ir.ID(w.Node), Rank: w.Rank, Err: err, Within: w.Within, Depth: w.Depth, Act: ir.ID(w.Act), Unsettled: w.Unsettled}
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
	if w.Bug {
		return &Failure{Code: w.Code, Err: errors.New(w.Msg)}
	}
	return &Failure{Code: "E705", Err: errors.New(w.Msg)}
}
