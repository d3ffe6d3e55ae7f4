package pass

import (
	"flow/ir"
	"flow/ir/types"
)

// This file is the part of Partition that cuts products.

// contract cuts a product into one chain of block products a block of the result.
func (p *partitioner) contract(id ir.ID, n *ir.Node, t types.Type, c cutting) {
	in := p.old.In(id)
	a, b := in[len(in)-2], in[len(in)-1]
	ta, tb := n.Attrs.Bool("ta"), n.Attrs.Bool("tb")
	kc := p.kCuts(a, b, ta, tb)
	if c.single() && len(kc) == 2 {
		p.uncut(id)
		return
	}
	arc, acc := c.rc, kc
	if ta {
		arc, acc = kc, c.rc
	}
	brc, bcc := kc, c.cc
	if tb {
		brc, bcc = c.cc, kc
	}
	x, y := p.recut(a, arc, acc), p.recut(b, brc, bcc)
	var z *parts
	if len(in) == 3 {
		z = p.recut(in[0], c.rc, c.cc)
	}
	gemm := p.table.Must(n.Op.Shard.Accum)
	p.blocks(id, c, func(i, j int, bl Block) ir.ID {
		bt := types.DenseOf(t.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j])
		sum := ir.None
		if z != nil {
			sum = z.at(i, j)
		}
		for k := range len(kc) - 1 {
			ui, uj, vi, vj := i, k, k, j
			if ta {
				ui, uj = k, i
			}
			if tb {
				vi, vj = j, k
			}
			if sum == ir.None {
				sum = p.add(n.Op, n.Attrs, bt, bl, x.at(ui, uj), y.at(vi, vj))
			} else {
				sum = p.add(gemm, n.Attrs, bt, bl, sum, x.at(ui, uj), y.at(vi, vj))
			}
		}
		return sum
	})
}

// kCuts returns where the summed dimension is cut: where the larger operand already is.
func (p *partitioner) kCuts(a, b ir.ID, ta, tb bool) []int {
	x, y := p.get(a), p.get(b)
	kx, ky := x.cc, y.rc
	if ta {
		kx = x.rc
	}
	if tb {
		ky = y.cc
	}
	if len(kx) >= len(ky) {
		return kx
	}
	return ky
}
