package order

// This file finds the distinct elements of a matrix. Ranks list those of their own rows, and all ranks
// merge the lists (op.Shard.List), or each counts a part of the keys. If they are few, a table of them
// stays in a cache. To fill it takes a tenth of the time of a sort, and no memory for each element. A
// sample tells whether they may be few. If a worker meets more, all elements are sorted.

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/memory"
)

const (
	tableSlots = 1 << 14        // 128 KiB of keys
	mostFew    = tableSlots / 2 // more keys would need longer searches in the table
	// fewSampled is the most distinct keys of the sample for which the table is tried. A sample of 4096
	// elements has some 3200 of 8192 distinct keys.
	fewSampled = SortUnits * sortSample * 3 / 4
)

// keySet is the set of the keys that a worker has met, a table with open addressing. An empty slot is
// 0, so the key 0 has a field of its own.
type keySet struct {
	slots [tableSlots]uint64
	n     int
	zero  bool
}

// add puts keys into the set, and reports whether they fit.
func (s *keySet) add(keys []uint64) bool {
	for _, k := range keys {
		if k == 0 {
			s.zero = true
			continue
		}
		// Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
		for h := k * 0x9E3779B97F4A7C15 >> 50; s.slots[h] != k; h = (h + 1) % tableSlots {
			if s.slots[h] == 0 {
				if s.n == mostFew {
					return false
				}
				s.slots[h], s.n = k, s.n+1
				break
			}
		}
	}
	return true
}

// distinct finds the distinct keys of a matrix. It tells room how many they are, and then gives put
// keys in order: the first of them that differs from those before is distinct key i.
type distinct struct {
	x       *value.Dense
	workers int
	room    func(n int)
	put     func(i int, keys []uint64)
	sets    []*keySet // of each worker; nil: it has met no key
	many    atomic.Bool
	sorts   *Sorter // sorts all elements; nil: the table is tried
}

func beginDistinct(x *value.Dense, workers int, room func(n int), put func(i int, keys []uint64)) *distinct {
	l := &distinct{x: x, workers: workers, room: room, put: put, sets: make([]*keySet, workers)}
	sample := make([]uint64, SortUnits*sortSample)
	sampleKeys(sample, x.Rows*x.Cols, func(keys []uint64, i int) { ElementKeys(keys, x, i) })
	if CountRuns(sample) > fewSampled {
		l.sort()
	}
	return l
}

func beginUnique(c *op.Call, workers int) (op.LoopBody, error) {
	return beginDistinct(c.Dense(0), workers, func(n int) { c.Out = value.New(c.Type.Elem, n, 1) },
		func(i int, keys []uint64) { copyDifferent(c.Out.(*value.Dense), i, keys) }), nil
}

// sort begins to sort all elements. The distinct elements of each class are counted, and are written
// when it is known where each class begins.
func (l *distinct) sort() {
	s := BeginSort(l.x, false, nil, l.workers)
	l.sorts = s
	var starts [SortUnits + 1]int
	s.SortedClass = func(class, lo, hi int) { starts[class+1] = int(CountRuns(s.Sorted[lo:hi])) }
	s.Between = func() bool {
		for i := range SortUnits {
			starts[i+1] += starts[i]
		}
		l.room(starts[SortUnits])
		return true
	}
	s.More = func(class int) { l.put(starts[class], s.Sorted[s.Begin[class]:s.Begin[class+1]]) }
}

// Chunk puts the keys of units lo..hi-1 into the table of its worker, or sorts.
func (l *distinct) Chunk(worker, lo, hi int) error {
	if l.sorts != nil {
		return l.sorts.Chunk(worker, lo, hi)
	}
	x := l.x
	if l.sets[worker] == nil {
		l.sets[worker] = &keySet{}
	}
	n := uint64(x.Rows * x.Cols)
	var keys [512]uint64
	for at, end := int(n*uint64(lo)/SortUnits), int(n*uint64(hi)/SortUnits); at < end && !l.many.Load(); at += len(keys) {
		k := keys[:min(len(keys), end-at)]
		ElementKeys(k, x, at)
		if !l.sets[worker].add(k) {
			l.many.Store(true)
		}
	}
	return nil
}

// Next makes the result of the tables, begins the sort if they were too small, or goes on with it.
func (l *distinct) Next() (again bool, err error) {
	if l.sorts != nil {
		return l.sorts.Next()
	}
	if l.many.Load() {
		l.sort()
		return true, nil
	}
	var keys []uint64
	for _, s := range l.sets {
		if s != nil {
			keys = slices.AppendSeq(keys, func(yield func(uint64) bool) {
				for _, k := range s.slots {
					if k != 0 && !yield(k) {
						return
					}
				}
			})
			if s.zero {
				keys = append(keys, 0)
			}
		}
	}
	slices.Sort(keys)
	l.room(int(CountRuns(keys)))
	l.put(0, keys)
	return false, nil
}

func (l *distinct) End() error { return nil }

var _ op.Passes = (*distinct)(nil)

// distinctLists returns the rows by which ranks share unique and nunique.
func distinctLists(ranks, step op.Arg) []*op.Def {
	step.Optional = true
	step.Doc += ". Without it all rows are the rank's own"
	return []*op.Def{
		{
			Name: "distinct.list", Hidden: true,
			Doc: "distinct.list is the keys of the distinct elements of each rank's rows, as integers in order: row r is of rank r, " +
				"or has what rank r counts.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}, ranks, step,
				{Name: "split", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: row r has the keys that rank r counts"}},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.SparseOf(types.I64, max(1, s.Attrs.Int("ranks")), value.MaxSparseCols), nil
			},
			Laws: op.Pure, Beside: RoomOfAll,
			Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 3) }, // a sparse result has no place for each column
			Stored: func(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
				return sparsity.Uniform(out.Rows, out.Cols, float64(max(0, s.In[0].Count()))/32, sparsity.Guessed)
			},
			Kernel: func(c *op.Call) error {
				r := ordering()
				defer r.free()
				l := distinctList{c: c}
				from, to := define.OwnRows(c, c.Type.Rows)
				if l.split() {
					to = from + 1
				}
				for l.rank = from; l.rank < to; l.rank++ {
					r.keys = AppendKeys(r.keys[:0], l.own())
					room, _ := r.room.Of(len(r.keys), false)
					SortPairs(r.keys, nil, room, nil)
					l.room(int(CountRuns(r.keys)))
					l.put(0, r.keys)
					l.add()
				}
				return l.finish()
			},
			Loop: &op.Loop{
				Own: true,
				Space: func(c *op.Call) (n, leaf int) {
					n = c.In[0].Type().Count()
					if _, ok := c.Attrs.Get("step"); ok {
						n /= c.Type.Rows
					}
					return SortSpace(n)
				},
				Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
					l := &distinctList{c: c, rank: c.Lo}
					l.distinct = beginDistinct(l.own(), workers, l.room, l.put)
					return l, nil
				},
			},
		},
		{
			Name: "distinct.listed", Hidden: true,
			Doc:  "distinct.listed is the distinct elements that ranks have listed, as a column.",
			Args: []op.Arg{{Name: "lists", Doc: "of distinct.list"}, {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "type of the elements"}},
			Type: func(s *op.Sig) (types.Type, error) {
				e, _ := types.ElemNamed(s.Attrs.Str("elem"))
				return types.DenseOf(e, types.Unknown, 1), nil
			},
			Laws: op.Pure, Cost: define.SparseCost(1),
			Kernel: func(c *op.Call) error {
				keys := united(c.In[0].(*value.CSR))
				out := value.New(c.Type.Elem, len(keys), 1)
				copyDifferent(out, 0, keys)
				c.Out = out
				return nil
			},
		},
		{
			Name: "distinct.count", Hidden: true,
			Doc:  "distinct.count is how many keys each rank counts in the lists of all ranks: row r is of rank r.",
			Args: []op.Arg{{Name: "lists", Doc: "of distinct.list, with split"}, ranks},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.I64, max(1, s.Attrs.Int("ranks")), 1), nil
			},
			Laws: op.Pure, Cost: define.SparseCost(1),
			Kernel: func(c *op.Call) error {
				m, out := c.In[0].(*value.CSR), c.Result()
				if c.Lo < c.Hi { // row r is what rank r has met
					out.Set(c.Lo, 0, value.I64(int64(countUnion(m))))
					return nil
				}
				for r := range out.Rows {
					keys, _ := m.Row(r)
					out.Set(r, 0, value.I64(int64(len(keys))))
				}
				return nil
			},
		},
	}
}

// distinctList is one execution of distinct.list.
type distinctList struct {
	*distinct
	c    *op.Call
	rank int
	keys []int64
	out  *value.CSR
}

func (l *distinctList) split() bool { return l.c.Attrs.Int("split") > 0 }

// own returns the rows of the rank. A call for all ranks without windows has rows of rank 0 alone, and
// one that splits keys has all rows at once.
func (l *distinctList) own() *value.Dense {
	x := l.c.Dense(0)
	lo, hi, all := 0, x.Rows, l.c.Lo == l.c.Hi
	if step, ok := l.c.Attrs.Get("step"); ok && !(all && l.split()) {
		lo, hi = op.WindowOf(l.rank, l.c.Type.Rows, x.Rows, step)
	} else if all && l.rank > 0 {
		hi = 0
	}
	return x.View(lo, 0, hi-lo, x.Cols)
}

func (l *distinctList) room(n int) { l.keys = memory.Fresh[int64](n) }

func (l *distinctList) put(i int, keys []uint64) {
	for j, k := range keys {
		if j == 0 || k != keys[j-1] {
			l.keys[i] = int64(k)
			i++
		}
	}
}

// add adds the keys of the rank to the result.
func (l *distinctList) add() {
	if l.out == nil {
		l.out = value.NewCSR(types.I64, l.c.Type.Rows, l.c.Type.Cols, 0)
	}
	if !l.split() {
		first := len(l.out.I64)
		l.out.Col = slices.Grow(l.out.Col, len(l.keys))[:first+len(l.keys)]
		l.out.Ptr[l.rank+1] = int64(len(l.keys))
		l.out.I64 = append(l.out.I64, l.keys...)
		for k := range l.keys {
			l.out.Col[first+k] = int32(k)
		}
		return
	}
	lengths := l.out.Ptr[1:]
	for _, k := range l.keys {
		lengths[ownerOf(k, len(lengths))]++
	}
	at, begin, n := make([]int64, len(lengths)), make([]int64, len(lengths)), int64(0)
	for r := range at {
		at[r], begin[r] = n, n
		n += lengths[r]
	}
	l.out.I64, l.out.Col = memory.Fresh[int64](int(n)), memory.Fresh[int32](int(n))
	for _, k := range l.keys {
		r := ownerOf(k, len(at))
		l.out.I64[at[r]], l.out.Col[at[r]] = k, int32(at[r]-begin[r])
		at[r]++
	}
}

// ownerOf returns which of so many ranks counts a key.
func ownerOf(key int64, ranks int) int {
	r, _ := bits.Mul64(uint64(key)*scatter, uint64(ranks))
	return int(r)
}

// scatter makes the high bits of products with consecutive keys differ: it is 2^64 over the golden
// ratio (D. Knuth, The Art of Computer Programming 3, 6.4).
const scatter = 0x9e3779b97f4a7c15

func (l *distinctList) finish() error {
	l.out.SumLengths()
	l.c.Out = l.out
	return nil
}

// End makes the list of the rank.
func (l *distinctList) End() error {
	l.add()
	return l.finish()
}

// united merges the keys of all rows, each in order and without equal ones.
func united(m *value.CSR) []uint64 {
	list := unite(m, 1)[0]
	keys := make([]uint64, len(list))
	for i, k := range list {
		keys[i] = uint64(k)
	}
	return keys
}

// countUnion returns how many keys united has.
func countUnion(m *value.CSR) (n int) {
	lists := unite(m, 2)
	if len(lists) == 1 {
		return len(lists[0])
	}
	a, b, i, j := lists[0], lists[1], 0, 0
	for ; i < len(a) && j < len(b); n++ {
		less, more := compared(a[i], b[j])
		i, j = i+1-more, j+1-less
	}
	return n + len(a) - i + len(b) - j
}

// unite merges the keys of rows pair by pair until so many lists are left.
func unite(m *value.CSR, left int) [][]int64 {
	lists := make([][]int64, m.Rows)
	for r := range lists {
		lists[r] = m.I64[m.Ptr[r]:m.Ptr[r+1]]
	}
	for len(lists) > left {
		next := lists[:0]
		for pair := range slices.Chunk(lists, 2) {
			next = append(next, union(pair[0], pair[len(pair)-1]))
		}
		lists = next
	}
	return lists
}

// compared tells which of two keys is less: 1, or 0. A branch would be guessed wrong as often as not.
func compared(a, b int64) (less, more int) {
	_, l := bits.Sub64(uint64(a), uint64(b), 0)
	_, m := bits.Sub64(uint64(b), uint64(a), 0)
	return int(l), int(m)
}

// union returns the keys of two lists in order, each once.
func union(a, b []int64) []int64 {
	if len(a) == 0 || len(b) > 0 && &a[0] == &b[0] { // the last list of an odd number is alone
		return b
	}
	out, i, j, k := make([]int64, len(a)+len(b)), 0, 0, 0
	for ; i < len(a) && j < len(b); k++ {
		less, more := compared(a[i], b[j])
		out[k] = int64(min(uint64(a[i]), uint64(b[j])))
		i, j = i+1-more, j+1-less
	}
	k += copy(out[k:], a[i:])
	k += copy(out[k:], b[j:])
	return out[:k]
}
