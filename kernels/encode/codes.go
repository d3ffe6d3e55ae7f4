package encode

// This file defines the rows of a matrix of codes that is read in other ways than by sums and counts:
// the check of its codes, the matrix of codes that are checked, and the table whose rows a product with
// it takes.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// onehotCode is the row of the codes in a matrix of codes. Loops that read codes take it in.
func onehotCode() *op.Def {
	kernel := func(c *op.Call) error {
		codes, out := codeColumn{c.Dense(0), c.Attrs.Int("k")}, c.Result()
		return codes.blocks(0, codes.Rows, func(from int, block []int64) int {
			for i, p := range block {
				if uint64(p) >= uint64(codes.k) {
					return i
				}
				out.I64[(from+i)*out.Stride] = p
			}
			return len(block)
		})
	}
	return &op.Def{
		Name: "onehot.code", Hidden: true,
		Doc:  "onehot.code is a as i64, and fails where onehot(a, k) does. The compiler makes it where codes are read instead of their matrix.",
		Args: []op.Arg{{Name: "a", Doc: "n x 1 of codes"}, manyCodes},
		Type: func(s *op.Sig) (types.Type, error) {
			h, err := onehotType(s)
			return types.DenseOf(types.I64, h.Rows, 1), err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			out, codes := value.New(types.I64, c.Type.Rows, 1), codeColumn{c.Dense(0), c.Attrs.Int("k")}
			for i := range out.I64 {
				p, err := codes.at(i)
				if err != nil {
					return nil, err
				}
				out.I64[i] = int64(p)
			}
			return out, nil
		},
		Laws: op.Pure, Rate: "copy", Cost: define.CopyWork, Along: func(*op.Attrs) []int { return []int{0} },
		Kernel: kernel, Loop: window.Loop(kernel, window.Rows),
		Elements: func(e *op.Elements) op.Element {
			return func(i, _ loop.Lin) loop.Val { return keyOfRow(e, 0, e.Attrs.Int("k"), i) }
		},
	}
}

// onehotOf is the row of the matrix of codes that are checked. It never fails, so rules may move what
// is made of it.
func onehotOf() *op.Def {
	kernel := func(c *op.Call) error {
		codes, out := c.Dense(0), dense.GridOf[float64](c.Result())
		for i := range out.Rows {
			row := out.Row(i)
			clear(row)
			if p := codes.I64[i*codes.Stride]; uint64(p) < uint64(len(row)) {
				row[p] = 1
			}
		}
		return nil
	}
	return &op.Def{
		Name: "onehot.of", Hidden: true, Role: op.Codes,
		Doc: "onehot.of is onehot of codes of which onehot.code says that they are 0..k-1; a row of another number is zeros. The compiler makes " +
			"it where a matrix of codes is read in a way that needs the codes alone.",
		Args: []op.Arg{{Name: "codes", Doc: "n x 1 of i64"}, manyCodes},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := onehotType(s)
			if err == nil && s.In[0].Elem != types.I64 {
				err = op.Faultf(0, define.CodeElem, "onehot.of of %s", s.In[0])
			}
			return t, err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				if c.Dense(0).At(i, 0).I == int64(j) {
					return value.F64(1)
				}
				return value.F64(0)
			}), nil
		},
		Laws: op.Pure | op.Total, Rate: "copy", Cost: define.CopyWork, Along: func(*op.Attrs) []int { return []int{0} },
		Kernel: kernel, Loop: window.Loop(kernel, window.Rows),
	}
}

// The values of attribute start of onehot.each. A chain of the plain product starts from +0.
const (
	addedTo   = "add"
	takenFrom = "sub"
)

// onehotEach is the row of the table whose rows a product with a matrix of codes takes. A chain of such
// a product has one term that counts: fma(1, w[p,j], s). The others are fma(0, w[q,j], s). They are s,
// but for two cases: 0 times a number that is not finite is NaN, and a zero may change the sign of s =
// -0. The last row of the table is for a number that is no code: its chain has none but the others.
func onehotEach() *op.Def {
	none := op.Str("")
	kernel := func(c *op.Call) error {
		w, out := dense.GridOf[float64](c.Dense(0)), dense.GridOf[float64](c.Result())
		start := c.Attrs.Str("start")
		for j := range out.Cols {
			eachOfColumn(w, out, j, start)
		}
		return nil
	}
	return &op.Def{
		Name: "onehot.each", Hidden: true,
		Doc: "onehot.each is what each code takes of w: onehot.of(a) @ w is onehot.take(onehot.each(w), a). With start = \"add\" c + that is c + onehot.of(a) @ w as " +
			"one chain from any c, with \"sub\" c - that is c - onehot.of(a) @ w. The compiler makes it of products with a matrix of codes.",
		Args: []op.Arg{{Name: "w", Doc: "k x m"}, {Name: "start", Attr: true, Kind: op.StrVal, Default: &none, Doc: "what the chain does: \"\", \"add\" or \"sub\""}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsDense() || t.Elem != types.F64 {
				return t, op.Faultf(0, define.CodeElem, "onehot.each of %s", t)
			}
			if t.Rows != types.Unknown {
				t.Rows++
			}
			return t, nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			w, start := c.Dense(0), c.Attrs.Str("start")
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				sign, s := 1.0, 0.0
				if start != "" {
					s = math.Copysign(0, -1)
				}
				if start == takenFrom {
					sign = -1
				}
				for q := range w.Rows {
					h := 0.0
					if q == i {
						h = 1
					}
					s = math.FMA(sign*h, w.At(q, j).F, s)
				}
				return value.F64(sign * s)
			}), nil
		},
		Laws: op.Pure | op.Total, Cost: define.CopyWork, Kernel: kernel,
	}
}

// eachOfColumn makes column j of onehot.each.
func eachOfColumn(w, out dense.Grid[float64], j int, start string) {
	others, at, minus, plus := 0, 0, true, true
	for i := range w.Rows {
		x := w.Row(i)[j]
		if x-x != 0 { // infinite or NaN
			others, at = others+1, i
		}
		minus, plus = minus && math.Signbit(x), plus && !math.Signbit(x)
	}
	zero := 0.0 // the term that a zero of the column is: it must leave -0 as the chain leaves it
	if start == addedTo && minus || start == takenFrom && !plus {
		zero = math.Copysign(0, -1)
	}
	for i := range out.Rows {
		x := 0.0
		if i < w.Rows {
			x = w.Row(i)[j]
		}
		switch {
		case others > 1 || others == 1 && i != at:
			x = math.NaN()
		case x == 0:
			x = zero
		}
		out.Row(i)[j] = x
	}
}

// onehotTake is the row that takes rows of such a table.
func onehotTake() *op.Def {
	kernel := func(c *op.Call) error {
		x, codes, out := dense.GridOf[float64](c.Dense(0)), c.Dense(1), dense.GridOf[float64](c.Result())
		for i := range out.Rows {
			p := min(uint64(codes.I64[i*codes.Stride]), uint64(x.Rows-1))
			if out.Cols == 1 {
				out.X[i*out.LD] = x.X[int(p)*x.LD]
			} else {
				copy(out.Row(i), x.Row(int(p)))
			}
		}
		return nil
	}
	return &op.Def{
		Name: "onehot.take", Hidden: true,
		Doc: "onehot.take is the rows of x whose numbers stand in the column codes; a number outside x takes the last row. The compiler makes it of " +
			"products with a matrix of codes.",
		Args: []op.Arg{{Name: "x", Doc: "k + 1 rows"}, {Name: "codes", Doc: "n x 1 of i64"}},
		Type: func(s *op.Sig) (types.Type, error) {
			x, at := s.In[0], s.In[1]
			if !x.IsDense() || x.Elem != types.F64 || x.Rows < 1 || !at.IsDense() || at.Elem != types.I64 || at.Cols != 1 {
				return x, op.Faultf(0, define.CodeShape, "onehot.take of %s by %s", x, at)
			}
			return types.DenseOf(types.F64, at.Rows, x.Cols), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x := c.Dense(0)
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				p := c.Dense(1).At(i, 0).I
				if p < 0 || p >= int64(x.Rows) {
					p = int64(x.Rows) - 1
				}
				return x.At(int(p), j)
			}), nil
		},
		Laws: op.Pure | op.Total, Rate: "copy", Cost: define.CopyWork, Along: func(*op.Attrs) []int { return []int{1} },
		Kernel: kernel, Loop: window.Loop(kernel, window.Whole, window.Rows),
		Elements: func(e *op.Elements) op.Element {
			x, codes := e.In[0], e.In[1]
			first, last := e.Number(loop.Num(0)), e.Number(x.Rows.Plus(loop.Num(-1)))
			e.Size(codes.Rows, x.Cols)
			return func(i, j loop.Lin) loop.Val {
				p := codes.At(i, loop.Num(0))
				inside := e.B.Op(loop.And, e.B.Op(loop.Le, first, p), e.B.Op(loop.Lt, p, last))
				return x.At(loop.Of(loop.ValSym, int(e.B.Op(loop.Select, inside, p, last))), j)
			}
		},
	}
}

func recode() *op.Def {
	return &op.Def{
		Name: "recode",
		Doc: "recode is x with every element that equals from[k] replaced by to[k], the first such k; others stay. nan equals nan here, and " +
			"-0 equals 0. recode(x, unique(x), codes) numbers the values of x.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "from", Doc: "k elements"}, {Name: "to", Doc: "k elements"}},
		Eg:   define.Eg("recode(seq(0, 3), seq(1, 3), seq(10, 12))", "0\n10\n11\n"),
		Type: recodeType,
		Ref: func(c *op.Call) (value.Value, error) {
			x, from, to := c.Dense(0), define.Elements(c.In[1]), define.Elements(c.In[2])
			if len(from) != len(to) {
				return nil, recodeLengths(len(from), len(to))
			}
			e, _ := types.Widen(x.Elem, c.Dense(1).Elem)
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				v := x.At(i, j)
				for k := range from {
					if define.Contains([]value.Scalar{from[k].Convert(e)}, v.Convert(e)) {
						return to[k]
					}
				}
				return v
			}), nil
		},
		Laws:  op.Pure,
		Along: func(*op.Attrs) []int { return []int{0} },
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 30) },
		Loop:  recodeLoop(),
	}
}

func recodeLengths(n, m int) error {
	return op.Failf("E606", "recode: %d elements to replace, %d to replace them by", n, m)
}
