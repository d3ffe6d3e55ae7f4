package order

// This file finds the keys at some places of sorted lists whose rows ranks share (op.Selection). It
// neither sorts nor moves the lists. A sample of the keys of all ranks (select.sample) tells a range of
// keys for each place. In one pass each rank copies its keys inside these ranges and counts those at
// their ends and below (select.near, select.tally). The counts of all ranks say which keys stay
// (select.inside): those inside the range of a place as a rule. If the sample was misleading, another
// pass copies the keys below the range, or above it.
//
// The key of a place is then found among these digit by digit, the highest first. select.count counts,
// for each value of the next digit, the keys that begin with the digits found so far. select.narrow
// chooses the digit from these counts. After some digits, select.keep copies the few keys that agree.

import (
	"math"
	"math/bits"

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
	kept := op.Arg{Name: "kept", Doc: "a row for each key: the key, and the number of its place"}
	found := op.Arg{Name: "found", Rest: true, Doc: "what select.narrow made of the digits before"}
	shift := op.Arg{Name: "shift", Attr: true, Kind: op.IntVal, Doc: "bits below the digit"}
	columns := op.Arg{Name: "columns", Attr: true, Kind: op.BoolVal, Doc: "each column is a list"}
	places := op.Arg{Name: "places", Attr: true, Kind: op.IntsVal, Doc: "in each list"}
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
	each := func(s *op.Sig) int { return s.In[0].Rows }
	perPlace := func(s *op.Sig) int { return s.Attrs.Int("lists") * len(s.Attrs.Ints("places")) }
	unknown, pair := func(*op.Sig) int { return types.Unknown }, func(*op.Sig) int { return 2 }
	rows := []*op.Def{
		{
			Name: "select.sample", Hidden: true,
			Doc:  "select.sample is a row for each rank, with so many keys of each list.",
			Args: []op.Arg{x, columns, {Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "that share the rows"}, step},
			Type: typed(types.I64, func(s *op.Sig) int { return s.Attrs.Int("ranks") }, func(s *op.Sig) int {
				return listsIn(s.In[0], s.Attrs) * (1 + sampledKeys(s.In[0], s.Attrs)/s.Attrs.Int("ranks"))
			}),
			Cost:   func(_ *op.Sig, out types.Type) op.Work { return op.Work{Flops: 100 * define.ElementCount(out)} },
			Kernel: sampleLists,
		},
		{
			Name: "select.near", Hidden: true,
			Doc: "select.near is three rows for each place of each list, and then a row for each key inside a range: the key and the first place with this range. " +
				"The three rows are the ends of the range; how many keys are below and at the low end; how many are inside and at the high end.",
			Args: []op.Arg{x, {Name: "sample", Doc: "of all ranks"}, places, columns, step},
			Type: typed(types.I64, unknown, pair),
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
			Name: "select.inside", Hidden: true,
			Doc:    "select.inside lists the keys in the interval of each place, or one of them at an end of its range, where all are equal.",
			Args:   []op.Arg{x, near, {Name: "found", Doc: "what select.narrow made of select.tally"}, places, columns},
			Type:   typed(types.I64, unknown, pair),
			Cost:   func(s *op.Sig, _ types.Type) op.Work { return op.Work{Flops: define.ElementCount(s.In[0]) / 8} },
			Kernel: keysInside,
		},
		{
			Name: "select.start", Hidden: true,
			Doc:  "select.start is, for each place, no digit, and how many keys of select.inside come before it.",
			Args: []op.Arg{{Name: "found", Doc: "what select.narrow made of select.tally"}},
			Type: typed(types.I64, each, pair),
			Kernel: func(c *op.Call) error {
				for t := range c.Type.Rows {
					before := c.Dense(0).At(t, 1)
					if d := c.Dense(0).At(t, 0).I; d == isLow || d == isHigh {
						before = value.I64(0)
					}
					c.Result().Set(t, 0, value.I64(0))
					c.Result().Set(t, 1, before)
				}
				return nil
			},
		},
		{
			Name: "select.count", Hidden: true,
			Doc:  "select.count counts, for each place, a digit of its keys that have the digits found.",
			Args: []op.Arg{kept, found, shift, {Name: "bits", Attr: true, Kind: op.IntVal, Doc: "of the digit"}},
			Type: typed(types.F64, func(s *op.Sig) int { return s.In[1].Rows }, func(s *op.Sig) int { return 1 << s.Attrs.Int("bits") }),
			Kernel: func(c *op.Call) error {
				out, shift := c.Result(), c.Attrs.Int("shift")
				dense.Clear(out)
				eachKept(c, shift+c.Attrs.Int("bits"), func(k uint64, t int) {
					out.F64[t*out.Stride+int(k>>shift&uint64(out.Cols-1))]++
				})
				return nil
			},
		},
		{
			Name: "select.keep", Hidden: true,
			Doc:  "select.keep lists the keys that have the digits found for their place.",
			Args: []op.Arg{kept, found, shift},
			Type: typed(types.I64, unknown, pair),
			Kernel: func(c *op.Call) error {
				var pairs []int64
				eachKept(c, c.Attrs.Int("shift"), func(k uint64, t int) { pairs = append(pairs, int64(k), int64(t)) })
				c.Out = pairsOf(pairs)
				return nil
			},
		},
		{
			Name: "select.narrow", Hidden: true,
			Doc:    "select.narrow is, for each place, the digits of its key so far, and how many of the keys with these digits come before it.",
			Args:   []op.Arg{{Name: "counts"}, found, places},
			Type:   typed(types.I64, each, pair),
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
	counts, out, places := c.Dense(0), value.New(types.I64, c.Type.Rows, 2), c.Attrs.Ints("places")
	for t := range out.Rows {
		key, before := int64(0), places[t%len(places)]
		if len(c.In) > 1 {
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

// sampledKeys is about how many keys of a list are sampled: some n^(2/3) of n. More of them would take
// longer to put in order than the keys inside the range of a median, n^(2/3) * 4 at most, take to copy.
func sampledKeys(x types.Type, a *op.Attrs) int {
	return 1 << (2 * bits.Len(uint(x.Count()/max(1, listsIn(x, a)))) / 3)
}

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

// eachKept calls f for each key whose bits from bit number above on are the digits found for its place.
func eachKept(c *op.Call, above int, f func(k uint64, t int)) {
	kept, found := c.Dense(0), c.Dense(1)
	for i := range kept.Rows {
		row := kept.I64[i*kept.Stride:]
		if k, t := uint64(row[0]), int(row[1]); k>>above == uint64(found.I64[t*found.Stride]) {
			f(k, t)
		}
	}
}

// pairsOf returns a matrix of two columns with these elements, row after row.
func pairsOf(pairs []int64) *value.Dense {
	return &value.Dense{Elem: types.I64, Rows: len(pairs) / 2, Cols: 2, Stride: 2, I64: pairs}
}

// sampleLists is the kernel of select.sample. It leaves zeros behind the keys of a list.
func sampleLists(c *op.Call) error {
	out, lists := c.Result(), listsIn(c.In[0].Type(), c.Attrs)
	drawn, each := drawnBy(c, out), out.Cols/max(1, lists)
	from, to := define.OwnRows(c, out.Rows)
	for r := from; r < to; r++ {
		lo, hi := op.WindowOf(r, out.Rows, c.Dense(0).Rows, c.Attrs.Val("step"))
		for l := range lists {
			keys, x := make([]uint64, each), listOf(c, l, lo, hi)
			drawKeys(keys[:drawn[r]], x.Rows*x.Cols, func(keys []uint64, i int) { ElementKeys(keys, x, i) })
			for i, k := range keys {
				out.I64[r*out.Stride+l*each+i] = int64(k)
			}
		}
	}
	return nil
}

// drawnBy returns how many keys of a list each rank has in a sample: the more, the more rows it has. If
// all had as many, the keys of a rank with few rows would count for too much.
func drawnBy(c *op.Call, sample *value.Dense) []int {
	drawn, most := make([]int, sample.Rows), 1
	for r := range drawn {
		lo, hi := op.WindowOf(r, len(drawn), c.Dense(0).Rows, c.Attrs.Val("step"))
		drawn[r] = hi - lo
		most = max(most, hi-lo)
	}
	for r, rows := range drawn {
		drawn[r] = sample.Cols / max(1, listsIn(c.In[0].Type(), c.Attrs)) * rows / most
	}
	return drawn
}

// nearBody is one execution of select.near.
type nearBody struct {
	c      *op.Call
	per    int           // places of a list
	ranges []keyRange    // by place
	same   []int         // the first place of the list with the same range: it collects for all
	by     [][]collected // by worker and place
}

func beginNear(c *op.Call, workers int) *nearBody {
	x, sample, places := c.Dense(0), c.Dense(1), c.Attrs.Ints("places")
	l := &nearBody{c: c, per: len(places), by: make([][]collected, workers)}
	lists := listsIn(x.Type(), c.Attrs)
	drawn, each := drawnBy(c, sample), sample.Cols/max(1, lists)
	var keys []uint64
	room := make([]uint64, sample.Rows*each)
	for list := range lists {
		keys = keys[:0]
		for r, n := range drawn {
			for _, k := range sample.I64[r*sample.Stride+list*each:][:n] {
				keys = append(keys, uint64(k))
			}
		}
		SortPairs(keys, nil, room[:len(keys)], nil)
		for _, p := range places {
			r := keyRange{high: math.MaxUint64}
			at, far := sampledAt(int(p), x.Rows*x.Cols/lists, len(keys))
			if at > far {
				r.low = keys[at-far]
			}
			if at+far < len(keys) {
				r.high = keys[at+far]
			}
			t := len(l.ranges)
			l.ranges, l.same = append(l.ranges, r), append(l.same, t)
			if s := t - 1; t%l.per > 0 && l.ranges[s].low == r.low && l.ranges[s].high == r.high {
				l.same[t] = l.same[s]
			}
		}
	}
	for w := range l.by {
		l.by[w] = make([]collected, len(l.ranges))
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
					if l.same[t] == t {
						l.by[worker][t].collect(keys, l.ranges[t].low, l.ranges[t].high, 0, false)
					}
				}
			})
		}
	}
	return nil
}

// End joins what workers have counted and copied.
func (l *nearBody) End() error {
	rows := 3 * len(l.ranges)
	for _, by := range l.by {
		for _, w := range by {
			rows += len(w.keys)
		}
	}
	pairs := make([]int64, 0, 2*rows)
	for t, r := range l.ranges {
		all, inside := collected{}, 0
		for _, by := range l.by {
			w := &by[l.same[t]]
			all.below, all.lows, all.highs, inside = all.below+w.below, all.lows+w.lows, all.highs+w.highs, inside+len(w.keys)
		}
		pairs = append(pairs, int64(r.low), int64(r.high), int64(all.below), int64(all.lows), int64(inside), int64(all.highs))
	}
	for t := range l.ranges {
		for _, by := range l.by {
			for _, k := range by[t].keys {
				pairs = append(pairs, int64(k), int64(t))
			}
		}
	}
	l.c.Out = pairsOf(pairs)
	return nil
}

// keysInside is the kernel of select.inside.
func keysInside(c *op.Call) error {
	near, found, per := c.Dense(1), c.Dense(2), len(c.Attrs.Ints("places"))
	at := func(i, j int) int64 { return near.I64[i*near.Stride+j] }
	pairs := make([]int64, 0, 4*near.Rows) // two neighbours often share a range
	same, from, end := 0, 0, 3*found.Rows  // the first place with the same range, and rows from..end-1 of near, which are its keys
	for t := range found.Rows {
		low, high := uint64(at(3*t, 0)), uint64(at(3*t, 1))
		if t%per == 0 || at(3*same, 0) != at(3*t, 0) || at(3*same, 1) != at(3*t, 1) {
			same, from, end = t, end, end+int(at(3*t+2, 0))
		}
		switch interval := found.At(t, 0).I; interval {
		case isLow:
			pairs = append(pairs, int64(low), int64(t))
		case isHigh:
			pairs = append(pairs, int64(high), int64(t))
		case isInside:
			for i := from; i < end; i++ {
				pairs = append(pairs, at(i, 0), int64(t))
			}
		default:
			lo, hi := define.OwnRows(c, c.Dense(0).Rows)
			eachBlock(make([]uint64, selectBlock), listOf(c, t/per, lo, hi), func(keys []uint64) {
				for _, k := range keys {
					if k < low && interval == isBelow || k > high && interval == isAbove {
						pairs = append(pairs, int64(k), int64(t))
					}
				}
			})
		}
	}
	c.Out = pairsOf(pairs)
	return nil
}
