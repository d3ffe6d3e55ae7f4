// Package transport moves bytes between the ranks of one distributed run.
//
// Comm is one rank's end of a group of ranks. The engine in runtime/dist is
// written against it alone; the backends are
//
//	transport/mem   goroutines in one process, with injected faults
//	transport/mpi   cgo on any MPI, built with -tags mpi
//
// and transport/transporttest holds the one conformance suite that all must pass.
//
// # Contract
//
// Nothing in Comm waits except Barrier and Close. Isend and Irecv start a
// transfer and return a Request; Testsome drives progress and tells which
// requests have finished. Between two calls of Testsome (or TryRecv) a rank
// need not make any progress at all: a rank that computes for a second without
// calling in may hold up its peers for a second.
//
//   - Order: messages with the same (source, destination, channel, tag) are
//     received in the order of their Isend calls. Nothing is promised across
//     tags, sources or channels.
//   - Buffers: no copy is made of them. From Isend to completion a send buffer
//     must not change, from Irecv to completion a receive buffer must not be read
//     or written. The backend keeps both alive (and pins Go memory). The slices
//     must not hold Go pointers: []byte views of []float64, []int32, ... are fine.
//     A placed receive has no buffer until its message is there.
//   - Sizes: a receive states the exact size. A message of another size fails
//     the receive with a SizeError that names both; the buffer's content is then
//     undefined. The sender may have completed without an error. IrecvSome states
//     the largest size and learns the size of the message.
//   - Completion of a send says that its buffer may be reused, not that the
//     message has arrived. A send that is larger than a backend's eager limit
//     finishes only after the receiver has posted the receive, so never wait for a
//     send before posting the receives that the peer's own sends depend on.
//   - Failure: a request that fails is finished: Testsome lists it in done and
//     returns an error that holds one *Error for it. After any error the run is
//     expected to end; only mem promises that the other requests go on.
//   - Concurrency: every method may be called from any goroutine, also at the
//     same time. One Request must not be in two Testsome calls at once.
//   - The ends of two Comms meet only if all ranks opened them in the same order.
//
// Loops that wait use Backoff, so that an idle rank costs no core; WaitAll is the
// loop for code that has nothing else to do.
package transport
