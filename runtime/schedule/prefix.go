package schedule

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// This file defines prefix, random access by step into a sequence defined by a recurrence. A
// non-adaptive sequence depends only on the params, so each process can replay the published
// recurrence; no closed form is needed.

// at is a state of a recurrence.
type at struct {
	step      int // chunks handed out before
	remaining int // iterations not handed out, at least 1
	batch     int // step / P
	atBatch   int // remaining when the batch began
}

// prefix stores the start of each chunk up to the last one requested. Reading is one atomic load
// without a lock.
//
// It takes 8 bytes a chunk: a few kilobytes for published techniques (about P ln(N/P) chunks). It
// would be wrong for a technique of N chunks, but those of one size are fixed. Only an expression,
// or TSS with such parameters, can be worse; they end at maxKnown chunks.
type prefix struct {
	loop
	raw func(at) (int, error) // the proposal, a pure function

	// starts has one element more than known chunks. Its array is written only beyond the
	// published length.
	starts atomic.Pointer[[]int]

	most int // chunks

	extending sync.Mutex // guards what follows
	atBatch   int
	err       error
}

// maxKnown is half a gigabyte of chunks.
const maxKnown = 1 << 26

func newPrefix(p Params, raw func(at) int) *prefix {
	return newPrefixErr(p, func(a at) (int, error) { return raw(a), nil })
}

func newPrefixErr(p Params, raw func(at) (int, error)) *prefix {
	t := &prefix{loop: loop{p}, raw: raw, most: maxKnown}
	t.starts.Store(&[]int{0})
	return t
}

// Chunk finds step i in the table, which it extends if needed.
func (t *prefix) Chunk(i int) (start, size int, ok bool) {
	known := *t.starts.Load()
	if i+1 < len(known) {
		return known[i], known[i+1] - known[i], true
	}
	if known[len(known)-1] == t.N {
		return t.N, 0, false
	}
	return t.extend(i)
}

// extend computes the steps up to i, and as many again as are known, so that it is called rarely.
func (t *prefix) extend(i int) (start, size int, ok bool) {
	t.extending.Lock()
	defer t.extending.Unlock()
	known := *t.starts.Load()
	for want := max(i+2, 2*len(known), 64); len(known) < want && t.err == nil; {
		n := len(known) - 1
		r := t.N - known[n]
		if r == 0 {
			break
		}
		if n == t.most {
			t.err = fmt.Errorf("%d of %d iterations are left after %d chunks: no table of chunks is longer, so they must be larger", r, t.N, n)
			break
		}
		if n%t.P == 0 {
			t.atBatch = r
		}
		k, err := t.raw(at{step: n, remaining: r, batch: n / t.P, atBatch: t.atBatch})
		if err != nil {
			t.err = err
			break
		}
		known = append(known, known[n]+t.clip(k, r))
	}
	t.starts.Store(&known)
	if i+1 < len(known) {
		return known[i], known[i+1] - known[i], true
	}
	return known[len(known)-1], 0, false
}

// Err returns the error of the recurrence.
func (t *prefix) Err() error {
	t.extending.Lock()
	defer t.extending.Unlock()
	return t.err
}
