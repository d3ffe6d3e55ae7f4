package local

import (
	"math/bits"

	"flow/ir/plan"
)

// This file defines addressSet, the set of the lent buffers of a class. Each task launch asks it
// twice, and a Go map takes five times as many instructions.

// addressSet is a set of addresses, nonzero multiples of plan.SizeAlign: open addressing with linear
// probing, where deletion moves entries back (D. Knuth, The Art of Computer Programming 3, 6.4,
// algorithm R). The zero value is empty.
type addressSet struct {
	slots []uintptr // 0: empty; as many as a power of two
	n     int       // of them taken
	shift uint8     // 64 - log2(len(slots))
}

// place returns the slot where the search for an address begins: the upper bits of its product with
// 2^64 over the golden ratio.
func (s *addressSet) place(a uintptr) int {
	return int(uint64(a/plan.SizeAlign) * 0x9e3779b97f4a7c15 >> s.shift)
}

// add adds an address that is not in the set.
func (s *addressSet) add(a uintptr) {
	if 4*s.n >= 3*len(s.slots) {
		s.grow()
	}
	i := s.place(a)
	for s.slots[i] != 0 {
		i = (i + 1) & (len(s.slots) - 1)
	}
	s.slots[i] = a
	s.n++
}

// grow doubles the room.
func (s *addressSet) grow() {
	old := s.slots
	s.slots = make([]uintptr, max(8, 2*len(old)))
	s.shift = uint8(64 - bits.TrailingZeros(uint(len(s.slots))))
	s.n = 0
	for _, a := range old {
		if a != 0 {
			s.add(a)
		}
	}
}

// remove removes an address. It returns false if it is not in the set.
func (s *addressSet) remove(a uintptr) bool {
	if s.n == 0 {
		return false
	}
	last := len(s.slots) - 1
	i := s.place(a)
	for s.slots[i] != a {
		if s.slots[i] == 0 {
			return false
		}
		i = (i + 1) & last
	}
	// An entry after the gap, up to the next one, moves into it if its search begins at or
	// before the gap.
	for k := (i + 1) & last; s.slots[k] != 0; k = (k + 1) & last {
		if way := (k - s.place(s.slots[k])) & last; way >= (k-i)&last {
			s.slots[i] = s.slots[k]
			i = k
		}
	}
	s.slots[i] = 0
	s.n--
	return true
}
