package encode

// This file defines bin in its four forms, and functions that several rows of codes use.

import (
	"fmt"
	"math"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/sparse"
	"flow/kernels/window"
)

// code is the place that s names, in 0..n-1, or any from 0 on when n is Unknown.
func code(word string, s value.Scalar, n int) (int, error) {
	x := s.Float()
	if !(x >= 0) || x != math.Trunc(x) || x >= 1<<53 {
		return 0, op.Failf("E606", "%s: %v is no code; codes are 0, 1, 2, ...", word, s).
			WithHelp("bin(x, edges) makes codes of any numbers but nan")
	}
	if n != types.Unknown && x >= float64(n) {
		return 0, op.Failf("E606", "%s: code %v, and there are only %d", word, s, n).
			WithHelp(fmt.Sprintf("codes count from 0 and are less than %d", n))
	}
	return int(x), nil
}

// columnOfNumbers is the type of argument i, which must be a column.
func columnOfNumbers(s *op.Sig, i int) (types.Type, error) {
	t, err := define.NumberMatrix(s, i)
	if err == nil && !define.Agree(t.Cols, 1) {
		err = op.Faultf(i, define.CodeShape, "`%s` takes a column; this is %s", s.Def.Source(), t)
	}
	return t, err
}

// sizeAttr reads an attribute that counts something: Unknown when absent.
func sizeAttr(s *op.Sig, name string, arg int) (int, error) {
	v, ok := s.Attrs.Get(name)
	switch {
	case !ok:
		return types.Unknown, nil
	case v.Kind != op.IntVal || v.I < 0 || v.I > math.MaxInt32:
		return 0, op.Faultf(arg, define.CodeAttr, "%s of `%s` is a number of codes, not %v", name, s.Def.Source(), v)
	}
	return int(v.I), nil
}

// sizeOf is sizeAttr where the type rule has passed.
func sizeOf(a *op.Attrs, name string) int {
	if _, ok := a.Get(name); !ok {
		return types.Unknown
	}
	return a.Int(name)
}

func tableType(s *op.Sig) (types.Type, error) {
	a, err := columnOfNumbers(s, 0)
	if err != nil {
		return a, err
	}
	b, err := columnOfNumbers(s, 1)
	if err != nil {
		return b, err
	}
	if !define.Agree(a.Rows, b.Rows) {
		return a, op.Faultf(1, define.CodeShape, "`ctable` of columns of %d and %d codes", a.Rows, b.Rows).
			WithHelp("each row has a code in both: the columns are equally long")
	}
	n, err := sizeAttr(s, "n", 2)
	if err != nil {
		return a, err
	}
	m, err := sizeAttr(s, "m", 3)
	if err == nil && s.Attrs.Bool("sparse") && (n == types.Unknown || m == types.Unknown) {
		err = op.Faultf(4, define.CodeAttr, "a sparse `ctable` needs n and m, its numbers of rows and columns")
	}
	return inForm(s, types.DenseOf(types.I64, n, m), err)
}

func recodeType(s *op.Sig) (types.Type, error) {
	var t [3]types.Type
	for i := range t {
		var err error
		if t[i], err = define.NumberMatrix(s, i); err != nil {
			return t[i], err
		}
	}
	if t[1].Known() && t[2].Known() && t[1].Count() != t[2].Count() {
		return t[0], op.Faultf(2, define.CodeShape, "`recode`: %d elements to replace, %d to replace them by", t[1].Count(), t[2].Count())
	}
	for i := 1; i < 3; i++ {
		if _, ok := types.Widen(t[0].Elem, t[i].Elem); !ok {
			return t[0], op.Faultf(i, define.CodeElem, "`recode` of %s and %s", t[0].Elem, t[i].Elem).WithHelp("convert one side: f64(x) or f32(x)")
		}
	}
	e, _ := types.Widen(t[0].Elem, t[2].Elem)
	return t[0].With(e), nil
}

// binned is the type of the intervals in which the elements of the first argument lie.
func binned(s *op.Sig) (types.Type, error) {
	t := s.In[0]
	if !t.IsDense() && t.Kind != types.Scalar || !t.Elem.IsNumeric() {
		return t, op.Faultf(0, define.CodeKind, "`bin` takes numbers; this is %s", t)
	}
	return t.With(types.I64), nil
}

// closedAttr says which end of an interval belongs to it.
var closedAttr = func() op.Arg {
	left := op.Str("left")
	return op.Arg{Name: "closed", Attr: true, Kind: op.StrVal, Default: &left, Doc: "which end belongs to an interval, \"left\" or \"right\""}
}()

// closedRight reports the attribute closed, of which anything but left and right is refused.
func closedRight(a *op.Attrs) bool { return a.Str("closed") == "right" }

func checkClosed(s *op.Sig, arg int) error {
	if v, ok := s.Attrs.Get("closed"); ok && (v.Kind != op.StrVal || v.S != "left" && v.S != "right") {
		return op.Faultf(arg, define.CodeAttr, "closed of `bin` is \"left\" or \"right\", not %v", v)
	}
	return nil
}

func binCost(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 10) }

// binByList is bin with a list of edges.
func binByList() *op.Def {
	kernel, loop := among(func(c *op.Call) (*intervals, error) {
		edges, err := edgesOf(c.In[1])
		return &intervals{edges: edges, right: closedRight(c.Attrs)}, err
	})
	return &op.Def{
		Name: "bin",
		Doc: "bin is the interval in which each element lies, as i64: the number of edges that are not above it, from 0 (below all edges) " +
			"to k; -1 for nan. With closed = \"right\" it is the number of edges that are below it, so that an interval has its upper end and not its " +
			"lower one. The edges ascend. Numbers are compared as f64, so integers beyond 2^53 may count as equal. bin of four arguments has " +
			"intervals of equal width.",
		Args: []op.Arg{{Name: "x", Doc: "n x m, or a scalar"}, {Name: "edges", Doc: "k elements, ascending"}, closedAttr},
		Eg:   define.Eg("bin(seq(0, 5), 1.5 * seq(1, 3))", "0\n0\n1\n2\n2\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			if _, err := define.NumberMatrix(s, 1); err != nil {
				return types.Type{}, err
			}
			if err := checkClosed(s, 2); err != nil {
				return types.Type{}, err
			}
			return binned(s)
		},
		Ref:  func(c *op.Call) (value.Value, error) { return binRef(c, c.In[1]) },
		Laws: op.Pure, Cost: binCost,
		Kernel: kernel, Loop: loop,
		Prepare: &op.Prepare{Input: 1, By: "bin.edges", Then: "bin.within"}, Elements: listElements,
		Along: func(*op.Attrs) []int { return []int{0} },
	}
}

// binRef is the definition of bin with these edges.
func binRef(c *op.Call, list value.Value) (value.Value, error) {
	edges, err := edgesOf(list)
	return eachElement(c, func(x float64) int64 {
		n := int64(0)
		for _, e := range edges {
			if e < x || e == x && !closedRight(c.Attrs) {
				n++
			}
		}
		return n
	}), err
}

// binEvenly is bin with a number of equal intervals.
func binEvenly() *op.Def {
	kernel := func(c *op.Call) error {
		f, err := evenly(c)
		if err != nil {
			return err
		}
		runBin(c, f, binKey{right: closedRight(c.Attrs), even: true}, func() []value.Value {
			lo, hi := c.Scalar(1).Float(), c.Scalar(2).Float()
			return []value.Value{value.F64(lo), value.F64(hi - lo), value.F64(float64(c.Attrs.Int("k")))}
		})
		return nil
	}
	return &op.Def{
		Name: "bin.even", Word: "bin",
		Doc: "bin of four arguments is the interval in which each element lies, as i64, of k of equal width from lo to hi: " +
			"floor((x - lo) / (hi - lo) * k), not below 0, not above k - 1; -1 for nan. With closed = \"right\" it is ceil of that, less 1, within the same bounds.",
		Args: []op.Arg{{Name: "x", Doc: "n x m, or a scalar"}, {Name: "lo", Doc: "where the first interval begins"},
			{Name: "hi", Doc: "where the last one ends, above lo"}, {Name: "k", Attr: true, Kind: op.IntVal, Doc: "number of intervals"}, closedAttr},
		Eg: define.Eg("bin(seq(0, 5), 0, 4, 2)", "0\n0\n1\n1\n1\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			for i := 1; i < 3; i++ {
				if t := s.In[i]; t.Kind != types.Scalar || !t.Elem.IsNumeric() {
					return t, op.Faultf(i, define.CodeKind, "`bin` takes scalars for the ends; this is %s", t)
				}
			}
			if v, ok := s.Attrs.Get("k"); !ok || v.Kind != op.IntVal || v.I < 1 || v.I > 1<<53 {
				return types.Type{}, op.Faultf(3, define.CodeAttr, "k of `bin` is a number of intervals, at least 1, not %v", v)
			}
			if err := checkClosed(s, 4); err != nil {
				return types.Type{}, err
			}
			return binned(s)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			f, err := evenly(c)
			if err != nil {
				return nil, err
			}
			return eachElement(c, f), nil
		},
		Laws: op.Pure, Shard: op.Shard{Kind: op.ShardAligned}, Cost: binCost,
		Kernel: kernel, Loop: window.Loop(kernel, window.Same),
	}
}

// evenly is the definition of bin with intervals of one width.
func evenly(c *op.Call) (func(x float64) int64, error) {
	lo, hi, k := c.Scalar(1).Float(), c.Scalar(2).Float(), float64(c.Attrs.Int("k"))
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		return nil, op.Failf("E606", "bin: from %v to %v there is no interval", value.F64(lo), value.F64(hi))
	}
	if closedRight(c.Attrs) {
		return func(x float64) int64 { return int64(max(0, min(math.Ceil((x-lo)/(hi-lo)*k)-1, k-1))) }, nil
	}
	return func(x float64) int64 { return int64(max(0, min((x-lo)/(hi-lo)*k, k-1))) }, nil
}

// edgesOf returns the edges of a bin. It fails if they do not ascend.
func edgesOf(v value.Value) ([]float64, error) {
	var out []float64
	if d, is := v.(*value.Dense); is && d.Elem == types.F64 {
		g := dense.GridOf[float64](d)
		out = make([]float64, 0, g.Rows*g.Cols)
		for i := range g.Rows {
			out = append(out, g.Row(i)...)
		}
	} else {
		for _, x := range define.Elements(v) {
			out = append(out, x.Float())
		}
	}
	for i, x := range out {
		if math.IsNaN(x) || i > 0 && x < out[i-1] {
			return nil, op.Failf("E606", "bin: the edges do not ascend at %d: %v", i, define.Elements(v)[i]).WithHelp("sort(edges) puts the least edge first; nan is no edge")
		}
	}
	return out, nil
}

// eachElement applies f to all elements that are numbers; others become -1.
func eachElement(c *op.Call, f func(x float64) int64) value.Value {
	g := func(x float64) int64 {
		if x != x {
			return -1
		}
		return f(x)
	}
	if s, ok := c.In[0].(value.Scalar); ok {
		return value.I64(g(s.Float()))
	}
	x := dense.GridOf[float64](dense.Widened(c.Dense(0), types.F64))
	out := value.New(types.I64, x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			out.I64[i*x.Cols+j] = g(v)
		}
	}
	return out
}

// among returns the kernel and the Loop of a bin among edges, which of reads. An execution reads them
// once.
func among(of func(c *op.Call) (*intervals, error)) (kernel func(c *op.Call) error, loop *op.Loop) {
	within := func(c *op.Call, l *intervals) error {
		if d, is := c.In[0].(*value.Dense); is && l.ascending(d, c.Result()) {
			return nil
		}
		f := func(x float64) int64 { return int64(counted(l.edges, x, l.right)) }
		runBin(c, f, binKey{right: l.right}, func() []value.Value { return []value.Value{l.made()} })
		return nil
	}
	loop = window.Loop(nil, window.Same, window.Whole)
	loop.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
		l, err := of(c)
		if err != nil {
			return nil, err
		}
		return window.Loop(func(c *op.Call) error { return within(c, l) }, window.Same, window.Whole).Begin(c, workers)
	}
	return func(c *op.Call) error {
		l, err := of(c)
		if err != nil {
			return err
		}
		return within(c, l)
	}, loop
}

// What follows is the sparse forms of onehot and ctable.

// sparseAttr asks for a sparse result of a row that makes a dense one otherwise.
var sparseAttr = op.Arg{Name: "sparse", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "whether the result is sparse"}

// inForm is the type t in the form that the call asks for.
func inForm(s *op.Sig, t types.Type, err error) (types.Type, error) {
	if err != nil || !s.Attrs.Bool("sparse") {
		return t, err
	}
	if tell, is := define.Scarce(8 * float64(t.Rows)); is {
		return t, op.Faultf(-1, define.CodeMemory, "`%s`: the pointers of %d rows take %s", s.Def.Source(), t.Rows, tell)
	}
	return sparse.Of(-1, t)
}

func storedOnehot(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	e := sparsity.Uniform(out.Rows, out.Cols, float64(out.Rows), sparsity.Counted)
	e.MostRow = 1
	return e
}

// storedTable is that all pairs differ.
func storedTable(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	return sparsity.Uniform(out.Rows, out.Cols, float64(s.In[0].Rows), sparsity.Estimated)
}
