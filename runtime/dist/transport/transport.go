package transport

import "context"

// Channel separates kinds of traffic: a message is only ever received on the
// channel that it was sent on.
type Channel uint8

const (
	// Data carries payloads of sizes that the receiver knows. It is received with
	// Irecv only.
	Data Channel = iota
	// Control carries short messages of unknown size (failure, heartbeat, steal,
	// stop). It is received with TryRecv only.
	Control
	// NumChannels is the number of channels.
	NumChannels
)

// String names the channel as error messages do.
func (ch Channel) String() string {
	switch ch {
	case Data:
		return "data"
	case Control:
		return "control"
	}
	return "invalid channel"
}

// Request stands for one transfer in progress. It is a plain value that belongs
// to the Comm which made it; the zero Request (None) stands for no transfer.
type Request uint64

// None is the request of no transfer. Testsome skips it.
const None Request = 0

// Message is a message taken by TryRecv. The caller owns Payload.
type Message struct {
	Src, Tag int
	Payload  []byte
}

// Comm is one rank's end of a group of ranks; see the package comment for the
// contract that every backend keeps.
type Comm interface {
	// Rank is this rank's number, 0 <= Rank < Size.
	Rank() int
	// Size is the number of ranks, dead ones included.
	Size() int
	// MaxTag is the largest tag, inclusive. At least 32767. The caller reduces
	// its tags modulo MaxTag+1.
	MaxTag() int

	// Isend starts to send buf to dst, which may be this rank itself. A wrong
	// argument gives a request that Testsome reports as failed. Never waits.
	Isend(ch Channel, dst, tag int, buf []byte) Request
	// Irecv posts a receive of exactly len(buf) bytes from src. ch is Data; another
	// fails with ErrChannel. Never waits.
	Irecv(ch Channel, src, tag int, buf []byte) Request
	// IrecvPlaced posts a receive of exactly n bytes from src on Data whose memory is asked for
	// when the message is there, so that what is posted long before costs none. Testsome, and
	// nobody else, then calls place: it returns n bytes, or nil to be asked again by a later
	// Testsome; until then the message waits. place must not call the Comm. Never waits.
	IrecvPlaced(src, tag, n int, place func() []byte) Request
	// IsendSome is Isend on Data to an IrecvSome. buf has at least one byte. Never waits.
	IsendSome(dst, tag int, buf []byte) Request
	// IrecvSome posts a receive of the bytes that an IsendSome of src sends: at least one, at most
	// len(buf).
	// *got is their number when Testsome lists the request. A longer message is a SizeError. Never waits.
	IrecvSome(src, tag int, buf []byte, got *int) Request
	// TryRecv takes the next waiting message of a channel, of any source, tag and
	// size; ok is false if there is none. ch is Control; another is ErrChannel.
	TryRecv(ch Channel) (m Message, ok bool, err error)
	// Testsome drives progress without waiting, appends to done the indices of
	// the requests that have finished since, and sets those entries of reqs to
	// None. Finished includes failed: the error then holds one *Error per failed
	// request (errors.Join; its Index is the index into reqs). It may finish
	// nothing although something could, when another goroutine is inside.
	Testsome(reqs []Request, done []int) ([]int, error)

	// Barrier waits until every rank has called it, or until ctx ends. After an
	// error the Comm must not be used for another Barrier. One at a time.
	Barrier(ctx context.Context) error
	// Dead lists, ascending, the ranks that the backend itself knows to be dead.
	// A backend that cannot know (mpi: the launcher kills the job) returns nil.
	Dead() []int
	// Abort ends every rank of the job at once with the exit code, without any
	// clean-up. Under mpi it does not return; under mem, where ranks are
	// goroutines, everything pending and later fails with ErrAborted.
	Abort(code int)
	// Close ends this rank's part. All its requests must be finished; no method
	// but Rank and Size may follow. It may wait for the other ranks' Close.
	Close() error
}

// CounterMaker is implemented by a Comm that offers shared counters, which
// coordinator-free self-scheduling claims its chunks from.
type CounterMaker interface {
	// NewCounters makes n counters, all zero, that live on rank owner. It is
	// collective: every rank calls it, in the same order, and it waits for them.
	NewCounters(ctx context.Context, owner, n int) (Counters, error)
}

// Counters are int64 counters shared by all ranks. The methods are atomic across ranks and may be
// called from any goroutine. They wait for the owner's answer, which takes well under a microsecond
// on one node; across nodes without hardware atomics it comes only while the owner drives progress.
type Counters interface {
	// FetchAdd adds delta to counter i and returns the value before.
	FetchAdd(i int, delta int64) (int64, error)
	// Free releases the counters. Collective.
	Free() error
}
