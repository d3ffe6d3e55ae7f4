package order

// This file reduces a sorted column that ranks share to its distinct elements, or to their number (unique and
// nunique). Rank r keeps the rows of its window whose key differs from that of the row above (order.runs).

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// sharedRuns returns the rows that make distinct elements of a sorted column that ranks share. They are named
// in op.Ordering.Runs and End.
func sharedRuns(ranks, step op.Arg) []*op.Def {
	return []*op.Def{
		{
			Name: "order.runs", Hidden: true,
			Doc:  "order.runs is the keys of the rows of each window that differ from the row above, as integers: row r is of window r.",
			Args: []op.Arg{{Name: "x", Doc: "a column in order"}, ranks, step},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.SparseOf(types.I64, s.Attrs.Int("ranks"), s.In[0].Rows), nil
			},
			Laws: op.Pure, Cost: countWork,
			Kernel: func(c *op.Call) error { c.Out = runsByWindow(c); return nil },
		},
		{
			Name: "order.runs.count", Hidden: true,
			Doc:  "order.runs.count is how many rows of each window differ from the row above: row r is of window r.",
			Args: []op.Arg{{Name: "x", Doc: "a column in order"}, ranks, step},
			Type: func(s *op.Sig) (types.Type, error) { return types.DenseOf(types.I64, s.Attrs.Int("ranks"), 1), nil },
			Laws: op.Pure, Cost: countWork,
			Kernel: func(c *op.Call) error {
				out := c.Result()
				for r := range out.Rows {
					out.Set(r, 0, value.I64(0))
				}
				eachRun(c, func(r int, _ uint64) { out.I64[r*out.Stride]++ })
				return nil
			},
		},
		{
			Name: "order.distinct", Hidden: true,
			Doc:  "order.distinct is the elements with the keys of order.runs, as a column.",
			Args: []op.Arg{{Name: "runs"}, {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "type of the elements"}},
			Type: func(s *op.Sig) (types.Type, error) {
				e, _ := types.ElemNamed(s.Attrs.Str("elem"))
				return types.DenseOf(e, types.Unknown, 1), nil
			},
			Laws: op.Pure, Cost: define.SparseCost(1),
			Kernel: func(c *op.Call) error { c.Out = distinctOf(c); return nil },
		},
	}
}

// eachRun calls f for each row of the windows of a call whose key differs from the key of the row above it. r
// is the rank of the window.
func eachRun(c *op.Call, f func(r int, key uint64)) {
	var keys [512]uint64
	eachWindow(c, func(r int, s sortedRows) {
		last := ^uint64(0)
		for i := s.lo; i < s.hi; i += len(keys) {
			k := keys[:min(len(keys), s.hi-i)]
			if i > 0 && i == s.lo {
				s.keys(k[:1], i-1)
				last = k[0]
			}
			s.keys(k, i)
			for j, key := range k {
				if key != last || i+j == 0 {
					f(r, key)
				}
				last = key
			}
		}
	})
}

// runsByWindow returns the result of order.runs.
func runsByWindow(c *op.Call) *value.CSR {
	out := value.NewCSR(types.I64, c.Type.Rows, c.Type.Cols, 0)
	eachRun(c, func(r int, key uint64) {
		out.Ptr[r+1]++
		out.Col = append(out.Col, int32(out.Ptr[r+1]-1))
		out.I64 = append(out.I64, int64(key))
	})
	out.SumLengths()
	return out
}

// distinctOf returns the result of order.distinct.
func distinctOf(c *op.Call) *value.Dense {
	keys := c.In[0].(*value.CSR).I64
	out := value.New(c.Type.Elem, len(keys), 1)
	for i, k := range keys {
		out.Set(i, 0, Keyed(out.Elem, uint64(k)))
	}
	return out
}

// countWork is the cost of reading a column once.
func countWork(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 2) }
