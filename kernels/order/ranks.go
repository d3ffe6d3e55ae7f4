package order

// This file sorts rows that ranks share (op.Ordering): each rank ends up with a window of the sorted rows.
// The key at the beginning of each window, and how many rows with an equal key come before it, say to which
// window a row goes (select.equal, order.route). A gather with lists brings each rank the rows of its window
// that others have. The rank then sorts its window (the row op.Ordering.Of).

import (
	"math/bits"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/move"
)

// rowsOfRank calls f with each rank of a call and its rows lo..hi-1. It skips ranks without rows.
func rowsOfRank(c *op.Call, ranks int, f func(r, lo, hi int)) {
	for r := range ranks {
		if lo, hi := op.WindowOf(r, ranks, c.In[0].Type().Rows, c.Attrs.Int("step")); lo < hi {
			f(r, lo, hi)
		}
	}
}

// columnKeys returns the keys of a column, turned round if a call sorts downwards.
func columnKeys(c *op.Call, col *value.Dense) []uint64 {
	keys := AppendKeys(nil, col)
	if c.Attrs.Bool("desc") {
		Downwards(keys, col.Elem.IsFloat())
	}
	return keys
}

// sharedOrders is the rows of this file.
func sharedOrders(by, desc op.Arg) []*op.Def {
	step := op.Arg{Name: "step", Attr: true, Kind: op.IntVal, Doc: "rows of a unit of windows"}
	ranks := op.Arg{Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "windows"}
	once := op.Flow{Rate: op.Once}
	return []*op.Def{
		{
			Name: "select.equal", Hidden: true,
			Doc:  "select.equal is how many keys that a rank has kept (select.keep) are those found: row r is of rank r.",
			Args: []op.Arg{{Name: "kept"}, {Name: "found"}, ranks},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.I64, s.Attrs.Int("ranks"), s.In[1].Rows), nil
			},
			Ref: func(c *op.Call) (value.Value, error) {
				kept, found, out := c.Dense(0), c.Dense(1), value.New(types.I64, c.Type.Rows, c.Type.Cols)
				for t := range out.Cols {
					for i := range kept.Rows {
						if kept.At(i, 0).I == found.At(t, 0).I {
							out.Set(c.Lo, t, value.I64(out.At(c.Lo, t).I+1))
						}
					}
				}
				return out, nil
			},
			Laws: op.Pure, Flow: once, Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) },
			Kernel: func(c *op.Call) error {
				kept, found, out := c.Dense(0), c.Dense(1), c.Result()
				row := out.I64[c.Lo*out.Stride:][:out.Cols]
				clear(row)
				for i := range kept.Rows {
					for t := range row {
						if kept.I64[i*kept.Stride] == found.I64[t*found.Stride] {
							row[t]++
						}
					}
				}
				return nil
			},
		},
		{
			Name: "order.route", Hidden: true,
			Doc:  "order.route lists the rows that go from this rank to the windows of others: row r is those of rank r.",
			Args: []op.Arg{{Name: "x"}, {Name: "found"}, {Name: "equal"}, ranks, step, by, desc},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.SparseOf(types.Bool, s.Attrs.Int("ranks"), s.In[0].Rows), nil
			},
			Ref: func(c *op.Call) (value.Value, error) {
				out := value.New(types.Bool, c.Type.Rows, c.Type.Cols)
				at := orderRef(c.Dense(0), c.Attrs)
				rowsOfRank(c, out.Rows, func(r, lo, hi int) {
					for _, i := range at[lo:hi] {
						if i < lo || i >= hi {
							out.Set(r, i, value.Bool(true))
						}
					}
				})
				return define.KeptRef(out), nil
			},
			Laws: op.Pure, Flow: once, Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 2) },
			Stored: func(_ *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
				return sparsity.Uniform(out.Rows, out.Cols, float64(out.Cols), sparsity.Estimated) // with those that stay
			},
			Kernel: routed,
		},
		windowOf("sort", by, desc, func(s *op.Sig) types.Type { return s.In[0] },
			func(x *value.Dense, at []int) value.Value { return move.RowsRef(x, at) },
			func(c *op.Call, at []int64, lo int) { copyRows(c.Result(), c.Dense(0), at, lo) }),
		windowOf("argsort", by, desc, func(s *op.Sig) types.Type { return types.DenseOf(types.I64, s.In[0].Rows, 1) },
			func(_ *value.Dense, at []int) value.Value { return placesRef(at) },
			func(c *op.Call, at []int64, lo int) { copyColumn(c.Result(), at, lo) }),
	}
}

// routed is the kernel of order.route.
func routed(c *op.Call) error {
	found, equal, ranks := c.Dense(1), c.Dense(2), c.Type.Rows
	to := make([][]int32, ranks)
	seen := make([]int64, ranks-1) // rows before this one with the key that window t+1 begins with
	firsts := make([]uint64, ranks-1)
	for t := range firsts {
		firsts[t] = uint64(found.I64[t*found.Stride])
	}
	rowsOfRank(c, ranks, func(r, lo, hi int) {
		for t := range seen {
			if r > 0 {
				seen[t] += equal.At(r-1, t).I
			}
		}
		if c.Lo < c.Hi && lo != c.Lo {
			return
		}
		before := append([]int64(nil), seen...)
		for i, k := range columnKeys(c, sortColumn(c.Dense(0), c.Attrs).View(lo, 0, hi-lo, 1)) {
			w := 0
			for t, first := range firsts {
				_, above := bits.Sub64(first, k, 0) // 1 if k is: without a branch
				if w += int(above); k == first {
					if before[t] >= found.I64[t*found.Stride+1] {
						w++
					}
					before[t]++
				}
			}
			if w != r {
				to[w] = append(to[w], int32(lo+i))
			}
		}
	})
	out := value.NewCSR(types.Bool, ranks, c.Type.Cols, 0)
	for r := range to {
		out.Col = append(out.Col, to[r]...)
		out.Ptr[r+1] = int64(len(out.Col))
	}
	c.Out = out
	return nil
}

// placesRef returns places as a column.
func placesRef(at []int) value.Value {
	out := value.New(types.I64, len(at), 1)
	for i, p := range at {
		out.Set(i, 0, value.I64(int64(p)))
	}
	return out
}

// windowOf returns the row op.Ordering.Of for the row name: this rank's window of its result. The window has
// the rows of x that other ranks give to this one (take), and this rank's own rows without those that it
// gives to others (give).
func windowOf(name string, by, desc op.Arg, t func(s *op.Sig) types.Type, ref func(x *value.Dense, at []int) value.Value, write func(c *op.Call, at []int64, lo int)) *op.Def {
	return &op.Def{
		Name: name + ".window", Hidden: true, Doc: name + ".window is " + name + " of rows that ranks share (op.Ordering).",
		Args: []op.Arg{{Name: "x"}, {Name: "take"}, {Name: "give"}, by, desc},
		Type: func(s *op.Sig) (types.Type, error) { return t(s), nil },
		Ref: func(c *op.Call) (value.Value, error) {
			return ref(c.Dense(0), orderRef(c.Dense(0), c.Attrs)), nil
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Cost: sortWork,
		Kernel: func(c *op.Call) error {
			at := rowsOfWindow(c)
			keys := columnKeys(c, columnOf(c, at))
			var room SortRoom
			roomKeys, roomAt := room.Of(len(keys), true)
			SortPairs(keys, at, roomKeys, roomAt)
			write(c, at, c.Lo)
			return nil
		},
		Loop: &op.Loop{
			Own: true,
			Space: func(c *op.Call) (n, leaf int) {
				return SortSpace(c.In[0].Type().Rows / max(1, c.Attrs.Int("ranks")))
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				at := rowsOfWindow(c)
				l := BeginSort(columnOf(c, at), c.Attrs.Bool("desc"), true)
				l.SortedClass = func(_, lo, hi int) {
					for i, p := range l.At[lo:hi] {
						l.At[lo+i] = at[p]
					}
					write(c, l.At[lo:hi], c.Lo+lo)
				}
				return l, nil
			},
		},
	}
}

// columnOf returns the elements by which a call orders these rows.
func columnOf(c *op.Call, at []int64) *value.Dense {
	x := sortColumn(c.Dense(0), c.Attrs)
	col := value.New(x.Elem, len(at), 1)
	copyRows(col, x, at, 0)
	return col
}

// rowsOfWindow lists the rows of a window's result, ascending.
func rowsOfWindow(c *op.Call) (at []int64) {
	lo, hi := c.Lo, c.Hi
	if lo == hi { // no other ranks
		hi = c.Dense(0).Rows
	}
	take, give := c.In[1].(*value.CSR), c.In[2].(*value.CSR)
	gone := make([]bool, hi-lo)
	if c.Lo < c.Hi {
		for _, i := range give.Col[give.Ptr[0]:give.Ptr[give.Rows]] {
			gone[int(i)-lo] = true
		}
	}
	own := func() {
		for i, g := range gone {
			if !g {
				at = append(at, int64(lo+i))
			}
		}
	}
	if c.Lo == c.Hi {
		own()
		return at
	}
	done := false
	for r := range take.Rows {
		rows, _ := take.Row(r)
		if !done && len(rows) > 0 && int(rows[0]) >= hi {
			own()
			done = true
		}
		for _, i := range rows {
			at = append(at, int64(i))
		}
	}
	if !done {
		own()
	}
	return at
}
