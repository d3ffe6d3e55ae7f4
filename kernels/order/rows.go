package order

// This file defines the rows that put rows of a matrix in another order or choose among them: sort,
// argsort, take, unique.

import (
	"math"
	"slices"
	"sort"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/move"
	"flow/kernels/window"
)

// Rows is the rows of this file.
func Rows() []*op.Def {
	first := op.Int(0)
	by := op.Arg{Name: "by", Attr: true, Kind: op.IntVal, Default: &first, Doc: "the column to compare; a negative one counts from the end"}
	desc := define.Flag("desc", "greatest first")
	sorts := slices.Concat(orderRows(&op.Def{
		Name: "sort",
		Doc: "sort returns the rows of a matrix ordered by one column, ascending, or descending with desc = true. Rows that are " +
			"equal there keep their order, -0 equals 0, and nan comes last in both directions. To sort by several columns sort by " +
			"the last of them first.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, by, desc},
		Eg: []op.Example{{Program: "emit sort(reverse(seq(1, 4)))", Output: "1\n2\n3\n"},
			{Program: "emit sort(reshape(seq(1, 7), 3, 2), by = 1, desc = true)", Output: "5 6\n3 4\n1 2\n"}},
		Type:  sortType,
		Order: &op.Ordering{Own: "sort.own", Of: "sort.window", Part: "sort.part", Places: "argsort.part"},
		Ref: func(c *op.Call) (value.Value, error) {
			x := c.Dense(0)
			return move.RowsRef(x, orderRef(x, c.Attrs)), nil
		},
		Elements: func(e *op.Elements) op.Element {
			return fewInOrder(e, e.In[0].Type.Cols, false, func(i, j int) loop.Val { return e.In[0].At(loop.Num(int64(i)), loop.Num(int64(j))) })
		},
	}, func(c *op.Call, at []int64, lo int) { copyRows(c.Result(), c.Dense(0), at, lo) }, false), orderRows(&op.Def{
		Name: "argsort",
		Doc:  "argsort returns the column of row numbers that sorts x: sort(x) is take(x, argsort(x)).",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, by, desc},
		Eg:   define.Eg("argsort(reverse(seq(1, 4)))", "2\n1\n0\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := sortType(s)
			return types.DenseOf(types.I64, t.Rows, 1), err
		},
		Order: &op.Ordering{Own: "argsort.own", Of: "argsort.window", Pairs: true, Part: "argsort.part"},
		Ref: func(c *op.Call) (value.Value, error) {
			at := orderRef(c.Dense(0), c.Attrs)
			out := value.New(types.I64, len(at), 1)
			for i, p := range at {
				out.Set(i, 0, value.I64(int64(p)))
			}
			return out, nil
		},
		Elements: func(e *op.Elements) op.Element {
			return fewInOrder(e, 1, true, func(i, _ int) loop.Val { return define.Numeral(e.B, types.I64, i) })
		},
	}, func(c *op.Call, at []int64, lo int) { copyColumn(c.Result(), at, lo) }, true))
	return slices.Concat(selects(), sharedOrders(by, desc), sorts, []*op.Def{
		inverse(),
		below(),
		{
			Name: "take",
			Doc: "take returns the rows of x that the column rows lists by number, from 0 on: in that order, as often as listed. " +
				"A number outside x fails the run.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "rows", Doc: "k x 1 of i64"}},
			Eg:   define.Eg("take(eye(3), argsort(seq(0, 3), desc = true))", "0 0 1\n0 1 0\n1 0 0\n"),
			Type: move.PickType(0), Ref: move.PickRef(0, move.FromStart), Laws: op.Pure, Rate: "copy", Cost: define.CopyWork, Kernel: takeKernel,
			Loop: window.Loop(takeKernel, window.Whole, window.Rows), Elements: move.PlacesElements(0, false), Along: func(*op.Attrs) []int { return []int{1} }, Numbers: 1,
		},
		{
			Name: "unique",
			Doc:  "unique returns the distinct elements of a matrix as a column, ascending. -0 becomes 0, and nan comes last, once.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}},
			Eg:   define.Eg("unique(seq(0, 6) % 3)", "0\n1\n2\n"),
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := define.NumberMatrix(s, 0)
				return types.DenseOf(t.Elem, types.Unknown, 1), err
			},
			Ref: func(c *op.Call) (value.Value, error) {
				all := define.Elements(c.In[0])
				for i, v := range all {
					v.F += 0 // +0 for zeros
					all[i] = define.Canonical(v)
				}
				all = Distinct(all)
				out := value.New(c.Type.Elem, len(all), 1)
				for i, v := range all {
					out.Set(i, 0, v)
				}
				return out, nil
			},
			Shard:    op.Shard{List: "distinct.list", Listed: "distinct.listed"},
			MostRows: define.CountOfFirst,
			Laws:     op.Pure, Rate: "order", Cost: sortWork, Beside: RoomOfAll,
			Kernel: func(c *op.Call) error {
				r := ordering()
				defer r.free()
				r.keys = AppendKeys(r.keys[:0], c.Dense(0))
				room, _ := r.room.Of(len(r.keys), false)
				SortPairs(r.keys, nil, room, nil)
				out := value.New(c.Type.Elem, int(CountRuns(r.keys)), 1)
				copyDifferent(out, 0, r.keys)
				c.Out = out
				return nil
			},
			Loop: &op.Loop{Space: func(c *op.Call) (n, leaf int) { return SortSpace(c.In[0].Type().Count()) }, Begin: beginUnique},
		},
	})
}

// orderRows completes the row d, which orders the rows of a matrix, and returns it and the row that
// makes a part of its result (op.Ordering.Part). write is given the places of rows lo, lo + 1, ... of
// the result. numbers says that the result is the places.
func orderRows(d *op.Def, write func(c *op.Call, at []int64, lo int), numbers bool) []*op.Def {
	d.Laws, d.Rate, d.Cost, d.Beside = op.Pure, "order", sortWork, roomOfRows
	d.Kernel = func(c *op.Call) error {
		r := ordering()
		defer r.free()
		write(c, r.of(c.Dense(0), c.Attrs, nil), 0)
		return nil
	}
	space := func(c *op.Call) (n, leaf int) { return SortSpace(c.In[0].Type().Rows) }
	wide := func(c *op.Call) (n, leaf int) {
		if rows := c.In[0].Type().Rows; rows >= wideLeast && c.Type.Count() >= 128*SortLeast {
			return SortUnits, 1
		}
		return space(c)
	}
	if !numbers {
		d.Beside = roomOfSort
	}
	d.Loop = &op.Loop{Space: wide, Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
		x, out, desc := c.Dense(0), c.Result(), c.Attrs.Bool("desc")
		var l *Sorter
		switch col := sortColumn(x, c.Attrs); {
		case numbers && out.Stride == 1:
			l = BeginSort(col, desc, out.I64[:x.Rows], workers)
			l.SortedClass = func(_, _, _ int) {}
		case !numbers && sortedByKeys(x.Type()):
			l = BeginSort(col, desc, nil, workers)
			l.telling = x.Elem.IsFloat()
			l.SortedClass = func(_, lo, hi int) {
				if l.places {
					write(c, l.At[lo:hi], lo)
				} else {
					writeKeyed(out, l.Sorted[lo:hi], desc, lo)
				}
			}
			return l, nil
		default:
			l = BeginSort(col, desc, Places(x.Rows), workers)
			l.SortedClass = func(_, lo, hi int) { write(c, l.At[lo:hi], lo) }
		}
		l.unread = true
		return l, nil
	}}

	part := *d
	part.Name, part.Hidden, part.Eg, part.Order, part.Beside = d.Order.Part, true, nil, &op.Ordering{Pairs: d.Order.Pairs, Places: d.Order.Places}, roomOfRows
	part.Doc = part.Name + " is " + d.Name + " where only some rows of its result are read. It makes no others."
	part.Args = slices.Insert(slices.Clone(d.Args), 1, op.Arg{Name: "ends", Rest: true, Doc: "numbers of rows"})
	part.Args = append(part.Args, op.Arg{Name: "spans", Attr: true, Kind: op.IntsVal, Doc: "op.RowsRead.Ints of each reader"})
	part.Cost = func(s *op.Sig, out types.Type) op.Work {
		rows := 0
		for r := range slices.Chunk(s.Attrs.Ints("spans"), 4) {
			rows += int(r[2])
		}
		if n := s.In[0].Rows; 8*rows <= n {
			return op.Work{Flops: 4 * float64(n), Bytes: 8 * float64(n)}
		}
		return sortWork(s, out)
	}
	part.Kernel = func(c *op.Call) error {
		someInPlace(c.Dense(0), c.Attrs, spansOf(c), func(at []int64, i int) { write(c, at, i) })
		return nil
	}
	part.Loop = &op.Loop{Space: space, Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
		return beginSome(c.Dense(0), c.Attrs, spansOf(c), func(at []int64, i int) { write(c, at, i) }, workers), nil
	}}
	return []*op.Def{d, &part}
}

// someInPlace finds the rows of x that are at the places of spans when x is in order. It gives write
// their numbers, for places i, i + 1, ...
func someInPlace(x *value.Dense, a *op.Attrs, spans []Span, write func(at []int64, i int)) {
	r := ordering()
	defer r.free()
	at := r.of(x, a, spans)
	writeSpans(spans, at, 0, len(at), write)
}

// beginSome begins someInPlace on several workers.
func beginSome(x *value.Dense, a *op.Attrs, spans []Span, write func(at []int64, i int), workers int) op.Passes {
	col, desc := sortColumn(x, a), a.Bool("desc")
	done := func(l *Selector) error {
		for r := range l.ranges {
			x := &l.ranges[r]
			for _, s := range x.spans {
				write(x.at[s.From-x.below:s.To-x.below], s.From)
			}
		}
		return nil
	}
	if l := beginSelect(col, desc, true, SortUnits, spans, done); l != nil {
		return l
	}
	l := BeginSort(col, desc, Places(col.Rows), workers)
	l.unread = true
	l.spans, l.SortedClass = spans, func(_, lo, hi int) { writeSpans(spans, l.At, lo, hi, write) }
	return l
}

// spansOf is the places that the readers of a part read. A reader whose rows are not there fails by
// itself.
func spansOf(c *op.Call) []Span {
	n := c.Dense(0).Rows
	row := func(input int64) int {
		i := c.Scalar(int(input)).I
		if i < 0 {
			i += int64(n)
		}
		return int(min(max(i, 0), int64(n)))
	}
	spans := make([]Span, 0, 8)
	for r := c.Attrs.Ints("spans"); len(r) > 0; r = r[4:] {
		s := Span{From: int(r[0])}
		if r[1] > 0 {
			s.From = row(r[1])
		}
		if s.To = s.From + int(r[2]); r[3] > 0 {
			s.To = row(r[3]) + int(r[2])
		}
		spans = append(spans, s)
	}
	return joined(spans, n)
}

// writeSpans calls write for the parts of spans in lo..hi-1, with what at has there.
func writeSpans(spans []Span, at []int64, lo, hi int, write func(at []int64, i int)) {
	in, _ := within(spans, lo, hi)
	for _, s := range in {
		from, to := max(lo, s.From), min(hi, s.To)
		write(at[from:to], from)
	}
}

// copyDifferent writes the different elements whose sorted keys these are to the column out, from
// row i on.
func copyDifferent(out *value.Dense, i int, keys []uint64) {
	for j, k := range keys {
		if j == 0 || k != keys[j-1] {
			out.Set(i, 0, Keyed(out.Elem, k))
			i++
		}
	}
}

// sortWork is the cost of eight passes over keys and places, and of the move.
func sortWork(s *op.Sig, out types.Type) op.Work {
	n := define.ElementCount(s.In[0])
	return op.Work{Flops: 20 * n, Bytes: 40*n + define.CopyBytes(out)}
}

func sortType(s *op.Sig) (types.Type, error) {
	t, err := define.NumberMatrix(s, 0)
	if err != nil {
		return t, err
	}
	if by := s.Attrs.Int("by"); t.Cols != types.Unknown && t.Rows != 0 && (by >= t.Cols || by < -t.Cols) {
		return t, op.Faultf(1, define.CodeRange, "`%s` by column %d of a %s", s.Def.Source(), by, t).
			WithHelp("columns are numbered from 0: the last is `%d`, or `-1`", t.Cols-1)
	}
	return t, nil
}

// sortColumn is the column that the attributes name.
func sortColumn(x *value.Dense, a *op.Attrs) *value.Dense {
	if x.Rows == 0 {
		return value.New(x.Elem, 0, 1)
	}
	by := a.Int("by")
	if by < 0 {
		by += x.Cols
	}
	return x.View(0, by, x.Rows, 1)
}

// fewInOrder writes the order of a few rows into a loop. of gives what row i puts in column j of the
// result. The place of a row is the number of rows that precede it, so equal rows keep their order.
// More rows take a network, if the result is their keys or numbers (places): all pairs would be too
// many.
func fewInOrder(e *op.Elements, cols int, places bool, of func(i, j int) loop.Val) op.Element {
	x, by, b := e.In[0], e.Attrs.Int("by"), e.B
	n := x.Type.Rows
	if !x.Type.Known() || n == 0 || n > define.WrittenLines && cols > 1 || n*cols > define.Unrolled {
		return nil
	}
	if by < 0 {
		by += x.Type.Cols
	}
	keys, place := make([]loop.Val, n), make([]loop.Val, n)
	for i := range n {
		if keys[i] = x.At(loop.Num(int64(i)), loop.Num(int64(by))); x.Type.Elem == types.Bool {
			keys[i] = define.ConvertBody(b, types.I64, keys[i])
		}
		place[i] = define.Numeral(b, types.I64, i)
	}
	if n > define.WrittenLines {
		return someInOrder(e, keys, places)
	}
	zero, one := define.Numeral(b, types.I64, 0), define.Numeral(b, types.I64, 1)
	for j := range n {
		for i := range j {
			first, second := keys[j], keys[i]
			if e.Attrs.Bool("desc") {
				first, second = second, first
			}
			precedes := b.Op(loop.Lt, first, second) // row j precedes row i
			if x.Type.Elem.IsFloat() {
				nan := b.Op(loop.And, b.Op(loop.Ne, keys[i], keys[i]), b.Op(loop.Eq, keys[j], keys[j]))
				precedes = b.Op(loop.Or, precedes, nan)
			}
			swaps := b.Op(loop.Select, precedes, one, zero)
			place[i], place[j] = b.Op(loop.Add, place[i], swaps), b.Op(loop.Sub, place[j], swaps)
		}
	}
	return e.Laid(func(store func(i, j loop.Lin, v loop.Val)) {
		for i, p := range place {
			for j := range cols {
				store(loop.Of(loop.ValSym, int(p)), loop.Num(int64(j)), define.ConvertBody(b, dense.Storage(e.Out.Elem), of(i, j)))
			}
		}
	})
}

// orderRoom is the memory of one sort on one worker.
type orderRoom struct {
	keys []uint64
	at   []int64
	room SortRoom
}

// orderRooms lends rooms: a loop over points sorts a few elements in each, and to make a room takes
// as long as to sort them.
var orderRooms = sync.Pool{New: func() any { return &orderRoom{} }}

// firstPart: if at most 1 of firstPart rows are asked for, orderRoom.first finds them. Rows in reverse
// order all come to the first places for a while. With few places, they take no longer than by digits.
const firstPart = 16

func ordering() *orderRoom { return orderRooms.Get().(*orderRoom) }

func (r *orderRoom) free() {
	if cap(r.keys) <= mostKept {
		orderRooms.Put(r)
	}
}

// of returns the rows' places in order, valid until r is lent again. It is in order where spans are;
// nil: everywhere.
func (r *orderRoom) of(x *value.Dense, a *op.Attrs, spans []Span) []int64 {
	if n := len(spans); n > 0 && firstPart*(spans[n-1].To+selectBlock/4) <= x.Rows {
		return r.first(sortColumn(x, a), a.Bool("desc"), spans)
	}
	r.keys = slices.Grow(r.keys[:0], x.Rows)[:x.Rows]
	directedKeys(r.keys, sortColumn(x, a), 0, a.Bool("desc"))
	r.at = slices.Grow(r.at[:0], len(r.keys))[:len(r.keys)]
	for i := range r.at {
		r.at[i] = int64(i)
	}
	roomKeys, roomAt := r.room.Of(len(r.keys), true)
	if spans == nil {
		SortPairs(r.keys, r.at, roomKeys, roomAt)
	} else {
		SelectPairs(r.keys, r.at, roomKeys, roomAt, 0, spans)
	}
	return r.at
}

// first does what of does if spans are among the first places. It keeps only rows that may come to
// those places. They are few, so they stay in the first cache.
func (r *orderRoom) first(x *value.Dense, desc bool, spans []Span) []int64 {
	n, last := spans[len(spans)-1].To, uint64(math.MaxUint64) // the greatest key of n rows so far
	r.keys, r.at = r.keys[:0], r.at[:0]
	cut := func() {
		roomKeys, roomAt := r.room.Of(len(r.keys), true)
		SelectPairs(r.keys, r.at, roomKeys, roomAt, 0, []Span{{0, n}})
		r.keys, r.at, last = r.keys[:n], r.at[:n], r.keys[n-1]
	}
	var block [selectBlock]uint64
	size := selectBlock                    // the keys made at a time
	low, high := math.Inf(-1), math.Inf(1) // numbers outside come to none of the places; nan is not outside
	column := x.F64                        // empty for other types
	for i := 0; i < x.Rows; i += size {
		if at := i * x.Stride; size == 1 && (column[at] > high || column[at] < low) {
			continue
		}
		keys := block[:min(size, x.Rows-i)]
		directedKeys(keys, x, i, desc)
		for j, k := range keys {
			if k >= last && len(r.keys) >= n { // equal keys keep their order
				continue
			}
			if r.keys, r.at = append(r.keys, k), append(r.at, int64(i+j)); len(r.keys) < 4*n+selectBlock {
				continue
			}
			if cut(); desc {
				low = Keyed(types.F64, ^last).F
			} else {
				high = Keyed(types.F64, last).F
			}
		}
		if len(column) > 0 && len(keys) > 1 && last < math.MaxUint64 { // few numbers are inside from now on
			i, size = i+len(keys)-1, 1
		}
	}
	cut()
	return r.at
}

// orderRef is the rows' places by the definition of the order.
func orderRef(x *value.Dense, a *op.Attrs) []int {
	col, desc := sortColumn(x, a), a.Bool("desc")
	at := make([]int, col.Rows)
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, j int) bool { return Precedes(col.At(at[i], 0), col.At(at[j], 0), desc) })
	return at
}

// copyRows writes the rows of x at the places, which are in x, to rows lo, lo + 1, ... of out.
func copyRows(out, x *value.Dense, at []int64, lo int) {
	if len(at) == 0 {
		return
	}
	if err := move.TakeInto(out.View(lo, 0, len(at), out.Cols), x, move.Column(at)); err != nil {
		panic("BUG: a sort made up a place: " + err.Error())
	}
}

// copyColumn writes x to rows lo, lo + 1, ... of the column out.
func copyColumn(out *value.Dense, x []int64, lo int) {
	out.View(lo, 0, len(x), 1).CopyFrom(move.Column(x))
}

func takeKernel(c *op.Call) error { return move.TakeInto(c.Result(), c.Dense(0), c.Dense(1)) }

// CountRuns is the number of different keys in a sorted list.
func CountRuns(keys []uint64) int64 {
	n := int64(0)
	for i, k := range keys {
		if i == 0 || k != keys[i-1] {
			n++
		}
	}
	return n
}
