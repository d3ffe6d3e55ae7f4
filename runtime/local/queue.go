package local

// This file defines queue, the ready tasks of one worker: a stack per priority class, threaded
// through one link array that all queues of a run share. A task is in at most one queue, so a queue
// needs no memory of its own, and stealing many tasks moves none.

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// cacheLine is twice the line of current processors, because the adjacent-line prefetcher of x86
// pairs them.
const cacheLine = 128

// queue is a set of ready tasks ordered by class, last in first out within a class. Its spin lock
// is held for some tens of nanoseconds (about a microsecond for a batch), never over a call of
// foreign code.
type queue struct {
	_ [cacheLine]byte
	// 1 + class of the best task, 0 if empty; exact under the lock, else a hint
	best atomic.Int32
	_    [cacheLine - 4]byte
	lock atomic.Int32
	link []int32 // link[t] is the task below t, -1 at the end; shared by the queues of a run
	sum  uint64  // bit i: words[i] is not zero
	// bit c%64 of words[c/64]: class c is not empty, and only then head[c] is valid
	words [classes / 64]uint64
	head  [classes]int32
	_     [cacheLine]byte
}

// acquire takes the lock. It yields if the holder seems to be descheduled.
func (q *queue) acquire() {
	for spins := 0; !q.lock.CompareAndSwap(0, 1); {
		for q.lock.Load() != 0 {
			if spins++; spins > 2000 {
				runtime.Gosched()
				spins = 0
			}
		}
	}
}

// release publishes the best class and unlocks.
func (q *queue) release() {
	b := int32(0)
	if q.sum != 0 {
		b = int32(q.top()) + 1
	}
	if q.best.Load() != b {
		q.best.Store(b)
	}
	q.lock.Store(0)
}

// top returns the best non-empty class. The lock is held and the queue is not empty.
func (q *queue) top() int {
	i := 63 - bits.LeadingZeros64(q.sum)
	return i<<6 | (63 - bits.LeadingZeros64(q.words[i]))
}

// push puts the linked chain first..last on top of class c. The lock is held.
func (q *queue) push(first, last int32, c int) {
	i, bit := c>>6, uint64(1)<<(c&63)
	if q.words[i]&bit != 0 {
		q.link[last] = q.head[c]
	} else {
		q.link[last] = -1
		q.words[i] |= bit
		q.sum |= 1 << i
	}
	q.head[c] = first
}

// cut removes the chain from the head of class c down to last. The lock is held.
func (q *queue) cut(last int32, c int) {
	if below := q.link[last]; below >= 0 {
		q.head[c] = below
		return
	}
	i := c >> 6
	if q.words[i] &^= 1 << (c & 63); q.words[i] == 0 {
		q.sum &^= 1 << i
	}
}

// pop takes the best task, -1 if there is none.
func (q *queue) pop() int32 {
	if q.best.Load() == 0 {
		return -1
	}
	q.acquire()
	t := int32(-1)
	if q.sum != 0 {
		c := q.top()
		t = q.head[c]
		q.cut(t, c)
	}
	q.release()
	return t
}

// stealWindow bounds how much of a stack a thief looks at; it takes half of it. It is large enough
// to spread the cost of moving cache lines and small enough to keep the lock short.
const stealWindow = 64

// steal takes the upper half of the best class, at most limit tasks, as a chain of class c. first
// is -1 if there is none.
func (q *queue) steal(limit int) (first, last int32, c int) {
	q.acquire()
	if q.sum == 0 {
		q.release()
		return -1, -1, 0
	}
	c = q.top()
	first = q.head[c]
	last = first
	taken := 1
	for ahead, seen := q.link[first], 1; ahead >= 0 && seen < stealWindow && taken < limit; ahead = q.link[ahead] {
		if seen++; seen&1 == 1 {
			last = q.link[last]
			taken++
		}
	}
	q.cut(last, c)
	q.release()
	return first, last, c
}

// reset empties the queue for a new run. It must not be in use.
func (q *queue) reset(link []int32) {
	q.link = link
	q.sum = 0
	clear(q.words[:])
	q.best.Store(0)
}
