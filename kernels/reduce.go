package kernels

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

// reduce is the rows of the reduction family.
func reduce() []*op.Def {
	var out []*op.Def
	for _, r := range wholes() {
		out = append(out, r.defs()...)
	}
	out = append(out, prod(), identical())
	return append(out, axisRows()...)
}

// whole is a reduction that is made of an accumulator.
type whole struct {
	name, doc string
	eg        []op.Example
	// elem is the result's element type for an argument of e; NoElem if it has none.
	elem func(e types.Elem) types.Elem
	// acc is the type of the accumulator for an argument of e.
	acc func(e types.Elem) types.Type
	// part adds the block a to acc, which is lent empty (see join).
	part func(acc, a *value.Dense)
	// join adds the accumulator b to acc; empty is the accumulator of nothing.
	join  func(acc, b *value.Dense)
	empty func(acc *value.Dense)
	// done is the result, of type e, for n elements in all.
	done func(acc *value.Dense, e types.Elem, n int) value.Scalar
	// ref is the definition on the list of elements.
	ref func(x []value.Scalar, e types.Elem) value.Scalar
	// nonempty reductions have no value without elements.
	nonempty bool
	// shared is the family whose .part and .join rows this one uses; "" has its own.
	shared string
	flops  float64
	class  loop.Class
}

// defs is the row and its hidden parts.
func (w whole) defs() []*op.Def {
	family := w.shared
	if family == "" {
		family = w.name
	}
	out := []*op.Def{{
		Name: w.name, Doc: w.doc, Eg: w.eg,
		Args: []op.Arg{{Name: "x", Doc: "matrix or scalar"}},
		Type: func(s *op.Sig) (types.Type, error) { return w.typ(s, 0) },
		Ref: func(c *op.Call) (value.Value, error) {
			x := define.Elements(c.In[0])
			if len(x) == 0 && w.nonempty {
				return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			return w.ref(x, c.Type.Elem), nil
		},
		Laws: w.laws(), Flow: op.Flow{Rate: op.Once}, Fold: op.FoldAll, Class: w.class,
		Shard: op.Shard{Kind: op.ShardReduce, Partial: family + ".part", Combine: family + ".join", Finish: w.name + ".done"},
		Rate:  "reduce." + family,
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.flops) },
		Kernel: func(c *op.Call) error {
			e, n := c.In[0].Type().Elem, c.In[0].Type().Count()
			if n == 0 && w.nonempty {
				return op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			t := w.acc(e)
			acc := value.New(t.Elem, t.Rows, t.Cols)
			w.empty(acc)
			w.part(acc, define.AsDense(c.In[0]))
			c.Out = w.done(acc, c.Type.Elem, n)
			return nil
		},
		Loop: w.loop(),
	}}
	if w.shared == "" {
		out = append(out, w.partRow(), w.joinRow())
	}
	return append(out, w.doneRow())
}

// laws: only a reduction that needs an element can fail.
func (w whole) laws() op.Laws {
	if w.nonempty {
		return op.Pure
	}
	return op.Pure | op.Total
}

func (w whole) typ(s *op.Sig, i int) (types.Type, error) {
	t := s.In[i]
	if t.Kind != types.Scalar && !t.IsDense() {
		return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` needs a dense matrix or a scalar, not %v", s.Def.Source(), t)
	}
	e := types.NoElem
	if t.Elem.IsNumeric() {
		e = w.elem(t.Elem)
	}
	if e == types.NoElem {
		return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` is not defined on %v", s.Def.Source(), t.Elem)
	}
	if w.nonempty && t.Kind == types.Matrix && t.Known() && t.Count() == 0 {
		return types.Type{}, op.Faultf(i, define.CodeShape, "`%s` of an empty matrix, %v", s.Def.Source(), t)
	}
	return types.ScalarOf(e), nil
}

func (w whole) partRow() *op.Def {
	return &op.Def{
		Name: w.name + ".part", Hidden: true, Doc: w.name + ".part is the accumulator of one block.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
			}
			return w.acc(s.In[0].Elem), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			t := w.acc(c.Dense(0).Elem)
			acc := value.New(t.Elem, t.Rows, t.Cols)
			w.empty(acc)
			for _, x := range define.Elements(c.In[0]) { // one element at a time, each as a block of its own
				one := value.New(x.Elem, 1, 1)
				one.Set(0, 0, x)
				w.part(acc, one)
			}
			return acc, nil
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Fold: op.FoldAll, Rate: "reduce." + w.name,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.flops) },
		Kernel: func(c *op.Call) error {
			w.empty(c.Result())
			w.part(c.Result(), c.Dense(0))
			return nil
		},
	}
}

func (w whole) joinRow() *op.Def {
	join := func(acc *value.Dense, in []value.Value) {
		w.empty(acc)
		for _, b := range in {
			w.join(acc, define.AsDense(b)) // scalars come from partial rows like identical
		}
	}
	return &op.Def{
		Name: w.name + ".join", Hidden: true, Doc: w.name + ".join makes one accumulator of several, in any order.",
		Args: []op.Arg{{Name: "acc", Rest: true}},
		Type: accumulatorsType,
		Ref: func(c *op.Call) (value.Value, error) {
			t := c.Type
			if t.IsScalar() {
				t = types.DenseOf(t.Elem, 1, 1)
			}
			acc := value.New(t.Elem, t.Rows, t.Cols)
			for k := len(c.In) - 1; k >= 0; k-- { // the other way round than the kernel: the order must not matter
				next := value.New(t.Elem, t.Rows, t.Cols)
				if k == len(c.In)-1 {
					w.empty(acc)
				}
				join(next, []value.Value{acc, c.In[k]})
				acc = next
			}
			if c.Type.IsScalar() {
				return acc.At(0, 0), nil
			}
			return acc, nil
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
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
	}
}

func (w whole) doneRow() *op.Def {
	done := func(c *op.Call) value.Value {
		return w.done(c.Dense(0), c.Type.Elem, c.Attrs.Int("n"))
	}
	return &op.Def{
		Name: w.name + ".done", Hidden: true, Doc: w.name + ".done is the result of an accumulator.",
		Args: []op.Arg{
			{Name: "acc"},
			{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of the argument"},
			{Name: "n", Attr: true, Kind: op.IntVal, Doc: "number of elements"},
		},
		Type: func(s *op.Sig) (types.Type, error) {
			e, ok := types.ElemNamed(s.Attrs.Str("elem"))
			if !ok {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "`%s` needs the attribute elem", s.Def.Name)
			}
			if !s.In[0].Equal(w.acc(e)) {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` takes an accumulator, not %v", s.Def.Name, s.In[0])
			}
			return types.ScalarOf(w.elem(e)), nil
		},
		Ref:  func(c *op.Call) (value.Value, error) { return done(c), nil },
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error { c.Out = done(c); return nil },
	}
}

func accumulatorsType(s *op.Sig) (types.Type, error) {
	for i, t := range s.In {
		if !t.IsDense() && !t.IsScalar() || !t.Equal(s.In[0]) {
			return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` joins accumulators of one type, not %v", s.Def.Name, t)
		}
	}
	return s.In[0], nil
}

// sumOf is the exact sum that acc carries.
func sumOf(acc *value.Dense) exact.Sum { return exact.FromWords(acc.I64[:exact.Words]) }
