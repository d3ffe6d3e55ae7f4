package kernels

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// This file defines the row of a parfor whose second range depends on its first index: the list of
// its pairs, over which the loop then goes.

func pairs() *op.Def {
	return define.ByKernel(&op.Def{
		Name: "pairs", Hidden: true, Role: op.Pairs,
		Doc: "pairs is a row (i, j) for each i of the rows (i, lo, hi) of a matrix and each j = lo, lo + by, .. before hi, in this order. The compiler " +
			"writes it for `parfor i in 0..n, j in 0..i { .. }`.",
		Args: []op.Arg{{Name: "a", Doc: "n x 3, i64"}, {Name: "by", Attr: true, Kind: op.IntVal, Doc: "step of j, not 0"},
			{Name: "through", Attr: true, Kind: op.BoolVal, Doc: "hi is included"}, {Name: "rows", Attr: true, Kind: op.IntVal, Doc: "the number of pairs, -1 where only the run knows"}},
		Eg:   []op.Example{{Program: "emit t(parfor i in 0..4, j in 0..i { 10 * i + j })", Output: "10 20 21 30 31 32\n"}},
		Type: pairsType, Laws: op.Pure, Rate: "copy", Cost: define.CopyWork,
		Kernel: pairsKernel,
	})
}

func pairsType(s *op.Sig) (types.Type, error) {
	if t := s.In[0]; !t.IsDense() || t.Elem != types.I64 || !define.Agree(t.Cols, 3) {
		return t, op.Faultf(0, define.CodeKind, "pairs takes rows of an index and two bounds; this is %s", t)
	}
	n := s.Attrs.Int("rows")
	if n < 0 {
		n = types.Unknown
	}
	return types.DenseOf(types.I64, n, 2), nil
}

// pairCount is the number of j of row i.
func pairCount(c *op.Call, a *value.Dense, i int) int {
	r := a.I64[i*a.Stride:]
	return steps(r[1], r[2], int64(c.Attrs.Int("by")), c.Attrs.Bool("through"))
}

func pairsKernel(c *op.Call) error {
	a, by := c.Dense(0), int64(c.Attrs.Int("by"))
	total := 0
	for i := range a.Rows {
		if total += min(pairCount(c, a, i), types.MaxSide); total > types.MaxSide {
			total = types.MaxSide
		}
	}
	t := types.DenseOf(types.I64, total, 2)
	if err := define.Fits(t); err != nil {
		return err
	}
	if c.Out == nil {
		c.Out = value.New(types.I64, total, 2)
	}
	out, k := c.Result(), 0
	for i := range a.Rows {
		r := a.I64[i*a.Stride:]
		for j := range pairCount(c, a, i) {
			at := out.I64[k*out.Stride:]
			at[0], at[1] = r[0], r[1]+int64(j)*by
			k++
		}
	}
	return nil
}

// indicesOfPair is the pair at a position of a parfor over pairs: its indices, for failures.
func indicesOfPair(c *op.Call, lead int, k int64) []int64 {
	a := c.Dense(lead)
	return []int64{a.At(int(k), 0).I, a.At(int(k), 1).I}
}
