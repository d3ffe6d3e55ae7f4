package order

// This file finds the keys at some places of a sorted list, and the elements that have them, without
// sorting the list: what quantiles need, and what sorts need of whose result only some rows are read.

import (
	"math"
	"math/bits"
	"slices"

	"flow/ir/op"
	"flow/ir/value"
)

// Span is the places From..To-1 of a sorted list.
type Span struct{ From, To int }

// joined sorts spans, cuts them off at n, and joins those that overlap or touch.
func joined(spans []Span, n int) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	out := spans[:0]
	for _, s := range spans {
		switch s = (Span{max(s.From, 0), min(s.To, n)}); {
		case s.From >= s.To:
		case len(out) > 0 && s.From <= out[len(out)-1].To:
			out[len(out)-1].To = max(out[len(out)-1].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}

// within returns those of joined spans that have places in from..to-1, and how many these are.
func within(spans []Span, from, to int) (in []Span, places int) {
	for len(spans) > 0 && spans[0].To <= from {
		spans = spans[1:]
	}
	n := 0
	for ; n < len(spans) && spans[n].From < to; n++ {
		places += min(spans[n].To, to) - max(spans[n].From, from)
	}
	return spans[:n], places
}

// SelectPairs is SortPairs for the places of joined spans alone. Keys and places elsewhere are of no
// use then. first is the place of keys[0] in the whole list.
//
// The highest digit in which keys differ tells which of them come to places of the spans; it goes on
// with those alone, a list for each value of the digit.
func SelectPairs(keys []uint64, at []int64, roomKeys []uint64, roomAt []int64, first int, spans []Span) {
	spans, places := within(spans, first, first+len(keys))
	switch {
	case places == 0:
		return
	case spans[len(spans)-1].To-first <= fewPlaces && len(keys) > fewPlaces:
		selectFirst(keys, at, spans[len(spans)-1].To-first)
		return
	case len(keys) <= FewKeys || 2*places > len(keys):
		SortPairs(keys, at, roomKeys, roomAt)
		return
	}
	differ := differing(keys)
	if differ == 0 {
		return
	}
	shift := max(0, bits.Len64(differ)-8)
	var next, end [256]int // of each digit's keys; next is -1 if no span has their places
	for _, k := range keys {
		end[byte(k>>shift)]++
	}
	begin := 0
	for d, n := range end {
		next[d], end[d] = begin, begin+n
		if _, places := within(spans, first+begin, first+begin+n); places == 0 {
			next[d] = -1
		}
		begin += n
	}
	for i, k := range keys {
		d := byte(k >> shift)
		j := next[d]
		if j < 0 {
			continue
		}
		if next[d], roomKeys[j] = j+1, k; at != nil {
			roomAt[j] = at[i]
		}
	}
	begin = 0
	for d, to := range end {
		from := begin
		if begin = to; next[d] < 0 || from == to {
			continue
		}
		copy(keys[from:to], roomKeys[from:to])
		if at == nil {
			SelectPairs(keys[from:to], nil, roomKeys[from:to], nil, first+from, spans)
		} else {
			copy(at[from:to], roomAt[from:to])
			SelectPairs(keys[from:to], at[from:to], roomKeys[from:to], roomAt[from:to], first+from, spans)
		}
	}
}

// fewPlaces is the most places for which a list of the least keys so far takes less time than digits
// do. Keys in descending order enter it one after the other, so that each moves all of them.
const fewPlaces = 16

// selectFirst is SelectPairs for the first n places.
func selectFirst(keys []uint64, at []int64, n int) {
	least := keys[:n]
	for i, k := range keys {
		if i >= n && k >= least[n-1] {
			continue
		}
		j := min(i, n-1)
		for ; j > 0 && least[j-1] > k; j-- {
			least[j] = least[j-1]
		}
		if least[j] = k; at != nil {
			place, end := at[i], min(i, n-1)
			copy(at[j+1:end+1], at[j:end])
			at[j] = place
		}
	}
}

// SelectKeys is key i of a list in order and the one after it, NanKey behind the last. The list is left
// in disorder. The room is as long.
func SelectKeys(keys []uint64, i int, room []uint64) (k, next uint64) {
	SelectPairs(keys, nil, room, nil, 0, []Span{{i, min(i+2, len(keys))}})
	if i+1 < len(keys) {
		return keys[i], keys[i+1]
	}
	return keys[i], NanKey
}

const (
	selectBlock  = 512     // keys made at a time
	selectSample = 1 << 12 // keys that tell about where the keys at a place are
	selectRanges = 8       // so many ranges of keys at most are looked for in one pass
)

// A Selector finds the keys at places of spans on several workers. A sample of the keys tells ranges of
// keys in which those at the places probably are. One pass over all elements collects the keys in these
// ranges and counts those below them. If the sample was misleading, another pass has wider ranges.
type Selector struct {
	x            *value.Dense
	desc, places bool
	units        int
	spans        []Span
	ranges       []keyRange
	by           [][]collected // by range and unit
	done         func(l *Selector) error
}

// keyRange is the keys low..high, and those found of them, in order in the end. spans has the places
// that are looked for among them.
type keyRange struct {
	low, high uint64
	spans     []Span
	collected
}

// collected is what a unit of elements, or all of them, have for a range: the keys in it, with their
// places if these are of interest. Otherwise keys at its ends are counted, since they may be many.
// below keys are lower.
type collected struct {
	below, lows, highs int
	keys               []uint64
	at                 []int64
}

// beginSelect begins the search in so many units of elements for the keys at joined spans of the sorted
// elements of x, with the places that the elements had if places. It returns nil where a sort is
// faster: if the spans are many or long.
func beginSelect(x *value.Dense, desc, places bool, units int, spans []Span, done func(l *Selector) error) *Selector {
	n := x.Rows * x.Cols
	l := &Selector{x: x, desc: desc, places: places, units: units, spans: spans, done: done}
	if _, wanted := within(spans, 0, n); len(spans) > 1<<10 || wanted > n/8 {
		return nil
	}
	sample := make([]uint64, selectSample)
	sampleKeys(sample, n, l.key)
	ends := 0 // of the range before, in the sample
	for i, s := range spans {
		r := keyRange{high: math.MaxUint64, spans: spans[i : i+1]}
		from, far := sampledAt(s.From, n, selectSample)
		if from -= far; from > 0 {
			r.low = sample[from]
		}
		to, far := sampledAt(s.To, n, selectSample)
		if to += far; to < selectSample {
			r.high = sample[to]
		}
		if k := len(l.ranges) - 1; k >= 0 && from <= ends {
			last := &l.ranges[k]
			last.high, last.spans = max(last.high, r.high), spans[i-len(last.spans):i+1]
		} else {
			l.ranges = append(l.ranges, r)
		}
		ends = to
	}
	if len(l.ranges) > selectRanges {
		return nil
	}
	l.by = make([][]collected, len(l.ranges))
	for r := range l.by {
		l.by[r] = make([]collected, units)
	}
	return l
}

// sampledAt returns where a place of n sorted keys is among a sorted sample of them, and how far from
// there it may be. It is farther, by four standard deviations, in one of 16,000 searches.
func sampledAt(place, n, sample int) (at, far int) {
	p := float64(place) / float64(n)
	return int(p * float64(sample)), 8 + int(4*math.Sqrt(float64(sample)*p*(1-p)))
}

// sampleKeys is drawKeys, in order.
func sampleKeys(keys []uint64, n int, key func(keys []uint64, i int)) {
	drawKeys(keys, n, key)
	slices.Sort(keys)
}

// drawKeys fills keys with a sample of the keys of n elements. key makes a list of keys, from element i
// on.
func drawKeys(keys []uint64, n int, key func(keys []uint64, i int)) {
	for i := range keys[:len(keys)*min(n, 1)] {
		// Spread by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4), so that no
		// period of the data meets it.
		at, _ := bits.Mul64(uint64(i+1)*0x9E3779B97F4A7C15, uint64(n))
		key(keys[i:i+1], int(at))
	}
}

func (l *Selector) key(keys []uint64, from int) { directedKeys(keys, l.x, from, l.desc) }

// Chunk collects keys of units lo..hi-1.
func (l *Selector) Chunk(_, lo, hi int) error {
	n := uint64(l.x.Rows * l.x.Cols)
	var block [selectBlock]uint64
	for u := lo; u < hi; u++ {
		at, end := int(n*uint64(u)/uint64(l.units)), int(n*uint64(u+1)/uint64(l.units))
		for at < end {
			keys := block[:min(selectBlock, end-at)]
			l.key(keys, at)
			for r := range l.ranges {
				l.by[r][u].collect(keys, l.ranges[r].low, l.ranges[r].high, at, l.places)
			}
			at += len(keys)
		}
	}
	return nil
}

// collect adds the keys from low to high. keys[0] has place at.
func (w *collected) collect(keys []uint64, low, high uint64, at int, places bool) {
	wide, below := high-low, uint64(0)
	for i, k := range keys {
		d, less := bits.Sub64(k, low, 0)
		switch below += less; {
		case d > wide || less > 0:
		case places:
			w.keys, w.at = append(w.keys, k), append(w.at, int64(at+i))
		case d == 0:
			w.lows++
		case d == wide:
			w.highs++
		default:
			w.keys = append(w.keys, k)
		}
	}
	w.below += int(below)
}

// Next begins another pass if the keys at some places are in no range.
func (l *Selector) Next() (again bool, err error) {
	for r := range l.ranges {
		x, n := &l.ranges[r], 0
		x.collected = collected{}
		for _, w := range l.by[r] {
			x.below, x.lows, x.highs, n = x.below+w.below, x.lows+w.lows, x.highs+w.highs, n+w.lows+w.highs+len(w.keys)
		}
		if x.spans[0].From < x.below {
			x.low, again = 0, true
		}
		if x.spans[len(x.spans)-1].To > x.below+n {
			x.high, again = math.MaxUint64, true
		}
	}
	for r := range l.by {
		if again {
			clear(l.by[r])
		}
	}
	return again, nil
}

// End puts what was found in order.
func (l *Selector) End() error {
	var room SortRoom
	for r := range l.ranges {
		x := &l.ranges[r]
		for u := range l.by[r] {
			x.keys, x.at = append(x.keys, l.by[r][u].keys...), append(x.at, l.by[r][u].at...)
		}
		roomKeys, roomAt := room.Of(len(x.keys), l.places)
		SelectPairs(x.keys, x.at, roomKeys, roomAt, x.below+x.lows, x.spans)
	}
	return l.done(l)
}

// keyAt is the key at a place of a span.
func (l *Selector) keyAt(place int) uint64 {
	r := len(l.ranges) - 1
	for l.ranges[r].below > place {
		r--
	}
	x := &l.ranges[r]
	switch i := place - x.below - x.lows; {
	case i < 0:
		return x.low
	case i < len(x.keys):
		return x.keys[i]
	}
	return x.high
}

// Search begins the search for key i of all elements of x, more than 24, and for the one after it. done
// is told them. Both are NanKey if there is a nan.
func Search(x *value.Dense, i int, done func(k, next uint64)) *Selector {
	n := x.Rows * x.Cols
	spans := joined([]Span{{i, i + 2}, {n - 1, n}}, n) // nan is last
	return beginSelect(x, false, false, SortUnits, spans, func(l *Selector) error {
		k, next := l.keyAt(i), l.keyAt(min(i+1, n-1))
		if x.Elem.IsFloat() && l.keyAt(n-1) == NanKey {
			k, next = NanKey, NanKey
		}
		done(k, next)
		return nil
	})
}

// Columns runs a search or a sort for each of n columns: some columns abreast, and then the next ones.
// Searches abreast read a row once for all of them, and sorts one by one need the memory of one.
type Columns struct {
	n, abreast int
	begin      func(j int) op.Passes
	next       int // column
	open       []op.Passes
}

// BeginColumns begins Columns. begin begins the passes of column j, over SortUnits units.
func BeginColumns(n, abreast int, begin func(j int) op.Passes) *Columns {
	l := &Columns{n: n, abreast: abreast, begin: begin}
	l.more()
	return l
}

// more begins the next columns, and reports whether there are some.
func (l *Columns) more() bool {
	for l.open = l.open[:0]; l.next < l.n && len(l.open) < l.abreast; l.next++ {
		l.open = append(l.open, l.begin(l.next))
	}
	return len(l.open) > 0
}

// Chunk runs units lo..hi-1 of the columns that are open.
func (l *Columns) Chunk(worker, lo, hi int) error {
	for u := lo; u < hi; u++ {
		for _, b := range l.open {
			if err := b.Chunk(worker, u, u+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Next ends the columns that have no other pass.
func (l *Columns) Next() (again bool, err error) {
	open := l.open[:0]
	for _, b := range l.open {
		if again, err = b.Next(); err == nil && again {
			open = append(open, b)
		} else if err == nil {
			err = b.End()
		}
		if err != nil {
			return false, err
		}
	}
	l.open = open
	return len(open) > 0 || l.more(), nil
}

// End does nothing: each column has ended.
func (l *Columns) End() error { return nil }

var _ op.Passes = (*Selector)(nil)
