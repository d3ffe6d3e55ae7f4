package encode

// This file defines the form of ctable that adds weights and that leaves out codes beyond its size.

import (
	"cmp"
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

func ctableOfWeights() *op.Def {
	no := op.Bool(false)
	return &op.Def{
		Name: "ctable.weights", Word: "ctable",
		Doc: "ctable with weights is the sum of weights[i] over the rows i in which a is p and b is q, at (p, q): added in the order of the rows, in " +
			"the type of the weights (i64 of bool). With crop = true codes that are not below n or m, and negative ones, leave their row out instead " +
			"of failing the run; without weights each row counts 1.",
		Args: []op.Arg{{Name: "a", Doc: "codes, a column"}, {Name: "b", Doc: "codes, a column as long"},
			{Name: "weights", Optional: true, Doc: "numbers, a column as long"},
			{Name: "n", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows"},
			{Name: "m", Attr: true, Kind: op.IntVal, Optional: true, Doc: "columns"},
			{Name: "crop", Attr: true, Kind: op.BoolVal, Default: &no, Doc: "leave out codes that are outside of the table"}, sparseAttr},
		Eg: []op.Example{{Program: "emit ctable([0, 1, 0], [1, 0, 1], weights = [0.5, 2, 1])", Output: "0 1.5\n2   0\n"},
			{Program: "emit ctable([0, 1, 7], [1, 0, 1], n = 2, m = 2, crop = true)", Output: "0 1\n1 0\n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := tableType(&op.Sig{Def: s.Def, In: s.In[:2], Attrs: s.Attrs})
			if err != nil || len(s.In) < 3 {
				return t, err
			}
			if s.In[2].Kind == types.Scalar {
				return t, op.Faultf(2, define.CodeKind, "the weights of `ctable` are a column; this is %s", s.In[2]).
					WithHelp("with weights or crop, n and m are named: ctable(a, b, n = 2, m = 3, crop = true)")
			}
			w, err := columnOfNumbers(s, 2)
			if err == nil && !define.Agree(w.Rows, s.In[0].Rows) {
				err = op.Faultf(2, define.CodeShape, "`ctable` of columns of %d codes and %d weights", s.In[0].Rows, w.Rows)
			}
			if w.Elem == types.Bool {
				w.Elem = types.I64
			}
			return t.With(w.Elem), err
		},
		Ref: refInForm(weightsRef),
		Kernel: func(c *op.Call) error {
			cells, rows, cols, err := weightedCells(c)
			if err != nil {
				return err
			}
			if c.Type.IsSparse() {
				c.Out = sparseCells(c.Type.Elem, cells, rows, cols)
				return nil
			}
			if err := roomForTable(c, rows, cols); err != nil {
				return err
			}
			out := c.Result()
			dense.Clear(out)
			for _, at := range cells {
				addTo(out, at)
			}
			return nil
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
		Stored: func(s *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
			return storedTable(s, in, out)
		},
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: 40 * define.ElementCount(s.In[0]), Bytes: 40*define.ElementCount(s.In[0]) + 8*define.ElementCount(out)}
		},
	}
}

// weightOf is the weight of row i, in the type of the table.
func weightOf(c *op.Call, i int) value.Scalar {
	if len(c.In) < 3 {
		return value.I64(1)
	}
	return c.Dense(2).At(i, 0).Convert(c.Type.Elem)
}

// codeWithin is the code that s names; in is false where it is outside of the n that there are and
// crop leaves it out.
func codeWithin(s value.Scalar, n int, crop bool) (p int, in bool, err error) {
	if x := s.Float(); crop && x == math.Trunc(x) && (x < 0 || n != types.Unknown && x >= float64(n)) {
		return 0, false, nil
	}
	p, err = code("ctable", s, n)
	return p, true, err
}

// weightsRef is the definition: element by element of the table, over all rows.
func weightsRef(c *op.Call) (value.Value, error) {
	a, b, crop := c.Dense(0), c.Dense(1), c.Attrs.Bool("crop")
	n, m := sizeOf(c.Attrs, "n"), sizeOf(c.Attrs, "m")
	rows, cols := max(n, 0), max(m, 0)
	type place struct{ p, q int }
	sums := map[place]value.Scalar{}
	for _, column := range []struct {
		d *value.Dense
		n int
	}{{a, n}, {b, m}} {
		for i := range column.d.Rows {
			if _, _, err := codeWithin(column.d.At(i, 0), column.n, crop); err != nil {
				return nil, err
			}
		}
	}
	for i := range a.Rows {
		p, in, _ := codeWithin(a.At(i, 0), n, crop)
		q, also, _ := codeWithin(b.At(i, 0), m, crop)
		if !in || !also {
			continue
		}
		sum, w := sums[place{p, q}], weightOf(c, i)
		switch c.Type.Elem {
		case types.F64:
			w.F = sum.F + w.F
		case types.F32:
			w.F = float64(float32(sum.F + w.F))
		default:
			w.I = sum.I + w.I
		}
		sums[place{p, q}] = w
		rows, cols = max(rows, p+1), max(cols, q+1)
	}
	out := value.New(c.Type.Elem, rows, cols)
	for at, sum := range sums {
		out.Set(at.p, at.q, sum)
	}
	return out, nil
}

// weighted is what one row of the codes adds to the table.
type weighted struct {
	p, q int
	w    value.Scalar
}

// weightedCells is the cells of all rows but those left out, in order, and the size of the table.
func weightedCells(c *op.Call) (cells []weighted, rows, cols int, err error) {
	a, b, crop := c.Dense(0), c.Dense(1), c.Attrs.Bool("crop")
	n, m := sizeOf(c.Attrs, "n"), sizeOf(c.Attrs, "m")
	rows, cols = max(n, 0), max(m, 0)
	var later error // of b: a failure in a comes first, wherever it is
	for i := range a.Rows {
		p, in, err := codeWithin(a.At(i, 0), n, crop)
		if err != nil {
			return nil, 0, 0, err
		}
		q, also, err := codeWithin(b.At(i, 0), m, crop)
		if err != nil && later == nil {
			later = err
		}
		if in && also && later == nil {
			cells = append(cells, weighted{p, q, weightOf(c, i)})
			rows, cols = max(rows, p+1), max(cols, q+1)
		}
	}
	return cells, rows, cols, later
}

// roomForTable makes the table of a call that leaves its size to the codes.
func roomForTable(c *op.Call, n, m int) error {
	if c.Type.Known() {
		return nil
	}
	if m > 0 && n > math.MaxInt32/m {
		return op.Failf(define.CodeMemory, "ctable: the codes ask for a table of %d x %d", n, m)
	}
	c.Out = value.New(c.Type.Elem, n, m)
	return nil
}

func addTo(out *value.Dense, at weighted) {
	k := at.p*out.Stride + at.q
	switch out.Elem {
	case types.F64:
		out.F64[k] += at.w.F
	case types.F32:
		out.F32[k] += float32(at.w.F)
	default:
		out.I64[k] += at.w.I
	}
}

// sparseCells adds up the cells; sums that are zero are not stored.
func sparseCells(e types.Elem, cells []weighted, n, m int) *value.CSR {
	slices.SortStableFunc(cells, func(x, y weighted) int { return cmp.Or(cmp.Compare(x.p, y.p), cmp.Compare(x.q, y.q)) })
	out := value.NewCSR(e, n, m, 0)
	sum := value.New(e, 1, 1)
	row := 0
	for i := 0; i < len(cells); {
		at := cells[i]
		dense.Clear(sum)
		for ; i < len(cells) && cells[i].p == at.p && cells[i].q == at.q; i++ {
			addTo(sum, weighted{w: cells[i].w})
		}
		if !sum.At(0, 0).True() {
			continue
		}
		for ; row < at.p; row++ {
			out.Ptr[row+1] = int64(len(out.Col))
		}
		out.Col = append(out.Col, int32(at.q))
		out.F64, out.F32, out.I64 = append(out.F64, sum.F64...), append(out.F32, sum.F32...), append(out.I64, sum.I64...)
	}
	for ; row < n; row++ {
		out.Ptr[row+1] = int64(len(out.Col))
	}
	return out
}
