package reduce

// This file defines the reductions of a whole matrix to one scalar: sum, mean, norm, prod, min,
// max, count, any, all, identical; and how they are cut: each is a row of three hidden rows, block
// -> accumulator (.part), accumulators -> accumulator (.join), accumulator -> result (.done). An
// accumulator is an ordinary dense matrix of one row, so that it travels like any other block. What
// makes any cut give the same bits is in the accumulator: exact sums, wrapping integers, minima.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/exact"
)

// Rows is the rows of the reduction family.
func Rows() []*op.Def {
	var out []*op.Def
	for _, r := range Wholes() {
		out = append(out, r.Defs()...)
	}
	out = append(out, prod(), identical())
	return append(out, axisRows()...)
}

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
	family, fold := w.Family(), &Fold{Whole: w}
	out := []*op.Def{{
		Name: w.Name, Doc: w.doc, Eg: w.eg,
		Args: []op.Arg{{Name: "x", Doc: "matrix or scalar"}},
		Type: func(s *op.Sig) (types.Type, error) { return w.Type(s, 0) },
		Ref: func(c *op.Call) (value.Value, error) {
			x := define.Elements(c.In[0])
			if len(x) == 0 && w.Nonempty {
				return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			return w.Ref(x, c.Type.Elem), nil
		},
		Laws: w.laws(), Fold: op.FoldAll, Class: w.Class,
		Shard: op.Shard{Kind: op.ShardReduce, Partial: family + ".part", Combine: family + ".join", Finish: w.Name + ".done"},
		Rate:  "reduce." + family,
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
		Kernel: func(c *op.Call) error {
			if c.In[0].Type().Count() == 0 && w.Nonempty {
				return op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			c.Out = fold.Of(define.AsDense(c.In[0]), c.Type.Elem)
			return nil
		},
	}}
	if w.shared == "" {
		out = append(out, w.partRow(false), w.joinRow())
	}
	return append(out, w.doneRow(false))
}

// Family returns the name of the reduction whose hidden parts this one uses.
func (w Whole) Family() string {
	if w.shared == "" {
		return w.Name
	}
	return w.shared
}

// laws: only a reduction that needs an element can fail.
func (w Whole) laws() op.Laws {
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
	join := func(acc *value.Dense, in []value.Value) {
		s, e := pool.Get().(*Accumulators), acc.Elem
		defer pool.Put(s)
		if acc.Cols > 1 { // words of exact sums
			e = types.F64
		}
		s.Open(&Fold{Whole: w, Part: true}, e, 0, acc.Rows)
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
				join(acc, c.In)
				c.Out = acc.At(0, 0)
				return nil
			}
			join(c.Result(), c.In)
			return nil
		},
	})
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
	class, takes := (&Fold{Whole: w}).states(e)
	return types.DenseOf(class.Gives(takes), 1, 1)
}

// Done returns the result, of type e, for n elements in all.
func (w Whole) Done(acc *value.Dense, e types.Elem, n int) value.Scalar {
	if acc.Cols == 1 {
		return define.Canonical(acc.At(0, 0))
	}
	s, q := exact.FromWords(acc.I64[:exact.Words]), exact.FromWords(acc.I64[acc.Cols-exact.Words:acc.Cols])
	return define.Number(e, exact.Reduced(w.Class, &s, &q, n, e == types.F32))
}
