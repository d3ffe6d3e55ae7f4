package encode

// This file defines onehot, the matrix of codes, and what is computed of it without building it:
// the sums of rows by code, which are a product with it, and how often each code stands in a
// column.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/sparse"
	"flow/kernels/window"
)

// onehots is the rows of this file.
func onehots() []*op.Def {
	sums := onehotSums()
	return append([]*op.Def{onehot(), sums, onehotCounts(), define.Chained(sums, addRows),
		onehotCode(), onehotOf(), onehotEach(), onehotTake()}, onehotStates()...)
}

// manyCodes is the attribute k.
var manyCodes = op.Arg{Name: "k", Attr: true, Kind: op.IntVal, Doc: "number of codes"}

func onehotType(s *op.Sig) (types.Type, error) {
	t, err := columnOfNumbers(s, 0)
	if err != nil {
		return t, err
	}
	k, err := sizeAttr(s, "k", 1)
	if err == nil && k == types.Unknown {
		err = op.Faultf(1, define.CodeAttr, "`onehot` needs k, the number of codes")
	}
	return types.DenseOf(types.F64, t.Rows, k), err
}

func onehot() *op.Def {
	dense := window.Loop(onehotKernel, window.Rows)
	return &op.Def{
		Name: "onehot", Role: op.Codes,
		Doc: "onehot is the n x k matrix with 1 in row i at the column that row i of a names, and 0 elsewhere; t(onehot(a, k)) @ x adds " +
			"the rows of x by group. A code that is not in 0..k-1 fails the run. sparse = true makes it sparse: n elements are stored instead of n k.",
		Args: []op.Arg{{Name: "a", Doc: "n x 1 of codes"}, manyCodes, sparseAttr},
		Eg:   define.Eg("onehot(seq(2, 0, -1), 3)", "0 0 1\n0 1 0\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := onehotType(s)
			return inForm(s, t, err)
		},
		Ref: define.InForm(onehotRef), Along: func(*op.Attrs) []int { return []int{0} },
		Laws: op.Pure, Rate: "copy", Stored: storedOnehot,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			if out.IsSparse() {
				return op.Work{Bytes: 28 * float64(max(out.Rows, 0))}
			}
			return define.CopyWork(s, out)
		},
		Loop: &op.Loop{
			Rows: func(s *op.Sig, out types.Type) int {
				if out.IsSparse() {
					return 0
				}
				return dense.Rows(s, out)
			},
			Space: func(c *op.Call) (n, leaf int) {
				if c.Type.IsSparse() {
					return sparse.UnitSpace(c.In[0].Type())
				}
				return dense.Space(c)
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				if !c.Type.IsSparse() {
					return dense.Begin(c, workers)
				}
				n, _ := sparse.UnitSpace(c.In[0].Type())
				return beginOnehot(c, n), nil
			},
		},
	}
}

func onehotRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	out := value.New(types.F64, a.Rows, c.Attrs.Int("k"))
	for i := range a.Rows {
		p, err := code("onehot", a.At(i, 0), out.Cols)
		if err != nil {
			return nil, err
		}
		out.Set(i, p, value.F64(1))
	}
	return out, nil
}

func onehotKernel(c *op.Call) error {
	codes := codeColumn{c.Dense(0), c.Attrs.Int("k")}
	out := dense.GridOf[float64](c.Result())
	for i := range out.Rows {
		p, err := codes.at(i)
		if err != nil {
			return err
		}
		row := out.Row(i)
		clear(row)
		row[p] = 1
	}
	return nil
}

// codeColumn is a column of codes 0..k-1.
type codeColumn struct {
	*value.Dense
	k int
}

// at is the code in row i; the failure is that of onehot.
func (c codeColumn) at(i int) (int, error) {
	if c.Elem == types.I64 {
		if p := c.I64[i*c.Stride]; uint64(p) < uint64(c.k) {
			return int(p), nil
		}
	}
	return code("onehot", c.At(i, 0), c.k)
}

// blocks calls f with rows from..to-1, some at a time, and the number of the first of them. f returns
// how many there are before the first that is no code, all if there is none, and looks at no row behind
// it. A look at all rows before f sees them would take 0.4 of the time of f. The failure is that of the
// first row whose element is no code.
func (c codeColumn) blocks(from, to int, f func(i int, codes []int64) int) error {
	var room []int64
	inPlace := c.Elem == types.I64 && c.Stride == 1
	if !inPlace {
		room = make([]int64, min(someRows, to-from))
	}
	for i := from; i < to; i += someRows {
		n, done := min(someRows, to-i), 0
		if inPlace {
			done = f(i, c.I64[i:i+n])
		} else if p, ok := readCodes(room, c.Dense, i, n, c.k); ok {
			done = f(i, p)
		}
		for ; done < n; done++ {
			if _, err := c.at(i + done); err != nil {
				return err
			}
		}
	}
	return nil
}

// What the rows of sums by code share.
var sumsArgs = []op.Arg{{Name: "a", Doc: "n x 1 of codes"}, {Name: "x", Doc: "n x m"}, manyCodes,
	{Name: "panel", Attr: true, Kind: op.IntVal, Doc: "terms of a panel"}}

func sumsType(s *op.Sig) (types.Type, error) {
	h, err := onehotType(s)
	if err != nil {
		return h, err
	}
	x := s.In[1]
	if !x.IsDense() || x.Elem != types.F64 || !define.Agree(x.Rows, h.Rows) {
		return h, op.Faultf(1, define.CodeShape, "%s of %s by %s", s.Def.Name, x, s.In[0])
	}
	return types.DenseOf(types.F64, h.Cols, x.Cols), nil
}

func sumsCost(s *op.Sig, out types.Type) op.Work {
	return op.Work{Flops: float64(s.In[1].Count()), Bytes: define.Traffic(s, out)}
}

// onehotSums is the row of products with a matrix of codes.
func onehotSums() *op.Def {
	return &op.Def{
		Name: "onehot.sums", Hidden: true,
		Doc: "onehot.sums is t(onehot(a, k)) @ x, in panels as the product is; with panels of 0 terms it is the product of a sparse onehot, whose " +
			"sums are one chain of what is stored. The compiler makes it where nothing else needs the matrix of codes.",
		Args: sumsArgs, Type: sumsType, Cost: sumsCost,
		Ref: func(c *op.Call) (value.Value, error) {
			h, err := onehotRef(c)
			if err != nil {
				return nil, err
			}
			if c.Attrs.Int("panel") == 0 {
				return sparse.TransposedProductRef(&op.Call{In: []value.Value{define.KeptRef(h.(*value.Dense)), c.In[1]}, Type: c.Type})
			}
			attrs := op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}, op.Attr{Name: "panel", Val: op.Int(c.Attrs.Int("panel"))})
			return linalg.PanelsRef(&op.Call{In: []value.Value{h, c.In[1]}, Attrs: attrs, Type: c.Type})
		},
		Laws: op.Pure, Keyed: &op.Keyed{Panel: panelOfSums, Write: sumsOfRow},
		Shard: op.Shard{Partial: "onehot.stack", Finish: "panels.add", Chain: "onehot.sums.chain"},
		Loop: &op.Loop{
			Space:    func(c *op.Call) (n, leaf int) { return beginCut(c).Panels, 1 },
			Begin:    func(c *op.Call, _ int) (op.LoopBody, error) { return beginSums(c), nil },
			RowsEach: func(c *op.Call) (rows, iterations int) { return beginCut(c).Panel, 1 },
		},
	}
}

// beginCut returns the panels of a call. It makes no strips, since each would read the codes again. A
// product with a sparse matrix is one panel.
func beginCut(c *op.Call) linalg.PanelGrid {
	n := c.In[1].Type().Rows
	p := linalg.PanelGrid{K: n, Panel: c.Attrs.Int("panel"), Strips: 1, Strip: c.Type.Rows}
	if p.Panel == 0 {
		p.Panel = max(n, 1)
	}
	p.Panels = (n + p.Panel - 1) / p.Panel
	return p
}

// sumsBody adds the rows of a matrix by code: an element of the product with the matrix of codes is
// the chain
//
//	s = fma(h, x, s) from +0, h = 1 in the rows of its code and 0 elsewhere
//
// Of a finite x, fma(1, x, s) is s + x, and fma(0, x, s) is s: s is never -0, as no sum of +0 and
// anything is. Of an infinite one or NaN, fma(0, x, s) is NaN. Such an x leaves its own chain, and
// so its column, infinite or NaN at the end of the panel: then the column is computed as it is
// defined.
type sumsBody struct {
	linalg.PanelGrid
	c     *op.Call
	codes codeColumn
	x     dense.Grid[float64]
	sums  []dense.Grid[float64]
	// stored says that rows of other codes are no terms of a sum, as in a product with a sparse
	// matrix: a sum is the chain of its own rows, whatever the others are.
	stored bool
}

func beginSums(c *op.Call) *sumsBody {
	b := &sumsBody{PanelGrid: beginCut(c), c: c, codes: codeColumn{c.Dense(0), c.Attrs.Int("k")}, x: dense.GridOf[float64](c.Dense(1))}
	b.stored = c.Attrs.Int("panel") == 0
	rows, cols := c.Type.Rows, c.Type.Cols
	apart := rows*cols + 8 // panels of two workers share no line of memory
	room := make([]float64, b.Panels*apart)
	for p := range b.Panels {
		b.sums = append(b.sums, dense.Grid[float64]{Rows: rows, Cols: cols, LD: cols, X: room[p*apart:][:rows*cols]})
	}
	return b
}

// Chunk sums panels lo..hi-1.
func (b *sumsBody) Chunk(_, lo, hi int) error {
	for ; lo < hi; lo++ {
		if err := b.panel(b.sums[lo], nil, lo*b.Panel, min((lo+1)*b.Panel, b.K)); err != nil {
			return err
		}
	}
	return nil
}

// panel adds rows from..to-1 to sums. They begin as a copy of begun, or as zeros if begun is nil. It
// fails for a code beyond the table.
func (b *sumsBody) panel(sums dense.Grid[float64], begun *value.Dense, from, to int) error {
	if err := b.add(sums, from, to); err != nil {
		return err
	}
	for j := 0; j < b.x.Cols && !b.stored; j++ {
		for p := range sums.Rows {
			if s := sums.X[p*sums.LD+j]; s-s != 0 { // infinite or NaN
				if err := b.column(sums, begun, j, from, to); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// add adds rows from..to-1 to the sums of their codes.
func (b *sumsBody) add(sums dense.Grid[float64], from, to int) error {
	return b.codes.blocks(from, to, func(i int, codes []int64) int {
		if sums.Cols == 1 && b.x.LD == 1 {
			return addByCode(sums.X[:b.codes.k], codes, b.x.X[i:])
		}
		for k, p := range codes {
			if uint64(p) >= uint64(b.codes.k) {
				return k
			}
			x := b.x.Row(i + k)
			s := sums.X[int(p)*sums.LD:][:len(x)]
			for j, v := range x {
				s[j] += v
			}
		}
		return len(codes)
	})
}

// addByCode adds x[i] to s[codes[i]] for each i before the first code that s does not have, whose
// number it returns. It is not part of add, where s would be read from memory for each element.
func addByCode(s []float64, codes []int64, x []float64) int {
	x = x[:len(codes)]
	for i, p := range codes {
		if uint64(p) >= uint64(len(s)) {
			return i
		}
		s[p] += x[i]
	}
	return len(codes)
}

// column makes column j of sums by the definition, term by term.
func (b *sumsBody) column(sums dense.Grid[float64], begun *value.Dense, j, from, to int) error {
	for p := range sums.Rows {
		s := 0.0
		if begun != nil {
			s = begun.F64[p*begun.Stride+j]
		}
		for i := from; i < to; i++ {
			at, err := b.codes.at(i)
			if err != nil {
				return err
			}
			h := 0.0
			if at == p {
				h = 1
			}
			s = math.FMA(h, b.x.Row(i)[j], s)
		}
		sums.X[p*sums.LD+j] = s
	}
	return nil
}

// End adds the panels.
func (b *sumsBody) End() error {
	out := dense.GridOf[float64](b.c.Result())
	if b.Panels == 0 || out.Rows == 0 || out.Cols == 0 {
		dense.Clear(b.c.Result())
		return nil
	}
	sum := linalg.AddPanels(b.sums)
	for i := range out.Rows {
		copy(out.Row(i), sum.Row(i))
	}
	return nil
}

// onehotCounts is the row of the column sums of a matrix of codes.
func onehotCounts() *op.Def {
	return &op.Def{
		Name: "onehot.counts", Hidden: true,
		Doc:  "onehot.counts is colsum(onehot(a, k)): how often each code stands in a. The compiler makes it where nothing else needs the matrix of codes.",
		Args: []op.Arg{{Name: "a", Doc: "n x 1 of codes"}, manyCodes},
		Type: func(s *op.Sig) (types.Type, error) {
			h, err := onehotType(s)
			return types.DenseOf(types.F64, 1, h.Cols), err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			h, err := onehotRef(c)
			if err != nil {
				return nil, err
			}
			out := value.New(types.F64, 1, c.Type.Cols)
			for j := range out.Cols {
				n := 0.0
				for i := range h.(*value.Dense).Rows {
					n += h.(*value.Dense).At(i, j).F // whole numbers, far below 2^53
				}
				out.Set(0, j, value.F64(n))
			}
			return out, nil
		},
		Laws: op.Pure, Cost: define.CopyWork,
		Shard: op.Shard{Partial: "onehot.counts", Combine: "counts.join"},
		Keyed: &op.Keyed{Panel: noOrder, Write: func(e *op.Elements) op.KeyedRow {
			return oneMore(e, keyOfRow(e, 0, e.Attrs.Int("k"), loop.Num(0)))
		}},
		Loop: &op.Loop{
			Light:    true,
			Rows:     func(s *op.Sig, _ types.Type) int { return s.In[0].Rows },
			Space:    func(c *op.Call) (n, leaf int) { return c.In[0].Type().Rows, window.LeafElements },
			Begin:    func(c *op.Call, workers int) (op.LoopBody, error) { return beginCounts(c, workers), nil },
			RowsEach: func(*op.Call) (rows, iterations int) { return 1, 1 },
		},
	}
}

// countsBody counts codes. Every worker has two tables of its own, one behind the other: an element
// and the next are counted in different ones, as an element of the code before it would wait for
// its count to be stored.
type countsBody struct {
	c     *op.Call
	codes codeColumn
	ns    [][]int64
}

func beginCounts(c *op.Call, workers int) *countsBody {
	b := &countsBody{c: c, codes: codeColumn{c.Dense(0), c.Attrs.Int("k")}, ns: make([][]int64, workers)}
	for w := range b.ns {
		b.ns[w] = make([]int64, 2*b.codes.k, 2*b.codes.k+16)
	}
	return b
}

// Chunk counts rows lo..hi-1.
func (b *countsBody) Chunk(worker, lo, hi int) error {
	k := b.codes.k
	even, odd := b.ns[worker][:k], b.ns[worker][k:]
	return b.codes.blocks(lo, hi, func(_ int, codes []int64) int { return countCodes(even, odd, codes) })
}

// countCodes counts codes before the first that the tables, of one length, do not have, whose number it
// returns.
func countCodes(even, odd []int64, codes []int64) int {
	n := len(codes)
	for odd = odd[:len(even)]; len(codes) >= 2; codes = codes[2:] {
		p, q := codes[0], codes[1]
		if uint64(p) >= uint64(len(even)) || uint64(q) >= uint64(len(odd)) {
			break
		}
		even[p]++
		odd[q]++
	}
	for len(codes) > 0 && uint64(codes[0]) < uint64(len(even)) {
		even[codes[0]]++
		codes = codes[1:]
	}
	return n - len(codes)
}

// End adds the counts.
func (b *countsBody) End() error {
	out := dense.GridOf[float64](b.c.Result()).Row(0)
	clear(out)
	for _, ns := range b.ns {
		for p, n := range ns {
			out[p%len(out)] += float64(n)
		}
	}
	return nil
}

// beginOnehot makes a sparse onehot: one element a row.
func beginOnehot(c *op.Call, units int) op.LoopBody {
	a := c.Dense(0)
	codes := codeColumn{a, c.Attrs.Int("k")}
	out := value.NewCSR(types.F64, a.Rows, codes.k, a.Rows)
	return &sparse.UnitLoop{
		RowCut: sparse.RowCut{Rows: a.Rows, Units: units, Before: func(i int) int64 { return int64(i) }},
		Passes: []sparse.Pass{{Run: func(_, lo, hi int) error {
			for i := lo; i < hi; i++ {
				p, err := codes.at(i)
				if err != nil {
					return err
				}
				out.Col[i], out.F64[i], out.Ptr[i+1] = int32(p), 1, int64(i)+1
			}
			return nil
		}, Then: func() (bool, error) { c.Out = out; return true, nil }}},
	}
}
