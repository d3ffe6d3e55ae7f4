package schedule

import "sync/atomic"

// This file defines Block, a range that its owner takes from the front and thieves from the back,
// in one word: each change is one compare-and-swap, in a process's memory or in a window of MPI.

// maxUnits is the most units of a packed range.
const maxUnits = 1<<31 - 1

// Block is a packed range of units lo..hi; the zero Block is empty.
type Block uint64

// makeBlock packs 0 <= lo <= hi < 2^31. All empty blocks are equal.
func makeBlock(lo, hi int) Block {
	if lo >= hi {
		return 0
	}
	return Block(uint64(lo)<<32 | uint64(hi))
}

// Bounds returns lo and hi.
func (b Block) Bounds() (lo, hi int) { return int(b >> 32), int(b & (1<<32 - 1)) }

// Front takes k units off the front.
func (b Block) Front(k int) (taken, rest Block) {
	lo, hi := b.Bounds()
	return makeBlock(lo, lo+k), makeBlock(lo+k, hi)
}

// Back takes k units off the back.
func (b Block) Back(k int) (taken, rest Block) {
	lo, hi := b.Bounds()
	return makeBlock(hi-k, hi), makeBlock(lo, hi-k)
}

// blocks are the blocks of all workers.
type blocks struct {
	amount  func(lo, hi int) int // units that a thief takes; 0: nothing in the block to take
	choices int                  // from how many blocks a thief chooses the largest
	own     []ownBlock
	filled  *bitset // of a simulation: every nonempty block is in it; nil: none is kept
}

type ownBlock struct {
	word atomic.Uint64
	// where the owner looks next, at first where it stole last; only the owner reads these
	victim int
	empty  int // consecutive empty blocks that it found
	touched
	stolen bool // the block was another's
	pace   int  // in a simulation: how many looks its next search has; 0: pace
	_      [56]byte
}

// touched is how a worker's claims used other cache lines since a simulation asked last.
type touched struct {
	shared int  // claims from counters that all share
	looked int  // looks into blocks of others
	robbed int  // 1 + the last victim; 0: none
	again  bool // nothing was found yet
}

// empty empties all.
func (b *blocks) empty() {
	for i := range b.own {
		b.own[i].word.Store(0)
		own := &b.own[i]
		own.victim, own.empty, own.touched, own.stolen, own.pace = (i+1)%len(b.own), 0, touched{}, false, 0
	}
	if b.filled != nil {
		b.filled.clear()
	}
}

// give sets the block of a worker whose block is empty. Only the owner fills a block, and thieves
// leave empty ones alone, so a plain store loses nothing.
func (b *blocks) give(worker int, got Block) {
	b.own[worker].word.Store(uint64(got))
	if b.filled != nil {
		b.filled.add(worker)
	}
}

// steal fills the worker's empty block from another's: the largest of the first few nonempty ones,
// counted from the last victim. It returns false if all blocks were empty when it looked; units
// that another thief holds are that thief's. In a simulation it also gives up for now after some
// looks, and sets touched.again.
//
// A word that changed and returned to its old value is no danger: the word is the whole state of a
// block.
func (b *blocks) steal(worker int) bool {
	own := &b.own[worker]
	for {
		victim, units, old := -1, 0, Block(0)
		if b.filled == nil {
			victim, units, old = b.choose(own, worker)
		} else {
			victim, units, old = b.search(own, worker)
		}
		if victim < 0 {
			return false
		}
		taken, rest := old.Back(units)
		if b.own[victim].word.CompareAndSwap(uint64(old), uint64(rest)) {
			own.victim, own.empty, own.robbed, own.stolen = victim, 0, victim+1, true
			b.give(worker, taken)
			return true
		}
	}
}

// choose returns the block to steal from, as read, and how many units to take; -1 if there is none.
func (b *blocks) choose(own *ownBlock, worker int) (victim, units int, old Block) {
	victim, found := -1, 0
	for looks := 0; own.empty < len(b.own)-1 && found < b.choices; {
		v := own.victim
		if v != worker {
			looks++
			own.looked++
			now := Block(b.own[v].word.Load())
			if k := b.amountOf(now); k > 0 {
				found++
				if k > units {
					victim, units, old = v, k, now
				}
			} else if found == 0 {
				own.empty++
			}
		}
		if own.victim++; own.victim == len(b.own) {
			own.victim = 0
		}
		if found > 0 && looks >= len(b.own)-1 {
			break
		}
	}
	return victim, units, old
}

// amountOf returns what a thief takes of a block.
func (b *blocks) amountOf(x Block) int {
	if lo, hi := x.Bounds(); lo < hi {
		return b.amount(lo, hi)
	}
	return 0
}
