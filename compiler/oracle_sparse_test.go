package compiler_test

import (
	"fmt"

	"flow/ir/op"
	"flow/ir/types"
)

// This file draws sparse matrices for random programs, and the expressions that passes know of.

// rowFor is the row that takes a call of d with arguments of these types.
func (g *generator) rowFor(d *op.Def, in []types.Type) *op.Def {
	for _, t := range in {
		if s := g.table.Sparse(d); t.IsSparse() && s != nil {
			return s
		}
	}
	return d
}

// sparse binds a sparse matrix, or a reduction of the rows of a product with one.
func (g *generator) sparse() {
	n, m, seed := g.size(), g.size(), g.rng.IntN(100)
	t := types.SparseOf(types.F64, n, m)
	switch g.rng.IntN(8) {
	case 6:
		g.sparseProduct(n, m, seed)
	case 7:
		g.sparseMove(seed)
	case 0:
		g.name(fmt.Sprintf("rand_sparse(%d, %d, density = 0.3, seed = %d)", n, m, seed), variable{typ: t})
	case 1:
		g.name(fmt.Sprintf("sparse(i64(9 * rand(%d, %d, seed = %d)) - 4)", n, m, seed), variable{typ: t.With(types.I64)})
	case 2:
		if n > 0 {
			g.name(fmt.Sprintf("rand_graph(%d, %d, seed = %d)", n, 3*n, seed), variable{typ: types.SparseOf(types.Bool, n, n)})
		}
	default:
		g.fold(seed)
	}
}

// sparseProduct is a product or a chain of them, and readers of it of which some let it be dense
// and some do not.
func (g *generator) sparseProduct(n, m, seed int) {
	k := g.size()
	density := []float64{0.2, 0.9}[g.rng.IntN(2)]
	a := fmt.Sprintf("rand_sparse(%d, %d, density = %v, seed = %d)", n, k, density, seed)
	b := fmt.Sprintf("(sparse(i64(5 * rand(%d, %d, seed = %d)) - 2) * 0.5)", k, m, seed+1)
	if g.rng.IntN(2) == 0 {
		b = fmt.Sprintf("rand_sparse(%d, %d, density = %v, seed = %d)", k, m, density, seed+1)
	}
	t := types.SparseOf(types.F64, n, m)
	text := a + " @ " + b
	switch g.rng.IntN(4) {
	case 0:
		text = fmt.Sprintf("eye_sparse(%d) @ %s @ %s", n, a, b)
	case 1:
		text = fmt.Sprintf("%s @ %s @ rand(%d, 2, seed = %d)", a, b, m, seed)
		t = types.DenseOf(types.F64, n, 2)
	}
	g.name(text, variable{typ: t})
	if !t.IsSparse() || n*m == 0 {
		return
	}
	p := g.vars[len(g.vars)-1].text
	for _, of := range []string{"colmax(%s)", "rowsum(%s)", "dense(%s)"} {
		if g.rng.IntN(3) > 0 {
			out := map[byte]types.Type{'c': types.DenseOf(types.F64, 1, m), 'r': types.DenseOf(types.F64, n, 1), 'd': types.DenseOf(types.F64, n, m)}[of[0]]
			g.bind(fmt.Sprintf(of, p), out)
		}
	}
	if g.rng.IntN(3) == 0 {
		g.bind(fmt.Sprintf("nnz(%s) + i64(max(%s))", p, p), types.ScalarOf(types.I64))
	}
}

// anySparse is a sparse matrix that is there and has elements.
func (g *generator) anySparse() (v variable, ok bool) {
	var found []variable
	for _, v := range g.vars {
		if v.typ.IsSparse() && v.typ.Count() > 0 {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return v, false
	}
	return found[g.rng.IntN(len(found))], true
}

// sparseMove is a transpose, a window, a join or a comparison of a sparse matrix that is there.
func (g *generator) sparseMove(seed int) {
	v, ok := g.anySparse()
	if !ok {
		g.name(fmt.Sprintf("rand_sparse(9, 6, density = 0.4, seed = %d)", seed), variable{typ: types.SparseOf(types.F64, 9, 6)})
		return
	}
	t := v.typ
	switch g.rng.IntN(4) {
	case 0:
		t.Rows, t.Cols = t.Cols, t.Rows
		g.name(fmt.Sprintf("t(%s)", v.text), variable{typ: t})
	case 1:
		r, c := g.rng.IntN(t.Rows), g.rng.IntN(t.Cols)
		text := fmt.Sprintf("%s[%d..%d, %d..%d]", v.text, r, t.Rows, c, t.Cols)
		t.Rows, t.Cols = t.Rows-r, t.Cols-c
		g.name(text, variable{typ: t})
	case 2:
		g.name(fmt.Sprintf("sparse(dense(%s))", v.text), variable{typ: t})
	default:
		if t.Elem == types.F64 {
			g.name(fmt.Sprintf("max(%s, rand_sparse(%d, %d, density = 0.5, seed = %d) - 0.5 * %s)", v.text, t.Rows, t.Cols, seed, v.text), variable{typ: t})
		}
	}
}

// fold is what fold-rows makes one operator of, and what it must leave alone: a product that is
// read again, a matrix for a row.
func (g *generator) fold(seed int) {
	s, ok := g.anySparse()
	if !ok {
		g.name(fmt.Sprintf("rand_sparse(7, 9, density = 0.3, seed = %d)", seed), variable{typ: types.SparseOf(types.F64, 7, 9)})
		return
	}
	m := s.typ.Cols
	x := fmt.Sprintf("t(seq(%d, %d))", seed%7-3, seed%7-3+m)
	if g.rng.IntN(3) == 0 {
		x = fmt.Sprintf("(rand(1, %d, seed = %d) - 0.5)", m, seed)
	}
	of := []string{"max", "min", "sum"}[g.rng.IntN(3)]
	elem := types.F64
	if x[0] == 't' && s.typ.Elem != types.F64 {
		elem = types.I64
	}
	if s.typ.Elem == types.F32 {
		return
	}
	out := types.DenseOf(elem, s.typ.Rows, 1)
	switch g.rng.IntN(6) {
	case 0:
		g.bind(fmt.Sprintf("semiring(%s, t(%s), %q)", s.text, x, []string{"max *", "min *", "min +", "max +"}[g.rng.IntN(4)]), out)
	case 1:
		if s.typ.Elem == types.Bool {
			g.bind(fmt.Sprintf("rowany(%s and rand(1, %d, seed = %d) < 0.5)", s.text, m, seed), types.DenseOf(types.Bool, s.typ.Rows, 1))
		}
	case 2:
		p := variable{typ: s.typ.With(elem)}
		g.name(s.text+" * "+x, p)
		p = g.vars[len(g.vars)-1]
		g.bind(fmt.Sprintf("row%s(%s) + rowmax(%s)", of, p.text, p.text), out)
	case 3:
		if of != "sum" {
			base := "1"
			if s.typ.Rows == m && elem == types.F64 == (x[0] != 't') {
				base = "t(" + x + ")"
			}
			g.bind(fmt.Sprintf("%[1]s(row%[1]s(%[2]s * %[3]s), %[4]s)", of, s.text, x, base), out)
		}
	default:
		g.bind(fmt.Sprintf("row%s(%s * %s)", of, s.text, x), out)
	}
}
