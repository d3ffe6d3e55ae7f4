package construct

// This file defines the constructors: rows without values, whose result follows from attributes.
// Each element follows from its place alone, so that any block can be computed by itself: with the
// attribute at = [r0, c0, rows, cols] a row makes just that window of the whole, bit for bit. The
// compiler alone sets it; it is no parameter.

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

func Rows() []*op.Def {
	n := op.Arg{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows"}
	one := op.Int(1)
	m := op.Arg{Name: "m", Attr: true, Kind: op.IntVal, Default: &one, Doc: "columns"}
	constant := func(name, doc, example, output string, x float64) *op.Def {
		return generator{
			name: name, doc: doc, eg: define.Eg(example, output), args: []op.Arg{open(n, "open_"+name), m}, flops: 0,
			shape: nByM,
			elem:  func(*op.Attrs) types.Elem { return types.F64 },
			at:    func(_ *op.Attrs, i, j int) value.Scalar { return value.F64(x) },
			alike: func(*op.Attrs) op.Val { return op.Float(x) },
		}.def()
	}
	rows := []*op.Def{
		constant("zeros", "zeros is an n x m matrix of 0.", "sum(zeros(3, 2))", "0", 0),
		constant("ones", "ones is an n x m matrix of 1.", "sum(ones(3, 2))", "6", 1),
		generator{
			name: "fill", doc: "fill is an n x m matrix of the constant x: of i64, f64 or bool as x is written; f32(fill(..)) has f32.", eg: define.Eg("sum(fill(3, 2, 2))", "12"),
			args:  []op.Arg{{Name: "x", Attr: true, Doc: "an i64, f64 or bool", Told: "a number that the run tells: `%s * ones(n, m)`"}, open(n, "open_fill"), m},
			shape: nByM,
			elem: func(a *op.Attrs) types.Elem {
				v, _ := a.Get("x")
				switch v.Kind {
				case op.IntVal:
					return types.I64
				case op.BoolVal:
					return types.Bool
				case op.FloatVal:
					return types.F64
				}
				return types.NoElem
			},
			at: func(a *op.Attrs, i, j int) value.Scalar { return attrScalar(a, "x") },
			alike: func(a *op.Attrs) op.Val {
				v, _ := a.Get("x")
				return v
			},
		}.def(),
		generator{
			name: "eye", doc: "eye is the n x n identity matrix.", eg: define.Eg("eye(2)", "1 0\n0 1\n"), args: []op.Arg{n},
			shape: nByN,
			elem:  func(*op.Attrs) types.Elem { return types.F64 },
			at: func(_ *op.Attrs, i, j int) value.Scalar {
				if i == j {
					return value.F64(1)
				}
				return value.F64(0)
			},
			draw: identityDraw,
		}.def(),
		seq().def(),
	}
	return slices.Concat(rows, random(), shapes(), []*op.Def{eps()})
}

// open returns argument a with the function of the library that takes the call if only the run
// tells it.
func open(a op.Arg, function string) op.Arg {
	a.Open = function
	return a
}

// seq is a, a+step, ... below b as a column.
func seq() generator {
	one := op.Int(1)
	return generator{
		name: "seq",
		doc:  "seq is the column a, a + step, a + 2 step, ... up to but not including b; i64 if all three are integers, else f64.",
		eg:   define.Eg("sum(seq(1, 5))", "10"),
		args: []op.Arg{open(op.Arg{Name: "a", Attr: true, Doc: "first"}, "open_seq"), open(op.Arg{Name: "b", Attr: true, Doc: "end, not included"}, "open_seq"),
			{Name: "step", Attr: true, Default: &one, Doc: "distance, not 0"}},
		shape: seqShape,
		ramp:  seqRamp,
		elem: func(a *op.Attrs) types.Elem {
			if seqFloats(a) {
				return types.F64
			}
			return types.I64
		},
		at: func(a *op.Attrs, i, _ int) value.Scalar {
			if seqFloats(a) {
				return value.F64(a.Float("a") + float64(float64(i)*seqDistance(a))) // one rounding each, no fused form
			}
			return value.I64(int64(a.Int("a")) + int64(i)*seqStep(a).I)
		},
		draw: rampDraw,
	}
}

// seqRamp is Def.Ramp of seq: first and step of a whole seq of integers.
func seqRamp(a *op.Attrs) (first, down int64, ok bool) {
	if _, window := a.Get("at"); window || seqFloats(a) {
		return 0, 0, false
	}
	return int64(a.Int("a")), seqStep(a).I, true
}

// seqStep is the attribute step as it is written.
func seqStep(a *op.Attrs) op.Val {
	if v, ok := a.Get("step"); ok {
		return v
	}
	return op.Int(1)
}

// seqDistance is the step as a float.
func seqDistance(a *op.Attrs) float64 {
	s := seqStep(a)
	if s.Kind == op.IntVal {
		return float64(s.I)
	}
	return s.F
}

// seqFloats reports that one of the three numbers is no integer.
func seqFloats(a *op.Attrs) bool {
	for _, name := range []string{"a", "b", "step"} {
		if v, _ := a.Get(name); v.Kind == op.FloatVal {
			return true
		}
	}
	return false
}

const tooLongSeq = "there is no such number of elements"

func seqShape(a *op.Attrs) (rows, cols int, bad string) {
	s := seqStep(a)
	if s.I == 0 && s.F == 0 {
		return 0, 0, "step is 0"
	}
	if !seqFloats(a) {
		lo, hi, d := a.Int("a"), a.Int("b"), uint64(s.I)
		if s.I < 0 {
			lo, hi, d = hi, lo, -d
		}
		if lo >= hi {
			return 0, 1, ""
		}
		n := (uint64(hi)-uint64(lo)-1)/d + 1 // a difference of integers may need all 64 bits
		if n >= 1<<53 {
			return 0, 0, tooLongSeq
		}
		return int(n), 1, ""
	}
	n := math.Ceil((a.Float("b") - a.Float("a")) / seqDistance(a))
	if !(n < 1<<53) {
		return 0, 0, tooLongSeq
	}
	return max(0, int(n)), 1, ""
}

func attrScalar(a *op.Attrs, name string) value.Scalar {
	switch v, _ := a.Get(name); v.Kind {
	case op.IntVal:
		return value.I64(v.I)
	case op.BoolVal:
		return value.Bool(v.I != 0)
	default:
		return value.F64(v.F)
	}
}

func nByM(a *op.Attrs) (rows, cols int, bad string) {
	m := 1
	if _, ok := a.Get("m"); ok {
		m = a.Int("m")
	}
	return a.Int("n"), m, ""
}

func nByN(a *op.Attrs) (rows, cols int, bad string) { return a.Int("n"), a.Int("n"), "" }

// generator is the part of a constructor that differs from row to row.
type generator struct {
	name, doc string
	eg        []op.Example
	args      []op.Arg
	// shape is that of the whole; bad says what is wrong with the attributes.
	shape func(a *op.Attrs) (rows, cols int, bad string)
	elem  func(a *op.Attrs) types.Elem
	// at is the definition of element (i, j).
	at func(a *op.Attrs, i, j int) value.Scalar
	// fill makes the window out of the whole, from row r0 and column c0 on. nil: a loop does.
	fill  func(a *op.Attrs, out *value.Dense, r0, c0 int)
	draw  *op.Draw                                       // Def.Draw
	alike func(a *op.Attrs) op.Val                       // Def.Alike
	ramp  func(a *op.Attrs) (first, down int64, ok bool) // Def.Ramp
	flops float64
}

func (g generator) def() *op.Def {
	switch {
	case g.alike != nil:
		g.draw = alikeDraw(g.alike)
		g.fill = func(a *op.Attrs, out *value.Dense, _, _ int) {
			x := g.at(a, 0, 0)
			dense.EachRun(out, func(s dense.Slab, n int) { dense.Fill(&s, out.Elem, x, 0, n) })
		}
	case g.fill == nil:
		g.fill = g.filler()
	}
	d := &op.Def{
		Name: g.name, Doc: g.doc, Eg: g.eg, Args: g.args,
		Laws:  op.Pure | op.Total,
		Shard: op.Shard{Kind: op.ShardGenerate},
		Cost: func(_ *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: g.flops * float64(out.Count()), Bytes: float64(out.Bytes())}
		},
	}
	d.Type = func(s *op.Sig) (types.Type, error) { return g.typ(s) }
	d.Ref = func(c *op.Call) (value.Value, error) {
		r0, c0 := window.Origin(c.Attrs)
		return define.Placed(c.Type, func(i, j int) value.Scalar { return g.at(c.Attrs, r0+i, c0+j) }), nil
	}
	d.Kernel = func(c *op.Call) error {
		r0, c0 := window.Origin(c.Attrs)
		if out := c.Result(); out.Rows > 0 && out.Cols > 0 {
			g.fill(c.Attrs, out, r0, c0)
		}
		return nil
	}
	d.Draw, d.Alike, d.Ramp = g.draw, g.alike, g.ramp
	d.Loop = window.Loop(d.Kernel)
	return d
}

func (g generator) typ(s *op.Sig) (types.Type, error) {
	for k, arg := range g.args {
		v, ok := s.Attrs.Get(arg.Name)
		switch {
		case !ok && arg.Default == nil:
			return types.Type{}, op.Faultf(k, define.CodeElem, "`%s` needs %s", g.name, arg.Name)
		case ok && arg.Kind == op.IntVal && v.Kind != op.IntVal:
			return types.Type{}, op.Faultf(k, define.CodeAttr, "%s of `%s` is an i64, not %v", arg.Name, g.name, v.Kind)
		case ok && (arg.Name == "n" || arg.Name == "m" || arg.Name == "d") && v.I < 0:
			return types.Type{}, op.Faultf(k, define.CodeAttr, "%s of `%s` is negative: %d", arg.Name, g.name, v.I)
		case ok && (v.Kind == op.StrVal || v.Kind == op.IntsVal || v.Kind == op.NoVal):
			return types.Type{}, op.Faultf(k, define.CodeAttr, "%s of `%s` is a number, not %v", arg.Name, g.name, v.Kind).WithHelp("flowrun doc %s says what its arguments are", g.name)
		}
	}
	rows, cols, bad := g.shape(s.Attrs)
	if bad != "" {
		return types.Type{}, op.Faultf(-1, define.CodeAttr, "`%s`: %s", g.name, bad).WithHelp("flowrun doc %s says what its arguments are", g.name)
	}
	if cols > 0 && rows > math.MaxInt/8/cols {
		tell, _ := define.Scarce(float64(rows) * float64(cols) * float64(g.elem(s.Attrs).Size()))
		return types.Type{}, op.Faultf(-1, define.CodeMemory, "`%s`: %d x %d elements take %s", g.name, rows, cols, tell)
	}
	if v, ok := s.Attrs.Get("at"); ok {
		at := v.L
		if len(at) != 4 || at[0] < 0 || at[1] < 0 || at[2] < 0 || at[3] < 0 || at[0] > int64(rows)-at[2] || at[1] > int64(cols)-at[3] {
			return types.Type{}, op.Faultf(-1, define.CodeRange, "block %v is not inside %d x %d", v, rows, cols)
		}
		rows, cols = int(at[2]), int(at[3])
	}
	return types.DenseOf(g.elem(s.Attrs), rows, cols), nil
}
