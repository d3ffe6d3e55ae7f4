package schedule

import "math/bits"

// This file searches for a block to steal from in a simulation. A thief of P workers looks at up to
// P blocks, so a loop of 10^5 workers ends with 10^10 looks: they are counted, and not made.

// pace is after how many looks a simulation continues with other workers. Each further search of
// the same thief in vain has twice as many, so that it takes few events.
const pace = 8

// search is choose with up to own.pace looks. It skips blocks that have been found empty since they
// were last filled.
func (b *blocks) search(own *ownBlock, worker int) (victim, units int, old Block) {
	own.pace = max(own.pace, pace)
	victim, found, others := -1, 0, len(b.own)-1
	for looks := 0; own.empty < others && found < b.choices && (found == 0 || looks < others); {
		if looks >= own.pace {
			if own.again = found == 0; own.again {
				own.pace *= 2
			}
			return victim, units, old
		}
		v := own.victim
		if next := b.filled.from(v); next != v {
			if next < 0 {
				next = len(b.own)
			}
			skipped := min(next-v, own.pace-looks)
			if own.victim = v + skipped; own.victim == len(b.own) {
				own.victim = 0
			}
			if v <= worker && worker < v+skipped {
				skipped--
			}
			looks += skipped
			own.looked += skipped
			if found == 0 {
				own.empty = min(own.empty+skipped, others)
			}
			continue
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
			if now == 0 {
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

// bitset is a set of numbers below a bound. Bit i of a level says whether word i of the level before
// has a bit.
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
