package schedule

import "sync/atomic"

// This file defines Block, a range that its owner eats from the front and thieves from the back, in one word:
// each change is one compare-and-swap, of a process's memory or of a window of MPI.

// maxUnits is how many units a packed range can count.
const maxUnits = 1<<31 - 1

// Block is a packed range of units lo..hi; the zero Block is empty.
type Block uint64

// makeBlock packs 0 <= lo <= hi < 2^31. Empty blocks are all the same.
func makeBlock(lo, hi int) Block {
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
	return makeBlock(lo, lo+k), makeBlock(lo+k, hi)
}

// Back takes k units off the back.
func (b Block) Back(k int) (taken, rest Block) {
	lo, hi := b.Bounds()
	return makeBlock(hi-k, hi), makeBlock(lo, hi-k)
}

// blocks are the blocks of all workers.
type blocks struct {
	loot    func(lo, hi int) int // units that a thief takes; 0: there is nothing in the block to take
	choices int                  // of how many blocks a thief takes the largest
	own     []ownBlock
	paced   bool // in a simulation: a thief that finds nothing for a while asks again
}

type ownBlock struct {
	word   atomic.Uint64
	victim int // where the owner looks next, to begin with where it stole last; these: only the owner looks
	empty  int // blocks that it found empty one after the other
	touched
	stolen bool // the block was another's
	_      [64]byte
}

// touched is what a worker's claims had to do beside its own block, since a simulation asked last.
type touched struct {
	shared int  // claims from counters that all share
	looked int  // looks into blocks of others
	robbed int  // of these, 1 + the last one from which something was taken; 0: none
	again  bool // nothing was found yet
}

// empty empties all.
func (b *blocks) empty() {
	for i := range b.own {
		b.own[i].word.Store(0)
		own := &b.own[i]
		own.victim, own.empty, own.touched, own.stolen = (i+1)%len(b.own), 0, touched{}, false
	}
}

// give makes got the block of a worker whose block is empty. Only the owner fills a block, and thieves leave
// empty ones alone, so a plain store loses nothing.
func (b *blocks) give(worker int, got Block) { b.own[worker].word.Store(uint64(got)) }

// steal fills the worker's empty block from another's: of the first few that are not empty, counted from the
// last victim, the largest. It reports false if all blocks were empty when it looked: units that another thief
// has in hand are that thief's to do. Where claims are paced it also gives up, for now, after some looks:
// touched.again says so.
//
// A word that was changed and has come to be the same again is no danger: a word is all there is to know of a block.
func (b *blocks) steal(worker int) bool {
	own := &b.own[worker]
	for {
		victim, units, old := b.choose(own, worker)
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

// choose is the block to rob, as it was, and how many units of it; -1 if there is none.
func (b *blocks) choose(own *ownBlock, worker int) (victim, units int, old Block) {
	victim, found := -1, 0
	for looks := 0; own.empty < len(b.own)-1 && found < b.choices; {
		if b.paced && looks == pace {
			own.again = found == 0
			return victim, units, old
		}
		v := own.victim
		if v != worker {
			looks++
			own.looked++
			now := Block(b.own[v].word.Load())
			if k := b.lootOf(now); k > 0 {
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

// pace is after how many looks a simulation goes on with other workers.
const pace = 8

// lootOf is what a thief takes of a block.
func (b *blocks) lootOf(x Block) int {
	if lo, hi := x.Bounds(); lo < hi {
		return b.loot(lo, hi)
	}
	return 0
}
