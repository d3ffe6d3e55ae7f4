package sparse

// This file defines the rows that ranks need to share the rows of sparse matrices. A matrix of which
// a rank has only its own rows (ir/plan, Window) has its full shape, and no entries in the others:
// so it is a sparse matrix like any other, and what goes over its entries goes over those of the
// rank.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

func sparseRanks() []*op.Def {
	same := func(s *op.Sig) (types.Type, error) { return s.In[0], nil }
	ref := func(c *op.Call) (value.Value, error) { return c.In[0], nil }
	return []*op.Def{
		{
			Name: "sp.own", Hidden: true,
			Doc: "sp.own is the rows of a sparse matrix that this rank has to do with (ir/plan, Window), the others without entries. Placement " +
				"writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Doc: "sparse matrix"}},
			Eg:   define.Eg("nnz(sparse(eye(3)))", "3"),
			Type: same, Ref: ref, Laws: op.Pure | op.Total, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: define.SparseCost(0),
			Kernel: func(c *op.Call) error {
				m := c.In[0].(*value.CSR)
				if c.Hi > c.Lo {
					m = m.View(c.Lo, c.Hi-c.Lo).Padded(c.Lo, m.Rows)
				}
				c.Out = m
				return nil
			},
		},
		{
			Name: "sp.collect", Hidden: true,
			Doc: "sp.collect is a sparse matrix of which each rank has some entries, brought together: on every rank those of its own rows, or of all " +
				"rows. Placement writes it; within one rank it is the identity.",
			Args: []op.Arg{{Name: "a", Rest: true, Doc: "the entries that each rank has of those rows"},
				{Name: "stack", Attr: true, Kind: op.IntVal, Optional: true, Doc: "the number of ranks"},
				{Name: "key", Attr: true, Kind: op.IntVal, Optional: true, Doc: "its number among the gathers of a plan"}},
			Eg:   define.Eg("nnz(t(sparse(eye(3))))", "3"),
			Type: same, Ref: ref, Laws: op.Pure | op.Total, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: define.SparseCost(1),
			Kernel: joinRanks,
		},
	}
}

// joinRanks brings together what ranks have. Columns ascend in a row, because those that a rank has
// come before those of the next one: they were its rows before they were turned.
func joinRanks(c *op.Call) error {
	rows, n := 0, 0
	parts := make([]*value.CSR, len(c.In))
	var only *value.CSR // the one part that has entries, if there is only one
	some := 0
	for k, v := range c.In {
		m := v.(*value.CSR)
		parts[k] = m
		rows, n = rows+m.Rows, n+m.NNZ()
		if m.NNZ() > 0 {
			only, some = m, some+1
		}
	}
	lo, own := c.Lo, c.Hi > c.Lo
	switch {
	case len(parts) == 1 && !own:
		c.Out = parts[0]
		return nil
	case own:
		rows = c.Hi - lo
	}
	if own && some == 1 {
		c.Out = only.Padded(lo, c.Type.Rows)
		return nil
	}
	out := value.NewCSR(c.Type.Elem, c.Type.Rows, c.Type.Cols, n)
	ptr := out.Ptr[lo:]
	if own {
		for _, m := range parts {
			for i := range rows {
				ptr[i+1] += m.Ptr[i+1] - m.Ptr[i]
			}
		}
	} else {
		at := 0
		for _, m := range parts {
			for i := range m.Rows {
				ptr[at+i+1] = m.Ptr[i+1] - m.Ptr[i]
			}
			at += m.Rows
		}
	}
	for i := range rows {
		ptr[i+1] += ptr[i]
	}
	for i := rows + 1; i < len(ptr); i++ {
		ptr[i] = int64(n)
	}
	if own {
		joinRows(out, parts, lo, rows)
	} else {
		to := int64(0)
		for _, m := range parts {
			copyEntries(out, to, m, m.Ptr[0], m.Ptr[m.Rows], 0)
			to += int64(m.NNZ())
		}
	}
	c.Out = out
	return nil
}

// joinRows lays out rows lo..lo+rows-1 of out, those of each part one after the other.
func joinRows(out *value.CSR, parts []*value.CSR, lo, rows int) {
	for i := range rows {
		to := out.Ptr[lo+i]
		for _, m := range parts {
			from, end := m.Ptr[i], m.Ptr[i+1]
			if from == end {
				continue
			}
			copyEntries(out, to, m, from, end, 0)
			to += end - from
		}
	}
}
