package order

// This file sorts rows that ranks share (op.Ordering): each rank ends up with a window of the sorted
// rows. Each rank sorts its own rows first (op.Ordering.Own). A window then consists of one run of
// consecutive rows from each rank. Binary search finds the key at the beginning of each window
// (order.count) and how many rows of each rank come before it (order.near). A gather brings each rank
// its runs, and the rank merges them (op.Ordering.Of).

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"math"
)

// sortedRows is rows lo..hi-1 of a matrix, in order of the keys of a column.
type sortedRows struct {
	col    *value.Dense
	desc   bool
	lo, hi int
}

// sortedOf is the rows of a call that ranks share.
func sortedOf(c *op.Call, lo, hi int) sortedRows {
	return sortedRows{sortColumn(c.Dense(0), c.Attrs), c.Attrs.Bool("desc"), lo, hi}
}

// keys makes keys those of rows i, i+1, ...
func (s *sortedRows) keys(keys []uint64, i int) {
	directedKeys(keys, s.col, i, s.desc)
}

// before is the first row from lo on whose key is not below k; hi if there is none.
func (s *sortedRows) before(k uint64, lo, hi int) int {
	var key [1]uint64
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if s.keys(key[:], mid); key[0] < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// after is the first row from lo on whose key is above k.
func (s *sortedRows) after(k uint64, lo, hi int) int {
	if k+1 == 0 {
		return hi
	}
	return s.before(k+1, lo, hi)
}

// sharedOrders returns the rows of this file.
func sharedOrders(by, desc op.Arg) []*op.Def {
	step := op.Arg{Name: "step", Attr: true, Kind: op.IntVal, Doc: "rows of a unit of windows, or where these begin (WindowOf)"}
	ranks := op.Arg{Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "windows"}
	digits := []op.Arg{{Name: "places", Attr: true, Kind: op.IntsVal, Doc: "in the list"}, {Name: "shift", Attr: true, Kind: op.IntVal, Doc: "bits below the digit"},
		{Name: "bits", Attr: true, Kind: op.IntVal, Doc: "of the digit"}}
	halving := func(s *op.Sig, out types.Type) op.Work {
		n := define.ElementCount(out)
		return op.Work{Flops: 100 * n, Bytes: 8 * n}
	}
	same := func(s *op.Sig) types.Type { return s.In[0] }
	column := func(s *op.Sig) types.Type { return types.DenseOf(types.I64, s.In[0].Rows, 1) }
	rows := []*op.Def{
		{
			Name: "order.count", Hidden: true,
			Doc:  "order.count is select.count of rows that are in order on each rank.",
			Args: append([]op.Arg{{Name: "x", Doc: "n x m"}, {Name: "found", Rest: true, Doc: "what select.narrow made of the digits before"}, by, desc}, digits...),
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.F64, len(s.Attrs.Ints("places")), 1<<s.Attrs.Int("bits")), nil
			},
			Laws: op.Pure, Cost: halving, Kernel: countSorted,
		},
		{
			Name: "order.near", Hidden: true,
			Doc:  "order.near is how many rows of each rank come before each key that is found, and how many have it.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "found"}, ranks, step, by, desc},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.I64, s.Attrs.Int("ranks"), 2*s.In[1].Rows), nil
			},
			Laws: op.Pure, Cost: halving,
			Kernel: func(c *op.Call) error {
				found, out := c.Dense(1), c.Result()
				eachWindow(c, func(r int, s sortedRows) {
					for t := range found.Rows {
						k := uint64(found.At(t, 0).I)
						i := s.before(k, s.lo, s.hi)
						out.Set(r, 2*t, value.I64(int64(i-s.lo)))
						out.Set(r, 2*t+1, value.I64(int64(s.after(k, i, s.hi)-i)))
					}
				})
				return nil
			},
		},
		{
			Name: "order.cuts", Hidden: true,
			Doc:  "order.cuts is where the runs of each rank begin, by window, and where the last one ends: row r is of rank r.",
			Args: []op.Arg{{Name: "near"}, {Name: "found"}, {Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows of all ranks"}, step},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.I64, s.In[0].Rows, s.In[1].Rows+2), nil
			},
			Laws: op.Pure, Cost: halving,
			Kernel: func(c *op.Call) error { c.Result().CopyFrom(cutsOf(c)); return nil },
		},
		ownOrder("sort", by, desc, false,
			func(c *op.Call, keys []uint64, at []int64, lo, to int) {
				x := c.Dense(0)
				if at == nil {
					writeKeyed(c.Result(), keys, c.Attrs.Bool("desc"), to)
					return
				}
				copyRows(c.Result(), x.View(lo, 0, x.Rows-lo, x.Cols), at, to)
			}),
		ownOrder("argsort", by, desc, true,
			func(c *op.Call, keys []uint64, at []int64, lo, to int) {
				out := c.Result()
				for i, k := range keys {
					row := out.I64[(to+i)*out.Stride:]
					row[0], row[1] = int64(k^SignBit), int64(lo)+at[i] // the element whose key is k
				}
			}),
		endsOfWindows(by, desc, ranks, step),
		mergedOrder("sort", by, desc, same, func(c *op.Call, at []int64, to int) { copyRows(c.Result(), c.Dense(0), at, to) }),
		mergedOrder("argsort", by, desc, column, func(c *op.Call, at []int64, to int) {
			x, out := c.Dense(0), c.Result()
			for i, p := range at {
				out.I64[(to+i)*out.Stride] = x.I64[int(p)*x.Stride+1]
			}
		}),
	}
	rows = append(rows, distinctLists(ranks, step)...)
	for _, d := range rows {
		define.ByKernel(d)
	}
	return rows
}

// eachWindow calls f with the rank of this call and its sorted rows, or with all ranks.
func eachWindow(c *op.Call, f func(r int, s sortedRows)) {
	ranks, n := c.Type.Rows, c.Dense(0).Rows
	from, to := define.OwnRows(c, ranks)
	for r := from; r < to; r++ {
		lo, hi := op.WindowOf(r, ranks, n, c.Attrs.Val("step"))
		f(r, sortedOf(c, lo, hi))
	}
}

// countSorted is the kernel of order.count.
func countSorted(c *op.Call) error {
	out, shift := c.Result(), c.Attrs.Int("shift")
	above := shift + c.Attrs.Int("bits")
	lo, hi := define.OwnRows(c, c.Dense(0).Rows)
	rows := sortedOf(c, lo, hi)
	found := func(t int) uint64 {
		if len(c.In) < 2 {
			return 0
		}
		return uint64(c.Dense(1).At(t, 0).I)
	}
	for t := range out.Rows {
		count, key := out.F64[t*out.Stride:][:out.Cols], found(t)
		if t > 0 && key == found(t-1) {
			copy(count, out.F64[(t-1)*out.Stride:])
			continue
		}
		first := key << above // 0 where there is no digit above
		i := rows.before(first, lo, hi)
		end := rows.after(first|(1<<above-1), i, hi)
		for d := range count {
			next := end
			if i < end {
				next = rows.after(first|uint64(d)<<shift|(1<<shift-1), i, end)
			}
			count[d], i = float64(next-i), next
		}
	}
	return nil
}

// cutsOf is order.cuts. Of rows with the key that a window begins with, those that come before it are
// of the first ranks.
func cutsOf(c *op.Call) *value.Dense {
	near, found, out := c.Dense(0), c.Dense(1), value.New(types.I64, c.Type.Rows, c.Type.Cols)
	for r := range out.Rows {
		lo, hi := op.WindowOf(r, out.Rows, c.Attrs.Int("n"), c.Attrs.Val("step"))
		out.Set(r, 0, value.I64(int64(lo)))
		out.Set(r, out.Cols-1, value.I64(int64(hi)))
	}
	for t := range found.Rows {
		before := found.At(t, 1).I
		for r := range out.Rows {
			equal := min(before, near.At(r, 2*t+1).I)
			before -= equal
			out.Set(r, t+1, value.I64(out.At(r, 0).I+near.At(r, 2*t).I+equal))
		}
	}
	return out
}

// ownOrder is the row op.Ordering.Own of the row name, with Pairs if pairs. write is given sorted keys
// and their places behind row lo, for rows to, to + 1, ... of the result. The places are nil where the
// keys determine the rows.
func ownOrder(name string, by, desc op.Arg, pairs bool, write func(c *op.Call, keys []uint64, at []int64, lo, to int)) *op.Def {
	begin := func(c *op.Call, workers int) *Sorter {
		x := c.Dense(0)
		lo, hi := define.OwnRows(c, x.Rows)
		var places []int64
		if pairs || !sortedByKeys(x.Type()) {
			places = Places(hi - lo)
		}
		l := BeginSort(sortColumn(x, c.Attrs).View(lo, 0, hi-lo, 1), c.Attrs.Bool("desc"), places, workers)
		l.telling = places == nil && x.Elem.IsFloat()
		l.SortedClass = func(_, i, j int) {
			at := l.At
			if l.places {
				at = at[i:j]
			}
			write(c, l.Sorted[i:j], at, lo, lo+i)
		}
		return l
	}
	return &op.Def{
		Name: name + ".own", Hidden: true, Doc: name + ".own puts a rank's rows in order, for " + name + ".window.",
		Args: []op.Arg{{Name: "x"}, by, desc},
		Type: func(s *op.Sig) (types.Type, error) {
			if pairs {
				return types.DenseOf(types.I64, s.In[0].Rows, 2), nil
			}
			return s.In[0], nil
		},
		Laws: op.Pure, Rate: "order", Cost: sortWork, Beside: roomOfRows,
		Kernel: func(c *op.Call) error {
			lo, hi := define.OwnRows(c, c.Dense(0).Rows)
			r := ordering()
			defer r.free()
			at := r.of(c.Dense(0).View(lo, 0, hi-lo, c.Dense(0).Cols), c.Attrs, nil)
			write(c, r.keys, at, lo, lo)
			return nil
		},
		Loop: &op.Loop{
			Own:   true,
			Space: ownSpace,
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return begin(c, workers), nil },
		},
	}
}

// writeKeyed writes the numbers with these keys, downwards if desc, to rows to, to + 1, ... of a
// column. No key is that of nan.
func writeKeyed(out *value.Dense, keys []uint64, desc bool, to int) {
	turn, at := uint64(0), to*out.Stride
	if desc {
		turn = math.MaxUint64
	}
	for _, k := range keys {
		k ^= turn
		switch out.Elem {
		case types.F64:
			out.F64[at] = math.Float64frombits(floatBits(k))
		case types.F32:
			out.F32[at] = float32(math.Float64frombits(floatBits(k)))
		default:
			out.I64[at] = int64(k ^ SignBit)
		}
		at += out.Stride
	}
}

// endsOfWindows returns the row order.ends. Its result has `rows` rows for each window.
func endsOfWindows(by, desc, ranks, step op.Arg) *op.Def {
	// end calls find for each window of this rank, with the rows of the window and with the places that the
	// call asks for. find gives write the rows at these places.
	end := func(c *op.Call, find func(x *value.Dense, spans []Span, write func(at []int64, i int))) {
		x, k := c.Dense(0), c.Attrs.Int("rows")
		from, to := define.OwnRows(c, c.Type.Rows)
		for r := from / k; r < to/k; r++ {
			lo, hi := op.WindowOf(r, c.Type.Rows/k, x.Rows, c.Attrs.Val("step"))
			first := 0
			if c.Attrs.Bool("last") {
				first = hi - lo - k
			}
			write := func(at []int64, i int) {
				for j, p := range at {
					c.Result().Set(r*k+i-first+j, 0, value.I64(int64(lo)+p))
				}
			}
			find(x.View(lo, 0, hi-lo, x.Cols), []Span{{first, first + k}}, write)
		}
	}
	return &op.Def{
		Name: "order.ends", Hidden: true,
		Doc: "order.ends returns the numbers of the rows that come first, or last, when the rows of each rank are in order.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "rows", Attr: true, Kind: op.IntVal, Doc: "of each rank"},
			{Name: "last", Attr: true, Kind: op.BoolVal, Doc: "the last ones"}, ranks, step, by, desc},
		Type: func(s *op.Sig) (types.Type, error) {
			return types.DenseOf(types.I64, types.Times(s.Attrs.Int("ranks"), s.Attrs.Int("rows")), 1), nil
		},
		Laws: op.Pure,
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			return op.Work{Flops: 4 * float64(s.In[0].Rows), Bytes: 8 * float64(s.In[0].Rows)}
		},
		Beside: roomOfRows,
		Kernel: func(c *op.Call) error {
			end(c, func(x *value.Dense, spans []Span, write func(at []int64, i int)) {
				someInPlace(x, c.Attrs, spans, write)
			})
			return nil
		},
		Loop: &op.Loop{
			Own:   true,
			Space: ownSpace,
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				var all []op.Passes
				end(c, func(x *value.Dense, spans []Span, write func(at []int64, i int)) {
					all = append(all, beginSome(x, c.Attrs, spans, write, workers))
				})
				return BeginColumns(len(all), 1, func(j int) op.Passes { return all[j] }), nil
			},
		},
	}
}

// ownSpace is the index space of sorting, or merging, the rows of a rank.
func ownSpace(c *op.Call) (n, leaf int) {
	return SortSpace(c.In[0].Type().Rows / max(1, c.Attrs.Int("ranks")))
}

// mergedOrder is the row op.Ordering.Of of the row name: this rank's window of its result. write is
// given the places of rows to, to + 1, ... of the result.
func mergedOrder(name string, by, desc op.Arg, t func(s *op.Sig) types.Type, write func(c *op.Call, at []int64, to int)) *op.Def {
	return &op.Def{
		Name: name + ".window", Hidden: true, Doc: name + ".window is " + name + " of rows that ranks share (op.Ordering).",
		Args: []op.Arg{{Name: "x", Doc: "rows in order, by rank"}, {Name: "cuts", Doc: "what order.cuts made"}, by, desc},
		Type: func(s *op.Sig) (types.Type, error) { return t(s), nil },
		Laws: op.Pure,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			n := define.ElementCount(s.In[0])
			return op.Work{Flops: 5 * n, Bytes: 16*n + define.CopyBytes(out)}
		},
		Kernel: func(c *op.Call) error {
			l := beginMerge(c, 1, write)
			l.units = 1 + l.n/mergeRows
			return l.Chunk(0, 0, l.units)
		},
		Loop: &op.Loop{
			Own:   true,
			Space: ownSpace,
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginMerge(c, workers, write), nil },
		},
	}
}
