// Package dist runs one plan on many ranks that do not share memory.
//
// Every rank has the same plan and runs the tasks that it owns on a local.Engine; values move along exchange nodes. There
// is no coordinator: from the plan alone each rank knows whom to send what, and in which order.
//
//	plan --routes--> who sends which exchange to whom, down a tree; every message has a number in its pair of ranks
//	     --local.Engine--> tasks of this rank --Produced--> Isend, right in the worker
//	                                ^
//	       Irecv, posted ahead -----+-- Deliver, from whoever polls: a worker between tasks or without any, or Run's goroutine
//
// Invariants:
//
//   - Nothing blocks inside the transport. Between polls Run's goroutine naps, up to a millisecond when nothing happens.
//   - Control (handshake, failure, heartbeats, the end) never meets data: it has the transport's Control channel.
//   - A run ends on every rank with the same outcome, or the rank that is missing is named.
//   - After a clean end, also a failure's, no request is left: the Comm serves the next run.
//
// Start reading at Run; Note [Receives cannot deadlock] in progress.go and Note [Ending together] in end.go carry the
// arguments that are not local to a function. The package refuses to know operators and how plans are made.
package dist
