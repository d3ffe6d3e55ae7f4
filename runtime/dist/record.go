package dist

import "flow/runtime/trace"

// This file counts and records transfers.

// now returns the trace's clock, or 0: only traces need times of messages.
func (r *rank) now() int64 { return r.o.Trace.Communication().Now() }

// record adds a transfer that has ended to the trace.
func (r *rank) record(k trace.Kind, f *flight) {
	if t := r.o.Trace.Communication(); t != nil {
		t.Add(trace.Event{Kind: k, ID: int32(f.id), Peer: f.peer, Bytes: int64(len(f.buf)), Start: f.started, End: t.Now()})
	}
}

// countSent counts a message of this rank. read: it has what was read of a file.
func (r *rank) countSent(f *flight, read bool) {
	r.stats.MessagesSent++
	r.stats.BytesSent += int64(len(f.buf))
	if read {
		r.stats.ReadSent += int64(len(f.buf))
	}
}

// broken records that the transport has failed.
func (r *rank) broken(err error) {
	if r.bad == nil {
		r.bad = err
	}
}
