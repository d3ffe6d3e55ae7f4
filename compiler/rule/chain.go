package rule

import (
	"flow/ir/sparsity"
	"flow/ir/types"
)

// This file chooses the order of a product of several matrices and counts operations for canonical
// rules. Both are part of what a program means: they read shapes and element types, never machine
// properties or measurements.

// Split is a product of a chain, of Left and Right.
type Split struct {
	Factor      int // the factor's index, if Left and Right are nil
	Left, Right *Split
}

// Chain returns the order of a @ b @ c @ .. with the fewest multiplications, for factors of known,
// matching shapes (dynamic programming; Cormen, Leiserson, Rivest and Stein, 15.2). Ties go to the
// order nearest to left to right, the language's default.
//
// Estimates (ir/sparsity) give the cost of products of sparse factors; a product with a dense
// factor is dense.
func Chain(factors []sparsity.Estimate) *Split {
	n := len(factors)
	type cell struct {
		cost float64
		of   sparsity.Estimate
		cut  int
	}
	table := make([]cell, n*n)
	at := func(i, j int) *cell { return &table[i*n+j] }
	for i, e := range factors {
		at(i, i).of = e
	}
	for length := 2; length <= n; length++ {
		for i := 0; i+length <= n; i++ {
			j := i + length - 1
			best := at(i, j)
			for cut := j - 1; cut >= i; cut-- { // the last cut is left to right
				l, r := at(i, cut), at(cut+1, j)
				if cost := l.cost + r.cost + sparsity.Work(&l.of, &r.of); cut == j-1 || cost < best.cost {
					best.cost, best.cut = cost, cut
				}
			}
			best.of = sparsity.Product(at(i, best.cut).of, at(best.cut+1, j).of)
		}
	}
	var split func(i, j int) *Split
	split = func(i, j int) *Split {
		if i == j {
			return &Split{Factor: i}
		}
		cut := at(i, j).cut
		return &Split{Left: split(i, cut), Right: split(cut+1, j)}
	}
	return split(0, n-1)
}

// operations counts the operations of the rows that canonical rules name.
func operations(name string, in []types.Type, out types.Type, ta bool) float64 {
	count := func(t types.Type) float64 {
		if t.IsMatrix() {
			return float64(t.Rows) * float64(t.Cols)
		}
		return 1
	}
	switch name {
	case "matmul":
		k := in[0].Cols
		if ta {
			k = in[0].Rows
		}
		return 2 * count(out) * float64(k)
	case "sum", "rowsum", "colsum":
		return 4 * count(in[0])
	case "mul":
		return count(out)
	case "trace":
		return 4 * float64(in[0].Rows)
	case "t":
		return 0
	}
	panic("BUG: canonical rules do not count " + name)
}

// cheaper reports whether the replacement of a match has fewer operations.
func (m *match) cheaper() bool {
	p := m.plan()
	if p == nil {
		return false
	}
	g := m.s.g
	in := g.Types(nil, m.s.in...)
	before := operations(m.s.def.Name, in, m.s.typ, m.s.attrs.Bool("ta"))
	for _, id := range m.inner {
		in = g.Types(in[:0], g.In(id)...)
		before += operations(g.Nodes[id].Op.Name, in, g.Type(id), g.Nodes[id].Attrs.Bool("ta"))
	}
	after := 0.0
	for _, n := range p.nodes {
		in = in[:0]
		for _, r := range n.in {
			in = append(in, p.typeOf(r))
		}
		after += operations(n.def.Name, in, n.typ, n.attrs.Bool("ta"))
	}
	return after < before
}
