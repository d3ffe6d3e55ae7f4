package encode

// This file defines the form of ctable that adds weights and that leaves out codes beyond its size.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

func ctableOfWeights() *op.Def {
	no := op.Bool(false)
	return &op.Def{
		Name: "ctable.weights", Word: "ctable",
		Doc: "ctable with weights is the sum of weights[i] over the rows i in which a is p and b is q, at (p, q): added in the order of the rows, in " +
			"the type of the weights (i64 of bool). With crop = true codes that are not below n or m, and negative ones, leave their row out instead " +
			"of failing the run; without weights each row counts 1. weights and crop are given by name, and n and m beside them.",
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
		Ref:    define.InForm(weightsRef),
		Loop:   weightsLoop(),
		Shard:  op.Shard{Partial: "ctable.weights", Combine: "counts.join", Chain: "ctable.weights.chain", Rows: "ctable.rows", List: "ctable.list", Listed: "ctable.listed"},
		Laws:   op.Pure,
		Stored: storedTable,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := op.Work{Flops: 13 * define.ElementCount(s.In[0]), Bytes: 40 * define.ElementCount(s.In[0])}
			if !out.IsSparse() {
				w.Bytes += 8 * define.ElementCount(out)
			}
			return w
		},
	}
}

// rowsOfTable returns the row that makes a rank's rows of a dense table of known size. It reads all
// codes, so the terms of each element keep their order.
func rowsOfTable() *op.Def {
	d := ctableOfWeights()
	d.Name, d.Word, d.Hidden, d.Eg, d.Loop, d.Shard = "ctable.rows", "", true, nil, nil, op.Shard{}
	d.Doc = "ctable.rows is ctable where ranks share the rows of the table."
	d.Kernel = func(c *op.Call) error {
		switch {
		case c.Type.Elem == types.F64:
			return sumRows[float64](c)
		case c.Type.Elem == types.F32:
			return sumRows[float32](c)
		}
		return sumRows[int64](c)
	}
	return d
}

// sumRows is the kernel of ctable.rows. It fails if a code of any row is invalid.
func sumRows[T int64 | float64 | float32](c *op.Call) error {
	first, end := define.OwnRows(c, c.Type.Rows)
	own := c.Result().View(first, 0, end-first, c.Type.Cols)
	dense.Clear(own)
	table, rows := dense.GridOf[T](own), c.Dense(0).Rows
	room := make([]T, min(someRows, rows))
	if !eachPairs(c, 0, rows, func(lo int, p, q []int64) {
		for i, w := range weightsFrom(c, room, lo, len(p)) {
			if v := int(p[i]) - first; v >= 0 && v < end-first && q[i] >= 0 {
				table.X[v*table.LD+int(q[i])] += w
			}
		}
	}) {
		return wrongCode(c, 0, rows)
	}
	return nil
}

// weightsLoop is the Loop of ctable with weights. Sums of whole numbers are the same in any order.
// Others are added in the order of the rows.
func weightsLoop() *op.Loop {
	whole := func(t types.Type) func(c *op.Call) error {
		switch {
		case t.Elem == types.F64:
			return sumWeights[float64]
		case t.Elem == types.F32:
			return sumWeights[float32]
		case t.IsSparse() || !t.Known():
			return sumWeights[int64]
		}
		return nil
	}
	l := pairsLoop(whole)
	rows := l.Rows
	l.Rows = func(s *op.Sig, out types.Type) int {
		if whole(out) != nil && !out.IsSparse() {
			return 0
		}
		return rows(s, out)
	}
	return l
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

// plus returns sum + w in the element type of w.
func plus(sum, w value.Scalar) value.Scalar {
	switch w.Elem {
	case types.F64:
		w.F = sum.F + w.F
	case types.F32:
		w.F = float64(float32(sum.F + w.F))
	default:
		w.I = sum.I + w.I
	}
	return w
}

// weightsRef is the definition of ctable, with weights and without: element by element of the table,
// over all rows.
func weightsRef(c *op.Call) (value.Value, error) {
	a, b, crop := c.Dense(0), c.Dense(1), c.Attrs.Bool("crop")
	n, m := sizeOf(c.Attrs, "n"), sizeOf(c.Attrs, "m")
	rows, cols := max(n, 0), max(m, 0)
	type place struct{ p, q int }
	sums := map[place]value.Scalar{}
	if err := wrongCode(c, 0, a.Rows); err != nil {
		return nil, err
	}
	for i := range a.Rows {
		p, in, _ := codeWithin(a.At(i, 0), n, crop)
		q, also, _ := codeWithin(b.At(i, 0), m, crop)
		if !in || !also {
			continue
		}
		sums[place{p, q}] = plus(sums[place{p, q}], weightOf(c, i))
		rows, cols = max(rows, p+1), max(cols, q+1)
	}
	out := value.New(c.Type.Elem, rows, cols)
	for at, sum := range sums {
		out.Set(at.p, at.q, sum)
	}
	return out, nil
}

// codesWithin is readCodes, with -1 for each code that crop leaves out. It reports false if a code is
// invalid.
func codesWithin(room []int64, d *value.Dense, from, k, n int, crop bool) ([]int64, bool) {
	p, ok := readCodes(room, d, from, k, n)
	if ok || !crop {
		return p, ok
	}
	p = room[:k]
	for i := range p {
		v, in, err := codeWithin(d.At(from+i, 0), n, true)
		if err != nil {
			return nil, false
		}
		if !in {
			v = -1
		}
		p[i] = int64(v)
	}
	return p, true
}

// someRows is how many codes are read at a time. A call with fewer rows makes room for its rows alone:
// most calls in the body of a parfor have a few.
const someRows = 512

// eachPairs calls do with the codes p and q of some hundred rows, from row lo on, until it has passed
// rows lo..hi-1. do has to skip rows with a negative code. eachPairs returns false if a code is
// invalid.
func eachPairs(c *op.Call, lo, hi int, do func(lo int, p, q []int64)) bool {
	a, b, crop := c.Dense(0), c.Dense(1), c.Attrs.Bool("crop")
	n, m := sizeOf(c.Attrs, "n"), sizeOf(c.Attrs, "m")
	step := min(someRows, hi-lo)
	room, other := make([]int64, step), make([]int64, step)
	for ; lo < hi; lo += step {
		k := min(step, hi-lo)
		p, ok := codesWithin(room, a, lo, k, n, crop)
		q, both := codesWithin(other, b, lo, k, m, crop)
		if !ok || !both {
			return false
		}
		do(lo, p, q)
	}
	return true
}

// tableFor returns the size of a table for the codes of rows lo..hi-1. ok is false if one is
// invalid.
func tableFor(c *op.Call, lo, hi int) (n, m int, ok bool) {
	crop := c.Attrs.Bool("crop")
	ok = eachPairs(c, lo, hi, func(_ int, p, q []int64) {
		if !crop { // a third of the time
			n, m = max(n, int(vec.Extreme(p, false))+1), max(m, int(vec.Extreme(q, false))+1)
			return
		}
		for i, v := range p {
			if v|q[i] >= 0 {
				n, m = max(n, int(v)+1), max(m, int(q[i])+1)
			}
		}
	})
	return n, m, ok
}

// sumWeights is the kernel of ctable with weights, for a table of T. It fails if a code is invalid or
// if there is no memory for the table.
func sumWeights[T int64 | float64 | float32](c *op.Call) error {
	rows, cols := max(sizeOf(c.Attrs, "n"), 0), max(sizeOf(c.Attrs, "m"), 0)
	if !c.Type.Known() {
		n, m, ok := tableFor(c, 0, c.Dense(0).Rows)
		if rows, cols = max(rows, n), max(cols, m); !ok {
			return wrongCode(c, 0, c.Dense(0).Rows)
		}
	}
	if c.Type.IsSparse() {
		return sparseWeights[T](c, rows, cols)
	}
	if err := roomForTable(c, rows, cols); err != nil {
		return err
	}
	dense.Clear(c.Result())
	return addAllWeights[T](c)
}

// addAllWeights adds the rows of a call to the table in its result.
func addAllWeights[T int64 | float64 | float32](c *op.Call) error {
	return addWeights(c, dense.GridOf[T](c.Result()), 0, c.Dense(0).Rows)
}

// addWeights adds rows lo..hi-1 of a call to a table: their weights, or 1 each. It fails if a code is
// invalid.
func addWeights[T int64 | float64 | float32](c *op.Call, table dense.Grid[T], lo, hi int) error {
	var room []T
	ones := len(c.In) < 3 && !c.Attrs.Bool("crop")
	if !ones {
		room = make([]T, min(someRows, hi-lo))
	}
	if !eachPairs(c, lo, hi, func(lo int, p, q []int64) {
		q = q[:len(p)]
		if ones { // 0.75 of the time
			for i, v := range p {
				table.X[int(v)*table.LD+int(q[i])]++
			}
			return
		}
		for i, w := range weightsFrom(c, room, lo, len(p)) {
			if v := p[i]; v|q[i] >= 0 {
				table.X[int(v)*table.LD+int(q[i])] += w
			}
		}
	}) {
		return wrongCode(c, lo, hi)
	}
	return nil
}

// weightsFrom returns the weights of k rows from row lo on, in room unless they are contiguous in
// memory.
func weightsFrom[T int64 | float64 | float32](c *op.Call, room []T, lo, k int) []T {
	if len(c.In) >= 3 && c.Dense(2).Elem == c.Type.Elem {
		x := dense.GridOf[T](c.Dense(2))
		if x.LD == 1 {
			return x.X[lo : lo+k]
		}
		for i := range k {
			room[i] = x.X[(lo+i)*x.LD]
		}
		return room[:k]
	}
	if len(c.In) < 3 {
		vec.Fill(room[:k], 1)
		return room[:k]
	}
	truths := dense.GridOf[uint8](c.Dense(2))
	for i := range k {
		room[i] = T(truths.X[(lo+i)*truths.LD])
	}
	return room[:k]
}

// sparseWeights makes a sparse table of n x m. It orders the entries by row, and adds entries at the
// same place in their order. For the own rows of a rank it only makes the entries of floats, whose
// order counts. sp.collect adds those of all ranks.
func sparseWeights[T int64 | float64 | float32](c *op.Call, n, m int) error {
	all := c
	if all.Hi > all.Lo {
		c = define.RowsOf(c, all.Lo, all.Hi)
	}
	rows := make([]int64, n+1)
	if !eachPairs(c, 0, c.Dense(0).Rows, func(_ int, p, q []int64) {
		for i, v := range p {
			if v|q[i] >= 0 {
				rows[v+1]++
			}
		}
	}) {
		return wrongCode(c, 0, c.Dense(0).Rows)
	}
	for i := range n {
		rows[i+1] += rows[i]
	}
	out, val, at := value.NewCSR(types.Bool, n, m, int(rows[n])), make([]T, rows[n]), slices.Clone(rows[:n])
	room := make([]T, min(someRows, c.Dense(0).Rows))
	eachPairs(c, 0, c.Dense(0).Rows, func(lo int, p, q []int64) {
		for i, w := range weightsFrom(c, room, lo, len(p)) {
			if v := p[i]; v|q[i] >= 0 {
				out.Col[at[v]], val[at[v]] = int32(q[i]), w
				at[v]++
			}
		}
	})
	out.Elem, out.Ptr = c.Type.Elem, rows
	*dense.Values[T](out) = val
	if c.Type.Elem == types.I64 || all.Hi == all.Lo {
		out.AddEqual()
	}
	all.Out = out
	return nil
}

// roomForTable makes an n x m table if the codes determine its size. It fails with CodeMemory if this
// is too large.
func roomForTable(c *op.Call, n, m int) error {
	if c.Type.Known() {
		return nil
	}
	if m > 0 && n > math.MaxInt32/m {
		return tooLarge(n, m)
	}
	c.Out = value.New(c.Type.Elem, n, m)
	return nil
}

// tooLarge returns the failure of a table with more elements than a matrix may have.
func tooLarge(n, m int) error {
	return op.Failf(define.CodeMemory, "ctable: the codes ask for a table of %d x %d", n, m)
}

func ctable() *op.Def {
	return &op.Def{
		Name: "ctable",
		Doc: "ctable is the contingency table of two columns of codes: how often row i of a is p and row i of b is q stands at (p, q), as " +
			"i64. It is n x m; without n and m as large as the codes ask for. A code outside it fails the run. sparse = true makes it sparse, for " +
			"codes of which few pairs occur; then n and m are needed.",
		Args: []op.Arg{{Name: "a", Doc: "codes, a column"}, {Name: "b", Doc: "codes, a column as long"},
			{Name: "n", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows"},
			{Name: "m", Attr: true, Kind: op.IntVal, Optional: true, Doc: "columns"}, sparseAttr},
		Eg:   define.Eg("ctable(seq(0, 4) // 2, seq(0, 4) % 3)", "1 1 0\n1 0 1\n"),
		Type: tableType, Ref: define.InForm(weightsRef), Loop: pairsLoop(func(t types.Type) func(c *op.Call) error {
			if t.IsSparse() {
				return sumWeights[int64]
			}
			return nil
		}),
		Laws: op.Pure, Stored: storedTable,
		Shard: op.Shard{Partial: "ctable", Combine: "counts.join", Chain: "ctable.weights.chain", Rows: "ctable.rows", List: "ctable.list", Listed: "ctable.listed"},
		Keyed: &op.Keyed{Panel: noOrder, Write: func(e *op.Elements) op.KeyedRow {
			m := sizeOf(e.Attrs, "m")
			p, q := keyOfRow(e, 0, sizeOf(e.Attrs, "n"), loop.Num(0)), keyOfRow(e, 1, m, loop.Num(0))
			return oneMore(e, e.B.Op(loop.Add, e.B.Op(loop.Mul, p, define.Numeral(e.B, types.I64, m)), q))
		}},
		Cost: func(s *op.Sig, out types.Type) op.Work {
			if out.IsSparse() {
				return op.Work{Flops: 20 * define.ElementCount(s.In[0]), Bytes: 40 * define.ElementCount(s.In[0])}
			}
			w := define.StreamCost(s, out, 1)
			w.Flops += 4 * define.ElementCount(s.In[0])
			return w
		},
	}
}
