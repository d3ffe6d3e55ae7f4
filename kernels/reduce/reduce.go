package reduce

// This file defines the reductions of a whole matrix to one scalar: sum, mean, norm, prod, min,
// max, count, any, all, identical; and how they are cut: each is a row of three hidden rows, block
// -> accumulator (.part), accumulators -> accumulator (.join), accumulator -> result (.done). An
// accumulator is an ordinary dense matrix of one row, so that it travels like any other block. What
// makes any cut give the same bits is in the accumulator: exact sums, wrapping integers, minima.
// colsum.part makes the accumulators of some rows, one below the other, a row for each column. sum.join
// merges those of several ranks row by row, and colsum.done makes the results.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// Whole is a reduction with an accumulator, which is exact sums (see sums) or one element.
type Whole struct {
	Name, doc string
	eg        []op.Example
	// Elem is the result's element type for an argument of e; NoElem if it has none.
	Elem func(e types.Elem) types.Elem
	// Ref is the definition on the list of elements.
	Ref func(x []value.Scalar, e types.Elem) value.Scalar
	// Nonempty reductions have no value without elements.
	Nonempty bool
	// shared is the family whose .part and .join rows this one uses; "" has its own.
	shared string
	Flops  float64
	Class  loop.Class
}

// Defs is the row and its hidden parts.
func (w Whole) Defs() []*op.Def {
	fold := w.fold(OverAll, false)
	out := []*op.Def{{
		Name: w.Name, Doc: w.doc, Eg: w.eg,
		Args: []op.Arg{{Name: "x", Doc: "matrix or scalar"}},
		Type: func(s *op.Sig) (types.Type, error) { return w.Type(s, 0) },
		Ref:  func(c *op.Call) (value.Value, error) { return w.Defined(c, define.Elements(c.In[0])) },
		Laws: w.Laws(), Fold: op.FoldAll, Class: w.Class,
		Shard: w.shard(op.ShardReduce, false),
		Rate:  "reduce." + w.Family(),
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
		Kernel: func(c *op.Call) error {
			if c.In[0].Type().Count() == 0 && w.Nonempty {
				return op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			c.Out = fold.Of(define.AsDense(c.In[0]), c.Type.Elem)
			return nil
		},
	}}
	return append(out, w.hiddenRows()...)
}

// hiddenRows returns the rows of the accumulator of all elements.
func (w Whole) hiddenRows() (out []*op.Def) {
	if w.shared == "" {
		out = []*op.Def{w.partRow(false), w.joinRow()}
	}
	return append(out, w.doneRow(false))
}

// shard returns the names of the hidden rows by which ranks share the reduction of all elements, or of
// columns.
func (w Whole) shard(kind op.ShardKind, columns bool) op.Shard {
	family := w
	family.Name = w.Family()
	return op.Shard{Kind: kind, Partial: family.hiddenName(columns, ".part"), Combine: family.Name + ".join", Finish: w.hiddenName(columns, ".done")}
}

// Defined is the definition of a call on a list of elements. It fails for an empty list that has no
// result.
func (w Whole) Defined(c *op.Call, x []value.Scalar) (value.Value, error) {
	if len(x) == 0 && w.Nonempty {
		return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
	}
	return w.Ref(x, c.Type.Elem), nil
}

// Family returns the name of the reduction whose hidden parts this one uses.
func (w Whole) Family() string {
	if w.shared == "" {
		return w.Name
	}
	return w.shared
}

// Laws returns the laws of the reduction. Only one that needs an element can fail.
func (w Whole) Laws() op.Laws {
	if w.Nonempty {
		return op.Pure
	}
	return op.Pure | op.Total
}

// Type is the type rule: the result for argument i.
func (w Whole) Type(s *op.Sig, i int) (types.Type, error) {
	t := s.In[i]
	if t.Kind != types.Scalar && !t.IsDense() {
		return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` needs a dense matrix or a scalar, not %v", s.Def.Source(), t)
	}
	e := types.NoElem
	if t.Elem.IsNumeric() {
		e = w.Elem(t.Elem)
	}
	if e == types.NoElem {
		return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` is not defined on %v", s.Def.Source(), t.Elem)
	}
	if w.Nonempty && t.Kind == types.Matrix && t.Known() && t.Count() == 0 {
		return types.Type{}, op.Faultf(i, define.CodeShape, "`%s` of an empty matrix, %v", s.Def.Source(), t)
	}
	return types.ScalarOf(e), nil
}

func (w Whole) joinRow() *op.Def {
	join := func(acc *value.Dense, lo, hi int, in []value.Value) {
		if acc.Cols > 1 && !w.places() {
			joinWords(acc, lo, hi, in)
			return
		}
		s := pool.Get().(*Accumulators)
		defer pool.Put(s)
		s.Open(w.fold(OverAll, true), acc.Elem, lo, hi-lo)
		for _, b := range in {
			s.Take(define.AsDense(b)) // scalars come from partial rows like identical
		}
		s.Finish(acc, 0)
	}
	return define.ByKernel(&op.Def{
		Name: w.Name + ".join", Hidden: true, Doc: w.Name + ".join makes one accumulator of several, in any order; of accumulators one below the other each.",
		Args: []op.Arg{{Name: "acc", Rest: true}},
		Type: accumulatorsType,
		Laws: op.Pure,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			if c.Type.IsScalar() {
				acc := value.New(c.Type.Elem, 1, 1)
				join(acc, 0, 1, c.In)
				c.Out = acc.At(0, 0)
				return nil
			}
			lo, hi := ownRows(c, c.Type.Rows)
			join(c.Result(), lo, hi, c.In)
			return nil
		},
	})
}

// joinWords joins rows lo..hi-1 of accumulators of exact sums.
func joinWords(acc *value.Dense, lo, hi int, in []value.Value) {
	from := make([][]int64, len(in))
	for j := lo; j < hi; j++ {
		for at := 0; at < acc.Cols; at += exact.Words {
			for k, b := range in {
				d := b.(*value.Dense)
				from[k] = d.I64[j*d.Stride+at:][:exact.Words]
			}
			exact.JoinWords(acc.I64[j*acc.Stride+at:][:exact.Words], from...)
		}
	}
}

// ownRows returns which of so many rows a call makes: those of this rank, or all.
func ownRows(c *op.Call, rows int) (lo, hi int) {
	if c.Hi > 0 {
		return c.Lo, c.Hi
	}
	return 0, rows
}

func accumulatorsType(s *op.Sig) (types.Type, error) {
	for i, t := range s.In {
		if !t.IsDense() && !t.IsScalar() || !t.Equal(s.In[0]) {
			return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` joins accumulators of one type, not %v", s.Def.Name, t)
		}
	}
	return s.In[0], nil
}

// Acc returns the type of the accumulator for an argument of e.
func (w Whole) Acc(e types.Elem) types.Type {
	if n := w.sums(e); n > 0 {
		return types.DenseOf(types.I64, 1, n*exact.Words)
	}
	if w.places() { // see state.Placing
		return types.DenseOf(types.I64, 1, 2)
	}
	class, takes := w.fold(OverAll, false).states(e)
	if w.counts() {
		class = loop.Count
	}
	return types.DenseOf(class.Gives(takes), 1, 1)
}

// places reports argmin or argmax.
func (w Whole) places() bool { return w.Class == loop.ArgLeast || w.Class == loop.ArgGreatest }

// counts reports any or all of columns (ofColumns): their accumulators are those of count.
func (w Whole) counts() bool { return w.shared != "" && (w.Class == loop.Any || w.Class == loop.All) }

// Done returns the result, of type e, for n elements in all.
func (w Whole) Done(acc *value.Dense, e types.Elem, n int) value.Scalar {
	switch {
	case w.places():
		return acc.At(0, 1)
	case w.counts() && w.Class == loop.Any:
		return value.Bool(acc.At(0, 0).I > 0)
	case w.counts():
		return value.Bool(acc.At(0, 0).I == int64(n))
	case acc.Cols == 1:
		return define.Canonical(acc.At(0, 0))
	}
	s, q := exact.FromWords(acc.I64[:exact.Words]), exact.FromWords(acc.I64[acc.Cols-exact.Words:acc.Cols])
	return define.Number(e, exact.Reduced(w.Class, &s, &q, n, e == types.F32))
}

// ofColumns returns w for a reduction of columns. any and all share the accumulators of count there: a
// number for each column, from which ranks can merge.
func (w Whole) ofColumns() Whole {
	if w.Class == loop.Any || w.Class == loop.All {
		w.shared = "count"
	}
	return w
}

// columnRows is the rows of the states of colsum and the like.
func (w Whole) columnRows() []*op.Def {
	w = w.ofColumns()
	out := []*op.Def{w.doneRow(true)}
	if w.shared == "" {
		out = append(out, w.partRow(true))
	}
	return out
}

// hiddenName returns the name of a hidden row of the reduction, of each column or of all elements.
func (w Whole) hiddenName(columns bool, part string) string {
	if columns {
		return "col" + w.Name + part
	}
	return w.Name + part
}

// partRow returns the row that makes the accumulators of a block: one, or one for each column.
func (w Whole) partRow(columns bool) *op.Def {
	d := define.ByKernel(&op.Def{
		Name: w.hiddenName(columns, ".part"), Hidden: true, Doc: w.Name + ".part is the accumulator of one block.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
			}
			t := w.Acc(s.In[0].Elem)
			if columns {
				t.Rows = s.In[0].Cols
			}
			return t, nil
		},
		Laws: op.Pure, Fold: op.FoldAll, Rate: "reduce." + w.Name,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
		Kernel: func(c *op.Call) error {
			w.fold(OverAll, true).Into(c.Result(), c.Dense(0))
			return nil
		},
	})
	if columns {
		d.Doc = d.Name + " is the accumulators of the columns of some rows, a row each."
		d.Fold, d.Rate = op.FoldCols, "reduce.col"
		d.Kernel = func(c *op.Call) error {
			w.fold(OverCols, true).Into(c.Result(), c.Dense(0))
			return nil
		}
	}
	return d
}

// doneRow returns the row that makes the result from an accumulator, or from those of all columns.
func (w Whole) doneRow(columns bool) *op.Def {
	done := func(c *op.Call) (value.Value, error) {
		acc, n := c.Dense(0), c.Attrs.Int("n")
		if len(c.In) > 1 { // rows that the run has chosen
			n = int(c.Scalar(1).I)
			if n == 0 {
				if err := w.ofNone(c, columns); err != nil {
					return nil, err
				}
			}
			if !columns {
				n *= c.Attrs.Int("cols")
			}
		}
		if !columns {
			return w.Done(acc, c.Type.Elem, n), nil
		}
		out := c.Result()
		lo, hi := ownRows(c, acc.Rows)
		col := dense.TurnedVector(out)
		if c.Attrs.Bool("turned") {
			col = out
		}
		if acc.Cols == 1 && acc.Elem == out.Elem && !w.counts() { // Done takes 42 ns for each column
			col.View(lo, 0, hi-lo, 1).CopyFrom(acc.View(lo, 0, hi-lo, 1))
			x := dense.SlabOf(out, lo, hi-lo)
			canonical(x.F64)
			canonical(x.F32)
			return out, nil
		}
		for j := lo; j < hi; j++ {
			col.Set(j, 0, w.Done(acc.View(j, 0, 1, acc.Cols), out.Elem, n))
		}
		return out, nil
	}
	return define.ByKernel(&op.Def{
		Name: w.hiddenName(columns, ".done"), Hidden: true, Doc: w.hiddenName(columns, ".done") + " is the result of an accumulator, of a column each.",
		Args: []op.Arg{
			{Name: "acc"}, {Name: "rows", Optional: true, Doc: "number of rows, if only the run knows it"},
			{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of the argument"},
			{Name: "n", Attr: true, Optional: true, Kind: op.IntVal, Doc: "number of elements that each accumulator is of"},
			{Name: "cols", Attr: true, Optional: true, Kind: op.IntVal, Doc: "number of columns, if only the run knows that of rows"},
			{Name: "turned", Attr: true, Optional: true, Kind: op.BoolVal, Doc: "the results of columns are a column, whose rows ranks may share"},
		},
		Type: func(s *op.Sig) (types.Type, error) {
			e, ok := types.ElemNamed(s.Attrs.Str("elem"))
			if !ok {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "`%s` needs the attribute elem", s.Def.Name)
			}
			t := s.In[0]
			if acc := w.Acc(e); !t.IsDense() || t.Elem != acc.Elem || t.Cols != acc.Cols || !columns && t.Rows != 1 {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` takes an accumulator, not %v", s.Def.Name, t)
			}
			switch {
			case columns && s.Attrs.Bool("turned"):
				return types.DenseOf(w.Elem(e), t.Rows, 1), nil
			case columns:
				return types.DenseOf(w.Elem(e), 1, t.Rows), nil
			}
			return types.ScalarOf(w.Elem(e)), nil
		},
		Laws:   op.Pure,
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) (err error) { c.Out, err = done(c); return err },
	})
}

// ofNone returns the failure of the reduction that c ends for a matrix without rows, or nil if it has a
// value.
func (w Whole) ofNone(c *op.Call, columns bool) error {
	return emptyOf(c, &op.Def{Name: w.hiddenName(columns, ""), Type: func(s *op.Sig) (types.Type, error) {
		if columns {
			return AxisType(s, false, w.Nonempty, w.Elem)
		}
		return w.Type(s, 0)
	}})
}

// emptyOf returns the failure of reduction d for a matrix without rows, or nil if it has a value. c is
// a part of the reduction. Its attributes say which columns and elements the matrix would have.
func emptyOf(c *op.Call, d *op.Def) error {
	e, _ := types.ElemNamed(c.Attrs.Str("elem"))
	return (&op.Call{Def: d, Attrs: c.Attrs, In: []value.Value{value.New(e, 0, c.Attrs.Int("cols"))}}).Settle()
}
