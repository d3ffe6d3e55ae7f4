package schedule

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// This file defines prefix, random access by step into a sequence that is defined by a recurrence. A non-adaptive
// sequence is a function of the params alone, so each process can replay it: no closed form needs to stand in for the
// published recurrence.

// at is where a recurrence stands.
type at struct {
	step      int // chunks handed out before
	remaining int // iterations not handed out, at least 1
	batch     int // step / P
	atBatch   int // remaining when the batch began
}

// prefix remembers where each chunk starts, as far as anyone has asked. Reading is one atomic load and no lock.
//
// It holds 8 bytes a chunk. That is a few kilobytes for published techniques (about P ln(N/P) chunks), and would be
// wrong for a technique of N chunks: those of one size are fixed. Only an expression can be worse, and TSS if it is
// told so; they end at maxKnown chunks.
type prefix struct {
	loop
	raw func(at) (int, error) // the proposal; must depend on nothing else

	// starts has one more element than chunks are known; the array behind it is only ever written beyond the length of
	// what was published.
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

// Chunk finds step i in the table, which it extends if nobody has come so far.
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

// extend computes the steps up to i, and as many again as are known, so that few calls come here.
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

// Err is the error of the recurrence.
func (t *prefix) Err() error {
	t.extending.Lock()
	defer t.extending.Unlock()
	return t.err
}
