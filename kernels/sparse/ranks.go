package sparse

// This file defines the operators with which ranks share the rows of sparse matrices. A matrix of
// which a rank has only its own rows (ir/plan, Window) has its full shape, and its other rows are
// empty. So it is a sparse matrix like any other, and an operator that goes over its entries goes over
// those of the rank.

import (
	"math/bits"
	"slices"
	"weak"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/memory"
)

func sparseRanks() []*op.Def {
	same := func(s *op.Sig) (types.Type, error) { return s.In[0], nil }
	ref := func(c *op.Call) (value.Value, error) { return c.In[0], nil }
	return []*op.Def{
		{
			Name: "sp.own", Hidden: true,
			Doc: "sp.own returns a sparse matrix with this rank's rows of its input (ir/plan, Window); the other rows are empty. " +
				"With lists it numbers the columns of a matrix that has only these rows by what a gather brings (ir/plan, Packed). " +
				"Placement writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Doc: "sparse matrix"},
				{Name: "lists", Optional: true, Doc: "by rank: the columns with entries that are rows of it (sp.touched)"},
				{Name: "of", Attr: true, Kind: op.IntsVal, Optional: true, Doc: "where ranks' rows begin, of the matrix with a row for each column (WindowOf)"}},
			Eg:   define.Eg("nnz(sparse(eye(3)))", "3"),
			Type: same, Ref: ref, Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(0),
			Kernel: func(c *op.Call) error {
				m := c.In[0].(*value.CSR)
				named, known := namedColumns.Load(weak.Make(m))
				if own := ofRank(c); own.NNZ() < m.NNZ() {
					m = own.Padded(c.Lo, c.Type.Rows)
				}
				c.Out = m
				if len(c.In) > 1 && c.Hi > c.Lo {
					packed, marks := packedColumns(m, c.In[1].(*value.CSR), c.Attrs.Val("of"), named)
					if c.Out = packed; known {
						rememberOf(packed, &namedColumns, marks)
					}
				}
				return nil
			},
		},
		{
			Name: "sp.collect", Hidden: true,
			Doc: "sp.collect joins a sparse matrix of which each rank has some entries: every rank gets the entries of its own rows, " +
				"or of all rows. Placement writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Rest: true, Doc: "the entries that each rank has of those rows"},
				{Name: "stack", Attr: true, Kind: op.IntVal, Optional: true, Doc: "the number of ranks"},
				{Name: "fetch", Attr: true, Kind: op.IntVal, Optional: true, Doc: "with lists of rows as second input (ir/plan, Fetch): about how many rows all ranks get, and 1"},
				{Name: "only", Attr: true, Kind: op.IntVal, Optional: true, Doc: "the only rank that gets all rows, and 1"},
				{Name: "apart", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: row r of the result is what rank r has in the one row of this rank"},
				{Name: "add", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: entries at one place are added in the order of ranks and of entries, and zeros are left out"},
				{Name: "key", Attr: true, Kind: op.IntVal, Optional: true, Doc: "its number among the gathers of a plan"}},
			Eg:   define.Eg("nnz(t(sparse(eye(3))))", "3"),
			Type: same, Ref: ref, Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(1),
			Kernel: joinRanks,
		},
		{
			Name: "sp.touched", Hidden: true,
			Doc: "sp.touched lists the columns in which the rows of this rank have entries: row r is those of the rows that rank r has of a " +
				"matrix with a row for each column (ir/plan, Window). Those that this rank has are left out. " +
				"Of a column of row numbers it lists these. Placement writes it.",
			Args: []op.Arg{{Name: "a", Doc: "sparse matrix, or a column of i64"},
				{Name: "rows", Attr: true, Kind: op.IntVal, Optional: true, Doc: "of the matrix that a column numbers"},
				{Name: "all", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: every rank needs the rows that all of the column names, and the windows of the call are those of the matrix"},
				{Name: "ranks", Attr: true, Kind: op.IntVal, Optional: true, Doc: "the number of ranks"},
				{Name: "units", Attr: true, Kind: op.IntsVal, Optional: true, Doc: "where ranks' rows begin, of this matrix (WindowOf)"},
				{Name: "of", Attr: true, Kind: op.IntsVal, Optional: true, Doc: "the same, of the matrix with a row for each column"}},
			Eg: define.Eg("nnz(sparse(eye(3)) @ ones(3, 1) > 0)", "3"),
			Type: func(s *op.Sig) (types.Type, error) {
				if t := s.In[0]; t.IsDense() && t.Elem == types.I64 {
					return types.SparseOf(types.Bool, max(1, s.Attrs.Int("ranks")), s.Attrs.Int("rows")), nil
				}
				t, err := Of(0, s.In[0])
				return types.SparseOf(types.Bool, max(1, s.Attrs.Int("ranks")), t.Cols), err
			},
			Ref: touchedRef, Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(1),
			Kernel: touched,
		},
	}
}

// packedColumns returns the rows of m that this rank has, with other column numbers. If a rank sends
// only the listed rows of a vector, the k-th column of its list becomes the k-th of its window. Columns
// of a row still ascend. The result shares values and row pointers with m. marks has the columns of
// named (a bitset or nil) by their new numbers.
func packedColumns(m, lists *value.CSR, of op.Val, named any) (packed *value.CSR, marks bitset) {
	number := make([]int32, m.Cols)
	marks, _ = named.(bitset)
	marks = slices.Clone(marks)
	for r := range lists.Rows {
		from, to := op.WindowOf(r, lists.Rows, m.Cols, of)
		list, _ := lists.Row(r)
		if n := len(list); n > 0 && !op.SendsAll(n, to-from) {
			for k, j := range list {
				number[j] = int32(from + k)
			}
			for j := from; marks != nil && j < to; j++ {
				if marks[j/64] &^= 1 << (j % 64); j < from+n {
					marks[j/64] |= 1 << (j % 64)
				}
			}
			continue
		}
		for j := from; j < to; j++ {
			number[j] = int32(j)
		}
	}
	p := *m
	p.Col = memory.Fresh[int32](int(m.Ptr[m.Rows]))
	from := m.Col[m.Ptr[0]:m.Ptr[m.Rows]]
	to := p.Col[m.Ptr[0]:][:len(from)]
	for k, j := range from {
		to[k] = number[j]
	}
	return &p, marks
}

// touched makes the lists of sp.touched, and remembers which columns the rank's rows name.
func touched(c *op.Call) error {
	ranks, cols := c.Type.Rows, c.Type.Cols
	rows, unit := cols, c.Attrs.Val("of") // of the windows of the call
	var named bitset
	if d, ok := c.In[0].(*value.Dense); ok {
		all := c.Attrs.Int("all") > 0
		if named = numbersIn(d, c.Lo, c.Hi, all, cols); !all {
			rows, unit = d.Rows, c.Attrs.Val("units")
		}
	} else {
		m := c.In[0].(*value.CSR)
		lo, hi := define.OwnRows(c, m.Rows)
		if known, ok := namedColumns.Load(weak.Make(m)); ok { // counted while it was read
			named = known.(bitset)
		} else if named = columnsOf(ofRank(c)); m.NNZ() > 0 && hi-lo < m.Rows {
			rememberOf(m, &namedColumns, named)
		}
		rows, unit = m.Rows, c.Attrs.Val("units")
	}
	out := value.NewCSR(types.Bool, ranks, cols, named.count())
	n := 0
	for r := range ranks {
		from, to := op.WindowOf(r, ranks, cols, c.Attrs.Val("of"))
		if a, b := op.WindowOf(r, ranks, rows, unit); a != c.Lo || b != c.Hi {
			for j := from; j < to; j = j&^63 + 64 { // a word of 64 columns
				for w := named[j/64] >> (j % 64) << (j % 64); w != 0; w &= w - 1 {
					if at := j&^63 + bits.TrailingZeros64(w); at < to {
						out.Col[n] = int32(at)
						n++
					}
				}
			}
		}
		out.Ptr[r+1] = int64(n)
	}
	out.Col = out.Col[:n]
	c.Out = out
	return nil
}

// numbersIn returns which numbers below n are in rows lo..hi-1 of a column, or in all of it. Others are
// mistakes that the reader of the rows reports.
func numbersIn(d *value.Dense, lo, hi int, all bool, n int) bitset {
	if all || lo == hi {
		lo, hi = 0, d.Rows
	}
	named := make(bitset, (n+63)/64)
	for i := lo; i < hi; i++ {
		j := d.I64[i*d.Stride]
		if j < 0 {
			j += int64(n)
		}
		if 0 <= j && j < int64(n) {
			named[j/64] |= 1 << (j % 64)
		}
	}
	return named
}

// touchedRef is touched for one rank, element by element.
func touchedRef(c *op.Call) (value.Value, error) {
	m, ranks := define.EveryElement(c.In[0]), c.Type.Rows
	column := c.In[0].Type().IsDense() && m.Elem == types.I64
	out := value.New(types.Bool, ranks, c.Type.Cols)
	for j := range out.Cols {
		for i := range m.Rows {
			if column && (m.At(i, 0).I == int64(j) || m.At(i, 0).I == int64(j-out.Cols)) || !column && m.At(i, j).True() {
				for r := range ranks {
					if lo, hi := op.WindowOf(r, ranks, out.Cols, c.Attrs.Val("of")); lo <= j && j < hi {
						out.Set(r, j, value.Bool(true))
					}
				}
			}
		}
	}
	return define.KeptRef(out), nil
}

// joinRanks joins the parts of all ranks: of the rows of this rank (Call.Lo and Hi), or of all rows.
func joinRanks(c *op.Call) error {
	parts := make([]*value.CSR, len(c.In))
	for k, v := range c.In {
		parts[k] = v.(*value.CSR)
	}
	switch {
	case c.Attrs.Int("apart") > 0 && c.Hi > c.Lo:
		c.Out = stackedRows(c.Type, parts)
	case c.Hi > c.Lo:
		c.Out = joinedRows(c.Type, parts, c.Lo, c.Hi-c.Lo, c.Attrs.Int("add") > 0)
	case len(parts) == 1: // one rank
		c.Out = parts[0]
	default:
		c.Out = stackedRows(c.Type, parts)
	}
	return nil
}

// stackedRows returns the matrix of type t whose rows are those of the parts, one below the other.
func stackedRows(t types.Type, parts []*value.CSR) *value.CSR {
	n := 0
	for _, m := range parts {
		n += m.NNZ()
	}
	out := value.NewCSR(t.Elem, t.Rows, t.Cols, n)
	row, to := 0, int64(0)
	for _, m := range parts {
		for _, end := range m.Ptr[1:] {
			row++
			out.Ptr[row] = to + end - m.Ptr[0]
		}
		copyEntries(out, to, m, m.Ptr[0], m.Ptr[m.Rows], 0)
		to += int64(m.NNZ())
	}
	return out
}

// joinedRows returns a matrix of type t. Its row lo + i, for i below rows, has the entries of row i of
// all parts; its other rows are empty. Without add, the columns of a part precede those of the next
// part, because they were rows of its rank before a transpose. With add, columns may be in any order,
// and entries at one place are added.
func joinedRows(t types.Type, parts []*value.CSR, lo, rows int, add bool) *value.CSR {
	n, some := 0, 0
	var only *value.CSR // the part that has entries, if some is 1
	for _, m := range parts {
		if m.NNZ() > 0 {
			only, some, n = m, some+1, n+m.NNZ()
		}
	}
	if some == 1 && !add {
		return only.Padded(lo, t.Rows)
	}
	out := value.NewCSR(t.Elem, t.Rows, t.Cols, n)
	ptr := out.Ptr[lo:]
	for _, m := range parts {
		for i, at := range m.Ptr[:rows+1] {
			ptr[i] += at - m.Ptr[0]
		}
	}
	for i := rows + 1; i < len(ptr); i++ {
		ptr[i] = ptr[rows]
	}
	joinLists(out.Col, ptr[:rows+1], parts, func(m *value.CSR) []int32 { return m.Col })
	dense.ForElem(t.Elem, joinValues[float64], joinValues[float32], joinValues[int64], func(*value.CSR, []int64, []*value.CSR) {})(out, ptr[:rows+1], parts)
	if add {
		out.AddEqual()
	}
	return out
}

// joinValues copies the values of the parts to the rows of out that begin at ptr.
func joinValues[T dense.Cell](out *value.CSR, ptr []int64, parts []*value.CSR) {
	joinLists(*dense.Values[T](out), ptr, parts, func(m *value.CSR) []T { return *dense.Values[T](m) })
}

// atOnce is the number of elements that are copied for every list of at most as many. A branch on the
// length of the list would be mispredicted.
const atOnce = 8

// joinLists copies the lists of each row, by part, to their places in dst. Successive rows that only
// one part has are contiguous in the part and in dst, so they are copied together. In a graph with
// clusters most rows are such. The next list overwrites elements that were copied beyond the end of a
// list.
func joinLists[T any](dst []T, ptr []int64, parts []*value.CSR, of func(m *value.CSR) []T) {
	lists := make([][]T, len(parts))
	for p, m := range parts {
		lists[p] = of(m)
	}
	for i := 0; i < len(ptr)-1; {
		row, to := i, int(ptr[i])
		for p, m := range parts {
			end := row
			for end < len(ptr)-1 && m.Ptr[end+1]-m.Ptr[end] == ptr[end+1]-ptr[end] {
				end++
			}
			if end > row {
				copy(dst[to:], lists[p][m.Ptr[row]:m.Ptr[end]])
				i = end
				break
			}
			from, n := int(m.Ptr[row]), int(m.Ptr[row+1]-m.Ptr[row])
			src := lists[p][from:]
			if len(src) < atOnce || len(dst) < to+atOnce {
				copy(dst[to:], src[:n])
			} else if *(*[atOnce]T)(dst[to:]) = *(*[atOnce]T)(src); n > atOnce {
				copy(dst[to+atOnce:], src[atOnce:n])
			}
			to += n
			i = row + 1
		}
	}
}
