package pass

import (
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// FoldRows makes a row reduction of a product that has no other reader one operator, and the
// maximum with it:
//
//	%3 = t(%1);  %4 = sp.mul(%0, %3);  %5 = sp.rowmax(%4)   ->   %5 = sp.rowfold(%0, %1) {of="max"}
//
// for a sparse matrix and a row of numbers, so that the product, as large as the matrix, is never
// built. The row sp.rowfold means the two operators in sequence, bit for bit. It would be wrong if
// the other factor is a matrix or a column: then the factor of an element depends on its row too.
func FoldRows(g *ir.Graph, table *op.Table) *ir.Graph {
	var out *ir.Graph
	uses := g.Uses()
	fold := table.Must("sp.rowfold")
	for i := range g.Nodes {
		id := ir.ID(i)
		of, class := foldOf(g.Nodes[i].Op, table)
		if class == loop.NoClass {
			continue
		}
		p := g.In(id)[0]
		if !isProduct(g, p, table, class == loop.Any) || uses[p] != 1 || !sameSend(g, p, id) {
			continue
		}
		a, x, ok := rowFactor(g, p)
		if !ok {
			continue
		}
		if out == nil {
			out = g.Clone() // the program's definition must not change
		}
		out.Replace(id, fold, op.MakeAttrs(op.Attr{Name: "of", Val: op.Str(of)}), a, x)
	}
	if out == nil {
		return g
	}
	ontoBases(out, fold)
	return DropDead(out)
}

// ontoBases adds a maximum with a column to the fold that only it reads, in place:
//
//	%5 = sp.rowfold(%0, %1) {of="max"};  %6 = ew.max(%1, %5)   ->   %6 = sp.rowfold(%0, %1, %1) {of="max"}
//
// It would be wrong where a scalar or a single element is stretched, or an element type widened.
func ontoBases(g *ir.Graph, fold *op.Def) {
	uses := g.Uses()
	for i := range g.Nodes {
		id := ir.ID(i)
		name, is := strings.CutPrefix(g.Nodes[i].Op.Name, "ew.")
		if !is {
			continue
		}
		in := g.In(id)
		for k, f := range in {
			if n := &g.Nodes[f]; n.Op == fold && n.Attrs.Str("of") == name && uses[f] == 1 && sameSend(g, f, id) && len(in) == 2 && len(g.In(f)) == 2 &&
				g.Type(f).Equal(g.Type(id)) && g.Type(in[1-k]).Equal(g.Type(id)) {
				g.Replace(id, fold, n.Attrs, g.In(f)[0], g.In(f)[1], in[1-k])
				break
			}
		}
	}
}

// foldOf returns the reduction that a row computes of each row of a sparse matrix, and its class.
func foldOf(d *op.Def, table *op.Table) (of string, class loop.Class) {
	dense := onDense(d, table)
	if dense == nil || dense.Fold != op.FoldRows || !slices.Contains([]loop.Class{loop.Greatest, loop.Least, loop.Sum, loop.Any}, dense.Class) {
		return "", loop.NoClass
	}
	return strings.TrimPrefix(dense.Name, "row"), dense.Class
}

// onDense returns the row for dense matrices that means the same as row d for sparse ones; nil if there
// is none.
func onDense(d *op.Def, table *op.Table) *op.Def {
	if d.For == "" {
		return nil
	}
	return table.Named(d.For)
}

// isProduct reports an elementwise product of sparse matrices: of numbers, or of truth values.
func isProduct(g *ir.Graph, id ir.ID, table *op.Table, truths bool) bool {
	dense := onDense(g.Nodes[id].Op, table)
	return dense != nil && dense.Absorbs == op.EachZero && (g.Type(id).Elem == types.Bool) == truths
}

// rowFactor returns the sparse matrix and the row of numbers of a product; for a transposed column,
// the column.
func rowFactor(g *ir.Graph, p ir.ID) (a, x ir.ID, ok bool) {
	in := g.In(p)
	a, x = in[0], in[1]
	if !g.Type(a).IsSparse() {
		a, x = x, a
	}
	at, xt := g.Type(a), g.Type(x)
	if !at.IsSparse() || !xt.IsDense() || !at.Known() || !xt.Known() || xt.Rows != 1 || xt.Cols != at.Cols || at.Cols == 0 || g.Type(p).Rows != at.Rows {
		return 0, 0, false
	}
	if g.Nodes[x].Op.Shard.Kind == op.ShardTranspose && sameSend(g, x, p) {
		x = g.In(x)[0]
	}
	return a, x, true
}
