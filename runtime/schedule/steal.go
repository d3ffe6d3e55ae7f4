package schedule

import (
	"math"
	"math/bits"
	"sync/atomic"
)

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
		victim, units, old := b.search(own, worker)
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

// pace is the number of looks after which a simulation continues with other workers. It doubles with
// each search of the same thief that finds nothing, so that a thief takes few events.
const pace = 8

// search returns the block to steal from, as read, and how many units to take; -1 if there is none.
//
// Each of P thieves looks at up to P blocks, so a loop of 10^5 workers ends with 10^10 looks. A
// simulation therefore skips blocks that are known to be empty (skip): it counts these looks without
// making them. It also bounds the looks of a search by own.pace.
func (b *blocks) search(own *ownBlock, worker int) (victim, units int, old Block) {
	victim, found, others, most := -1, 0, len(b.own)-1, math.MaxInt
	if b.filled != nil {
		own.pace = max(own.pace, pace)
		most = own.pace
	}
	for looks := 0; own.empty < others && found < b.choices && (found == 0 || looks < others); {
		if looks >= most {
			if own.again = found == 0; own.again {
				own.pace *= 2
			}
			return victim, units, old
		}
		v := own.victim
		if b.filled != nil {
			if skipped, moved := b.skip(own, worker, most-looks); moved {
				looks += skipped
				if found == 0 {
					own.empty = min(own.empty+skipped, others)
				}
				continue
			}
		}
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
			if now == 0 && b.filled != nil {
				b.filled.remove(v)
			}
		}
		if own.victim++; own.victim == len(b.own) {
			own.victim = 0
		}
	}
	if found > 0 {
		own.pace = 0
	}
	return victim, units, old
}

// skip moves a simulated thief past at most `most` blocks that are known to be empty. It returns how
// many of these belong to other workers. moved is false if the thief is at a block that may have
// something.
func (b *blocks) skip(own *ownBlock, worker, most int) (skipped int, moved bool) {
	v := own.victim
	next := b.filled.from(v)
	if next == v {
		return 0, false
	}
	if next < 0 {
		next = len(b.own)
	}
	skipped = min(next-v, most)
	if own.victim = v + skipped; own.victim == len(b.own) {
		own.victim = 0
	}
	if v <= worker && worker < v+skipped {
		skipped--
	}
	own.looked += skipped
	return skipped, true
}

// amountOf returns what a thief takes of a block.
func (b *blocks) amountOf(x Block) int {
	if lo, hi := x.Bounds(); lo < hi {
		return b.amount(lo, hi)
	}
	return 0
}

// bitset is a set of numbers below a bound. Level 0 has a bit for each number. Bit i of a higher level
// says whether word i of the level below has a bit.
type bitset [][]uint64

func newBitset(n int) *bitset {
	var s bitset
	for more := true; more; more = n > 1 {
		n = (n + 63) / 64
		s = append(s, make([]uint64, n))
	}
	return &s
}

func (s *bitset) clear() {
	for _, level := range *s {
		clear(level)
	}
}

func (s *bitset) add(i int) {
	for _, level := range *s {
		level[i>>6] |= 1 << (i & 63)
		i >>= 6
	}
}

func (s *bitset) remove(i int) {
	for _, level := range *s {
		if level[i>>6] &^= 1 << (i & 63); level[i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// from returns the smallest number of the set from i on, or -1.
func (s *bitset) from(i int) int {
	for k, level := range *s {
		if i>>6 < len(level) {
			if word := level[i>>6] >> (i & 63); word != 0 {
				i += bits.TrailingZeros64(word)
				for ; k > 0; k-- {
					i = i<<6 + bits.TrailingZeros64((*s)[k-1][i])
				}
				return i
			}
		}
		i = i>>6 + 1
	}
	return -1
}
