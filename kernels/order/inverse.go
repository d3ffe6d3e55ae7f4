package order

// This file defines the order that undoes another one. A sort of the numbers of an order gives it,
// too. But each number says where it belongs, so none needs to be compared.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// inverse is the row that a rule puts in the place of an argsort of an argsort.
func inverse() *op.Def {
	undo := func(c *op.Call, lo, hi int) {
		p, out := c.Dense(0), c.Result()
		first, end := define.OwnRows(c, out.Rows)
		if first == 0 && end == out.Rows {
			for i := lo; i < hi; i++ {
				out.I64[int(p.I64[i*p.Stride])*out.Stride] = int64(i)
			}
			return
		}
		// A branch on whether the rank has a row would often be mispredicted. So the numbers of its rows are
		// first compacted into own, without branches. For a rank with all rows that would take as long as
		// the stores.
		var own [256][2]int
		for lo < hi {
			n := 0
			for to := min(hi, lo+len(own)); lo < to; lo++ {
				at := int(p.I64[lo*p.Stride])
				own[n] = [2]int{at, lo}
				n += int(uint64((first-1-at)&(at-end)) >> 63) // 1 if first <= at < end: both differences are negative
			}
			for _, k := range own[:n] {
				out.I64[k[0]*out.Stride] = int64(k[1])
			}
		}
	}
	return &op.Def{
		Name: "order.inverse", Hidden: true,
		Doc:  "order.inverse is the order that undoes p: row p[i] of it is i. p has each number from 0 to n - 1 once.",
		Args: []op.Arg{{Name: "p", Doc: "n x 1 of i64"}},
		Eg:   define.Eg("t(argsort(argsort([30, 10, 20])))", "2 0 1\n"),
		Type: func(s *op.Sig) (types.Type, error) { return s.In[0], nil },
		Ref: func(c *op.Call) (value.Value, error) {
			p := c.Dense(0)
			out := value.New(types.I64, p.Rows, 1)
			for i := range p.Rows {
				out.Set(int(p.At(i, 0).I), 0, value.I64(int64(i)))
			}
			return out, nil
		},
		Laws:  op.Pure | op.Total,
		Shard: op.Shard{Rows: "order.inverse"}, // each rank reads all numbers, and stores those of its rows
		// A store to a computed place takes longer than a copy where the result is in no cache.
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 4) },
		Kernel: func(c *op.Call) error { undo(c, 0, c.Dense(0).Rows); return nil },
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) { return c.In[0].Type().Rows, 1 << 14 },
			Light: true, Own: true,
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				return inverseBody(func(lo, hi int) { undo(c, lo, hi) }), nil
			},
		},
		Elements: func(e *op.Elements) op.Element {
			n := e.In[0].Type.Rows
			if !e.In[0].Type.Known() || n == 0 || n > define.Unrolled {
				return nil
			}
			return e.Laid(func(store func(i, j loop.Lin, v loop.Val)) {
				for i := range n {
					p := e.In[0].At(loop.Num(int64(i)), loop.Num(0))
					store(loop.Of(loop.ValSym, int(p)), loop.Num(0), define.Numeral(e.B, types.I64, i))
				}
			})
		},
	}
}

// inverseBody is one execution of order.inverse. Each iteration stores at a place of its own.
type inverseBody func(lo, hi int)

func (l inverseBody) Chunk(_, lo, hi int) error { l(lo, hi); return nil }

func (inverseBody) End() error { return nil }
