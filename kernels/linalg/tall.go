package linalg

// This file defines matmul.panels, the product over a long inner size, and which products run as
// loops.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// panels is the row of products over more than a panel.
func (l *Linear) panels() *op.Def {
	return &op.Def{
		Name: "matmul.panels", Hidden: true,
		Doc: "matmul.panels is a matrix product over a long inner size: products of panels of that many terms, added in a balanced tree. " +
			"The compiler makes it of such a product.",
		Args: []op.Arg{{Name: "a", Doc: "n x k"}, {Name: "b", Doc: "k x m"}, define.Flag("ta", "a is used transposed"), define.Flag("tb", "b is used transposed"),
			{Name: "panel", Attr: true, Kind: op.IntVal, Doc: "terms of a panel"}},
		Type:  matmulType,
		Ref:   PanelsRef,
		Laws:  op.Pure | op.Total,
		Rate:  "gemm",
		Shard: op.Shard{Partial: "matmul.stack", Finish: "panels.add", Chain: "matmul.panels.chain"},
		Cost:  func(s *op.Sig, out types.Type) op.Work { return productWork(s, s.In[0], out) },
		Loop: &op.Loop{
			Space:    func(c *op.Call) (n, leaf int) { return panelGridOf(c).count(), 1 },
			Group:    func(c *op.Call) (strips, least int) { return panelGridOf(c).together(), 1 },
			Begin:    func(c *op.Call, _ int) (op.LoopBody, error) { return l.beginPanels(c, nil), nil },
			RowsEach: func(c *op.Call) (rows, iterations int) { return panelRows(c, panelGridOf(c)) },
		},
	}
}

// PanelGrid is how a product is shared out: panels of its inner size and, where those are few,
// strips of rows of the result.
type PanelGrid struct {
	K, Panel, Panels int
	Strip, Strips    int // rows of a strip; their number
}

func (p PanelGrid) count() int { return p.Panels * p.Strips }

// together returns how many strips of a panel are computed together: up to 128 rows. Each chunk reads
// all of the other factor, so fewer chunks read less.
func (p PanelGrid) together() int { return max(1, min(p.Strips, 128/max(1, p.Strip))) }

// fewPanels is how many panels there must be for a strip to be the whole result.
const fewPanels = 16

func panelGridOf(c *op.Call) PanelGrid {
	_, k := define.Turned(c.In[0].Type(), c.Attrs.Bool("ta"))
	p := PanelGrid{K: k, Panel: c.Attrs.Int("panel"), Strip: c.Type.Rows, Strips: 1}
	if c.Type.Count() == 0 || k == 0 || p.Panel < 1 {
		return PanelGrid{}
	}
	p.Panels = (k + p.Panel - 1) / p.Panel
	if p.Panels < fewPanels {
		p.Strip = (c.Type.Rows*p.Panels/fewPanels + blas.TallRows) / blas.TallRows * blas.TallRows
		p.Strips = (c.Type.Rows + p.Strip - 1) / p.Strip
	}
	return p
}

// beginPanels begins the loop. before makes the rows of a factor; nil: the factor is stored.
func (l *Linear) beginPanels(c *op.Call, before *rowsBefore) op.LoopBody {
	switch c.Type.Elem {
	case types.F64:
		return beginPanels(l, l.F64, c, before)
	case types.F32:
		return beginPanels(l, l.F32, c, before)
	}
	return beginPanels(l, l.i64, c, before)
}

// panelBody is one execution. Every panel has a result of its own, and End adds them up.
type panelBody[T dense.Factor] struct {
	PanelGrid
	l     *Linear
	by    blas.Kernels[T]
	c     *op.Call
	lower bool // t(a) @ a is symmetric to the bit, as fma(x, y, z) is fma(y, x, z)
	ta    bool
	tb    bool
	sums  []dense.Grid[T]
	terms func(p int) (from, to int) // that panel p adds; nil: all of its own
	// before makes the rows of the panel at work; nil: they are there.
	before *rowsBefore
}

func beginPanels[T dense.Factor](l *Linear, by blas.Kernels[T], c *op.Call, before *rowsBefore) *panelBody[T] {
	b := &panelBody[T]{PanelGrid: panelGridOf(c), l: l, by: by, c: c, ta: c.Attrs.Bool("ta"), tb: c.Attrs.Bool("tb"), before: before}
	if before != nil { // the rows of a panel are made once
		b.Strip, b.Strips = c.Type.Rows, 1
	}
	b.lower = c.In[0] == c.In[1] && b.ta && !b.tb
	rows, cols := RoundUp(c.Type.Rows, blas.TallRows), RoundUp(c.Type.Cols, blas.TallCols)
	room := make([]T, b.Panels*rows*cols)
	for p := range b.Panels {
		b.sums = append(b.sums, dense.Grid[T]{Rows: c.Type.Rows, Cols: c.Type.Cols, LD: cols, X: room[p*rows*cols:][:rows*cols]})
	}
	return b
}

// RoundUp is the least multiple of m that is not below n.
func RoundUp(n, m int) int { return (n + m - 1) / m * m }

// Chunk computes strips lo..hi-1; those of one panel follow each other.
func (b *panelBody[T]) Chunk(worker, lo, hi int) error {
	s := b.l.Pool.Get()
	defer b.l.Pool.Put(s)
	for end := 0; lo < hi; lo = end {
		p, i := lo/b.Strips, lo%b.Strips*b.Strip
		end = min(hi, (p+1)*b.Strips) // strips of one panel go together
		from, to := p*b.Panel, min((p+1)*b.Panel, b.K)
		if b.terms != nil {
			from, to = b.terms(p)
		}
		next := to
		for ; from < to; from = next {
			if b.before != nil {
				next = min(from+b.before.block, to)
				startRows(b.before.of, from, next)
				if err := b.before.Chunk(worker, from*b.before.each, next*b.before.each); err != nil {
					return err
				}
			}
			b.strip1(s, b.sums[p], i, min(i+(end-lo)*b.Strip, b.c.Type.Rows), from, next-from)
			s.reset()
		}
	}
	return nil
}

// strip1 adds k terms, from the one at from on, to rows i0..i1-1 of the product.
func (b *panelBody[T]) strip1(s *Scratch, sum dense.Grid[T], i0, i1, from, k int) {
	x, y := inner[T](b.c.Dense(0), b.ta, from, k), inner[T](b.c.Dense(1), !b.tb, from, k)
	if b.ta && !b.tb {
		b.by.Tall(&s.Ws, b.lower, i0, i1, sum.Cols, k, x.X, x.LD, y.X, y.LD, sum.X, sum.LD)
		return
	}
	if b.ta {
		x = x.Part(0, i0, k, i1-i0)
	} else {
		x = x.Part(i0, 0, i1-i0, k)
	}
	GemmInto(b.by, s, sum.Part(i0, 0, i1-i0, sum.Cols), x, y, b.ta, b.tb, false)
}

// inner is the part of d with k terms of the inner size, which is that of its rows or of its
// columns.
func inner[T dense.Factor](d *value.Dense, rows bool, from, k int) dense.Grid[T] {
	var v value.Dense
	if rows {
		d.Window(&v, from, 0, k, d.Cols)
	} else {
		d.Window(&v, 0, from, d.Rows, k)
	}
	e := types.F64
	switch any(*new(T)).(type) {
	case float32:
		e = types.F32
	case int64:
		e = types.I64
	}
	return dense.GridOf[T](dense.Widened(&v, e))
}

// AddPanels adds the results of panels into the first: pairs, then pairs of pairs.
func AddPanels[T dense.Factor](sums []dense.Grid[T]) dense.Grid[T] {
	for len(sums) > 1 {
		next := sums[:0]
		for i := 0; i < len(sums); i += 2 {
			if i+1 < len(sums) {
				for r := range sums[i].Rows {
					x, y := sums[i].Row(r), sums[i+1].Row(r)
					for j := range x {
						x[j] += y[j]
					}
				}
			}
			next = append(next, sums[i])
		}
		sums = next
	}
	return sums[0]
}

// End adds the panels and mirrors what is symmetric.
func (b *panelBody[T]) End() error {
	if r := b.before; r != nil {
		x, ok := r.LoopBody.(op.Incomplete)
		again := ok && x.Incomplete() // some of the rows are there only when the loop has ended
		if err := r.LoopBody.End(); err != nil {
			return err
		}
		if b.before = nil; again {
			for _, sum := range b.sums {
				clear(sum.X)
			}
			if err := b.Chunk(0, 0, b.count()); err != nil {
				return err
			}
		}
	}
	if len(b.sums) == 0 { // a product without terms
		dense.Clear(b.c.Result())
		return nil
	}
	b.put(dense.GridOf[T](b.c.Result()), AddPanels(b.sums))
	b.sums = nil
	return nil
}

// put copies a panel, or a sum of panels, to out.
func (b *panelBody[T]) put(out, sum dense.Grid[T]) {
	for i := range out.Rows {
		row := out.Row(i)
		copy(row, sum.Row(i))
		if b.lower {
			for j := i + 1; j < out.Cols; j++ {
				row[j] = sum.Row(j)[i]
			}
		}
	}
}

// Further bounds of a product that runs as a loop over the rows of its result: few terms or columns,
// and a right factor that stays in a second-level cache.
const (
	mostThin  = 16      // terms of an element, or columns of the result, where a large matrix is less tall
	MostRight = 1 << 15 // elements of the right factor
)

// LeastTall is the least number of rows of a leaf: the right factor is packed anew for each.
const LeastTall = 512

// leastPacked is the same for a rank's part of a product with a larger right factor. With 30 rows a
// leaf, packing took a third of the time of 670 rows times 192 x 1344 elements (December 2026).
const leastPacked = LeastTall / 4

// LeastByVector is from how many elements on a matrix times a column is shared out: they are read
// once, and one worker has not all of memory's speed. Its leaves are multiples of vectorRows rows,
// which go together.
const LeastByVector, vectorRows = 1 << 18, 8

// ByVectorLeaf returns how many rows of the result are a leaf of the product of a, or of its transpose,
// by a column.
func ByVectorLeaf(a types.Type, turned bool) int {
	if turned {
		return RoundUp(window.WideColumns(a.Cols)*1, 16)
	}
	return RoundUp(max(1, window.LeafElements/a.Cols), vectorRows)
}

// tallProduct reports that a product of a, the input at first, and the next one is such a product.
// Its operands need not be cut.
func tallProduct(s *op.Sig, first int, out types.Type) bool {
	a, b := s.In[first], s.In[first+1]
	if !a.IsDense() || !b.IsDense() || !a.Known() || !b.Known() || s.Attrs.Bool("ta") {
		return false
	}
	if b.Count() == 0 || b.Count() > MostRight {
		return false
	}
	thin, large := min(a.Cols, out.Cols), max(a.Count(), out.Count()) >= LeastByVector
	return tall(a, out) || large && thin <= mostThin && min(out.Rows, max(a.Cols, out.Cols)) >= tallRatio*thin
}

// tall reports a product whose left factor a has many more rows than the right one has elements in a
// line.
func tall(a, out types.Type) bool { return out.Rows >= tallRatio*max(a.Cols, out.Cols) }

// tallLoop is the Loop of matmul and gemm, whose left factor is input first: each chunk is the
// product of its rows. Ranks share the rows of any product.
func (l *Linear) tallLoop(first int, kernel func(c *op.Call) error) *op.Loop {
	rows := window.Loop(kernel, []window.Part{window.Rows, window.Rows, window.Whole}[1-first:]...)
	turned := window.Loop(kernel, []window.Part{window.Rows, window.Across, window.Whole}[1-first:]...)
	takes := func(s *op.Sig, out types.Type) bool { return tallProduct(s, first, out) }
	return &op.Loop{
		Light: true,
		Early: true,
		Takes: takes,
		Rows:  op.RowsOfResult,
		RowsEach: func(c *op.Call) (rows, iterations int) {
			if c.Attrs.Bool("ta") {
				return 0, 0
			}
			return 1, 1
		},
		Space: func(c *op.Call) (n, leaf int) {
			s := new(op.Sig).Of(c)
			if c.Part {
				leaf = max(1, window.LeafElements/max(1, c.Type.Cols))
				if s.In[first+1].Count() > MostRight {
					leaf = max(leaf, leastPacked)
				}
				return c.Type.Rows, leaf
			}
			if a := s.In[first]; c.Type.Cols == 1 && a.Count() >= LeastByVector {
				return c.Type.Rows, ByVectorLeaf(a, s.Attrs.Bool("ta"))
			}
			if !takes(s, c.Type) {
				return 0, 0
			}
			least := LeastTall
			if !tall(s.In[first], c.Type) {
				least /= 4
			}
			return c.Type.Rows, max(least, window.LeafElements/max(1, s.In[first].Cols, c.Type.Cols))
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			if c.Attrs.Bool("ta") {
				return turned.Begin(c, workers)
			}
			return rows.Begin(c, workers)
		},
	}
}

// PanelsRef is the definition: a chain for every panel, and the tree.
func PanelsRef(c *op.Call) (value.Value, error) {
	a, b := c.Dense(0), c.Dense(1)
	panel := c.Attrs.Int("panel")
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	x, y := linesRef(a, c.Attrs.Bool("ta"), out.Elem), linesRef(b, !c.Attrs.Bool("tb"), out.Elem)
	for i := range out.Rows {
		for j := range out.Cols {
			var sums []number
			for p := range x[i] {
				if p%panel == 0 {
					sums = append(sums, number{})
				}
				at := len(sums) - 1
				sums[at] = stepRef(out.Elem, false, x[i][p], y[j][p], sums[at])
			}
			out.Set(i, j, treeRef(out.Elem, sums).scalar(out.Elem))
		}
	}
	return out, nil
}

// treeRef adds neighbours until one sum is left; a last one without a neighbour waits.
func treeRef(e types.Elem, sums []number) number {
	if len(sums) == 0 {
		return number{}
	}
	one := numberOf(e, value.I64(1))
	for len(sums) > 1 {
		var next []number
		for ; len(sums) > 1; sums = sums[2:] {
			next = append(next, stepRef(e, false, sums[1], one, sums[0])) // x + 1*y, rounded once
		}
		sums = append(next, sums...)
	}
	return sums[0]
}
