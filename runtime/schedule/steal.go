package schedule

import "sync/atomic"

// This file defines Block, a range that its owner eats from the front and thieves from the back, in one word: each change is
// one compare-and-swap, of a process's memory or of a window of MPI.

// maxUnits is how many units a packed range can count.
const maxUnits = 1<<31 - 1

// Block is a packed range of units lo..hi; the zero Block is empty.
type Block uint64

// MakeBlock packs 0 <= lo <= hi < 2^31. Empty blocks are all the same.
func MakeBlock(lo, hi int) Block {
	if lo >= hi {
		return 0
	}
	return Block(uint64(lo)<<32 | uint64(hi))
}

// Bounds are lo and hi.
func (b Block) Bounds() (lo, hi int) { return int(b >> 32), int(b & (1<<32 - 1)) }

// Front takes k units off the front.
func (b Block) Front(k int) (taken, rest Block) {
	lo, hi := b.Bounds()
	return MakeBlock(lo, lo+k), MakeBlock(lo+k, hi)
}

// Back takes k units off the back.
func (b Block) Back(k int) (taken, rest Block) {
	lo, hi := b.Bounds()
	return MakeBlock(hi-k, hi), MakeBlock(lo, hi-k)
}

// blocks are the blocks of all workers.
type blocks struct {
	loot func(lo, hi int) int // units that a thief takes
	own  []ownBlock
}

type ownBlock struct {
	word   atomic.Uint64
	victim int // where the owner stole last; only the owner looks
	_      [112]byte
}

// empty empties all.
func (b *blocks) empty() {
	for i := range b.own {
		b.own[i].word.Store(0)
		b.own[i].victim = (i + 1) % len(b.own)
	}
}

// give makes got the block of a worker whose block is empty. Only the owner fills a block, and thieves leave empty ones alone, so a plain store loses nothing.
func (b *blocks) give(worker int, got Block) { b.own[worker].word.Store(uint64(got)) }

// steal fills the worker's empty block from another's, beginning with the last victim. It reports false if all blocks were empty when it looked: units that
// another thief has in hand are that thief's to do.
//
// A word that was changed and has come to be the same again is no danger: a word is all there is to know of a block.
func (b *blocks) steal(worker int) bool {
	own := &b.own[worker]
	for i := range b.own {
		v := own.victim + i
		if v >= len(b.own) {
			v -= len(b.own)
		}
		word := &b.own[v].word
		for v != worker {
			old := Block(word.Load())
			lo, hi := old.Bounds()
			if lo >= hi {
				break
			}
			taken, rest := old.Back(b.loot(lo, hi))
			if word.CompareAndSwap(uint64(old), uint64(rest)) {
				own.victim = v
				b.give(worker, taken)
				return true
			}
		}
	}
	return false
}
