package sparse

// This file defines products with sparse factors. An element of a product is one chain of fused
// multiply-adds over ascending k from 0, as of dense ones, over the k at which every sparse factor
// has an entry: leaving out a zero is what sparse means, so zero times inf adds nothing. The chain
// is not cut into panels: it is as long as a row has entries.
//
// Sparse @ dense and dense @ sparse are dense; sparse @ sparse is sparse.

import (
	"math"
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/move"
	"flow/kernels/vec"
)

func sparseMatmul() *op.Def {
	return &op.Def{
		Name: "sp.matmul", For: "matmul", Word: "@", Hidden: true,
		Doc:  "sp.matmul is the product of two matrices of which one or both are sparse.",
		Args: []op.Arg{{Name: "a"}, {Name: "b"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := linalg.ProductType(denseSig(s), 0)
			if err != nil {
				return t, err
			}
			if s.In[0].IsSparse() && s.In[1].IsSparse() {
				return Of(1, t)
			}
			return denseResult(s, t)
		},
		Ref: sparseProductRef, Laws: op.Pure | op.Total, Rate: "copy", Along: firstInput, ByColumn: 1,
		Shard: op.Shard{Chain: "sp.matmul.chain"},
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.SparseCost(0)(s, out)
			w.Flops = 2 * define.Entries(s, 0) * max(1, float64(out.Cols))
			switch {
			case !s.In[0].IsSparse():
				w.Flops = 2 * define.Entries(s, 1) * max(1, float64(out.Rows))
			case out.IsSparse():
				w.Flops = 2 * meetings(s)
			}
			return w
		},
		Loop: &op.Loop{
			Rows: func(s *op.Sig, out types.Type) int {
				switch {
				case s.In[0].IsDense() && out.Rows > 1:
					return out.Rows
				case s.In[0].IsDense() || !s.In[1].IsDense():
					return 0
				}
				return rowsShared(out)
			},
			Space: func(c *op.Call) (n, leaf int) {
				switch {
				case spspProduct(c):
					return UnitSpace(c.Type)
				case c.In[0].Type().IsSparse():
					return rowSpace(c.Type)
				case rowProduct(c):
					return columnSpace(c.In[1].Type())
				}
				return c.Type.Rows, 1
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				switch {
				case spspProduct(c):
					n, _ := UnitSpace(c.Type)
					begin := dense.ForNumber(c.Type.Elem, newGustavson[float64], newGustavson[float32], newGustavson[int64])
					return begin(c, n, workers), nil
				case rowProduct(c):
					return beginTransposedProduct(c, workers, true), nil
				}
				return beginSparseProduct(c), nil
			},
		},
	}
}

// sparseProductChain returns the row that adds the terms of some columns of a sparse matrix to some
// rows of its product with a dense one. Ranks have the entries of different columns, and add theirs in
// the order of columns.
func sparseProductChain() *op.Def {
	return define.ByKernel(&op.Def{
		Name: "sp.matmul.chain", Hidden: true,
		Doc: "sp.matmul.chain continues rows of sp.matmul by the terms of some columns.",
		Args: []op.Arg{{Name: "a", Doc: "sparse n x k"}, {Name: "b", Doc: "dense k x m"}, {Name: "begun", Optional: true, Doc: "the rows that are continued"},
			{Name: "at", Attr: true, Kind: op.IntsVal, Doc: "the first row, and how many"},
			{Name: "from", Attr: true, Kind: op.IntVal, Doc: "the first column whose terms are added"}, {Name: "to", Attr: true, Kind: op.IntVal, Doc: "the end of these columns"},
			{Name: "busy", Attr: true, Kind: op.IntVal, Doc: "rows of b in whose time all ranks have made it"}},
		Type: func(s *op.Sig) (types.Type, error) {
			at := s.Attrs.Ints("at")
			if len(s.In) < 2 || !s.In[0].IsSparse() || s.In[1].IsSparse() || len(at) != 2 || at[0] < 0 || at[1] < 1 || at[0]+at[1] > int64(s.In[0].Rows) {
				return types.Type{}, op.Faultf(0, define.CodeKind, "sp.matmul.chain of %d operands", len(s.In))
			}
			t, err := linalg.ProductType(&op.Sig{Def: s.Def, In: denseSig(s).In[:2], Attrs: s.Attrs}, 0)
			if t.Rows = int(at[1]); err != nil {
				return t, err
			}
			return denseResult(s, t)
		},
		Laws: op.Pure, Rate: "copy",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			share := float64(s.Attrs.Int("busy")*max(1, s.Attrs.Int("ranks"))) / float64(max(1, s.In[1].Rows)) // Shared divides by the ranks
			share *= float64(out.Rows) / float64(max(1, s.In[0].Rows))
			w := define.SparseCost(0)(&op.Sig{Def: s.Def, In: s.In[:1], Stored: s.Stored}, out)
			return op.Work{Flops: 2 * share * define.Entries(s, 0) * max(1, float64(out.Cols)), Bytes: share * w.Bytes}
		},
		Loop: &op.Loop{
			Rows:  op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) { return rowSpace(c.Type) },
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				out, at := c.Result(), c.Attrs.Ints("at")
				begin := sync.OnceValue(func() rowLoop { // not on ranks that make no rows
					a := inColumns(c.In[0].(*value.CSR).View(int(at[0]), int(at[1])), c.Attrs.Int("from"), c.Attrs.Int("to"))
					return rowFold{step: vec.Chain, begun: len(c.In) > 2}.begin(out, a, dense.Widened(c.Dense(1), out.Elem))
				})
				return rowLoop(func(lo, hi int) {
					if len(c.In) > 2 {
						out.View(lo, 0, hi-lo, out.Cols).CopyFrom(c.Dense(2).View(lo, 0, hi-lo, out.Cols))
					}
					begin()(lo, hi)
				}), nil
			},
		},
	})
}

// inColumns returns a matrix with the entries of a in columns from..to-1: a itself if it has no others,
// as on a rank.
func inColumns(a *value.CSR, from, to int) *value.CSR {
	has := func(i int) bool {
		cols, _ := a.Row(i)
		return len(cols) == 0 || int(cols[0]) >= from && int(cols[len(cols)-1]) < to
	}
	rows := 0
	for rows < a.Rows && has(rows) {
		rows++
	}
	if rows == a.Rows {
		return a
	}
	out := value.NewCSR(a.Elem, a.Rows, a.Cols, a.NNZ())
	n := 0
	for i := range a.Rows {
		cols, at := a.Row(i)
		lo, hi := vec.NotLess(cols, int32(from)), vec.NotLess(cols, int32(to))
		copy(out.Col[n:], cols[lo:hi])
		out.CopyValues(n, a, at+lo, at+hi)
		n += hi - lo
		out.Ptr[i+1] = int64(n)
	}
	return out
}

func sparseProductAsDense() *op.Def {
	return &op.Def{
		Name: "sp.product", Hidden: true,
		Doc:  "sp.product is the product of two sparse matrices as a dense one. The compiler writes it where only reductions read a product that is nearly full.",
		Args: []op.Arg{{Name: "a", Doc: "sparse n x k"}, {Name: "b", Doc: "sparse k x m"}},
		Eg:   define.Eg("sum(sparse(2 * eye(2)) @ sparse(ones(2, 2)))", "8"),
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsSparse() || !s.In[1].IsSparse() {
				return s.In[0], op.Faultf(0, define.CodeKind, "sp.product of %v and %v", s.In[0], s.In[1])
			}
			t, err := linalg.ProductType(denseSig(s), 0)
			if err != nil {
				return t, err
			}
			return denseResult(s, t)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			sparse := *c
			sparse.Type.Repr = types.CSR
			v, err := sparseProductRef(&sparse)
			if err != nil {
				return nil, err
			}
			return define.EveryElement(v), nil
		},
		Laws: op.Pure, Rate: "copy", Along: firstInput, ByColumn: 1,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: 2 * meetings(s), Bytes: define.ElementCount(out) * float64(out.Elem.Size())}
		},
		Loop: &op.Loop{
			Own:   true,
			Rows:  func(_ *op.Sig, out types.Type) int { return out.Rows },
			Space: func(c *op.Call) (n, leaf int) { return UnitSpace(c.Type) },
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				n, _ := UnitSpace(c.Type)
				return beginDenseProduct(c, n), nil
			},
		},
	}
}

// meetings returns the estimated multiplications of a product of two sparse matrices. Each entry of the
// first is multiplied by a row of the second.
func meetings(s *op.Sig) float64 {
	_, a := s.Entries(0)
	if _, b := s.Entries(1); a && b {
		return sparsity.Work(&s.Stored[0], &s.Stored[1])
	}
	return define.Entries(s, 0) * define.Entries(s, 1) / max(1, float64(s.In[1].Rows))
}

// beginDenseProduct begins a product of two sparse matrices with a dense result, for the rows of a
// rank.
func beginDenseProduct(c *op.Call, units int) *UnitLoop {
	a, b, out := c.In[0].(*value.CSR), c.In[1].(*value.CSR), c.Result()
	rows := dense.ForNumber(out.Elem, productRows[float64], productRows[float32], productRows[int64])(out, a, b)
	return &UnitLoop{RowCut: cutByEntries(units, ofRank(c)), Passes: []Pass{{Run: func(_, lo, hi int) error { rows(c.Lo+lo, c.Lo+hi); return nil }}}}
}

func productRows[T dense.Factor](result *value.Dense, a, b *value.CSR) rowLoop {
	out, add := dense.GridOf[T](result), scatterOf[T]()
	x, y := numbersOf[T](a, result.Elem), numbersOf[T](b, result.Elem)
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out.Row(i)
			clear(row)
			rows, at := a.Row(i)
			for p, k := range rows {
				u := T(1)
				if x != nil {
					u = x[at+p]
				}
				cols, from := b.Row(int(k))
				if y == nil {
					addOnes(row, u, cols)
				} else {
					add(row, u, cols, y[from:from+len(cols)])
				}
			}
			for j, v := range row {
				if v == 0 {
					row[j] = 0 // a sum that came out as -0: a sparse product does not store it
				}
			}
		}
	}
}

// spspProduct reports a product of two sparse matrices.
func spspProduct(c *op.Call) bool { return c.In[0].Type().IsSparse() && c.In[1].Type().IsSparse() }

// rowProduct reports the product of a dense row and a sparse matrix.
func rowProduct(c *op.Call) bool { return c.In[0].Type().IsDense() && c.Type.Rows == 1 }

// beginSparseProduct is a product with one sparse factor, by rows.
func beginSparseProduct(c *op.Call) rowLoop {
	out := c.Result()
	if a, ok := c.In[0].(*value.CSR); ok {
		return rowFold{step: vec.Chain}.begin(out, a, dense.Widened(c.Dense(1), out.Elem))
	}
	a, b := dense.Widened(c.Dense(0), out.Elem), c.In[1].(*value.CSR)
	return func(lo, hi int) { // each row of out adds the scaled rows of b in ascending order
		for i := lo; i < hi; i++ {
			dense.Clear(out.View(i, 0, 1, out.Cols))
			adder(dense.TurnedVector(out.View(i, 0, 1, out.Cols)), b, dense.TurnedVector(a.View(i, 0, 1, a.Cols)))(0, math.MaxInt32)
		}
	}
}

func sparseProductRef(c *op.Call) (value.Value, error) {
	a, b := define.EveryElement(c.In[0]), define.EveryElement(c.In[1])
	_, sa := c.In[0].(*value.CSR)
	_, sb := c.In[1].(*value.CSR)
	out := value.New(c.Type.Elem, a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			z := value.Scalar{Elem: out.Elem}
			for k := range a.Cols {
				x, y := a.At(i, k), b.At(k, j)
				if sa && !x.True() || sb && !y.True() {
					continue
				}
				z = linalg.StepRef(out.Elem, false, x, y, z)
			}
			out.Set(i, j, z)
		}
	}
	if sa && sb {
		return define.KeptRef(out), nil
	}
	return out, nil
}

// firstInput is the Along of an operator that makes row i of its result from row i of its first input.
func firstInput(*op.Attrs) []int { return []int{0} }

// A product t(a) @ b of a sparse a and a dense b does without the transpose of a: row k of a adds
// b[k,:] times its entries to the rows of the result that they name, for k in ascending order, which is
// the chain of every element of t(a) @ b. A row v @ a is the same.
//
// Workers divide the rows of the result, that is the columns of a: an element is one chain, which one
// worker goes along. Each part goes over all rows of a, so there is one part for each worker, of
// equally many entries as far as a sample of them tells. Where parts begin shows in no bit.

// columnUnits is the index space of such a loop, over which its parts are spread.
const columnUnits = 128

func sparseTransposedProduct() *op.Def {
	return &op.Def{
		Name: "sp.tmatmul", Word: "@", Hidden: true,
		Doc:  "sp.tmatmul is t(a) @ b of a sparse a and a dense b; a is not turned. The compiler writes it.",
		Args: []op.Arg{{Name: "a", Doc: "sparse k x n"}, {Name: "b", Doc: "dense k x m"}},
		Eg:   define.Eg("t(sparse(2 * eye(2))) @ seq(3, 5)", "6\n8\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsSparse() || s.In[1].IsSparse() {
				return s.In[0], op.Faultf(0, define.CodeKind, "sp.tmatmul of %v and %v", s.In[0], s.In[1])
			}
			turned := denseSig(s)
			turned.In[0].Rows, turned.In[0].Cols = s.In[0].Cols, s.In[0].Rows
			t, err := linalg.ProductType(turned, 0)
			if err != nil {
				return t, err
			}
			return denseResult(s, t)
		},
		Ref:  TransposedProductRef,
		Laws: op.Pure, Rate: "copy",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.SparseCost(0)(s, out)
			w.Flops = 2 * define.Entries(s, 0) * max(1, float64(out.Cols))
			return w
		},
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) { return columnSpace(c.In[0].Type()) },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				return beginTransposedProduct(c, workers, false), nil
			},
		},
	}
}

// TransposedProductRef is the definition: the product of t(a), sparse, and b.
func TransposedProductRef(c *op.Call) (value.Value, error) {
	a, err := move.TransposeRef(&op.Call{In: []value.Value{define.EveryElement(c.In[0])}})
	if err != nil {
		return nil, err
	}
	return sparseProductRef(&op.Call{In: []value.Value{define.KeptRef(a.(*value.Dense)), c.In[1]}, Type: c.Type})
}

// columnSpace is the index space of a product whose result has a row for each column of a sparse
// matrix of type t.
func columnSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 || t.Cols < 2*columnUnits {
		return columnUnits, columnUnits
	}
	return columnUnits, 1
}

// beginTransposedProduct begins t(a) @ b. If row, it begins v @ a of a dense row v as t(t(a) @ t(v)).
func beginTransposedProduct(c *op.Call, workers int, row bool) op.LoopBody {
	out, sparse, other := c.Result(), c.In[0], c.In[1]
	if row {
		out, sparse, other = dense.TurnedVector(out), other, sparse
	}
	a, b := sparse.(*value.CSR), dense.Widened(other.(*value.Dense), out.Elem)
	if row {
		b = dense.TurnedVector(b)
	}
	add := adder(out, a, b)
	return &columnProduct{columnParts(a, min(workers, columnUnits, max(a.Cols, 1))), func(c0, c1 int) {
		dense.Clear(out.View(c0, 0, c1-c0, out.Cols))
		add(c0, c1)
	}}
}

// adder returns a function that adds rows c0..c1-1 of t(a) @ b to out, each element as one chain.
func adder(out *value.Dense, a *value.CSR, b *value.Dense) func(c0, c1 int) {
	return dense.ForNumber(out.Elem, adderOf[float64], adderOf[float32], adderOf[int64])(out, a, b)
}

func adderOf[T vec.Number](out *value.Dense, a *value.CSR, b *value.Dense) func(c0, c1 int) {
	entries, to, from := entriesOf[T](a, out.Elem), linesOf[T](out), linesOf[T](b)
	return func(c0, c1 int) { entries.Add(to, from, int32(c0), int32(c1)) }
}

// columnProduct is t(a) @ b in the making.
type columnProduct struct {
	begin []int            // the first column of each part, and the number of columns
	rows  func(c0, c1 int) // computes rows c0..c1-1 of the result
}

// columnParts cuts the columns of a into parts of about equally many entries, by a sample of them.
func columnParts(a *value.CSR, parts int) []int {
	begin := make([]int, parts+1)
	begin[parts] = a.Cols
	const sampled = 512
	var at [sampled]int32
	from, n := a.Ptr[0], a.NNZ()
	if parts == 1 || n < sampled {
		for p := range parts {
			begin[p] = a.Cols * p / parts
		}
		return begin
	}
	for k := range at {
		at[k] = a.Col[from+int64(n/sampled*k)]
	}
	slices.Sort(at[:])
	for p := 1; p < parts; p++ {
		begin[p] = max(int(at[sampled*p/parts]), begin[p-1])
	}
	return begin
}

// Chunk computes the parts that begin in units lo..hi-1.
func (l *columnProduct) Chunk(_, lo, hi int) error {
	parts := len(l.begin) - 1
	first, end := (lo*parts+columnUnits-1)/columnUnits, (hi*parts+columnUnits-1)/columnUnits
	if c0, c1 := l.begin[first], l.begin[end]; c0 < c1 {
		l.rows(c0, c1)
	}
	return nil
}

func (l *columnProduct) End() error { return nil }
