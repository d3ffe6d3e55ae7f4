package order

// This file finds the distinct elements of a matrix. Ranks list those of their own rows, and all ranks
// merge the lists (op.Shard.List). If they are few, a table of them stays in a
// cache. To fill it takes a tenth of the time of a sort, and no memory for each element. A sample
// tells whether they may be few. If a worker meets more, all elements are sorted.

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
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

// distinctLists returns the rows by which ranks share unique.
func distinctLists(ranks, step op.Arg) []*op.Def {
	step.Optional = true
	step.Doc += ". Without it all rows are the rank's own"
	return []*op.Def{
		{
			Name: "distinct.list", Hidden: true,
			Doc:  "distinct.list is the keys of the distinct elements of each rank's rows, as integers in order: row r is of rank r.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}, ranks, step},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.SparseOf(types.I64, max(1, s.Attrs.Int("ranks")), value.MaxSparseCols), nil
			},
			Laws: op.Pure, Beside: RoomOfAll,
			Cost: func(s *op.Sig, out types.Type) op.Work { // as unique, which makes no entries at places
				w := sortWork(s, out)
				w.Flops = 3 * define.ElementCount(s.In[0])
				return w
			},
			Stored: func(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
				return sparsity.Uniform(out.Rows, out.Cols, float64(max(0, s.In[0].Count()))/32, sparsity.Guessed)
			},
			Kernel: func(c *op.Call) error {
				r := ordering()
				defer r.free()
				l := distinctList{c: c}
				from, to := define.OwnRows(c, c.Type.Rows)
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

// own returns the rows of the rank. A call for all ranks without windows has rows of rank 0 alone.
func (l *distinctList) own() *value.Dense {
	x := l.c.Dense(0)
	lo, hi := 0, x.Rows
	if step, ok := l.c.Attrs.Get("step"); ok {
		lo, hi = op.WindowOf(l.rank, l.c.Type.Rows, x.Rows, step)
	} else if l.c.Lo == l.c.Hi && l.rank > 0 {
		hi = 0
	}
	return x.View(lo, 0, hi-lo, x.Cols)
}

func (l *distinctList) room(n int) { l.keys = make([]int64, n) }

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
	l.out.Ptr[l.rank+1] = int64(len(l.keys))
	l.out.Col = slices.Grow(l.out.Col, len(l.keys))
	for k := range l.keys {
		l.out.Col = append(l.out.Col, int32(k))
	}
	l.out.I64 = append(l.out.I64, l.keys...)
}

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

// united merges the keys of all rows, each in order and without equal ones, pair by pair.
func united(m *value.CSR) (keys []uint64) {
	all, lists := make([]uint64, len(m.I64)), make([][]uint64, m.Rows)
	for i, k := range m.I64 {
		all[i] = uint64(k)
	}
	for r := range lists {
		lists[r] = all[m.Ptr[r]:m.Ptr[r+1]]
	}
	for len(lists) > 1 {
		next := lists[:0]
		for pair := range slices.Chunk(lists, 2) {
			next = append(next, union(pair[0], pair[len(pair)-1]))
		}
		lists = next
	}
	return lists[0]
}

// union returns the keys of two lists in order, each once.
func union(a, b []uint64) []uint64 {
	if len(a) == 0 || len(b) > 0 && &a[0] == &b[0] { // the last list of an odd number is alone
		return b
	}
	out, i, j, k := make([]uint64, len(a)+len(b)), 0, 0, 0
	for ; i < len(a) && j < len(b); k++ {
		x, y := a[i], b[j]
		_, less := bits.Sub64(x, y, 0) // without a branch, which would be guessed wrong as often as not
		_, more := bits.Sub64(y, x, 0)
		out[k] = min(x, y)
		i, j = i+1-int(more), j+1-int(less)
	}
	k += copy(out[k:], a[i:])
	k += copy(out[k:], b[j:])
	return out[:k]
}
