package encode

// This file writes bin with a list of edges into loops. What depends on the edges alone is computed
// before: how the interval of an element is guessed, and how far the guess may be off.

import (
	"math"
	"math/bits"
	"sort"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/vec"
)

// The first elements of the table of bin.edges. The edges follow. NaNs fill their part up to the next
// power of two above the number of edges. The guess for v is 1 + floor((v - first) unit), between 0 and
// limit. The interval of v is at most 2 step - 1 above it.
const (
	tableFirst = iota
	tableUnit
	tableLimit
	tableStep
	tableEdges
)

// binTable is the row that prepares the edges of bin.
func binTable() *op.Def {
	return define.ByDefinition(&op.Def{
		Name: "bin.edges", Hidden: true,
		Doc:  "bin.edges is the edges of a bin behind numbers that tell how to guess the interval of an element. The compiler makes it of bin beside reductions by key.",
		Args: []op.Arg{{Name: "edges"}, closedAttr},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.NumberMatrix(s, 0)
			n := t.Count()
			if !t.Known() {
				n = types.Unknown
			} else {
				n = tableSize(n)
			}
			return types.DenseOf(types.F64, n, 1), err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			edges, err := edgesOf(c.In[0])
			if err != nil {
				return nil, err
			}
			return tableOf(edges, closedRight(c.Attrs)), nil
		},
		Laws: op.Pure, Cost: define.CopyWork,
	})
}

// tableSize is the number of elements of the table of n edges.
func tableSize(n int) int { return tableEdges + 1<<bits.Len(uint(n)) }

// tableOf makes the table of edges.
func tableOf(edges []float64, right bool) *value.Dense {
	t := value.New(types.F64, tableSize(len(edges)), 1)
	vec.Fill(t.F64, math.NaN())
	copy(t.F64, guessOf(edges, right))
	copy(t.F64[tableEdges:], edges)
	return t
}

// edgesIn returns the edges in a table.
func edgesIn(t *value.Dense) (edges []float64) {
	for i := tableEdges; i < t.Rows && t.F64[i*t.Stride] == t.F64[i*t.Stride]; i++ {
		edges = append(edges, t.F64[i*t.Stride])
	}
	return edges
}

// intervals holds the edges of an execution of bin. It is safe for concurrent use.
type intervals struct {
	edges   []float64
	right   bool
	guessed bool // by a table that the run had before
	once    sync.Once
	table   *value.Dense // nil: no loop has asked for it yet
}

// made returns the table. The first call makes it.
func (l *intervals) made() *value.Dense {
	l.once.Do(func() {
		if l.table == nil {
			l.table = tableOf(l.edges, l.right)
		}
	})
	return l.table
}

// counts reports that an edge counts for v: it is not above v or, if right, below it.
func counts(edge, v float64, right bool) bool { return edge < v || !right && edge == v }

// counted is how many edges count for v.
func counted(edges []float64, v float64, right bool) int {
	return sort.Search(len(edges), func(i int) bool { return !counts(edges[i], v, right) })
}

// manyEdges is from how many edges on halving takes longer than to go on from the interval before.
const manyEdges = 64

// ascending bins x, a column of numbers that ascend, such as the times of events: the interval of each
// is sought from that of the one before. It reports false, and has perhaps written some of out, if x is
// something else, if there are few edges, or if a table guesses the intervals.
func (l *intervals) ascending(x, out *value.Dense) bool {
	if len(l.edges) < manyEdges || x.Elem != types.F64 || x.Cols != 1 || l.guessed {
		return false
	}
	at, last := 0, math.Inf(-1)
	for i := range x.Rows {
		v := x.F64[i*x.Stride]
		if !(last <= v) { // or a nan
			return false
		}
		last = v
		few := at + 4
		for at < len(l.edges) && at < few && counts(l.edges[at], v, l.right) {
			at++
		}
		if at == few {
			step := 1
			for at+step <= len(l.edges) && counts(l.edges[at+step-1], v, l.right) {
				at, step = at+step, 2*step
			}
			at += counted(l.edges[at:min(at+step-1, len(l.edges))], v, l.right)
		}
		out.I64[i*out.Stride] = int64(at)
	}
	return true
}

// guessOf returns the first elements of the table of edges. It tries some guesses and takes the first
// that is right or one too low for all numbers. Guess and interval both ascend with the number, so it
// is enough to test the ends of the intervals. If no guess passes, the interval is found by halving.
func guessOf(edges []float64, right bool) []float64 {
	n := len(edges)
	halving := []float64{0, 0, 0, math.Ldexp(1, bits.Len(uint(n))-1)}
	if n < 4 {
		return halving
	}
	width := edges[n-1] - edges[0]
	unit := float64(n-1) / width
	if !(unit > 0) || math.IsInf(unit, 0) || math.IsInf(edges[0], 0) {
		return halving
	}
	for _, less := range []float64{0, 0x1p-40} { // low enough that no rounding makes it too high
		g := []float64{edges[0] + less*width/float64(n), unit * (1 - less), float64(n), 0}
		if off := offBy(g, edges, right); off < 2 {
			g[tableStep] = float64(off)
			return g
		}
	}
	return halving
}

// offBy returns by how much the guesses of g are too low for the numbers at and next to edges: 0 or 1.
// It returns 2 if one is too high, or lower by more.
func offBy(g, edges []float64, right bool) (off int) {
	at := 0 // how many edges count for v
	for i, e := range edges {
		if i > 0 && e == edges[i-1] {
			continue
		}
		for _, v := range []float64{math.Nextafter(e, math.Inf(-1)), e, math.Nextafter(e, math.Inf(1))} {
			for at > 0 && !counts(edges[at-1], v, right) {
				at--
			}
			for at < len(edges) && counts(edges[at], v, right) {
				at++
			}
			d := at - guess(g, v)
			if d < 0 || d > 1 {
				return 2
			}
			off = max(off, d)
		}
	}
	return off
}

// guess returns the guess for v, which is no NaN.
func guess(g []float64, v float64) int {
	f := math.Floor(float64(v-g[tableFirst]) * g[tableUnit])
	return int(max(0, min(f+1, g[tableLimit])))
}

// binWithin is the row of bin with a table.
func binWithin() *op.Def {
	kernel, loop := among(func(c *op.Call) (*intervals, error) {
		t := c.Dense(1)
		return &intervals{edges: edgesIn(t), right: closedRight(c.Attrs), guessed: stepsIn(t) < 2, table: t}, nil
	})
	return &op.Def{
		Name: "bin.within", Hidden: true,
		Doc:  "bin.within is bin of x with the edges in what bin.edges has made of them.",
		Args: []op.Arg{{Name: "x"}, {Name: "table"}, closedAttr},
		Type: binned,
		Ref: func(c *op.Call) (value.Value, error) {
			t := c.Dense(1)
			return binRef(c, t.View(tableEdges, 0, len(edgesIn(t)), 1))
		},
		Laws: op.Pure | op.Total, Cost: binCost,
		Kernel: kernel, Loop: loop,
		Elements: withinElements, Bound: stepsOf, Along: func(*op.Attrs) []int { return []int{0} },
	}
}

// stepsOf returns the first step by which loops correct a guess of a table, or 0 if all guesses are
// right.
func stepsOf(in []value.Value) int64 {
	t, is := in[1].(*value.Dense)
	if !is || t.Rows <= tableEdges {
		return 0
	}
	return stepsIn(t)
}

func stepsIn(t *value.Dense) int64 { return int64(t.F64[tableStep*t.Stride]) }

// withinElements is bin.within in a loop.
func withinElements(e *op.Elements) op.Element {
	x, table := e.In[0], e.In[1]
	steps, bound := e.Attrs.Get(op.BoundAttr)
	if !table.Type.Known() || table.Type.Rows <= tableEdges {
		return nil
	}
	at := func(place loop.Lin) loop.Val { return table.At(place, loop.Num(0)) }
	return func(i, j loop.Lin) loop.Val {
		v := define.ConvertBody(e.B, types.F64, x.At(i, j))
		by := func(steps int64) []loop.Val { return []loop.Val{interval(e.B, v, at, steps, closedRight(e.Attrs))} }
		if bound {
			return by(steps.I)[0]
		}
		// The table says whether one step corrects a guess.
		near := e.B.Op(loop.Lt, at(loop.Num(tableStep)), define.Numeral(e.B, types.F64, 2))
		return e.B.If(near, []types.Elem{types.I64}, func() []loop.Val { return by(1) }, func() []loop.Val { return by(int64(table.Type.Rows-tableEdges) / 2) })[0]
	}
}

// interval writes the interval of v into a loop. at loads an element of the table. The guess is
// corrected by steps that halve each time.
func interval(b *loop.Builder, v loop.Val, at func(place loop.Lin) loop.Val, steps int64, right bool) loop.Val {
	n := define.Numeral(b, types.I64, 0)
	if steps < 2 {
		f := b.Op(loop.Floor, b.Op(loop.Mul, b.Op(loop.Sub, v, at(loop.Num(tableFirst))), at(loop.Num(tableUnit))))
		f = clamped(b, b.Op(loop.Add, f, define.Numeral(b, types.F64, 1)), at(loop.Num(tableLimit)))
		// The bits of 2^52 + f, f being a whole number below 2^52, are those of 2^52 and f.
		const big = 0x1p52
		bits := loop.Word(math.Float64bits(big))
		n = b.Op(loop.Sub, b.Op(loop.Bits, b.Op(loop.Add, f, b.Const(types.F64, bits))), b.Const(types.I64, bits))
	}
	for step := steps; step > 0; step /= 2 {
		next := b.Op(loop.Add, n, b.Const(types.I64, loop.Word(step)))
		edge := at(loop.Of(loop.ValSym, int(next)).Plus(loop.Num(tableEdges - 1)))
		below := b.Op(loop.Le, edge, v)
		if right {
			below = b.Op(loop.Lt, edge, v)
		}
		n = b.Op(loop.Select, below, next, n)
	}
	return b.Op(loop.Select, b.Op(loop.Ne, v, v), define.Numeral(b, types.I64, -1), n)
}

// listElements writes bin with a list of at most define.Unrolled edges. The edges may differ from point
// to point, so it counts those that lie below a number.
func listElements(e *op.Elements) op.Element {
	x, edges := e.In[0], e.In[1]
	n, zero := edges.Type.Count(), loop.Num(0)
	if !edges.Type.IsDense() || !edges.Type.Known() || n == 0 || n > define.Unrolled || edges.Type.Rows > 1 && edges.Type.Cols > 1 {
		return nil
	}
	edge := func(k loop.Lin) loop.Val {
		if edges.Type.Cols > 1 {
			return define.ConvertBody(e.B, types.F64, edges.At(zero, k))
		}
		return define.ConvertBody(e.B, types.F64, edges.At(k, zero))
	}
	ascends := e.Fold(loop.All, types.Bool, loop.Num(int64(max(1, n-1))), loop.Num(1), func(k, _ loop.Lin) []loop.Val {
		return []loop.Val{e.B.Op(loop.Le, edge(k), edge(k.Plus(loop.Num(int64(min(1, n-1))))))}
	})
	e.B.Check(0, ascends)
	return func(i, j loop.Lin) loop.Val {
		v, code := define.ConvertBody(e.B, types.F64, x.At(i, j)), loop.Le
		if closedRight(e.Attrs) {
			code = loop.Lt
		}
		count := e.Fold(loop.Count, types.I64, loop.Num(int64(n)), loop.Num(1), func(k, _ loop.Lin) []loop.Val { return []loop.Val{e.B.Op(code, edge(k), v)} })
		return e.B.Op(loop.Select, e.B.Op(loop.Ne, v, v), define.Numeral(e.B, types.I64, -1), count)
	}
}

// What follows runs bin as loops.

// binOperations is how many operations an element of bin takes: see launch.Steps.
const binOperations = 8

// binKey is what the loop of a bin depends on.
type binKey struct {
	elem  types.Elem
	right bool
	even  bool  // by a number of intervals of equal width
	steps int64 // else: see stepsOf
}

// The loops of bin, and the work that has been seen for them.
var (
	binsSeen launch.Steps
	binsMade define.Made[binKey, *launch.Loop]
)

// runBin bins the first argument of a call: by f, or where there has been enough work for machine code
// by a loop with these operands.
func runBin(c *op.Call, f func(x float64) int64, k binKey, operands func() []value.Value) {
	t := c.In[0].Type()
	if !t.IsScalar() && t.Count() > 0 && binsSeen.Pay(int64(t.Count()), func() int { return binOperations }) {
		in := operands()
		if k.elem = t.Elem; !k.even {
			k.steps = stepsIn(in[0].(*value.Dense))
		}
		l := binsMade.Of(k, func() *launch.Loop { return launch.New(binNest(k)) })
		if _, err := l.Alone(&launch.Run{}, append([]value.Value{c.In[0]}, in...), []*value.Dense{c.Result()}, t.Rows, t.Cols); err == nil {
			launch.Begun.Add(1)
			return
		}
	}
	if t.IsScalar() {
		c.Out = eachElement(c, f)
	} else {
		c.Result().CopyFrom(eachElement(c, f).(*value.Dense))
	}
}

// binNest writes the nest of a bin. Its operands are the elements and what bin.edges makes of edges; of
// equal intervals where they begin, how wide they are together, and how many there are.
func binNest(k binKey) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, dense.Storage(k.elem))}
	rows, cols := loop.Of(loop.RowsSym, x.N), loop.Of(loop.ColsSym, x.N)
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := define.ConvertBody(b, types.F64, b.Load(x, i, j))
	var n loop.Val
	if k.even {
		scalar := func() loop.Val {
			return b.Load(loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.ScalarParam, types.F64)})
		}
		lo, width, many := scalar(), scalar(), scalar()
		one := define.Numeral(b, types.F64, 1)
		p := b.Op(loop.Mul, b.Op(loop.Div, b.Op(loop.Sub, v, lo), width), many)
		if k.right {
			p = b.Op(loop.Sub, b.Op(loop.Ceil, p), one)
		}
		n = b.Op(loop.ToI64, clamped(b, p, b.Op(loop.Sub, many, one)))
		n = b.Op(loop.Select, b.Op(loop.Ne, v, v), define.Numeral(b, types.I64, -1), n)
	} else {
		table := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
		n = interval(b, v, func(at loop.Lin) loop.Val { return b.Load(table, at, loop.Num(0)) }, k.steps, k.right)
	}
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(types.I64, rows, cols)}, i, j, n)
	return b.Done()
}

// clamped is f between 0 and most, and most for a nan.
func clamped(b *loop.Builder, f, most loop.Val) loop.Val {
	zero := define.Numeral(b, types.F64, 0)
	f = b.Op(loop.Select, b.Op(loop.Lt, f, most), f, most)
	return b.Op(loop.Select, b.Op(loop.Lt, zero, f), f, zero)
}
