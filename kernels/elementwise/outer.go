package elementwise

// This file defines the products that pair every element of one matrix with every element of
// another: outer, of any elementwise operator, and kron.

import (
	"sort"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// Pairings is the rows of this file. binary lists the elementwise rows; outer can use those of two
// numbers.
func Pairings(binary []*op.Def) []*op.Def {
	o := &outerProduct{by: map[string]*op.Def{}}
	for _, d := range binary {
		if len(d.Args) == 2 && d.Elt != nil {
			o.by[d.Source()] = d
			if d.Infix != "" {
				o.by[d.Infix] = d
			}
			if d.Infix == "" || !strings.ContainsAny(d.Infix, "abcdefghijklmnopqrstuvwxyz") {
				o.names = append(o.names, d.Source())
			}
		}
	}
	sort.Strings(o.names)
	return []*op.Def{o.def(), kron()}
}

// outerProduct is the row outer with the operators that it knows, by word and by sign.
type outerProduct struct {
	by    map[string]*op.Def
	names []string
}

func (o *outerProduct) def() *op.Def {
	mul := op.Str("mul")
	return &op.Def{
		Name: "outer",
		Doc: "outer is the matrix of f(a[i], b[j]) for two vectors and any elementwise operator f of two arguments, named by its word or " +
			"its sign: outer(a, b), outer(a, b, \"max\"), outer(a, b, \"<=\").",
		Args: []op.Arg{{Name: "a", Doc: "vector of n elements"}, {Name: "b", Doc: "vector of m elements"},
			{Name: "op", Attr: true, Kind: op.StrVal, Default: &mul, Doc: "an elementwise operator"}},
		Eg: []op.Example{{Program: "emit outer(seq(1, 3), seq(1, 4))", Output: "1 2 3\n2 4 6\n"},
			{Program: `emit outer(seq(1, 3), seq(1, 4), "<=")`, Output: " true true true\nfalse true true\n"}},
		Laws: op.Pure, Rate: "outer",
		Type: o.typ, OfPairs: func(a *op.Attrs) *op.Def { return o.by[a.Str("op")] },
	}
}

func (o *outerProduct) typ(s *op.Sig) (types.Type, error) {
	f := o.by[s.Attrs.Str("op")]
	if f == nil {
		return types.Type{}, op.Faultf(2, define.CodeAttr, "%q is no elementwise operator of two arguments", s.Attrs.Str("op")).
			WithHelp("op is one of %s, or a sign like \"+\"", strings.Join(o.names, ", "))
	}
	scalars := &op.Sig{Def: f}
	n := [2]int{}
	for i, t := range s.In {
		if _, err := define.NumberMatrix(s, i); err != nil {
			return types.Type{}, err
		}
		switch {
		case t.Rows == 1:
			n[i] = t.Cols
		case t.Cols == 1 || t.Cols == types.Unknown:
			n[i] = t.Rows
		case t.Rows == types.Unknown:
			n[i] = types.Unknown
		default:
			return types.Type{}, op.Faultf(i, define.CodeShape, "`outer` takes vectors; this is %s", t).
				WithHelp("x[:, j] is a column and x[i, :] a row; reshape(x, ncell(x), 1) is a column of all elements")
		}
		scalars.In = append(scalars.In, types.ScalarOf(t.Elem))
	}
	e, err := f.Type(scalars)
	return types.DenseOf(e.Elem, n[0], n[1]), err
}

func kron() *op.Def {
	return &op.Def{
		Name: "kron",
		Doc:  "kron is the Kronecker product: the matrix a with every element replaced by that element times b.",
		Args: []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "b", Doc: "p x q"}},
		Eg:   define.Eg("kron(eye(2), ones(1, 2))", "1 1 0 0\n0 0 1 1\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			a, err := define.NumberMatrix(s, 0)
			if err != nil {
				return a, err
			}
			b, err := define.NumberMatrix(s, 1)
			if err != nil {
				return b, err
			}
			e, ok := define.Numeric([]types.Elem{a.Elem, b.Elem}, nil)
			if !ok {
				return a, op.Faultf(1, define.CodeElem, "`kron` of %s and %s", a.Elem, b.Elem).WithHelp("convert one side: f64(x) or f32(x)")
			}
			return types.DenseOf(e, dimTimes(a.Rows, b.Rows), dimTimes(a.Cols, b.Cols)), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			a, b := c.Dense(0), c.Dense(1)
			times := define.On2(func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y })
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				x, y := a.At(i/b.Rows, j/b.Cols), b.At(i%b.Rows, j%b.Cols)
				return times([]value.Scalar{x.Convert(c.Type.Elem), y.Convert(c.Type.Elem)})
			}), nil
		},
		Laws: op.Pure, Rate: "outer",
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 1) },
		Kernel: window.RectKernel(kronRect), Loop: window.RectLoop(kronRect),
	}
}

func kronRect(c *op.Call, w window.Rect) {
	out := c.Result()
	a, b := dense.Widened(c.Dense(0), out.Elem), dense.Widened(c.Dense(1), out.Elem)
	dense.ForNumber(out.Elem, kronInto[float64], kronInto[float32], kronInto[int64])(out, a, b, w)
}

// dimTimes is the product of two dimensions, Unknown when one is.
func dimTimes(n, m int) int {
	if n == types.Unknown || m == types.Unknown {
		return types.Unknown
	}
	return types.Times(n, m)
}

func kronInto[T dense.Cell](result, left, right *value.Dense, w window.Rect) {
	out, a, b := dense.GridOf[T](result), dense.GridOf[T](left), dense.GridOf[T](right)
	if w.Cols == 0 || b.Cols == 0 {
		return
	}
	for i := w.Row; i < w.Row+w.Rows; i++ {
		x, y, to := a.Row(i/b.Rows), b.Row(i%b.Rows), out.Row(i)[w.Col:w.Col+w.Cols]
		j, l := w.Col/b.Cols, w.Col%b.Cols
		for len(to) > 0 {
			u := x[j]
			n := min(len(to), b.Cols-l)
			for k, v := range y[l : l+n] {
				to[k] = u * v
			}
			to, j, l = to[n:], j+1, 0
		}
	}
}
