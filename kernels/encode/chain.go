package encode

// This file defines rows that add terms to a table in the order of the rows, one window of rows after the
// other (op.Shard.Chain).

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// chained returns the row that op.Shard.Chain of row of names. add adds the rows of a call of row of to the
// table in Call.Out. ref is the definition of add.
func chained(of *op.Def, ref, add func(c *op.Call) error) *op.Def {
	tables := func(s *op.Sig) (sig *op.Sig, n int) {
		in := s.In
		if s.Attrs.Int("turn") > 1 {
			in = in[:len(in)-1]
		}
		return &op.Sig{Def: of, In: in, Attrs: s.Attrs}, max(1, s.Attrs.Int("windows"))
	}
	args := []op.Arg{{Name: "x", Rest: true, Doc: "the operands, and the tables made in the turn before"},
		{Name: "turn", Attr: true, Kind: op.IntVal, Doc: "the window, counted from 1"},
		{Name: "windows", Attr: true, Kind: op.IntVal, Doc: "how many there are"},
		{Name: "by", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows of a unit of them"}}
	for _, a := range of.Args {
		if a.Attr {
			args = append(args, a)
		}
	}
	return &op.Def{
		Name: of.Name + ".chain", Hidden: true, Args: args,
		Doc: of.Name + ".chain is the tables of " + of.Name + " of the rows up to the end of each window, one below the other; only that of one window is made.",
		Type: func(s *op.Sig) (types.Type, error) {
			sig, n := tables(s)
			t, err := of.Type(sig)
			if err == nil && (!t.IsDense() || !t.Known()) {
				err = op.Faultf(0, define.CodeKind, "`%s` of %s", s.Def.Name, t)
			}
			t.Rows *= n
			return t, err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			r := *c
			r.Out = value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			return r.Out, inTurn(&r, ref)
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: of.Rate,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			sig, n := tables(s)
			out.Rows /= n
			w := of.Cost(sig, out)
			return op.Work{Flops: w.Flops / float64(n), Bytes: w.Bytes / float64(n)}
		},
		Kernel: func(c *op.Call) error { return inTurn(c, add) },
	}
}

// inTurn makes the table of the window of a call, from the table of the window before. It does nothing if the
// call asks for the rows of another rank.
func inTurn(c *op.Call, add func(c *op.Call) error) error {
	n, r := c.Attrs.Int("windows"), c.Attrs.Int("turn")-1
	rows, cols := c.Type.Rows/n, c.Type.Cols
	if c.Lo < c.Hi && c.Lo != r*rows {
		return nil
	}
	whole, out := *c, c.Result().View(r*rows, 0, rows, cols)
	if r == 0 {
		dense.Clear(out)
	} else {
		last := len(c.In) - 1
		out.CopyFrom(c.Dense(last).View((r-1)*rows, 0, rows, cols))
		whole.In = c.In[:last]
	}
	whole.Out, whole.Type = out, out.Type()
	lo, hi := op.WindowOf(r, n, c.Dense(0).Rows, c.Attrs.Val("by"))
	return add(rowsOf(&whole, lo, hi))
}

// addRows adds the rows of a call of onehot.sums to the table in Call.Out. It fails for a code beyond the
// table.
func addRows(c *op.Call) error {
	b := sumsBody{codes: codeColumn{c.Dense(0), c.Attrs.Int("k")}, x: dense.GridOf[float64](c.Dense(1))}
	return b.add(dense.GridOf[float64](c.Result()), 0, b.x.Rows)
}

// addRowsRef is the definition of addRows.
func addRowsRef(c *op.Call) error {
	a, x, out := c.Dense(0), c.Dense(1), c.Result()
	for i := range a.Rows {
		p, err := code("onehot", a.At(i, 0), out.Rows)
		if err != nil {
			return err
		}
		for j := range x.Cols {
			out.Set(p, j, value.F64(math.FMA(1, x.At(i, j).F, out.At(p, j).F)))
		}
	}
	return nil
}

// addPairsRef is the definition of addPairsInOrder.
func addPairsRef(c *op.Call) error {
	for i := range c.Dense(0).Rows {
		if err := wrongCode(c, i, i+1); err != nil {
			return err
		}
		p, in, _ := codeWithin(c.Dense(0).At(i, 0), sizeOf(c.Attrs, "n"), c.Attrs.Bool("crop"))
		q, also, _ := codeWithin(c.Dense(1).At(i, 0), sizeOf(c.Attrs, "m"), c.Attrs.Bool("crop"))
		if in && also {
			c.Result().Set(p, q, plus(c.Result().At(p, q), weightOf(c, i)))
		}
	}
	return nil
}

// addPairsInOrder adds the rows of a call of ctable, with or without weights, to the table in Call.Out.
func addPairsInOrder(c *op.Call) error {
	switch c.Type.Elem {
	case types.F64:
		return addWeights[float64](c)
	case types.F32:
		return addWeights[float32](c)
	}
	return addWeights[int64](c)
}
