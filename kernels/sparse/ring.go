package sparse

// This file defines products of a sparse matrix and a vector over other semirings than (+, *),
// for two rows of rows.go:
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
	name  string
	sum   loop.Class // Least, Greatest or Any; of a row fold also Sum
	adds  bool
	zeros bool // the elements that are not stored take part: a row fold
}

// rings are those of semiring, by name.
var rings = []ring{{"max *", loop.Greatest, false, false}, {"min *", loop.Least, false, false}, {"min +", loop.Least, true, false},
	{"max +", loop.Greatest, true, false}, {"or and", loop.Any, false, false}}

// foldedRows names the sums of rings and of sp.rowfold.
var foldedRows = map[loop.Class]string{loop.Least: "min", loop.Greatest: "max", loop.Any: "any", loop.Sum: "sum"}

// ringOf returns the ring of a call; ok is false if its attributes name none.
func ringOf(a *op.Attrs) (r ring, ok bool) {
	if f := reduce.Named(a.Str("of")); f != nil {
		return ring{sum: f.Whole.Class, zeros: true}, foldedRows[f.Whole.Class] == a.Str("of")
	}
	i := slices.IndexFunc(rings, func(r ring) bool { return r.name == a.Str("ring") })
	if i < 0 {
		return ring{}, false
	}
	return rings[i], true
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

func foldType(s *op.Sig) (types.Type, error) {
	a, x := s.In[0], s.In[1]
	r, ok := ringOf(s.Attrs)
	name := s.Attrs.Str("ring") + s.Attrs.Str("of")
	line, n := x.Cols == 1, x.Rows
	if s.Def.Hidden && x.Rows == 1 {
		line, n = true, x.Cols
	}
	switch {
	case !a.IsSparse():
		return a, op.Faultf(0, define.CodeKind, "`semiring` needs a sparse matrix, not %v", a).WithHelp("sparse(x) makes one")
	case !x.IsDense() || !line:
		return x, op.Faultf(1, define.CodeShape, "`semiring` needs a dense column, not %v", x)
	case !define.Agree(a.Cols, n):
		return x, op.Faultf(1, define.CodeInner, "`semiring` of %d columns and %d elements", a.Cols, n)
	case !ok:
		return x, define.OneOf(2, "ring", name, ringNames()...)
	}
	rule := define.Numeric
	if r.truths() {
		rule = define.Logical
	}
	e, ok := rule([]types.Elem{a.Elem, x.Elem}, s)
	if !ok || r.zeros && a.Cols == 0 {
		return x, op.Faultf(-1, define.CodeElem, "`semiring` %q of %v and %v", name, a.Elem, x.Elem)
	}
	if r.sum == loop.Sum {
		e = reduce.Summed(e)
	}
	out := types.DenseOf(e, a.Rows, 1)
	if len(s.In) > 2 && (!s.In[2].Equal(out) || r.sum != loop.Greatest && r.sum != loop.Least) {
		return x, op.Faultf(2, define.CodeShape, "`semiring` %q onto a %v", name, s.In[2])
	}
	return out, nil
}

// foldRef lists the products of each row, and folds them.
func foldRef(c *op.Call) (value.Value, error) {
	a, x, e := define.EveryElement(c.In[0]), c.Dense(1), c.Type.Elem
	r, _ := ringOf(c.Attrs)
	whole := reduce.Named(foldedRows[r.sum]).Whole
	out := value.New(e, a.Rows, 1)
	for i := range a.Rows {
		var line []value.Scalar
		for j := range a.Cols {
			p := value.Scalar{Elem: e}
			if u := a.At(i, j); u.True() {
				y := x.At(min(j, x.Rows-1), min(j, x.Cols-1))
				if p = r.step(u.Convert(e), y.Convert(e)); r.zeros && !p.True() {
					p = value.Scalar{Elem: e} // a sparse product has no -0
				}
			} else if !r.zeros {
				continue
			}
			line = append(line, p)
		}
		v := r.zero(e)
		if len(line) > 0 {
			v = whole.Ref(line, e)
		}
		if len(c.In) > 2 {
			v = define.Extreme(v, c.Dense(2).At(i, 0), r.least())
		}
		out.Set(i, 0, v)
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
