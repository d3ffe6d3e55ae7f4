package reduce

// This file defines the row that sums numbers by the values of one or two columns.

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

// groupSums returns the row that sums by the values of columns, and the rows of its states.
func groupSums() []*op.Def {
	d := &op.Def{
		Name: "group.sums", Hidden: true,
		Doc: "group.sums returns the exact sums of x by group. Element [p, q] is the sum over the rows where keys[0] is lo[0] + p * by[0] " +
			"and keys[1] is lo[1] + q * by[1], for n[0] rows and n[1] columns. With one key the result is a column. Truth values are " +
			"counted; a scalar that is true counts rows. The compiler writes group.sums for sums and counts by an index of a parfor.",
		Args: []op.Arg{{Name: "x", Doc: "r x 1 of f64, i64 or bool, or a truth value"}, {Name: "keys", Rest: true, Doc: "one or two columns r x 1 of numbers"},
			{Name: "lo", Attr: true, Kind: op.IntsVal, Doc: "the first index of each key"},
			{Name: "by", Attr: true, Kind: op.IntsVal, Doc: "the step of each"},
			{Name: "n", Attr: true, Kind: op.IntsVal, Doc: "how many there are of each"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, n := s.In[0], s.Attrs.Ints("n")
			if len(s.In) != len(n)+1 || len(n) > 2 || len(s.Attrs.Ints("lo")) != len(n) || len(s.Attrs.Ints("by")) != len(n) {
				return t, op.Faultf(0, define.CodeKind, "group.sums of %d keys by %v", len(s.In)-1, n)
			}
			for i, key := range s.In[1:] {
				if !key.IsDense() || key.Cols != 1 || key.Elem != types.I64 && key.Elem != types.F64 || !t.IsScalar() && key.Rows != t.Rows {
					return t, op.Faultf(1+i, define.CodeKind, "group.sums of %v by %v", t, key)
				}
			}
			elem := types.I64
			if t.Elem == types.F64 {
				elem = types.F64
			}
			if len(n) == 1 {
				n = append(slices.Clone(n), 1)
			}
			return types.DenseOf(elem, int(n[0]), int(n[1])), nil
		},
		Ref:  groupSumsRef,
		Laws: op.Pure | op.Total,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.StreamCost(s, out, 1)
			w.Flops += 16 * float64(s.In[1].Rows)
			return w
		},
		Loop:  groupsLoop(false),
		Shard: op.Shard{Partial: "group.sums.part", Combine: "sum.join", Finish: "group.sums.done"},
	}
	return append([]*op.Def{d}, groupStates(d)...)
}

// groupsLoop returns the loop over the rows of x. part: its results are states.
func groupsLoop(part bool) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) { return c.In[1].Type().Rows, window.LeafElements },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			n := 1
			for _, k := range c.Attrs.Ints("n") {
				n *= int(k)
			}
			return &groupsBody{c: c, part: part, floats: c.In[0].Type().Elem == types.F64, size: n, by: make([]groupsWorker, workers)}, nil
		},
	}
}

// groupStates returns the rows of the states of d, group.sums. A state has the accumulator of a sum for
// each group, one below the other.
func groupStates(d *op.Def) []*op.Def {
	state := func(s *op.Sig) (types.Type, error) {
		t, err := d.Type(s)
		w := Whole{Class: loop.Sum}.Acc(t.Elem)
		w.Rows = t.Rows * t.Cols
		return w, err
	}
	rows := groupsLoop(true)
	rows.Rows = func(s *op.Sig, _ types.Type) int { return s.In[1].Rows }
	part := define.ByKernel(&op.Def{
		Name: "group.sums.part", Hidden: true, Doc: "group.sums.part is the states of the groups of some rows, a row each.",
		Args: d.Args, Type: state, Laws: d.Laws, Cost: d.Cost, Loop: rows,
	})
	done := define.ByKernel(&op.Def{
		Name: "group.sums.done", Hidden: true, Doc: "group.sums.done is group.sums of states that have been merged.",
		Args: []op.Arg{{Name: "acc"}, d.Args[4], {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			n := append(slices.Clone(s.Attrs.Ints("n")), 1)
			t := types.DenseOf(types.I64, int(n[0]), int(n[1]))
			if s.In[0].Cols > 1 {
				t.Elem = types.F64
			}
			return t, nil
		},
		Laws: d.Laws,
		Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			acc, out := c.Dense(0), c.Result()
			for j := range acc.Rows {
				v := Whole{Class: loop.Sum}.Done(acc.View(j, 0, 1, acc.Cols), out.Elem, 0)
				out.Set(j/out.Cols, j%out.Cols, v)
			}
			return nil
		},
	})
	return []*op.Def{part, done}
}

// groupSumsRef is the definition: it compares every row with every index.
func groupSumsRef(c *op.Call) (value.Value, error) {
	lo, by := c.Attrs.Ints("lo"), c.Attrs.Ints("by")
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for p := range out.Rows {
		for q := range out.Cols {
			var sum exact.Sum
			count := int64(0)
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
						count++
					}
				case *value.Dense:
					if v := x.At(i, 0); is && v.Elem == types.F64 {
						sum.Add(v.F)
					} else if is {
						count += v.I
					}
				}
			}
			if out.Elem == types.F64 {
				out.Set(p, q, value.F64(sum.Round()))
			} else {
				out.Set(p, q, value.I64(count))
			}
		}
	}
	return out, nil
}

// groupsBody is one execution.
type groupsBody struct {
	c      *op.Call
	part   bool // the result is the states
	floats bool
	size   int // the number of groups
	by     []groupsWorker
}

// groupsWorker is the table of a worker that adds rows. It has groupLanes sums for each group, and one
// group more for the rows outside all groups.
type groupsWorker struct {
	pairs  []exact.Pair // sums of floats
	ints   []int64      // sums of integers and counts
	lo, hi int          // all rows that it has added are in lo..hi-1; 0, 0: none
}

// Chunk adds rows lo..hi-1.
func (b *groupsBody) Chunk(worker, lo, hi int) error {
	x := b.c.In[0]
	var floats [groupBlock]float64
	w, many := &b.by[worker], groupLanes*(b.size+1)
	switch {
	case w.hi > 0:
	case b.floats:
		w.pairs, w.lo = make([]exact.Pair, many), lo
	default:
		w.ints, w.lo = make([]int64, many), lo
	}
	w.lo, w.hi = min(w.lo, lo), max(w.hi, hi)
	b.blocks(lo, hi, func(i int, groups []int32) {
		for k := range groups {
			groups[k] = groups[k]*groupLanes + int32(k%groupLanes)
		}
		sums := w.ints
		switch d, _ := x.(*value.Dense); {
		case d == nil:
			one := x.(value.Scalar).I
			for _, j := range groups {
				sums[j] += one
			}
		case d.Elem == types.F64:
			exact.AddScattered(w.pairs, groups, column(floats[:], d.F64, d.Stride, i, len(groups)))
		case d.Elem == types.I64:
			for k, j := range groups {
				sums[j] += d.I64[(i+k)*d.Stride]
			}
		default:
			for k, j := range groups {
				sums[j] += int64(d.Bool[(i+k)*d.Stride])
			}
		}
	})
	return nil
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

// blocks calls f for blocks of rows lo..hi-1, with the groups of rows i, i + 1, .. f may change groups.
func (b *groupsBody) blocks(lo, hi int, f func(i int, groups []int32)) {
	var room [groupBlock]int32
	for i := lo; i < hi; i += groupBlock {
		groups := room[:min(groupBlock, hi-i)]
		clear(groups)
		for k, n := range b.c.Attrs.Ints("n") {
			key, first, by := b.c.Dense(1+k), b.c.Attrs.Ints("lo")[k], b.c.Attrs.Ints("by")[k]
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

// End adds the sums of the workers. It adds the rows again for sums of floats that do not fit into
// pairs.
func (b *groupsBody) End() error {
	out := b.c.Result()
	b.by = slices.DeleteFunc(b.by, func(w groupsWorker) bool { return w.hi == 0 })
	if !b.floats {
		clear(out.I64)
		for _, w := range b.by {
			for j, n := range w.ints[:groupLanes*b.size] {
				out.I64[j/groupLanes] += n
			}
		}
		return nil
	}
	var again []*exact.Sum // by group; nil: its pairs have not lost any bits
	for j := range b.size {
		var sum exact.Pair
		for _, w := range b.by {
			for _, p := range w.pairs[groupLanes*j : groupLanes*(j+1)] {
				sum.Merge(p)
			}
		}
		if sum.Lost() || math.IsInf(sum.Round(), 0) {
			if again == nil {
				again = make([]*exact.Sum, b.size+1)
			}
			again[j] = &exact.Sum{}
		} else if b.part {
			var s exact.Sum
			s.Add(sum.S)
			s.Add(sum.T)
			s.PutWords(out.I64[j*out.Stride:][:exact.Words])
		} else {
			out.F64[j] = sum.Round()
		}
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
				s.Add(x.F64[(i+k)*x.Stride])
			}
		}
	})
	for j, s := range again {
		switch {
		case s == nil:
		case b.part:
			s.PutWords(out.I64[j*out.Stride:][:exact.Words])
		default:
			out.F64[j] = s.Round()
		}
	}
	return nil
}
