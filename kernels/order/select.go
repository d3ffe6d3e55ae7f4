package order

// This file finds the key that stands at one place of a sorted list, without sorting the list: what
// quantiles need.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/window"
)

// SelectKeys is key i of a list in order and the one after it, NanKey behind the last. The list is
// left in disorder.
//
// The highest digit in which keys differ tells which of them are still in question; it goes on with
// those alone.
func SelectKeys(keys []uint64, i int) (k, next uint64) {
	next = NanKey
	for shift := 56; shift >= 0 && len(keys) > FewKeys; shift -= 8 {
		var count [256]int
		for _, k := range keys {
			count[byte(k>>shift)]++
		}
		digit := 0
		for ; i >= count[digit]; digit++ {
			i -= count[digit]
		}
		if count[digit] == len(keys) {
			continue
		}
		n := 0
		for _, k := range keys {
			d := int(byte(k >> shift))
			keys[n] = k
			if d == digit {
				n++
			}
			if d <= digit {
				k = NanKey
			}
			next = min(next, k)
		}
		keys = keys[:n]
	}
	slices.Sort(keys) // fewer than FewKeys, or all equal
	if i+1 < len(keys) {
		next = keys[i+1]
	}
	return keys[i], next
}

// On several workers the elements are read again and again: to count the keys in question by their
// next digit, until they are few, and to collect these.
const (
	selectBits  = 11
	SelectFew   = 1 << 15
	selectBlock = 512 // keys made at a time
)

// keySearch is the search for a key among all elements of x.
type keySearch struct {
	c       *op.Call
	x       *value.Dense
	done    func(k, next uint64) value.Value // NanKey, NanKey if one is nan
	rank    int                              // of the key among those in question
	top     uint64                           // their bits from shift+width up
	shift   int                              // the lowest bit of the digit that is counted
	width   int                              // its bits
	few     int                              // how many keys are in question
	collect bool                             // the last pass
	nan     bool
	by      []selectWorker
}

type selectWorker struct {
	count []int // by digit; nil until the worker's first chunk
	nans  int
	got   []uint64
	next  uint64 // the least key above those in question
	block [selectBlock]uint64
	_     [64]byte
}

// SearchLoop is the Loop of a row that wants key rank(c) of all its elements.
func SearchLoop(rank func(c *op.Call, n int) int, done func(c *op.Call, k, next uint64) value.Value) *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			t := c.In[0].Type()
			if !t.IsDense() || t.Count() < 4*window.LeafElements {
				return 0, 0
			}
			return t.Count(), window.LeafElements
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			x := c.Dense(0)
			l := &keySearch{c: c, x: x, rank: rank(c, x.Rows*x.Cols), shift: 64 - selectBits, width: selectBits, by: make([]selectWorker, workers)}
			l.done = func(k, next uint64) value.Value { return done(c, k, next) }
			return l, nil
		},
	}
}

// Chunk reads elements lo..hi-1.
func (l *keySearch) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.count == nil {
		w.count, w.next = make([]int, 1<<selectBits), NanKey
	}
	for lo < hi {
		keys := w.block[:min(selectBlock, hi-lo)]
		ElementKeys(keys, l.x, lo)
		lo += len(keys)
		switch {
		case l.collect:
			w.keep(keys, l.top, l.shift, l.few <= SelectFew)
		case l.shift+l.width == 64:
			for _, k := range keys {
				w.count[k>>(64-selectBits)]++
				if k == NanKey {
					w.nans++
				}
			}
		default:
			mask := uint64(1)<<l.width - 1
			for _, k := range keys {
				if k>>(l.shift+l.width) == l.top {
					w.count[k>>l.shift&mask]++
				}
			}
		}
	}
	return nil
}

// keep collects the keys whose bits from shift up are top, unless they are too many, and notes the
// least one above.
func (w *selectWorker) keep(keys []uint64, top uint64, shift int, all bool) {
	for _, k := range keys {
		switch t := k >> shift; {
		case t > top:
			w.next = min(w.next, k)
		case t == top && all:
			w.got = append(w.got, k)
		}
	}
}

// Next goes on with the keys that share a digit with the one looked for.
func (l *keySearch) Next() (again bool, err error) {
	if l.collect {
		return false, nil
	}
	var count [1 << selectBits]int
	for i := range l.by {
		l.nan = l.nan || l.by[i].nans > 0 && l.x.Elem.IsFloat() // the greatest integer has this key, too
		for d, n := range l.by[i].count {
			count[d] += n
		}
		clear(l.by[i].count)
	}
	if l.nan {
		return false, nil
	}
	digit := 0
	for ; l.rank >= count[digit]; digit++ {
		l.rank -= count[digit]
	}
	l.top, l.few = l.top<<l.width|uint64(digit), count[digit]
	if l.few <= SelectFew || l.shift == 0 {
		l.collect = true
		return true, nil
	}
	below := max(0, l.shift-selectBits)
	l.shift, l.width = below, l.shift-below
	return true, nil
}

// End finds the key among those collected.
func (l *keySearch) End() error {
	if l.nan {
		l.c.Out = l.done(NanKey, NanKey)
		return nil
	}
	next := uint64(NanKey)
	var got []uint64
	for i := range l.by {
		if l.by[i].count != nil {
			next = min(next, l.by[i].next)
			got = append(got, l.by[i].got...)
		}
	}
	k := l.top // all bits of it are known, if they were too many to collect
	switch {
	case l.few <= SelectFew:
		slices.Sort(got)
		if k = got[l.rank]; l.rank+1 < l.few {
			next = got[l.rank+1]
		}
	case l.rank+1 < l.few:
		next = k
	}
	l.c.Out = l.done(k, next)
	return nil
}

var _ op.Passes = (*keySearch)(nil)
