package kernels

// This file sorts on several workers: a sample of the keys tells which ones separate classes of about equal size, each unit of elements
// is distributed among the classes, and the classes, which lie in order, are sorted one by one. Keys that are equal are of one class, and
// units come after each other in each, so equal keys keep their order; nothing depends on which worker did what.

import (
	"math/bits"
	"slices"

	"flow/ir/op"
	"flow/ir/value"
)

const (
	sortUnits  = 256     // units of elements, and classes of keys
	sortSample = 16      // keys of the sample a class
	sortLeast  = 1 << 15 // elements that are worth it
)

// sortSpace is the index space of sorting n elements.
func sortSpace(n int) (units, leaf int) {
	if n < sortLeast {
		return 0, 0
	}
	return sortUnits, 1
}

// keySort is one execution.
type keySort struct {
	x      *value.Dense // whose elements are sorted
	desc   bool
	places bool
	n      int
	phase  int                // 0: keys are made and classes counted; 1: keys are distributed; 2: classes are sorted; 3: what the row adds
	split  [sortUnits]uint64  // split[i] is the least key of class i+1; one more than there are, so that an index of eight bits needs no check
	count  [][sortUnits]int   // by unit and class; then where the unit's next key of the class goes
	begin  [sortUnits + 1]int // of each class
	class  []uint8
	key    []uint64 // in the order of the elements; room later
	sorted []uint64
	at     []int64 // the places of sorted; room beside it
	room   []int64
	// sortedClass is told about classes in order, elements lo..hi-1; more, if not nil, runs units once more.
	sortedClass func(class, lo, hi int)
	between     func() (more bool)
	more        func(unit int)
	end         func() error
}

func beginSort(x *value.Dense, desc, places bool) *keySort {
	n := x.Rows * x.Cols
	l := &keySort{x: x, desc: desc, places: places, n: n, count: make([][sortUnits]int, sortUnits), class: make([]uint8, n),
		key: make([]uint64, n), sorted: make([]uint64, n)}
	if places {
		l.at, l.room = make([]int64, n), make([]int64, n)
	}
	sample := make([]uint64, sortUnits*sortSample)
	for i := range sample {
		// Spread by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4), so that no period of the data meets it.
		at, _ := bits.Mul64(uint64(i+1)*0x9E3779B97F4A7C15, uint64(n))
		l.keys(sample[i:i+1], int(at))
	}
	slices.Sort(sample)
	for i := range l.split[:sortUnits-1] {
		l.split[i] = sample[(i+1)*sortSample]
	}
	return l
}

// keys makes keys those of the elements from number `from` on; of nan and of numbers in descending order.
func (l *keySort) keys(keys []uint64, from int) {
	elementKeys(keys, l.x, from)
	if l.desc {
		downwards(keys, l.x.Elem.IsFloat())
	}
}

// downwards turns keys round; nan stays last.
func downwards(keys []uint64, floats bool) {
	for i, k := range keys {
		if !floats || k != nanKey {
			keys[i] = ^k
		}
	}
}

// unit is where unit u of the elements begins.
func (l *keySort) unit(u int) int { return int(uint64(l.n) * uint64(u) / sortUnits) }

// Chunk runs units or classes lo..hi-1.
func (l *keySort) Chunk(_, lo, hi int) error {
	for u := lo; u < hi; u++ {
		switch l.phase {
		case 0:
			l.classify(u)
		case 1:
			l.distribute(u)
		case 2:
			l.sortClass(u)
		default:
			l.more(u)
		}
	}
	return nil
}

func (l *keySort) classify(u int) {
	from, to := l.unit(u), l.unit(u+1)
	keys, class, count := l.key[from:to], l.class[from:to], &l.count[u]
	l.keys(keys, from)
	for i, k := range keys {
		c := l.classOf(k)
		class[i] = c
		count[c]++
	}
}

// classOf is how many of the first 255 separators are not above k, found without a branch.
func (l *keySort) classOf(k uint64) uint8 {
	c := uint64(0)
	for step := uint64(sortUnits / 2); step > 0; step /= 2 {
		_, above := bits.Sub64(k, l.split[uint8(c+step-1)], 0) // 1 if the separator is above k
		c += step & (above - 1)
	}
	return uint8(c)
}

func (l *keySort) distribute(u int) {
	from, to := l.unit(u), l.unit(u+1)
	keys, class, next := l.key[from:to], l.class[from:to], &l.count[u]
	for i, k := range keys {
		j := next[class[i]]
		next[class[i]]++
		l.sorted[j] = k
		if l.places {
			l.at[j] = int64(from + i)
		}
	}
}

func (l *keySort) sortClass(c int) {
	lo, hi := l.begin[c], l.begin[c+1]
	if l.places {
		sortPairs(l.sorted[lo:hi], l.at[lo:hi], l.key[lo:hi], l.room[lo:hi])
	} else {
		sortPairs(l.sorted[lo:hi], nil, l.key[lo:hi], nil)
	}
	l.sortedClass(c, lo, hi)
}

// Next opens the next phase.
func (l *keySort) Next() (again bool, err error) {
	switch l.phase {
	case 0:
		sum := 0
		for c := range sortUnits {
			l.begin[c] = sum
			for u := range l.count {
				n := l.count[u][c]
				l.count[u][c] = sum
				sum += n
			}
		}
		l.begin[sortUnits] = sum
	case 2:
		if l.between == nil || !l.between() {
			return false, nil
		}
	case 3:
		return false, nil
	}
	l.phase++
	return true, nil
}

func (l *keySort) End() error {
	if l.end == nil {
		return nil
	}
	return l.end()
}

var _ op.Passes = (*keySort)(nil)
