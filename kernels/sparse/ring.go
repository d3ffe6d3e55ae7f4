package sparse

// This file defines products of a sparse matrix and a vector over other semirings than (+, *), in
// two rows:
//
// semiring is a word of the language: the sum over the *stored* entries, with the neutral element
// of the ring where a row has none, as shortest paths and reachability want it.
//
// sp.rowfold is what the compiler makes of rowmax(G * t(c)) and its like: the reduction of each row
// of a product that is never built. It means, to the bit, what the two rows mean one after the
// other: elements that are not stored are zeros and take part.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// ring is a semiring: what its sum chooses, and whether its product adds. That of Any is or and and.
type ring struct {
	name string
	sum  loop.Class // Least, Greatest or Any
	adds bool
}

// rings are those of semiring, by name.
var rings = []ring{{"max *", loop.Greatest, false}, {"min *", loop.Least, false}, {"min +", loop.Least, true}, {"max +", loop.Greatest, true}, {"or and", loop.Any, false}}

// ringOf returns the ring of a call, whose name the type rule has checked.
func ringOf(a *op.Attrs) ring {
	i := slices.IndexFunc(rings, func(r ring) bool { return r.name == a.Str("ring") })
	return rings[i]
}

// ringNames lists the names of rings.
func ringNames() (names []string) {
	for _, r := range rings {
		names = append(names, r.name)
	}
	return names
}

// truths reports the ring of truth values.
func (r ring) truths() bool { return r.sum == loop.Any }

// least reports a sum that is a minimum.
func (r ring) least() bool { return r.sum == loop.Least }

func ringRows() []*op.Def {
	return []*op.Def{
		{
			Name: "semiring",
			Doc: "semiring is the product of a sparse matrix and a column over another semiring: element i is the ring's sum of a[i,k] * x[k] " +
				"over the entries that row i stores. Rings are \"max *\", \"min *\", \"min +\", \"max +\" and, for bools, \"or and\". A row without " +
				"entries gives the ring's zero: inf (-inf for max), the greatest (least) i64, false.",
			Args: []op.Arg{{Name: "a", Doc: "sparse n x m"}, {Name: "x", Doc: "dense m x 1"},
				{Name: "ring", Attr: true, Kind: op.StrVal, Doc: `"max *", "min *", "min +", "max +" or "or and"`}},
			Eg:   define.Eg(`semiring(sparse(2 * eye(2)), ones(2, 1), "min +")`, "3\n3\n"),
			Type: semiringType, Ref: semiringRef, Along: firstInput, ByColumn: 1, Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(2),
			Loop: ringLoop(beginSemiring),
		},
		{
			Name: "sp.rowfold", Hidden: true,
			Doc: "sp.rowfold is a reduction (of = \"max\", \"min\", \"sum\", \"any\") of each row of a * t(x), or of a and t(x) for any, which is " +
				"not built; with base, the greater (lesser) of that and of base. The compiler writes it.",
			Args: []op.Arg{{Name: "a", Doc: "sparse n x m"}, {Name: "x", Doc: "m elements, a row or a column"},
				{Name: "base", Optional: true, Doc: "n x 1 of the type of the result, of max and min"},
				{Name: "of", Attr: true, Kind: op.StrVal, Doc: "the reduction"}},
			Eg:   define.Eg("rowmax(sparse(2 * eye(2)) * t(seq(3, 5)))", "6\n8\n"),
			Type: rowfoldType, Ref: rowfoldRef, Along: func(*op.Attrs) []int { return []int{0, 2} }, ByColumn: 1, Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(2),
			Loop: ringLoop(beginRowfold),
		},
	}
}

func ringLoop(begin func(c *op.Call, workers int) op.LoopBody) *op.Loop {
	return &op.Loop{
		Rows:  func(s *op.Sig, _ types.Type) int { return rowsShared(s.In[0]) },
		Space: func(c *op.Call) (n, leaf int) { return rowSpace(c.In[0].Type()) },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return begin(c, workers), nil },
	}
}

func semiringType(s *op.Sig) (types.Type, error) {
	a, x := s.In[0], s.In[1]
	switch name := s.Attrs.Str("ring"); {
	case !a.IsSparse():
		return a, op.Faultf(0, define.CodeKind, "`semiring` needs a sparse matrix, not %v", a).WithHelp("sparse(x) makes one")
	case !x.IsDense() || x.Cols != 1:
		return x, op.Faultf(1, define.CodeShape, "`semiring` needs a dense column, not %v", x)
	case !define.Agree(a.Cols, x.Rows):
		return x, op.Faultf(1, define.CodeInner, "`semiring` of %d columns and %d elements", a.Cols, x.Rows)
	default:
		if err := define.OneOf(2, "ring", name, ringNames()...); err != nil {
			return x, err
		}
		rule := define.Numeric
		if ringOf(s.Attrs).truths() {
			rule = define.Logical
		}
		e, ok := rule([]types.Elem{a.Elem, x.Elem}, s)
		if !ok {
			return x, op.Faultf(-1, define.CodeElem, "`semiring` %q of %v and %v", name, a.Elem, x.Elem)
		}
		return types.DenseOf(e, a.Rows, 1), nil
	}
}

func semiringRef(c *op.Call) (value.Value, error) {
	a, x := c.In[0].(*value.CSR), c.Dense(1)
	ring, e := ringOf(c.Attrs), c.Type.Elem
	out := value.New(e, a.Rows, 1)
	for i := range a.Rows {
		var acc value.Scalar
		first := true
		for k := range a.Cols {
			u := a.At(i, k)
			if !u.True() {
				continue
			}
			p := ring.step(u.Convert(e), x.At(k, 0).Convert(e))
			if !first {
				p = define.Extreme(acc, p, ring.least()) // of truths, true is the greater
			}
			acc, first = p, false
		}
		if first {
			acc = ring.zero(e)
		}
		out.Set(i, 0, acc)
	}
	return out, nil
}

// step is the ring's product of two elements of one type, for the definition.
func (r ring) step(u, v value.Scalar) value.Scalar {
	switch {
	case r.truths():
		return value.Bool(u.True() && v.True())
	case r.adds && u.Elem.IsFloat():
		return define.Number(u.Elem, u.F+v.F)
	case r.adds:
		return value.I64(u.I + v.I)
	case u.Elem.IsFloat():
		return define.Number(u.Elem, u.F*v.F)
	}
	return value.I64(u.I * v.I)
}

// zero is the neutral element of the ring's sum.
func (r ring) zero(e types.Elem) value.Scalar {
	switch {
	case r.truths():
		return value.Bool(false)
	case e.IsFloat() && r.least():
		return value.Scalar{Elem: e, F: math.Inf(1)}
	case e.IsFloat():
		return value.Scalar{Elem: e, F: math.Inf(-1)}
	case r.least():
		return value.I64(math.MaxInt64)
	}
	return value.I64(math.MinInt64)
}

// foldClass is the reduction of a rowfold.
func foldClass(a *op.Attrs) loop.Class {
	if f := reduce.Named(a.Str("of")); f != nil {
		return f.Whole.Class
	}
	return loop.NoClass
}

func rowfoldType(s *op.Sig) (types.Type, error) {
	a, x := s.In[0], s.In[1]
	if !a.IsSparse() || !x.IsDense() || x.Rows != 1 && x.Cols != 1 || a.Known() && x.Known() && x.Rows*x.Cols != a.Cols {
		return x, op.Faultf(1, define.CodeShape, "sp.rowfold of %v and %v", a, x)
	}
	rule, elem := define.Numeric, reduce.Itself
	of := foldClass(s.Attrs)
	switch of {
	case loop.Any:
		rule = define.Logical
	case loop.Least, loop.Greatest:
	case loop.Sum:
		elem = reduce.Summed
	default:
		return x, op.Faultf(2, define.CodeAttr, "sp.rowfold of %q", s.Attrs.Str("of"))
	}
	e, ok := rule([]types.Elem{a.Elem, x.Elem}, s)
	if !ok || a.Cols == 0 {
		return x, op.Faultf(0, define.CodeElem, "sp.rowfold of %v and %v", a, x)
	}
	out := types.DenseOf(elem(e), a.Rows, 1)
	if len(s.In) > 2 && (!s.In[2].Equal(out) || of != loop.Greatest && of != loop.Least) {
		return x, op.Faultf(2, define.CodeShape, "sp.rowfold onto a %v", s.In[2])
	}
	return out, nil
}

// rowfoldRef builds the product, zeros and all, and reduces its rows.
func rowfoldRef(c *op.Call) (value.Value, error) {
	a, x := define.EveryElement(c.In[0]), c.Dense(1)
	f, e := reduce.Named(c.Attrs.Str("of")), c.Type.Elem
	out := value.New(e, a.Rows, 1)
	r := ring{sum: loop.Greatest}
	if f.Whole.Class == loop.Any {
		r.sum = loop.Any
	}
	for i := range a.Rows {
		line := make([]value.Scalar, a.Cols)
		for j := range line {
			line[j] = value.Scalar{Elem: e}
			y := x.At(min(j, x.Rows-1), min(j, x.Cols-1))
			if u := a.At(i, j); u.True() {
				if p := r.step(u.Convert(e), y.Convert(e)); p.True() {
					line[j] = p
				}
			}
		}
		out.Set(i, 0, f.Whole.Ref(line, e))
		if len(c.In) > 2 {
			out.Set(i, 0, define.Extreme(out.At(i, 0), c.Dense(2).At(i, 0), f.Whole.Class == loop.Least))
		}
	}
	return out, nil
}
