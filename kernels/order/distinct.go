package order

// This file finds the distinct elements of a matrix. If they are few, a table of them stays in a
// cache. To fill it takes a tenth of the time of a sort, and no memory for each element. A sample
// tells whether they may be few. If a worker meets more, all elements are sorted.

import (
	"slices"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/value"
)

const (
	tableSlots = 1 << 14        // 128 KiB of keys
	mostFew    = tableSlots / 2 // more keys would need longer searches in the table
	// fewSampled is the most distinct keys of the sample for which the table is tried. A sample of 4096
	// elements has some 3200 of 8192 distinct keys.
	fewSampled = SortUnits * sortSample * 3 / 4
)

// keySet is the set of the keys that a worker has met, a table with open addressing. An empty slot is
// 0, so the key 0 has a field of its own.
type keySet struct {
	slots [tableSlots]uint64
	n     int
	zero  bool
}

// add puts keys into the set, and reports whether they fit.
func (s *keySet) add(keys []uint64) bool {
	for _, k := range keys {
		if k == 0 {
			s.zero = true
			continue
		}
		// Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
		for h := k * 0x9E3779B97F4A7C15 >> 50; s.slots[h] != k; h = (h + 1) % tableSlots {
			if s.slots[h] == 0 {
				if s.n == mostFew {
					return false
				}
				s.slots[h], s.n = k, s.n+1
				break
			}
		}
	}
	return true
}

// distinct is one execution of unique.
type distinct struct {
	c       *op.Call
	workers int
	sets    []*keySet // of each worker; nil: it has met no key
	many    atomic.Bool
	sorts   *Sorter // sorts all elements; nil: the table is tried
}

func beginUnique(c *op.Call, workers int) (op.LoopBody, error) {
	l := &distinct{c: c, workers: workers, sets: make([]*keySet, workers)}
	x := c.Dense(0)
	sample := make([]uint64, SortUnits*sortSample)
	sampleKeys(sample, x.Rows*x.Cols, func(keys []uint64, i int) { ElementKeys(keys, x, i) })
	if CountRuns(sample) > fewSampled {
		l.sort()
	}
	return l, nil
}

// sort begins to sort all elements. The distinct elements of each class are counted, and are written
// when it is known where each class begins.
func (l *distinct) sort() {
	s := BeginSort(l.c.Dense(0), false, nil, l.workers)
	l.sorts = s
	var starts [SortUnits + 1]int
	s.SortedClass = func(class, lo, hi int) { starts[class+1] = int(CountRuns(s.Sorted[lo:hi])) }
	s.Between = func() bool {
		for i := range SortUnits {
			starts[i+1] += starts[i]
		}
		l.c.Out = value.New(l.c.Type.Elem, starts[SortUnits], 1)
		return true
	}
	s.More = func(class int) {
		copyDifferent(l.c.Out.(*value.Dense), starts[class], s.Sorted[s.Begin[class]:s.Begin[class+1]])
	}
}

// Chunk puts the keys of units lo..hi-1 into the table of its worker, or sorts.
func (l *distinct) Chunk(worker, lo, hi int) error {
	if l.sorts != nil {
		return l.sorts.Chunk(worker, lo, hi)
	}
	x := l.c.Dense(0)
	if l.sets[worker] == nil {
		l.sets[worker] = &keySet{}
	}
	n := uint64(x.Rows * x.Cols)
	var keys [512]uint64
	for at, end := int(n*uint64(lo)/SortUnits), int(n*uint64(hi)/SortUnits); at < end && !l.many.Load(); at += len(keys) {
		k := keys[:min(len(keys), end-at)]
		ElementKeys(k, x, at)
		if !l.sets[worker].add(k) {
			l.many.Store(true)
		}
	}
	return nil
}

// Next makes the result of the tables, begins the sort if they were too small, or goes on with it.
func (l *distinct) Next() (again bool, err error) {
	if l.sorts != nil {
		return l.sorts.Next()
	}
	if l.many.Load() {
		l.sort()
		return true, nil
	}
	var keys []uint64
	for _, s := range l.sets {
		if s != nil {
			keys = slices.AppendSeq(keys, func(yield func(uint64) bool) {
				for _, k := range s.slots {
					if k != 0 && !yield(k) {
						return
					}
				}
			})
			if s.zero {
				keys = append(keys, 0)
			}
		}
	}
	slices.Sort(keys)
	l.c.Out = value.New(l.c.Type.Elem, int(CountRuns(keys)), 1)
	copyDifferent(l.c.Out.(*value.Dense), 0, keys)
	return false, nil
}

func (l *distinct) End() error { return nil }

var _ op.Passes = (*distinct)(nil)
