package encode

// This file runs ctable and recode: codes are read as what they are, and both go in chunks on
// several workers.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/order"
	"flow/kernels/vec"
	"flow/kernels/window"
)

// pairTable is the most counts that every worker has of its own.
const pairTable = 1 << 16

// readCodes is the codes of k rows of column d from the given one on, in room unless they lie so in
// memory; false says that one is none of 0..n-1, or of any from 0 on when n is Unknown.
func readCodes(room []int64, d *value.Dense, from, k, n int) ([]int64, bool) {
	bound := uint64(n)
	if n == types.Unknown {
		bound = 1 << 53
	}
	if k == 0 {
		return nil, true
	}
	if d.Elem == types.I64 && d.Stride == 1 {
		p := d.I64[from : from+k]
		return p, vec.Extreme(p, true) >= 0 && uint64(vec.Extreme(p, false)) < bound
	}
	read := dense.ForElem(d.Elem, wholeCodes[float64], wholeCodes[float32], wholeCodes[int64], wholeCodes[uint8])
	return room[:k], read(room[:k], d, from, bound)
}

// wholeCodes sets p to the elements of column d from the given one on. It reports whether they are
// whole numbers from 0 to bound - 1.
func wholeCodes[T vec.Element](p []int64, d *value.Dense, from int, bound uint64) bool {
	wrong, x := false, (*dense.Cells[T](d))[from*d.Stride:]
	for i := range p {
		v := int64(x[i*d.Stride])
		p[i] = v
		wrong = wrong || T(v) != x[i*d.Stride] || uint64(v) >= bound
	}
	return !wrong
}

// wrongCode returns the failure of the first of rows lo..hi-1 that has an invalid code; nil if all are
// valid.
func wrongCode(c *op.Call, lo, hi int) error {
	for i := lo; i < hi; i++ {
		for k, size := range []string{"n", "m"} {
			if _, _, err := codeWithin(c.Dense(k).At(i, 0), sizeOf(c.Attrs, size), c.Attrs.Bool("crop")); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairsLoop returns the Loop of a table of pairs. Every worker has sums of its own, unless the table is
// too large. If the codes determine the size of the table, a pass finds it first. Ranks share the rows
// if the size is given. whole returns what makes a table of a type at once; nil: the loop makes it.
func pairsLoop(whole func(t types.Type) func(c *op.Call) error) *op.Loop {
	large := func(a *op.Attrs) bool {
		n, m := sizeOf(a, "n"), sizeOf(a, "m")
		return n > 0 && m > 0 && n > pairTable/m
	}
	return &op.Loop{
		Light: true,
		Rows: func(s *op.Sig, out types.Type) int {
			if !out.Known() || out.Rows == 0 || out.Cols == 0 || !out.IsSparse() && large(s.Attrs) || !s.In[0].Known() || !s.In[1].Known() {
				return 0
			}
			return s.In[0].Rows
		},
		Space: func(c *op.Call) (n, leaf int) {
			switch n = c.In[0].Type().Rows; {
			case whole(c.Type) != nil:
				return 0, 0
			case large(c.Attrs):
				return n, n
			}
			return n, window.LeafElements
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return &pairsBody{c: c, whole: whole(c.Type), n: sizeOf(c.Attrs, "n"), m: sizeOf(c.Attrs, "m"), by: make([]pairsWorker, workers)}, nil
		},
	}
}

type pairsBody struct {
	c     *op.Call
	whole func(c *op.Call) error
	n, m  int // Unknown: until the first pass has ended
	by    []pairsWorker
}

type pairsWorker struct {
	counts []int64
	n, m   int // that its chunks ask for
	wrong  bool
	_      [128]byte
}

// sizing reports that this pass finds how large the table is.
func (l *pairsBody) sizing() bool { return l.n == types.Unknown || l.m == types.Unknown }

// Chunk counts rows lo..hi-1, or finds how large a table they need.
func (l *pairsBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if l.sizing() {
		n, m, ok := tableFor(l.c, lo, hi)
		w.n, w.m, w.wrong = max(w.n, n), max(w.m, m), w.wrong || !ok
		return nil
	}
	if w.counts == nil {
		w.counts = l.table(worker)
	}
	return addWeights(l.c, dense.Grid[int64]{LD: l.m, X: w.counts}, lo, hi)
}

// Next ends the pass that finds the size. A table too large for every worker to have one is counted
// here.
func (l *pairsBody) Next() (again bool, err error) {
	n, m, ok := l.size()
	if !l.sizing() || !ok { // End says which code is wrong
		return false, nil
	}
	l.n, l.m = n, m
	if err := roomForTable(l.c, l.n, l.m); err != nil {
		return false, err
	}
	if l.n > 0 && l.m > pairTable/l.n {
		w := &l.by[0]
		w.counts = l.table(0)
		return false, addWeights(l.c, dense.Grid[int64]{LD: l.m, X: w.counts}, 0, l.c.Dense(0).Rows)
	}
	return true, nil
}

// size returns the size n x m of the table that the codes of a pass ask for. ok is false if a code is
// invalid.
func (l *pairsBody) size() (n, m int, ok bool) {
	n, m = max(l.n, 0), max(l.m, 0)
	for _, w := range l.by {
		if w.wrong {
			return n, m, false
		}
		n, m = max(n, w.n), max(m, w.m)
	}
	return n, m, true
}

// table returns the counts of a worker, all 0. Those of worker 0 lie in the result if it has no gaps.
func (l *pairsBody) table(worker int) []int64 {
	if out := l.c.Result(); worker == 0 && out.Stride == out.Cols {
		clear(out.I64)
		return out.I64
	}
	return make([]int64, l.n*l.m)
}

// End adds the workers' counts. It fails for the first row with an invalid code.
func (l *pairsBody) End() error {
	if l.whole != nil {
		return l.whole(l.c)
	}
	if slices.ContainsFunc(l.by, func(w pairsWorker) bool { return w.wrong }) {
		return wrongCode(l.c, 0, l.c.Dense(0).Rows)
	}
	if l.sizing() { // there are no rows
		if _, err := l.Next(); err != nil {
			return err
		}
	}
	if l.by[0].counts == nil {
		l.by[0].counts = l.table(0)
	}
	sum := l.by[0].counts
	for _, w := range l.by[1:] {
		for k, n := range w.counts {
			sum[k] += n
		}
	}
	if out := dense.GridOf[int64](l.c.Result()); out.LD != out.Cols {
		for i := range out.Rows {
			copy(out.Row(i), sum[i*l.m:])
		}
	}
	return nil
}

// recodeBody is one execution of recode: where the places of keys are found, and what stands there
// instead.
type recodeBody struct {
	c  *op.Call
	x  *value.Dense
	e  types.Elem // in which x and from are compared
	to []value.Scalar
	// Of keys less than tableKeys from the least one the place is in near, counted from 1; 0: it is
	// not replaced.
	least uint64
	near  []int32
	far   map[uint64]int32
	f64   []float64
	i64   []int64
	// become is what integers from least on become, where all is of integers.
	become []int64
}

// tableKeys is the most keys that a table has a place for each of.
const tableKeys = 1 << 19

func beginRecode(c *op.Call) (*recodeBody, error) {
	x, from, to := c.Dense(0), define.Elements(c.In[1]), define.Elements(c.In[2])
	if len(from) != len(to) {
		return nil, recodeLengths(len(from), len(to))
	}
	b := &recodeBody{c: c, x: x}
	b.e, _ = types.Widen(x.Elem, c.Dense(1).Elem)
	keys := make([]uint64, len(from))
	for k, f := range from {
		keys[k] = b.key(order.OrderKey(f.Convert(b.e)))
		b.to = append(b.to, to[k].Convert(c.Type.Elem))
		b.f64, b.i64 = append(b.f64, b.to[k].F), append(b.i64, b.to[k].I)
	}
	if len(keys) > 0 {
		b.least = slices.Min(keys)
		if span := slices.Max(keys) - b.least; span < tableKeys {
			b.near = make([]int32, span+1)
		} else {
			b.far = make(map[uint64]int32, len(keys))
		}
	}
	for k := len(keys) - 1; k >= 0; k-- { // the first of equals counts
		if b.far != nil {
			b.far[keys[k]] = int32(k + 1)
		} else {
			b.near[keys[k]-b.least] = int32(k + 1)
		}
	}
	if b.near != nil && x.Elem == types.I64 && b.e == types.I64 && c.Type.Elem == types.I64 {
		b.become = make([]int64, len(b.near))
		for d, place := range b.near {
			if b.become[d] = int64(b.least^order.SignBit) + int64(d); place > 0 {
				b.become[d] = b.i64[place-1]
			}
		}
	}
	return b, nil
}

// key makes keys of floats that are small whole numbers neighbours: their bits begin at the top.
func (b *recodeBody) key(k uint64) uint64 {
	if b.e.IsFloat() {
		return k>>44 | k<<20
	}
	return k
}

// area recodes a part of x.
func (b *recodeBody) area(r window.Rect) {
	var from, to value.Dense
	n := r.Rows * r.Cols
	b.x.Window(&from, r.Row, r.Col, r.Rows, r.Cols)
	b.c.Result().Window(&to, r.Row, r.Col, r.Rows, r.Cols)
	if b.become != nil && from.Stride == r.Cols && to.Stride == r.Cols {
		b.words(to.I64[:n], from.I64[:n])
		return
	}
	to.CopyFrom(dense.Widened(&from, to.Elem))
	wide := dense.Widened(&from, b.e)
	var keys [512]uint64
	for at := 0; at < n; at += len(keys) {
		k := keys[:min(len(keys), n-at)]
		order.ElementKeys(k, wide, at)
		b.replace(k, &to, at)
	}
}

// words recodes integers by the table alone.
func (b *recodeBody) words(to, from []int64) {
	least := int64(b.least ^ order.SignBit)
	for i, v := range from[:len(to)] {
		if d := uint64(v - least); d < uint64(len(b.become)) {
			v = b.become[d]
		}
		to[i] = v
	}
}

// replace sets the elements from number at on that have these keys.
func (b *recodeBody) replace(keys []uint64, to *value.Dense, at int) {
	r, c := at/to.Cols, at%to.Cols
	for _, k := range keys {
		place := int32(0)
		if k = b.key(k); b.far != nil {
			place = b.far[k]
		} else if d := k - b.least; d < uint64(len(b.near)) {
			place = b.near[d]
		}
		if place > 0 {
			switch p := r*to.Stride + c; to.Elem {
			case types.F64:
				to.F64[p] = b.f64[place-1]
			case types.I64:
				to.I64[p] = b.i64[place-1]
			default:
				to.Set(r, c, b.to[place-1])
			}
		}
		if c++; c == to.Cols {
			r, c = r+1, 0
		}
	}
}

// recodeLoop is the Loop of recode.
func recodeLoop() *op.Loop {
	return window.Rects(func(c *op.Call) (func(r window.Rect), error) {
		b, err := beginRecode(c)
		if err != nil {
			return nil, err
		}
		return b.area, nil
	})
}
