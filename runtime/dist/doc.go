// Package dist runs one plan on many ranks that do not share memory.
//
// Every rank has the same plan and runs its own tasks on a local.Engine; values move along exchange
// nodes. There is no coordinator: the plan tells each rank what to send to whom, and in which
// order.
//
//	plan --routes--> who sends which exchange to whom, down a tree; messages are numbered by pair of ranks
//	     --local.Engine--> tasks of this rank --Produced--> Isend, right in the worker
//	                                ^
//	       Irecv, posted ahead -----+-- Deliver, from whoever polls: a worker between tasks or without any, or Run's goroutine
//
// Nodes that all ranks run (plan.Everywhere) need no exchange. Where ranks share the rows of one, a
// gather brings them together: see gather.go.
//
// Invariants:
//
//   - Nothing blocks inside the transport. Between polls Run's goroutine sleeps, up to a
//     millisecond when nothing happens.
//   - Control (handshake, failure, heartbeats, the end) has the transport's Control channel to
//     itself.
//   - A run ends on every rank with the same outcome, or the missing rank is named.
//   - After a clean end, also of a failure, no request is left: the Comm serves the next run.
//
// Start at Run. options.go has what a run is asked to do, rank.go what a rank remembers, and message.go
// what ranks tell each other. Note [Receives cannot deadlock] in progress.go and Note [Ending together]
// in end.go explain protocols that no single function shows. The package does not know operators or how
// plans are made.
package dist
