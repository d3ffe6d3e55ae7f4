package sparse

// This file derives from the reductions those of sparse matrices. A sparse matrix is a matrix with
// zeros: what is not stored counts as the zero that it is. So the minimum of a row of positive
// numbers that is not full is 0, and a mean divides by the number of all elements. One zero stands
// for all that are not stored: a second one changes no sum, count, minimum or truth.
// Reductions of all elements are loops over ranges of entries.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

// besideExamples are examples of reductions beside a number, by row.
var besideExamples = map[string][]op.Example{
	"sp.sum.beside":    define.Eg("sum(sparse(eye(2)) - 1)", "-2"),
	"sp.rowsum.beside": define.Eg("rowsum(sparse(eye(2)) - 3)", "-5\n-5\n"),
	"sp.colmax.beside": define.Eg("colmax(sparse(eye(2)) - 3)", "-2 -2\n"),
}

func sparseReductions() []*op.Def {
	var out []*op.Def
	for _, w := range reduce.Wholes() {
		whole, rows, columns := sparseWhole(w), sparseLines(w, true), sparseLines(w, false)
		out = append(out, whole, rows, columns, beside(whole, besideAll(w)), beside(rows, besideEachRow(w)), beside(columns, besideEachColumn(w)))
		if w.Family() == w.Name {
			out = append(out, sparsePart(w))
		}
		if columns.Shard.Partial != "" {
			out = append(out, columnsPart(w))
		}
	}
	return out
}

func sparseWhole(w reduce.Whole) *op.Def {
	return &op.Def{
		Name: "sp." + w.Name, For: w.Name, Word: w.Name, Hidden: true,
		Doc:  "sp." + w.Name + " is " + w.Name + " of a sparse matrix, its zeros included.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) { return w.Type(denseSig(s), 0) },
		Ref: func(c *op.Call) (value.Value, error) {
			return w.Defined(c, define.Elements(define.EveryElement(c.In[0])))
		},
		Laws: w.Laws(), Rate: "reduce." + w.Name, Cost: define.SparseCost(w.Flops),
		Shard: op.Shard{Partial: "sp." + w.Family() + ".part", Combine: w.Family() + ".join", Finish: w.Name + ".done"},
		Loop:  entryLoop(w),
	}
}

// sparsePart returns the row that makes the accumulator of a rank's rows of a sparse matrix.
func sparsePart(w reduce.Whole) *op.Def {
	d := define.ByKernel(&op.Def{
		Name: "sp." + w.Name + ".part", Hidden: true,
		Doc:  "sp." + w.Name + ".part is the accumulator of the rows of a sparse matrix that a rank has, their zeros included.",
		Args: []op.Arg{{Name: "x", Doc: "sparse matrix"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsSparse() || w.Elem(t.Elem) == types.NoElem {
				return t, op.Faultf(0, define.CodeKind, "`%s` of %v", s.Def.Name, t)
			}
			return w.Acc(t.Elem), nil
		},
		Laws: op.Pure, Rate: "reduce." + w.Name, Cost: define.SparseCost(w.Flops),
		Loop: entryLoop(w),
	})
	d.Loop.Own = true
	d.Loop.Rows = func(s *op.Sig, _ types.Type) int { return s.In[0].Rows }
	return d
}

// addEntries adds n entries of m to acc, of all in order those from the given one on. An entry is never
// zero, so how many there are is enough for some reductions.
func addEntries(acc *reduce.Accumulators, w reduce.Whole, m *value.CSR, from, n int) {
	switch {
	case n == 0:
	case byLength(w, m.Elem):
		v := value.Bool(true)
		if w.Class == loop.Count || w.Class == loop.Sum {
			v = value.I64(int64(n))
		}
		acc.Join(0, v)
	case m.Elem == types.Bool: // reductions of floats: all entries are 1
		one := value.New(types.Bool, 1, 1)
		one.Bool[0] = 1
		addCopies(acc, one, n)
	default:
		acc.Add(m.Values().View(0, from, 1, n), 0, 0, 0)
	}
}

// sparseLines is the reduction of every row or column.
func sparseLines(w reduce.Whole, byRow bool) *op.Def {
	prefix, each, _ := reduce.AxisNames(byRow)
	name := prefix + w.Name
	d := &op.Def{
		Name: "sp." + name, For: name, Word: name, Hidden: true,
		Doc:  "sp." + name + " is " + w.Name + " of each " + each + " of a sparse matrix, its zeros included; the result is dense.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) { return reduce.AxisType(denseSig(s), byRow, w.Nonempty, w.Elem) },
		Laws: w.Laws(), Rate: "reduce." + prefix, Cost: define.SparseCost(w.Flops),
	}
	d.Ref = define.InForm(func(c *op.Call) (value.Value, error) {
		return reduce.EachLine(c, byRow, w.Nonempty, func(x []value.Scalar) value.Scalar { return w.Ref(x, c.Type.Elem) })
	})
	empty := func(c *op.Call) error {
		m, out := c.In[0].(*value.CSR), c.Result()
		if w.Nonempty && out.Rows*out.Cols > 0 && m.Rows*m.Cols == 0 {
			return op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
		}
		return nil
	}
	column := func(c *op.Call) *value.Dense { // a row is a column in the same memory
		if byRow {
			return c.Result()
		}
		return dense.TurnedVector(c.Result())
	}
	d.Kernel = func(c *op.Call) error {
		m := c.In[0].(*value.CSR)
		if err := empty(c); err != nil {
			return err
		}
		if !byRow {
			if l := foldColumns(w, m, column(c), 1); l != nil {
				return op.RunAll(l, transposeUnits)
			}
			m = transposed(m)
		}
		lineRun(w, m, column(c))(0, m.Rows)
		return nil
	}
	if d.Along = firstInput; !byRow {
		d.Along, d.Turned = nil, "sp.row"+w.Name
		if w.Class == loop.Count || w.Class == loop.Sum || w.Class == loop.Mean {
			d.Shard = op.Shard{Partial: "sp." + name + ".part", Combine: w.Family() + ".join", Finish: name + ".done"}
		}
	}
	d.Loop = &op.Loop{
		Rows: func(s *op.Sig, _ types.Type) int {
			if !byRow {
				return 0
			}
			return rowsShared(s.In[0])
		},
		Space: func(c *op.Call) (n, leaf int) {
			if byRow {
				return rowSpace(c.In[0].Type())
			}
			return transposeSpace(c.In[0].Type())
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			m := c.In[0].(*value.CSR)
			if err := empty(c); err != nil {
				return nil, err
			}
			if byRow {
				return rowLoop(lineRun(w, m, column(c))), nil
			}
			return beginColumns(w, m, column(c), workers), nil
		},
	}
	return d
}

// extreme reports whether w is a least or greatest element.
func extreme(w reduce.Whole) bool { return w.Class == loop.Least || w.Class == loop.Greatest }

// byLength reports whether the number of entries decides the reduction of a line of elements of e.
func byLength(w reduce.Whole, e types.Elem) bool {
	return w.Class == loop.Count || w.Class == loop.Any || w.Class == loop.All ||
		e == types.Bool && (w.Class == loop.Sum || extreme(w))
}

// putLengths sets elements of out, from i on, to such reductions of lines. A line has full elements,
// and n gives for each line how many of them are not zero.
func putLengths(w reduce.Whole, out *value.Dense, i int, n []int64, full int64) {
	switch w.Class {
	case loop.Count, loop.Sum:
		copy(out.I64[i:], n)
	case loop.Any, loop.Greatest:
		for k, n := range n {
			out.Bool[i+k] = reduce.Bit(n > 0)
		}
	default:
		for k, n := range n {
			out.Bool[i+k] = reduce.Bit(n == full)
		}
	}
}

// lineRun is what reduces rows lo..hi-1 of m into out, which is contiguous.
func lineRun(w reduce.Whole, m *value.CSR, out *value.Dense) func(lo, hi int) {
	full := int64(m.Cols)
	switch {
	case byLength(w, m.Elem):
		return func(lo, hi int) {
			var room [256]int64
			for ; lo < hi; lo += len(room) {
				n := room[:min(len(room), hi-lo)]
				begin, end := m.Ptr[lo:][:len(n)], m.Ptr[lo+1:][:len(n)]
				for k := range n {
					n[k] = end[k] - begin[k]
				}
				putLengths(w, out, lo, n, full)
			}
		}
	case w.Class == loop.Sum && m.Elem == types.I64:
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				s := int64(0)
				for _, v := range m.I64[m.Ptr[i]:m.Ptr[i+1]] {
					s += v
				}
				out.I64[i] = s
			}
		}
	case extreme(w):
		return dense.ForNumber(m.Elem, extremeRows[float64], extremeRows[float32], extremeRows[int64])(m, out, w.Class == loop.Least)
	}
	fold := &reduce.Fold{Whole: w}
	return func(lo, hi int) { // exact sums
		fold.EachList(out, lo, hi, m.Cols, func(i int, row *value.Dense) { valuesOf(m, i, i+1, row) })
	}
}

// extremeRows writes the least or greatest element of every row; a NaN wins.
func extremeRows[T vec.Number](m *value.CSR, result *value.Dense, least bool) func(lo, hi int) {
	x, out := numbersOf[T](m, m.Elem), dense.GridOf[T](result).X
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x[m.Ptr[i]:m.Ptr[i+1]]
			var best T
			if len(row) == m.Cols {
				best = row[0]
			}
			for _, v := range row {
				if reduce.Beats(v, best, least) {
					best = v
				}
			}
			if best != best {
				nan := math.NaN() // one for all, as of dense rows
				best = T(nan)
			}
			out[i] = best
		}
	}
}

// entryLoop is the Loop of a reduction of all elements of a sparse matrix. An iteration is as good
// a share of the entries as any other.
func entryLoop(w reduce.Whole) *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) { return UnitSpace(c.In[0].Type()) },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			m := ofRank(c)
			if m.Rows*m.Cols == 0 && w.Nonempty && c.Type.IsScalar() {
				return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			n, _ := UnitSpace(c.In[0].Type())
			l := &entryBody{c: c, w: w, m: m, units: n, by: make([]entryWorker, workers)}
			fold := &reduce.Fold{Whole: w, Part: c.Type.IsMatrix()} // the state of a rank
			for i := range l.by {
				l.by[i].acc.Open(fold, m.Elem, 0, 1)
			}
			return l, nil
		},
	}
}

type entryBody struct {
	c     *op.Call
	w     reduce.Whole
	m     *value.CSR
	units int
	by    []entryWorker
	fill  func() (z *value.Dense, n int) // what the elements beside some entries are, and how many; nil: there are none
}

type entryWorker struct {
	acc reduce.Accumulators
	_   [128]byte
}

// Chunk adds the entries of units lo..hi-1 to the worker's accumulator.
func (l *entryBody) Chunk(worker, lo, hi int) error {
	n := l.m.NNZ()
	from, to := n/l.units*lo+n%l.units*lo/l.units, n/l.units*hi+n%l.units*hi/l.units
	addEntries(&l.by[worker].acc, l.w, l.m, from, to-from)
	return nil
}

// End joins the accumulators, and adds one zero for all that are not stored.
func (l *entryBody) End() error {
	all, zeros := &l.by[0].acc, l.m.Rows*l.m.Cols-l.m.NNZ()
	if l.fill != nil {
		z, n := l.fill()
		addCopies(all, z, n)
		zeros -= n
	}
	if zeros > 0 {
		all.Add(value.New(l.m.Elem, 1, 1), 0, 0, 0)
	}
	for i := range l.by[1:] {
		all.Merge(&l.by[1+i].acc)
	}
	if l.c.Type.IsMatrix() {
		all.Finish(l.c.Result(), 0)
	} else {
		l.c.Out = all.Result(0, l.c.Type.Elem, l.m.Rows*l.m.Cols)
	}
	return nil
}

// addCopies adds n elements z to acc: accumulators of 1, 2, 4, .. of them are joined.
func addCopies(acc *reduce.Accumulators, z *value.Dense, n int) {
	if n == 0 {
		return
	}
	some := acc.Alike()
	for some.Add(z, 0, 0, 0); ; n /= 2 {
		if n%2 == 1 {
			acc.Merge(some)
		}
		if n == 1 {
			return
		}
		twice := acc.Alike()
		twice.Merge(some)
		twice.Merge(some)
		some = twice
	}
}

// beside returns the row that reduces as d does the matrix that is x where s has entries, and z
// elsewhere. x has no other entries; it may store zeros.
func beside(d *op.Def, loop *op.Loop) *op.Def {
	return &op.Def{
		Name: d.Name + ".beside", Hidden: true,
		Doc: d.Name + ".beside is " + d.For + " of the matrix that is x where s has entries, and z elsewhere. x has no other entries. The " +
			"compiler makes it of chains on sparse matrices.",
		Args: []op.Arg{{Name: "x", Doc: "sparse matrix"}, {Name: "s", Doc: "sparse matrix"}, {Name: "z", Doc: "scalar"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if x, of, z := s.In[0], s.In[1], s.In[2]; !x.IsSparse() || !x.Known() || x.Count() == 0 || !of.IsSparse() || x.Rows != of.Rows || x.Cols != of.Cols || !z.IsScalar() || z.Elem != x.Elem {
				return x, op.Faultf(0, define.CodeShape, "%s of %s, %s and %s", s.Def.Name, x, of, z)
			}
			return d.Type(&op.Sig{Def: s.Def, Attrs: s.Attrs, In: s.In[:1]})
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x, of := define.EveryElement(c.In[0]), define.EveryElement(c.In[1])
			for i := range x.Rows {
				for j := range x.Cols {
					if !of.At(i, j).True() {
						x.Set(i, j, c.Scalar(2))
					}
				}
			}
			whole := *c
			whole.In = []value.Value{x}
			return d.Ref(&whole)
		},
		Eg:   besideExamples[d.Name+".beside"],
		Laws: op.Pure, Rate: d.Rate, Cost: d.Cost, Loop: loop, Along: func(*op.Attrs) []int { return []int{0, 1} },
	}
}

// besideAll is the loop of such a reduction of all elements.
func besideAll(w reduce.Whole) *op.Loop {
	loop := entryLoop(w)
	begin := loop.Begin
	loop.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
		body, err := begin(c, workers)
		if err != nil {
			return nil, err
		}
		body.(*entryBody).fill = func() (*value.Dense, int) {
			z := value.New(c.In[0].Type().Elem, 1, 1)
			z.Set(0, 0, c.Scalar(2))
			s := c.In[1].(*value.CSR)
			return z, s.Rows*s.Cols - s.NNZ()
		}
		return body, nil
	}
	return loop
}

// besideEachRow is the loop of such a reduction of rows.
func besideEachRow(w reduce.Whole) *op.Loop {
	return &op.Loop{
		Rows:  func(s *op.Sig, _ types.Type) int { return rowsShared(s.In[0]) },
		Space: func(c *op.Call) (n, leaf int) { return rowSpace(c.In[0].Type()) },
		Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
			s := c.In[1].(*value.CSR)
			return besideLines(w, c.In[0].(*value.CSR), func(i int) int { return int(s.Ptr[i+1] - s.Ptr[i]) }, c.Scalar(2), c.Result()), nil
		},
	}
}

// besideEachColumn is the loop of such a reduction of columns, which reduces the rows of the transpose.
func besideEachColumn(w reduce.Whole) *op.Loop {
	return &op.Loop{
		Space: func(*op.Call) (n, leaf int) { return transposeUnits, 1 },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			s, stored := c.In[1].(*value.CSR), make([]int, c.Type.Cols)
			for _, j := range s.Col[s.Ptr[0]:s.Ptr[s.Rows]] {
				stored[j]++
			}
			return beginTurned(c.In[0].(*value.CSR), workers, func(t *value.CSR) rowLoop {
				return besideLines(w, t, func(j int) int { return stored[j] }, c.Scalar(2), dense.TurnedVector(c.Result()))
			}), nil
		},
	}
}

// besideLines reduces lines of m into out, a column. A line has stored(i) elements that may be entries;
// the others are z.
func besideLines(w reduce.Whole, m *value.CSR, stored func(i int) int, z value.Scalar, out *value.Dense) rowLoop {
	fold := &reduce.Fold{Whole: w}
	once := extreme(w) || w.Class == loop.Any || w.Class == loop.All // a second z changes nothing
	return func(lo, hi int) {
		room, taken := value.New(m.Elem, 1, m.Cols), m.Cols // of room: other elements are z
		var list value.Dense
		fold.EachList(out, lo, hi, m.Cols, func(i int, row *value.Dense) {
			for k := range taken {
				room.Set(0, k, z)
			}
			valuesOf(m, i, i+1, &list)
			room.View(0, 0, 1, list.Cols).CopyFrom(&list)
			if taken = list.Cols; stored(i) > taken {
				room.Set(0, taken, value.Scalar{Elem: m.Elem}) // one zero stands for all
				taken++
			}
			rest := m.Cols - stored(i)
			if once {
				rest = min(rest, 1)
			}
			room.Window(row, 0, 0, 1, taken+rest)
		})
	}
}
