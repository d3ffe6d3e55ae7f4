package encode

// This file defines how ranks share a table of pairs (ctable) whose size only the codes tell
// (op.Shard.List). Each rank lists the counts of its rows, and the lists are added to the table.

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

const (
	// mostListed is the most elements of a table. Element k of a table is in column k + 2 of a list, and
	// the columns of sparse matrices are int32.
	mostListed = math.MaxInt32 - 2
	// listDense bounds the elements of a dense table, for each row that is counted. A larger table is made
	// sparse, because most of its elements are 0.
	listDense = 4
)

// tableLists returns the rows of this file. weights is the row ctable.weights.
func tableLists(weights *op.Def) []*op.Def {
	list := define.ByKernel(&op.Def{
		Name: "ctable.list", Hidden: true,
		Doc: "ctable.list is the table of each rank's rows: row r has its size n and m, as the codes of rank r ask for it, and then its elements " +
			"in row-major order, without those that are 0.",
		Args: append(slices.Clone(weights.Args), op.Arg{Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "windows of the rows"},
			op.Arg{Name: "step", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows of a unit of them, or where they begin (WindowOf). Without it all rows are the rank's own"}),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := weights.Type(s)
			return types.SparseOf(t.Elem, max(1, s.Attrs.Int("ranks")), math.MaxInt32), err
		},
		Laws: op.Pure, Cost: weights.Cost,
		Stored: func(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
			return sparsity.Uniform(out.Rows, out.Cols, float64(2*out.Rows+max(0, s.In[0].Rows)), sparsity.Estimated)
		},
		Kernel: func(c *op.Call) error {
			out := value.NewCSR(c.Type.Elem, c.Type.Rows, c.Type.Cols, 0)
			from, to := define.OwnRows(c, c.Type.Rows)
			for r := from; r < to; r++ {
				l := beginList(c, r, 1)
				for again := true; again; {
					if err := l.pairsBody.Chunk(0, 0, l.rows); err != nil {
						return err
					}
					var err error
					if again, err = l.Next(); err != nil {
						return err
					}
				}
				if err := l.list(out); err != nil {
					return err
				}
			}
			out.SumLengths()
			c.Out = out
			return nil
		},
		Loop: &op.Loop{
			Own: true, Light: true,
			Space: func(c *op.Call) (n, leaf int) { return listUnits(c), window.LeafElements },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginList(c, c.Lo, workers), nil },
		},
	})
	listed := define.ByKernel(&op.Def{
		Name: "ctable.listed", Hidden: true, Doc: "ctable.listed is the sum of the tables that ranks have listed.",
		Args: append([]op.Arg{{Name: "lists", Doc: "of ctable.list"}}, slices.DeleteFunc(slices.Clone(weights.Args), func(a op.Arg) bool { return !a.Attr })...),
		Type: func(s *op.Sig) (types.Type, error) {
			return types.DenseOf(s.In[0].Elem, sizeOf(s.Attrs, "n"), sizeOf(s.Attrs, "m")), nil
		},
		Laws: op.Pure, Cost: define.SparseCost(1),
		Kernel: addLists,
	})
	return []*op.Def{list, listed}
}

// listBody lists the table of the rows of one rank.
type listBody struct {
	*pairsBody          // of the rank's rows
	all        *op.Call // the call
	rank       int
	rows       int  // of the rank
	few        bool // the table is too large to be dense (listDense)
}

var _ op.Passes = (*listBody)(nil)

// beginList begins the list of the rows of a rank: its window of the rows by the attribute step, or
// without it all rows of the call. A call for all ranks then has rows for rank 0 alone.
func beginList(c *op.Call, rank, workers int) *listBody {
	lo, hi := 0, c.Dense(0).Rows
	if step, ok := c.Attrs.Get("step"); ok {
		lo, hi = op.WindowOf(rank, c.Type.Rows, hi, step)
	} else if c.Lo == c.Hi && rank > 0 {
		hi = 0
	}
	own := define.RowsOf(c, lo, hi)
	n, m := sizeOf(c.Attrs, "n"), sizeOf(c.Attrs, "m")
	own.Type, own.Out = types.DenseOf(c.Type.Elem, n, m), nil
	return &listBody{pairsBody: &pairsBody{c: own, n: n, m: m, by: make([]pairsWorker, workers)}, all: c, rank: rank, rows: hi - lo}
}

// listUnits returns how many iterations a list has. All ranks have the same number, about that of their
// rows.
func listUnits(c *op.Call) int {
	n := c.In[0].Type().Rows
	if _, ok := c.Attrs.Get("step"); ok {
		n = (n-1)/c.Type.Rows + 1
	}
	return n
}

// Chunk counts the pairs of the rows of iterations lo..hi-1.
func (l *listBody) Chunk(worker, lo, hi int) error {
	n := listUnits(l.all)
	return l.pairsBody.Chunk(worker, l.rows*lo/n, l.rows*hi/n)
}

// Next ends a pass. The first one finds the size of the table. A dense table has a second one, which
// counts the pairs.
func (l *listBody) Next() (again bool, err error) {
	if n, m, ok := l.size(); l.sizing() && ok && m > 0 && n > listDense*l.rows/m {
		l.n, l.m, l.few = n, m, true
		return false, nil
	}
	return l.pairsBody.Next()
}

// End makes the list. It fails for an invalid code.
func (l *listBody) End() error {
	out := value.NewCSR(l.all.Type.Elem, l.all.Type.Rows, l.all.Type.Cols, 0)
	err := l.list(out)
	out.SumLengths()
	l.all.Out = out
	return err
}

// list appends the list of the rank to out, and counts its entries in out.Ptr. The list of a table with
// more than mostListed elements has only its size: ctable.listed then fails.
func (l *listBody) list(out *value.CSR) error {
	add := func(place int, v int64) {
		out.Col, out.I64 = append(out.Col, int32(place)), append(out.I64, v)
		out.Ptr[l.rank+1]++
	}
	begin := func(elements int) {
		out.Col, out.I64 = slices.Grow(out.Col, 2+elements), slices.Grow(out.I64, 2+elements)
		add(0, int64(l.n))
		add(1, int64(l.m))
	}
	switch {
	case l.few && l.n > mostListed/l.m:
		begin(0)
	case l.few:
		c := *l.c
		c.Type = types.SparseOf(l.c.Type.Elem, l.n, l.m)
		if err := sparseWeights[int64](&c, l.n, l.m); err != nil {
			return err
		}
		table := c.Out.(*value.CSR)
		begin(table.NNZ())
		for p := range table.Rows {
			cols, at := table.Row(p)
			for k, q := range cols {
				add(2+p*l.m+int(q), table.I64[at+k])
			}
		}
	default:
		if err := l.pairsBody.End(); err != nil {
			return err
		}
		table := l.c.Result().I64
		begin(len(table))
		for place, v := range table {
			if v != 0 {
				add(2+place, v)
			}
		}
	}
	return nil
}

// addLists is the kernel of ctable.listed. The table has the most rows and the most columns of any
// list. It fails if there is no memory for the table.
func addLists(c *op.Call) error {
	lists := c.In[0].(*value.CSR)
	n, m := 0, 0
	for r := range lists.Rows {
		if cols, at := lists.Row(r); len(cols) > 0 {
			n, m = max(n, int(lists.I64[at])), max(m, int(lists.I64[at+1]))
		}
	}
	if err := roomForTable(c, n, m); err != nil {
		return err
	}
	if m > 0 && n > mostListed/m {
		return tooLarge(n, m)
	}
	table := dense.GridOf[int64](c.Result())
	for r := range lists.Rows {
		cols, at := lists.Row(r)
		first, to := 2, 0 // the places of the first element of a row in the list, and in the table
		for k := 2; k < len(cols); k++ {
			width := int(lists.I64[at+1])
			for int(cols[k]) >= first+width {
				first, to = first+width, to+table.LD
			}
			table.X[to+int(cols[k])-first] += lists.I64[at+k]
		}
	}
	return nil
}
