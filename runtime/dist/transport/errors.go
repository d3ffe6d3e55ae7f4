package transport

import (
	"errors"
	"fmt"
)

// Causes that Error.Err can hold, for errors.Is.
var (
	// ErrAborted: some rank has called Abort.
	ErrAborted = errors.New("the job was aborted")
	// ErrClosed: the Comm was used after Close.
	ErrClosed = errors.New("the transport is closed")
	// ErrLost: the network has lost the message and noticed it.
	ErrLost = errors.New("the message was lost")
	// ErrChannel: Irecv on the control channel or TryRecv on the data channel.
	ErrChannel = errors.New("data is received with Irecv, control with TryRecv")
	// ErrTooLong: a control message above the backend's limit, a megabyte at least.
	ErrTooLong = errors.New("the control message is too long")
	// ErrUnknownRequest: a Request that is no longer, or never was, this Comm's.
	ErrUnknownRequest = errors.New("unknown request")
)

// Error says which operation failed, with whom and why.
type Error struct {
	Op      string // "send", "receive", "probe", "barrier", "counter", "test", "close"
	Rank    int    // the rank that reports
	Peer    int    // the other rank; -1 if none
	Tag     int    // -1 if none
	Channel Channel
	Index   int // position in Testsome's reqs; -1 elsewhere
	Err     error
}

// Error reads as "rank 1: receive from rank 0 (data, tag 7): cause".
func (e *Error) Error() string {
	s := fmt.Sprintf("rank %d: %s", e.Rank, e.Op)
	if e.Peer >= 0 {
		prep := "with"
		switch e.Op {
		case "send":
			prep = "to"
		case "receive":
			prep = "from"
		}
		s += fmt.Sprintf(" %s rank %d", prep, e.Peer)
	}
	if e.Tag >= 0 {
		s += fmt.Sprintf(" (%v, tag %d)", e.Channel, e.Tag)
	}
	return s + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// SizeError says that a message was not as long as its receive expected.
type SizeError struct {
	Want, Got uint64 // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("expected a message of %d bytes, got one of %d bytes", e.Want, e.Got)
}

// DeadError says that a rank is dead.
type DeadError struct{ Rank int }

func (e *DeadError) Error() string { return fmt.Sprintf("rank %d is dead", e.Rank) }

// ArgumentError says that an argument was out of its range, [0, Limit).
type ArgumentError struct {
	Name  string // "rank", "tag", "channel"
	Value int
	Limit int
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s %d is not in [0, %d)", e.Name, e.Value, e.Limit)
}

// CheckArguments returns nil or the ArgumentError of a send's or receive's
// arguments. It is for backends, so that all refuse the same calls alike.
func CheckArguments(c Comm, ch Channel, peer, tag int) error {
	switch {
	case ch >= NumChannels:
		return &ArgumentError{"channel", int(ch), int(NumChannels)}
	case peer < 0 || peer >= c.Size():
		return &ArgumentError{"rank", peer, c.Size()}
	case tag < 0 || tag > c.MaxTag():
		return &ArgumentError{"tag", tag, c.MaxTag() + 1}
	}
	return nil
}

// Failures returns the *Error values inside an error of Testsome, one per failed
// request, in order. It returns nil for nil.
func Failures(err error) []*Error {
	if err == nil {
		return nil
	}
	var one *Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*Error
		for _, e := range joined.Unwrap() {
			all = append(all, Failures(e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*Error{one}
	}
	return nil
}
