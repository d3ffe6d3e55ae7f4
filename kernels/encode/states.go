package encode

// This file defines the states of sums and counts by code, which ranks merge.

import (
	"math"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/vec"
)

// onehotStates is the rows of this file.
func onehotStates() []*op.Def {
	return []*op.Def{
		define.ByKernel(&op.Def{
			Name: "onehot.stack", Hidden: true,
			Doc:  "onehot.stack is the panels of onehot.sums, one below the other.",
			Args: sumsArgs, Cost: sumsCost,
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := sumsType(s)
				if err != nil {
					return t, err
				}
				return linalg.StackOf(s, t)
			},
			Laws: op.Pure, Keyed: &op.Keyed{Panel: panelOfSums, Stacked: true, Write: sumsOfRow},
			Loop: &op.Loop{
				Rows:     op.RowsOfResult,
				Space:    func(c *op.Call) (n, leaf int) { return beginCut(c).Panels, 1 },
				Begin:    func(c *op.Call, _ int) (op.LoopBody, error) { return beginStack(c), nil },
				RowsEach: func(c *op.Call) (rows, iterations int) { return beginCut(c).Panel, 1 },
			},
		}),
		define.ByKernel(&op.Def{
			Name: "counts.join", Hidden: true,
			Doc:  "counts.join adds counts, which are whole numbers, in any order.",
			Args: []op.Arg{{Name: "x", Rest: true}},
			Type: func(s *op.Sig) (types.Type, error) {
				for i, t := range s.In {
					if !t.IsDense() || !t.Equal(s.In[0]) {
						return t, op.Faultf(i, define.CodeKind, "counts.join of %v", t)
					}
				}
				return s.In[0], nil
			},
			Laws: op.Pure | op.Total,
			Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
			Kernel: func(c *op.Call) error {
				dense.ForNumber(c.Type.Elem, joinCounts[float64], nil, joinCounts[int64])(c, c.Result())
				return nil
			},
		}),
	}
}

func joinCounts[T int64 | float64](c *op.Call, out *value.Dense) {
	out.CopyFrom(c.Dense(0))
	sum := dense.GridOf[T](out)
	for k := range c.In[1:] {
		x := dense.GridOf[T](c.Dense(1 + k))
		for i := range sum.Rows {
			vec.Add(sum.Row(i), sum.Row(i), x.Row(i))
		}
	}
}

// beginStack begins the loop of the panels of sums.
func beginStack(c *op.Call) op.LoopBody {
	sums := *c
	sums.Type.Rows = c.Attrs.Int("k")
	b := beginSums(&sums)
	return linalg.StackBody(b.PanelGrid, b, func(made []atomic.Bool) {
		out := dense.GridOf[float64](c.Result())
		for p, sum := range b.sums {
			for i := range sum.Rows {
				if made[p].Load() {
					copy(out.Row(p*sum.Rows+i), sum.Row(i))
				}
			}
		}
	})
}

// What follows writes reductions by code into loops.

// keyOfRow is the code in a row of operand k, which must be one of 0..n-1.
func keyOfRow(e *op.Elements, k, n int, row loop.Lin) loop.Val {
	b := e.B
	x := e.In[k].At(row, loop.Num(0))
	if b.Type(x).IsFloat() {
		x = define.ConvertBody(b, types.F64, x)
		limit := b.Const(types.F64, math.Float64bits(float64(n)))
		inside := b.Op(loop.And, b.Op(loop.Le, define.Numeral(b, types.F64, 0), x), b.Op(loop.Lt, x, limit))
		b.Check(0, b.Op(loop.And, inside, b.Op(loop.Eq, x, b.Op(loop.Floor, x))), x)
		return b.Op(loop.ToI64, x)
	}
	x = define.ConvertBody(b, types.I64, x)
	// Less than n as a number without sign.
	const sign = 1 << 63
	b.Check(0, b.Op(loop.Lt, b.Op(loop.Xor, x, b.Const(types.I64, sign)), b.Const(types.I64, sign^loop.Word(n))), x)
	return x
}

// noOrder is op.Keyed.Panel of reductions whose result does not depend on the order of rows.
func noOrder(*op.Attrs) int { return op.NoOrder }

// oneMore returns a row that adds one to element key of the result.
func oneMore(e *op.Elements, key loop.Val) op.KeyedRow {
	return op.KeyedRow{Class: loop.Count, Key: key, Terms: [][]loop.Val{{e.B.Const(types.Bool, 1)}}}
}

// panelOfSums is how many rows of onehot.sums make a chain.
func panelOfSums(a *op.Attrs) int {
	if n := a.Int("panel"); n > 0 {
		return n
	}
	return op.OneChain
}

// sumsOfRow is a row of onehot.sums: fma(1, x, s) adds a finite x. Of others the result tells, and
// it is computed in another way: see sumsBody.
func sumsOfRow(e *op.Elements) op.KeyedRow {
	b := e.B
	w := op.KeyedRow{Class: loop.Chain, Key: keyOfRow(e, 0, e.Attrs.Int("k"), loop.Num(0))}
	one := define.Numeral(b, types.F64, 1)
	for j := range e.In[1].Type.Cols {
		w.Terms = append(w.Terms, []loop.Val{one, e.In[1].At(loop.Num(0), loop.Num(int64(j)))})
	}
	return w
}

// What follows adds rows to a table in their order, for chains (op.Shard.Chain).

// addRows adds rows lo..hi-1 of a call of onehot.sums to the table in Call.Out, k x columns. begun is
// as in sumsBody.panel. It fails for a code beyond the table.
func addRows(c *op.Call, begun *value.Dense, lo, hi int) error {
	b := sumsBody{codes: codeColumn{c.Dense(0), c.Attrs.Int("k")}, x: dense.GridOf[float64](c.Dense(1)), stored: c.Attrs.Int("panel") == 0}
	return b.panel(dense.GridOf[float64](c.Result()), begun, lo, hi)
}

// addPairsInOrder adds rows lo..hi-1 of a call of ctable, with or without weights, to the table in
// Call.Out. It fails for an invalid code.
func addPairsInOrder(c *op.Call, _ *value.Dense, lo, hi int) error {
	c = define.RowsOf(c, lo, hi)
	return dense.ForNumber(c.Type.Elem, addAllWeights[float64], addAllWeights[float32], addAllWeights[int64])(c)
}
