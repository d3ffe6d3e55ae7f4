package reduce

// This file makes the tables of the reductions by group.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

const (
	groupBlock = 512 // rows whose places in the table are computed at once
	// groupLanes is the number of sums of each of up to fewGroups groups, a power of two. A row and
	// the next add to different ones, because an addition to the same sum would wait for the one
	// before it. Of more groups, rows in turn seldom have the same.
	groupLanes = 4
	fewGroups  = 1 << 10
)

// groupsBody is one execution.
type groupsBody struct {
	c       *op.Call
	part    bool // the result is the states
	class   loop.Class
	floats  bool // exact sums are needed
	squares bool // those of squares, and counts, too
	size    int  // the number of groups
	lanes   int  // elements of a table for each group, and for the rows outside all groups
	by      []groupsWorker
}

// groupsWorker is the table of a worker that adds rows.
type groupsWorker struct {
	pairs   []exact.Pair // sums of floats
	squares []exact.Triple
	ints    []int64 // sums of integers, counts, or the greatest orders of numbers
	lo, hi  int     // all rows that it has added are in lo..hi-1; 0, 0: none
}

// extreme reports whether the result is a least or a greatest.
func (b *groupsBody) extreme() bool { return b.class == loop.Least || b.class == loop.Greatest }

// begin makes the table of a worker.
func (w *groupsWorker) begin(b *groupsBody) {
	many := b.lanes * (b.size + 1)
	if b.floats {
		w.pairs = make([]exact.Pair, many)
	}
	if b.squares {
		w.squares = make([]exact.Triple, many)
	} else if b.floats {
		return
	}
	w.ints = make([]int64, many)
	if b.extreme() {
		for j := range w.ints {
			w.ints[j] = math.MinInt64
		}
	}
}

// Chunk adds rows lo..hi-1.
func (b *groupsBody) Chunk(worker, lo, hi int) error {
	w := &b.by[worker]
	if w.hi == 0 {
		w.begin(b)
		w.lo = lo
	}
	w.lo, w.hi = min(w.lo, lo), max(w.hi, hi)
	b.blocks(lo, hi, func(i int, groups []int32) {
		for k := range groups {
			groups[k] = groups[k]*int32(b.lanes) + int32(k&(b.lanes-1))
		}
		w.add(b, i, groups)
	})
	return nil
}

// add adds rows i, i + 1, .. at these places of the table.
func (w *groupsWorker) add(b *groupsBody, i int, at []int32) {
	sums := w.ints
	d, _ := b.c.In[0].(*value.Dense)
	switch {
	case d == nil:
		one := b.c.In[0].(value.Scalar).I
		for _, j := range at {
			sums[j] += one
		}
	case b.extreme():
		var room [groupBlock]int64
		b.orders(room[:len(at)], d, i)
		for k, j := range at {
			sums[j] = max(sums[j], room[k])
		}
	case d.Elem == types.F64:
		var room [groupBlock]float64
		x := column(room[:], d.F64, d.Stride, i, len(at))
		if exact.AddScattered(w.pairs, at, x); b.squares {
			exact.AddSquaresScattered(w.squares, at, x)
			for _, j := range at {
				sums[j]++
			}
		}
	case d.Elem == types.I64:
		for k, j := range at {
			sums[j] += d.I64[(i+k)*d.Stride]
		}
	default:
		for k, j := range at {
			sums[j] += int64(d.Bool[(i+k)*d.Stride])
		}
	}
}

// column returns elements i..i+n-1 of a column. It copies them into room if the column has gaps.
func column(room, x []float64, stride, i, n int) []float64 {
	if stride == 1 {
		return x[i : i+n]
	}
	for k := range room[:n] {
		room[k] = x[(i+k)*stride]
	}
	return room[:n]
}

// orders stores the orders of rows i, i + 1, ..: of a greatest, the greater number has the greater
// order, and nan the greatest; of a least, the lesser number has the greater order. Of zeros -0 is the
// lesser.
func (b *groupsBody) orders(to []int64, d *value.Dense, i int) {
	flip := int64(0)
	if b.class == loop.Least {
		flip = -1
	}
	if d.Elem == types.I64 {
		for k := range to {
			to[k] = d.I64[(i+k)*d.Stride] ^ flip
		}
		return
	}
	for k := range to {
		x := d.F64[(i+k)*d.Stride]
		bits := int64(math.Float64bits(x))
		order := bits ^ int64(uint64(bits>>63)>>1) ^ flip
		if x != x {
			order = math.MaxInt64
		}
		to[k] = order
	}
}

// ordered is the number of this order, or what the reduction of no numbers is.
func (b *groupsBody) ordered(order int64, e types.Elem) value.Scalar {
	flip := int64(0)
	if b.class == loop.Least {
		flip = -1
	}
	switch order ^= flip; {
	case e == types.I64:
		return value.I64(order)
	case order^flip == math.MaxInt64:
		return value.F64(math.NaN())
	case order^flip == math.MinInt64:
		return value.F64(math.Inf(int(-1 - 2*flip)))
	}
	return value.F64(math.Float64frombits(uint64(order ^ int64(uint64(order>>63)>>1))))
}

// blocks calls f for blocks of rows lo..hi-1, with the groups of rows i, i + 1, .. f may change groups.
func (b *groupsBody) blocks(lo, hi int, f func(i int, groups []int32)) {
	var room [groupBlock]int32
	for i := lo; i < hi; i += groupBlock {
		groups := room[:min(groupBlock, hi-i)]
		clear(groups)
		for k, n := range b.c.Attrs.Ints("n") {
			key, first, by := b.c.Dense(1+k), b.c.Attrs.Ints("lo")[k], b.c.Attrs.Ints("by")[k]
			if key.Elem == types.I64 && key.Stride == 1 && by == 1 && k == 0 {
				for r, v := range key.I64[i:][:len(groups)] {
					groups[r] = int32(min(uint64(v-first), uint64(n)))
				}
				if n != int64(b.size) {
					for r, v := range groups {
						if v == int32(n) {
							groups[r] = int32(b.size)
						}
					}
				}
				continue
			}
			for r := range groups {
				v, whole := int64(0), true
				if at := (i + r) * key.Stride; key.Elem == types.I64 {
					v = key.I64[at]
				} else { // a float that is no int64 becomes another number
					v = int64(key.F64[at])
					whole = float64(v) == key.F64[at]
				}
				if v -= first; by != 1 {
					whole, v = whole && v%by == 0, v/by
				}
				if !whole || uint64(v) >= uint64(n) {
					groups[r] = int32(b.size)
				} else if groups[r] != int32(b.size) {
					groups[r] = groups[r]*int32(n) + int32(v)
				}
			}
		}
		f(i, groups)
	}
}

// End joins the tables of the workers. It adds the rows again to sums of floats that do not fit into
// pairs.
func (b *groupsBody) End() error {
	out := b.c.Result()
	b.by = slices.DeleteFunc(b.by, func(w groupsWorker) bool { return w.hi == 0 })
	if !b.floats {
		for j := range b.size {
			out.Set(j/out.Cols, j%out.Cols, b.whole(j, out.Elem))
		}
		return nil
	}
	var again []*[2]exact.Sum // by group: of the numbers, and of their squares; nil: its pairs have not lost any bits
	for j := range b.size {
		if sum, squares, lost := b.joined(j); !lost {
			b.finish(j, sum, squares)
			continue
		}
		if again == nil {
			again = make([]*[2]exact.Sum, b.size+1)
		}
		again[j] = &[2]exact.Sum{}
	}
	if again == nil {
		return nil
	}
	x, lo, hi := b.c.Dense(0), b.by[0].lo, 0
	for _, w := range b.by {
		lo, hi = min(lo, w.lo), max(hi, w.hi)
	}
	b.blocks(lo, hi, func(i int, groups []int32) {
		for k, j := range groups {
			if s := again[j]; s != nil {
				v := x.F64[(i+k)*x.Stride]
				if s[0].Add(v); b.squares {
					high, low := exact.Square(v)
					s[1].Add(high)
					s[1].Add(low)
				}
			}
		}
	})
	for j, s := range again {
		if s != nil {
			b.exactly(j, s)
		}
	}
	return nil
}

// whole returns the result of integers or orders of a group.
func (b *groupsBody) whole(j int, e types.Elem) value.Scalar {
	sum, order := int64(0), int64(math.MinInt64)
	for _, w := range b.by {
		for _, v := range w.ints[b.lanes*j:][:b.lanes] {
			sum, order = sum+v, max(order, v)
		}
	}
	if b.extreme() {
		return b.ordered(order, e)
	}
	return value.I64(sum)
}

// count returns the number of rows of a group, if its result needs it.
func (b *groupsBody) count(j int) (n int) {
	if b.squares {
		n = int(b.whole(j, types.I64).I)
	}
	return n
}

// joined returns the sums of a group. lost: they may not be exact, or are not finite.
func (b *groupsBody) joined(j int) (sum exact.Pair, squares exact.Triple, lost bool) {
	for _, w := range b.by {
		for k := b.lanes * j; k < b.lanes*(j+1); k++ {
			if sum.Merge(w.pairs[k]); b.squares {
				squares.Merge(w.squares[k])
			}
		}
	}
	return sum, squares, sum.Lost() || math.IsInf(sum.Round(), 0) || squares.Lost()
}

// finish stores the result of a group, or its state, if its sums are exact.
func (b *groupsBody) finish(j int, sum exact.Pair, squares exact.Triple) {
	n := b.count(j)
	s, q := exact.Parts{Term: [3]float64{sum.S, sum.T}}, exact.Parts{Term: [3]float64{squares.S, squares.T, squares.U}}
	switch v, ok := 0.0, false; {
	case b.part:
	case !b.squares:
		b.c.Result().F64[j] = sum.Round()
		return
	case n > 0:
		if v, ok = exact.Variance(&s, &q, n, false); !ok {
			break
		}
		if b.class == loop.Stddev {
			v = math.Sqrt(v)
		}
		b.c.Result().F64[j] = v
		return
	}
	var exactly [2]exact.Sum
	for k, p := range []exact.Parts{s, q} {
		for _, v := range p.Term {
			exactly[k].Add(v)
		}
	}
	b.exactly(j, &exactly)
}

// exactly stores the result of a group, or its state.
func (b *groupsBody) exactly(j int, s *[2]exact.Sum) {
	out, n := b.c.Result(), b.count(j)
	if !b.part {
		out.F64[j] = exact.Reduced(b.class, &s[0], &s[1], n, false)
		return
	}
	words := out.I64[j*out.Stride:][:out.Cols]
	if s[0].PutWords(words); b.squares {
		s[1].PutWords(words[exact.Words:])
		var count exact.Sum
		count.Add(float64(n))
		count.PutWords(words[2*exact.Words:])
	}
}
