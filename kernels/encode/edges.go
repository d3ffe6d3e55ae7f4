package encode

// This file runs bin with a list of edges in loops of other operators. What depends on the edges
// alone is computed before: how the interval of an element is guessed, and how far the guess may be
// off.

import (
	"math"
	"math/bits"
	"sort"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// The first elements of what bin.edges makes; the edges follow. The guess for v is 1 +
// floor((v - first) unit), between 0 and limit. The interval is at most 2 step - 1 above it.
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
				n += tableEdges
			}
			return types.DenseOf(types.F64, n, 1), err
		},
		Ref:  func(c *op.Call) (value.Value, error) { return tableOf(c) },
		Laws: op.Pure, Cost: define.CopyWork,
	})
}

// tableOf makes the table of the edges in argument 0.
func tableOf(c *op.Call) (*value.Dense, error) {
	edges, err := edgesOf(c.In[0])
	if err != nil {
		return nil, err
	}
	t := value.New(types.F64, tableEdges+len(edges), 1)
	copy(t.F64, guessOf(edges, closedRight(c.Attrs)))
	copy(t.F64[tableEdges:], edges)
	return t, nil
}

// counted is how many edges count for v.
func counted(edges []float64, v float64, right bool) int {
	return sort.Search(len(edges), func(i int) bool { return edges[i] > v || right && edges[i] == v })
}

// guessOf is what a table begins with: the first of some guesses that is right, or one too low, for
// all numbers. The guess and the interval ascend with the number, so that the ends of the intervals
// show it. Where none is, the interval is found by halving.
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
		off := 0
		for _, e := range edges {
			for _, v := range []float64{math.Nextafter(e, math.Inf(-1)), e, math.Nextafter(e, math.Inf(1))} {
				switch d := counted(edges, v, right) - guess(g, v); {
				case d < 0 || d > 1:
					off = 2
				default:
					off = max(off, d)
				}
			}
		}
		if g[tableStep] = float64(off); off < 2 {
			return g
		}
	}
	return halving
}

// guess is the guess for v, which is no nan.
func guess(g []float64, v float64) int {
	f := math.Floor(float64(v-g[tableFirst]) * g[tableUnit])
	return int(max(0, min(f+1, g[tableLimit])))
}

// binWithin is the row of bin with a table.
func binWithin() *op.Def {
	edges := func(c *op.Call) value.Value {
		t := c.Dense(1)
		return t.View(tableEdges, 0, t.Rows-tableEdges, 1)
	}
	s := &binner{}
	return &op.Def{
		Name: "bin.within", Hidden: true,
		Doc:  "bin.within is bin of x with the edges in what bin.edges has made of them.",
		Args: []op.Arg{{Name: "x"}, {Name: "table"}, closedAttr},
		Type: binned,
		Ref:  func(c *op.Call) (value.Value, error) { return binRef(c, edges(c)) },
		Laws: op.Pure | op.Total, Flow: op.Flow{Rate: op.Once}, Cost: binCost,
		Kernel: func(c *op.Call) error { return s.among(c, edges(c)) }, Loop: s.loop(edges),
		Elements: withinElements, Bound: stepsOf, Along: func(*op.Attrs) []int { return []int{0} },
	}
}

// stepsOf is how far the guesses of a table may be off, upon which the loop depends.
func stepsOf(in []value.Value) int64 {
	t, is := in[1].(*value.Dense)
	if !is || t.Rows <= tableEdges {
		return 0
	}
	return int64(t.F64[tableStep*t.Stride])
}

// withinElements corrects the guess by edges that are twice as near each time.
func withinElements(e *op.Elements) op.Element {
	b, x, table := e.B, e.In[0], e.In[1]
	steps, bound := e.Attrs.Get(op.BoundAttr)
	if !bound || !table.Type.Known() || table.Type.Rows <= tableEdges {
		return nil
	}
	n := table.Type.Rows - tableEdges
	right := closedRight(e.Attrs)
	number := func(k int) loop.Val { return define.Numeral(b, types.I64, k) }
	at := func(k int64) loop.Val { return table.At(loop.Num(k), loop.Num(0)) }
	// nearer is the greater of two guesses that counts for v.
	nearer := func(v, guess, step loop.Val) loop.Val {
		next := b.Op(loop.Add, guess, step)
		inside := b.Op(loop.Le, next, number(n))
		place := b.Op(loop.Select, inside, next, number(n))
		edge := table.At(loop.Of(loop.ValSym, int(place)).Plus(loop.Num(tableEdges-1)), loop.Num(0))
		below := b.Op(loop.Le, edge, v)
		if right {
			below = b.Op(loop.Lt, edge, v)
		}
		return b.Op(loop.Select, b.Op(loop.And, inside, below), next, guess)
	}
	return func(i, j loop.Lin) loop.Val {
		v := define.ConvertBody(b, types.F64, x.At(i, j))
		guess := number(0)
		if steps.I < 2 {
			f := b.Op(loop.Floor, b.Op(loop.Mul, b.Op(loop.Sub, v, at(tableFirst)), at(tableUnit)))
			f = b.Op(loop.Add, f, define.Numeral(b, types.F64, 1))
			limit, zero := at(tableLimit), define.Numeral(b, types.F64, 0)
			f = b.Op(loop.Select, b.Op(loop.Lt, f, limit), f, limit)
			f = b.Op(loop.Select, b.Op(loop.Lt, zero, f), f, zero)
			// The bits of 2^52 + f, f being a whole number below 2^52, are those of 2^52 and f.
			const big = 0x1p52
			bits := loop.Word(math.Float64bits(big))
			guess = b.Op(loop.Sub, b.Op(loop.Bits, b.Op(loop.Add, f, b.Const(types.F64, bits))), b.Const(types.I64, bits))
		}
		for step := steps.I; step > 0; step /= 2 {
			guess = nearer(v, guess, b.Const(types.I64, loop.Word(step)))
		}
		return b.Op(loop.Select, b.Op(loop.Ne, v, v), number(-1), guess)
	}
}
