package move

// This file defines the rows whose result is their input in another place or form: item, dense and
// exchange; and const.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// listElements are scalars.
func listElements(e *op.Elements) op.Element {
	list := make([]loop.Val, len(e.In))
	for k, in := range e.In {
		list[k] = define.ConvertBody(e.B, dense.Storage(e.Out.Elem), in.At(loop.Num(0), loop.Num(0)))
	}
	return func(i, j loop.Lin) loop.Val { return e.Pick(list, i, j) }
}

// same is the elements of a result that is its operand.
func same(e *op.Elements) op.Element {
	e.Size(e.In[0].Rows, e.In[0].Cols)
	return e.In[0].At
}

func identities() []*op.Def {
	return []*op.Def{
		{
			Name: "item", Hidden: true, Role: op.PicksAt,
			Doc: "item is one element of a matrix as a scalar; the compiler writes it for `x[i, j]`.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"},
				{Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[row, column]"}},
			Eg: []op.Example{{Program: "emit (2 * eye(2))[1, 1]", Output: "2\n"}},
			Elements: func(e *op.Elements) op.Element {
				at := e.Attrs.Ints("at")
				x := e.In[0].At(loop.Num(at[0]), loop.Num(at[1]))
				return func(loop.Lin, loop.Lin) loop.Val { return x }
			},
			Type:  ItemType,
			Ref:   ItemRef,
			Laws:  op.Pure | op.Total,
			Shard: op.Shard{Kind: op.ShardMove},
			Rate:  "copy", Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Bytes: 8} },
			RowsRead: func(a *op.Attrs) op.RowsRead { return op.RowsRead{From: int(a.Ints("at")[0]), Count: 1} },
			Kernel:   func(c *op.Call) (err error) { c.Out, err = ItemRef(c); return err },
		},
		{
			Name:     "dense",
			Doc:      "dense is a matrix in dense representation; a dense one is returned as it is.",
			Args:     []op.Arg{{Name: "x", Doc: "matrix"}},
			Eg:       []op.Example{{Program: "emit dense(eye(2))", Output: "1 0\n0 1\n"}},
			Elements: same,
			Type:     define.DenseType, Ref: identityRef, Laws: op.Pure | op.Total | op.View, Accum: 1,
			Shard: op.Shard{Kind: op.ShardAligned}, Rate: "copy", Cost: define.CopyWork,
			Kernel: identityKernel, Loop: window.Loop(identityKernel, window.Same),
		},
		{
			Name: "materialize", Role: op.Stores,
			Doc: "materialize is x, stored: nothing is fused across it. It never changes a result; it is for expressions that many readers " +
				"would otherwise compute again.",
			Args:     []op.Arg{{Name: "x", Doc: "matrix"}},
			Eg:       []op.Example{{Program: "Y = materialize(eye(2) + 1)\nemit sum(Y) + max(Y)", Output: "8\n"}},
			Elements: same,
			Type:     define.DenseType, Ref: identityRef, Laws: op.Pure | op.View, Accum: 1,
			Shard: op.Shard{Kind: op.ShardAligned}, Rate: "copy", Cost: define.CopyWork,
			Kernel: identityKernel, Loop: window.Loop(identityKernel, window.Same),
		},
		{
			Name: "exchange", Role: op.Exchange, Hidden: true,
			Doc: "exchange is its input, brought from one set of ranks to another. Placement writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Doc: "any value"},
				{Name: "to", Attr: true, Kind: op.IntsVal, Optional: true, Doc: "ranks that need it"}},
			Eg:   []op.Example{{Program: "emit 1 + 1", Output: "2\n"}},
			Type: func(s *op.Sig) (types.Type, error) { return s.In[0], nil },
			Ref:  identityRef, Laws: op.Pure | op.Total, Accum: 1,
			Rate: "copy", Cost: exchangeCost,
			Kernel: identityKernel,
		},
		{
			Name: "gather", Role: op.Gathers, Hidden: true,
			Doc: "gather completes a matrix of which each rank has made its own rows (ir/plan, Window): every rank gets all rows, " +
				"or those that it needs. Placement writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Doc: "matrix"},
				{Name: "by", Rest: true, Doc: "two lists, by rank: rows of it that this one needs (sp.touched), and rows of this one that it needs; or runs of rows (order.cuts); or first rows, i64"},
				{Name: "fetch", Attr: true, Kind: op.IntVal, Optional: true, Doc: "about how many rows all ranks get by lists"},
				{Name: "packed", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: the rows that a list names of a rank arrive one after the other (ir/plan, Packed)"},
				{Name: "pick", Attr: true, Kind: op.IntVal, Optional: true, Doc: "how many rows all ranks get from one on that the run computes"},
				{Name: "reach", Attr: true, Kind: op.IntsVal, Optional: true, Doc: "which rows, by rank (ir/plan, Reach), if not all"},
				{Name: "key", Attr: true, Kind: op.IntVal, Optional: true, Doc: "its number among the gathers of a plan"}},
			Eg:   []op.Example{{Program: "emit eye(1) + 1", Output: "2\n"}},
			Type: func(s *op.Sig) (types.Type, error) { return s.In[0], nil },
			Ref:  identityRef, Laws: op.Pure | op.Total,
			Rate: "copy", Cost: define.CopyWork,
			Kernel: identityKernel,
		},
		define.ByDefinition(&op.Def{
			Name: "list", Hidden: true,
			Doc: "list is a matrix of scalars, row after row; the compiler writes it for a list that stands where a matrix is wanted. Element types meet as in arithmetic.",
			Args: []op.Arg{{Name: "x", Rest: true, Doc: "scalars"},
				{Name: "size", Attr: true, Kind: op.IntsVal, Doc: "[rows, columns]"}},
			Eg:       []op.Example{{Program: "emit [[1, 2], [3, 4]] @ [1, 0.5]", Output: "2\n5\n"}},
			Elements: listElements,
			Type:     listType, Ref: listRef, Laws: op.Pure | op.Total, Rate: "copy", Cost: define.CopyWork,
		}),
		define.ByDefinition(&op.Def{
			Name: "const", Role: op.Constant, Hidden: true,
			Doc: "const is a plan-time constant as a scalar.",
			Args: []op.Arg{{Name: "value", Attr: true, Doc: "an i64, f64, bool or str"},
				{Name: "elem", Attr: true, Kind: op.StrVal, Optional: true, Doc: "element type, where it is not the value's own: f32"}},
			Eg:   []op.Example{{Program: "emit 0.5", Output: "0.5\n"}},
			Type: constType,
			Ref: func(c *op.Call) (value.Value, error) {
				s, _, err := constOf(c.Attrs)
				return s, err
			},
			Laws: op.Pure | op.Total,
			Cost: func(*op.Sig, types.Type) op.Work { return op.Work{} },
		}),
	}
}

func ItemType(s *op.Sig) (types.Type, error) {
	t, err := define.DenseType(s)
	if err != nil {
		return t, err
	}
	at := s.Attrs.Ints("at")
	if len(at) != 2 {
		return t, op.Faultf(1, define.CodeAttr, "item needs at = [row, column]")
	}
	if w := (window.Rect{Row: int(at[0]), Col: int(at[1]), Rows: 1, Cols: 1}); !w.Within(t.Rows, t.Cols) {
		return t, op.Faultf(1, define.CodeRange, "element [%d, %d] of a %s", at[0], at[1], t)
	}
	return types.ScalarOf(t.Elem), nil
}

func ItemRef(c *op.Call) (value.Value, error) {
	at := c.Attrs.Ints("at")
	return c.Dense(0).At(int(at[0]), int(at[1])), nil
}

func identityRef(c *op.Call) (value.Value, error) {
	if d, ok := c.In[0].(*value.Dense); ok {
		return d.Clone(), nil
	}
	return c.In[0], nil
}

// identityKernel has nothing to do for a dense matrix: Accum makes the result start as the input.
func identityKernel(c *op.Call) error {
	if _, ok := c.In[0].(*value.Dense); !ok {
		c.Out = c.In[0]
	}
	return nil
}

func constType(s *op.Sig) (types.Type, error) {
	_, t, err := constOf(s.Attrs)
	return t, err
}

// constOf is the scalar of a const row.
func constOf(a *op.Attrs) (value.Scalar, types.Type, error) {
	v, _ := a.Get("value")
	var s value.Scalar
	switch v.Kind {
	case op.IntVal:
		s = value.I64(v.I)
	case op.FloatVal:
		s = value.F64(v.F)
	case op.BoolVal:
		s = value.Bool(v.I != 0)
	case op.StrVal:
		s = value.Str(v.S)
	default:
		return s, types.Type{}, op.Faultf(0, define.CodeAttr, "a constant of %s", v.Kind)
	}
	if name := a.Str("elem"); name != "" {
		e, ok := types.ElemNamed(name)
		if !ok || !s.Elem.IsNumeric() || e == types.Str {
			return s, types.Type{}, op.Faultf(1, define.CodeAttr, "a constant %s as %q", s, name)
		}
		s = s.Convert(e)
	}
	return s, s.Type(), nil
}

func listType(s *op.Sig) (types.Type, error) {
	size := s.Attrs.Ints("size")
	if len(size) != 2 || size[0] < 0 || size[1] < 0 || types.Times(int(size[0]), int(size[1])) != len(s.In) || len(s.In) == 0 {
		return types.Type{}, op.Faultf(-1, define.CodeAttr, "a list of %d elements as a matrix %v", len(s.In), size)
	}
	elem := s.In[0].Elem
	for i, t := range s.In {
		e, ok := types.Widen(elem, t.Elem)
		if !t.IsScalar() || !ok || e == types.Str {
			return types.Type{}, op.Faultf(i, define.CodeElem, "a matrix of %s and %s", elem, t).WithHelp("convert one side: f64(x) or f32(x)")
		}
		elem = e
	}
	return types.DenseOf(elem, int(size[0]), int(size[1])), nil
}

func listRef(c *op.Call) (value.Value, error) {
	return define.Placed(c.Type, func(i, j int) value.Scalar { return c.Scalar(i*c.Type.Cols + j) }), nil
}

// exchangeCost returns the work of copying what a value stores.
func exchangeCost(s *op.Sig, out types.Type) op.Work {
	if !out.IsSparse() {
		return define.CopyWork(s, out)
	}
	return define.SparseCost(0)(s, out)
}
