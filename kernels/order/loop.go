package order

// This file sorts on several workers: a sample of the keys tells which ones separate classes of
// about equal size, each unit of elements is distributed among the classes, and the classes are sorted
// one by one. Equal keys are of one class, in which units come after each other, so they keep their
// order. One worker has one class of up to sortMost elements, since classes only divide work.
//
// If keys are spread evenly, or are few, the high bits of a key above the least one tell its class
// (Dobosiewicz, Sorting by distributive partitioning, 1978). No search is needed then, and keys are
// made again in place of being kept. If each class has one key, the count of the keys sorts them.

import (
	"math"
	"math/bits"
	"sync/atomic"

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
	even   bool // the class of key k is (k - base) >> shift, or the first or last one
	base   uint64
	shift  uint8
	single bool                 // each class has one key at most
	ends   [SortUnits][2]uint64 // the least and the greatest key of each unit
	// unread says that nobody reads Sorted where each class has one key.
	unread bool
	// telling says that elements are to be made of their keys. The key of -0 is that of 0, and nan has one
	// key: if there are such elements (untold), places are kept after all.
	telling bool
	untold  atomic.Bool
	rooms   []SortRoom // by worker
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
// of ordering its rows, and roomOfSort that of sorting them. A column of numbers has no places, unless
// -0 or nan is among them.
func RoomOfAll(s *op.Sig, _ types.Type) float64  { return sortRoom(define.ElementCount(s.In[0]), false) }
func roomOfRows(s *op.Sig, _ types.Type) float64 { return sortRoom(float64(s.In[0].Rows), true) }
func roomOfSort(s *op.Sig, _ types.Type) float64 {
	return sortRoom(float64(s.In[0].Rows), !sortedByKeys(s.In[0]))
}

// sortedByKeys reports whether a sort of the rows of a matrix makes them of their keys. There may still
// be elements that their keys do not tell.
func sortedByKeys(t types.Type) bool { return t.Cols == 1 && t.Elem != types.Bool }

// BeginSort begins the sort of all elements of x by so many workers, descending if desc. The places
// that the elements had are written to at, which is as long, unless it is nil. The result does not
// depend on the number of workers.
func BeginSort(x *value.Dense, desc bool, at []int64, workers int) *Sorter {
	n := x.Rows * x.Cols
	l := &Sorter{x: x, desc: desc, n: n, alone: workers == 1 && n <= sortMost, rooms: make([]SortRoom, workers)}
	l.key, l.Sorted = memory.Fresh[uint64](n), memory.Fresh[uint64](n)
	if at != nil {
		l.keepPlaces(at)
	}
	sample := make([]uint64, SortUnits*sortSample)
	if l.alone {
		sample = sample[:min(len(sample), n/64)]
	}
	sampleKeys(sample, n, l.keys)
	l.even = l.spread(sample)
	if l.alone = l.alone && !l.even; l.alone {
		return l
	}
	if l.count = make([][SortUnits]int, SortUnits); l.even {
		return l
	}
	l.class = make([]uint8, n)
	for i := range l.split[:SortUnits-1] {
		l.split[i] = sample[(i+1)*sortSample]
	}
	return l
}

func (l *Sorter) keepPlaces(at []int64) { l.places, l.At, l.room = true, at, memory.Fresh[int64](l.n) }

// Places returns room for the places of n elements.
func Places(n int) []int64 { return memory.Fresh[int64](n) }

// spread chooses classes of equally long ranges of keys, from a sample in order. It reports whether
// they divide the work: whether no class has many times its share, or each class has one key.
func (l *Sorter) spread(sample []uint64) bool {
	if len(sample) == 0 {
		return false
	}
	l.base = sample[0]
	width := sample[len(sample)-1] - l.base
	l.shift = uint8(max(0, bits.Len64(width)-8))
	// Keys outside of the sample's range are as likely on both sides.
	beside := (SortUnits - 1 - width>>l.shift) / 2
	l.base -= min(l.base, beside<<l.shift)
	most := len(sample)/64 + 8
	for i := most; i < len(sample) && l.shift > 0; i++ {
		if l.evenClass(sample[i]) == l.evenClass(sample[i-most]) {
			return false
		}
	}
	return true
}

func (l *Sorter) evenClass(k uint64) uint8 {
	return uint8(min((max(k, l.base)-l.base)>>(l.shift&63), SortUnits-1))
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
func (l *Sorter) Chunk(worker, lo, hi int) error {
	for u := lo; u < hi; u++ {
		switch l.phase {
		case 0:
			l.classify(u)
		case 1:
			l.distribute(u)
		case 2:
			l.sortClass(worker, u)
		default:
			l.More(u)
		}
	}
	return nil
}

func (l *Sorter) classify(u int) {
	from, to := l.unit(u), l.unit(u+1)
	if l.even {
		l.countUnit(u, from, to)
		return
	}
	if l.alone {
		l.keys(l.Sorted[from:to], from)
		l.told(l.Sorted[from:to], from)
		return
	}
	keys, class, count := l.key[from:to], l.class[from:to], &l.count[u]
	l.keys(keys, from)
	l.told(keys, from)
	for i, k := range keys {
		c := l.classOf(k)
		class[i] = c
		count[c]++
	}
}

// countUnit is classify where classes are spread evenly.
func (l *Sorter) countUnit(u, from, to int) {
	var block [selectBlock]uint64
	count, least, greatest := &l.count[u], uint64(math.MaxUint64), uint64(0)
	for from < to {
		keys := block[:min(selectBlock, to-from)]
		l.keys(keys, from)
		l.told(keys, from)
		for _, k := range keys {
			count[l.evenClass(k)]++
			least, greatest = min(least, k), max(greatest, k)
		}
		from += len(keys)
	}
	l.ends[u] = [2]uint64{least, greatest}
}

// told finds elements that their keys do not tell, from number `from` on.
func (l *Sorter) told(keys []uint64, from int) {
	if !l.telling || l.untold.Load() {
		return
	}
	zero := uint64(SignBit)
	if l.desc {
		zero = ^zero
	}
	for i, k := range keys {
		if k == NanKey || k == zero && math.Signbit(l.x.At((from+i)/l.x.Cols, (from+i)%l.x.Cols).F) {
			l.untold.Store(true)
			return
		}
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
	if l.even {
		l.distributeEvenly(u, from, to)
		return
	}
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

// distributeEvenly is distribute where classes are spread evenly. It leaves the keys of classes with
// one key to sortClass.
func (l *Sorter) distributeEvenly(u, from, to int) {
	if l.single && !l.places {
		return
	}
	var block [selectBlock]uint64
	for next := &l.count[u]; from < to; {
		keys := block[:min(selectBlock, to-from)]
		l.keys(keys, from)
		for i, k := range keys {
			c := l.evenClass(k)
			j := next[c]
			next[c]++
			if l.places {
				l.At[j] = int64(from + i)
			}
			if !l.single {
				l.Sorted[j] = k
			}
		}
		from += len(keys)
	}
}

func (l *Sorter) sortClass(worker, c int) {
	lo, hi := l.Begin[c], l.Begin[c+1]
	keys, at := l.Sorted[lo:hi], []int64(nil)
	if l.places {
		at = l.At[lo:hi]
	}
	if l.alone {
		for i := range at {
			at[i] = int64(i)
		}
	}
	if !l.single {
		l.order(worker, lo, keys, at)
	} else if !l.unread {
		for i := range keys {
			keys[i] = l.base + uint64(c)
		}
	}
	l.SortedClass(c, lo, hi)
}

// order sorts keys and at, which come to places lo, lo + 1, ... Short classes are sorted in memory that
// is in the worker's cache.
func (l *Sorter) order(worker, lo int, keys []uint64, at []int64) {
	var roomKeys []uint64
	var roomAt []int64
	switch n := len(keys); {
	case n <= mostKept:
		roomKeys, roomAt = l.rooms[worker].Of(n, l.places)
	case l.places:
		roomKeys, roomAt = l.key[lo:lo+n], l.room[lo:lo+n]
	default:
		roomKeys = l.key[lo : lo+n]
	}
	if l.spans != nil {
		SelectPairs(keys, at, roomKeys, roomAt, lo, l.spans)
	} else {
		SortPairs(keys, at, roomKeys, roomAt)
	}
}

// Next opens the next phase.
func (l *Sorter) Next() (again bool, err error) {
	switch l.phase {
	case 0:
		if l.untold.Load() {
			l.keepPlaces(Places(l.n))
		}
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
		if l.even && l.shift == 0 {
			l.single = true
			for _, ends := range l.ends {
				l.single = l.single && (ends[0] > ends[1] || l.base <= ends[0] && ends[1]-l.base < SortUnits) // or the unit is empty
			}
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
