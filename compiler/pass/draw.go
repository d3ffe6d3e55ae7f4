package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// mostDrawnCols is the most columns of a constructor that a parfor computes, since it computes
// whole rows.
const mostDrawnCols = 16

// Draw moves a constructor into the body of a parfor if every iteration reads only its own row:
//
//	%0 = rand {n=1000, m=2};  %1 = parfor(%0) {lo=[0], n=[1000], by=[1]} (%i, %x) { %2 = element(%x, %i, 0); .. }
//	->  %1 = parfor() {..} (%i) { %x = rand {n=1000, m=2, drawn=true}; %2 = element(%x, %i, 0); .. }
//
// The body computes the rows of a batch of iterations on demand, and the matrix is not stored. It
// would be wrong or slow where
//
//   - an iteration reads another row, X[i+1, 0]: the rows of the batch would not suffice, and
//     reading might fail;
//   - the matrix has another reader, or is read whole: then it is stored anyway;
//   - the step is not 1 or the bounds are unknown: only consecutive rows are computed;
//   - the body computes matrices: each iteration would compute the whole constructor.
func Draw(g *ir.Graph) *ir.Graph {
	var out *ir.Graph
	uses := g.Uses()
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		if n.Op.Role != op.Points || !oneByOne(n) || !onNumbers(n.Region.Graph, n.Region.Args) {
			continue
		}
		var take []int
		for k, x := range g.In(id) {
			if uses[x] == 1 && drawnByRows(g, x, n) && readsOwnRow(n.Region, n.Region.Args[k+1]) {
				take = append(take, k)
			}
		}
		if len(take) == 0 {
			continue
		}
		if out == nil {
			out = g.Clone() // the program's definition must not change
		}
		takeIn(out, id, take)
	}
	if out == nil {
		return g
	}
	return DropDead(out)
}

// oneByOne reports a parfor over one known range with step 1.
func oneByOne(n *ir.Node) bool {
	by := n.Attrs.Ints("by")
	return len(by) == 1 && by[0] == 1 && n.Attrs.Ints("lo") != nil
}

// onNumbers reports a body in which everything but the arguments is a scalar.
func onNumbers(g *ir.Graph, args []ir.ID) bool {
	isArg := make([]bool, g.Len())
	for _, a := range args {
		isArg[a] = true
	}
	for i := range g.Nodes {
		n, t := &g.Nodes[i], g.Type(ir.ID(i))
		switch {
		case isArg[i] || n.Op.Control == op.Part:
		case n.Op.Control == op.Iterate || n.Op.Control == op.Select:
			for r := n.Region; r != nil; r = r.Next {
				if !onNumbers(r.Graph, r.Args) {
					return false
				}
			}
		case !t.IsScalar() || n.Op.Elt == nil && n.Op.Role != op.Constant && n.Op.Role != op.Picks:
			return false
		}
	}
	return true
}

// drawnByRows reports a constructor with a row for every iteration of the parfor n.
func drawnByRows(g *ir.Graph, x ir.ID, n *ir.Node) bool {
	c, t := &g.Nodes[x], g.Type(x)
	if c.Op.Window == nil || c.Region != nil || len(g.In(x)) > 0 || !drawable(t) || t.Cols > mostDrawnCols || t.Elem == types.Str {
		return false
	}
	if _, cut := c.Attrs.Get("at"); cut {
		return false
	}
	lo, count := n.Attrs.Ints("lo")[0], n.Attrs.Ints("n")[0]
	return lo >= 0 && lo+count <= int64(t.Rows)
}

// readsOwnRow reports whether the body reads only elements of argument a in the row of the index,
// outside inner loops and branches.
func readsOwnRow(r *ir.Region, a ir.ID) bool {
	for _, y := range r.Yields {
		if y == a {
			return false
		}
	}
	for i := range r.Graph.Nodes {
		in := r.Graph.In(ir.ID(i))
		for k, x := range in {
			if x == a && (r.Graph.Nodes[i].Op.Role != op.Picks || k != 0 || in[1] != r.Args[0]) {
				return false
			}
		}
	}
	return true
}

// takeIn moves inputs of the parfor id into its body.
func takeIn(g *ir.Graph, id ir.ID, take []int) {
	n := &g.Nodes[id]
	in := g.In(id)
	r := &ir.Region{Graph: n.Region.Graph.Clone(), Yields: n.Region.Yields, Args: n.Region.Args[:1:1]}
	var left []ir.ID
	for k, x := range in {
		a := n.Region.Args[k+1]
		if len(take) == 0 || take[0] != k {
			left = append(left, x)
			r.Args = append(r.Args, a)
			continue
		}
		take = take[1:]
		c := &g.Nodes[x]
		r.Graph.Replace(a, c.Op, c.Attrs.With("drawn", op.Bool(true)))
		r.Graph.Nodes[a].Span = c.Span
	}
	g.Replace(id, n.Op, n.Attrs, left...)
	g.Nodes[id].Region = r
}
