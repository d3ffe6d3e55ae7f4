package op

import (
	"time"

	"flow/ir/types"
)

// Loop lets several workers run a kernel: a loop over an index space in chunks, claimed under any
// self-scheduling technique.
//
// No bit of the result may depend on the chunks, their order or the workers. So an iteration writes
// only its own elements, or adds to an accumulator whose order does not matter (an exact sum, a
// maximum, a count).
type Loop struct {
	// Space returns the index space of a call: n iterations, in leaves. A chunk begins at a
	// multiple of leaf and ends at one or at n. Both depend only on types and attributes. n =
	// 0: the call is no loop and Kernel runs it.
	Space func(c *Call) (n, leaf int)
	// Group returns how many iterations are computed together. A chunk of fewer, or with a
	// remainder, takes longer than its share. A loop with many groups a worker is cut between
	// groups. least: one iteration takes as long as so many, so others are cut between those. nil: 1.
	Group func(c *Call) (iterations, least int)
	// Points: leaves are for speed only, so a chunk may begin and end at any iteration. A
	// technique that claims one iteration gets one.
	Points bool
	// Takes reports whether a call of known shapes has a nonempty Space, for a row whose other
	// calls are cut into blocks. nil means every call with dense operands does.
	Takes func(s *Sig, out types.Type) bool
	// Rows returns the number of rows of what a call makes or reduces, if its iterations go over
	// them in order, the same number of iterations each row, and an iteration reads nothing that
	// another one makes: ranks may share the rows then. 0: they may not. nil: they never may.
	Rows func(s *Sig, out types.Type) int
	// RowsEach says which rows of an operand are read, where operands are read row by row: the k-th run of
	// so many iterations reads the k-th run of so many rows, and nothing else in an execution reads these
	// rows. So no other rows need be there. A chunk may begin and end with any such run. Operands need not
	// have elements. The loop has one pass. 0, or nil: other rows are read.
	RowsEach func(c *Call) (rows, iterations int)
	// Early: a chunk may begin and end with any row of the result, and completes its rows, unless the
	// loop is Incomplete in the end.
	Early bool
	// Own: where ranks share the rows, each rank runs the whole loop for its own rows (Call.Lo and Hi).
	Own bool
	// Light: a leaf takes some microseconds, so a loop of few leaves is not shared.
	Light bool
	// Team: each iteration is one worker, which takes part in the call until Chunk returns. There is one
	// for each processor. Workers claim them one by one under any technique, and reports leave them out.
	// Space returns 0 for a call that is not worth several workers. A call on ranks is never a loop.
	Team bool
	// Begin prepares one execution. Dense results are lent already. Workers are numbered
	// 0..workers-1.
	Begin func(c *Call, workers int) (LoopBody, error)
}

// LoopBody is one execution of a loop.
type LoopBody interface {
	// Chunk runs iterations lo..hi-1. Several workers call it at once, each with its own
	// number. Each iteration runs once. It must not allocate.
	Chunk(worker, lo, hi int) error
	// End is called once, after the last chunk, and completes the result in the call.
	End() error
}

// Waits is a LoopBody of a Team whose workers wait for one another.
type Waits interface {
	// Waited returns how long a worker has waited. It is called once the worker's Chunk has returned.
	Waited(worker int) time.Duration
}

// Incomplete is a LoopBody of an Early loop whose chunks may have left rows to End.
type Incomplete interface {
	// Incomplete is called after the last chunk.
	Incomplete() bool
}

// Quits is a LoopBody that has files open, or memory outside of the Go heap.
type Quits interface {
	// Quit gives them back. It is called after the last chunk if the execution has failed, also in End.
	Quit()
}

// Quit ends an execution that has failed.
func Quit(b LoopBody) {
	if q, ok := b.(Quits); ok {
		q.Quit()
	}
}

// Alone runs all iterations of a call, pass after pass, on the calling worker. It is the Kernel of most
// rows with a loop. It fails as Begin and RunAll do.
func (l *Loop) Alone(c *Call) error {
	n, _ := l.Space(c)
	b, err := l.Begin(c, 1)
	if err != nil {
		return err
	}
	return RunAll(b, n)
}

// RunAll runs all passes of a body over n iterations on the calling worker, and then its End. It
// returns the first error.
func RunAll(b LoopBody, n int) (err error) {
	defer func() {
		if err != nil {
			Quit(b)
		}
	}()
	p, passes := b.(Passes)
	for again := n > 0; again; {
		if err := b.Chunk(0, 0, n); err != nil {
			return err
		}
		if again = passes; passes {
			if again, err = p.Next(); err != nil {
				return err
			}
		}
	}
	return b.End()
}

// Passes is a LoopBody that goes over its index space several times, for example to count and then
// to fill. A pass begins after all iterations of the one before.
type Passes interface {
	LoopBody
	// Next is called by one worker after every pass. again: another pass follows.
	Next() (again bool, err error)
}

// RowsOfResult is a Loop.Rows: an iteration, or several, for each row of the result.
func RowsOfResult(_ *Sig, out types.Type) int { return out.Rows }
