package sparse

// This file defines t(a) @ b of a sparse a and a dense b without the transpose of a: row k of a
// adds b[k,:] times its entries to the rows of the result that they name, for k in ascending order,
// which is the chain of every element of t(a) @ b. A row v @ a is the same.
//
// Workers divide the rows of the result, that is the columns of a: an element is one chain, which one
// worker goes along. Each part goes over all rows of a, so there is one part for each worker, of equally
// many entries as far as a sample of them tells. Where parts begin shows in no bit.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/vec"
)

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

// TransposedProductRef is the definition: every element is a chain of the entries that are stored.
func TransposedProductRef(c *op.Call) (value.Value, error) {
	a, b := define.EveryElement(c.In[0]), define.EveryElement(c.In[1])
	out := value.New(c.Type.Elem, a.Cols, b.Cols)
	for i := range out.Rows {
		for j := range out.Cols {
			z := value.Scalar{Elem: out.Elem}
			for k := range a.Rows {
				if x := a.At(k, i); x.True() {
					z = linalg.StepRef(out.Elem, false, x, b.At(k, j), z)
				}
			}
			out.Set(i, j, z)
		}
	}
	return out, nil
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
		out, sparse, other = turned(out), other, sparse
	}
	a, b := sparse.(*value.CSR), dense.Widened(other.(*value.Dense), out.Elem)
	if row {
		b = turned(b)
	}
	add := adder(out, a, b)
	return newColumnProduct(a, func(c0, c1 int) {
		dense.Clear(out.View(c0, 0, c1-c0, out.Cols))
		add(c0, c1)
	}, workers)
}

// turned returns a row as a column in the same memory.
func turned(d *value.Dense) *value.Dense {
	t := *d
	t.Rows, t.Cols, t.Stride = d.Cols, 1, 1
	return &t
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

func newColumnProduct(a *value.CSR, rows func(c0, c1 int), workers int) *columnProduct {
	return &columnProduct{columnParts(a, min(workers, columnUnits, max(a.Cols, 1))), rows}
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
