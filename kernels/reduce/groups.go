package reduce

// This file defines the rows that reduce numbers by the values of one or two columns.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/exact"
	"flow/kernels/window"
)

const (
	groupBlock = 512 // rows whose places in the table are computed at once
	// groupLanes is the number of sums of a group. A row and the next add to different ones, because an
	// addition to the same sum would wait for the one before it.
	groupLanes = 4
)

// groupClasses are the reductions by group.
var groupClasses = []loop.Class{loop.Sum, loop.Least, loop.Greatest, loop.Var, loop.Stddev}

// groupRows returns the rows that reduce by the values of columns, and the rows of their states.
func groupRows() (out []*op.Def) {
	for _, class := range groupClasses {
		d := groupRow(class)
		out = append(append(out, d), groupStates(d)...)
	}
	return out
}

// groupRow returns the row of one reduction by group.
func groupRow(class loop.Class) *op.Def {
	word := class.Info().Name
	w := Whole{Class: class}
	d := &op.Def{
		Name: "group." + word, Hidden: true, Class: class,
		Doc: "group." + word + " is the " + word + " of x by group, exact and rounded once. Element [p, q] is of the rows where keys[0] is " +
			"lo[0] + p * by[0] and keys[1] is lo[1] + q * by[1], for n[0] rows and n[1] columns. With one key the result is a column. " +
			"A sum counts truth values; of a scalar that is true it counts rows. The compiler writes such operators for reductions " +
			"of the rows whose columns equal the indices of a parfor.",
		Args: []op.Arg{{Name: "x", Doc: "r x 1 of f64 or i64, for a sum also of bool, or a truth value"}, {Name: "keys", Rest: true, Doc: "one or two columns r x 1 of numbers"},
			{Name: "lo", Attr: true, Kind: op.IntsVal, Doc: "the first index of each key"},
			{Name: "by", Attr: true, Kind: op.IntsVal, Doc: "the step of each"},
			{Name: "n", Attr: true, Kind: op.IntsVal, Doc: "how many there are of each"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, n := s.In[0], s.Attrs.Ints("n")
			if len(s.In) != len(n)+1 || len(n) > 2 || len(s.Attrs.Ints("lo")) != len(n) || len(s.Attrs.Ints("by")) != len(n) {
				return t, op.Faultf(0, define.CodeKind, "%s of %d keys by %v", s.Def.Name, len(s.In)-1, n)
			}
			if class != loop.Sum && (!t.IsDense() || t.Elem != types.F64 && (w.sums(t.Elem) > 0 || t.Elem != types.I64)) {
				return t, op.Faultf(0, define.CodeKind, "%s of %v", s.Def.Name, t)
			}
			for i, key := range s.In[1:] {
				if !key.IsDense() || key.Cols != 1 || key.Elem != types.I64 && key.Elem != types.F64 || !t.IsScalar() && key.Rows != t.Rows {
					return t, op.Faultf(1+i, define.CodeKind, "%s of %v by %v", s.Def.Name, t, key)
				}
			}
			return groupType(t.Elem == types.F64, n), nil
		},
		Ref:  func(c *op.Call) (value.Value, error) { return groupRef(c, class), nil },
		Laws: op.Pure | op.Total,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			cost := define.StreamCost(s, out, 1)
			cost.Flops += 16 * float64(s.In[1].Rows)
			return cost
		},
		Loop:  groupsLoop(class, false),
		Shard: op.Shard{Partial: "group." + word + ".part", Combine: "sum.join", Finish: "group." + word + ".done"},
	}
	if class == loop.Least || class == loop.Greatest {
		d.Shard.Combine = word + ".join"
	}
	return d
}

// groupType returns the type of the results of groups by keys of so many values.
func groupType(floats bool, n []int64) types.Type {
	t := types.DenseOf(types.I64, int(n[0]), 1)
	if floats {
		t.Elem = types.F64
	}
	if len(n) > 1 {
		t.Cols = int(n[1])
	}
	return t
}

// groupsLoop returns the loop over the rows of x. part: its results are states.
func groupsLoop(class loop.Class, part bool) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) { return c.In[1].Type().Rows, window.LeafElements },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			b := &groupsBody{c: c, part: part, class: class, size: 1, by: make([]groupsWorker, workers)}
			for _, k := range c.Attrs.Ints("n") {
				b.size *= int(k)
			}
			b.squares = class == loop.Var || class == loop.Stddev
			b.floats = b.squares || class == loop.Sum && c.In[0].Type().Elem == types.F64
			return b, nil
		},
	}
}

// groupStates returns the rows of the states of d, one below the other, a state for each group. That of
// a sum and of an extreme is the accumulator of the whole reduction. That of a variance has the sums of
// the numbers and of their squares, and how many there are.
func groupStates(d *op.Def) []*op.Def {
	w := Whole{Class: d.Class}
	state := func(s *op.Sig) (types.Type, error) {
		t, err := d.Type(s)
		acc := w.Acc(t.Elem)
		if w.sums(t.Elem) > 1 {
			acc.Cols = 3 * exact.Words
		}
		acc.Rows = t.Rows * t.Cols
		return acc, err
	}
	rows := groupsLoop(d.Class, true)
	rows.Rows = func(s *op.Sig, _ types.Type) int { return s.In[1].Rows }
	part := define.ByKernel(&op.Def{
		Name: d.Shard.Partial, Hidden: true, Doc: d.Shard.Partial + " is the states of the groups of some rows, a row each.",
		Args: d.Args, Type: state, Laws: d.Laws, Cost: d.Cost, Loop: rows,
	})
	done := define.ByKernel(&op.Def{
		Name: d.Shard.Finish, Hidden: true, Doc: d.Shard.Finish + " is " + d.Name + " of states that have been merged.",
		Args: []op.Arg{{Name: "acc"}, d.Args[4], {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			return groupType(s.In[0].Cols > 1 || s.In[0].Elem == types.F64, s.Attrs.Ints("n")), nil
		},
		Laws: d.Laws,
		Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			acc, out := c.Dense(0), c.Result()
			for j := range acc.Rows {
				one, n := acc.View(j, 0, 1, acc.Cols), 0
				if acc.Cols == 3*exact.Words {
					count := exact.FromWords(acc.I64[j*acc.Stride+2*exact.Words:][:exact.Words])
					one, n = acc.View(j, 0, 1, 2*exact.Words), int(count.Round())
				}
				out.Set(j/out.Cols, j%out.Cols, w.Done(one, out.Elem, n))
			}
			return nil
		},
	})
	return []*op.Def{part, done}
}

// groupRef is the definition: it compares every row with every index.
func groupRef(c *op.Call, class loop.Class) value.Value {
	lo, by := c.Attrs.Ints("lo"), c.Attrs.Ints("by")
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for p := range out.Rows {
		for q := range out.Cols {
			var of []loop.Word
			for i := range c.Dense(1).Rows {
				is := true
				for k, at := range []int{p, q}[:len(lo)] {
					index := value.I64(lo[k] + by[k]*int64(at))
					key := c.Dense(1+k).At(i, 0)
					is = is && (key.Elem == types.I64 && key.I == index.I || key.Elem != types.I64 && key.Float() == index.Float())
				}
				switch x := c.In[0].(type) {
				case value.Scalar:
					is = is && x.I != 0
					if is {
						of = append(of, 1)
					}
				case *value.Dense:
					if is {
						of = append(of, loop.WordOf(x.At(i, 0)))
					}
				}
			}
			out.Set(p, q, loop.ScalarOf(out.Elem, class.Fold(out.Elem, [][]loop.Word{of})))
		}
	}
	return out
}

// groupsBody is one execution.
type groupsBody struct {
	c       *op.Call
	part    bool // the result is the states
	class   loop.Class
	floats  bool // exact sums are needed
	squares bool // those of squares, and counts, too
	size    int  // the number of groups
	by      []groupsWorker
}

// groupsWorker is the table of a worker that adds rows. It has groupLanes elements for each group, and
// one group more for the rows outside all groups.
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
	many := groupLanes * (b.size + 1)
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
			groups[k] = groups[k]*groupLanes + int32(k%groupLanes)
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

// orders stores the orders of rows i, i + 1, ..: of a greatest, the greater number has the greater order,
// and nan the greatest; of a least, the lesser number has the greater order. Of zeros -0 is the lesser.
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
		for _, v := range w.ints[groupLanes*j:][:groupLanes] {
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
		for k := groupLanes * j; k < groupLanes*(j+1); k++ {
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
