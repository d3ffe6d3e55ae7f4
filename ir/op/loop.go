package op

import "flow/ir/types"

// Loop says how a kernel is run by several workers at once: as a loop over an index space of which the workers
// take chunks, claimed under whatever self-scheduling technique the run asks for.
//
// The result may not depend, in any bit, on the chunks, their order or who ran them. So an iteration writes what belongs
// to it alone, or adds to an accumulator for which order does not matter (an exact sum, a maximum, a count).
type Loop struct {
	// Space is the index space of a call: n iterations, and how many of them are a leaf. A chunk begins at a multiple of
	// leaf and ends at one or at n; both are functions of the types and attributes alone. n is 0 for a call that is no
	// loop: Kernel runs it.
	Space func(c *Call) (n, leaf int)
	// Group is how many leaves are computed together, if it is more than one: a chunk of fewer, or of some beyond a multiple, takes longer than its part of them.
	// A loop that has many groups for each worker is cut between groups. nil: 1. A function of the types and attributes alone.
	Group func(c *Call) int
	// Points says that a leaf is for speed alone: a chunk may begin and end at any iteration. A technique that claims one at a time gets
	// one then.
	Points bool
	// Takes says of which calls, whose shapes are known, Space is not empty, for a row whose other calls are cut into blocks;
	// nil: where its operands are dense, of all.
	Takes func(s *Sig, out types.Type) bool
	// Light says that a leaf takes some microseconds: a loop of few leaves is not worth sharing.
	Light bool
	// Begin prepares one execution; dense results are lent already. Chunks are numbered by workers 0..workers-1.
	Begin func(c *Call, workers int) (LoopBody, error)
}

// LoopBody is one execution of a loop.
type LoopBody interface {
	// Chunk runs iterations lo..hi-1. Several workers are in it at once, each under its own number; each iteration is
	// run once. It must not allocate.
	Chunk(worker, lo, hi int) error
	// End is called once, after the last chunk of all workers, and completes the result in the call.
	End() error
}

// Passes is a LoopBody that goes over its index space several times: to count before it fills, or to sum up what has been counted. All
// iterations of a pass have been run before one of the next begins.
type Passes interface {
	LoopBody
	// Next is called by one worker after every pass, and says whether another follows.
	Next() (again bool, err error)
}
