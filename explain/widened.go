package explain

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/source"
)

// This file finds dense matrices that are zero wherever a sparse argument is zero. Programs that go on
// with a sparse matrix there take less time and memory.

// widened finds such matrices of more than few elements in g and its regions, unless they are in the
// library or read for sparse results alone.
func widened(g *ir.Graph, files *source.FileSet) (list []Interpreted) {
	read := make([]bool, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			read[x] = read[x] || !g.Type(ir.ID(i)).IsSparse()
		}
	}
	for i := range g.Nodes {
		n, id := &g.Nodes[i], ir.ID(i)
		for r := n.Region; r != nil; r = r.Next {
			list = append(list, widened(r.Graph, files)...)
		}
		f := files.File(n.Span.From)
		instead := sparseForm(g, id)
		if t := g.Type(id); !read[i] || instead == "" || !t.Known() || t.Count() <= few || f == nil || f.Library {
			continue
		}
		x := Interpreted{Dense: true, Why: "a dense " + g.Type(id).String(), Instead: instead, operator: n.Op.Name}
		x.Where, x.Expression = placeAndText(n.Span, files)
		x.operator += " " + x.Where
		list = append(list, x)
	}
	return list
}

// sparseForm returns what to write for node id of g if it is dense and zero where its sparse arguments
// are, else "".
func sparseForm(g *ir.Graph, id ir.ID) string {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if !t.IsDense() || !t.IsMatrix() {
		return ""
	}
	// The rule square-stored writes sp.dense and its input for one expression. dense(x) is longer than x.
	if n.Op.Name == "sp.dense" {
		if g.Nodes[in[0]].Span == n.Span {
			return "a product of the matrix with itself is sparse: S * S"
		}
		return ""
	}
	if n.Op.For == "" || n.Op.Ref == nil {
		return ""
	}
	call := op.Call{Def: n.Op, Attrs: n.Attrs, Type: types.DenseOf(t.Elem, 1, 1)}
	some := false
	for _, x := range in {
		switch a := g.Type(x); {
		case a.IsSparse() && a.Rows == t.Rows && a.Cols == t.Cols:
			some = true
			call.In = append(call.In, value.NewCSR(a.Elem, 1, 1, 0))
		case g.Nodes[x].Op.Role == op.Constant && a.IsScalar():
			c, err := g.Nodes[x].Op.Ref(&op.Call{Def: g.Nodes[x].Op, Attrs: g.Nodes[x].Attrs, Type: a})
			if err != nil {
				return ""
			}
			call.In = append(call.In, c)
		default:
			return ""
		}
	}
	if !some {
		return ""
	}
	zero, err := n.Op.Ref(&call)
	if d, dense := zero.(*value.Dense); err != nil || !dense || d.At(0, 0).True() {
		return ""
	}
	if t.Elem == types.Bool {
		return "with `bool(S) and` before it the result is sparse, and S != 0 is bool(S)"
	}
	return "`*` with a sparse matrix, or an operator of one argument that keeps zeros, has a sparse result"
}
