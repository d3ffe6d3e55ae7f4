package order

// This file sorts on several workers: a sample of the keys tells which ones separate classes of
// about equal size, each unit of elements is distributed among the classes, and the classes are sorted
// one by one. Equal keys are of one class, in which units come after each other, so they keep their
// order. One worker has one class of up to sortMost elements, since classes only divide work.

import (
	"math/bits"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/memory"
)

const (
	SortUnits  = 256     // units of elements, and classes of keys
	sortSample = 16      // keys of the sample a class
	SortLeast  = 1 << 15 // elements that are worth it
	wideLeast  = 1 << 13 // long rows that are worth it: of 256 numbers they took a third more time
	sortMost   = 1 << 22 // elements of one class for one worker: a run may end between classes
)

// SortSpace is the index space of sorting n elements.
func SortSpace(n int) (units, leaf int) {
	if n < SortLeast {
		return 0, 0
	}
	return SortUnits, 1
}

// Sorter is one execution.
type Sorter struct {
	x      *value.Dense // whose elements are sorted
	desc   bool
	places bool
	spans  []Span // the places of the sorted list that are read; nil: all
	n      int
	alone  bool // all keys are of class 0
	// Phase 0 makes keys and counts classes, 1 distributes keys, 2 sorts classes, and 3 is what the row
	// adds.
	phase int
	// split[i] is the least key of class i+1. The array has one element more than there are such keys, so
	// that an index of eight bits needs no check.
	split  [SortUnits]uint64
	count  [][SortUnits]int   // by unit and class; then where the unit's next key of the class goes
	Begin  [SortUnits + 1]int // of each class
	class  []uint8
	key    []uint64 // in the order of the elements; room later
	Sorted []uint64
	At     []int64 // the places of sorted; room beside it
	room   []int64
	// SortedClass is told about classes in order, elements lo..hi-1; more, if not nil, runs units
	// once more.
	SortedClass func(class, lo, hi int)
	Between     func() (more bool)
	More        func(unit int)
	Done        func() error
}

// sortRoom is the bytes that a Sorter holds for so many elements: two lists of keys and the class of
// each, and two lists of places.
func sortRoom(n float64, places bool) float64 {
	if places {
		return 33 * n
	}
	return 17 * n
}

// RoomOfAll is op.Def.Beside of sorting all elements of the first input without places, roomOfRows that
// of sorting its rows.
func RoomOfAll(s *op.Sig, _ types.Type) float64  { return sortRoom(define.ElementCount(s.In[0]), false) }
func roomOfRows(s *op.Sig, _ types.Type) float64 { return sortRoom(float64(s.In[0].Rows), true) }

// BeginSort begins the sort of all elements of x by so many workers, descending if desc, with the
// places that the elements had if places. The result does not depend on the number of workers.
func BeginSort(x *value.Dense, desc, places bool, workers int) *Sorter {
	n := x.Rows * x.Cols
	l := &Sorter{x: x, desc: desc, places: places, n: n, alone: workers == 1 && n <= sortMost, key: memory.Fresh[uint64](n), Sorted: memory.Fresh[uint64](n)}
	if places {
		l.At, l.room = memory.Fresh[int64](n), memory.Fresh[int64](n)
	}
	if l.alone {
		return l
	}
	l.count, l.class = make([][SortUnits]int, SortUnits), make([]uint8, n)
	sample := make([]uint64, SortUnits*sortSample)
	sampleKeys(sample, n, l.keys)
	for i := range l.split[:SortUnits-1] {
		l.split[i] = sample[(i+1)*sortSample]
	}
	return l
}

// keys makes keys those of the elements from number `from` on; of nan and of numbers in descending
// order.
func (l *Sorter) keys(keys []uint64, from int) { directedKeys(keys, l.x, from, l.desc) }

// directedKeys is ElementKeys of numbers in descending order if desc.
func directedKeys(keys []uint64, x *value.Dense, from int, desc bool) {
	ElementKeys(keys, x, from)
	if desc {
		Downwards(keys, x.Elem.IsFloat())
	}
}

// Downwards turns keys round; nan stays last.
func Downwards(keys []uint64, floats bool) {
	for i, k := range keys {
		if !floats || k != NanKey {
			keys[i] = ^k
		}
	}
}

// unit is where unit u of the elements begins.
func (l *Sorter) unit(u int) int { return int(uint64(l.n) * uint64(u) / SortUnits) }

// Chunk runs units or classes lo..hi-1.
func (l *Sorter) Chunk(_, lo, hi int) error {
	for u := lo; u < hi; u++ {
		switch l.phase {
		case 0:
			l.classify(u)
		case 1:
			l.distribute(u)
		case 2:
			l.sortClass(u)
		default:
			l.More(u)
		}
	}
	return nil
}

func (l *Sorter) classify(u int) {
	from, to := l.unit(u), l.unit(u+1)
	if l.alone {
		l.keys(l.Sorted[from:to], from)
		for i := from; l.places && i < to; i++ {
			l.At[i] = int64(i)
		}
		return
	}
	keys, class, count := l.key[from:to], l.class[from:to], &l.count[u]
	l.keys(keys, from)
	for i, k := range keys {
		c := l.classOf(k)
		class[i] = c
		count[c]++
	}
}

// classOf is how many of the first 255 separators are not above k, found without a branch.
func (l *Sorter) classOf(k uint64) uint8 {
	c := uint64(0)
	for step := uint64(SortUnits / 2); step > 0; step /= 2 {
		_, above := bits.Sub64(k, l.split[uint8(c+step-1)], 0) // 1 if the separator is above k
		c += step & (above - 1)
	}
	return uint8(c)
}

func (l *Sorter) distribute(u int) {
	from, to := l.unit(u), l.unit(u+1)
	keys, class, next := l.key[from:to], l.class[from:to], &l.count[u]
	for i, k := range keys {
		j := next[class[i]]
		next[class[i]]++
		l.Sorted[j] = k
		if l.places {
			l.At[j] = int64(from + i)
		}
	}
}

func (l *Sorter) sortClass(c int) {
	lo, hi := l.Begin[c], l.Begin[c+1]
	switch {
	case l.spans != nil:
		SelectPairs(l.Sorted[lo:hi], l.At[lo:hi], l.key[lo:hi], l.room[lo:hi], lo, l.spans)
	case l.places:
		SortPairs(l.Sorted[lo:hi], l.At[lo:hi], l.key[lo:hi], l.room[lo:hi])
	default:
		SortPairs(l.Sorted[lo:hi], nil, l.key[lo:hi], nil)
	}
	l.SortedClass(c, lo, hi)
}

// Next opens the next phase.
func (l *Sorter) Next() (again bool, err error) {
	switch l.phase {
	case 0:
		sum := 0
		for c := range SortUnits {
			l.Begin[c] = sum
			for u := range l.count {
				n := l.count[u][c]
				l.count[u][c] = sum
				sum += n
			}
			if l.alone {
				sum = l.n
			}
		}
		l.Begin[SortUnits] = sum
		if l.alone {
			l.phase++ // nothing is to be distributed
		}
	case 2:
		if l.Between == nil || !l.Between() {
			return false, nil
		}
	case 3:
		return false, nil
	}
	l.phase++
	return true, nil
}

// End does what the row adds at the end.
func (l *Sorter) End() error {
	if l.Done == nil {
		return nil
	}
	return l.Done()
}

var _ op.Passes = (*Sorter)(nil)
