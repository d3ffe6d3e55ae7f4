package order

// This file finds the keys at some places of sorted lists whose rows ranks share (op.Selection). It
// neither sorts nor moves the lists. A sample of the keys of all ranks (select.sample) tells a range of
// keys for each place. In one pass each rank copies its keys inside these ranges, and counts those at
// their ends and below (select.near). The counts of all ranks (select.tally) tell in which interval the
// key of a place is: inside its range, as a rule.
//
// The key is then found digit by digit, the highest first. select.count counts, for each value of the
// next digit, the keys of the interval that begin with the digits found so far. select.narrow chooses
// the digit from these counts. If the sample was misleading, each rank reads all of its rows for each
// digit, since it has no copies of the keys that it needs.

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// selects is the rows of this file. Places are numbered list after list.
func selects() []*op.Def {
	x, near := op.Arg{Name: "x", Doc: "n x m"}, op.Arg{Name: "near", Doc: "what select.near made"}
	found := op.Arg{Name: "found", Rest: true, Doc: "what select.narrow made of select.tally and of the digits before"}
	shift := op.Arg{Name: "shift", Attr: true, Kind: op.IntVal, Doc: "bits below the digit"}
	columns := op.Arg{Name: "columns", Attr: true, Kind: op.BoolVal, Doc: "each column is a list"}
	places := op.Arg{Name: "places", Attr: true, Kind: op.IntsVal, Doc: "in each list: as many, where the input at has them"}
	told := op.Arg{Name: "at", Optional: true, Doc: "the places and the number of elements of a list, a column, where the run alone knows them"}
	step := op.Arg{Name: "step", Attr: true, Kind: op.IntVal, Doc: "rows of a unit of windows, or where these begin (WindowOf)"}
	lists := op.Arg{Name: "lists", Attr: true, Kind: op.IntVal, Doc: "number of lists"}
	typed := func(e types.Elem, rows, cols func(s *op.Sig) int) func(s *op.Sig) (types.Type, error) {
		return func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
				return s.In[0], op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
			}
			return types.DenseOf(e, rows(s), cols(s)), nil
		}
	}
	perPlace := func(s *op.Sig) int { return s.Attrs.Int("lists") * len(s.Attrs.Ints("places")) }
	pair := func(*op.Sig) int { return 2 }
	rows := []*op.Def{
		{
			Name: "select.sample", Hidden: true,
			Doc: "select.sample is a row for each rank: so many keys of each list, and in the last column how many.",
			Args: []op.Arg{x, told, columns, {Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "that share the rows"}, step,
				{Name: "most", Attr: true, Kind: op.IntVal, Optional: true, Doc: "elements of a list at most, with the input at"}},
			Type: typed(types.I64, func(s *op.Sig) int { return s.Attrs.Int("ranks") }, func(s *op.Sig) int {
				lists, n := listsIn(s.In[0], s.Attrs), s.Attrs.Int("most")
				if n == 0 {
					n = s.In[0].Count() / max(1, lists)
				}
				few := bits.Len(uint(n)) // also of a list that many ranks share
				return 1 + lists*(1+few+sampledKeys(n)/max(1, s.Attrs.Int("ranks")))
			}),
			Cost:   func(_ *op.Sig, out types.Type) op.Work { return op.Work{Flops: 100 * define.ElementCount(out)} },
			Kernel: sampleLists,
		},
		{
			Name: "select.near", Hidden: true,
			Doc: "select.near is three rows for each place of each list, and then a row for each key inside a range that has few, in order: the key and the first place with this range. " +
				"The three rows are the ends of the range; how many keys are below and at the low end; how many are inside and at the high end.",
			Args: []op.Arg{x, {Name: "sample", Doc: "of all ranks"}, told, places, columns},
			Type: typed(types.I64, func(*op.Sig) int { return types.Unknown }, pair),
			MostRows: func(s *op.Sig) (rows int) {
				places, lists := s.Attrs.Ints("places"), listsIn(s.In[0], s.Attrs)
				for i, p := range places {
					if rows += 3; !follows(places, i) {
						rows += mostCopied(s.In[0].Count()/max(1, lists), int(p))
					}
				}
				return lists * rows
			},
			Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 6) },
			Kernel: func(c *op.Call) error {
				l := beginNear(c, 1)
				lo, hi := define.OwnRows(c, c.Dense(0).Rows)
				if err := l.Chunk(0, lo, hi); err != nil {
					return err
				}
				return l.End()
			},
			Loop: &op.Loop{
				Rows: func(s *op.Sig, _ types.Type) int { return s.In[0].Rows },
				Space: func(c *op.Call) (n, leaf int) {
					t := c.In[0].Type()
					return t.Rows, max(1, window.LeafElements/max(1, t.Cols))
				},
				Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginNear(c, workers), nil },
			},
		},
		{
			Name: "select.tally", Hidden: true,
			Doc:  "select.tally is, for each place, how many keys are in each interval: below its range, at the low end, inside, at the high end. Those above are not counted.",
			Args: []op.Arg{near, places, lists},
			Type: typed(types.F64, perPlace, func(*op.Sig) int { return intervals }),
			Kernel: func(c *op.Call) error {
				near, out := c.Dense(0), c.Result()
				for t := range out.Rows {
					for d, at := range [intervals][2]int{{1, 0}, {1, 1}, {2, 0}, {2, 1}} {
						out.F64[t*out.Stride+d] = float64(near.I64[(3*t+at[0])*near.Stride+at[1]])
					}
					out.F64[t*out.Stride+isAbove] = 0
				}
				return nil
			},
		},
		{
			Name: "select.count", Hidden: true,
			Doc:  "select.count counts, for each place, a digit of the keys in its interval that have the digits found.",
			Args: []op.Arg{x, near, {Name: "found", Rest: true, Doc: found.Doc + ", and at"}, places, columns, shift, {Name: "bits", Attr: true, Kind: op.IntVal, Doc: "of the digit"}},
			Type: typed(types.F64, func(s *op.Sig) int { return s.In[2].Rows }, func(s *op.Sig) int { return 1 << s.Attrs.Int("bits") }),
			Cost: func(s *op.Sig, out types.Type) op.Work {
				return op.Work{Flops: define.ElementCount(out) + define.ElementCount(s.In[0])/32}
			},
			Kernel: countDigits,
		},
		{
			Name: "select.narrow", Hidden: true,
			Doc:    "select.narrow is, for each place, the digits of its key so far, and how many of the keys with these digits come before it.",
			Args:   []op.Arg{{Name: "counts"}, {Name: "found", Rest: true, Doc: found.Doc + ", and at"}, places},
			Type:   typed(types.I64, func(s *op.Sig) int { return s.In[0].Rows }, pair),
			Kernel: func(c *op.Call) error { c.Result().CopyFrom(narrowed(c)); return nil },
		},
	}
	for _, d := range rows {
		d.Laws = op.Pure
		if d.Cost == nil {
			d.Cost = func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) }
		}
		define.ByKernel(d)
	}
	return rows
}

func narrowed(c *op.Call) *value.Dense {
	counts, out := c.Dense(0), value.New(types.I64, c.Type.Rows, 2)
	places, _ := placesOf(c, 1)
	for t := range out.Rows {
		key, before := int64(0), places[t%len(places)]
		if len(c.In) > 1 && c.Dense(1).Cols > 1 {
			key, before = c.Dense(1).At(t, 0).I, c.Dense(1).At(t, 1).I
		}
		d := 0
		for ; d < counts.Cols-1 && before >= int64(counts.At(t, d).F); d++ {
			before -= int64(counts.At(t, d).F)
		}
		out.Set(t, 0, value.I64(key*int64(counts.Cols)+int64(d)))
		out.Set(t, 1, value.I64(before))
	}
	return out
}

// placesOf returns the places of a call, and the number of elements of a list. Its last input has both
// if it is a column and not one of the first inputs.
func placesOf(c *op.Call, inputs int) (places []int64, n int) {
	if k := len(c.In) - 1; k >= inputs && c.Dense(k).Cols == 1 {
		at := c.Dense(k)
		for i := range at.Rows - 1 {
			places = append(places, at.At(i, 0).I)
		}
		return places, int(at.At(at.Rows-1, 0).I)
	}
	x := c.In[0].Type()
	return c.Attrs.Ints("places"), x.Count() / max(1, listsIn(x, c.Attrs))
}

// sampledKeys is about how many keys of a list of n are sampled: some n^(2/3). More of them would take
// longer to put in order than the keys inside the range of a median, n^(2/3) * 4 at most, take to copy.
func sampledKeys(n int) int { return 1 << (2 * bits.Len(uint(n)) / 3) }

// The intervals of the keys of a list that the range of a place makes.
const (
	isBelow = iota
	isLow
	isInside
	isHigh
	isAbove
	intervals
)

// listsIn returns the number of lists of a matrix.
func listsIn(t types.Type, a *op.Attrs) int {
	if a.Bool("columns") {
		return t.Cols
	}
	return 1
}

// listOf returns rows lo..hi-1 of a list of the call's matrix.
func listOf(c *op.Call, list, lo, hi int) *value.Dense {
	if x := c.Dense(0); !c.Attrs.Bool("columns") {
		return x.View(lo, 0, hi-lo, x.Cols)
	}
	return c.Dense(0).View(lo, list, hi-lo, 1)
}

// eachBlock calls f with the keys of x, some at a time, in the memory of block.
func eachBlock(block []uint64, x *value.Dense, f func(keys []uint64)) {
	n := x.Rows * x.Cols
	for at := 0; at < n; at += len(block) {
		keys := block[:min(len(block), n-at)]
		ElementKeys(keys, x, at)
		f(keys)
	}
}

// sampleLists is the kernel of select.sample. It leaves zeros behind the keys of a list.
func sampleLists(c *op.Call) error {
	out, x := c.Result(), c.Dense(0)
	lists := listsIn(x.Type(), c.Attrs)
	each := (out.Cols - 1) / max(1, lists)
	_, n := placesOf(c, 1)
	from, to := define.OwnRows(c, out.Rows)
	for r := from; r < to; r++ {
		lo, hi, drawn := 0, x.Rows, 0
		if step, ok := c.Attrs.Get("step"); ok {
			lo, hi = op.WindowOf(r, out.Rows, x.Rows, step)
			drawn = each * (hi - lo) / mostInWindow(out.Rows, x.Rows, step)
		} else if c.Lo < c.Hi || r == 0 { // all rows are the rank's own, or those of the first one
			drawn = min(each, (sampledKeys(n)*(x.Rows*x.Cols/max(1, lists))+n-1)/max(1, n))
		}
		for l := range lists {
			keys, of := make([]uint64, each), listOf(c, l, lo, hi)
			drawKeys(keys[:drawn], of.Rows*of.Cols, func(keys []uint64, i int) { ElementKeys(keys, of, i) })
			for i, k := range keys {
				out.I64[r*out.Stride+l*each+i] = int64(k)
			}
		}
		out.I64[r*out.Stride+out.Cols-1] = int64(drawn)
	}
	return nil
}

// mostInWindow returns the most rows that a rank has. A rank draws the more keys, the more rows it has:
// if all drew as many, the keys of a rank with few rows would count for too much.
func mostInWindow(ranks, n int, step op.Val) int {
	most := 1
	for r := range ranks {
		lo, hi := op.WindowOf(r, ranks, n, step)
		most = max(most, hi-lo)
	}
	return most
}

// mostCopied is how many keys of a list of n select.near copies for a place: twice those of its range,
// if the sample does not mislead.
func mostCopied(n, place int) int {
	sample := sampledKeys(n)
	_, far := sampledAt(place, n, sample)
	return min(n, 4*far*n/sample)
}

// follows reports whether place i is the one after the place before it in the list: both have one
// range.
func follows(places []int64, i int) bool { return i > 0 && places[i] == places[i-1]+1 }

// nearBody is one execution of select.near.
type nearBody struct {
	c      *op.Call
	per    int            // places of a list
	ranges []keyRange     // by place
	most   []int          // copies, by place
	same   []int          // the place with the same range that collects for both
	by     [][]nearWorker // by worker and place
}

// nearWorker is what a worker has collected for a place, and how many keys inside its range it has
// forgotten, since they were too many.
type nearWorker struct {
	collected
	forgotten int
}

func beginNear(c *op.Call, workers int) *nearBody {
	x, sample := c.Dense(0), c.Dense(1)
	places, n := placesOf(c, 2)
	l := &nearBody{c: c, per: len(places), by: make([][]nearWorker, workers)}
	lists := listsIn(x.Type(), c.Attrs)
	each := (sample.Cols - 1) / max(1, lists)
	var keys []uint64
	room := make([]uint64, sample.Rows*each)
	for list := range lists {
		keys = keys[:0]
		for r := range sample.Rows {
			row := sample.I64[r*sample.Stride:][:sample.Cols]
			for _, k := range row[list*each:][:min(max(0, int(row[sample.Cols-1])), each)] {
				keys = append(keys, uint64(k))
			}
		}
		SortPairs(keys, nil, room[:len(keys)], nil)
		for i, p := range places {
			t := len(l.ranges)
			if follows(places, i) {
				l.ranges, l.same, l.most = append(l.ranges, l.ranges[t-1]), append(l.same, l.same[t-1]), append(l.most, l.most[t-1])
				continue
			}
			r := keyRange{high: math.MaxUint64}
			at, far := sampledAt(int(p), n, len(keys))
			if at > far {
				r.low = keys[at-far]
			}
			if at+far < len(keys) {
				r.high = keys[at+far]
			}
			l.ranges, l.same, l.most = append(l.ranges, r), append(l.same, t), append(l.most, mostCopied(n, int(p)))
		}
	}
	for w := range l.by {
		l.by[w] = make([]nearWorker, len(l.ranges))
	}
	return l
}

// Chunk goes over rows lo..hi-1, so many at a time that the columns of a matrix are read from a cache.
func (l *nearBody) Chunk(worker, lo, hi int) error {
	block := make([]uint64, selectBlock)
	for ; lo < hi; lo += selectBlock {
		for first := 0; first < len(l.ranges); first += l.per {
			eachBlock(block, listOf(l.c, first/l.per, lo, min(hi, lo+selectBlock)), func(keys []uint64) {
				for t := first; t < first+l.per; t++ {
					if l.same[t] != t {
						continue
					}
					w := &l.by[worker][t]
					if w.collect(keys, l.ranges[t].low, l.ranges[t].high, 0, false); len(w.keys) > l.most[t] {
						w.forgotten, w.keys = w.forgotten+len(w.keys), w.keys[:0]
					}
				}
			})
		}
	}
	return nil
}

// End joins what workers have counted, and puts what they have copied in order.
func (l *nearBody) End() error {
	pairs, copies := make([]int64, 0, 6*len(l.ranges)), 0
	for t, r := range l.ranges {
		all, inside := collected{}, 0
		for _, by := range l.by {
			w := &by[l.same[t]]
			all.below, all.lows, all.highs, inside = all.below+w.below, all.lows+w.lows, all.highs+w.highs, inside+w.forgotten+len(w.keys)
		}
		pairs = append(pairs, int64(r.low), int64(r.high), int64(all.below), int64(all.lows), int64(inside), int64(all.highs))
		if l.same[t] == t && inside <= l.most[t] {
			copies += inside
		}
	}
	pairs = slices.Grow(pairs, 2*copies)
	for t := range l.ranges {
		var keys []uint64
		for _, by := range l.by {
			keys = append(keys, by[t].keys...)
		}
		if int(pairs[6*t+4]) > l.most[t] {
			continue
		}
		SortPairs(keys, nil, make([]uint64, len(keys)), nil)
		for _, k := range keys {
			pairs = append(pairs, int64(k), int64(t))
		}
	}
	l.c.Out = &value.Dense{Elem: types.I64, Rows: len(pairs) / 2, Cols: 2, Stride: 2, I64: pairs}
	return nil
}

// countDigits is the kernel of select.count. The digits found for a place begin with its interval. The
// 64 bits of a key leave no room for it at the end.
func countDigits(c *op.Call) error {
	x, near, found, out := c.Dense(0), c.Dense(1), c.Dense(2), c.Result()
	shift, above := c.Attrs.Int("shift"), c.Attrs.Int("shift")+c.Attrs.Int("bits")
	places, n := placesOf(c, 3)
	at := func(i, j int) int64 { return near.I64[i*near.Stride+j] }
	dense.Clear(out)
	few, from, end := false, 0, 3*out.Rows // whether near has copies for the place, in rows from..end-1
	for t := range out.Rows {
		if i := t % len(places); !follows(places, i) {
			inside := int(at(3*t+2, 0))
			if few, from = inside <= mostCopied(n, int(places[i])), end; few {
				end += inside
			}
		}
		low, high, digits := uint64(at(3*t, 0)), uint64(at(3*t, 1)), uint64(found.I64[t*found.Stride])
		interval := digits >> (64 - above)
		digits -= interval << (64 - above)
		count := func(k uint64, n int64) {
			if k>>above == digits {
				out.F64[t*out.Stride+int(k>>shift&uint64(out.Cols-1))] += float64(n)
			}
		}
		switch {
		case interval == isLow:
			count(low, at(3*t+1, 1))
		case interval == isHigh:
			count(high, at(3*t+2, 1))
		case interval == isInside && few:
			key := func(i int) uint64 { return uint64(at(from+i, 0)) }
			for i := sort.Search(end-from, func(i int) bool { return key(i)>>above >= digits }); i < end-from && key(i)>>above == digits; i++ {
				count(key(i), 1)
			}
		default:
			// Those above the interval come after the place, and do not matter.
			least := [intervals]uint64{isInside: low + 1, isAbove: high + 1}[interval]
			lo, hi := define.OwnRows(c, x.Rows)
			eachBlock(make([]uint64, selectBlock), listOf(c, t/len(places), lo, hi), func(keys []uint64) {
				for _, k := range keys {
					if k >= least {
						count(k, 1)
					}
				}
			})
		}
	}
	return nil
}
